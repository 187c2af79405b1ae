"""`gnll run` from case files to reports: the numpy and exec backends, faults, interrupts, the toy operator."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from conftest import ROOT, SMALL, Gnll, report, statuses

from gnll_cli.reports import comparable

REFUSALS = """
operator: gaussian_nll_loss_grad
cases:
  - name: eps
    dtype: fp32
    attributes: {reduction: sum, eps: 0.0}
    shapes: {gradOutput: [1], input: [2, 3], target: [2, 3], var: [2, 3]}
    expect: {reject: eps_zero}
  - name: "null"
    dtype: fp32
    attributes: {reduction: sum}
    shapes: {gradOutput: [1], input: [2, 3], target: [2, 3], var: [2, 3]}
    "null": [var]
    expect: {reject: null_pointer}
"""
ONE = """
operator: gaussian_nll_loss_grad
cases:
  - name: only
    dtype: fp32
    attributes: {reduction: none}
    data: {gradOutput: "uniform(0.5, 1)", input: "uniform(1, 2)", target: "uniform(-2, -1)", var: "uniform(0.5, 2)"}
    shapes: {gradOutput: [4, 9], input: [4, 9], target: [4, 9], var: [4, 9]}
"""


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return name


def command(program: Path, variant: str = "") -> str:
    return shlex.join([str(program), variant] if variant else [str(program)])


def test_numpy_judges_a_matrix_green_and_writes_every_report(gnll: Gnll, tmp_path: Path) -> None:
    result = gnll("run", write(tmp_path, "small.yaml", SMALL), "--report-dir", "out")
    assert result.returncode == 0, result.stdout + result.stderr
    document = report(tmp_path / "out")
    assert document["schema"] == "gnll-report/1"
    assert document["summary"]["total"] == 36
    assert set(statuses(tmp_path / "out").values()) == {"passed"}
    assert document["environment"]["backend"] == "numpy"
    assert set(document["environment"]["profiles"]) == {"bound"}
    outputs = {(case["id"], output["name"]) for case in document["cases"] for output in case["outputs"]}
    assert len(outputs) == 72
    suites = ET.parse(tmp_path / "out" / "junit.xml").getroot()
    assert len(suites.findall(".//testcase")) == 36
    assert "36" in (tmp_path / "out" / "report.md").read_text()


def test_the_numpy_reference_is_never_chosen_silently(gnll: Gnll, tmp_path: Path) -> None:
    write(tmp_path, "one.yaml", ONE)
    assert "backend numpy" in gnll("run", "one.yaml", "-q").stderr
    assert "numpy" not in gnll("run", "one.yaml", "-q", "--backend", "numpy").stderr


def test_piped_output_is_plain(gnll: Gnll, tmp_path: Path) -> None:
    result = gnll("run", write(tmp_path, "small.yaml", SMALL), "-v")
    assert "\x1b" not in result.stdout + result.stderr
    assert "small/fp32-none-3x5-target_same-var_same" in result.stdout


def test_refusals_are_skipped_by_numpy_and_alone_they_exit_3(gnll: Gnll, tmp_path: Path) -> None:
    result = gnll("run", write(tmp_path, "refusals.yaml", REFUSALS), "--report-dir", "out")
    assert result.returncode == 3
    assert set(statuses(tmp_path / "out").values()) == {"skipped"}


def test_nothing_selected_exits_2(gnll: Gnll, tmp_path: Path) -> None:
    result = gnll("run", write(tmp_path, "small.yaml", SMALL), "-k", "nowhere")
    assert result.returncode == 2
    assert "no case" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--backend", "nupmy"], "numpy"),
        (["--backend", "exec"], "--exec"),
        (["--exec", "true"], "--backend exec"),
        (["--profile", "bond"], "bound"),
        (["--profile", "isclose"], "--rtol"),
        (["--rtol", "1"], "isclose"),
        (["--profile", "isclose", "--rtol", "nan", "--atol", "1"], "--rtol"),
        (["--timeout", "0"], "--timeout"),
        (["--timeout", "nan"], "--timeout"),
        (["--shard", "3/2"], "shard"),
        (["-k", "a and"], "a and"),
        (["--dtype", "fp23"], "fp32"),
        (["-q", "-v"], "-v"),
        (["--known", "missing.yaml"], "missing.yaml"),
        (["--jobs", "0"], "jobs"),
        (["--tier", "smokey"], "smoke"),
        (["--no-such"], "--no-such"),
    ],
)
def test_wrong_usage_exits_2_with_one_message(gnll: Gnll, tmp_path: Path, words: list[str], said: str) -> None:
    result = gnll("run", write(tmp_path, "small.yaml", SMALL), *words)
    assert result.returncode == 2
    assert said in result.stderr
    assert not (tmp_path / "reports").exists()


def test_a_missing_path_and_a_bad_file_exit_2(gnll: Gnll, tmp_path: Path) -> None:
    assert gnll("run", "nowhere/").returncode == 2
    bad = gnll("run", write(tmp_path, "bad.yaml", "operator: gaussian_nll_loss_grad\nmatrx: {}\n"))
    assert bad.returncode == 2
    assert "bad.yaml:2:1" in bad.stderr
    assert "matrix" in bad.stderr


def test_the_right_program_passes_values_and_refusals(gnll: Gnll, tmp_path: Path, exec_operator: Path) -> None:
    write(tmp_path, "small.yaml", SMALL)
    write(tmp_path, "refusals.yaml", REFUSALS)
    result = gnll(
        "run",
        "small.yaml",
        "refusals.yaml",
        "--backend",
        "exec",
        "--exec",
        command(exec_operator),
        "--report-dir",
        "out",
    )
    assert result.returncode == 0, result.stdout
    found = statuses(tmp_path / "out")
    assert len(found) == 38
    assert set(found.values()) == {"passed"}


FAULTS = {
    "last-element": "failed",
    "no-half": "failed",
    "zeros": "failed",
    "segfault": "crashed",
    "abort": "crashed",
    "exit-3": "crashed",
    "hang": "timeout",
    "too-little": "failed",
    "too-much": "failed",
    "nothing": "failed",
    "one-missing": "failed",
    "changes-input": "failed",
    "refuses-wrongly": "refused_wrongly",
}


@pytest.mark.parametrize(("variant", "status"), FAULTS.items())
def test_every_fault_of_a_program_is_a_verdict_and_exit_1(
    gnll: Gnll, tmp_path: Path, exec_operator: Path, variant: str, status: str
) -> None:
    write(tmp_path, "one.yaml", ONE)
    result = gnll("run", "one.yaml", "--backend", "exec", "--exec", command(exec_operator, variant), "--timeout", "2")
    assert result.returncode == 1, result.stdout
    (case,) = report(tmp_path / "reports")["cases"]
    assert case["status"] == status
    assert case["reason"]
    # The line to reproduce, run as it is printed, gives the same again.
    again = gnll(*shlex.split(case["repro"])[1:], "--report-dir", "again")
    assert again.returncode == 1
    assert statuses(tmp_path / "again") == {case["id"]: status}


@pytest.mark.parametrize(
    ("variant", "status"),
    [
        ("accepts-everything", "accepted_wrongly"),
        ("refuses-with-another-status", "refused_wrongly"),
        ("refuses-and-writes", "failed"),
    ],
)
def test_faults_of_a_refusal(gnll: Gnll, tmp_path: Path, exec_operator: Path, variant: str, status: str) -> None:
    write(tmp_path, "refusals.yaml", REFUSALS)
    result = gnll("run", "refusals.yaml", "--backend", "exec", "--exec", command(exec_operator, variant))
    assert result.returncode == 1
    assert set(statuses(tmp_path / "reports").values()) == {status}


def test_wrong_n_is_seen_by_bound_and_not_by_ut(gnll: Gnll, tmp_path: Path, exec_operator: Path) -> None:
    text = """
