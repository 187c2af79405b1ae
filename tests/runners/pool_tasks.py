"""Tasks for the tests of the worker pool: each case is a tuple that says what the worker is to do."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from gnll_cli.errors import UnavailableError, UsageError
from gnll_cli.runners import _board

Phase = Callable[[str], None]


class Unpicklable:
    def __reduce__(self) -> str:
        raise TypeError("this cannot be sent")


class Costly(tuple[Any, ...]):
    """A case that says that it is large."""

    cost = 1 << 30


def act(case: tuple[Any, ...], phase: Phase) -> Any:
    deed, *args = case
    phase("execute")
    if deed == "double":
        return args[0] * 2
    if deed == "pid":
        return os.getpid()
    if deed == "signal":
        os.kill(os.getpid(), args[0])
        time.sleep(30)
    if deed == "segfault":
        ctypes.string_at(0)
    if deed == "_exit":
        os._exit(args[0])
    if deed == "sys.exit":
        sys.exit(args[0])
    if deed == "say":
        os.write(2, args[0].encode())
        print("on stdout too")
        if args[1] == "raise":
            raise ValueError("after it spoke")
        os.abort()
    if deed == "hang":
        phase(args[0])
        time.sleep(60)
    if deed == "slow":
        phase(args[0])
        time.sleep(args[1])
        return "slow but done"
    if deed == "wait":
        phase("golden")
        until = time.monotonic() + 60
        while not os.path.exists(args[0]):
            if time.monotonic() > until:
                return "nothing came"
            time.sleep(0.01)
        return "it came"
    if deed == "twice":
        for _ in range(2):
            phase("execute")
            time.sleep(args[0])
        return "two executions"
    if deed == "raise":
        raise KeyError(args[0])
    if deed == "eat":
        return len(bytearray(args[0]))
    if deed == "unpicklable":
        return Unpicklable()
    if deed == "big":
        return args[0] + b"!"
    if deed == "flood":
        for _ in range(args[0]):
            os.write(1, b"x" * 65536)
        return "flooded"
    if deed == "fork":
        # A child that lives on and keeps every descriptor of the worker open.
        if os.fork() == 0:
            time.sleep(60)
        os._exit(7)
    if deed == "fork and both return":
        pid = os.fork()
        if pid:
            os.waitpid(pid, 0)
            return "parent"
        signal.setitimer(signal.ITIMER_REAL, 0.3)  # ends the child, some time after its answer
        return "child"
    if deed == "write into the pipe":
        os.write(int(sys.argv[2]), args[0])  # the descriptor of the answers
        time.sleep(1)
        return None
    if deed == "program":
        child = subprocess.Popen(["sleep", "60"], start_new_session=True)
        _board.announce_group(child.pid)
        with open(args[0], "w") as file:
            file.write(f"{os.getpid()} {child.pid}")
        time.sleep(60)
    if deed == "environment":
        return os.environ.get(args[0])
    raise AssertionError(f"no such deed: {deed}")


def start(options: object) -> Callable[[tuple[Any, ...], Phase], Any]:
    return act


def start_refusing(options: str) -> Callable[..., Any]:
    raise UnavailableError("the device is away", where="device 0", hint=options)


def start_usage(options: object) -> Callable[..., Any]:
    raise UsageError("no such thing")


def start_broken(options: object) -> Callable[..., Any]:
    raise RuntimeError("the library does not load")


def start_crashing(options: object) -> Callable[..., Any]:
    os.write(2, b"cannot open the device\n")
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError


class Closing:
    """Leaves a file at its close, or dies in it."""

    def __init__(self, options: str) -> None:
        self.path = options

    def __call__(self, case: object, phase: Phase) -> object:
        return case

    def close(self) -> None:
        if self.path == "die":
            os.abort()
        with open(self.path, "a") as file:
            file.write("closed\n")


class DiesBetweenCases:
    """Answers the case 3 and dies right after, before the next case is read."""

    def __init__(self, options: object) -> None:
        pass

    def __call__(self, case: int, phase: Phase) -> object:
        return KillsWhenSent() if case == 3 else case


class KillsWhenSent:
    """Its pickle is complete; the process that made it dies a moment later."""

    def __reduce__(self) -> tuple[Any, ...]:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        return (int, (3,))
