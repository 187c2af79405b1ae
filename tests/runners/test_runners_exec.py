"""Backend exec: a program of the tests' own, right and wrong in every way, and what it leaves behind."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnll_cli import dtypes, golden, operators, runners
from gnll_cli.cases.distributions import parse
from gnll_cli.cases.model import Case
from gnll_cli.errors import UnavailableError, UsageError
from gnll_cli.runners.exec import SLACK, call
from gnll_cli.runners.interface import Execution, RunnerOptions

OPERATOR = operators.get("gaussian_nll_loss_grad")
LEGAL = Case(
    id="legal",
    operator=OPERATOR.name,
    dtype="fp32",
    attributes={"full": False, "eps": 1e-6, "reduction": "none"},
    shapes={
        "gradOutput": (2, 3),
        "input": (2, 3),
        "target": (2, 1),
        "var": (2, 1),
        "gradInput": (2, 3),
        "gradVar": (2, 1),
    },
    dtypes=dict.fromkeys(OPERATOR.tensors, "fp32"),
    data={name: parse(text) for name, text in OPERATOR.data.items()},
    seed=1,
)
REFUSED = replace(LEGAL, id="refused", reject="eps_zero", attributes={**LEGAL.attributes, "eps": 0.0})

Run = Callable[..., Execution]


def execute(command: str, case: Case = LEGAL, timeout: float = 20.0) -> Execution:
    runner = runners.get("exec")(RunnerOptions("exec", timeout=timeout, exec_command=command))
    return runner.run(case, OPERATOR, golden.inputs(case, OPERATOR))


@pytest.fixture
def run(exec_operator: Path) -> Run:
    def run(variant: str = "", case: Case = LEGAL, timeout: float = 20.0) -> Execution:
        return execute(f"{shlex.quote(str(exec_operator))} {variant}", case, timeout)

    return run


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """A command that runs a shell script; its last argument is the folder."""

    def script(text: str) -> str:
        path = tmp_path / "program.sh"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return str(path)

    return script


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))


def kinds(execution: Execution) -> list[str]:
    return [d["kind"] for d in execution.diagnostics]


def naive(case: Case) -> dict[str, np.ndarray[Any, Any]]:
    """The contract's formula, element by element in float64."""
    x = {n: dtypes.to_float64(d.array()).reshape(d.shape) for n, d in golden.inputs(case, OPERATOR).items()}
    shape = case.shapes["input"]
    grad_input = np.zeros(shape)
    grad_var = np.zeros(case.shapes["var"])
    n = max(1, grad_input.size)
    for index in np.ndindex(*shape):
        go = x["gradOutput"][index] if case.attributes["reduction"] == "none" else x["gradOutput"].reshape(-1)[0]
        go = go / n if case.attributes["reduction"] == "mean" else go
        at_target = tuple(0 if size == 1 else i for i, size in zip(index, x["target"].shape, strict=True))
        if x["var"].size == 1:
            at_var: tuple[int, ...] = (0,) * x["var"].ndim
        elif x["var"].ndim == len(shape):
            at_var = tuple(0 if size == 1 else i for i, size in zip(index, x["var"].shape, strict=True))
        else:
            at_var = index[:-1]
        d = x["input"][index] - x["target"][at_target]
        v = max(x["var"][at_var], float(np.float32(case.attributes["eps"])))
        grad_input[index] = go * d / v
        grad_var[at_var] += go * 0.5 * (1 / v - d * d / v**2)
    return {"gradInput": grad_input, "gradVar": grad_var}


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_the_right_program_is_right_in_every_form(run: Run, dtype: str, reduction: str) -> None:
    digits = dtypes.DTYPES[dtype].digits
    shape = (3, 4, 5)
    for target in ((3, 4, 5), (1, 4, 5), (3, 1, 5), (3, 4, 1)):
        for var in ((3, 4, 5), (3, 4, 1), (3, 4), (1,), (1, 1), ()):
            shapes = {"input": shape, "target": target, "var": var, "gradInput": shape, "gradVar": var}
            shapes["gradOutput"] = shape if reduction == "none" else (1,)
            case = replace(
                LEGAL,
                dtype=dtype,
                shapes=shapes,
                dtypes=dict.fromkeys(OPERATOR.tensors, dtype),
                attributes={"full": True, "eps": 1e-6, "reduction": reduction},
            )
            execution = run(case=case)
            assert execution.outcome == "ran"
            assert execution.diagnostics == []
            for name, expected in naive(case).items():
                actual = execution.outputs[name]
                assert actual.shape == shapes[name]
                assert actual.dtype == dtypes.DTYPES[dtype].storage
                # Data are of the order of 1: a sum of 60 float32 terms, then one rounding to the dtype.
                limit = 60 * 2.0**-22 + np.abs(expected) * 2.0**-digits
                assert np.all(np.abs(dtypes.to_float64(actual) - expected) <= limit)


