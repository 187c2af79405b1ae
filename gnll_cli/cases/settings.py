"""What a case file says once and its parts may override: tier, profile, attributes, data, layout and declarations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from gnll_cli import dtypes
from gnll_cli.cases import distributions
from gnll_cli.cases.model import Attribute as AttributeValue
from gnll_cli.cases.model import Distribution, Shape
from gnll_cli.cases.reader import Map, Mark, Problems, Seq, printable
from gnll_cli.cases.schema import describe
from gnll_cli.errors import nearest
from gnll_cli.operators.interface import Attribute, Operator

#: A layout for every input that can have it, or one for each input named.
Layout = str | Mapping[str, str]
CONTIGUOUS = "contiguous"
#: The one profile whose tolerances are options of the command line.
_BY_OPTIONS = "isclose"
#: Fewest dimensions that a layout other than contiguous makes sense for.
_LAYOUT_RANK = {"transposed": 2, "sliced": 1, "offset": 0}


@dataclass(frozen=True)
class Context:
    """What every part of one file's expansion needs."""

    problems: Problems
    operator: Operator
    stem: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Settings:
    """Values in force for a case. ``attributes`` and ``data`` are complete."""

    attributes: Mapping[str, AttributeValue]
    data: Mapping[str, Distribution]
    tier: str = "full"
    profile: tuple[str, ...] = ("bound",)
    layout: Layout = CONTIGUOUS
    trivial: str | None = None
    advisory: bool = False
    pair: str | None = None


def defaults(context: Context) -> Settings:
    """What is in force where a file says nothing: the operator's own defaults."""
    operator = context.operator
    return Settings(
        attributes={a.name: a.default for a in operator.attributes},
        data={name: distributions.parse(text) for name, text in operator.data.items()},
    )


def override(settings: Settings, said: Map, context: Context, *, refusal: bool = False) -> Settings:
    """``settings`` with what a mapping of the file says; problems are collected and leave the old value.

    ``refusal``: the case expects a refusal, so that a text beyond an attribute's choices may be what it is about.
    """
    changes: dict[str, Any] = {}
    if "attributes" in said:
        changes["attributes"] = {**settings.attributes, **_attributes(said["attributes"], context, refusal)}
    if "data" in said and isinstance(said["data"], Map):
        changes["data"] = {**settings.data, **data_of(said["data"], context)}
    if "layout" in said:
        changes["layout"] = layout_of(said["layout"], said.values_at["layout"], context)
    if "profile" in said:
        changes["profile"] = _profiles(said["profile"], said.values_at["profile"], context)
    for key in ("tier", "advisory"):
        if key in said:
            changes[key] = said[key]
    if "trivial" in said:
        changes["trivial"] = said["trivial"].strip()
    if "pair" in said:
        changes["pair"] = _pair(said["pair"], said.values_at["pair"], context)
    return replace(settings, **changes) if changes else settings


def _profiles(said: Any, mark: Mark, context: Context) -> tuple[str, ...]:
    from gnll_cli.compare import profiles

    known = [name for name in profiles.names() if name != _BY_OPTIONS]
    pairs = zip(said, said.items_at, strict=True) if isinstance(said, Seq) else [(said, mark)]
    names = []
    for name, at in pairs:
        if name == _BY_OPTIONS:
            hint = f"name it on the command line: --profile {name} --rtol R --atol A"
            context.problems.add(at, f"profile {name} takes tolerances that a case file cannot give", hint)
        elif name not in known:
            context.problems.add(at, f"unknown profile '{printable(name)}'", nearest(name, known))
        names.append(name)
    return tuple(names)


def profile_problem(names: tuple[str, ...], dtype: str) -> tuple[str, str] | None:
    """What and hint where a profile cannot judge a dtype."""
    from gnll_cli.compare import profiles

    for name in names:
        judged = profiles.get(name).dtypes()
        if judged is not None and dtype not in judged:
            return f"profile {name} cannot judge {dtype}", f"it judges {', '.join(judged)}; name another profile"
    return None


def _pair(name: str, mark: Mark, context: Context) -> str | None:
    neutral = list(context.operator.neutral)
    if name in neutral:
        return name
    hint = nearest(name, neutral) if neutral else f"{context.operator.name} has no such attribute"
    context.problems.add(mark, f"'{printable(name)}' is no attribute that must make no difference", hint)
    return None


def attribute_named(name: str, operator: Operator) -> Attribute | None:
    """The attribute of that name, if the operator has it."""
    return next((a for a in operator.attributes if a.name == name), None)


