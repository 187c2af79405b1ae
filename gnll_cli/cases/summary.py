"""Cases as ``gnll list`` shows them: a line, a JSON document, and counts per tier and axis."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from math import isfinite
from typing import Any

from gnll_cli.cases.ids import shape_token
from gnll_cli.cases.model import Case
from gnll_cli.tiers import TIERS

#: Values of an axis that are listed one by one; an axis with more is summed up.
_MOST_VALUES = 40
_DROPPED = {"impossible": "cannot exist", "same": "are the same as an earlier one", "excluded": "are excluded"}


def text_line(case: Case) -> str:
    """One line: id, tier, profiles, shapes, and what is special about the case."""
    shapes = " ".join(f"{name}={shape_token(shape)}" for name, shape in case.shapes.items())
    words = [case.id, case.tier, "+".join(case.profile), shapes]
    if case.reject is not None:
        words.append(f"reject={case.reject}")
    if case.pair is not None:
        words.append(f"pair={case.pair}")
    words += [word for word, is_so in (("advisory", case.advisory), ("trivial", case.trivial is not None)) if is_so]
    return "  ".join(words)


def record(case: Case) -> str:
    """One JSON document on one line, strict JSON: non-finite attributes are text."""
    document: dict[str, Any] = {
        "id": case.id,
        "operator": case.operator,
        "tier": case.tier,
        "dtype": case.dtype,
        "attributes": {name: _strict(value) for name, value in case.attributes.items()},
        "shapes": {name: list(shape) for name, shape in case.shapes.items()},
        "dtypes": dict(case.dtypes),
        "data": {name: str(distribution) for name, distribution in case.data.items()},
        "layout": dict(case.layout),
        "null": list(case.null),
        "profile": list(case.profile),
        "expect": "ok" if case.reject is None else {"reject": case.reject},
        "trivial": case.trivial,
        "advisory": case.advisory,
        "pair": case.pair,
        "axes": dict(case.axes),
        "seed": case.seed,
        "source": case.source,
    }
    return json.dumps(document, allow_nan=False)


def _strict(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not isfinite(value) else value


class Summary:
    """Counts of a stream of cases; memory grows with the number of axis values, not of cases."""

    def __init__(self) -> None:
        self.total = 0
        self.tiers: Counter[str] = Counter()
        self.axes: dict[str, Counter[str]] = {}

    def add(self, case: Case) -> None:
        self.total += 1
        self.tiers[case.tier] += 1
        for name, value in case.axes.items():
            self.axes.setdefault(name, Counter())[value] += 1

    def line(self, dropped: Mapping[str, int]) -> str:
        """The closing line of a listing."""
        told = f"{self.total:,} case{'s' if self.total != 1 else ''}"
        left_out = _left_out(dropped)
        return f"{told}; {left_out}" if left_out else told

    def text(self, dropped: Mapping[str, int]) -> str:
        """Counts as lines: total, tiers, each axis."""
        lines = [f"cases      {self.total:>8,}"]
        for tier in TIERS:
            if self.tiers[tier]:
                lines.append(f"  {tier:<9}{self.tiers[tier]:>8,}")
        for name, values in self.axes.items():
            lines.append(name)
            width = max((len(value) for value in values), default=0)
            shown = sorted(values.items()) if len(values) <= _MOST_VALUES else []
            lines += [f"  {value:<{width}} {count:>8,}" for value, count in shown]
            if not shown:
                lines.append(f"  {len(values)} values")
        left_out = _left_out(dropped)
        if left_out:
            lines.append(left_out)
        return "\n".join(lines)

    def json(self, dropped: Mapping[str, int]) -> str:
        """Counts as one JSON document; ``dropped`` is over the whole suite."""
        axes = {name: dict(sorted(values.items())) for name, values in self.axes.items()}
        document = {
            "cases": self.total,
            "tiers": {tier: self.tiers[tier] for tier in TIERS},
            "axes": axes,
            "dropped": dict(dropped),
        }
        return json.dumps(document, indent=2)


def _left_out(dropped: Mapping[str, int]) -> str:
    told = [f"{count:,} {_DROPPED[kind]}" for kind, count in sorted(dropped.items()) if count]
    return f"of the combinations {', '.join(told)}" if told else ""
