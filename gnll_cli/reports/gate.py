"""The gate: whether a report may pass, alone and against a baseline.

It fails where the report is not complete, where a case is not green, and, with a baseline, where a case got worse,
lost headroom by more than the factor, is judged by less than before, or is missing. A report that cannot be judged
at all is a ``UsageError``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gnll_cli.errors import EXIT_NOT_GREEN, EXIT_OK, GnllError, UsageError
from gnll_cli.reports.baseline import Baseline, of_report
from gnll_cli.reports.explain import summary_line
from gnll_cli.reports.status import GREEN, counts, rank
from gnll_cli.reports.texts import headline

#: A case may lose headroom by this factor before the gate fails.
FACTOR = 2.0


@dataclass(frozen=True)
class Finding:
    """Why the gate fails.

    ``kind``: incomplete, not_green, worse, headroom, not_judged or missing; ``text`` is one line.
    """

    kind: str
    case: str
    before: str
    after: str
    text: str


@dataclass
class Decision:
    """``findings`` fail the gate; ``new`` are cases the baseline does not have; ``notes`` are for the reader."""

    total: int
    compared: int | None
    findings: list[Finding] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.findings

    @property
    def exit_code(self) -> int:
        return EXIT_OK if self.passed else EXIT_NOT_GREEN

    def record(self) -> dict[str, Any]:
        """The decision as JSON, schema gnll-gate/1."""
        return {
            "schema": "gnll-gate/1",
            "passed": self.passed,
            "exit_code": self.exit_code,
            "total": self.total,
            "compared": self.compared,
            "findings": [
                {"kind": f.kind, "case": f.case, "before": f.before, "after": f.after, "text": f.text}
                for f in self.findings
            ],
            "new": self.new,
            "notes": self.notes,
        }


def decide(report: Mapping[str, Any], baseline: Baseline | None, factor: float = FACTOR) -> Decision:
    """Judge a report (from ``load_report``).

    ``UsageError`` where it has no executed case or the baseline is of another backend.
    """
    cases = report["cases"]
    if not cases:
        raise UsageError(
            "the report has no case", hint="a gate that checks nothing must not pass: run some cases first"
        )
    if all(case["status"] == "skipped" for case in cases):
        raise UsageError(
            f"all {len(cases)} cases of the report were skipped",
            hint="a gate that checks nothing must not pass: run them on a backend that can execute them",
        )
    decision = Decision(len(cases), None)
    summary = report["summary"]
    if summary["interrupted"] or not summary["complete"]:
        text = headline({"expected": None, **summary, "counts": _counts(cases)})
        why = summary["stopped"] or text
        decision.findings.append(Finding("incomplete", "", "", "", f"the run is not complete: {why}"))
    current = of_report(report)
    if baseline is not None:
        _same_ground(current, baseline, decision)
    for case in cases:
        if case["status"] not in GREEN:
            before = baseline.cases[case["id"]].status if baseline and case["id"] in baseline.cases else ""
            decision.findings.append(_not_green(case, before))
    if baseline is not None:
        _compare(current, baseline, factor, decision)
        _missing(report, current, baseline, decision)
    return decision


def _counts(cases: list[dict[str, Any]]) -> dict[str, int]:
    from gnll_cli.reports.status import STATUSES

    result = dict.fromkeys(STATUSES, 0)
    for case in cases:
        result[case["status"]] += 1
    return result


def _not_green(case: Mapping[str, Any], before: str) -> Finding:
    status = case["status"]
    try:
        why = summary_line(case)
    except (KeyError, TypeError, AttributeError):  # a report from elsewhere may lack what explanations need
        why = str(case.get("reason") or "")
    text = f"{case['id']}: {before} -> {status}" if before else f"{case['id']}: {status}"
    if before and before not in GREEN:
        text += " (was not green in the baseline either)"
    return Finding("not_green", case["id"], before, status, f"{text}: {why}" if why and why != status else text)


def _same_ground(current: Baseline, baseline: Baseline, decision: Decision) -> None:
    if current.backend != baseline.backend:
        raise UsageError(
            f"the baseline was made with backend {baseline.backend}, the report with {current.backend}: "
            "their figures cannot be compared",
            hint="name a baseline of the same backend with --baseline (and make one with --update), "
            "or gate on green alone with --no-baseline",
        )
    before, now = baseline.environment.get("profiles") or {}, current.environment["profiles"]
    changed = [name for name in sorted(before.keys() & now.keys()) if before[name] != now[name]]
    if changed:
        decision.notes.append(
            f"the definition of profile {', '.join(changed)} has changed since the baseline: "
            "headroom under it is compared nevertheless"
        )


def _compare(current: Baseline, baseline: Baseline, factor: float, decision: Decision) -> None:
    decision.compared = 0
    for name, now in current.cases.items():
        before = baseline.cases.get(name)
        if before is None:
            decision.new.append(name)
            continue
        decision.compared += 1
        if now.status not in GREEN:
            continue  # told already
        if rank(now.status) > rank(before.status):
            text = f"{name}: {before.status} -> {now.status}"
            decision.findings.append(Finding("worse", name, before.status, now.status, text))
        elif now.status == before.status == "passed":
            for key, was in before.headroom.items():
                decision.findings += _headroom(name, key, was, now.headroom.get(key), factor)


def _headroom(name: str, key: str, was: float, now: float | None, factor: float) -> list[Finding]:
    if now is None:
        text = f"{name}: {key} headroom {was:g} -> not judged any more"
        return [Finding("not_judged", name, f"{was:g}", "", text)]
    if now * factor < was:
        times = f"{was / now:.3g} times less" if now else "nothing left"
        text = f"{name}: {key} headroom {was:g} -> {now:g} ({times}, allowed: {factor:g})"
        return [Finding("headroom", name, f"{was:g}", f"{now:g}", text)]
    return []


def _missing(report: Mapping[str, Any], current: Baseline, baseline: Baseline, decision: Decision) -> None:
    missing = [name for name in baseline.cases if name not in current.cases]
    if not missing:
        return
    if report["selection"].get("restricted"):
        decision.notes.append(
            f"the run was restricted to a part of the suite: {len(missing)} cases of the baseline are not in it and "
            "were not compared"
        )
        return
    for name in missing:
        status = baseline.cases[name].status
        decision.findings.append(Finding("missing", name, status, "", f"{name}: {status} -> not in the report"))


def updated(report: Mapping[str, Any], old: Baseline | None, allow_failing: bool) -> tuple[Baseline, list[str]]:
    """The baseline that ``--update`` writes, and notes on it.

    A restricted run replaces its own cases and keeps the others of ``old``. ``GnllError`` (exit code 1) where the
    report is not complete, or not green without ``allow_failing``; ``UsageError`` where it holds no case, or is
    restricted and of another backend.
    """
    summary = report["summary"]
    if not report["cases"]:
        raise UsageError("the report has no case: there is nothing to make a baseline of")
    if summary["interrupted"] or not summary["complete"]:
        why = summary["stopped"] or "it was interrupted"
        raise _refusal(f"no baseline from a run that is not complete: {why}", "finish it with gnll run --resume")
    red = {status: number for status, number in _counts(report["cases"]).items() if status not in GREEN}
    if any(red.values()) and not allow_failing:
        raise _refusal(
            f"no baseline from a report that is not green: {counts(red)}",
            "repair the cases, list them with --known, or say --allow-failing",
        )
    new = of_report(report)
    if old is None:
        return new, []
    if not report["selection"].get("restricted"):
        notes = [] if old.backend == new.backend else [f"replaces a baseline of backend {old.backend}"]
        return new, notes
    if old.backend != new.backend:
        raise UsageError(
            f"the run was restricted to a part of the suite and is of backend {new.backend}; "
            f"the baseline is of {old.backend}",
            hint="write to another file with --baseline",
        )
    kept = {name: case for name, case in old.cases.items() if name not in new.cases}
    notes = [f"the run was restricted: {len(kept)} other cases of the baseline are kept as they were"]
    profiles = {**(old.environment.get("profiles") or {}), **new.environment["profiles"]}
    return Baseline({**new.environment, "profiles": profiles}, {**kept, **new.cases}), notes


def _refusal(what: str, hint: str) -> GnllError:
    error = GnllError(what, hint=hint)
    error.exit_code = EXIT_NOT_GREEN
    return error
