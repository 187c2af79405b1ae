"""A case that cannot fail is not a test: what would pass without computing.

One output at a time, the others golden: a candidate counts only where it passes every profile of the case. Candidates
are looked at block by block and dropped at the first block that refutes them, so that a sound case costs next to
nothing. The elements of an output outside a core's slice are taken as met without error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli.compare.block import F64, Block, Output, Target, rounded, wide
from gnll_cli.compare.profile import Judge
from gnll_cli.golden.interface import GoldenBlock, TensorData

#: Elements of a block that are looked at first: enough to refute what computes nothing.
PROBE = 64
NONE: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a candidate's elements for a stretch of the golden come from, and what to do when nobody wants them any more."""

    read: Callable[[Target], F64]
    drop: Callable[[], None] = lambda: None


class Stream:
    """The golden of an alternative computation, run lazily, only as far as someone asks."""

    def __init__(self, start: Callable[[], Iterator[GoldenBlock]]) -> None:
        self._start = start
        self._blocks: Iterator[GoldenBlock] | None = None
        self._kept: dict[str, list[GoldenBlock]] = {}
        #: How many candidates ask for each output.
        self._users: dict[str, int] = {}

    def use(self, output: str) -> None:
        """One more will ask for this output."""
        self._users[output] = self._users.get(output, 0) + 1

    def forget(self, output: str) -> None:
        """One less will: blocks that nobody asks for need not be kept on the way to those of another output."""
        self._users[output] -= 1
        if not self._users[output]:
            self._kept.pop(output, None)

    def take(self, output: str, start: int, stop: int) -> F64:
        """Golden values [start, stop) of an output. What lies before ``start`` is forgotten: ask in order."""
        if self._blocks is None:
            self._blocks = self._start()
        kept = self._kept.setdefault(output, [])
        kept[:] = [b for b in kept if b.start + b.value.size > start]
        while not kept or kept[-1].start + kept[-1].value.size < stop:
            block = next(self._blocks)
            wanted = self._users.get(block.output, 0) > 0
            if wanted and (block.output != output or block.start + block.value.size > start):
                self._kept.setdefault(block.output, []).append(block)
        values = [b.value[max(start - b.start, 0) : stop - b.start] for b in kept if b.start < stop]
        return values[0] if len(values) == 1 else np.concatenate(values)


@lru_cache(maxsize=256)
def _count(stop: int) -> npt.NDArray[np.int64]:
    """0, 1, ... stop - 1; not to be written to."""
    return np.arange(stop)


