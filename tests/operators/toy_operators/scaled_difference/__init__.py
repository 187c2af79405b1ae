"""A second operator, to prove the seam: y = scale * (a - b), with b of a's shape or one element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli import dtypes
from gnll_cli.cases.model import Attribute as AttributeValue
from gnll_cli.cases.model import Case, Shape
from gnll_cli.dtypes import to_float32, to_float64
from gnll_cli.errors import nearest
from gnll_cli.golden.interface import BLOCK, GoldenBlock, TensorData
from gnll_cli.operators.interface import Alternative, Attribute, Form, Operator, Tiling

TILE = 256


def form(tensor: str, text: str, base: Shape) -> Form | None:
    if tensor != "b" or text not in ("same", "one"):
        raise ValueError(f"'{text}' is no form of {tensor}: {nearest(text, ['same', 'one'])}")
    return Form(text, text, base if text == "same" else (1,))


def shapes(base: Shape, forms: Mapping[str, Form], attributes: Mapping[str, AttributeValue]) -> dict[str, Shape]:
    return {"a": base, "b": forms["b"].shape if "b" in forms else base, "y": base}


def output_shapes(inputs: Mapping[str, Shape], attributes: Mapping[str, AttributeValue]) -> dict[str, Shape]:
    return {"y": inputs["a"]}


def refusal(case: Case) -> str | None:
    if case.null:
        return "null_pointer"
    if len(set(case.dtypes.values())) > 1 or case.dtypes["a"] not in ("fp32", "fp16"):
        return "dtype"
    if case.shapes["b"] != case.shapes["a"] and prod(case.shapes["b"]) != 1:
        return "b_shape"
    return None if case.shapes["y"] == case.shapes["a"] else "y_shape"


def labels(case: Case) -> dict[str, str]:
    return {"b": "same" if case.shapes["b"] == case.shapes["a"] else "one"}


def golden(case: Case, inputs: Mapping[str, TensorData], block: int = BLOCK) -> Iterator[GoldenBlock]:
    """One rounding of a - b and one of the product, each 2^-53; the kernel has the same two and that to the dtype."""
    scale = float(np.float32(case.attributes["scale"]))
    for start in range(0, max(1, inputs["a"].size), block):
        stop = min(start + block, inputs["a"].size)
        b = inputs["b"].read(start, stop) if labels(case)["b"] == "same" else inputs["b"].read(0, 1)
        value = (to_float64(inputs["a"].read(start, stop)) - to_float64(b)) * scale
        magnitude = np.abs(value)
        yield GoldenBlock("y", start, value, magnitude * 3 * 2.0**-53, magnitude, np.ones(stop - start), 2.0)


def benchmark(case: Case, arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    y = (to_float32(arrays["a"]) - to_float32(arrays["b"])) * np.float32(case.attributes["scale"])
    return {"y": y.astype(dtypes.DTYPES[case.dtypes["y"]].storage).reshape(case.shapes["y"])}


def tiling(case: Case, cores: int) -> Tiling:
    total = case.elements("a")
    slices = [(total * core // cores, total * (core + 1) // cores) for core in range(cores)]
    return Tiling(cores, TILE, {"y": slices}, {"total": total})


def alternatives(case: Case, inputs: Mapping[str, TensorData]) -> list[Alternative]:
    return [Alternative("other sign", -1.0)] if case.elements("a") else []


OPERATOR = Operator(
    name="scaled_difference",
    type="ScaledDifference",
    inputs=("a", "b"),
    outputs=("y",),
    attributes=(Attribute("scale", "float", 0.5),),
    dtypes=("fp32", "fp16"),
    base="a",
    data={"a": "normal(0, 1)", "b": "normal(0, 1)"},
    refusals={
        "null_pointer": (161001,),
        "dtype": (161002, 561002),
        "b_shape": (161002, 561002),
        "y_shape": (161002, 561002),
    },
    forms={"b": ("same", "one")},
    form=form,
    shapes=shapes,
    output_shapes=output_shapes,
    refusal=refusal,
    labels=labels,
    golden=golden,
    benchmark=benchmark,
    tiling=tiling,
    alternatives=alternatives,
    cores=4,
)
