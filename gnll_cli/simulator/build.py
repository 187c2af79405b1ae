"""From a package's sources to libraries: compile, ask for the prototype, generate the glue, link; all of it cached.

Units (see ``cache``): the runtime; the host side of a package with its glue; each kernel column. A column is compiled only where a case
needs it. Compilers run in parallel, at most one a core.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from gnll_cli.errors import GnllError, UnavailableError
from gnll_cli.simulator import cache, compiler, glue, package
from gnll_cli.simulator.compiler import Compiler
from gnll_cli.simulator.glue import Prototype
from gnll_cli.simulator.package import Package

HERE = Path(__file__).parent
INCLUDE = HERE / "include"
RUNTIME = HERE / "runtime"
#: No contraction: a fused multiply-add that the source does not ask for would change results.
FLAGS = ("-std=c++17", "-O2", "-ffp-contract=off", "-fPIC")
#: Of a package: nothing of one library is seen by another, so that two columns of one kernel never share a function.
PACKAGE_FLAGS = ("-fvisibility=hidden", "-fvisibility-inlines-hidden")
RUNTIME_LIBRARY = "libgnll_runtime.so"
HEADERS = (".h", ".hpp", ".hh", ".inl", ".inc", ".cpp", ".cc", ".ipp")
#: Errors of the compiler that are shown.
SHOWN = 20

_ASK = """
import ctypes, os, sys
out = os.dup(1)
os.dup2(2, 1)
runtime = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
tell = runtime.gnllSimPrototype
tell.restype = ctypes.c_char_p
text = tell(sys.argv[2].encode())
os.write(out, text or b"")
"""


class BuildError(GnllError):
    """A package that cannot be built: ``what`` holds what the compiler says."""


@dataclass(frozen=True, slots=True)
class Library:
    """An operator that is built: ``host`` exports the ACLNN functions, ``kernels`` are the libraries of the columns."""

    type: str
    prototype: Prototype
    host: str
    kernels: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Built:
    """What came of a package: the runtime, and the operators by type. ``seconds`` is how long it took, ``compiled`` what
    was made anew (empty where everything was in the cache), ``source`` the SHA-256 over the package's own files."""

    runtime: str
    operators: Mapping[str, Library]
    source: str
    seconds: float
    compiled: tuple[str, ...]


Columns = Callable[[Prototype], Iterable[int]]


def build(found: Package, columns: Columns, say: Callable[[str], None] = lambda text: None) -> Built:
    """Build what of a package is not in the cache.

    ``columns(prototype)`` are the dtype columns that are needed of an operator. ``say`` is told what takes time. Raises
    ``UnavailableError`` where there is no compiler, ``BuildError`` where the package does not compile, ``UsageError`` where it is not
    what a package should be.
    """
    began = time.monotonic()
    why = compiler.missing()
    if why is not None:
        raise UnavailableError(f"packages cannot be built: {why}", where="backend sim")
    cxx = compiler.find()
    assert cxx is not None
    with ThreadPoolExecutor(max_workers=_cores()) as pool, ThreadPoolExecutor(max_workers=64) as units:
        builder = _Builder(cxx, found, pool, say)
        try:
            # The host objects compile while the runtime does; linking waits for both.
            runtime = units.submit(builder.runtime)
            host = units.submit(builder.host, runtime)
            folder = host.result()
            operators = {}
            jobs: list[tuple[Prototype, int, Future[Path]]] = []
            told = glue.prototypes((folder / "prototype.json").read_text())
            for prototype in told:
                for column in sorted(set(columns(prototype))):
                    jobs.append((prototype, column, units.submit(builder.kernel, prototype, column, runtime)))
            for prototype in told:
                kernels = {c: str(job.result()) for p, c, job in jobs if p is prototype}
                operators[prototype.type] = Library(prototype.type, prototype, str(folder / HOST_LIBRARY), kernels)
            return Built(
                str(runtime.result()), operators, builder.source(), time.monotonic() - began, tuple(builder.compiled)
            )
        except BaseException:
            builder.stopped = True
            raise


HOST_LIBRARY = "libhost.so"


