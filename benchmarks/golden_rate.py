"""Golden with radius and magnitude for 16M elements against a plain float32 NumPy evaluation of the formula."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.harness import Row, alternate
from gnll_cli import golden, operators
from gnll_cli.cases.model import Case, Distribution, seed_of

COUNT = 1 << 24


class Whole:
    """Input data that lies in memory, so that only the golden is measured."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self.shape, self.dtype, self.size = array.shape, "fp32", array.size

    def read(self, start: int, stop: int) -> np.ndarray:
        return self._array.reshape(-1)[start:stop]

    def array(self) -> np.ndarray:
        return self._array


def run(runs: int) -> list[Row]:
    operator = operators.get("gaussian_nll_loss_grad")
    shape = (COUNT,)
    shapes = dict.fromkeys(operator.tensors, shape)
    data = {name: Distribution("uniform", (0.5, 2.0), "uniform(0.5, 2)") for name in operator.inputs}
    case = Case(
        id="benchmark/golden",
        operator=operator.name,
        dtype="fp32",
        attributes={"full": False, "eps": 1e-6, "reduction": "none"},
        shapes=shapes,
        dtypes=dict.fromkeys(operator.tensors, "fp32"),
        data=data,
        seed=seed_of("benchmark/golden"),
    )
    arrays = {name: tensor.array() for name, tensor in golden.inputs(case, operator).items()}
    inputs = {name: Whole(array) for name, array in arrays.items()}

    def ours() -> float:
        began = time.perf_counter()
        for block in operator.golden(case, inputs):
            assert block.value.size == block.radius.size == block.magnitude.size
        return time.perf_counter() - began

    def plain() -> float:
        go, x, t, var = (arrays[name] for name in operator.inputs)
        began = time.perf_counter()
        d = x - t
        v = np.maximum(var, np.float32(1e-6))
        grad_input = go * d / v
        grad_var = go * np.float32(0.5) * (1 / v - d * d / (v * v))
        seconds = time.perf_counter() - began
        assert grad_input.dtype == grad_var.dtype == np.float32
        return seconds

    mine, theirs = alternate(runs, ours, plain)
    ratio = mine / theirs
    detail = f"{ratio:.2f}x the time ({mine * 1e3:.0f} ms, plain {theirs * 1e3:.0f} ms)"
    return [Row("golden, radius, magnitude of 16M elements", detail, "<= 3x", ratio <= 3)]
