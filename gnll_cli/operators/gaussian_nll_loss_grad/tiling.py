"""How the operator's host tiling spreads a case over the cores, and the tiling data it hands to the kernel."""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from gnll_cli.cases.model import Case, Shape
from gnll_cli.operators.gaussian_nll_loss_grad.contract import (
    REDUCTIONS,
    TargetForm,
    classify_target,
    classify_var,
    float32_eps,
    forms_of,
)
from gnll_cli.operators.interface import Tiling

#: Unified buffer that tiling sees on Atlas A2, in bytes.
UB_BYTES = 196_352
#: 5 raw and 6 float buffers of 4 bytes an element, and 32 bytes of slack for each raw one.
BYTES_PER_ELEMENT = 44
FIXED_BYTES = 160
ALIGN = 8
TILE = min(4096, (UB_BYTES - FIXED_BYTES) // BYTES_PER_ELEMENT // ALIGN * ALIGN)


@lru_cache(maxsize=1024)
def spread(total: int, cores: int, unit: int = 1) -> tuple[tuple[int, int], ...]:
    """``total`` elements over ``cores`` cores as [start, stop), in units of ``unit`` elements.

    The first (units mod cores) cores take one unit more; the last unit may be short.
    """
    small, more = divmod(-(-total // unit), cores)
    bounds = [min((core * small + min(core, more)) * unit, total) for core in range(cores + 1)]
    return tuple((bounds[core], bounds[core + 1]) for core in range(cores))


def _tiles(elements: int) -> tuple[int, int]:
    """Number of tiles of a core's share and the elements of its last tile (0 and 0 for no elements)."""
    count = -(-elements // TILE)
    return count, elements - (count - 1) * TILE if count else 0


def tiling(case: Case, cores: int) -> Tiling:
    """Tiling of a legal case for a device of ``cores`` vector cores.

    Where var is broadcast, a second pass computes gradVar in units of 8 var elements, spread over the cores that the first pass
    uses; otherwise gradVar is written element by element beside gradInput.
    """
    forms_of(case)  # refuses a case that has no tiling
    shapes = case.shapes
    reduction = REDUCTIONS.index(str(case.attributes["reduction"]))
    eps = float32_eps(case.attributes)
    return _tiling(shapes["input"], shapes["target"], shapes["var"], reduction, eps, cores)


@lru_cache(maxsize=4096)
def _tiling(
    input_shape: Shape, target_shape: Shape, var_shape: Shape, reduction: int, eps: float, cores: int
) -> Tiling:
    target, var = classify_target(input_shape, target_shape), classify_var(input_shape, var_shape)
    assert isinstance(target, TargetForm)
    assert var is not None
    total, target_total, var_total = prod(input_shape), prod(target_shape), prod(var_shape)
    used = min(total, cores) or 1
    small, tail_cores = divmod(total, used)
    big = small + (1 if tail_cores else 0)
    small_tiles, small_tail = _tiles(small)
    big_tiles, big_tail = _tiles(big)
    slices = {
        "gradInput": spread(total, used),
        "gradVar": spread(var_total, used, 1 if var.mode == 0 else ALIGN),
    }
    fields: dict[str, int | float] = {
        "smallCoreDataNum": small,
        "bigCoreDataNum": big,
        "finalBigTileNum": big_tiles,
        "finalSmallTileNum": small_tiles,
        "tileDataNum": TILE,
        "smallTailDataNum": small_tail,
        "bigTailDataNum": big_tail,
        "tailBlockNum": tail_cores,
        "totalDataNum": total,
        "targetDataNum": target_total,
        "varDataNum": var_total,
        "targetBroadcastAxisSize": target.axis_size,
        "targetInnerStride": target.inner_stride,
        "targetBroadcastMode": target.mode,
        "varBroadcastMode": var.mode,
        "varReduceSize": var.reduce_size,
        "reduction": reduction,
        "eps": eps,
        "meanScale": mean_scale(total),
    }
    return Tiling(used, TILE, slices, fields)


def mean_scale(total: int) -> float:
    """float32(1) / float32(N), the factor of reduction mean as the host computes it; 0 for an empty input."""
    return float(np.float32(1) / np.float32(total)) if total else 0.0
