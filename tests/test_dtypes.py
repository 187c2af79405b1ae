"""Element types: limits and single rounding, against exact rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnll_cli import dtypes
from gnll_cli.dtypes import DTYPES, DType

FLOATS = ["fp32", "fp16", "bf16", "hf32", "e5m2"]


def nearest_even(x: float, dtype: DType) -> float:
    """Round to nearest even, in rationals: the definition, with no upper limit on the exponent but Inf beyond the largest."""
    if x != x or math.isinf(x) or x == 0:
        return x
    exponent = max(math.frexp(x)[1] - 1, dtype.min_exponent)
    unit = Fraction(2) ** (exponent - dtype.digits + 1)
    steps = Fraction(x) / unit
    low = math.floor(steps)
    rest = steps - low
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2):
        low += 1
    value = low * unit
    if abs(value) > Fraction(dtype.largest):
        return math.copysign(math.inf, x)
    return math.copysign(float(value), x)


def rounded(x: float, name: str) -> float:
    return float(dtypes.round_to(np.array([x]), DTYPES[name])[0])


def same(a: float, b: float) -> bool:
    return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))


@pytest.mark.parametrize("name", FLOATS)
@given(x=st.floats(allow_nan=True, allow_infinity=True))
def test_any_float64_rounds_once(name: str, x: float) -> None:
    assert same(rounded(x, name), nearest_even(x, DTYPES[name]))


@pytest.mark.parametrize("name", FLOATS)
@given(bits=st.integers(0, 2**16 - 1), nudge=st.integers(-2, 2), data=st.data())
def test_neighbours_of_every_midpoint_round_once(name: str, bits: int, nudge: int, data: st.DataObject) -> None:
    # A midpoint of the dtype, and float64 values next to it that float32 cannot tell from it.
    dtype = DTYPES[name]
    low = float(nearest_even(data.draw(st.floats(-1e5, 1e5)) + bits, dtype))
    exponent = max(math.frexp(low)[1] - 1, dtype.min_exponent) if low else dtype.min_exponent
    middle = low + math.ldexp(0.5, exponent - dtype.digits + 1)
    x = middle
    for _ in range(abs(nudge)):
        x = math.nextafter(x, math.copysign(math.inf, nudge))
    assert same(rounded(x, name), nearest_even(x, dtype))


@pytest.mark.parametrize("name", ["fp16", "bf16"])
def test_every_value_of_sixteen_bits_survives_widening_and_rounding(name: str) -> None:
    storage = DTYPES[name].storage
    values = np.arange(1 << 16, dtype=np.uint16).view(storage)
    wide = dtypes.to_float64(values)
    back = dtypes.round_to(wide, DTYPES[name])
    number = ~np.isnan(wide)
    assert np.array_equal(back.view(np.uint16)[number], values.view(np.uint16)[number])
    assert np.isnan(dtypes.to_float64(back)[~number]).all()
    assert np.array_equal(dtypes.to_float32(values)[number], values.astype(np.float32)[number])


@pytest.mark.parametrize(
    ("name", "largest", "smallest", "tiny"),
    [
        ("fp32", (2 - 2.0**-23) * 2.0**127, 2.0**-126, 2.0**-149),
        ("fp16", 65504.0, 2.0**-14, 2.0**-24),
        ("bf16", (2 - 2.0**-7) * 2.0**127, 2.0**-126, 2.0**-133),
        ("e4m3", 448.0, 2.0**-6, 2.0**-9),
        ("e5m2", 57344.0, 2.0**-14, 2.0**-16),
    ],
)
def test_limits(name: str, largest: float, smallest: float, tiny: float) -> None:
    dtype = DTYPES[name]
    assert (dtype.largest, dtype.smallest, dtype.tiny) == (largest, smallest, tiny)


@pytest.mark.parametrize("name", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3)])
def test_conversions_keep_the_shape_whatever_the_strides(name: str, shape: tuple[int, ...]) -> None:
    x = np.full(shape, 1.5).astype(DTYPES[name].storage)
    for view in (x, x.T):
        assert dtypes.to_float32(view).shape == view.shape
        assert dtypes.to_float64(view).shape == view.shape
        assert np.array_equal(dtypes.to_float64(view), np.full(view.shape, 1.5))
    if shape:
        assert dtypes.round_to(np.full(shape, 1.5), DTYPES[name]).shape == shape


def test_ulp_is_the_distance_to_the_next_value() -> None:
    for name in ("fp16", "bf16"):
        dtype = DTYPES[name]
        values = np.arange(0x7C00 if name == "fp16" else 0x7F80, dtype=np.uint16).view(dtype.storage)
        wide = dtypes.to_float64(values)
        assert np.array_equal(dtypes.ulp(wide[:-1], dtype), np.diff(wide))


def test_the_fill_is_a_nan_that_no_arithmetic_yields() -> None:
    for name in ("fp32", "fp16", "bf16"):
        dtype = DTYPES[name]
        assert dtype.fill is not None
        value = np.array([dtype.fill], dtype.bits).view(dtype.storage)
        assert np.isnan(value.astype(np.float32))[0]
    assert [hex(DTYPES[n].fill or 0) for n in ("fp32", "fp16", "bf16")] == ["0x7fa5a5a5", "0x7da5", "0x7fa5"]
