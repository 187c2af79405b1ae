"""``community-mere-mare``: mean and maximum relative error against one threshold per dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli.compare.block import REL_FLOOR, Block, Bools, Output
from gnll_cli.compare.interface import OutputVerdict
from gnll_cli.compare.metrics import Metrics
from gnll_cli.compare.profile import Judge, Part, Profile, Tally, headroom, share

THRESHOLD = {"fp32": 2.0**-13, "fp16": 2.0**-10, "bf16": 2.0**-7, "hf32": 2.0**-11, "e4m3": 2.0**-3, "e5m2": 2.0**-2}


class MereMare(Profile):
    """r = abs(a-g)/(abs(g)+1e-7); mean r < T and max r < 10 T, both exclusive."""

    name = "community-mere-mare-2026-04"
    summary = "mean relative error below T, maximum relative error below 10 T"

    def definition(self) -> dict[str, Any]:
        return {
            "rule": "r = abs(a-g)/(abs(g)+1e-7); mean r < T and max r < 10 T",
            "T": dict(THRESHOLD),
            "source": "community operator acceptance standard, 2026-04",
        }

    def dtypes(self) -> tuple[str, ...]:
        return tuple(THRESHOLD)

    def start(self, output: Output) -> Judge:
        return MereMareJudge(output)

    def from_metrics(self, output: Output, metrics: Metrics) -> bool:
        threshold = THRESHOLD[output.dtype.name]
        return metrics.mean_rel < threshold and metrics.max_rel < 10 * threshold


class MereMareJudge(Judge):
    """Judges mean and maximum relative error; means are over the finite elements."""

    def __init__(self, output: Output) -> None:
        super().__init__(output)
        self.tally = Tally(output)
        self.threshold = THRESHOLD[output.dtype.name]
        self.finite = 0
        self.sum = 0.0
        #: Bounds on what the golden's radius moves a relative error by, and their sum.
        self.shift = 0.0
        self.sum_shift = 0.0

    def update(self, block: Block) -> Bools | None:
        if not block.error.size:
            return None
        tally, target = self.tally, block.target
        rel = block.rel
        self.finite += block.count
        limit = 10 * self.threshold
        tally.most(block, rel, limit)
        self.sum += float(np.add.reduce(rel))
        if target.radius is not None and target.top_radius:
            # Error and denominator move by the radius at most: r' <= (r + s) / (1 - s), s = radius/denominator.
            shift = target.radius / target.denominator
            if block.finite is not None:
                shift = np.where(block.finite, shift, 0.0)
            self.shift = max(self.shift, float(shift.max()))
            self.sum_shift += float(np.add.reduce(shift))
            if block.straddle is not None:
                tally.undecided += int(np.count_nonzero(block.straddle))
        bad = rel >= limit
        if block.fault is not None:
            bad |= block.fault
            tally.faulty(block, block.fault)
        if not bad.any():
            return None
        tally.mismatched += int(np.count_nonzero(bad))
        return bad

    def finish(self, verdict: OutputVerdict, metrics: Metrics) -> None:
        tally, threshold = self.tally, self.threshold
        top = max(tally.worst.share, 0.0) * 10 * threshold
        mean = self.sum / self.finite if self.finite else 0.0
        mean_shift = self.sum_shift / self.finite if self.finite else 0.0
        verdict.mismatched = tally.mismatched
        verdict.passed = tally.faults == 0 and top < 10 * threshold and mean < threshold
        shift = min(self.shift, 0.5)
        surely = (top + shift) / (1 - shift) < 10 * threshold and (mean * (1 + shift) + mean_shift) / (
            1 - shift
        ) < threshold
        possibly = (top - shift) / (1 + shift) < 10 * threshold and (mean - mean_shift) / (1 + shift) < threshold
        verdict.decided = tally.faults > 0 or (not tally.undecided and (surely if verdict.passed else not possibly))
        tally.worst.fill(verdict, self.output)
        largest, average = share(top, 10 * threshold), share(mean, threshold)
        rule_max, rule_mean = f"max r < {10 * threshold:g}", f"mean r < {threshold:g}"
        verdict.limit_text = rule_mean if average > largest and not tally.faults else rule_max
        if tally.worst.at >= 0 and not tally.faults:
            # As an absolute error, which is what stands beside it.
            verdict.limit = 10 * threshold * (abs(tally.worst.golden) + REL_FLOOR)
        verdict.headroom = headroom(max(largest, average) if not tally.faults else float("inf"))
        reasons = [tally.failures(rule_max)] if tally.mismatched else []
        if not mean < threshold:
            reasons.append(f"mean r is {mean:.4g}, not below {threshold:g}")
        verdict.reason = "; ".join(reasons)
        if not verdict.decided:
            # Not a definite failure: the case is an error of the harness, not of the operator.
            verdict.passed = True
            verdict.reason = "golden not accurate enough: its radius could move the relative errors across their limit"

    def trial(self, block: Block) -> Sequence[Part]:
        bad = block.rel >= 10 * self.threshold
        if block.fault is not None:
            bad |= block.fault
        return (np.logical_or, bad), (np.add, block.rel)

    def survives(self, totals: Sequence[npt.NDArray[Any]], final: bool) -> Bools:
        return np.asarray(~totals[0] & (totals[1] < self.threshold * self.output.size))


PROFILES = (MereMare(),)
