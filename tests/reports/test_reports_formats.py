"""The report files: gold files, strictness, limits, and that a broken format does not lose the others."""

from __future__ import annotations

import html
import io
import json
import math
import re
import xml.etree.ElementTree as ElementTree
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reports_samples import ENVIRONMENT, SELECTION, StoredReport, gallery, output, record

from gnll_cli.reports import RunReport, strict
from gnll_cli.reports import formats as formats_folder
from gnll_cli.reports.interface import formats
from gnll_cli.reports.status import STATUSES

GOLD = Path(__file__).parent / "gold"
FORMATS = {found.name: found for found in formats()[0]}
SCHEMA = json.loads((resources.files("gnll_cli.reports") / "report.schema.json").read_text())
WARNING = "known.yaml:7: known failure 'old/*' matches no case of this run"


def render(name: str, report: Any) -> str:
    stream = io.StringIO()
    FORMATS[name].write(report, stream)
    return stream.getvalue()


def strict_json(text: str) -> Any:
    """A parser that refuses what the standard refuses: NaN words and halves of surrogate pairs."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    text.encode("utf-8")
    return json.loads(text, parse_constant=refuse)


REPORTS = {
    "gallery": StoredReport(gallery(), warnings=(WARNING,)),
    "green": StoredReport([record("a"), record("b")]),
    "interrupted": StoredReport([record("a")], expected=5, interrupted=True),
    "empty": StoredReport([], expected=0),
}


def gold_file(label: str, name: str) -> Path:
    return GOLD / f"{label}.{FORMATS[name].filename.rsplit('.', 1)[1]}"


def renew() -> None:
    """Write the gold files (tests/reports/gold/README.md)."""
    for label, report in REPORTS.items():
        for name in FORMATS:
            gold_file(label, name).write_text(render(name, report), encoding="utf-8")


@pytest.mark.parametrize("name", ["json", "junit", "markdown"])
@pytest.mark.parametrize("label", REPORTS)
def test_a_report_equals_its_gold_file(name: str, label: str) -> None:
    assert render(name, REPORTS[label]) == gold_file(label, name).read_text(encoding="utf-8")


@pytest.mark.parametrize("records", [gallery(), [], [record("a", outputs=[])]])
def test_the_json_report_keeps_to_its_schema(records: list[dict[str, Any]]) -> None:
    document = strict_json(render("json", StoredReport(records)))
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(document, SCHEMA)


def test_the_schema_knows_the_statuses_of_the_table() -> None:
    assert SCHEMA["$defs"]["status"]["enum"] == list(STATUSES)


@pytest.mark.parametrize(
    "break_it",
    [
        lambda d: d["cases"][0].update(status="fine"),
        lambda d: d["cases"][0].pop("seed"),
        lambda d: d["cases"][0]["outputs"][0].update(headroom="much"),
        lambda d: d["summary"].update(exit_code=7),
        lambda d: d.pop("environment"),
    ],
)
def test_the_schema_refuses_a_broken_report(break_it: Any) -> None:
    document = strict_json(render("json", StoredReport(gallery())))
    break_it(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)


ODD_TEXT = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cs", "Cc", "Cn", "Cf"]),
        st.sampled_from("<>&\"'|`\\\n\r\t\x00\x1b\x85\u2028\ufffe\ud800[]*_#@"),
    ),
    max_size=20,
)
NUMBER = st.one_of(st.floats(), st.none(), st.floats(width=32).map(np.float32), st.floats().map(np.float64))
OUTPUT = st.builds(
    output,
    ODD_TEXT,
    ODD_TEXT,
    st.booleans(),
    reason=ODD_TEXT,
    max_abs=NUMBER,
    worst_actual=st.one_of(NUMBER, st.integers(-(2**70), 2**70)),
    worst_golden=NUMBER,
    limit=NUMBER,
    headroom=NUMBER,
    mismatched=st.integers(0, 9).map(np.int64),
    notes=st.lists(ODD_TEXT, max_size=2).map(tuple),
)
RECORD = st.builds(
    record,
    ODD_TEXT,
    st.sampled_from(sorted(STATUSES)),
    reason=ODD_TEXT,
    repro=ODD_TEXT,
    source=ODD_TEXT,
    axes=st.dictionaries(ODD_TEXT, ODD_TEXT, max_size=2),
    attributes=st.dictionaries(ODD_TEXT, st.one_of(NUMBER, st.booleans(), ODD_TEXT), max_size=2),
    seconds=st.dictionaries(ODD_TEXT, st.floats(0, 1e6), max_size=2),
    outputs=st.lists(OUTPUT, max_size=2),
    untrusted=st.lists(ODD_TEXT, max_size=2),
    diagnostics=st.lists(
        st.fixed_dictionaries({"kind": ODD_TEXT, "severity": st.just("failure"), "message": ODD_TEXT, "core": NUMBER}),
        max_size=2,
    ),
)


def plain(value: Any) -> Any:
    """What strict JSON says for a value, written down once more and by itself."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return {True: "nan"}.get(value != value, "inf" if value > 0 else "-inf") if not math.isfinite(value) else value
    if isinstance(value, str):
        return "".join(f"\\u{ord(c):04x}" if 0xD800 <= ord(c) < 0xE000 else c for c in value)
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


