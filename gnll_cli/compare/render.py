"""A comparison of files as people read it, and as programs do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnll_cli.compare import profiles as registry
from gnll_cli.compare.folder import FolderVerdict
from gnll_cli.compare.interface import OutputVerdict
from gnll_cli.compare.raw import FileVerdict

SCHEMA = 1


def figure(value: float | int | None) -> str:
    """A metric in a line; integers in full."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def headroom(verdict: OutputVerdict) -> str:
    """How many times the limit is what was used."""
    room = verdict.headroom
    if room is None:
        return ""
    return "nothing of the limit used" if room == float("inf") else f"headroom {room:.3g}"


def metrics_line(verdict: OutputVerdict) -> str:
    """All metrics of an output in one line."""
    if not verdict.finite:
        return "no element is finite in both actual and golden" if verdict.elements else "no elements"
    parts = [
        f"max abs {figure(verdict.max_abs)}",
        f"max rel {figure(verdict.max_rel)}",
        f"mean rel {figure(verdict.mean_rel)}",
        f"rmse {figure(verdict.rmse)}",
        f"max ulp {figure(verdict.max_ulp)}",
    ]
    room = headroom(verdict)
    return ", ".join(parts) + (f"; {room} ({verdict.limit_text})" if room and verdict.limit_text else "")


def word(verdict: OutputVerdict) -> str:
    """PASS, FAIL, or OPEN where the golden's radius leaves it open."""
    if not verdict.decided:
        return "OPEN"
    return "PASS" if verdict.passed else "FAIL"


def file_head(verdict: FileVerdict) -> str:
    """What is compared with what."""
    kind = verdict.dtype if verdict.dtype == verdict.golden_dtype else f"{verdict.dtype}, golden {verdict.golden_dtype}"
    return f"{verdict.actual} against {verdict.golden} ({kind}, {list(verdict.shape)})"


def folder_head(verdict: FolderVerdict) -> str:
    case = verdict.case
    return f"{verdict.folder}: {case.id} ({case.operator}, {case.dtype})"


def passed_line(verdict: OutputVerdict) -> str:
    """The line of an output that passes."""
    return f"{verdict.name} under {verdict.profile}: {verdict.elements:,} elements, {metrics_line(verdict)}"


def document(pairs: Sequence[FileVerdict], folder: FolderVerdict | None, version: str) -> dict[str, Any]:
    """The machine-readable result of a comparison (see docs/verdicts.md)."""
    verdicts = [o for pair in pairs for o in pair.outputs] + (folder.verdict.outputs if folder else [])
    used = dict.fromkeys(o.profile for o in verdicts)
    result: dict[str, Any] = {
        "schema": SCHEMA,
        "tool": f"gnll {version}",
        "passed": all(o.passed and o.decided for o in verdicts),
        "profiles": registry.definitions(used),
        "pairs": [
            {
                "actual": pair.actual,
                "golden": pair.golden,
                "dtype": pair.dtype,
                "golden_dtype": pair.golden_dtype,
                "shape": list(pair.shape),
                "passed": pair.passed,
                "hints": list(pair.hints),
                "outputs": [o.record() for o in pair.outputs],
            }
            for pair in pairs
        ],
    }
    if folder is not None:
        case = folder.case
        result["folder"] = {
            "path": folder.folder,
            "id": case.id,
            "operator": case.operator,
            "dtype": case.dtype,
            "shapes": {name: list(shape) for name, shape in case.shapes.items()},
            "passed": folder.passed,
            "notes": list(folder.notes),
            "outputs": [o.record() for o in folder.verdict.outputs],
        }
    return result
