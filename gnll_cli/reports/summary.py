"""The figures of a run: counts, the summary by axis, the exit code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gnll_cli.errors import EXIT_INTERRUPTED, EXIT_NOT_GREEN, EXIT_OK, EXIT_UNAVAILABLE, EXIT_USAGE
from gnll_cli.reports import strict
from gnll_cli.reports.status import GREEN, STATUSES


@dataclass(frozen=True, slots=True)
class Facts:
    """What the summary needs of one case.

    ``axes`` are (axis, value) pairs; ``profiles`` are (profile, all outputs passed, least headroom or None).
    """

    status: str
    axes: tuple[tuple[str, str], ...]
    profiles: tuple[tuple[str, bool, float | None], ...]

    @property
    def headroom(self) -> float | None:
        """The least headroom of the case, over outputs and profiles; None where nothing was measured."""
        return least(headroom for _, _, headroom in self.profiles)


def least(values: Iterable[float | None]) -> float | None:
    """The smallest number there is, or None; a NaN, which says that headroom cannot be had, counts as 0."""
    numbers = [0.0 if value != value else value for value in values if value is not None]
    return min(numbers) if numbers else None


def facts(record: Mapping[str, Any]) -> Facts:
    """The facts of a case record."""
    axes = record.get("axes")
    profiles: dict[str, tuple[bool, float | None]] = {}
    for output in record.get("outputs") or ():
        name, headroom = output["profile"], strict.number(output.get("headroom"))
        passed = bool(output["passed"] and output.get("decided", True))
        if name in profiles:
            before = profiles[name]
            profiles[name] = (before[0] and passed, least((before[1], headroom)))
        else:
            profiles[name] = (passed, headroom)
    return Facts(
        record["status"],
        tuple((str(axis), str(value)) for axis, value in axes.items()) if axes else (),
        tuple((name, passed, headroom) for name, (passed, headroom) in profiles.items()),
    )


class _Group:
    """The figures of one value of an axis."""

    def __init__(self) -> None:
        self.cases = 0
        self.passed = 0
        self.not_green = 0
        self.headroom: float | None = None

    def add(self, passed: bool, not_green: bool, headroom: float | None) -> None:
        self.cases += 1
        self.passed += passed
        self.not_green += not_green
        if headroom is not None:
            self.headroom = least((self.headroom, headroom))

    def record(self) -> dict[str, Any]:
        return {
            "cases": self.cases,
            "passed": self.passed,
            "not_green": self.not_green,
            "other": self.cases - self.passed - self.not_green,
            "headroom": self.headroom,
        }


def by_axis(cases: Iterable[Facts]) -> dict[str, dict[str, dict[str, Any]]]:
    """axis -> value -> figures, in order of appearance.

    ``cases`` = ``passed`` + ``not_green`` + ``other`` (skipped, known, advice); ``headroom`` is the least of the
    group. The axis ``profile`` counts verdicts: a case judged under two profiles counts under both, and under each
    by that profile alone.
    """
    axes: dict[str, dict[str, _Group]] = {}
    profiles: dict[str, _Group] = {}
    for case in cases:
        green = case.status in GREEN
        headroom = case.headroom
        for axis, value in case.axes:
            values = axes.setdefault(axis, {})
            group = values.get(value)
            if group is None:
                group = values[value] = _Group()
            group.add(case.status == "passed", not green, headroom)
        for name, passed, least_headroom in case.profiles:
            group = profiles.get(name)
            if group is None:
                group = profiles[name] = _Group()
            # A failure that the list of known failures or an advisory case excuses is neither passed nor red.
            group.add(passed, not passed and not green, least_headroom)
    if profiles:
        axes["profile"] = profiles
    return {axis: {value: group.record() for value, group in values.items()} for axis, values in axes.items()}


def exit_code(counts: Mapping[str, int], *, complete: bool, interrupted: bool) -> int:
    """The exit code of a run (chapter "Commands" of the design): what it says first is the worst that happened."""
    total = sum(counts.values())
    if interrupted:
        return EXIT_INTERRUPTED
    if total == 0:
        return EXIT_USAGE
    if any(number and status not in GREEN for status, number in counts.items()):
        return EXIT_NOT_GREEN
    if not complete:
        return EXIT_NOT_GREEN
    if counts.get("skipped", 0) == total:
        return EXIT_UNAVAILABLE
    return EXIT_OK


def summarise(
    cases: list[Facts],
    *,
    expected: int | None,
    interrupted: bool,
    stopped: str,
    warnings: list[str],
) -> dict[str, Any]:
    """The ``summary`` of a report but for its times; see gnll_cli/reports/report.schema.json."""
    counts = dict.fromkeys(STATUSES, 0)
    for case in cases:
        counts[case.status] += 1
    complete = not interrupted and not stopped and (expected is None or len(cases) == expected)
    code = exit_code(counts, complete=complete, interrupted=interrupted)
    return {
        "total": len(cases),
        "expected": expected,
        "complete": complete,
        "interrupted": interrupted,
        "stopped": stopped,
        "green": code == EXIT_OK,
        "exit_code": code,
        "counts": counts,
        "warnings": warnings,
        "axes": by_axis(cases),
    }
