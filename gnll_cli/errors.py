"""Errors that a user sees: one message with what, where and what to do, and the documented exit code."""

from __future__ import annotations

EXIT_OK = 0
EXIT_NOT_GREEN = 1
EXIT_USAGE = 2
EXIT_UNAVAILABLE = 3
EXIT_INTERRUPTED = 130


class GnllError(Exception):
    """Base of every error that ends a command with one message.

    ``what`` says what is wrong, ``where`` names the file, option or place, ``hint`` says what to do about it.
    """

    exit_code = EXIT_USAGE

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}\n  {self.hint}" if self.hint else text


class UsageError(GnllError):
    """Wrong usage of the command line."""


class RawFileError(GnllError):
    """A raw tensor file that is missing, of the wrong size, or not raw at all."""


class CaseFileError(GnllError):
    """Errors in case files: ``problems`` holds each of them as a ``GnllError`` whose ``where`` is file:line:column."""

    def __init__(self, problems: list[GnllError]) -> None:
        self.problems = problems
        super().__init__("\n".join(str(p) for p in problems))


class UnavailableError(GnllError):
    """The backend or the environment is not available (exit code 3)."""

    exit_code = EXIT_UNAVAILABLE


def nearest(word: str, known: list[str]) -> str:
    """A suggestion for a near miss: ``did you mean 'x'?``, or the list of what is known."""
    import difflib

    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known)}"
