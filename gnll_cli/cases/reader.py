"""One YAML file to plain values that know their line and column.

The tree is built from the parser's events, without recursion and without PyYAML's constructors: a scalar's meaning is
ours (``scalars``), tags are refused, and depth and size are bounded after aliases are expanded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from gnll_cli.cases import scalars
from gnll_cli.errors import CaseFileError, GnllError

#: Line and column, from 1.
Mark = tuple[int, int]

MAX_BYTES = 4 << 20
MAX_DEPTH = 32
MAX_NODES = 100_000
#: Characters of one text; distributions and reasons are far shorter.
MAX_TEXT = 5000
#: Problems of one file that are told; the rest is counted.
MAX_PROBLEMS = 100

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Map(dict[str, Any]):
    """A mapping with the place of each key and each value."""

    __slots__ = ("keys_at", "mark", "values_at")

    def __init__(self, mark: Mark) -> None:
        super().__init__()
        self.mark = mark
        self.keys_at: dict[str, Mark] = {}
        self.values_at: dict[str, Mark] = {}


class Seq(list[Any]):
    """A sequence with the place of each item."""

    __slots__ = ("items_at", "mark")

    def __init__(self, mark: Mark) -> None:
        super().__init__()
        self.mark = mark
        self.items_at: list[Mark] = []


@dataclass
class Problems:
    """Collects the errors of one file."""

    name: str
    found: list[tuple[Mark, GnllError]] = field(default_factory=list)
    untold: int = 0
    #: Problems met, also those not kept: whether a part had one is seen by comparing this before and after.
    count: int = 0

    def add(self, mark: Mark | None, what: str, hint: str = "") -> None:
        self.count += 1
        if len(self.found) >= MAX_PROBLEMS:
            self.untold += 1
            return
        where = self.at(mark) if mark else self.name
        entry = (mark or (0, 0), GnllError(what, where=where, hint=hint))
        # A value that aliases repeat is told once.
        if all(place != entry[0] or error.what != what for place, error in self.found):
            self.found.append(entry)

    def at(self, mark: Mark) -> str:
        """A place as messages and cases name it: file:line:column."""
        return f"{self.name}:{mark[0]}:{mark[1]}"

    def errors(self) -> list[GnllError]:
        """What was found, in the order of the file, with a last line for what was not told."""
        errors = [error for _, error in sorted(self.found, key=lambda entry: entry[0])]
        if self.untold:
            errors.append(GnllError(f"and {self.untold} more errors", where=self.name))
        return errors

    def check(self) -> None:
        """Raise ``CaseFileError`` if anything was found."""
        if self.found:
            raise CaseFileError(self.errors())


class _Stop(Exception):
    """The file cannot be read any further."""


def read(path: Path, name: str) -> Map:
    """The mapping that the case file holds; ``CaseFileError`` with every problem of its text and YAML.

    ``name`` is the file as messages show it.
    """
    problems = Problems(name)
    try:
        text = _text(path, problems)
        root = _Builder(problems).build(text)
    except _Stop:
        root = None
    problems.check()
    assert root is not None
    return root


def _text(path: Path, problems: Problems) -> str:
    """The file's text without byte order mark."""
    try:
        if path.exists() and not path.is_file():
            # A pipe or a device would be read for ever.
            problems.add(None, "this is no regular file", "a case file is YAML in UTF-8")
            raise _Stop
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        problems.add(None, f"cannot be read: {error.strerror or error}", "check the path and its permissions")
        raise _Stop from None
    if len(raw) > MAX_BYTES:
        problems.add(
            None, f"larger than {MAX_BYTES >> 20} MiB", "split it, or put long values into raw files: file(path)"
        )
        raise _Stop
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        problems.add((1, 1), "the file is UTF-16", "save it as UTF-8")
        raise _Stop
    zero = raw.find(b"\0")
    if zero >= 0:
        problems.add(_place(raw, zero), "a NUL byte: this is no text file", "a case file is YAML in UTF-8")
        raise _Stop
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        problems.add(_place(raw, error.start), f"byte 0x{raw[error.start]:02X} is not UTF-8", "save the file as UTF-8")
        raise _Stop from None


def _place(raw: bytes, offset: int) -> Mark:
    """Line and column of a byte offset, the column in characters."""
    before = raw[:offset]
    start = before.rfind(b"\n") + 1
    column = len(before[start:].decode("utf-8", errors="replace").removeprefix("\ufeff"))
    return before.count(b"\n") + 1, column + 1


@dataclass
class _Open:
    """A collection that is not closed yet. ``size`` and ``height`` count its nodes with aliases expanded."""

    node: Map | Seq
    anchor: str | None
    size: int = 1
    height: int = 1
    key: str | None = None
    key_mark: Mark = (0, 0)
    expects_key: bool = True
    skip_value: bool = False
    merges: list[tuple[Any, Mark]] = field(default_factory=list)
    merging: bool = False


