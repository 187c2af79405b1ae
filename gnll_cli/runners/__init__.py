"""The backends: one file each. ``get``, ``names`` and ``require`` are the door.

A file ``<name>.py`` of this folder that sets ``RUNNER`` is the backend ``<name>``; it is imported when it is used, so one that
does not load leaves the others alone.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path

from gnll_cli.errors import UnavailableError, UsageError, nearest
from gnll_cli.runners.interface import Execution, Runner, RunnerOptions

__all__ = ["DEFAULT", "Execution", "Runner", "RunnerOptions", "get", "names", "require"]

#: The backend of ``gnll run`` where none is named.
DEFAULT = "numpy"

_FOLDER = Path(__file__).parent
_SETS_RUNNER = re.compile(r"^RUNNER\b", re.MULTILINE)
#: Backends that people will ask for and that this version does not have.
_NOT_YET = ("npu",)


@cache
def names() -> tuple[str, ...]:
    """Names of the backends, sorted. Nothing is imported: a file that sets ``RUNNER`` at its margin is one."""
    files = (f for f in _FOLDER.glob("*.py") if not f.name.startswith("_"))
    return tuple(sorted(f.stem for f in files if _SETS_RUNNER.search(f.read_text(encoding="utf-8"))))


@cache
def get(name: str) -> type[Runner]:
    """The class of a backend.

    ``UsageError`` where there is none of that name, ``UnavailableError`` with the reason where its file does not load.
    """
    if name not in names():
        if name in _NOT_YET:
            raise UsageError(
                f"backend '{name}' is not part of this version",
                where="--backend",
                hint="use --backend sim (the package on the CPU simulator) or --backend exec --exec 'CMD' (any program)",
            )
        raise UsageError(f"unknown backend '{name}'", where="--backend", hint=nearest(name, list(names())))
    where = str(_FOLDER / f"{name}.py")
    try:
        runner = import_module(f"{__name__}.{name}").RUNNER
    except Exception as error:
        raise UnavailableError(
            f"backend '{name}' does not load: {type(error).__name__}: {error}",
            where=where,
            hint="install what it imports, or use another backend; `gnll doctor` lists them",
        ) from error
    if not (isinstance(runner, type) and issubclass(runner, Runner) and runner.name == name):
        raise UnavailableError(
            f"RUNNER of backend '{name}' is not a Runner of that name",
            where=where,
            hint="docs/add-a-runner.md says what a backend is",
        )
    return runner


def require(options: RunnerOptions) -> type[Runner]:
    """The class of the backend that the options name, sure to be usable here: to be called before workers start.

    ``UsageError`` for wrong options, ``UnavailableError`` where something is missing on this machine.
    """
    runner = get(options.backend)
    runner.require(options)
    return runner
