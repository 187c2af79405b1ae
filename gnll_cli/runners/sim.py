"""Backend "sim": a package's own source, compiled and run on the CPU simulator of Atlas A2."""

from __future__ import annotations

import ctypes
import json
import struct
from collections.abc import Callable, Iterable, Mapping
from ctypes import c_char_p, c_uint32
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from gnll_cli import operators, simulator
from gnll_cli.cases.model import Case
from gnll_cli.errors import UnavailableError, UsageError
from gnll_cli.operators.interface import Operator, Tiling
from gnll_cli.runners.aclnn import ACL_DTYPES, AclnnRunner, Finding
from gnll_cli.runners.interface import Needs, RunnerOptions
from gnll_cli.runners.memory import GUARD
from gnll_cli.simulator import compiler
from gnll_cli.simulator.glue import ATTRIBUTES, Prototype

CHECKS = ("all", "memory", "none")
#: Vector cores of the devices that are simulated: 48 on Ascend 910B1 and B2, 40 on B3 and B4.
CORES = 48
_WORDS = {"bool": "bool", "double": "float", "int64_t": "int", "char *": "string"}


class SimRunner(AclnnRunner):
    """The ACLNN functions of a library built from the package, on the simulator's runtime."""

    name = "sim"
    summary = "an operator package's own source, compiled and run on the CPU simulator of Atlas A2"

    def __init__(self, options: RunnerOptions) -> None:
        self._plan = json.loads(options.extra["plan"])
        self._root = f"{self._plan['package']}/".encode()
        self._cores = int(options.extra.get("cores", CORES))
        # Where the simulator watches every allocation, the tensors' bounds are its own; guards would widen them.
        self.guard = GUARD if options.extra.get("checks") == "none" else 0
        super().__init__(options)

    @classmethod
    def missing(cls, options: RunnerOptions) -> str | None:
        return compiler.missing()

    @classmethod
    def prepare(cls, options: RunnerOptions, needs: Needs, say: Callable[[str], None]) -> RunnerOptions:
        """Build the package: all that workers need is then in the cache, and they only load it."""
        plan: dict[str, Any] = {"operators": {}}
        folders = {name: options.package or operators.folder(name) for name in needs}
        if not options.package:
            for name, folder in folders.items():
                if not (Path(folder) / "op_host").is_dir():
                    raise UsageError(
                        f"operator {name} comes with no package", where="--backend sim", hint="name one: --package DIR"
                    )
            if len(folders) > 1:
                raise UsageError(
                    f"the cases are of several operators ({', '.join(sorted(folders))}), and a run is of one package",
                    where="--backend sim",
                    hint="run the case files of one operator at a time",
                )
        folder = next(iter(folders.values()))
        wanted = {operators.get(name).type: name for name in needs}

        def columns(prototype: Prototype) -> Iterable[int]:
            name = wanted.get(prototype.type)
            if name is None:
                return ()
            operator = operators.get(name)
            _check(prototype, operator, str(folder))
            found = (prototype.column_of([ACL_DTYPES[dict(c)[t]] for t in operator.tensors]) for c in needs[name])
            return sorted({column for column in found if column is not None})

        built = simulator.build(simulator.find(folder), columns, say)
        for kind, library in built.operators.items():
            if kind in wanted:
                plan["operators"][wanted[kind]] = {
                    "type": kind,
                    "host": library.host,
                    "kernels": {str(column): path for column, path in library.kernels.items()},
                }
        if not plan["operators"]:
            there, asked = ", ".join(built.operators), ", ".join(wanted)
            raise UsageError(
                f"the package is of {there}, the cases are of {asked}",
                where=f"--package {folder}",
                hint="name the package of the cases' operator, or case files of the package's",
            )
        if built.compiled:
            say(f"built in {built.seconds:.1f} s")
        plan.update(
            runtime=built.runtime,
            package=str(Path(folder).resolve()),
            source=built.source,
            simulator=simulator_version(),
        )
        return replace(options, extra={**options.extra, "plan": json.dumps(plan)})

    @classmethod
    def environment(cls, options: RunnerOptions) -> dict[str, Any]:
        plan = json.loads(options.extra["plan"])
        cxx = compiler.find()
        return {
            "package": plan["package"],
            "sha256": plan["source"],
            "simulator": plan["simulator"],
            "compiler": cxx.version if cxx else "",
            "checks": options.extra.get("checks", CHECKS[0]),
            "cores": int(options.extra.get("cores", CORES)),
            "shuffle": options.extra.get("shuffle", ""),
            "libraries": {name: entry["host"] for name, entry in plan["operators"].items()},
        }

    def skip(self, case: Case, operator: Operator) -> str | None:
        if operator.name in self._plan["operators"]:
            return None
        return f"the package is of {', '.join(self._plan['operators'])}, not of {operator.name}"

    def runtime_library(self) -> ctypes.CDLL:
        self._runtime = _load(self._plan["runtime"], ctypes.RTLD_GLOBAL)
        self._runtime.gnllSimConfigure.argtypes = [c_char_p, c_char_p]
        self._runtime.gnllSimConfigure.restype = None
        self._runtime.gnllSimReset.argtypes = []
        self._runtime.gnllSimReset.restype = None
        for name in ("gnllSimDiagnostics", "gnllSimLaunch"):
            function = getattr(self._runtime, name)
            function.argtypes = []
            function.restype = c_char_p
        for key in ("checks", "cores", "shuffle"):
            if key in self.options.extra:
                self._runtime.gnllSimConfigure(key.encode(), self.options.extra[key].encode())
        return self._runtime

    def operator_library(self, operator: Operator) -> ctypes.CDLL:
        entry = self._plan["operators"][operator.name]
        library = _load(entry["host"], ctypes.RTLD_LOCAL)
        tell = library.gnllGlueKernel
        tell.argtypes = [c_char_p, c_uint32, c_char_p]
        tell.restype = None
        for column, path in entry["kernels"].items():
            tell(entry["type"].encode(), int(column), path.encode())
        return library

    def begin(self) -> None:
        self._runtime.gnllSimReset()

    def observed(self, case: Case, operator: Operator) -> list[Finding]:
        text = self._runtime.gnllSimDiagnostics()
        if not text or text == b"[]":
            return []
        # Files of the package as they are called in it.
        findings: list[Finding] = json.loads(text.replace(self._root, b""))
        return findings

    def launched(self, case: Case, operator: Operator) -> Tiling | None:
        """The contract's tiling where the package computed the same; else the number of cores alone."""
        text = self._runtime.gnllSimLaunch()
        if not text:
            return None
        launch = json.loads(text)
        used = int(launch["blockDim"])
        expected = operator.tiling(case, self._cores)
        if expected.cores == used and bytes.fromhex(launch["tilingBytes"]) == _packed(tuple(expected.fields.values())):
            return expected
        return Tiling(used, 0, {})


