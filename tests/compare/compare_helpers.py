"""Cases, operators and exact arithmetic made by hand for the tests of the compare room."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from gnll_cli.cases.model import Case
from gnll_cli.golden.interface import GoldenBlock
from gnll_cli.operators.interface import Operator

STORAGE = {
    "fp32": np.dtype("<f4"),
    "fp16": np.dtype("<f2"),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
}
BITS = {"fp32": np.dtype("<u4"), "fp16": np.dtype("<u2"), "bf16": np.dtype("<u2")}
#: Bits of the significand (the hidden one included) and the exponent of the smallest normal number.
DIGITS = {"fp32": 24, "fp16": 11, "bf16": 8}
LOWEST = {"fp32": -126, "fp16": -14, "bf16": -126}
FILL = {"fp32": 0x7FA5A5A5, "fp16": 0x7DA5, "bf16": 0x7FA5}
LARGEST = {"fp32": (2 - 2.0**-23) * 2.0**127, "fp16": 65504.0, "bf16": (2 - 2.0**-7) * 2.0**127}


class Data:
    """Input data held in an array."""

    def __init__(self, array: np.ndarray, dtype: str) -> None:
        self._array = array
        self.shape, self.size, self.dtype = array.shape, array.size, dtype

    def read(self, start: int, stop: int) -> np.ndarray:
        return self._array.reshape(-1)[start:stop]

    def array(self) -> np.ndarray:
        return self._array


def make_case(
    outputs: Mapping[str, Sequence[int]], dtype: str, inputs: Mapping[str, Sequence[int]] | None = None
) -> Case:
    shapes = {name: tuple(shape) for name, shape in {**(inputs or {}), **outputs}.items()}
    return Case(
        id="hand/made",
        operator="hand",
        dtype=dtype,
        attributes={},
        shapes=shapes,
        dtypes=dict.fromkeys(shapes, dtype),
        data={},
        seed=1,
    )


def make_operator(outputs: Sequence[str], inputs: Sequence[str] = (), **fields: Any) -> Operator:
    nothing: Any = lambda *_: {}  # noqa: E731 - fields no test here calls
    record: dict[str, Any] = {
        "name": "hand",
        "type": "Hand",
        "inputs": tuple(inputs),
        "outputs": tuple(outputs),
        "dtypes": ("fp32", "fp16", "bf16"),
        "base": "x",
        "alternatives": lambda *_: [],
        **dict.fromkeys(
            ("form", "shapes", "output_shapes", "refusal", "labels", "golden", "benchmark", "tiling"), nothing
        ),
        **{key: {} for key in ("data", "refusals", "forms")},
        "attributes": (),
    }
    return Operator(**{**record, **fields})


def blocks(
    output: str,
    golden: np.ndarray,
    *,
    radius: Any = 0.0,
    magnitude: Any = None,
    floor: Any = 0.0,
    factor: float = 8.0,
    size: int = 1 << 16,
) -> Iterator[GoldenBlock]:
    """Golden blocks of ``size`` elements."""
    flat = np.asarray(golden, dtype=np.float64).reshape(-1)

    def full(x: Any) -> np.ndarray:
        return np.broadcast_to(np.asarray(x, dtype=np.float64), flat.shape)

    m = np.abs(flat) if magnitude is None else full(magnitude)
    for start in range(0, flat.size, size):
        cut = slice(start, start + size)
        yield GoldenBlock(
            output, start, flat[cut], full(radius)[cut].copy(), m[cut].copy(), full(floor)[cut].copy(), factor
        )


def stored(values: Any, dtype: str) -> np.ndarray:
    """Values that the dtype holds exactly, in its storage."""
    wide = np.asarray(values, dtype=np.float64)
    narrow = wide.astype(np.float32).astype(STORAGE[dtype])
    assert np.array_equal(narrow.astype(np.float64), wide, equal_nan=True), "not representable"
    return narrow


@cache
def _ladder(dtype: str) -> tuple[list[Fraction], list[float]]:
    """All finite non-negative values of a 16-bit dtype, ascending."""
    bits = np.arange(0x8000, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        values = bits.view(STORAGE[dtype]).astype(np.float64)
    finite = [float(v) for v in values if np.isfinite(v)]
    return [Fraction(v) for v in finite], finite


def nearest16(x: Fraction, dtype: str) -> float:
    """x rounded to nearest even in a 16-bit dtype by search; Inf from half a step past the largest value."""
    if x < 0:
        return -nearest16(-x, dtype)
    exact, values = _ladder(dtype)
    at = bisect_left(exact, x)
    if at == len(exact):
        step = exact[-1] - exact[-2]
        return values[-1] if x < exact[-1] + step / 2 else float("inf")
    if exact[at] == x or at == 0:
        return values[at]
    below, above = x - exact[at - 1], exact[at] - x
    if below != above:
        return values[at - 1] if below < above else values[at]
    return values[at - 1] if (at - 1) % 2 == 0 else values[at]


def neighbours(golden: float, limit: Fraction, dtype: str, sign: int) -> tuple[float, float]:
    """The last value of the dtype within ``limit`` of golden on one side, and the first one beyond it."""
    start = np.array([golden + sign * float(limit)]).astype(np.float32).astype(STORAGE[dtype])
    code = int(start.view(BITS[dtype])[0])

    def value(c: int) -> float:
        return float(np.array([c], dtype=BITS[dtype]).view(STORAGE[dtype])[0])

    def inside(c: int) -> bool:
        return abs(Fraction(value(c)) - Fraction(golden)) <= limit

    # Codes of one sign are ordered by magnitude: step away from the golden until outside, then back.
    away = 1 if (value(code + 1) - golden) * sign > (value(code) - golden) * sign else -1
    while inside(code):
        code += away
    while not inside(code):
        code -= away
    return value(code), value(code + away)


def naive_ulp(golden: float, dtype: str) -> Fraction:
    """The ULP of the golden rounded to the dtype, from the definition."""
    rounded = abs(Fraction(nearest16(Fraction(golden), dtype) if dtype != "fp32" else float(np.float32(golden))))
    exponent = LOWEST[dtype]
    while rounded >= Fraction(2) ** (exponent + 1):
        exponent += 1
    return Fraction(2) ** (exponent - DIGITS[dtype] + 1)
