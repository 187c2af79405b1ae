"""Case ids: readable, stable, and safe as a path below the output folder.

``<file stem>/<dtype>-<enumerated attributes>-<shape>-<tensor>_<form>...``, then a token for what else a matrix varies
or what deviates from the defaults. An id depends on the values alone, not on how they are written or in which order.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from gnll_cli.cases.distributions import number_text
from gnll_cli.cases.model import Attribute as AttributeValue
from gnll_cli.cases.model import Distribution, Shape
from gnll_cli.operators.interface import Form, Operator

PART = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9._+-]*", re.ASCII)
#: Longest part of an id: what every file system takes as a name, with room for an extension.
MAX_PART = 200
_MAX_TOKEN = 48


def shape_token(shape: Shape) -> str:
    """``7x513``; ``scalar`` for rank 0; an empty dimension is 0."""
    return "x".join(map(str, shape)) if shape else "scalar"


def attribute_token(name: str, value: AttributeValue) -> str:
    """``eps_1e-06``, ``full_true``: the same for every way of writing the same number."""
    if isinstance(value, bool):
        return f"{name}_{'true' if value else 'false'}"
    return f"{name}_{safe(number_text(value)) if isinstance(value, float) else safe(value)}"


def layout_token(layout: str | Mapping[str, str]) -> str:
    """``layout_sliced`` for every input, ``layout_input.sliced+var.offset`` for some, sorted by name."""
    if isinstance(layout, str):
        return f"layout_{layout}"
    words = "+".join(f"{name}.{word}" for name, word in sorted(layout.items()))
    return f"layout_{words or 'contiguous'}"


def data_token(data: Mapping[str, Distribution], usual: Mapping[str, Distribution]) -> str:
    """What an unnamed entry of a data axis changes: ``var_constant_0.5``; empty where it changes nothing."""
    return "-".join(f"{name}_{safe(d.text)}" for name, d in sorted(data.items()) if usual.get(name) != d)


def safe(text: str) -> str:
    """Text in the characters of an id; a long one is cut, with a hash of the whole."""
    token = re.sub(r"[^A-Za-z0-9.+-]+", "_", text, flags=re.ASCII).strip("_") or "_"
    if len(token) <= _MAX_TOKEN:
        return token
    return f"{token[: _MAX_TOKEN - 9]}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def forms_of(operator: Operator, tensor: str, base: Shape) -> tuple[Form, ...]:
    """Every form that ``tensor`` can have for a base shape, in the operator's order."""
    found = []
    for word in operator.forms[tensor]:
        texts = [f"axis:{k}" for k in range(len(base))] if word == "axis" else [word]
        found += [form for text in texts if (form := operator.form(tensor, text, base)) is not None]
    return tuple(found)


def form_label(operator: Operator, tensor: str, base: Shape, shape: Shape, label: str) -> str:
    """The label of a tensor's form in an id: ``label``, the operator's own, where that form has this shape.

    Several shapes may count as one form (a one-element var is ``scalar`` whatever its rank); the others are then named
    after the first form that gives the shape, so that an id says which shape it is.
    """
    candidates = [form for form in forms_of(operator, tensor, base) if form.shape == shape]
    if any(form.label == label for form in candidates) or not candidates:
        return label
    return candidates[0].label