class OutputTrust:
    """The candidates of one output under the judges of all its profiles."""

    def __init__(
        self,
        output: Output,
        judges: Sequence[Judge],
        sources: Sequence[tuple[str, Source]],
        slices: Slices,
    ) -> None:
        self.output = output
        self.judges = judges
        self.names = ["zeros", "ones", *(name for name, _ in sources)]
        self.sources: list[Source | None] = [source for _, source in sources]
        self.slices = slices
        self.ranges = slices.ranges
        self.rows = _count(len(self.names))
        self.parts = _count(len(self.ranges))
        self._row_totals: list[list[npt.NDArray[Any]]] = [[] for _ in judges]
        self._part_totals: list[list[npt.NDArray[Any]]] = [[] for _ in judges]

    @property
    def alive(self) -> bool:
        return bool(self.rows.size or self.parts.size)

    def update(self, target: Target) -> None:
        """Look at a block of the golden."""
        size = target.value.size
        hit = self._ranges_in(target.start, target.start + size)
        if not size or not (self.rows.size or hit.size):
            return
        if size <= PROBE * 2:
            self._look(target, self.rows, hit)
            return
        if self.rows.size:
            self._look(target.part(0, PROBE), self.rows, NONE)
        if self.rows.size:
            self._look(target.part(PROBE, size), self.rows, NONE)
        if hit.size:
            self._look(target, NONE, hit)

    def _ranges_in(self, start: int, stop: int) -> npt.NDArray[np.int64]:
        """The slices still alive that meet [start, stop); ``parts`` itself where that is all of them."""
        if not self.parts.size or stop - start == self.output.size:
            return self.parts
        ranges = self.ranges[self.parts]
        return self.parts[(ranges[:, 0] < stop) & (ranges[:, 1] > start)]

    def _look(self, target: Target, rows: npt.NDArray[np.int64], hit: npt.NDArray[np.int64]) -> None:
        """Look at a stretch of the golden for some rows and some slices."""
        size = target.value.size
        # Slices are judged on the row of zeros, which is there for them even when zeros everywhere are refuted.
        numbers: list[int] = rows.tolist()
        lead = 0 if not hit.size or (numbers and numbers[0] == 0) else 1
        values = np.zeros((len(numbers) + lead, size))
        for i, row in enumerate(numbers, lead):
            if row == 1:
                values[i] = 1.0
            elif row > 1:
                source = self.sources[row - 2]
                assert source is not None
                values[i] = source.read(target)
        block = Block(target, values)
        trials = [judge.trial(block) for judge in self.judges]
        if numbers:
            reduced = [[(ufunc, ufunc.reduce(x[lead:], axis=1)) for ufunc, x in parts] for parts in trials]
            alive = self._merge(self._row_totals, reduced, rows, len(self.names))
            self.rows = rows[alive]
            for row, lives in zip(numbers, alive.tolist(), strict=True):
                if row > 1 and not lives:
                    self._drop(row - 2)
        if hit.size:
            cuts = self._cuts(target, hit)
            reduced = [[(ufunc, _reduce_ranges(ufunc, x[0], cuts)) for ufunc, x in parts] for parts in trials]
            alive = self._merge(self._part_totals, reduced, hit, len(self.ranges))
            if hit is self.parts:
                self.parts = hit[alive]
            else:
                self.parts = np.setdiff1d(self.parts, hit[~alive], assume_unique=True)

    def _drop(self, number: int) -> None:
        """A source is refuted: free what it holds."""
        source = self.sources[number]
        assert source is not None
        source.drop()
        self.sources[number] = None

    def _cuts(self, target: Target, hit: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Starts and stops of slices within a block, in turn."""
        if target.value.size == self.output.size and len(hit) == len(self.ranges):
            return self.ranges.reshape(-1)
        ranges = self.ranges[hit] - target.start
        return np.clip(ranges, 0, target.value.size).reshape(-1)

    def _merge(
        self,
        totals: list[list[npt.NDArray[Any]]],
        reduced: Sequence[Sequence[tuple[np.ufunc, npt.NDArray[Any]]]],
        which: npt.NDArray[np.int64],
        count: int,
    ) -> npt.NDArray[np.bool_]:
        """Add a block's quantities, per judge, to the totals of the candidates ``which`` of ``count``.

        Which of them still pass all judges, [len(which)].
        """
        alive: npt.NDArray[np.bool_] | None = None
        for judge, sums, quantities in zip(self.judges, totals, reduced, strict=True):
            if not sums and len(which) == count:
                sums.extend(x for _, x in quantities)
                passes = judge.survives(sums, False)
            else:
                if not sums:
                    sums.extend(np.zeros(count, dtype=x.dtype) for _, x in quantities)
                for total, (ufunc, x) in zip(sums, quantities, strict=True):
                    total[which] = ufunc(total[which], x)
                passes = judge.survives([total[which] for total in sums], False)
            alive = passes if alive is None else alive & passes
        assert alive is not None
        return alive

    def survivors(self) -> list[str]:
        """In words, what would pass; call when all blocks are through."""
        name = self.output.name
        if not self.output.size:
            return [f"{name} has no elements: any result would pass"]
        if not self.alive:
            return []
        rows, parts = self.rows, self.parts
        for j, judge in enumerate(self.judges):
            if rows.size and self._row_totals[j]:
                rows = rows[judge.survives([t[rows] for t in self._row_totals[j]], True)]
            if parts.size and self._part_totals[j]:
                parts = parts[judge.survives([t[parts] for t in self._part_totals[j]], True)]
        found = [f"{self.names[row]} would pass in {name}" for row in rows]
        # Zeros everywhere include zeros in every slice.
        if 0 not in rows:
            found += [f"{self.slices.name(int(part))} of {name} left zero would pass" for part in parts]
        return found


def _reduce_ranges(ufunc: np.ufunc, x: npt.NDArray[Any], cuts: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Reduce [cuts[0], cuts[1]), [cuts[2], cuts[3]), ... of x; every range holds at least one element."""
    # reduceat takes pairs of indices in any order, but none equal to the length: one neutral element stands there.
    padded = np.concatenate((x, x[:1]))
    return np.asarray(ufunc.reduceat(padded, cuts)[::2])


@dataclass(frozen=True, slots=True)
class Slices:
    """The stretches of an output that one core, or the last tile, writes: ``ranges`` int64 [k, 2] of start and stop.

    ``cores`` are the cores of the first of them; one more is the last tile.
    """

    ranges: npt.NDArray[np.int64]
    cores: tuple[int, ...] = ()

    def name(self, number: int) -> str:
        return f"core {self.cores[number]}'s slice" if number < len(self.cores) else "the last tile"


NO_SLICES = Slices(np.zeros((0, 2), dtype=np.int64))


def slices_of(slices: tuple[tuple[int, int], ...], tile: int, size: int) -> Slices:
    """The stretches that an output of ``size`` elements is made of.

    Cores count only where two or more of them work; the last tile only where it is not the whole output nor a core's
    slice.
    """
    if not size or not slices:
        return NO_SLICES
    ranges = np.array(slices, dtype=np.int64)
    working = np.flatnonzero(ranges[:, 1] > ranges[:, 0])
    if not working.size:
        return NO_SLICES
    start, stop = (int(x) for x in ranges[working[-1]])
    last = start + (stop - start - 1) // tile * tile if tile > 0 else start
    cores = working if working.size > 1 else working[:0]
    found = ranges[cores]
    if last > start:
        found = np.concatenate((found, [(last, stop)]))
    return Slices(found, tuple(int(core) for core in cores))


def copies_of(output: Output, inputs: Mapping[str, TensorData]) -> list[tuple[str, Source]]:
    """A copy of each input that has as many elements as the output."""
    return [(f"a copy of {name}", _copy(output, data)) for name, data in inputs.items() if data.size == output.size]


def _copy(output: Output, data: TensorData) -> Source:
    def read(target: Target) -> F64:
        values = wide(data.read(target.start, target.start + target.value.size))
        return values if data.dtype == output.dtype.name else rounded(values, output.dtype)

    return Source(read)


def alternative(output: Output, scale: float, stream: Stream | None) -> Source:
    """The golden of another computation (None: the case's own) times ``scale``, as the output's dtype holds it."""
    if stream is None:
        return Source(lambda target: rounded(target.value * scale, output.dtype))
    stream.use(output.name)

    def read(target: Target) -> F64:
        return rounded(stream.take(output.name, target.start, target.start + target.value.size) * scale, output.dtype)

    return Source(read, lambda: stream.forget(output.name))
