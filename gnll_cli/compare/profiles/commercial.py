"""``commercial-l0``, ``-l1``, ``-l2``: dual benchmark, errors over those of the same-precision benchmark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnll_cli.compare.block import F64, Block, Bools, Output
from gnll_cli.compare.interface import OutputVerdict
from gnll_cli.compare.metrics import Metrics
from gnll_cli.compare.profile import Judge, Part, Profile, Tally, headroom, share

#: abs(g) below ``t`` is a small value; its error beyond ``e`` counts.
SMALL = {"fp32": (2.0**-14, 2.0**-30), "fp16": (2.0**-11, 2.0**-16), "bf16": (2.0**-8, 2.0**-16)}
NAMES = ("max relative", "mean relative", "RMS")


class Commercial(Profile):
    """error(actual)/error(benchmark) for max relative, mean relative and RMS error; small values counted."""

    needs_benchmark: ClassVar[bool] = True

    def __init__(self, level: int, limits: tuple[float, float, float], campaign: dict[str, int]) -> None:
        self.name = f"commercial-l{level}"
        self.summary = f"dual benchmark: errors at most {'/'.join(f'{x:g}' for x in limits)} times the benchmark's"
        self.limits = limits
        self.campaign = campaign

    def definition(self) -> dict[str, Any]:
        return {
            "rule": "error(actual)/error(benchmark), both against golden, at most the limit; 0/0 counts 1, x/0 fails",
            "limits": dict(zip(NAMES, self.limits, strict=True)),
            "small values": "count of abs(g) < t with abs(a-g) > e, at most 2 * max(benchmark's count, 1)",
            "t, e": {d: list(v) for d, v in SMALL.items()},
            "campaign": self.campaign,
        }

    def dtypes(self) -> tuple[str, ...]:
        return tuple(SMALL)

    def start(self, output: Output) -> Judge:
        return CommercialJudge(self.limits, output)


def ratio(error: float, benchmark: float) -> float:
    """error / benchmark; 0/0 counts 1, x/0 is inf."""
    if benchmark:
        return error / benchmark
    return math.inf if error else 1.0


class Errors:
    """The three errors and the small-value count of one side, with bounds on what the golden's radius moves them by."""

    def __init__(self) -> None:
        self.count = 0
        self.max_rel = self.sum_rel = self.sum_squares = 0.0
        self.small = 0

    def add(self, block: Block, small: Bools, e: float) -> None:
        self.count += block.count
        self.max_rel = max(self.max_rel, float(block.rel.max()))
        self.sum_rel += float(np.add.reduce(block.rel))
        self.sum_squares += float(np.add.reduce(block.error * block.error))
        self.small += int(np.count_nonzero(small & (block.error > e)))

    def values(self) -> tuple[float, float, float]:
        """max relative, mean relative and RMS error."""
        count = max(self.count, 1)
        return self.max_rel, self.sum_rel / count, math.sqrt(self.sum_squares / count)