def test_empty_tensors(run: Run) -> None:
    shapes = {**dict.fromkeys(OPERATOR.tensors, (5, 0)), "var": (5, 1), "gradVar": (5, 1)}
    execution = run(case=replace(LEGAL, shapes=shapes))
    assert execution.outcome == "ran"
    assert execution.outputs["gradInput"].shape == (5, 0)
    assert execution.outputs["gradVar"].tolist() == [[0.0]] * 5


FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("null_pointer", {"null": ("var",)}),
    ("dtype_unsupported", {"dtypes": dict.fromkeys(OPERATOR.tensors, "fp64")}),
    ("dtype_mismatch", {"dtypes": {**LEGAL.dtypes, "target": "fp16"}}),
    ("output_dtype_mismatch", {"dtypes": {**LEGAL.dtypes, "gradVar": "fp16"}}),
    ("target_rank", {"shapes": {**LEGAL.shapes, "target": (2,)}}),
    ("target_two_axes", {"shapes": {**LEGAL.shapes, "target": (1, 1)}}),
    ("target_not_one", {"shapes": {**LEGAL.shapes, "target": (3, 3)}}),
    ("var_form", {"shapes": {**LEGAL.shapes, "var": (1, 3), "gradVar": (1, 3)}}),
    ("eps_zero", {"attributes": {**LEGAL.attributes, "eps": 0.0}}),
    ("eps_zero", {"attributes": {**LEGAL.attributes, "eps": 1e-60}}),
    ("eps_negative", {"attributes": {**LEGAL.attributes, "eps": -1e-6}}),
    ("eps_nan", {"attributes": {**LEGAL.attributes, "eps": float("nan")}}),
    ("reduction_unknown", {"attributes": {**LEGAL.attributes, "reduction": "avg"}}),
    ("grad_output_not_input_shape", {"shapes": {**LEGAL.shapes, "gradOutput": (3, 2)}}),
    ("grad_output_not_scalar", {"attributes": {**LEGAL.attributes, "reduction": "sum"}}),
    ("grad_input_shape", {"shapes": {**LEGAL.shapes, "gradInput": (3, 2)}}),
    ("grad_var_shape", {"shapes": {**LEGAL.shapes, "gradVar": (2,)}}),
    ("dynamic_dim", {"shapes": {**LEGAL.shapes, "input": (-1, 3)}}),
    ("too_many_elements", {"shapes": {**dict.fromkeys(OPERATOR.tensors, (1 << 16, 1 << 16))}}),
]


@pytest.mark.parametrize(("name", "change"), FAULTS)
def test_the_right_program_refuses_and_leaves_nothing(run: Run, name: str, change: dict[str, Any]) -> None:
    execution = run(case=replace(LEGAL, reject=name, **change))
    assert execution.outcome == "refused"
    assert execution.aclnn_status == (161001 if name == "null_pointer" else 161002)
    assert execution.untouched
    assert execution.diagnostics == []


def test_every_refusal_of_the_contract_is_among_the_faults() -> None:
    assert {name for name, _ in FAULTS} == set(OPERATOR.refusals)


def test_the_folder_of_a_refusal_holds_the_case_alone(script: Callable[[str], str]) -> None:
    execution = execute(script('ls "$1" >&2; exit 9'), REFUSED)
    assert execution.diagnostics[0]["message"].splitlines()[1:] == ["case.json"]


