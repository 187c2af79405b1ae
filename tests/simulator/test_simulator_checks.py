"""The checks of the simulator: every kernel of cpp/checks_*.cpp with its fault and corrected.

A case's faulty line carries ``// FAULT: KIND SEVERITY``; the finding must name exactly that line.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent / "cpp"
SIMULATOR = Path(__file__).parents[2] / "gnll_cli" / "simulator"
RUNTIME = ("checks.cpp", "cores.cpp", "device.cpp", "pipe.cpp", "ranges.cpp")
SOURCES = ("checks_memory.cpp", "checks_order.cpp")
ELEMENTS = 1024
FLAGS = [
    "-std=c++17",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-error=aggressive-loop-optimizations",
    "-ffp-contract=off",
    f"-I{SIMULATOR / 'include'}",
]

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def marked() -> list[tuple[str, str, int, str, str]]:
    """(case, file, line, kind, severity) of every marked line."""
    found = []
    for name in SOURCES:
        case = ""
        for number, line in enumerate((HERE / name).read_text().splitlines(), 1):
            if start := re.match(r"CASE\((\w+),", line):
                case = start.group(1)
            if mark := re.search(r"// FAULT: (\w+) (failure|warning)", line):
                found.append((case, name, number, mark.group(1), mark.group(2)))
    return found


@pytest.fixture(scope="session")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of all cases."""
    folder = tmp_path_factory.mktemp("checks")
    sources = [SIMULATOR / "runtime" / name for name in RUNTIME] + [
        HERE / name for name in (*SOURCES, "checks_main.cpp")
    ]
    objects = [folder / f"{source.stem}.o" for source in sources]
    jobs = [
        subprocess.Popen(["g++", *FLAGS, "-c", str(source), "-o", str(target)], stderr=subprocess.PIPE, text=True)
        for source, target in zip(sources, objects, strict=True)
    ]
    for job in jobs:
        _, errors = job.communicate()
        assert job.returncode == 0, errors
    program = folder / "checks"
    subprocess.run(["g++", "-o", str(program), *map(str, objects)], check=True)
    return program


