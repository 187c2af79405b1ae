"""The door of the backends: found by file, imported when used, a broken one alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnll_cli import runners
from gnll_cli.errors import UnavailableError, UsageError
from gnll_cli.runners.interface import Runner, RunnerOptions

GOOD = """
from gnll_cli.runners.interface import Runner
class Mine(Runner):
    name = "{name}"
    summary = "mine"
    @classmethod
    def missing(cls, options):
        return "a device; plug one in" if options.package else None
    def run(self, case, operator, inputs):
        raise AssertionError
RUNNER = Mine
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of backends more, seen as if it were part of the package's own."""
    monkeypatch.setattr(runners, "_FOLDER", tmp_path)
    monkeypatch.setattr(runners, "__path__", [*runners.__path__, str(tmp_path)])
    runners.names.cache_clear()
    runners.get.cache_clear()
    yield tmp_path
    runners.names.cache_clear()
    runners.get.cache_clear()
    for name in ("fine", "bad_import", "bad_syntax", "misnamed", "no_class"):
        sys.modules.pop(f"gnll_cli.runners.{name}", None)


def test_backends_are_the_files_that_set_runner() -> None:
    assert runners.names() == ("exec", "numpy", "sim")
    for name in runners.names():
        runner = runners.get(name)
        assert issubclass(runner, Runner)
        assert runner.name == name
        assert runner.summary
    assert runners.DEFAULT in runners.names()


def test_names_import_no_backend() -> None:
    code = (
        "import sys; from gnll_cli import runners; runners.names(); "
        "print([m for m in sys.modules if m.startswith('gnll_cli.runners.') and m.split('.')[2] in runners.names()])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_one_more_file_is_one_more_backend(folder: Path) -> None:
    (folder / "fine.py").write_text(GOOD.format(name="fine"))
    (folder / "helper.py").write_text("# RUNNER is set elsewhere\nx = 'RUNNER'\n")
    (folder / "_hidden.py").write_text("RUNNER = None\n")
    assert runners.names() == ("fine",)
    assert runners.get("fine").summary == "mine"
    assert runners.require(RunnerOptions("fine")) is runners.get("fine")
    with pytest.raises(UnavailableError, match="backend 'fine' cannot run here: a device; plug one in"):
        runners.require(RunnerOptions("fine", package="x"))


def test_a_broken_backend_says_why_and_leaves_the_others_alone(folder: Path) -> None:
    (folder / "fine.py").write_text(GOOD.format(name="fine"))
    (folder / "bad_import.py").write_text("import no_such_toolkit\nRUNNER = None\n")
    (folder / "bad_syntax.py").write_text("RUNNER = (\n")
    (folder / "misnamed.py").write_text(GOOD.format(name="other"))
    (folder / "no_class.py").write_text("RUNNER = 3\n")
    assert runners.names() == ("bad_import", "bad_syntax", "fine", "misnamed", "no_class")
    for name, said in (
        ("bad_import", "ModuleNotFoundError: No module named 'no_such_toolkit'"),
        ("bad_syntax", "SyntaxError"),
        ("misnamed", "is not a Runner of that name"),
        ("no_class", "is not a Runner of that name"),
    ):
        with pytest.raises(UnavailableError) as caught:
            runners.get(name)
        assert said in caught.value.what
        assert caught.value.where.endswith(f"{name}.py")
        assert caught.value.exit_code == 3
    assert runners.get("fine").name == "fine"


def test_a_backend_of_later_versions_is_said_to_be_so() -> None:
    with pytest.raises(UsageError) as caught:
        runners.get("npu")
    assert "'npu' is not part of this version" in str(caught.value)
    assert "--backend exec --exec 'CMD'" in str(caught.value)


def test_a_near_miss_is_suggested() -> None:
    with pytest.raises(UsageError, match="did you mean 'numpy'"):
        runners.get("nunpy")
    with pytest.raises(UsageError, match="known: exec, numpy, sim"):
        runners.get("cuda")
