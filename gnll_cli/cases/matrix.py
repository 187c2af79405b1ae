"""The matrix of a case file: every combination of its axes, less ``exclude``, plus ``include``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from gnll_cli.cases import ids
from gnll_cli.cases.build import Builder, Draft
from gnll_cli.cases.model import Attribute as AttributeValue
from gnll_cli.cases.model import Case, Distribution, Shape
from gnll_cli.cases.reader import Map, Mark, Seq, printable
from gnll_cli.cases.settings import (
    CONTIGUOUS,
    Context,
    Layout,
    Settings,
    attribute_named,
    attribute_value,
    data_of,
    known_dtype,
    layout_for,
    layout_of,
    override,
)
from gnll_cli.errors import nearest
from gnll_cli.operators.interface import Form, Operator

MAX_COMBINATIONS = 200_000
_MAX_FORM = 60
#: Keys of an include entry or a campaign that are no axes.
DECLARATIONS = ("tier", "profile", "trivial", "advisory", "pair")


@dataclass(frozen=True, slots=True)
class NamedData:
    """A value of the data axis: what it changes, complete, and its name for ids."""

    name: str
    data: Mapping[str, Distribution]


@dataclass(slots=True)
class Value:
    """A value of an axis: ``key`` is its canonical form, by which values are compared; ``yields`` counts its cases."""

    value: Any
    key: Any
    mark: Mark
    yields: int = 0


@dataclass(slots=True)
class Exclusion:
    """An entry of ``exclude``: for each axis it names, the canonical values or the form texts it agrees with."""

    mark: Mark
    axes: dict[str, list[Any]] = field(default_factory=dict)
    matched: bool = False


@dataclass(frozen=True, slots=True)
class Geometry:
    """The shapes of one combination of base shape, forms and attributes, and what follows from them."""

    shapes: dict[str, Shape]
    forms: Mapping[str, Form]
    labels: Mapping[str, str]
    token: str
    rank: int


def axis_names(operator: Operator) -> list[str]:
    """The axes of an operator's matrix in the order of ids: an id must not depend on the order in a file."""
    enumerated = [a.name for a in operator.attributes if a.choices]
    others = [a.name for a in operator.attributes if not a.choices]
    return ["dtype", *enumerated, "shape", *operator.forms, *others, "layout", "data"]


def shape_value(said: Any, mark: Mark, context: Context) -> Shape | None:
    """A base shape; None after a problem."""
    shape = tuple(int(d) for d in said)
    if any(d < 0 for d in shape):
        context.problems.add(
            mark, f"the shape {list(shape)} has a dimension below 0", "only a single case with 'expect' can have one"
        )
        return None
    return shape


def data_value(said: Map, settings: Settings, context: Context) -> NamedData:
    """An entry of the data axis."""
    changed = data_of(said, context)
    data = {**settings.data, **changed}
    return NamedData(said.get("name") or ids.data_token(data, settings.data), data)


def listed(said: Any, mark: Mark) -> list[tuple[Any, Mark]]:
    """The values of an axis with their places; a single value is a list of one."""
    if isinstance(said, Seq):
        return list(zip(said, said.items_at, strict=True))
    return [(said, mark)]


def shapes_listed(said: Seq, mark: Mark, context: Context) -> list[tuple[Any, Mark]]:
    """The values of a shape axis; a list of whole numbers alone is one shape."""
    if all(isinstance(item, Seq) for item in said):
        return listed(said, mark)
    if any(isinstance(item, Seq) for item in said):
        at = next(m for item, m in zip(said, said.items_at, strict=True) if not isinstance(item, Seq))
        context.problems.add(at, "a number among shapes", "write each shape in brackets: [[7], [2, 3]]")
        return []
    if len(said) > 8:
        context.problems.add(mark, f"a shape has at most 8 dimensions, not {len(said)}", "write each shape in brackets")
        return []
    return [(said, mark)]


