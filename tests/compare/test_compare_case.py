"""A case as a whole: shapes, dtypes, several profiles, notes, location by the tiling, the real operator."""

from __future__ import annotations

import numpy as np
import pytest
from compare_helpers import FILL, blocks, make_case, make_operator, stored

from gnll_cli.compare import judge_case
from gnll_cli.errors import UsageError
from gnll_cli.operators.interface import Tiling


def judge(actual, golden, *, dtype="fp32", profiles=("bound", "ut"), shape=None, inputs=None, tiling=None):
    case = make_case({"y": shape or np.shape(golden)}, dtype, inputs)
    return judge_case(
        case,
        make_operator(["y"], list(inputs or {})),
        blocks("y", np.asarray(golden, dtype=float), size=64),
        {"y": actual} if actual is not None else {},
        profiles=profiles,
        tiling=tiling,
        trust=False,
    )


def test_shape_and_dtype_must_be_the_goldens():
    golden = np.ones((2, 3))
    for actual, reason in (
        (stored(np.ones(6), "fp32"), "shape is [6], the golden's is [2, 3]"),
        (stored(np.ones((3, 2)), "fp32"), "shape is [3, 2], the golden's is [2, 3]"),
        (stored(np.ones((2, 3)), "fp16"), "dtype is float16, the golden's is fp32"),
        (np.ones((2, 3)), "dtype is float64, the golden's is fp32"),
        (None, "no such output"),
    ):
        verdict = judge(actual, golden)
        assert [o.profile for o in verdict.outputs] == ["bound", "ut"]
        assert not any(o.passed for o in verdict.outputs)
        assert all(reason in o.reason for o in verdict.outputs)
        assert verdict.decided


def test_empty_passes_only_where_the_golden_is_empty():
    empty = np.zeros((0, 3))
    assert judge(stored(empty, "fp32"), empty).passed
    assert not judge(stored(np.zeros((1, 3)), "fp32"), empty).passed
    assert not judge(stored(empty, "fp32"), np.zeros((1, 3))).passed


def test_a_profile_named_twice_judges_once():
    verdict = judge(stored(np.ones(3), "fp32"), np.ones(3), profiles=["ut", "bound", "ut"])
    assert [o.profile for o in verdict.outputs] == ["ut", "bound"]


def test_no_finite_element_is_said():
    golden = np.array([np.nan, np.inf])
    (output,) = judge(stored(golden, "fp32"), golden, profiles=["ut"]).outputs
    assert output.passed
    assert output.max_abs is None
    assert any("no element is finite" in note for note in output.notes)


def test_one_core_missing():
    golden = np.linspace(1, 2, 480).reshape(48, 10)
    actual = golden.astype(np.float32)
    actual.reshape(-1)[100:110].view(np.uint32)[:] = FILL["fp32"]
    cut = Tiling(48, 4, {"y": [(10 * c, 10 * c + 10) for c in range(48)]})
    for output in judge(actual, golden, tiling=cut).outputs:
        assert not output.passed
        assert output.unwritten == 10
        assert output.location.pattern == "one core"
        assert (output.location.core, output.location.tile, output.location.lane) == (10, 0, 0)
        assert output.location.unwritten == 10
        assert output.location.would_pass == ()


def test_one_var_group_missing():
    golden = np.linspace(1, 2, 480).reshape(8, 60)
    actual = golden.astype(np.float32)
    actual[5] = 0
    cut = Tiling(48, 4, {"y": [(10 * c, 10 * c + 10) for c in range(48)]})
    (output,) = judge(actual, golden, tiling=cut, profiles=["ut"], inputs={"x": (8, 60), "var": (8, 1)}).outputs
    assert output.location.pattern == "one var group"
    assert "share element 5 of var" in output.location.text
    assert output.location.core == 35 or output.worst_index[0] == 5


def test_would_pass_names_profiles_and_the_tolerance():
    golden = np.full(100, 4096.0)
    (output,) = judge(stored(golden + 0.25, "fp32"), golden, profiles=["ut"]).outputs
    assert not output.passed
    # 0.25 of 4,096 is 2^-14, below the threshold 2^-13 of mere-mare for fp32.
    assert output.location.would_pass == ("community-mere-mare-2026-04", "atol 0.25")


def test_indices_are_per_dimension():
    golden = np.ones((3, 4, 5))
    actual = stored(golden, "fp32")
    actual[1, 2, 3] = 2
    actual[2, 0, 4] = 4
    (output,) = judge(actual, golden, profiles=["ut"]).outputs
    assert output.first_bad_index == (1, 2, 3)
    assert output.worst_index == (2, 0, 4)
    scalar = judge(stored(np.array(2.0), "fp32"), np.array(1.0), profiles=["ut"]).outputs[0]
    assert scalar.worst_index == scalar.first_bad_index == ()


def test_isclose_needs_both_tolerances():
    case = make_case({"y": (1,)}, "fp32")
    for options in ({}, {"rtol": 0.1}, {"atol": 0.1}, {"rtol": -1.0, "atol": 0.0}, {"rtol": float("nan"), "atol": 0.0}):
        with pytest.raises(UsageError):
            judge_case(
                case, make_operator(["y"]), [], {"y": stored([1], "fp32")}, profiles=["isclose"], options=options
            )


def test_a_golden_that_does_not_cover_the_output_is_an_error_of_the_harness():
    case = make_case({"y": (4,)}, "fp32")
    with pytest.raises(RuntimeError, match="covers 2 of 4"):
        judge_case(
            case,
            make_operator(["y"]),
            blocks("y", np.ones(2)),
            {"y": stored(np.ones(4), "fp32")},
            profiles=["ut"],
            trust=False,
        )


def test_metrics_do_not_depend_on_the_block():
    rng = np.random.default_rng(3)
    golden = rng.standard_normal(1000)
    actual = (golden + rng.standard_normal(1000) * 1e-5).astype(np.float32)
    case = make_case({"y": (1000,)}, "fp32")
    records = []
    for size in (1 << 16, 17, 256):
        made = blocks("y", golden, size=size, radius=1e-18)
        verdict = judge_case(
            case,
            make_operator(["y"]),
            made,
            {"y": actual},
            profiles=["ut", "bound", "community-mixed-2026-07"],
            trust=False,
        )
        record = [o.record() for o in verdict.outputs]
        for r in record:
            r["mean_rel"], r["rmse"] = pytest.approx(r["mean_rel"], rel=1e-12), pytest.approx(r["rmse"], rel=1e-12)
        records.append(record)
    assert records[0] == records[1] == records[2]
