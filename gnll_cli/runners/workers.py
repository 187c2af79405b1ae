"""A pool of worker processes that runs whole cases: a crash or a hang of the operator is an answer, never a lost run.

``run_cases`` takes cases lazily, gives each to one of ``jobs`` processes and yields what comes back, in the order of
completion. Whatever ends a worker (a signal, an exit, a hang) becomes a ``Death`` of exactly the case it worked on; the
worker is replaced and the run goes on.

How it works: each worker is a fresh interpreter (nothing is inherited by fork) with a pipe for cases, a pipe for
answers, a pipe for what the operator prints, and a page of shared memory where it notes the case and the phase it is in
(``_board``). Answers come in order, so the case in flight is known to the parent; the page says whether it had begun.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gnll_cli.errors import UnavailableError
from gnll_cli.runners import _board
from gnll_cli.runners._worker import BROKEN, HEADER, MARK, READY, REFUSED, RESULT, frame, kill_group

#: The phase in which the operator runs, and in which the time limit of a case counts.
EXECUTE = "execute"
#: Bytes of an operator's output that are kept.
TAIL = 4096
#: Seconds between two looks at clocks and at processes that died without closing their pipes.
TICK = 0.05
#: Seconds more that a worker gets while a program runs that its runner ends by its own clock.
GRACE = 5.0
#: Seconds in which a worker must have started, and in which it must have ended when there is no more work.
START_LIMIT = 120.0
CLOSE_LIMIT = 20.0
#: Seconds that a whole case may take, golden and all, before it counts as hanging.
BACKSTOP = 3600.0
#: Bytes that are read from a pipe at a time.
PIPE = 1 << 16
#: Bytes beyond which an answer can only be a damaged one.
LARGEST_ANSWER = 1 << 36
#: Workers that may die in a row without one answer before the run is given up.
DEATHS_IN_A_ROW = 3
#: A worker gets a second case ahead only where both are at most this large, lest it wait long behind another.
SMALL = 1 << 17

#: One thread per worker: the pool uses the cores, and sums must not depend on a number of threads.
THREADS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
}

_MARK = re.compile(re.escape(MARK).replace(b"%d", rb"(\d+)"))
_BOOT = "import sys; sys.path[:] = sys.argv[5:]; from gnll_cli.runners._worker import main; main()"


@dataclass(frozen=True, slots=True)
class Death:
    """A case without an answer.

    ``kind``: "crashed" (the worker died; ``signal`` is the signal's name, or ``exit_code`` what it exited with),
    "timeout" (it was killed) or "error" (an exception in the task; the worker lives). ``phase`` is the phase the case
    was in, ``output`` the last 4 KiB of what the operator printed during the case, ``seconds`` how long it had run.
    """

    kind: str
    phase: str
    reason: str
    signal: str | None = None
    exit_code: int | None = None
    output: str = ""
    seconds: float = 0.0


def default_jobs() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1


def signal_name(number: int) -> str:
    """``SIGSEGV`` for 11; ``signal 40`` where the number has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def describe_exit(returncode: int) -> str:
    """How a process ended, in words: ``died of SIGSEGV`` or ``exited with code 3`` (``returncode`` as Popen has it)."""
    if returncode >= 0:
        return f"exited with code {returncode}"
    name = signal_name(-returncode)
    return f"died of {name}" + (" (possibly killed for lack of memory)" if name == "SIGKILL" else "")


def _begins_mark(text: bytes) -> bool:
    head = MARK[: MARK.index(b"%")]
    return head.startswith(text) or (text.startswith(head) and text[len(head) :].isdigit())


class _Output:
    """The tail of what a worker prints, by case; at most the case that ended last and the one that runs are kept."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._tails: dict[int, bytearray] = {_board.NONE: bytearray()}
        self._current = _board.NONE
        self._rest = b""

    def drain(self, limit: int = 1 << 18) -> None:
        """Take what has been printed, without waiting, and not for ever from one that floods."""
        while limit > 0:
            try:
                data = os.read(self.descriptor, PIPE)
            except BlockingIOError:
                return
            if not data:
                return
            limit -= len(data)
            self._take(self._rest + data)
            if len(data) < PIPE:
                return  # there was no more: asking again would cost as much

    def _take(self, data: bytes) -> None:
        # A mark may be cut in two by the end of what was read: what may be its first part waits for the rest.
        cut = data.rfind(b"\0", max(0, len(data) - 40))
        if cut < 0 or not _begins_mark(data[cut:]):
            cut = len(data)
        data, self._rest = data[:cut], data[cut:]
        pieces = _MARK.split(data)
        self._append(pieces[0])
        for number, text in zip(pieces[1::2], pieces[2::2], strict=True):
            for old in [k for k in self._tails if k != self._current]:
                del self._tails[old]
            self._current = int(number)
            self._tails[self._current] = bytearray()
            self._append(text)

    def _append(self, text: bytes) -> None:
        tail = self._tails[self._current]
        tail += text
        del tail[:-TAIL]

    def tail(self, index: int) -> str:
        """The text of a case, undecodable bytes replaced."""
        return self._tails.get(index, bytearray()).decode(errors="replace").strip()


class _Worker:
    """One worker process as the parent sees it."""

    def __init__(self, task: bytes, life: int, scratch: str) -> None:
        self.in_flight: deque[tuple[int, Any]] = deque()
        self.ready = False
        self.born = time.monotonic()
        self.scratch = scratch
        self._outgoing = bytearray()
        self._incoming = bytearray()
        self.ended = False
        #: What made its answers useless, if anything did.
        self.fault = ""
        #: The index of the case it answered last.
        self.answered = _board.NONE
        cases, self.cases = os.pipe()
        self.answers, answers = os.pipe()
        output_read, output = os.pipe()
        with tempfile.TemporaryFile(dir=scratch) as page:
            page.truncate(_board.SIZE)
            self.board = _board.Board(page.fileno())
            self.board.case(_board.NONE)
            self.board.group(_board.NONE)
            descriptors = (cases, answers, page.fileno(), life)
            try:
                # A session of its own: Ctrl-C on the terminal does not reach it, and it can be killed with its children.
                self.process = subprocess.Popen(
                    [sys.executable, "-u", "-c", _BOOT, *(str(d) for d in descriptors), *sys.path],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    pass_fds=descriptors,
                    start_new_session=True,
                    env={**os.environ, **THREADS},
                )
            except BaseException:
                for descriptor in (self.cases, self.answers, output_read):
                    os.close(descriptor)
                raise
            finally:
                for descriptor in (cases, answers, output):
                    os.close(descriptor)
        for descriptor in (self.cases, self.answers, output_read):
            os.set_blocking(descriptor, False)
        self.output = _Output(output_read)
        self._write(task)

    @property
    def writing(self) -> bool:
        """Whether there is something to write that the pipe did not take at once."""
        return bool(self._outgoing)

    def give(self, index: int, case: Any) -> None:
        self.in_flight.append((index, case))
        self._write(frame((index, pickle.dumps(case, protocol=5))))

    def _write(self, data: bytes) -> None:
        self._outgoing += data
        self.flush()

    def flush(self) -> None:
        """Write as much as the pipe takes."""
        try:
            while self._outgoing:
                del self._outgoing[: os.write(self.cases, self._outgoing)]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._outgoing.clear()  # it died: the end of its answers says so

    def receive(self) -> Iterator[tuple[int, int, Any]]:
        """The messages that have come in; sets ``ended`` where no more can come."""
        while not self.ended:
            try:
                data = os.read(self.answers, PIPE)
            except BlockingIOError:
                break
            self.ended = not data
            self._incoming += data
            if 0 < len(data) < PIPE:
                break  # there was no more: asking again would cost as much
        start = 0
        while len(self._incoming) - start >= HEADER.size and not self.fault:
            body = start + HEADER.size
            size = HEADER.unpack_from(self._incoming, start)[0]
            if size <= LARGEST_ANSWER and len(self._incoming) < body + size:
                break
            start = body + size
            try:
                kind, index, value = pickle.loads(bytes(memoryview(self._incoming)[body:start]))
            except Exception:
                # Not for its own messages: something else in the process wrote into its pipe.
                self.fault = "its answer was damaged: the operator wrote into the pipe of the harness"
                self.ended = True
                break
            yield kind, index, value
        del self._incoming[:start]

    def kill(self) -> None:
        """End the worker, its children, and the external program it runs."""
        kill_group(self.process.pid)
        kill_group(self.board.read_group())
        self.process.wait()

    def free(self) -> None:
        for descriptor in (self.cases, self.answers, self.output.descriptor):
            os.close(descriptor)
        self.board.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


class _Pool:
    def __init__(
        self,
        cases: Iterable[Any],
        task: str,
        options: object,
        jobs: int,
        timeout: float,
        backstop: float | None,
        memory: int | None,
        stray: Callable[[Death], None] | None,
    ) -> None:
        self.source = enumerate(cases)
        self.waiting: deque[tuple[int, Any]] = deque()
        self.jobs = jobs
        self.timeout = timeout
        self.backstop = backstop
        self.stray = stray
        self.deaths_in_a_row = 0
        self.workers: list[_Worker] = []
        self.selector = selectors.DefaultSelector()
        self.looked = time.monotonic()
        self._born = 0
        self._task = (task, pickle.dumps(options, protocol=5), memory)
        try:
            self.folder = tempfile.mkdtemp(prefix="gnll-run-")
        except OSError as error:
            raise UnavailableError(
                f"no temporary folder can be made: {error.strerror or error}",
                where=str(error.filename or ""),
                hint="set TMPDIR to a folder that can be written to and has room",
            ) from error
        self._life, self._alive = os.pipe()

    # Cases out

    def _next(self) -> tuple[int, Any] | None:
        return self.waiting.popleft() if self.waiting else next(self.source, None)

    def feed(self) -> None:
        """Give every worker a case, start workers while there are cases for them, then give small cases ahead."""
        for worker in self.workers:
            if not worker.in_flight:
                if (item := self._next()) is None:
                    return
                worker.give(*item)
                self._watch(worker)
        while len(self.workers) < self.jobs:
            if (item := self._next()) is None:
                return
            self.waiting.appendleft(item)
            worker = self._spawn()
            worker.give(*self.waiting.popleft())
            self._watch(worker)
        for worker in self.workers:
            if len(worker.in_flight) == 1 and _small(worker.in_flight[0][1]):
                if (item := self._next()) is None:
                    return
                if not _small(item[1]):
                    self.waiting.appendleft(item)
                    return
                worker.give(*item)
                self._watch(worker)

    def _spawn(self) -> _Worker:
        self._born += 1
        scratch = os.path.join(self.folder, str(self._born))
        try:
            os.mkdir(scratch)
            worker = _Worker(frame((*self._task, scratch)), self._life, scratch)
        except OSError as error:
            raise UnavailableError(
                f"a worker process cannot be started: {error.strerror or error}",
                where=str(error.filename or ""),
                hint="free memory, processes or disk space, or run with fewer --jobs",
            ) from error
        self.workers.append(worker)
        self.selector.register(worker.answers, selectors.EVENT_READ, worker)
        self.selector.register(worker.output.descriptor, selectors.EVENT_READ, worker)
        return worker

    def _watch(self, worker: _Worker) -> None:
        """Wait for room in the pipe exactly while something is left to write."""
        watched = worker.cases in self.selector.get_map()
        if worker.writing and not watched:
            self.selector.register(worker.cases, selectors.EVENT_WRITE, worker)
        elif watched and not worker.writing:
            self.selector.unregister(worker.cases)

    # Answers in

    def step(self) -> Iterator[tuple[int, Any]]:
        """Wait for something to happen, and yield the cases that are done by it."""
        for key, _ in self.selector.select(TICK):
            worker: _Worker = key.data
            if worker not in self.workers:
                continue  # it died earlier in this round
            if key.fd == worker.answers:
                yield from self._answers(worker)
                if worker.ended:
                    yield from self._bury(worker)
            elif key.fd == worker.cases:
                worker.flush()
                self._watch(worker)
            else:
                worker.output.drain()
        if time.monotonic() - self.looked >= TICK:
            yield from self._look()
            self.looked = time.monotonic()

    def _answers(self, worker: _Worker) -> Iterator[tuple[int, Any]]:
        for kind, index, value in worker.receive():
            if kind == READY:
                worker.ready = True
            elif kind == REFUSED:
                raise value
            elif kind == BROKEN:
                raise UnavailableError(
                    f"a worker could not prepare: {value}",
                    hint="this is a fault of the backend or of the operator's folder",
                )
            elif worker.in_flight and worker.in_flight[0][0] == index:
                # Any other answer is of a child that the operator forked and that went on as if it were the worker.
                self.deaths_in_a_row = 0
                worker.answered = index
                worker.in_flight.popleft()
                yield index, (value if kind == RESULT else self._fault(worker, index, *value))

    def _fault(self, worker: _Worker, index: int, phase: str, reason: str) -> Death:
        worker.output.drain()
        return Death("error", phase, reason, output=worker.output.tail(index))

    def _look(self) -> Iterator[tuple[int, Any]]:
        """Look at the clock of every worker, and whether it is there at all."""
        now = time.monotonic()
        for worker in list(self.workers):
            late = self._late(worker, now)
            if late or worker.process.poll() is not None:
                yield from self._bury(worker, late)

    def _late(self, worker: _Worker, now: float) -> str:
        if not worker.ready:
            return f"no start within {START_LIMIT:g} s" if now - worker.born > START_LIMIT else ""
        entry = worker.board.read()
        if entry.index == _board.NONE:
            return ""
        if entry.phase == EXECUTE:
            own_clock = worker.board.read_group() != _board.NONE
            if now - entry.since > self.timeout + (GRACE if own_clock else 0.0):
                return f"no end within {self.timeout:g} s"
        if self.backstop is not None and now - entry.started > self.backstop:
            return f"not done within {self.backstop:g} s"
        return ""

    def _bury(self, worker: _Worker, late: str = "") -> Iterator[tuple[int, Any]]:
        """End a worker that died or is late; its case in flight is a Death, the case it had ahead goes to another."""
        if not late and not worker.fault:
            # Its pipe is closed: it is dying. Waiting for it keeps its own exit status.
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(2.0)
        worker.kill()
        self._forget(worker)
        try:
            done = list(self._answers(worker))
            worker.output.drain(1 << 20)
            entry = worker.board.read()
            death = self._death(worker, entry, late)
        finally:
            worker.free()
        # Answers come in order: what was begun and not answered is the first in flight.
        begun = bool(worker.fault) or entry.index not in (_board.NONE, worker.answered)
        blamed = begun and bool(worker.in_flight)
        if blamed:
            index, _ = worker.in_flight.popleft()
            done.append((index, death))
            self.deaths_in_a_row = 0
        self.waiting.extendleft(reversed(worker.in_flight))
        yield from done
        if not blamed and not (late and worker.ready):
            self._unexplained(worker, death)

    def _forget(self, worker: _Worker) -> None:
        for descriptor in (worker.cases, worker.answers, worker.output.descriptor):
            if descriptor in self.selector.get_map():
                self.selector.unregister(descriptor)
        self.workers.remove(worker)

    def _death(self, worker: _Worker, entry: _board.Entry, late: str) -> Death:
        output = worker.output.tail(entry.index)
        seconds = max(0.0, time.monotonic() - entry.started)
        if late:
            return Death("timeout", entry.phase, late, output=output, seconds=seconds)
        if worker.fault:
            return Death("crashed", entry.phase, worker.fault, output=output, seconds=seconds)
        code = worker.process.returncode
        name = signal_name(-code) if code < 0 else None
        return Death(
            "crashed", entry.phase, describe_exit(code), name, None if name else code, output=output, seconds=seconds
        )

    def _unexplained(self, worker: _Worker, death: Death) -> None:
        """A worker died without working on a case: at its start, or after a case that it had already answered."""
        self.deaths_in_a_row += 1
        if self.deaths_in_a_row >= DEATHS_IN_A_ROW:
            when = "between cases" if worker.ready else "at their start"
            shown = f"\n{death.output}" if death.output else ""
            raise UnavailableError(
                f"{self.deaths_in_a_row} workers in a row ended {when}: {death.reason}{shown}",
                hint="`gnll doctor` shows what this machine can run",
            )
        if worker.ready and self.stray is not None:
            self.stray(death)

    # The end

    def finish(self) -> None:
        """Let the workers end by themselves (the operator's libraries may crash in doing so: that is reported)."""
        for worker in self.workers:
            if worker.cases in self.selector.get_map():
                self.selector.unregister(worker.cases)
            self.selector.unregister(worker.answers)
            os.close(worker.cases)
            worker.cases = os.open(os.devnull, os.O_WRONLY)
        until = time.monotonic() + CLOSE_LIMIT
        while self.workers:
            for key, _ in self.selector.select(TICK):
                key.data.output.drain()
            for worker in list(self.workers):
                late = "" if time.monotonic() < until else f"no end within {CLOSE_LIMIT:g} s after the last case"
                if late or worker.process.poll() is not None:
                    worker.kill()
                    self._forget(worker)
                    worker.output.drain()
                    if (late or worker.process.returncode != 0) and self.stray is not None:
                        self.stray(self._death(worker, worker.board.read(), late))
                    worker.free()

    def stop(self) -> None:
        """End everything at once; after ``finish`` there is nothing left to end."""
        for worker in self.workers:
            worker.kill()
        for worker in self.workers:
            worker.free()
        self.workers.clear()
        self.selector.close()
        for descriptor in (self._life, self._alive):
            os.close(descriptor)
        shutil.rmtree(self.folder, ignore_errors=True)


def _small(case: Any) -> bool:
    return int(getattr(case, "cost", 0)) <= SMALL


def run_cases(
    cases: Iterable[Any],
    task: str,
    options: object,
    *,
    jobs: int | None = None,
    timeout: float = 60.0,
    backstop: float | None = BACKSTOP,
    memory: int | None = None,
    stray: Callable[[Death], None] | None = None,
) -> Generator[tuple[int, Any], None, None]:
    """Run every case in a worker process and yield ``(index, answer)`` in the order of completion, each case once.

    ``task`` is "module:function". The function is called once in each worker with ``options`` (any picklable object) and
    returns a callable ``work(case, phase) -> answer`` (an attribute ``close`` is called at the end where there is one).
    ``phase(name)`` says which phase begins; names are up to 16 bytes. ``timeout`` (seconds) counts in the phase
    "execute" only, anew with each ``phase("execute")``; ``backstop`` (seconds, None for no limit) for the case as a whole.
    ``memory`` (bytes) limits the address space of each worker. An answer is what ``work`` returned, or a ``Death``.

    At most two cases per worker are taken from ``cases`` ahead of their answers. The worker's standard output and error
    never reach the terminal: their tail is in the Death. ``stray`` is told of a worker that died while it worked on no
    case (between two cases, or in ``close``).

    Raises what ``cases`` raises; a ``GnllError`` that the function of ``task`` raised; ``UnavailableError`` where workers
    cannot be started or three in a row die without an answer. When the generator is closed or interrupted (Ctrl-C), the
    workers and the programs they run are killed at once. When this process is killed, they end by themselves.
    """
    pool = _Pool(cases, task, options, jobs or default_jobs(), timeout, backstop, memory, stray)
    try:
        while True:
            pool.feed()
            if not pool.workers or not (pool.waiting or any(w.in_flight for w in pool.workers)):
                break
            yield from pool.step()
        pool.finish()
    finally:
        pool.stop()
