"""``exact``: the output is the golden, rounded once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli.compare.block import Block, Bools, Output, rounded
from gnll_cli.compare.interface import OutputVerdict
from gnll_cli.compare.metrics import Metrics
from gnll_cli.compare.profile import Judge, Part, Profile, Tally

RULE = "a = RN(g)"


class Exact(Profile):
    """a equals RN(g); +0 equals -0, NaN equals NaN."""

    name = "exact"
    summary = "the golden rounded to nearest even, to the bit but for the sign of zero and NaN payloads"

    def definition(self) -> dict[str, Any]:
        return {
            "rule": RULE + "; +0 equals -0, NaN equals NaN",
            "undecided": "where RN(g-radius) differs from RN(g+radius) and a lies between them",
        }

    def start(self, output: Output) -> Judge:
        return ExactJudge(output)


class ExactJudge(Judge):
    """Judges by equality with the rounded golden."""

    def __init__(self, output: Output) -> None:
        super().__init__(output)
        self.tally = Tally(output)
        self.largest: float | int = -1

    def _bad(self, block: Block) -> Bools:
        if block.error.dtype == np.uint64:
            return np.asarray(block.error != 0)
        bad = np.asarray(block.actual != block.target.rounded)
        return bad if block.finite is None else bad & block.finite

    def update(self, block: Block) -> Bools | None:
        if not block.error.size:
            return None
        tally, target = self.tally, block.target
        bad = self._bad(block)
        if target.radius is not None and target.top_radius:
            # Where the radius leaves two candidates for RN(g), only a value outside both is surely wrong.
            low, high = rounded(
                np.stack((target.value - target.radius, target.value + target.radius)), self.output.dtype
            )
            unsure = (low != high) & (block.actual >= low) & (block.actual <= high)
            if unsure.any():
                tally.undecided += int(np.count_nonzero(unsure))
                bad &= ~unsure
        if bad.any():
            at = int(np.where(bad, block.error, 0).argmax())
            if block.error[at] > self.largest and not tally.faults:
                self.largest = block.error[at].item()
                tally.take(block, at, math.inf, 0.0)
        if block.fault is not None:
            bad = bad | block.fault
            tally.faulty(block, block.fault)
        if not bad.any():
            return None
        tally.mismatched += int(np.count_nonzero(bad))
        return bad

    def finish(self, verdict: OutputVerdict, metrics: Metrics) -> None:
        self.tally.fill(verdict, RULE)

    def trial(self, block: Block) -> Sequence[Part]:
        bad = self._bad(block)
        if block.fault is not None:
            bad |= block.fault
        return ((np.logical_or, bad),)

    def survives(self, totals: Sequence[npt.NDArray[Any]], final: bool) -> Bools:
        return ~totals[0]


PROFILES = (Exact(),)
