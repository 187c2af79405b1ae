"""The journal and --resume: nothing is lost by a kill at any byte, and the report is that of an uninterrupted run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from reports_samples import ENVIRONMENT, SELECTION, record

from gnll_cli.errors import UsageError
from gnll_cli.reports import RunReport, comparable
from gnll_cli.reports.known import KnownList, load

FINGERPRINT = {"version": "0.1.0", "backend": "exec", "exec_sha256": "ab" * 32, "seed": 0, "profiles": None}


def small(i: int, status: str = "passed", **changes: Any) -> dict[str, Any]:
    base = {"id": f"c{i}", "status": status, "fingerprint": f"f{i}", "seconds": {"execute": i / 7}, "reason": "Grüße"}
    return {**base, "outputs": [], "axes": {"dtype": "fp16"}, **changes}


RECORDS = [small(0), small(1, "crashed"), small(2, max_abs=float("inf")), small(3, "skipped"), small(4, "timeout")]


def open_run(folder: Path, records: list[dict[str, Any]] = RECORDS, **options: Any) -> RunReport:
    return RunReport(folder, ENVIRONMENT, SELECTION, len(records), fingerprint=FINGERPRINT, **options)


def go_on(folder: Path, records: list[dict[str, Any]] = RECORDS, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """Resume as ``gnll run`` does; the report and the ids that had to run again."""
    ran = []
    with open_run(folder, records, resume=True, **options) as run:
        for index, entry in enumerate(records):
            if run.is_done(entry["id"], entry["fingerprint"]):
                run.reuse(index, entry["id"])
            else:
                # Times differ from run to run, and nothing else does.
                run.add(index, {**entry, "seconds": {"execute": 99.0}})
                ran.append(entry["id"])
        assert run.finish().problems == []
    return json.loads((folder / "report.json").read_text(encoding="utf-8")), ran


def uninterrupted(folder: Path, records: list[dict[str, Any]] = RECORDS, **options: Any) -> dict[str, Any]:
    with open_run(folder, records, **options) as run:
        for index, entry in enumerate(records):
            run.add(index, entry)
        run.finish()
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report


def journal_of(folder: Path, count: int = len(RECORDS)) -> bytes:
    """The journal of a run that ended without a report after ``count`` cases, which ended in another order."""
    with open_run(folder) as run:
        for index in [1, 0, 2, 4, 3][:count]:
            run.add(index, RECORDS[index])
    return (folder / "journal.jsonl").read_bytes()


def test_resumed_after_a_kill_at_any_byte_the_report_is_the_same(tmp_path: Path) -> None:
    expected = comparable(uninterrupted(tmp_path / "whole"))
    journal = journal_of(tmp_path / "cut")
    lines = journal.count(b"\n")
    assert lines == 1 + len(RECORDS)
    ends = [i + 1 for i, byte in enumerate(journal) if byte == 10]
    cuts = sorted({c for end in ends for c in (end - 2, end - 1, end, end + 1)} | set(range(0, len(journal), 23)))
    reused = set()
    for cut in (c for c in cuts if c <= len(journal)):
        (tmp_path / "cut" / "journal.jsonl").write_bytes(journal[:cut])
        report, ran = go_on(tmp_path / "cut")
        assert comparable(report) == expected, f"cut at byte {cut}"
        complete = max(0, journal[:cut].count(b"\n") - 1)
        assert len(RECORDS) - len(ran) == complete == report["summary"]["resumed"]
        assert not (tmp_path / "cut" / "journal.jsonl").exists()
        reused.add(complete)
    assert reused == set(range(len(RECORDS) + 1))


def test_a_run_can_be_cut_and_resumed_again_and_again(tmp_path: Path) -> None:
    expected = comparable(uninterrupted(tmp_path / "whole"))
    folder = tmp_path / "cut"
    journal_of(folder, 1)
    for entry in (RECORDS[0], RECORDS[4]):
        with open(folder / "journal.jsonl", "ab") as stream:
            stream.write(b'{"id":"c2","sta')
        with open_run(folder, resume=True) as run:
            run.add(RECORDS.index(entry), entry)
    report, ran = go_on(folder)
    assert ran == ["c2", "c3"]
    assert comparable(report) == expected


def test_a_killed_process_leaves_every_finished_case(tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    program = f"""
    import os, signal, sys
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    from pathlib import Path
    from test_reports_resume import RECORDS, open_run
    run = open_run(Path({str(folder)!r}))
    for index in range(3):
        run.add(index, RECORDS[index])
    os.kill(os.getpid(), signal.SIGKILL)
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    report, ran = go_on(folder)
    assert ran == ["c3", "c4"]
    assert report["summary"]["resumed"] == 3


