"""report.md: fit for a pull-request comment: headline, counts, the first failures, the rest folded away.

Comments are limited to 65,536 characters on the usual platforms; the document stays below 60,000 bytes whatever
the run held.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TextIO

from gnll_cli.reports import strict
from gnll_cli.reports.explain import explain
from gnll_cli.reports.interface import Format, Report
from gnll_cli.reports.status import GREEN, STATUSES
from gnll_cli.reports.texts import duration, headline, headroom, printable

ROWS = 50
LIMIT = 60_000
_CELL = 300
_VALUES = 40


def text(value: object, limit: int = _CELL) -> str:
    """One line of text in which Markdown and HTML see no markup: everything special is an entity."""
    line = _shorten(printable(" ".join(str(value).split())), limit)
    return re.sub(r"[\\`*_{}\[\]<>()#+|~@&!$]", lambda match: f"&#{ord(match[0])};", line)


def code(value: object, limit: int = _CELL) -> str:
    """A code span, also inside a table; text with a pipe or a backquote is written with entities instead."""
    line = _shorten(printable(" ".join(str(value).split())), limit)
    if not line:
        return ""
    if "`" in line or "|" in line or "\\" in line:
        return f"<code>{text(line, limit)}</code>"
    return f"`{line}`"


def _shorten(line: str, limit: int) -> str:
    return line if len(line) <= limit else line[: limit - 3] + "..."


def _size(lines: list[str]) -> int:
    return sum(len(line.encode("utf-8")) + 1 for line in lines)


def _failures(report: Report, budget: int) -> list[str]:
    red = {status for status in STATUSES if status not in GREEN}
    total = sum(report.summary["counts"][status] for status in red)
    if not total:
        return []
    lines = ["| status | case | what |", "|---|---|---|"]
    size, rows = _size(lines), 0
    for case in report.cases(red):
        what = explain(case)[1:]
        row = f"| {case['status']} | {code(case['id'])} | {_what(what)} |"
        size += len(row.encode("utf-8")) + 1
        if rows == ROWS or size > budget:
            break
        lines.append(row)
        rows += 1
    if total > rows:
        lines += ["", f"and {total - rows} more; report.json has them all."]
    return [*lines, ""]


def _what(lines: list[str]) -> str:
    """The first lines of an explanation, in one table cell."""
    return "<br>".join(text(line) for line in lines[:4])


def _reproduce(report: Report) -> list[str]:
    red = {status for status in STATUSES if status not in GREEN}
    commands = []
    for case in report.cases(red):
        if case.get("repro"):
            commands.append(printable(" ".join(str(case["repro"]).split())))
        if len(commands) == 5:
            break
    command = report.environment.get("command")
    if command:
        commands.insert(0, printable(" ".join(str(command).split())))
    if not commands:
        return []
    # A fence longer than any run of backquotes inside.
    longest = max((len(run) for line in commands for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    body = [line for line in commands if len(line.encode("utf-8")) <= 1000]
    return _details("How to reproduce", [f"{fence}sh", *body, fence]) if body else []


def _details(title: str, lines: list[str]) -> list[str]:
    return ["<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>", ""]


def _axes(summary: Mapping[str, Any]) -> list[str]:
    lines = ["| axis | value | cases | passed | not green | other | least headroom |", "|---|---|--:|--:|--:|--:|--:|"]
    for axis, values in summary["axes"].items():
        shown = set(sorted(values, key=lambda value: -values[value]["not_green"])[:_VALUES])
        for value, group in values.items():
            if value in shown:
                cells = [str(group[key]) for key in ("cases", "passed", "not_green", "other")]
                lines.append(
                    f"| {text(axis, 40)} | {text(value, 80)} | {' | '.join(cells)} | {headroom(group['headroom'])} |"
                )
        if len(values) > _VALUES:
            lines.append(f"| {text(axis, 40)} | and {len(values) - _VALUES} more |  |  |  |  |  |")
    return lines if len(lines) > 2 else []


def _environment(report: Report) -> list[str]:
    lines = ["| | |", "|---|---|"]
    for key, value in report.environment.items():
        if key == "profiles" and isinstance(value, Mapping):
            shown: object = ", ".join(str(name) for name in value)
        elif isinstance(value, str | int | float):
            shown = value
        else:
            shown = strict.encode(value).decode("utf-8")
        lines.append(f"| {text(key, 60)} | {code(shown)} |")
    return lines if len(lines) > 2 else []


def _clip(lines: list[str], budget: int) -> list[str]:
    """As many lines as fit, with a word on the rest."""
    kept: list[str] = []
    for line in lines:
        budget -= len(line.encode("utf-8")) + 1
        if budget < 0:
            return [*kept, "", "The rest is in report.json."]
        kept.append(line)
    return kept


def write(report: Report, stream: TextIO) -> None:
    """The whole document, below ``LIMIT`` bytes."""
    summary = report.summary
    mark = "✅" if summary["green"] else "❌"
    lines = [f"## {mark} gnll: {text(headline(summary))}", ""]
    counts = [(status, summary["counts"][status]) for status in STATUSES if summary["counts"][status]]
    if counts:
        lines += [f"| {' | '.join(status for status, _ in counts)} | time |", "|" + "--:|" * (len(counts) + 1)]
        lines += [f"| {' | '.join(str(number) for _, number in counts)} | {duration(summary['seconds'])} |", ""]
    tail: list[str] = []
    if summary["warnings"]:
        tail += [*_clip([f"- warning: {text(warning)}" for warning in summary["warnings"]], 4_000), ""]
    axes, environment = _axes(summary), _environment(report)
    if axes:
        tail += _details("Summary by axis", _clip(axes, 8_000))
    if environment:
        tail += _details("Environment", _clip(environment, 5_000))
    tail += _reproduce(report)
    # The failures get what the parts of bounded size leave; the last hundred bytes are for the line that counts the
    # rest.
    lines += _failures(report, LIMIT - _size(lines) - _size(tail) - 100)
    lines += tail
    stream.write("\n".join(lines).rstrip("\n") + "\n")


FORMAT = Format("markdown", "report.md", write)
