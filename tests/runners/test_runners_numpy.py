"""Backend numpy: the operator's reference on views, and references that do not keep to their contract."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gnll_cli import golden, operators, runners
from gnll_cli.cases.distributions import parse
from gnll_cli.cases.model import Case
from gnll_cli.runners.interface import Execution, RunnerOptions

OPERATOR = operators.get("gaussian_nll_loss_grad")
#: The sample of the operator's documents: results by hand from the formula.
SAMPLE = Case(
    id="sample",
    operator=OPERATOR.name,
    dtype="fp32",
    attributes={"full": True, "eps": 1e-6, "reduction": "none"},
    shapes={
        "gradOutput": (2, 3),
        "input": (2, 3),
        "target": (2, 1),
        "var": (2, 1),
        "gradInput": (2, 3),
        "gradVar": (2, 1),
    },
    dtypes=dict.fromkeys(OPERATOR.tensors, "fp32"),
    data={
        "gradOutput": parse("cycle(1, .5, -1, 2, -.5, 1.5)"),
        "input": parse("cycle(.2, -.1, 1, 1.5, 2, 2.5)"),
        "target": parse("cycle(0, 2)"),
        "var": parse("cycle(.5, 2)"),
    },
    seed=1,
)
Benchmark = Callable[..., Any]


def run(case: Case = SAMPLE, benchmark: Benchmark | None = None) -> Execution:
    operator = OPERATOR if benchmark is None else replace(OPERATOR, benchmark=benchmark)
    runner = runners.get("numpy")(RunnerOptions("numpy"))
    return runner.run(case, operator, golden.inputs(case, OPERATOR))


def test_the_sample() -> None:
    execution = run()
    assert execution.outcome == "ran"
    assert execution.diagnostics == []
    # gradOutput * (input - target) / var, row by row: var 0.5 and 2.
    expected = [[1 * 0.2 / 0.5, 0.5 * -0.1 / 0.5, -1 * 1 / 0.5], [2 * -0.5 / 2, 0.0, 1.5 * 0.5 / 2]]
    np.testing.assert_allclose(execution.outputs["gradInput"], expected, rtol=1e-6)
    # gradOutput / 2 * (1/var - d^2/var^2), summed along the row.
    first = 0.5 * (1 * (2 - 0.16) + 0.5 * (2 - 0.04) - 1 * (2 - 4))
    second = 0.5 * (2 * (0.5 - 0.0625) - 0.5 * 0.5 + 1.5 * (0.5 - 0.0625))
    np.testing.assert_allclose(execution.outputs["gradVar"], [[first], [second]], rtol=1e-6)


@pytest.mark.parametrize("layout", ["transposed", "sliced", "offset"])
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
def test_a_layout_makes_no_difference(layout: str, dtype: str) -> None:
    case = replace(SAMPLE, dtype=dtype, dtypes=dict.fromkeys(OPERATOR.tensors, dtype))
    strided = run(replace(case, layout=dict.fromkeys(OPERATOR.inputs, layout)))
    plain = run(case)
    assert strided.outcome == "ran"
    for name in OPERATOR.outputs:
        assert strided.outputs[name].tobytes() == plain.outputs[name].tobytes()


def test_refusals_are_skipped_with_the_reason() -> None:
    runner = runners.get("numpy")(RunnerOptions("numpy"))
    assert runner.skip(replace(SAMPLE, reject="eps_zero"), OPERATOR) == "the numpy backend does not exercise refusals"
    assert runner.skip(SAMPLE, OPERATOR) is None


def right(case: Case, arrays: Any) -> dict[str, Any]:
    return OPERATOR.benchmark(case, arrays)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda r: {**r, "gradVar": r["gradVar"].reshape(-1)},
            "gradVar is float32 of shape [2], not float32 of shape [2, 1]",
        ),
        (
            lambda r: {**r, "gradInput": r["gradInput"].astype(np.float64)},
            "gradInput is float64 of shape [2, 3], not float32",
        ),
        (lambda r: {"gradInput": r["gradInput"]}, "returned ['gradInput'], not ['gradInput', 'gradVar']"),
        (lambda r: {**r, "extra": r["gradVar"]}, "returned ['extra', 'gradInput', 'gradVar']"),
        (lambda r: {**r, "gradVar": 1.5}, "gradVar is float, not an array"),
        (lambda r: None, "returned NoneType, not a mapping"),
    ],
)
def test_results_of_the_wrong_form(change: Callable[[Any], Any], said: str) -> None:
    execution = run(benchmark=lambda case, arrays: change(right(case, arrays)))
    assert execution.outcome == "failed"
    assert said in execution.reason
    assert execution.outputs == {}


def test_an_exception_is_an_error_with_its_place() -> None:
    def broken(case: Case, arrays: Any) -> Any:
        raise ZeroDivisionError("by nothing")

    execution = run(benchmark=broken)
    assert execution.outcome == "error"
    assert "ZeroDivisionError: by nothing at " in execution.reason
    assert "test_runners_numpy.py:" in execution.reason


def test_a_reference_that_writes_to_its_inputs() -> None:
    def rude(case: Case, arrays: Any) -> Any:
        results = right(case, arrays)
        arrays["var"][1, 0] = 7
        return results

    execution = run(benchmark=rude)
    assert execution.outcome == "ran"
    (finding,) = execution.diagnostics
    assert finding["message"] == "the run changed its input var: 1 element, the first at [1, 0]"
    # The data of the case itself are as they were: the golden is computed from them.
    assert golden.inputs(SAMPLE, OPERATOR)["var"].array()[1, 0] == 2


def test_nan_bits_survive() -> None:
    """What is judged is what was written, bit for bit: the fill of an element that nobody wrote, above all."""
    fill = np.full((2, 3), 0x7FA5A5A5, np.uint32).view(np.float32)
    execution = run(benchmark=lambda case, arrays: {**right(case, arrays), "gradInput": fill})
    assert execution.outputs["gradInput"].tobytes() == fill.tobytes()


def test_the_environment_names_versions() -> None:
    assert runners.get("numpy").environment(RunnerOptions("numpy"))["numpy"] == np.__version__
