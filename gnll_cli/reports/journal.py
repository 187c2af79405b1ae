"""The journal of a run: one line of JSON per finished case, on disk as soon as the case is done.

The first line is the head: schema, the run's fingerprint and when it started. Every other line is a case record as
the report will hold it. A line counts when it ends with a line break, so a run killed in the middle of a write
loses that one line and nothing else. Records are handed to the operating system one by one, without a buffer of our
own: nothing is lost when the process is killed, and it costs a few microseconds a case.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gnll_cli.errors import UsageError
from gnll_cli.reports import strict

NAME = "journal.jsonl"
SCHEMA = "gnll-journal/1"


class Journal:
    """Append-only file of case records, readable at any record by its place (offset, length)."""

    def __init__(self, path: Path, head: Mapping[str, Any]) -> None:
        """A new journal; one that is there is replaced."""
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o666)
        self._end = 0
        self.head: dict[str, Any] = {"schema": SCHEMA, **head}
        self.append(strict.encode(self.head))

    @classmethod
    def reopen(cls, path: Path) -> tuple[Journal, list[tuple[int, int, dict[str, Any]]]] | None:
        """The journal of an interrupted run and its records as (offset, length, record); None where nothing was
        journaled.

        What follows the last complete line is cut off. A line that is no record (a damaged disk) is passed over: its
        case will run again.
        """
        try:
            fd = os.open(path, os.O_RDWR | os.O_APPEND)
        except FileNotFoundError:
            return None
        journal = cls.__new__(cls)
        journal.path, journal._fd, journal._end = path, fd, 0
        records: list[tuple[int, int, dict[str, Any]]] = []
        head: dict[str, Any] | None = None
        for line in journal._lines():
            parsed = _parse(line)
            if journal._end == 0:
                head = parsed
            elif parsed is not None and isinstance(parsed.get("id"), str) and isinstance(parsed.get("status"), str):
                records.append((journal._end, len(line), parsed))
            journal._end += len(line) + 1
        if journal._end == 0:
            journal.close()
            return None
        if head is None or head.get("schema") != SCHEMA:
            journal.close()
            raise UsageError(
                f"this is not the journal of a run of this version of gnll (schema {SCHEMA})",
                where=str(path),
                hint="run without --resume to start from the beginning",
            )
        os.ftruncate(fd, journal._end)
        journal.head = head
        return journal, records

    def _lines(self) -> Iterator[bytes]:
        with open(self._fd, "rb", closefd=False) as stream:
            stream.seek(0)
            for line in stream:
                if line.endswith(b"\n"):
                    yield line[:-1]

    def append(self, text: bytes) -> tuple[int, int]:
        """Write one record; its place. ``UsageError`` where the disk takes no more."""
        offset = self._end
        rest: bytes | memoryview = text + b"\n"
        length = len(rest)
        try:
            written = os.write(self._fd, rest)
            while written < len(rest):
                rest = memoryview(rest)[written:]
                written = os.write(self._fd, rest)
        except OSError as error:
            raise UsageError(
                f"cannot write: {error.strerror}", where=str(self.path), hint="free some space and go on with --resume"
            ) from error
        self._end += length
        return offset, length - 1

    def read(self, offset: int, length: int) -> bytes:
        """The text of a record by its place."""
        text = os.pread(self._fd, length, offset)
        while len(text) < length:
            more = os.pread(self._fd, length - len(text), offset + len(text))
            if not more:
                raise UsageError("the journal was cut short while the run was using it", where=str(self.path))
            text += more
        return text

    def close(self) -> None:
        """Close the file and keep it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def remove(self) -> None:
        """Close the file and delete it: the run it belonged to is complete."""
        self.close()
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        parsed = strict.decode(line)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None
