"""The golden and its radius against ball arithmetic (flint's arb): exact inputs, 500 bits, every rounding enclosed."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx

COUNT = 10_000
EPS = {"fp32": 2.0**-100, "fp16": 2.0**-20, "bf16": 1e-6}


def hard_elements(rng, dtype, count):
    """(input, target, var) as float64, not yet rounded: wide exponents, cancellation d^2 ~ v, tiny and huge, around eps.

    var below, at and above eps; subnormal inputs; inputs that differ in their last digits; exact zeros.
    """
    low, high = {"fp32": (-140, 120), "bf16": (-130, 120), "fp16": (-24, 15)}[dtype]
    var = np.ldexp(rng.uniform(1, 2, count), rng.integers(low, high, count))
    var[rng.random(count) < 0.1] = EPS[dtype]
    var[rng.random(count) < 0.05] = 0.0
    target = np.ldexp(rng.uniform(-2, 2, count), rng.integers(low, high, count))
    x = np.ldexp(rng.uniform(-2, 2, count), rng.integers(low, high, count))
    near = rng.random(count)
    v = np.maximum(var, EPS[dtype])
    # d^2 close to v: the two terms of gradVar cancel.
    cancel = near < 0.5
    target[cancel] = 0.0
    x[cancel] = (np.sqrt(v) * (1 + rng.integers(-3, 4, count) * 2.0**-11))[cancel]
    # input and target that differ in their last digits only.
    close = (near >= 0.5) & (near < 0.7)
    x[close] = (target * (1 + rng.integers(-2, 3, count) * 2.0**-9))[close]
    return x, target, var


def arb_terms(arrays, reduction, eps, total):
    """(gradInput, terms of gradVar, their magnitudes) of flat float64 lists, as balls."""
    scale = arb(1) / total if reduction == "mean" else arb(1)
    ours, terms, sizes = [], [], []
    for go, x, t, var in zip(*arrays, strict=True):
        d = arb(x) - arb(t)
        v = arb(max(var, eps))
        c = arb(go) * scale
        square = (d / v) ** 2
        ours.append(c * d / v)
        terms.append(c / 2 * (1 / v - square))
        sizes.append(abs(c) / 2 * (1 / v + square))
    return ours, terms, sizes


def check(found, exact, sizes):
    assert len(found["value"]) == len(exact)
    for value, radius, magnitude, ball, size in zip(
        found["value"].tolist(), found["radius"].tolist(), found["magnitude"].tolist(), exact, sizes, strict=True
    ):
        # arb compares as true only where every number of the balls agrees.
        assert abs(arb(value) - ball) <= arb(radius), (value, radius, ball)
        assert arb(radius) <= size * arb(2) ** -40 * arb(1.0001)
        assert abs(arb(magnitude) - size) <= size * arb(2) ** -26


SHAPES = {"same": (10, 1000), "last_dim_one": (1000, 10), "missing_last_dim": (4, 2500), "scalar": (100, 100)}


@pytest.mark.parametrize("var", list(SHAPES))
@pytest.mark.parametrize("target", ["same", "axis:0", "axis:-1"])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_radius_holds_on_hard_elements(make_case, tensors, golden_arrays, var, target, reduction):
    shape = SHAPES[var]
    seed = [list(SHAPES).index(var), ["same", "axis:0", "axis:-1"].index(target), len(reduction)]
    dtype = ["fp32", "fp16", "bf16"][sum(seed) % 3] if target == "axis:-1" else "fp32"
    rng = np.random.default_rng(seed)
    case = make_case(shape, target, var, reduction, dtype, eps=EPS[dtype])
    x, t, v = hard_elements(rng, dtype, COUNT)
    go = np.ldexp(rng.uniform(-2, 2, COUNT), rng.integers(-10, 10, COUNT))
    arrays = {"gradOutput": go, "input": x, "target": t, "var": v}
    data = tensors(case, {name: a[: int(np.prod(case.shapes[name]))] for name, a in arrays.items()})
    found = golden_arrays(case, data)
    stored = {name: np.asarray(data[name].array(), np.float64).reshape(case.shapes[name]) for name in arrays}
    if var == "missing_last_dim":
        stored["var"] = stored["var"][:, None]
    flat = [np.broadcast_to(stored[n], shape).ravel().tolist() for n in ("gradOutput", "input", "target", "var")]
    ctx.prec = 500
    eps = float(np.float32(EPS[dtype]))
    ours, terms, sizes = arb_terms(flat, reduction, eps, COUNT)
    check(found["gradInput"], ours, [abs(ball) for ball in ours])
    r = COUNT // case.elements("var")
    sums = [sum(terms[g : g + r], arb(0)) for g in range(0, COUNT, r)]
    totals = [sum(sizes[g : g + r], arb(0)) for g in range(0, COUNT, r)]
    check(found["gradVar"], sums, totals)
    floors = [sum(max(1.0, abs(go)) for go in flat[0][g : g + r]) for g in range(0, COUNT, r)]
    np.testing.assert_allclose(found["gradVar"]["floor"], floors, rtol=1e-7)
    np.testing.assert_array_equal(found["gradInput"]["floor"], np.maximum(1.0, np.abs(flat[0])))


def test_the_ends_of_float32_do_not_leave_float64(make_case, tensors, golden_arrays):
    """Every combination of the smallest and largest numbers: nothing overflows, underflows or leaves the radius."""
    largest, tiny, smallest = 2.0**128 - 2.0**104, 2.0**-149, 2.0**-126
    ends = [largest, -largest, tiny, -tiny, smallest, 0.0, 1.0]
    grid = np.array(np.meshgrid(ends, ends, ends, [largest, tiny, 0.0, smallest, 1.0])).reshape(4, -1)
    case = make_case((grid.shape[1],), eps=tiny)
    found = golden_arrays(case, tensors(case, dict(zip(("gradOutput", "input", "target", "var"), grid, strict=True))))
    ctx.prec = 1000
    ours, terms, sizes = arb_terms(grid.tolist(), "none", tiny, 1)
    check(found["gradInput"], ours, [abs(ball) for ball in ours])
    check(found["gradVar"], terms, sizes)
    # The true results are nowhere zero by underflow: d / v = 0 only where d = 0.
    assert ((found["gradInput"]["value"] == 0) == ((grid[0] == 0) | (grid[1] == grid[2]))).all()
