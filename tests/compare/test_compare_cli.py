"""``gnll compare`` from the outside: exit codes, messages, output for people and for programs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gnll_cli import golden, main, operators
from gnll_cli.cases.model import Case, Distribution
from gnll_cli.golden.folder import write_case


def gnll(capsys, *args):
    """Exit code, standard output and standard error of a command."""
    with pytest.raises(SystemExit) as caught:
        main.main(["compare", *[str(a) for a in args]])
    out, err = capsys.readouterr()
    return caught.value.code, out, err


@pytest.fixture
def pair(tmp_path):
    """golden.bin and three actuals: right, off at one element, NaN at one."""
    values = np.linspace(1, 2, 42).astype("<f2")
    values.tofile(tmp_path / "golden.bin")
    values.tofile(tmp_path / "right.bin")
    off = values.copy()
    off[8] += np.float16(0.5)
    off.tofile(tmp_path / "off.bin")
    off[8] = np.nan
    off.tofile(tmp_path / "nan.bin")
    return tmp_path


def test_exit_codes_and_lines(capsys, pair):
    code, out, err = gnll(capsys, pair / "right.bin", pair / "golden.bin", "--dtype", "fp16")
    assert (code, err) == (0, "")
    assert "PASS  right under ut: 42 elements, max abs 0" in out
    code, out, err = gnll(capsys, pair / "off.bin", pair / "golden.bin", "--dtype", "fp16", "--shape", "6,7")
    assert (code, err) == (1, "")
    assert "FAIL  off under ut: 1 of 42 elements beyond abs(a-g) <= 0.02" in out
    assert "worst at [1, 1]" in out
    assert "one element" in out


def test_several_pairs_and_profiles(capsys, pair):
    pairs = [pair / "right.bin", pair / "golden.bin", pair / "nan.bin", pair / "golden.bin"]
    code, out, _ = gnll(capsys, *pairs, "--dtype", "fp16", "--profile", "ut", "--profile", "exact")
    assert code == 1
    assert "2 of 4 verdicts passed" in out


def test_tolerances(capsys, pair):
    files = [pair / "off.bin", pair / "golden.bin", "--dtype", "FLOAT16"]
    assert gnll(capsys, *files, "--rtol", "0", "--atol", "0.5")[0] == 0
    assert gnll(capsys, *files, "--rtol", "0", "--atol", "0.49")[0] == 1
    assert gnll(capsys, *files, "--rtol", "0.5", "--atol", "0", "--profile", "isclose")[0] == 0


def test_json(capsys, pair):
    code, out, _ = gnll(capsys, pair / "nan.bin", pair / "golden.bin", "--dtype", "fp16", "--json", "-")
    result = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert code == 1
    assert result["passed"] is False
    (output,) = result["pairs"][0]["outputs"]
    assert output["worst_actual"] == "nan"
    assert output["mismatched"] == 1
    assert result["profiles"]["ut"]["tolerance"]["fp16"] == 0.02
    target = pair / "result.json"
    code, out, _ = gnll(capsys, pair / "right.bin", pair / "golden.bin", "--dtype", "fp16", "--json", target)
    assert code == 0
    assert "PASS" in out
    assert json.loads(target.read_text())["pairs"][0]["outputs"][0]["headroom"] == "inf"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["right.bin"], "each actual needs its golden"),
        (["right.bin", "golden.bin", "off.bin", "--dtype", "fp16"], "3 files"),
        (["right.bin", "golden.bin"], "add --dtype"),
        (["right.bin", "golden.bin", "--dtype", "fp61"], "did you mean 'fp16'|did you mean 'fp64'"),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--golden-dtype", "f"], "--golden-dtype: unknown dtype 'f'"),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--profile", "utt"], "did you mean 'ut'"),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--profile", "bound"], "magnitude"),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--profile", "commercial-l1"], "benchmark"),
        (
            ["right.bin", "golden.bin", "--dtype", "fp32", "--profile", "ut", "--rtol", "0", "--atol", "0"],
            "belongs to profile isclose",
        ),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--rtol", "0.1"], "--atol is missing"),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--atol", "0.1"], "--rtol is missing"),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--profile", "isclose"], "needs both"),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--rtol", "-1", "--atol", "0"], "--rtol -1.0 is no tolerance"),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--rtol", "0", "--atol", "nan"], "--atol nan is no tolerance"),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--rtol", "0", "--atol", "inf"], "--atol inf is no tolerance"),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--rtol", "x", "--atol", "0"], "not a valid float"),
        (
            ["right.bin", "golden.bin", "--dtype", "fp64", "--profile", "ut"],
            "whole number of fp64|no tolerance for fp64",
        ),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--shape", "2;3"], "no shape"),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--shape", "-1"], "no shape"),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--shape", "6x8"], r"shape [6, 8] of fp16 is 96 bytes"),
        (["golden.bin", "golden.bin", "--dtype", "fp16"], "always equals itself"),
        (["none.bin", "golden.bin", "--dtype", "fp16"], "no such file"),
        (["right.bin", ".", "--dtype", "fp16"], "is a folder"),
        ([".", "--dtype", "fp16"], "--dtype does not go with a gen-data folder"),
        ([".", "right.bin", "golden.bin", "--dtype", "fp16"], "a folder is compared alone"),
        (["."], "case.json"),
        (["right.bin", "golden.bin", "--dtype", "fp16", "--json", "none/x.json"], "cannot be written"),
        ([], "Missing argument"),
    ],
)
def test_wrong_usage_is_one_message(capsys, pair, monkeypatch, args, message):
    monkeypatch.chdir(pair)
    code, _, err = gnll(capsys, *args)
    assert code == 2
    assert any(m in err for m in message.split("|")), err
    assert "Traceback" not in err


@pytest.fixture
def folder(tmp_path):
    """A gen-data folder of a small case of the real operator, with right outputs in it."""
    operator = operators.get("gaussian_nll_loss_grad")
    form = {"target": operator.form("target", "same", (4, 33)), "var": operator.form("var", "last_dim_one", (4, 33))}
    attributes = {a.name: a.default for a in operator.attributes} | {"reduction": "sum"}
    shapes = operator.shapes((4, 33), form, attributes)
    texts = {"gradOutput": (0.5, 1.0), "input": (-1.0, 1.0), "target": (-1.0, 1.0), "var": (0.5, 2.0)}
    case = Case(
        id="hand/fp16",
        operator=operator.name,
        dtype="fp16",
        attributes=attributes,
        shapes=shapes,
        dtypes=dict.fromkeys(shapes, "fp16"),
        data={n: Distribution("uniform", (lo, hi), f"uniform({lo}, {hi})") for n, (lo, hi) in texts.items()},
        seed=11,
        profile=("bound", "ut"),
    )
    path = write_case(case, operator, tmp_path)
    arrays = {n: d.array() for n, d in golden.inputs(case, operator).items()}
    for name, array in operator.benchmark(case, arrays).items():
        array.tofile(path / f"{name}.bin")
    return path


def test_folder_is_judged_by_the_profiles_of_its_case(capsys, folder):
    code, out, err = gnll(capsys, folder)
    assert (code, err) == (0, "")
    assert "gradInput under bound" in out
    assert "gradVar under ut" in out
    assert "4 of 4 verdicts passed" in out


def test_folder_with_a_wrong_output(capsys, folder):
    values = np.fromfile(folder / "gradVar.bin", "<f2")
    values[2] = 0
    values.tofile(folder / "gradVar.bin")
    code, out, _ = gnll(capsys, folder, "--json", folder / "r.json")
    assert code == 1
    assert "FAIL  gradVar under bound: 1 of 4 elements" in out
    result = json.loads((folder / "r.json").read_text())
    assert [o["passed"] for o in result["folder"]["outputs"]] == [True, True, False, False]


def test_folder_other_profile(capsys, folder):
    code, out, _ = gnll(capsys, folder, "--profile", "commercial-l1")
    assert code == 0, out
    assert "commercial-l1" in out


def test_folder_says_when_a_golden_file_was_changed(capsys, folder):
    path = folder / "gradInput_golden.bin"
    path.write_bytes(bytes(len(path.read_bytes())))
    (folder / "gradVar_golden.f64.bin").unlink()
    code, out, _ = gnll(capsys, folder)
    assert code == 0
    assert "gradInput_golden.bin was changed" in out
    assert "gradVar_golden.f64.bin is missing" in out


def test_folder_without_outputs_or_with_wrong_sizes(capsys, folder):
    (folder / "gradVar.bin").write_bytes(b"\0" * 9)
    code, _, err = gnll(capsys, folder)
    assert code == 2
    assert "gradVar.bin" in err
    assert "shape" in err
    (folder / "gradVar.bin").unlink()
    (folder / "gradInput.bin").unlink()
    code, _, err = gnll(capsys, folder)
    assert code == 2
    assert "no gradInput.bin and no gradVar.bin" in err


def test_folder_with_other_inputs_is_refused(capsys, folder):
    path = folder / "var.bin"
    path.write_bytes(bytes(len(path.read_bytes())))
    code, _, err = gnll(capsys, folder)
    assert code == 2
    assert "var.bin" in err


def test_help_is_complete(capsys):
    code, out, _ = gnll(capsys, "--help")
    assert code == 0
    for word in ("--dtype", "--golden-dtype", "--shape", "--profile", "--rtol", "--atol", "--json", "FOLDER"):
        assert word in out
