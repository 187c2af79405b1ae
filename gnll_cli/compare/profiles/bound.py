"""``bound``: what a correct float32 implementation of the operator can be away from the exact result, and no more.

E = c * 2^-24 * M + 2^-148 * floor, with the golden's magnitude M and the constant c and floor that come with each
golden block; an element passes if RN(g-E) <= a <= RN(g+E). The derivation is in docs/bound.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli.compare.block import F64, Block, Bools, Output, Target, rounded
from gnll_cli.compare.profile import ElementJudge, ElementProfile, Judge

UNIT = 2.0**-24
UNDERFLOW = 2.0**-148
FLOAT32_LARGEST = (2.0 - 2.0**-23) * 2.0**127
#: Distances within this share of E are decided by rounding g-E and g+E, the others by the distance itself.
NEAR = 1e-5
_EXPONENT = np.int64(0x7FF0000000000000)


class Bound(ElementProfile):
    """RN(g-E) <= a <= RN(g+E), told as the distance from g to the nearest real that rounds to a, over E."""

    name = "bound"
    summary = "derived bound on the rounding errors of a correct float32 implementation"
    needs_magnitude = True

    def definition(self) -> dict[str, Any]:
        return {
            "rule": "RN(g-E) <= a <= RN(g+E), Inf beyond the largest finite value",
            "E": "c * 2^-24 * M + 2^-148 * sum over the group of max(1, abs(gradOutput))",
            "c": "per output, from the operator: for GaussianNllLossGrad 8 for gradInput, 12 + D(r) for gradVar, "
            "r = elements summed, D(r) = min(6, ceil(log2 r)) + ceil(min(r, 4096)/64) - 1 + ceil(r/4096) - 1",
            "overflow": "where 2M exceeds the largest float32, Inf of g's sign passes too",
        }

    def limit(self, block: Block) -> F64:
        return reach(block.target)

    def used(self, block: Block) -> F64:
        error = np.asarray(block.error, dtype=np.float64)
        distance = error - half_spacing(block)
        np.maximum(distance, 0.0, out=distance)
        return distance if block.finite is None else np.where(block.finite, distance, 0.0)

    def rule(self, output: Output) -> str:
        return "RN(g-E) <= a <= RN(g+E)"

    def start(self, output: Output) -> Judge:
        return BoundJudge(self, output)


def reach(target: Target) -> F64:
    """E of a golden block, float64 [n]."""
    found: F64 | None = target.cache.get("bound")
    if found is None:
        assert target.magnitude is not None
        found = target.factor * UNIT * target.magnitude
        if target.floor is not None:
            found = found + UNDERFLOW * target.floor
        target.cache["bound"] = found
    return found


def half_spacing(block: Block) -> F64 | float:
    """How far a real may lie from a, on the golden's side, and still round to a: half the gap there."""
    dtype = block.target.output.dtype
    if not dtype.is_float:
        return 0.5
    # Towards zero the gap below a power of two is half the gap above it. One less in the bits of abs(a) lies in the
    # binade below exactly where abs(a) is a power of two.
    magnitude = np.abs(block.actual)
    towards_zero = magnitude > block.target.absolute
    bits = magnitude.view(np.int64) - towards_zero
    bits &= _EXPONENT
    spacing: F64 = np.maximum(bits.view(np.float64), dtype.smallest)
    spacing *= 2.0**-dtype.digits
    return spacing


def within(block: Block, pick: Any, widen: float = 0.0) -> Bools:
    """The rule itself on picked elements, with E widened by ``widen`` times the golden's radius."""
    target = block.target
    golden, extent = target.value[pick], reach(target)[pick]
    if widen and target.radius is not None:
        extent = extent + widen * target.radius[pick]
    dtype = target.output.dtype
    actual = block.actual[..., pick]
    low, high = rounded(np.stack((golden - extent, golden + extent)), dtype)
    inside = (low <= actual) & (actual <= high)
    if dtype.is_float:
        assert target.magnitude is not None
        overflows = 2.0 * target.magnitude[pick] > FLOAT32_LARGEST
        inside |= overflows & np.isinf(actual) & (np.sign(actual) == np.sign(golden))
    return np.asarray(inside | (np.isnan(actual) & np.isnan(golden)))


class BoundJudge(ElementJudge):
    """Judges by the rule; NaN and Inf by the rule too, since it says what overflow may do."""

    def _unlawful(self, block: Block) -> Bools | None:
        """Of the elements with something not finite, those that the rule does not let pass."""
        if block.finite is None:
            return None
        # E of an infinite golden is no number; such a golden must be met as it is.
        lawful = within(block, slice(None)) & np.isfinite(block.target.value)
        met = (block.actual == block.target.value) | (np.isnan(block.actual) & np.isnan(block.target.value))
        unlawful = ~block.finite & ~(lawful | met)
        if block.unwritten is not None:
            unlawful |= block.unwritten
        return unlawful if unlawful.any() else None

    def update(self, block: Block) -> Bools | None:
        if not block.error.size:
            return None
        tally, target = self.tally, block.target
        used, limit = self.profile.used(block), reach(target)
        tally.most(block, used, limit)
        bad: Bools | None = None
        slack = limit - used
        sway = target.radius
        # Enough for the rounding errors of the distance itself (2^-53 of an error that is at most E and half a gap).
        margin = NEAR * limit if sway is None else NEAR * limit + sway
        clear = slack > margin
        if np.count_nonzero(clear) < clear.size:
            bad = self._decide(block, ~clear if block.finite is None else ~clear & block.finite)
        fault = self._unlawful(block)
        if fault is not None and block.straddle is not None:
            unsure = fault & block.straddle
            tally.undecided += int(np.count_nonzero(unsure))
            fault = fault & ~unsure
        if fault is not None and fault.any():
            bad = fault if bad is None else bad | fault
            tally.faulty(block, fault)
        if bad is None:
            return None
        tally.mismatched += int(np.count_nonzero(bad))
        return bad

    def _decide(self, block: Block, near: Bools) -> Bools | None:
        """The rule on the elements that are not clearly within E."""
        at = np.flatnonzero(near)
        inside = within(block, at)
        if block.target.top_radius:
            unsure = within(block, at, widen=1.0) & ~(within(block, at, widen=-1.0) & inside)
            self.tally.undecided += int(np.count_nonzero(unsure))
            inside |= unsure
        if inside.all():
            return None
        bad = np.zeros(near.shape, dtype=bool)
        bad[at] = ~inside
        return bad

    def trial(self, block: Block) -> tuple[tuple[np.ufunc, npt.NDArray[Any]]]:
        # Near the limit the distance decides: a candidate that is so close to E is no proof of a weak case either way.
        bad = self.profile.used(block) > reach(block.target)
        fault = self._unlawful(block)
        if fault is not None:
            bad |= fault
        return ((np.logical_or, bad),)


PROFILES = (Bound(),)