class _Builder:
    def __init__(self, cxx: Compiler, found: Package, pool: ThreadPoolExecutor, say: Callable[[str], None]) -> None:
        self.cxx = cxx
        self.package = found
        self.pool = pool
        self.say = say
        self.compiled: list[str] = []
        self.stopped = False
        self.name = re.sub(r"[^A-Za-z0-9_]", "_", found.root.name)

    def _common(self) -> list[str]:
        """What every key has; the headers anew each time, as they may change while something compiles."""
        return [str(cache.LAYOUT), *self.cxx.command, self.cxx.version, *_flags(self.cxx), simulator_digest()]

    def source(self) -> str:
        files = _files(self.package.root / "op_host") + _files(self.package.root / "op_kernel")
        return cache.digest_files(files, self.package.root)

    # Units

    def runtime(self) -> Path:
        sources = sorted(RUNTIME.glob("*.cpp"))

        def key() -> str:
            return cache.digest([*self._common(), cache.digest_files(_files(RUNTIME), RUNTIME)])

        def make(folder: Path) -> list[Path]:
            self._note("the simulator's runtime")
            options = [f"-I{INCLUDE}", f"-I{RUNTIME}"]
            objects = self._compile_all(folder, sources, options, "the simulator's runtime")
            self._link(folder / RUNTIME_LIBRARY, objects, ["-ldl", "-pthread"], "the simulator's runtime")
            return []

        return cache.unit("runtime", key, make)[0] / RUNTIME_LIBRARY

    def host(self, runtime: Future[Path]) -> Path:
        root = self.package.root
        own = root / "op_host"

        def key() -> str:
            parts = [*self._common(), *PACKAGE_FLAGS, str(root), *map(str, self._include())]
            return cache.digest([*parts, *map(str, self.package.host), cache.digest_files(_files(own), root)])

        def make(folder: Path) -> list[Path]:
            self._note(f"the host side of {self.name}")
            options = [*PACKAGE_FLAGS, *_gcc_only(self.cxx), *(f"-I{path}" for path in self._include())]
            objects = self._compile_all(folder, self.package.host, options, "the host side")
            library = runtime.result()
            first = folder / "libprototype.so"
            self._link(first, objects, _linked(library), "the host side")
            text = _ask(library, first)
            found = glue.prototypes(text)
            (folder / "prototype.json").write_text(text)
            for prototype in found:
                (folder / glue.header_name(prototype)).write_text(glue.header(prototype))
            source = folder / "glue.cpp"
            source.write_text(glue.host(found))
            objects += self._compile_all(folder, [source], [*options, f"-I{folder}"], "the generated interface")
            self._link(folder / HOST_LIBRARY, objects, _linked(library), "the host side")
            first.unlink()
            return self._others(folder, own)

        return cache.unit(f"{self.name}-host", key, make)[0]

    def kernel(self, prototype: Prototype, column: int, runtime: Future[Path]) -> Path:
        root = self.package.root
        own = root / "op_kernel"
        found = package.kernel(self.package, prototype.type)
        text = glue.kernel(found, prototype)
        macros = glue.macros(prototype, column)
        types = sorted({glue.DTYPES[t.dtypes[column]][1] for t in prototype.inputs[:1]})
        label = f"{found.function} (column {column}, {', '.join(types)})"
        library = f"libkernel_{column}.so"

        def key() -> str:
            parts = [*self._common(), *PACKAGE_FLAGS, *map(str, self._include()), text, *macros]
            return cache.digest([*parts, cache.digest_files(_files(own), root)])

        def make(folder: Path) -> list[Path]:
            self._note(label)
            source = folder / "kernel.cpp"
            source.write_text(text)
            options = [*PACKAGE_FLAGS, *_gcc_only(self.cxx), *macros, *(f"-I{path}" for path in self._include())]
            objects = self._compile_all(folder, [source], options, label)
            self._link(folder / library, objects, _linked(runtime.result()), label)
            return self._others(folder, own)

        return cache.unit(f"{self.name}-{found.function}-{column}", key, make)[0] / library

    # Steps

    def _include(self) -> list[Path]:
        return [*self.package.include, INCLUDE, *self.package.outer]

    def _note(self, what: str) -> None:
        self.compiled.append(what)
        self.say(f"building {what}")

    def _compile_all(self, folder: Path, sources: Sequence[Path], options: list[str], what: str) -> list[Path]:
        jobs = []
        for number, source in enumerate(sources):
            target = folder / f"{number}-{source.stem}.o"
            command = [*self.cxx.command, *_flags(self.cxx), *options]
            command += ["-MMD", "-MF", f"{target}.d", "-c", str(source), "-o", str(target)]
            jobs.append((target, self.pool.submit(self._run, command)))
        failed = []
        for _, job in jobs:
            code, said = job.result()
            if code != 0:
                failed.append(said)
        if failed:
            raise self._error(f"{what} does not compile", "\n".join(failed))
        return [target for target, _ in jobs]

    def _link(self, target: Path, objects: list[Path], options: list[str], what: str) -> None:
        command = [*self.cxx.command, "-shared", "-o", str(target), *map(str, objects)]
        if sys.platform != "darwin":
            command += [f"-Wl,-soname,{target.name}", "-Wl,-z,defs"]
        code, said = self.pool.submit(self._run, [*command, *options]).result()
        if code != 0:
            raise self._error(f"{what} does not link", said)

    def _run(self, command: list[str]) -> tuple[int, str]:
        if self.stopped:
            return 1, ""
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
        except OSError as error:
            return 1, f"{shlex.join(command[:1])}: {error.strerror or error}"
        return done.returncode, done.stderr.strip() or (f"ended with {done.returncode}" if done.returncode else "")

    def _error(self, what: str, said: str) -> BuildError:
        root = f"{self.package.root}{os.sep}"
        text = said.replace(root, "")
        return BuildError(f"{what}:\n{text}", where=str(self.package.root), hint=unsimulated(said) or _HINT)

    def _others(self, folder: Path, own: Path) -> list[Path]:
        """Files that were read and are in no key yet: not the package's part, the simulator's, or the system's."""
        files: set[Path] = set()
        for listing in folder.glob("*.d"):
            text = listing.read_text().replace("\\\n", " ")
            for word in re.split(r"(?<!\\)\s+", text.partition(": ")[2]):
                if word:
                    files.add(Path(os.path.normpath(word.replace("\\ ", " "))))
        inside = (own, INCLUDE, folder)
        return [file for file in sorted(files) if not any(file.is_relative_to(place) for place in inside)]


