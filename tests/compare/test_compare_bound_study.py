"""Profile ``bound`` against a float32 replay of the operator: no alarm on right outputs, and named faults are caught.

A fast version of ``python -m benchmarks.bound_study`` (docs/bound.md holds its tables). Data and seeds are fixed. The floors of the
catch rates lie below the rates of the full study by more than chance makes of it: what falls below one is a verdict gone blunt.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from benchmarks import bound_study, replay
from benchmarks.bound_study import DTYPES, OPERATOR, Tally, make_case, subject
from benchmarks.replay import FAULTS, GRAD_INPUT, GRAD_VAR, ORDERS, Recipe

#: Least share of 36 cases that must fail, for fp32, fp16, bf16 (an entry for a dtype that cannot have the fault is not used).
FLOORS: dict[str, tuple[float, float, float]] = {
    **dict.fromkeys(FAULTS, (0.95, 0.95, 0.95)),
    "sum_in_half": (0.9, 0.6, 0.1),
    "sum_in_bfloat16": (0.9, 0.85, 0.55),
    "term_lost": (0.9, 0.65, 0.25),
    "term_twice": (0.9, 0.65, 0.25),
    "clamp_missing": (0.85, 0.85, 0.85),
    "clamp_stops_gradient": (0.85, 0.85, 0.85),
}


def rounded32(x: Fraction) -> Fraction:
    """A rational rounded to float32, to nearest even, in integers (numbers that do not overflow)."""
    if x == 0:
        return x
    exponent = max(math.frexp(x)[1] - 24, -149)
    unit = Fraction(2) ** exponent
    return round(x / unit) * unit


def naive_sum(row: list[float], order: str) -> float:
    """The sum of a row in rationals, each addition rounded to float32, written as the order is told."""

    def add(a: Fraction, b: Fraction) -> Fraction:
        return rounded32(a + b)

    def in_turn(items: list[Fraction]) -> Fraction:
        total = items[0]
        for item in items[1:]:
            total = add(total, item)
        return total

    def tree(items: list[Fraction]) -> Fraction:
        while len(items) > 1:
            pairs = [items[k : k + 2] for k in range(0, len(items), 2)]
            items = [add(p[0], p[1]) if len(p) == 2 else p[0] for p in pairs]
        return items[0]

    exact = [Fraction(x) for x in row]
    if order == "sequential":
        return float(in_turn(exact))
    if order == "pairwise":
        return float(tree(exact))
    if order == "lanes":
        return float(tree([in_turn(exact[lane::64]) for lane in range(min(64, len(exact)))]))
    tiles = [exact[k : k + 4096] for k in range(0, len(exact), 4096)]
    return float(in_turn([in_turn([tree(tile[k : k + 64]) for k in range(0, len(tile), 64)]) for tile in tiles]))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("r", [1, 2, 3, 63, 64, 65, 130, 4096, 4097, 8300])
def test_a_sum_order_is_what_it_is_called(order: str, r: int) -> None:
    row = bound_study.random(7, r).uniform(-1, 1, r).astype(np.float32)
    assert float(replay.sum_rows(row.reshape(1, r), order)[0]) == naive_sum([float(x) for x in row], order)


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_truncation_is_the_neighbour_towards_zero(dtype: str) -> None:
    case = make_case("bound/truncation", (500,), dtype, "none", bound_study.DATA["usual"])
    result = replay.replay(case, subject(case).arrays, FAULTS["truncation"].recipe)
    for name, y in result.outputs.items():
        # The next value away from zero is one more in the bits of sign and magnitude.
        cut, away = (np.float64(bits.view(y.dtype)) for bits in (y.view(np.uint16), y.view(np.uint16) + np.uint16(1)))
        wide = result.wide[name].astype(np.float64)
        assert np.all((np.abs(cut) <= np.abs(wide)) & (np.abs(away) > np.abs(wide)))
        assert np.all(np.signbit(cut) == np.signbit(wide))


def test_a_division_of_one_ulp_errs_by_half_to_one() -> None:
    a, b = (bound_study.random(k).uniform(1, 2, 1000).astype(np.float32) for k in (8, 9))
    for x, y, q in zip(a, b, replay.divide_one_ulp(a, b), strict=True):
        exact = Fraction(float(x)) / Fraction(float(y))
        ulp = Fraction(2) ** (-23 if exact >= 1 else -24)
        assert Fraction(1, 2) <= abs(Fraction(float(q)) - exact) / ulp <= 1 or exact == Fraction(float(q))


def test_the_verdict_uses_the_limit_of_the_study() -> None:
    """The shares below are of E as the design defines it; the verdict's own E must be the same number."""
    for r, c in ((1, 12), (64, 12 + 6), (4096, 12 + 6 + 63), (8193, 12 + 6 + 63 + 2)):
        case = make_case(f"bound/limit{r}", (3, r), "fp32", "sum", bound_study.DATA["usual"], var="last_dim_one")
        of = subject(case)
        assert {b.output: b.factor for b in of.blocks} == {"gradInput": 8, "gradVar": c}
        for verdict in of.judge(replay.replay(case, of.arrays, FAULTS["var_not_squared"].recipe)).outputs:
            if verdict.limit and verdict.worst_index is not None:
                at = np.ravel_multi_index(verdict.worst_index, case.shapes[verdict.name])
                assert verdict.limit == pytest.approx(of.limit[verdict.name][at], rel=1e-12)


