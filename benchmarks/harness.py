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
    """Wall seconds and exit code of one finished process, and its peak resident memory in MiB where that was measured."""

    seconds: float
    code: int
    peak_mib: float = 0.0


def process(command: Sequence[str | Path]) -> Process:
    """Run a command to its end; its output is thrown away."""
    began = time.perf_counter()
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()
    )
    return Process(time.perf_counter() - began, done.returncode)


#: Runs the command that it is given and prints its exit code and peak memory. A process of its own and a small one: between
#: fork and exec a child counts the memory of its parent as its own.
LAUNCHER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def process_memory(command: Sequence[str | Path]) -> Process:
    """Run a command to its end and measure its peak memory too."""
    began = time.perf_counter()
    words = [sys.executable, "-I", "-S", "-c", LAUNCHER, *map(str, command)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), check=True)
    code, peak = map(int, done.stdout.split())
    # Linux counts ru_maxrss in KiB, macOS in bytes.
    scale = 1024 if sys.platform != "darwin" else 1024 * 1024
    return Process(time.perf_counter() - began, code, peak / scale)


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
