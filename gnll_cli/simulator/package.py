"""An operator package as a folder: where its host side, its kernel and its headers are.

The layout is that of the public operator repositories: ``op_host`` with the prototype (``OP_ADD``), tiling and shape inference,
``op_kernel`` with one ``<op>.cpp`` per operator and its headers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from gnll_cli.errors import UsageError

#: Folders of op_host that hold no part of the host side as the simulator runs it: op_api is another interface above the generated one.
_NOT_HOST = ("op_api", "config", "tests")
#: Architecture of Atlas A2; folders of other ones (arch35, ...) are other programs.
_ARCH = re.compile(r"arch(\d+)$")
_ARCH_A2 = ("22", "220")
#: Folders above a package that are searched for headers, at most.
_LEVELS = 6
_LAYOUT = "a package is a folder with op_host/ (prototype, tiling) and op_kernel/ (<op>.cpp)"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_KERNEL = re.compile(
    r"(?P<template>template\s*<[^;{}]*>\s*)?(?:extern\s*\"C\"\s*)?"
    r"(?:__global__\s+__aicore__|__aicore__\s+__global__)\s+void\s+(?P<name>\w+)\s*\((?P<parameters>[^)]*)\)"
)


@dataclass(frozen=True, slots=True)
class Package:
    """``root`` is absolute. ``host`` and ``kernels`` are sources, ``include`` the folders of headers in the order of the search:
    the package's own; ``outer`` are folders around it, to be searched last."""

    root: Path
    host: tuple[Path, ...]
    kernels: tuple[Path, ...]
    include: tuple[Path, ...]
    outer: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """The function that a kernel's source defines: ``parameters`` is how many it has, ``template`` its template parameters."""

    source: Path
    function: str
    parameters: int
    template: str = ""


def find(folder: str | Path) -> Package:
    """The package in ``folder``; ``UsageError`` that says what it is instead, where it is none."""
    root = Path(folder).absolute()
    where = str(folder)
    if not root.exists():
        raise UsageError("there is no such folder", where=where, hint=_near(root) or _LAYOUT)
    if not root.is_dir():
        raise UsageError("is a file", where=where, hint=f"name the folder: {_LAYOUT}")
    if root.name in ("op_host", "op_kernel"):
        raise UsageError("is a part of a package", where=where, hint=f"name the folder above it: {root.parent}")
    if not (root / "op_host").is_dir() or not (root / "op_kernel").is_dir():
        raise UsageError(_lacks(root), where=where, hint=_below(root) or _LAYOUT)
    root = root.resolve()
    host = tuple(sorted(f for f in (root / "op_host").rglob("*.cpp") if _is_for_a2(f.relative_to(root))))
    if not any("OP_ADD" in _code(file) for file in host):
        named = ", ".join(str(f.relative_to(root)) for f in host) or "no .cpp file"
        raise UsageError(
            f"op_host registers no operator: OP_ADD is in none of its sources ({named})",
            where=where,
            hint="the prototype is usually in op_host/<op>_def.cpp and ends with OP_ADD(<Op>);",
        )
    kernels = tuple(sorted(f for f in (root / "op_kernel").rglob("*.cpp") if _is_for_a2(f.relative_to(root))))
    if not kernels:
        raise UsageError("op_kernel has no .cpp file", where=where, hint="the kernel is in op_kernel/<op>.cpp")
    include = (root / "op_kernel", root / "op_host", root)
    return Package(root, host, kernels, include, _around(root))


def snake(operator_type: str) -> str:
    """The file name of an operator's type: ``gaussian_nll_loss_grad`` of ``GaussianNllLossGrad``, ``l1_loss`` of ``L1Loss``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", operator_type).lower()


def kernel(package: Package, operator_type: str) -> Kernel:
    """The kernel of an operator of the package; ``UsageError`` where its source or its function is not there."""
    name = snake(operator_type)
    named = [file for file in package.kernels if file.stem == name]
    candidates = named or (list(package.kernels) if len(package.kernels) == 1 else [])
    if not candidates:
        there = ", ".join(str(f.relative_to(package.root)) for f in package.kernels)
        raise UsageError(
            f"there is no op_kernel/{name}.cpp for operator {operator_type}",
            where=str(package.root),
            hint=f"op_kernel has {there}",
        )
    source = candidates[0]
    functions = {match["name"]: match for match in _KERNEL.finditer(_code(source))}
    match = functions.get(name) or (next(iter(functions.values())) if len(functions) == 1 else None)
    if match is None:
        there = f"it defines {', '.join(functions)}" if functions else "it defines no __global__ __aicore__ function"
        raise UsageError(
            f"the kernel function {name} is not there",
            where=str(source),
            hint=f"{there}; the kernel of {operator_type} is: __global__ __aicore__ void {name}(GM_ADDR ...)",
        )
    parameters = [p for p in match["parameters"].split(",") if p.strip()]
    template = re.sub(r"^template\s*<|>\s*$", "", (match["template"] or "").strip())
    return Kernel(source, match["name"], len(parameters), template.strip())


def _code(file: Path) -> str:
    """The text of a source without its comments."""
    return _COMMENT.sub(" ", file.read_text(encoding="utf-8", errors="replace"))


def _is_for_a2(path: Path) -> bool:
    for part in path.parts[1:-1]:
        match = _ARCH.match(part)
        if part in _NOT_HOST or (match is not None and match[1] not in _ARCH_A2):
            return False
    return True


def _around(root: Path) -> tuple[Path, ...]:
    """Folders of the repository around the package where common headers are: the root of it, and its common/inc."""
    for folder in list(root.parents)[:_LEVELS]:
        if any((folder / mark).exists() for mark in (".git", "build.sh", "common")):
            return tuple(f for f in (folder, folder / "common" / "inc", folder / "common") if f.is_dir())
    return ()


def _lacks(root: Path) -> str:
    lacking = [part for part in ("op_host", "op_kernel") if not (root / part).is_dir()]
    return f"has no {' and no '.join(f'{part}/' for part in lacking)}"


def _near(root: Path) -> str:
    """A suggestion for a mistyped folder name."""
    import difflib

    if not root.parent.is_dir():
        return ""
    names = [f.name for f in root.parent.iterdir() if f.is_dir()]
    close = difflib.get_close_matches(root.name, names, n=1, cutoff=0.6)
    return f"did you mean {root.parent / close[0]}?" if close else ""


def _below(root: Path) -> str:
    """The packages in the folders below, three levels deep."""
    found: list[Path] = []
    level = [root]
    for _ in range(3):
        level = [f for folder in level for f in sorted(folder.iterdir()) if f.is_dir() and not f.is_symlink()][:2000]
        found += [f for f in level if (f / "op_host").is_dir() and (f / "op_kernel").is_dir()]
    if not found:
        return ""
    shown = ", ".join(str(f.relative_to(root)) for f in found[:8])
    return f"name one of the packages in it: {shown}{', ...' if len(found) > 8 else ''}"
