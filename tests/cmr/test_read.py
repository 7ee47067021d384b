"""Which tables are answered, and how the others are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mixlaw.cmr import Names, Tolerance, parse_base, read_sizes
from mixlaw.cmr.data import Readings, without_spikes
from mixlaw.errors import InputError, MissingFactError
from mixlaw.runs import RunTable

NAMES = Names("general", "finance")


def frame(*, shares: tuple[float, ...] = (0.1, 0.3, 0.5), size: float = 1e9, base: bool = True) -> pd.DataFrame:
    rows = [("base", 0.0, size, 0.0, 2.86, 2.0)] if base else []
    for share in shares:
        for t in np.linspace(1e9, 2e10, 8):
            general = 2.86 + 0.02 * share * np.log(t / 1e8)
            rows.append((f"r{share:g}", t, size, share, general, 2.0 - 0.02 * share * np.log(t / 1e8)))
    out = pd.DataFrame(rows, columns=["run", "tokens", "params", "mix/finance", "loss/general", "loss/finance"])
    out["mix/general"] = 1 - out["mix/finance"]
    return out


def read(content: pd.DataFrame, **others):
    return read_sizes(RunTable.from_frame(content), NAMES, **others)


def test_runs_base_and_sizes_are_read() -> None:
    sizes = read(pd.concat([frame(), frame(size=4e9).assign(run=lambda d: "big-" + d["run"])]))
    assert [s.label for s in sizes] == ["1B", "4B"]
    assert [r.share for r in sizes[0].runs] == [0.1, 0.3, 0.5]
    assert (sizes[0].base_general, sizes[0].base_domain) == (2.86, 2.0)
    readings = Readings.of(sizes[0])
    assert readings.y.shape == (3, 8)
    assert readings.z[0, -1] == 0
    assert readings.y[0, 0] == pytest.approx(0.02 * 0.1 * np.log(10))


def test_one_size_can_be_chosen() -> None:
    both = pd.concat([frame(), frame(size=4e9).assign(run=lambda d: "big-" + d["run"])])
    assert [s.label for s in read(both, params=4e9)] == ["4B"]
    with pytest.raises(InputError, match=r"one of the table's sizes.*Got 7B.*1B, 4B"):
        read(both, params=7e9)


def test_no_base_loss() -> None:
    with pytest.raises(MissingFactError, match=r"base model's loss on 'general'.*0 tokens.*--base general="):
        read(frame(base=False))
    given = read(frame(base=False), base={"general": 2.8, "domain": 2.1})
    assert (given[0].base_general, given[0].base_domain) == (2.8, 2.1)


def test_one_base_loss_does_not_serve_several_sizes() -> None:
    both = pd.concat([frame(), frame(size=4e9).assign(run=lambda d: "big-" + d["run"])])
    with pytest.raises(InputError, match="--base for one model size"):
        read(both, base={"general": 2.8})


def test_one_share_only() -> None:
    with pytest.raises(InputError, match=r"two or more domain shares below 1.*Got 0\.3.*Add a run: a share of 0\.6"):
        read(frame(shares=(0.3, 1.0)))


def test_no_general_loss() -> None:
    with pytest.raises(MissingFactError, match=r"column 'loss/general' \(losses: finance\)"):
        read(frame().drop(columns="loss/general"))
    renamed = frame().rename(columns={"loss/general": "loss/pile"})
    assert read_sizes(RunTable.from_frame(renamed), Names("general", "finance", "pile"))[0].base_general == 2.86


def test_unknown_corpus() -> None:
    with pytest.raises(MissingFactError, match=r"--domain to name one of the table's corpora .*finance.*Got 'law'"):
        read_sizes(RunTable.from_frame(frame()), Names("general", "law"))
    with pytest.raises(InputError, match="two different corpora"):
        read_sizes(RunTable.from_frame(frame()), Names("general", "general"))


def test_replay_shares_are_detected_and_asked_about() -> None:
    swapped = frame().rename(columns={"mix/general": "mix/finance", "mix/finance": "mix/general"})
    swapped.loc[swapped["tokens"] == 0, ["mix/general", "mix/finance"]] = [1.0, 0.0]
    with pytest.raises(InputError, match=r"the opposite in both.*replay shares.*--trust-shares"):
        read(swapped)
    assert [r.share for r in read(swapped, trust_shares=True)[0].runs] == [0.5, 0.7, 0.9]


def test_two_swapped_shares_are_detected_too() -> None:
    swapped = frame(shares=(0.1, 0.4)).rename(columns={"mix/general": "mix/finance", "mix/finance": "mix/general"})
    swapped.loc[swapped["tokens"] == 0, ["mix/general", "mix/finance"]] = [1.0, 0.0]
    with pytest.raises(InputError, match="replay shares"):
        read(swapped)


def test_pre_training_tables_are_refused() -> None:
    third = frame().assign(**{"mix/code": 0.2, "mix/general": lambda d: d["mix/general"] - 0.2})
    third = third[third["mix/general"] >= 0]
    with pytest.raises(InputError, match=r"two corpora, general and finance.*0\.2 of something else.*mixlaw fit"):
        read(third)
    scratch = frame()
    trained = scratch["tokens"] > 0
    scratch.loc[trained, "loss/general"] += 5 * np.exp(-scratch.loc[trained, "tokens"] / 3e9)
    with pytest.raises(InputError, match=r"starts at the base model's loss.*above the base model.*from scratch"):
        read(scratch)


def test_a_run_whose_mixture_changes_is_refused() -> None:
    changed = frame()
    last = changed.index[-1]
    changed.loc[last, ["mix/finance", "mix/general"]] = [0.9, 0.1]
    with pytest.raises(InputError, match=r"run r0\.5: Expected one mixture in a run"):
        read(changed)


def test_runs_without_domain_data_are_noted() -> None:
    sizes = read(frame(shares=(0.0, 0.2, 0.4)))
    assert sizes[0].notes == ("run r0 holds no finance: it is left out",)


def test_base_by_word_or_by_name() -> None:
    assert parse_base("general=2.86,domain=2.31", NAMES) == {"general": 2.86, "domain": 2.31}
    assert parse_base("finance=2.31", NAMES) == {"domain": 2.31}
    with pytest.raises(InputError, match="--base as in"):
        parse_base("code=2", NAMES)


def test_tolerances() -> None:
    assert Tolerance.parse("0.05").nats(2.8) == 0.05
    assert Tolerance.parse("3%").nats(2.8) == pytest.approx(0.084)
    with pytest.raises(InputError, match=r"in nats \(0.05\) or per cent"):
        Tolerance.parse("3")


def test_a_loss_spike_is_left_out_and_counted() -> None:
    rng = np.random.default_rng(0)
    t = np.linspace(0.2, 20, 100)
    loss = 2.86 + 0.01 * np.log(t) + 5e-4 * rng.standard_normal(100)
    assert without_spikes(loss)[1] == 0
    spiked = loss.copy()
    spiked[[20, 60, 61]] += [3.0, 0.02, 0.02]
    kept, count = without_spikes(spiked)
    assert count == 3
    assert np.flatnonzero(np.isnan(kept)).tolist() == [20, 60, 61]
    np.testing.assert_array_equal(kept[~np.isnan(kept)], np.delete(loss, [20, 60, 61]))


def test_smooth_curves_and_short_runs_have_no_spikes() -> None:
    t = np.linspace(0.2, 20, 100)
    assert without_spikes(2.86 + 0.1 * t**0.3)[1] == 0
    assert without_spikes(np.array([2.8, 9.0, 2.8, 2.8]))[1] == 0
    uneven = np.array([0.02, 0.04, 0.06, 0.08, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0])
    assert without_spikes(2 - 0.3 * np.log(uneven) ** 2 * uneven)[1] == 0


def test_spikes_in_a_table_are_noted() -> None:
    content = frame()
    extra = pd.concat([content.assign(tokens=content["tokens"] * factor) for factor in (1.0, 1.01, 1.02)])
    extra = extra.sort_values(["run", "tokens"], ignore_index=True).drop_duplicates(["run", "tokens"])
    at = extra.index[(extra["run"] == "r0.3") & (extra["tokens"] > 5e9)][5]
    extra.loc[at, "loss/general"] = 6.0
    size = read(extra)[0]
    assert size.spikes == 1
    assert size.notes == ("run r0.3: 1 reading left out as spikes",)