class AxisReader:
    """Turns what a file says about an axis into values."""

    def __init__(self, context: Context, settings: Settings) -> None:
        self.context = context
        self.settings = settings
        self.names = axis_names(context.operator)

    def known(self, name: str, mark: Mark, known: list[str] | None = None) -> bool:
        """Whether the operator has that axis; a problem otherwise."""
        if name in self.names:
            return True
        what = f"{self.context.operator.name} has no axis '{printable(name)}'"
        self.context.problems.add(mark, what, nearest(name, self.names if known is None else known))
        return False

    def values(self, name: str, said: Any, mark: Mark) -> list[Value]:
        """The values of one axis in order; an equal value listed twice is dropped by the caller."""
        if name == "shape":
            pairs = shapes_listed(said, mark, self.context)
        else:
            pairs = listed(said, mark)
        found = []
        for item, at in pairs:
            value = self.value(name, item, at)
            if value is not None:
                found.append(value)
        return found

    def value(self, name: str, said: Any, mark: Mark) -> Value | None:
        """One value of an axis; None after a problem."""
        context = self.context
        if name == "dtype":
            return Value(said, said, mark) if known_dtype(said, mark, context) else None
        if name == "shape":
            shape = shape_value(said, mark, context)
            return None if shape is None else Value(shape, shape, mark)
        if name == "layout":
            layout = layout_of(said, mark, context)
            return Value(layout, layout_key(layout), mark)
        if name == "data":
            data = data_value(said, self.settings, context)
            return Value(data, data.name.lower(), mark)
        attribute = attribute_named(name, context.operator)
        if attribute is not None:
            converted = attribute_value(attribute, said, mark, context)
            return None if converted is None else Value(converted, attribute_key(converted), mark)
        return self.form(name, said, mark)

    def form(self, tensor: str, said: Any, mark: Mark) -> Value | None:
        """A form of a tensor, checked for the text only: whether it exists depends on the shape."""
        words = ", ".join(self.context.operator.forms[tensor])
        if not isinstance(said, str):
            self.context.problems.add(mark, f"a form of '{tensor}' must be text, not {said}", f"known: {words}")
            return None
        if said == "axis" and said in self.context.operator.forms[tensor]:
            hint = "write axis:0 or axis:-1; axis alone is any axis, in 'random' only"
            self.context.problems.add(mark, f"the form 'axis' of {tensor} needs a number", hint)
            return None
        if len(said) > _MAX_FORM:
            self.context.problems.add(mark, f"'{printable(said)}' is no form of {tensor}", f"known: {words}")
            return None
        try:
            self.context.operator.form(tensor, said, (2, 3))
        except ValueError as error:
            self.context.problems.add(mark, *_split(str(error)))
            return None
        return Value(said, said, mark)


def _split(text: str) -> tuple[str, str]:
    """What and hint of a message in one line."""
    for separator in ("; ", ": "):
        what, found, hint = text.partition(separator)
        if found:
            return what, hint
    return text, ""


def layout_key(layout: Layout) -> Any:
    """A layout in the one form by which layouts are compared."""
    if isinstance(layout, str):
        return layout
    return tuple(sorted(layout.items())) or CONTIGUOUS


def attribute_key(value: AttributeValue) -> Any:
    """An attribute's value by which values are compared: NaN equals NaN, true is not 1."""
    return repr(value)


