"""Run the benchmarks and print a table; exit 1 where a figure is not what it has to be."""

from __future__ import annotations

import argparse
import importlib
import sys

from benchmarks.harness import Row, one_core

ALL = ("startup", "compare_files", "golden_rate", "case_rate", "memory")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*ALL, []], help="which (default: all)")
    parser.add_argument("--runs", type=int, default=3, help="counted runs of each, after one warm-up")
    arguments = parser.parse_args()
    one_core()
    rows: list[Row] = []
    for name in arguments.names or ALL:
        for row in importlib.import_module(f"benchmarks.{name}").run(arguments.runs):
            print(f"{'ok  ' if row.met else 'MISS'} {row.name:<46} {row.value:<58} wanted {row.wanted}", flush=True)
            rows.append(row)
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
