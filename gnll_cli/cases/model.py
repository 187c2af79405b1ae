"""The one thing that leaves the cases room: a fully expanded, immutable case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

Shape = tuple[int, ...]
Attribute = bool | float | str
LAYOUTS = ("contiguous", "transposed", "sliced", "offset")


@dataclass(frozen=True, slots=True)
class Distribution:
    """How an input's elements are drawn: ``kind`` and its arguments (numbers, or nested distributions).

    ``text`` is the canonical text, the same for every way of writing the same numbers.
    """

    kind: str
    args: tuple[float | str | Distribution, ...]
    text: str

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type[Distribution], tuple[object, ...]]:
        # The generated pickling of frozen dataclasses with slots asks for the fields each time; cases are sent by the thousand.
        return Distribution, (self.kind, self.args, self.text)


@dataclass(frozen=True, slots=True)
class Case:
    """One case of an operator, with every default filled in.

    ``shapes`` and ``dtypes`` (names of gnll_cli.dtypes) name every tensor of the prototype, inputs and outputs;
    ``data`` every input that is not null. ``reject`` is the refusal expected, by name, or None. ``trivial`` is the
    declared reason why the case cannot fail. ``pair`` names an attribute that must make no difference. ``axes``
    are the labels by which summaries group. ``source`` is file:line:column of the case's origin.
    ``drawn`` is True for a case of a random campaign: its ``trivial`` tells what may happen by chance.
    """

    id: str
    operator: str
    dtype: str
    attributes: Mapping[str, Attribute]
    shapes: Mapping[str, Shape]
    dtypes: Mapping[str, str]
    data: Mapping[str, Distribution]
    seed: int
    profile: tuple[str, ...] = ("bound",)
    tier: str = "full"
    layout: Mapping[str, str] = field(default_factory=dict)
    null: tuple[str, ...] = ()
    reject: str | None = None
    trivial: str | None = None
    advisory: bool = False
    pair: str | None = None
    axes: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    drawn: bool = False

    def __reduce__(self) -> tuple[type[Case], tuple[object, ...]]:
        return Case, tuple([getattr(self, name) for name in self.__slots__])

    def elements(self, tensor: str) -> int:
        """Number of elements of a tensor (0 when a dimension is 0 or below)."""
        shape = self.shapes[tensor]
        return prod(shape) if not shape or min(shape) >= 0 else 0

    @property
    def cost(self) -> int:
        """A deterministic estimate of the work, in elements, for balancing shards; refusals cost nothing."""
        if self.reject is not None:
            return 1
        return 1 + sum(self.elements(t) for t in self.shapes)


def seed_of(case_id: str, campaign: int = 0) -> int:
    """The 64-bit seed of a case: from its id alone, so that its data is the same wherever and in whatever order it runs.

    ``campaign`` is the number given with ``--seed``; 0, the default, gives the suite's own data.
    """
    import hashlib  # here, so that commands that only name a tier start without it

    text = case_id.lower() if campaign == 0 else f"{campaign}:{case_id.lower()}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
