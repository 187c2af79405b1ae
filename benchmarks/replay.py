"""A float32 replay of the operator's usual algorithm, with the faults that profile ``bound`` has to catch.

The replay is written from the contract (docs/bound.md) and shares no arithmetic and no broadcasting with the golden or the benchmark:
it broadcasts by NumPy's own rules, computes in float32, one IEEE rounding per operation, and sums in an order by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli import dtypes
from gnll_cli.cases.model import Case

Array = npt.NDArray[Any]

LANES = 64
REPEATS = 64
TILE = LANES * REPEATS

ORDERS = ("tile", "pairwise", "lanes", "sequential")
GRAD_INPUT = ("quotient_first", "product_first", "reciprocal", "scale_last")
GRAD_VAR = (
    "squares",
    "square_of_quotient",
    "reciprocal",
    "common_denominator",
    "from_grad_input",
    "separate",
    "scale_last",
)


@dataclass(frozen=True)
class Recipe:
    """How the replay computes: arrangements and order by name, and the knobs that faults turn.

    ``division`` "nearest" or "one_ulp" (every quotient goes to the farther of its two float32 neighbours: the worst that a division of
    1 ULP may do). ``count`` is what the mean is taken over; ``clamp`` "max", "missing" or "stops" (no gradient below eps); ``spoil`` changes the terms
    of gradVar [groups, r] before they are summed; ``blank`` sets elements of the finished flat outputs to zero.
    """

    grad_input: str = "quotient_first"
    grad_var: str = "squares"
    order: str = "tile"
    half: float = 0.5
    count: str = "input"
    clamp: str = "max"
    swapped: bool = False
    target_wrong_axis: bool = False
    first_grad_output: bool = False
    square_var: bool = True
    rounding: str = "nearest"
    division: str = "nearest"
    accumulator: str = "fp32"
    in_storage: bool = False
    spoil: Callable[[Array, int], Array] | None = None
    blank: Callable[[Case, dict[str, Array]], None] | None = None


@dataclass(frozen=True)
class Result:
    """``outputs`` in storage dtype and shape; ``wide`` the flat float32 values before the rounding to the output dtype."""

    outputs: dict[str, Array]
    wide: dict[str, Array] = field(default_factory=dict)


def _padded(x: Array, width: int) -> Array:
    """``x`` [groups, n] with zeros up to ``width`` columns (adding zero is exact)."""
    if x.shape[1] == width:
        return x
    wide = np.zeros((x.shape[0], width), x.dtype)
    wide[:, : x.shape[1]] = x
    return wide


def _tree(x: Array) -> Array:
    """Binary tree over the last axis, a power of two: neighbours first."""
    while x.shape[-1] > 1:
        x = x[..., 0::2] + x[..., 1::2]
    return x[..., 0]


def _in_turn(x: Array, axis: int) -> Array:
    """One after the other along an axis (accumulate keeps every partial sum, so it cannot reorder)."""
    return np.add.accumulate(x, axis=axis).take(-1, axis=axis)


def sum_rows(x: Array, order: str) -> Array:
    """The sum of each row of ``x`` [groups, r > 0], one rounding of x's dtype per addition.

    "tile": tree inside 64 lanes, repeat after repeat inside a tile of 4,096, tile after tile; "pairwise": one tree; "lanes": 64 running
    sums over the whole row, then a tree; "sequential": element after element.
    """
    groups, r = x.shape
    if order == "sequential":
        return _in_turn(x, 1)
    if order == "pairwise" or r <= LANES:
        return _tree(_padded(x, 1 << (r - 1).bit_length()))
    repeats = -(-r // LANES)
    if order == "lanes":
        return _tree(_in_turn(_padded(x, repeats * LANES).reshape(groups, repeats, LANES), 1))
    if order != "tile":
        raise ValueError(f"no order '{order}'; there are {', '.join(ORDERS)}")
    per_tile = min(repeats, REPEATS)
    tiles = -(-repeats // per_tile)
    lanes = _padded(x, tiles * per_tile * LANES).reshape(groups, tiles, per_tile, LANES)
    return _in_turn(_in_turn(_tree(lanes), 2), 1)


Divide = Callable[[Array, Array], Array]


def divide_nearest(a: Array, b: Array) -> Array:
    return a / b


def divide_one_ulp(a: Array, b: Array) -> Array:
    """float32 quotients rounded to the farther neighbour: the error is between half a ULP and one ULP."""
    y = a / b
    excess = a.astype(np.float64) / b.astype(np.float64) - y
    # An exact quotient stays (a division of 1 ULP may be exact), and so does what overflowed.
    keep = (excess == 0) | ~np.isfinite(y)
    return np.where(keep, y, np.nextafter(y, np.where(excess > 0, np.float32(np.inf), np.float32(-np.inf))))


def _grad_input(name: str, c: Array, d: Array, v: Array, go: Array, scale: Array, divide: Divide) -> Array:
    """gradInput by arrangement; ``c`` is gradOutput with 1/N, ``go`` without, ``scale`` 1/N."""
    if name == "quotient_first":
        return divide(d, v) * c
    if name == "product_first":
        return divide(c * d, v)
    if name == "reciprocal":
        return d * divide(v.dtype.type(1), v) * c
    if name == "scale_last":
        return divide(go * d, v) * scale
    raise ValueError(f"no arrangement '{name}'; there are {', '.join(GRAD_INPUT)}")


def _terms(name: str, c: Array, d: Array, v: Array, v2: Array, half: Array, divide: Divide) -> Array:
    """The terms of gradVar by arrangement; ``v2`` is v * v. "scale_last" is "squares" with ``c`` free of 1/N."""
    one = v.dtype.type(1)
    if name in ("squares", "scale_last"):
        return (divide(one, v) - divide(d * d, v2)) * c * half
    if name == "square_of_quotient":
        q = divide(d, v)
        return (divide(one, v) - q * q) * (c * half)
    if name == "reciprocal":
        inverse = divide(one, v)
        q = d * inverse
        return (inverse - q * q) * c * half
    if name == "common_denominator":
        return divide(v - d * d, v2) * c * half
    if name == "from_grad_input":
        return (divide(c, v) - divide(c * d, v) * divide(d, v)) * half
    if name == "separate":
        k = c * half
        return divide(k, v) - divide(d * d * k, v2)
    raise ValueError(f"no arrangement '{name}'; there are {', '.join(GRAD_VAR)}")


def _toward_zero(x: Array, storage: np.dtype[Any]) -> Array:
    """float32 to storage by cutting the excess bits off."""
    if storage == np.float16:
        y = x.astype(np.float16)
        return np.where(np.abs(y.astype(np.float32)) > np.abs(x), np.nextafter(y, np.float16(0)), y)
    if storage.itemsize == 2:
        return (x.view(np.uint32) >> np.uint32(16)).astype(np.uint16).view(storage)
    return x


def replay(case: Case, arrays: Mapping[str, Array], recipe: Recipe) -> Result:
    """Both outputs of a legal, non-empty case from its inputs (storage arrays in their shapes)."""
    shape, n, groups = case.shapes["input"], case.elements("input"), case.elements("var")
    r = n // groups
    storage = dtypes.get(case.dtype).storage
    work = storage if recipe.in_storage else np.dtype(np.float32)
    reduction = case.attributes["reduction"]

    with np.errstate(all="ignore"):
        go, x, target, var = (arrays[name].astype(work) for name in ("gradOutput", "input", "target", "var"))
        if recipe.target_wrong_axis:
            target = np.swapaxes(target, -1, -2)
        if case.shapes["var"] != shape and len(case.shapes["var"]) == len(shape) - 1 and groups > 1:
            var = var[..., None]
        elif groups == 1:
            var = var.reshape(())
        if reduction != "none" or recipe.first_grad_output:
            go = go.reshape(-1)[0]
        count = {"input": n, "input_plus_one": n + 1, "var": groups}[recipe.count]
        scale = work.type(1) / work.type(count) if reduction == "mean" else work.type(1)
        c = go * scale
        eps = work.type(np.float32(case.attributes["eps"]))
        v = var if recipe.clamp == "missing" else np.maximum(var, eps)
        d = target - x if recipe.swapped else x - target
        v2 = v * v if recipe.square_var else v
        divide = {"nearest": divide_nearest, "one_ulp": divide_one_ulp}[recipe.division]
        late = recipe.grad_var == "scale_last"

        grad_input = _grad_input(recipe.grad_input, c, d, v, go, scale, divide).reshape(-1)
        terms = _terms(recipe.grad_var, go if late else c, d, v, v2, work.type(recipe.half), divide)
        if recipe.clamp == "stops":
            terms = np.where(np.broadcast_to(var, shape) < eps, work.type(0), terms)
        terms = terms.reshape(groups, r)
        if recipe.spoil is not None:
            terms = recipe.spoil(terms, case.seed)
        accumulator = dtypes.get(recipe.accumulator).storage
        if not recipe.in_storage and accumulator != np.float32:
            terms = terms.astype(accumulator)
        grad_var = sum_rows(terms, recipe.order)
        if late:
            grad_var = grad_var * scale

        wide = {"gradInput": grad_input.astype(np.float32), "gradVar": grad_var.astype(np.float32)}
        if recipe.rounding == "nearest":
            outputs = {name: y.astype(storage) for name, y in wide.items()}
        else:
            outputs = {name: _toward_zero(y, storage) for name, y in wide.items()}
    if recipe.blank is not None:
        recipe.blank(case, outputs)
    return Result({name: y.reshape(case.shapes[name]) for name, y in outputs.items()}, wide)


def _one_term(terms: Array, seed: int, weight: float) -> Array:
    """One term of every group of up to 4,096 (and of every 4,096 of a longer one) weighted anew, at a place drawn from the seed."""
    spoilt = terms.copy()
    for start in range(0, terms.shape[1], TILE):
        length = min(TILE, terms.shape[1] - start)
        places = np.random.Generator(np.random.Philox(seed + start)).integers(0, length, terms.shape[0])
        spoilt[np.arange(terms.shape[0]), start + places] *= terms.dtype.type(weight)
    return spoilt


def _without(start: float, stop: float) -> Callable[[Array, int], Array]:
    """Terms from ``start`` to ``stop`` (shares of the group) left out of every sum."""

    def spoil(terms: Array, _seed: int) -> Array:
        spoilt = terms.copy()
        spoilt[:, int(terms.shape[1] * start) : int(terms.shape[1] * stop)] = 0
        return spoilt

    return spoil


def _last_tile(terms: Array) -> int:
    return (terms.shape[1] - 1) // TILE * TILE


def _last_tile_lost(terms: Array, _seed: int) -> Array:
    return terms[:, : _last_tile(terms)]


def _last_tile_only(terms: Array, _seed: int) -> Array:
    return terms[:, _last_tile(terms) :]


def _core_blank(case: Case, outputs: dict[str, Array]) -> None:
    """The share of one of 48 cores in the middle left at zero, in both outputs."""
    for y in outputs.values():
        y[y.size * 24 // 48 : max(y.size * 25 // 48, y.size * 24 // 48 + 1)] = 0


def _group_blank(case: Case, outputs: dict[str, Array]) -> None:
    y = outputs["gradVar"]
    y[y.size // 2] = 0


@dataclass(frozen=True)
class Fault:
    """A fault by name: what it is, the recipe that has it, and the cases that can show it.

    ``dtypes`` it exists for; ``reductions`` that show it; ``reduced`` True: only where var is broadcast, False: only where it is not,
    None: both. ``elements`` is the least number of elements summed that shows it. ``eps`` is an eps that lies among the values of
    var; ``square`` asks for a square shape and a target broadcast along one axis.
    """

    summary: str
    recipe: Recipe
    dtypes: tuple[str, ...] = ("fp32", "fp16", "bf16")
    reductions: tuple[str, ...] = ("none", "sum", "mean")
    reduced: bool | None = None
    elements: int = 2
    eps: float = 1e-6
    square: bool = False


_GOOD = Recipe()
_HALVES = ("fp16", "bf16")

FAULTS: dict[str, Fault] = {
    "missing_half": Fault("the factor 0.5 of gradVar missing", replace(_GOOD, half=1.0)),
    "mean_over_n_plus_1": Fault(
        "mean over N + 1 in place of N", replace(_GOOD, count="input_plus_one"), reductions=("mean",)
    ),
    "mean_over_var": Fault("mean over var's elements", replace(_GOOD, count="var"), reductions=("mean",), reduced=True),
    "truncation": Fault("output rounded toward zero", replace(_GOOD, rounding="zero"), dtypes=_HALVES),
    "sum_in_half": Fault("group summed in half", replace(_GOOD, accumulator="fp16"), reduced=True, elements=64),
    "sum_in_bfloat16": Fault("group summed in bfloat16", replace(_GOOD, accumulator="bf16"), reduced=True, elements=64),
    "all_in_storage": Fault("computed in the 16-bit type throughout", replace(_GOOD, in_storage=True), dtypes=_HALVES),
    "term_lost": Fault(
        "one element of 4,096 left out of the sum",
        replace(_GOOD, spoil=lambda terms, seed: _one_term(terms, seed, 0.0)),
        reduced=True,
        elements=TILE,
    ),
    "term_twice": Fault(
        "one element of 4,096 summed twice",
        replace(_GOOD, spoil=lambda terms, seed: _one_term(terms, seed, 2.0)),
        reduced=True,
        elements=TILE,
    ),
    "last_tile_lost": Fault(
        "last tile left out of the sum", replace(_GOOD, spoil=_last_tile_lost), reduced=True, elements=TILE + 64
    ),
    "last_tile_only": Fault(
        "sum restarts with every tile", replace(_GOOD, spoil=_last_tile_only), reduced=True, elements=TILE + 64
    ),
    "core_share_lost": Fault(
        "one core's 48th of every sum left out",
        replace(_GOOD, spoil=_without(24 / 48, 25 / 48)),
        reduced=True,
        elements=TILE,
    ),
    "core_blank": Fault("one core's slice of the outputs zero", replace(_GOOD, blank=_core_blank)),
    "group_blank": Fault("gradVar of one group zero", replace(_GOOD, blank=_group_blank)),
    "clamp_missing": Fault("eps not applied", replace(_GOOD, clamp="missing"), eps=1.0),
    "clamp_stops_gradient": Fault("gradVar zero where var < eps", replace(_GOOD, clamp="stops"), eps=1.0),
    "difference_swapped": Fault("d = target - input", replace(_GOOD, swapped=True)),
    "target_wrong_axis": Fault(
        "target broadcast along the other axis", replace(_GOOD, target_wrong_axis=True), square=True
    ),
    "first_grad_output": Fault(
        "gradOutput's first element for all", replace(_GOOD, first_grad_output=True), reductions=("none",)
    ),
    "var_not_squared": Fault("d^2 / v in place of d^2 / v^2", replace(_GOOD, square_var=False)),
}
