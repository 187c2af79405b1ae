"""The matrix against a naive reading of the contract's table of forms: which cases there are, and their ids."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnll_cli import cases
from gnll_cli.cases.suite import Suite
from gnll_cli.errors import CaseFileError

HEAD = "operator: gaussian_nll_loss_grad\n"
DTYPES = ["fp32", "fp16", "bf16"]
TARGETS = ["same", "axis:0", "axis:1", "axis:2", "axis:-1", "axis:-2"]
VARS = ["same", "last_dim_one", "missing_last_dim", "scalar"]


def test_the_order_ids_and_counts_of_a_small_matrix(load) -> None:
    suite = load(
        HEAD
        + """\
tier: smoke
attributes: {eps: 1e-3}
matrix:
  dtype: [fp32, fp16]
  reduction: [none, mean]
  shape: [[2, 3], []]
  target: [same, "axis:-1"]
  var: scalar
"""
    )
    assert [case.id for case in suite] == [
        "x/fp32-none-2x3-target_same-var_scalar-eps_0.001",
        "x/fp32-none-2x3-target_axis1-var_scalar-eps_0.001",
        "x/fp32-none-scalar-target_same-var_scalar-eps_0.001",
        "x/fp32-mean-2x3-target_same-var_scalar-eps_0.001",
        "x/fp32-mean-2x3-target_axis1-var_scalar-eps_0.001",
        "x/fp32-mean-scalar-target_same-var_scalar-eps_0.001",
        "x/fp16-none-2x3-target_same-var_scalar-eps_0.001",
        "x/fp16-none-2x3-target_axis1-var_scalar-eps_0.001",
        "x/fp16-none-scalar-target_same-var_scalar-eps_0.001",
        "x/fp16-mean-2x3-target_same-var_scalar-eps_0.001",
        "x/fp16-mean-2x3-target_axis1-var_scalar-eps_0.001",
        "x/fp16-mean-scalar-target_same-var_scalar-eps_0.001",
    ]
    # A scalar has no last axis: one combination in each dtype and reduction.
    assert suite.dropped == {"impossible": 4}
    case = list(suite)[4]
    assert case.shapes == {
        "gradOutput": (1,),
        "input": (2, 3),
        "target": (2, 1),
        "var": (1,),
        "gradInput": (2, 3),
        "gradVar": (1,),
    }
    assert case.attributes == {"full": False, "eps": 1e-3, "reduction": "mean"}
    assert case.axes == {
        "file": "x",
        "dtype": "fp32",
        "reduction": "mean",
        "target": "axis1",
        "var": "scalar",
        "rank": "2",
    }
    assert case.source.endswith("x.yaml:4:1")


def test_further_tokens_of_ids(load) -> None:
    suite = load(
        HEAD
        + """\
matrix:
  dtype: fp32
  shape: [5, 0]
  eps: [1e-6, 1e25, 0.5]
  full: true
  layout: [contiguous, sliced, {var: offset, input: transposed}]
  data: [{name: plain}, {var: "constant(1e-3)"}]
"""
    )
    ids = [case.id for case in suite]
    assert ids[0] == "x/fp32-mean-5x0-target_same-var_same-full_true-eps_1e-06-layout_contiguous-plain"
    assert ids[-1] == (
        "x/fp32-mean-5x0-target_same-var_same-full_true-eps_0.5-layout_input.transposed+var.offset-var_constant_0.001"
    )
    assert any("-eps_1e+25-" in name for name in ids)
    assert len(set(ids)) == 18


def test_several_shapes_of_one_form_have_ids_of_their_own(load) -> None:
    """A one-element var counts as scalar whatever its rank; [1] and [] are two cases, and the ids say which."""
    suite = load(HEAD + "matrix: {dtype: fp32, shape: [7], var: [same, last_dim_one, missing_last_dim, scalar]}\n")
    assert {case.id: case.shapes["var"] for case in suite} == {
        "x/fp32-mean-7-target_same-var_same": (7,),
        "x/fp32-mean-7-target_same-var_scalar": (1,),
        "x/fp32-mean-7-target_same-var_missing_last_dim": (),
    }
    assert suite.dropped == {"same": 1}


def test_numbers_in_any_writing_give_the_same_ids(load) -> None:
    texts = ["1e-6", "1.0e-6", "0.000001", "1E-06", ".000001", "+1e-6"]
    ids = set()
    for text in texts:
        suite = load(HEAD + f"matrix: {{dtype: fp32, shape: [2], eps: [{text}, 0.25]}}\n")
        ids.add(tuple(case.id for case in suite))
    assert len(ids) == 1


def test_include_takes_the_first_value_of_an_axis_and_the_form_same(load) -> None:
    suite = load(
        HEAD
        + """\
