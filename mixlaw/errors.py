"""Every error that mixlaw raises on purpose; ``mixlaw.cli.main`` maps them to exit codes."""

from __future__ import annotations


class MixlawError(Exception):
    """Something the user can mend. Printed without a traceback.

    The message reads "<where>: Expected ... Got ... <next step>".
    """

    exit_code = 3

    def __init__(self, expected: str, got: str | None = None, *, where: str = "", hint: str = "") -> None:
        self.expected, self.got, self.where, self.hint = expected, got, where, hint
        super().__init__(expected)

    def __str__(self) -> str:
        text = self.expected if self.got is None else f"Expected {self.expected}. Got {self.got.rstrip('.')}."
        prefix = f"{self.where}: " if self.where else ""
        return f"{prefix}{text} {self.hint}".rstrip()


class UsageError(MixlawError):
    """A command line that asks for something impossible: exit code 2."""

    exit_code = 2


class InputError(MixlawError):
    """A file or table that cannot be read as it is: exit code 3."""


class MissingFactError(InputError):
    """A number that only the user knows (tokens, sizes, paths) is needed and absent."""


class MissingExtraError(MixlawError):
    """An optional dependency is needed for what was asked."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"the optional package {package}",
            "an environment without it",
            hint=f"Install it with: pip install 'mixlaw[{extra}]'",
        )


class InfeasibleError(InputError):
    """No mixture satisfies all constraints at once."""


class FitError(MixlawError):
    """A fit or a gate failed (under ``--strict``), or there is no answer to what was asked: exit code 4."""

    exit_code = 4