@settings(max_examples=150, deadline=None)
@given(st.lists(RECORD, min_size=1, max_size=3), st.dictionaries(ODD_TEXT, ODD_TEXT, max_size=2))
def test_whatever_a_record_holds_the_files_are_well_formed(
    records: list[dict[str, Any]], environment: dict[str, Any]
) -> None:
    report = StoredReport(records, environment)
    document = strict_json(render("json", report))
    assert document["cases"] == [plain(entry) for entry in records]
    root = ElementTree.fromstring(render("junit", report).encode("utf-8"))
    # A run of which everything was skipped has one test more, which says so.
    extra = all(entry["status"] == "skipped" for entry in records)
    assert len(root.findall(".//testcase")) == len(records) + extra
    markdown = render("markdown", report)
    assert len(markdown.encode("utf-8")) < 60_000
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", markdown)


@settings(max_examples=50, deadline=None)
@given(st.lists(RECORD, min_size=1, max_size=3, unique_by=lambda r: r["id"]))
def test_what_goes_into_a_run_comes_out_of_its_file(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("reports")
    with RunReport(folder, ENVIRONMENT, SELECTION, len(records)) as run:
        for index, entry in reversed(list(enumerate(records))):
            run.add(index, entry)
        finished = run.finish()
    assert finished.problems == []
    document = strict_json((folder / "report.json").read_text(encoding="utf-8"))
    assert document["cases"] == [plain(entry) for entry in records]


def test_junit_counts_what_it_holds() -> None:
    root = ElementTree.fromstring(render("junit", StoredReport(gallery())))
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ["cases/matrix.yaml", "cases/refusals.yaml", "cases/extreme.yaml"]
    for element in [root, *suites.values()]:
        assert element.get("tests") == str(len(element.findall(".//testcase")))
        assert element.get("failures") == str(len(element.findall(".//failure")))
        assert element.get("errors") == str(len(element.findall(".//error")))
        assert element.get("skipped") == str(len(element.findall(".//skipped")))
    # By the table of statuses: failed twice, refused and accepted wrongly, untrusted, fixed; crashed, timeout, error;
    # skipped, known.
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == ("13", "6", "3", "2")
    assert suites["cases/refusals.yaml"][1].get("classname") == "cases.refusals"
    assert float(root.get("time", "")) == pytest.approx(13 * 0.75)


def test_junit_says_that_a_run_is_not_complete() -> None:
    root = ElementTree.fromstring(render("junit", StoredReport([record("a")], expected=3, interrupted=True)))
    assert root.get("errors") == "1"
    error = root.find(".//error")
    assert error is not None
    assert error.get("message") == "interrupted after 1 of 3 cases"


def test_markdown_stays_below_the_limit_of_a_comment_and_counts_the_rest() -> None:
    hostile = "|`<b>*_#@" * 200
    failing = [
        record(f"{i}/{hostile}", "failed", reason=hostile, repro=hostile, axes={f"axis{i % 50}": f"{i}{hostile}"})
        for i in range(3000)
    ]
    text = render("markdown", StoredReport(failing, {"x" + hostile: hostile}, warnings=(hostile,) * 100))
    assert 20_000 < len(text.encode("utf-8")) < 60_000
    more = re.search(r"^and (\d+) more", text, re.MULTILINE)
    assert more is not None
    rows = sum(line.startswith("| failed | <code>") for line in text.splitlines())
    assert rows > 0
    assert int(more[1]) == 3000 - rows


def test_markdown_shows_fifty_failures_at_most() -> None:
    text = render("markdown", StoredReport([record(f"c{i}", "failed") for i in range(60)]))
    assert text.count("| failed | `c") == 50
    assert "and 10 more" in text


@pytest.mark.parametrize(
    "name", ["a|b`c\\|d <script>@team #12 **x** [l](u)", "a|b", "a`b", "a\\", "&#124; &lt;", "a``|b"]
)
def test_markdown_tables_keep_their_columns_and_markup_stays_text(name: str) -> None:
    text = render("markdown", StoredReport([record(name, "failed", reason=name, outputs=[])]))
    row = next(line for line in text.splitlines() if line.startswith(("| failed | <", "| failed | `")))
    assert row.count("|") == 4
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert html.unescape(cells[2]) == name
    assert not re.search(r"[@*`\[\]\\<>]", cells[2])
    shown = re.fullmatch(r"<code>([^<]*)</code>|`([^`]*)`", cells[1])
    assert shown is not None
    # In a code span entities are text; in an element they are characters.
    assert (html.unescape(shown[1]) if shown[1] is not None else shown[2]) == name


def test_a_broken_format_is_told_and_the_others_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extra = tmp_path / "formats"
    extra.mkdir()
    (extra / "broken_import.py").write_text("import no_such_module\n")
    (extra / "broken_write.py").write_text(
        "from gnll_cli.reports.interface import Format\n"
        "def write(report, stream):\n    stream.write('half')\n    raise RuntimeError('no more')\n"
        "FORMAT = Format('broken', 'report.broken', write)\n"
    )
    (extra / "names.py").write_text(
        "from gnll_cli.reports.interface import Format\n"
        "def write(report, stream):\n    stream.writelines(case['id'] + '\\n' for case in report.cases())\n"
        "FORMAT = Format('names', 'names.txt', write)\n"
    )
    monkeypatch.setattr(formats_folder, "__path__", [*formats_folder.__path__, str(extra)])
    folder = tmp_path / "reports"
    with RunReport(folder, ENVIRONMENT, SELECTION, 1) as run:
        run.add(0, record("a"))
        finished = run.finish()
    assert sorted(finished.paths) == ["json", "junit", "markdown", "names"]
    assert (folder / "names.txt").read_text() == "a\n"
    assert not (folder / "report.broken").exists()
    assert len(finished.problems) == 2
    assert "broken_import" in finished.problems[0]
    assert "no_such_module" in finished.problems[0]
    assert "report.broken" in finished.problems[1]
    assert "no more" in finished.problems[1]
    assert finished.exit_code == 2
    assert (folder / "journal.jsonl").exists(), "the records are kept until every report is written"


def test_strict_json_takes_what_python_takes_and_more() -> None:
    value = {"a": (np.float32("nan"), np.int64(3), np.array([1.0, math.inf]), Path("x"), {2}, b"\xff"), 1: "\udc80"}
    assert json.loads(strict.encode(value)) == {"a": ["nan", 3, [1.0, "inf"], "x", [2], "\\xff"], "1": "\\udc80"}
    assert [strict.number(x) for x in ("inf", "-inf", 3, None, True, "x", [])] == [
        math.inf,
        -math.inf,
        3.0,
        None,
        None,
        None,
        None,
    ]
    assert math.isnan(strict.number("nan") or 0.0)
    with pytest.raises(ValueError, match="NaN"):
        strict.decode("[NaN]")


def test_the_example_of_the_document_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = Path(__file__).parents[2] / "docs" / "add-a-report.md"
    example = re.search(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    (tmp_path / "names_of_the_document.py").write_text(example[1], encoding="utf-8")
    monkeypatch.setattr(formats_folder, "__path__", [*formats_folder.__path__, str(tmp_path)])
    with RunReport(tmp_path / "reports", ENVIRONMENT, SELECTION, 2) as run:
        run.add(0, record("a"))
        run.add(1, record("b", "failed"))
        assert run.finish().problems == []
    assert (tmp_path / "reports" / "names.txt").read_text() == "b\n"
