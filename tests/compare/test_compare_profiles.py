"""Every profile against planted errors: just within and just beyond its limit, everywhere in every output."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from compare_helpers import FILL, LARGEST, STORAGE, blocks, make_case, make_operator, naive_ulp, neighbours, stored

from gnll_cli.compare import judge_case, profiles
from gnll_cli.errors import UsageError

DTYPES = ("fp32", "fp16", "bf16")
SHAPE = (4, 25)
OUTPUTS = ("first", "second")
POSITIONS = (0, 50, 99)
F = Fraction

UT = {"fp32": F(1e-5), "fp16": F(2e-2), "bf16": F(8e-2)}
MIXED = {
    "community-mixed-2026-07": {
        "fp32": (F(1, 2**10), F(1, 2**16), F(1e-2)),
        "fp16": (F(1, 2**9), F(1, 2**9), F(1e-1)),
        "bf16": (F(1, 2**6), F(1, 2**6), F(1)),
    },
    "community-mixed-2026-09": {
        "fp32": (F(1, 2**13), F(1, 2**13), F(1e-2)),
        "fp16": (F(1, 2**10), F(1, 2**10), F(1e-1)),
        "bf16": (F(1, 2**7), F(1, 2**7), F(1e-1)),
    },
}
MERE = {"fp32": F(1, 2**13), "fp16": F(1, 2**10), "bf16": F(1, 2**7)}


def judge(profile, dtype, golden, actual, **options):
    """Verdicts of two outputs with the same golden; ``actual`` {output: array}."""
    case = make_case(dict.fromkeys(OUTPUTS, SHAPE), dtype)
    verdict = judge_case(
        case,
        make_operator(OUTPUTS),
        [b for name in OUTPUTS for b in blocks(name, golden, size=32, magnitude=options.pop("magnitude", None))],
        {name: stored(actual[name], dtype).reshape(SHAPE) for name in OUTPUTS},
        profiles=[profile],
        trust=False,
        **options,
    )
    return {v.name: v for v in verdict.outputs}


def planted(golden, errors):
    """Copies of the golden with {output: {position: value}} planted."""
    out = {}
    for name in OUTPUTS:
        out[name] = np.array(golden, dtype=np.float64)
        for at, value in errors.get(name, {}).items():
            out[name][at] = value
    return out


def limits(profile, dtype, golden):
    """The limit of abs(a-g) at a golden, by chapter and verse."""
    g = abs(F(golden))
    if profile == "ut":
        return UT[dtype]
    if profile == "sample":
        return F(1e-5)
    assert profile == "isclose"
    return F(1e-3) + F(2e-2) * g


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("profile", ["ut", "sample", "isclose"])
@pytest.mark.parametrize("sign", [1, -1])
def test_limit_per_element(profile, dtype, sign):
    # Near zero, so that the dtype can tell values closer than the smallest tolerance.
    golden = np.full(100, 2.0**-8 if dtype != "bf16" or profile != "sample" else 2.0**-14)
    within, beyond = neighbours(golden[0], limits(profile, dtype, golden[0]), dtype, sign)
    options = {"options": {"rtol": 2e-2, "atol": 1e-3}} if profile == "isclose" else {}
    for output in OUTPUTS:
        for at in POSITIONS:
            good = judge(profile, dtype, golden, planted(golden, {output: {at: within}}), **options)
            assert all(v.passed and v.decided and v.mismatched == 0 for v in good.values())
            assert good[output].worst_index == (at // 25, at % 25)
            assert good[output].headroom >= 1
            bad = judge(profile, dtype, golden, planted(golden, {output: {at: beyond}}), **options)
            assert [v.passed for v in bad.values()] == [name != output for name in OUTPUTS]
            assert bad[output].mismatched == 1
            assert bad[output].first_bad_index == bad[output].worst_index == (at // 25, at % 25)
            assert bad[output].worst_actual == beyond
            assert bad[output].worst_golden == golden[0]
            assert bad[output].headroom < 1
            assert bad[output].location.pattern == "one element"


@pytest.mark.parametrize("profile", ["isclose", "community-mixed-2026-07"])
def test_limits_are_inclusive(profile):
    # fp16, g = 1: 2^-9 + 2^-9 * 1 = 2^-8 exactly; both neighbours exist on the fp16 grid.
    golden = np.ones(100)
    options = {"options": {"rtol": 2.0**-9, "atol": 2.0**-9}} if profile == "isclose" else {}
    errors = {"first": {0: 1 + 2.0**-8, 99: 1 - 2.0**-8}}
    on_limit = judge(profile, "fp16", golden, planted(golden, errors), **options)["first"]
    assert on_limit.passed
    assert on_limit.mismatched == 0
    if profile == "isclose":
        assert on_limit.headroom == 1.0
    past = judge(profile, "fp16", golden, planted(golden, {"first": {0: 1 + 2.0**-8 + 2.0**-10}}), **options)["first"]
    assert past.mismatched == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("profile", sorted(MIXED))
def test_mixed_counts_one_percent_exactly(profile, dtype):
    rtol, atol, cap = MIXED[profile][dtype]
    golden = np.full(100, 0.25)
    limit = atol + rtol * F(0.25)
    within, beyond = neighbours(0.25, limit, dtype, 1)
    assert F(beyond) - F(0.25) <= cap, "the cap must not decide here"
    for output in OUTPUTS:
        for at in POSITIONS:
            one = judge(profile, dtype, golden, planted(golden, {output: {at: beyond}}))
            assert all(v.passed for v in one.values())
            assert one[output].mismatched == 1
            other = (at + 1) % 100
            two = judge(profile, dtype, golden, planted(golden, {output: {at: beyond, other: beyond}}))
            assert not two[output].passed
            assert two[output].mismatched == 2
            assert two[output].headroom == pytest.approx(0.5)
            fine = judge(profile, dtype, golden, planted(golden, {output: dict.fromkeys(range(100), within)}))
            assert fine[output].passed
            assert fine[output].mismatched == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("profile", sorted(MIXED))
@pytest.mark.parametrize("base", [0.25, 1024.0])
def test_mixed_caps_the_largest_error(profile, dtype, base):
    """At 0.25 the cap decides, at 1024 32 ULP of the golden for the 16-bit types."""
    cap = max(MIXED[profile][dtype][2], 32 * naive_ulp(base, dtype))
    within, beyond = neighbours(base, cap, dtype, 1)
    golden = np.full(100, base)
    for at in POSITIONS:
        good = judge(profile, dtype, golden, planted(golden, {"second": {at: within}}))["second"]
        assert good.passed, good.reason
        bad = judge(profile, dtype, golden, planted(golden, {"second": {at: beyond}}))["second"]
        assert not bad.passed
        assert "cap" in bad.reason
        assert bad.worst_index == (at // 25, at % 25)
        assert bad.limit == pytest.approx(float(cap))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sign", [1, -1])
def test_mere_mare_maximum(dtype, sign):
    base = 0.25
    limit = 10 * MERE[dtype] * (F(base) + F(1e-7))
    within, beyond = neighbours(base, limit, dtype, sign)
    golden = np.full(100, base)
    for output in OUTPUTS:
        for at in POSITIONS:
            good = judge("community-mere-mare-2026-04", dtype, golden, planted(golden, {output: {at: within}}))
            assert good[output].passed
            bad = judge("community-mere-mare-2026-04", dtype, golden, planted(golden, {output: {at: beyond}}))
            assert not bad[output].passed
            assert bad[output].mismatched == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_mere_mare_mean(dtype):
    """All elements off by the same: the mean decides, no single element is at fault."""
    base = 0.25
    within, beyond = neighbours(base, MERE[dtype] * (F(base) + F(1e-7)), dtype, 1)
    golden = np.full(100, base)
    good = judge(
        "community-mere-mare-2026-04", dtype, golden, planted(golden, {"first": dict.fromkeys(range(100), within)})
    )
    assert good["first"].passed
    bad = judge(
        "community-mere-mare-2026-04", dtype, golden, planted(golden, {"first": dict.fromkeys(range(100), beyond)})
    )
    assert not bad["first"].passed
    assert bad["first"].mismatched == 0
    assert "mean r" in bad["first"].reason


def test_mere_mare_is_exclusive():
    """A golden for which the relative error is exactly 10 T in float64: not below it, so not passed.

    e4m3, where 10 T = 1.25 is so large that float64 has goldens that hit it.
    """
    limit = 10 * 2.0**-3

    def error(actual, golden):
        return (actual - golden) / (golden + 1e-7)

    actual, exact = next(
        (a, g)
        for a in np.arange(8, 16) / 8
        for k in range(-50, 50)
        if error(a, g := (a - limit * 1e-7) / (1 + limit) + k * 2.0**-53) == limit
    )
    above = next(exact + k * 2.0**-53 for k in range(1, 9) if error(actual, exact + k * 2.0**-53) < limit)
    for golden, passed in ((exact, False), (above, True)):
        values = np.full(100, actual)
        full = np.full(100, actual)
        full[7] = golden
        found = judge("community-mere-mare-2026-04", "e4m3", full, dict.fromkeys(OUTPUTS, values))["first"]
        assert found.passed is passed
        assert found.mismatched == (0 if passed else 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exact(dtype):
    base = 1.0 + 2.0**-30  # rounds to 1 in every dtype
    golden = np.full(100, base)
    ones = np.ones(100)
    step = float(naive_ulp(1.0, dtype))
    assert all(v.passed for v in judge("exact", dtype, golden, dict.fromkeys(OUTPUTS, ones)).values())
    for output in OUTPUTS:
        for at in POSITIONS:
            for wrong in (1 + step, 1 - step / 2):
                bad = judge("exact", dtype, golden, planted(ones, {output: {at: wrong}}))
                assert not bad[output].passed
                assert bad[output].mismatched == 1
                assert bad[output].worst_actual == wrong
                assert bad[output].headroom == 0


def test_exact_takes_zeros_and_nans_as_equal():
    golden = np.array([0.0, -0.0, np.nan, np.inf] * 25)
    actual = np.array([-0.0, 0.0, -np.nan, np.inf] * 25)
    assert judge("exact", "fp16", golden, dict.fromkeys(OUTPUTS, actual))["first"].passed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "profile", [n for n in profiles.names() if n not in ("isclose", "commercial-l0", "commercial-l1", "commercial-l2")]
)
def test_faults_fail_every_profile(profile, dtype):
    """NaN, Inf, signs, finite against Inf and the reverse, everywhere."""
    inf, nan = np.inf, np.nan
    faults = [
        (1.0, nan),
        (1.0, inf),
        (1.0, -inf),
        (nan, 1.0),
        (nan, inf),
        (inf, 1.0),
        (inf, -inf),
        (-inf, inf),
        (inf, nan),
        (inf, -LARGEST[dtype]),
    ]
    if not profile.startswith("community-mixed"):
        faults.append((inf, LARGEST[dtype]))
    for output in OUTPUTS:
        for at in POSITIONS:
            for wanted, got in faults:
                golden = np.ones(100)
                golden[at] = wanted
                bad = judge(profile, dtype, golden, planted(golden, {output: {at: got}}), magnitude=1.0)
                assert not bad[output].passed, (wanted, got)
                assert bad[output].first_bad_index == (at // 25, at % 25)
                assert bad[output].headroom == 0
                # The untouched output meets NaN with NaN and Inf with Inf.
                assert all(v.passed for name, v in bad.items() if name != output)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("profile", sorted(MIXED))
def test_mixed_lets_the_largest_value_pass_for_inf(profile, dtype):
    golden = np.ones(100)
    golden[3], golden[4] = np.inf, -np.inf
    actual = planted(golden, {"first": {3: LARGEST[dtype], 4: -LARGEST[dtype]}})
    assert judge(profile, dtype, golden, actual)["first"].passed
    # A finite golden that rounds to Inf is such a golden too.
    golden[3] = LARGEST[dtype] * (1 + 2.0**-8)
    assert judge(
        profile,
        dtype,
        golden,
        planted(np.where(np.isfinite(golden), 1.0, golden), {"first": {3: LARGEST[dtype]}, "second": {3: np.inf}}),
    )["first"].passed


@pytest.mark.parametrize("dtype", ["fp16"])
@pytest.mark.parametrize("profile", ["ut", "community-mere-mare-2026-04", "exact", "bound"])
def test_golden_beyond_the_largest_value_is_inf(profile, dtype):
    golden = np.ones(100)
    golden[5] = 65520.0  # the tie rounds to Inf
    right = planted(np.ones(100), {name: {5: np.inf} for name in OUTPUTS})
    assert judge(profile, dtype, golden, right, magnitude=1.0)["first"].passed
    wrong = planted(np.ones(100), {name: {5: -np.inf} for name in OUTPUTS})
    assert not judge(profile, dtype, golden, wrong, magnitude=1.0)["first"].passed


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_zeros_fail(dtype):
    golden = np.linspace(0.5, 2, 100)
    zeros = dict.fromkeys(OUTPUTS, np.zeros(100))
    for profile in profiles.names():
        if profile.startswith("commercial"):
            continue
        options = {"options": {"rtol": 1e-3, "atol": 1e-3}} if profile == "isclose" else {}
        bad = judge(profile, dtype, golden, zeros, **options)["first"]
        assert not bad.passed
        assert bad.mismatched == 100
        assert bad.location.pattern == "all"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("wanted", [1.0, np.nan])
def test_an_element_not_written_fails_even_where_the_golden_is_nan(dtype, wanted):
    golden = np.ones(100)
    golden[42] = wanted
    for profile in ("ut", "bound", "exact", "community-mere-mare-2026-04", *MIXED):
        case = make_case({"first": SHAPE}, dtype)
        actual = golden.astype(np.float32).astype(STORAGE[dtype])
        actual.view(f"u{actual.itemsize}")[42] = FILL[dtype]
        verdict = judge_case(
            case,
            make_operator(["first"]),
            blocks("first", golden, magnitude=1.0),
            {"first": actual.reshape(SHAPE)},
            profiles=[profile],
            trust=False,
        )
        (output,) = verdict.outputs
        assert not output.passed
        assert output.unwritten == 1
        assert "1 of 100 elements not written" in output.reason
        assert output.location.unwritten == 1


def test_ut_and_bound_disagree():
    # A correct half result of 7,200 is 2 away from a golden between two half values.
    golden = np.full(100, 7202.0)
    actual = dict.fromkeys(OUTPUTS, np.full(100, 7200.0))
    assert not judge("ut", "fp16", golden, actual)["first"].passed
    assert judge("bound", "fp16", golden, actual)["first"].passed
    # A float32 result off by 1e-6 at 1e-3 is 10^4 roundings away, yet within the unit test's tolerance.
    small = np.full(100, 2.0**-10)
    off = dict.fromkeys(OUTPUTS, np.full(100, 2.0**-10 + 2.0**-20))
    assert judge("ut", "fp32", small, off)["first"].passed
    assert not judge("bound", "fp32", small, off)["first"].passed


def commercial(level, dtype, golden, actual, benchmark):
    case = make_case({"y": (len(golden),)}, dtype)
    verdict = judge_case(
        case,
        make_operator(["y"]),
        blocks("y", np.array(golden), size=7),
        {"y": stored(actual, dtype)},
        profiles=[f"commercial-l{level}"],
        benchmark={"y": stored(benchmark, dtype)},
        trust=False,
    )
    return verdict.outputs[0]


@pytest.mark.parametrize(("level", "limits_"), [(0, (10, 2, 2)), (1, (5, 1.5, 1.5)), (2, (2, 1.2, 1.2))])
@pytest.mark.parametrize("dtype", DTYPES)
def test_commercial_ratios(level, limits_, dtype):
    """The benchmark is 8 steps off everywhere: its errors are known, and so are the ratios of what is planted."""
    step = float(naive_ulp(1.0, dtype))
    golden = np.ones(100)
    bench = np.ones(100) + 8 * step
    # Mean and RMS: everything off by k steps gives the ratio k/8 in all three errors.
    most = int(8 * limits_[1])
    assert commercial(level, dtype, golden, golden + most * step, bench).passed
    worse = commercial(level, dtype, golden, golden + (most + 1) * step, bench)
    assert not worse.passed
    assert "mean relative" in worse.reason
    # The maximum: one element of 100 off by a little more than 8 * limit steps.
    tall = golden + 8 * step
    tall[50] = 1 + 8 * (limits_[0] + 0.25) * step
    high = commercial(level, dtype, golden, tall, bench)
    assert not high.passed
    assert "max relative" in high.reason


@pytest.mark.parametrize("at", POSITIONS)
def test_commercial_zero_over_zero_and_something_over_zero(at):
    golden = np.ones(100)
    assert commercial(1, "fp16", golden, golden, golden).passed
    off = golden.copy()
    off[at] += 2.0**-10
    assert not commercial(1, "fp16", golden, off, golden).passed


def test_commercial_counts_small_values():
    """abs(g) < 2^-11 with an error beyond 2^-16: at most twice the benchmark's count, taken as 1 or more."""
    golden = np.full(100, 2.0**-12)
    golden[50:] = 1.0
    bench = golden.copy()
    bench[0] += 2.0**-15
    bench[60:] += 2.0**-3  # so that the ratios of errors do not decide

    def count(k):
        actual = golden.copy()
        actual[:k] += 2.0**-15
        return commercial(1, "fp16", golden, actual, bench)

    assert count(2).passed, count(2).reason
    assert not count(3).passed
    assert "small values" in count(3).reason
    quiet = golden.copy()
    quiet[60:] += 2.0**-3
    two = golden.copy()
    two[:2] += 2.0**-15
    three = golden.copy()
    three[:3] += 2.0**-15
    # Not a single one in the benchmark still allows two.
    assert "small values" not in commercial(1, "fp16", golden, two, quiet).reason
    assert "small values" in commercial(1, "fp16", golden, three, quiet).reason


