"""Atomic writing and the lock of a report folder."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from reports_samples import ENVIRONMENT, SELECTION, record

from gnll_cli.errors import UsageError
from gnll_cli.reports import RunReport
from gnll_cli.reports.files import FolderLock, atomic


def test_a_write_that_ends_well_replaces_the_file(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    with atomic(path) as stream:
        stream.write("new\n")
        assert path.read_text() == "old"
    assert path.read_bytes() == b"new\n"
    assert os.listdir(tmp_path) == ["report.json"]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, OSError])
def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, failure: type[BaseException]) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")

    def write_half() -> None:
        with atomic(path) as stream:
            stream.write("half")
            stream.flush()
            raise failure("in the middle")

    with pytest.raises(failure):
        write_half()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.json"]


def test_a_process_killed_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    program = f"""
    import os, signal
    from pathlib import Path
    from gnll_cli.reports.files import atomic
    with atomic(Path({str(path)!r})) as stream:
        stream.write("half")
        stream.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False, timeout=60).returncode == -9
    assert path.read_text() == "old"


def test_the_umask_decides_who_may_read_a_report(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        with atomic(tmp_path / "a") as stream:
            stream.write("x")
    finally:
        os.umask(old)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "file")
    with atomic(tmp_path / "link") as stream:
        stream.write("x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "file").read_text() == "x"


def test_a_report_that_fails_halfway_leaves_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunReport(tmp_path, ENVIRONMENT, SELECTION, 1) as run:
        run.add(0, record("old"))
        run.finish()
    before = (tmp_path / "report.json").read_bytes()

    class Breaking(RunReport):
        def texts(self) -> Any:
            yield next(super().texts())
            raise KeyboardInterrupt

    with Breaking(tmp_path, ENVIRONMENT, SELECTION, 2) as run:
        run.add(0, record("new"))
        run.add(1, record("newer"))
        with pytest.raises(KeyboardInterrupt):
            run.finish()
    assert (tmp_path / "report.json").read_bytes() == before
    assert (tmp_path / "journal.jsonl").exists()
    with RunReport(tmp_path, ENVIRONMENT, SELECTION, 2, resume=True) as run:
        assert run.resumable == 2


def test_two_runs_in_one_folder_are_refused(tmp_path: Path) -> None:
    with RunReport(tmp_path, ENVIRONMENT, SELECTION, 1) as run:
        run.add(0, record("a"))
        with pytest.raises(UsageError, match=f"another run \\(process {os.getpid()}\\)") as error:
            RunReport(tmp_path / ".." / tmp_path.name, ENVIRONMENT, SELECTION, 1)
        assert "--report-dir" in error.value.hint
        run.finish()
    with RunReport(tmp_path, ENVIRONMENT, SELECTION, 1):
        pass
    assert sorted(p.name for p in tmp_path.iterdir()) == ["journal.jsonl", "junit.xml", "report.json", "report.md"]


HOLDER = """
import os, sys, time
from gnll_cli.reports.files import FolderLock
from pathlib import Path
lock = FolderLock(Path(sys.argv[1]))
child = os.fork() if sys.argv[2] == "fork" else None
if child == 0:
    time.sleep(60)
    os._exit(0)
print(os.getpid(), child or 0, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("worker", ["none", "fork"])
def test_another_process_is_refused_until_the_first_is_gone(tmp_path: Path, worker: str) -> None:
    """Also where a worker of the killed run is still alive."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path), worker], stdout=subprocess.PIPE, text=True)
    child = 0
    try:
        assert holder.stdout is not None
        pid, child = map(int, holder.stdout.readline().split())
        with pytest.raises(UsageError, match=f"process {pid}"):
            RunReport(tmp_path, ENVIRONMENT, SELECTION, 1)
        holder.kill()
        holder.wait()
        with RunReport(tmp_path, ENVIRONMENT, SELECTION, 1) as run:
            run.add(0, record("a"))
            assert run.finish().problems == []
    finally:
        holder.kill()
        holder.wait()
        if child:
            os.kill(child, 9)
        if holder.stdout is not None:
            holder.stdout.close()


def test_a_lock_is_released_once(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    lock.release()
    other = FolderLock(tmp_path)
    lock.release()
    with pytest.raises(UsageError):
        FolderLock(tmp_path)
    other.release()


def test_a_folder_that_cannot_be_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UsageError, match="cannot write reports here") as error:
            RunReport(folder, ENVIRONMENT, SELECTION, 1)
        assert "--report-dir" in error.value.hint


def test_a_report_file_that_cannot_be_replaced_is_a_problem_told(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").mkdir()
    with RunReport(tmp_path, ENVIRONMENT, SELECTION, 1) as run:
        run.add(0, record("a"))
        finished = run.finish()
    assert len(finished.problems) == 1
    assert "junit.xml" in finished.problems[0]
    assert finished.summary["exit_code"] == 0
    assert finished.exit_code == 2
    assert sorted(finished.paths) == ["json", "markdown"]
    assert [p.name for p in tmp_path.iterdir() if p.name.endswith(".tmp")] == []
