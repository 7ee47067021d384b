"""Mangled files: always a table whose report adds up, or one sentence; never another error, never a silent loss."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mixlaw.errors import MixlawError
from mixlaw.logs import Report, ingest
from mixlaw.runs import RunTable

FIXTURES = Path(__file__).parent / "fixtures"
TEXTS = sorted(
    p
    for p in FIXTURES.rglob("*")
    if p.is_file()
    and p.name not in ("options.yaml", "expected.csv", "expected.yaml", "config.yaml")
    and p.suffix != ".parquet"
    and "tfevents" not in p.name
    and p.suffix != ".wandb"
)
QUICK = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


def outcome(path: Path) -> tuple[RunTable, Report] | None:
    """The table and a report that adds up, or None for a sentence."""
    try:
        table, report = ingest([path])
    except MixlawError as error:
        assert len(str(error)) > 10
        return None
    assert report.read == report.kept + report.merged + sum(report.skipped.values())
    assert report.kept == len(table) > 0
    assert table.frame["run"].notna().all()
    return table, report


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: str(p.relative_to(FIXTURES)))
def test_cut_and_flipped_files(path: Path, tmp_path: Path) -> None:
    content = path.read_bytes()

    @QUICK
    @given(seed=st.integers(0, 10_000))
    def check(seed: int) -> None:
        rng = random.Random(seed)
        damaged = bytearray(content)
        if rng.random() < 0.6:
            damaged = damaged[: rng.randrange(len(damaged) + 1)]
        for _ in range(rng.randrange(4)):
            if damaged:
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        target = tmp_path / path.name
        target.write_bytes(bytes(damaged))
        outcome(target)

    check()


names = st.sampled_from(
    ["web_loss", "loss/code", "val_loss", "eval/x, y/bpb", "acc_mmlu", "note", "lr", "train/loss", "w"]
)
cells = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True).map(repr),
    st.floats(0.1, 9).map(lambda x: f"{x:.4f}"),
    st.sampled_from(["", "nan", "NaN", "N/A", "Infinity", "x", "1,5", '"1,000"', "60%", "-", "0", "1e400", "None"]),
)


@settings(QUICK, max_examples=150)
@given(
    columns=st.lists(names, min_size=1, max_size=4, unique=True),
    rows=st.lists(st.lists(cells, min_size=6, max_size=6), min_size=0, max_size=6),
    ends=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    delimiter=st.sampled_from([",", ";", "\t"]),
    zipped=st.booleans(),
)
def test_any_table_of_cells(
    columns: list[str],
    rows: list[list[str]],
    ends: str,
    encoding: str,
    delimiter: str,
    zipped: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    def line(items: list[str]) -> str:
        return delimiter.join(f'"{c}"' if delimiter in c and not c.startswith('"') else c for c in items)

    lines = [line(["run", "step", *columns])]
    lines += [line([f"r{i % 2}", str(i), *row[: len(columns)]]) for i, row in enumerate(rows)]
    content = (ends.join(lines) + ends).encode(encoding)
    path = tmp_path_factory.mktemp("any") / "runs.csv"
    path.write_bytes(gzip.compress(content) if zipped else content)
    outcome(path)


tables = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 50), st.floats(1, 9), st.one_of(st.none(), st.floats(1, 9))),
    min_size=1,
    max_size=12,
    unique_by=lambda r: (r[0], r[1]),
)


@settings(QUICK, max_examples=60)
@given(rows=tables, seed=st.integers(0, 99))
def test_shuffled_rows_and_columns_give_the_same_numbers(
    rows: list[tuple[str, int, float, float | None]], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("shuffle")
    header = ["run", "step", "mix/web", "mix/code", "loss/web", "loss/code"]
    lines = [[r, s, 0.25, 0.75, x, "" if y is None else y] for r, s, x, y in rows]
    rng = random.Random(seed)
    order = list(range(6))
    rng.shuffle(order)
    shuffled = rng.sample(lines, len(lines))

    def write(path: Path, content: list[list[object]], columns: list[int]) -> Path:
        text = [",".join(header[c] for c in columns)] + [
            ",".join(repr(r[c]).strip("'") for c in columns) for r in content
        ]
        path.write_text("\n".join(text) + "\n")
        return path

    first = outcome(write(folder / "a.csv", lines, list(range(6))))
    second = outcome(write(folder / "b.csv", shuffled, order))
    assert first is not None and second is not None
    for r, s, x, y in rows:
        for table, _ in (first, second):
            row = table.frame[(table.frame["run"] == r) & (table.frame["step"] == s)]
            assert row["loss/web"].tolist() == [x]
            if y is not None:
                assert row["loss/code"].tolist() == [y]
    assert first[1].missing == second[1].missing


jsons = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 10**12), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["run", "step", "loss", "mixture", "web", "name", "metric", "value"]), inner, max_size=4
        ),
    ),
    max_leaves=12,
)


@settings(QUICK, max_examples=150)
@given(documents=st.lists(jsons, min_size=1, max_size=4), lines=st.booleans())
def test_any_json(documents: list[object], lines: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    import json

    path = tmp_path_factory.mktemp("json") / "runs.json"
    text = "\n".join(json.dumps(d) for d in documents) if lines else json.dumps(documents)
    path.write_text(text + "\n", encoding="utf-8")
    outcome(path)
