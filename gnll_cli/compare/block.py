"""One step of a streamed comparison: a stretch of one output, with every shared quantity computed once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli import dtypes
from gnll_cli.dtypes import DType

F64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: Relative error is abs(a-g) / (abs(g) + REL_FLOOR) everywhere.
REL_FLOOR = 1e-7
_EXPONENT = np.uint64(0x7FF0000000000000)
_MAGNITUDE = np.uint64(0x7FFFFFFFFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Output:
    """What is known of an output before its first element.

    ``options`` are the user's numbers (``rtol``, ``atol``). ``has_magnitude`` is False where the golden comes from a
    raw file, which carries no magnitude; ``has_benchmark`` where no same-precision benchmark can be had.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    size: int
    options: Mapping[str, float] = field(default_factory=dict)
    has_magnitude: bool = True
    has_benchmark: bool = True

    def index(self, flat: int) -> tuple[int, ...]:
        """The index per dimension of a flat position."""
        found: list[int] = []
        for dimension in reversed(self.shape):
            flat, position = divmod(flat, dimension)
            found.append(position)
        return tuple(reversed(found))


def overflow_threshold(dtype: DType) -> float:
    """Magnitudes from here on may round to something not finite in ``dtype``; inf where there is no such thing.

    Half a unit in the last place above the largest finite value: the tie goes to the even neighbour, which is Inf in
    every type that has one.
    """
    return _overflow_threshold(dtype.name)


@cache
def _overflow_threshold(name: str) -> float:
    # By name: hashing a dtype would cost more than the cache saves.
    dtype = dtypes.DTYPES[name]
    if not dtype.is_float or dtype.name == "fp64":
        return math.inf
    top = dtype.largest
    return top + 2.0 ** (math.frexp(top)[1] - dtype.digits - 1)


#: A storage array as float64. Callers ignore floating-point flags, as everything that judges does.
wide = dtypes.quiet_float64


def rounded(x: F64, dtype: DType) -> F64:
    """``x`` rounded once to nearest even in ``dtype``, as float64; integers saturate at their range.

    For callers that ignore floating-point flags.
    """
    if dtype.is_float:
        return wide(dtypes.quiet_round_to(x, dtype))
    limits = np.iinfo(dtype.storage) if dtype.name != "bool" else np.iinfo(np.uint8)
    top = 1.0 if dtype.name == "bool" else float(limits.max)
    return np.clip(np.rint(x), float(limits.min), top)


def binade(x: F64, lowest: float, carry: int = 0) -> F64:
    """The power of two at or below abs(x), not less than ``lowest``; ``carry`` is added to the bits of abs(x) first."""
    bits = x.view(np.uint64) & _MAGNITUDE
    if carry:
        bits += np.uint64(carry)
    bits &= _EXPONENT
    return np.maximum(bits.view(np.float64), lowest)


