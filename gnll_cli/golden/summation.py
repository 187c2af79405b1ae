"""Sums of groups that are the same bits whatever blocks the elements come in, and accurate to far below a float64 rounding.

A group is cut into chunks of CHUNK elements from its start. A chunk is summed exactly but for a dropped remainder, by extraction
(Rump, Ogita, Oishi: "Accurate floating-point summation", 2008, section 3): with sigma a power of two of at least CHUNK times the
largest magnitude, (x + sigma) - sigma is the high part of x on a grid so coarse that every partial sum of high parts is a float64.
Such sums are exact, so their order cannot matter: that is why ``np.add.reduce``, whose order is not promised, may be used on
high parts, and on nothing else. The low parts are extracted once more. Chunks are then added one after the other in
double-double arithmetic (TwoSum, Knuth).

For a chunk of n <= CHUNK elements, all at most m in magnitude, the dropped remainder is at most 2^-69 m.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from gnll_cli.golden.interface import F64

#: Elements of a chunk. Part of the golden's definition: changing it changes bits.
CHUNK = 4096
_CHUNK_BITS = CHUNK.bit_length() - 1
#: sigma of the second extraction over that of the first: CHUNK times the largest low part, which is 2^-53 sigma.
_NEXT = 2.0 ** (_CHUNK_BITS - 53)
#: Groups shorter than this, when there are many, are summed across instead of along, so that inner loops are long.
_SHORT = 64

Real = TypeVar("Real", F64, float)


def _two_sum(a: Real, b: Real) -> tuple[Real, Real]:
    """s + e = a + b exactly with s = fl(a + b), for finite values that do not overflow."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _sigma(largest: F64) -> F64:
    """The power of two of the first extraction: at least CHUNK times ``largest``."""
    return np.ldexp(1.0, np.frexp(largest)[1] + _CHUNK_BITS)


def _oriented(x: F64) -> tuple[F64, int]:
    """``x`` [groups, n] in the orientation that sums fast, and the axis to sum over."""
    if x.shape[1] < _SHORT < x.shape[0]:
        return np.ascontiguousarray(x.T), 0
    return x, 1


def _signed_chunk(x: F64, m: F64) -> tuple[F64, F64, F64]:
    """Per group: sum of high parts and of low parts of ``x``, and the sum of ``m``; [groups, n] with abs(x) <= m, n <= CHUNK.

    ``x`` and ``m`` are overwritten. The sum of ``m`` is off by at most 2^-28 of its largest element.
    """
    x, axis = _oriented(x)
    m, _ = _oriented(m)
    sigma = _sigma(np.maximum.reduce(m, axis=axis, keepdims=True))
    high = x + sigma
    high -= sigma
    sums = np.add.reduce(high, axis=axis)
    x -= high
    small = sigma * _NEXT
    np.add(x, small, out=high)
    high -= small
    m += sigma
    m -= sigma
    return sums, np.add.reduce(high, axis=axis), np.add.reduce(m, axis=axis)


def _positive_chunk(m: F64) -> F64:
    """Per group: the sum of ``m`` [groups, n], m >= 0, n <= CHUNK, off by at most 2^-28 of its largest element."""
    m, axis = _oriented(m)
    sigma = _sigma(np.maximum.reduce(m, axis=axis, keepdims=True))
    m = m + sigma
    m -= sigma
    return np.add.reduce(m, axis=axis)


class GroupSums:
    """Sums of several groups at once, fed with the next elements of all of them: float64 [groups, n].

    Every n but a group's last must be a multiple of CHUNK. ``add`` takes signed terms and bounds of their magnitudes
    (abs(term) <= magnitude, checked by nobody), ``add_weights`` values that are not negative.
    """

    def __init__(self) -> None:
        self._sum: F64 | None = None
        self._error: F64 | None = None
        self._magnitude: F64 | None = None
        self._weight: F64 | None = None

    def add(self, terms: F64, magnitudes: F64) -> None:
        """The next terms and magnitudes; both arrays are overwritten."""
        groups, n = terms.shape
        whole = n // CHUNK * CHUNK
        if groups == 1 and whole > CHUNK:
            chunks = _signed_chunk(terms[0, :whole].reshape(-1, CHUNK), magnitudes[0, :whole].reshape(-1, CHUNK))
            self._sequence(*(part.tolist() for part in chunks))
            terms, magnitudes, n = terms[:, whole:], magnitudes[:, whole:], n - whole
        for start in range(0, n, CHUNK):
            part = slice(start, start + CHUNK)
            self._chunk(*_signed_chunk(terms[:, part], magnitudes[:, part]))

    def _chunk(self, high: F64, low: F64, magnitude: F64) -> None:
        if self._sum is None or self._error is None or self._magnitude is None:
            self._sum, self._error, self._magnitude = high, low, magnitude
            return
        self._sum, e = _two_sum(self._sum, high)
        self._error = self._error + (e + low)
        self._magnitude = self._magnitude + magnitude

    def _sequence(self, high: list[float], low: list[float], magnitude: list[float]) -> None:
        """Many chunks of one group: the same operations as ``_chunk`` on Python's floats, which is faster."""
        first = 0
        if self._sum is None or self._error is None or self._magnitude is None:
            s, error, m, first = high[0], low[0], magnitude[0], 1
        else:
            s, error, m = float(self._sum[0]), float(self._error[0]), float(self._magnitude[0])
        for k in range(first, len(high)):
            s, e = _two_sum(s, high[k])
            error += e + low[k]
            m += magnitude[k]
        self._sum, self._error, self._magnitude = np.array([s]), np.array([error]), np.array([m])

    def add_weights(self, weights: F64) -> None:
        """The next weights, float64 [groups, n]."""
        for start in range(0, weights.shape[1], CHUNK):
            chunk = _positive_chunk(weights[:, start : start + CHUNK])
            self._weight = chunk if self._weight is None else self._weight + chunk

    def sums(self) -> F64:
        """The sums [groups], rounded once; Inf and NaN as plain addition gives them."""
        assert self._sum is not None
        assert self._error is not None
        total = self._sum + self._error
        finite = np.isfinite(total)
        # The error of an infinite sum is NaN and says nothing.
        return total if finite.all() else np.where(np.isfinite(self._sum), total, self._sum)

    def magnitudes(self) -> F64:
        """The sums of the magnitudes [groups], relative error below 2^-27."""
        assert self._magnitude is not None
        return self._magnitude

    def weights(self) -> F64:
        """The sums of the weights [groups], relative error below 2^-27."""
        assert self._weight is not None
        return self._weight
