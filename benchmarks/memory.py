"""Peak memory of gen-data and compare for a case of 2^27 half elements."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from benchmarks.harness import GNLL, Row, expect, process_memory

LARGE = """
operator: gaussian_nll_loss_grad
data: {gradOutput: "uniform(-1, 1)", input: "normal(0, 0.5)", target: "normal(0, 0.5)", var: "uniform(0.5, 2)"}
cases:
  - name: large
    dtype: fp16
    attributes: {reduction: none}
    shapes: {gradOutput: [2048, 65536], input: [2048, 65536], target: [1, 65536], var: [2048, 1]}
"""


def run(runs: int) -> list[Row]:
    del runs  # peak memory does not vary from run to run
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "large.yaml").write_text(LARGE)
        command = [*GNLL, "gen-data", folder / "large.yaml", "-o", folder / "golden"]
        generated = expect(process_memory(command), {0}, command)
        case = folder / "golden" / "large" / "large"
        for output in ("gradInput", "gradVar"):
            shutil.copyfile(case / f"{output}_golden.bin", case / f"{output}.bin")
        command = [*GNLL, "compare", case]
        compared = expect(process_memory(command), {0}, command)
        pair = [case / "gradInput.bin", case / "gradInput_golden.bin"]
        command = [*GNLL, "compare", *pair, "--dtype", "fp16"]
        raw = expect(process_memory(command), {0}, command)
    return [
        Row(
            f"peak memory, 2^27 fp16, {what}",
            f"{result.peak_mib:.0f} MiB in {result.seconds:.0f} s",
            "< 600 MiB",
            result.peak_mib < 600,
        )
        for what, result in (("gen-data", generated), ("compare FOLDER", compared), ("compare files", raw))
    ]
