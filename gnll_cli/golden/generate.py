"""Drawing of input data, bit for bit the same on every platform and NumPy version.

Only raw words of the counter-based generator Philox 4x64-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11) are
used, scaled by integers and by + - * / and sqrt in float64: no libm, no NumPy distribution, no sum of floats. A counter instead of
a state lets any range of a tensor be drawn without what is before it.

The key is (seed of the case, first 64 bits of SHA-256 of the tensor's name). Counter word 3 is the lane: a distribution inside
``signed`` has the next lane, so that signs and magnitudes are independent. Counter words 0 to 2 count blocks of four words from 1.
"""

from __future__ import annotations

import hashlib
import math
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli import dtypes
from gnll_cli.cases.model import Distribution
from gnll_cli.dtypes import DType
from gnll_cli.errors import UsageError, nearest
from gnll_cli.golden.interface import F64

U64 = npt.NDArray[np.uint64]

_LOW16 = np.uint64(0x0000FFFF0000FFFF)
_LOW32 = np.uint64(0xFFFFFFFF)
_SHIFT16, _SHIFT32 = np.uint64(16), np.uint64(32)
#: Eight sixteen-bit pieces: mean and standard deviation of their sum.
_PIECES_MEAN = 8 * 65535 / 2
_PIECES_STD = math.sqrt(8 * (65536**2 - 1) / 12)


@lru_cache(maxsize=256)
def _name_key(tensor: str) -> int:
    return int.from_bytes(hashlib.sha256(tensor.encode()).digest()[:8], "little")


class _Philox:
    """One bit generator whose key and counter are set before every use (making a new one costs ten times as much)."""

    def __init__(self) -> None:
        self._generator = np.random.Philox(key=0)
        # Python's integers: the generator takes them faster than those of arrays.
        self._counter, self._key = [0] * 4, [0] * 2
        self._state: Any = {
            **self._generator.state,
            "state": {"counter": self._counter, "key": self._key},
            "buffer": (0,) * 4,
            "buffer_pos": 4,
        }
        self._lock = threading.Lock()

    def words(self, key: tuple[int, int], lane: int, start: int, stop: int) -> U64:
        """Words [start, stop) of the stream (key, lane)."""
        first = start // 4
        with self._lock:
            # The generator increments its counter before it makes a block, so block b of ours has the counter b + 1.
            self._key[:] = key
            self._counter[0], self._counter[3] = first, lane
            self._generator.state = self._state
            raw: U64 = self._generator.random_raw(stop - first * 4)
        return raw[start - first * 4 :] if start % 4 else raw


_PHILOX = _Philox()


def raw_words(seed: int, tensor: str, lane: int, start: int, stop: int) -> U64:
    """Words [start, stop) of the stream of a tensor: uint64, shape [stop - start]."""
    return _PHILOX.words((seed, _name_key(tensor)), lane, start, stop)


_U4, _U1 = np.dtype("<u4"), np.dtype("u1")


