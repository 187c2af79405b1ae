"""The same-precision reference of GaussianNllLossGrad: the formula in float32, in the order a kernel has it, rounded once to the dtype.

It shares no arithmetic with the golden. Nothing is rearranged to keep intermediates in range: d^2 and v^2 overflow and underflow here
as they do in a kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli import dtypes
from gnll_cli.cases.model import Case
from gnll_cli.dtypes import quiet_float32
from gnll_cli.operators.gaussian_nll_loss_grad.contract import float32_eps, forms_of
from gnll_cli.operators.gaussian_nll_loss_grad.tiling import TILE, mean_scale

F32 = npt.NDArray[np.float32]
#: Elements computed at a time, a whole number of tiles.
_STEP = 64 * TILE
_HALF, _ONE = np.float32(0.5), np.float32(1)


def _piece(x: npt.NDArray[Any], start: int, stop: int) -> F32:
    """Elements [start, stop) of a view in C order, as float32."""
    if start == 0 and stop == x.size:
        return quiet_float32(x.reshape(-1))
    if x.flags.c_contiguous:
        return quiet_float32(x.reshape(-1)[start:stop])
    return quiet_float32(x.flat[start:stop])


def _round(x: F32, dtype: str) -> npt.NDArray[Any]:
    storage = dtypes.DTYPES[dtype].storage
    return x if storage == np.float32 else x.astype(storage)


def _tile_sums(x: F32) -> F32:
    """Sum of each row of ``x`` [rows, n <= TILE] by halves; ``x`` is overwritten."""
    n = x.shape[1]
    while n > 1:
        half = n // 2
        x[:, :half] += x[:, n - half : n]
        n -= half
    return x[:, 0]


def _row_sums(x: F32, running: F32 | None) -> F32:
    """``running`` plus each row of ``x`` [rows, n]: tiles by halves, then one tile after the other; ``x`` is overwritten."""
    for start in range(0, x.shape[1], TILE):
        tile = _tile_sums(x[:, start : start + TILE])
        running = tile if running is None else running + tile
    assert running is not None
    return running


def _ranges(total: int, r: int) -> Iterator[tuple[int, int]]:
    """Flat ranges of input: whole groups of r elements, or whole tiles of one group; none for an empty input (r may be 0)."""
    if total == 0:
        return
    if r <= _STEP:
        step = _STEP // r * r
        yield from ((start, min(start + step, total)) for start in range(0, total, step))
        return
    for group in range(0, total, r):
        yield from ((start, min(start + _STEP, group + r)) for start in range(group, group + r, _STEP))


def benchmark(case: Case, arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Both outputs, storage dtype and shape of the case, from the inputs as storage arrays in their shapes (any strides)."""
    _, var_form = forms_of(case)
    r = var_form.reduce_size
    shape = case.shapes["input"]
    total = case.elements("input")
    eps = np.float32(float32_eps(case.attributes))
    reduction = case.attributes["reduction"]
    grad_input = np.empty(total, dtypes.DTYPES[case.dtypes["gradInput"]].storage)
    grad_var = np.zeros(case.elements("var"), dtypes.DTYPES[case.dtypes["gradVar"]].storage)
    target = arrays["target"]
    if target.shape != shape:
        target = np.broadcast_to(target, shape)
    running: F32 | None = None
    with np.errstate(all="ignore"):
        if reduction != "none" and total:
            scalar = quiet_float32(arrays["gradOutput"].reshape(-1)[:1])
            if reduction == "mean":
                scalar = scalar * np.float32(mean_scale(total))
        for start, stop in _ranges(total, r):
            go = _piece(arrays["gradOutput"], start, stop) if reduction == "none" else scalar
            v = np.maximum(_piece(arrays["var"], start // r, -(-stop // r)), eps)
            if 1 < r <= _STEP:
                v = np.repeat(v, r)
            d = _piece(arrays["input"], start, stop) - _piece(target, start, stop)
            grad_input[start:stop] = _round(d / v * go, case.dtypes["gradInput"])
            terms = _ONE / v - d * d / (v * v)
            terms = terms * go * _HALF
            if r == 1:
                grad_var[start:stop] = _round(terms, case.dtypes["gradVar"])
                continue
            running = _row_sums(terms.reshape(-(-stop // r) - start // r, -1), running)
            if stop % r == 0:
                grad_var[start // r : stop // r] = _round(running, case.dtypes["gradVar"])
                running = None
    return {"gradInput": grad_input.reshape(shape), "gradVar": grad_var.reshape(case.shapes["var"])}
