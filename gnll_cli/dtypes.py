"""The element types gnll knows: storage, limits, the poison that marks an unwritten element, and exact rounding.

Rounding from float64 is done once (round to nearest even). A plain cast of float64 to bfloat16 or an 8-bit float goes
through float32 and rounds twice; here the step to float32 rounds to odd, which makes the second rounding exact
(Boldo and Melquiond, "When double rounding is odd", 2005: p + 2 bits are enough).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DType:
    """One element type.

    ``name`` as in case files, ``acl`` as in the operator's documents, ``storage`` the NumPy dtype of a raw file,
    ``digits`` the significand's bits with the hidden one (0 for integers), ``min_exponent`` the exponent of the
    smallest normal number, ``fill`` the bit pattern (an unsigned integer) that outputs hold before a run.
    """

    name: str
    acl: str
    storage: np.dtype[Any]
    digits: int = 0
    min_exponent: int = 0
    fill: int | None = None

    @cached_property
    def itemsize(self) -> int:
        return int(self.storage.itemsize)

    @cached_property
    def is_float(self) -> bool:
        return self.digits > 0

    @cached_property
    def bits(self) -> np.dtype[Any]:
        """The unsigned integer type of the same size: the raw bits of an element."""
        return np.dtype(f"<u{self.itemsize}")

    @cached_property
    def largest(self) -> float:
        """The largest finite value."""
        return float(ml_dtypes.finfo(self.storage).max) if self.is_float else float(np.iinfo(self.storage).max)

    @cached_property
    def smallest(self) -> float:
        """The smallest positive normal value."""
        return 2.0**self.min_exponent

    @cached_property
    def tiny(self) -> float:
        """The smallest positive subnormal value."""
        return 2.0 ** (self.min_exponent - self.digits + 1)


_TABLE = (
    DType("fp32", "FLOAT", np.dtype("<f4"), 24, -126, 0x7FA5A5A5),
    DType("fp16", "FLOAT16", np.dtype("<f2"), 11, -14, 0x7DA5),
    DType("bf16", "BFLOAT16", np.dtype(ml_dtypes.bfloat16), 8, -126, 0x7FA5),
    DType("fp64", "DOUBLE", np.dtype("<f8"), 53, -1022, 0x7FF5A5A5A5A5A5A5),
    DType("hf32", "HF32", np.dtype("<f4"), 12, -126, 0x7FA5A5A5),
    DType("e4m3", "FLOAT8_E4M3FN", np.dtype(ml_dtypes.float8_e4m3fn), 4, -6),
    DType("e5m2", "FLOAT8_E5M2", np.dtype(ml_dtypes.float8_e5m2), 3, -14),
    DType("int8", "INT8", np.dtype("<i1")),
    DType("int16", "INT16", np.dtype("<i2")),
    DType("int32", "INT32", np.dtype("<i4")),
    DType("int64", "INT64", np.dtype("<i8")),
    DType("uint8", "UINT8", np.dtype("<u1")),
    DType("bool", "BOOL", np.dtype("?")),
)
DTYPES: dict[str, DType] = {d.name: d for d in _TABLE}
BF16 = DTYPES["bf16"].storage


def get(name: str) -> DType:
    """The dtype of that name; ``KeyError`` when there is none."""
    return DTYPES[name]


@lru_cache(maxsize=1)
def storages() -> dict[np.dtype[Any], DType]:
    return {d.storage: d for d in reversed(_TABLE)}


def of(array: npt.NDArray[Any]) -> DType:
    """The dtype of an array by its storage (float32 arrays are fp32)."""
    return storages()[array.dtype]


def _odd_float32(x: F64) -> npt.NDArray[np.float32]:
    """float64 to float32, rounding to odd."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        y = x.astype(np.float32)
        wide = y.astype(np.float64)
    bits = y.view(np.uint32)
    inexact = (wide != x) & np.isfinite(x)
    even = (bits & np.uint32(1)) == 0
    fix = inexact & even
    if fix.any():
        # Towards the exact value: one step in magnitude, down where the cast went too far away from zero. A cast that
        # overflowed to Inf steps down to the largest finite value, which is odd; a cast to zero steps up to the
        # smallest subnormal with the sign of x.
        away = np.abs(wide) > np.abs(x)
        bits = bits + np.where(fix, np.where(away, np.uint32(0xFFFFFFFF), np.uint32(1)), np.uint32(0))
        y = bits.view(np.float32)
    return y


