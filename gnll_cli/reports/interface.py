"""The seam of a report format: what a writer is given, and what it must be.

A module of ``formats/`` with ``FORMAT: Format`` is a format; nothing else has to be edited.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, TextIO

SCHEMA = "gnll-report/1"


@dataclass(frozen=True, slots=True)
class Brief:
    """A case in a few words, for formats that need no more of most cases.

    ``source`` is file:line:column of the case's origin, ``seconds`` the sum over the phases; ``record`` reads the
    whole record (non-finite numbers as words).
    """

    id: str
    status: str
    source: str
    seconds: float
    record: Callable[[], dict[str, Any]]


class Report(Protocol):
    """A run as a writer sees it. Cases come in the order of the suite, whatever the order in which they ended."""

    environment: dict[str, Any]
    selection: dict[str, Any]
    #: See gnll_cli/reports/report.schema.json.
    summary: dict[str, Any]

    def texts(self) -> Iterator[str]:
        """Each case record as one line of strict JSON."""

    def cases(self, statuses: Container[str] | None = None) -> Iterator[dict[str, Any]]:
        """The case records (non-finite numbers as words), all or those with one of ``statuses``."""

    def briefs(self) -> Iterator[Brief]:
        """Every case in a few words, without reading its record."""


@dataclass(frozen=True)
class Format:
    """``name`` for messages, ``filename`` in the report folder, ``write`` the whole document to a stream (UTF-8)."""

    name: str
    filename: str
    write: Callable[[Report, TextIO], None]


def formats() -> tuple[list[Format], list[str]]:
    """Every format that is there, and a message for each module that is none."""
    from gnll_cli.reports import formats as folder

    found: list[Format] = []
    problems: list[str] = []
    for module in sorted(m.name for m in pkgutil.iter_modules(folder.__path__)):
        try:
            found.append(import_module(f"{folder.__name__}.{module}").FORMAT)
        except Exception as error:  # a broken format must not lose the others
            problems.append(f"report format {module} cannot be loaded: {type(error).__name__}: {error}")
    return found, problems
