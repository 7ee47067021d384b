from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mixlaw import fitfile
from mixlaw.check.bootstrap import bootstrap
from mixlaw.dataset import Dataset
from mixlaw.errors import InputError
from mixlaw.fit import FitOptions
from mixlaw.fits import FitSet
from mixlaw.fitting import Request, fit_table
from mixlaw.logs import read_runs


@pytest.fixture(scope="module")
def fits(known_law: Path) -> FitSet:
    table = read_runs(known_law)
    made = fit_table(table, Request(("capacity", "chinchilla"), FitOptions(starts=3)))
    return bootstrap(made, Dataset.build(table), 4)


def test_a_file_reads_back_to_the_same_predictions_and_bytes(fits: FitSet) -> None:
    text = fitfile.dumps(fits)
    back = fitfile.loads(text)
    assert fitfile.dumps(back) == text
    inputs = fits.inputs(fits.seen.mixtures, 1e9, 2e10)
    for target, prediction in fits.predict(inputs).items():
        np.testing.assert_array_equal(back.predict(inputs)[target].low, prediction.low)


def test_a_file_says_how_it_was_made(fits: FitSet) -> None:
    content = json.loads(fitfile.dumps(fits))
    assert content["format"] == "mixlaw-fit/1"
    assert content["data"]["dropped"] == {"first 25% of a run": 48, "thinned to 4 checkpoints a run": 144}
    assert content["data"]["fingerprint"].startswith("sha256:")
    entry = content["fits"]["web"][0]
    assert entry["law"] == "capacity"
    assert entry["weight"] == 0.5
    assert set(entry["parameters"]) >= {"E", "a", "b", "c[web]"}
    assert {"status", "objective", "gradient", "starts", "agreeing", "rank", "condition", "flags"} <= set(entry)


def test_a_file_from_before_contrasts_were_calibrated_reads_as_it_did(fits: FitSet) -> None:
    wide = replace(fits, widen=dict.fromkeys(fits.targets, 2.5))
    assert "widen_contrast" not in json.loads(fitfile.dumps(wide))
    assert fitfile.loads(fitfile.dumps(wide)).factors("web") == (2.5, 2.5)
    both = replace(wide, widen_contrast=dict.fromkeys(fits.targets, 1.25))
    assert fitfile.loads(fitfile.dumps(both)).factors("web") == (2.5, 1.25)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: Expected a fit file"),
        ("[1]", "list"),
        ("{}", "no 'format' key"),
        ('{"format": "mixlaw-fit/9"}', "mixlaw-fit/9"),
        ('{"format": "mixlaw-fit/1"}', "'data'"),
    ],
)
def test_what_is_no_fit_file_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fitfile.loads(text, where="f.json")


def test_a_law_of_another_version_is_named(fits: FitSet) -> None:
    text = fitfile.dumps(fits).replace('"law": "chinchilla"', '"law": "gopher"')
    with pytest.raises(InputError, match="'gopher'"):
        fitfile.loads(text)
