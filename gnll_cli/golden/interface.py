"""What leaves the golden room: input data by blocks, and golden blocks with radius and magnitude."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

#: Elements of a block: what one step of a streamed computation holds at once.
BLOCK = 1 << 16


class TensorData(Protocol):
    """The exact stored values of one input, C order, readable at any flat range without making the whole."""

    shape: tuple[int, ...]
    dtype: str
    size: int

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Elements [start, stop) of the flattened tensor, in the storage dtype."""

    def array(self) -> npt.NDArray[Any]:
        """The whole tensor in its shape."""


@dataclass(slots=True)
class GoldenBlock:
    """Elements [start, start + n) of the flattened output, all arrays float64 of shape [n].

    ``radius`` bounds abs(value - exact value); ``magnitude`` is what the rounding errors of a correct float32
    implementation scale with; ``factor`` (the constant c of profile bound, per output) counts its roundings;
    ``floor`` is the sum over the element's group of max(1, abs(gradOutput)): in units of 2^-148, what gradual underflow may lose.
    """

    output: str
    start: int
    value: F64
    radius: F64
    magnitude: F64
    floor: F64
    factor: float