def _attributes(said: Map, context: Context, refusal: bool) -> dict[str, AttributeValue]:
    found: dict[str, AttributeValue] = {}
    for name, value in said.items():
        attribute = attribute_named(name, context.operator)
        if attribute is None:
            known = [a.name for a in context.operator.attributes]
            context.problems.add(
                said.keys_at[name],
                f"{context.operator.name} has no attribute '{printable(name)}'",
                nearest(name, known),
            )
            continue
        converted = attribute_value(attribute, value, said.values_at[name], context, refusal=refusal)
        if converted is not None:
            found[name] = converted
    return found


def attribute_value(
    attribute: Attribute, value: Any, mark: Mark, context: Context, *, refusal: bool = False
) -> AttributeValue | None:
    """A value in the attribute's type; None after a problem."""
    name = attribute.name
    if attribute.type == "bool" and isinstance(value, bool):
        return value
    if attribute.type == "float" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if attribute.type == "string" and isinstance(value, str):
        if attribute.choices and value not in attribute.choices and not refusal:
            context.problems.add(
                mark, f"'{name}' cannot be '{printable(value)}'", nearest(value, list(attribute.choices))
            )
            return None
        return value
    wanted = {"bool": "true or false", "float": "a number", "string": f"one of {', '.join(attribute.choices)}"}
    hint = "quote it if it is meant as text" if attribute.type == "string" and not attribute.choices else ""
    context.problems.add(mark, f"'{name}' must be {wanted[attribute.type]}, not {describe(value)}", hint)
    return None


def data_of(said: Map, context: Context) -> dict[str, Distribution]:
    """Distributions by input; the key ``name`` of an axis entry is not one."""
    found: dict[str, Distribution] = {}
    for name, text in said.items():
        if name == "name":
            continue
        if not known_tensor(name, said.keys_at[name], context, context.operator.inputs):
            continue
        try:
            distribution = distributions.parse(text, str(context.folder))
        except ValueError as error:
            what, _, hint = str(error).partition("; ")
            context.problems.add(said.values_at[name], f"data of '{name}': {what}", hint)
            continue
        if distribution.kind == "file" and not Path(str(distribution.args[0])).is_file():
            context.problems.add(
                said.values_at[name],
                f"data of '{name}': there is no file {printable(str(distribution.args[0]))}",
                "the path starts at the case file's folder",
            )
            continue
        found[name] = distribution
    return found


def known_tensor(name: str, mark: Mark, context: Context, tensors: tuple[str, ...]) -> bool:
    """Whether the operator has a tensor of that name; a problem otherwise."""
    if name in tensors:
        return True
    kind = "input" if tensors == context.operator.inputs else "tensor"
    context.problems.add(
        mark, f"{context.operator.name} has no {kind} '{printable(name)}'", nearest(name, list(tensors))
    )
    return False


def known_dtype(name: str, mark: Mark, context: Context, *, refusal: bool = False) -> bool:
    """Whether a case may have that dtype: one of the operator's; where a refusal is expected, any that gnll knows."""
    known = list(dtypes.DTYPES) if refusal else list(context.operator.dtypes)
    if name in known:
        return True
    context.problems.add(mark, f"unknown dtype '{printable(name)}'", nearest(name, known))
    return False


def layout_of(said: Any, mark: Mark, context: Context) -> Layout:
    """A layout as the file writes it: a word, or words by input (contiguous ones left out)."""
    if isinstance(said, str):
        return said
    return {
        name: word
        for name, word in said.items()
        if known_tensor(name, said.keys_at[name], context, context.operator.inputs) and word != CONTIGUOUS
    }


def layout_for(layout: Layout, shapes: Mapping[str, Shape], inputs: tuple[str, ...]) -> dict[str, str] | None:
    """The layout of each input that is not contiguous; None where the layout cannot exist for these shapes.

    One word for all applies to the inputs that have dimensions enough.
    """
    if layout == CONTIGUOUS:
        return {}
    if isinstance(layout, str):
        chosen = {name: layout for name in inputs if len(shapes[name]) >= _LAYOUT_RANK[layout]}
        return chosen or None
    if any(len(shapes[name]) < _LAYOUT_RANK[word] for name, word in layout.items()):
        return None
    return dict(layout)


def file_size_problem(name: str, distribution: Distribution, shape: Shape, dtype: str) -> str | None:
    """Why a raw file does not fit a tensor: both sizes; None where it fits or the data is no file."""
    if distribution.kind != "file" or any(d < 0 for d in shape):
        return None
    wanted = prod(shape) * dtypes.DTYPES[dtype].itemsize
    try:
        size = Path(str(distribution.args[0])).stat().st_size
    except OSError as error:
        return f"{distribution.text}: {error.strerror}"
    if size == wanted:
        return None
    return f"{distribution.text} has {size} bytes, but '{name}' of shape {list(shape)} in {dtype} needs {wanted}"
