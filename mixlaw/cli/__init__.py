"""The command line: one command a file, and ``main``, the only error boundary."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mixlaw.errors import MixlawError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        argv: words after ``mixlaw``; None takes them from the process.

    Returns:
        0 done, 2 wrong usage, 3 input to mend, 4 a fit or a gate failed.
    """
    from mixlaw.cli.app import app
    from mixlaw.cli.output import silence_stdout

    try:
        words = list(sys.argv[1:] if argv is None else argv)
        app(args=words, prog_name="mixlaw", obj=words)  # commands that keep their own line read it from the context
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except MixlawError as error:
        sys.stderr.write(f"mixlaw: {error}\n")
        return error.exit_code
    except BrokenPipeError:
        silence_stdout()
    except OSError as error:
        sys.stderr.write(f"mixlaw: {error.filename or 'output'}: Expected to read or write it. Got {error.strerror}.\n")
        return 3
    except KeyboardInterrupt:
        sys.stderr.write("mixlaw: interrupted\n")
        return 130
    return 0


def run() -> None:
    """Entry point of the installed command."""
    sys.exit(main())