def _round_bf16(x: F64) -> npt.NDArray[np.uint16]:
    """float64 to the bits of bfloat16, for callers that ignore floating-point flags. Only where float32 falls on a midpoint of bfloat16 can the first rounding mislead the second."""
    y = x.astype(np.float32)
    bits = y.view(np.uint32)
    middle = (bits & np.uint32(0xFFFF)) == np.uint32(0x8000)
    if middle.any():
        bits = np.where(middle, _odd_float32(x).view(np.uint32), bits)
    rounded = bits >> np.uint32(16)
    rounded &= np.uint32(1)
    rounded += bits
    rounded += np.uint32(0x7FFF)
    rounded >>= np.uint32(16)
    narrow = rounded.astype(np.uint16)
    nan = np.isnan(y)
    if nan.any():
        narrow[nan] = 0x7FC0
    return narrow


def round_to(x: F64, dtype: DType) -> npt.NDArray[Any]:
    """float64 values rounded once, to nearest even, to ``dtype``'s storage; beyond the largest value Inf; NaN stays NaN."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return quiet_round_to(x, dtype)


def quiet_round_to(x: F64, dtype: DType) -> npt.NDArray[Any]:
    """As ``round_to``, for callers that ignore floating-point flags already (entering ``np.errstate`` costs more than a
    small tensor does).
    """
    if dtype.name in ("fp32", "fp16"):
        return x.astype(dtype.storage)
    if dtype.name == "bf16":
        return _round_bf16(np.asarray(x)).view(dtype.storage)
    if dtype.name == "hf32":
        bits = _odd_float32(x).view(np.uint32)
        rounded = (bits + ((bits >> np.uint32(12)) & np.uint32(1)) + np.uint32(0x7FF)) & np.uint32(0xFFFFF000)
        return np.where(np.isfinite(x), rounded.view(np.float32), x.astype(np.float32))
    if dtype.storage == np.float64:
        return np.asarray(x, dtype=np.float64)
    return _odd_float32(x).astype(dtype.storage)


def to_float64(x: npt.NDArray[Any]) -> F64:
    """The exact values of an array of any known float storage, as float64."""
    with np.errstate(invalid="ignore"):
        return quiet_float64(x)


def quiet_float64(x: npt.NDArray[Any]) -> F64:
    """As ``to_float64``, for callers that ignore floating-point flags already."""
    if x.dtype == BF16:
        return quiet_float32(x).astype(np.float64)
    return x.astype(np.float64)


def to_float32(x: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The exact values of a float32, float16 or bfloat16 array as float32."""
    with np.errstate(invalid="ignore"):
        return quiet_float32(x)


def quiet_float32(x: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """As ``to_float32``, for callers that ignore floating-point flags already."""
    if x.dtype == BF16:
        bits = np.asarray(x, order="C").view(np.uint16).astype(np.uint32)
        bits <<= np.uint32(16)
        return bits.view(np.float32)
    return x.astype(np.float32)


def ulp(x: F64, dtype: DType) -> F64:
    """The unit in the last place of ``dtype`` at finite values ``x`` (already rounded to it): 2^(e - digits + 1).

    At zero and for subnormal values it is the smallest subnormal.
    """
    _, e = np.frexp(x)
    exponent = np.where(x == 0, dtype.min_exponent, np.maximum(e - 1, dtype.min_exponent)) - (dtype.digits - 1)
    return np.ldexp(1.0, exponent)
