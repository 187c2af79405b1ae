"""What leaves the compare room: a verdict per output and profile."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any


@dataclass(slots=True)
class Location:
    """Where an output is wrong, as a person would look for it.

    ``pattern`` is one of: all, one core, one var group, last tile of each core, every k-th, first lanes, last lanes,
    one element, scattered; ``text`` says it in words with the numbers filled in. ``core``, ``tile`` and ``lane`` are of the worst
    element, where the tiling is known. ``would_pass`` names profiles or tolerances the output would have passed.
    """

    pattern: str
    text: str
    core: int | None = None
    tile: int | None = None
    lane: int | None = None
    unwritten: int = 0
    would_pass: tuple[str, ...] = ()


@dataclass(slots=True)
class OutputVerdict:
    """The verdict on one output under one profile.

    ``decided`` is False where moving the golden by its radius could change the verdict. Errors are absolute values in the
    output's unit; ``max_rel`` and ``mean_rel`` are abs(a-g)/(abs(g)+1e-7); ``max_ulp`` is in ULPs of the rounded golden; metrics are
    over elements where actual and golden are finite, and None where there is none. ``limit`` is the limit used at the
    worst element (or of the statistic that decides), in words in ``limit_text``; ``headroom`` is limit over what was used (1 or more
    passes; inf where nothing was used). Indices are per dimension.
    """

    name: str
    profile: str
    passed: bool
    decided: bool = True
    reason: str = ""
    elements: int = 0
    finite: int = 0
    mismatched: int = 0
    unwritten: int = 0
    max_abs: float | None = None
    max_rel: float | None = None
    mean_rel: float | None = None
    rmse: float | None = None
    max_ulp: float | None = None
    worst_index: tuple[int, ...] | None = None
    worst_actual: float | int | None = None
    worst_golden: float | int | None = None
    first_bad_index: tuple[int, ...] | None = None
    golden_radius: float | None = None
    limit: float | None = None
    limit_text: str = ""
    headroom: float | None = None
    location: Location | None = None
    notes: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """The entry of ``outputs[]`` in a report (floats may be non-finite; the report writer makes them strict JSON)."""
        entry: dict[str, Any] = dict(zip(_PLAIN, _plain(self), strict=True))
        if self.location is None:
            entry["location"] = None
        else:
            entry["location"] = {name: getattr(self.location, name) for name in self.location.__slots__}
        return entry


#: What a record holds as it is.
_PLAIN = tuple(name for name in OutputVerdict.__slots__ if name != "location")
_plain = attrgetter(*_PLAIN)


@dataclass(slots=True)
class CaseVerdict:
    """All outputs under all profiles, and what would have passed without computing (empty: trusted)."""

    outputs: list[OutputVerdict] = field(default_factory=list)
    untrusted: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return all(o.passed for o in self.outputs)

    @property
    def decided(self) -> bool:
        """False where no output has definitely failed and one is undecided."""
        return not self.passed or all(o.decided for o in self.outputs)