def test_the_folder_is_new_absolute_and_gone_afterwards(
    script: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = script('echo "$1" >> seen; echo $(ls "$1") >> seen; exit 1')
    execute(command)
    execute(command)
    first, files, second, _ = (tmp_path / "seen").read_text().splitlines()
    assert first != second
    assert os.path.isabs(first)
    assert sorted(files.split()) == ["case.json", "gradOutput.bin", "input.bin", "target.bin", "var.bin"]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_layouts_are_materialised_and_named(script: Callable[[str], str], run: Run) -> None:
    layouts = {"input": "transposed", "target": "sliced", "var": "offset"}
    case = replace(LEGAL, layout=layouts)
    for name in OPERATOR.outputs:
        np.testing.assert_array_equal(run(case=case).outputs[name], run().outputs[name])
    execution = execute(script('cat "$1/case.json"; exit 1'), case)
    assert '"input": "transposed"' in execution.diagnostics[0]["message"]


# What a program can do wrong


@pytest.mark.parametrize(("variant", "name"), [("segfault", "SIGSEGV"), ("abort", "SIGABRT")])
def test_death_by_signal(run: Run, variant: str, name: str) -> None:
    execution = run(variant)
    assert execution.outcome == "crashed"
    assert name in execution.reason
    if variant == "segfault":
        assert execution.reason == "died of SIGSEGV: about to read address 8"
        assert execution.diagnostics[0]["stream"] == "stderr"


def test_an_exit_code_without_a_status_is_a_crash(run: Run) -> None:
    execution = run("exit-3")
    assert execution.outcome == "crashed"
    assert execution.reason == "exited with code 3: last line before exit"
    assert execution.diagnostics[0]["message"].endswith("first line\nlast line before exit")


@pytest.mark.parametrize("case", [LEGAL, REFUSED])
def test_a_hang_is_ended(run: Run, case: Case) -> None:
    began = time.monotonic()
    execution = run("hang", case, timeout=0.3)
    assert (execution.outcome, execution.reason) == ("timeout", "no end within 0.3 s")
    assert 0.3 <= execution.seconds <= time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("variant", "outcome", "processes"), [("hang-with-child", "timeout", 2), ("child-stays", "ran", 1)]
)
def test_no_process_is_left_behind(
    run: Run, variant: str, outcome: str, processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    monkeypatch.setenv("GNLL_TEST_PIDS", str(pids))
    began = time.monotonic()
    assert run(variant, timeout=1.0).outcome == outcome
    assert time.monotonic() - began < 10
    lines = pids.read_text().splitlines()
    assert len(lines) == processes
    for line in lines:
        assert_gone(int(line.split()[1]))


def assert_gone(pid: int) -> None:
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return
        time.sleep(0.02)
    raise AssertionError(f"process {pid} is still there")


@pytest.mark.parametrize(
    ("variant", "said"),
    [
        ("too-little", ["gradVar.bin has 7 bytes, 8 are needed", "[2, 1] of fp32", "1 too few, remainder 3 of 4"]),
        ("too-much", ["gradVar.bin has 12 bytes, 8 are needed", "4 too many, remainder 0 of 4"]),
        ("nothing", ["gradInput.bin was not written (24 bytes", "gradVar.bin was not written (8 bytes"]),
        ("one-missing", ["gradVar.bin was not written (8 bytes"]),
        ("status-garbage", ["'0x27502 (bad parameter)'", "161002"]),
        ("writes-without-end", ["gradInput.bin: ", "(24 needed)", "gradVar.bin: not written"]),
    ],
)
def test_outputs_that_are_not_there_or_do_not_fit(run: Run, variant: str, said: list[str]) -> None:
    execution = run(variant)
    assert execution.outcome == "failed"
    for text in said:
        assert text in execution.reason
    assert execution.outputs == {} or "gradVar" not in execution.outputs


def test_a_file_cannot_grow_without_end(exec_operator: Path, tmp_path: Path) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    finished = call([str(exec_operator), "writes-without-end", str(folder)], 20.0, 3 << 20)
    assert finished.returncode == -signal.SIGXFSZ
    assert (folder / "gradInput.bin").stat().st_size == 3 << 20
    assert SLACK < 1 << 30


@pytest.mark.parametrize(("variant", "what"), [("changes-input", "changed"), ("removes-input", "removed")])
def test_inputs_must_be_as_they_were(run: Run, variant: str, what: str) -> None:
    execution = run(variant)
    assert execution.outcome == "ran"
    assert execution.diagnostics == [
        {
            "kind": "input_changed",
            "severity": "failure",
            "message": f"the program {what} its input var.bin",
            "tensor": "var",
        }
    ]


def test_a_legal_case_that_is_refused(run: Run) -> None:
    execution = run("refuses-wrongly")
    assert (execution.outcome, execution.aclnn_status) == ("refused", 161002)
    assert execution.reason == "target does not fit"
    assert execution.untouched
    assert kinds(execution) == ["printed"]


def test_refusals_that_are_not_as_the_contract_has_them(run: Run) -> None:
    assert run("refuses-with-another-status", REFUSED).aclnn_status == 361001
    assert run("accepts-everything", REFUSED).outcome == "ran"
    touched = run("refuses-and-writes", REFUSED)
    assert (touched.outcome, touched.aclnn_status, touched.untouched) == ("refused", 161002, False)


@pytest.mark.parametrize(
    ("text", "outcome"), [("0", "ran"), ("0\\n", "ran"), ("161002", "refused"), (" 7\\n", "refused")]
)
def test_status_in_decimal(script: Callable[[str], str], text: str, outcome: str) -> None:
    execution = execute(
        script(
            f'printf "{text}" > "$1/status"; head -c 24 /dev/zero > "$1/gradInput.bin"; '
            'head -c 8 /dev/zero > "$1/gradVar.bin"'
        )
    )
    assert execution.outcome == outcome


@pytest.mark.parametrize("text", ["", "ok", "-1", "1e3", "161002 161001", "9" * 40])
def test_status_that_is_no_status(script: Callable[[str], str], text: str) -> None:
    execution = execute(script(f'printf "%s" "{text}" > "$1/status"'))
    assert execution.outcome == "failed"
    assert text[:20] in execution.reason


@pytest.mark.parametrize("what", ["mkdir", "mkfifo", "ln -s /dev/zero"])
@pytest.mark.parametrize("name", ["gradInput.bin", "status"])
def test_what_is_no_regular_file_is_not_read(script: Callable[[str], str], what: str, name: str) -> None:
    execution = execute(script(f'{what} "$1/{name}"'))
    assert execution.outcome == "failed"
    assert f"{name} is not a regular file" in execution.reason


def test_floods_and_readers_end(run: Run) -> None:
    assert run("floods-stdout").outcome == "ran"
    assert run("reads-stdin").outcome == "ran"
    flooding = run("floods-for-ever", timeout=0.5)
    assert flooding.outcome == "timeout"
    assert len(flooding.diagnostics[0]["message"]) < 5000


def test_a_program_that_closes_its_output_is_waited_for(script: Callable[[str], str]) -> None:
    execution = execute(script("exec >&- 2>&-; sleep 0.3; exit 5"))
    assert execution.reason == "exited with code 5"


def test_an_end_is_seen_without_pidfd(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    assert run().outcome == "ran"
    assert run("exit-3").outcome == "crashed"
    assert run("hang", timeout=0.2).outcome == "timeout"
    assert run("child-stays", timeout=10).outcome == "ran"


def test_the_users_working_directory_and_relative_commands(
    script: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script("pwd -P >&2; exit 1")
    monkeypatch.chdir(tmp_path)
    execution = execute("./program.sh")
    assert execution.reason == f"exited with code 1: {os.path.realpath(tmp_path)}"


def test_no_room_for_the_inputs_is_an_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "input.bin")

    monkeypatch.setattr(golden, "write_inputs", full, raising=False)
    execution = run()
    assert execution.outcome == "error"
    assert "No space left on device: input.bin" in execution.reason


# Wrong usage: told before anything runs


@pytest.mark.parametrize(
    ("command", "said"),
    [(None, "needs a program"), ("", "is empty"), ("   ", "is empty"), ("op 'x", "cannot be split into words")],
)
def test_wrong_commands(command: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        runners.require(RunnerOptions("exec", exec_command=command))


def test_programs_that_cannot_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "plain": (b"#!/bin/sh\n", 0o644),
        "text": (b"echo hello\n", 0o755),
        "orphan": (b"#!/no/such/interpreter -x\n", 0o755),
        "bare": (b"#!\n", 0o755),
    }
    for name, (contents, mode) in files.items():
        (tmp_path / name).write_bytes(contents)
        (tmp_path / name).chmod(mode)
    (tmp_path / "folder").mkdir()
    for command, said in (
        ("./no-such", "there is no program './no-such'"),
        ("no-such-program-anywhere", "there is no program 'no-such-program-anywhere'"),
        ("text", "there is no program 'text'\n  name ./text"),
        ("./plain", "is not executable\n  run: chmod +x ./plain"),
        ("plain", "is not executable\n  run: chmod +x plain"),
        ("./folder", "is not a file"),
        ("./text", "without a '#!' line"),
        ("./orphan", "the interpreter '/no/such/interpreter'"),
        ("./bare", "the interpreter ''"),
    ):
        options = RunnerOptions("exec", exec_command=command)
        with pytest.raises(UnavailableError) as caught:
            runners.require(options)
        assert said in str(caught.value)
        assert str(caught.value).startswith("--exec: ")
        missing = runners.get("exec").missing(options)
        assert missing is not None
        assert caught.value.what in missing


def test_the_environment_says_what_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "op.py").write_bytes(b"print('hello')\n")
    command = f"{shlex.quote(sys.executable)} op.py --fast"
    found = runners.get("exec").environment(RunnerOptions("exec", exec_command=command))
    assert found["command"] == command
    assert found["executable"] == sys.executable
    assert found["cwd"] == str(tmp_path)
    assert found["sha256"] == {
        str(tmp_path.resolve() / "op.py"): sha256(b"print('hello')\n").hexdigest(),
        str(Path(sys.executable).resolve()): sha256(Path(sys.executable).read_bytes()).hexdigest(),
    }
