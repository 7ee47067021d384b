"""Command-line words turned into options objects, with the checks that belong to words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mixlaw.errors import UsageError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from mixlaw.fit import FitOptions
    from mixlaw.mixture import Mixture
    from mixlaw.optimize import Scale

ASIDE = ("-o", "--output", "--plot", "--jobs")
"""Options with a value that say where a result goes or how fast it comes, and not what it is."""
SHOWN = ("--json", "--parameters")
"""Options without a value that say what is printed beside a result."""


def command_line(words: Sequence[str]) -> str:
    """The command as typed, quoted for a shell, without the options that leave its result alone."""
    import shlex

    kept = ["mixlaw"]
    rest = iter(words)
    for word in rest:
        if word in ASIDE:
            next(rest, None)
        elif word not in SHOWN and not (word.startswith("-o") or word.startswith(("--output=", "--plot=", "--jobs="))):
            kept.append(word)
    return shlex.join(kept)


def scales(params: str | None, tokens: str | None) -> list[Scale]:
    """Every size of ``--params`` with every count of ``--tokens``; the last is the run to be trained."""
    from mixlaw.optimize import Scale
    from mixlaw.units import parse_numbers

    sizes = parse_numbers(params, name="--params") if params else [None]
    lengths = parse_numbers(tokens, name="--tokens") if tokens else [None]
    return [Scale(n, d) for n in sizes for d in lengths]


def mixture_of(text: str | None) -> Mixture | None:
    """The mixture of an option, ``web=0.6,...`` or a file; None where it is left out."""
    from mixlaw.mixture import Mixture

    return Mixture.parse(text) if text else None


def fit_options(
    *,
    starts: int,
    drop_early: float,
    checkpoints: int,
    loss: str,
    delta: float,
    exclude: Sequence[str],
    seed: int,
    strict: bool,
) -> FitOptions:
    """Check the words of ``mixlaw fit`` and put them together.

    Raises:
        UsageError: for a penalty that does not exist or a width that is not positive.
    """
    from mixlaw.dataset import Selection
    from mixlaw.fit import FitOptions
    from mixlaw.solver import SolverOptions

    if loss not in ("huber", "l2", "l1"):
        raise UsageError("--loss huber, l2 or l1", repr(loss))
    if not delta > 0:
        raise UsageError("--delta above 0", f"{delta:g}")
    selection = Selection(drop_early=drop_early, checkpoints=checkpoints, exclude=tuple(exclude))
    solver = SolverOptions(loss=loss, delta=delta)  # type: ignore[arg-type]
    return FitOptions(selection=selection, solver=solver, starts=starts, seed=seed, strict=strict)


def unique_tokens(path: Path) -> tuple[tuple[str, float], ...]:
    """Domains of a domains file with their available tokens, those that say so.

    Raises:
        InputError: when no domain does.
    """
    from mixlaw.domains import Domains
    from mixlaw.errors import InputError

    known = [(name, d.available_tokens) for name, d in Domains.load(path).by_name.items() if d.available_tokens]
    if not known:
        raise InputError("available_tokens for at least one domain (--repetition)", "none", where=str(path))
    return tuple((name, float(tokens)) for name, tokens in known if tokens is not None)


@contextmanager
def executor(jobs: int) -> Iterator[Executor | None]:
    """A pool of ``jobs`` processes; None for one, which needs no pool."""
    if jobs == 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield pool
