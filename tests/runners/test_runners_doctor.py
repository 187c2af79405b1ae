"""``gnll doctor``: what it finds on this machine, and on machines where something is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner

from gnll_cli import doctor, runners
from gnll_cli.commands.doctor import command
from gnll_cli.errors import UnavailableError


def found(group: str) -> dict[str, doctor.Check]:
    return {check.name: check for check in doctor.examine() if check.group.startswith(group)}


def gnll_doctor(*arguments: str) -> tuple[int, str]:
    # The exit code is the command's return value: ``gnll_cli.main`` makes the process's of it.
    result = CliRunner().invoke(command, list(arguments), standalone_mode=False)
    assert result.exception is None
    return int(result.return_value), result.output


def test_the_command_as_a_user_calls_it() -> None:
    done = subprocess.run([sys.executable, "-m", "gnll_cli.main", "doctor"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.endswith("The default backend can run.\n")
    # A line may be longer only where a single word (a path) is.
    assert all(len(line) <= 80 or " " not in line.strip() for line in done.stdout.splitlines())


def test_json_says_the_same_as_the_text() -> None:
    code, text = gnll_doctor("--json")
    document = json.loads(text)
    assert code == 0
    assert document["healthy"] is True
    assert {check["name"] for check in document["checks"]} >= {"python", "numpy", "exec", "cores", "temp folder"}
    assert {check["state"] for check in document["checks"]} <= {"ok", "missing", "broken"}


def test_packages_are_those_the_distribution_requires() -> None:
    python = found("Python")
    assert set(python) == {"python", "click", "numpy", "pyyaml", "rich", "ml_dtypes", "jsonschema"}
    assert python["numpy"].text == metadata.version("numpy")


def test_a_package_that_is_missing_or_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "rich":
            raise metadata.PackageNotFoundError(name)
        return {"numpy": "1.9.5", "ml_dtypes": "99.0"}.get(name) or real(name)

    monkeypatch.setattr(metadata, "version", version)
    python = found("Python")
    assert (python["rich"].state, python["rich"].text) == ("missing", ">=13.0 is needed")
    assert python["rich"].fix.endswith("-m pip install 'rich>=13.0'")
    assert (python["numpy"].state, python["numpy"].text) == ("broken", "1.9.5, but >=1.26 is needed")
    assert python["ml_dtypes"].state == "broken"
    assert python["ml_dtypes"].text.startswith("99.0, but >=")
    code, text = gnll_doctor()
    assert code == 3
    assert "pip install 'numpy>=1.26'" in " ".join(text.split())
    assert "The default backend cannot run" in text


def test_backends_missing_and_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    numpy = runners.get("numpy")

    def get(name: str) -> type[runners.Runner]:
        if name == "exec":
            raise UnavailableError("backend 'exec' does not load: ImportError: gone", hint="mend it")
        return numpy

    monkeypatch.setattr(runners, "get", get)
    backends = found("Backends")
    assert (backends["exec"].state, backends["exec"].fix) == ("broken", "mend it")
    assert backends["numpy"].state == "ok"
    assert gnll_doctor()[0] == 0  # the default one can run

    monkeypatch.setattr(numpy, "missing", classmethod(lambda cls, options: "a device; plug one in"))
    assert found("Backends")["numpy"].state == "missing"
    code, text = gnll_doctor()
    assert code == 3
    assert "fix: a device; plug one in" in text


def fake_compiler(folder: Path, name: str, body: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


def test_compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    (missing,) = found("C++").values()
    assert (missing.state, missing.name) == ("missing", "c++")
    assert missing.fix
    fake_compiler(tmp_path, "g++", "echo 'g++ (fake) 12.1'; echo more")
    fake_compiler(tmp_path, "clang++", "exit 1")
    compilers = found("C++")
    assert compilers["g++"].text == f"{tmp_path}/g++, g++ (fake) 12.1"
    assert compilers["clang++"].text == f"{tmp_path}/clang++, which tells no version"
    assert gnll_doctor()[0] == 0  # no compiler is needed to run cases


@pytest.mark.parametrize(("value", "state"), [("g++ -m64", "ok"), ("icpx", "missing"), ("'", "missing")])
def test_cxx_of_the_environment(value: str, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CXX", value)
    fake_compiler(tmp_path, "g++", 'echo "called with $*"')
    check = found("C++")["$CXX"]
    assert check.state == state
    if state == "ok":
        assert check.text.endswith("called with -m64 --version")


def test_a_temporary_folder_that_cannot_be_written_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    check = found("Machine")["temp folder"]
    assert check.state == "broken"
    assert "TMPDIR" in check.fix
    assert gnll_doctor()[0] == 3


def test_the_machine() -> None:
    machine = found("Machine")
    assert machine["cores"].text.endswith(f"of {os.cpu_count()} for this process")
    memory = doctor.memory_bytes()
    assert memory is None or memory > 1 << 26
