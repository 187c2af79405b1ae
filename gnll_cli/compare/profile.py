"""The seam of an accuracy profile.

A module of ``compare/profiles/`` with ``PROFILES: tuple[Profile, ...]`` is a family of profiles. Most profiles are a
limit per element: subclass ``ElementProfile`` and write ``limit``. A profile that judges a statistic subclasses
``Profile`` and ``Judge``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnll_cli.compare.block import F64, Block, Bools, Output, exceeds
from gnll_cli.compare.interface import OutputVerdict
from gnll_cli.compare.metrics import Metrics
from gnll_cli.errors import UsageError

#: A per-element quantity of candidates [k, n] and how it is reduced over elements.
Part = tuple[np.ufunc, npt.NDArray[Any]]


class Profile(ABC):
    """A named accuracy standard. ``name`` is what users write, ``summary`` one line for people."""

    name: str
    summary: str
    #: True where the profile compares with the same-precision benchmark.
    needs_benchmark: ClassVar[bool] = False
    #: True where the profile uses the golden's magnitude, which raw files do not carry.
    needs_magnitude: ClassVar[bool] = False

    @abstractmethod
    def definition(self) -> dict[str, Any]:
        """The full definition for reports: numbers, strings, lists and dicts only."""

    def dtypes(self) -> tuple[str, ...] | None:
        """The dtypes it has tolerances for; None for every dtype."""
        return None

    def check(self, output: Output) -> None:
        """``UsageError`` where the profile cannot judge the output."""
        have = self.dtypes()
        if have is not None and output.dtype.name not in have:
            raise UsageError(
                f"profile {self.name} has no tolerance for {output.dtype.name}; it has {', '.join(have)}",
                where=output.name,
                hint="choose another profile, or give --rtol and --atol with gnll compare",
            )
        if self.needs_magnitude and not output.has_magnitude:
            raise UsageError(
                f"profile {self.name} needs the golden's magnitude, which a raw file does not carry",
                where=output.name,
                hint="compare a gen-data folder (gnll compare FOLDER), or choose another profile",
            )
        if self.needs_benchmark and not output.has_benchmark:
            raise UsageError(
                f"profile {self.name} needs the operator's same-precision benchmark, which raw files do not have",
                where=output.name,
                hint="compare a gen-data folder (gnll compare FOLDER), or choose another profile",
            )

    @abstractmethod
    def start(self, output: Output) -> Judge:
        """A judge for one output. Call ``check`` before."""

    def from_metrics(self, output: Output, metrics: Metrics) -> bool | None:
        """Whether an output without faults and with these metrics passes; None where metrics cannot tell."""
        return None

    def tolerance(self, output: Output) -> tuple[float, float] | None:
        """(atol, rtol) where an element passes exactly if abs(a-g) <= atol + rtol * abs(g) and nothing else counts."""
        return None


class Judge(ABC):
    """Judges one output: ``update`` with its blocks in order, then ``finish``."""

    def __init__(self, output: Output) -> None:
        self.output = output

    @abstractmethod
    def update(self, block: Block) -> Bools | None:
        """Judge a block [n]; the elements that fail, or None where none does."""

    @abstractmethod
    def finish(self, verdict: OutputVerdict, metrics: Metrics) -> None:
        """Write passed, decided, reason, mismatched, limit, limit_text, headroom and the worst element."""

    @abstractmethod
    def trial(self, block: Block) -> Sequence[Part]:
        """The quantities by which candidates (a block [k, n]) pass or not, each with the ufunc that reduces it."""

    @abstractmethod
    def survives(self, totals: Sequence[npt.NDArray[Any]], final: bool) -> Bools:
        """Which candidates still pass, [k], from the reduced quantities of ``trial``.

        ``final`` is False while blocks are still to come: then only what no later block can mend counts.
        """


@dataclass(slots=True)
class Worst:
    """The element that uses most of its limit. ``share`` is used over limit; inf for a fault."""

    share: float = -1.0
    at: int = -1
    actual: float | int = 0.0
    golden: float | int = 0.0
    limit: float = 0.0

    def fill(self, verdict: OutputVerdict, output: Output) -> None:
        if self.at >= 0:
            verdict.worst_index = output.index(self.at)
            verdict.worst_actual = self.actual
            verdict.worst_golden = self.golden
            verdict.limit = self.limit


def share(used: float, limit: float) -> float:
    """used / limit, with 0/0 = 0 and x/0 = inf."""
    if limit:
        return used / limit
    return math.inf if used else 0.0


def headroom(worst_share: float) -> float:
    """Limit over used: inf where nothing was used."""
    return 1.0 / worst_share if worst_share > 0 else math.inf


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


class Tally:
    """What every judge counts: failed, undecided and faulty elements, and the worst element."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.mismatched = 0
        self.undecided = 0
        self.faults = 0
        self.unwritten = 0
        self.worst = Worst()

    def faulty(self, block: Block, fault: Bools | None) -> None:
        """Count the faults of a block; the first one is the worst element of the output."""
        if fault is None:
            return
        first = self.faults == 0
        self.faults += int(np.count_nonzero(fault))
        if block.unwritten is not None:
            self.unwritten += int(np.count_nonzero(block.unwritten))
        if first:
            self.take(block, int(fault.argmax()), math.inf, 0.0)

    def take(self, block: Block, at: int, share_: float, limit: float) -> None:
        """Make an element of the block the worst one."""
        actual, golden = block.pair(at)
        self.worst = Worst(share_, block.target.start + at, actual, golden, limit)

    def most(self, block: Block, used: npt.NDArray[Any], limit: F64 | float) -> None:
        """Note the element that uses most of its limit, if it beats the worst one so far."""
        if isinstance(limit, float):
            if share(block.top_error if used is block.error else float(used.max()), limit) <= self.worst.share:
                return
            at = int(used.argmax())
            here = share(float(used[at]), limit)
            if here > self.worst.share:
                self.take(block, at, here, limit)
            return
        shares = used / limit
        at = int(shares.argmax())
        if math.isnan(shares[at]):
            shares = np.where(used == 0, 0.0, shares)
            at = int(shares.argmax())
        if shares[at] > self.worst.share:
            self.take(block, at, float(shares[at]), float(limit[at]))

    def fill(self, verdict: OutputVerdict, rule: str) -> None:
        """Write the verdict of a rule per element."""
        verdict.mismatched = self.mismatched
        verdict.passed = self.mismatched == 0
        verdict.decided = self.mismatched > 0 or self.undecided == 0
        verdict.limit_text = rule
        verdict.headroom = headroom(self.worst.share)
        self.worst.fill(verdict, self.output)
        if not verdict.passed:
            verdict.reason = self.failures(rule)
        elif not verdict.decided:
            verdict.reason = self.unsure()

    def failures(self, rule: str) -> str:
        """What failed, in one line."""
        size = f"of {plural(self.output.size, 'element')}"
        wrong = self.mismatched - self.faults
        parts = []
        if wrong:
            parts.append(f"{wrong:,} {size} beyond {rule}")
        special = self.faults - self.unwritten
        if special:
            parts.append(f"{special:,} {size} not finite where the golden is, or the reverse, or of the other sign")
        if self.unwritten:
            parts.append(f"{self.unwritten:,} {size} not written")
        return "; ".join(parts)

    def unsure(self) -> str:
        return f"golden not accurate enough: {plural(self.undecided, 'element')} could pass or fail within its radius"