class CommercialJudge(Judge):
    """Gathers the errors of both sides. Elements where only the benchmark is not finite do not count in its errors."""

    def __init__(self, limits: tuple[float, float, float], output: Output) -> None:
        super().__init__(output)
        self.limits = limits
        self.tally = Tally(output)
        self.small_below, self.small_error = SMALL[output.dtype.name]
        self.actual = Errors()
        self.benchmark = Errors()
        self.benchmark_lost = 0
        self.same = True
        self.shift = (0.0, 0.0, 0.0)
        self.sum_shift = 0.0
        self.open_small = 0

    def _benchmark(self, block: Block) -> Block:
        """The block with the benchmark as the actual, kept with the golden so that it is made once."""
        found: Block | None = block.target.cache.get("benchmark")
        if found is None:
            values = block.target.benchmark
            assert values is not None
            found = block.target.cache["benchmark"] = Block(block.target, values)
        return found

    def update(self, block: Block) -> Bools | None:
        if not block.error.size:
            return None
        tally, target = self.tally, block.target
        other = self._benchmark(block)
        small = target.absolute < self.small_below
        self.actual.add(block, small, self.small_error)
        self.benchmark.add(other, small, self.small_error)
        if other.finite is not None:
            self.benchmark_lost += int(np.count_nonzero(~np.isfinite(other.actual) & np.isfinite(target.value)))
        self.same = self.same and np.array_equal(block.actual, other.actual, equal_nan=True)
        tally.most(block, block.rel, 1.0)
        if target.radius is not None and target.top_radius:
            self._note_radius(block, small)
        if block.fault is None:
            return None
        tally.faulty(block, block.fault)
        tally.mismatched += int(np.count_nonzero(block.fault))
        return block.fault

    def _note_radius(self, block: Block, small: Bools) -> None:
        assert block.target.radius is not None
        shift = block.target.radius / block.target.denominator
        if block.finite is not None:
            shift = np.where(block.finite, shift, 0.0)
        most = max(self.shift[0], float(shift.max()))
        self.sum_shift += float(np.add.reduce(shift))
        self.shift = (most, self.sum_shift / max(self.actual.count, 1), max(self.shift[2], block.target.top_radius))
        near = small & (np.abs(block.error - self.small_error) <= block.target.radius)
        self.open_small += int(np.count_nonzero(near))

    def finish(self, verdict: OutputVerdict, metrics: Metrics) -> None:
        tally = self.tally
        mine, theirs = self.actual.values(), self.benchmark.values()
        ratios = [ratio(a, b) for a, b in zip(mine, theirs, strict=True)]
        small_limit = 2 * max(self.benchmark.small, 1)
        verdict.mismatched = tally.mismatched
        within = all(r <= limit for r, limit in zip(ratios, self.limits, strict=True))
        verdict.passed = tally.faults == 0 and within and self.actual.small <= small_limit
        verdict.decided = tally.faults > 0 or self._decided(mine, theirs, ratios, small_limit)
        tally.worst.fill(verdict, self.output)
        shares = [r / limit for r, limit in zip(ratios, self.limits, strict=True)]
        shares.append(share(self.actual.small, small_limit))
        most = shares.index(max(shares))
        if most < 3:
            verdict.limit = self.limits[most]
            verdict.limit_text = f"{NAMES[most]} error at most {self.limits[most]:g} times the benchmark's"
        else:
            verdict.limit = float(small_limit)
            verdict.limit_text = "count of small values with an error beyond e"
        verdict.headroom = headroom(math.inf if tally.faults else max(shares))
        verdict.reason = self._reason(mine, theirs, ratios, small_limit)
        if not verdict.decided:
            # Not a definite failure: the case is an error of the harness, not of the operator.
            verdict.passed = True
            verdict.reason = "golden not accurate enough: its radius could move an error ratio across its limit"
        if self.benchmark_lost:
            verdict.notes += (
                f"the benchmark is not finite at {self.benchmark_lost:,} elements; they do not count in its errors",
            )

    def _decided(
        self, mine: Sequence[float], theirs: Sequence[float], ratios: Sequence[float], small_limit: int
    ) -> bool:
        """No ratio and no count lies so close to its limit that the radius could move it across."""
        if self.same:
            return True
        for x, y, r, limit, shift in zip(mine, theirs, ratios, self.limits, self.shift, strict=True):
            low = ratio(max(x - shift, 0.0), y + shift) if y + shift else r
            high = ratio(x + shift, max(y - shift, 0.0)) if y > shift else r
            if (low <= limit) != (r <= limit) or (high <= limit) != (r <= limit):
                return False
        counted = self.actual.small
        return (counted + self.open_small <= small_limit) == (counted - self.open_small <= small_limit)

    def _reason(self, mine: Sequence[float], theirs: Sequence[float], ratios: Sequence[float], small_limit: int) -> str:
        reasons = [self.tally.failures("")] if self.tally.faults else []
        for name, x, y, r, limit in zip(NAMES, mine, theirs, ratios, self.limits, strict=True):
            if r > limit:
                reasons.append(f"{name} error {x:.4g} is {r:.4g} times the benchmark's {y:.4g} (at most {limit:g})")
        if self.actual.small > small_limit:
            reasons.append(f"{self.actual.small:,} small values have an error beyond e (at most {small_limit:,})")
        return "; ".join(reasons)

    def trial(self, block: Block) -> Sequence[Part]:
        error: F64 = np.asarray(block.error, dtype=np.float64)
        small = (block.target.absolute < self.small_below) & (error > self.small_error)
        fault = np.zeros(error.shape, dtype=bool) if block.fault is None else block.fault
        # The benchmark's side is gathered with the trial: once per block, whatever the number of candidates.
        return (
            (np.logical_or, fault),
            (np.maximum, block.rel),
            (np.add, block.rel),
            (np.add, error * error),
            (np.add, small.astype(np.int64)),
        )

    def survives(self, totals: Sequence[npt.NDArray[Any]], final: bool) -> Bools:
        fault, max_rel, sum_rel, squares, small = totals
        if not final:
            return np.asarray(~fault)
        count = max(self.actual.count, 1)
        mine = (max_rel, sum_rel / count, np.sqrt(squares / count))
        passes = ~fault & (small <= 2 * max(self.benchmark.small, 1))
        for errors, theirs, limit in zip(mine, self.benchmark.values(), self.limits, strict=True):
            passes &= errors <= limit * theirs if theirs else errors == 0
        return np.asarray(passes)


PROFILES = (
    Commercial(0, (10.0, 2.0, 2.0), {"cases": 5000, "cases per dtype": 200, "output elements": 1_000_000}),
    Commercial(1, (5.0, 1.5, 1.5), {"cases": 10000, "cases per dtype": 700, "output elements": 1_000_000}),
    Commercial(2, (2.0, 1.2, 1.2), {"cases": 30000, "cases per dtype": 700, "output elements": 1_000_000}),
)
