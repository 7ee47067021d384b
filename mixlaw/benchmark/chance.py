"""Chance levels and sizes of common tasks.

A chance level follows from the number of options of a task's questions (0 where the answer is free text). Sizes are
those of the split that evaluation harnesses score. Sources: the paper of each task, given beside it; sizes of the
BIG-bench tasks and of SQuAD, CoQA and Jeopardy as in the metadata table of Gadre et al. (arXiv 2403.08540, MIT).
Levels there that contradict the task (SIQA has three options, CommonsenseQA and MathQA five) follow the task.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from mixlaw.errors import UsageError
from mixlaw.units import parse_number, shorten


@dataclass(frozen=True)
class Task:
    """What is known of a task before any model sees it.

    Attributes:
        chance: accuracy of guessing.
        items: questions scored; None if unknown.
        source: where the two come from.
        average: whether the column is an average over tasks, by its name.
    """

    chance: float
    items: int | None = None
    source: str = ""
    average: bool = False


_BIG_BENCH = "BIG-bench, arXiv 2206.04615"
TASKS: dict[str, Task] = {
    "agi_eval_lsat": Task(0.2, None, "arXiv 2304.06364, five options"),
    "agi_eval_sat": Task(0.25, None, "arXiv 2304.06364, four options"),
    "arc_challenge": Task(0.25, 1172, "arXiv 1803.05457, four options"),
    "arc_easy": Task(0.25, 2376, "arXiv 1803.05457, four options"),
    "bigbench_conceptual_combinations": Task(0.25, 103, _BIG_BENCH),
    "bigbench_cs_algorithms": Task(0.0, 1320, _BIG_BENCH),
    "bigbench_dyck_languages": Task(0.0, 1000, _BIG_BENCH),
    "bigbench_logical_deduction": Task(0.25, 1500, _BIG_BENCH),
    "bigbench_misconceptions": Task(0.5, 219, _BIG_BENCH),
    "bigbench_novel_concepts": Task(0.25, 32, _BIG_BENCH),
    "bigbench_operators": Task(0.0, 210, _BIG_BENCH),
    "bigbench_qa_wikidata": Task(0.0, 20321, _BIG_BENCH),
    "bigbench_strange_stories": Task(0.5, 174, _BIG_BENCH),
    "bigbench_strategy_qa": Task(0.5, 2289, _BIG_BENCH),
    "boolq": Task(0.5, 3270, "arXiv 1905.10044, yes or no (always yes: 0.62)"),
    "commonsense_qa": Task(0.2, 1221, "arXiv 1811.00937, five options"),
    "copa": Task(0.5, 100, "Roemmele et al. 2011, two options"),
    "coqa": Task(0.0, 7983, "arXiv 1808.07042, free text"),
    "gsm8k": Task(0.0, 1319, "arXiv 2110.14168, free text"),
    "hellaswag": Task(0.25, 10042, "arXiv 1905.07830, four options"),
    "humaneval": Task(0.0, 164, "arXiv 2107.03374, programs"),
    "jeopardy": Task(0.0, 2117, "free text"),
    "lambada": Task(0.0, 5153, "arXiv 1606.06031, free text"),
    "logi_qa": Task(0.25, 651, "arXiv 2007.08124, four options"),
    "math_qa": Task(0.2, 2983, "arXiv 1905.13319, five options"),
    "mbpp": Task(0.0, 500, "arXiv 2108.07732, programs"),
    "mmlu": Task(0.25, 14042, "arXiv 2009.03300, four options"),
    "natural_questions": Task(0.0, 3610, "Kwiatkowski et al. 2019, free text"),
    "openbook_qa": Task(0.25, 500, "arXiv 1809.02789, four options"),
    "piqa": Task(0.5, 1838, "arXiv 1911.11641, two options"),
    "pubmed_qa": Task(1 / 3, 1000, "arXiv 1909.06146, yes, no or maybe"),
    "race": Task(0.25, None, "arXiv 1704.04683, four options"),
    "sciq": Task(0.25, 1000, "arXiv 1707.06209, four options"),
    "siqa": Task(1 / 3, 1954, "arXiv 1904.09728, three options"),
    "squad": Task(0.0, 10570, "arXiv 1606.05250, free text"),
    "trivia_qa": Task(0.0, None, "arXiv 1705.03551, free text"),
    "winograd": Task(0.5, 273, "Levesque et al. 2012, two options"),
    "winogrande": Task(0.5, 1267, "arXiv 1907.10641, two options"),
}
"""Common tasks by name."""

_PLAIN = {re.sub(r"[^a-z0-9]", "", name): task for name, task in TASKS.items()}
_AVERAGE = re.compile(r"(^|[^a-z])(avg|average|mean)([^a-z]|$)")
_ALIASES = {
    "nq": "naturalquestions",
    "socialiqa": "siqa",
    "wsc273": "winograd",
    "csqa": "commonsenseqa",
    "obqa": "openbookqa",
}


def known(name: str) -> Task | None:
    """The task that a column is called after, variants such as ``hellaswag_zeroshot`` included; None if unknown."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    plain = _ALIASES.get(plain, plain)
    fitting = [key for key in _PLAIN if plain.startswith(key)]
    return _PLAIN[max(fitting, key=len)] if fitting else None


def parse_chances(texts: list[str]) -> dict[str, float]:
    """Read ``--chance task=0.25`` given several times.

    Raises:
        UsageError: for anything that is no level from 0 to below 1.
    """
    levels = {}
    for text in texts:
        for part in text.split(","):
            name, equals, value = part.partition("=")
            level = parse_number(value, name=f"--chance {name}") if equals else -1.0
            if not 0 <= level < 1:
                raise UsageError("--chance task=level with a level from 0 to below 1", repr(part))
            levels[name.strip().removeprefix("bench/")] = level
    return levels


def chances_of(given: Mapping[str, float], tasks: Sequence[str]) -> dict[str, float]:
    """The levels given for the tasks of a table; a name may be a glob, and a task's own name counts before one.

    Raises:
        UsageError: for a name that no task has.
    """
    levels = {}
    for name, level in sorted(given.items(), key=lambda item: item[0] in tasks):
        named = [task for task in tasks if fnmatchcase(task, name)]
        if not named:
            raise UsageError(f"--chance of a task among {shorten(tasks) or 'none: no bench/ columns'}", repr(name))
        levels.update(dict.fromkeys(named, level))
    return levels


def task_of(name: str, chances: Mapping[str, float]) -> Task:
    """What is known of a task; the user's word counts more than the table, and 0 is assumed without either."""
    found = known(name)
    average = found is None and _AVERAGE.search(name.lower()) is not None
    if name in chances:
        return Task(chances[name], found.items if found else None, "given", average)
    return found or Task(0.0, None, "unknown, 0 assumed", average)
