"""Raw files of fp32, fp16 and bf16 compared at the speed of memory: screening in float32, decisions in float64.

Every verdict is the one that float64 would give. In float32, abs(a-g) is off by at most 2^-24 of itself, so that an
element clearly within or beyond its limit (by 1e-5) is settled; the others are decided from the exact difference. The
maxima that are reported are recomputed in float64 from the few elements that reach them in float32. The mean relative
and RMS errors are sums of float32 products, good to 1e-5 of themselves. A block that holds NaN or Inf, or numbers at
which float32 would over- or underflow, is judged whole in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli.compare.block import REL_FLOOR, Block, Output, Target, wide
from gnll_cli.compare.interface import OutputVerdict
from gnll_cli.compare.judge import OutputJudgement
from gnll_cli.compare.location import Finder, Layout
from gnll_cli.compare.profile import ElementJudge, Profile, Worst, share

F32 = npt.NDArray[np.float32]
Array = npt.NDArray[Any]

#: Elements of a block: its float32 buffers stay in the second-level cache.
BLOCK = 1 << 16
#: Elements summed by one float32 dot product.
ROW = 1 << 13
#: Shares within this of the limit are decided in float64.
NEAR = 1e-5
#: More than the rounding errors of a float32 relative error (four roundings of 2^-24).
SLACK = 2.0**-20
#: Float32 quantities outside this range are left to float64.
TINY, HUGE = 2.0**-100, 2.0**100
#: Errors of at most this share of their golden's power of two are exact differences.
EXACT = 0.5
SQUARES_FROM, SQUARES_TO = 1e-15, 1e15

SCREENED = ("fp32", "fp16", "bf16")


#: Tolerances that float32 arithmetic holds to 2^-22 of themselves, whatever they are multiplied with here.
TOLERANCE_FROM, TOLERANCE_TO = 1e-30, 1e30


def can_screen(output: Output, golden_dtype: str, chosen: Sequence[Profile]) -> bool:
    """The dtypes are the same and known here, and every profile is a mixed tolerance per element of usual size."""
    if output.dtype.name not in SCREENED or golden_dtype != output.dtype.name:
        return False
    for profile in chosen:
        tolerance = profile.tolerance(output)
        if tolerance is None:
            return False
        atol, rtol = tolerance
        if not TOLERANCE_FROM <= atol <= TOLERANCE_TO or (rtol and not TOLERANCE_FROM <= rtol <= TOLERANCE_TO):
            return False
    return True


class Screen:
    """Takes the blocks of two raw files in order. Same results as ``OutputJudgement`` on the same data."""

    def __init__(self, output: Output, chosen: Sequence[Profile]) -> None:
        self.output = output
        self.exact = OutputJudgement(output, chosen, Layout(output.shape, output.size))
        self.tolerances = [_Tolerance(*tolerance) for p in chosen if (tolerance := p.tolerance(output)) is not None]
        n = min(BLOCK, max(output.size, 1))
        self._actual, self._golden = np.empty(n, np.float32), np.empty(n, np.float32)
        self._d, self._absolute, self._r, self._u = (np.empty(n, np.float32) for _ in range(4))
        self._ones = np.ones(min(n, ROW), np.float32)
        #: 2^-e of the smallest normal exponent, as float32 bits.
        self._largest_scale = np.int32((127 - output.dtype.min_exponent) << 23)
        self._ulps = 2.0 ** (output.dtype.digits - 1)

    def update(self, start: int, actual: Array, golden: Array) -> None:
        """Judge elements [start, start + n) of both files, in their storage dtype."""
        if not self._screen(start, actual, golden):
            self.exact.update(Block.of(Target(self.output, start, wide(golden)), actual))

    def finish(self, notes: Sequence[str] = ()) -> list[OutputVerdict]:
        """The verdict per profile."""
        return self.exact.finish(notes)

    def _widen(self, stored: Array, buffer: F32) -> F32 | None:
        """The stored values as float32; None where an fp16 is NaN or Inf."""
        name = self.output.dtype.name
        if name == "fp32":
            return np.asarray(stored, dtype=np.float32)
        wide = buffer[: stored.size]
        if name == "bf16":
            bits = wide.view(np.uint32)
            np.copyto(bits, stored.view(np.uint16))
            np.left_shift(bits, 16, out=bits)
            return wide
        if np.maximum.reduce(stored.view(np.int16)) >= 0x7C00 or np.maximum.reduce(stored.view(np.uint16)) >= 0xFC00:
            return None
        # Exponent and significand move to their float32 places, the sign is the top bit of the sign extension; the
        # exponent's bias then differs by 112. Exact, subnormals included.
        signed = wide.view(np.int32)
        np.copyto(signed, stored.view(np.int16))
        np.left_shift(signed, 13, out=signed)
        np.bitwise_and(signed, np.int32(-0x70000001), out=signed)
        np.multiply(wide, np.float32(2.0**112), out=wide)
        return wide

    def _screen(self, start: int, actual: Array, golden: Array) -> bool:
        """Judge the block in float32; False, with nothing changed, where that cannot be done."""
        n = actual.size
        a, g = self._widen(actual, self._actual), self._widen(golden, self._golden)
        if a is None or g is None:
            return False
        d, absolute, r, u = self._d[:n], self._absolute[:n], self._r[:n], self._u[:n]
        np.subtract(a, g, out=d)
        np.abs(d, out=d)
        top = float(np.maximum.reduce(d))
        if not top < HUGE:
            return False
        if top:
            np.abs(g, out=absolute)
            np.add(absolute, np.float32(REL_FLOOR), out=r)
            np.divide(d, r, out=r)
            top_rel = float(np.maximum.reduce(r))
            if not TINY < top_rel < HUGE:
                return False
            sum_rel = self._sum(r, None)
            scale = u.view(np.int32)
            if not self._scale(g, scale):
                return False
            np.multiply(d, u, out=u)
            top_ulp = float(np.maximum.reduce(u))
            most = self.exact.metrics.max_ulp / self._ulps
            if top_ulp > most if top_ulp <= EXACT else top_ulp >= np.float32(most):
                # A new maximum, or a golden below the normal range, whose ULP is that of the smallest normal exponent.
                self._scale(g, scale)
                np.minimum(scale, self._largest_scale, out=scale)
                np.multiply(d, u, out=u)
                top_ulp = float(np.maximum.reduce(u))
            if not TINY < top_ulp < HUGE:
                return False
            self._note_maxima(a, g, top, top_rel, top_ulp)
            metrics = self.exact.metrics
            metrics.sum_rel += sum_rel
            metrics.sum_squares += self._sum(d, d) if SQUARES_FROM < top < SQUARES_TO else _wide_squares(d)
        self.exact.metrics.elements += n
        self.exact.metrics.finite += n
        self.exact.seen += n
        for tolerance, judge, finder in zip(self.tolerances, self.exact.judges, self.exact.finders, strict=True):
            assert isinstance(judge, ElementJudge)
            tolerance.update(judge, finder, start, a, g, d, absolute, r, top)
        return True

    def _sum(self, x: F32, y: F32 | None) -> float:
        """Sum of x*y, or of x, row by row."""
        total = 0.0
        for i in range(0, x.size, ROW):
            row = x[i : i + ROW]
            total += float(np.dot(row, self._ones[: row.size] if y is None else y[i : i + ROW]))
        return total

    def _scale(self, g: F32, scale: npt.NDArray[np.int32]) -> bool:
        """Write the float32 bits of 2^-e per golden, e its exponent: the exponent's bits negated.

        False where 2^-e is no normal number. A golden below the dtype's normal range gets a larger 2^-e than it should.
        """
        np.bitwise_and(g.view(np.int32), np.int32(0x7F800000), out=scale)
        np.subtract(np.int32(0x7F000000), scale, out=scale)
        return bool(np.minimum.reduce(scale) > 0)

    def _note_maxima(self, a: F32, g: F32, top: float, top_rel: float, top_ulp: float) -> None:
        """Exact maxima from the elements that reach them in float32.

        Rounding is monotone, so the largest exact difference rounds to the largest float32 one; so for the ULPs,
        which are the difference times a power of two. Where no error is more than half of the golden's power of two,
        every difference is exact (Sterbenz), and there is nothing to recompute.
        """
        metrics, n = self.exact.metrics, a.size
        exact = top_ulp <= EXACT
        if top > metrics.max_abs if exact else top >= np.float32(metrics.max_abs):
            if not exact:
                top = float(_errors(a, g, np.flatnonzero(self._d[:n] == np.float32(top))).max())
            metrics.max_abs = max(metrics.max_abs, top)
        most = metrics.max_ulp / self._ulps
        if top_ulp > most if exact else top_ulp >= np.float32(most):
            if not exact:
                at = np.flatnonzero(self._u[:n] == np.float32(top_ulp))
                # What float32 multiplied the difference by: a power of two, so the quotient is exact.
                top_ulp = float((_errors(a, g, at) * (self._u[at] / self._d[at])).max())
            metrics.max_ulp = max(metrics.max_ulp, top_ulp * self._ulps)
        if top_rel * (1 + SLACK) >= metrics.max_rel:
            at = np.flatnonzero(self._r[:n] >= np.float32(top_rel * (1 - SLACK)))
            relative = _errors(a, g, at) / (np.abs(g[at].astype(np.float64)) + REL_FLOOR)
            metrics.max_rel = max(metrics.max_rel, float(relative.max()))


def _errors(a: F32, g: F32, at: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """abs(a-g) in float64 at some positions."""
    return np.abs(a[at].astype(np.float64) - g[at])


def _wide_squares(d: F32) -> float:
    wide = d.astype(np.float64)
    return float(np.add.reduce(wide * wide))


class _Tolerance:
    """One mixed tolerance: feeds the tally of its judge."""

    def __init__(self, atol: float, rtol: float) -> None:
        self.atol = atol
        self.rtol = rtol
        self._top = 0.0

    def update(
        self,
        judge: ElementJudge,
        finder: Finder,
        start: int,
        a: F32,
        g: F32,
        d: F32,
        absolute: F32,
        scratch: F32,
        top: float,
    ) -> None:
        """``d`` is abs(a-g) in float32, ``absolute`` abs(g) (both unset but for ``top`` where top is 0)."""
        tally = judge.tally
        if top == 0:
            if tally.worst.at < 0:
                self._take(judge, start, a, g, 0)
            return
        if not self.rtol and top < self.atol * (1 - NEAR):
            if top > self._top:
                self._top = top
                self._take_if_more(judge, start, a, g, int(d.argmax()))
            return
        if self.rtol:
            np.multiply(absolute, np.float32(self.rtol), out=scratch)
            np.add(scratch, np.float32(self.atol), out=scratch)
            np.divide(d, scratch, out=scratch)
        else:
            np.divide(d, np.float32(self.atol), out=scratch)
        self._decide(judge, finder, start, a, g, scratch)

    def _decide(self, judge: ElementJudge, finder: Finder, start: int, a: F32, g: F32, shares: F32) -> None:
        """Decide a block from its float32 shares of the limit; those near 1 exactly."""
        peak = float(np.maximum.reduce(shares))
        if peak * (1 + NEAR) > judge.tally.worst.share:
            self._take_if_more(judge, start, a, g, int(shares.argmax()))
        if peak < 1 - NEAR:
            return
        bad = shares > np.float32(1 + NEAR)
        count = int(np.count_nonzero(bad))
        reach = shares >= np.float32(1 - NEAR)
        if np.count_nonzero(reach) > count:
            near = np.flatnonzero(reach & ~bad)
            bad[near] = _errors(a, g, near) > self._limits(g, near)
            count = int(np.count_nonzero(bad))
        if count:
            judge.tally.mismatched += count
            finder.add(start, bad)

    def _limits(self, g: F32, at: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        return self.atol + self.rtol * np.abs(g[at].astype(np.float64))

    def _take_if_more(self, judge: ElementJudge, start: int, a: F32, g: F32, at: int) -> None:
        if self._share(a, g, at) > judge.tally.worst.share:
            self._take(judge, start, a, g, at)

    def _share(self, a: F32, g: F32, at: int) -> float:
        return share(abs(float(a[at]) - float(g[at])), self.atol + self.rtol * abs(float(g[at])))

    def _take(self, judge: ElementJudge, start: int, a: F32, g: F32, at: int) -> None:
        golden = float(g[at])
        limit = self.atol + self.rtol * abs(golden)
        judge.tally.worst = Worst(self._share(a, g, at), start + at, float(a[at]), golden, limit)
