"""Parts of many files -> one run table: rows of one run and step become one row, and every row is accounted for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mixlaw.errors import InputError
from mixlaw.logs.agree import hold_against, hold_totals
from mixlaw.logs.diverged import diverged
from mixlaw.logs.facts import apply_facts, fill_shares, note_lacking
from mixlaw.logs.growing import Growing, whole
from mixlaw.logs.merge import merge_rows
from mixlaw.logs.metrics import TRAIN_LOSS
from mixlaw.logs.names import align
from mixlaw.logs.naming import as_runs, clean_ids, derive_runs, rows_of_runs, split_by_size
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part, Skip
from mixlaw.logs.places import resolve_aliases, tell_apart
from mixlaw.logs.report import FileReport, Report
from mixlaw.logs.sheet import Sheet
from mixlaw.runs import RunTable
from mixlaw.units import Unit, shorten

_ROUNDING = 1e-6
FILE, LINE, FINAL = "_file", "_line", "_final"
_WORKING = (
    "meta/nan_iterations",
    "meta/sequence_length",
    "meta/tokens_per_step",
    "meta/grad_norm",
    "meta/global_batch",
    "meta/state",
)
"""Columns that serve the checks and conversions here and are not kept."""


@dataclass
class _Table:
    """All parts of one file."""

    first: Part
    rows: Growing = field(default_factory=Growing)
    lines: list[NDArray[np.int32]] = field(default_factory=list)
    alone: pd.DataFrame | None = None

    def add(self, part: Part) -> None:
        """Take the rows of a part; those of a single part are kept as they are."""
        self.lines.append(part.lines.astype(np.int32))
        if len(self.lines) == 1:
            self.alone = part.frame
            return
        if self.alone is not None:
            self.rows.append(self.alone)
            self.alone = None
        self.rows.append(part.frame)

    def frame(self, code: int) -> pd.DataFrame:
        """Rows of the file with their places."""
        frame = self.rows.frame() if self.alone is None else whole(self.alone)
        places = {FILE: np.full(len(frame), code, dtype=np.int32), LINE: np.concatenate(self.lines)}
        return frame.assign(**places, **{FINAL: self.first.final})


def _stacked(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Frames of several files below each other."""
    rows = Growing()
    places = {n: np.concatenate([f[n].to_numpy() for f in frames]) for n in (FILE, LINE, FINAL)}
    for frame in frames:
        rows.append(frame.drop(columns=[FILE, LINE, FINAL]))
    return rows.frame().assign(**places)