def total(tallies: bound_study.Tallies, kind: str) -> Tally:
    """All rows of a kind added up."""
    whole = Tally()
    for key, tally in tallies.items():
        if key[0] == kind:
            whole.cases += tally.cases
            whole.elements += tally.elements
            whole.undecided += tally.undecided
            whole.alarmed += tally.alarmed
            whole.radius_share = max(whole.radius_share, tally.radius_share)
            for name in OPERATOR.outputs:
                whole.share[name] = max(whole.share[name], tally.share[name])
    return whole


def test_no_alarm_on_reduced_cases() -> None:
    tallies = bound_study.study_reduced(486)
    found = total(tallies, "dtype")
    assert found.alarmed == []
    assert found.undecided == 0
    assert found.cases >= 2 * 486
    assert {key[1] for key in tallies if key[0] == "order"} == set(ORDERS)
    assert found.radius_share < 1e-8
    # Not wide beyond need either: some right output uses a good part of E.
    assert 0.3 < found.share["gradVar"] < 1
    assert 0.3 < found.share["gradInput"] < 1


def test_no_alarm_on_unreduced_data() -> None:
    tallies = bound_study.study_unreduced(100_000)
    for dtype in DTYPES:
        found = tallies["unreduced", dtype]
        assert found.alarmed == []
        assert found.undecided == 0
        assert found.elements >= 200_000
        assert 0.3 < found.share["gradVar"] < 1
    assert {key[1] for key in tallies if key[0] == "gradInput"} == set(GRAD_INPUT)
    assert {key[1] for key in tallies if key[0] == "gradVar"} == set(GRAD_VAR)


def test_the_floor_covers_underflow_where_the_derivation_says_so() -> None:
    tallies = bound_study.study_underflow()
    assert [(key, t.alarmed[:1]) for key, t in tallies.items() if key[2] == "yes" and t.alarms] == []
    # And where it says that it does not, it does not: the floor is no licence.
    assert tallies["underflow", "tiny gradOutput, mean, d/v about 20", "no", "the kernel's"].alarms == 1


@pytest.mark.parametrize("name", FAULTS)
def test_a_named_fault_is_caught(name: str) -> None:
    cases = 36
    rates = bound_study.study_faults(cases, names=(name,))[name]
    assert set(rates) == set(FAULTS[name].dtypes)
    for dtype, floor in zip(DTYPES, FLOORS[name], strict=True):
        if dtype in rates:
            assert rates[dtype].caught >= floor * cases, (dtype, rates[dtype])


@pytest.mark.parametrize("name", FAULTS)
def test_the_cases_that_show_a_fault_pass_without_it(name: str) -> None:
    for dtype in FAULTS[name].dtypes:
        for k in range(3):
            of = subject(bound_study.fault_case(name, k, dtype, "0"))
            assert of.judge(replay.replay(of.case, of.arrays, Recipe())).passed, (dtype, k)
