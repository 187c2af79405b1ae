"""What the golden promises beside accuracy: eps as float32, any block size, empty tensors, NaN and Inf, its constants."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from gnll_cli.operators.gaussian_nll_loss_grad.golden import depth

INF, NAN = float("inf"), float("nan")


def one(make_case, tensors, golden_arrays, go, x, t, var, eps=1e-6):
    """gradInput and gradVar of a single element."""
    case = make_case((1,), eps=eps)
    found = golden_arrays(case, tensors(case, {"gradOutput": [go], "input": [x], "target": [t], "var": [var]}))
    return found["gradInput"], found["gradVar"]


def test_eps_is_float32_not_the_double(make_case, tensors, golden_arrays):
    """var = 0, d = 0: gradVar = 0.5 / eps. float32(1e-6) is 8796093 * 2^-43, which 1e-6 misses by 2.5e-9 of itself."""
    _, grad_var = one(make_case, tensors, golden_arrays, 1.0, 0.0, 0.0, 0.0)
    exact = Fraction(1, 2) / (Fraction(8796093) / 2**43)
    assert abs(Fraction(grad_var["value"][0]) - exact) <= Fraction(grad_var["radius"][0])
    assert abs(Fraction(grad_var["value"][0]) - Fraction(500_000)) > 10**6 * Fraction(grad_var["radius"][0])


def test_the_clamp_is_transparent(make_case, tensors, golden_arrays):
    """var = 0.25 below eps = 0.5, d = 1: the formula at v = 0.5: 2 and 0.5 (2 - 4) = -1, not 0."""
    grad_input, grad_var = one(make_case, tensors, golden_arrays, 1.0, 3.0, 2.0, 0.25, eps=0.5)
    assert grad_input["value"][0] == 2.0
    assert grad_var["value"][0] == -1.0


def test_the_aclnn_sample_by_hand(make_case, tensors, golden_arrays):
    """[2, 3], target and var [2, 1], none. d = .2 -.1 1 | -.5 0 .5; v = .5 | 2 (in exact decimals)."""
    case = make_case((2, 3), "axis:-1", "last_dim_one")
    data = {
        "gradOutput": [1, 0.5, -1, 2, -0.5, 1.5],
        "input": [0.2, -0.1, 1, 1.5, 2, 2.5],
        "target": [0, 2],
        "var": [0.5, 2],
    }
    found = golden_arrays(case, tensors(case, data))
    np.testing.assert_allclose(found["gradInput"]["value"], [0.4, -0.1, -2, -0.5, 0, 0.375], atol=1e-7)
    # row 1: .5 (2 - .16) + .25 (2 - .04) - .5 (2 - 4) = .92 + .49 + 1; row 2: (.5 - .0625) - .25 (.5) + .75 (.5 - .0625)
    np.testing.assert_allclose(found["gradVar"]["value"], [2.41, 0.640625], atol=1e-7)


@pytest.mark.parametrize(
    ("go", "x", "t", "var", "grad_input", "grad_var"),
    [
        # max propagates NaN; NaN anywhere reaches both gradients
        (1, 1, 0, NAN, NAN, NAN),
        (1, NAN, 0, 1, NAN, NAN),
        (1, 1, NAN, 1, NAN, NAN),
        (NAN, 1, 0, 1, NAN, NAN),
        # an infinite difference
        (2, INF, 0, 1, INF, -INF),
        (2, -INF, 0, 1, -INF, -INF),
        (-2, 1, INF, 1, INF, INF),
        (1, INF, INF, 1, NAN, NAN),
        (0, INF, 0, 1, NAN, NAN),
        # an infinite variance: 1/v and d/v are 0
        (2, 1, 0, INF, 0, 0),
        (2, INF, 0, INF, NAN, NAN),
        # an infinite gradOutput takes the signs of d and of 1/v - d^2/v^2
        (INF, 1, 0, 2, INF, INF),
        (INF, -3, 0, 2, -INF, -INF),
        (-INF, 1, 0, 2, -INF, -INF),
        (INF, 0, 0, 2, NAN, INF),
        (INF, 1, 0, INF, NAN, NAN),
        # an infinite value that is below eps: v = eps
        (1, 0.5, 0, -INF, 0.5 / 0.5, 0.5 * (2 - 1)),
    ],
)
def test_nan_and_inf_as_the_operator_has_them(make_case, tensors, golden_arrays, go, x, t, var, grad_input, grad_var):
    eps = 0.5 if var == -INF else 1e-6
    for found, expected in zip(
        one(make_case, tensors, golden_arrays, go, x, t, var, eps), (grad_input, grad_var), strict=True
    ):
        np.testing.assert_array_equal(found["value"], [expected])
        for field in ("radius", "magnitude", "floor"):
            assert np.isfinite(found[field]).all()
            if not np.isfinite(expected):
                assert (found[field] == 0).all()


@pytest.mark.parametrize("where", [0, 5, 4095, 4096, 9000, 9999])
def test_a_compensated_sum_keeps_inf_and_nan(make_case, tensors, golden_arrays, where):
    case = make_case((10_000,), var="scalar")
    rng = np.random.default_rng(where)
    base = {"gradOutput": rng.normal(size=10_000), "input": rng.normal(size=10_000), "target": np.zeros(10_000)}
    for value, expected in ((INF, -INF), (-INF, -INF), (NAN, NAN)):
        arrays = {**{k: a.copy() for k, a in base.items()}, "var": [1.0]}
        arrays["input"][where] = value
        arrays["gradOutput"][where] = 1.0
        found = golden_arrays(case, tensors(case, arrays))["gradVar"]
        np.testing.assert_array_equal(found["value"], [expected])
        assert found["radius"][0] == found["magnitude"][0] == found["floor"][0] == 0
    arrays["input"][where] = INF
    arrays["input"][(where + 7) % 10_000] = INF
    arrays["gradOutput"][(where + 7) % 10_000] = -1.0
    found = golden_arrays(case, tensors(case, arrays))["gradVar"]
    assert np.isnan(found["value"][0]), "Inf of both signs"


def test_a_special_element_leaves_its_neighbours_alone(make_case, tensors, golden_arrays):
    rng = np.random.default_rng(3)
    case = make_case((6, 9), var="last_dim_one")
    arrays = {name: rng.uniform(0.5, 2, case.shapes[name]) for name in ("gradOutput", "input", "target", "var")}
    before = golden_arrays(case, tensors(case, arrays))
    arrays["input"][2, 4] = NAN
    after = golden_arrays(case, tensors(case, arrays))
    others = np.arange(54) != 2 * 9 + 4
    for field in ("value", "radius", "magnitude", "floor"):
        np.testing.assert_array_equal(after["gradInput"][field][others], before["gradInput"][field][others])
        rows = np.arange(6) != 2
        np.testing.assert_array_equal(after["gradVar"][field][rows], before["gradVar"][field][rows])


SHAPES = [
    ((7, 3), "axis:0"),
    ((3, 70), "axis:-1"),
    ((2, 5000), "axis:0"),
    ((3, 4, 900), "axis:1"),
    ((2, 9001), "same"),
    ((4096, 2), "axis:0"),
    ((2, 12289), "axis:-1"),
]


@pytest.mark.parametrize(("shape", "target"), SHAPES)
@pytest.mark.parametrize("var", ["same", "last_dim_one", "missing_last_dim", "scalar"])
@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_the_block_size_changes_no_bit(make_case, tensors, golden_arrays, shape, target, var, reduction):
    case = make_case(shape, target, var, reduction)
    rng = np.random.default_rng(5)
    names = ("gradOutput", "input", "target", "var")
    arrays = {name: rng.normal(0, 1, case.shapes[name]) * 10.0 ** rng.integers(-6, 6) for name in names}
    data = tensors(case, arrays)
    whole = golden_arrays(case, data, 1 << 20)
    for block in (1, 100, 4096, 5001, 8192):
        if block == 1 and case.elements("input") > 1000:
            continue
        parts = golden_arrays(case, data, block)
        for output, field in itertools.product(("gradInput", "gradVar"), ("value", "radius", "magnitude", "floor")):
            a, b = whole[output][field], parts[output][field]
            assert (a.view(np.uint64) == b.view(np.uint64)).all(), (output, field, block)


@pytest.mark.parametrize(
    ("shape", "var", "sizes"),
    [
        ((0,), "same", (0, 0)),
        ((0,), "scalar", (0, 1)),
        ((0, 3), "last_dim_one", (0, 0)),
        ((5, 0), "last_dim_one", (0, 5)),
        ((5, 0), "missing_last_dim", (0, 5)),
        ((2, 0, 3), "scalar", (0, 1)),
    ],
)
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_empty_tensors(make_case, tensors, golden_arrays, operator, shape, var, sizes, reduction):
    case = make_case(shape, var=var, reduction=reduction)
    data = tensors(case, {n: np.full(case.shapes[n], 2.0) for n in ("gradOutput", "input", "target", "var")})
    found = golden_arrays(case, data)
    results = operator.benchmark(case, {name: tensor.array() for name, tensor in data.items()})
    for output, size in zip(("gradInput", "gradVar"), sizes, strict=True):
        for field in ("value", "radius", "magnitude", "floor"):
            np.testing.assert_array_equal(found[output][field], np.zeros(size))
        np.testing.assert_array_equal(results[output], np.zeros(case.shapes[output]))
    assert operator.alternatives(case, data) == []


@pytest.mark.parametrize(
    ("r", "expected"),
    [
        (0, 0),
        (1, 0),
        (2, 1),  # one addition in the tree
        (3, 2),
        (64, 6),
        (65, 7),  # a second repeat of 64 lanes
        (4096, 6 + 63),
        (4097, 6 + 63 + 1),  # a second tile
        (2**20, 6 + 63 + 255),
    ],
)
def test_depth_of_a_tile_wise_sum(r, expected):
    assert depth(r) == expected


def test_factors_of_profile_bound(make_case, tensors, golden_arrays):
    for shape, var, factor in (((3,), "same", 12), ((3, 5), "last_dim_one", 15), ((100,), "scalar", 12 + 7)):
        case = make_case(shape, var=var)
        data = tensors(case, {n: np.ones(case.shapes[n]) for n in ("gradOutput", "input", "target", "var")})
        found = golden_arrays(case, data)
        assert found["gradInput"]["factor"] == 8
        assert found["gradVar"]["factor"] == factor


def test_alternatives_are_the_other_reductions(make_case, tensors, golden_arrays, operator):
    go = [2.0, 3.0, 5.0, 7.0, 11.0, 13.0]
    rest = {"input": [1, 2, 3, 4, 5, 6], "target": np.zeros(6), "var": np.full(6, 2.0)}
    halves = np.array([1, 2, 3, 4, 5, 6]) / 2

    def values(reduction, gradient):
        case = make_case((6,), reduction=reduction)
        own = tensors(case, {"gradOutput": gradient, **rest})
        return {
            other.label: golden_arrays(other.case or case, other.inputs or own)["gradInput"]["value"] * other.scale
            for other in operator.alternatives(case, own)
        }

    none = values("none", go)
    assert set(none) == {"sum", "mean"}
    np.testing.assert_array_equal(none["sum"], 2 * halves)
    np.testing.assert_allclose(none["mean"], 2 * halves / 6, rtol=1e-15)
    total = values("sum", [3.0])
    assert set(total) == {"mean"}
    np.testing.assert_allclose(total["mean"], 3 * halves / 6, rtol=1e-15)
    mean = values("mean", [3.0])
    assert set(mean) == {"sum"}
    np.testing.assert_array_equal(mean["sum"], 3 * halves)
    single = make_case((1,))
    assert operator.alternatives(single, tensors(single, {name: [1.0] for name in (*rest, "gradOutput")})) == []
