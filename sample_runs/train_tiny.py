"""Train the runs of a plan: `python sample_runs/train_tiny.py sample_runs/plans/pretrain.yaml -o sample_runs/pretrain`.

One run gives one log, `<name>.jsonl.gz`, a line per checkpoint, written whole when the run ends. Runs that have a log
are skipped, so the same command continues a set that was interrupted. The same plan, corpus and seed give the same
numbers on the same processor and version of PyTorch.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import fcntl
import gzip
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tiny_data import Corpus, Exam, Sampler, made_up_corpus
from tiny_model import CONTEXT, TinyLM, loss_of
from tiny_plans import Run, params_of, read_plan, smoke_plan

BATCH = 16
AVERAGED = 20  # measured is the mean of the weights over about so many last steps: the rate never decays


@dataclass(frozen=True)
class Folders:
    """Where things are read and written."""

    corpus: Path
    logs: Path
    state: Path  # weights of the runs that others start from

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.jsonl.gz"

    def weights(self, name: str) -> Path:
        return self.state / f"{name}.pt"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plan", type=Path, nargs="?", help="plan: runs: [{name, params, tokens, mixture}, ...]")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder of the logs")
    parser.add_argument("--corpus", type=Path, default=Path("build/corpus"), help="what corpus.py wrote")
    parser.add_argument("--state", type=Path, default=Path("build/state"), help="weights of base runs")
    parser.add_argument("--processes", type=int, default=2, help="runs at a time, one thread each")
    parser.add_argument("--smoke", action="store_true", help="two models of 5k parameters, a few steps, made-up text")
    arguments = parser.parse_args()
    if arguments.smoke:
        with tempfile.TemporaryDirectory() as folder:
            made_up_corpus(Path(folder))
            train_all(smoke_plan(), Folders(Path(folder), arguments.out, Path(folder)), arguments.processes)
        return
    if arguments.plan is None:
        parser.error("Expected a plan file, or --smoke. Got neither.")
    folders = Folders(arguments.corpus, arguments.out, arguments.state)
    train_all(read_plan(arguments.plan), folders, arguments.processes)


def train_all(runs: list[Run], folders: Folders, processes: int) -> None:
    """Train the runs that have no log yet in the order of the plan, bases before the runs that start from them."""
    bases = {run.base for run in runs if run.base}
    missing = [run for run in runs if not done(run, bases, folders)]
    say(f"{len(runs)} runs in the plan, {len(missing)} to train")
    folders.logs.mkdir(parents=True, exist_ok=True)
    folders.state.mkdir(parents=True, exist_ok=True)
    first, then = [run for run in missing if not run.base], [run for run in missing if run.base]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for wave in (first, then):
            for line in pool.imap_unordered(partial(train, folders=folders, keep=bases), wave, chunksize=1):
                say(line)


def done(run: Run, bases: set[str | None], folders: Folders) -> bool:
    """A run is done when it has its log and, if others start from it, its weights."""
    return folders.log(run.name).exists() and (run.name not in bases or folders.weights(run.name).exists())


def train(run: Run, *, folders: Folders, keep: set[str | None]) -> str:
    """Train one run, write its log (and its weights if its name is in `keep`); returns a line for people."""
    with alone(folders.state / f"{run.name}.lock") as free:
        if not free or done(run, keep, folders):
            return f"{run.name}: in the hands of another process"
        return train_alone(run, folders, keep)


def train_alone(run: Run, folders: Folders, keep: set[str | None]) -> str:
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    started = time.perf_counter()
    measured = new_model(run, folders)
    rows = list(checkpoints(run, measured, Corpus.read(folders.corpus)))
    if run.name in keep:
        torch.save(measured.state_dict(), folders.weights(run.name))
    write_log(folders.log(run.name), rows)
    seconds = time.perf_counter() - started
    losses = " ".join(
        f"{name.removeprefix('loss/')} {x:.3f}" for name, x in rows[-1].items() if name.startswith("loss/")
    )
    return f"{run.name}: {rows[-1]['tokens']} tokens in {seconds:.0f} s ({run.tokens / seconds:.0f}/s); {losses}"


@contextlib.contextmanager
def alone(lock: Path) -> Iterator[bool]:
    """Whether no other process holds the lock, which ends with the process at the latest."""
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def new_model(run: Run, folders: Folders) -> TinyLM:
    """A model initialised by the run's seed, or with the weights of the run's base."""
    torch.manual_seed(run.seed)
    model = TinyLM(run.size)
    if run.base:
        model.load_state_dict(torch.load(folders.weights(run.base), weights_only=True))
    return model


def checkpoints(run: Run, measured: TinyLM, corpus: Corpus) -> Iterator[dict[str, Any]]:
    """Train from the weights of `measured`, which becomes the mean of the last weights.

    Yields a row of the log at each checkpoint, and before the first step of a run that continues another.
    """
    sampler = Sampler(corpus, run.mixture, run.seed)
    exams = {domain: Exam.of(corpus.valid[domain]) for domain in run.targets or corpus.domains}
    model = copy.deepcopy(measured)
    optimiser = torch.optim.AdamW(model.parameters(), lr=run.lr, betas=(0.9, 0.95), weight_decay=0.01, fused=True)
    steps = max(1, round(run.tokens / (BATCH * CONTEXT)))
    stops = {max(1, round(share * steps)) for share in run.checkpoints}
    if run.base:
        yield row(run, measured, exams, sampler, 0)
    for step in range(1, steps + 1):
        for group in optimiser.param_groups:
            group["lr"] = run.lr * min(1.0, step / run.warm_up)
        optimiser.zero_grad(set_to_none=True)
        loss_of(model, sampler.batch(BATCH)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        average(measured, model, max(1 / AVERAGED, 1 / step))
        if step in stops:
            yield row(run, measured, exams, sampler, step)


@torch.no_grad()
def average(mean: TinyLM, model: TinyLM, weight: float) -> None:
    """Move the mean of the weights towards the newest ones."""
    for old, new in zip(mean.parameters(), model.parameters(), strict=True):
        old.lerp_(new, weight)


def row(run: Run, model: TinyLM, exams: dict[str, Exam], sampler: Sampler, step: int) -> dict[str, Any]:
    """One line of the log; `meta/drawn/` counts the training tokens taken from each domain so far."""
    tokens = step * BATCH * CONTEXT
    found: dict[str, Any] = {"run": run.name, "step": step, "tokens": tokens, "params": params_of(run.size)}
    found |= {"flops": 6 * params_of(run.size) * tokens, "mixture": dict(run.mixture)}
    found |= {f"loss/{domain}": round(exam.loss(model), 6) for domain, exam in exams.items()}
    found |= {f"bench/{domain}": exam.accuracy(model) for domain, exam in exams.items()}
    found |= {"meta/seed": run.seed, "meta/lr": run.lr, "meta/params_total": model.params_total}
    return found | {f"meta/drawn/{domain}": int(n) for domain, n in sampler.drawn.items()}


def write_log(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write compressed JSON lines, whole or not at all; the same rows give the same bytes."""
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(gzip.compress(lines.encode(), mtime=0))
    temporary.replace(path)


def say(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
