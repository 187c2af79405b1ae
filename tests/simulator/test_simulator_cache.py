"""The cache of built libraries: found by everything it was made of, whole or not at all, built once by two runs."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gnll_cli.errors import UnavailableError
from gnll_cli.simulator import cache


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GNLL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Maker:
    def __init__(self, others: list[Path] | None = None) -> None:
        self.others = others or []
        self.made = 0

    def __call__(self, folder: Path) -> list[Path]:
        self.made += 1
        (folder / "file").write_text(f"made {self.made}")
        return self.others


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == tmp_path / "cache"
    monkeypatch.delenv("GNLL_CACHE")
    assert cache.folder() == tmp_path / "xdg" / "gnll"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache.folder() == tmp_path / "home" / ".cache" / "gnll"


def test_a_cache_that_cannot_be_made_says_how_to_name_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GNLL_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(UnavailableError, match="set GNLL_CACHE"):
        cache.folder()


def test_a_unit_is_made_once() -> None:
    make = Maker()
    first, made = cache.unit("a", lambda: "key", make)
    assert made
    assert cache.unit("a", lambda: "key", make) == (first, False)
    assert make.made == 1
    assert (first / "file").read_text() == "made 1"


def test_another_key_is_another_unit() -> None:
    make = Maker()
    assert cache.unit("a", lambda: "one", make)[0] != cache.unit("a", lambda: "two", make)[0]
    assert make.made == 2
    assert cache.unit("a", lambda: "one", make)[1] is False


def test_a_file_that_the_compiler_read_elsewhere_is_part_of_the_key(tmp_path: Path) -> None:
    other = tmp_path / "other.h"
    other.write_text("1")
    make = Maker([other])
    first, _ = cache.unit("a", lambda: "key", make)
    assert cache.unit("a", lambda: "key", make) == (first, False)
    other.write_text("2")
    second, made = cache.unit("a", lambda: "key", make)
    assert made
    assert second != first
    # As it was: what was made of it then is found again.
    other.write_text("1")
    assert cache.unit("a", lambda: "key", make) == (first, False)
    other.unlink()
    assert cache.unit("a", lambda: "key", make)[1] is True


def test_a_build_that_fails_leaves_nothing(place: Path) -> None:
    def fail(folder: Path) -> list[Path]:
        (folder / "half").write_text("half")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        cache.unit("a", lambda: "key", fail)
    assert [f.name for f in place.iterdir()] == ["a.lock"]
    assert cache.unit("a", lambda: "key", Maker())[1]


def test_sources_that_change_while_they_are_compiled_are_compiled_again() -> None:
    keys = iter(["old", "old", "new", "new", "new", "new"])
    make = Maker()
    folder, made = cache.unit("a", lambda: next(keys), make)
    assert made
    assert make.made == 2
    assert (folder / "file").read_text() == "made 2"
    assert cache.unit("a", lambda: "new", make) == (folder, False)
    assert cache.unit("a", lambda: "old", make)[1] is True


def _build(count: str) -> None:
    def make(folder: Path) -> list[Path]:
        with open(count, "a") as file:
            file.write("x")
        (folder / "first").write_text("1")
        time.sleep(0.3)
        (folder / "second").write_text("2")
        return []

    folder, _ = cache.unit("shared", lambda: "key", make)
    assert sorted(f.name for f in folder.iterdir()) == ["first", "second"]


def test_processes_that_need_the_same_build_it_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_build, args=(str(count),)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
        assert process.exitcode == 0
    assert count.read_text() == "x"


def test_a_killed_build_is_never_found_and_the_next_one_clears_it_away(place: Path, tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom gnll_cli.simulator import cache\n"
        "def make(folder):\n"
        "    (folder / 'half').write_text('half')\n"
        "    print('building', flush=True)\n"
        "    time.sleep(60)\n"
        "cache.unit('a', lambda: 'key', make)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"building\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    left = list(place.glob("a.building-*"))
    assert [f.name for f in left[0].iterdir()] == ["half"]
    folder, made = cache.unit("a", lambda: "key", Maker())
    assert made
    assert [f.name for f in folder.iterdir()] == ["file"]
    assert not list(place.glob("a.building-*"))


def test_units_that_no_run_used_for_long_are_removed(place: Path) -> None:
    old, _ = cache.unit("old", lambda: "key", Maker())
    used, _ = cache.unit("used", lambda: "key", Maker())
    long_ago = time.time() - cache.UNUSED - 60
    for path in place.iterdir():
        os.utime(path, (long_ago, long_ago))
    assert cache.unit("used", lambda: "key", Maker())[1] is False  # which notes the use
    cache.unit("new", lambda: "key", Maker())
    assert not old.exists()
    assert used.exists()
