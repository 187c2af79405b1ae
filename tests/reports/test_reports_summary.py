"""Counts, the summary by axis, exit codes, and the words that every report starts with."""

from __future__ import annotations

import math
from typing import Any

import pytest
from reports_samples import StoredReport, gallery, output, record

from gnll_cli.reports import GREEN, STATUSES
from gnll_cli.reports.explain import explain
from gnll_cli.reports.texts import duration, headline, headroom, printable


def summary(*statuses: str, **state: Any) -> dict[str, Any]:
    return StoredReport([record(f"c{i}", status) for i, status in enumerate(statuses)], **state).summary


def test_the_table_of_statuses() -> None:
    """As the design has it."""
    assert set(STATUSES) == {
        "passed", "failed", "refused_wrongly", "accepted_wrongly", "crashed", "timeout", "error", "untrusted",
        "skipped", "known", "fixed", "advice",
    }  # fmt: skip
    assert {"passed", "skipped", "known", "advice"} == GREEN


EXIT_CODES = [
    (["passed"], {}, 0, "green: 1 cases"),
    (["passed", "skipped", "known", "advice"], {}, 0, "green: 4 cases"),
    ([], {}, 2, "red: no case was run"),
    (["skipped", "skipped"], {}, 3, "red: all 2 cases were skipped"),
    (["passed"], {"interrupted": True, "expected": 9}, 130, "interrupted after 1 of 9 cases"),
    (["failed"], {"interrupted": True, "expected": None}, 130, "interrupted after 1 cases"),
    (["passed"], {"expected": 2}, 1, "red: ended after 1 of 2 cases"),
    (["passed"], {"expected": None}, 0, "green: 1 cases"),
    (
        ["failed"],
        {"stopped": "--maxfail 1", "expected": 3},
        1,
        "red: 1 of 1 cases not green, stopped early (--maxfail 1)",
    ),
    (["skipped", "failed"], {}, 1, "red: 1 of 2 cases not green"),
]


@pytest.mark.parametrize(("statuses", "state", "code", "words"), EXIT_CODES)
def test_exit_codes(statuses: list[str], state: dict[str, Any], code: int, words: str) -> None:
    found = summary(*statuses, **state)
    assert found["exit_code"] == code
    assert found["green"] is (code == 0)
    assert headline(found) == words


@pytest.mark.parametrize("status", sorted(set(STATUSES) - GREEN))
def test_one_case_that_is_not_green_makes_the_run_red(status: str) -> None:
    assert summary("passed", status)["exit_code"] == 1


def test_the_summary_by_axis_counts_cases_and_keeps_the_least_headroom() -> None:
    report = StoredReport(
        [
            record("a", axes={"dtype": "fp32", "var": "same"}, outputs=[output(headroom=3.0), output(headroom=2.0)]),
            record("b", "failed", axes={"dtype": "fp16", "var": "same"}, outputs=[output(passed=False, headroom=0.5)]),
            record(
                "c", axes={"dtype": "fp32"}, outputs=[output(headroom=math.inf), output(profile="ut", headroom=1.5)]
            ),
            record("d", "skipped", axes={"dtype": "fp32"}),
            record("e", "known", axes={"dtype": "bf16"}, outputs=[output(passed=False, headroom=math.nan)]),
        ]
    )

    def group(cases: int, passed: int, not_green: int, other: int, least: float | None) -> dict[str, Any]:
        return {"cases": cases, "passed": passed, "not_green": not_green, "other": other, "headroom": least}

    assert report.summary["axes"] == {
        "dtype": {"fp32": group(3, 2, 0, 1, 1.5), "fp16": group(1, 0, 1, 0, 0.5), "bf16": group(1, 0, 0, 1, 0.0)},
        "var": {"same": group(2, 1, 1, 0, 0.5)},
        "profile": {"bound": group(4, 2, 1, 1, 0.0), "ut": group(1, 1, 0, 0, 1.5)},
    }
    assert list(report.summary["axes"]) == ["dtype", "var", "profile"]


def test_an_explanation_says_everything_that_is_known() -> None:
    text = "\n".join(explain(gallery()[1]))
    for part in (
        "cases/matrix.yaml:12:3", "fp16, mean, input [2, 3], var [1]", "gradInput under bound", "2 of 6 elements",
        "33.3 %", "worst at [1, 2]", "actual 1.25", "golden 1.5", "error 0.25", "limit 0.125", "first wrong at [0, 1]",
        "only elements of core 3 of 48", "core 3, tile 0, lane 5", "would pass: ut",
    ):  # fmt: skip
        assert part in text
    assert "gradVar" not in text, "what passed is not explained"


def test_an_explanation_is_bounded() -> None:
    many = record(
        "a",
        "failed",
        outputs=[output(f"o{i}", passed=False) for i in range(30)],
        diagnostics=[{"kind": "k", "severity": "failure", "message": f"m{i}\nsecond line"} for i in range(30)],
    )
    lines = explain(many)
    assert "and 22 more output verdicts" in lines
    assert "and 22 more diagnostics" in lines
    assert len(lines) < 100


def test_a_scalar_has_an_index_too() -> None:
    scalar = output(passed=False, worst_index=(), first_bad_index=(), worst_actual=3, worst_golden=math.inf)
    text = "\n".join(explain(record("a", "failed", outputs=[scalar])))
    assert "worst at []: actual 3, golden inf, limit" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain äöü 数", "plain äöü 数"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc\rd\x07", "a\\nb\\tc\\rd\\x07"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\ud800", "\\ud800"),
        ("\x9b2J", "\\x9b2J"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_figures_for_people() -> None:
    assert [duration(s) for s in (0, 0.414, 12.34, 185, 7384)] == [
        "0.00 s",
        "0.41 s",
        "12.3 s",
        "3 min 05 s",
        "123 min 04 s",
    ][:4] + ["2 h 03 min"]
    assert [headroom(h) for h in (None, 0.0, 1.23456, 999.4, 1000.0, math.inf)] == [
        "-",
        "0",
        "1.23",
        "999",
        ">=1000",
        ">=1000",
    ]