class ElementProfile(Profile):
    """A profile with a limit per element: an element passes if ``used`` <= ``limit``."""

    @abstractmethod
    def limit(self, block: Block) -> F64 | float:
        """The largest allowed ``used`` per element: float64 [n], or one number for all."""

    def used(self, block: Block) -> npt.NDArray[Any]:
        """What is held against the limit: abs(actual - golden), 0 where one is not finite."""
        return block.error

    def slope(self, output: Output) -> float:
        """How much the limit moves when the golden moves by 1."""
        return 0.0

    @abstractmethod
    def rule(self, output: Output) -> str:
        """The rule in words, for reasons and ``limit_text``."""

    def start(self, output: Output) -> Judge:
        return ElementJudge(self, output)


class ElementJudge(Judge):
    """Judges by a limit per element."""

    def __init__(self, profile: ElementProfile, output: Output) -> None:
        super().__init__(output)
        self.profile = profile
        self.tally = Tally(output)
        self.sway = 1.0 + profile.slope(output)

    def update(self, block: Block) -> Bools | None:
        if not block.error.size:
            return None
        tally = self.tally
        used, limit = self.profile.used(block), self.profile.limit(block)
        tally.most(block, used, limit)
        bad = self._bad(block, used, limit)
        if block.fault is not None:
            bad = block.fault if bad is None else bad | block.fault
            tally.faulty(block, block.fault)
        if bad is not None:
            tally.mismatched += int(np.count_nonzero(bad))
        return bad

    def _bad(self, block: Block, used: npt.NDArray[Any], limit: F64 | float) -> Bools | None:
        """The elements beyond the limit; counts those that the golden's radius leaves open."""
        radius = block.target.radius
        if (
            isinstance(limit, float)
            and used is block.error
            and block.straddle is None
            and block.top_error + self.sway * block.target.top_radius < limit
        ):
            return None
        bad = exceeds(used, limit)
        if radius is not None and block.target.top_radius:
            sway = radius * self.sway
            unsure = (used - sway <= limit) & (used + sway > limit)
            if block.finite is not None:
                unsure &= block.finite
            if block.straddle is not None:
                unsure |= block.straddle & ~bad
            if unsure.any():
                self.tally.undecided += int(np.count_nonzero(unsure))
                bad &= ~unsure
        return bad if bad.any() else None

    def finish(self, verdict: OutputVerdict, metrics: Metrics) -> None:
        self.tally.fill(verdict, self.profile.rule(self.output))

    def trial(self, block: Block) -> Sequence[Part]:
        bad = exceeds(self.profile.used(block), self.profile.limit(block))
        if block.fault is not None:
            bad |= block.fault
        return ((np.logical_or, bad),)

    def survives(self, totals: Sequence[npt.NDArray[Any]], final: bool) -> Bools:
        return ~totals[0]
