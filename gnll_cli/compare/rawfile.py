"""Raw tensor files: little-endian, C order, nothing but elements. What is not raw is refused with advice."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from io import FileIO
from math import prod
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli.dtypes import DType
from gnll_cli.errors import RawFileError

#: First bytes -> (what the file is, how to make it raw).
SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (b"\x93NUMPY", "a NumPy .npy file", "write the raw elements instead: np.load(FILE).tofile('x.bin')"),
    (b"PK\x03\x04", "a zip archive (np.savez and torch.save write them)", "extract the tensor: array.tofile('x.bin')"),
    (b"PK\x05\x06", "an empty zip archive", "write the raw elements instead: array.tofile('x.bin')"),
    (
        b"version https://git-lfs.github.com/spec",
        "a Git LFS pointer, not the data",
        "fetch the data first: git lfs pull",
    ),
    (b"\x1f\x8b\x08\x00", "a gzip file", "unpack it first: gunzip FILE"),
    (b"\x1f\x8b\x08\x08", "a gzip file", "unpack it first: gunzip FILE"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", "unpack it first: zstd -d FILE"),
    (b"\xfd7zXZ\x00", "an xz file", "unpack it first: unxz FILE"),
    (b"BZh91AY&SY", "a bzip2 file", "unpack it first: bunzip2 FILE"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "export the tensor and write its elements: array.tofile('x.bin')"),
)
_NUMBERS = re.compile(rb"[\s\[\](),;0-9+\-.eE]*(?:(?:nan|inf|NaN|Inf|e|E)[\s\[\](),;0-9+\-.eE]*)*")
_PROBE = 4096


class RawFile:
    """A raw file open for reading. ``size`` is its number of elements. Use as a context manager."""

    def __init__(self, path: Path, dtype: DType, handle: FileIO, size: int) -> None:
        self.path = path
        self.dtype = dtype
        self.size = size
        #: Raw bytes may hold anything, also in a tensor of booleans.
        self.storage: np.dtype[Any] = np.dtype(np.uint8) if dtype.name == "bool" else dtype.storage
        self._handle = handle

    def read_into(self, buffer: npt.NDArray[np.uint8], start: int, stop: int) -> npt.NDArray[Any]:
        """Elements [start, stop) in the storage dtype, in ``buffer`` (bytes, large enough)."""
        item = self.dtype.itemsize
        view = buffer.data[: (stop - start) * item]
        self._handle.seek(start * item)
        done = 0
        while done < len(view):
            got = self._handle.readinto(view[done:])
            if not got:
                raise RawFileError(
                    f"ends at {start * item + done:,} bytes, it had {self.size * item:,} when it was opened",
                    where=str(self.path),
                    hint="something wrote to it meanwhile: compare again when it is complete",
                )
            done += got
        return buffer[: len(view)].view(self.storage)

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Elements [start, stop) in an array of their own."""
        return self.read_into(np.empty((stop - start) * self.dtype.itemsize, dtype=np.uint8), start, stop)

    def __enter__(self) -> RawFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._handle.close()


