"""Case files through the door: what a file gives, and every kind of mistake with its exact place."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import pytest

from gnll_cli import cases
from gnll_cli.cases import schema
from gnll_cli.cases.model import seed_of
from gnll_cli.errors import CaseFileError, UsageError

HEAD = "operator: gaussian_nll_loss_grad\n"


def test_a_single_case_with_everything(load) -> None:
    suite = load(
        HEAD
        + """\
tier: smoke
profile: [ut, bound]
attributes: {reduction: sum, eps: 1e-3}
data: {var: "uniform(1, 2)"}
cases:
  - name: one
    dtype: fp16
    dtypes: {var: fp16}
    attributes: {full: true}
    shapes: {gradOutput: [1], target: [2, 1]}
    values: {input: [[0.5, nan, -0], [1e3, .5, largest]], var: [1, 2]}
    data: {target: "constant(1)"}
    layout: {input: transposed, target: contiguous}
    tier: nightly
    profile: bound
    trivial: " a reason "
    advisory: true
    pair: full
""".replace("var: [1, 2]}", "var: [1, 2]}"),
    )
    (case,) = list(suite)
    assert case.id == "x/one"
    assert case.dtype == "fp16"
    assert case.attributes == {"reduction": "sum", "eps": 1e-3, "full": True}
    assert case.shapes == {
        "gradOutput": (1,), "input": (2, 3), "target": (2, 1), "var": (2,), "gradInput": (2, 3), "gradVar": (2,),
    }  # fmt: skip
    assert set(case.dtypes.values()) == {"fp16"}
    assert case.data["input"].args == (0.5, "nan", "-0", 1000.0, 0.5, "largest")
    assert case.data["input"].kind == "values"
    assert case.data["target"].text == "constant(1)"
    assert case.data["gradOutput"].text == "uniform(-1, 1)"
    assert case.layout == {"input": "transposed"}
    assert (case.tier, case.profile, case.trivial, case.advisory, case.pair) == (
        "nightly", ("bound",), "a reason", True, "full",
    )  # fmt: skip
    assert case.seed == seed_of("x/one")
    assert case.source.endswith("x.yaml:7:5")


def test_a_refusal_with_null_tensors_and_dtypes(load) -> None:
    suite = load(
        HEAD
        + """\
cases:
  - name: null-var
    shapes: {gradOutput: [1], input: [2, 3], target: [2, 3]}
    "null": [var]
    expect: {reject: null_pointer}
  - name: output-dtype
    shapes: {gradOutput: [1], input: [2, 3], target: [2, 3], var: [2, 3]}
    dtypes: {gradVar: fp16}
    expect: {reject: output_dtype_mismatch}
  - name: unknown-reduction
    attributes: {reduction: Mean}
    shapes: {gradOutput: [1], input: [2, 3], target: [2, 3], var: [2, 3]}
    expect: {reject: reduction_unknown}
  - name: output-shape
    shapes: {gradOutput: [1], input: [2, 3], target: [2, 3], var: [2, 3], gradVar: [2, 1]}
    expect: {reject: grad_var_shape}
  - name: dynamic
    shapes: {gradOutput: [1], input: [-1, 3], target: [-1, 3], var: [-1, 3]}
    expect: {reject: dynamic_dim}
  - name: not-a-number
    attributes: {eps: nan}
    shapes: {gradOutput: [1], input: [2, 3], target: [2, 3], var: [2, 3]}
    expect: {reject: eps_nan}
