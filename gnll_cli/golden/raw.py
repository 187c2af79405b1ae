"""Writing of raw tensor files: little-endian, C order, no header, with the SHA-256 of what was written."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt


class RawWriter:
    """One raw file, written block after block. A context manager; ``sha256`` is that of the bytes written so far."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115 - closed by __exit__
        self._sum = hashlib.sha256()

    def __enter__(self) -> RawWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def write(self, array: npt.NDArray[Any]) -> None:
        """The next elements: an array of a little-endian storage dtype, written in C order."""
        octets: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        rest = memoryview(octets)
        self._sum.update(rest)
        while rest:
            rest = rest[self._file.write(rest) :]

    @property
    def sha256(self) -> str:
        return self._sum.hexdigest()


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            total.update(piece)
    return total.hexdigest()
