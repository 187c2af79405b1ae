"""The C++ compiler that builds packages: which one, and what to say where there is none."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache

#: Names that are looked for, after the one that the environment variable CXX names.
NAMES = ("c++", "g++", "clang++")
#: The oldest versions that can build packages.
OLDEST = {"g++": 10, "clang++": 14}


@dataclass(frozen=True, slots=True)
class Compiler:
    """``command`` calls it, ``kind`` is "g++" or "clang++", ``version`` is the first line that it says of itself."""

    command: tuple[str, ...]
    kind: str
    version: str
    major: int


def find() -> Compiler | None:
    """The compiler: $CXX where it is set, else the first of ``NAMES`` on PATH; None where there is none that runs."""
    return _find(os.environ.get("CXX"), os.environ.get("PATH"))


@cache
def _find(chosen: str | None, path: str | None) -> Compiler | None:
    for name in [chosen] if chosen else NAMES:
        compiler = _examine(name)
        if compiler is not None:
            return compiler
    return None


def missing() -> str | None:
    """Why packages cannot be built here, with the command that helps; None where they can."""
    compiler = find()
    if compiler is None:
        chosen = os.environ.get("CXX")
        what = f"CXX names '{chosen}', which does not run" if chosen else "no C++ compiler is on PATH"
        return f"{what}; {_install()}"
    oldest = OLDEST[compiler.kind]
    if compiler.major < oldest:
        return f"{compiler.command[0]} is {compiler.version}, {compiler.kind} {oldest} is the oldest that will do; {_install()}"
    return None


def _install() -> str:
    command = "xcode-select --install" if sys.platform == "darwin" else _by_manager()
    return f"install one with: {command} (`--backend numpy` runs without)"


def _by_manager() -> str:
    managers = {
        "apt-get": "apt-get install g++",
        "dnf": "dnf install gcc-c++",
        "yum": "yum install gcc-c++",
        "zypper": "zypper install gcc-c++",
        "apk": "apk add g++",
        "pacman": "pacman -S gcc",
    }
    return next((command for manager, command in managers.items() if shutil.which(manager)), "apt-get install g++")


def _examine(name: str) -> Compiler | None:
    try:
        words = shlex.split(name)
    except ValueError:  # a quote that is not closed
        return None
    path = shutil.which(words[0]) if words else None
    if path is None:
        return None
    command = (path, *words[1:])
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    line = next(iter(done.stdout.splitlines()), "")
    if done.returncode != 0 or not line:
        return None
    kind = "clang++" if "clang" in line else "g++"
    # The version is the last word that looks like one: "g++ (Debian 12.2.0-14) 12.2.0", "clang version 14.0.6".
    versions = re.findall(r"(?<![\w.])(\d+)\.\d+", line)
    return Compiler(command, kind, line, int(versions[-1]) if versions else 0)