class Target:
    """The golden side of a block: flat elements [start, start + n) of one output.

    ``value``, ``radius``, ``magnitude`` and ``floor`` are float64 [n] (see GoldenBlock; None where there is none);
    ``benchmark`` are the benchmark's values as float64 [n]. ``integers`` is the golden as int64 [n] where it is
    integral.
    """

    __slots__ = (
        "_absolute",
        "_denominator",
        "_rounded",
        "_special",
        "_ulp",
        "benchmark",
        "cache",
        "factor",
        "floor",
        "integers",
        "magnitude",
        "output",
        "plain",
        "radius",
        "start",
        "top",
        "top_radius",
        "value",
    )

    def __init__(
        self,
        output: Output,
        start: int,
        value: F64,
        radius: F64 | None = None,
        magnitude: F64 | None = None,
        floor: F64 | None = None,
        factor: float = 0.0,
        benchmark: F64 | None = None,
        integers: npt.NDArray[np.int64] | None = None,
    ) -> None:
        self.output = output
        self.start = start
        self.value = value
        self.radius = radius
        self.magnitude = magnitude
        self.floor = floor
        self.factor = factor
        self.benchmark = benchmark
        self.integers = integers
        self._absolute: F64 = np.abs(value)
        #: The largest abs(golden): NaN where a golden is NaN.
        self.top = float(np.maximum.reduce(self._absolute)) if value.size else 0.0
        #: Every golden is finite and rounds to a finite value.
        self.plain = self.top < overflow_threshold(output.dtype)
        #: The largest radius of a finite golden.
        self.top_radius = 0.0 if radius is None or not value.size else float(np.fmax.reduce(radius))
        if radius is not None and math.isinf(self.top_radius):
            self.top_radius = float(np.max(np.where(np.isfinite(value), radius, 0.0)))
        self._denominator: F64 | None = None
        self._rounded: F64 | None = None
        self._ulp: F64 | None = None
        self._special: tuple[F64, Bools] | None = None
        #: What a profile derives from the golden alone (profile bound keeps its E here).
        self.cache: dict[str, Any] = {}

    def part(self, start: int, stop: int) -> Target:
        """Elements [start, stop) of this block, counted from its own start."""

        def cut(x: F64 | None) -> F64 | None:
            return None if x is None else x[start:stop]

        return Target(
            self.output,
            self.start + start,
            self.value[start:stop],
            cut(self.radius),
            cut(self.magnitude),
            cut(self.floor),
            self.factor,
            cut(self.benchmark),
            None if self.integers is None else self.integers[start:stop],
        )

    @property
    def absolute(self) -> F64:
        """abs(golden)."""
        return self._absolute

    @property
    def denominator(self) -> F64:
        """abs(golden) + 1e-7: what errors are relative to."""
        if self._denominator is None:
            self._denominator = self._absolute + REL_FLOOR
        return self._denominator

    @property
    def rounded(self) -> F64:
        """The golden rounded to the output's dtype, as float64."""
        if self._rounded is None:
            self._rounded = rounded(self.value, self.output.dtype)
        return self._rounded

    @property
    def ulp(self) -> F64:
        """The unit in the last place of the rounded golden: 2^(e - digits + 1), with e of the binade it rounds into."""
        if self._ulp is None:
            dtype = self.output.dtype
            if dtype.is_float:
                # Adding half a unit to the bits carries into the exponent exactly where rounding reaches the next
                # power of two (the tie is even there).
                carry = 1 << (52 - dtype.digits) if dtype.digits < 53 else 0
                self._ulp = binade(self.value, dtype.smallest, carry) * 2.0 ** (1 - dtype.digits)
            else:
                self._ulp = np.ones_like(self.value)
        return self._ulp

    @property
    def special(self) -> tuple[F64, Bools]:
        """The golden as the output can hold it where that is not finite (else the golden), and where it is finite."""
        if self._special is None:
            effective = self.value
            threshold = overflow_threshold(self.output.dtype)
            beyond = self._absolute >= threshold
            if beyond.any():
                effective = np.where(beyond, self.rounded, effective)
            self._special = (effective, np.isfinite(effective))
        return self._special


