"""What the command line of ``gnll compare`` says, checked and in the library's terms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from gnll_cli.compare import profiles as registry
from gnll_cli.dtypes import DTYPES, DType
from gnll_cli.errors import UsageError, nearest

_SHAPE = re.compile(r"\d+(?:\s*[,x×]\s*\d+)*")


def parse_dtype(text: str, option: str = "--dtype") -> DType:
    """The dtype of that name, in any case, or by the operator documents' name (FLOAT16)."""
    low = text.strip().lower()
    for dtype in DTYPES.values():
        if low in (dtype.name, dtype.acl.lower()):
            return dtype
    raise UsageError(f"unknown dtype '{text}'", where=option, hint=nearest(low, list(DTYPES)))


def parse_shape(text: str) -> tuple[int, ...]:
    """``2,3``, ``2x3`` or ``[2, 3]``; ``[]`` is the shape of a tensor of rank 0."""
    inner = text.strip()
    if inner.startswith("[") and inner.endswith("]"):
        inner = inner[1:-1].strip()
        if not inner:
            return ()
    if not _SHAPE.fullmatch(inner):
        raise UsageError(f"'{text}' is no shape", where="--shape", hint="write the dimensions as 2,3 or 2x3")
    return tuple(int(d) for d in re.split(r"[^\d]+", inner))


def parse_pairs(paths: Sequence[str]) -> list[tuple[Path, Path]]:
    """Actual and golden, two by two."""
    if len(paths) % 2:
        folders = [p for p in paths if Path(p).is_dir()]
        if folders and len(paths) > 1:
            raise UsageError("a folder is compared alone", where=folders[0], hint="gnll compare FOLDER")
        raise UsageError(
            f"{len(paths)} file{'s' if len(paths) != 1 else ''}: each actual needs its golden",
            where=paths[-1],
            hint="gnll compare ACTUAL GOLDEN [ACTUAL GOLDEN ...] --dtype NAME, or gnll compare FOLDER",
        )
    return [(Path(a), Path(g)) for a, g in zip(paths[::2], paths[1::2], strict=True)]


def parse_profiles(
    names: Sequence[str], rtol: float | None, atol: float | None
) -> tuple[tuple[str, ...] | None, dict[str, float]]:
    """The profiles that options name (None: the default) and their numbers; --rtol and --atol mean profile isclose."""
    for name in names:
        registry.get(name)
    options = {key: value for key, value in (("rtol", rtol), ("atol", atol)) if value is not None}
    chosen = tuple(dict.fromkeys(names))
    if options and "isclose" not in chosen:
        if chosen:
            raise UsageError(
                f"--{next(iter(options))} belongs to profile isclose, and --profile names {', '.join(chosen)}",
                hint="drop the tolerances, or add --profile isclose",
            )
        chosen = ("isclose",)
    return chosen or None, options
