"""``gnll run --backend sim``: packages from source to verdicts, right ones and ones with a fault."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, SMALL, Gnll, report, statuses

from gnll_cli.simulator import compiler

BUNDLED = ROOT / "gnll_cli" / "operators" / "gaussian_nll_loss_grad"
KERNEL = "op_kernel/gaussian_nll_loss_grad.cpp"
CALL = "    kernel.Process();\n"

pytestmark = pytest.mark.skipif(compiler.missing() is not None, reason="needs a C++ compiler")

#: One case of each dtype; the fp16 one is what faulty kernels below fall over.
THREE = """
operator: gaussian_nll_loss_grad
data: {gradOutput: "uniform(0.5, 1)", input: "uniform(1, 2)", target: "uniform(-2, -1)", var: "uniform(0.5, 2)"}
attributes: {reduction: none}
matrix: {dtype: [fp32, fp16, bf16], shape: [[4, 40]]}
"""
REFUSED = """
operator: gaussian_nll_loss_grad
cases:
  - {name: eps, dtype: fp32, attributes: {eps: 0.0}, shapes: {gradOutput: [1], input: [2], target: [2], var: [2]}, expect: {reject: eps_zero}}
  - {name: no-var, dtype: fp32, "null": [var], shapes: {gradOutput: [1], input: [2], target: [2], var: [2]}, expect: {reject: null_pointer}}
