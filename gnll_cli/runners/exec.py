"""Backend "exec": any program as the operator.

The program is called as ``CMD FOLDER``, in the user's own working directory (so that relative commands work) and with no
standard input. FOLDER is new for every execution and removed afterwards; it holds case.json and ``<input>.bin`` for every input
that is not null (raw, little-endian, C order: layouts are materialised), or case.json alone for a case that must be refused.
The program writes ``<output>.bin`` for each output, or refuses: it writes the ACLNN status in decimal into a file ``status``.
docs/add-a-runner.md has the whole contract.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import selectors
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli import golden
from gnll_cli.cases.model import Case
from gnll_cli.dtypes import DTYPES
from gnll_cli.errors import UnavailableError, UsageError
from gnll_cli.golden.interface import TensorData
from gnll_cli.operators.interface import Operator
from gnll_cli.runners import _board
from gnll_cli.runners._worker import kill_group
from gnll_cli.runners.interface import Execution, Runner, RunnerOptions
from gnll_cli.runners.workers import TAIL, describe_exit

#: Bytes that a file may be larger than the largest output: room for logs, none for a program that writes without end.
SLACK = 64 << 20
#: Seconds between two looks at a program, where the system cannot tell its end (no pidfd).
POLL = 0.005
_STATUS = re.compile(rb"\s*(\d{1,10})\s*")


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended: ``returncode`` as Popen has it, None where its time was up; the tails of what it printed."""

    returncode: int | None
    stdout: str
    stderr: str
    seconds: float


class ExecRunner(Runner):
    """Runs one process per execution and reads what it leaves in the folder."""

    name = "exec"
    summary = "any program, named with --exec 'CMD': reads and writes raw files in a folder"

    def __init__(self, options: RunnerOptions) -> None:
        super().__init__(options)
        self.command = resolve(options.exec_command)

    @classmethod
    def missing(cls, options: RunnerOptions) -> str | None:
        """The program that ``--exec`` names, where it cannot be run; nothing else is needed."""
        if options.exec_command is None:
            return None
        try:
            resolve(options.exec_command)
        except UnavailableError as error:
            return f"{error.what}; {error.hint}"
        return None

    @classmethod
    def require(cls, options: RunnerOptions) -> None:
        """``UsageError`` where ``--exec`` is missing or no command, ``UnavailableError`` where the program cannot be run."""
        resolve(options.exec_command)

    @classmethod
    def environment(cls, options: RunnerOptions) -> dict[str, Any]:
        """The command, the program's absolute path, and the SHA-256 of it and of every argument that is a file."""
        command = resolve(options.exec_command)
        files = [Path(word).resolve() for word in command if os.path.isfile(word)]
        return {
            "command": options.exec_command,
            "executable": command[0],
            "cwd": os.getcwd(),
            "sha256": {str(file): _digest(file) for file in files},
        }

    def run(self, case: Case, operator: Operator, inputs: Mapping[str, TensorData]) -> Execution:
        try:
            with tempfile.TemporaryDirectory(prefix="exec-", ignore_cleanup_errors=True) as folder:
                return self._run_in(Path(folder), case, operator, inputs)
        except OSError as error:
            what = f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
            return Execution("error", reason=f"the program cannot be run on this case: {what}")

    def _run_in(self, folder: Path, case: Case, operator: Operator, inputs: Mapping[str, TensorData]) -> Execution:
        golden.write_inputs(case, operator, inputs, folder)
        sums = {name: _checksum(folder / f"{name}.bin") for name in inputs}
        needed = [] if case.reject is not None else [_needed(case, name) for name in operator.outputs]
        finished = call([*self.command, str(folder)], self.options.timeout, max(needed, default=0) + SLACK)
        execution = _execution(case, operator, folder, finished, self.options.timeout)
        execution.seconds = finished.seconds
        for name, before in sums.items():
            execution.diagnostics += _input_finding(name, before, _checksum(folder / f"{name}.bin"))
        if execution.outcome != ("ran" if case.reject is None else "refused"):
            execution.diagnostics += _printed(finished)
        return execution


def resolve(command: str | None) -> list[str]:
    """The words of ``--exec``, the first one made the absolute path of a program that can be run."""
    if command is None:
        raise UsageError(
            "backend exec needs a program", where="--exec", hint="add --exec 'CMD'; it is called as CMD FOLDER"
        )
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(
            f"cannot be split into words: {error}", where="--exec", hint="quote it as for a POSIX shell"
        ) from None
    if not words:
        raise UsageError("is empty", where="--exec", hint="name a program; it is called as CMD FOLDER")
    return [_program(words[0]), *words[1:]]