@lru_cache(maxsize=256)
def _packed(fields: tuple[int | float, ...]) -> bytes:
    """Tiling data as a plain struct holds it: a uint32 for an integer, a float for a number."""
    kinds = "".join("f" if isinstance(value, float) else "I" for value in fields)
    return struct.pack(f"<{kinds}", *fields)


def simulator_version() -> str:
    """SHA-256 over the simulator's headers: it decides what a package's source means."""
    from gnll_cli.simulator.build import simulator_digest

    return simulator_digest()


def _check(prototype: Prototype, operator: Operator, where: str) -> None:
    """The ACLNN functions are called by position: the package's prototype must have what the operator's record has."""
    wanted: Mapping[str, list[str]] = {
        "inputs": list(operator.inputs),
        "attributes": [f"{a.name} ({a.type})" for a in operator.attributes],
        "outputs": list(operator.outputs),
    }
    found = {
        "inputs": [t.name for t in prototype.inputs],
        "attributes": [f"{name} ({_WORDS.get(ATTRIBUTES[kind], kind)})" for name, kind in prototype.attributes],
        "outputs": [t.name for t in prototype.outputs],
    }
    for what in wanted:
        if wanted[what] != found[what]:
            raise UsageError(
                f"the package's {prototype.type} has the {what} {', '.join(found[what]) or 'none'}; "
                f"the cases' operator has {', '.join(wanted[what]) or 'none'}",
                where=where,
                hint="the package's prototype (op_host) and the operator's record must name the same, in the same order",
            )


def _load(path: str, mode: int) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(path, mode)
    except OSError as error:
        raise UnavailableError(
            f"a built library does not load: {error}",
            where=path,
            hint="was the cache removed during the run? the next run builds it again",
        ) from error


RUNNER = SimRunner
