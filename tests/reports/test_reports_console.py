"""What a person sees: on terminals of 80 and 200 columns, in a pipe, quiet, verbose, with hostile texts and thousands
of failures."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from reports_samples import ENVIRONMENT, SELECTION, StoredReport, gallery, output, record

from gnll_cli.reports import Console, Finished

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Stream(io.StringIO):
    """A text stream that says what it is and which encoding it has."""

    def __init__(self, terminal: bool = False, encoding: str = "utf-8") -> None:
        super().__init__()
        self._terminal = terminal
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        text.encode(self._encoding)
        return super().write(text)


def show(
    records: list[dict[str, Any]],
    stream: Stream,
    *,
    total: int | None = -1,
    header: str = "gnll 0.1.0, exec",
    **options: Any,
) -> str:
    report = StoredReport(records, warnings=("known.yaml:7: matches nothing",))
    with Console(stream=stream, **options) as console:
        console.start(len(records) if total == -1 else total, header)
        for entry in records:
            console.case(entry)
        finished = Finished(report.summary, ENVIRONMENT, SELECTION, {"json": Path("reports/report.json")}, ["no space"])
        console.finish(finished)
    return stream.getvalue()


def on_terminal(monkeypatch: pytest.MonkeyPatch, columns: int, records: list[dict[str, Any]], **options: Any) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("LINES", "40")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return show(records, Stream(terminal=True), **options)


def lines_of(text: str) -> list[str]:
    return [line for line in re.split(r"[\r\n]+", CONTROL.sub("", text)) if "━" not in line]


def test_a_pipe_gets_plain_lines() -> None:
    text = show(gallery(), Stream())
    assert "\x1b" not in text
    assert not re.search(r"[^\x20-\x7e\n]", text)
    lines = text.splitlines()
    assert lines[0] == "gnll 0.1.0, exec"
    for entry in gallery():
        told = f"{entry['status'].upper()} {entry['id']}" in lines
        assert told is (entry["status"] not in ("passed", "skipped", "known", "advice"))
    reproduce = [line for line in lines if line.startswith("  reproduce: ")]
    assert len(reproduce) == 9
    assert reproduce[0] == (
        "  reproduce: gnll run cases/matrix.yaml -k =matrix/fp16-failed --backend exec --exec ./operator"
    )
    assert lines[-5:] == [
        "warning: known.yaml:7: matches nothing",
        "error: no space",
        "1 passed, 2 failed, 1 refused_wrongly, 1 accepted_wrongly, 1 crashed, 1 timeout, 1 error, 1 untrusted, "
        "1 skipped, 1 known, 1 fixed, 1 advice in 1.50 s",
        "reports: reports/report.json",
        "red: 9 of 13 cases not green",
    ]


def test_the_summary_by_axis_is_a_table() -> None:
    lines = show(gallery(), Stream()).splitlines()
    start = next(i for i, line in enumerate(lines) if "least headroom" in line)
    assert lines[start : start + 9] == [
        "              cases  passed  not green  other  least headroom",
        "dtype",
        "  fp16           13       1          9      3               0",
        "reduction",
        "  mean           13       1          9      3               0",
        "var",
        "  scalar         13       1          9      3               0",
        "profile",
        "  bound           8       4          2      2               0",
    ]


@pytest.mark.parametrize("columns", [80, 200])
def test_a_terminal_gets_lines_that_fit_and_the_ids_whole(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    long_id = "matrix/" + "x" * 150
    records = [*gallery(), record(long_id, "failed", reason="a long reason of many words " * 20, outputs=[])]
    text = on_terminal(monkeypatch, columns, records)
    lines = lines_of(text)
    whole = [line for line in lines if line.startswith(("  reproduce: ", "FAILED ", "UNTRUSTED ", "reports: "))]
    assert f"FAILED {long_id}" in whole
    assert any(line.endswith(f"-k ={long_id} --backend exec --exec ./operator") for line in whole)
    others = [line for line in lines if line not in whole]
    assert max(len(line) for line in others) <= columns
    # The width is used: the long reason fills its lines.
    assert any(columns - 12 <= len(line.rstrip()) <= columns for line in others if "many words" in line)
    assert "\x1b[1;31mFAILED" in text


def test_progress_is_drawn_within_the_width_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnll_cli.reports.console.LIVE_EVERY", 0.0)
    text = on_terminal(monkeypatch, 80, [record("matrix/" + "long-" * 40 + str(i)) for i in range(5)])
    bars = [line for line in re.split(r"[\r\n]+", CONTROL.sub("", text)) if "━" in line]
    assert bars
    assert all(len(line) <= 80 for line in bars)
    assert "5/5 cases, 0 not green" in text
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l"), "the cursor is shown again"


def test_without_a_total_progress_has_no_end_to_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnll_cli.reports.console.LIVE_EVERY", 0.0)
    text = on_terminal(monkeypatch, 80, [record("a"), record("b")], total=None)
    assert "2 cases, 0 not green" in text
    assert "ETA" not in text


def test_the_cursor_comes_back_after_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Stream(terminal=True)

    def run() -> None:
        with Console(stream=stream) as console:
            console.start(5, "")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    text = stream.getvalue()
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    text = show(gallery(), Stream(terminal=True))
    colours = [code for code in re.findall(r"\x1b\[([0-9;]*)m", text) if re.search(r"(^|;)([349][0-7])(;|$)", code)]
    assert colours == []
    assert "FAILED matrix/fp16-failed" in text


def test_a_dumb_terminal_is_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in show(gallery(), Stream(terminal=True))


HOSTILE = "[red]x[/red] [/] :smile: \x1b[2J\x07 [link=a]b"


@pytest.mark.parametrize("terminal", [False, True])
def test_markup_and_control_characters_are_shown_as_they_are(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    shown = "[red]x[/red] [/] :smile: \\x1b[2J\\x07 [link=a]b"
    entry = record(
        HOSTILE,
        "failed",
        reason="",
        outputs=[],
        untrusted=[HOSTILE],
        repro=HOSTILE,
        axes={"dtype": HOSTILE},
        diagnostics=[{"kind": HOSTILE, "severity": "failure", "message": HOSTILE, "source": HOSTILE}],
    )
    if terminal:
        text = on_terminal(monkeypatch, 300, [entry], header=HOSTILE, verbose=True)
    else:
        text = show([entry], Stream(), header=HOSTILE, verbose=True)
    plain = CONTROL.sub("", text)
    assert "\x07" not in text
    assert "\x1b[2J" not in text
    assert plain.count(shown) >= 8
    assert f"FAILED {shown}" in plain
    assert f"reproduce: {shown}" in plain


@pytest.mark.parametrize("terminal", [False, True])
def test_an_encoding_that_cannot_say_everything_gets_escapes(terminal: bool) -> None:
    stream = Stream(terminal=terminal, encoding="ascii")
    text = show([record("größe-数", "failed", reason="\ud800", outputs=[])], stream, header="é")
    assert "gr\\xf6\\xdfe-\\u6570" in text


def test_quiet_is_the_result_only() -> None:
    text = show(gallery(), Stream(), quiet=True)
    assert len(text.splitlines()) == 5
    assert text.splitlines()[-1] == "red: 9 of 13 cases not green"


def test_verbose_is_a_line_for_every_case() -> None:
    lines = show(gallery(), Stream(), verbose=True).splitlines()
    assert "passed   matrix/fp16-passed  headroom 2.5  0.75 s" in lines
    assert "skipped  matrix/fp16-skipped  0.75 s  (this backend does not exercise refusals)" in lines
    assert "crashed  matrix/fp16-crash  0.75 s" in lines


def test_thousands_of_failures_are_counted() -> None:
    lines = show([record(f"c{i}", "failed") for i in range(3000)], Stream()).splitlines()
    assert sum(line.startswith("FAILED ") for line in lines) == 20
    assert "FAILED c19" in lines
    assert lines.count("more cases are not green: they are counted here, and explained in the report") == 1
    assert "the first 20 of 3000 cases that are not green are explained above" in lines
    assert len(lines) < 400


def test_an_axis_of_many_values_shows_those_that_need_attention() -> None:
    records = [record(f"c{i}", axes={"shape": f"v{i}"}) for i in range(50)]
    records[45] = record("c45", "failed", axes={"shape": "v45"})
    lines = show(records, Stream()).splitlines()
    shown = [line.split()[0] for line in lines if line.startswith("  v")]
    assert len(shown) == 20
    assert "v45" in shown
    assert "  and 30 more values" in lines


def test_a_long_value_of_an_axis_goes_on_in_the_next_line(monkeypatch: pytest.MonkeyPatch) -> None:
    value = "cases/" + "deep/" * 20 + "file.yaml"
    lines = lines_of(on_terminal(monkeypatch, 80, [record("a", axes={"file": value})]))
    start = lines.index(next(line for line in lines if line.startswith("  cases/deep")))
    part = lines[start][2:].split("  ")[0]
    while part != value and start < len(lines) - 1:
        start += 1
        part += lines[start].strip()
        assert value.startswith(part)
    assert part == value


def test_a_pipe_gets_a_sign_of_life_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnll_cli.reports.console.PLAIN_EVERY", 0.0)
    lines = show([record("a"), record("b", "skipped")], Stream()).splitlines()
    assert lines[1:3] == ["1/2 cases, 0 not green", "2/2 cases, 0 not green"]


def test_a_reader_that_goes_away_ends_the_output_and_not_the_run(tmp_path: Path) -> None:
    program = f"""
    import sys
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    from pathlib import Path
    from gnll_cli.reports import Console, RunReport
    from reports_samples import record
    sys.stdin.readline()
    with RunReport(Path({str(tmp_path)!r}), {{}}, {{}}, 100) as run, Console(verbose=True) as console:
        console.start(100, "header")
        for i in range(100):
            console.case(run.add(i, record(f"c{{i}}")))
        console.finish(run.finish())
    """
    read, write = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdin=subprocess.PIPE, stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    os.close(read)
    _, stderr = process.communicate(b"\n", timeout=60)
    assert (process.returncode, stderr) == (0, b"")
    assert (tmp_path / "report.json").exists()
    assert not (tmp_path / "journal.jsonl").exists()


def test_a_failing_output_is_told_on_a_terminal_as_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = record("a", "failed", outputs=[output(passed=False)])
    terminal = [line.rstrip() for line in lines_of(on_terminal(monkeypatch, 300, [entry]))]
    pipe = show([entry], Stream()).splitlines()
    assert [line for line in terminal if line] == [line for line in pipe if line]
