"""Folders of raw files: what is in them, what reading them back refuses, the command that writes them, the manifest."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

from gnll_cli import golden, operators
from gnll_cli.cases.model import Case, Distribution
from gnll_cli.commands.gen_data import command
from gnll_cli.errors import GnllError, RawFileError, UsageError
from gnll_cli.golden import manifest

REPOSITORY = Path(__file__).resolve().parents[2]
FILES = [
    "case.json",
    "gradInput_golden.bin",
    "gradInput_golden.f64.bin",
    "gradOutput.bin",
    "gradVar_golden.bin",
    "gradVar_golden.f64.bin",
    "input.bin",
    "target.bin",
    "var.bin",
]
OPERATOR = operators.get("gaussian_nll_loss_grad")


def values(*numbers):
    return Distribution("values", numbers, f"values({', '.join(map(str, numbers))})")


def small_case(dtype="fp16", **changes) -> Case:
    """d = 1 2 | 3 4, v = 2 | 4, gradOutput 2: gradInput 1 2 | 1.5 2; gradVar 2 terms: 1/2 - 1/4, 1/2 - 1 | 1/4 - 9/16, 1/4 - 1."""
    attributes = {"full": True, "eps": 0.5, "reduction": "sum"}
    shapes = {"input": (2, 2), "target": (2, 2), "gradInput": (2, 2)}
    shapes |= {"gradOutput": (1,), "var": (2, 1), "gradVar": (2, 1)}
    shapes = {name: shapes[name] for name in OPERATOR.tensors}
    data = {
        "gradOutput": values(2.0),
        "input": values(1.0, 2.0, 3.0, 4.0),
        "target": Distribution("constant", (0.0,), "constant(0)"),
        "var": values(2.0, 4.0),
    }
    case = Case(
        "room/small", OPERATOR.name, dtype, attributes, shapes, dict.fromkeys(shapes, dtype), data, 7, ("bound", "ut")
    )
    return replace(case, **changes)


@pytest.mark.parametrize(
    ("dtype", "storage"), [("fp32", np.dtype("<f4")), ("fp16", np.dtype("<f2")), ("bf16", np.dtype(ml_dtypes.bfloat16))]
)
def test_a_folder_holds_inputs_golden_and_case(tmp_path, dtype, storage):
    folder = golden.write_case(small_case(dtype), OPERATOR, tmp_path)
    assert folder == tmp_path / "room" / "small"
    assert sorted(file.name for file in folder.iterdir()) == FILES

    def read(name, kind=storage):
        return np.frombuffer((folder / name).read_bytes(), kind).astype(np.float64).tolist()

    assert read("gradOutput.bin") == [2]
    assert read("input.bin") == [1, 2, 3, 4]
    assert read("target.bin") == [0, 0, 0, 0]
    assert read("var.bin") == [2, 4]
    for suffix, kind in ((".bin", storage), (".f64.bin", np.dtype("<f8"))):
        assert read(f"gradInput_golden{suffix}", kind) == [1, 2, 1.5, 2]
        assert read(f"gradVar_golden{suffix}", kind) == [-0.25, 0.25 - 9 / 16 + 0.25 - 1]
    contents = json.loads((folder / "case.json").read_text())
    assert contents["id"] == "room/small"
    assert contents["attributes"] == {"full": True, "eps": 0.5, "reduction": "sum"}
    assert contents["shapes"]["var"] == [2, 1]
    assert contents["profile"] == ["bound", "ut"]
    assert contents["expect"] == "ok"
    assert contents["data"]["target"] == "constant(0)"
    assert contents["sha256"] == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES if name != "case.json"
    }


def test_golden_in_another_dtype(tmp_path):
    folder = golden.write_case(small_case("fp16"), OPERATOR, tmp_path, "fp32")
    assert np.fromfile(folder / "gradInput_golden.bin", "<f4").tolist() == [1, 2, 1.5, 2]
    assert json.loads((folder / "case.json").read_text())["golden_dtypes"] == {"gradInput": "fp32", "gradVar": "fp32"}


def test_a_folder_read_back_is_the_same_case(tmp_path):
    case = small_case(layout={"input": "transposed"}, trivial="a reason", advisory=True)
    again, inputs = golden.load_folder(golden.write_case(case, OPERATOR, tmp_path))
    for field in ("id", "operator", "dtype", "attributes", "shapes", "dtypes", "seed", "profile"):
        assert getattr(again, field) == getattr(case, field)
    for field in ("layout", "null", "reject", "trivial", "advisory"):
        assert getattr(again, field) == getattr(case, field)
    assert {name: d.text for name, d in again.data.items()} == {name: d.text for name, d in case.data.items()}
    drawn = golden.inputs(case, OPERATOR)
    for name, data in inputs.items():
        assert data.array().tobytes() == drawn[name].array().tobytes()
    ours = [block.value.tobytes() for block in OPERATOR.golden(case, drawn)]
    assert [block.value.tobytes() for block in OPERATOR.golden(again, inputs)] == ours


@pytest.mark.parametrize("eps", [float("nan"), float("-inf"), 0.0])
def test_a_refused_case_is_its_case_json(tmp_path, eps):
    name = {0.0: "eps_zero", float("-inf"): "eps_negative"}.get(eps, "eps_nan")
    case = small_case(reject=name, attributes={"full": False, "eps": eps, "reduction": "sum"}, data={})
    folder = golden.write_case(case, OPERATOR, tmp_path)
    assert [file.name for file in folder.iterdir()] == ["case.json"]
    json.loads(
        (folder / "case.json").read_text(), parse_constant=lambda word: pytest.fail(f"{word} is not strict JSON")
    )
    again, inputs = golden.load_folder(folder)
    assert inputs == {}
    assert again.reject == name
    np.testing.assert_array_equal(again.attributes["eps"], eps)


def test_inputs_for_a_runner(tmp_path):
    case = small_case()
    golden.write_inputs(case, OPERATOR, golden.inputs(case, OPERATOR), tmp_path / "x")
    names = sorted(file.name for file in (tmp_path / "x").iterdir())
    assert names == ["case.json", "gradOutput.bin", "input.bin", "target.bin", "var.bin"]
    again, inputs = golden.load_folder(tmp_path / "x")
    assert again.id == case.id
    assert inputs["var"].array().tolist() == [[2], [4]]
    refused = replace(case, reject="null_pointer", null=("var",))
    golden.write_inputs(refused, OPERATOR, {}, tmp_path / "y")
    assert [file.name for file in (tmp_path / "y").iterdir()] == ["case.json"]


def test_writing_again_renews_a_folder_and_leaves_what_others_put_there(tmp_path):
    folder = golden.write_case(small_case(), OPERATOR, tmp_path)
    (folder / "gradInput.bin").write_bytes(b"mine")
    golden.write_case(small_case(data={**small_case().data, "gradOutput": values(4.0)}), OPERATOR, tmp_path)
    assert (folder / "gradInput.bin").read_bytes() == b"mine"
    assert np.fromfile(folder / "gradInput_golden.bin", "<f2").tolist() == [2, 4, 3, 4]
    assert [file.name for file in folder.parent.iterdir()] == ["small"], "nothing temporary is left"


def test_a_failure_leaves_nothing_behind(tmp_path):
    case = small_case(data={**small_case().data, "var": values(1.0)})
    with pytest.raises(UsageError, match="1 values for var"):
        golden.write_case(case, OPERATOR, tmp_path)
    assert list((tmp_path / "room").iterdir()) == []


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "", "a\\b", "c:/x"])
def test_ids_cannot_leave_the_output_folder(tmp_path, name):
    with pytest.raises(UsageError, match="no path below"):
        golden.write_case(small_case(id=name), OPERATOR, tmp_path / "root")
    assert list(tmp_path.iterdir()) == []


def damage(key, value):
    def change(contents):
        if value is None:
            del contents[key]
        else:
            contents[key] = value

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (damage("operator", None), "no key 'operator'"),
        (damage("operator", "gaussian"), "unknown operator"),
        (damage("schema", 99), "schema"),
        (damage("shapes", {"input": [2, 2]}), "'shapes' lacks"),
        (damage("shapes", [1]), "'shapes' is .* not an object"),
        (damage("dtype", "fp33"), "fp32"),
        (damage("dtypes", dict.fromkeys(OPERATOR.tensors, "half")), "not a dtype"),
        (damage("attributes", {"full": True, "eps": "x", "reduction": "sum"}), "attributes.eps"),
        (damage("attributes", {"full": 1, "eps": 0.5, "reduction": "sum"}), "attributes.full"),
        (damage("attributes", {"full": True, "eps": 0.5, "reductoin": "sum"}), "reduction"),
        (damage("attributes", {"full": True, "eps": 0.5, "reduction": "none"}), "grad_output_not_input_shape"),
        (damage("expect", {"reject": "everything"}), "'expect'"),
        (damage("expect", "bad"), "'expect'"),
        (damage("seed", "7"), "'seed'"),
        (damage("seed", True), "'seed'"),
        (damage("profile", "bound"), "'profile'"),
        (damage("layout", {"input": "folded"}), "layout"),
        (damage("null", [1]), "'null'"),
        (damage("advisory", 0), "'advisory'"),
        (damage("trivial", ""), "'trivial'"),
        (damage("sha256", {}), "SHA-256"),
    ],
)
def test_a_damaged_case_json_is_told(tmp_path, change, says):
    folder = golden.write_case(small_case(), OPERATOR, tmp_path)
    contents = json.loads((folder / "case.json").read_text())
    change(contents)
    (folder / "case.json").write_text(json.dumps(contents))
    with pytest.raises(GnllError, match=says):
        golden.load_folder(folder)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_case_json_is_told(tmp_path, text):
    (tmp_path / "case.json").write_bytes(text)
    with pytest.raises(UsageError, match=r"case\.json"):
        golden.load_folder(tmp_path)


def test_random_damage_to_case_json_never_ends_in_a_traceback(tmp_path):
    folder = golden.write_case(small_case(), OPERATOR, tmp_path)
    text = (folder / "case.json").read_bytes()
    rng = np.random.default_rng(0)
    pieces = [b"null", b"-1", b"[]", b"{}", b"1e999", b'"', b"}", b"", b"\x00", b"99999999999999999999", b"NaN"]
    messages = []
    for _ in range(400):
        start = int(rng.integers(len(text)))
        stop = start + int(rng.integers(0, 12))
        (folder / "case.json").write_bytes(text[:start] + pieces[rng.integers(len(pieces))] + text[stop:])
        try:
            golden.load_folder(folder)
        except GnllError as error:
            messages.append(str(error))
    assert len(messages) > 250
    assert all(str(folder) in message or "unknown operator" in message for message in messages)


def test_damaged_inputs_are_told(tmp_path):
    folder = golden.write_case(small_case(), OPERATOR, tmp_path)
    raw = (folder / "input.bin").read_bytes()
    (folder / "input.bin").write_bytes(raw[::-1])
    with pytest.raises(RawFileError, match="SHA-256"):
        golden.load_folder(folder)
    (folder / "input.bin").write_bytes(raw[:-1])
    with pytest.raises(RawFileError, match="7 bytes"):
        golden.load_folder(folder)
    (folder / "input.bin").unlink()
    with pytest.raises(RawFileError, match="No such file"):
        golden.load_folder(folder)
    with pytest.raises(RawFileError, match="No such file"):
        golden.load_folder(folder / "nowhere")


CASE_FILE = """
operator: gaussian_nll_loss_grad
tier: smoke
matrix: {dtype: [fp32, bf16], reduction: [none, mean], shape: [[3, 5]], target: ["axis:0"], var: [same, scalar]}
cases:
  - name: refused
    attributes: {eps: 0.0}
    shapes: {gradOutput: [1], input: [2, 3], target: [2, 3], var: [2, 3]}
    expect: {reject: eps_zero}
