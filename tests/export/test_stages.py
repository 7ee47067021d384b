"""Curricula: stages on whole steps, cumulative epochs, and the formats that cannot hold them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from mixlaw.domains import Domain, Domains
from mixlaw.errors import InputError, MissingFactError, UsageError
from mixlaw.export import EXPORTERS, ExportOptions, check, render
from mixlaw.mixture import Mixture, Recipe, Stage

OPTIONS = ExportOptions(sequence_length=4096, batch_size=256)
STEP = 256 * 4096
STAGED = [name for name, e in EXPORTERS.items() if e.about.staged]


@pytest.fixture
def supply():
    """200 steps' worth of code."""
    return Domains({"web": Domain(available_tokens=1e9), "code": Domain(available_tokens=200 * STEP)})


def test_nanotron_counts_steps_from_one(curriculum):
    stages = yaml.safe_load(render("nanotron", curriculum, options=OPTIONS).text)["data_stages"]
    assert [stage["start_training_step"] for stage in stages] == [1, 513]
    assert [stage["data"]["dataset"]["dataset_weights"] for stage in stages] == [[0.9, 0.1], [0.3, 0.7]]


def test_levanter_writes_a_schedule(curriculum):
    data = yaml.safe_load(render("levanter", curriculum, options=OPTIONS).text)["data"]
    assert data["train_weights"] == [[0, {"web": 0.9, "code": 0.1}], [512, {"web": 0.3, "code": 0.7}]]


@pytest.mark.parametrize("form", STAGED)
def test_back_to_the_same_mixture_with_cumulative_epochs(form, curriculum, supply):
    text = render(form, curriculum, domains=supply, options=OPTIONS).text
    audit = check(form, text, domains=supply, options=replace(OPTIONS, tokens=1024 * STEP))
    assert audit.shares == pytest.approx({"web": 0.6, "code": 0.4}, abs=1e-9)
    assert audit.epochs["code"] == pytest.approx(0.4 * 1024 / 200)
    if form in ("nanotron", "levanter", "levanter-configs"):
        assert [phase.start for phase in audit.phases] == [0, 512]


def test_the_writer_shows_cumulative_epochs(curriculum, supply):
    remarks = render("nanotron", curriculum, domains=supply, options=OPTIONS).remarks
    assert "code: 0.256, 2.05 epochs by the end of each stage" in remarks


@pytest.mark.parametrize("form", sorted(EXPORTERS.keys() - set(STAGED)))
def test_other_formats_refuse_stages(form, curriculum):
    with pytest.raises(UsageError, match=rf"{form} holds no curriculum.*nanotron"):
        render(form, curriculum)


@pytest.mark.parametrize("form", ["nanotron", "levanter"])
@pytest.mark.parametrize("known", [{"sequence_length": 4096}, {"batch_size": 256}])
def test_steps_need_the_batch(form, known, curriculum):
    missing = "--batch-size" if "sequence_length" in known else "--sequence-length"
    with pytest.raises(MissingFactError, match=missing):
        render(form, curriculum, options=ExportOptions(**known))


def test_stages_off_the_grid_are_moved_and_say_so(curriculum):
    first, second = curriculum.stages
    odd = Recipe.from_stages((replace(first, tokens=first.tokens + 0.25 * STEP), second))
    written = render("nanotron", odd, options=OPTIONS)
    assert yaml.safe_load(written.text)["data_stages"][1]["start_training_step"] == 513
    assert written.remarks[0] == "stage 2 begins at step 512, -2.62e+05 tokens off"


def test_levanter_changes_on_whole_blocks_only():
    stage = [Stage(5 * STEP, Mixture({"web": 1.0})), Stage(100 * STEP, Mixture({"code": 1.0}))]
    with pytest.raises(InputError, match="stages of at least 8 steps"):
        render("levanter", Recipe.from_stages((replace(stage[0], tokens=STEP), stage[1])), options=OPTIONS)
    data = yaml.safe_load(render("levanter", Recipe.from_stages(tuple(stage)), options=OPTIONS).text)["data"]
    assert [start for start, _ in data["train_weights"]] == [0, 8]


def test_tokens_of_the_command_stretch_the_stages(curriculum):
    options = replace(OPTIONS, tokens=2048 * STEP)
    stages = yaml.safe_load(render("nanotron", curriculum, options=options).text)["data_stages"]
    assert stages[1]["start_training_step"] == 1025


def test_one_stage_is_no_curriculum():
    recipe = Recipe.from_stages((Stage(1e9, Mixture({"web": 0.5, "code": 0.5})),))
    assert render("megatron", recipe).text == "0.5 web\n0.5 code\n"


def test_the_audit_of_stages_needs_the_run(curriculum):
    text = render("nanotron", curriculum, options=OPTIONS).text
    with pytest.raises(MissingFactError, match="--tokens"):
        check("nanotron", text, options=OPTIONS)
    with pytest.raises(InputError, match="reaches the last stage"):
        check("nanotron", text, options=replace(OPTIONS, tokens=STEP))


def test_the_table_shows_each_stage_and_the_whole(curriculum, supply):
    lines = render("table", curriculum, domains=supply).text.splitlines()
    assert lines[0] == "stage,domain,share,tokens,epochs,documents"
    assert lines[4] == f"2,code,0.7,{round(0.7 * 512 * STEP)},1.792,"
    assert lines[6] == f"all,code,0.4,{round(0.4 * 1024 * STEP)},2.048,"
