"""gnll list and gnll lint as a user calls them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gnll_cli.main import main

TEXT = """\
operator: gaussian_nll_loss_grad
tier: smoke
profile: [bound, ut]
matrix:
  {dtype: [fp32, fp16], reduction: [none, sum], shape: [[2, 3], []], target: [same, "axis:0"], var: [same, scalar]}
exclude: [{dtype: fp16, shape: []}]
include: [{shape: [200], reduction: sum, var: scalar, tier: full}]
cases:
  - {name: eps-zero, attributes: {eps: 0}, expect: {reject: eps_zero},
     shapes: {gradOutput: [1], input: [2], target: [2], var: [2]}}
random: {count: 500, tier: nightly}
"""


@pytest.fixture
def gnll(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*args: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main([str(a) for a in args])
        out, err = capsys.readouterr()
        assert isinstance(caught.value.code, int)
        return caught.value.code, out, err

    return call


def test_list_ids(gnll: Callable, write: Callable) -> None:
    path = write(TEXT)
    code, out, _ = gnll("list", path, "--format", "ids", "--tier", "smoke", "-k", "fp16 and sum")
    assert code == 0
    assert out.splitlines() == [
        "x/fp16-sum-2x3-target_same-var_same",
        "x/fp16-sum-2x3-target_same-var_scalar",
        "x/fp16-sum-2x3-target_axis0-var_same",
        "x/fp16-sum-2x3-target_axis0-var_scalar",
    ]


def test_list_text_and_the_closing_line(gnll: Callable, write: Callable) -> None:
    code, out, err = gnll("list", write(TEXT), "-k", "eps-zero or 200")
    assert code == 0
    assert out.splitlines() == [
        "x/fp32-sum-200-target_same-var_scalar  full  bound+ut  "
        "gradOutput=1 input=200 target=200 var=1 gradInput=200 gradVar=1",
        "x/eps-zero  smoke  bound+ut  gradOutput=1 input=2 target=2 var=2 gradInput=2 gradVar=2  reject=eps_zero",
    ]
    # A scalar has no axis 0: 2 dtypes x 2 reductions x 2 forms of var; half of the others are excluded.
    assert err.strip() == "2 cases; of the combinations 4 are excluded, 8 cannot exist"


def test_list_json(gnll: Callable, write: Callable) -> None:
    code, out, _ = gnll("list", write(TEXT), "--format", "json")
    assert code == 0
    records = [json.loads(line) for line in out.splitlines()]
    assert len(records) == 16 + 4 + 1 + 1
    last = records[-1]
    assert last["id"] == "x/eps-zero"
    assert last["expect"] == {"reject": "eps_zero"}
    assert last["attributes"] == {"full": False, "eps": 0.0, "reduction": "mean"}
    assert last["source"].endswith("x.yaml:9:5")
    assert records[0]["expect"] == "ok"
    assert records[0]["data"]["var"] == "uniform(0.5, 2)"


def test_list_counts(gnll: Callable, write: Callable) -> None:
    path = write(TEXT)
    code, out, _ = gnll("list", path, "--counts", "--format", "json", "--tier", "nightly")
    counts = json.loads(out)
    assert code == 0
    assert counts["cases"] == 522
    assert counts["tiers"] == {"smoke": 21, "full": 1, "nightly": 500}
    assert counts["dropped"] == {"impossible": 8, "excluded": 4}
    code, out, _ = gnll("list", path, "--counts", "-k", "fp16")
    # fp16 has the shape [2, 3] only: 2 reductions x 2 forms of target x 2 of var.
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    for line in (
        ["cases", "8"],
        ["smoke", "8"],
        ["fp16", "8"],
        ["none", "4"],
        ["axis0", "4"],
        ["scalar", "4"],
        ["2", "8"],
    ):
        assert line in lines, line
    assert not any(line[:1] == ["fp32"] for line in lines)


def test_list_selects_nothing(gnll: Callable, write: Callable) -> None:
    code, out, err = gnll("list", write(TEXT), "-k", "nothing-like-it")
    assert (code, out) == (2, "")
    assert "no case is selected" in err


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (["-k", "fp16 and"], "a word is missing at the end"),
        (["--dtype", "fp61"], "did you mean 'fp16'?"),
        (["--shard", "3/2"], "there is no shard 3 of 2"),
        (["--tier", "ful"], "'ful' is not one of"),
        (["--format", "xml"], "'xml' is not one of"),
    ],
)
def test_list_refuses_wrong_options(gnll: Callable, write: Callable, args: list[str], what: str) -> None:
    code, out, err = gnll("list", write(TEXT), *args)
    assert (code, out) == (2, "")
    assert what in err


def test_list_tells_the_errors_of_case_files(gnll: Callable, write: Callable) -> None:
    path = write("operator: gaussian_nll_loss_grad\ntier: ful\n")
    code, _, err = gnll("list", path)
    assert code == 2
    assert f"{path.as_posix()}:2:7: 'tier' must be smoke, full or nightly" in err


def test_lint_errors(gnll: Callable, write: Callable) -> None:
    path = write("operator: gaussian_nll_loss_grad\ntier: ful\nadvisory: yes\n")
    code, out, err = gnll("lint", path)
    assert code == 2
    assert out.splitlines()[0].startswith(f"{path.as_posix()}:3:11: 'yes' is a boolean")
    assert err.strip() == "1 error"
    code, out, err = gnll("lint", path, write("a: [1\n", "b.yaml"), write("operator: 3\nx: 2\n", "c.yaml"))
    assert err.strip() == "4 errors"


def test_lint_warns_of_tolerances_that_a_correct_result_could_miss(gnll: Callable, write: Callable) -> None:
    text = """\
