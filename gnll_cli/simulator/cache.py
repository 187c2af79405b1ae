"""The folder of built libraries, which several runs share.

A unit (the runtime, a package's host side, a kernel column) is a folder that appears whole, by one rename, under a name that is the
hash of everything it was made of: sources, headers, compiler, flags. Whoever builds a unit holds its lock, so two runs build it once;
one that is killed leaves a temporary folder that nobody loads and that the next builder of the unit removes.

Headers outside the unit's own folders are known only once it was compiled (the compiler lists them). An index of the unit
remembers their paths; a unit is found again only where all of them have the contents they had.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from gnll_cli.errors import UnavailableError

#: Part of every key: units of another layout are others.
LAYOUT = 1
#: Seconds after which a unit that no run used is removed.
UNUSED = 30 * 24 * 3600.0


def folder() -> Path:
    """Where units are: $GNLL_CACHE, else gnll below $XDG_CACHE_HOME or ~/.cache. It is made where it is missing."""
    chosen = os.environ.get("GNLL_CACHE")
    if chosen:
        path = Path(chosen).absolute()
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        path = Path(base) / "gnll"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(
            f"the cache folder cannot be made: {error.strerror or error}",
            where=str(path),
            hint="set GNLL_CACHE to a folder that can be written to",
        ) from error
    return path


def digest(parts: Iterable[str | bytes]) -> str:
    """SHA-256 over parts, each with its length: no two lists of parts have the same."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "little"))
        total.update(data)
    return total.hexdigest()


def digest_files(files: Iterable[Path], root: Path) -> str:
    """SHA-256 over names below ``root`` and contents."""
    parts: list[str | bytes] = []
    for file in sorted(files):
        parts += [str(file.relative_to(root)), file.read_bytes()]
    return digest(parts)


def unit(name: str, key: Callable[[], str], make: Callable[[Path], Iterable[Path]]) -> tuple[Path, bool]:
    """The folder of a unit, and whether it was made just now.

    ``key`` hashes what the unit is known to be made of. ``make(folder)`` builds it into an empty folder and returns the files
    beyond those that it read, which become part of what the unit is found by; what it raises goes to the caller and nothing is kept.
    """
    place = folder()
    known = key()
    if (found := _find(place, name, known)) is not None:
        return found, False
    with _lock(place, name):
        while True:
            known = key()
            if (found := _find(place, name, known)) is not None:
                return found, False
            for left in place.glob(f"{name}.building-*"):
                shutil.rmtree(left, ignore_errors=True)
            made = _make(place, name, known, make)
            # Sources that changed while they were compiled: what was made is of neither state.
            if key() == known:
                _prune(place)
                return made, True
            shutil.rmtree(made, ignore_errors=True)


def _make(place: Path, name: str, known: str, make: Callable[[Path], Iterable[Path]]) -> Path:
    try:
        building = Path(tempfile.mkdtemp(prefix=f"{name}.building-", dir=place))
    except OSError as error:
        raise UnavailableError(
            f"nothing can be written to the cache folder: {error.strerror or error}",
            where=str(place),
            hint="set GNLL_CACHE to a folder that can be written to and has room",
        ) from error
    try:
        others = sorted({str(path) for path in make(building)})
        final = place / f"{name}-{_full(known, others)}"
        # One that an earlier version of this very state left behind: it was not found, so it is not whole.
        shutil.rmtree(final, ignore_errors=True)
        os.chmod(building, 0o755)
        building.rename(final)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    index = _index(place, name, known)
    partial = index.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps(others))
    partial.replace(index)
    return final


def _find(place: Path, name: str, known: str) -> Path | None:
    try:
        others = json.loads(_index(place, name, known).read_text())
    except (OSError, ValueError):
        return None
    found = place / f"{name}-{_full(known, others)}"
    if not found.is_dir():
        return None
    with contextlib.suppress(OSError):
        os.utime(found)
        os.utime(_index(place, name, known))
    return found


def _index(place: Path, name: str, known: str) -> Path:
    return place / f"{name}-{known[:32]}.index"


def _full(known: str, others: list[str]) -> str:
    parts: list[str | bytes] = [known]
    for other in others:
        try:
            parts += [other, Path(other).read_bytes()]
        except OSError:
            parts += [other, b""]
    return digest(parts)[:32]


@contextlib.contextmanager
def _lock(place: Path, name: str) -> Iterator[None]:
    """Hold the lock of a unit's name. The lock is the process's: one that dies gives it back."""
    with open(place / f"{name}.lock", "w") as file:
        # Some file systems know no locks: the rename alone keeps units whole there, and two runs may both build.
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _prune(place: Path) -> None:
    """Remove units that no run used for long."""
    oldest = time.time() - UNUSED
    for path in place.iterdir():
        with contextlib.suppress(OSError):
            if path.suffix != ".lock" and path.stat().st_mtime < oldest:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()
