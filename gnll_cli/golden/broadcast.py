"""Reading a broadcast tensor by ranges of the tensor it is broadcast to, in memory bounded by the range."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli.golden.interface import TensorData


def read_one_axis(data: TensorData, start: int, stop: int, axis_size: int, inner: int) -> npt.NDArray[Any]:
    """Elements [start, stop) of ``data`` broadcast along one axis of size ``axis_size``, storage dtype, shape [stop - start].

    ``data`` has size 1 in that axis; ``inner`` is the product of the dimensions after it. Element i of the result is element
    (i // (axis_size * inner)) * inner + i % inner of ``data``.
    """
    if inner >= stop - start:
        # At most two runs, each inside one row of ``inner`` elements.
        runs = []
        while start < stop:
            row, offset = divmod(start, inner)
            first = row // axis_size * inner + offset
            count = min(inner - offset, stop - start)
            runs.append(data.read(first, first + count))
            start += count
        return runs[0] if len(runs) == 1 else np.concatenate(runs)
    first_row, last_row = start // inner, -(-stop // inner)
    outer = np.arange(first_row, last_row) // axis_size
    base = first_row // axis_size
    rows = data.read(base * inner, ((last_row - 1) // axis_size + 1) * inner).reshape(-1, inner)
    taken = rows[outer - base].reshape(-1)
    return taken[start - first_row * inner : stop - first_row * inner]
