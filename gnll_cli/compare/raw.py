"""Two raw files against each other, by blocks: ``judge_files``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli import dtypes
from gnll_cli.compare import profiles as registry
from gnll_cli.compare.block import Block, Output, Target, wide
from gnll_cli.compare.interface import OutputVerdict
from gnll_cli.compare.judge import OutputJudgement
from gnll_cli.compare.location import Layout
from gnll_cli.compare.profile import Profile
from gnll_cli.compare.rawfile import RawFile, likely_cause, open_raw, same_file
from gnll_cli.compare.screen import BLOCK, Screen, can_screen
from gnll_cli.dtypes import DType
from gnll_cli.errors import RawFileError, UsageError

Array = npt.NDArray[Any]
__all__ = ["FileVerdict", "compare_raw", "default_profiles", "judge_files"]


@dataclass(slots=True)
class FileVerdict:
    """The verdict on one pair of files: one ``OutputVerdict`` per profile, and hints about a likely mix-up."""

    actual: str
    golden: str
    dtype: str
    golden_dtype: str
    shape: tuple[int, ...]
    outputs: list[OutputVerdict]
    hints: tuple[str, ...] = field(default_factory=tuple)

    @property
    def passed(self) -> bool:
        return all(o.passed and o.decided for o in self.outputs)


def default_profiles(dtype: DType) -> tuple[str, ...]:
    """What raw files are judged by unless told otherwise: the unit test's tolerance, integers exactly."""
    return ("ut",) if dtype.is_float else ("exact",)


def judge_files(
    actual: Path,
    golden: Path,
    dtype: DType,
    *,
    golden_dtype: DType | None = None,
    shape: Sequence[int] | None = None,
    profiles: Sequence[str] | None = None,
    options: Mapping[str, float] | None = None,
    name: str | None = None,
) -> FileVerdict:
    """Judge a raw file of ``dtype`` against a golden one (``golden_dtype``: the same by default), in one pass.

    ``profiles`` as ``default_profiles`` where None. ``options``: rtol and atol for profile isclose. Raises
    ``RawFileError`` for files that cannot be compared, ``UsageError`` where a profile cannot judge them.
    """
    golden_dtype = golden_dtype or dtype
    if dtype.is_float != golden_dtype.is_float:
        raise UsageError(
            f"{dtype.name} and {golden_dtype.name} cannot be compared: one is an integer type, the other is not",
            where="--golden-dtype",
            hint="give both a floating-point or both an integer type",
        )
    if same_file(actual, golden):
        raise RawFileError(
            "is both the actual and the golden: a file always equals itself",
            where=str(actual),
            hint="name the golden file second",
        )
    with open_raw(actual, dtype, shape) as ours, open_raw(golden, golden_dtype, shape) as theirs:
        given = tuple(shape) if shape is not None else (theirs.size,)
        output = Output(
            name or actual.stem, dtype, given, theirs.size, options or {}, has_magnitude=False, has_benchmark=False
        )
        chosen = [registry.get(p) for p in dict.fromkeys(profiles or default_profiles(dtype))]
        for profile in chosen:
            profile.check(output)
        verdict = FileVerdict(str(actual), str(golden), dtype.name, golden_dtype.name, given, [])
        if ours.size != theirs.size:
            verdict.outputs = _different_sizes(output, chosen, ours, theirs)
            return verdict
        verdict.outputs = compare_raw(ours, theirs, output, chosen)
        if not verdict.passed and output.size:
            verdict.hints = _hints(ours, theirs)
        return verdict


def _different_sizes(output: Output, chosen: Sequence[Profile], ours: RawFile, theirs: RawFile) -> list[OutputVerdict]:
    reason = f"{ours.size:,} elements in {ours.path} and {theirs.size:,} in {theirs.path}"
    cause = likely_cause(ours.size * ours.dtype.itemsize, theirs.size * ours.dtype.itemsize, ours.dtype)
    return [
        OutputVerdict(
            output.name, p.name, passed=False, reason=reason, elements=theirs.size, headroom=0.0, notes=(cause,)
        )
        for p in chosen
    ]


def compare_raw(ours: RawFile, theirs: RawFile, output: Output, chosen: Sequence[Profile]) -> list[OutputVerdict]:
    """Judge two open files of equally many elements; memory does not grow with them."""
    mine = np.empty(BLOCK * ours.dtype.itemsize, dtype=np.uint8)
    other = np.empty(BLOCK * theirs.dtype.itemsize, dtype=np.uint8)
    notes = () if output.size else ("both are empty: there was nothing to compare",)
    with np.errstate(all="ignore"):
        update, finish = _judgement(output, theirs.dtype, chosen)
        for start in range(0, output.size, BLOCK):
            stop = min(start + BLOCK, output.size)
            update(start, ours.read_into(mine, start, stop), theirs.read_into(other, start, stop))
        return finish(notes)


def _judgement(
    output: Output, golden_dtype: DType, chosen: Sequence[Profile]
) -> tuple[Callable[[int, Array, Array], None], Callable[[Sequence[str]], list[OutputVerdict]]]:
    """The fast way where it can be gone, else the general one."""
    if can_screen(output, golden_dtype.name, chosen):
        screen = Screen(output, chosen)
        return screen.update, screen.finish
    judgement = OutputJudgement(output, chosen, Layout(output.shape, output.size))

    def update(start: int, actual: Array, golden: Array) -> None:
        integers = None if golden_dtype.is_float else golden.astype(np.int64)
        target = Target(output, start, wide(golden), integers=integers)
        judgement.update(Block.of(target, actual))

    return update, judgement.finish


def _hints(ours: RawFile, theirs: RawFile) -> tuple[str, ...]:
    """Another reading of the actual that would match the golden, from the first elements."""
    count = min(ours.size, BLOCK)
    golden = wide(theirs.read(0, count))
    stored = ours.read(0, count)
    with np.errstate(all="ignore"):
        if _alike(wide(stored), golden) > 0.5:
            return ()
        readings: list[tuple[str, Array]] = []
        if ours.dtype.itemsize > 1:
            readings.append(
                (
                    "with its bytes swapped (it was written big-endian)",
                    stored.view(ours.dtype.bits).byteswap().view(stored.dtype),
                )
            )
        for name in ("fp16", "bf16"):
            if ours.dtype.itemsize == 2 and name != ours.dtype.name:
                readings.append((f"read as {name}", stored.view(dtypes.get(name).storage)))
        found = [text for text, values in readings if _alike(wide(values), golden) > 0.9]
    return tuple(f"{ours.path} would match the golden {text}" for text in found)


def _alike(actual: npt.NDArray[np.float64], golden: npt.NDArray[np.float64]) -> float:
    """The share of elements that are about equal (to 1 %) among those that could differ."""
    telling = (golden != 0) & np.isfinite(golden)
    if not telling.any():
        return 1.0
    near = np.abs(actual - golden) <= 0.01 * np.abs(golden)
    return float(np.count_nonzero(near & telling)) / float(np.count_nonzero(telling))