_HINT = "docs/simulator.md says what is simulated"
_NAMES = (
    # g++ and clang, for a name of the interface's namespace
    re.compile(r"error: [‘'](?P<name>\w+)[’'] is not a member of [‘']AscendC(?:::\w+)*[’']"),
    re.compile(r"error: no (?:member|type|template) named '(?P<name>\w+)' in namespace 'AscendC(?:::\w+)*'"),
    # Names of the interface begin with a capital letter; variables and a package's own functions that are misspelled may too.
    re.compile(r"error: [‘'](?P<name>[A-Z]\w+)[’'] (?:was not declared in this scope|does not name a type)"),
    re.compile(r"error: (?:use of undeclared identifier|unknown type name) '(?P<name>[A-Z]\w+)'"),
)
_HEADER = re.compile(r"fatal error: (?:'(?P<clang>[^']+)' file not found|(?P<gcc>\S+): No such file or directory)")


def unsimulated(said: str) -> str:
    """What of a compiler's errors comes of a name or a header that the simulator does not have: "X is not simulated"."""
    names: dict[str, None] = {}
    for line in said.splitlines():
        for pattern in _NAMES:
            match = pattern.search(line)
            if match is not None:
                names.setdefault(match["name"])
        match = _HEADER.search(line)
        if match is not None:
            names.setdefault(f"the header {match['clang'] or match['gcc']}")
    if not names:
        return ""
    verb = "is" if len(names) == 1 else "are"
    return f"{', '.join(names)} {verb} not simulated; {_HINT}"


def _flags(cxx: Compiler) -> list[str]:
    plain = "-fno-color-diagnostics" if cxx.kind == "clang++" else "-fdiagnostics-color=never"
    limit = f"-ferror-limit={SHOWN}" if cxx.kind == "clang++" else f"-fmax-errors={SHOWN}"
    return [*FLAGS, "-w", plain, limit]


def _gcc_only(cxx: Compiler) -> list[str]:
    """Without it g++ makes static data of templates one for the whole process, hidden or not."""
    return ["-fno-gnu-unique"] if cxx.kind == "g++" else []


def _linked(runtime: Path) -> list[str]:
    return [str(runtime), f"-Wl,-rpath,{runtime.parent}"]


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.suffix in HEADERS and file.is_file()]


def simulator_digest() -> str:
    """SHA-256 over the simulator's headers."""
    return cache.digest_files(_files(INCLUDE), INCLUDE)


def _ask(runtime: Path, library: Path) -> str:
    """The prototypes that a host library registers. Asked in a process of its own: the library is not to be trusted yet."""
    command = [sys.executable, "-I", "-S", "-c", _ASK, str(runtime), str(library)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60)
    except subprocess.TimeoutExpired:
        raise BuildError("the host side registers its operators without end (60 s)", where=str(library)) from None
    try:
        told = json.loads(done.stdout)
    except ValueError:
        told = None
    if isinstance(told, dict) and "error" in told:
        raise BuildError(f"the host side does not load:\n{told['error']}", where=str(library), hint=_HINT)
    if done.returncode != 0 or not isinstance(told, dict):
        from gnll_cli.runners.workers import describe_exit

        said = done.stderr.strip() or done.stdout.strip() or describe_exit(done.returncode)
        raise BuildError(f"the host side cannot be asked for its prototype:\n{said}", where=str(library), hint=_HINT)
    if not told["operators"]:
        raise BuildError("the host side registers no operator", where=str(library), hint="OP_ADD(<Op>); does")
    return done.stdout