def _program(word: str) -> str:
    path = word if os.sep in word else shutil.which(word)
    if path is None and os.path.isfile(word) and not os.access(word, os.X_OK):
        path = word
    if path is None or not os.path.exists(path):
        here = f"./{word}" if os.path.exists(word) else "an existing program, with its path unless it is on PATH"
        raise UnavailableError(f"there is no program '{word}'", where="--exec", hint=f"name {here}")
    if not os.path.isfile(path):
        raise UnavailableError(f"'{path}' is not a file", where="--exec", hint="name the program in it")
    if not os.access(path, os.X_OK):
        raise UnavailableError(f"'{path}' is not executable", where="--exec", hint=f"run: chmod +x {shlex.quote(path)}")
    _check_script(path)
    return os.path.abspath(path)


def _check_script(path: str) -> None:
    """A text file needs a first line that names an interpreter which is there, or it fails anew in every case."""
    try:
        with open(path, "rb") as file:
            head = file.read(512)
    except OSError:
        return  # may be run, but not read: nothing to check
    if not head.startswith(b"#!"):
        if b"\0" not in head and head.isascii():
            raise UnavailableError(
                f"'{path}' is a text without a '#!' line",
                where="--exec",
                hint="add one, or name the interpreter: --exec 'python3 FILE'",
            )
        return
    words = head[2:].split(b"\n", 1)[0].split()
    if not words or not os.path.exists(words[0]):
        shown = words[0].decode(errors="replace") if words else ""
        raise UnavailableError(
            f"the interpreter '{shown}' of '{path}' does not exist", where="--exec", hint="mend its '#!' line"
        )


