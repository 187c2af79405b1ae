"""Plain YAML scalars resolved by our own rules, so that no value silently becomes something else.

Numbers are numbers however they are written (``1e-6``, ``.5``, ``1.``); what YAML 1.1 or 1.2 would turn into an octal
or base-60 number, a boolean, a null or a date is an error that shows the text as written.
"""

from __future__ import annotations

import math
import re

Scalar = bool | int | float | str

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_WORDS = {"nan": math.nan, "inf": math.inf, "infinity": math.inf}
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+", re.ASCII)
_PREFIXED = re.compile(r"[-+]?0[xXoObB][0-9a-fA-F_]*", re.ASCII)
_UNDERSCORED = re.compile(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9_]+)?", re.ASCII)
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?", re.ASCII)
_BOOLEANS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
_DIGITS = 400


class ScalarError(ValueError):
    """``what`` is wrong with a scalar and ``hint`` how to write it."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


def resolve(text: str) -> Scalar:
    """The value of a plain (unquoted, untagged) scalar; ``ScalarError`` where its meaning is not the text's."""
    if text == "" or text == "~" or text in ("null", "Null", "NULL"):
        shown = f"'{text}' is a null to YAML" if text else "there is no value here"
        raise ScalarError(shown, f'write a value, or "{text}" in quotes for the text' if text else "write a value")
    first = text[0]
    if first in "tTfFyYnNoO":
        return _word(text)
    if first not in "0123456789+-.iI":
        return text
    return _number(text)


def _word(text: str) -> Scalar:
    if text in ("true", "True", "TRUE"):
        return True
    if text in ("false", "False", "FALSE"):
        return False
    lower = text.lower()
    if lower in _BOOLEANS:
        raise ScalarError(
            f"'{text}' is a boolean to some YAML readers and text to others",
            f'write {_BOOLEANS[lower]} for the boolean, or "{text}" in quotes for the text',
        )
    return math.nan if lower == "nan" else text


def _number(text: str) -> Scalar:
    if len(text) > _DIGITS and not text.strip("+-.0123456789eEabcdfABCDFxXoO_:"):
        raise ScalarError(f"a number of {len(text)} characters", f"write it in at most {_DIGITS}")
    if _INTEGER.fullmatch(text):
        value = int(text)
        if value == 0 and text.startswith("-"):
            # The sign of a zero matters in tensor data.
            return -0.0
        return value if -(2**63) <= value < 2**63 else _float(text)
    if _LEADING_ZERO.fullmatch(text):
        digits = text.lstrip("+-").lstrip("0") or "0"
        sign = "-" if text.startswith("-") else ""
        raise ScalarError(
            f"'{text}' is octal to some YAML readers and decimal to others",
            f'write {sign}{digits} for the decimal number, or "{text}" in quotes for the text',
        )
    if _FLOAT.fullmatch(text):
        return _float(text)
    word = text.lstrip("+-").removeprefix(".").lower()
    if word in _WORDS and re.fullmatch(r"[-+]?\.?[A-Za-z]+", text):
        return -_WORDS[word] if text.startswith("-") else _WORDS[word]
    _refuse_look_alikes(text)
    return text


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        shown = text if len(text) <= 40 else f"{text[:37]}..."
        raise ScalarError(f"'{shown}' is beyond the largest float64", "write inf for the infinity")
    return number


def _refuse_look_alikes(text: str) -> None:
    if _PREFIXED.fullmatch(text):
        try:
            decimal = f"{int(text.replace('_', ''), 0)} for the number"
        except ValueError:
            decimal = "the number in decimal"
        raise ScalarError(
            f"'{text}' is a number in another base", f'write {decimal}, or "{text}" in quotes for the text'
        )
    if "_" in text and _UNDERSCORED.fullmatch(text):
        plain = text.replace("_", "")
        raise ScalarError(
            f"'{text}' is a number with underscores to some YAML readers and text to others",
            f'write {plain} for the number, or "{text}" in quotes for the text',
        )
    if _BASE_60.fullmatch(text):
        raise ScalarError(
            f"'{text}' is a number in base 60 to some YAML readers and text to others",
            f'write the number in decimal, or "{text}" in quotes for the text',
        )
    if _DATE.fullmatch(text):
        raise ScalarError(f"'{text}' is a date to some YAML readers", f'write "{text}" in quotes for the text')