@pytest.mark.parametrize(
    ("wanted", "got"), [(1.0, np.nan), (np.inf, 1.0), (np.nan, 1.0), (1.0, np.inf), (np.inf, -np.inf)]
)
def test_commercial_faults(wanted, got):
    golden = np.ones(100)
    golden[99] = wanted
    actual = golden.copy()
    actual[99] = got
    assert commercial(0, "fp32", golden, golden, golden).passed
    assert not commercial(0, "fp32", golden, actual, golden).passed


def test_undecided_where_the_radius_could_change_the_verdict():
    golden = np.ones(4)
    case = make_case({"y": (4,)}, "fp16")

    def run(error, radius, profile="isclose"):
        actual = stored(golden + np.array([0, 0, error, 0]), "fp16")
        verdict = judge_case(
            case,
            make_operator(["y"]),
            blocks("y", golden, radius=radius),
            {"y": actual},
            profiles=[profile],
            trust=False,
            options={"rtol": 0.0, "atol": 2.0**-8},
        )
        return verdict, verdict.outputs[0]

    verdict, output = run(2.0**-8, 2.0**-40)
    assert not output.decided
    assert not verdict.decided
    assert "not accurate enough" in output.reason
    assert run(2.0**-8 - 2.0**-10, 2.0**-40)[1].decided
    # A definite failure wins over an open element.
    verdict, output = run(2.0**-8 + 2.0**-9, 2.0**-40)
    assert not output.passed
    assert output.decided
    assert verdict.decided
    # exact: open only where the radius leaves two roundings and the actual is one of them.
    golden = np.full(4, 1 + 2.0**-11)
    far = judge_case(
        case,
        make_operator(["y"]),
        blocks("y", golden, radius=2.0**-40),
        {"y": stored(np.full(4, 1.5), "fp16")},
        profiles=["exact"],
        trust=False,
    ).outputs[0]
    assert not far.passed
    assert far.decided
    near = judge_case(
        case,
        make_operator(["y"]),
        blocks("y", golden, radius=2.0**-40),
        {"y": stored(np.full(4, 1 + 2.0**-10), "fp16")},
        profiles=["exact"],
        trust=False,
    ).outputs[0]
    assert not near.decided