def test_an_interrupted_run_writes_its_report_and_can_be_resumed(tmp_path: Path) -> None:
    with open_run(tmp_path) as run:
        run.add(3, RECORDS[3])
        run.add(0, RECORDS[0])
        finished = run.finish(interrupted=True)
    assert finished.exit_code == 130
    report = json.loads((tmp_path / "report.json").read_text())
    assert [case["id"] for case in report["cases"]] == ["c0", "c3"]
    assert (report["summary"]["interrupted"], report["summary"]["complete"]) == (True, False)
    assert (report["summary"]["total"], report["summary"]["expected"]) == (2, 5)
    report, ran = go_on(tmp_path)
    assert ran == ["c1", "c2", "c4"]
    assert comparable(report) == comparable(uninterrupted(tmp_path / "whole"))


def test_a_run_stopped_early_is_red_and_can_be_resumed(tmp_path: Path) -> None:
    with open_run(tmp_path) as run:
        run.add(0, RECORDS[0])
        finished = run.finish(stopped="--maxfail 1")
    assert finished.exit_code == 1
    assert finished.summary["stopped"] == "--maxfail 1"
    assert go_on(tmp_path)[1] == ["c1", "c2", "c3", "c4"]


def test_cases_that_got_lost_do_not_make_a_green_run(tmp_path: Path) -> None:
    with open_run(tmp_path) as run:
        run.add(0, RECORDS[0])
        finished = run.finish()
    assert finished.exit_code == 1
    assert finished.summary["complete"] is False


def test_a_case_that_has_changed_runs_again(tmp_path: Path) -> None:
    journal_of(tmp_path)
    changed = [*RECORDS[:2], small(2, fingerprint="other"), *RECORDS[3:]]
    report, ran = go_on(tmp_path, changed)
    assert ran == ["c2"]
    assert report["cases"][2]["fingerprint"] == "other"


def test_a_case_that_is_no_longer_selected_is_not_in_the_report(tmp_path: Path) -> None:
    journal_of(tmp_path)
    report, ran = go_on(tmp_path, RECORDS[3:])
    assert ran == []
    assert [case["id"] for case in report["cases"]] == ["c3", "c4"]


def test_a_damaged_line_costs_only_its_case(tmp_path: Path) -> None:
    lines = journal_of(tmp_path).splitlines(keepends=True)
    lines[2] = b"\xff\x00garbage\n"  # c0
    lines[3] = b'{"id": 5, "status": "passed"}\n'  # c2
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines))
    assert go_on(tmp_path)[1] == ["c0", "c2"]


def test_nothing_to_resume_starts_from_the_beginning(tmp_path: Path) -> None:
    report, ran = go_on(tmp_path)
    assert len(ran) == len(RECORDS)
    assert report["summary"]["resumed"] == 0
    assert len(go_on(tmp_path)[1]) == len(RECORDS), "a complete run leaves nothing to resume"


def test_without_resume_the_old_journal_is_not_used(tmp_path: Path) -> None:
    journal_of(tmp_path)
    with open_run(tmp_path) as run:
        assert run.resumable == 0
        assert not run.is_done("c0", "f0")


