"""`gnll compare` on two files of 64 MiB against np.allclose plus the maximum error, whole process net of start-up."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.harness import GNLL, Row, alternate, expect, process
from gnll_cli import dtypes

#: What a careful script does today: read, widen the 16-bit types, np.allclose, the maximum error.
PEER = """
import sys
import numpy as np
path_a, path_g, kind, tolerance = sys.argv[1:]
if kind == "bf16":
    import ml_dtypes
    dtype = np.dtype(ml_dtypes.bfloat16)
else:
    dtype = np.dtype({"fp32": "<f4", "fp16": "<f2"}[kind])
a = np.fromfile(path_a, dtype).astype(np.float32, copy=False)
g = np.fromfile(path_g, dtype).astype(np.float32, copy=False)
ok = np.allclose(a, g, rtol=float(tolerance), atol=float(tolerance))
print(ok, np.max(np.abs(a - g)))
"""
BYTES = 64 << 20
#: dtype, relative and absolute tolerance, what the pair is, how many times as fast as the peer it has to be. An error of one ULP is within
#: the first tolerance of each dtype and beyond the last, where half of the elements are wrong and are located.
KINDS = (
    ("fp32", "1e-3", "within tolerance", 3.0),
    ("fp16", "4e-3", "within tolerance", 2.0),
    ("bf16", "2e-2", "within tolerance", 2.0),
    ("bf16", "1e-3", "half of it wrong", 1.0),
)


def write_pair(folder: Path, kind: str, count: int) -> tuple[Path, Path]:
    """Golden of standard normal values, and an actual that is off by a few ULP here and there."""
    rng = np.random.default_rng(20260901)
    dtype = dtypes.get(kind)
    golden, actual = folder / f"golden-{kind}-{count}.bin", folder / f"actual-{kind}-{count}.bin"
    values = rng.standard_normal(count)
    rounded = dtypes.round_to(values, dtype)
    bits = rounded.view(dtype.bits) + rng.integers(0, 2, count).astype(dtype.bits)
    rounded.tofile(golden)
    bits.tofile(actual)
    return actual, golden


def run(runs: int) -> list[Row]:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, tolerance, what, wanted in KINDS:
            size = dtypes.get(kind).itemsize
            large, tiny = write_pair(folder, kind, BYTES // size), write_pair(folder, kind, 16)
            options = ["--dtype", kind, "--rtol", tolerance, "--atol", tolerance]

            def ours(pair: tuple[Path, Path], options: list[str] = options) -> float:
                command = [*GNLL, "compare", *pair, *options]
                return expect(process(command), {0, 1}, command).seconds

            def peer(pair: tuple[Path, Path], kind: str = kind, tolerance: str = tolerance) -> float:
                command = [sys.executable, "-c", PEER, *pair, kind, tolerance]
                return expect(process(command), {0}, command).seconds

            big, start, peer_big, peer_start = alternate(
                runs,
                lambda ours=ours, pair=large: ours(pair),
                lambda ours=ours, pair=tiny: ours(pair),
                lambda peer=peer, pair=large: peer(pair),
                lambda peer=peer, pair=tiny: peer(pair),
            )
            ratio = (peer_big - peer_start) / (big - start)
            detail = f"{ratio:.1f}x ({(big - start) * 1e3:.0f} ms, peer {(peer_big - peer_start) * 1e3:.0f} ms)"
            name = f"compare 2 x 64 MiB {kind}, {what}, net"
            rows.append(Row(name, detail, f">= {wanted:g}x", ratio >= wanted))
    return rows
