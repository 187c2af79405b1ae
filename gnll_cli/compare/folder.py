"""A gen-data folder that also holds the operator's outputs, judged as ``gnll run`` would judge them."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gnll_cli import dtypes, operators
from gnll_cli.cases.model import Case
from gnll_cli.compare.interface import CaseVerdict
from gnll_cli.compare.judge import Read, judge_reads
from gnll_cli.compare.rawfile import open_raw
from gnll_cli.errors import RawFileError, UsageError
from gnll_cli.golden import load_folder


@dataclass(slots=True)
class FolderVerdict:
    """The verdict on the outputs in a gen-data folder. ``notes`` are about the folder as a whole."""

    folder: str
    case: Case
    profiles: tuple[str, ...]
    verdict: CaseVerdict
    notes: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return all(o.passed and o.decided for o in self.verdict.outputs)


def judge_folder(
    folder: Path, *, profiles: Sequence[str] | None = None, options: Mapping[str, float] | None = None
) -> FolderVerdict:
    """Judge ``<output>.bin`` in a gen-data folder against the golden of the inputs there, by the case's own profiles.

    The golden is computed again, by blocks, with its radius and magnitude; a golden file that is no longer the one that
    gen-data wrote is noted. Raises ``UsageError`` and ``RawFileError`` for folders and files that cannot be judged.
    """
    case, inputs = load_folder(folder)
    operator = operators.get(case.operator)
    if case.reject is not None:
        raise UsageError(
            f"the case must be refused ({case.reject}): it has no outputs to compare",
            where=str(folder),
            hint="run it on a backend: gnll run",
        )
    missing = [name for name in operator.outputs if not (folder / f"{name}.bin").exists()]
    if missing:
        raise RawFileError(
            f"holds no {' and no '.join(f'{name}.bin' for name in missing)}",
            where=str(folder),
            hint="let the operator write each output there, raw, under the output's name",
        )
    chosen = tuple(profiles or case.profile)
    with contextlib.ExitStack() as stack:
        reads: dict[str, Read] = {
            name: stack.enter_context(
                open_raw(folder / f"{name}.bin", dtypes.get(case.dtypes[name]), case.shapes[name])
            ).read
            for name in operator.outputs
        }
        verdict = judge_reads(
            case,
            operator,
            operator.golden(case, inputs),
            reads,
            {},
            chosen,
            inputs,
            None,
            operator.tiling(case, operator.cores),
            False,
            options,
        )
    return FolderVerdict(str(folder), case, chosen, verdict, _notes(folder, case, operator.outputs))


def _notes(folder: Path, case: Case, outputs: Sequence[str]) -> tuple[str, ...]:
    """What a reader must know of the folder besides the verdict."""
    sums: Mapping[str, str] = json.loads((folder / "case.json").read_text(encoding="utf-8"))["sha256"]
    notes = []
    for name in (f"{output}_golden{suffix}.bin" for output in outputs for suffix in ("", ".f64")):
        if name not in sums:
            continue
        path = folder / name
        if not path.is_file():
            notes.append(f"{name} is missing; judged by the golden computed again")
        elif _sha256(path) != sums[name]:
            notes.append(
                f"{name} was changed since gen-data wrote it (SHA-256 differs); judged by the golden computed again"
            )
    if case.advisory:
        notes.append("the case is advisory: its inputs lie beyond what the operator promises")
    return tuple(notes)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as handle:
        buffer = bytearray(1 << 20)
        view = memoryview(buffer)
        while count := handle.readinto(buffer):
            digest.update(view[:count])
    return digest.hexdigest()
