"""Metrics against exact rational arithmetic, and the float32 screening against plain float64."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from compare_helpers import BITS, STORAGE, naive_ulp
from hypothesis import given, settings
from hypothesis import strategies as st

from gnll_cli import dtypes
from gnll_cli.compare import profiles, screen
from gnll_cli.compare.block import Block, Output, Target
from gnll_cli.compare.judge import OutputJudgement
from gnll_cli.compare.location import Layout

F = Fraction


def judgement(dtype, size, names=("exact",), **options):
    output = Output("y", dtypes.get(dtype), (size,), size, options)
    return output, OutputJudgement(output, [profiles.get(n) for n in names], Layout((size,), size))


def elements(dtype):
    return st.lists(st.tuples(*[st.integers(0, 2 ** (8 * BITS[dtype].itemsize) - 1)] * 2), min_size=1, max_size=8)


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32"])
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_metrics_are_those_of_exact_arithmetic(dtype, data):
    codes = data.draw(elements(dtype))
    actual = np.array([a for a, _ in codes], dtype=BITS[dtype]).view(STORAGE[dtype])
    golden = np.array([g for _, g in codes], dtype=BITS[dtype]).view(STORAGE[dtype])
    with np.errstate(all="ignore"):
        a64, g64 = actual.astype(np.float64), golden.astype(np.float64)
        output, judged = judgement(dtype, len(codes))
        for i in range(0, len(codes), 3):
            cut = slice(i, i + 3)
            judged.update(Block.of(Target(output, i, g64[cut]), actual[cut]))
        (verdict,) = judged.finish()
    pairs = [
        (F(a), F(g)) for a, g in zip(a64.tolist(), g64.tolist(), strict=True) if math.isfinite(a) and math.isfinite(g)
    ]
    assert verdict.elements == len(codes)
    assert verdict.finite == len(pairs)
    if not pairs:
        assert verdict.max_abs is verdict.max_rel is verdict.mean_rel is verdict.rmse is verdict.max_ulp is None
        assert any("no element is finite" in note for note in verdict.notes)
        return
    errors = [abs(a - g) for a, g in pairs]
    relative = [e / (abs(g) + F(1e-7)) for e, (_, g) in zip(errors, pairs, strict=True)]
    close = {"rel": 1e-12, "abs": 0.0}
    assert verdict.max_abs == pytest.approx(float(max(errors)), **close)
    assert verdict.max_rel == pytest.approx(float(max(relative)), **close)
    assert verdict.mean_rel == pytest.approx(float(sum(relative) / len(pairs)), **close)
    assert F(verdict.rmse) ** 2 == pytest.approx(sum(e * e for e in errors) / len(pairs), rel=1e-11, abs=0)
    ulps = [e / naive_ulp(float(g), dtype) for e, (_, g) in zip(errors, pairs, strict=True)]
    assert verdict.max_ulp == pytest.approx(float(max(ulps)), **close)


@pytest.mark.parametrize(
    "golden", [1 - 2.0**-12, 1 - 2.0**-12 - 2.0**-40, 1 - 3 * 2.0**-13, 65519.9, 2.0**-14 - 2.0**-26, 0.0, 3e-8]
)
def test_max_ulp_is_of_the_rounded_golden(golden):
    """A float64 golden just below a power of two rounds up to it, and its ULP is that of the binade above."""
    output, judged = judgement("fp16", 1)
    actual = np.array([1.5], dtype="<f2")
    judged.update(Block.of(Target(output, 0, np.array([golden])), actual))
    (verdict,) = judged.finish()
    assert verdict.max_ulp == pytest.approx(float(abs(F(1.5) - F(golden)) / naive_ulp(golden, "fp16")), rel=1e-15)


def test_errors_whose_squares_overflow():
    output, judged = judgement("fp64", 4)
    actual = np.array([1e200, 0.0, 3.0, 1e-200])
    with np.errstate(all="ignore"):
        judged.update(Block.of(Target(output, 0, np.zeros(2)), actual[:2]))
        judged.update(Block.of(Target(output, 2, np.zeros(2)), actual[2:]))
    (verdict,) = judged.finish()
    assert verdict.rmse == pytest.approx(5e199)


INT64 = st.one_of(st.integers(-(2**63), 2**63 - 1), st.sampled_from([-(2**63), 2**63 - 1, -1, 0, 1, 2**53, 2**53 + 1]))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(INT64, INT64), min_size=1, max_size=6))
def test_integer_metrics_do_not_wrap_or_round(pairs):
    actual = np.array([a for a, _ in pairs], dtype="<i8")
    golden = np.array([g for _, g in pairs], dtype="<i8")
    output, judged = judgement("int64", len(pairs), ("exact", "isclose"), rtol=0.0, atol=float(2**53))
    judged.update(Block.of(Target(output, 0, golden.astype(np.float64), integers=golden), actual))
    exact, close = judged.finish()
    errors = [abs(a - g) for a, g in pairs]
    assert exact.max_abs == max(errors)
    assert isinstance(exact.max_abs, int)
    assert exact.mismatched == sum(e != 0 for e in errors)
    assert close.mismatched == sum(e > 2**53 for e in errors)
    if not exact.passed:
        assert (exact.worst_actual, exact.worst_golden) == pairs[errors.index(max(errors))]


def reference(actual, golden, dtype, atol, rtol):
    """What screening must give, in plain float64."""
    a, g = actual.astype(np.float64), golden.astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(g)
    error = np.where(finite, np.abs(a - g), 0.0)
    limit = atol + rtol * np.where(finite, np.abs(g), 0.0)
    met = (np.isnan(a) & np.isnan(g)) | (a == g)
    bad = np.where(finite, error > limit, ~met)
    relative = error / (np.where(finite, np.abs(g), 0.0) + 1e-7)
    exponent = np.frexp(np.where(finite, g, 0.0))[1] - 1
    lowest, digits = {"fp32": (-126, 24), "fp16": (-14, 11), "bf16": (-126, 8)}[dtype]
    exponent = np.where(np.where(finite, g, 0.0) == 0, lowest, np.maximum(exponent, lowest))
    ulps = error / np.ldexp(1.0, exponent - digits + 1)
    count = max(int(finite.sum()), 1)
    return {
        "mismatched": int(bad.sum()),
        "first": int(bad.argmax()) if bad.any() else None,
        "finite": int(finite.sum()),
        "max_abs": float(error.max()),
        "max_rel": float(relative.max()),
        "max_ulp": float(ulps.max()),
        "mean_rel": math.fsum(relative) / count,
        "rmse": math.sqrt(math.fsum(error * error) / count),
        "share": float(np.max(np.where(error > 0, error / limit, 0.0))),
    }


def hard_data(dtype, seed, n):
    """Goldens over many binades, errors around the sizes that matter, and a few odd values."""
    rng = np.random.default_rng(seed)
    style = seed % 6
    spread = {"fp32": 30, "fp16": 12, "bf16": 30}[dtype] if style % 2 else 2
    g = (rng.standard_normal(n) * 2.0 ** rng.integers(-spread, spread + 1, n)).astype(np.float32)
    if style == 2:
        g = np.round(g * 4).astype(np.float32)
    noise = {
        0: g * 2.0**-9,
        1: g * 2.0**-7,
        2: np.float32(0.25),
        3: np.float32(1e-5),
        4: g * 2.0**-22,
        5: np.float32(1e-3),
    }[style]
    a = g + noise * (rng.integers(-2, 3, n) if style == 2 else rng.uniform(-1, 1, n).astype(np.float32))
    with np.errstate(all="ignore"):
        actual, golden = np.asarray(a, dtype=np.float32).astype(STORAGE[dtype]), g.astype(STORAGE[dtype])
    for _ in range(int(rng.integers(0, 4))):
        codes = rng.integers(0, 2 ** (8 * BITS[dtype].itemsize), 2)
        at = rng.integers(0, n)
        golden.view(BITS[dtype])[at], actual.view(BITS[dtype])[at] = codes
    if rng.integers(3) == 0:
        golden[: n // 3] = actual[: n // 3]
    return actual, golden


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 700),
    pick=st.integers(0, 10**6),
    relative=st.sampled_from([0.0, 1e-5, 2.0**-8]),
)
def test_screening_changes_no_verdict(dtype, seed, size, pick, relative):
    actual, golden = hard_data(dtype, seed, size)
    with np.errstate(all="ignore"):
        # The limit is an error that occurs in the data, or the float64 next to it: the hardest place to decide.
        errors = np.abs(actual.astype(np.float64) - golden.astype(np.float64)) - relative * np.abs(
            golden.astype(np.float64)
        )
        usual = errors[(errors > 1e-29) & (errors < 1e29)]
        atol = float(usual[pick % usual.size]) if usual.size else 1e-3
        atol = [atol, np.nextafter(atol, 0), np.nextafter(atol, 1e300), atol * 1.5][pick % 4]
        want = reference(actual, golden, dtype, atol, relative)
        output = Output("y", dtypes.get(dtype), (size,), size, {"rtol": relative, "atol": float(atol)})
        chosen = [profiles.get("isclose")]
        assert screen.can_screen(output, dtype, chosen)
        screened = screen.Screen(output, chosen)
        for start in range(0, size, 64):
            screened.update(start, actual[start : start + 64], golden[start : start + 64])
        (got,) = screened.finish()
    assert got.elements == size
    assert got.mismatched == want["mismatched"]
    assert got.passed is (want["mismatched"] == 0)
    assert got.first_bad_index == (None if want["first"] is None else (want["first"],))
    assert got.finite == want["finite"]
    if not want["finite"]:
        return
    assert got.max_abs == want["max_abs"]
    assert got.max_rel == pytest.approx(want["max_rel"], rel=1e-15)
    assert got.max_ulp == want["max_ulp"]
    assert got.mean_rel == pytest.approx(want["mean_rel"], rel=1e-5)
    assert got.rmse == pytest.approx(want["rmse"], rel=1e-5)
    if got.unwritten == 0 and "not finite" not in got.reason:
        assert got.headroom == pytest.approx(1 / want["share"] if want["share"] else math.inf, rel=1e-5)


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("fault", ["allbad", "nan", "constant", "inf", "subnormal"])
def test_screening_of_uniform_data(dtype, fault):
    """Every element alike: all wrong, all NaN, errors that all tie, all Inf, all subnormal."""
    n = 1000
    golden = np.linspace(1, 2, n).astype(STORAGE[dtype])
    actual = {
        "allbad": (golden.astype(np.float32) + 1).astype(STORAGE[dtype]),
        "nan": np.full(n, np.nan).astype(STORAGE[dtype]),
        "constant": golden.copy(),
        "inf": np.full(n, np.inf).astype(STORAGE[dtype]),
        "subnormal": np.arange(n).astype(BITS[dtype]).view(STORAGE[dtype])
        if dtype != "bf16"
        else (np.arange(n) % 128).astype("<u2").view(STORAGE[dtype]),
    }[fault]
    if fault == "constant":
        golden = np.full(n, 1.5).astype(STORAGE[dtype])
        actual = np.full(n, 1.5 + 2.0**-7).astype(STORAGE[dtype])
    if fault == "subnormal":
        golden = actual[::-1].copy()
    with np.errstate(all="ignore"):
        want = reference(actual, golden, dtype, 1e-3, 0.0)
        output = Output("y", dtypes.get(dtype), (n,), n, {"rtol": 0.0, "atol": 1e-3})
        screened = screen.Screen(output, [profiles.get("isclose")])
        for start in range(0, n, 128):
            screened.update(start, actual[start : start + 128], golden[start : start + 128])
        (got,) = screened.finish()
    assert (got.mismatched, got.finite) == (want["mismatched"], want["finite"])
    if got.finite:
        assert (got.max_abs, got.max_ulp) == (want["max_abs"], want["max_ulp"])
        assert got.max_rel == pytest.approx(want["max_rel"], rel=1e-15)
    if got.mismatched == n:
        assert got.location.pattern == "all"
