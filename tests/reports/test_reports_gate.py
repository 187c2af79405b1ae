"""The gate: every decision, every report and baseline that cannot be judged, and what --update writes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from reports_samples import ENVIRONMENT, SELECTION, output, record

from gnll_cli.commands.gate import command
from gnll_cli.errors import GnllError, UsageError
from gnll_cli.reports import RunReport
from gnll_cli.reports import baseline as baselines
from gnll_cli.reports.gate import decide, updated
from gnll_cli.reports.load import load_report


def write(
    folder: Path,
    records: list[dict[str, Any]],
    *,
    restricted: bool = False,
    backend: str = "exec",
    profiles: dict[str, Any] | None = None,
    interrupted: bool = False,
) -> Path:
    """The report of a run with these records, as the gate finds it."""
    environment = {**ENVIRONMENT, "backend": backend, "profiles": profiles or ENVIRONMENT["profiles"]}
    with RunReport(folder, environment, {**SELECTION, "restricted": restricted}, len(records)) as run:
        for index, entry in enumerate(records):
            run.add(index, entry)
        run.finish(interrupted=interrupted)
    return folder / "report.json"


def judged(name: str, headroom: Any, status: str = "passed", profile: str = "bound") -> dict[str, Any]:
    return record(name, status, outputs=[output(profile=profile, headroom=headroom)])


def kinds(tmp_path: Path, before: list[dict[str, Any]], after: list[dict[str, Any]], **options: Any) -> list[str]:
    """The findings of ``after`` against the baseline of ``before``, as kind and case."""
    old = load_report(write(tmp_path / "before", before))
    baselines.save(updated(old, None, allow_failing=True)[0], tmp_path / "baseline.json")
    decision = decide(
        load_report(write(tmp_path / "after", after)), baselines.load(tmp_path / "baseline.json"), **options
    )
    assert decision.passed is not bool(decision.findings)
    assert decision.exit_code == (1 if decision.findings else 0)
    return [f"{finding.kind} {finding.case}" for finding in decision.findings]


# Status before, status after, finding ("" where the gate passes). By the rule: not green always fails; passed to
# anything else fails; what was not verified before may be unverified in another way.
STATUS_TABLE = [
    ("passed", "passed", ""),
    ("passed", "skipped", "worse"),
    ("passed", "known", "worse"),
    ("passed", "advice", "worse"),
    ("skipped", "passed", ""),
    ("skipped", "advice", ""),
    ("skipped", "known", ""),
    ("advice", "skipped", ""),
    ("known", "passed", ""),
    ("failed", "passed", ""),
    ("failed", "skipped", ""),
    ("failed", "failed", "not_green"),
    ("failed", "crashed", "not_green"),
    *[
        (before, after, "not_green")
        for before in ("passed", "skipped", "known", "advice")
        for after in (
            "failed", "refused_wrongly", "accepted_wrongly", "crashed", "timeout", "error", "untrusted", "fixed",
        )
    ],
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "kind"), STATUS_TABLE)
def test_a_status_that_got_worse_fails(tmp_path: Path, before: str, after: str, kind: str) -> None:
    other = record("other")
    found = kinds(tmp_path, [other, record("a", before)], [other, record("a", after)])
    assert found == ([f"{kind} a"] if kind else [])


# Headroom before and after, factor, does the gate fail. The rule: min(after, 10) * factor < min(before, 10).
HEADROOM_TABLE: list[tuple[Any, Any, float, bool]] = [
    (4.0, 4.0, 2.0, False),
    (4.0, 2.0, 2.0, False),
    (4.0, 1.99, 2.0, True),
    (4.0, 1.99, 3.0, False),
    (4.0, 8.0, 2.0, False),
    (math.inf, 5.0, 2.0, False),
    (math.inf, 4.9, 2.0, True),
    (1000.0, 10.0, 2.0, False),
    (1e9, 11.0, 1.0, False),
    (1000.0, 4.99, 2.0, True),
    (10.0, 9.9, 1.0, True),
    (2.0, 0.0, 2.0, True),
    (2.0, math.nan, 2.0, True),
    (1.5, 1.0, 2.0, False),
]


@pytest.mark.parametrize(("before", "after", "factor", "fails"), HEADROOM_TABLE)
def test_headroom_lost_by_more_than_the_factor_fails(
    tmp_path: Path, before: float, after: float, factor: float, fails: bool
) -> None:
    found = kinds(tmp_path, [judged("a", before)], [judged("a", after)], factor=factor)
    assert found == (["headroom a"] if fails else [])


def test_each_output_and_profile_counts_by_itself(tmp_path: Path) -> None:
    before = record("a", outputs=[output("x", "bound", headroom=8.0), output("x", "ut", headroom=4.0)])
    after = record("a", outputs=[output("x", "bound", headroom=5.0), output("x", "ut", headroom=1.5)])
    assert kinds(tmp_path, [before], [after]) == ["headroom a"]
    fewer = record("a", outputs=[output("x", "bound", headroom=8.0)])
    assert kinds(tmp_path, [before], [fewer]) == ["not_judged a"]
    assert kinds(tmp_path, [fewer], [before]) == []
    unmeasured = record("a", outputs=[output("x", "bound", headroom=None), output("x", "ut", headroom=4.0)])
    assert kinds(tmp_path, [before], [unmeasured]) == ["not_judged a"]


def test_headroom_of_a_known_failure_may_change(tmp_path: Path) -> None:
    assert kinds(tmp_path, [judged("a", 0.9, "known"), record("b")], [judged("a", 0.1, "known"), record("b")]) == []


def test_a_missing_case_fails_unless_the_run_was_restricted(tmp_path: Path) -> None:
    both = [record("a"), record("b")]
    assert kinds(tmp_path, both, [record("a")]) == ["missing b"]
    report = load_report(write(tmp_path / "part", [record("a")], restricted=True))
    decision = decide(report, baselines.load(tmp_path / "baseline.json"))
    assert decision.passed
    assert decision.compared == 1
    assert "1 cases of the baseline are not in it" in decision.notes[0]
    worse = load_report(write(tmp_path / "part", [record("a", "skipped"), record("c")], restricted=True))
    assert [f.kind for f in decide(worse, baselines.load(tmp_path / "baseline.json")).findings] == ["worse"]


def test_new_cases_are_listed_and_do_not_fail(tmp_path: Path) -> None:
    write(tmp_path / "r", [record("a"), record("b")])
    report = load_report(tmp_path / "r")
    baseline = baselines.Baseline(baselines.of_report(report).environment, {"a": baselines.BaselineCase("passed", {})})
    decision = decide(report, baseline)
    assert (decision.passed, decision.new, decision.compared) == (True, ["b"], 1)


def test_without_a_baseline_green_is_the_rule(tmp_path: Path) -> None:
    green = [record("a"), record("b", "skipped"), record("c", "known"), record("d", "advice")]
    assert decide(load_report(write(tmp_path / "g", green)), None).passed
    red = decide(load_report(write(tmp_path / "r", [*green, record("e", "failed")])), None)
    assert [f.case for f in red.findings] == ["e"]


def test_an_interrupted_run_fails(tmp_path: Path) -> None:
    decision = decide(load_report(write(tmp_path, [record("a")], interrupted=True)), None)
    assert [f.kind for f in decision.findings] == ["incomplete"]


def test_the_report_of_the_run_before_the_killed_one_fails(tmp_path: Path) -> None:
    """A green report that lies there from an earlier run says nothing about the run that was killed."""
    path = write(tmp_path, [record("a")])
    assert decide(load_report(path), None).passed
    with RunReport(tmp_path, ENVIRONMENT, SELECTION, 2) as run:
        run.add(0, record("a", "failed"))
    decision = decide(load_report(path), None)
    assert [f.kind for f in decision.findings] == ["incomplete"]
    assert "did not finish" in decision.findings[0].text


@pytest.mark.parametrize("records", [[], [record("a", "skipped"), record("b", "skipped")]])
def test_a_gate_that_checks_nothing_does_not_pass(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    report = load_report(write(tmp_path, records))
    with pytest.raises(UsageError, match=r"has no case|were skipped"):
        decide(report, None)


def test_another_backend_is_refused_and_a_changed_profile_is_told(tmp_path: Path) -> None:
    old = baselines.of_report(load_report(write(tmp_path / "a", [record("a")], backend="numpy")))
    new = load_report(write(tmp_path / "b", [record("a")]))
    with pytest.raises(UsageError, match="backend numpy, the report with exec"):
        decide(new, old)
    changed = load_report(write(tmp_path / "c", [record("a")], profiles={"bound": {"version": 2}}))
    decision = decide(changed, baselines.of_report(new))
    assert decision.passed
    assert "definition of profile bound has changed" in decision.notes[0]
    assert decide(new, baselines.of_report(new)).notes == []


DAMAGE = {
    "empty": (lambda text: "", "is empty"),
    "cut": (lambda text: text[: len(text) // 2], "cut off after"),
    "cut by one": (lambda text: text.rstrip()[:-1], "cut off after"),
    "text": (lambda text: "PASS\n", "not JSON"),
    "nan": (lambda text: text.replace('"seed":1', '"seed":NaN,"x":1'), "NaN is not JSON"),
    "list": (lambda text: "[]", "it has no schema"),
    "schema": (lambda text: text.replace("gnll-report/1", "gnll-report/9"), "its schema is 'gnll-report/9'"),
    "no cases": (lambda text: text.replace('"cases": [', '"kases": ['), "'cases' is missing"),
    "count": (lambda text: text.replace('"total": 2', '"total": 3'), "counts 3 cases, 2 are there"),
    "status": (lambda text: text.replace('"status":"passed"', '"status":"fine"'), "unknown status 'fine'"),
    "id": (lambda text: text.replace('"id":"a"', '"id":7'), "case 0 has no id"),
    "twice": (lambda text: text.replace('"id":"b"', '"id":"a"'), "case a is there twice"),
    "complete": (lambda text: text.replace('"complete": true', '"complete": "yes"'), "'summary.complete'"),
    "outputs": (lambda text: text.replace('"outputs":[{', '"outputs":[7,{'), "outputs that cannot be read"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_report_that_cannot_be_relied_upon_is_one_message(tmp_path: Path, damage: str) -> None:
    path = write(tmp_path, [record("a"), record("b")])
    change, message = DAMAGE[damage]
    text = path.read_text()
    assert change(text) != text
    path.write_text(change(text))
    with pytest.raises(UsageError) as error:
        decide(load_report(path), None)
    assert message in error.value.what
    assert error.value.where == str(path)
    assert error.value.hint


BASELINE_DAMAGE = {
    "missing": (None, "No such file"),
    "report": ('{"schema": "gnll-report/1"}', "not a document of schema gnll-baseline/1"),
    "cut": ('{"schema": "gnll-baseline/1", "cases": {"a"', "cut off"),
    "cases": ('{"schema": "gnll-baseline/1", "environment": {}, "cases": []}', "wrong type"),
    "status": ('{"schema": "gnll-baseline/1", "environment": {}, "cases": {"a": {"status": "ok"}}}', "no status"),
    "headroom": (
        '{"schema": "gnll-baseline/1", "environment": {}, '
        '"cases": {"a": {"status": "passed", "headroom": {"x": "1"}}}}',
        "is no number",
    ),
}


@pytest.mark.parametrize("damage", BASELINE_DAMAGE)
def test_a_baseline_that_cannot_be_read_is_one_message(tmp_path: Path, damage: str) -> None:
    text, message = BASELINE_DAMAGE[damage]
    path = tmp_path / "baseline.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError) as error:
        baselines.load(path)
    assert message in error.value.what
    assert "--update" in error.value.hint


def test_a_baseline_reads_well_in_a_diff(tmp_path: Path) -> None:
    records = [
        record("b", outputs=[output("gradVar", headroom=math.inf), output("gradInput", headroom=1.23456)]),
        record("a", "skipped"),
    ]
    baseline = baselines.of_report(load_report(write(tmp_path / "r", records)))
    baselines.save(baseline, tmp_path / "b.json")
    lines = (tmp_path / "b.json").read_text().splitlines()
    assert lines[0] == '{"schema": "gnll-baseline/1",'
    assert lines[2:] == [
        '"cases": {',
        '"a": {"status":"skipped"},',
        '"b": {"status":"passed","headroom":{"gradInput/bound":1.23,"gradVar/bound":10}}',
        "}}",
    ]
    assert json.loads((tmp_path / "b.json").read_text())["environment"]["backend"] == "exec"
    assert baselines.load(tmp_path / "b.json") == baseline


def test_an_update_refuses_what_is_not_green(tmp_path: Path) -> None:
    red = load_report(write(tmp_path / "red", [record("a", "failed"), record("b")]))
    with pytest.raises(GnllError, match="not green: 1 failed") as error:
        updated(red, None, allow_failing=False)
    assert error.value.exit_code == 1
    assert updated(red, None, allow_failing=True)[0].cases["a"].status == "failed"
    cut = load_report(write(tmp_path / "cut", [record("a")], interrupted=True))
    with pytest.raises(GnllError, match="not complete") as error:
        updated(cut, None, allow_failing=True)
    assert error.value.exit_code == 1
    with pytest.raises(UsageError, match="no case"):
        updated(load_report(write(tmp_path / "none", [])), None, allow_failing=True)


def test_an_update_from_a_restricted_run_keeps_the_other_cases(tmp_path: Path) -> None:
    old = baselines.of_report(load_report(write(tmp_path / "a", [judged("a", 2.0), judged("b", 2.0)])))
    part = load_report(write(tmp_path / "b", [judged("b", 4.0), judged("c", 3.0)], restricted=True))
    new, notes = updated(part, old, allow_failing=False)
    assert {name: dict(case.headroom) for name, case in new.cases.items()} == {
        "a": {"gradInput/bound": 2.0},
        "b": {"gradInput/bound": 4.0},
        "c": {"gradInput/bound": 3.0},
    }
    assert "1 other cases of the baseline are kept" in notes[0]
    whole = load_report(write(tmp_path / "b", [judged("b", 4.0)]))
    assert set(updated(whole, old, allow_failing=False)[0].cases) == {"b"}
    other = load_report(write(tmp_path / "b", [judged("b", 4.0)], restricted=True, backend="numpy"))
    with pytest.raises(UsageError, match="backend numpy"):
        updated(other, old, allow_failing=False)
    replaced = load_report(write(tmp_path / "b", [judged("b", 4.0)], backend="numpy"))
    assert updated(replaced, old, allow_failing=False)[1] == ["replaces a baseline of backend exec"]


def gate(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)


def test_the_command_finds_the_committed_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("reports"), [judged("a", 4.0), judged("b", 4.0)])
    assert gate("reports", "--update").output == "wrote reports/baseline.json: 2 cases\n"
    result = gate("reports")
    assert (result.return_value, result.output) == (
        0,
        "gate passed: 2 cases, 2 compared with reports/baseline.json\n",
    )
    write(Path("reports"), [judged("a", 1.5), record("b", "skipped"), record("c")])
    result = gate("reports/report.json")
    assert result.return_value == 1
    assert result.output.splitlines() == [
        "headroom: a: gradInput/bound headroom 4 -> 1.5 (2.67 times less, allowed: 2)",
        "worse: b: passed -> skipped",
        "new: 1 cases are not in the baseline yet (--update takes them in)",
        "  c",
        "gate failed with 2 findings: 3 cases, 2 compared with reports/baseline.json",
    ]
    assert gate("reports", "--headroom-factor", "3").output.startswith("worse: b")
    result = gate("reports", "--no-baseline")
    assert (result.return_value, result.output) == (0, "gate passed: 3 cases, no baseline, green alone\n")


def test_the_command_answers_in_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("reports"), [record("a"), record("b", "crashed", reason="signal 11")])
    result = gate("reports", "--format", "json")
    assert result.return_value == 1
    answer = json.loads(result.output)
    assert (answer["schema"], answer["passed"], answer["baseline"]) == ("gnll-gate/1", False, None)
    assert answer["findings"] == [
        {"kind": "not_green", "case": "b", "before": "", "after": "crashed", "text": "b: crashed: signal 11"}
    ]
    write(Path("reports"), [record("a")])
    assert json.loads(gate("reports", "--update", "--format", "json").output)["cases"] == 1


def test_a_thousand_findings_are_counted_and_control_characters_are_shown(tmp_path: Path) -> None:
    write(tmp_path, [record(f"c{i}\x1b[31m", "failed") for i in range(1000)])
    result = gate(tmp_path, "--no-baseline")
    lines = result.output.splitlines()
    assert len(lines) == 52
    assert lines[50] == "and 950 more; --format json lists them all"
    assert "\x1b" not in result.output
    assert "c0\\x1b[31m: failed" in lines[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--no-baseline", "--update"], "--no-baseline contradicts --update"),
        (["--no-baseline", "--baseline", "x"], "--no-baseline contradicts --baseline"),
        (["--allow-failing"], "--allow-failing is for --update"),
        (["--baseline", "nowhere.json"], "No such file"),
        (["--headroom-factor", "0.5"], "0.5 is no factor"),
        (["--headroom-factor", "nan"], "nan is no factor"),
        (["--headroom-factor", "inf"], "inf is no factor"),
    ],
)
def test_wrong_usage_is_one_message(tmp_path: Path, arguments: list[str], message: str) -> None:
    write(tmp_path, [record("a")])
    result = gate(tmp_path, *arguments)
    assert isinstance(result.exception, GnllError) or result.exception.__class__.__name__ == "BadParameter"
    assert message in str(result.exception)


def test_no_report_is_one_message(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "report.json"):
        result = gate(path)
        assert isinstance(result.exception, UsageError)
        assert str(tmp_path / "report.json") in str(result.exception)


def test_a_baseline_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    write(tmp_path, [record("a")])
    (tmp_path / "file").write_text("x")
    result = gate(tmp_path, "--update", "--baseline", tmp_path / "file" / "b.json")
    assert isinstance(result.exception, UsageError)
    assert "file/b.json" in str(result.exception)