"""


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One cache for all tests, so that the bundled package is built once."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    os.environ.setdefault("GNLL_CACHE", str(shared / "gnll-cache"))


def package(folder: Path, file: str = KERNEL, old: str = CALL, new: str = CALL) -> Path:
    """A copy of the bundled package with one change."""
    root = folder / "gaussian_nll_loss_grad"
    for part in ("op_host", "op_kernel"):
        shutil.copytree(BUNDLED / part, root / part)
    text = (root / file).read_text()
    assert text.count(old) == 1
    (root / file).write_text(text.replace(old, new))
    return root


def write(folder: Path, text: str) -> Path:
    path = folder / "cases.yaml"
    path.write_text(text)
    return path


def test_the_bundled_package_is_green(gnll: Gnll, tmp_path: Path) -> None:
    done = gnll("run", write(tmp_path, SMALL), "--backend", "sim", "-j", 2)
    assert done.returncode == 0, done.stdout
    assert set(statuses(tmp_path / "reports").values()) == {"passed"}
    runner = report(tmp_path / "reports")["environment"]["runner"]
    assert runner["package"] == str(BUNDLED)
    assert (runner["checks"], runner["cores"]) == ("all", 48)


def test_refusals_are_judged_by_the_first_stage(gnll: Gnll, tmp_path: Path) -> None:
    done = gnll("run", write(tmp_path, REFUSED), "--backend", "sim")
    assert done.returncode == 0, done.stdout
    # A tiling that forgot to look at eps accepts it.
    tiling = "op_host/gaussian_nll_loss_grad_tiling.cpp"
    root = package(tmp_path, tiling, "OP_CHECK_IF(*eps == 0.0f,", "OP_CHECK_IF(false,")
    done = gnll("run", "cases.yaml", "--backend", "sim", "--package", root)
    assert done.returncode == 1
    assert sorted(statuses(tmp_path / "reports").values()) == ["accepted_wrongly", "passed"]


def test_options_reach_the_simulator_and_the_line_to_reproduce(gnll: Gnll, tmp_path: Path) -> None:
    root = package(tmp_path)
    words = ["--package", root, "--checks", "memory", "--cores", 7, "--shuffle-cores", 5]
    assert gnll("run", write(tmp_path, THREE), "--backend", "sim", *words).returncode == 0
    document = report(tmp_path / "reports")
    runner = document["environment"]["runner"]
    assert (runner["package"], runner["checks"], runner["cores"], runner["shuffle"]) == (str(root), "memory", 7, "5")
    line = document["cases"][0]["repro"]
    assert line.endswith(f"--backend sim --package {root} --checks memory --cores 7 --shuffle-cores 5")


@pytest.mark.parametrize(
    ("fault", "status", "said"),
    [
        ("for (volatile int i = 0;; ++i) {}", "timeout", "1 s"),
        ("*reinterpret_cast<volatile int *>(8) = 1;", "crashed", "SIGSEGV"),
        ("__builtin_trap();", "crashed", "SIGILL"),
        ("_exit(3);", "crashed", "exited with code 3"),
    ],
)
def test_a_kernel_that_dies_or_hangs_is_a_verdict_and_the_others_complete(
    gnll: Gnll, tmp_path: Path, fault: str, status: str, said: str
) -> None:
    guarded = (
        f"    if constexpr (sizeof(DTYPE_INPUT) == 2 && ORIG_DTYPE_INPUT == DT_FLOAT16) {{\n        {fault}\n    }}\n"
    )
    root = package(tmp_path, new=guarded + CALL)
    source = root / KERNEL
    source.write_text("#include <unistd.h>\n" + source.read_text())
    words = ("--backend", "sim", "--package", root, "--timeout", 1)
    done = gnll("run", write(tmp_path, THREE), *words)
    assert done.returncode == 1
    found = {case["dtype"]: case for case in report(tmp_path / "reports")["cases"]}
    assert {dtype: case["status"] for dtype, case in found.items()} == {
        "fp32": "passed",
        "fp16": status,
        "bf16": "passed",
    }
    assert said in found["fp16"]["reason"]


def test_a_wrong_value_is_told_with_its_core(gnll: Gnll, tmp_path: Path) -> None:
    """Core 47 forgets its elements: 160 elements over 48 cores, the first 16 take 4, so core 47 has 157 to 159."""
    root = package(tmp_path, new="    if (AscendC::GetBlockIdx() != 47) {\n        kernel.Process();\n    }\n")
    done = gnll("run", write(tmp_path, THREE), "--backend", "sim", "--package", root)
    assert done.returncode == 1
    output = report(tmp_path / "reports")["cases"][0]["outputs"][0]
    assert not output["passed"]
    assert output["unwritten"] == 3
    assert output["location"]["core"] == 47


def test_a_package_of_another_operator_is_refused(gnll: Gnll, tmp_path: Path) -> None:
    definition = "op_host/gaussian_nll_loss_grad_def.cpp"
    root = package(tmp_path, definition, '"target"', '"label"')
    done = gnll("run", write(tmp_path, THREE), "--backend", "sim", "--package", root)
    assert done.returncode == 2
    assert "has the inputs gradOutput, input, label, var; the cases' operator has gradOutput, input, target, var" in (
        done.stderr
    )


def test_a_package_that_does_not_compile_is_refused_with_what_the_compiler_says(gnll: Gnll, tmp_path: Path) -> None:
    root = package(tmp_path, new="    AscendC::BroadCast<float, 2, 0>();\n" + CALL)
    done = gnll("run", write(tmp_path, THREE), "--backend", "sim", "--package", root)
    assert done.returncode == 2
    assert "op_kernel/gaussian_nll_loss_grad.cpp:" in done.stderr
    assert "BroadCast is not simulated" in done.stderr


def test_without_a_compiler_the_exit_code_is_3(gnll: Gnll, tmp_path: Path) -> None:
    done = gnll("run", write(tmp_path, THREE), "--backend", "sim", PATH=str(tmp_path), CXX="")
    assert done.returncode == 3
    assert "no C++ compiler is on PATH; install one with: " in done.stderr
    assert "`--backend numpy` runs without" in done.stderr


@pytest.mark.parametrize("words", [("--package", "x"), ("--checks", "none"), ("--cores", 2), ("--shuffle-cores", 1)])
def test_options_of_the_simulator_are_refused_for_other_backends(
    gnll: Gnll, tmp_path: Path, words: tuple[object, ...]
) -> None:
    done = gnll("run", write(tmp_path, THREE), "--backend", "numpy", *words)
    assert done.returncode == 2
    assert f"{words[0]} is of backend sim, not of numpy" in done.stderr
