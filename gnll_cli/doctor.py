"""What this machine can run, what is missing, and the command that fixes it.

Nothing that may be missing is imported at the top: a broken installation is what this is for.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

DISTRIBUTION = "gnll-cli"
COMPILERS = ("c++", "g++", "clang++")
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:>=|<)")
_BOUND = re.compile(r"(>=|<)\s*([0-9][0-9.]*)")


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. ``state``: "ok", "missing" (``needed`` says whether ``gnll run`` can do without) or "broken".

    ``fix`` is a command, or words where no command does it.
    """

    group: str
    name: str
    state: str
    text: str
    fix: str = ""
    needed: bool = False


def examine() -> list[Check]:
    """All findings, in the order of their groups."""
    return [*_python(), *_backends(), *_compilers(), *_machine()]


def healthy(checks: list[Check]) -> bool:
    """Whether the default backend can run."""
    return all(check.state == "ok" for check in checks if check.needed)


def _python() -> Iterator[Check]:
    yield Check("Python", "python", "ok", f"{platform.python_version()}, {sys.executable}", needed=True)
    for requirement in metadata.requires(DISTRIBUTION) or []:
        match = _REQUIREMENT.match(requirement)
        if match is None or "extra ==" in requirement:
            continue
        name, bounds = match[1], _BOUND.findall(requirement)
        # As a person writes it: the lower bound first.
        wanted = ",".join(f"{sign}{version}" for sign, version in sorted(bounds, reverse=True))
        fix = shlex.join([sys.executable, "-m", "pip", "install", f"{name}{wanted}"])
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield Check("Python", name, "missing", f"{wanted} is needed", fix, needed=True)
            continue
        if all(_within(found, sign, version) for sign, version in bounds):
            yield Check("Python", name, "ok", found, needed=True)
        else:
            yield Check("Python", name, "broken", f"{found}, but {wanted} is needed", fix, needed=True)


def _within(version: str, sign: str, bound: str) -> bool:
    """Whether a version keeps a bound of pyproject.toml (``>=`` or ``<``)."""
    at_least = _numbers(version) >= _numbers(bound)
    return at_least if sign == ">=" else not at_least


def _numbers(version: str) -> list[int]:
    """The leading numbers of a version, for comparing."""
    match = re.match(r"\d+(\.\d+)*", version)
    return [int(part) for part in match[0].split(".")] if match else []


def _backends() -> Iterator[Check]:
    from gnll_cli.errors import GnllError

    try:
        from gnll_cli import runners
    except ImportError as error:
        yield Check("Backends", "all", "broken", f"do not load: {error}", "install the packages above", needed=True)
        return
    for name in runners.names():
        default = name == runners.DEFAULT
        try:
            runner = runners.get(name)
        except GnllError as error:
            yield Check("Backends", name, "broken", error.what, error.hint, needed=default)
            continue
        missing = runner.missing(runners.RunnerOptions(name))
        text = f"{runner.summary}{' (the default)' if default else ''}"
        yield Check("Backends", name, "missing" if missing else "ok", text, missing or "", needed=default)


def _compilers() -> Iterator[Check]:
    group = "C++ compiler (for backend sim, which builds packages, and for the tests; the other backends run without)"
    found = False
    chosen = os.environ.get("CXX")
    for name in ([chosen] if chosen else []) + [c for c in COMPILERS if c != chosen]:
        words = _words(name)
        path = shutil.which(words[0]) if words else None
        label = "$CXX" if name == chosen else name
        if path is not None:
            found = True
            yield Check(group, label, "ok", f"{path}, {_version_line([path, *words[1:]])}")
        elif name == chosen:
            yield Check(
                group, label, "missing", f"CXX names '{name}', which is not there", "unset CXX, or name a compiler"
            )
    if not found:
        fix = (
            "xcode-select --install" if sys.platform == "darwin" else "apt-get install g++ (or the like of your system)"
        )
        yield Check(group, "c++", "missing", "no C++ compiler is on PATH", fix)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quote that is not closed
        return []


def _version_line(command: list[str]) -> str:
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        return f"whose --version fails: {error}"
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if lines else "which tells no version"


def _machine() -> Iterator[Check]:
    group = "Machine"
    yield Check(group, "system", "ok", f"{platform.system()} {platform.release()}, {platform.machine()}")
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        usable = os.cpu_count() or 1
    yield Check(group, "cores", "ok", f"{usable} of {os.cpu_count()} for this process")
    memory = memory_bytes()
    if memory is not None:
        yield Check(group, "memory", "ok", f"{_gib(memory)} for this process")
    yield _temporary_folder(group)


def _temporary_folder(group: str) -> Check:
    name, fix = "temp folder", "set TMPDIR to a folder that can be written to and has room"
    try:
        folder = tempfile.gettempdir()
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
            file.flush()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Check(group, name, "broken", f"cannot be written to: {error}", fix, needed=True)
    return Check(group, name, "ok", f"{folder}, {_gib(free)} free", needed=True)


def memory_bytes() -> int | None:
    """Bytes of memory this process may use: the machine's, or a container's limit; None where the system does not say."""
    limits = []
    with contextlib.suppress(ValueError, OSError):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    # No such file where there is no limit of that kind; "max" where it is not set.
    with contextlib.suppress(ValueError, OSError), open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
        limits.append(int(file.read()))
    return min(limits, default=None)


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"
