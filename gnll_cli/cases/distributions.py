"""Distribution texts: ``uniform(0.5, 2)``, ``sprinkle(normal(0, 1), 7, nan, inf)`` -> model.Distribution.

The grammar is ``NAME(ARG, ...)`` with numbers, words and nested distributions as arguments. The canonical text is the
same for every way of writing the same numbers. Drawing is the business of the golden room.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from gnll_cli.cases.model import Distribution
from gnll_cli.errors import nearest

Argument = float | str | Distribution

#: Limits and special values of a tensor's dtype; they are resolved when the data is drawn.
_LIMITS = ("largest", "smallest", "subnormal_min", "subnormal_max")
WORDS = ("nan", "inf", "-inf", "-0", *_LIMITS, *(f"-{w}" for w in _LIMITS))
#: What each kind takes, for messages.
KINDS = {
    "uniform": "uniform(lo, hi)",
    "normal": "normal(mean, std)",
    "constant": "constant(x)",
    "integers": "integers(lo, hi)",
    "spread": "spread(lo, hi)",
    "signed": "signed(DISTRIBUTION)",
    "cycle": "cycle(x, y, ...)",
    "sprinkle": "sprinkle(DISTRIBUTION, every, x, y, ...)",
    "file": "file(path)",
}
_MAX_DEPTH = 8
_MAX_TEXT = 4096
#: What fits float64 exactly; integers beyond it would not be the numbers written.
_MAX_INTEGER = 2**53

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z_0-9]*\s*\(|[(),]|[^\s(),]+)", re.ASCII)


def number_text(value: float) -> str:
    """The one text of a number: whole numbers without a fraction, everything else as Python's shortest repr."""
    if value.is_integer() and abs(value) < _MAX_INTEGER:
        return str(int(value))
    return repr(value)


def number(text: str) -> float | str:
    """A number as float, or one of ``WORDS`` (NaN, infinities and -0 are always words); ``ValueError`` otherwise."""
    word = text.strip().lower()
    unsigned = word.removeprefix("+")
    if unsigned in WORDS and not word.startswith("+-"):
        return unsigned
    if not _NUMBER.fullmatch(word):
        raise ValueError(f"'{_short(text)}' is no number; {nearest(unsigned, ['nan', 'inf', '-0', *_LIMITS])}")
    return number_of(float(word), text)


