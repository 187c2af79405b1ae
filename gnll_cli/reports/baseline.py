"""The baseline of the gate: what a report said when it was last accepted, small enough to be committed and read in
a diff.

    {"schema": "gnll-baseline/1",
     "environment": {"backend": "numpy", "profiles": {"bound": "1f0c..."}},
     "cases": {
    "matrix/fp32-none-2x3": {"status":"passed","headroom":{"gradInput/bound":4.21,"gradVar/bound":10}},
    ...
    }}

One case a line, sorted by id. Headroom is limit over error; it is kept in three digits, and above ``CAP`` it is
``CAP``: an error that stays below a tenth of its limit may change as it likes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnll_cli.errors import UsageError
from gnll_cli.reports import strict
from gnll_cli.reports.files import atomic
from gnll_cli.reports.load import document
from gnll_cli.reports.status import STATUSES

SCHEMA = "gnll-baseline/1"
CAP = 10.0
#: The committed baseline, which the gate uses where none is named.
DEFAULT = Path("reports/baseline.json")


@dataclass(frozen=True)
class BaselineCase:
    """Status, and headroom per ``output/profile`` (at most ``CAP``)."""

    status: str
    headroom: Mapping[str, float]


@dataclass(frozen=True)
class Baseline:
    """``environment`` holds ``backend`` and a digest of each profile's definition."""

    environment: Mapping[str, Any]
    cases: Mapping[str, BaselineCase]

    @property
    def backend(self) -> str:
        return str(self.environment.get("backend"))


def capped(headroom: float) -> float:
    """Headroom as it is compared: at most ``CAP``, three digits; NaN, which nothing can be said for, is 0."""
    if math.isnan(headroom):
        return 0.0
    return float(f"{max(0.0, min(headroom, CAP)):.3g}")


def of_report(report: Mapping[str, Any]) -> Baseline:
    """The baseline that a report makes."""
    environment = report["environment"]
    profiles = environment.get("profiles")
    digests = {}
    if isinstance(profiles, Mapping):
        digests = {str(name): hashlib.sha256(_canonical(profiles[name])).hexdigest()[:12] for name in sorted(profiles)}
    cases = {}
    for case in report["cases"]:
        headroom = {}
        for output in case.get("outputs", ()):
            value = strict.number(output.get("headroom"))
            if value is not None:
                headroom[f"{output['name']}/{output['profile']}"] = capped(value)
        cases[case["id"]] = BaselineCase(case["status"], headroom)
    return Baseline({"backend": environment.get("backend"), "profiles": digests}, cases)


def _canonical(value: object) -> bytes:
    import json

    return json.dumps(strict.clean(value), sort_keys=True, allow_nan=False).encode("utf-8")


def load(path: Path) -> Baseline:
    """Read a baseline.

    ``UsageError`` where it is missing, cut off, of another schema, or holds what no baseline can.
    """
    parsed = document(path, SCHEMA, "gnll gate REPORT --update writes a baseline")

    def broken(what: str) -> UsageError:
        return UsageError(f"this baseline is damaged: {what}", where=str(path), hint="write it again with --update")

    environment, cases = parsed.get("environment"), parsed.get("cases")
    if not isinstance(environment, dict) or not isinstance(cases, dict):
        raise broken("'environment' or 'cases' is missing or of the wrong type")
    found = {}
    for name, entry in cases.items():
        if not isinstance(entry, dict) or entry.get("status") not in STATUSES:
            raise broken(f"case {name} has no status that exists")
        headroom = entry.get("headroom", {})
        if not isinstance(headroom, dict) or not all(
            isinstance(value, int | float) and not isinstance(value, bool) for value in headroom.values()
        ):
            raise broken(f"case {name} has headroom that is no number")
        found[name] = BaselineCase(entry["status"], {key: capped(float(value)) for key, value in headroom.items()})
    return Baseline(environment, found)


def save(baseline: Baseline, path: Path) -> None:
    """Write a baseline in one step: the old one stays until the new one is complete.

    ``UsageError`` where that is impossible.
    """
    lines = []
    for name in sorted(baseline.cases):
        case = baseline.cases[name]
        # 10 and not 10.0: most figures of a baseline are the cap.
        headroom = {key: int(value) if value == int(value) else value for key, value in sorted(case.headroom.items())}
        entry: dict[str, Any] = {"status": case.status}
        if headroom:
            entry["headroom"] = headroom
        lines.append(f"{strict.encode(name).decode('utf-8')}: {strict.encode(entry).decode('utf-8')}")
    head = strict.encode(dict(baseline.environment)).decode("utf-8")
    body = ",\n".join(lines)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic(path) as stream:
            stream.write(f'{{"schema": "{SCHEMA}",\n"environment": {head},\n"cases": {{\n{body}\n}}}}\n')
    except OSError as error:
        raise UsageError(f"cannot write: {error.strerror}", where=str(path)) from error
