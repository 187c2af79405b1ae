"""Whole commands, as a user calls them: in a process of their own, in a folder of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
Gnll = Callable[..., subprocess.CompletedProcess[str]]

SMALL = """
operator: gaussian_nll_loss_grad
data: {gradOutput: "uniform(0.5, 1)", input: "uniform(1, 2)", target: "uniform(-2, -1)", var: "uniform(0.5, 2)"}
matrix:
  dtype: [fp32, fp16, bf16]
  reduction: [none, mean, sum]
  shape: [[3, 5]]
  target: [same, "axis:0"]
  var: [same, last_dim_one]
"""


@pytest.fixture
def gnll(tmp_path: Path) -> Gnll:
    """Run ``gnll ARGS`` in ``tmp_path``; nothing of this repository is in the way, and no traceback may appear."""

    def call(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            [sys.executable, "-m", "gnll_cli.main", *map(str, words)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert "Traceback" not in result.stdout + result.stderr
        return result

    return call


def report(folder: Path) -> dict[str, Any]:
    """report.json of a report folder."""
    return json.loads((folder / "report.json").read_text())  # type: ignore[no-any-return]


def statuses(folder: Path) -> dict[str, str]:
    """Case id -> status."""
    return {case["id"]: case["status"] for case in report(folder)["cases"]}
