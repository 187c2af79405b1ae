"""The time of `gnll --help`."""

from __future__ import annotations

from benchmarks.harness import GNLL, Row, alternate, expect, process


def run(runs: int) -> list[Row]:
    command = [*GNLL, "--help"]
    (seconds,) = alternate(max(runs, 5), lambda: expect(process(command), {0}, command).seconds)
    return [Row("gnll --help", f"{seconds * 1e3:.0f} ms", "< 150 ms", seconds < 0.150)]
