"""What a worker tells its parent without a message: a page of shared memory.

The page outlives the worker however it dies, costs under a microsecond to write, and is read only when something is
late or dead. A worker writes the case it works on, the phase it is in with the time it began, and the process group of
the external program that it runs, so that the parent can end that as well.
"""

from __future__ import annotations

import mmap
import struct
import time
from dataclasses import dataclass

SIZE = mmap.PAGESIZE
#: No case, no process group.
NONE = -1

_CASE = struct.Struct("=qdd16s")
_GROUP = struct.Struct("=q")
_GROUP_AT = 192
#: Two places for an entry, and the byte whose lowest bit says which holds: a write goes to the other one and then turns
#: the byte, so that a reader never sees half an entry, whenever the writer is interrupted or dies.
_PLACES = (0, 64)
_TURN_AT = 128


@dataclass(frozen=True, slots=True)
class Entry:
    """``index`` of the case (NONE between cases), ``phase``, and when case and phase began (``time.monotonic``)."""

    index: int
    started: float
    since: float
    phase: str


class Board:
    """The page, mapped from the descriptor of a file of at least SIZE bytes. One process writes, one reads."""

    def __init__(self, descriptor: int) -> None:
        self._page = mmap.mmap(descriptor, SIZE)
        self._index = NONE
        self._started = 0.0

    def case(self, index: int) -> None:
        """Say that a case begins (NONE: that none is worked on)."""
        self._index = index
        self._started = time.monotonic()
        self.phase("start")

    def phase(self, name: str) -> None:
        """Say that a phase of the case begins; names are cut to 16 bytes."""
        turn = (self._page[_TURN_AT] + 1) & 0xFF
        _CASE.pack_into(self._page, _PLACES[turn & 1], self._index, self._started, time.monotonic(), name.encode()[:16])
        self._page[_TURN_AT] = turn

    def group(self, group: int) -> None:
        """Say which process group of an external program runs (NONE: none)."""
        _GROUP.pack_into(self._page, _GROUP_AT, group)

    def read(self) -> Entry:
        """The last entry that was written whole."""
        while True:
            turn = self._page[_TURN_AT]
            index, started, since, phase = _CASE.unpack_from(self._page, _PLACES[turn & 1])
            # Twice written in between, the place may have changed under the reading.
            if turn == self._page[_TURN_AT]:
                return Entry(index, started, since, phase.rstrip(b"\0").decode(errors="replace"))

    def read_group(self) -> int:
        """The process group of the external program, or NONE."""
        return int(_GROUP.unpack_from(self._page, _GROUP_AT)[0])

    def close(self) -> None:
        self._page.close()


#: The board of this process where it is a worker.
_mine: Board | None = None


def attach(board: Board) -> None:
    """Make ``board`` the one that ``announce_group`` writes to."""
    global _mine
    _mine = board


def announce_group(group: int) -> None:
    """Tell the parent, if this process is a worker, which process group to end should the worker die (NONE: none)."""
    if _mine is not None:
        _mine.group(group)