def run(program: Path, case: str, which: str, *settings: str) -> dict[str, Any]:
    done = subprocess.run([str(program), case, which, *settings], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (done.returncode, done.stderr)
    result = json.loads(done.stdout)
    assert result["copied"] == 0
    return result


AUTOMATIC = ("automatic", "automatic_scalar")


@pytest.mark.parametrize(("case", "file", "line", "kind", "severity"), marked(), ids=lambda value: str(value))
def test_fault_is_found_on_its_line(checks: Path, case: str, file: str, line: int, kind: str, severity: str) -> None:
    settings = ["auto-sync=off"] if case in AUTOMATIC else []
    findings = run(checks, case, "faulty", *settings)["findings"]
    assert [(f["kind"], f["severity"], f["line"]) for f in findings] == [(kind, severity, line)]
    finding = findings[0]
    assert finding["file"].endswith(file)
    assert finding["kernel"] == case
    assert finding["core"] >= 0
    assert finding["instruction"]
    assert finding["message"]


@pytest.mark.parametrize("case", [mark[0] for mark in marked()])
def test_corrected_twin_is_clean(checks: Path, case: str) -> None:
    settings = ["auto-sync=off"] if case in AUTOMATIC else []
    result = run(checks, case, "clean", *settings)
    assert result["findings"] == []
    assert result["code"] == 0


def test_every_case_is_marked_or_tested_by_name(checks: Path) -> None:
    names = subprocess.run([str(checks)], capture_output=True, text=True, check=True).stdout.split()
    assert set(names) - {mark[0] for mark in marked()} == {"block_dim", "null_write", "copy_values", "key"}


def test_automatic_synchronisation_orders_scalar_and_vector(checks: Path) -> None:
    for case in AUTOMATIC:
        assert run(checks, case, "faulty")["findings"] == []


def test_levels(checks: Path) -> None:
    assert run(checks, "hazard_mte2_v", "faulty", "checks=memory")["findings"] == []
    assert len(run(checks, "uninitialised", "faulty", "checks=memory")["findings"]) == 1
    assert run(checks, "uninitialised", "faulty", "checks=none")["findings"] == []


def test_unknown_setting_is_said(checks: Path) -> None:
    findings = run(checks, "key", "clean", "checks=some", "shuffle=x")["findings"]
    assert [f["kind"] for f in findings] == ["configuration"]
    assert "checks=some" in findings[0]["message"]


def test_block_dim_above_the_cores(checks: Path) -> None:
    assert [f["kind"] for f in run(checks, "block_dim", "clean")["findings"]] == ["block_dim"]
    assert run(checks, "block_dim", "clean", "cores=49")["findings"] == []


def test_range_tile_and_core_of_a_finding(checks: Path) -> None:
    finding = run(checks, "out_of_global", "faulty")["findings"][0]
    # From float 32 of the output, 33 floats.
    assert (finding["address"], finding["begin"], finding["end"]) == ("GM [128, 260)", 128, 260)
    finding = run(checks, "scalar_out_of_buffer", "faulty")["findings"][0]
    assert finding["address"] == "UB [256, 260)"
    finding = run(checks, "pipeline", "faulty")["findings"][0]
    assert (finding["core"], finding["tile"]) == (0, 0)
    # Every tile of both cores has the fault.
    assert finding["count"] == 16
    assert "HardEvent::MTE3_V" in finding["message"]
    finding = run(checks, "cores_write", "faulty")["findings"][0]
    # Core 1 starts at float 9, which core 0 wrote last.
    assert (finding["core"], finding["address"], finding["count"]) == (1, "GM [36, 40)", 3)


def test_return_codes(checks: Path) -> None:
    assert run(checks, "sync_all", "faulty")["code"] == 507034
    assert run(checks, "queue_underflow", "faulty")["code"] == 507035


def test_assertion_stops_its_block(checks: Path) -> None:
    findings = run(checks, "assertion", "clean")["findings"]
    assert findings == []


def test_crash_kills_the_process(checks: Path) -> None:
    done = subprocess.run([str(checks), "null_write", "faulty"], capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGSEGV


def test_tiling_key(checks: Path) -> None:
    assert run(checks, "key", "clean")["output"][0] == 1.0
    assert run(checks, "key", "faulty")["output"][0] == 0.0


def test_copies_move_exact_bytes(checks: Path) -> None:
    result = run(checks, "copy_values", "clean")
    assert result["findings"] == []
    output = result["output"]
    old = -1.0
    # 2 pads, 3 elements, 1 pad and 2 dummies make one unit; one unit of the old content lies between the blocks.
    assert output[0:8] == [7, 7, 100, 101, 102, 7, 7, 7]
    assert output[8:16] == [old] * 8
    # The second block starts 3 elements and a gap of one after the first.
    assert output[16:24] == [7, 7, 104, 105, 106, 7, 7, 7]
    assert output[24:32] == [old] * 8
    assert output[32:40] == [200, 201, 202, 203, 204, 200, 200, 200]
    assert output[40:48] == [old] * 8
    assert output[48:56] == list(range(300, 308))
    assert output[56:64] == [old] * 8
    assert output[64:72] == list(range(400, 408))
    assert output[72:80] == [old] * 8
    assert output[80:88] == list(range(424, 432))
    assert output[88:96] == [old] * 8
    # Two blocks of 3 from units 6 and 8 of the local tensor, 2 floats apart.
    assert output[96:104] == [300, 301, 302, 0, 0, 400, 401, 402]
    assert output[104:] == [0] * (ELEMENTS - 104)


@pytest.mark.parametrize("case", ["pipeline", "cores_read", "cores_atomic"])
def test_every_order_of_cores_gives_the_same(checks: Path, case: str) -> None:
    first = run(checks, case, "clean")
    expected = {
        "pipeline": [float(i + 1) for i in range(ELEMENTS)],
        "cores_read": [10.0] + [0.0] * (ELEMENTS - 1),
        "cores_atomic": [4.0] * 10 + [0.0] * (ELEMENTS - 10),
    }[case]
    assert first["output"] == expected
    for seed in range(20):
        assert run(checks, case, "clean", f"shuffle={seed}") == first


def test_shuffled_orders_differ(checks: Path) -> None:
    """A kernel whose result depends on the order shows another core first in some order."""
    cores = {run(checks, "cores_write", "faulty", f"shuffle={seed}")["findings"][0]["core"] for seed in range(20)}
    assert len(cores) > 1


def test_released_event_id_is_fetched_next(checks: Path) -> None:
    assert run(checks, "limit_event_ids", "clean")["output"][0] == 3.0


def test_bound_queue_copies_through(checks: Path) -> None:
    assert run(checks, "bound_queue", "clean")["output"] == [float(i) for i in range(ELEMENTS)]
