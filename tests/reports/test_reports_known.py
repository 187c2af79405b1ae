"""The list of known failures: what it makes of a record, and every way to write it wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest
from reports_samples import record

from gnll_cli.errors import CaseFileError, GnllError, UsageError
from gnll_cli.reports import GREEN, STATUSES, apply_known
from gnll_cli.reports.known import KnownList, load


def listed(tmp_path: Path, text: str) -> KnownList:
    path = tmp_path / "known.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path)


# Status of the case, kind in the list, status in the report.
TABLE = [
    ("failed", "failed", "known"),
    ("crashed", "crashed", "known"),
    ("timeout", "timeout", "known"),
    ("error", "error", "known"),
    ("untrusted", "untrusted", "known"),
    ("refused_wrongly", "refused_wrongly", "known"),
    ("accepted_wrongly", "accepted_wrongly", "known"),
    ("passed", "failed", "fixed"),
    ("crashed", "failed", "crashed"),
    ("skipped", "failed", "skipped"),
    ("advice", "failed", "advice"),
]


@pytest.mark.parametrize(("status", "kind", "becomes"), TABLE)
def test_what_the_list_makes_of_a_status(tmp_path: Path, status: str, kind: str, becomes: str) -> None:
    known = listed(tmp_path, f"\n- case: matrix/*\n  kind: {kind}\n  reason: because\n")
    before = record("matrix/a", status)
    after = apply_known(before, known)
    assert after["status"] == becomes
    assert before["status"] == status, "the record given is not changed"
    assert known.unmatched() == []
    if becomes in ("skipped", "advice"):
        assert after is before
    else:
        assert after["known"] == {"kind": kind, "reason": "because", "where": f"{tmp_path / 'known.yaml'}:2"}
    if becomes == "fixed":
        assert after["status"] not in GREEN
        assert f"{tmp_path / 'known.yaml'}:2 lists it as failed (because): remove it" in after["reason"]


def test_a_case_that_is_not_listed_is_the_same_record(tmp_path: Path) -> None:
    known = listed(tmp_path, "- {case: 'other/*', kind: failed, reason: r}\n")
    before = record("matrix/a", "failed")
    assert apply_known(before, known) is before
    assert known.unmatched() == [f"{tmp_path / 'known.yaml'}:1: known failure 'other/*' matches no case of this run"]


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("a/b", "a/b", True),
        ("a/b", "a/bc", False),
        ("a/*", "a/b/c", True),
        ("a/?", "a/bc", False),
        ("a/[bc]", "a/c", True),
        ("a/[bc]", "a/[bc]", True),
        ("A/b", "a/b", False),
        ("*fp16*", "x/fp16-mean", True),
        ("a.b", "axb", False),
    ],
)
def test_patterns(tmp_path: Path, pattern: str, name: str, matches: bool) -> None:
    known = listed(tmp_path, f"- {{case: '{pattern}', kind: failed, reason: r}}\n")
    assert apply_known(record(name, "failed"), known)["status"] == ("known" if matches else "failed")


def test_the_entry_of_the_same_kind_counts(tmp_path: Path) -> None:
    known = listed(
        tmp_path,
        "- {case: '*', kind: crashed, reason: one}\n"
        "- {case: '*', kind: failed, reason: two}\n"
        "- {case: '*', kind: failed, reason: three}\n",
    )
    assert apply_known(record("a", "failed"), known)["known"]["reason"] == "two"
    assert known.unmatched() == []


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "[]\n"])
def test_an_empty_list_is_a_list(tmp_path: Path, text: str) -> None:
    assert listed(tmp_path, text).entries == []


def test_a_byte_order_mark_and_windows_line_ends_are_accepted(tmp_path: Path) -> None:
    known = listed(tmp_path, "\ufeff- case: a\r\n  kind: failed\r\n  reason: r\r\n")
    assert [(e.pattern, e.kind, e.reason) for e in known.entries] == [("a", "failed", "r")]


# Text, line:column of the message, a part of it.
WRONG = [
    ("- {cse: a, kind: failed, reason: r}", "1:4", "unknown key 'cse'\n  did you mean 'case'?"),
    ("- {case: a, kind: fail, reason: r}", "1:19", "'fail' is no status that a failing case can have\n  did you mean"),
    ("- {case: a, kind: passed, reason: r}", "1:19", "'passed' is no status"),
    ("- {case: a, kind: fixed, reason: r}", "1:19", "'fixed' is no status"),
    ("- {case: a, kind: failed}", "1:3", "the key 'reason' is missing"),
    ("- {case: a, case: b, kind: failed, reason: r}", "1:13", "the key 'case' is there twice"),
    ("\n\n- case: 7\n  kind: failed\n  reason: r", "3:9", "'case' must be text\n  write '7' in quotes"),
    ("- {case: a, kind: failed, reason: no}", "1:35", "'reason' must be text\n  write 'no' in quotes"),
    ("- {case: a, kind: failed, reason: }", "1:34", "'reason' is empty"),
    ("- {case: a, kind: failed, reason: ''}", "1:35", "'reason' is empty"),
    ("- {case: [a], kind: failed, reason: r}", "1:10", "'case' must be text"),
    ("- a", "1:3", "an entry with keys is expected"),
    ("case: a", "1:1", "a list is expected"),
    ("a", "1:1", "a list is expected"),
    ("- {case: a", "1:11", "not YAML"),
    ("- case: a\n\tkind: failed", "2:1", "not YAML"),
    ("- *nobody", "1:3", "not YAML"),
]


@pytest.mark.parametrize(("text", "place", "message"), WRONG)
def test_a_wrong_list_is_told_with_its_place(tmp_path: Path, text: str, place: str, message: str) -> None:
    with pytest.raises(GnllError) as error:
        listed(tmp_path, text)
    assert f"{tmp_path / 'known.yaml'}:{place}: {message}" in str(error.value)
    assert error.value.exit_code == 2


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(CaseFileError) as error:
        listed(tmp_path, "- {case: a, kind: nope}\n- {kind: failed, reason: r}\n- {case: a, kind: failed, reason: r}\n")
    assert len(error.value.problems) == 3


def test_files_that_are_no_list_are_one_message(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        load(tmp_path / "nowhere.yaml")
    with pytest.raises(UsageError, match="Is a directory"):
        load(tmp_path)
    path = tmp_path / "known.yaml"
    path.write_bytes(b"- {case: a,\n kind: \xff\xfe}")
    with pytest.raises(UsageError, match="not UTF-8") as error:
        load(path)
    assert error.value.where == f"{path}:2"
    path.write_bytes(b"- " + b"a" * (1 << 20))
    with pytest.raises(UsageError, match="larger than 1 MiB"):
        load(path)
    path.write_bytes(b"[" * 50_000)
    with pytest.raises(UsageError, match="not YAML"):
        load(path)
    path.write_bytes(b"- {case: a\x00b}")
    with pytest.raises(UsageError, match="not YAML"):
        load(path)


def test_every_failing_status_can_be_listed() -> None:
    from gnll_cli.reports.known import KNOWN_KINDS

    assert set(KNOWN_KINDS) == set(STATUSES) - GREEN - {"fixed"}
