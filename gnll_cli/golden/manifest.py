"""The manifest: SHA-256 of every file that gen-data writes for a set of cases, to prove that the data is the same everywhere."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from gnll_cli import operators
from gnll_cli.cases.model import Case
from gnll_cli.errors import UsageError
from gnll_cli.golden.folder import CASE_FILE, folder_of, write_case
from gnll_cli.golden.raw import sha256_of

Manifest = dict[str, dict[str, str]]
#: Differences that a message lists before it says how many more there are.
_SHOWN = 10


def of_cases(cases: Iterable[Case]) -> Manifest:
    """Generate every case into a temporary folder: {case id: {file name: SHA-256}}, case.json included."""
    found: Manifest = {}
    with tempfile.TemporaryDirectory(prefix="gnll-manifest-") as name:
        root = Path(name)
        for case in cases:
            folder = write_case(case, operators.get(case.operator), root)
            sums = {file.name: sha256_of(file) for file in sorted(folder.iterdir()) if file.is_file()}
            found[case.id] = sums
            for file in sums:
                (folder_of(case.id, root) / file).unlink()
    return dict(sorted(found.items()))


def write(path: Path, manifest: Manifest) -> None:
    """Write a manifest, atomically; ``OSError`` where it cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)


def load(path: Path) -> Manifest:
    """Read a manifest; ``UsageError`` where it is missing or is none."""
    hint = "write it with `gnll gen-data --manifest`"
    try:
        contents = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path), hint=hint) from None
    except (ValueError, RecursionError):
        raise UsageError("is no JSON", where=str(path), hint=hint) from None
    if not isinstance(contents, dict) or not all(
        isinstance(files, dict) and CASE_FILE in files for files in contents.values()
    ):
        raise UsageError("is no manifest: it maps case ids to files and their SHA-256", where=str(path), hint=hint)
    return contents


def differences(expected: Manifest, actual: Manifest) -> list[str]:
    """What differs, one line each: cases and files that are missing, new or changed."""
    lines = [f"{case}: in the manifest, but not generated" for case in sorted(expected.keys() - actual.keys())]
    lines += [f"{case}: generated, but not in the manifest" for case in sorted(actual.keys() - expected.keys())]
    for case in sorted(expected.keys() & actual.keys()):
        before, after = expected[case], actual[case]
        for file in sorted(before.keys() | after.keys()):
            if before.get(file) != after.get(file):
                lines.append(
                    f"{case}/{file}: {before.get(file, 'absent')} in the manifest, {after.get(file, 'absent')} now"
                )
    return lines


def report(lines: list[str]) -> str:
    """The differences as text, the first of them and how many more there are."""
    more = len(lines) - _SHOWN
    return "\n".join(lines[:_SHOWN] + ([f"and {more} more"] if more > 0 else []))
