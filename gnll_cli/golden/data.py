"""The inputs of a case as tensor data: drawn, listed, or read from a raw file, always readable by blocks."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnll_cli import dtypes
from gnll_cli.cases.model import Case, Distribution, Shape
from gnll_cli.errors import RawFileError, UsageError
from gnll_cli.golden.generate import draw
from gnll_cli.golden.interface import BLOCK, TensorData

if TYPE_CHECKING:
    from gnll_cli.operators.interface import Operator

#: Tensors up to this many bytes are kept as an array once they have been read.
SMALL_BYTES = 1 << 20


class _Data(ABC):
    """Common part: a small tensor is made once and kept, read-only; a large one is made anew, range by range."""

    __slots__ = ("_kept", "dtype", "shape", "size")

    def __init__(self, shape: Shape, dtype: str) -> None:
        self.shape = shape
        self.dtype = dtype
        self.size = prod(shape)
        self._kept: npt.NDArray[Any] | None = None

    @abstractmethod
    def _make(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Elements [start, stop) of the flattened tensor, made anew."""

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Elements [start, stop) of the flattened tensor, storage dtype; not to be written to."""
        if self._kept is None:
            if self.size * dtypes.DTYPES[self.dtype].itemsize > SMALL_BYTES:
                return self._make(start, stop)
            self._kept = self._make(0, self.size)
            self._kept.flags.writeable = False
        return self._kept[start:stop]

    def array(self) -> npt.NDArray[Any]:
        """The whole tensor in its shape; of a large one a copy of its own."""
        if self.size * dtypes.DTYPES[self.dtype].itemsize <= SMALL_BYTES:
            return self.read(0, self.size).reshape(self.shape)
        whole = np.empty(self.size, dtypes.DTYPES[self.dtype].storage)
        for start in range(0, self.size, BLOCK):
            stop = min(start + BLOCK, self.size)
            whole[start:stop] = self._make(start, stop)
        return whole.reshape(self.shape)


class DrawnData(_Data):
    """A tensor drawn from a distribution; the seed and the tensor's name choose the stream."""

    __slots__ = ("_distribution", "_seed", "_tensor")

    def __init__(self, distribution: Distribution, seed: int, tensor: str, dtype: str, shape: Shape) -> None:
        super().__init__(shape, dtype)
        self._distribution, self._seed, self._tensor = distribution, seed, tensor

    def _make(self, start: int, stop: int) -> npt.NDArray[Any]:
        return draw(self._distribution, self._seed, self._tensor, dtypes.DTYPES[self.dtype], start, stop)


class RawFileData(_Data):
    """A raw file, little-endian, C order, read by ranges (so that memory stays bounded); its size must fit the shape."""

    __slots__ = ("path",)

    def __init__(self, path: Path, dtype: str, shape: Shape) -> None:
        super().__init__(shape, dtype)
        self.path = path
        itemsize = dtypes.DTYPES[dtype].itemsize
        try:
            with path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
        except OSError as error:
            raise self._unreadable(error) from None
        if size != self.size * itemsize:
            raise RawFileError(
                f"{size} bytes, but shape {list(shape)} of {dtype} needs {self.size * itemsize} "
                f"({self.size} elements of {itemsize} bytes)",
                where=str(path),
                hint="write the elements raw, little-endian, in C order and without a header",
            )

    def _unreadable(self, error: OSError) -> RawFileError:
        return RawFileError(f"cannot be read: {error.strerror}", where=str(self.path), hint="name an existing raw file")

    def _make(self, start: int, stop: int) -> npt.NDArray[Any]:
        values = np.empty(stop - start, dtypes.DTYPES[self.dtype].storage)
        octets: Any = values.view(np.uint8)
        # A plain read, not a map: pages of a mapped file would count as this process's memory.
        try:
            with self.path.open("rb") as file:
                file.seek(start * values.itemsize)
                got = file.readinto(octets)
        except OSError as error:
            raise self._unreadable(error) from None
        if got != values.nbytes:
            raise RawFileError(
                f"ends before element {stop}",
                where=str(self.path),
                hint="it was cut after it was opened: write it again",
            )
        return values


class ArrayData(_Data):
    """A tensor that is an array already (a piece of another tensor)."""

    __slots__ = ("_array",)

    def __init__(self, array: npt.NDArray[Any], dtype: str) -> None:
        super().__init__(array.shape, dtype)
        self._array = array.reshape(-1)

    def _make(self, start: int, stop: int) -> npt.NDArray[Any]:
        return self._array[start:stop]


def tensor_data(distribution: Distribution, seed: int, tensor: str, dtype: str, shape: Shape) -> TensorData:
    """The data of one input; ``UsageError`` where listed values do not fit the shape, ``RawFileError`` for a bad file."""
    if distribution.kind == "file":
        return RawFileData(Path(str(distribution.args[0])), dtype, shape)
    if distribution.kind == "values" and len(distribution.args) != prod(shape):
        raise UsageError(
            f"{len(distribution.args)} values for {tensor} of shape {list(shape)}, which has {prod(shape)} elements",
            hint="list every element in C order",
        )
    return DrawnData(distribution, seed, tensor, dtype, shape)


def inputs(case: Case, operator: Operator) -> dict[str, TensorData]:
    """Every input of a case by name; none for a case that must be refused, and none for a null tensor."""
    if case.reject is not None:
        return {}
    return {
        name: tensor_data(case.data[name], case.seed, name, case.dtypes[name], case.shapes[name])
        for name in operator.inputs
        if name not in case.null
    }


def with_first_element(inputs: Mapping[str, TensorData], tensor: str) -> dict[str, TensorData]:
    """The same inputs, but of ``tensor`` only its first element, as shape [1]."""
    return {**inputs, tensor: ArrayData(inputs[tensor].read(0, 1), inputs[tensor].dtype)}