def _little(words: U64, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """The words cut into smaller unsigned integers, low part first, on machines of either byte order."""
    if sys.byteorder == "big":
        words = words.byteswap()
    return words.view(kind)


class _Draw:
    """What the functions of the kinds need: the stream, the dtype for limits by name, and the range."""

    __slots__ = ("dtype", "lane", "seed", "start", "stop", "tensor")

    def __init__(self, seed: int, tensor: str, dtype: DType, start: int, stop: int, lane: int) -> None:
        self.seed, self.tensor, self.dtype = seed, tensor, dtype
        self.start, self.stop, self.lane = start, stop, lane

    def words(self, start: int, stop: int) -> U64:
        return raw_words(self.seed, self.tensor, self.lane, start, stop)

    def pieces32(self) -> npt.NDArray[Any]:
        """One 32-bit integer an element: two elements a word."""
        first = self.start // 2
        pieces = _little(self.words(first, -(-self.stop // 2)), _U4)
        return pieces[self.start - 2 * first : self.stop - 2 * first]

    def number(self, arg: float | str | Distribution) -> float:
        return number(arg, self.dtype)

    def inner(self, distribution: Distribution, lane: int) -> F64:
        return _values(distribution, _Draw(self.seed, self.tensor, self.dtype, self.start, self.stop, lane))


def number(arg: float | str | Distribution, dtype: DType) -> float:
    """A number of a distribution, with limits named by word resolved for ``dtype``; ``UsageError`` for an unknown word."""
    if isinstance(arg, (int, float)):
        return float(arg)
    if isinstance(arg, Distribution):
        raise UsageError(f"'{arg.text}' stands where a number is needed", hint="nested distributions come first")
    sign, word = (-1.0, arg[1:]) if arg.startswith("-") else (1.0, arg.removeprefix("+"))
    if word == "largest":
        return sign * dtype.largest
    if word == "smallest":
        return sign * dtype.smallest
    if word == "subnormal_min":
        return sign * dtype.tiny
    if word == "subnormal_max":
        return sign * (dtype.smallest - dtype.tiny)
    try:
        return sign * float(word)
    except ValueError:
        words = ["nan", "inf", "largest", "smallest", "subnormal_min", "subnormal_max"]
        raise UsageError(f"'{arg}' is no number of a distribution", hint=nearest(word, words)) from None


def _uniform(distribution: Distribution, draw: _Draw) -> F64:
    low, high = [number(a, draw.dtype) for a in distribution.args]
    values = draw.pieces32() * ((high - low) * 2.0**-32)
    values += low
    return values


def _normal(distribution: Distribution, draw: _Draw) -> F64:
    """Irwin-Hall: the sum of eight uniform sixteen-bit integers, centred and scaled; within 4.9 standard deviations."""
    mean, std = [number(a, draw.dtype) for a in distribution.args]
    words = draw.words(2 * draw.start, 2 * draw.stop)
    pairs = (words & _LOW16) + ((words >> _SHIFT16) & _LOW16)
    pairs = pairs[0::2] + pairs[1::2]
    sums = (pairs & _LOW32) + (pairs >> _SHIFT32)
    values: F64 = sums.astype(np.float64)
    values -= _PIECES_MEAN
    values *= std / _PIECES_STD
    values += mean
    return values


def _constant(distribution: Distribution, draw: _Draw) -> F64:
    return np.full(draw.stop - draw.start, draw.number(distribution.args[0]))


def _integers(distribution: Distribution, draw: _Draw) -> F64:
    low, high = (draw.number(a) for a in distribution.args)
    span = high - low + 1
    if not (1 <= span <= 2.0**32 and low == math.floor(low) and high == math.floor(high)):
        raise UsageError(
            f"'{distribution.text}' is no range of integers",
            hint="write integers(lo, hi), lo <= hi, at most 2^32 of them",
        )
    scaled = draw.pieces32().astype(np.uint64)
    scaled *= np.uint64(int(span))
    scaled >>= _SHIFT32
    values: F64 = scaled.astype(np.float64)
    values += low
    return values


def _spread(distribution: Distribution, draw: _Draw) -> F64:
    """A power of two, each from that of lo to that of hi alike, times a uniform mantissa in [1, 2); clipped to [lo, hi]."""
    low, high = (draw.number(a) for a in distribution.args)
    if not 0 < low < high < math.inf:
        raise UsageError(f"'{distribution.text}' is no spread", hint="write spread(lo, hi) with 0 < lo < hi")
    first = math.frexp(low)[1] - 1
    count = math.frexp(high)[1] - first
    words = draw.words(draw.start, draw.stop)
    exponents = ((words >> _SHIFT32) * np.uint64(count)) >> _SHIFT32
    values = (words & _LOW32).astype(np.float64)
    values *= 2.0**-32
    values += 1.0
    values *= np.array([math.ldexp(1.0, first + k) for k in range(count)])[exponents.astype(np.intp)]
    np.maximum(values, low, out=values)
    np.minimum(values, high, out=values)
    return values


def _nested(distribution: Distribution) -> Distribution:
    inner = distribution.args[0]
    if not isinstance(inner, Distribution):
        raise UsageError(f"'{distribution.text}' needs a distribution as its first argument")
    return inner


def _signed(distribution: Distribution, draw: _Draw) -> F64:
    values = draw.inner(_nested(distribution), draw.lane + 1)
    first = draw.start // 64
    octets = _little(draw.words(first, -(-draw.stop // 64)), _U1)
    bits = np.unpackbits(octets, bitorder="little")[draw.start - 64 * first : draw.stop - 64 * first]
    np.negative(values, out=values, where=bits.view(np.bool_))
    return values


def _table(args: tuple[float | str | Distribution, ...], draw: _Draw) -> F64:
    return np.array([draw.number(a) for a in args], dtype=np.float64)


def _cycle(distribution: Distribution, draw: _Draw) -> F64:
    table = _table(distribution.args, draw)
    return table[np.arange(draw.start, draw.stop) % len(table)]


def _sprinkle(distribution: Distribution, draw: _Draw) -> F64:
    values = draw.inner(_nested(distribution), draw.lane)
    every = int(draw.number(distribution.args[1]))
    table = _table(distribution.args[2:], draw)
    first = draw.start + (every // 2 - draw.start) % every
    places = np.arange(first, draw.stop, every)
    values[places - draw.start] = table[places // every % len(table)]
    return values


KINDS: dict[str, Callable[[Distribution, _Draw], F64]] = {
    "uniform": _uniform,
    "normal": _normal,
    "constant": _constant,
    "integers": _integers,
    "spread": _spread,
    "signed": _signed,
    "cycle": _cycle,
    "sprinkle": _sprinkle,
    "values": _cycle,
}


def _values(distribution: Distribution, draw: _Draw) -> F64:
    kind = KINDS.get(distribution.kind)
    if kind is None:
        raise UsageError(f"unknown distribution '{distribution.text}'", hint=nearest(distribution.kind, list(KINDS)))
    return kind(distribution, draw)


def draw(distribution: Distribution, seed: int, tensor: str, dtype: DType, start: int, stop: int) -> npt.NDArray[Any]:
    """Elements [start, stop) of a flattened tensor: shape [stop - start], storage of ``dtype``, rounded to it once.

    The same elements whatever the range is cut into. ``UsageError`` for arguments that make no distribution.
    """
    return dtypes.round_to(_values(distribution, _Draw(seed, tensor, dtype, start, stop, 0)), dtype)
