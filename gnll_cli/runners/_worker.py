"""The worker process: started by ``workers``, works on one case after another until its parent is gone or done."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import pickle
import resource
import shutil
import signal
import struct
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import Any

from gnll_cli.errors import GnllError
from gnll_cli.runners import _board

HEADER = struct.Struct("=Q")
#: Written to the worker's output before each case, so that the parent knows what belongs to which case.
MARK = b"\0gnll-case:%d\n"

#: Kinds of messages to the parent.
READY, REFUSED, BROKEN, RESULT, FAULT = range(5)


def frame(message: object) -> bytes:
    """A message as it travels through a pipe: its length in 8 bytes, then its pickle."""
    body = pickle.dumps(message, protocol=5)
    return HEADER.pack(len(body)) + body


def _read(descriptor: int, size: int) -> bytes | None:
    """Exactly ``size`` bytes; None where the pipe ends before."""
    data = os.read(descriptor, min(size, 1 << 20))
    if len(data) == size:
        return data
    whole = bytearray(data)
    while data and len(whole) < size:
        data = os.read(descriptor, min(size - len(whole), 1 << 20))
        whole += data
    return bytes(whole) if len(whole) == size else None


def _receive(descriptor: int) -> Any:
    header = _read(descriptor, HEADER.size)
    body = None if header is None else _read(descriptor, HEADER.unpack(header)[0])
    return None if body is None else pickle.loads(body)


def _send(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def explain(error: BaseException) -> str:
    """One line: type, text, and the innermost place of an unexpected exception."""
    if isinstance(error, GnllError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    text = str(error)
    return f"{type(error).__name__}{': ' if text else ''}{text}{place}"


def kill_group(group: int) -> None:
    """Kill a process group that may be gone already."""
    if group > 1:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _die_with_parent(life: int, board: _board.Board, scratch: list[str]) -> None:
    """Wait until the parent has gone (its end of the pipe is closed), then end the program that runs, and the worker.

    ``scratch`` holds the worker's own temporary folder, once it is known.
    """
    while os.read(life, 1):
        pass
    kill_group(board.read_group())
    for folder in scratch:
        # What the parent would have done: the worker's own folder, and the run's where this was the last in it.
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(folder))
    if os.getpgrp() == os.getpid():
        kill_group(os.getpid())
    os._exit(1)


def _start(task: str, options: object) -> Callable[[Any, Callable[[str], None]], Any]:
    module, _, function = task.partition(":")
    work: Callable[[Any, Callable[[str], None]], Any] = getattr(import_module(module), function)(options)
    return work


def _answer(work: Callable[[Any, Callable[[str], None]], Any], index: int, case: bytes, board: _board.Board) -> bytes:
    try:
        return frame((RESULT, index, work(pickle.loads(case), board.phase)))
    except Exception as error:
        return frame((FAULT, index, (board.read().phase, explain(error))))


def main() -> None:
    """Run as a worker; the command line names the descriptors: cases, results, board, life."""
    cases, results, page, life = (int(a) for a in sys.argv[1:5])
    # Ctrl-C is the parent's business; it ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    output = os.dup(2)
    for descriptor in (cases, results, page, life):
        os.set_inheritable(descriptor, False)
    board = _board.Board(page)
    board.group(_board.NONE)
    board.case(_board.NONE)
    _board.attach(board)
    faulthandler.enable()
    folders: list[str] = []
    threading.Thread(target=_die_with_parent, args=(life, board, folders), daemon=True).start()

    first = _receive(cases)
    if first is None:
        return
    task, options, memory, scratch = first
    folders.append(scratch)
    tempfile.tempdir = scratch
    try:
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
        work = _start(task, pickle.loads(options))
    except GnllError as error:
        _send(results, frame((REFUSED, _board.NONE, error)))
        return
    except Exception as error:
        _send(results, frame((BROKEN, _board.NONE, explain(error))))
        return
    # What is loaded stays: the collector need not walk over it every few cases.
    gc.freeze()
    _send(results, frame((READY, _board.NONE, None)))

    while (message := _receive(cases)) is not None:
        index, case = message
        board.case(index)
        with contextlib.suppress(OSError):
            os.write(output, MARK % index)
        answer = _answer(work, index, case, board)
        board.phase("send")
        _send(results, answer)
        board.case(_board.NONE)
    close = getattr(work, "close", None)
    if close is not None:
        board.phase("close")
        close()
