"""The list of known failures: failures that are expected, each by case pattern, kind and reason.

A YAML list. ``case`` is a pattern on case ids (``*``, ``?``, ``[...]``; an id written out matches itself),
``kind`` the status the case has when it fails, ``reason`` a text for the report:

    - case: extreme/bf16-*
      kind: failed
      reason: d^2 overflows in float32
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from gnll_cli.errors import CaseFileError, GnllError, UsageError, nearest
from gnll_cli.reports.status import GREEN, KNOWN_KINDS

KEYS = ("case", "kind", "reason")
LIMIT = 1 << 20


@dataclass
class KnownEntry:
    """One entry; ``where`` is file:line:column; ``matched`` becomes True when a case of the run matches the pattern."""

    pattern: str
    kind: str
    reason: str
    where: str
    matched: bool = False
    _regex: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._regex = re.compile(fnmatch.translate(self.pattern))

    def matches(self, case_id: str) -> bool:
        return case_id == self.pattern or self._regex.match(case_id) is not None


@dataclass
class KnownList:
    """The entries of a file, in its order."""

    entries: list[KnownEntry]
    #: Entries that are plain ids are looked up: lists of hundreds of them are common, and suites have thousands of
    #: cases.
    _plain: dict[str, list[KnownEntry]] = field(init=False, repr=False, default_factory=dict)
    _patterns: list[KnownEntry] = field(init=False, repr=False, default_factory=list)

    def __post_init__(self) -> None:
        for entry in self.entries:
            if any(c in entry.pattern for c in "*?["):
                self._patterns.append(entry)
            else:
                self._plain.setdefault(entry.pattern, []).append(entry)

    def matching(self, case_id: str) -> list[KnownEntry]:
        """The entries for a case: those with its very id first, then patterns, in the order of the file."""
        return self._plain.get(case_id, []) + [entry for entry in self._patterns if entry.matches(case_id)]

    def unmatched(self) -> list[str]:
        """A warning for each entry that matched no case of the run."""
        return [
            f"{entry.where}: known failure '{entry.pattern}' matches no case of this run"
            for entry in self.entries
            if not entry.matched
        ]


def apply_known(record: dict[str, Any], known: KnownList) -> dict[str, Any]:
    """The record as the list of known failures makes it; the same object where the list does not touch it.

    A case that fails in the way an entry says is ``known``; one that is listed and passes is ``fixed``; one that
    fails in another way than listed keeps its status. ``known`` in the record holds the entry. Skipped and advisory
    results stay.
    """
    matching = known.matching(record["id"])
    if not matching:
        return record
    for entry in matching:
        entry.matched = True
    status = record["status"]
    if status == "passed":
        first = matching[0]
        return {
            **record,
            "status": "fixed",
            "reason": f"passes, but {first.where} lists it as {first.kind} ({first.reason}): remove it from the list",
            "known": {"kind": first.kind, "reason": first.reason, "where": first.where},
        }
    if status in GREEN or status == "fixed":
        return record
    for entry in matching:
        if entry.kind == status:
            return {
                **record,
                "status": "known",
                "known": {"kind": entry.kind, "reason": entry.reason, "where": entry.where},
            }
    first = matching[0]
    return {**record, "known": {"kind": first.kind, "reason": first.reason, "where": first.where}}


def load(path: Path | str) -> KnownList:
    """Read a list of known failures.

    ``UsageError`` where there is no such file, ``CaseFileError`` for what is wrong in it.
    """
    try:
        with open(path, "rb") as stream:
            data = stream.read(LIMIT + 1)
    except OSError as error:
        raise UsageError(
            f"cannot read: {error.strerror}", where=str(path), hint="--known takes a YAML list of known failures"
        ) from error
    if len(data) > LIMIT:
        raise UsageError(f"larger than {LIMIT >> 20} MiB: this is no list of known failures", where=str(path))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError("not UTF-8 text", where=f"{path}:{line}", hint="save the file as UTF-8") from error
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise UsageError(f"not YAML: {error.problem or error.context}", where=where) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"not YAML: {str(error).splitlines()[0]}", where=str(path)) from error
    if root is None:
        return KnownList([])
    if not isinstance(root, yaml.SequenceNode):
        raise UsageError(
            "a list is expected",
            where=_where(path, root),
            hint="each entry is '- case: ...', 'kind: ...', 'reason: ...'",
        )
    entries: list[KnownEntry] = []
    problems: list[GnllError] = []
    for node in root.value:
        found, wrong = _entry(path, node)
        problems += wrong
        if found is not None:
            entries.append(found)
    if problems:
        raise CaseFileError(problems)
    return KnownList(entries)


def _where(path: Path | str, node: yaml.Node) -> str:
    return f"{path}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"


def _entry(path: Path | str, node: yaml.Node) -> tuple[KnownEntry | None, list[GnllError]]:
    if not isinstance(node, yaml.MappingNode):
        hint = f"write the keys {', '.join(KEYS)}"
        return None, [UsageError("an entry with keys is expected", where=_where(path, node), hint=hint)]
    problems: list[GnllError] = []
    values: dict[str, str] = {}
    for key_node, value_node in node.value:
        where = _where(path, value_node)
        key = key_node.value if isinstance(key_node, yaml.ScalarNode) else "..."
        if key not in KEYS:
            problems.append(
                UsageError(f"unknown key '{key}'", where=_where(path, key_node), hint=nearest(key, list(KEYS)))
            )
        elif key in values:
            problems.append(UsageError(f"the key '{key}' is there twice", where=_where(path, key_node)))
        elif not isinstance(value_node, yaml.ScalarNode):
            problems.append(UsageError(f"'{key}' must be text", where=where))
            values[key] = ""
        elif value_node.tag != "tag:yaml.org,2002:str" and value_node.value:
            hint = f"write '{value_node.value}' in quotes if it is meant as text"
            problems.append(UsageError(f"'{key}' must be text", where=where, hint=hint))
            values[key] = ""
        else:
            values[key] = value_node.value.strip()
            problems += _value_problems(key, values[key], where)
    for key in KEYS:
        if key not in values:
            problems.append(UsageError(f"the key '{key}' is missing", where=_where(path, node)))
    if problems:
        return None, problems
    return KnownEntry(values["case"], values["kind"], values["reason"], _short_where(path, node)), []


def _short_where(path: Path | str, node: yaml.Node) -> str:
    return f"{path}:{node.start_mark.line + 1}"


def _value_problems(key: str, value: str, where: str) -> list[GnllError]:
    if not value:
        return [UsageError(f"'{key}' is empty", where=where)]
    if key == "kind" and value not in KNOWN_KINDS:
        hint = nearest(value, list(KNOWN_KINDS))
        return [UsageError(f"'{value}' is no status that a failing case can have", where=where, hint=hint)]
    return []