operator: gaussian_nll_loss_grad
data: {gradOutput: "uniform(0.5, 1)", input: "uniform(1, 2)", target: "uniform(-2, -1)", var: "uniform(0.5, 2)"}
matrix: {dtype: [bf16], reduction: [mean], shape: [[8, 8]], target: [same], var: [same]}
"""
    write(tmp_path, "mean.yaml", text)
    words = ("run", "mean.yaml", "--backend", "exec", "--exec", command(exec_operator, "wrong-n"))
    assert gnll(*words, "--profile", "bound").returncode == 1
    assert statuses(tmp_path / "reports").popitem()[1] == "failed"
    # 64 elements of at most 8 over 64: 1/65 instead of 1/64 is below 8e-2 everywhere; so are zeros, and gnll says that too.
    gnll(*words, "--profile", "ut")
    (case,) = report(tmp_path / "reports")["cases"]
    assert all(output["passed"] for output in case["outputs"])


def test_full_pairs_and_repeats_are_compared_bit_for_bit(gnll: Gnll, tmp_path: Path, exec_operator: Path) -> None:
    write(tmp_path, "pair.yaml", ONE.replace("    dtype", "    pair: full\n    dtype"))
    write(tmp_path, "one.yaml", ONE.replace("only", "alone"))
    matters = command(exec_operator, "full-matters")
    assert gnll("run", "pair.yaml", "--backend", "exec", "--exec", matters).returncode == 1
    assert "full" in report(tmp_path / "reports")["cases"][0]["reason"]
    assert gnll("run", "pair.yaml", "--backend", "exec", "--exec", command(exec_operator)).returncode == 0
    restless = command(exec_operator, "differs-each-time")
    assert gnll("run", "one.yaml", "--backend", "exec", "--exec", restless, "--repeat", "2").returncode == 1
    kinds = {d["kind"] for d in report(tmp_path / "reports")["cases"][0]["diagnostics"]}
    assert "not_identical" in kinds


def test_a_missing_program_exits_3(gnll: Gnll, tmp_path: Path) -> None:
    result = gnll("run", write(tmp_path, "one.yaml", ONE), "--backend", "exec", "--exec", "./no-such-program")
    assert result.returncode == 3
    assert "no-such-program" in result.stderr


def test_an_untrusted_case_is_red_unless_it_is_declared(gnll: Gnll, tmp_path: Path) -> None:
    zero = ONE.replace('"uniform(0.5, 1)"', '"constant(0)"')
    assert gnll("run", write(tmp_path, "zero.yaml", zero)).returncode == 1
    (case,) = report(tmp_path / "reports")["cases"]
    assert case["status"] == "untrusted"
    assert "zeros" in case["reason"]
    declared = zero.replace("    dtype", "    trivial: a zero gradient gives zeros\n    dtype")
    assert gnll("run", write(tmp_path, "zero.yaml", declared)).returncode == 0


def test_maxfail_stops_and_says_so(gnll: Gnll, tmp_path: Path, exec_operator: Path) -> None:
    write(tmp_path, "small.yaml", SMALL)
    words = ("--backend", "exec", "--exec", command(exec_operator, "zeros"), "--jobs", "1", "--maxfail", "3")
    assert gnll("run", "small.yaml", *words).returncode == 1
    document = report(tmp_path / "reports")
    assert 3 <= document["summary"]["total"] < 36
    assert "--maxfail" in json.dumps(document["summary"])


def test_shards_partition_the_run(gnll: Gnll, tmp_path: Path) -> None:
    write(tmp_path, "small.yaml", SMALL)
    parts = []
    for n in (1, 2, 3):
        assert gnll("run", "small.yaml", "--shard", f"{n}/3", "--report-dir", f"part{n}").returncode == 0
        parts.append(set(statuses(tmp_path / f"part{n}")))
    assert sum(map(len, parts)) == len(set.union(*parts)) == 36


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_ran_and_resume_completes_it(
    gnll: Gnll, tmp_path: Path, number: signal.Signals
) -> None:
    many = SMALL.replace("[[3, 5]]", "[" + ", ".join(f"[{n}, 5]" for n in range(2, 60)) + "]")
    write(tmp_path, "many.yaml", many)
    words = [sys.executable, "-m", "gnll_cli.main", "run", "many.yaml", "--report-dir", "out", "--jobs", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    journal = tmp_path / "out"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if any(f.stat().st_size > 50_000 for f in journal.glob("*") if f.is_file()):
            break
        time.sleep(0.02)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    partial = statuses(tmp_path / "out")
    assert 0 < len(partial) < 58 * 36
    assert gnll("run", "many.yaml", "--report-dir", "out", "--resume").returncode == 0
    resumed = report(tmp_path / "out")
    assert gnll("run", "many.yaml", "--report-dir", "whole", "--jobs", "2").returncode == 0
    whole = report(tmp_path / "whole")
    assert resumed["summary"]["resumed"] >= len(partial)
    for document in (resumed, whole):
        # Where the reports go, and how many workers there were, is said in the report and no part of the result.
        for key in ("report_dir", "resume", "jobs"):
            document["selection"].pop(key)
    assert comparable(resumed) == comparable(whole)


def test_an_operator_that_exists_only_for_tests_runs_end_to_end(gnll: Gnll, tmp_path: Path) -> None:
    toys = str(ROOT / "tests" / "operators" / "toy_operators")
    text = """
