"""Which cases run: ``-k`` expressions, dtypes, tiers and shards."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from gnll_cli.cases.model import Case
from gnll_cli.errors import UsageError, nearest
from gnll_cli.tiers import TIERS

Predicate = Callable[[str], bool]

_TOKEN = re.compile(r"\s*([()]|[^\s()]+)")
_MAX_DEPTH = 50
_MAX_LENGTH = 10_000


def keyword(expression: str) -> Predicate:
    """The predicate on case ids of a ``-k`` expression.

    A word is true where the id contains it, in any case; ``=ID`` where the id is exactly that. ``and``, ``or``, ``not``
    and parentheses combine words. ``UsageError`` with a caret where the expression is wrong.
    """
    return _Parser(expression).parse()


class _Parser:
    """Recursive descent: or < and < not < word."""

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.splitlines()) if "\n" in text or "\r" in text else text
        if len(text) > _MAX_LENGTH:
            raise UsageError(f"an expression of {len(text)} characters", where="-k", hint=f"at most {_MAX_LENGTH}")
        self.tokens = [(m.group(1), m.start(1)) for m in _TOKEN.finditer(self.text)]
        self.position = 0

    def parse(self) -> Predicate:
        if not self.tokens:
            raise self._error("the expression is empty", 0)
        predicate = self._or(0)
        if self.position < len(self.tokens):
            token, at = self.tokens[self.position]
            what = "')' without '('" if token == ")" else f"'{token}' where 'and' or 'or' should be"
            raise self._error(what, at)
        return predicate

    def _next(self) -> str:
        """The next token in lower case where it is an operator; empty at the end."""
        if self.position == len(self.tokens):
            return ""
        token = self.tokens[self.position][0]
        return token.lower() if token.lower() in ("and", "or", "not") else token

    def _or(self, depth: int) -> Predicate:
        parts = [self._and(depth)]
        while self._next() == "or":
            self.position += 1
            parts.append(self._and(depth))
        return parts[0] if len(parts) == 1 else lambda name: any(part(name) for part in parts)

    def _and(self, depth: int) -> Predicate:
        parts = [self._not(depth)]
        while self._next() == "and":
            self.position += 1
            parts.append(self._not(depth))
        return parts[0] if len(parts) == 1 else lambda name: all(part(name) for part in parts)

    def _not(self, depth: int) -> Predicate:
        negated = False
        while self._next() == "not":
            self.position += 1
            negated = not negated
        inner = self._word(depth)
        return (lambda name: not inner(name)) if negated else inner

    def _word(self, depth: int) -> Predicate:
        token = self._next()
        if token == "":
            raise self._error("a word is missing at the end", len(self.text.rstrip()))
        at = self.tokens[self.position][1]
        if token in ("and", "or", ")"):
            raise self._error(f"a word is missing before '{token}'", at)
        self.position += 1
        if token == "(":
            if depth >= _MAX_DEPTH:
                raise self._error(f"parentheses more than {_MAX_DEPTH} deep", at)
            inner = self._or(depth + 1)
            if self._next() != ")":
                if self.position < len(self.tokens):
                    raise self._error("'and', 'or' or ')' should be here", self.tokens[self.position][1])
                raise self._error("this '(' is not closed", at)
            self.position += 1
            return inner
        if token.startswith("="):
            wanted = token[1:].lower()
            if not wanted:
                raise self._error("an id is missing after '='", at)
            return lambda name: name.lower() == wanted
        word = token.lower()
        return lambda name: word in name.lower()

    def _error(self, what: str, at: int) -> UsageError:
        # A long expression is shown around the place.
        start = max(0, at - 60)
        shown = self.text[start : at + 40].replace("\t", " ")
        return UsageError(what, where="-k", hint=f"{shown}\n  {' ' * (at - start)}^")


def tiers_up_to(tier: str) -> tuple[str, ...]:
    """The tiers that selecting ``tier`` selects."""
    if tier not in TIERS:
        raise UsageError(f"unknown tier '{tier}'", where="--tier", hint=nearest(tier, list(TIERS)))
    return TIERS[: TIERS.index(tier) + 1]


def check_dtypes(wanted: Sequence[str], known: Iterable[str]) -> frozenset[str]:
    """The dtypes wanted; ``UsageError`` for one that no operator of the suite has."""
    names = sorted(set(known))
    for dtype in wanted:
        if dtype not in names:
            raise UsageError(f"unknown dtype '{dtype}'", where="--dtype", hint=nearest(dtype, names))
    return frozenset(wanted)


def parse_shard(text: str) -> tuple[int, int]:
    """``I/N`` as (I, N), 1 <= I <= N."""
    match = re.fullmatch(r"\s*([0-9]{1,6})\s*/\s*([0-9]{1,6})\s*", text, re.ASCII)
    if not match:
        raise UsageError(f"'{text}' is no shard", where="--shard", hint="write I/N, such as 1/4 for the first of four")
    return check_shard(int(match.group(1)), int(match.group(2)))


def check_shard(index: int, count: int) -> tuple[int, int]:
    """(index, count) where they name a shard; ``UsageError`` otherwise."""
    if not 1 <= index <= count:
        raise UsageError(
            f"there is no shard {index} of {count}", where="--shard", hint="shards are numbered from 1/N to N/N"
        )
    return index, count


def shard(cases: Iterable[Case], index: int, count: int) -> Iterator[Case]:
    """The cases of shard ``index`` (from 1) of ``count``: each case goes to the shard with the least cost so far.

    In the order of the stream, the lowest number first where several have the least: the same on every machine, with
    loads that differ by at most one case's cost.
    """
    import heapq

    loads = [(0, number) for number in range(1, count + 1)]
    for case in cases:
        load, number = loads[0]
        heapq.heapreplace(loads, (load + case.cost, number))
        if number == index:
            yield case
