"""Backend "numpy": the operator's same-precision reference as the operator under test.

It proves the harness, the cases and the golden on any machine; it says nothing about a kernel.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from gnll_cli.cases.model import Case
from gnll_cli.dtypes import DTYPES
from gnll_cli.golden.interface import TensorData
from gnll_cli.operators.interface import Operator
from gnll_cli.runners._worker import explain
from gnll_cli.runners.interface import Execution, Runner, RunnerOptions
from gnll_cli.runners.memory import Input, Output


class NumpyRunner(Runner):
    """Calls ``operator.benchmark`` on views in the case's layout; its results go into guarded memory."""

    name = "numpy"
    summary = "the operator's NumPy reference in the case's precision: proves the harness, not a kernel"

    @classmethod
    def environment(cls, options: RunnerOptions) -> dict[str, Any]:
        import ml_dtypes

        return {"numpy": np.__version__, "ml_dtypes": ml_dtypes.__version__}

    def skip(self, case: Case, operator: Operator) -> str | None:
        return None if case.reject is None else "the numpy backend does not exercise refusals"

    def run(self, case: Case, operator: Operator, inputs: Mapping[str, TensorData]) -> Execution:
        placed = [Input(name, data, case.layout.get(name, "contiguous")) for name, data in inputs.items()]
        began = time.perf_counter()
        try:
            results = operator.benchmark(case, {i.name: i.view for i in placed})
        except Exception as error:
            return Execution("error", reason=f"the NumPy reference of {operator.name} failed: {explain(error)}")
        execution = Execution("ran", seconds=time.perf_counter() - began)
        wrong = _mismatch(case, operator, results)
        if wrong:
            return Execution("failed", reason=wrong, seconds=execution.seconds)
        for name in operator.outputs:
            output = Output(name, case.dtypes[name], case.shapes[name])
            output.array[...] = results[name]
            execution.outputs[name] = output.array
            execution.diagnostics += output.findings()
        for placed_input in placed:
            execution.diagnostics += placed_input.findings()
        return execution


def _mismatch(case: Case, operator: Operator, results: object) -> str:
    """What is wrong with the form of the results, or nothing."""
    if not isinstance(results, Mapping):
        return f"the reference returned {type(results).__name__}, not a mapping of outputs"
    if set(results) != set(operator.outputs):
        return f"the reference returned {sorted(results)}, not {sorted(operator.outputs)}"
    for name in operator.outputs:
        result, shape, storage = results[name], case.shapes[name], DTYPES[case.dtypes[name]].storage
        if not isinstance(result, np.ndarray):
            return f"{name} is {type(result).__name__}, not an array"
        if result.shape != shape or result.dtype != storage:
            return f"{name} is {result.dtype} of shape {list(result.shape)}, not {storage} of shape {list(shape)}"
    return ""


RUNNER = NumpyRunner
