"""The command-line reference, made from ``--help``: ``python tests/cli/reference.py`` writes it anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from mixlaw.cli.app import COMMANDS

PAGE = Path(__file__).resolve().parents[2] / "mixlaw" / "cli" / "README.md"
HEAD = """# Command-line reference

What `mixlaw COMMAND --help` prints, a section a command; made by `python tests/cli/reference.py`. A test keeps it true.
"""


def help_of(*words: str) -> str:
    """What ``mixlaw WORDS --help`` prints, 100 columns wide, without spaces at the ends of lines."""
    environment = {**os.environ, "COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"}
    run = subprocess.run(
        [sys.executable, "-m", "mixlaw", *words, "--help"], env=environment, capture_output=True, text=True, check=True
    )
    return "\n".join(line.rstrip() for line in run.stdout.strip().splitlines())


def names() -> list[str]:
    """The commands in the order of work."""
    return [command.__name__.replace("_", "-") for command in COMMANDS]


def page() -> str:
    """The whole page."""
    parts = [HEAD, f"```\n{help_of()}\n```\n"]
    parts += [f"## {name}\n\n```\n{help_of(name)}\n```\n" for name in names()]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
