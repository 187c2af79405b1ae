"""Strict JSON: what a report holds can be read by every parser, whatever numbers and texts an operator produced.

Non-finite numbers are written as the strings "nan", "inf" and "-inf"; halves of surrogate pairs, which no valid
UTF-8 can carry, as a backslash escape in the text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def _plain(value: object) -> object:
    """Something that JSON has no word for, as something that it has: NumPy scalars and arrays, mappings, sets,
    paths.
    """
    tolist = getattr(value, "tolist", None)
    if tolist is not None:
        result: object = tolist()
        return str(value) if type(result) is type(value) else result
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def clean(value: Any) -> Any:
    """The same value with nothing in it that strict JSON cannot say."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(float(value))
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {clean(key) if isinstance(key, str) else str(key): clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item) for item in value]
    return clean(_plain(value))


#: Records are trees: no need to look for a value that holds itself.
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":"), default=_plain
)


def encode_record(record: Mapping[str, Any]) -> bytes:
    """One case record as a line of strict JSON.

    Infinite headroom is common and would send every such record through ``clean``, which costs several times the
    encoding; so the figures of the outputs are looked at first.
    """
    outputs = record.get("outputs")
    if outputs:
        record = {**record, "outputs": [_finite(output) for output in outputs]}
    return encode(record)


def _finite(output: dict[str, Any]) -> dict[str, Any]:
    # Other kinds of floats, should there be any, go through ``clean``.
    odd = {key: str(value) for key, value in output.items() if type(value) is float and not math.isfinite(value)}
    return {**output, **odd} if odd else output


def encode(value: Any) -> bytes:
    """One line of strict JSON in UTF-8, without a line break."""
    # Most records are clean already, and looking costs more than trying.
    try:
        return _ENCODER.encode(value).encode("utf-8")
    except (ValueError, TypeError):
        return _ENCODER.encode(clean(value)).encode("utf-8")


def pretty(value: Any) -> str:
    """Strict JSON over several lines, for the parts of a report that people read."""
    return json.dumps(clean(value), ensure_ascii=False, allow_nan=False, indent=1)


def decode(text: str | bytes) -> Any:
    """Parse strict JSON; ``ValueError`` for anything else, the words NaN and Infinity included."""

    def refuse(word: str) -> float:
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def number(value: object) -> float | None:
    """A metric as it is in a record or in a report: a number, or the word for a non-finite one; None where there is
    none.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    return _WORDS.get(value) if isinstance(value, str) else None
