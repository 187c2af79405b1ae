"""The seam of an operator: a folder elsewhere, found by GNLL_OPERATOR_PATH, with no edit in the package."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gnll_cli import golden, operators
from gnll_cli.cases.model import Case, Distribution
from gnll_cli.errors import UsageError
from gnll_cli.operators.interface import Operator

TOYS = Path(__file__).parent / "toy_operators"


@pytest.fixture
def toy(monkeypatch) -> Operator:
    monkeypatch.setenv("GNLL_OPERATOR_PATH", str(TOYS))
    operators.get.cache_clear()
    yield operators.get("scaled_difference")
    operators.get.cache_clear()


def toy_case(toy: Operator, text: str = "same", dtype: str = "fp32") -> Case:
    shapes = toy.shapes((3, 5), {"b": toy.form("b", text, (3, 5))}, {"scale": 0.75})
    data = {
        "a": Distribution("integers", (-100.0, 100.0), "integers(-100, 100)"),
        "b": Distribution("cycle", (1.0, 2.0, 4.0), "cycle(1, 2, 4)"),
    }
    return Case(f"toy/{text}", toy.name, dtype, {"scale": 0.75}, shapes, dict.fromkeys(shapes, dtype), data, seed=3)


def test_it_is_found_beside_the_packages_own(toy):
    assert operators.names() == ["gaussian_nll_loss_grad", "scaled_difference"]
    assert toy.tensors == ("a", "b", "y")


@pytest.mark.parametrize("text", ["same", "one"])
@pytest.mark.parametrize("dtype", ["fp32", "fp16"])
def test_golden_folder_of_a_second_operator(toy, tmp_path, text, dtype):
    case = toy_case(toy, text, dtype)
    assert toy.refusal(case) is None
    folder = golden.write_case(case, toy, tmp_path)
    storage = np.float32 if dtype == "fp32" else np.float16
    a = np.fromfile(folder / "a.bin", storage).astype(np.float64)
    b = np.fromfile(folder / "b.bin", storage).astype(np.float64)
    assert list(b) == ([1, 2, 4] * 5 if text == "same" else [1])
    assert np.abs(a).max() > 10
    # 0.75 times an integer below 2^8 is exact in half.
    np.testing.assert_array_equal(np.fromfile(folder / "y_golden.bin", storage), 0.75 * (a - b))
    np.testing.assert_array_equal(np.fromfile(folder / "y_golden.f64.bin", np.float64), 0.75 * (a - b))
    assert json.loads((folder / "case.json").read_text())["operator"] == "scaled_difference"
    again, inputs = golden.load_folder(folder)
    assert again.shapes == case.shapes
    results = toy.benchmark(again, {name: data.array() for name, data in inputs.items()})
    np.testing.assert_array_equal(results["y"].ravel(), 0.75 * (a - b))


def test_unknown_operators_are_named_with_what_there_is(toy):
    with pytest.raises(UsageError, match="scaled_difference"):
        operators.get("scaled_diference")


def test_a_folder_without_a_record_is_told(monkeypatch, tmp_path):
    (tmp_path / "empty_one").mkdir()
    (tmp_path / "empty_one" / "__init__.py").write_text("")
    monkeypatch.setenv("GNLL_OPERATOR_PATH", str(tmp_path))
    operators.get.cache_clear()
    with pytest.raises(UsageError, match="OPERATOR record"):
        operators.get("empty_one")
    operators.get.cache_clear()


def test_a_search_path_that_is_not_there_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("GNLL_OPERATOR_PATH", str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="nowhere"):
        operators.names()
