"""The worker pool: whatever happens to a worker is an answer for exactly the case it worked on."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pool_tasks import Costly

from gnll_cli.errors import UnavailableError, UsageError
from gnll_cli.runners import workers
from gnll_cli.runners.workers import Death, run_cases

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _tasks_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))


def run(cases: list[Any], task: str = "start", **options: Any) -> dict[int, Any]:
    answers = list(run_cases(cases, f"pool_tasks:{task}", options.pop("options", None), **{"jobs": 1, **options}))
    assert len({index for index, _ in answers}) == len(answers) == len(cases)
    return dict(answers)


def gone(pid: int, within: float = 5.0) -> bool:
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return True  # dead; whoever inherited it has not asked for its status yet
        time.sleep(0.02)
    return False


def test_every_case_gets_its_own_answer() -> None:
    answers = run([("double", n) for n in range(500)], jobs=2)
    assert answers == {n: 2 * n for n in range(500)}


def test_cases_run_outside_this_process_even_with_one_job() -> None:
    answers = run([("pid",), ("pid",)])
    assert answers[0] == answers[1] != os.getpid()


def test_no_case_no_worker() -> None:
    assert run([]) == {}


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGKILL", "SIGFPE", "SIGTERM"])
def test_death_by_signal_is_charged_to_its_case(name: str) -> None:
    answers = run([("double", 1), ("signal", getattr(signal, name)), ("double", 3), ("double", 4)])
    death = answers.pop(1)
    assert answers == {0: 2, 2: 6, 3: 8}
    assert (death.kind, death.phase, death.signal, death.exit_code) == ("crashed", "execute", name, None)
    assert name in death.reason


def test_a_real_segmentation_fault_shows_where() -> None:
    death = run([("segfault",)])[0]
    assert death.signal == "SIGSEGV"
    assert "pool_tasks.py" in death.output


@pytest.mark.parametrize(("deed", "code"), [("_exit", 0), ("_exit", 3), ("sys.exit", 0), ("sys.exit", 4)])
def test_a_worker_that_exits(deed: str, code: int) -> None:
    answers = run([("double", 1), (deed, code), ("double", 2)])
    death = answers.pop(1)
    assert answers == {0: 2, 2: 4}
    assert (death.kind, death.exit_code, death.signal) == ("crashed", code, None)
    assert death.reason == f"exited with code {code}"


def test_many_deaths_in_a_row_do_not_end_the_run() -> None:
    answers = run([("_exit", 1)] * 5 + [("double", 1)])
    assert all(isinstance(answers[n], Death) for n in range(5))
    assert answers[5] == 2


def test_a_hang_is_killed_and_the_run_goes_on() -> None:
    began = time.monotonic()
    answers = run([("double", 1), ("hang", "execute"), ("double", 2)], timeout=0.3)
    assert time.monotonic() - began < 20
    death = answers.pop(1)
    assert answers == {0: 2, 2: 4}
    assert (death.kind, death.phase, death.reason) == ("timeout", "execute", "no end within 0.3 s")
    assert death.seconds >= 0.3


def test_the_time_limit_counts_in_phase_execute_only() -> None:
    assert run([("slow", "golden", 0.8)], timeout=0.3)[0] == "slow but done"


def test_the_time_limit_counts_anew_with_each_execution() -> None:
    assert run([("twice", 0.7)], timeout=1.0)[0] == "two executions"


def test_the_backstop_counts_for_the_whole_case() -> None:
    death = run([("hang", "golden")], timeout=60.0, backstop=0.3)[0]
    assert (death.kind, death.phase) == ("timeout", "golden")


def test_an_exception_is_an_error_with_its_place_and_keeps_the_worker() -> None:
    answers = run([("pid",), ("raise", "missing"), ("pid",)])
    death = answers[1]
    assert (death.kind, death.phase) == ("error", "execute")
    assert death.reason.startswith("KeyError: 'missing' at ")
    line = int(death.reason.rsplit(":", 1)[1])
    assert "raise KeyError" in (HERE / "pool_tasks.py").read_text().splitlines()[line - 1]
    assert answers[0] == answers[2]


def test_an_answer_that_cannot_be_sent_is_an_error() -> None:
    answers = run([("unpicklable",), ("double", 1)])
    assert "this cannot be sent" in answers[0].reason
    assert answers[1] == 2


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not enforce RLIMIT_AS")
def test_a_memory_eater_gets_a_verdict() -> None:
    answers = run([("eat", 8 << 30), ("eat", 1 << 20)], memory=2 << 30)
    assert answers[0].kind == "error"
    assert answers[0].reason.startswith("MemoryError")
    assert answers[1] == 1 << 20


def test_what_the_operator_prints_goes_with_its_own_case(capfd: pytest.CaptureFixture[str]) -> None:
    answers = run([("say", "one", "die"), ("say", "two", "raise"), ("double", 1), ("say", "three", "die")])
    for index, word in ((0, "one"), (1, "two"), (3, "three")):
        assert answers[index].output.startswith(f"{word}on stdout too")
        assert sum(other in answers[index].output for other in ("one", "two", "three")) == 1
    seen = capfd.readouterr()
    assert seen.out == seen.err == ""


def test_a_flood_of_output_is_bounded_and_lets_the_case_finish() -> None:
    answers = run([("flood", 200), ("say", "y" * 20000 + "last words", "die")])
    assert answers[0] == "flooded"
    assert "last words" in answers[1].output
    assert len(answers[1].output) <= workers.TAIL


def test_large_cases_and_answers_do_not_block_each_other() -> None:
    big = [("big", bytes([n]) * (3 << 20)) for n in range(6)]
    answers = run(big, jobs=2)
    assert all(answers[n] == big[n][1] + b"!" for n in range(6))


def test_cases_are_taken_only_as_they_are_needed() -> None:
    taken = 0

    def endless() -> Iterator[tuple[str, int]]:
        nonlocal taken
        while True:
            taken += 1
            yield "double", taken

    pool = run_cases(endless(), "pool_tasks:start", None, jobs=2)
    for done, _ in enumerate(pool, start=1):
        assert taken <= done + 2 * 2 + 1
        if done == 100:
            break
    pool.close()


def test_no_case_waits_behind_a_large_one(tmp_path: Path) -> None:
    path = tmp_path / "all others are done"
    cases = [Costly(("wait", str(path))), *[("double", n) for n in range(1, 20)]]
    answers: dict[int, Any] = {}
    for index, answer in run_cases(cases, "pool_tasks:start", None, jobs=2):
        answers[index] = answer
        if len(answers) == 19:
            path.touch()
    assert answers[0] == "it came"


def test_a_forked_child_that_keeps_the_pipes_does_not_hide_the_death() -> None:
    began = time.monotonic()
    answers = run([("fork",), ("double", 1)])
    assert answers[0].exit_code == 7
    assert answers[1] == 2
    assert time.monotonic() - began < 20


def test_a_forked_child_that_answers_too_is_not_heard_twice() -> None:
    answers = run([("fork and both return",), ("double", 1), ("double", 2)])
    assert answers[0] in ("parent", "child")
    assert (answers[1], answers[2]) == (2, 4)


@pytest.mark.parametrize(
    "garbage",
    [
        b"x" * 100,
        struct.pack("=Q", 3) + b"abc",
        struct.pack("=Q", 5) + pickle.dumps(7, protocol=5),
        struct.pack("=Q", 6) + pickle.dumps(7, protocol=5),  # one byte short: the next answer is no longer readable
    ],
    ids=["text", "no pickle", "no answer", "cut"],
)
def test_an_operator_that_writes_into_the_pipe(garbage: bytes) -> None:
    answers = run([("double", 1), ("write into the pipe", garbage), ("double", 2)])
    assert (answers[0], answers[2]) == (2, 4)
    assert answers[1].kind == "crashed"
    assert "damaged" in answers[1].reason


def test_two_thousand_small_cases() -> None:
    began = time.monotonic()
    assert sum(run([("double", 1)] * 2000, jobs=2).values()) == 4000
    assert time.monotonic() - began < 30  # takes a quarter of a second; a wait for a tick per case would take 100


def test_one_thread_per_worker() -> None:
    assert run([("environment", name) for name in workers.THREADS]) == dict.fromkeys(range(len(workers.THREADS)), "1")


# Starting and ending


def test_a_refusal_to_start_reaches_the_caller_as_it_is() -> None:
    with pytest.raises(UnavailableError) as caught:
        run([("double", 1)], "start_refusing", options="plug it in")
    assert (caught.value.what, caught.value.where, caught.value.hint) == (
        "the device is away",
        "device 0",
        "plug it in",
    )
    with pytest.raises(UsageError, match="no such thing"):
        run([("double", 1)], "start_usage")


def test_a_broken_start_names_type_and_place() -> None:
    with pytest.raises(UnavailableError, match=r"RuntimeError: the library does not load at .*pool_tasks\.py:\d+"):
        run([("double", 1)], "start_broken")
    with pytest.raises(UnavailableError, match="no_such_function"):
        run([("double", 1)], "no_such_function")


def test_three_crashes_at_the_start_end_the_run() -> None:
    with pytest.raises(UnavailableError) as caught:
        run([("double", 1)], "start_crashing")
    assert "3 workers in a row ended at their start: died of SIGSEGV" in caught.value.what
    assert "cannot open the device" in caught.value.what


def test_workers_are_closed_in_order(tmp_path: Path) -> None:
    path = tmp_path / "closed"
    assert run([1, 2, 3], "Closing", options=str(path)) == {0: 1, 1: 2, 2: 3}
    assert path.read_text() == "closed\n"


def test_a_death_in_close_is_told() -> None:
    told: list[Death] = []
    assert run([1], "Closing", options="die", stray=told.append) == {0: 1}
    assert [(d.kind, d.phase, d.signal) for d in told] == [("crashed", "close", "SIGABRT")]


def test_a_death_between_cases_is_told_and_blames_no_case() -> None:
    told: list[Death] = []

    def cases() -> Iterator[int]:
        yield from range(4)
        time.sleep(1.0)  # the worker has answered case 3 and dies while it waits for the next
        yield from range(4, 8)

    answers = dict(run_cases(cases(), "pool_tasks:DiesBetweenCases", None, jobs=1, stray=told.append))
    assert answers == {n: n for n in range(8)}
    assert [d.signal for d in told] == ["SIGALRM"]


def test_closing_the_generator_ends_workers_and_programs(tmp_path: Path) -> None:
    path = tmp_path / "pids"

    def cases() -> Iterator[tuple[Any, ...]]:
        yield "double", 1
        yield "program", str(path)

    pool = run_cases(cases(), "pool_tasks:start", None, jobs=1)
    assert next(pool) == (0, 2)
    worker, program = wait_for_pids(path)
    pool.close()
    assert gone(worker)
    assert gone(program)


def test_a_hanging_worker_takes_its_program_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pids"
    monkeypatch.setattr(workers, "GRACE", 0.2)
    answers = run([("program", str(path)), ("double", 1)], timeout=0.2)
    worker, program = wait_for_pids(path)
    assert answers[0].kind == "timeout"
    assert answers[1] == 2
    assert gone(worker)
    assert gone(program)


def test_an_exception_of_the_case_source_ends_the_workers() -> None:
    def cases() -> Iterator[tuple[Any, ...]]:
        yield ("pid",)
        raise UsageError("the file ends here")

    with pytest.raises(UsageError, match="the file ends here"):
        list(run_cases(cases(), "pool_tasks:start", None, jobs=2))


PARENT = """
import sys
sys.path.insert(0, {here!r})
from gnll_cli.runners.workers import run_cases
try:
    for index, answer in run_cases([("pid",), ("program", sys.argv[1])], "pool_tasks:start", None, jobs=1):
        print(index, answer, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def wait_for_pids(path: Path) -> tuple[int, int]:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if path.exists() and len(words := path.read_text().split()) == 2:
            return int(words[0]), int(words[1])
        time.sleep(0.02)
    raise AssertionError("the worker did not get as far as its program")


@pytest.mark.parametrize("how", ["interrupt", "kill"])
def test_an_ended_parent_leaves_no_process_behind(how: str, tmp_path: Path) -> None:
    path = tmp_path / "pids"
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(here=str(HERE)), str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        start_new_session=True,
    )
    worker, program = wait_for_pids(path)
    if how == "interrupt":
        os.killpg(parent.pid, signal.SIGINT)  # as the terminal does
        out, err = parent.communicate(timeout=20)
        assert out.splitlines()[-1] == "interrupted"
        assert err == ""
    else:
        parent.kill()
        parent.communicate(timeout=20)
    assert gone(worker)
    assert gone(program)
    assert [p.name for p in tmp_path.iterdir()] == ["pids"]


