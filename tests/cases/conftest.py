"""Helpers of the cases tests: a case file from its text, and the problems of one."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from gnll_cli import cases
from gnll_cli.cases.suite import Suite
from gnll_cli.errors import CaseFileError, GnllError

Write = Callable[..., Path]
Load = Callable[..., Suite]
Problems = Callable[..., list[tuple[str, str, str]]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(text, name="x.yaml"): the path of a case file with that (dedented) text."""

    def make(text: str | bytes, name: str = "x.yaml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).lstrip("\n").encode())
        return path

    return make


@pytest.fixture
def load(write: Write) -> Load:
    """load(text): the suite of one case file of that text."""
    return lambda text, name="x.yaml": cases.load([write(text, name)])


@pytest.fixture
def problems(write: Write) -> Problems:
    """problems(text): (place, what, hint) of each problem; the place is line:column, or empty for the whole file."""

    def find(text: str | bytes, name: str = "x.yaml") -> list[tuple[str, str, str]]:
        path = write(text, name)
        with pytest.raises(CaseFileError) as caught:
            cases.load([path])
        return [(_place(p, path), p.what, p.hint) for p in caught.value.problems]

    return find


def _place(problem: GnllError, path: Path) -> str:
    assert problem.where.startswith(path.as_posix())
    return problem.where.removeprefix(path.as_posix()).lstrip(":")