class Block:
    """Actual against golden. ``actual`` is float64 [n], or [k, n] for k candidates at once.

    ``error`` is abs(actual - golden) where both are finite (as the output can hold them) and 0 elsewhere. ``fault``
    marks elements that fail by the rules of every profile (NaN or Inf that does not meet its like, elements not
    written), or is None where there is none. ``finite`` marks the elements that the metrics count, None for all of
    them.
    """

    __slots__ = ("_rel", "actual", "error", "fault", "finite", "stored", "straddle", "target", "top_error", "unwritten")

    def __init__(self, target: Target, actual: F64, stored: npt.NDArray[Any] | None = None) -> None:
        self.target = target
        self.actual = actual
        self.stored = stored
        self.finite: Bools | None = None
        self.fault: Bools | None = None
        self.unwritten: Bools | None = None
        #: Elements whose golden may round to Inf or not, depending on where in its radius it lies.
        self.straddle: Bools | None = None
        self._rel: F64 | None = None
        error: npt.NDArray[Any]
        if target.integers is not None and stored is not None:
            error = integer_distance(stored.astype(np.int64), target.integers)
        else:
            error = np.abs(actual - target.value)
        self.error = error
        #: The largest error, a Python number (an exact integer for integers).
        self.top_error = np.maximum.reduce(error, axis=None).item() if error.size else 0.0
        if not (target.plain and math.isfinite(self.top_error)):
            self._separate()

    @classmethod
    def of(cls, target: Target, stored: npt.NDArray[Any]) -> Block:
        """The block of a storage array [n]."""
        return cls(target, wide(stored), stored)

    def _separate(self) -> None:
        """Set apart what is not finite."""
        target, actual = self.target, self.actual
        golden, golden_finite = target.special
        finite = np.isfinite(actual) & golden_finite
        meets = (actual == golden) | (np.isnan(actual) & np.isnan(golden))
        fault = ~finite & ~meets
        fill = target.output.dtype.fill
        if self.stored is not None and fill is not None:
            unwritten = self.stored.view(target.output.dtype.bits) == fill
            if unwritten.any():
                self.unwritten = unwritten
                fault |= unwritten
        if target.radius is not None and target.top_radius:
            self._straddling(finite, fault)
        self.error = np.where(finite, self.error, 0.0)
        self.top_error = float(self.error.max())
        self.finite = finite
        self.fault = fault if fault.any() else None

    def _straddling(self, finite: Bools, fault: Bools) -> None:
        """Find the elements whose golden may round to Inf or not, within its radius, and where that matters.

        A finite actual there is compared as with a finite golden: if it fails so, it fails against Inf too.
        """
        target, actual = self.target, self.actual
        assert target.radius is not None
        straddle = np.abs(target.absolute - overflow_threshold(target.output.dtype)) <= target.radius
        straddle &= np.isfinite(target.value) & (target.radius > 0)
        # The trust check compares several candidates [rows, n] with one golden [n] at once.
        straddle = straddle & (np.isfinite(actual) | (actual == np.copysign(np.inf, target.value)))
        if self.unwritten is not None:
            straddle &= ~self.unwritten
        if straddle.any():
            self.straddle = straddle
            finite |= straddle & np.isfinite(actual)
            fault &= ~straddle

    @property
    def rel(self) -> F64:
        """Relative errors, 0 where there is none."""
        if self._rel is None:
            rel = self.error / self.target.denominator
            self._rel = rel if self.finite is None else np.where(self.finite, rel, 0.0)
        return self._rel

    @property
    def count(self) -> int:
        """Elements with finite actual and golden."""
        return self.error.size if self.finite is None else int(np.count_nonzero(self.finite))

    def pair(self, at: int) -> tuple[float | int, float | int]:
        """Actual and golden at a position of the block, integers as integers."""
        golden: float | int = float(self.target.value[at])
        if self.target.integers is not None:
            golden = int(self.target.integers[at])
        if self.stored is not None and not self.target.output.dtype.is_float:
            return int(self.stored[at]), golden
        return float(self.actual[at]), golden


def integer_distance(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """abs(a - b) of any int64 values, exactly: unsigned subtraction wraps to the right value."""
    ua, ub = a.view(np.uint64), b.view(np.uint64)
    return np.where(a >= b, ua - ub, ub - ua)


def exceeds(used: npt.NDArray[Any], limit: F64 | float) -> Bools:
    """used > limit, exactly also for unsigned integers beyond 2^53 (float64 would round them)."""
    if used.dtype != np.uint64:
        return np.asarray(used > limit)
    floor = np.floor(limit)
    whole = np.minimum(np.maximum(floor, 0.0), 2.0**63).astype(np.uint64)
    return np.asarray(np.where(floor >= 2.0**63, used.astype(np.float64) > floor, used > whole))


def integral(value: F64) -> npt.NDArray[np.int64] | None:
    """The values as int64 where every one is an integer in its range, else None."""
    if np.all((value == np.rint(value)) & (np.abs(value) < 2.0**63)):
        return value.astype(np.int64)
    return None


__all__ = [
    "F64",
    "REL_FLOOR",
    "Block",
    "Bools",
    "Output",
    "Target",
    "binade",
    "exceeds",
    "integer_distance",
    "integral",
    "overflow_threshold",
    "rounded",
]
