"""Timing of whole processes and of functions, pinned to one core, in alternation, with medians."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

GNLL = [sys.executable, "-m", "gnll_cli.main"]


@dataclass(frozen=True)
class Row:
    """One figure: what was measured, its value with unit, what it had to be, and whether it was."""

    name: str
    value: str
    wanted: str
    met: bool


def one_core() -> None:
    """Pin this process, and those it starts, to the first core it may use (where the system can)."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def environment() -> dict[str, str]:
    """One thread each, so that "one core" is true of the peer too."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **threads}


@dataclass(frozen=True)
class Process:
    """Wall seconds, peak resident memory in MiB and exit code of one finished process."""

    seconds: float
    peak_mib: float
    code: int


def process(command: Sequence[str | Path]) -> Process:
    """Run a command to its end; its output is thrown away."""
    began = time.perf_counter()
    child = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()
    )
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    # Linux counts ru_maxrss in KiB, macOS in bytes.
    scale = 1024 if sys.platform != "darwin" else 1024 * 1024
    return Process(seconds, usage.ru_maxrss / scale, child.returncode)


def expect(result: Process, codes: set[int], command: Sequence[str | Path]) -> Process:
    """The result, or an error where the command did not do what is measured."""
    if result.code not in codes:
        raise SystemExit(f"benchmark command exited {result.code}: {' '.join(map(str, command))}")
    return result


def alternate(runs: int, *functions: Callable[[], float]) -> list[float]:
    """The median of each function's seconds, called in turn so that drift of the machine hits all alike; one warm-up."""
    times: list[list[float]] = [[] for _ in functions]
    for n in range(runs + 1):
        for k, function in enumerate(functions):
            seconds = function()
            if n > 0:
                times[k].append(seconds)
    return [statistics.median(t) for t in times]
