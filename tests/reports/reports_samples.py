"""Case records made by hand, small and complete, for the tests of the reports."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from functools import partial
from typing import Any

from gnll_cli.reports import strict
from gnll_cli.reports.interface import Brief
from gnll_cli.reports.summary import facts, summarise

ENVIRONMENT: dict[str, Any] = {
    "backend": "exec",
    "command": "gnll run cases/ --backend exec --exec ./operator",
    "versions": {"gnll": "0.1.0", "numpy": "2.1.0"},
    "profiles": {"bound": {"version": 1, "factors": [8, 12]}},
}
UNSURE = "golden not accurate enough: 1 element could pass or fail within its radius"
SELECTION: dict[str, Any] = {"paths": ["cases/"], "tier": "full", "restricted": False}


def output(name: str = "gradInput", profile: str = "bound", passed: bool = True, **changes: Any) -> dict[str, Any]:
    """An entry of ``outputs``: a passing one has used a quarter of its limit."""
    entry: dict[str, Any] = {
        "name": name,
        "profile": profile,
        "passed": passed,
        "decided": True,
        "reason": "",
        "elements": 6,
        "finite": 6,
        "mismatched": 0 if passed else 2,
        "unwritten": 0,
        "max_abs": 0.25,
        "max_rel": 0.125,
        "mean_rel": 0.0625,
        "rmse": 0.03125,
        "max_ulp": 0.5,
        "worst_index": (1, 2),
        "worst_actual": 1.25,
        "worst_golden": 1.5,
        "first_bad_index": None if passed else (0, 1),
        "golden_radius": 1e-17,
        "limit": 1.0 if passed else 0.125,
        "limit_text": "8 * 2^-24 * M",
        "headroom": 4.0 if passed else 0.5,
        "location": None
        if passed
        else {
            "pattern": "one core",
            "text": "only elements of core 3 of 48",
            "core": 3,
            "tile": 0,
            "lane": 5,
            "unwritten": 0,
            "would_pass": ("ut",),
        },
        "notes": (),
    }
    entry.update(changes)
    return entry


def record(name: str, status: str = "passed", **changes: Any) -> dict[str, Any]:
    """A case record of that id; failing statuses with values get a failing output."""
    entry: dict[str, Any] = {
        "id": name,
        "operator": "gaussian_nll_loss_grad",
        "dtype": "fp16",
        "tier": "full",
        "profile": ["bound"],
        "axes": {"dtype": "fp16", "reduction": "mean", "var": "scalar"},
        "attributes": {"full": False, "eps": 1e-6, "reduction": "mean"},
        "shapes": {"input": [2, 3], "var": [1]},
        "dtypes": {"input": "fp16", "var": "fp16"},
        "seed": 2**64 - 1,
        "expect": "ok",
        "status": status,
        "reason": "",
        "repro": f"gnll run cases/matrix.yaml -k ={name} --backend exec --exec ./operator",
        "seconds": {"generate": 0.25, "execute": 0.5},
        "diagnostics": [],
        "outputs": [output(passed=status != "failed")] if status in ("passed", "failed") else [],
        "untrusted": [],
        "source": "cases/matrix.yaml:12:3",
        "advisory": False,
        "fingerprint": "00ff",
    }
    entry.update(changes)
    return entry


def gallery() -> list[dict[str, Any]]:
    """One record of every status."""
    return [
        record("matrix/fp16-passed", outputs=[output(headroom=math.inf), output("gradVar", headroom=2.5)]),
        record(
            "matrix/fp16-failed",
            "failed",
            reason="gradInput (bound): 2 of 6 elements beyond 8 * 2^-24 * M",
            outputs=[output(passed=False, reason="2 of 6 elements beyond 8 * 2^-24 * M"), output("gradVar")],
        ),
        record(
            "matrix/fp16-guard",
            "failed",
            reason="the guard behind gradVar was written",
            outputs=[output()],
            diagnostics=[
                {"kind": "unaligned", "severity": "warning", "message": "GM read 4 bytes past the tensor"},
                {
                    "kind": "guard",
                    "severity": "failure",
                    "message": "the guard behind gradVar was written",
                    "core": 7,
                    "source": "op_kernel/k.cpp:88",
                },
            ],
        ),
        record("refusals/eps", "accepted_wrongly", expect={"reject": "eps_zero"}, source="cases/refusals.yaml:3:5",
               reason="the contract refuses this case as eps_zero; it ran"),
        record("refusals/rank", "refused_wrongly", reason="a legal case was refused with status 161002",
               source="cases/refusals.yaml:9:5"),
        record("matrix/fp16-crash", "crashed", reason="signal 11 (SIGSEGV) in phase execute"),
        record("matrix/fp16-hang", "timeout", reason="no answer after 60 s"),
        record("matrix/fp16-error", "error", reason=f"golden not accurate enough (gradInput, bound): {UNSURE}",
               outputs=[output(decided=False, reason=UNSURE)]),
        record("matrix/fp16-untrusted", "untrusted", reason="zeros in gradVar", outputs=[output()],
               untrusted=["zeros in gradVar"]),
        record("matrix/fp16-skipped", "skipped", reason="this backend does not exercise refusals"),
        record("extreme/known", "known", reason="inf against 3.5", source="cases/extreme.yaml:2:3",
               known={"kind": "failed", "reason": "d^2 overflows", "where": "known.yaml:1"},
               outputs=[output(passed=False, worst_actual=math.inf, max_abs=math.inf, headroom=0.0)]),
        record("extreme/fixed", "fixed", source="cases/extreme.yaml:4:3",
               reason="passes, but known.yaml:4 lists it as failed (d^2 overflows): remove it from the list",
               known={"kind": "failed", "reason": "d^2 overflows", "where": "known.yaml:4"}, outputs=[output()]),
        record("extreme/advice", "advice", advisory=True, source="cases/extreme.yaml:6:3",
               outputs=[output(passed=False, worst_actual=math.nan, worst_golden=2.0)]),
    ]  # fmt: skip


class StoredReport:
    """A report of records that are in memory, with fixed times."""

    def __init__(
        self,
        records: list[dict[str, Any]],
        environment: Mapping[str, Any] = ENVIRONMENT,
        warnings: tuple[str, ...] = (),
        **state: Any,
    ) -> None:
        self._records = records
        self.environment = dict(environment)
        self.selection = dict(SELECTION)
        given: dict[str, Any] = {"expected": len(records), "interrupted": False, "stopped": "", **state}
        self.summary = summarise([facts(r) for r in records], warnings=list(warnings), **given)
        self.summary.update(started="2026-01-02T03:04:05Z", seconds=1.5, resumed=0)

    def texts(self) -> Iterator[str]:
        for entry in self._records:
            yield strict.encode_record(entry).decode("utf-8")

    def cases(self, statuses: Container[str] | None = None) -> Iterator[dict[str, Any]]:
        for entry in self._records:
            if statuses is None or entry["status"] in statuses:
                yield strict.decode(strict.encode_record(entry))

    def briefs(self) -> Iterator[Brief]:
        for entry in self.cases():
            seconds = sum(strict.number(value) or 0.0 for value in (entry.get("seconds") or {}).values())
            source = str(entry.get("source") or "")
            yield Brief(entry["id"], entry["status"], source, seconds, partial(dict, entry))
