"""The seam of an operator: one record, found by its folder.

A folder ``<name>/`` whose ``__init__`` has ``OPERATOR: Operator`` is an operator. Folders are looked for in this package and
in the folders that the environment variable GNLL_OPERATOR_PATH lists (separated as PATH is).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy.typing as npt

from gnll_cli.cases.model import Attribute as AttributeValue
from gnll_cli.cases.model import Case, Shape
from gnll_cli.golden.interface import GoldenBlock, TensorData


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of the prototype: ``type`` is "bool", "float" or "string"; ``choices`` the legal strings."""

    name: str
    type: str
    default: AttributeValue
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """A broadcast form of an input as a matrix axis writes it.

    ``text`` as written (``axis:-1``), ``label`` as ids show it (``axis1``), ``shape`` of the tensor in that form.
    """

    text: str
    label: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class Tiling:
    """How the operator's own tiling spreads an output over the cores.

    ``slices[output]`` lists, core by core, the flat range [start, stop) a core writes; ``tile`` the elements of a tile;
    ``fields`` the tiling data by name, in order.
    """

    cores: int
    tile: int
    slices: Mapping[str, Sequence[tuple[int, int]]]
    fields: Mapping[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Alternative:
    """A computation whose results must not pass for a case, such as another reduction.

    Its golden is that of ``case`` with ``inputs``, or the case's own golden where they are None, times ``scale``. Alternatives that share
    one ``case`` and ``inputs`` (the same objects) are computed once.
    """

    label: str
    scale: float = 1.0
    case: Case | None = None
    inputs: Mapping[str, TensorData] | None = None


class Golden(Protocol):
    def __call__(self, case: Case, inputs: Mapping[str, TensorData], block: int = ...) -> Iterator[GoldenBlock]:
        """Golden blocks: each output's blocks come in order and cover it; outputs may interleave."""


@dataclass(frozen=True)
class Operator:
    """Everything gnll knows of one operator. Tensors are named as in its prototype, in the prototype's order."""

    name: str
    type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    dtypes: tuple[str, ...]
    #: The input whose shape is the matrix axis ``shape``.
    base: str
    #: Default distribution text per input.
    data: Mapping[str, str]
    #: Refusals by name -> ACLNN status codes that count as that refusal.
    refusals: Mapping[str, tuple[int, ...]]
    #: Inputs that may be a matrix axis -> the form words they take, for messages and for random campaigns
    #: (``axis`` there stands for a random axis).
    forms: Mapping[str, tuple[str, ...]]
    #: form(tensor, text, shape of base) -> Form, or None where the form cannot exist for that shape;
    #: ValueError with a suggestion where the text is no form of the tensor.
    form: Callable[[str, str, Shape], Form | None]
    #: shapes(shape of base, forms chosen {tensor: Form}, attributes) -> the shape of every tensor, outputs included.
    shapes: Callable[[Shape, Mapping[str, Form], Mapping[str, AttributeValue]], dict[str, Shape]]
    #: The shapes of the outputs that follow from the inputs' shapes (for single cases that do not set them).
    output_shapes: Callable[[Mapping[str, Shape], Mapping[str, AttributeValue]], dict[str, Shape]]
    #: The refusal (by name) that the contract demands of a case, or None where the case is legal.
    refusal: Callable[[Case], str | None]
    #: Labels of the case for ids and summaries, such as {"target": "axis1", "var": "scalar"}.
    labels: Callable[[Case], dict[str, str]]
    golden: Golden
    #: benchmark(case, arrays {input: storage array in its shape}) -> {output: storage array}: the operator in the case's own precision.
    benchmark: Callable[[Case, Mapping[str, npt.NDArray[Any]]], dict[str, npt.NDArray[Any]]]
    #: Tiling of a case for a number of vector cores.
    tiling: Callable[[Case, int], Tiling]
    #: Computations that must not pass for the case (each other reduction).
    alternatives: Callable[[Case, Mapping[str, TensorData]], list[Alternative]]
    #: Attributes that must make no difference.
    neutral: tuple[str, ...] = ()
    #: Vector cores of the default device.
    cores: int = 48

    @property
    def tensors(self) -> tuple[str, ...]:
        return self.inputs + self.outputs
