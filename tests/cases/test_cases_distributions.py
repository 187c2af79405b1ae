"""Distribution texts: grammar, canonical text, and messages."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnll_cli.cases.distributions import number, number_of, parse, values


def test_arguments_and_nesting() -> None:
    found = parse("sprinkle(normal(0, 0.5), 7, nan, +inf, -0.0, -largest)")
    assert found.kind == "sprinkle"
    inner = found.args[0]
    assert not isinstance(inner, (float, str))
    assert (inner.kind, inner.args) == ("normal", (0.0, 0.5))
    assert found.args[1:] == (7.0, "nan", "inf", "-0", "-largest")
    assert found.text == "sprinkle(normal(0, 0.5), 7, nan, inf, -0, -largest)"


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("uniform(1e-6,1.0e-5)", "uniform(1e-06, 1e-05)"),
        ("  uniform( 0.000001 ,.00001 ) ", "uniform(1e-06, 1e-05)"),
        ("constant(1.)", "constant(1)"),
        ("constant(+1)", "constant(1)"),
        ("constant(1e0)", "constant(1)"),
        ("constant(1e25)", "constant(1e+25)"),
        ("constant(INF)", "constant(inf)"),
        ("constant(+0)", "constant(0)"),
        ("constant(-0.0)", "constant(-0)"),
        ("integers(-3, 3)", "integers(-3, 3)"),
        ("signed(spread(1e-3, largest))", "signed(spread(0.001, largest))"),
    ],
)
def test_the_text_is_the_same_however_numbers_are_written(written: str, canonical: str) -> None:
    assert parse(written).text == canonical
    assert parse(canonical) == parse(written)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no distribution"),
        ("0.5", "write constant(0.5)"),
        ("nan", "write constant(nan)"),
        ("uniform", "write uniform(lo, hi)"),
        ("uniform(", "not closed"),
        ("uniform(0, 1", "not closed"),
        ("uniform(0 1)", "where a comma or ')' should be"),
        ("uniform(0, 1))", "after the end"),
        ("uniform(0,, 1)", "an argument of uniform is missing"),
        ("uniform()", "an argument of uniform is missing"),
        ("unifrom(0, 1)", "did you mean 'uniform'?"),
        ("uniform(1)", "takes 2 arguments, not 1"),
        ("uniform(1, 0)", "from low to high, not from 1 to 0"),
        ("uniform(0, inf)", "takes finite numbers, not inf"),
        ("uniform(0, smalest)", "did you mean 'smallest'?"),
        ("normal(0, -1)", "not below 0"),
        ("normal(nan, 1)", "takes finite numbers, not nan"),
        ("integers(0.5, 2)", "whole numbers"),
        ("integers(0, 1e300)", "whole numbers"),
        ("spread(0, 1)", "above 0"),
        ("spread(-smallest, 1)", "above 0"),
        ("signed(1)", "is a distribution, not 1"),
        ("uniform(normal(0, 1), 2)", "takes numbers, not normal(...)"),
        ("cycle()", "missing"),
        ("sprinkle(normal(0, 1), 0, nan)", "whole number from 1 on, not 0"),
        ("sprinkle(normal(0, 1), 2.5, nan)", "whole number from 1 on, not 2.5"),
        ("sprinkle(normal(0, 1), 3)", "takes 3 or more arguments, not 2"),
        ("constant(1e999)", "beyond every dtype"),
        ("constant(--1)", "is no number"),
        ("signed(file(x.bin))", "cannot be part"),
        ("file()", "names no file"),
        ("signed(" * 20 + "constant(1)" + ")" * 20, "deep"),
        ("cycle(" + "1, " * 5000 + "1)", "longer than"),
        ("(((((", "is no distribution"),
    ],
)
def test_messages(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_a_file_starts_at_the_folder_and_keeps_its_text() -> None:
    found = parse("file( data/a b.bin )", "some/folder")
    assert found.args == (str(Path("some/folder/data/a b.bin")),)
    assert found.text == "file(data/a b.bin)"
    assert parse("file(/abs/x.bin)", "some/folder").args == (str(Path("/abs/x.bin")),)


def test_values() -> None:
    found = values([1.0, "nan", 0.5])
    assert (found.kind, found.args, found.text) == ("values", (1.0, "nan", 0.5), "values(1, nan, 0.5)")


@given(st.floats())
def test_numbers_are_exact_or_words(value: float) -> None:
    found = number_of(value)
    if math.isnan(value):
        assert found == "nan"
    elif math.isinf(value) or (value == 0 and math.copysign(1, value) < 0):
        assert isinstance(found, str)
        assert float(found) == value
    else:
        assert found == value
    assert number(repr(value)) == found


@given(st.text(alphabet="uniformconstaegdsplcy(),. 0123456789e+-", max_size=40))
def test_any_text_parses_or_is_refused_and_canonical_text_is_stable(text: str) -> None:
    try:
        found = parse(text)
    except ValueError:
        return
    assert parse(found.text).text == found.text
