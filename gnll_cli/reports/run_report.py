"""A run's report from the first case to the files: journal, resume, known failures, summary, formats."""

from __future__ import annotations

import time
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from gnll_cli.errors import EXIT_OK, EXIT_USAGE, UsageError
from gnll_cli.reports import strict
from gnll_cli.reports.files import FolderLock, atomic
from gnll_cli.reports.interface import Brief, formats
from gnll_cli.reports.journal import NAME as JOURNAL
from gnll_cli.reports.journal import Journal
from gnll_cli.reports.known import KnownList, apply_known
from gnll_cli.reports.status import STATUSES
from gnll_cli.reports.summary import Facts, facts, summarise

#: What may differ between two runs of the same thing: see ``comparable``.
VOLATILE_SUMMARY = ("seconds", "started", "resumed")
VOLATILE_SELECTION = ("resume",)
VOLATILE_CASE = ("seconds",)


@dataclass
class Finished:
    """What is left of a run: the summary as in report.json, where the files are, and what went wrong in writing
    them.
    """

    summary: dict[str, Any]
    environment: dict[str, Any]
    selection: dict[str, Any]
    paths: dict[str, Path] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """The exit code of the run. A green run whose reports could not be written is not green: 2."""
        code = int(self.summary["exit_code"])
        return EXIT_USAGE if code == EXIT_OK and self.problems else code


@dataclass(slots=True)
class _Entry:
    """Where the record of a case is: a place in the journal, or ``text`` where the list of known failures changed
    it.
    """

    id: str
    facts: Facts
    source: str
    seconds: float
    offset: int
    length: int
    text: bytes | None = None