"""


@pytest.fixture
def gen_data(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text(CASE_FILE)
    monkeypatch.chdir(tmp_path)

    def run(*args):
        result = CliRunner().invoke(command, ["mine.yaml", *args], standalone_mode=False)
        if result.exception is not None:
            raise result.exception
        return result.return_value, result.output

    return run


def test_the_command_writes_a_folder_per_case(gen_data, tmp_path):
    code, output = gen_data("-o", "out")
    assert code == 0
    assert output.startswith("9 cases")
    folders = sorted(file.parent for file in (tmp_path / "out").rglob("case.json"))
    assert len(folders) == 9
    for folder in folders:
        case, _ = golden.load_folder(folder)
        assert case.id == folder.relative_to(tmp_path / "out").as_posix()
        assert len(list(folder.iterdir())) == (1 if case.reject else len(FILES))


def test_the_command_selects(gen_data, tmp_path):
    assert gen_data("-o", "a", "--dtype", "bf16", "-k", "mean and scalar", "--golden-dtype", "fp32")[1].startswith(
        "1 case"
    )
    golden_file = next((tmp_path / "a").rglob("gradInput_golden.bin"))
    assert golden_file.stat().st_size == 15 * 4
    gen_data("-o", "b", "--dtype", "bf16", "-k", "mean and scalar", "--seed", "5")
    input_a, input_b = (next((tmp_path / root).rglob("input.bin")).read_bytes() for root in "ab")
    assert input_a != input_b
    parts = [gen_data("-o", "c", "--shard", f"{k}/2") for k in (1, 2)]
    assert sum(int(output.split()[0]) for _, output in parts) == 9


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("-k", "nothing_like_this"), "no case is selected"),
        (("--golden-dtype", "int8"), "no floating-point dtype"),
        (("--golden-dtype", "fp31"), "did you mean"),
        (("--manifest", "a", "--check-manifest", "b"), "contradict"),
        (("--manifest", "a", "--golden-dtype", "fp32"), "own dtypes"),
        (("--check-manifest", "nowhere.json"), "nowhere.json"),
        (("--check-manifest", "mine.yaml"), "no JSON"),
        (("-o", "mine.yaml/x"), "cannot be written"),
    ],
)
def test_wrong_usage_is_told(gen_data, args, says):
    with pytest.raises(UsageError, match=says):
        gen_data(*args)


def test_a_manifest_tells_what_differs(gen_data, tmp_path):
    assert gen_data("--manifest", "m.json")[0] == 0
    sums = json.loads((tmp_path / "m.json").read_text())
    assert len(sums) == 9
    assert gen_data("--check-manifest", "m.json")[0] == 0
    gen_data("-o", "out")
    name = next(name for name in sums if "bf16-mean" in name)
    assert sums[name] == {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted((tmp_path / "out" / name).iterdir())
    }
    sums[name]["var.bin"] = "0" * 64
    sums["gone"] = sums.pop("mine/refused")
    (tmp_path / "m.json").write_text(json.dumps(sums))
    code, output = gen_data("--check-manifest", "m.json")
    assert code == 1
    for line in (f"{name}/var.bin", "gone: in the manifest, but not generated", "mine/refused: generated, but not"):
        assert line in output
    assert "3 differences in 9 cases" in output
    assert gen_data("--check-manifest", "m.json", "--seed", "3")[1].count("\n") == 12, (
        "ten differences, and how many more"
    )


def test_the_committed_manifest_is_what_tier_smoke_generates():
    from gnll_cli import cases

    suite = cases.load([REPOSITORY / "cases"])
    found = manifest.of_cases(suite.cases(tier="smoke", dtype=None, keyword=None, shard=None, campaign_seed=0))
    assert len(found) >= 100
    lines = manifest.differences(manifest.load(REPOSITORY / "golden" / "manifest.json"), found)
    assert not lines, (
        manifest.report(lines)
        + "\nif the data was meant to change: gnll gen-data --tier smoke --manifest golden/manifest.json"
    )
