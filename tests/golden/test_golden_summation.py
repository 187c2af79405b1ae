"""Group sums against exact rational arithmetic, in any order inside a chunk and any cut between calls."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gnll_cli.golden.summation import CHUNK, GroupSums


def summed(terms, magnitudes=None, cuts=()):
    """(sums, magnitudes) of terms [groups, n], fed in pieces that end at ``cuts``."""
    magnitudes = np.abs(terms) if magnitudes is None else magnitudes
    sums = GroupSums()
    starts, stops = [0, *cuts], [*cuts, terms.shape[1]]
    with np.errstate(all="ignore"):
        for a, b in zip(starts, stops, strict=True):
            sums.add(terms[:, a:b].copy(), magnitudes[:, a:b].copy())
            sums.add_weights(magnitudes[:, a:b].copy())
        return sums.sums(), sums.magnitudes(), sums.weights()


def hard(rng, groups, n):
    """Terms over 60 binary orders whose sums cancel to almost nothing."""
    x = rng.normal(size=(groups, n)) * 2.0 ** rng.integers(-30, 30, (groups, n))
    half = n // 2
    x[:, half : 2 * half] = -x[:, :half][:, ::-1]
    x[:, 0] += rng.normal(size=groups) * 2.0**-40
    return x


@pytest.mark.parametrize(
    ("groups", "n"),
    [
        (1, 1),
        (1, 2),
        (3, 3),
        (200, 5),
        (5, 64),
        (100, 63),
        (7, 513),
        (2, 4096),
        (1, 4097),
        (3, 5000),
        (1, 8192),
        (1, 30_000),
    ],
)
def test_far_closer_than_a_rounding_of_the_magnitude(groups, n):
    terms = hard(np.random.default_rng(n), groups, n)
    sums, magnitudes, weights = summed(terms)
    for g in range(groups):
        exact = sum(map(Fraction, terms[g].tolist()))
        size = sum(abs(Fraction(t)) for t in terms[g].tolist())
        assert abs(Fraction(sums[g]) - exact) <= abs(exact) * Fraction(2) ** -53 + size * Fraction(2) ** -68
        assert abs(Fraction(magnitudes[g]) - size) <= size * Fraction(2) ** -27
        assert abs(Fraction(weights[g]) - size) <= size * Fraction(2) ** -27


@pytest.mark.parametrize("n", [2, 63, 700, CHUNK])
def test_the_order_inside_a_chunk_changes_no_bit(n):
    rng = np.random.default_rng(n)
    terms = hard(rng, 4, n)
    expected = summed(terms)
    for _ in range(5):
        order = rng.permutation(n)
        for a, b in zip(summed(terms[:, order]), expected, strict=True):
            assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("n", [CHUNK + 1, 3 * CHUNK, 5 * CHUNK + 17])
@pytest.mark.parametrize("groups", [1, 3, 70])
def test_pieces_and_neighbours_change_no_bit(groups, n):
    terms = hard(np.random.default_rng(n), groups, n)
    whole = summed(terms)
    for cuts in ((CHUNK,), tuple(range(CHUNK, n, CHUNK)), (2 * CHUNK,)):
        for a, b in zip(summed(terms, cuts=[c for c in cuts if c < n]), whole, strict=True):
            assert a.tobytes() == b.tobytes()
    alone = [summed(terms[g : g + 1]) for g in range(groups)]
    for k, part in enumerate(whole):
        assert part.tobytes() == np.concatenate([result[k] for result in alone]).tobytes()


def test_short_groups_across_or_along_are_the_same_bits():
    terms = hard(np.random.default_rng(1), 1000, 7)
    few = np.concatenate([summed(terms[k : k + 10])[0] for k in range(0, 1000, 10)])
    assert summed(terms)[0].tobytes() == few.tobytes()


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("cuts", [(), (CHUNK,), (CHUNK, 2 * CHUNK)])
def test_what_a_chunk_loses_against_another_comes_back(groups, cuts):
    """Chunk sums 2^60, 1 and -2^60: plain addition of chunks loses the 1."""
    terms = np.zeros((groups, 3 * CHUNK))
    terms[:, 5], terms[:, CHUNK], terms[:, 3 * CHUNK - 1] = 2.0**60, 1.0, -(2.0**60)
    assert summed(terms, cuts=cuts)[0].tolist() == [1.0] * groups


def test_the_ends_of_the_range():
    """Magnitudes that occur for float32 inputs lie within 2^-340 and 2^717: nothing is lost at either."""
    for scale in (2.0**-340, 2.0**600):
        terms = hard(np.random.default_rng(2), 2, 300) * scale
        for value, row in zip(summed(terms)[0], terms.tolist(), strict=True):
            exact = sum(map(Fraction, row))
            size = sum(abs(Fraction(t)) for t in row)
            assert abs(Fraction(value) - exact) <= abs(exact) * Fraction(2) ** -53 + size * Fraction(2) ** -68
    assert summed(np.zeros((2, 10)))[0].tolist() == [0, 0]


@pytest.mark.parametrize("n", [5, 5000, 20_000])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([np.inf], np.inf),
        ([-np.inf, -np.inf], -np.inf),
        ([np.inf, -np.inf], np.nan),
        ([np.nan], np.nan),
        ([np.inf, np.nan], np.nan),
    ],
)
def test_inf_stays_inf_and_nan_stays_nan(n, values, expected):
    for places in ([0, 1], [n - 1, 0], [n // 2, n - 1]):
        terms = np.random.default_rng(n).normal(size=(3, n))
        clean = summed(terms)[0]
        terms[1, places[: len(values)]] = values
        sums = summed(terms)[0]
        np.testing.assert_array_equal(sums[1], expected)
        assert sums[[0, 2]].tobytes() == clean[[0, 2]].tobytes()
