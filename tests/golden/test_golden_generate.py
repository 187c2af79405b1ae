"""Drawing, against Philox words computed here in plain integers and against every kind stated element by element."""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnll_cli import dtypes
from gnll_cli.cases.model import Distribution
from gnll_cli.errors import UsageError
from gnll_cli.golden import generate
from gnll_cli.golden.generate import draw, raw_words

MASK = 2**64 - 1


def philox(counter, key):
    """Philox 4x64-10 as published (Salmon et al. 2011), in Python integers."""
    c, (k0, k1) = list(counter), key
    for _ in range(10):
        p0, p1 = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [(p1 >> 64) ^ c[1] ^ k0, p1 & MASK, (p0 >> 64) ^ c[3] ^ k1, p0 & MASK]
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) & MASK, (k1 + 0xBB67AE8584CAA73B) & MASK
    return c


# The known answers for philox4x64-10 that Random123 publishes with its implementation (counter, key, result).
KNOWN = [
    ([0] * 4, [0] * 2, [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]),
    ([MASK] * 4, [MASK] * 2, [0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0]),
    (
        [0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89],
        [0x452821E638D01377, 0xBE5466CF34E90C6C],
        [0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6],
    ),
]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_published_known_answers(counter, key, words):
    assert philox(counter, key) == words
    # The bit generator increments its 256-bit counter before it makes a block.
    number = (sum(c << (64 * k) for k, c in enumerate(counter)) - 1) % 2**256
    generator = np.random.Philox(counter=number, key=key[0] | key[1] << 64)
    assert generator.random_raw(4).tolist() == words