def test_temporary_files_of_the_run_are_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run([("double", 1), ("_exit", 1), ("double", 2)])
    assert list(tmp_path.iterdir()) == []


def test_no_temporary_folder_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(UnavailableError, match="no temporary folder") as caught:
        run([("double", 1)])
    assert "TMPDIR" in caught.value.hint


def test_descriptors_are_returned() -> None:
    folder = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
    gc.collect()
    before = len(os.listdir(folder))
    run([("double", 1), ("_exit", 1), ("_exit", 1), ("double", 2)])
    assert len(os.listdir(folder)) <= before


def test_output_is_told_apart_wherever_the_reads_cut_it() -> None:
    text = b"".join(workers.MARK % n + f"text of {n}\0\0gnll\n".encode() for n in (8, 9, 10))
    for cut in range(len(text) + 1):
        for second in range(cut, len(text) + 1):
            read, write = os.pipe()
            os.set_blocking(read, False)
            output = workers._Output(read)
            for part in (text[:cut], text[cut:second], text[second:]):
                os.write(write, part)
                output.drain()
            assert output.tail(10) == "text of 10\0\0gnll"
            assert output.tail(9) == "text of 9\0\0gnll"
            assert output.tail(8) == ""  # only the last two are kept
            os.close(read)
            os.close(write)
