"""The same-precision benchmark of GaussianNllLossGrad: float32 arithmetic, rounded once, whatever the layout."""

from __future__ import annotations

import numpy as np
import pytest

from gnll_cli import dtypes

NAMES = ("gradOutput", "input", "target", "var")


def random_arrays(case, seed=0):
    rng = np.random.default_rng(seed)
    storage = dtypes.get(case.dtype).storage
    arrays = {name: rng.normal(0, 1, case.shapes[name]).astype(np.float32).astype(storage) for name in NAMES}
    arrays["var"] = rng.uniform(0.5, 2, case.shapes["var"]).astype(np.float32).astype(storage)
    return arrays


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("target", ["same", "axis:1"])
@pytest.mark.parametrize(
    ("shape", "var"),
    [
        ((3, 4, 50), "same"),
        ((3, 4, 50), "last_dim_one"),
        ((2, 3, 5000), "missing_last_dim"),
        ((2, 3, 5000), "scalar"),
        ((2, 2, 140_000), "scalar"),
    ],
)
def test_within_the_bound_of_a_correct_operator(
    make_case, tensors, golden_arrays, operator, dtype, reduction, target, shape, var
):
    case = make_case(shape, target, var, reduction, dtype)
    arrays = random_arrays(case)
    found = golden_arrays(case, tensors(case, {n: a.astype(np.float64) for n, a in arrays.items()}))
    results = operator.benchmark(case, arrays)
    for output, golden in found.items():
        assert results[output].shape == case.shapes[output]
        assert results[output].dtype == dtypes.get(dtype).storage
        actual = results[output].astype(np.float64).ravel()
        limit = golden["factor"] * 2.0**-24 * golden["magnitude"]
        low = dtypes.round_to(golden["value"] - limit, dtypes.get(dtype)).astype(np.float64)
        high = dtypes.round_to(golden["value"] + limit, dtypes.get(dtype)).astype(np.float64)
        assert ((low <= actual) & (actual <= high)).all()
        if dtype == "fp32" and output == "gradInput":
            assert (actual != golden["value"]).any(), "it is float32 arithmetic, not the golden rounded"


def test_intermediates_overflow_and_underflow_as_in_a_kernel(make_case, operator):
    case = make_case((3,), eps=1e-30)
    arrays = {
        "gradOutput": np.ones(3, np.float32),
        "input": np.array([1e25, 0, 1], np.float32),
        "target": np.zeros(3, np.float32),
        "var": np.array([1e25, 1e-30, 1e-30], np.float32),
    }
    # d = v = 1e25: d^2 / v^2 = inf / inf; v = 1e-30: v^2 = 0, so 0 / 0 and 1 / 0.
    np.testing.assert_array_equal(
        operator.benchmark(case, arrays)["gradVar"], np.array([np.nan, np.nan, -np.inf], np.float32)
    )


@pytest.mark.parametrize("target", ["same", "axis:0"])
@pytest.mark.parametrize("var", ["same", "last_dim_one"])
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("shape", [(6, 8), (700, 900)])
def test_strided_inputs_give_the_same_bits(make_case, operator, target, var, dtype, shape):
    case = make_case(shape, target, var, "none", dtype)
    arrays = random_arrays(case)
    expected = operator.benchmark(case, arrays)
    views = {}
    for name, array in arrays.items():
        wide = np.zeros((array.shape[1] * 2, array.shape[0] + 3), array.dtype)
        view = wide[::2, 3:].T
        view[...] = array
        assert 1 in array.shape or not view.flags.c_contiguous
        views[name] = view
    results = operator.benchmark(case, views)
    for output in expected:
        np.testing.assert_array_equal(results[output].view(np.uint8), expected[output].view(np.uint8))


def test_full_changes_nothing(make_case, operator):
    from dataclasses import replace

    case = make_case((5, 7), var="scalar", reduction="sum")
    arrays = random_arrays(case)
    other = replace(case, attributes={**case.attributes, "full": True})
    assert operator.neutral == ("full",)
    for output, values in operator.benchmark(case, arrays).items():
        np.testing.assert_array_equal(values, operator.benchmark(other, arrays)[output])


def test_rounded_once_from_float32(make_case, operator):
    """1 + 2^-11 + 2^-24 is above the middle between 1 and 1 + 2^-10 in half; its float32 neighbour below is the middle itself."""
    case = make_case((1,), dtype="fp16")
    half = np.float16
    arrays = {
        "gradOutput": np.array([1], half),
        "input": np.array([1 + 2.0**-10], half),
        "target": np.array([2.0**-11], half),
        "var": np.array([1], half),
    }
    # d = 1 + 2^-11 exactly in float32: the tie goes to the even 1.
    assert operator.benchmark(case, arrays)["gradInput"][0] == 1.0
