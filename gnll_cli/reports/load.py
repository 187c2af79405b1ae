"""Reading a report.json back, for the gate: every way in which it can be no report is one message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gnll_cli.errors import UsageError
from gnll_cli.reports import strict
from gnll_cli.reports.interface import SCHEMA
from gnll_cli.reports.journal import NAME as JOURNAL
from gnll_cli.reports.status import STATUSES

FILE = "report.json"


def document(path: Path, schema: str, hint: str) -> dict[str, Any]:
    """A JSON document with ``"schema": schema``; ``UsageError`` for everything else."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read: {error.strerror}", where=str(path), hint=hint) from error
    if not data.strip():
        raise UsageError("the file is empty", where=str(path), hint=hint)
    try:
        parsed = strict.decode(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        # A document that ends before its last bracket was cut: say so, since the parser's words do not.
        whole = data.rstrip().endswith(b"}") or not data.lstrip().startswith(b"{")
        problem = f"not JSON: {error}" if whole else f"the document is cut off after {len(data)} bytes"
        raise UsageError(problem, where=str(path), hint=hint) from error
    found = parsed.get("schema") if isinstance(parsed, dict) else None
    if found != schema:
        what = f"its schema is {found!r}" if found is not None else "it has no schema"
        raise UsageError(f"not a document of schema {schema}: {what}", where=str(path), hint=hint)
    assert isinstance(parsed, dict)
    return parsed


def load_report(path: Path) -> dict[str, Any]:
    """A report (the file, or the folder that holds it), checked as far as the gate relies on it.

    ``UsageError`` where it cannot be read, is no report or contradicts itself. A report beside the journal of a
    later run that did not finish is marked: ``summary["complete"]`` is False and ``summary["stopped"]`` says why.
    """
    if path.is_dir():
        path = path / FILE
    report = document(path, SCHEMA, "name the report.json that gnll run wrote, or its folder")
    _check(report, path)
    summary = report["summary"]
    if summary["complete"] and (path.parent / JOURNAL).exists():
        summary["complete"] = False
        summary["stopped"] = f"a later run in {path.parent} did not finish; this is the report of the run before it"
    return report


def _check(report: dict[str, Any], path: Path) -> None:
    def broken(what: str) -> UsageError:
        return UsageError(f"this report is damaged: {what}", where=str(path), hint="run gnll run again")

    for key, kind in (("summary", dict), ("environment", dict), ("selection", dict), ("cases", list)):
        if not isinstance(report.get(key), kind):
            raise broken(f"'{key}' is missing or of the wrong type")
    summary, cases = report["summary"], report["cases"]
    for key in ("complete", "interrupted"):
        if not isinstance(summary.get(key), bool):
            raise broken(f"'summary.{key}' is missing or of the wrong type")
    if summary.get("total") != len(cases):
        raise broken(f"the summary counts {summary.get('total')} cases, {len(cases)} are there")
    seen: set[str] = set()
    for number, case in enumerate(cases):
        if not isinstance(case, dict) or not isinstance(case.get("id"), str):
            raise broken(f"case {number} has no id")
        if case.get("status") not in STATUSES:
            raise broken(f"case {case['id']} has the unknown status {case.get('status')!r}")
        if case["id"] in seen:
            raise broken(f"case {case['id']} is there twice")
        seen.add(case["id"])
        outputs = case.get("outputs", [])
        if not isinstance(outputs, list) or not all(
            isinstance(o, dict) and isinstance(o.get("name"), str) and isinstance(o.get("profile"), str)
            for o in outputs
        ):
            raise broken(f"case {case['id']} has outputs that cannot be read")
    summary.setdefault("stopped", "")