@pytest.mark.parametrize(
    ("profile", "base", "error"),
    [
        ("community-mere-mare-2026-04", 1.0, 10 * 2.0**-10),
        # 2 of 100 elements lie on the tolerance: counted as beyond they fail the case, as within they pass it.
        ("community-mixed-2026-07", 1.0, 2.0**-8),
        # The largest error lies on its cap, 32 ULP of 1024.
        ("community-mixed-2026-09", 1024.0, 32.0),
    ],
)
@pytest.mark.parametrize("side", [1e-9, -1e-9])
def test_undecided_statistics(profile, base, error, side):
    golden = np.full(100, base)
    actual = golden.copy()
    count = 2 if profile.endswith("07") else 1
    actual[:count] += error
    if profile.startswith("community-mere"):
        # Move the goldens, so that the error lies just beside the limit.
        golden[0] = actual[0] - error * (1 + 1e-7)
    golden[:count] -= side
    case = make_case({"y": (100,)}, "fp16")

    def run(radius):
        return judge_case(
            case,
            make_operator(["y"]),
            blocks("y", golden, radius=radius),
            {"y": actual.astype("<f2")},
            profiles=[profile],
            trust=False,
        )

    wide, narrow = run(1e-4), run(0.0)
    assert not wide.outputs[0].decided
    assert wide.outputs[0].passed
    assert not wide.decided
    assert "not accurate enough" in wide.outputs[0].reason
    assert narrow.decided
    assert narrow.passed is (side < 0)


def test_profiles_say_what_they_have():
    case = make_case({"y": (1,)}, "fp64")
    for name in ("ut", "sample", "community-mere-mare-2026-04", "community-mixed-2026-07", "commercial-l0"):
        with pytest.raises(UsageError, match=r"no tolerance for fp64; it has fp32"):
            judge_case(case, make_operator(["y"]), [], {"y": np.zeros(1)}, profiles=[name])
    with pytest.raises(UsageError, match="did you mean 'bound'"):
        profiles.get("bond")


def test_definitions_are_complete_and_plain():
    import json

    found = profiles.definitions(profiles.names())
    assert sorted(found) == profiles.names()
    assert json.loads(json.dumps(found)) == found
    assert found["ut"]["tolerance"] == {"fp32": 1e-5, "fp16": 2e-2, "bf16": 8e-2}
    assert found["commercial-l2"]["campaign"] == {"cases": 30000, "cases per dtype": 700, "output elements": 1000000}