class Matrix:
    """Expands matrix, exclude and include of one file. Cases come in one order; counts and warnings stay here."""

    def __init__(self, root: Map, settings: Settings, context: Context, builder: Builder) -> None:
        self.root = root
        self.settings = settings
        self.context = context
        self.operator = context.operator
        self.builder = builder
        self.reader = AxisReader(context, settings)
        self.dropped: Counter[str] = Counter()
        self.warnings: list[tuple[Mark, str, str]] = []
        self.axes: dict[str, list[Value]] = {}
        self._geometries: dict[Any, Geometry | None] = {}
        self._contents: set[Any] = set()

    def expand(self) -> Iterator[Case]:
        """The cases of the matrix, then those of ``include``."""
        matrix = self.root.get("matrix")
        if matrix is not None:
            yield from self._matrix(matrix)
        elif "exclude" in self.root:
            self.context.problems.add(
                self.root.keys_at["exclude"], "'exclude' without a matrix", "add a matrix, or remove it"
            )
        for entry, mark in listed(self.root.get("include", Seq((1, 1))), (1, 1)):
            case = self._include(entry, mark)
            if case is not None:
                yield case

    def _matrix(self, matrix: Map) -> Iterator[Case]:
        before = self.context.problems.count
        for name, said in matrix.items():
            if self.reader.known(name, matrix.keys_at[name]):
                self.axes[name] = self._distinct(name, self.reader.values(name, said, matrix.values_at[name]))
        exclusions = self._exclusions()
        if self.context.problems.count > before:
            return
        names = [name for name in self.reader.names if name in self.axes]
        count = prod(len(self.axes[name]) for name in names)
        if count > MAX_COMBINATIONS:
            self.context.problems.add(
                self.root.keys_at["matrix"],
                f"a matrix of {count:,} combinations; at most {MAX_COMBINATIONS:,} are expanded",
                "split it over several files, or draw from it with 'random'",
            )
            return
        source = self.context.problems.at(self.root.keys_at["matrix"])
        for combination in product(*(self.axes[name] for name in names)):
            chosen = dict(zip(names, combination, strict=True))
            case = self._combination(chosen, exclusions, source)
            if case is not None:
                yield case
        self._unused(names, exclusions)

    def _distinct(self, name: str, values: list[Value]) -> list[Value]:
        """Values less those listed before: they could only give the same cases."""
        seen: dict[Any, Value] = {}
        for value in values:
            if value.key in seen:
                if name == "data":
                    self.context.problems.add(
                        value.mark, "two entries of 'data' have the same name", "give each a 'name' of its own"
                    )
                else:
                    self.warnings.append((value.mark, f"a value of '{name}' is listed twice", "remove one of them"))
            else:
                seen[value.key] = value
        return list(seen.values())

    def _exclusions(self) -> list[Exclusion]:
        found = []
        for entry, mark in listed(self.root.get("exclude", Seq((1, 1))), (1, 1)):
            exclusion = Exclusion(mark)
            for name, said in entry.items():
                if not self.reader.known(name, entry.keys_at[name]):
                    continue
                at = entry.values_at[name]
                if name == "data":
                    exclusion.axes[name] = [said.lower()]
                elif name == "shape" and not said:
                    # As a value of an entry, unlike as an axis, [] is a shape: the scalar.
                    exclusion.axes[name] = [()]
                else:
                    exclusion.axes[name] = [value.key for value in self.reader.values(name, said, at)]
            found.append(exclusion)
        return found

    def _combination(self, chosen: dict[str, Value], exclusions: list[Exclusion], source: str) -> Case | None:
        """The case of one combination; None where it is dropped."""
        attributes = dict(self.settings.attributes)
        for name in attributes:
            if name in chosen:
                attributes[name] = chosen[name].value
        texts = {tensor: chosen[tensor].value for tensor in self.operator.forms if tensor in chosen}
        base: Shape = chosen["shape"].value
        geometry = self._geometry(base, texts, attributes)
        layout: Layout = chosen["layout"].value if "layout" in chosen else self.settings.layout
        layouts = None if geometry is None else layout_for(layout, geometry.shapes, self.operator.inputs)
        if geometry is None or layouts is None:
            self.dropped["impossible"] += 1
            return None
        excluded = False
        for exclusion in exclusions:
            if self._agrees(exclusion, chosen, attributes, geometry, base, layout):
                exclusion.matched = excluded = True
        if excluded:
            self.dropped["excluded"] += 1
            return None
        for value in chosen.values():
            value.yields += 1
        data = chosen["data"].value if "data" in chosen else NamedData("", self.settings.data)
        draft = Draft(chosen["dtype"].value, attributes, geometry.shapes, data.data, layouts, self.settings, source)
        return self._draft(draft, geometry, layout, data.name, set(chosen), self.root.keys_at["matrix"])

    def _draft(
        self, draft: Draft, geometry: Geometry, layout: Layout, data_name: str, varied: set[str], mark: Mark
    ) -> Case | None:
        """The case of a draft, unless it is the same as an earlier one of this file's matrix."""
        part = self._id(draft, geometry, layout, data_name, varied)
        content = draft.content(self.operator)
        if content in self._contents:
            self.dropped["same"] += 1
            return None
        self._contents.add(content)
        axes = self._labels(draft, geometry, data_name)
        return self.builder.case(part, draft, axes, mark)

    def _geometry(
        self, base: Shape, texts: Mapping[str, str], attributes: Mapping[str, AttributeValue]
    ) -> Geometry | None:
        """Shapes, labels and the middle of the id; None where a form cannot exist for the shape."""
        key = (base, tuple(texts.items()), tuple(map(attribute_key, attributes.values())))
        if key not in self._geometries:
            self._geometries[key] = self._new_geometry(base, texts, attributes)
        return self._geometries[key]

    def _new_geometry(
        self, base: Shape, texts: Mapping[str, str], attributes: Mapping[str, AttributeValue]
    ) -> Geometry | None:
        forms: dict[str, Form] = {}
        for tensor, text in texts.items():
            form = self.operator.form(tensor, text, base)
            if form is None:
                return None
            forms[tensor] = form
        shapes = self.operator.shapes(base, forms, attributes)
        labels = self.builder.labels(shapes, attributes)
        tokens = [ids.shape_token(base)]
        for name, label in labels.items():
            shown = label
            if name in self.operator.forms:
                shown = ids.form_label(self.operator, name, base, shapes[name], label)
            tokens.append(f"{name}_{ids.safe(shown)}")
        return Geometry(shapes, forms, labels, "-".join(tokens), len(base))

    def _id(self, draft: Draft, geometry: Geometry, layout: Layout, data_name: str, varied: set[str]) -> str:
        tokens = [draft.dtype]
        more = []
        for attribute in self.operator.attributes:
            value = draft.attributes[attribute.name]
            if attribute.choices:
                tokens.append(ids.safe(str(value)))
            elif attribute.name in varied or value != attribute.default:
                more.append(ids.attribute_token(attribute.name, value))
        tokens.append(geometry.token)
        tokens += more
        if "layout" in varied or layout_key(layout) != CONTIGUOUS:
            tokens.append(ids.layout_token(layout))
        if data_name:
            tokens.append(data_name)
        return "-".join(tokens)

    def _labels(self, draft: Draft, geometry: Geometry, data_name: str) -> dict[str, str]:
        """The labels by which summaries group."""
        axes = self.builder.axes(draft, geometry.labels, geometry.rank)
        if data_name:
            axes["data"] = data_name
        return axes

    def _agrees(
        self,
        exclusion: Exclusion,
        chosen: Mapping[str, Value],
        attributes: Mapping[str, AttributeValue],
        geometry: Geometry,
        base: Shape,
        layout: Layout,
    ) -> bool:
        """Whether a combination agrees with an entry in each key that the entry has."""
        for name, keys in exclusion.axes.items():
            if name in self.operator.forms:
                if not self._form_agrees(name, keys, geometry, base):
                    return False
            elif name in attributes:
                if attribute_key(attributes[name]) not in keys:
                    return False
            elif name == "layout":
                if layout_key(layout) not in keys:
                    return False
            elif name not in chosen or chosen[name].key not in keys:
                return False
        return True

    def _form_agrees(self, tensor: str, texts: list[str], geometry: Geometry, base: Shape) -> bool:
        """Whether the form chosen is one of those written; axis:-1 and axis:1 are one form of [2, 3]."""
        chosen = geometry.forms.get(tensor) or self.operator.form(tensor, "same", base)
        for text in texts:
            form = self.operator.form(tensor, text, base)
            if form is not None and chosen is not None and (form.label, form.shape) == (chosen.label, chosen.shape):
                return True
        return False

    def _unused(self, names: list[str], exclusions: list[Exclusion]) -> None:
        """Axis values that gave no case are errors; exclusions that matched none are warned of."""
        if not any(value.yields for name in names for value in self.axes[name]):
            what = "the matrix yields no case"
            hint = "none of its combinations can exist, or 'exclude' leaves out all of them"
            self.context.problems.add(self.root.keys_at["matrix"], what, hint)
            return
        for name in names:
            for value in self.axes[name]:
                if value.yields == 0:
                    shown = ids.shape_token(value.value) if name == "shape" else value.key
                    self.context.problems.add(
                        value.mark,
                        f"this value of '{name}' yields no case: {printable(str(shown))}",
                        "no combination with it can exist, or 'exclude' leaves out all of them; remove it",
                    )
        for exclusion in exclusions:
            if not exclusion.matched:
                self.warnings.append((exclusion.mark, "this entry of 'exclude' matches no combination", "remove it"))

    def _include(self, entry: Map, mark: Mark) -> Case | None:
        before = self.context.problems.count
        chosen: dict[str, Value] = {}
        for name, said in entry.items():
            if name in DECLARATIONS or not self.reader.known(
                name, entry.keys_at[name], [*self.reader.names, *DECLARATIONS]
            ):
                continue
            value = self.reader.value(name, said, entry.values_at[name])
            if value is not None:
                chosen[name] = value
        said_settings = Map(entry.mark)
        for key in DECLARATIONS:
            if key in entry:
                said_settings[key] = entry[key]
                said_settings.values_at[key] = entry.values_at[key]
        settings = override(self.settings, said_settings, self.context)
        for name in ("dtype", "shape"):
            if name not in chosen and name not in entry:
                first = self.axes.get(name)
                if first:
                    chosen[name] = first[0]
                elif "matrix" not in self.root:
                    self.context.problems.add(mark, f"'{name}' is missing", "without a matrix there is none to take")
        if self.context.problems.count > before or "dtype" not in chosen or "shape" not in chosen:
            return None
        attributes = dict(settings.attributes)
        for name in attributes:
            if name in chosen:
                attributes[name] = chosen[name].value
            elif self.axes.get(name):
                attributes[name] = self.axes[name][0].value
        texts = {tensor: chosen[tensor].value for tensor in self.operator.forms if tensor in chosen}
        base: Shape = chosen["shape"].value
        geometry = self._geometry(base, texts, attributes)
        layout: Layout = chosen["layout"].value if "layout" in chosen else settings.layout
        if geometry is None:
            self._impossible_form(entry, texts, base)
            return None
        layouts = layout_for(layout, geometry.shapes, self.operator.inputs)
        if layouts is None:
            self.context.problems.add(
                mark,
                f"the layout cannot exist for the shapes of {ids.shape_token(base)}",
                "a view needs dimensions enough",
            )
            return None
        data = chosen["data"].value if "data" in chosen else NamedData("", settings.data)
        source = self.context.problems.at(mark)
        draft = Draft(chosen["dtype"].value, attributes, geometry.shapes, data.data, layouts, settings, source)
        same = self.dropped["same"]
        case = self._draft(draft, geometry, layout, data.name, set(chosen) | set(self.axes), mark)
        if self.dropped["same"] > same:
            what = "this entry of 'include' is there already, in the matrix or before it"
            if settings == self.settings:
                self.warnings.append((mark, what, "remove it"))
            else:
                # Dropping it would lose what it declares.
                self.context.problems.add(
                    mark, what, "to declare something else of it, exclude it from the matrix first"
                )
        return case

    def _impossible_form(self, entry: Map, texts: Mapping[str, str], base: Shape) -> None:
        for tensor, text in texts.items():
            if self.operator.form(tensor, text, base) is None:
                self.context.problems.add(
                    entry.values_at[tensor],
                    f"'{tensor}' cannot have the form '{printable(text)}' for the shape {list(base)}",
                    "choose another form or shape",
                )
