"""The public tables, as their authors publish them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mixlaw.errors import MixlawError
from mixlaw.logs import IngestOptions, ingest, read_runs
from mixlaw.units import Unit

pytestmark = pytest.mark.data


def test_apple_dmsl_unmapped(shared: Path) -> None:
    path = shared / "apple_dmsl" / "dmsl_llm_slimpajama.csv"
    table, report = ingest([path])
    raw = pd.read_csv(path)
    assert (report.read, report.kept, report.merged, sum(report.skipped.values())) == (2188, 2188, 0, 0)
    assert table.domains == ("arxiv", "book", "c4", "github", "commoncrawl", "stackexchange", "wikipedia")
    assert table.targets == (*table.domains, "openhermes")
    assert report.missing == {"github": 2, "stackexchange": 5, "wikipedia": 6, "openhermes": 3}
    assert table.column("params").tolist() == raw["model_size"].tolist()
    assert table.column("tokens").tolist() == raw["n_tokens"].tolist()
    np.testing.assert_array_equal(table.loss("arxiv"), raw["arxiv_loss"])
    sizes = table.frame.groupby("run")["params"].nunique()
    assert (sizes == 1).all() and len(sizes) == 200
    assert (table.frame.groupby("run")["tokens"].diff().dropna() > 0).all()
    assert any("no column names the runs" in n for n in report.notes)


def test_apple_dmsl_shuffled_gives_the_same_runs(shared: Path, tmp_path: Path) -> None:
    path = shared / "apple_dmsl" / "dmsl_llm_slimpajama.csv"
    raw = pd.read_csv(path)
    raw.sample(frac=1, random_state=1).to_csv(tmp_path / "runs.csv", index=False)
    table, report = ingest([tmp_path / "runs.csv"])
    assert report.kept == 2188
    once = table.frame.groupby([f"mix/{d}" for d in table.domains] + ["params"])["run"].nunique()
    ordered = read_runs(path).frame.groupby([f"mix/{d}" for d in table.domains] + ["params"])["run"].nunique()
    assert once.sort_index().tolist() == ordered.sort_index().tolist()


@pytest.mark.parametrize(("part", "runs", "rescaled"), [("train", 512, 303), ("test", 256, 133)])
def test_regmix_pair_joined_on_index(shared: Path, part: str, runs: int, rescaled: int) -> None:
    paths = [shared / "regmix" / f"{part}_mixture_1m.csv", shared / "regmix" / f"{part}_pile_loss_1m.csv"]
    table, report = ingest(paths, options=IngestOptions(join="index"))
    assert (report.read, report.kept, report.merged) == (2 * runs, runs, runs)
    assert len(table.domains) == 17 and len(table.targets) == 13
    assert set(table.targets) < set(table.domains)
    assert set(table.domains) - set(table.targets) == {
        f"the_pile_{d}" for d in ("nih_exporter", "philpapers", "enron_emails", "europarl")
    }
    assert report.repairs.counts == {"mixtures rescaled to sum to 1": rescaled}
    losses = pd.read_csv(paths[1]).set_index("index")["metric/the_pile_github_val_loss"]
    np.testing.assert_array_equal(table.loss("the_pile_github"), losses.loc[[int(r) for r in table.frame["run"]]])


def test_join_is_by_key_and_never_by_order(shared: Path, tmp_path: Path) -> None:
    mixtures, losses = shared / "regmix" / "test_mixture_1m.csv", shared / "regmix" / "test_pile_loss_1m.csv"
    shuffled = tmp_path / "losses.csv"
    pd.read_csv(losses).sample(frac=1, random_state=3).to_csv(shuffled, index=False)
    options = IngestOptions(join="index")
    ordered = ingest([mixtures, losses], options=options)[0]
    assert ingest([mixtures, shuffled], options=options)[0].frame.equals(ordered.frame)


def test_olmix_pair_in_declared_bits_per_byte(shared: Path) -> None:
    paths = [shared / "olmix" / "dclm_ratios.csv", shared / "olmix" / "dclm_metrics.csv"]
    options = IngestOptions.build(units=("bits/byte",), join="run")
    table, report = ingest(paths, options=options)
    assert (report.read, report.kept, report.merged) == (254, 127, 127)
    assert len(table.domains) == 24 and len(table.targets) == 110
    assert {table.unit(t) for t in table.targets} == {Unit.BITS_PER_BYTE}
    assert report.assumed == []
    undeclared = ingest(paths, options=IngestOptions(join="run"))[1]
    assert len(undeclared.assumed) == 110
    assert any("no name or option states the unit" in line for line in undeclared.lines())


def test_data_mixing_laws(shared: Path) -> None:
    folder = shared / "data_mixing_laws"
    grouped, report = ingest([folder / "5Mix_grouped.csv"])
    assert (report.read, report.kept) == (1120, 1115)
    assert report.skipped == {"no loss and no score in the row": 5}
    assert grouped.domains == ("academic", "prose", "dialogue", "symbolic", "internet")
    assert grouped.targets == (*grouped.domains, "overall")
    assert any("without embeddings" in n for n in report.notes)
    single = read_runs(folder / "5Mix_70M.csv")
    assert len(single) == 410 and len(single.targets) == 22 and len(single.runs) == 26
    with pytest.raises(MixlawError, match=r"line 449: Expected shares that sum to 1 .* Got a sum of 1.01994"):
        read_runs(folder / "RedPajama_70M.csv")
    table, report = ingest([folder / "RedPajama_70M.csv"], options=IngestOptions(skip=("*999*",)))
    assert (len(table), report.skipped["run left out by --skip"]) == (447, 12)


@pytest.mark.parametrize(
    ("file", "rows", "runs"),
    [
        ("overtraining_testbed/models.csv", 104, 104),
        ("gemstones/loss_and_benchmarks.csv", 770, 22),
        ("gemstones/dolma_hot.csv", 220, 22),
        ("isoflops/isoflops.csv", 947, 509),
        ("sldbench/data_constrained.csv", 182, 182),
        ("chinchilla_epoch/svg_extracted_data.csv", 245, 245),
    ],
)
def test_tables_without_mixtures(shared: Path, file: str, rows: int, runs: int) -> None:
    table, report = ingest([shared / file])
    assert (report.read, len(table), len(table.runs)) == (rows, rows, runs)
    assert report.lacking["mixture"] == list(table.runs)


@pytest.mark.parametrize(
    "file",
    ["apple_dmsl/dmsl_llm_slimpajama.csv", "data_mixing_laws/5Mix_grouped.csv", "gemstones/loss_and_benchmarks.csv"],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_written_table_is_read_as_it_was(shared: Path, tmp_path: Path, file: str, suffix: str) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    table = read_runs(shared / file)
    table.write(tmp_path / f"runs{suffix}")
    again = read_runs(tmp_path / f"runs{suffix}")
    assert again.fingerprint == table.fingerprint
    assert again.units == table.units
