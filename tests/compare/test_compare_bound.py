"""Profile bound against its rule in exact arithmetic, over every value of the 16-bit types."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from compare_helpers import FILL, LARGEST, STORAGE, blocks, make_case, make_operator, naive_ulp, nearest16, stored

from gnll_cli import dtypes
from gnll_cli.compare import judge_case, profiles
from gnll_cli.compare.block import Block, Output, Target

F = Fraction
FACTOR = 8.0
FLOAT32_LARGEST = F(2) ** 128 - F(2) ** 104


def every_value(dtype):
    return np.arange(0x10000, dtype=np.uint32).astype(np.uint16).view(STORAGE[dtype])


def verdict_of_every_value(dtype, golden, extent, magnitude=None):
    """Which of all 65,536 values pass for a golden and an E (both exact in float64)."""
    actual = every_value(dtype)
    n = actual.size
    m = extent * 2.0**24 / FACTOR if magnitude is None else magnitude
    output = Output("y", dtypes.get(dtype), (n,), n)
    target = Target(output, 0, np.full(n, golden), np.zeros(n), np.full(n, m), np.zeros(n), FACTOR)
    judge = profiles.get("bound").start(output)
    with np.errstate(all="ignore"):
        bad = judge.update(Block.of(target, actual))
    return np.ones(n, dtype=bool) if bad is None else ~bad


def expected(dtype, golden, extent):
    """RN(g-E) <= a <= RN(g+E) with both roundings by search in exact arithmetic."""
    low = nearest16(F(golden) - F(extent), dtype)
    high = nearest16(F(golden) + F(extent), dtype)
    with np.errstate(invalid="ignore"):
        values = every_value(dtype).astype(np.float64)
    inside = (values >= low) & (values <= high)
    inside[FILL[dtype]] = False
    return inside


CASES = {
    "fp16": [
        (1 - 3 * 2.0**-13, 2.0**-14),
        (2 - 3 * 2.0**-12, 2.0**-15),
        (-1 + 3 * 2.0**-13, 2.0**-13),
        (1.0, 2.0**-20),
        (1.0, 2.0**-12),
        (1.0, 2.0**-11),
        (1.0, 3 * 2.0**-13),
        (1 + 2.0**-11, 2.0**-11),
        (1 + 2.0**-11, 2.0**-40),
        (1 + 3 * 2.0**-11, 2.0**-13),
        (-1.5, 2.0**-9),
        (0.0, 2.0**-25),
        (0.0, 2.0**-24),
        (0.0, 2.0**-26),
        (2.0**-24, 2.0**-25),
        (2.0**-14, 2.0**-26),
        (1000.25, 0.25),
        (65504.0, 8.0),
        (65504.0, 16.0),
        (65504.0, 32.0),
        (65519.0, 0.5),
        (65519.0, 1.0),
        (65530.0, 8.0),
        (65530.0, 16.0),
        (-70000.0, 1.0),
        (-65520.0, 2.0**-10),
        (4097.0, 1.0),
        (2.0, 2.0**-11),
        (2.0, 2.0**-10 + 2.0**-11),
        (0.1, 1e-5),
        (-0.1, 0.0),
        (12345.678, 7.89),
    ],
    "bf16": [
        (1.0, 2.0**-9),
        (1.0, 2.0**-8),
        (1.0, 2.0**-20),
        (1 + 2.0**-8, 2.0**-30),
        (257.0, 0.5),
        (257.0, 1.0),
        (-3.0, 2.0**-7),
        (0.0, 2.0**-134),
        (0.0, 2.0**-135),
        (2.0**-126, 2.0**-134),
        (2.0**100, 2.0**91),
        (0.1, 1e-4),
        (0.1, 0.0),
        (1e30, 1e28),
        (-1e-30, 1e-32),
    ],
}


@pytest.mark.parametrize(("dtype", "golden", "extent"), [(d, g, e) for d, cases in CASES.items() for g, e in cases])
def test_every_16_bit_value(dtype, golden, extent):
    assert F(extent) == 0 or F(extent * 2.0**24 / FACTOR) * F(FACTOR) / 2**24 == F(extent), "the test's E must be exact"
    if abs(golden) < LARGEST[dtype] and 2 * F(extent) * 2**24 / F(FACTOR) > FLOAT32_LARGEST:
        pytest.fail("the overflow rule must not decide here")
    wrong = np.flatnonzero(verdict_of_every_value(dtype, golden, extent) != expected(dtype, golden, extent))
    assert wrong.size == 0, every_value(dtype)[wrong][:5]


def test_random_goldens_on_every_value():
    rng = np.random.default_rng(5)
    for dtype in ("fp16", "bf16"):
        for _ in range(25):
            golden = float(rng.standard_normal() * 2.0 ** rng.integers(-20, 14))
            # E of few bits, so that g-E and g+E lose nothing that matters to a rounding this coarse.
            extent = float(rng.integers(1, 9)) * 2.0 ** float(np.floor(np.log2(abs(golden))) - rng.integers(5, 24))
            got, want = verdict_of_every_value(dtype, golden, extent), expected(dtype, golden, extent)
            assert np.array_equal(got, want), (dtype, golden, extent)


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32"])
@pytest.mark.parametrize("sign", [1, -1])
def test_inf_passes_where_an_intermediate_may_overflow(dtype, sign):
    """2M beyond the largest float32: Inf of the golden's sign passes, of the other sign not."""
    for magnitude, passes in ((2.0**127, True), (2.0**126, False)):
        case = make_case({"y": (2,)}, dtype)
        for inf_sign in (1, -1):
            actual = stored([sign * 1.0, inf_sign * np.inf], dtype)
            golden = np.array([sign * 1.0, sign * 1.0])
            # c = 0: E is zero, the overflow rule alone decides.
            verdict = judge_case(
                case,
                make_operator(["y"]),
                blocks("y", golden, magnitude=magnitude, factor=0.0),
                {"y": actual},
                profiles=["bound"],
                trust=False,
            )
            assert verdict.outputs[0].passed is (passes and inf_sign == sign)


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("at", [0, 50, 99])
@pytest.mark.parametrize("output", ["first", "second"])
def test_planted_errors(dtype, at, output):
    """Just within and just beyond E + half a step, in each output."""
    ulp = float(naive_ulp(1.0, dtype))
    golden = np.ones(100)
    # E = 2.5 steps: 3 steps are beyond it, since the tie at 2.5 goes to the even 1 + 2 ulp; any more reaches them.
    extent = 2.5 * ulp
    outputs = ("first", "second")
    case = make_case(dict.fromkeys(outputs, (4, 25)), dtype)

    def run(steps, extent):
        actual = {name: stored(golden, dtype).reshape(4, 25).copy() for name in outputs}
        actual[output].reshape(-1)[at] = stored([1 + steps * ulp], dtype)[0]
        made = [
            b
            for name in outputs
            for b in blocks(name, golden, magnitude=extent * 2.0**24 / FACTOR, factor=FACTOR, size=64)
        ]
        verdict = judge_case(case, make_operator(outputs), made, actual, profiles=["bound"], trust=False)
        return {v.name: v for v in verdict.outputs}

    assert run(2, extent)[output].passed
    assert run(3, extent * (1 + 2.0**-10))[output].passed
    bad = run(3, extent)
    assert not bad[output].passed
    assert bad[output].mismatched == 1
    assert bad[output].first_bad_index == (at // 25, at % 25)
    assert all(v.passed for name, v in bad.items() if name != output)


def test_headroom_is_e_over_the_distance_to_what_rounds_to_the_actual():
    case = make_case({"y": (2,)}, "fp16")
    # a = 1 + 4 ulp at g = 1: the nearest real that rounds to it is 1 + 3.5 ulp; E = 7 ulp.
    ulp = 2.0**-10
    verdict = judge_case(
        case,
        make_operator(["y"]),
        blocks("y", np.ones(2), magnitude=7 * ulp * 2.0**24 / 8),
        {"y": stored([1, 1 + 4 * ulp], "fp16")},
        profiles=["bound"],
        trust=False,
    ).outputs[0]
    assert verdict.headroom == 2.0
    assert verdict.worst_index == (1,)
    assert verdict.limit == 7 * ulp
    # Below a power of two the step is half as wide: a = 1, g = 1 - ulp/4 uses nothing.
    exact = judge_case(
        case,
        make_operator(["y"]),
        blocks("y", np.full(2, 1 - ulp / 8)),
        {"y": stored([1, 1], "fp16")},
        profiles=["bound"],
        trust=False,
    ).outputs[0]
    assert exact.headroom == np.inf


def test_underflow_floor_counts():
    """E holds 2^-148 per element of the group: a float32 result that lost its last subnormal bits passes."""
    case = make_case({"y": (1,)}, "fp32")

    def run(floor):
        made = blocks("y", np.array([2.0**-140]), magnitude=0.0, floor=floor)
        return judge_case(
            case,
            make_operator(["y"]),
            made,
            {"y": stored([2.0**-140 + 2.0**-147], "fp32")},
            profiles=["bound"],
            trust=False,
        ).outputs[0]

    # The distance to what rounds to the actual is 2^-147 - 2^-150, which is 1.75 * 2^-148.
    assert run(2.0).passed
    assert run(1.76).passed
    assert not run(1.74).passed


def test_integers():
    case = make_case({"y": (4,)}, "int32")
    actual = {"y": np.array([10, 11, 12, 13], dtype="<i4")}

    def run(extent):
        made = blocks("y", np.array([10.0, 10.5, 12.0, 12.25]), magnitude=extent * 2.0**24 / 8)
        return judge_case(case, make_operator(["y"]), made, actual, profiles=["bound"], trust=False).outputs[0]

    # RN(12.25 + E) reaches 13 at E = 0.25: the tie 12.5 goes to the even 12; RN(10.5 + E) reaches 11 for any E > 0.
    assert not run(0.25).passed
    assert run(0.25).first_bad_index == (3,)
    assert run(0.26).passed