data: {var: "uniform(1, 2)"}
matrix:
  dtype: [bf16, fp32]
  reduction: [sum, mean]
  shape: [[2, 3]]
  target: ["axis:0"]
  eps: [0.5, 0.25]
include:
  - {var: scalar, tier: nightly, trivial: "why not", profile: [ut, bound], advisory: true}
  - {dtype: fp16, reduction: none, shape: [4], eps: 2, layout: offset, data: {name: own, var: "constant(3)"}}
"""
    )
    first, second = list(suite)[-2:]
    assert first.id == "x/bf16-sum-2x3-target_same-var_scalar-eps_0.5"
    assert (first.tier, first.trivial, first.profile, first.advisory) == ("nightly", "why not", ("ut", "bound"), True)
    assert first.source.endswith("x.yaml:10:5")
    assert second.id == "x/fp16-none-4-target_same-var_same-eps_2-layout_offset-own"
    assert second.data["var"].text == "constant(3)"
    assert second.layout == dict.fromkeys(("gradOutput", "input", "target", "var"), "offset")


def test_a_word_of_layout_goes_to_the_inputs_that_can_have_it(load) -> None:
    suite = load(HEAD + "matrix: {dtype: fp32, shape: [[2, 3]], var: [same, scalar], layout: transposed}\n")
    assert [dict(case.layout) for case in suite] == [
        {"input": "transposed", "target": "transposed", "var": "transposed"},
        {"input": "transposed", "target": "transposed"},
    ]


def test_warnings(load) -> None:
    suite = load(
        HEAD
        + """\
matrix: {dtype: fp32, shape: [[2], [2]], eps: [1e-6, 1.0e-6]}
exclude: [{dtype: bf16}, {eps: 2}]
include: [{shape: [2]}]
"""
    )
    assert [(w.where.rsplit("yaml:")[1], w.what) for w in suite.warnings] == [
        ("2:36", "a value of 'shape' is listed twice"),
        ("2:54", "a value of 'eps' is listed twice"),
        ("3:11", "this entry of 'exclude' matches no combination"),
        ("3:26", "this entry of 'exclude' matches no combination"),
        ("4:11", "this entry of 'include' is there already, in the matrix or before it"),
    ]
    assert len(list(suite)) == 1


def test_settings_that_every_case_overrides_are_warned_of(load) -> None:
    text = (
        HEAD
        + """\
attributes: {eps: 0.5, full: true}
layout: sliced
data: {var: "constant(1)", input: "constant(2)"}
matrix:
  dtype: fp32
  shape: [5]
  eps: [1e-3]
  layout: [contiguous, offset]
  data: [{name: a, var: "constant(2)"}, {name: b, var: "constant(3)"}]
