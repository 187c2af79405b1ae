"""Plain scalars: every usual number, and nothing that silently becomes something else; PyYAML is the oracle."""

from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gnll_cli.cases.scalars import ScalarError, resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("7", 7),
        ("-12", -12),
        ("+3", 3),
        ("1e-6", 1e-6),
        ("1.0e-6", 1e-6),
        ("1E-6", 1e-6),
        ("0.000001", 1e-6),
        (".5", 0.5),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("+1.5e+3", 1500.0),
        ("1e3", 1000.0),
        ("00.5", 0.5),
        ("123456789012345678901234567890", 1.2345678901234568e29),
        ("true", True),
        ("False", False),
        ("none", "none"),
        ("axis:-1", "axis:-1"),
        ("fp16", "fp16"),
        ("uniform(0, 1)", "uniform(0, 1)"),
        ("7x513", "7x513"),
        ("-", "-"),
        ("+", "+"),
        ("e5", "e5"),
        ("1e", "1e"),
        ("--1", "--1"),
        ("information", "information"),
        ("nano", "nano"),
        ("-largest", "-largest"),
    ],
)
def test_values(text: str, value: object) -> None:
    found = resolve(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["inf", ".inf", "+inf", "Inf", ".INF", "infinity"])
def test_infinity(text: str) -> None:
    assert resolve(text) == math.inf
    assert resolve(f"-{text.lstrip('+')}") == -math.inf


@pytest.mark.parametrize("text", ["nan", "NaN", ".nan", ".NAN"])
def test_nan(text: str) -> None:
    value = resolve(text)
    assert isinstance(value, float)
    assert math.isnan(value)


def test_the_sign_of_zero_is_kept() -> None:
    for text in ("-0", "-0.0", "-0e5"):
        assert math.copysign(1, resolve(text)) == -1, text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("010", "write 10 "),
        ("-007", "write -7 "),
        ("00", "write 0 "),
        ("09", "write 9 "),
        ("0o10", "write 8 "),
        ("0x10", "write 16 "),
        ("0b11", "write 3 "),
        ("0x", "in decimal"),
        ("1_000", "write 1000 "),
        ("1_000.5", "write 1000.5 "),
        ("1:30", "base 60"),
        ("-190:20:30", "base 60"),
        ("yes", "write true "),
        ("No", "write false "),
        ("ON", "write true "),
        ("off", "write false "),
        ("y", "write true "),
        ("N", "write false "),
        ("~", "write a value"),
        ("null", "write a value"),
        ("NULL", "write a value"),
        ("", "write a value"),
        ("2001-12-14", "date"),
        ("2001-12-14 21:59:43", "date"),
        ("1e999", "write inf"),
        ("-1e999", "write inf"),
        ("9" * 500, "400"),
    ],
)
def test_what_yaml_would_change_is_refused_with_the_text_as_written(text: str, advice: str) -> None:
    with pytest.raises(ScalarError) as caught:
        resolve(text)
    assert advice in f"{caught.value.what} {caught.value.hint}"
    if len(text) < 100:
        assert text in caught.value.what or not text


def _yaml_1_1(text: str) -> tuple[str, object]:
    """(tag, value) that PyYAML's own rules give a plain scalar; PyYAML asks the resolver only by first character."""
    resolver = yaml.SafeLoader("")
    tag = resolver.resolve(yaml.ScalarNode, text, (True, False))
    if tag.endswith((":value", ":merge", ":yaml")):
        # = and << stand for themselves where they are values; !, & and * are indicators that no plain scalar begins with.
        return "str", text
    node = yaml.ScalarNode(tag, text)
    try:
        return tag.rsplit(":", 1)[1], resolver.construct_object(node)
    except (ValueError, OverflowError):
        return "broken", None


NUMBER_LIKE = st.text(alphabet="0123456789+-._eExXoOb:aAfFnNiI", max_size=12)
WORDS = st.sampled_from(
    [
        "yes",
        "no",
        "on",
        "off",
        "true",
        "false",
        "null",
        "~",
        "y",
        "n",
        "nan",
        ".inf",
        "",
        "=",
        "<<",
        "!",
        "&",
        "*",
        "no1",
    ]
)


@given(st.one_of(NUMBER_LIKE, WORDS, st.text(max_size=10)))
def test_a_value_is_never_another_than_yaml_1_1_would_give(text: str) -> None:
    """Either an error, or what PyYAML gives, or a number that PyYAML fails to see as one."""
    try:
        value = resolve(text)
    except ScalarError:
        return
    tag, theirs = _yaml_1_1(text)
    if tag in ("null", "timestamp", "broken"):
        pytest.fail(f"{text!r} is {tag} to YAML 1.1 and {value!r} here")
    if tag in ("bool", "int"):
        assert value == theirs
        assert isinstance(value, bool) == (tag == "bool")
    elif tag == "float":
        assert value == theirs or (math.isnan(value) and math.isnan(theirs))  # type: ignore[arg-type]
    elif isinstance(value, str):
        assert value == text
    else:
        assert not isinstance(value, bool)
        assert str(float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))) == str(float(value))


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["{!r}", "{:.17g}", "{:.20e}", "{:E}"]))
def test_every_writing_of_a_float_is_that_float(value: float, form: str) -> None:
    text = form.format(value)
    expected = float(text)
    if math.isinf(expected):
        return
    found = resolve(text)
    assert float(found) == expected
    assert math.copysign(1, float(found)) == math.copysign(1, expected)