class Assembly:
    """Collects parts and builds the table from them."""

    def __init__(self, options: IngestOptions, report: Report) -> None:
        self.options, self.report = options, report
        self._tables: dict[str, _Table] = {}
        self._units: dict[str, tuple[Unit | None, str]] = {}

    def add(self, part: Part) -> None:
        """Take one part of a file.

        Raises:
            InputError: when a target comes in another unit than before.
        """
        file = self.report.files.setdefault(part.source, FileReport(part.source, part.kind))
        file.read += len(part.frame) + sum(s.count for s in part.skipped)
        file.columns.update({c.source: c for c in part.columns})
        for skip in part.skipped:
            self.report.skip(skip)
        self.report.note(*part.notes)
        self._take_units(part)
        self._tables.setdefault(part.source, _Table(_emptied(part))).add(part)

    def _take_units(self, part: Part) -> None:
        for target in (c.removeprefix("loss/") for c in part.frame.columns if c.startswith("loss/")):
            unit = part.units.get(target) or self.options.unit(target)
            known, source = self._units.setdefault(target, (unit, part.source))
            if known is not unit and (known or Unit.NATS) is not (unit or Unit.NATS):
                told = [u.value if u else "not stated" for u in (known, unit)]
                raise InputError(
                    f"one unit for the loss of {target!r}",
                    f"{told[0]} in {source}, {told[1]} in {part.source}",
                    hint="State it with --unit, or give the columns different names with --map.",
                )
            self._units[target] = (known or unit, source)

    def table(self, sheet: Sheet) -> RunTable:
        """Build the run table.

        Raises:
            InputError: naming place and column of what cannot be used.
        """
        sources = list(self._tables)
        frames = [self._named(i, t) for i, t in enumerate(self._tables.values())]
        parts = [t.first for t in self._tables.values()]
        tell_apart(frames, parts, self.report)
        resolve_aliases(frames, parts, sheet)
        self.report.note(*_limit_notes(frames, parts))
        _check_keys(frames, sources, self.options)
        frame = _stacked(frames) if len(frames) > 1 else frames[0]
        del frames
        self._tables.clear()
        frame = self._without(frame, frame["run"].isna().to_numpy(), "no run name", sources)
        frame = self._without(
            frame, rows_of_runs(frame["run"], self._unwanted), "run left out by --skip", sources, asked=True
        )
        frame = self._without_doubtful(frame, sources)
        hold_against(frame, sheet, self.report, lambda row: _place(frame, row, sources))
        frame = apply_facts(frame, self.options, sheet, self.report)
        frame = merge_rows(frame, self.report, sources)
        hold_totals(frame, sheet, self.report, lambda row: _place(frame, row, sources))
        frame = fill_shares(frame, self.options, sheet, self.report)
        frame = self._without_metric(frame, sources)
        if not self.options.keep_start:
            frame = self._without(frame, _untrained(frame), "step 0, before any training", sources, asked=True)
        frame = self._scaled(_renamed(frame, self.report))
        return self._checked(frame, sources, sheet)

    def _named(self, code: int, table: _Table) -> pd.DataFrame:
        part, frame = table.first, table.frame(code)
        if "run" in frame:
            frame = frame.assign(run=clean_ids(frame["run"]))
            names, remark = split_by_size(frame)
            self.report.note(*([f"{part.source}: {remark}"] if remark else []))
            return frame.assign(run=names)
        if self.options.join is not None and part.table:
            raise InputError(f"a column {self.options.join!r} in every file (--join)", "none", where=part.source)
        if self.options.run is not None or not part.table:
            return frame.assign(
                run=as_runs(np.full(len(frame), self.options.run or part.run, dtype=object), frame.index)
            )
        names, remark = derive_runs(frame, part.run or "run", several=len(self._tables) > 1)
        self.report.note(f"{part.source}: {remark}")
        return frame.assign(run=names)

    def _without(
        self, frame: pd.DataFrame, rows: NDArray[np.bool_], why: str, sources: list[str], *, asked: bool = False
    ) -> pd.DataFrame:
        if not rows.any():
            return frame
        first = frame.loc[rows].iloc[0]
        self.report.skip(
            Skip(why, int(rows.sum()), f"{sources[int(first[FILE])]}, line {int(first[LINE])}"), asked=asked
        )
        frame = frame[~rows].reset_index(drop=True)
        if frame.empty:
            hint = f"All were skipped: {', '.join(self.report.skipped)}."
            raise InputError("at least one row that can be used", "none", where=", ".join(sources[:3]), hint=hint)
        return frame

    def _unwanted(self, run: str) -> bool:
        return any(fnmatchcase(run, pattern) for pattern in self.options.skip)

    def _without_doubtful(self, frame: pd.DataFrame, sources: list[str]) -> pd.DataFrame:
        for run, why in diverged(frame).items():
            rows = (frame["run"] == run).to_numpy()
            if self.options.keep_doubtful:
                self.report.note(f"run {run} {why}: kept as asked")
            else:
                frame = self._without(frame, rows, f"run {run} {why}; --keep-doubtful keeps it", sources)
        return frame

    def _without_metric(self, frame: pd.DataFrame, sources: list[str]) -> pd.DataFrame:
        metrics = [c for c in frame.columns if c.startswith(("loss/", "bench/")) or c == "meta/train_loss"]
        if not metrics:
            seen = [c.source for f in self.report.files.values() for c in f.columns.values() if not c.name]
            got = f"columns {', '.join(map(repr, seen[:8]))}" if seen else "none"
            hint = "Name them with --map: {their name: loss/<target>}."
            raise InputError("at least one column of losses or scores", got, where=", ".join(sources[:3]), hint=hint)
        hollow = [c for c in metrics if frame[c].isna().all() and c != "meta/train_loss"]
        if hollow and len(hollow) < len(metrics):
            self.report.note(f"no value at all in {shorten(hollow, 8)}: left out")
            frame = frame.drop(columns=hollow)
            metrics = [c for c in metrics if c not in hollow]
        empty = np.ones(len(frame), dtype=bool)
        for name in metrics:
            empty &= frame[name].isna().to_numpy()
        return self._without(frame, empty, "no loss and no score in the row", sources)

    def _scaled(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Divide accuracies in percent by 100."""
        bench = [c for c in frame.columns if c.startswith("bench/")]
        percent = [c for c in bench if 1 < frame[c].max() <= 100]
        if percent:
            self.report.note(f"scores in percent divided by 100: {', '.join(c[6:] for c in percent[:8])}")
            low = {c: float(frame[c][frame[c] > 0].min()) for c in percent}
            for name in (c for c in percent if low[c] <= 1):
                self.report.note(
                    f"scores of {name[6:]} run from {low[name]:g} to {frame[name].max():g}: all are read as percent; "
                    "if the small ones are fractions, write all in one way"
                )
            frame = frame.assign(**{c: frame[c] / 100 for c in percent})
        return frame

    def _checked(self, frame: pd.DataFrame, sources: list[str], sheet: Sheet) -> RunTable:
        files, lines = frame[FILE].to_numpy(), frame[LINE].to_numpy()
        frame = frame.drop(columns=[FILE, LINE, FINAL, *(c for c in _WORKING if c in frame)])
        known = {self.report.renamed.get(t, t): u for t, (u, _) in self._units.items() if u is not None}
        units = {t: u for t, u in known.items() if f"loss/{t}" in frame}
        before = len(frame)
        table = RunTable.from_frame(
            frame,
            units=units,
            where=lambda row: f"{sources[files[row]]}, line {lines[row]}",
            repairs=self.report.repairs,
        )
        self.report.merged += before - len(table)
        self.report.table(table)
        self.report.assumed = [t for t in table.targets if t not in units and t not in table.units]
        self.report.note(*_train_loss_note(table), *_drift_note(table))
        self.report.note(*_low_loss_note(table, self.report.assumed))
        note_lacking(table, self.report, sheet)
        return table


def _place(frame: pd.DataFrame, row: int, sources: list[str]) -> str:
    return f"{sources[int(frame[FILE].iloc[row])]}, line {int(frame[LINE].iloc[row])}"


def _limit_notes(frames: Sequence[pd.DataFrame], parts: Sequence[Part]) -> list[str]:
    """The remarks on evaluations that were cut short, with their runs."""
    runs: dict[float, dict[str, None]] = {}
    for frame, part in zip(frames, parts, strict=True):
        if part.limit is not None:
            runs.setdefault(part.limit, {}).update(dict.fromkeys(map(str, frame["run"].unique())))
    return [f"evaluated on {limit:g} examples a task only: {shorten(list(n), 6)}" for limit, n in runs.items()]


def _low_loss_note(table: RunTable, assumed: Sequence[str]) -> list[str]:
    """The remark on losses that are too low for nats per token, where nothing states the unit."""
    low = [t for t in assumed if np.nanmax(table.loss(t), initial=0.0) < 1]
    return [f"losses below 1 of {shorten(low, 6)} may be bits per byte: declare the unit with --unit"] if low else []


def _drift_note(table: RunTable) -> list[str]:
    """The remark on runs whose mixture changes on the way."""
    same = np.diff(table.run_codes) == 0
    changed = np.zeros(len(same), dtype=bool)
    for domain in table.domains:
        changed |= same & (np.abs(np.diff(table.column(f"mix/{domain}"))) > _ROUNDING)
    runs = list(dict.fromkeys(table.frame["run"].to_numpy()[1:][changed])) if changed.any() else []
    return [f"the mixture changes within a run: {shorten(runs, 4)} (a law takes that of each row)"] if runs else []


def _train_loss_note(table: RunTable) -> list[str]:
    """The remark on a training loss: it is measured on the run's own mixture."""
    if TRAIN_LOSS not in table.frame:
        return []
    note = "training loss is kept as meta/train_loss: on the run's own mixture it is not comparable between mixtures"
    if not table.targets and not table.benchmarks:
        note += "; no held-out loss was found (name one with --map)"
    return [note]


def _emptied(part: Part) -> Part:
    """What is known of a file, without the rows of its first part."""
    return replace(part, frame=part.frame.iloc[:0], lines=part.lines[:0])


def _untrained(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Rows at step 0 or 0 tokens of runs that go on: no law has a value there."""
    zero = pd.Series(False, index=frame.index)
    for name in (n for n in ("step", "tokens") if n in frame):
        zero |= frame[name] == 0
    goes_on = frame["run"].isin(frame.loc[~zero, "run"].unique())
    return (zero & goes_on).to_numpy()


def _check_keys(frames: list[pd.DataFrame], sources: list[str], options: IngestOptions) -> None:
    """Refuse two files that belong together but share no run: rows are never paired by their order."""
    if len(frames) < 2:
        return
    shares = [any(str(c).startswith("mix/") for c in f) for f in frames]
    metrics = [any(str(c).startswith(("loss/", "bench/")) for c in f) for f in frames]
    alone = [i for i in range(len(frames)) if shares[i] and not metrics[i]]
    others = [i for i in range(len(frames)) if metrics[i] and not shares[i]]
    if not alone or not others:
        return
    left = {str(r) for i in alone for r in frames[i]["run"].unique()}
    right = {str(r) for i in others for r in frames[i]["run"].unique()}
    if not left & right:
        raise InputError(
            f"a key that {sources[alone[0]]} and {sources[others[0]]} share",
            f"runs {', '.join(sorted(left)[:3])} in one, {', '.join(sorted(right)[:3])} in the other",
            hint="Name the column with --join; rows are never paired by their order.",
        )


def _renamed(frame: pd.DataFrame, report: Report) -> pd.DataFrame:
    """Give domains and targets that mean the same the same name."""
    names = list(map(str, frame.columns))
    domains = [c[4:] for c in names if c.startswith("mix/")]
    targets = [c[5:] for c in names if c.startswith("loss/")]
    new_domains, new_targets = align(domains, targets)
    report.renamed = {k: v for k, v in new_targets.items() if k != v}
    new = {f"mix/{k}": f"mix/{v}" for k, v in new_domains.items()}
    new |= {f"loss/{k}": f"loss/{v}" for k, v in new_targets.items()}
    changed = {k: v for k, v in new.items() if k != v}
    if changed:
        report.note(
            f"names cut to what domains and targets share: {shorten([f'{k} -> {v}' for k, v in changed.items()], 4)}"
        )
    return frame.rename(columns=changed)


def collect(parts: Iterable[Part], options: IngestOptions, report: Report, sheet: Sheet) -> RunTable:
    """Build the run table from the parts of all files."""
    assembly = Assembly(options, report)
    for part in parts:
        assembly.add(part)
    return assembly.table(sheet)