def open_raw(path: Path, dtype: DType, shape: Sequence[int] | None = None) -> RawFile:
    """Open a raw file of ``dtype``; with ``shape``, of exactly that many elements.

    Raises ``RawFileError`` where it is missing, no regular file, unreadable, empty (unless the shape is), not raw, or
    of a size that does not fit.
    """
    where = str(path)
    try:
        info = os.stat(path)
    except FileNotFoundError:
        raise RawFileError(
            "no such file", where=where, hint="check the path; paths are taken from the current folder"
        ) from None
    except (OSError, ValueError) as error:
        raise RawFileError(
            f"cannot be read: {_text(error)}", where=where, hint="check its path and permissions"
        ) from None
    if stat.S_ISDIR(info.st_mode):
        raise RawFileError(
            "is a folder, not a raw file", where=where, hint="name the .bin files, or a gen-data folder alone"
        )
    if not stat.S_ISREG(info.st_mode):
        raise RawFileError(
            "is a pipe or a device, not a regular file",
            where=where,
            hint="write the tensor to a file first: its size must be known",
        )
    try:
        handle = open(path, "rb", buffering=0)  # noqa: SIM115 - RawFile closes it
    except OSError as error:
        raise RawFileError(f"cannot be read: {_text(error)}", where=where, hint="check its permissions") from None
    try:
        _check(path, info.st_size, dtype, shape, os.read(handle.fileno(), _PROBE))
    except BaseException:
        handle.close()
        raise
    return RawFile(path, dtype, handle, info.st_size // dtype.itemsize)


def _text(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _check(path: Path, size: int, dtype: DType, shape: Sequence[int] | None, head: bytes) -> None:
    """Refuse what is not raw, and sizes that do not fit."""
    where = str(path)
    wanted = None if shape is None else prod(shape) * dtype.itemsize
    if size == 0:
        if wanted == 0:
            return
        raise RawFileError(
            "is empty",
            where=where,
            hint="nothing was written; where the tensor has no elements, say so: --shape 0 (or 2,0,3)",
        )
    for signature, what, advice in SIGNATURES:
        if head.startswith(signature):
            raise RawFileError(f"is {what}, not a raw tensor", where=where, hint=advice.replace("FILE", where))
    if is_text(head):
        raise RawFileError(
            f"is text (it begins {head[:24].decode('ascii', 'replace')!r}), not a raw tensor",
            where=where,
            hint="write the raw little-endian elements: array.tofile('x.bin')",
        )
    if wanted is not None and size != wanted:
        raise RawFileError(
            f"holds {size:,} bytes; shape {list(shape or ())} of {dtype.name} is {wanted:,} bytes{_rest(size, dtype)}",
            where=where,
            hint=likely_cause(size, wanted, dtype),
        )
    if size % dtype.itemsize:
        raise RawFileError(
            f"holds {size:,} bytes, which is no whole number of {dtype.name} elements{_rest(size, dtype)}",
            where=where,
            hint="likely cut short, written as another type, or with a header or text in front; see --dtype",
        )


def _rest(size: int, dtype: DType) -> str:
    whole, rest = divmod(size, dtype.itemsize)
    if not rest:
        return f" ({whole:,} elements of {dtype.itemsize} bytes)"
    return f" ({whole:,} elements of {dtype.itemsize} bytes and {rest} over)"


def likely_cause(size: int, wanted: int, dtype: DType) -> str:
    """Why a file of ``size`` bytes is there where ``wanted`` are needed."""
    if wanted == 0:
        return "the shape has no elements: check --shape"
    for factor in (2, 4, 8):
        if size == wanted * factor:
            wide = dtype.itemsize * factor
            return f"likely written as a type {factor} times as wide: {wide} bytes an element; see --dtype"
        if size * factor == wanted:
            narrow = dtype.itemsize / factor
            what = f"a narrower type, {narrow:g} bytes an element" if narrow >= 1 else f"1/{factor} of the elements"
            return f"likely written as {what}; see --dtype and --shape"
    over = size - wanted
    if 0 < over <= 4096:
        return f"{over:,} bytes too many: likely a header or text in front, or another shape; see --shape"
    if over < 0:
        return f"{-over:,} bytes missing: likely cut short, or another shape; see --shape"
    return "likely another shape or type; see --shape and --dtype"


def is_text(head: bytes) -> bool:
    """The bytes are numbers written as text, JSON, YAML, or markup, and not elements that happen to be printable."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if len(start) < 8:
        return False
    # A cut at the end of the probe may split a word, never add a byte that text cannot hold.
    if not all(32 <= byte < 127 or byte in b"\t\r\n" for byte in start):
        return False
    return bool(_NUMBERS.fullmatch(start)) or start[:1] in b"{[<#" or b"\n" in start or b" " in start


def same_file(first: Path, second: Path) -> bool:
    """Both names lead to one file: the same path, a link, or the same inode."""
    try:
        return os.path.samefile(first, second)
    except OSError:
        return os.path.abspath(first) == os.path.abspath(second)