def number_of(value: float, text: str = "") -> float | str:
    """A Python number as an argument: float where finite, the words nan, inf, -inf and -0 otherwise."""
    value = float(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        if text:
            raise ValueError(f"{_short(text)} is beyond every dtype; write inf or largest")
        return "inf" if value > 0 else "-inf"
    if value == 0 and math.copysign(1, value) < 0:
        return "-0"
    return value


def values(numbers: Sequence[float | str]) -> Distribution:
    """The explicit list of ``values:``, already flattened."""
    return Distribution("values", tuple(numbers), f"values({', '.join(_argument_text(n) for n in numbers)})")


@lru_cache(maxsize=4096)
def parse(text: str, folder: str = "") -> Distribution:
    """The distribution that ``text`` writes; ``folder`` is where the path of ``file(path)`` starts.

    ``ValueError`` with what is wrong and what to write.
    """
    if len(text) > _MAX_TEXT:
        raise ValueError(f"longer than {_MAX_TEXT} characters; put the numbers into a file and write file(path)")
    path = re.fullmatch(r"\s*file\s*\((.*)\)\s*", text, re.DOTALL)
    if path:
        return _file(path.group(1).strip(), folder)
    tokens = [match.group(1) for match in _TOKEN.finditer(text)]
    distribution, rest = _parse(tokens, text, 1)
    if rest:
        raise ValueError(f"'{_short(rest[0])}' after the end of the distribution")
    return distribution


def _file(written: str, folder: str) -> Distribution:
    if not written:
        raise ValueError("file() names no file; write file(path)")
    return Distribution("file", (str(Path(folder, written)),), f"file({written})")


def _short(text: str) -> str:
    shown = text.strip() if text.isprintable() else ascii(text.strip())[1:-1]
    return shown if len(shown) <= 40 else f"{shown[:37]}..."


def _parse(tokens: list[str], text: str, depth: int) -> tuple[Distribution, list[str]]:
    """The distribution at the head of ``tokens``, and the tokens after it."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"nested more than {_MAX_DEPTH} deep")
    if not tokens or not tokens[0].endswith("(") or tokens[0] == "(":
        word = tokens[0] if tokens else ""
        if word in KINDS:
            raise ValueError(f"'{word}' has no arguments; write {KINDS[word]}")
        if _NUMBER.fullmatch(word) or word.lower() in WORDS:
            raise ValueError(f"'{word}' is no distribution; write constant({word})")
        raise ValueError(f"'{_short(text)}' is no distribution; write for example uniform(0.5, 2) or normal(0, 1)")
    kind = tokens[0][:-1].strip()
    if kind == "file":
        raise ValueError("file(path) cannot be part of another distribution")
    if kind not in KINDS:
        raise ValueError(f"unknown distribution '{_short(kind)}'; {nearest(kind, sorted(KINDS))}")
    args: list[Argument] = []
    tokens = tokens[1:]
    while True:
        if not tokens:
            raise ValueError(f"'{kind}(' is not closed; write {KINDS[kind]}")
        argument: Argument
        if tokens[0] in (")", ",") or tokens[0] == "(":
            raise ValueError(f"an argument of {kind} is missing; write {KINDS[kind]}")
        if tokens[0].endswith("("):
            argument, tokens = _parse(tokens, text, depth + 1)
        else:
            argument, tokens = number(tokens[0]), tokens[1:]
        args.append(argument)
        if not tokens:
            raise ValueError(f"'{kind}(' is not closed; write {KINDS[kind]}")
        separator, tokens = tokens[0], tokens[1:]
        if separator == ")":
            break
        if separator != ",":
            raise ValueError(f"'{_short(separator)}' where a comma or ')' should be; write {KINDS[kind]}")
    _check(kind, args)
    return Distribution(kind, tuple(args), f"{kind}({', '.join(_argument_text(a) for a in args)})"), tokens


def _argument_text(argument: Argument) -> str:
    return number_text(argument) if isinstance(argument, float) else str(argument)


def _check(kind: str, args: list[Argument]) -> None:
    """Arguments fit their kind; ``ValueError`` otherwise."""
    usage = f"write {KINDS[kind]}"
    wants_distribution = kind in ("signed", "sprinkle")
    counts = {"constant": (1, 1), "signed": (1, 1), "cycle": (1, None), "sprinkle": (3, None)}
    low, high = counts.get(kind, (2, 2))
    if len(args) < low or (high is not None and len(args) > high):
        raise ValueError(f"{kind} takes {low}{'' if low == high else ' or more'} arguments, not {len(args)}; {usage}")
    for position, argument in enumerate(args):
        if wants_distribution and position == 0:
            if not isinstance(argument, Distribution):
                raise ValueError(f"the first argument of {kind} is a distribution, not {argument}; {usage}")
        elif isinstance(argument, Distribution):
            raise ValueError(f"{kind} takes numbers, not {argument.kind}(...); {usage}")
    if kind in ("uniform", "integers", "spread", "normal"):
        _check_range(kind, args, usage)
    if kind == "sprinkle":
        every = args[1]
        if not isinstance(every, float) or not every.is_integer() or not 1 <= every <= _MAX_INTEGER:
            raise ValueError(f"'every' of sprinkle is a whole number from 1 on, not {_argument_text(every)}")


def _check_range(kind: str, args: list[Argument], usage: str) -> None:
    first, second = args
    for argument in args:
        if argument in ("nan", "inf", "-inf"):
            raise ValueError(f"{kind} takes finite numbers, not {argument}; {usage}")
    if kind == "integers":
        for argument in args:
            if argument == "-0":
                continue
            if not isinstance(argument, float) or not argument.is_integer() or abs(argument) > _MAX_INTEGER:
                raise ValueError(f"integers takes whole numbers up to 2^53, not {_argument_text(argument)}; {usage}")
    low = 0.0 if first == "-0" else first
    high = 0.0 if second == "-0" else second
    if kind == "normal":
        if (isinstance(high, float) and high < 0) or (isinstance(high, str) and high.startswith("-")):
            raise ValueError(f"the standard deviation of normal is not below 0, not {_argument_text(second)}; {usage}")
        return
    if isinstance(low, float) and isinstance(high, float) and low > high:
        raise ValueError(f"{kind} goes from low to high, not from {number_text(low)} to {number_text(high)}; {usage}")
    if kind == "spread":
        for argument in (low, high):
            if (isinstance(argument, float) and argument <= 0) or (
                isinstance(argument, str) and argument.startswith("-")
            ):
                raise ValueError(f"spread takes numbers above 0, not {_argument_text(argument)}; {usage}")
