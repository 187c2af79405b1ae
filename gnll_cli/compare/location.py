"""Where an output is wrong: the failed positions of a whole output in bounded memory, and the pattern they make."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import gcd, prod

import numpy as np
import numpy.typing as npt

from gnll_cli.compare.block import Bools
from gnll_cli.compare.interface import Location

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """How an output lies: ``slices`` the flat range of each core that works, ``tile`` the elements of a tile,
    ``group`` (tensor, size): consecutive elements that share one element of a broadcast input."""

    shape: tuple[int, ...]
    size: int
    slices: tuple[tuple[int, int], ...] = ()
    tile: int = 0
    group: tuple[str, int] | None = None

    @property
    def row(self) -> int:
        return self.shape[-1] if len(self.shape) > 1 else 0


@lru_cache(maxsize=64)
def _cores(slices: tuple[tuple[int, int], ...], tile: int) -> tuple[I64, I64, I64]:
    """Starts, stops and starts of the last tile of the cores, in the order of their starts."""
    starts = np.array([s for s, _ in slices], dtype=np.int64)
    stops = np.array([e for _, e in slices], dtype=np.int64)
    step = max(tile, 1)
    last = starts + np.maximum(stops - starts - 1, 0) // step * step if tile else starts
    return starts, stops, last


NO_CORES: I64 = np.zeros(1, dtype=np.int64)


class Finder:
    """Takes the failed positions block by block; keeps counts, extremes and divisors, never the positions."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.count = 0
        self.first = -1
        self.last = -1
        #: The greatest common divisor of the steps between failed positions.
        self.step = 0
        self._row_lanes = (layout.row, -1)
        self._tile_lanes = (layout.tile, -1)
        self._settled = False
        self._only_last_tiles = bool(layout.slices) and layout.tile > 0
        self._cores_hit: I64 = NO_CORES

    def add(self, start: int, bad: Bools) -> None:
        """The failed elements of the block that begins at ``start``."""
        count = int(np.count_nonzero(bad))
        if not count:
            return
        if self._settled:
            # Nothing but the count and the last position can change any more.
            self.count += count
            self.last = start + bad.size - 1 - int(bad[::-1].argmax())
            return
        at = np.flatnonzero(bad).astype(np.int64) + start
        if self.count:
            self.step = gcd(self.step, int(at[0]) - self.last)
        else:
            self.first = int(at[0])
        for cut in (slice(0, 256), slice(255, None)):
            if self.step != 1 and at[cut].size > 1:
                self.step = gcd(self.step, int(np.gcd.reduce(np.diff(at[cut]))))
        self.last = int(at[-1])
        self.count += count
        layout = self.layout
        if layout.row:
            lanes = at % layout.row
            low, high = self._row_lanes
            self._row_lanes = (min(low, int(lanes.min())), max(high, int(lanes.max())))
        if layout.slices:
            self._add_cores(at)
        self._settled = (
            self.step == 1 and not layout.slices and (not layout.row or self._row_lanes == (0, layout.row - 1))
        )

    def _add_cores(self, at: I64) -> None:
        layout = self.layout
        starts, stops, last = _cores(layout.slices, layout.tile)
        core = np.searchsorted(starts, at, side="right") - 1
        np.clip(core, 0, None, out=core)
        self._cores_hit = self._cores_hit + np.bincount(core, minlength=len(starts))
        self._only_last_tiles = self._only_last_tiles and bool(np.all((at >= last[core]) & (at < stops[core])))
        if layout.tile:
            lanes = (at - starts[core]) % layout.tile
            low, high = self._tile_lanes
            self._tile_lanes = (min(low, int(lanes.min())), max(high, int(lanes.max())))

    def locate(self, worst: int, unwritten: int) -> Location:
        """The location of all that was added; ``worst`` is the flat position of the worst element."""
        pattern, text = self._pattern()
        core, tile, lane = place(self.layout, worst)
        return Location(pattern, text, core=core, tile=tile, lane=lane, unwritten=unwritten)

    def _pattern(self) -> tuple[str, str]:
        layout, count = self.layout, self.count
        total = f"{count:,} of {layout.size:,} elements"
        if count == layout.size and count > 1:
            return "all", f"all {count:,} elements"
        if count == 1:
            return "one element", f"one element of {layout.size:,}"
        for find in (self._core, self._group) if self._core_is_whole() else (self._group, self._core):
            found = find(total)
            if found:
                return found
        hit = int(np.count_nonzero(self._cores_hit))
        if self._only_last_tiles and hit > 1 and not self._single_tiles():
            return (
                "last tile of each core",
                f"{total}, all in the last tile of a core ({hit} of {len(layout.slices)} cores)",
            )
        return (
            self._lanes(total)
            or self._stride(total)
            or ("scattered", f"{total}, between {self.first:,} and {self.last:,}")
        )

    def _core_is_whole(self) -> bool:
        return any(e - s == self.count and s == self.first for s, e in self.layout.slices)

    def _single_tiles(self) -> bool:
        """Every core has one tile only, so that its last one says nothing."""
        starts, _, last = _cores(self.layout.slices, self.layout.tile)
        return bool(np.all(starts == last))

    def _core(self, total: str) -> tuple[str, str] | None:
        hit = np.flatnonzero(self._cores_hit)
        if len(hit) != 1 or len(self.layout.slices) < 2:
            return None
        core = int(hit[0])
        start, stop = self.layout.slices[core]
        share = "all" if stop - start == self.count else f"{self.count:,}"
        return "one core", f"{total}: {share} of the {stop - start:,} elements of core {core}, [{start:,}, {stop:,})"

    def _group(self, total: str) -> tuple[str, str] | None:
        if self.layout.group is None:
            return None
        tensor, size = self.layout.group
        number = self.first // size
        if number != self.last // size or size < 2:
            return None
        share = "all" if self.count == size else f"{self.count:,}"
        return "one var group", f"{total}: {share} of the {size:,} elements that share element {number:,} of {tensor}"

    def _stride(self, total: str) -> tuple[str, str] | None:
        if self.step < 2 or self.count < 3 or (self.last - self.first) // self.step + 1 != self.count:
            return None
        return "every k-th", f"{total}: every {self.step}-th from {self.first:,} to {self.last:,}"

    def _lanes(self, total: str) -> tuple[str, str] | None:
        for length, (low, high), what in (
            (self.layout.row, self._row_lanes, "row"),
            (self.layout.tile if self._tiles() > 1 else 0, self._tile_lanes, "tile"),
        ):
            if length < 2 or high < 0 or self.last - self.first < length:
                continue
            if low == 0 and high < (length + 1) // 2:
                return "first lanes", f"{total}, all in the first {high + 1:,} of the {length:,} elements of a {what}"
            if high == length - 1 and low >= length // 2:
                return "last lanes", f"{total}, all in the last {length - low:,} of the {length:,} elements of a {what}"
        return None

    def _tiles(self) -> int:
        """How many tiles the longest slice has."""
        if not self.layout.tile:
            return 0
        return max((-(-(stop - start) // self.layout.tile) for start, stop in self.layout.slices), default=0)


def place(layout: Layout, flat: int) -> tuple[int | None, int | None, int | None]:
    """Core, tile and lane of a flat position; None where the tiling is not known."""
    for core, (start, stop) in enumerate(layout.slices):
        if start <= flat < stop:
            if not layout.tile:
                return core, None, None
            return core, (flat - start) // layout.tile, (flat - start) % layout.tile
    return None, None, None


@lru_cache(maxsize=256)
def group_of(shape: tuple[int, ...], inputs: tuple[tuple[str, tuple[int, ...]], ...]) -> tuple[str, int] | None:
    """The input whose elements are each shared by a run of consecutive elements of an output of this shape.

    ``inputs`` are (name, shape). That is an input that is as the output but for last dimensions that are 1 or
    missing. (tensor, elements that share one)
    """
    for tensor, kept in inputs:
        while kept and kept[-1] == 1:
            kept = kept[:-1]
        rest = shape[len(kept) :]
        size = prod(rest)
        if kept and size > 1 and shape[: len(kept)] == kept:
            return tensor, size
    return None