def words_of(seed, tensor, lane, start, stop):
    """The words that the documentation of the drawing promises: key (seed, hash of the name), counter (block + 1, 0, 0, lane)."""
    key = (seed, int.from_bytes(hashlib.sha256(tensor.encode()).digest()[:8], "little"))
    return [philox([k // 4 + 1, 0, 0, lane], key)[k % 4] for k in range(start, stop)]


@pytest.mark.parametrize(("start", "stop"), [(0, 9), (3, 4), (5, 16), (2**40 + 1, 2**40 + 7)])
@pytest.mark.parametrize("lane", [0, 1, 2])
def test_words_at_any_place(start, stop, lane):
    for seed, tensor in ((0, "input"), (2**64 - 1, "var"), (123456789, "gradOutput")):
        assert raw_words(seed, tensor, lane, start, stop).tolist() == words_of(seed, tensor, lane, start, stop)


def dist(kind, *args):
    return Distribution(kind, args, f"{kind}({', '.join(str(a) for a in args)})")


def naive(distribution, seed, tensor, i, lane=0):
    """Element i of a distribution, as exactly as its definition allows, in float64."""
    args = distribution.args

    def piece32():
        word = words_of(seed, tensor, lane, i // 2, i // 2 + 1)[0]
        return (word >> (32 * (i % 2))) & 0xFFFFFFFF

    if distribution.kind == "uniform":
        return args[0] + piece32() * ((args[1] - args[0]) * 2.0**-32)
    if distribution.kind == "normal":
        pair = words_of(seed, tensor, lane, 2 * i, 2 * i + 2)
        total = sum((word >> (16 * k)) & 0xFFFF for word in pair for k in range(4))
        return args[0] + (total - 262140.0) * (args[1] / math.sqrt(8 * (65536**2 - 1) / 12))
    if distribution.kind == "integers":
        return float(args[0] + (piece32() * int(args[1] - args[0] + 1) >> 32))
    if distribution.kind == "spread":
        word = words_of(seed, tensor, lane, i, i + 1)[0]
        low = math.floor(math.log2(args[0]))
        count = math.floor(math.log2(args[1])) - low + 1
        value = Fraction(2) ** (low + ((word >> 32) * count >> 32)) * (1 + Fraction(word & 0xFFFFFFFF, 2**32))
        return min(max(float(value), args[0]), args[1])
    if distribution.kind == "constant":
        return args[0]
    if distribution.kind in ("cycle", "values"):
        return args[i % len(args)]
    if distribution.kind == "signed":
        bit = (words_of(seed, tensor, lane, i // 64, i // 64 + 1)[0] >> (i % 64)) & 1
        value = naive(args[0], seed, tensor, i, lane + 1)
        return -value if bit else value
    assert distribution.kind == "sprinkle"
    every = int(args[1])
    if i % every == every // 2:
        return args[2 + i // every % (len(args) - 2)]
    return naive(args[0], seed, tensor, i, lane)


KINDS = [
    dist("uniform", -1.0, 1.0),
    dist("uniform", 0.5, 2.0),
    dist("normal", 3.0, 0.5),
    dist("integers", -3.0, 4.0),
    dist("integers", 0.0, 2.0**32 - 1),
    dist("spread", 3e-30, 7e20),
    dist("spread", 1.25, 1.5),
    dist("constant", 0.1),
    dist("cycle", 1.0, 2.0, 5.0),
    dist("values", 4.0, 3.0, 2.0),
    dist("signed", dist("integers", 1.0, 3.0)),
    dist("signed", dist("signed", dist("normal", 5.0, 1.0))),
    dist("sprinkle", dist("uniform", 0.0, 1.0), 5.0, 7.0, 8.0, 9.0),
    dist("signed", dist("sprinkle", dist("constant", 1.0), 3.0, 2.0)),
    dist("sprinkle", dist("signed", dist("constant", 1.0)), 1.0, 2.0, 3.0),
]


@pytest.mark.parametrize("distribution", KINDS, ids=lambda d: d.text)
@pytest.mark.parametrize(("start", "stop"), [(0, 70), (63, 66), (129, 200), (5, 5)])
def test_every_kind_element_by_element(distribution, start, stop):
    found = draw(distribution, 42, "input", dtypes.get("fp64"), start, stop)
    assert found.tolist() == [naive(distribution, 42, "input", i) for i in range(start, stop)]


@given(
    st.sampled_from(KINDS),
    st.integers(0, 3000),
    st.integers(1, 400),
    st.data(),
    st.sampled_from(["fp32", "fp16", "bf16"]),
)
@settings(max_examples=150, deadline=None)
def test_any_range_is_the_same_elements(distribution, start, length, data, dtype):
    stop = start + length
    cut = data.draw(st.integers(start, stop))
    whole = draw(distribution, 9, "var", dtypes.get(dtype), start, stop)
    parts = [draw(distribution, 9, "var", dtypes.get(dtype), a, b) for a, b in ((start, cut), (cut, stop))]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    assert whole.dtype == dtypes.get(dtype).storage


def test_tensors_and_seeds_have_data_of_their_own():
    same = dist("uniform", 0.0, 1.0)
    drawn = [draw(same, seed, name, dtypes.get("fp32"), 0, 64) for seed in (1, 2) for name in ("input", "target")]
    assert len({values.tobytes() for values in drawn}) == 4
    for a in range(4):
        for b in range(a):
            assert abs(np.corrcoef(drawn[a], drawn[b])[0, 1]) < 0.5


def test_moments():
    """Means and deviations within five standard errors of 200,000 draws."""
    n = 200_000
    get = lambda d: draw(d, 7, "input", dtypes.get("fp64"), 0, n)  # noqa: E731
    uniform = get(dist("uniform", -1.0, 1.0))
    assert abs(uniform.mean()) < 5 * math.sqrt(1 / 3 / n)
    assert -1 <= uniform.min() < -0.999 < 0.999 < uniform.max() < 1
    normal = get(dist("normal", 2.0, 3.0))
    assert abs(normal.mean() - 2) < 5 * 3 / math.sqrt(n)
    assert abs(normal.std() - 3) < 5 * 3 / math.sqrt(n)
    counts = np.bincount(get(dist("integers", 0.0, 9.0)).astype(int), minlength=10)
    assert (abs(counts - n / 10) < 5 * math.sqrt(n / 10)).all()
    signs = np.sign(get(dist("signed", dist("integers", 1.0, 3.0))))
    assert abs(signs.mean()) < 5 / math.sqrt(n)
    exponents = np.frexp(get(dist("spread", 1.0, 255.0)))[1] - 1
    assert (abs(np.bincount(exponents, minlength=8) - n / 8) < 5 * math.sqrt(n / 8)).all()


@pytest.mark.parametrize(
    ("word", "fp32", "fp16", "bf16"),
    [
        ("largest", 2.0**128 - 2.0**104, 65504.0, 2.0**128 - 2.0**120),
        ("-largest", -(2.0**128 - 2.0**104), -65504.0, -(2.0**128 - 2.0**120)),
        ("smallest", 2.0**-126, 2.0**-14, 2.0**-126),
        ("subnormal_min", 2.0**-149, 2.0**-24, 2.0**-133),
        ("-subnormal_min", -(2.0**-149), -(2.0**-24), -(2.0**-133)),
        ("subnormal_max", 2.0**-126 - 2.0**-149, 2.0**-14 - 2.0**-24, 2.0**-126 - 2.0**-133),
        ("inf", math.inf, math.inf, math.inf),
        ("+inf", math.inf, math.inf, math.inf),
        ("-inf", -math.inf, -math.inf, -math.inf),
    ],
)
def test_limits_are_those_of_the_dtype(word, fp32, fp16, bf16):
    for name, value in (("fp32", fp32), ("fp16", fp16), ("bf16", bf16)):
        for distribution in (dist("constant", word), dist("sprinkle", dist("constant", 0.0), 1.0, word)):
            assert float(draw(distribution, 0, "x", dtypes.get(name), 0, 1)[0]) == value


def test_zeros_keep_their_sign_and_nan_is_nan():
    drawn = draw(dist("cycle", "+0", "-0", "nan", -0.0), 0, "x", dtypes.get("fp32"), 0, 4)
    assert np.signbit(drawn).tolist() == [False, True, False, True]
    assert np.isnan(drawn).tolist() == [False, False, True, False]


def test_rounded_to_the_dtype_once():
    """1 + 2^-8 + 2^-30 is above the middle of two bfloat16 numbers, yet float32 would round it onto the middle."""
    value = 1 + 2.0**-8 + 2.0**-30
    assert float(draw(dist("constant", value), 0, "x", dtypes.get("bf16"), 0, 1)[0]) == 1 + 2.0**-7


@pytest.mark.parametrize(
    ("distribution", "says"),
    [
        (dist("gauss", 0.0, 1.0), "unknown distribution"),
        (dist("constant", "huge"), "no number"),
        (dist("spread", 0.0, 1.0), "no spread"),
        (dist("spread", 2.0, 1.0), "no spread"),
        (dist("integers", 2.0, 1.0), "no range of integers"),
        (dist("integers", 0.5, 1.0), "no range of integers"),
        (dist("integers", 0.0, 2.0**40), "no range of integers"),
        (dist("signed", 1.0), "needs a distribution"),
        (dist("constant", dist("constant", 1.0)), "a number is needed"),
    ],
)
def test_what_makes_no_distribution_is_told(distribution, says):
    with pytest.raises(UsageError, match=says):
        draw(distribution, 0, "x", dtypes.get("fp32"), 0, 4)


# Sums made with `naive` above and rounding by exact fractions: a change of any of them means that every golden file changes.
PINS = {
    "fp32": {
        "uniform(-1.0, 1.0)": "b809c458fef8d4b9",
        "uniform(0.5, 2.0)": "9a0b8e448f3bb94c",
        "normal(3.0, 0.5)": "ca6dbd3ca2e20c4f",
        "integers(-3.0, 4.0)": "5c389b179fc499bf",
        "integers(0.0, 4294967295.0)": "df63a9e937c2fd48",
        "spread(3e-30, 7e+20)": "6c9ffeee0d16c732",
    },
    "fp16": {
        "uniform(-1.0, 1.0)": "b468c792798371cb",
        "uniform(0.5, 2.0)": "3f269b3400eba452",
        "normal(3.0, 0.5)": "9cf5fc71e8ba6863",
        "integers(-3.0, 4.0)": "52118d1ca6fb29cd",
        "integers(0.0, 4294967295.0)": "a0bf6d55089f5b14",
        "spread(3e-30, 7e+20)": "25e2a9b1d9d6a28d",
    },
    "bf16": {
        "uniform(-1.0, 1.0)": "67b931688df330bc",
        "uniform(0.5, 2.0)": "941d63e2999760ad",
        "normal(3.0, 0.5)": "46e01380660bad00",
        "integers(-3.0, 4.0)": "a860279a80581220",
        "integers(0.0, 4294967295.0)": "62f71c8ee45d7917",
        "spread(3e-30, 7e+20)": "85d8dbd967752e5b",
    },
}


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
def test_drawn_arrays_are_pinned(dtype):
    sums = {
        d.text: hashlib.sha256(draw(d, 2024, "input", dtypes.get(dtype), 0, 1000).tobytes()).hexdigest()[:16]
        for d in KINDS[:6]
    }
    assert sums == PINS[dtype]


def test_the_grammar_of_case_files_and_the_drawing_know_the_same_kinds():
    from gnll_cli.cases import distributions

    assert set(distributions.KINDS) | {"values"} == set(generate.KINDS) | {"file"}
