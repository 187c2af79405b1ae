"""The golden against independent oracles: automatic differentiation in float64, PyTorch where it is, finite differences."""

from __future__ import annotations

import numpy as np
import pytest

FORMS = [
    ("same", "same"),
    ("axis:1", "last_dim_one"),
    ("axis:-1", "missing_last_dim"),
    ("axis:0", "scalar"),
]
SHAPE = (4, 5, 6)


def arrays_of(case, rng, var_low=0.5):
    sizes = {name: case.shapes[name] for name in ("gradOutput", "input", "target", "var")}
    arrays = {name: rng.normal(0, 1, shape).astype(np.float32).astype(np.float64) for name, shape in sizes.items()}
    arrays["var"] = rng.uniform(var_low, 2, sizes["var"]).astype(np.float32).astype(np.float64)
    return arrays


def aligned(var, case):
    """var in a shape that broadcasts to input."""
    return var.reshape((*case.shapes["input"][:-1], 1)) if case.shapes["var"] == case.shapes["input"][:-1] else var


def loss(anp, x, var, target, go, clamp, case):
    """The forward loss, weighted by gradOutput; ``clamp`` = max(var, eps) - var is a constant: the clamp is transparent."""
    v = aligned(var + clamp, case)
    each = 0.5 * (anp.log(v) + (x - target) ** 2 / v)
    total = anp.sum(each * go)
    return total / x.size if case.attributes["reduction"] == "mean" else total


@pytest.mark.parametrize(("target", "var"), FORMS)
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("eps", [1e-6, 2.0])
def test_against_automatic_differentiation(make_case, tensors, golden_arrays, target, var, reduction, eps):
    import autograd.numpy as anp
    from autograd import grad

    case = make_case(SHAPE, target, var, reduction, eps=eps)
    arrays = arrays_of(case, np.random.default_rng(len(target) + len(var)))
    found = golden_arrays(case, tensors(case, arrays))
    clamp = np.maximum(arrays["var"], float(np.float32(eps))) - arrays["var"]
    if eps == 2.0:
        assert (clamp > 0).any()
    rest = (arrays["target"], arrays["gradOutput"], clamp, case)
    by_input = grad(lambda x: loss(anp, x, arrays["var"], *rest))(arrays["input"])
    by_var = grad(lambda v: loss(anp, arrays["input"], v, *rest))(arrays["var"])
    for name, expected in (("gradInput", by_input), ("gradVar", by_var)):
        error = np.abs(found[name]["value"] - expected.ravel())
        assert (error <= 1e-13 * found[name]["magnitude"]).all()
        assert np.abs(expected).max() > 1e-4 / case.elements("input")


@pytest.mark.parametrize(("target", "var"), FORMS)
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_against_finite_differences(make_case, tensors, golden_arrays, target, var, reduction):
    case = make_case(SHAPE, target, var, reduction)
    arrays = arrays_of(case, np.random.default_rng(7))
    found = golden_arrays(case, tensors(case, arrays))
    step = 1e-5

    def numeric(name):
        slopes = []
        for k in range(arrays[name].size):
            values = []
            for sign in (1, -1):
                moved = {key: a.copy() for key, a in arrays.items()}
                moved[name].ravel()[k] += sign * step
                values.append(loss(np, moved["input"], moved["var"], moved["target"], moved["gradOutput"], 0.0, case))
            slopes.append((values[0] - values[1]) / (2 * step))
        return np.array(slopes)

    scale = max(1.0, float(np.abs(found["gradVar"]["magnitude"]).max()))
    np.testing.assert_allclose(found["gradInput"]["value"], numeric("input"), atol=1e-8 * scale)
    np.testing.assert_allclose(found["gradVar"]["value"], numeric("var"), atol=1e-8 * scale)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("var", ["same", "last_dim_one"])
@pytest.mark.parametrize("full", [False, True])
def test_against_torch(make_case, tensors, golden_arrays, reduction, var, full):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: its gaussian_nll_loss is the second oracle")
    case = make_case((6, 7), "same", var, reduction, eps=0.75)
    arrays = arrays_of(case, np.random.default_rng(11))
    found = golden_arrays(case, tensors(case, arrays))
    x = torch.tensor(arrays["input"], requires_grad=True)
    v = torch.tensor(arrays["var"], requires_grad=True)
    eps = float(np.float32(0.75))
    value = torch.nn.functional.gaussian_nll_loss(
        x, torch.tensor(arrays["target"]), v, full=full, eps=eps, reduction=reduction
    )
    value.backward(torch.tensor(arrays["gradOutput"]).reshape(value.shape))
    np.testing.assert_allclose(found["gradInput"]["value"], x.grad.numpy().ravel(), rtol=1e-12)
    np.testing.assert_allclose(found["gradVar"]["value"], v.grad.numpy().ravel(), rtol=1e-12, atol=1e-13)
