"""Text and YAML of case files: encodings, syntax, duplicate keys, tags, aliases, limits; each with its place."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gnll_cli.cases import reader
from gnll_cli.errors import CaseFileError


def _read(tmp_path: Path, raw: bytes | str) -> reader.Map:
    path = tmp_path / "x.yaml"
    path.write_bytes(raw.encode() if isinstance(raw, str) else raw)
    return reader.read(path, "x.yaml")


def _problems(tmp_path: Path, raw: bytes | str) -> list[str]:
    with pytest.raises(CaseFileError) as caught:
        _read(tmp_path, raw)
    return [f"{p.where}: {p.what} | {p.hint}" for p in caught.value.problems]


def test_values_and_their_places(tmp_path: Path) -> None:
    root = _read(tmp_path, "a: 1e-6\nb:\n  - [x, 'y']\n  - {c: \"010\"}\n")
    assert root == {"a": 1e-6, "b": [["x", "y"], {"c": "010"}]}
    assert root.keys_at == {"a": (1, 1), "b": (2, 1)}
    assert root.values_at == {"a": (1, 4), "b": (3, 3)}
    assert root["b"].items_at == [(3, 5), (4, 5)]
    assert root["b"][0].items_at == [(3, 6), (3, 9)]
    assert root["b"][1].values_at == {"c": (4, 9)}


@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_byte_order_mark_and_crlf(tmp_path: Path, prefix: bytes, newline: bytes) -> None:
    root = _read(tmp_path, prefix + newline.join([b"a: text", b"b: [1,", b"  2]", b""]))
    assert root == {"a": "text", "b": [1, 2]}
    assert root["b"].items_at[1] == (3, 3)
    assert root.keys_at["a"] == (1, 1)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", "x.yaml:1:1: the file is empty"),
        (b"# only a comment\n", "x.yaml:1:1: the file is empty"),
        (b"- a\n", "x.yaml:1:1: a case file is a mapping, not a list"),
        (b"\n  word\n", "x.yaml:2:3: a case file is a mapping, not a single value"),
        (b"a: 1\n---\nb: 2\n", "x.yaml:2:1: a second document"),
        (b"a: 1\nb: \x00\n", "x.yaml:2:4: a NUL byte"),
        (b"\x7fELF\x02\x01\x01\x00", "x.yaml:1:8: a NUL byte"),
        (b"a: 1\nb: \xc3\xa9\xff\n", "x.yaml:2:5: byte 0xFF is not UTF-8"),
        (b"a: \xed\xa0\x80\n", "x.yaml:1:4: byte 0xED is not UTF-8"),
        ("a: 1".encode("utf-16"), "x.yaml:1:1: the file is UTF-16"),
        (b"a: 1\nb: \x07\n", "x.yaml:2:4: the character U+0007 is not allowed"),
        (b'a: "\\ud800"\n', "x.yaml:1:7: YAML: found invalid Unicode"),
        (b"a: b: c\n", "x.yaml:1:5: YAML: mapping values are not allowed"),
        (b"a:\n\tb: 1\n", "x.yaml:2:1: YAML: found character that cannot start"),
        (b"a: [1, 2\nb: 3\n", "x.yaml:2:2: YAML: did not find expected ',' or ']'"),
        (b"a: @x\n", "x.yaml:1:4: YAML: found character that cannot start"),
        (b"a: !!python/object:os.system x\n", "x.yaml:1:4: the tag '!!python/object:os.system' is not allowed"),
        (b"a: !!str 3\n", "x.yaml:1:4: the tag '!!str' is not allowed"),
        (b"a: !mine [1]\n", "x.yaml:1:4: the tag '!mine' is not allowed"),
        (b"a: ! 3\n", "x.yaml:1:4: the tag '!' is not allowed"),
        (b"a: 1\nb: 2\na: 3\n", "x.yaml:3:1: the key 'a' is there twice | it is first at line 1, column 1"),
        (b"a: {b: 1, 'b': 2}\n", "x.yaml:1:11: the key 'b' is there twice"),
        (b"[a]: 1\n", "x.yaml:1:1: a key must be text"),
        (b"? {a: 1}\n: 2\n", "x.yaml:1:3: a key must be text"),
        (b"1: 2\n", "x.yaml:1:1: a key must be text, not '1'"),
        (b"true: 2\n", "x.yaml:1:1: a key must be text, not 'true'"),
        (b"null: [var]\n", "x.yaml:1:1: 'null' is a null to YAML | write the key in quotes: \"null\""),
        (b"on: 1\n", "x.yaml:1:1: 'on' is a boolean"),
        (b"a:\nb: 1\n", "x.yaml:1:3: there is no value here"),
        (b"a: [1,\n  010]\n", "x.yaml:2:3: '010' is octal"),
        (b"a: *b\n", "x.yaml:1:4: the alias '*b' has no anchor before it"),
        (b"a: &x [1, *x]\n", "x.yaml:1:11: the alias '*x' stands inside the value it repeats"),
        (b"<<: 3\n", "x.yaml:1:5: '<<' merges a mapping"),
        (b"[" * 500, "x.yaml:1:33: nested more than 32 deep"),
        (b"a: [" * 40, "x.yaml:1:65: nested more than 32 deep"),
        # libyaml has a limit of its own on brackets that are open while it looks for a key.
        (b"[" * 100000, "x.yaml:1:1001: YAML: exceeded maximum nesting depth"),
        (b"- " * 2000, "x.yaml:1:65: nested more than 32 deep"),
        (b"a: '" + b"x" * (5 << 20), "x.yaml: larger than 4 MiB"),
    ],
)
def test_messages_with_places(tmp_path: Path, raw: bytes, expected: str) -> None:
    assert _problems(tmp_path, raw)[0].startswith(expected)


def test_all_problems_are_told_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = _problems(tmp_path, "b: yes\na: 0x10\nb: 1\nc: ~\n")
    assert [text.split(": ")[0] for text in found] == ["x.yaml:1:4", "x.yaml:2:4", "x.yaml:3:1", "x.yaml:4:4"]


def test_many_problems_are_counted_not_listed(tmp_path: Path) -> None:
    found = _problems(tmp_path, "".join(f"k{i}: yes\n" for i in range(250)))
    assert len(found) == reader.MAX_PROBLEMS + 1
    assert "and 150 more errors" in found[-1]


def test_aliases_and_merge_keys(tmp_path: Path) -> None:
    root = _read(
        tmp_path,
        """\