def test_another_run_is_not_resumed_and_the_message_says_what_differs(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    other = {**FINGERPRINT, "seed": 7, "package": "p"}
    with pytest.raises(UsageError) as error:
        RunReport(tmp_path, ENVIRONMENT, SELECTION, 5, fingerprint=other, resume=True)
    assert 'package was not given and is "p"; seed was 0 and is 7' in error.value.what
    assert "journal.jsonl" in error.value.where
    assert "without --resume" in error.value.hint
    assert (tmp_path / "journal.jsonl").read_bytes() == journal
    assert go_on(tmp_path)[1] == [], "a refused resume leaves the folder free and the journal whole"


@pytest.mark.parametrize("text", [b"{}\n", b"[]\n", b"no journal\n", b'{"schema": "gnll-journal/0"}\n{"id": "c0"}\n'])
def test_a_file_that_is_no_journal_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "journal.jsonl").write_bytes(text)
    with pytest.raises(UsageError, match="not the journal"):
        open_run(tmp_path, resume=True)
    assert (tmp_path / "journal.jsonl").read_bytes() == text


def test_the_list_of_known_failures_may_be_mended_between_the_two_halves(tmp_path: Path) -> None:
    """The journal keeps what the cases gave; the list is applied when the report is made."""
    file = tmp_path / "known.yaml"
    file.write_text("- {case: c1, kind: crashed, reason: old}\n- {case: c9, kind: failed, reason: gone}\n")
    with open_run(tmp_path / "r", known=load(file)) as run:
        assert run.add(1, RECORDS[1])["status"] == "known"
        assert run.add(0, RECORDS[0])["status"] == "passed"
    file.write_text("- {case: c4, kind: timeout, reason: new}\n")
    report, ran = go_on(tmp_path / "r", known=load(file))
    assert [case["status"] for case in report["cases"]] == ["passed", "crashed", "passed", "skipped", "known"]
    assert report["cases"][4]["known"]["reason"] == "new"
    assert ran == ["c2", "c3", "c4"]
    assert report["summary"]["counts"]["known"] == 1


def test_known_entries_that_match_nothing_are_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "known.yaml"
    file.write_text("- {case: c1, kind: crashed, reason: r}\n- {case: 'x/*', kind: failed, reason: gone}\n")
    report = uninterrupted(tmp_path / "r", known=load(file))
    assert report["summary"]["warnings"] == [f"{file}:2: known failure 'x/*' matches no case of this run"]
    assert uninterrupted(tmp_path / "s", known=KnownList([]))["summary"]["warnings"] == []


def test_records_come_out_in_the_order_of_the_suite(tmp_path: Path) -> None:
    records = [record(f"c{i:02}") for i in range(30)]
    order = [(7 * i) % 30 for i in range(30)]
    with RunReport(tmp_path, ENVIRONMENT, SELECTION, 30) as run:
        for index in order:
            run.add(index, records[index])
        run.finish()
    report = json.loads((tmp_path / "report.json").read_text())
    assert [case["id"] for case in report["cases"]] == [f"c{i:02}" for i in range(30)]
    xml = (tmp_path / "junit.xml").read_text()
    assert [xml.index(f'"c{i:02}"') for i in range(30)] == sorted(xml.index(f'"c{i:02}"') for i in range(30))


def test_wrong_calls_are_refused(tmp_path: Path) -> None:
    with open_run(tmp_path) as run:
        run.add(0, RECORDS[0])
        with pytest.raises(ValueError, match="index 0 is taken by c0"):
            run.add(0, RECORDS[1])
        with pytest.raises(ValueError, match="no such status: 'fine'"):
            run.add(1, small(1, "fine"))


def test_comparable_keeps_everything_but_times() -> None:
    report = {
        "summary": {"total": 1, "seconds": 3, "started": "x", "resumed": 1},
        "cases": [{"id": "a", "seconds": {"x": 1}, "status": "passed"}],
        "environment": {"seconds": 1},
        "selection": {"resume": True, "seconds": 2},
    }
    assert comparable(report) == {
        "summary": {"total": 1},
        "cases": [{"id": "a", "status": "passed"}],
        "environment": {"seconds": 1},
        "selection": {"seconds": 2},
    }
    assert report["summary"]["seconds"] == 3


def test_journal_write_errors_are_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_run(tmp_path) as run:

        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(UsageError, match="No space left on device"):
            run.add(0, RECORDS[0])
        monkeypatch.undo()