operator: gaussian_nll_loss_grad
profile: ut
data: {gradOutput: "constant(8192)", input: "constant(1)", target: "constant(0)", var: "constant(4)"}
matrix: {dtype: [fp16, fp32], reduction: none, shape: [[2, 3], [65]], var: [same, scalar]}
exclude: [{dtype: bf16}]
"""
    path = write(text)
    code, out, _ = gnll("lint", path)
    assert code == 0
    # gradInput = 8192 * 1 / 4 = 2048, gradVar = 8192/2 * (1/4 - 1/16) = 768 (times 65 where it is summed up): half an
    # ULP of fp16 at 2048 is 1, of fp32 2^-13; both are above 2e-2 and 1e-5.
    assert f"{path.as_posix()}:5:11: warning: this entry of 'exclude' matches no combination" in out
    assert (
        "profile ut allows 0.02, but fp16 results reach 2048, "
        "where rounding a correct result alone moves it by up to 1 (" in out
    )
    assert "profile ut allows 1e-05, but fp32 results reach 2048, where" in out
    assert (
        "profile ut judges a sum of 65 elements, more than 64 (x/fp16-none-65-target_same-var_scalar, and 1 more)"
        in out
    )
    code, out, _ = gnll("lint", path, "--no-golden")
    assert "warning: profile" not in out
    assert "8 cases, no errors, 1 warning" in out


def test_lint_of_tame_data_is_quiet(gnll: Callable, write: Callable) -> None:
    code, out, _ = gnll("lint", write(TEXT.replace("[200]", "[20]")))
    assert code == 0
    assert out.strip() == (
        "1 file, 522 cases, no errors, 0 warnings; combinations left out: 4 excluded, 8 cannot exist"
    )


@pytest.mark.parametrize("command", ["list", "lint"])
def test_paths_that_are_not_there(gnll: Callable, tmp_path: Path, command: str) -> None:
    code, _, err = gnll(command, tmp_path / "gone")
    assert code == 2
    assert err.startswith("gnll: error: there is no file or folder")


def test_the_suite_of_this_repository_has_no_error_and_no_warning(gnll: Callable) -> None:
    folder = Path(__file__).parents[2] / "cases"
    code, out, _ = gnll("lint", folder, "--no-golden")
    assert code == 0, out
    assert "no errors, 0 warnings" in out
