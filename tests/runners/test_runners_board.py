"""The page by which a worker tells its parent what it is doing: never half an entry."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator

import pytest

from gnll_cli.runners import _board
from gnll_cli.runners._board import Board


@pytest.fixture
def descriptor() -> Iterator[int]:
    with tempfile.TemporaryFile() as file:
        file.truncate(_board.SIZE)
        yield file.fileno()


def test_the_reader_sees_what_was_written(descriptor: int) -> None:
    writer, reader = Board(descriptor), Board(descriptor)
    before = time.monotonic()
    writer.case(7)
    assert (reader.read().index, reader.read().phase) == (7, "start")
    writer.phase("a name longer than sixteen bytes")
    entry = reader.read()
    assert entry.phase == "a name longer th"
    assert before <= entry.started <= entry.since <= time.monotonic()
    writer.group(41)
    assert reader.read_group() == 41
    assert reader.read().index == 7


def test_a_write_that_stops_half_way_leaves_the_entry_before_it(
    descriptor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A write is a clearing and then a filling; a writer may lose the processor, or its life, in between.
    writer, reader = Board(descriptor), Board(descriptor)
    whole = _board._CASE

    class Interrupted:
        size = whole.size

        @staticmethod
        def pack_into(page: object, place: int, *values: object) -> None:
            page[place : place + whole.size] = bytes(whole.size)  # type: ignore[index]
            raise KeyboardInterrupt

        unpack_from = staticmethod(whole.unpack_from)

    for n in range(5):
        writer.case(n)
        with monkeypatch.context() as patch:
            patch.setattr(_board, "_CASE", Interrupted)
            with pytest.raises(KeyboardInterrupt):
                writer.phase("execute")
            entry = reader.read()
        assert (entry.index, entry.phase) == (n, "start")
        assert entry.started > 0


def test_hammered_by_another_process_every_reading_is_whole(descriptor: int) -> None:
    child = os.fork()
    if child == 0:
        writer = Board(descriptor)
        end = time.monotonic() + 0.5
        n = 0
        while time.monotonic() < end:
            writer.case(n)
            n += 1
        os._exit(0)
    reader = Board(descriptor)
    while reader.read().started == 0:
        pass
    began = time.monotonic()
    last = 0
    while time.monotonic() - began < 0.4:
        entry = reader.read()
        assert entry.index >= last
        assert 0 < entry.started <= entry.since <= time.monotonic()
        last = entry.index
    os.waitpid(child, 0)
    assert last > 100
