"""Compensated sums of groups in one fixed order, whatever blocks the elements come in.

A group is cut into chunks of CHUNK elements from its start. Inside a chunk the front half is added to the back half, again and
again (an odd middle element waits), each addition an error-free TwoSum (Knuth) whose error is summed beside it; the chunks are then
added one after the other, by TwoSum too. The result is the sum plus the summed errors, rounded once.
"""

from __future__ import annotations

import numpy as np

from gnll_cli.golden.interface import F64

#: Elements of a chunk. Part of the golden's definition: changing it changes bits.
CHUNK = 4096
#: Up to this length the groups are the fast axis, so that an inner loop is long.
_SHORT = 64


def _two_sum(a: F64, b: F64) -> tuple[F64, F64]:
    """s + e = a + b exactly with s = fl(a + b), for finite values that do not overflow."""
    s = a + b
    t = s - a
    e = s - t
    np.subtract(a, e, out=e)
    np.subtract(b, t, out=t)
    e += t
    return s, e


def _tree(x: F64) -> tuple[F64, F64]:
    """Sums and errors of each column of ``x`` [length, groups]; ``x`` is overwritten."""
    n = len(x)
    errors: F64 | None = None
    while n > 1:
        h = n // 2
        s, e = _two_sum(x[:h], x[n - h : n])
        x[:h] = s
        if errors is None:
            errors = e if h == n - h else np.concatenate((e, np.zeros_like(x[:1])))
        else:
            errors[:h] += errors[n - h : n]
            errors[:h] += e
        n -= h
    return x[0], np.zeros_like(x[0]) if errors is None else errors[0]


def _plain_tree(x: F64) -> F64:
    """Sums of each column of ``x`` [length, groups] in the same order without errors; ``x`` is overwritten."""
    n = len(x)
    while n > 1:
        h = n // 2
        x[:h] += x[n - h : n]
        n -= h
    return x[0]


def _columns(x: F64) -> F64:
    """``x`` [groups, length] as [length, groups] in the layout that sums fast."""
    return np.ascontiguousarray(x.T) if x.shape[1] < _SHORT < x.shape[0] * 2 else x.T


class GroupSums:
    """Sums of several groups at once, fed with the next elements of all of them: arrays [groups, length].

    Every length but a group's last must be a multiple of CHUNK.
    """

    def __init__(self) -> None:
        self._sum: F64 | None = None
        self._error: F64 | None = None

    def add(self, x: F64) -> None:
        """The next elements, float64 [groups, length], which are overwritten."""
        groups, length = x.shape
        if groups == 1 and length > CHUNK:
            whole = length // CHUNK * CHUNK
            sums, errors = _tree(x[0, :whole].reshape(-1, CHUNK).T)
            for k in range(len(sums)):
                self._chunk(sums[k : k + 1], errors[k : k + 1])
            if whole < length:
                self._chunk(*_tree(x[:, whole:].T))
            return
        for start in range(0, length, CHUNK):
            self._chunk(*_tree(_columns(x[:, start : start + CHUNK])))

    def _chunk(self, sums: F64, errors: F64) -> None:
        if self._sum is None or self._error is None:
            self._sum, self._error = sums, errors
            return
        self._sum, e = _two_sum(self._sum, sums)
        e += errors
        self._error = self._error + e

    def result(self) -> F64:
        """The sums [groups]; Inf and NaN as plain addition gives them (their errors, which are NaN, are left out)."""
        assert self._sum is not None
        assert self._error is not None
        total = self._sum + self._error
        if not np.isfinite(total).all():
            return np.where(np.isfinite(self._sum), total, self._sum)
        return total


class PlainSums:
    """The same order without compensation, for sums of magnitudes, which need no more than a few digits."""

    def __init__(self) -> None:
        self._sum: F64 | None = None

    def add(self, x: F64) -> None:
        """The next elements, float64 [groups, length], which are overwritten."""
        groups, length = x.shape
        if groups == 1 and length > CHUNK:
            whole = length // CHUNK * CHUNK
            for chunk in _plain_tree(x[0, :whole].reshape(-1, CHUNK).T):
                self._chunk(chunk.reshape(1))
            if whole < length:
                self._chunk(_plain_tree(x[:, whole:].T))
            return
        for start in range(0, length, CHUNK):
            self._chunk(_plain_tree(_columns(x[:, start : start + CHUNK])))

    def _chunk(self, sums: F64) -> None:
        self._sum = sums if self._sum is None else self._sum + sums

    def result(self) -> F64:
        """The sums [groups]."""
        assert self._sum is not None
        return self._sum