"""
    )
    suite = load(text)
    assert [(w.where.rsplit("yaml:")[1], w.what.split(" has")[0]) for w in suite.warnings] == [
        ("2:14", "attribute 'eps'"),
        ("3:1", "'layout'"),
        ("4:8", "data of 'var'"),
    ]
    # A campaign beside the matrix uses them.
    assert load(text + "random: {count: 2}\n").warnings == []


def test_a_matrix_beyond_every_measure_is_refused_at_once(problems) -> None:
    shapes = ", ".join(f"[{n}]" for n in range(1, 300))
    eps = ", ".join(str(n) for n in range(1, 400))
    ((at, what, _),) = problems(HEAD + f"matrix: {{dtype: [fp32, fp16], shape: [{shapes}], eps: [{eps}]}}\n")
    assert at == "2:1"
    assert "238,602 combinations" in what


# --- A naive reading of the contract -------------------------------------------------------------------------------


def _target(text: str, base: tuple[int, ...]) -> tuple[int, ...] | None:
    if text == "same":
        return base
    axis = int(text.split(":")[1])
    if axis < 0:
        axis += len(base)
    if not 0 <= axis < len(base):
        return None
    return tuple(1 if k == axis else d for k, d in enumerate(base))


def _var(text: str, base: tuple[int, ...]) -> tuple[int, ...] | None:
    if text == "same":
        return base
    if text == "scalar":
        return (1,)
    if not base:
        return None
    return (*base[:-1], 1) if text == "last_dim_one" else base[:-1]


def _axis(text: str, base: tuple[int, ...]) -> object:
    """The axis that a form of target means for a shape: axis:-1 and axis:1 are one of [2, 3]."""
    if text == "same" or _target(text, base) is None:
        return text
    return int(text.split(":")[1]) % len(base)


def _excluded(entry: dict, combination: dict) -> bool:
    base = tuple(combination["shape"])
    for key, said in entry.items():
        wanted = said if isinstance(said, list) and key != "shape" else [said]
        if key == "target":
            if _axis(combination["target"], base) not in [_axis(text, base) for text in wanted]:
                return False
        elif combination[key] not in wanted:
            return False
    return True


def _naive(document: dict) -> tuple[set, Iterator[str]]:
    """The contents the matrix has, and the axis values that yield no case."""
    matrix = document["matrix"]
    names = list(matrix)
    found = set()
    yielding: dict[str, list] = {name: [] for name in names}
    for values in product(*matrix.values()):
        combination = dict(zip(names, values, strict=True))
        base = tuple(combination["shape"])
        target, var = _target(combination["target"], base), _var(combination["var"], base)
        if target is None or var is None:
            continue
        if any(_excluded(entry, combination) for entry in document.get("exclude", [])):
            continue
        for name in names:
            yielding[name].append(combination[name])
        found.add((combination["dtype"], combination["reduction"], combination["eps"], base, target, var))
    unused = (name for name in names for value in matrix[name] if value not in yielding[name])
    return found, unused


def _subset(values: list) -> st.SearchStrategy[list]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=4, unique_by=str)


SHAPES = [[], [1], [7], [0], [2, 3], [1, 4], [5, 1], [1, 1], [2, 0], [2, 3, 4], [1, 1, 1]]
MATRICES = st.fixed_dictionaries(
    {
        "dtype": _subset(DTYPES),
        "reduction": _subset(["none", "sum", "mean"]),
        "shape": _subset(SHAPES),
        "target": _subset(TARGETS),
        "var": _subset(VARS),
        "eps": _subset([1e-6, 0.5, 3.0]),
    }
)
EXCLUSION = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from(DTYPES),
        "reduction": _subset(["none", "sum", "mean"]),
        "shape": st.sampled_from(SHAPES),
        "target": st.sampled_from(TARGETS),
        "var": st.sampled_from(VARS),
        "eps": st.sampled_from([1e-6, 0.5]),
    },
).filter(bool)


def _load(document: dict) -> Suite:
    with tempfile.TemporaryDirectory() as folder:
        # JSON is YAML; numbers are written as Python writes them.
        path = Path(folder, "x.yaml")
        path.write_text(json.dumps({"operator": "gaussian_nll_loss_grad", **document}))
        return cases.load([path])


def _content(case: cases.Case) -> tuple:
    shapes = case.shapes
    attributes = case.attributes
    return (case.dtype, attributes["reduction"], attributes["eps"], shapes["input"], shapes["target"], shapes["var"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MATRICES, st.lists(EXCLUSION, max_size=2), st.randoms(use_true_random=False))
def test_the_matrix_is_what_the_contract_says(matrix: dict, exclude: list, random) -> None:
    document = {"matrix": matrix, **({"exclude": exclude} if exclude else {})}
    expected, unused = _naive(document)
    if any(True for _ in unused):
        with pytest.raises(CaseFileError, match="yields no case"):
            _load(document)
        return
    suite = _load(document)
    found = {case.id: _content(case) for case in suite}
    assert set(found.values()) == expected
    assert len(found) == len(expected) == sum(1 for _ in suite)
    assert len({name.lower() for name in found}) == len(found)
    total = 1
    for values in matrix.values():
        total *= len(values)
    assert total == len(found) + sum(suite.dropped.values())
    # Neither the order of axes nor that of values changes what there is, nor any id.
    names = list(matrix)
    random.shuffle(names)
    shuffled = {name: random.sample(matrix[name], len(matrix[name])) for name in names}
    again = {case.id: _content(case) for case in _load({**document, "matrix": shuffled})}
    assert again == found


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MATRICES)
def test_every_case_of_a_matrix_is_legal_and_its_id_a_safe_path(matrix: dict) -> None:
    from gnll_cli import operators

    operator = operators.get("gaussian_nll_loss_grad")
    try:
        suite = _load({"matrix": matrix})
    except CaseFileError:
        return
    for case in suite:
        assert operator.refusal(case) is None
        stem, part = case.id.split("/")
        assert stem == "x"
        assert part.replace("-", "").replace("_", "").replace(".", "").replace("+", "").isalnum()
        assert part.isascii()
        assert not part.startswith(".")
        assert len(part) <= 200