class _Builder:
    """Builds the tree from events; errors that do not stop the parser are collected."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.stack: list[_Open] = []
        #: Anchor -> value, place, size, height; None while the anchored collection is still open.
        self.anchors: dict[str, tuple[Any, int, int] | None] = {}
        self.root: Any = None
        self.root_mark: Mark = (1, 1)
        self.documents = 0

    def build(self, text: str) -> Map:
        for event in self._events(text):
            mark = (event.start_mark.line + 1, event.start_mark.column + 1)
            if isinstance(event, yaml.DocumentStartEvent):
                self.documents += 1
                if self.documents > 1:
                    self._stop(mark, "a second document in the file", "one case file is one document; split the file")
            elif isinstance(event, yaml.AliasEvent):
                self._alias(str(event.anchor), mark)
            elif isinstance(event, yaml.ScalarEvent):
                self._scalar(event, mark)
            elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                self._open(event, mark)
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                self._close()
        if self.documents == 0:
            self._stop((1, 1), "the file is empty", "a case file starts with 'operator: NAME'; see docs/case-files.md")
        if not isinstance(self.root, Map):
            if not self.problems.found:
                kind = "a list" if isinstance(self.root, Seq) else "a single value"
                self.problems.add(
                    self.root_mark, f"a case file is a mapping, not {kind}", "start it with 'operator: NAME'"
                )
            raise _Stop
        return self.root

    def _events(self, text: str) -> Iterator[Any]:
        try:
            yield from yaml.parse(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            at = error.problem_mark or error.context_mark
            place = (at.line + 1, at.column + 1) if at else None
            self._stop(place, *_syntax(error, text, place))
        except yaml.reader.ReaderError as error:
            position = error.position if isinstance(error.position, int) else 0
            code = error.character if isinstance(error.character, int) else ord(str(error.character)[:1] or "?")
            # libyaml counts bytes, the Python reader characters: look the character up.
            found = text.find(chr(code)) if code < 0x110000 else -1
            mark = _place(text.encode(), len(text[: found if found >= 0 else position].encode()))
            self._stop(
                mark, f"the character U+{code:04X} is not allowed in YAML", "remove it, or write it escaped in quotes"
            )
        except (yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:
            self._stop(None, f"no YAML: {str(error).splitlines()[0] if str(error) else type(error).__name__}")

    def _stop(self, mark: Mark | None, what: str, hint: str = "") -> None:
        self.problems.add(mark, what, hint)
        raise _Stop

    def _anchored(self, anchor: str | None, value: Any, size: int, height: int) -> None:
        if anchor is not None:
            self.anchors[anchor] = (value, size, height)

    def _scalar(self, event: Any, mark: Mark) -> None:
        text: str = event.value
        value: Any = text
        # A merge key is the plain scalar << where a key stands.
        merge = text == "<<" and event.implicit[0] and bool(self.stack) and self._at_key()
        if event.tag is not None:
            self._tag(event.tag, mark)
        elif event.implicit[0] and not merge:
            try:
                value = scalars.resolve(text)
            except scalars.ScalarError as error:
                at_key = bool(self.stack) and self._at_key()
                self.problems.add(
                    mark, error.what, f'write the key in quotes: "{printable(text)}"' if at_key else error.hint
                )
        if len(text) > MAX_TEXT:
            self._stop(mark, f"a text of {len(text):,} characters, more than {MAX_TEXT:,}", "look for a missing quote")
        if any("\ud800" <= c <= "\udfff" for c in text):
            self.problems.add(mark, "half of a surrogate pair", "write the whole character")
        self._anchored(event.anchor, value, 1, 0)
        if merge:
            self.stack[-1].merging = True
            self.stack[-1].expects_key = False
            self.stack[-1].key_mark = mark
        else:
            self._put(value, mark, 1, 0)

    def _at_key(self) -> bool:
        top = self.stack[-1]
        return isinstance(top.node, Map) and top.expects_key

    def _tag(self, tag: str, mark: Mark) -> None:
        shown = tag.replace("tag:yaml.org,2002:", "!!")
        self.problems.add(mark, f"the tag '{shown}' is not allowed", "remove it; values are written plainly")

    def _alias(self, name: str, mark: Mark) -> None:
        if name not in self.anchors:
            self._stop(mark, f"the alias '*{name}' has no anchor before it", f"mark the value to repeat with '&{name}'")
        anchored = self.anchors[name]
        if anchored is None:
            self._stop(mark, f"the alias '*{name}' stands inside the value it repeats", "write the value out")
            return
        value, size, height = anchored
        self._put(value, mark, size, height)

    def _open(self, event: Any, mark: Mark) -> None:
        if event.tag is not None:
            self._tag(event.tag, mark)
        if len(self.stack) >= MAX_DEPTH:
            self._stop(mark, f"nested more than {MAX_DEPTH} deep", "no part of a case file is that deep")
        if self.stack and self._at_key():
            self._stop(
                mark, "a key must be text, not a list or a mapping", "quote it, or look for a missing quote or ':'"
            )
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        node = Map(mark) if isinstance(event, yaml.MappingStartEvent) else Seq(mark)
        self.stack.append(_Open(node, event.anchor))

    def _close(self) -> None:
        closed = self.stack.pop()
        if isinstance(closed.node, Map):
            self._merge(closed)
        self._anchored(closed.anchor, closed.node, closed.size, closed.height)
        self._put(closed.node, closed.node.mark, closed.size, closed.height)

    def _put(self, value: Any, mark: Mark, size: int, height: int) -> None:
        """Give a complete value to the collection that is open, or make it the root."""
        if not self.stack:
            self.root, self.root_mark = value, mark
            return
        top = self.stack[-1]
        top.size += size
        top.height = max(top.height, height + 1)
        if top.size > MAX_NODES:
            self._stop(
                mark, f"more than {MAX_NODES:,} values, aliases expanded", "split the file; put long data into files"
            )
        if len(self.stack) + height > MAX_DEPTH:
            self._stop(mark, f"nested more than {MAX_DEPTH} deep", "no part of a case file is that deep")
        if isinstance(top.node, Seq):
            top.node.append(value)
            top.node.items_at.append(mark)
        elif top.expects_key:
            self._key(top, value, mark)
        else:
            if top.merging:
                top.merges.append((value, mark))
            elif top.key is not None and not top.skip_value:
                top.node[top.key] = value
                top.node.values_at[top.key] = mark
            top.expects_key, top.merging = True, False

    def _key(self, top: _Open, value: Any, mark: Mark) -> None:
        assert isinstance(top.node, Map)
        top.expects_key, top.skip_value, top.key, top.key_mark = False, False, None, mark
        if not isinstance(value, str):
            shown = "a list or a mapping" if isinstance(value, (Map, Seq)) else f"'{str(value).lower()}'"
            self.problems.add(mark, f"a key must be text, not {shown}", "put it in quotes if it is meant as text")
            return
        if value in top.node.keys_at:
            line, column = top.node.keys_at[value]
            self.problems.add(
                mark,
                f"the key '{printable(value)}' is there twice",
                f"it is first at line {line}, column {column}; keep one of them",
            )
            top.skip_value = True
            return
        top.key = value
        top.node.keys_at[value] = mark

    def _merge(self, closed: _Open) -> None:
        """Merge keys: what the mapping says itself wins, then the earlier of the merged ones."""
        node = closed.node
        assert isinstance(node, Map)
        for value, mark in closed.merges:
            sources = value if isinstance(value, Seq) else [value]
            for source in sources:
                if not isinstance(source, Map):
                    self.problems.add(
                        mark, "'<<' merges a mapping or a list of mappings", "give it an alias: '<<: *name'"
                    )
                    continue
                for key, item in source.items():
                    if key not in node:
                        node[key] = item
                        node.keys_at[key] = source.keys_at[key]
                        node.values_at[key] = source.values_at[key]


def printable(text: str, limit: int = 60) -> str:
    """Text as a message shows it: on one line, without control characters, not too long."""
    shown = text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
    return shown if len(shown) <= limit else f"{shown[: limit - 3]}..."


def _syntax(error: yaml.MarkedYAMLError, text: str, place: Mark | None) -> tuple[str, str]:
    """What is wrong and what to do, from the parser's own words and the character it stands at."""
    problem = " ".join(str(error.problem or "not YAML").split())
    context = " ".join(str(error.context or "").split())
    lines = text.split("\n", place[0]) if place else []
    line = lines[place[0] - 1] if place and place[0] <= len(lines) else ""
    character = line[place[1] - 1 : place[1]] if place else ""
    what = f"YAML: {problem}" + (f" ({context})" if context else "")
    if character == "\t" or "\\t" in problem:
        return what, "indent with spaces, not tabs"
    if "mapping values are not allowed" in problem:
        return what, "put text that holds ': ' in quotes, and look at the indentation"
    if character and character in "@`%" and "cannot start" in problem:
        return what, f"text that starts with '{character}' needs quotes"
    if "anchor" in problem or "alias" in problem:
        return what, "text that starts with '*' or '&' needs quotes"
    if "nesting" in problem or "nested" in problem:
        return what, "no part of a case file is that deep"
    if context and error.context_mark and error.context_mark.line + 1 != (place or (0, 0))[0]:
        return what, f"it starts at line {error.context_mark.line + 1}; look for a missing bracket, quote or comma"
    return what, "look for a missing bracket, quote, comma or space after ':'"
