"""The contract of GaussianNllLossGrad: prototype names, broadcast forms, classification and refusals.

Nothing here allocates by a shape: a case of 2^40 elements is judged as fast as one of six.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import isnan, prod

import numpy as np

from gnll_cli.cases.model import Attribute as AttributeValue
from gnll_cli.cases.model import Case, Shape
from gnll_cli.errors import nearest
from gnll_cli.operators.interface import Attribute, Form

NAME = "gaussian_nll_loss_grad"
TYPE = "GaussianNllLossGrad"
INPUTS = ("gradOutput", "input", "target", "var")
OUTPUTS = ("gradInput", "gradVar")
DTYPES = ("fp32", "fp16", "bf16")
REDUCTIONS = ("none", "sum", "mean")
ATTRIBUTES = (
    Attribute("full", "bool", False),
    Attribute("eps", "float", 1e-6),
    Attribute("reduction", "string", "mean", REDUCTIONS),
)
DATA = {
    "gradOutput": "uniform(-1, 1)",
    "input": "normal(0, 0.5)",
    "target": "normal(0, 0.5)",
    "var": "uniform(0.5, 2)",
}
TARGET_FORMS = ("same", "axis")
VAR_FORMS = ("same", "last_dim_one", "missing_last_dim", "scalar")
FORMS = {"target": TARGET_FORMS, "var": VAR_FORMS}

#: The tiling data counts elements in uint32.
MAX_ELEMENTS = 2**32 - 1

_NULL = (161001,)
_PARAMETER = (161002, 561002)
REFUSALS: Mapping[str, tuple[int, ...]] = {
    "null_pointer": _NULL,
    **dict.fromkeys(
        (
            "dynamic_dim",
            "too_many_elements",
            "dtype_unsupported",
            "dtype_mismatch",
            "output_dtype_mismatch",
            "reduction_unknown",
            "eps_nan",
            "eps_zero",
            "eps_negative",
            "target_rank",
            "target_two_axes",
            "target_not_one",
            "var_form",
            "grad_output_not_input_shape",
            "grad_output_not_scalar",
            "grad_input_shape",
            "grad_var_shape",
        ),
        _PARAMETER,
    ),
}


@dataclass(frozen=True, slots=True)
class TargetForm:
    """How target covers input: ``mode`` 0 same or 1 one axis; ``axis_size`` and ``inner_stride`` as the tiling data has them.

    Element i of the flattened input meets element (i // (axis_size * inner_stride)) * inner_stride + i % inner_stride of the
    flattened target in mode 1, and element i in mode 0.
    """

    mode: int
    axis: int
    axis_size: int
    inner_stride: int

    @property
    def label(self) -> str:
        return f"axis{self.axis}" if self.mode else "same"


@dataclass(frozen=True, slots=True)
class VarForm:
    """How var covers input: ``mode`` 0 same, 1 last dim one, 2 missing last dim, 3 scalar.

    Element i of the flattened input meets element i // ``reduce_size`` of the flattened var (reduce_size > 0).
    """

    mode: int
    reduce_size: int

    @property
    def label(self) -> str:
        return VAR_FORMS[self.mode]


def float32_eps(attributes: Mapping[str, AttributeValue]) -> float:
    """The attribute eps as the operator receives it: rounded to float32 (beyond the largest float32 it is Inf)."""
    return _float32(float(attributes["eps"]))


@lru_cache(maxsize=256)
def _float32(value: float) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(value))


@lru_cache(maxsize=4096)
def classify_target(input_shape: Shape, target_shape: Shape) -> TargetForm | str:
    """The broadcast form of target by the table of the contract, or the name of the refusal where it has none."""
    if target_shape == input_shape:
        return TargetForm(0, -1, 1, 1)
    if len(target_shape) != len(input_shape):
        return "target_rank"
    differing = [k for k, (i, t) in enumerate(zip(input_shape, target_shape, strict=True)) if i != t]
    if len(differing) > 1:
        return "target_two_axes"
    axis = differing[0]
    if target_shape[axis] != 1:
        return "target_not_one"
    return TargetForm(1, axis, input_shape[axis], prod(input_shape[axis + 1 :]))


@lru_cache(maxsize=4096)
def classify_var(input_shape: Shape, var_shape: Shape) -> VarForm | None:
    """The broadcast form of var by the table of the contract, or None where it has none.

    Input's own shape comes first, then one element (scalar), then the two forms without a last dimension.
    """
    if var_shape == input_shape:
        return VarForm(0, 1)
    if prod(var_shape) == 1:
        return VarForm(3, prod(input_shape))
    if not input_shape:
        return None
    if var_shape == (*input_shape[:-1], 1):
        return VarForm(1, input_shape[-1])
    if var_shape == input_shape[:-1]:
        return VarForm(2, input_shape[-1])
    return None


def form(tensor: str, text: str, base: Shape) -> Form | None:
    """The shape of ``tensor`` in the form ``text`` for an input of shape ``base``; None where that form cannot exist.

    ``ValueError`` with a suggestion where the text is no form of the tensor.
    """
    if tensor == "target":
        return _target_form(text, base)
    if tensor == "var":
        return _var_form(text, base)
    raise ValueError(f"{tensor} has no broadcast forms; {nearest(tensor, list(FORMS))}")


def _target_form(text: str, base: Shape) -> Form | None:
    if text == "same":
        return Form(text, "same", base)
    word, _, number = text.partition(":")
    if word != "axis" or not number.strip().lstrip("+-").isdecimal():
        close = nearest(word, list(TARGET_FORMS))
        raise ValueError(f"'{text}' is no form of target ({close}); write same, or axis:K such as axis:0 or axis:-1")
    axis = int(number)
    if not -len(base) <= axis < len(base):
        return None
    axis %= len(base)
    return Form(text, f"axis{axis}", (*base[:axis], 1, *base[axis + 1 :]))


def _var_form(text: str, base: Shape) -> Form | None:
    if text == "same":
        return Form(text, text, base)
    if text == "scalar":
        return Form(text, text, (1,))
    if text not in VAR_FORMS:
        raise ValueError(f"'{text}' is no form of var: {nearest(text, list(VAR_FORMS))}")
    if not base:
        return None
    return Form(text, text, (*base[:-1], 1) if text == "last_dim_one" else base[:-1])


def shapes(base: Shape, forms: Mapping[str, Form], attributes: Mapping[str, AttributeValue]) -> dict[str, Shape]:
    """The shape of every tensor for an input of shape ``base``; a tensor without a form has input's shape."""
    inputs = {
        "gradOutput": base if attributes["reduction"] == "none" else (1,),
        "input": base,
        "target": forms["target"].shape if "target" in forms else base,
        "var": forms["var"].shape if "var" in forms else base,
    }
    return {**inputs, **output_shapes(inputs, attributes)}


def output_shapes(inputs: Mapping[str, Shape], attributes: Mapping[str, AttributeValue]) -> dict[str, Shape]:
    """gradInput has the shape of input, gradVar that of var, whatever the reduction."""
    return {"gradInput": inputs["input"], "gradVar": inputs["var"]}


def refusal(case: Case) -> str | None:
    """The refusal that the contract demands of a case, by name, or None where the case is legal.

    A case with several faults is named after the first in this order: null pointers; then what makes shapes meaningless
    (dynamic_dim, too_many_elements); dtypes (an unsupported input, inputs that differ from ``input``, outputs that differ from it);
    attributes (reduction_unknown, eps_nan, eps_zero, eps_negative: of eps as float32, so 1e-60 is zero); target; var; gradOutput; outputs'
    shapes. So a case that changes one thing of a legal case has one name.
    """
    if case.null:
        return "null_pointer"
    shapes = case.shapes
    if any(dim < 0 for shape in shapes.values() for dim in shape):
        return "dynamic_dim"
    if any(prod(shapes[tensor]) > MAX_ELEMENTS for tensor in ("input", "target", "var")):
        return "too_many_elements"
    return _dtype_refusal(case.dtypes) or _attribute_refusal(case.attributes) or _shape_refusal(case)


def _dtype_refusal(dtypes: Mapping[str, str]) -> str | None:
    inputs = [dtypes[tensor] for tensor in INPUTS]
    if any(dtype not in DTYPES for dtype in inputs):
        return "dtype_unsupported"
    if any(dtype != dtypes["input"] for dtype in inputs):
        return "dtype_mismatch"
    if any(dtypes[tensor] != dtypes["input"] for tensor in OUTPUTS):
        return "output_dtype_mismatch"
    return None


def _attribute_refusal(attributes: Mapping[str, AttributeValue]) -> str | None:
    if attributes["reduction"] not in REDUCTIONS:
        return "reduction_unknown"
    eps = float32_eps(attributes)
    if isnan(eps):
        return "eps_nan"
    if eps == 0:
        return "eps_zero"
    if eps < 0:
        return "eps_negative"
    return None


def _shape_refusal(case: Case) -> str | None:
    shapes = case.shapes
    target = classify_target(shapes["input"], shapes["target"])
    if isinstance(target, str):
        return target
    if classify_var(shapes["input"], shapes["var"]) is None:
        return "var_form"
    if case.attributes["reduction"] == "none":
        if shapes["gradOutput"] != shapes["input"]:
            return "grad_output_not_input_shape"
    elif prod(shapes["gradOutput"]) != 1:
        return "grad_output_not_scalar"
    if shapes["gradInput"] != shapes["input"]:
        return "grad_input_shape"
    if shapes["gradVar"] != shapes["var"]:
        return "grad_var_shape"
    return None


def labels(case: Case) -> dict[str, str]:
    """Labels for ids and summaries, from the shapes alone: ``{"target": "axis1", "var": "scalar"}``; ``illegal`` where no form fits."""
    target = classify_target(case.shapes["input"], case.shapes["target"])
    var = classify_var(case.shapes["input"], case.shapes["var"])
    return {
        "target": target.label if isinstance(target, TargetForm) else "illegal",
        "var": var.label if var else "illegal",
    }


def forms_of(case: Case) -> tuple[TargetForm, VarForm]:
    """Both forms of a legal case; ``ValueError`` for one that must be refused for its shapes."""
    target = classify_target(case.shapes["input"], case.shapes["target"])
    var = classify_var(case.shapes["input"], case.shapes["var"])
    if isinstance(target, str) or var is None:
        raise ValueError(f"{case.id}: {target if isinstance(target, str) else 'var_form'}: the case has no result")
    return target, var