class RunReport:
    """The report of one run, in its folder.

    ``add`` takes the records as cases end, in any order; every record is in the journal when ``add`` returns, so
    that ``resume=True`` can go on after a crash, a kill or an interrupt. ``finish`` writes one file per format. Use
    it as a context manager (or call ``close``): that frees the folder for other runs; it does not finish the
    report.

    ``environment`` and ``selection`` are dicts of JSON values. The gate reads ``environment["backend"]`` and
    ``["profiles"]``, and ``selection["restricted"]`` (True where the run left out cases of the suite on purpose).
    ``total`` is the number of cases selected, None where it is not known. ``fingerprint`` names everything that
    decides what the same case gives (versions, backend, hashes, options); a journal with another one is not
    resumed.

    ``UsageError`` where the folder cannot be written, another run has it, or ``fingerprint`` differs.
    """

    def __init__(
        self,
        report_dir: Path | str,
        environment: Mapping[str, Any],
        selection: Mapping[str, Any],
        total: int | None,
        *,
        fingerprint: Mapping[str, Any] | None = None,
        resume: bool = False,
        known: KnownList | None = None,
    ) -> None:
        self.folder = Path(report_dir)
        self.environment: dict[str, Any] = dict(environment)
        self.selection: dict[str, Any] = dict(selection)
        self.summary: dict[str, Any] = {}
        self._total = total
        self._known = known
        self._entries: dict[int, _Entry] = {}
        self._interned: dict[object, Any] = {}
        self._started = datetime.now(timezone.utc)
        self._clock = time.monotonic()
        self._resumed = 0
        #: Records of the interrupted run that can be used again: case id -> (fingerprint of the case, place).
        self._done: dict[str, tuple[str, int, int]] = {}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(self.folder)
        except OSError as error:
            raise UsageError(
                f"cannot write reports here: {error.strerror}",
                where=str(self.folder),
                hint="name a folder that can be written with --report-dir",
            ) from error
        try:
            self._journal = self._open_journal(strict.clean(dict(fingerprint or {})), resume)
        except BaseException:
            self._lock.release()
            raise

    def _open_journal(self, fingerprint: dict[str, Any], resume: bool) -> Journal:
        path = self.folder / JOURNAL
        try:
            reopened = Journal.reopen(path) if resume else None
            if reopened is None:
                return Journal(path, {"fingerprint": fingerprint, "started": _timestamp(self._started)})
        except OSError as error:
            raise UsageError(
                f"cannot write: {error.strerror}", where=str(path), hint="name another folder with --report-dir"
            ) from error
        journal, records = reopened
        before = journal.head.get("fingerprint")
        if before != fingerprint:
            journal.close()
            raise UsageError(
                "the interrupted run was another one: " + _difference(before, fingerprint),
                where=str(path),
                hint="repeat the run as it was, or start from the beginning without --resume",
            )
        for offset, length, record in records:
            self._done[record["id"]] = (str(record.get("fingerprint", "")), offset, length)
        return journal

    @property
    def resumable(self) -> int:
        """How many records of an interrupted run were found."""
        return len(self._done)

    def is_done(self, case_id: str, fingerprint: str) -> bool:
        """True where the interrupted run has the record of this case as it is now."""
        return case_id in self._done and self._done[case_id][0] == fingerprint

    def reuse(self, index: int, case_id: str) -> dict[str, Any]:
        """Take the record of the interrupted run for the case at ``index``; the record as it is reported."""
        _, offset, length = self._done[case_id]
        record: dict[str, Any] = strict.decode(self._journal.read(offset, length))
        self._resumed += 1
        return self._enter(index, record, offset, length)

    def add(self, index: int, record: Mapping[str, Any]) -> dict[str, Any]:
        """Take the record of the case at ``index`` of the suite; the record as it is reported (known failures applied).

        ``ValueError`` for a status that does not exist or an index that is taken.
        """
        if record["status"] not in STATUSES:
            raise ValueError(f"no such status: {record['status']!r}")
        if index in self._entries:
            raise ValueError(f"index {index} is taken by {self._entries[index].id}")
        offset, length = self._journal.append(strict.encode_record(record))
        return self._enter(index, record, offset, length)

    def _enter(self, index: int, record: Mapping[str, Any], offset: int, length: int) -> dict[str, Any]:
        reported = record if isinstance(record, dict) else dict(record)
        text = None
        if self._known is not None:
            reported = apply_known(reported, self._known)
            if reported is not record:
                text = strict.encode_record(reported)
        found = facts(reported)
        # Thousands of cases share a few dozen combinations of axes, and the cases of a matrix their source.
        axes = self._interned.setdefault(found.axes, found.axes)
        source = str(reported.get("source") or "")
        source = self._interned.setdefault(source, source)
        seconds = sum(strict.number(value) or 0.0 for value in (reported.get("seconds") or {}).values())
        self._entries[index] = _Entry(
            reported["id"], Facts(found.status, axes, found.profiles), source, seconds, offset, length, text
        )
        return reported

    def texts(self) -> Iterator[str]:
        """Each record as one line of strict JSON, in the order of the suite."""
        for entry in self._ordered():
            yield self._text(entry).decode("utf-8")

    def cases(self, statuses: Container[str] | None = None) -> Iterator[dict[str, Any]]:
        """The records, all or those with one of ``statuses``, in the order of the suite."""
        for entry in self._ordered():
            if statuses is None or entry.facts.status in statuses:
                yield self._record(entry)

    def briefs(self) -> Iterator[Brief]:
        """Every case in a few words, in the order of the suite; no record is read."""
        for entry in self._ordered():
            yield Brief(entry.id, entry.facts.status, entry.source, entry.seconds, partial(self._record, entry))

    def _ordered(self) -> Iterator[_Entry]:
        for index in sorted(self._entries):
            yield self._entries[index]

    def _record(self, entry: _Entry) -> dict[str, Any]:
        record: dict[str, Any] = strict.decode(self._text(entry))
        return record

    def _text(self, entry: _Entry) -> bytes:
        return self._journal.read(entry.offset, entry.length) if entry.text is None else entry.text

    def finish(self, interrupted: bool = False, stopped: str = "") -> Finished:
        """Write the report files, each in one step; a format that fails is a problem told, and the others are written.

        ``stopped`` says why the run left out the rest on its own account (such as ``--maxfail 3``). The journal
        stays where the run is not complete or a file could not be written, so that ``resume`` can go on; otherwise
        it is removed.
        """
        warnings = self._known.unmatched() if self._known is not None else []
        self.summary = summarise(
            [entry.facts for entry in self._ordered()],
            expected=self._total,
            interrupted=interrupted,
            stopped=stopped,
            warnings=warnings,
        )
        self.summary["started"] = _timestamp(self._started)
        self.summary["seconds"] = round(time.monotonic() - self._clock, 3)
        self.summary["resumed"] = self._resumed
        finished = Finished(self.summary, self.environment, self.selection)
        writers, finished.problems = formats()
        for writer in writers:
            path = self.folder / writer.filename
            try:
                with atomic(path) as stream:
                    writer.write(self, stream)
                finished.paths[writer.name] = path
            except Exception as error:  # the other formats must still be written
                reason = error.strerror if isinstance(error, OSError) and error.strerror else repr(error)
                finished.problems.append(f"{path} could not be written: {reason}")
        if self.summary["complete"] and not finished.problems:
            self._journal.remove()
        self.close()
        return finished

    def close(self) -> None:
        """Free the folder. What is in the journal stays there unless ``finish`` completed the run."""
        self._journal.close()
        self._lock.release()

    def __enter__(self) -> RunReport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _timestamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _difference(before: object, now: dict[str, Any]) -> str:
    if not isinstance(before, dict):
        return "its fingerprint cannot be read"
    changed = [key for key in sorted(before.keys() | now.keys()) if before.get(key) != now.get(key)]
    return "; ".join(f"{key} was {_short(before.get(key))} and is {_short(now.get(key))}" for key in changed)


def _short(value: object) -> str:
    text = "not given" if value is None else strict.encode(value).decode("utf-8")
    return text if len(text) <= 100 else text[:97] + "..."


def comparable(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report.json document without what differs between two runs of the same thing.

    That is the times, and whether and how much of an interrupted run was used.
    """
    result = dict(report)
    for part, volatile in (("summary", VOLATILE_SUMMARY), ("selection", VOLATILE_SELECTION)):
        result[part] = {key: value for key, value in report[part].items() if key not in volatile}
    result["cases"] = [
        {key: value for key, value in case.items() if key not in VOLATILE_CASE} for case in report["cases"]
    ]
    return result
