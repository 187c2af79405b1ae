"""Random campaigns: the k-th case is drawn from its own seed, independently of the others, when it is wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnll_cli.cases.build import Builder, Draft
from gnll_cli.cases.matrix import DECLARATIONS, AxisReader, NamedData, Value, axis_names, listed
from gnll_cli.cases.model import Case, Shape, seed_of
from gnll_cli.cases.reader import Map, Problems
from gnll_cli.cases.settings import Context, Settings, layout_for, override
from gnll_cli.errors import GnllError, nearest
from gnll_cli.operators.interface import Form

DEFAULT_RANK = (1, 4)
DEFAULT_ELEMENTS = (1, 4096)
#: Dimensions beside an empty one.
_EMPTY_SIDE = 8
#: Draws of one case before the campaign is said to be impossible.
_ATTEMPTS = 64
#: Cases drawn when the file is loaded, so that an impossible campaign is an error before anything runs.
_SAMPLE = 4
_MAX_RANK = 8


class Words:
    """A stream of uniform 64-bit words from SHA-256 of a seed: the same everywhere, no library's guarantee needed."""

    def __init__(self, seed: int) -> None:
        self._key = b"gnll campaign" + seed.to_bytes(8, "little")
        self._counter = 0
        self._words: list[int] = []

    def word(self) -> int:
        if not self._words:
            block = hashlib.sha256(self._key + self._counter.to_bytes(8, "little")).digest()
            self._counter += 1
            self._words = [int.from_bytes(block[i : i + 8], "little") for i in range(24, -1, -8)]
        return self._words.pop()

    def between(self, low: int, high: int) -> int:
        """A whole number in [low, high]; the bias is below 2^-32 for spans below 2^32."""
        return low + ((self.word() * (high - low + 1)) >> 64)

    def choice(self, values: Sequence[Any]) -> Any:
        return values[self.between(0, len(values) - 1)]

    def magnitude(self, low: int, high: int) -> int:
        """A whole number in [low, high] whose number of bits is uniform: as many small ones as large ones."""
        bits = self.between(low.bit_length(), high.bit_length())
        smallest = 0 if bits == 0 else 1 << (bits - 1)
        return self.between(max(low, smallest), min(high, (1 << bits) - 1))

    def shuffled(self, values: list[Any]) -> list[Any]:
        values = list(values)
        for last in range(len(values) - 1, 0, -1):
            other = self.between(0, last)
            values[last], values[other] = values[other], values[last]
        return values


