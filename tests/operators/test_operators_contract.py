"""Forms, classification and refusals of GaussianNllLossGrad, against the tables of the contract stated naively."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnll_cli.operators.gaussian_nll_loss_grad import contract

SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


def related(shape):
    """Shapes near ``shape``: itself, with a dimension changed, dropped or added."""
    options = [shape, shape[:-1], (*shape, 1), (1,), (), (1,) * len(shape)]
    for axis in range(len(shape)):
        options += [(*shape[:axis], size, *shape[axis + 1 :]) for size in (0, 1, 2)]
    return st.one_of(st.sampled_from(options), SHAPES)


PAIRS = SHAPES.flatmap(lambda shape: st.tuples(st.just(shape), related(shape)))


@given(PAIRS)
@settings(max_examples=400, deadline=None)
def test_target_is_classified_as_the_table_says(pair):
    shape, target = pair
    form = contract.classify_target(shape, target)
    same_rank = len(shape) == len(target)
    differing = [k for k in range(len(shape)) if shape[k] != target[k]] if same_rank else []
    if target == shape:
        assert (form.mode, form.axis_size, form.inner_stride) == (0, 1, 1)
    elif same_rank and len(differing) == 1 and target[differing[0]] == 1:
        axis = differing[0]
        after = 1
        for dim in shape[axis + 1 :]:
            after *= dim
        assert (form.mode, form.axis, form.axis_size, form.inner_stride) == (1, axis, shape[axis], after)
    else:
        assert form in ("target_rank", "target_two_axes", "target_not_one")
        assert (form == "target_rank") == (not same_rank)
        assert (form == "target_two_axes") == (len(differing) > 1)


@given(PAIRS)
@settings(max_examples=400, deadline=None)
def test_var_is_classified_as_the_table_says(pair):
    shape, var = pair
    fits = []
    if var == shape:
        fits.append((0, 1))
    if len(var) == len(shape) and shape and var[-1] == 1 and var[:-1] == shape[:-1]:
        fits.append((1, shape[-1]))
    if shape and var == shape[:-1]:
        fits.append((2, shape[-1]))
    if prod(var) == 1:
        fits.append((3, prod(shape)))
    form = contract.classify_var(shape, var)
    if not fits:
        assert form is None
    elif var == shape:
        assert (form.mode, form.reduce_size) == (0, 1)
    elif prod(var) == 1:
        assert (form.mode, form.reduce_size) == (3, prod(shape))
    else:
        assert (form.mode, form.reduce_size) == fits[0]


@pytest.mark.parametrize(
    ("text", "base", "label", "shape"),
    [
        ("same", (2, 3), "same", (2, 3)),
        ("axis:0", (2, 3), "axis0", (1, 3)),
        ("axis:-1", (2, 3), "axis1", (2, 1)),
        ("axis:1", (2, 3, 4), "axis1", (2, 1, 4)),
        ("axis:0", (1, 3), "axis0", (1, 3)),
        ("axis:2", (2, 3), None, None),
        ("axis:-3", (2, 3), None, None),
        ("axis:0", (), None, None),
    ],
)
def test_target_forms(text, base, label, shape):
    form = contract.form("target", text, base)
    assert (
        (label, shape) == (None, None) if form is None else (form.text, form.label, form.shape) == (text, label, shape)
    )


@pytest.mark.parametrize(
    ("text", "base", "shape"),
    [
        ("same", (), ()),
        ("scalar", (), (1,)),
        ("scalar", (4, 5), (1,)),
        ("last_dim_one", (4, 5), (4, 1)),
        ("last_dim_one", (), None),
        ("missing_last_dim", (4, 5), (4,)),
        ("missing_last_dim", (5,), ()),
        ("missing_last_dim", (), None),
    ],
)
def test_var_forms(text, base, shape):
    form = contract.form("var", text, base)
    assert shape is None if form is None else form.shape == shape


@pytest.mark.parametrize(
    ("tensor", "text", "says"),
    [
        ("var", "last_dim", "last_dim_one"),
        ("target", "axes:1", "axis"),
        ("target", "axis:x", "axis:K"),
        ("target", "axis", "axis:K"),
        ("target", "axis:1.5", "axis:K"),
        ("input", "same", "no broadcast forms"),
    ],
)
def test_what_is_no_form_is_said_with_a_suggestion(tensor, text, says):
    with pytest.raises(ValueError, match=says):
        contract.form(tensor, text, (2, 3))


NAN = float("nan")
REFUSALS = [
    # (name, changes of a legal [2, 3] case)
    ("null_pointer", {"null": ("gradOutput",)}),
    ("null_pointer", {"null": ("input",)}),
    ("null_pointer", {"null": ("gradVar",)}),
    ("dynamic_dim", {"shapes": {"input": (2, -1)}}),
    ("dynamic_dim", {"shapes": {"var": (-1, 3)}}),
    ("too_many_elements", {"base": (2**16, 2**16)}),
    ("too_many_elements", {"base": (2**40,)}),
    ("too_many_elements", {"shapes": {"target": (2, 2**32)}}),
    ("too_many_elements", {"shapes": {"var": (2**32, 1)}}),
    ("dtype_unsupported", {"dtype": "int32"}),
    ("dtype_unsupported", {"dtype": "fp64"}),
    ("dtype_unsupported", {"dtypes": {"target": "int8"}}),
    ("dtype_mismatch", {"dtypes": {"gradOutput": "fp16"}}),
    ("dtype_mismatch", {"dtypes": {"target": "bf16"}}),
    ("dtype_mismatch", {"dtypes": {"var": "fp16"}}),
    ("output_dtype_mismatch", {"dtypes": {"gradInput": "fp16"}}),
    ("output_dtype_mismatch", {"dtypes": {"gradVar": "int32"}}),
    ("reduction_unknown", {"attributes": {"reduction": "average"}}),
    ("reduction_unknown", {"attributes": {"reduction": "None"}}),
    ("reduction_unknown", {"attributes": {"reduction": ""}}),
    ("eps_nan", {"attributes": {"eps": NAN}}),
    ("eps_zero", {"attributes": {"eps": 0.0}}),
    ("eps_zero", {"attributes": {"eps": -0.0}}),
    ("eps_zero", {"attributes": {"eps": 1e-60}}),
    ("eps_negative", {"attributes": {"eps": -1e-6}}),
    ("eps_negative", {"attributes": {"eps": float("-inf")}}),
    ("target_rank", {"shapes": {"target": (3,)}}),
    ("target_rank", {"shapes": {"target": (1, 2, 3)}}),
    ("target_two_axes", {"shapes": {"target": (1, 1)}}),
    ("target_two_axes", {"shapes": {"target": (3, 2)}}),
    ("target_not_one", {"shapes": {"target": (2, 4)}}),
    ("target_not_one", {"shapes": {"target": (0, 3)}}),
    ("var_form", {"shapes": {"var": (1, 3)}}),
    ("var_form", {"shapes": {"var": (3,)}}),
    ("var_form", {"shapes": {"var": (2, 1, 1)}}),
    ("var_form", {"shapes": {"var": (0,)}}),
    ("grad_output_not_input_shape", {"shapes": {"gradOutput": (1,)}}),
    ("grad_output_not_input_shape", {"shapes": {"gradOutput": (6,)}}),
    ("grad_output_not_scalar", {"attributes": {"reduction": "sum"}, "shapes": {"gradOutput": (2, 3)}}),
    ("grad_output_not_scalar", {"attributes": {"reduction": "mean"}, "shapes": {"gradOutput": (2,)}}),
    ("grad_output_not_scalar", {"attributes": {"reduction": "mean"}, "shapes": {"gradOutput": (0,)}}),
    ("grad_input_shape", {"shapes": {"gradInput": (3, 2)}}),
    ("grad_input_shape", {"shapes": {"gradInput": (6,)}}),
    ("grad_var_shape", {"shapes": {"gradVar": (2, 1)}}),
]


def changed(case, null=(), shapes=(), dtypes=(), attributes=()):
    shapes = dict(shapes)
    # The outputs follow their inputs, unless it is they that are changed: one fault at a time.
    if "var" in shapes:
        shapes.setdefault("gradVar", shapes["var"])
    if "input" in shapes:
        shapes.setdefault("gradInput", shapes["input"])
    return replace(
        case,
        null=tuple(null),
        shapes={**case.shapes, **shapes},
        dtypes={**case.dtypes, **dict(dtypes)},
        attributes={**case.attributes, **dict(attributes)},
    )


@pytest.mark.parametrize(("name", "change"), REFUSALS)
def test_every_refusal_by_name(make_case, operator, name, change):
    change = dict(change)
    case = make_case(change.pop("base", (2, 3)), dtype=change.pop("dtype", "fp32"))
    assert operator.refusal(changed(case, **change)) == name
    assert name in operator.refusals


def test_every_refusal_has_a_case_and_its_status(operator):
    assert {name for name, _ in REFUSALS} == set(operator.refusals)
    for name, codes in operator.refusals.items():
        assert codes == ((161001,) if name == "null_pointer" else (161002, 561002))


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("target", ["same", "axis:0", "axis:-1"])
@pytest.mark.parametrize("var", ["same", "last_dim_one", "missing_last_dim", "scalar"])
def test_every_form_is_legal(make_case, operator, dtype, reduction, target, var):
    case = make_case((4, 5, 6), target, var, reduction, dtype)
    assert operator.refusal(case) is None
    assert operator.labels(case) == {"target": target.replace(":", "").replace("-1", "2"), "var": var}
    assert case.shapes["gradInput"] == (4, 5, 6)
    assert case.shapes["gradVar"] == case.shapes["var"]


@pytest.mark.parametrize("shape", [(1,), (), (1, 1, 1)])
def test_one_element_grad_output_of_any_rank_is_legal(make_case, operator, shape):
    assert operator.refusal(make_case((2, 3), reduction="sum", gradOutput=shape)) is None


def test_largest_legal_size(make_case, operator):
    assert operator.refusal(make_case((2**32 - 1,))) is None


def test_one_element_var_is_scalar_unless_it_has_the_shape_of_input(make_case, operator):
    assert operator.labels(make_case((1, 5), var="last_dim_one"))["var"] == "scalar"
    assert operator.labels(make_case((5,), var="missing_last_dim"))["var"] == "scalar"
    assert operator.labels(make_case((1, 1), var="last_dim_one"))["var"] == "same"
    assert operator.labels(make_case((), var="scalar"))["var"] == "scalar"


def test_labels_of_an_illegal_case_do_not_fail(make_case, operator):
    case = changed(make_case(), shapes={"target": (3,), "var": (7,)})
    assert operator.labels(case) == {"target": "illegal", "var": "illegal"}
