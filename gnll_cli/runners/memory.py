"""Memory that the harness owns: outputs with poison and guards, inputs in a layout, and the checks after a run.

An output is a block of its bytes between two guards of 64 bytes 0xA5. Before the run it holds the dtype's fill, a NaN that no
arithmetic yields, so that an element nobody wrote is known. An input lies the same way, in the layout that the case asks
for; whatever lies between its elements holds the fill, and nothing of it may change.
"""

from __future__ import annotations

import threading
import zlib
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli.cases.model import Shape
from gnll_cli.dtypes import DTYPES, DType
from gnll_cli.golden.interface import BLOCK, TensorData

#: Bytes on each side of a tensor, and what they hold (the guards of the operator's unit test).
GUARD = 64
GUARD_BYTE = 0xA5
_INTACT = bytes([GUARD_BYTE]) * GUARD
#: Alignment of a tensor's first byte.
ALIGNMENT = 64
#: Elements of fill before a tensor in layout "offset": an odd number, so the tensor is not aligned to more than an element.
OFFSET = 3

Finding = dict[str, Any]
Bytes = npt.NDArray[np.uint8]


class _Arena:
    """Aligned memory, one block after the other for small tensors: finding an aligned address costs more than they do."""

    SIZE = 1 << 16

    def __init__(self) -> None:
        self._block: Bytes = np.empty(0, np.uint8)
        self._used = 0
        self._lock = threading.Lock()

    def take(self, nbytes: int) -> Bytes:
        """``nbytes`` bytes that nobody else has, aligned, of any content."""
        room = -(-nbytes // ALIGNMENT) * ALIGNMENT
        if room > self.SIZE // 8:
            return _aligned(room)[:nbytes]
        with self._lock:
            if self._used + room > self._block.size:
                self._block, self._used = _aligned(self.SIZE), 0
            start = self._used
            self._used += room
            return self._block[start : start + nbytes]


def _aligned(nbytes: int) -> Bytes:
    block = np.empty(nbytes + ALIGNMENT, np.uint8)
    skip = -block.__array_interface__["data"][0] % ALIGNMENT
    return block[skip : skip + nbytes]


_ARENA = _Arena()


def _allocate(nbytes: int) -> Bytes:
    """GUARD + ``nbytes`` + GUARD bytes of the guard pattern, aligned."""
    raw = _ARENA.take(nbytes + 2 * GUARD)
    raw.fill(GUARD_BYTE)
    return raw


def _fill(elements: npt.NDArray[Any], dtype: DType) -> None:
    """Write the fill of ``dtype`` into a 1-D storage array; a dtype without one keeps the guard's bytes."""
    if dtype.fill is not None:
        elements.view(dtype.bits).fill(dtype.fill)


class Output:
    """An output of ``shape``: ``array`` (storage dtype, C order, full of the fill) is what the operator writes to."""

    def __init__(self, name: str, dtype: str, shape: Shape) -> None:
        self.name = name
        kind = DTYPES[dtype]
        self._raw = _allocate(prod(shape) * kind.itemsize)
        elements = self._raw[GUARD:-GUARD].view(kind.storage)
        _fill(elements, kind)
        self.array: npt.NDArray[Any] = elements.reshape(shape)

    @property
    def raw(self) -> Bytes:
        """The output's bytes with the GUARD bytes on each side of them."""
        return self._raw

    def findings(self) -> list[Finding]:
        """One finding of kind "guard" for each guard that was written to.

        ``bytes`` is the number of bytes that changed, ``offset`` the first of them: counted from the output's first byte
        where ``side`` is "before" (-64 to -1), from the byte after its last where it is "after" (0 to 63).
        """
        found = []
        for side, guard in (("before", self._raw[:GUARD]), ("after", self._raw[-GUARD:])):
            if guard.tobytes() == _INTACT:
                continue
            touched = np.flatnonzero(guard != GUARD_BYTE)
            first = int(touched[0])
            offset = first - GUARD if side == "before" else first
            place = f"{-offset} bytes before its start" if side == "before" else f"{offset} bytes after its end"
            message = f"written {side} {self.name}: {touched.size} of {GUARD} guard bytes changed, the first {place}"
            found.append(
                {
                    "kind": "guard",
                    "severity": "failure",
                    "message": message,
                    "tensor": self.name,
                    "side": side,
                    "bytes": int(touched.size),
                    "offset": offset,
                }
            )
        return found


class Input:
    """An input in a layout; ``view`` has the tensor's shape and values, whatever the layout.

    ``storage`` is the memory as a 1-D array of elements, ``offset`` the element of it where the tensor starts, and
    ``strides`` are in elements: what an interface of storage, strides and offset is told.

    - contiguous: C order.
    - transposed: the memory holds the tensor with its dimensions in reverse order (rank 0 and 1: the same as contiguous).
    - sliced: every second element of rows that are wider than the tensor, in a tensor with one row more (rank 0: as offset).
    - offset: C order, beginning three elements into the memory.
    """

    def __init__(self, name: str, data: TensorData, layout: str = "contiguous") -> None:
        self.name = name
        self.layout = layout
        self._data = data
        dtype = DTYPES[data.dtype]
        shape = data.shape
        if layout == "sliced" and shape:
            whole = (*shape[:-2], *(n + 1 for n in shape[-2:-1]), 2 * shape[-1])
            pick: tuple[Any, ...] = (..., *(slice(n) for n in shape[-2:-1]), slice(0, None, 2))
            self._raw = _allocate(prod(whole) * dtype.itemsize)
            self.storage: npt.NDArray[Any] = self._raw[GUARD:-GUARD].view(dtype.storage)
            self.offset = 0
            self.view: npt.NDArray[Any] = self.storage.reshape(whole)[pick]
        else:
            self.offset = OFFSET if layout in ("offset", "sliced") else 0
            self._raw = _allocate((data.size + 2 * self.offset) * dtype.itemsize)
            self.storage = self._raw[GUARD:-GUARD].view(dtype.storage)
            elements = self.storage[self.offset : self.offset + data.size]
            self.view = elements.reshape(shape[::-1]).T if layout == "transposed" else elements.reshape(shape)
        if self.storage.size > data.size:
            _fill(self.storage, dtype)
        if self.view.flags.c_contiguous:
            flat = self.view.reshape(-1)
            for start in range(0, data.size, BLOCK):
                stop = min(start + BLOCK, data.size)
                flat[start:stop] = data.read(start, stop)
        else:
            self.view[...] = data.array()
        self._sum = zlib.crc32(self._raw.data)

    @property
    def raw(self) -> Bytes:
        """The bytes of ``storage`` with the GUARD bytes on each side of them."""
        return self._raw

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements from one index of a dimension to the next."""
        return tuple(s // self.view.itemsize for s in self.view.strides)

    def findings(self) -> list[Finding]:
        """A finding of kind "input_changed" where any byte of the memory changed: values, gaps or guards."""
        if zlib.crc32(self._raw.data) == self._sum:
            return []
        changed, first = self._changed()
        finding: Finding = {"kind": "input_changed", "severity": "failure", "tensor": self.name, "elements": changed}
        if changed:
            index = [int(i) for i in np.unravel_index(first, self.view.shape)]
            finding["index"] = index
            finding["message"] = (
                f"the run changed its input {self.name}: {changed} element{'' if changed == 1 else 's'}, the first at {index}"
            )
        else:
            finding["message"] = f"the run wrote next to its input {self.name}, outside its elements"
        return [finding]

    def _changed(self) -> tuple[int, int]:
        """How many elements differ bit for bit from the data, and the flat index of the first."""
        bits = DTYPES[self._data.dtype].bits
        count, first = 0, 0
        flat = np.ascontiguousarray(self.view).reshape(-1)
        for start in range(0, self._data.size, BLOCK):
            stop = min(start + BLOCK, self._data.size)
            expected = np.ascontiguousarray(self._data.read(start, stop))
            different = np.flatnonzero(flat[start:stop].view(bits) != expected.view(bits))
            if different.size and not count:
                first = start + int(different[0])
            count += int(different.size)
        return count, first