def draw_shape(words: Words, rank: int, low: int, high: int) -> Shape:
    """A shape of that rank with ``low`` to ``high`` elements (rank 0 has one)."""
    if rank == 0:
        return ()
    size = words.magnitude(low, high)
    if size == 0:
        dims = [words.between(0, _EMPTY_SIDE) for _ in range(rank)]
        dims[words.between(0, rank - 1)] = 0
        return tuple(dims)
    low = max(low, 1)
    dims = []
    rest = size
    for _ in range(rank - 1):
        dims.append(words.magnitude(1, rest))
        rest //= dims[-1]
    # What the divisions cut off may have gone below ``low``: the last dimension makes up for it, and where no last
    # dimension can, the others give way.
    outer = 1
    for position, dim in enumerate(dims):
        if -(-low // (outer * dim)) > high // (outer * dim):
            dims[position] = 1
        outer *= dims[position]
    dims.append(min(max(size // outer, -(-low // outer)), high // outer))
    return tuple(words.shuffled(dims))


@dataclass(frozen=True)
class Campaign:
    """A campaign of one file. ``lists`` holds the values of each axis to draw from."""

    count: int
    ranks: tuple[int, ...]
    elements: tuple[int, int]
    lists: dict[str, list[Value]]
    settings: Settings
    source: str
    builder: Builder

    @property
    def stem(self) -> str:
        return self.builder.context.stem

    def id(self, k: int) -> str:
        return f"{self.stem}/random-{k:05d}"

    def case(self, k: int, campaign_seed: int = 0) -> Case:
        """The k-th case (from 0), drawn from the seed of its id and nothing else.

        ``GnllError`` where no legal case can be drawn.
        """
        words = Words(seed_of(self.id(k), campaign_seed))
        for _ in range(_ATTEMPTS):
            case = self._draw(words, k, campaign_seed)
            if case is not None and self.builder.contract_problem(case) is None:
                return case
        raise GnllError(
            f"no legal case of '{self.id(k)}' found in {_ATTEMPTS} draws",
            where=self.source,
            hint="allow more ranks, forms or elements in 'random'",
        )

    def cases(self, campaign_seed: int = 0) -> Iterator[Case]:
        for k in range(self.count):
            yield self.case(k, campaign_seed)

    def _pick(self, words: Words, name: str, usual: Any) -> Any:
        values = self.lists.get(name)
        return words.choice(values).value if values else usual

    def _draw(self, words: Words, k: int, campaign_seed: int) -> Case | None:
        operator = self.builder.operator
        dtype = self._pick(words, "dtype", None) or words.choice(operator.dtypes)
        attributes = {name: self._pick(words, name, value) for name, value in self.settings.attributes.items()}
        base = draw_shape(words, words.choice(self.ranks), *self.elements)
        forms: dict[str, Form] = {}
        for tensor in operator.forms:
            if tensor in self.lists:
                form = self._form(words, tensor, base)
                if form is None:
                    return None
                forms[tensor] = form
        shapes = operator.shapes(base, forms, attributes)
        data = self._pick(words, "data", NamedData("", self.settings.data))
        layout = layout_for(self._pick(words, "layout", self.settings.layout), shapes, operator.inputs)
        # A layout that the shape cannot have leaves the case contiguous.
        draft = Draft(dtype, attributes, shapes, data.data, layout or {}, self.settings, self.source)
        axes = self.builder.axes(draft, self.builder.labels(shapes, attributes), len(base))
        if data.name:
            axes["data"] = data.name
        return replace(self.builder.new(f"random-{k:05d}", draft, axes, campaign_seed), drawn=True)

    def _form(self, words: Words, tensor: str, base: Shape) -> Form | None:
        """One of the forms listed that the base shape can have; ``axis`` is any axis."""
        for value in words.shuffled(self.lists[tensor]):
            text = value.value
            if text == "axis":
                if not base:
                    continue
                text = f"axis:{words.between(0, len(base) - 1)}"
            form = self.builder.operator.form(tensor, text, base)
            if form is not None:
                return form
        return None


class _CampaignAxes(AxisReader):
    """Axes of a campaign: those of a matrix, and the form ``axis`` for any axis."""

    def form(self, tensor: str, said: Any, mark: Any) -> Value | None:
        if said == "axis" and "axis" in self.context.operator.forms[tensor]:
            return Value(said, said, mark)
        return super().form(tensor, said, mark)


def campaign_of(root: Map, settings: Settings, context: Context, builder: Builder) -> Campaign | None:
    """The campaign of a file, checked; None where there is none or after a problem."""
    said = root.get("random")
    if said is None:
        return None
    problems: Problems = context.problems
    before = problems.count
    own = Map(said.mark)
    for key in DECLARATIONS:
        if key in said:
            own[key] = said[key]
            own.values_at[key] = said.values_at[key]
    settings = override(settings, own, context)
    rank = _range(said, "rank", DEFAULT_RANK, context)
    elements = _range(said, "elements", DEFAULT_ELEMENTS, context)
    reader = _CampaignAxes(context, settings)
    known = [n for n in axis_names(context.operator) if n != "shape"]
    lists: dict[str, list[Value]] = {}
    for name, value in said.items():
        if name in ("count", "rank", "elements", *DECLARATIONS):
            continue
        if name == "shape" or name not in known:
            problems.add(
                said.keys_at[name],
                f"'random' has no key '{name}'",
                "write 'rank' and 'elements'"
                if name == "shape"
                else nearest(name, [*known, "count", "rank", "elements", *DECLARATIONS]),
            )
            continue
        lists[name] = []
        for item, mark in listed(value, said.values_at[name]):
            found = reader.value(name, item, mark)
            if found is not None:
                lists[name].append(found)
    if problems.count > before:
        return None
    low, high = elements
    ranks = tuple(r for r in range(rank[0], rank[1] + 1) if r > 0 or low <= 1 <= high)
    if not ranks:
        problems.add(
            said.values_at["rank"], f"rank 0 has one element, not {low} to {high}", "allow rank 1 or one element"
        )
        return None
    source = problems.at(root.keys_at["random"])
    campaign = Campaign(int(said["count"]), ranks, elements, lists, settings, source, builder)
    try:
        for k in range(min(_SAMPLE, campaign.count)):
            problem = builder.profile_problem(campaign.case(k))
            if problem is not None:
                problems.add(root.keys_at["random"], *problem)
                return None
    except GnllError as error:
        problems.add(root.keys_at["random"], error.what, error.hint)
        return None
    return campaign


def _range(said: Map, name: str, usual: tuple[int, int], context: Context) -> tuple[int, int]:
    if name not in said:
        return usual
    low, high = (int(v) for v in said[name])
    if low > high:
        context.problems.add(
            said.values_at[name], f"'{name}' goes from low to high, not from {low} to {high}", "swap them"
        )
    return low, high