operator: scaled_difference
matrix:
  dtype: [fp32]
  shape: [[7], [3, 5]]
"""
    write(tmp_path, "toy.yaml", text)
    result = gnll("run", "toy.yaml", GNLL_OPERATOR_PATH=toys)
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(statuses(tmp_path / "reports")) == 2


def test_known_failures_are_green_and_mended_ones_are_not(gnll: Gnll, tmp_path: Path, exec_operator: Path) -> None:
    write(tmp_path, "one.yaml", ONE)
    write(tmp_path, "known.yaml", "- case: one/only\n  kind: failed\n  reason: the last element is wrong\n")
    wrong = ("run", "one.yaml", "--backend", "exec", "--known", "known.yaml", "--exec")
    assert gnll(*wrong, command(exec_operator, "last-element")).returncode == 0
    assert statuses(tmp_path / "reports") == {"one/only": "known"}
    assert gnll(*wrong, command(exec_operator)).returncode == 1
    assert statuses(tmp_path / "reports") == {"one/only": "fixed"}


def test_gate_after_run(gnll: Gnll, tmp_path: Path, exec_operator: Path) -> None:
    write(tmp_path, "one.yaml", ONE)
    right = ("run", "one.yaml", "--backend", "exec", "--exec", command(exec_operator))
    wrong = ("run", "one.yaml", "--backend", "exec", "--exec", command(exec_operator, "zeros"))
    assert gnll(*right).returncode == 0
    assert gnll("gate", "reports", "--baseline", "base.json", "--update").returncode == 0
    assert gnll("gate", "reports", "--baseline", "base.json").returncode == 0
    assert gnll(*wrong).returncode == 1
    gate = gnll("gate", "reports", "--baseline", "base.json")
    assert gate.returncode == 1
    assert "one/only" in gate.stdout


def test_gen_data_then_compare_a_folder(gnll: Gnll, tmp_path: Path) -> None:
    write(tmp_path, "one.yaml", ONE)
    assert gnll("gen-data", "one.yaml", "-o", "data").returncode == 0
    folder = tmp_path / "data" / "one" / "only"
    for output in ("gradInput", "gradVar"):
        (folder / f"{output}.bin").write_bytes((folder / f"{output}_golden.bin").read_bytes())
    assert gnll("compare", folder).returncode == 0
    damaged = bytearray((folder / "gradVar.bin").read_bytes())
    damaged[-1] ^= 0x40
    (folder / "gradVar.bin").write_bytes(damaged)
    result = gnll("compare", folder)
    assert result.returncode == 1
    assert "gradVar" in result.stdout
