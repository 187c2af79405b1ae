"""``community-mixed``: a share of elements within mixed tolerances, and a cap on the largest error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli.compare.block import F64, Block, Bools, Output
from gnll_cli.compare.interface import OutputVerdict
from gnll_cli.compare.metrics import Metrics
from gnll_cli.compare.profile import Judge, Part, Profile, Tally, Worst, headroom, plural, share

#: At most one element of so many may be beyond the tolerance.
ONE_OF = 100
CAP_ULPS = 32


class Mixed(Profile):
    """abs(a-g) <= atol + rtol*abs(g) for 99 % of the elements; the largest error <= max(cap, 32 ULP there)."""

    def __init__(self, name: str, tolerances: Mapping[str, tuple[float, float, float]], source: str) -> None:
        self.name = name
        self.summary = "99 % of the elements within rtol and atol, and a cap on the largest error"
        self.tolerances = tolerances
        self.source = source

    def definition(self) -> dict[str, Any]:
        return {
            "rule": "abs(a-g) <= atol + rtol*abs(g) for at least 99 % of the elements; largest abs(a-g) <= "
            "max(cap, 32 ULP of the golden in the output dtype at that point)",
            "tolerance": {d: {"rtol": t[0], "atol": t[1], "cap": t[2]} for d, t in self.tolerances.items()},
            "overflow": "the largest finite value passes where the golden rounds to Inf",
            "source": self.source,
        }

    def dtypes(self) -> tuple[str, ...]:
        return tuple(self.tolerances)

    def start(self, output: Output) -> Judge:
        return MixedJudge(self.tolerances[output.dtype.name], output)


class MixedJudge(Judge):
    """Counts exactly, with integers; keeps the largest error and the smallest cap where it occurs."""

    def __init__(self, tolerance: tuple[float, float, float], output: Output) -> None:
        super().__init__(output)
        self.rtol, self.atol, self.cap = tolerance
        self.tally = Tally(output)
        #: Elements that the radius leaves open, of which some now count as beyond and some as within.
        self.open_beyond = 0
        self.open_within = 0
        self.largest = 0.0
        self.largest_cap = self.cap
        self.largest_radius = 0.0
        self.largest_worst = Worst()

    def _limit(self, block: Block) -> F64:
        return self.atol + self.rtol * block.target.absolute

    def _caps(self, block: Block) -> F64:
        return np.maximum(self.cap, CAP_ULPS * block.target.ulp)

    def _fault(self, block: Block) -> Bools | None:
        """The faults, without the largest finite value where the golden rounds to Inf of its sign."""
        if block.fault is None:
            return None
        golden, _ = block.target.special
        saturated = np.isinf(golden) & (block.actual == np.copysign(self.output.dtype.largest, golden))
        fault = block.fault & ~saturated
        return fault if fault.any() else None

    def update(self, block: Block) -> Bools | None:
        if not block.error.size:
            return None
        tally, target = self.tally, block.target
        limit = self._limit(block)
        bad = np.asarray(block.error > limit)
        tally.most(block, block.error, limit)
        top = block.top_error
        if top > 0 and top >= self.largest:
            self._note_largest(block, top)
        if target.radius is not None and target.top_radius:
            sway = target.radius * (1 + self.rtol)
            unsure = (block.error - sway <= limit) & (block.error + sway > limit)
            if block.finite is not None:
                unsure &= block.finite
            if unsure.any():
                beyond = int(np.count_nonzero(unsure & bad))
                self.open_beyond += beyond
                self.open_within += int(np.count_nonzero(unsure)) - beyond
            if block.straddle is not None:
                tally.undecided += int(np.count_nonzero(block.straddle))
        fault = self._fault(block)
        if fault is not None:
            bad |= fault
            tally.faulty(block, fault)
        if not bad.any():
            return None
        tally.mismatched += int(np.count_nonzero(bad))
        return bad

    def _note_largest(self, block: Block, top: float) -> None:
        """The largest error; where several elements share it, the one with the smallest cap counts."""
        at = np.flatnonzero(block.error == top)
        caps = self._caps(block)[at]
        pick = int(caps.argmin())
        cap = float(caps[pick])
        if top > self.largest or cap < self.largest_cap:
            actual, golden = block.pair(int(at[pick]))
            self.largest, self.largest_cap = top, cap
            self.largest_worst = Worst(top, block.target.start + int(at[pick]), actual, golden, cap)
            self.largest_radius = 0.0 if block.target.radius is None else float(block.target.radius[at[pick]])

    def finish(self, verdict: OutputVerdict, metrics: Metrics) -> None:
        tally, size = self.tally, self.output.size
        beyond = tally.mismatched
        verdict.mismatched = beyond
        within_cap = self.largest <= self.largest_cap
        enough = ONE_OF * beyond <= size
        verdict.passed = tally.faults == 0 and enough and within_cap
        surely = ONE_OF * (beyond + self.open_within) <= size and self.largest + self.largest_radius <= self.largest_cap
        possibly = (
            ONE_OF * (beyond - self.open_beyond) <= size and self.largest - self.largest_radius <= self.largest_cap
        )
        verdict.decided = tally.faults > 0 or (not tally.undecided and (surely if verdict.passed else not possibly))
        counted, capped = share(ONE_OF * beyond, size), share(self.largest, self.largest_cap)
        tally.worst.fill(verdict, self.output)
        rule = f"abs(a-g) <= {self.atol:g} + {self.rtol:g} * abs(g)"
        if capped >= counted:
            verdict.limit_text = "largest abs(a-g) <= max(cap, 32 ULP of the golden)"
            if self.largest_worst.at >= 0 and not tally.faults:
                self.largest_worst.fill(verdict, self.output)
        else:
            verdict.limit_text = f"{rule} for 99 % of the elements"
        verdict.headroom = headroom(math.inf if tally.faults else max(counted, capped))
        verdict.reason = self._reason(rule, enough, within_cap) if not verdict.passed else ""
        if not verdict.decided:
            # Not a definite failure: the case is an error of the harness, not of the operator.
            verdict.passed = True
            verdict.reason = (
                "golden not accurate enough: "
                + plural(self.open_beyond + self.open_within + tally.undecided, "element")
                + " could pass or fail within its radius"
            )

    def _reason(self, rule: str, enough: bool, within_cap: bool) -> str:
        reasons = []
        if self.tally.faults or not enough:
            reasons.append(self.tally.failures(rule) + ("" if enough else " (at most 1 % may)"))
        if not within_cap:
            where = self.output.index(self.largest_worst.at)
            reasons.append(
                f"the largest error {self.largest:.6g} at {list(where)} is beyond its cap {self.largest_cap:.6g}"
            )
        return "; ".join(reasons)

    def trial(self, block: Block) -> Sequence[Part]:
        beyond = block.error > self._limit(block)
        fault = self._fault(block)
        # The largest error is beyond its cap exactly where the largest one beyond its cap is the largest of all.
        over = np.where(block.error > self._caps(block), block.error, 0.0)
        return (
            (np.logical_or, np.zeros_like(beyond) if fault is None else fault),
            (np.add, beyond.astype(np.int64)),
            (np.maximum, np.asarray(block.error, dtype=np.float64)),
            (np.maximum, over),
        )

    def survives(self, totals: Sequence[npt.NDArray[Any]], final: bool) -> Bools:
        fault, beyond, largest, over = totals
        passes = ~fault & (ONE_OF * beyond <= self.output.size)
        return np.asarray(passes & ((over == 0) | (over < largest)) if final else passes)


PROFILES = (
    Mixed(
        "community-mixed-2026-07",
        {
            "fp32": (2.0**-10, 2.0**-16, 1e-2),
            "fp16": (2.0**-9, 2.0**-9, 1e-1),
            "bf16": (2.0**-6, 2.0**-6, 1.0),
        },
        "community operator acceptance standard, 2026-07",
    ),
    Mixed(
        "community-mixed-2026-09",
        {
            "fp32": (2.0**-13, 2.0**-13, 1e-2),
            "fp16": (2.0**-10, 2.0**-10, 1e-1),
            "bf16": (2.0**-7, 2.0**-7, 1e-1),
        },
        "community operator acceptance standard, 2026-09",
    ),
)
