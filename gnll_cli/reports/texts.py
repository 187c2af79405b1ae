"""Text from outside (ids, messages of an operator) made safe for a terminal or a document."""

from __future__ import annotations

import math


def printable(text: str) -> str:
    """The text on one line with nothing in it that moves a cursor, sets a colour, rings a bell or turns the writing
    direction.

    Whatever is not printable is shown as a backslash escape.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def encodable(text: str, encoding: str | None) -> str:
    """The text with backslash escapes for what an output encoding cannot say."""
    if text.isascii():
        return text
    name = encoding or "utf-8"
    return text.encode(name, "backslashreplace").decode(name)


def headroom(value: float | None) -> str:
    """Headroom in three digits; from 1,000 on nobody needs the number."""
    if value is None:
        return "-"
    if math.isinf(value) or value >= 1000:
        return ">=1000"
    return f"{value:.3g}"


def duration(seconds: float) -> str:
    """Seconds as people say them: ``0.41 s``, ``12.3 s``, ``3 min 05 s``, ``2 h 03 min``."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes = round(seconds) // 60
    if minutes < 100:
        return f"{minutes} min {round(seconds) % 60:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def headline(summary: dict[str, object]) -> str:
    """``green``, or ``red`` or ``interrupted`` with the reason, as every report starts."""
    from gnll_cli.reports.status import GREEN

    counts: dict[str, int] = summary["counts"]  # type: ignore[assignment]
    total, expected = summary["total"], summary["expected"]
    of = f"{total} of {expected} cases" if expected is not None else f"{total} cases"
    if summary["interrupted"]:
        return f"interrupted after {of}"
    red = sum(number for status, number in counts.items() if status not in GREEN)
    if red:
        text = f"red: {red} of {total} cases not green"
        return f"{text}, stopped early ({summary['stopped']})" if summary["stopped"] else text
    if total == 0:
        return "red: no case was run"
    if not summary["complete"]:
        return f"red: ended after {of}" + (f" ({summary['stopped']})" if summary["stopped"] else "")
    if counts["skipped"] == total:
        return f"red: all {total} cases were skipped"
    return f"green: {total} cases"
