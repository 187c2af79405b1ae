"""The operators: one folder each. ``get`` and ``names`` are the door."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path

from gnll_cli.errors import UsageError, nearest
from gnll_cli.operators.interface import Operator

SEARCH_PATH = "GNLL_OPERATOR_PATH"


def _folders() -> dict[str, Path]:
    roots = [Path(__file__).parent]
    roots += [Path(p) for p in os.environ.get(SEARCH_PATH, "").split(os.pathsep) if p]
    found: dict[str, Path] = {}
    for root in roots:
        if not root.is_dir():
            raise UsageError(
                f"no folder {root}", where=SEARCH_PATH, hint="list existing folders that hold operator folders"
            )
        for folder in sorted(root.iterdir()):
            if (folder / "__init__.py").is_file():
                found.setdefault(folder.name, folder)
    return found


def names() -> list[str]:
    """Names of the operators that are there."""
    return sorted(_folders())


def folder(name: str) -> Path:
    """The folder of an operator; ``UsageError`` where there is none of that name."""
    folders = _folders()
    if name not in folders:
        raise UsageError(f"unknown operator '{name}'", hint=nearest(name, sorted(folders)))
    return folders[name]


@cache
def get(name: str) -> Operator:
    """The record of an operator; ``UsageError`` where there is none of that name."""
    folders = _folders()
    if name not in folders:
        raise UsageError(f"unknown operator '{name}'", hint=nearest(name, sorted(folders)))
    folder = folders[name]
    if folder.parent == Path(__file__).parent:
        module = importlib.import_module(f"{__name__}.{name}")
    else:
        module_name = f"gnll_operator_{name}"
        spec = importlib.util.spec_from_file_location(
            module_name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        spec.loader.exec_module(module)
    record = getattr(module, "OPERATOR", None)
    if not isinstance(record, Operator) or record.name != name:
        raise UsageError(
            f"the folder of operator '{name}' has no OPERATOR record of that name",
            where=str(folder),
            hint="docs/add-an-operator.md says what an operator folder holds",
        )
    return record
