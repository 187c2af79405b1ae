"""A case that is not as expected, in words: the same lines on the terminal, in JUnit and in Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gnll_cli.reports import strict

#: Outputs and diagnostics explained per case; the rest is counted.
SHOWN = 8


def explain(record: Mapping[str, Any]) -> list[str]:
    """Lines that say what the case is, what went wrong and where; nested lines are indented by two blanks.

    Every failing output is told with its profile, counts, worst element and location, then why the case is
    untrusted, then the diagnostics. Text from the operator is passed through as it came: who prints it makes it
    safe.
    """
    lines = [_case(record)]
    wrong = [o for o in record.get("outputs") or () if not o["passed"] or not o.get("decided", True)]
    if record.get("reason") and not _told_below(record, wrong):
        lines += _multi(str(record["reason"]))
    known = record.get("known")
    if known and record["status"] != "fixed":
        but = "" if record["status"] == "known" else f", but it is {record['status']}"
        lines.append(f"known failure: {known['where']} lists it as {known['kind']} ({known['reason']}){but}")
    for output in wrong[:SHOWN]:
        lines += _output(output)
    _rest(lines, len(wrong), "output verdicts")
    lines += [f"would pass without computing: {text}" for text in record.get("untrusted") or ()]
    diagnostics = sorted(record.get("diagnostics") or (), key=lambda d: d.get("severity") != "failure")
    for diagnostic in diagnostics[:SHOWN]:
        lines += _diagnostic(diagnostic)
    _rest(lines, len(diagnostics), "diagnostics")
    return lines


def summary_line(record: Mapping[str, Any]) -> str:
    """What went wrong in one line, for a table or the message of a test case."""
    lines = explain(record)
    return lines[1].strip() if len(lines) > 1 else str(record["status"])


def _told_below(record: Mapping[str, Any], wrong: Sequence[Mapping[str, Any]]) -> bool:
    """True where the reason of the record only repeats the reasons of its outputs, its diagnostics or its lack of
    trust.
    """
    texts = [output.get("reason") for output in wrong]
    texts += [diagnostic.get("message") for diagnostic in record.get("diagnostics") or ()]
    texts += list(record.get("untrusted") or ())
    return any(text and str(text) in record["reason"] for text in texts)


def _rest(lines: list[str], number: int, what: str) -> None:
    if number > SHOWN:
        lines.append(f"and {number - SHOWN} more {what}")


def _multi(text: str, indent: str = "") -> list[str]:
    return [indent + line for line in text.splitlines() if line.strip()] or [indent + text]


def _case(record: Mapping[str, Any]) -> str:
    parts = [str(record.get("dtype", ""))]
    reduction = (record.get("attributes") or {}).get("reduction")
    if reduction is not None:
        parts.append(str(reduction))
    parts += [f"{name} {shape_text(shape)}" for name, shape in (record.get("shapes") or {}).items()]
    expect = record.get("expect")
    if isinstance(expect, Mapping):
        parts.append(f"expected refusal {expect.get('reject')}")
    source = record.get("source")
    text = ", ".join(part for part in parts if part)
    return f"{source}: {text}" if source else text


def shape_text(shape: Sequence[int]) -> str:
    """A shape or an index: ``[2, 3]``."""
    return "[" + ", ".join(str(d) for d in shape) + "]"


def figure(value: object) -> str:
    """A metric as people read it: nine digits tell float32 values apart."""
    if value is None:
        return "none"
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    number = strict.number(value)
    return str(value) if number is None else f"{number:.9g}"


def _output(output: Mapping[str, Any]) -> list[str]:
    name = f"{output['name']} under {output['profile']}"
    elements, mismatched = output.get("elements") or 0, output.get("mismatched") or 0
    reason = str(output.get("reason") or "")
    if not reason and mismatched:
        reason = f"{mismatched} of {elements} elements are wrong"
    elif not reason:
        undecided = output["passed"] or not output.get("decided", True)
        reason = "the golden is not accurate enough to decide" if undecided else "not passed"
    first, *rest = _multi(reason)
    percent = f" ({100.0 * mismatched / elements:.3g} % of the elements)" if mismatched and elements else ""
    lines = [f"{name}: {first}{percent}", *(f"  {line}" for line in rest)]
    rule = str(output.get("limit_text") or "")
    if rule in reason:
        rule = ""  # told already
    if output.get("worst_index") is not None:
        worst = (
            f"  worst at {shape_text(output['worst_index'])}: actual {figure(output.get('worst_actual'))}, "
            f"golden {figure(output.get('worst_golden'))}"
        )
        actual, golden = strict.number(output.get("worst_actual")), strict.number(output.get("worst_golden"))
        if actual is not None and golden is not None and math.isfinite(actual - golden):
            worst += f", error {error_figure(abs(actual - golden))}"
        if output.get("limit") is not None:
            worst += f", limit {figure(output['limit'])}"
        lines.append(f"{worst} ({rule})" if rule else worst)
    elif rule:
        lines.append(f"  limit: {rule}")
    if output.get("first_bad_index") is not None:
        lines.append(f"  first wrong at {shape_text(output['first_bad_index'])}")
    unwritten = 0 if "not written" in reason else output.get("unwritten") or 0
    lines += _location(output.get("location"), unwritten)
    errors = [
        f"{label} {error_figure(output[key])}"
        for key, label in (
            ("max_abs", "max abs"),
            ("max_rel", "max rel"),
            ("mean_rel", "mean rel"),
            ("rmse", "rmse"),
            ("max_ulp", "max ulp"),
        )
        if output.get(key) is not None
    ]
    if errors:
        lines.append(f"  errors: {', '.join(errors)}")
    lines += [f"  note: {note}" for note in output.get("notes") or ()]
    return lines


def error_figure(value: object) -> str:
    """An error figure: four digits are enough to judge by."""
    number = strict.number(value)
    return str(value) if number is None else f"{number:.4g}"


def _location(location: Mapping[str, Any] | None, unwritten: int) -> list[str]:
    lines = []
    if location is not None:
        place = [f"{part} {location[part]}" for part in ("core", "tile", "lane") if location.get(part) is not None]
        suffix = f" (worst element: {', '.join(place)})" if place else ""
        lines.append(f"  pattern: {location['text'] or location['pattern']}{suffix}")
    if unwritten:
        lines.append(f"  {unwritten} elements were never written")
    if location is not None and location.get("would_pass"):
        lines.append(f"  would pass: {', '.join(location['would_pass'])}")
    return lines


def _diagnostic(diagnostic: Mapping[str, Any]) -> list[str]:
    severity = diagnostic.get("severity", "failure")
    prefix = "" if severity == "failure" else f"{severity}: "
    details = [
        f"{key.replace('_', ' ')} {value}"
        for key, value in diagnostic.items()
        if key not in ("kind", "severity", "message") and value is not None and value != ""
    ]
    suffix = f" ({', '.join(details)})" if details else ""
    first, *rest = _multi(str(diagnostic.get("message", "")))
    return [f"{prefix}{diagnostic.get('kind', 'finding')}: {first}{suffix if not rest else ''}"] + [
        f"  {line}" for line in [*rest, *([suffix.strip()] if rest and suffix else [])]
    ]