"""
    )
    null, dtype, reduction, shape, dynamic, nan = list(suite)
    assert null.null == ("var",)
    assert "var" not in null.data
    assert null.shapes["gradVar"] == (2, 3)
    assert dtype.dtypes["gradVar"] == "fp16"
    assert dtype.dtypes["gradInput"] == "fp32"
    assert reduction.attributes["reduction"] == "Mean"
    assert "reduction" not in reduction.axes
    assert shape.shapes["gradVar"] == (2, 1)
    assert dynamic.shapes["input"] == (-1, 3)
    assert math.isnan(nan.attributes["eps"])  # type: ignore[arg-type]
    assert {case.reject for case in suite} == {
        "null_pointer", "output_dtype_mismatch", "reduction_unknown", "grad_var_shape", "dynamic_dim", "eps_nan",
    }  # fmt: skip


ONE = "{gradOutput: [1], input: [2, 3], target: [2, 3], var: [2, 3]}"


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        # The schema: keys, types, ranges.
        ("§operater: x", "unknown key 'operater'", "did you mean 'operator'?"),
        (HEAD + "§tiers: full", "unknown key 'tiers'", "did you mean 'tier'?"),
        (HEAD + "tier: §ful", "'tier' must be smoke, full or nightly", "did you mean 'full'?"),
        (HEAD + "tier: §3", "not the number 3", ""),
        (HEAD + "profile: §[]", "'profile' is empty", ""),
        (HEAD + "profile: §[ut, ut]", "names something twice", "keep one"),
        (HEAD + "advisory: §1", "'advisory' must be true or false", ""),
        (HEAD + "trivial: §'  '", "'trivial' must be the reason, as text", ""),
        (HEAD + "trivial: §true", "'trivial' must be the reason, as text, not true", "quote it"),
        (HEAD + "data: {var: §1}", "'var' must be a distribution in quotes", 'write "constant(1)"'),
        (HEAD + "layout: §transpose", "not the text 'transpose'", "did you mean 'transposed'?"),
        (HEAD + "layout: {var: §offest}", "not the text 'offest'", "did you mean 'offset'?"),
        (HEAD + "matrix: §[1]", "'matrix' must be a mapping of axes, not a list", ""),
        (HEAD + "matrix: §{dtype: fp32}", "the key 'shape' is missing in 'matrix'", "add 'shape"),
        (HEAD + "matrix: {dtype: fp32, shape: §[]}", "'shape' is empty", ""),
        (HEAD + "matrix: {dtype: §[], shape: [2]}", "'dtype' is empty", ""),
        (HEAD + "matrix: {dtype: fp32, shape: [[2, §3.5]]}", "not the number 3.5", ""),
        (HEAD + "matrix: {dtype: fp32, shape: [[§nan]]}", "not the number nan", ""),
        (HEAD + "matrix: {dtype: fp32, shape: [§[1, 1, 1, 1, 1, 1, 1, 1, 1]]}", "at most 8", ""),
        (HEAD + "matrix: {dtype: fp32, shape: [[§99999999999999999999]]}", "at most 64 bits", ""),
        (HEAD + "matrix: {dtype: fp32, shape: [[2, §[3]]]}", "a whole number", ""),
        (HEAD + "cases: §[]", "'cases' is empty", ""),
        (HEAD + "cases: [§{shapes: " + ONE + "}]", "the key 'name' is missing in 'cases'", "add 'name"),
        (HEAD + "cases: [{name: §../x}]", "'name' must be a name of letters", ""),
        (HEAD + "cases: [{name: §.x}]", "'name' must be a name of letters", ""),
        (HEAD + "cases: [{name: §a/b}]", "'name' must be a name of letters", ""),
        (HEAD + "cases: [{name: §'a\\u00e9'}]", "'name' must be a name of letters", ""),
        (HEAD + "cases: [{name: §3}]", "not the number 3", "quote it"),
        (HEAD + "cases: [{name: a, expect: §{rejects: x}}]", "the key 'reject' is missing", ""),
        (HEAD + "cases: [{name: a, 'null': §[]}]", "'null' is empty", ""),
        (HEAD + "random: §{}", "the key 'count' is missing in 'random'", "10,000,000"),
        (HEAD + "random: {count: §0}", "from 1 to 10,000,000, not the number 0", ""),
        (HEAD + "random: {count: §1e12}", "from 1 to 10,000,000", ""),
        (HEAD + "random: {count: §2.5}", "from 1 to 10,000,000, not the number 2.5", ""),
        (HEAD + "random: {count: 1, rank: [0, §9]}", "a rank from 0 to 8", ""),
        (HEAD + "random: {count: 1, elements: §[4]}", "[lowest, highest]", ""),
        # What only the operator knows.
        ("operator: §gausian_nll_loss_grad\ncases: [{name: a}]", "unknown operator", "did you mean"),
        ("§operator: gaussian_nll_loss_grad", "the file holds no case", "add 'matrix'"),
        (HEAD + "profile: §boundd\ncases: [{name: a}]", "unknown profile 'boundd'", "did you mean 'bound'?"),
        (HEAD + "profile: [ut, §isclose]\ncases: [{name: a}]", "isclose takes tolerances", "--rtol"),
        (HEAD + "pair: §eps\ncases: [{name: a}]", "no attribute that must make no difference", "full"),
        (HEAD + "attributes: {§epz: 1}\ncases: [{name: a}]", "has no attribute 'epz'", "did you mean 'eps'?"),
        (HEAD + "attributes: {eps: §'1'}\ncases: [{name: a}]", "'eps' must be a number, not the text '1'", ""),
        (HEAD + "attributes: {full: §1}\ncases: [{name: a}]", "'full' must be true or false", ""),
        (HEAD + "attributes: {reduction: §avg}\ncases: [{name: a}]", "cannot be 'avg'", "known: none, sum, mean"),
        (HEAD + "attributes: {reduction: §true}\ncases: [{name: a}]", "must be one of none, sum, mean", ""),
        (HEAD + "data: {§inptu: 'normal(0, 1)'}\ncases: [{name: a}]", "no input 'inptu'", "did you mean 'input'?"),
        (HEAD + "data: {var: §'uniform(2, 1)'}\ncases: [{name: a}]", "from low to high", "write uniform(lo, hi)"),
        (HEAD + "data: {var: §'file(no.bin)'}\ncases: [{name: a}]", "there is no file", "case file's folder"),
        (HEAD + "layout: {§vra: offset}\ncases: [{name: a}]", "no input 'vra'", "did you mean 'var'?"),
        # Single cases.
        (HEAD + "cases: [§{name: a}]", "no shape for gradOutput, input, target, var", "add it to 'shapes'"),
        (HEAD + "cases: [{name: a, shapes: §{input: [2]}}]", "no shape for gradOutput, target, var", ""),
        (HEAD + "cases: [{name: a, shapes: {§inputs: [2]}}]", "no tensor 'inputs'", "did you mean 'input'?"),
        (HEAD + "cases: [{name: a, dtype: §fp15, shapes: " + ONE + "}]", "unknown dtype 'fp15'", "did you mean"),
        (HEAD + "cases: [{name: a, dtype: §fp64, shapes: " + ONE + "}]", "unknown dtype 'fp64'", "did you mean"),
        (HEAD + "cases: [{name: a, dtypes: {§x: fp16}, shapes: " + ONE + "}]", "no tensor 'x'", ""),
        (
            HEAD + "cases: [{name: a, shapes: " + ONE + ", expect: {reject: §eps_zer}}]",
            "no refusal 'eps_zer'",
            "did you mean 'eps_zero'?",
        ),
        (
            HEAD + "cases: [{name: a, shapes: " + ONE + ", expect: §{reject: eps_zero}}]",
            "does not refuse this case",
            "",
        ),
        (
            HEAD + "cases: [{name: a, attributes: {eps: -1}, shapes: " + ONE + ", expect: §{reject: eps_zero}}]",
            "refuses this case as eps_negative, not as eps_zero",
            "expect: {reject: eps_negative}",
        ),
        (
            HEAD + "cases: [{name: a, attributes: {eps: 0}, shapes: §" + ONE + "}]",
            "the contract refuses this case as eps_zero",
            "expect: {reject: eps_zero}",
        ),
        (
            HEAD + "cases: [{name: a, shapes: §{gradOutput: [1], input: [2, 3], target: [2, 2], var: [1]}}]",
            "refuses this case as target_not_one",
            "",
        ),
        (
            HEAD + "cases: [{name: a, shapes: §{gradOutput: [1], input: [-2, 3], target: [-2, 3], var: [1]}}]",
            "refuses this case as dynamic_dim",
            "",
        ),
        (
            HEAD + "cases: [{name: a, shapes: " + ONE + ", values: {var: §[1, 2]}}]",
            "2 values for 'var' of shape 2x3, which has 6 elements",
            "",
        ),
        (
            HEAD + "cases: [{name: a, shapes: " + ONE + ", values: {var: [[1, 2], §[3]]}}]",
            "the values of 'var' are ragged",
            "",
        ),
        (
            HEAD + "cases: [{name: a, shapes: {gradOutput: [1], input: [2, 3], target: [2, 3], var: §[2, 3]},"
            " values: {var: [[1], [2]]}}]",
            "has the shape [2, 3], but its values are nested as [2, 1]",
            "",
        ),
        (
            HEAD + "cases: [{name: a, shapes: " + ONE + ", values: {var: [1, §larges]}}]",
            "'larges' is no number",
            "did you mean 'largest'?",
        ),
        (HEAD + "cases: [{name: a, shapes: " + ONE + ", values: {var: [1, §true]}}]", "not true", ""),
        (
            HEAD + "cases: [{name: a, shapes: " + ONE + ", values: {§var: [1]}, data: {var: 'constant(1)'}}]",
            "'var' has both values and data",
            "",
        ),
        (
            HEAD + "cases: [{name: a, shapes: " + ONE + ", layout: §{gradOutput: transposed}}]",
            "the layout cannot exist",
            "2 dimensions",
        ),
        (HEAD + "cases: [{name: a, shapes: " + ONE + ", 'null': [§vra]}]", "no tensor 'vra'", "did you mean 'var'?"),
        # Matrices.
        (HEAD + "matrix: {dtype: §fp61, shape: [2]}", "unknown dtype 'fp61'", "did you mean 'fp16'?"),
        (
            HEAD + "matrix: {dtype: fp32, shape: [2], §reductoin: sum}",
            "has no axis 'reductoin'",
            "did you mean 'reduction'?",
        ),
        (HEAD + "matrix: {dtype: fp32, shape: [2], reduction: [sum, §avg]}", "'reduction' cannot be 'avg'", ""),
        (HEAD + "matrix: {dtype: fp32, shape: [2], target: [same, §axes:0]}", "'axes:0' is no form of target", "axis"),
        (
            HEAD + "matrix: {dtype: fp32, shape: [2], var: §scaler}",
            "'scaler' is no form of var",
            "did you mean 'scalar'?",
        ),
        (HEAD + "matrix: {dtype: fp32, shape: [2], var: §1}", "a form of 'var' must be text, not 1", "known: same"),
        (HEAD + "matrix: {dtype: fp32, shape: [§[2, -1]]}", "has a dimension below 0", ""),
        (HEAD + "matrix: {dtype: fp32, shape: [[2], §3]}", "a number among shapes", "[[7], [2, 3]]"),
        (HEAD + "§matrix: {dtype: fp32, shape: [[99999999999]]}", "refuses this case as too_many_elements", ""),
        (HEAD + "§matrix: {dtype: fp32, shape: [2], eps: [0]}", "refuses this case as eps_zero", ""),
        (HEAD + "§matrix: {dtype: fp32, shape: [[]], target: ['axis:0']}", "the matrix yields no case", "can exist"),
        (
            HEAD + "§matrix: {dtype: fp32, shape: [2]}\nexclude: [{shape: [2]}]",
            "the matrix yields no case",
            "'exclude'",
        ),
        (
            HEAD + "matrix: {dtype: fp32, shape: [[2], §[]], target: ['axis:0']}",
            "this value of 'shape' yields no case: scalar",
            "",
        ),
        (
            HEAD + "matrix: {dtype: fp32, shape: [2], target: §axis}",
            "the form 'axis' of target needs a number",
            "axis:0",
        ),
        (HEAD + "matrix: {dtype: fp32, shape: [2], layout: §[]}", "'layout' is empty", "a list of layouts"),
        (
            HEAD + "matrix: {dtype: fp32, shape: [[], [2]], target: [same, §'axis:1']}",
            "this value of 'target' yields no case: axis:1",
            "",
        ),
        (
            HEAD + "matrix: {dtype: [fp32, §fp16], shape: [2]}\nexclude: [{dtype: fp16}]",
            "this value of 'dtype' yields no case: fp16",
            "",
        ),
        (
            HEAD + "matrix: {dtype: fp32, shape: [2]}\nexclude: [{§dtpe: fp16}]",
            "no axis 'dtpe'",
            "did you mean 'dtype'?",
        ),
        (HEAD + "§exclude: [{dtype: fp16}]\ncases: [{name: a, shapes: " + ONE + "}]", "'exclude' without a matrix", ""),
        (HEAD + "include: [§{shape: [2]}]", "'dtype' is missing", ""),
        (
            HEAD + "matrix: {dtype: fp32, shape: [2]}\ninclude: [{shape: [], target: §'axis:0'}]",
            "cannot have the form 'axis:0' for the shape []",
            "",
        ),
        (
            HEAD + "matrix: {dtype: fp32, shape: [2]}\ninclude: [{shape: [3], trivial: §3}]",
            "'trivial' must be the reason",
            "",
        ),
        (
            HEAD + "matrix: {dtype: fp32, shape: [2]}\ninclude: [§{shape: [2], trivial: it is so}]",
            "this entry of 'include' is there already",
            "exclude it from the matrix first",
        ),
        (
            HEAD + "matrix: {dtype: fp32, shape: [2],\n"
            "  data: [{name: a, var: 'constant(1)'}, §{name: A, var: 'constant(2)'}]}",
            "two entries of 'data' have the same name",
            "",
        ),
        # Campaigns.
        (HEAD + "random: {count: 5, §shape: [2]}", "'random' has no key 'shape'", "'rank' and 'elements'"),
        (HEAD + "random: {count: 5, §ranks: 2}", "'random' has no key 'ranks'", "did you mean 'rank'?"),
        (HEAD + "random: {count: 5, rank: §[3, 2]}", "'rank' goes from low to high, not from 3 to 2", "swap"),
        (HEAD + "random: {count: 5, rank: §[0, 0], elements: [2, 9]}", "rank 0 has one element", ""),
        (HEAD + "§random: {count: 5, rank: [0, 0], target: [axis], elements: [1, 1]}", "no legal case", "allow more"),
        (HEAD + "§random: {count: 5, eps: [0]}", "no legal case", ""),
        (HEAD + "random: {count: 5, reduction: [§avg]}", "'reduction' cannot be 'avg'", ""),
    ],
)
def test_mistakes(problems, text: str, what: str, hint: str) -> None:
    """``§`` stands before the place that the message must name."""
    before = text[: text.index("§")]
    place = f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
    found = problems(text.replace("§", ""))
    assert any(at == place and what in told and hint in advice for at, told, advice in found), found


def test_all_problems_of_all_files_are_told_at_once(write) -> None:
    first = write(HEAD + "tier: x\nadvisory: 3\ncases: [{name: a, nam: b}]\n", "a.yaml")
    second = write("a: ~\n", "b.yaml")
    with pytest.raises(CaseFileError) as caught:
        cases.load([first, second])
    places = [p.where.rsplit("/", 1)[1] for p in caught.value.problems]
    assert places == ["a.yaml:2:7", "a.yaml:3:11", "a.yaml:4:19", "b.yaml:1:4"]


def test_semantic_problems_are_told_at_once_too(problems) -> None:
    found = problems(
        HEAD + "attributes: {epz: 1}\ndata: {vra: 'x'}\nmatrix: {dtype: fp61, shape: [[2, -1]]}\n"
        "cases: [{name: a}, {name: b}]\n"
    )
    assert [at for at, _, _ in found] == ["2:14", "3:8", "4:17", "4:31", "5:9", "5:20"]


def test_folders_are_searched_in_order_and_hidden_files_left_out(write, tmp_path: Path) -> None:
    for name in ("b.yml", "a.yaml", "sub/c.yaml", ".hidden.yaml", ".git/d.yaml", "notes.txt"):
        write(
            HEAD + f"cases: [{{name: {Path(name).stem.strip('.')}, shapes: {ONE}}}]\n"
            f"data: {{var: 'constant({len(name)})'}}\n",
            name,
        )
    suite = cases.load([tmp_path])
    assert [Path(f.name).name for f in suite.files] == ["a.yaml", "b.yml", "c.yaml"]
    again = cases.load([tmp_path, tmp_path / "a.yaml", tmp_path / "sub" / ".." / "b.yml"])
    assert [c.id for c in again] == [c.id for c in suite]


@pytest.mark.parametrize(
    ("name", "what", "hint"),
    [
        ("cases", "there is no file or folder", "did you mean 'cases2'?"),
        ("cases2", "no case files below", ".yaml or .yml"),
        ("notes.txt", "is no case file", ".yaml or .yml"),
        ("no/such/x.yaml", "there is no file or folder", "no folder"),
        ("nul\0", "", ""),
    ],
)
def test_paths_that_are_no_case_files(tmp_path: Path, name: str, what: str, hint: str) -> None:
    (tmp_path / "cases2").mkdir()
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(UsageError) as caught:
        cases.load([tmp_path / name])
    assert what in caught.value.what
    assert hint in caught.value.hint


def test_no_path_at_all() -> None:
    with pytest.raises(UsageError, match="no case file given"):
        cases.load([])


@pytest.mark.parametrize("name", ["a b.yaml", "é.yaml", "...yaml"])
def test_file_names_that_cannot_be_ids(write, name: str) -> None:
    path = write(HEAD + f"cases: [{{name: a, shapes: {ONE}}}]\n", name)
    with pytest.raises(CaseFileError, match="cannot be part of an id"):
        cases.load([path])


def test_duplicate_ids_in_a_file_differ_in_more_than_case(problems) -> None:
    text = HEAD + f"cases:\n  - {{name: a, shapes: {ONE}}}\n  - {{name: A, dtype: fp16, shapes: {ONE}}}\n"
    ((at, what, hint),) = problems(text)
    assert at == "4:26" or at.startswith("4:")
    assert "the id 'x/A' is there already" in what
    assert "x.yaml:3:5" in what
    assert "more than case" in hint


def test_duplicates_across_files(write, tmp_path: Path) -> None:
    body = HEAD + f"cases: [{{name: a, shapes: {ONE}}}]\n"
    write(body, "one/x.yaml")
    write(body.replace("name: a", "name: a, dtype: fp16"), "two/x.yaml")
    with pytest.raises(CaseFileError, match=r"two/x.yaml:2:\d+: the id 'x/a' is there already, at .*one/x.yaml:2:9"):
        cases.load([tmp_path])
    write(body, "two/x.yaml")
    (tmp_path / "two/x.yaml").rename(tmp_path / "two/other.yaml")
    with pytest.raises(CaseFileError, match=r"'other/a' is the same case as 'x/a', at .*one/x.yaml:2:9"):
        cases.load([tmp_path])
    write(body.replace("]\n", "]\ndata: {var: 'uniform(0.5, 2.5)'}\n"), "two/other.yaml")
    assert [c.id for c in cases.load([tmp_path])] == ["x/a", "other/a"]


def test_the_same_numbers_in_other_writing_are_the_same_case(write, tmp_path: Path) -> None:
    write(
        HEAD + f"data: {{var: 'uniform(1, 2)'}}\nattributes: {{eps: 1e-3}}\ncases: [{{name: a, shapes: {ONE}}}]\n",
        "a.yaml",
    )
    write(
        HEAD
        + f"data: {{var: 'uniform(1.0, +2e0)'}}\nattributes: {{eps: 0.001}}\ncases: [{{name: b, shapes: {ONE}}}]\n",
        "b.yaml",
    )
    with pytest.raises(CaseFileError, match="'b/b' is the same case as 'a/a'"):
        cases.load([tmp_path])


def test_a_raw_file_must_fit_the_tensor(write, tmp_path: Path) -> None:
    (tmp_path / "var.bin").write_bytes(bytes(24))
    text = HEAD + f"cases: [{{name: a, shapes: {ONE}, data: {{var: 'file(var.bin)'}}}}]\n"
    (case,) = cases.load([write(text)])
    assert case.data["var"].args == (str(tmp_path / "var.bin"),)
    (tmp_path / "var.bin").write_bytes(bytes(25))
    with pytest.raises(CaseFileError, match=r"has 25 bytes, but 'var' of shape .*2, 3.* in fp32 needs 24"):
        cases.load([write(text)])


def test_anchors_and_merge_keys_work(load) -> None:
    suite = load(
        HEAD
        + f"""\
cases:
  - &first {{name: a, shapes: {ONE}, attributes: {{reduction: sum}}}}
  - {{<<: *first, name: b, dtype: fp16}}
"""
    )
    a, b = suite
    assert (a.dtype, b.dtype) == ("fp32", "fp16")
    assert a.shapes == b.shapes
    assert b.attributes["reduction"] == "sum"


def test_the_schema_is_a_schema_and_says_what_each_key_means() -> None:
    document = json.loads(schema.SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(document)
    assert document == schema.schema()

    def named(node: object) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                if key in ("properties", "$defs"):
                    for name, rule in value.items():
                        assert "$ref" in rule or ("title" in rule and "description" in rule), name
                named(value)

    named(document)
