"""Cases of GaussianNllLossGrad built by hand, and input data given as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from gnll_cli import operators
from gnll_cli.cases.model import Case, Distribution
from gnll_cli.golden.data import ArrayData
from gnll_cli.golden.interface import TensorData
from gnll_cli.operators.interface import Operator


@pytest.fixture(scope="session")
def operator() -> Operator:
    return operators.get("gaussian_nll_loss_grad")


@pytest.fixture(scope="session")
def make_case(operator: Operator) -> Callable[..., Case]:
    def make(
        shape: tuple[int, ...] = (2, 3),
        target: str = "same",
        var: str = "same",
        reduction: str = "none",
        dtype: str = "fp32",
        eps: float = 1e-6,
        **shapes: tuple[int, ...],
    ) -> Case:
        """A case of an input shape and two forms; ``shapes`` override those of single tensors."""
        attributes = {"full": False, "eps": eps, "reduction": reduction}
        forms = {"target": operator.form("target", target, shape), "var": operator.form("var", var, shape)}
        assert forms["target"] is not None
        assert forms["var"] is not None
        every = {**operator.shapes(shape, forms, attributes), **shapes}
        data = {name: Distribution("uniform", (0.5, 2.0), "uniform(0.5, 2)") for name in operator.inputs}
        return Case("test/case", operator.name, dtype, attributes, every, dict.fromkeys(every, dtype), data, seed=1)

    return make


@pytest.fixture(scope="session")
def tensors() -> Callable[[Case, Mapping[str, Any]], dict[str, TensorData]]:
    from gnll_cli import dtypes

    def make(case: Case, arrays: Mapping[str, Any]) -> dict[str, TensorData]:
        """Arrays or lists of numbers as input data of the case: rounded to its dtype, in its shapes."""
        return {
            name: ArrayData(
                dtypes.round_to(np.asarray(values, np.float64), dtypes.get(case.dtypes[name])).reshape(
                    case.shapes[name]
                ),
                case.dtypes[name],
            )
            for name, values in arrays.items()
        }

    return make


@pytest.fixture(scope="session")
def golden_arrays(operator: Operator) -> Callable[..., dict[str, dict[str, Any]]]:
    def collect(case: Case, inputs: Mapping[str, TensorData], block: int = 1 << 16) -> dict[str, dict[str, Any]]:
        """The golden of a case as whole flat arrays: {output: {value, radius, magnitude, floor, factor}}."""
        parts: dict[str, list[Any]] = {}
        for piece in operator.golden(case, inputs, block=block):
            before = parts.setdefault(piece.output, [])
            assert piece.start == sum(len(p.value) for p in before), "blocks come in order, without gaps"
            before.append(piece)
        found: dict[str, dict[str, Any]] = {}
        for output, pieces in parts.items():
            found[output] = {
                field: np.concatenate([getattr(piece, field) for piece in pieces])
                for field in ("value", "radius", "magnitude", "floor")
            }
            assert len({piece.factor for piece in pieces}) == 1
            found[output]["factor"] = pieces[0].factor
            assert found[output]["value"].size == case.elements(output)
        return found

    return collect