base: &base {x: 1, u: 2}
more: &more {u: 3, z: 4}
one: {<<: *base, u: 5}
two: {<<: [*base, *more], w: 6}
list: [*base, *base]
""",
    )
    assert root["one"] == {"x": 1, "u": 5}
    # Of several merged mappings the earlier one wins.
    assert root["two"] == {"x": 1, "u": 2, "z": 4, "w": 6}
    assert root["list"] == [{"x": 1, "u": 2}, {"x": 1, "u": 2}]
    # What is merged has the place where it is written.
    assert root["one"].values_at["x"] == (1, 17)
    assert root["one"].values_at["u"] == (3, 21)


def test_an_alias_bomb_is_refused_at_once(tmp_path: Path) -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    began = time.perf_counter()
    found = _problems(tmp_path, "\n".join(lines))
    assert "more than 100,000 values, aliases expanded" in found[0]
    assert time.perf_counter() - began < 1


def test_a_chain_of_aliases_cannot_get_around_the_depth(tmp_path: Path) -> None:
    lines = ["a0: &a0 [1]"] + [f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 60)]
    assert "nested more than 32 deep" in _problems(tmp_path, "\n".join(lines))[0]


def test_a_problem_in_an_anchor_is_told_once(tmp_path: Path) -> None:
    found = _problems(tmp_path, "a: &a {b: yes}\nc: *a\nd: *a\n")
    assert len(found) == 1


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CaseFileError, match="cannot be read"):
        reader.read(tmp_path / "gone.yaml", "gone.yaml")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.yaml")
    with pytest.raises(CaseFileError, match="no regular file"):
        reader.read(tmp_path / "x.yaml", "x.yaml")


def test_the_python_parser_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyYAML comes without libyaml, values, places and refusals are the same."""
    import yaml

    text = "a: [1, {b: 0.5}]\nc: 'x'\nd: &x [1e-6]\ne: *x\n"
    with_libyaml = _read(tmp_path, text)
    places = (with_libyaml.values_at, with_libyaml["a"].items_at)
    monkeypatch.setattr(reader, "_LOADER", yaml.SafeLoader)
    root = _read(tmp_path, text)
    assert root == with_libyaml
    assert (root.values_at, root["a"].items_at) == places
    assert "U+0007" in _problems(tmp_path, "a: \x07")[0]
    assert _problems(tmp_path, 'a: "\\ud800"')
    assert "nested" in _problems(tmp_path, "[" * 3000)[0]