def call(command: list[str], timeout: float, file_limit: int) -> Finished:
    """Run a program in a process group of its own, and end the whole group when it ends or ``timeout`` seconds are up.

    No file it writes can grow beyond ``file_limit`` bytes (SIGXFSZ ends it). ``OSError`` where it cannot be started.
    """
    began = time.monotonic()
    # The limit is inherited. Setting it here, not between fork and exec, is safe in a process with threads.
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = file_limit if hard == resource.RLIM_INFINITY else min(file_limit, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    _board.announce_group(process.pid)
    with process, contextlib.ExitStack() as stack:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            tails = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
            in_time = _wait(process, tails, began + timeout, stack)
        finally:
            kill_group(process.pid)
            process.wait()
            _board.announce_group(_board.NONE)
        for descriptor in tails:
            _drain(descriptor, tails[descriptor])
        stdout, stderr = (tail.decode(errors="replace").strip() for tail in tails.values())
        return Finished(process.returncode if in_time else None, stdout, stderr, time.monotonic() - began)


def _wait(
    process: subprocess.Popen[bytes], tails: dict[int, bytearray], until: float, stack: contextlib.ExitStack
) -> bool:
    """Read what the program prints until it ends; False where it has not ended in time."""
    selector = stack.enter_context(selectors.DefaultSelector())
    for descriptor in tails:
        os.set_blocking(descriptor, False)
        selector.register(descriptor, selectors.EVENT_READ)
    end = _end_descriptor(process.pid)
    if end is not None:
        stack.callback(os.close, end)
        selector.register(end, selectors.EVENT_READ)
    while True:
        left = until - time.monotonic()
        if left <= 0:
            return False
        for key, _ in selector.select(left if end is not None else min(left, POLL)):
            if key.fd == end:
                return True
            if not _drain(key.fd, tails[key.fd]):
                selector.unregister(key.fd)
        if end is None and process.poll() is not None:
            return True


def _end_descriptor(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends, where the system has such."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _drain(descriptor: int, tail: bytearray) -> bool:
    """Take what is there, at most 1 MiB, and keep its last part; False at the end of the pipe."""
    for _ in range(16):
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return True
        if not data:
            return False
        tail += data
        del tail[:-TAIL]
    return True


def _execution(case: Case, operator: Operator, folder: Path, finished: Finished, timeout: float) -> Execution:
    """The verdict on how the program ended and what it left behind."""
    code = finished.returncode
    if code is None:
        return Execution("timeout", reason=f"no end within {timeout:g} s")
    if code == -signal.SIGXFSZ:
        return Execution("failed", reason=f"the program wrote a file without end: {_sizes(case, operator, folder)}")
    if code < 0:
        return Execution("crashed", reason=_with_last_line(describe_exit(code), finished))
    try:
        status = _status(folder / "status")
    except ValueError as error:
        return Execution("failed", reason=str(error))
    if status:
        written = [name for name in operator.outputs if os.path.lexists(folder / f"{name}.bin")]
        return Execution("refused", aclnn_status=status, reason=_last_line(finished.stderr), untouched=not written)
    if code != 0:
        return Execution("crashed", reason=_with_last_line(describe_exit(code), finished))
    if case.reject is not None:
        return Execution("ran", aclnn_status=status)
    execution = Execution("ran", aclnn_status=status)
    problems = []
    for name in operator.outputs:
        problem = _problem(case, name, folder)
        if problem:
            problems.append(problem)
        else:
            execution.outputs[name] = _read(case, name, folder)
    if problems:
        return Execution("failed", aclnn_status=status, reason="; ".join(problems))
    return execution


def _status(path: Path) -> int | None:
    """The number in the file ``status``; None where there is none. ``ValueError`` for anything but a decimal number."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise ValueError("the file status is not a regular file")
        with open(path, "rb") as file:
            text = file.read(80)
    except FileNotFoundError:
        return None
    match = _STATUS.fullmatch(text)
    if match is None:
        shown = text.decode(errors="replace")
        raise ValueError(f"the file status holds {shown!r}, not an ACLNN status in decimal such as 161002")
    return int(match[1])


def _needed(case: Case, output: str) -> int:
    return prod(case.shapes[output]) * DTYPES[case.dtypes[output]].itemsize


def _problem(case: Case, output: str, folder: Path) -> str:
    """What is wrong with the file of an output, or nothing."""
    try:
        status = os.lstat(folder / f"{output}.bin")
    except FileNotFoundError:
        return f"{output}.bin was not written ({_needed(case, output)} bytes are needed)"
    if not stat.S_ISREG(status.st_mode):
        return f"{output}.bin is not a regular file"
    got, needed = status.st_size, _needed(case, output)
    if got == needed:
        return ""
    itemsize = DTYPES[case.dtypes[output]].itemsize
    shape = f"shape {list(case.shapes[output])} of {case.dtypes[output]}"
    off = f"{needed - got} too few" if got < needed else f"{got - needed} too many"
    remainder = f", remainder {got % itemsize} of {itemsize}" if itemsize > 1 else ""
    return f"{output}.bin has {got} bytes, {needed} are needed for {shape}: {off}{remainder}"


def _sizes(case: Case, operator: Operator, folder: Path) -> str:
    """The sizes of all outputs as they are and as they should be."""
    if case.reject is not None:
        return "the case has no outputs"
    found = []
    for name in operator.outputs:
        path = folder / f"{name}.bin"
        size = f"{os.lstat(path).st_size} bytes" if os.path.lexists(path) else "not written"
        found.append(f"{name}.bin: {size} ({_needed(case, name)} needed)")
    return ", ".join(found)


def _read(case: Case, output: str, folder: Path) -> npt.NDArray[Any]:
    octets = np.fromfile(folder / f"{output}.bin", np.uint8)
    return octets.view(DTYPES[case.dtypes[output]].storage).reshape(case.shapes[output])


def _file_blocks(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            yield block


def _checksum(path: Path) -> int | None:
    """CRC-32 of a file; None where there is no regular file."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
    except FileNotFoundError:
        return None
    total = 0
    for block in _file_blocks(path):
        total = zlib.crc32(block, total)
    return total


def _digest(path: Path) -> str:
    digest = sha256()
    for block in _file_blocks(path):
        digest.update(block)
    return digest.hexdigest()


def _input_finding(name: str, before: int | None, after: int | None) -> list[dict[str, Any]]:
    if before == after:
        return []
    what = "removed" if after is None else "changed"
    message = f"the program {what} its input {name}.bin"
    return [{"kind": "input_changed", "severity": "failure", "message": message, "tensor": name}]


def _last_line(text: str) -> str:
    return text.rsplit("\n", 1)[-1].strip()[:200]


def _with_last_line(reason: str, finished: Finished) -> str:
    line = _last_line(finished.stderr)
    return f"{reason}: {line}" if line else reason


def _printed(finished: Finished) -> list[dict[str, Any]]:
    """What the program printed last, as findings that explain and do not fail."""
    return [
        {
            "kind": "printed",
            "severity": "warning",
            "message": f"{stream} of the program ends with:\n{text}",
            "stream": stream,
        }
        for stream, text in (("stderr", finished.stderr), ("stdout", finished.stdout))
        if text
    ]


RUNNER = ExecRunner
