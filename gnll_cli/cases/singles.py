"""Single cases, in which everything is explicit."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from gnll_cli.cases import distributions, ids
from gnll_cli.cases.build import Builder, Draft
from gnll_cli.cases.model import Case, Distribution, Shape
from gnll_cli.cases.reader import Map, Mark, Seq, printable
from gnll_cli.cases.schema import describe
from gnll_cli.cases.settings import Context, Settings, known_dtype, known_tensor, layout_for, override
from gnll_cli.errors import nearest

_MAX_NESTING = 8


class Singles:
    """The entries of ``cases``."""

    def __init__(self, root: Map, settings: Settings, context: Context, builder: Builder) -> None:
        self.root = root
        self.settings = settings
        self.context = context
        self.operator = context.operator
        self.builder = builder

    def expand(self) -> Iterator[Case]:
        """The cases in the order of the file."""
        entries = self.root.get("cases", Seq((1, 1)))
        for entry, mark in zip(entries, entries.items_at, strict=True):
            case = self._case(entry, mark)
            if case is not None:
                yield case

    def _case(self, entry: Map, mark: Mark) -> Case | None:
        problems = self.context.problems
        before = problems.count
        reject = self._reject(entry)
        settings = override(self.settings, entry, self.context, refusal=reject is not None)
        dtype = entry.get("dtype", self.operator.dtypes[0])
        if "dtype" in entry:
            known_dtype(dtype, entry.values_at["dtype"], self.context, refusal=reject is not None)
        dtypes = self._dtypes(entry, dtype, refusal=reject is not None)
        null = self._null(entry)
        given, data = self._values(entry, settings)
        given.update(self._shapes(entry, given))
        if problems.count > before:
            return None
        shapes = self._complete(given, null, settings, entry, mark)
        if shapes is None:
            return None
        layouts = layout_for(settings.layout, shapes, self.operator.inputs)
        if layouts is None:
            at = entry.values_at.get("layout", mark)
            problems.add(at, "the layout cannot exist for these shapes", "transposed needs 2 dimensions, sliced 1")
            return None
        self._counts(entry, shapes)
        if problems.count > before:
            return None
        source = problems.at(mark)
        draft = Draft(
            dtype,
            settings.attributes,
            shapes,
            {**settings.data, **data},
            layouts,
            settings,
            source,
            dtypes,
            null,
            reject,
        )
        labels = {"reject": reject} if reject else self.builder.labels(shapes, settings.attributes)
        axes = self.builder.axes(draft, labels, len(shapes[self.operator.base]))
        return self.builder.case(entry["name"], draft, axes, self._about(entry, mark))

    def _about(self, entry: Map, mark: Mark) -> Mark:
        """Where the contract's word on a case is told: at what it expects, or else at its shapes."""
        for key in ("expect", "shapes", "values"):
            if key in entry:
                return entry.values_at[key]
        return mark

    def _reject(self, entry: Map) -> str | None:
        if "expect" not in entry:
            return None
        expect = entry["expect"]
        name: str = expect["reject"]
        if name not in self.operator.refusals:
            self.context.problems.add(
                expect.values_at["reject"],
                f"{self.operator.name} has no refusal '{printable(name)}'",
                nearest(name, list(self.operator.refusals)),
            )
        return name

    def _dtypes(self, entry: Map, usual: str, *, refusal: bool) -> dict[str, str]:
        """What differs from the case's dtype."""
        found = {}
        said = entry.get("dtypes", Map((1, 1)))
        for name, dtype in said.items():
            if not known_tensor(name, said.keys_at[name], self.context, self.operator.tensors):
                continue
            if known_dtype(dtype, said.values_at[name], self.context, refusal=refusal) and dtype != usual:
                found[name] = dtype
        return found

    def _null(self, entry: Map) -> tuple[str, ...]:
        said = entry.get("null", Seq((1, 1)))
        for name, mark in zip(said, said.items_at, strict=True):
            known_tensor(name, mark, self.context, self.operator.tensors)
        return tuple(name for name in self.operator.tensors if name in said)

    def _shapes(self, entry: Map, inferred: dict[str, Shape]) -> dict[str, Shape]:
        """Shapes as written; a flat list of values takes any of its size, a nested one must agree."""
        said = entry.get("shapes", Map((1, 1)))
        found = {}
        for name, dims in said.items():
            if known_tensor(name, said.keys_at[name], self.context, self.operator.tensors):
                found[name] = tuple(int(d) for d in dims)
                nested = inferred.get(name, ())
                if len(nested) > 1 and nested != found[name]:
                    self.context.problems.add(
                        said.values_at[name],
                        f"'{name}' has the shape {list(found[name])}, but its values are nested as {list(nested)}",
                        "write the values flat, or correct the shape",
                    )
        return found

    def _values(self, entry: Map, settings: Settings) -> tuple[dict[str, Shape], dict[str, Distribution]]:
        """Shapes that follow from explicit values, and the values."""
        said = entry.get("values", Map((1, 1)))
        shapes: dict[str, Shape] = {}
        data: dict[str, Distribution] = {}
        for name, nested in said.items():
            if not known_tensor(name, said.keys_at[name], self.context, self.operator.inputs):
                continue
            if name in entry.get("data", {}):
                self.context.problems.add(said.keys_at[name], f"'{name}' has both values and data", "keep one of them")
            numbers: list[float | str] = []
            shape = self._flatten(nested, said.values_at[name], name, numbers, 1)
            if shape is not None:
                shapes[name] = shape
                data[name] = distributions.values(numbers)
        return shapes, data

    def _flatten(self, said: Seq, mark: Mark, name: str, numbers: list[float | str], depth: int) -> Shape | None:
        """The shape of a nested list, its numbers appended in C order; None after a problem."""
        problems = self.context.problems
        if depth > _MAX_NESTING:
            problems.add(
                mark,
                f"the values of '{name}' are nested more than {_MAX_NESTING} deep",
                "a tensor has at most 8 dimensions",
            )
            return None
        inner: Shape | None = None
        for position, (item, at) in enumerate(zip(said, said.items_at, strict=True)):
            shape: Shape | None = ()
            if isinstance(item, Seq):
                shape = self._flatten(item, at, name, numbers, depth + 1)
            else:
                number = self._number(item, at, name)
                shape = None if number is None else ()
                if number is not None:
                    numbers.append(number)
            if shape is None:
                return None
            if position > 0 and shape != inner:
                problems.add(at, f"the values of '{name}' are ragged", "give every row as many values as the first")
                return None
            inner = shape
        return (len(said), *(inner or ()))

    def _number(self, said: Any, mark: Mark, name: str) -> float | str | None:
        if isinstance(said, (int, float)) and not isinstance(said, bool):
            return distributions.number_of(said)
        if isinstance(said, str):
            try:
                return distributions.number(said)
            except ValueError as error:
                what, _, hint = str(error).partition("; ")
                self.context.problems.add(mark, f"values of '{name}': {what}", hint)
                return None
        self.context.problems.add(mark, f"values of '{name}' are numbers, not {describe(said)}")
        return None

    def _complete(
        self, given: dict[str, Shape], null: tuple[str, ...], settings: Settings, entry: Map, mark: Mark
    ) -> dict[str, Shape] | None:
        """The shape of every tensor in the prototype's order; None after a problem."""
        base = self.operator.base
        for name in null:
            # A null tensor has no shape of its own; the base's does for what is derived from shapes.
            given.setdefault(name, given.get(base, ()))
        missing = [name for name in self.operator.inputs if name not in given]
        if missing:
            at = entry.values_at.get("shapes", entry.values_at.get("values", mark))
            self.context.problems.add(
                at, f"no shape for {', '.join(missing)}", f"add it to 'shapes', such as {missing[0]}: [2, 3]"
            )
            return None
        inputs = {name: given[name] for name in self.operator.inputs}
        shapes = {**self.operator.output_shapes(inputs, settings.attributes), **given}
        return {name: shapes[name] for name in self.operator.tensors}

    def _counts(self, entry: Map, shapes: dict[str, Shape]) -> None:
        """Explicit values are as many as the shape has elements."""
        said = entry.get("values", Map((1, 1)))
        for name, nested in said.items():
            count = _count(nested)
            shape = shapes[name]
            wanted = 0 if any(d < 0 for d in shape) else prod(shape)
            if count != wanted:
                self.context.problems.add(
                    said.values_at[name],
                    f"{count} values for '{name}' of shape {ids.shape_token(shape)}, which has {wanted} elements",
                    "correct the values or the shape",
                )


def _count(nested: Any) -> int:
    return sum(_count(item) for item in nested) if isinstance(nested, list) else 1
