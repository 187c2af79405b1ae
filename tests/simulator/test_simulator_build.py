"""Packages from source to libraries: what is built, what is built again, and what is said of one that does not compile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gnll_cli.errors import UnavailableError, UsageError
from gnll_cli.simulator import BuildError, build, compiler, package
from gnll_cli.simulator.glue import Prototype

needs_compiler = pytest.mark.skipif(compiler.missing() is not None, reason="needs a C++ compiler")

DEF = """
#include "register/op_def_registry.h"
namespace ops {
class AddOne : public OpDef {
public:
    explicit AddOne(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("times").AttrType(OPTIONAL).Int(1);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(AddOne);
}
"""
KERNEL = """
#include "kernel_operator.h"
#include "../add_one_common.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void add_one(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    static_assert(sizeof(DTYPE_X) == sizeof(DTYPE_Y), "");
    (void)workspace;
    (void)tiling;
    auto from = reinterpret_cast<DTYPE_X *>(x);
    auto to = reinterpret_cast<DTYPE_Y *>(y);
    to[GetBlockIdx()] = from[GetBlockIdx()];
}
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The cache that all tests of the run share: the runtime is built once."""
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "gnll-cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNLL_CACHE", str(place))
        yield place


@pytest.fixture
def root(tmp_path: Path, cache: Path) -> Path:
    """A package whose folder, and so its units in the cache, no other test has."""
    root = tmp_path / f"package_{uuid.uuid4().hex}"
    (root / "op_host").mkdir(parents=True)
    (root / "op_kernel").mkdir()
    (root / "op_host" / "add_one_def.cpp").write_text(DEF)
    (root / "op_kernel" / "add_one.cpp").write_text(KERNEL)
    (root / "add_one_common.h").write_text("// shared\n")
    return root


def columns(*wanted: int) -> Callable[[Prototype], tuple[int, ...]]:
    return lambda prototype: wanted


def made(root: Path, *wanted: int) -> tuple[str, ...]:
    return build(package.find(root), columns(*wanted)).compiled


@needs_compiler
def test_only_what_is_needed_and_changed_is_built(root: Path, cache: Path) -> None:
    host, float32, half = f"the host side of {root.name}", "add_one (column 0, float)", "add_one (column 1, half)"
    first = build(package.find(root), columns(0))
    assert set(first.compiled) - {"the simulator's runtime"} == {host, float32}
    library = first.operators["AddOne"]
    assert [t.name for t in library.prototype.inputs] == ["x"]
    assert library.prototype.attributes == (("times", "int"),)
    assert set(library.kernels) == {0}
    assert Path(library.host).is_relative_to(cache)

    again = build(package.find(root), columns(0))
    assert again.compiled == ()
    assert again.operators == first.operators
    assert again.seconds < 1
    assert made(root, 0, 1) == (half,)
    assert made(root, 0, 1) == ()

    kernel = root / "op_kernel" / "add_one.cpp"
    kernel.write_text(KERNEL + "// changed\n")
    assert set(made(root, 0, 1)) == {float32, half}
    kernel.write_text(KERNEL)
    assert made(root, 0, 1) == ()
    (root / "add_one_common.h").write_text("// a header that lies elsewhere changed\n")
    assert set(made(root, 0, 1)) == {float32, half}
    (root / "op_host" / "add_one_def.cpp").write_text(DEF.replace("Int(1)", "Int(2)"))
    assert made(root, 0, 1) == (host,)


@needs_compiler
def test_an_error_is_shown_as_the_compiler_says_it(root: Path) -> None:
    (root / "op_kernel" / "add_one.cpp").write_text(KERNEL.replace("to[GetBlockIdx()] =", "to[GetBlockIdx()] = 1 +* "))
    with pytest.raises(BuildError) as caught:
        made(root, 0)
    line = 1 + KERNEL[: KERNEL.index("to[Get")].count("\n")
    assert caught.value.what.startswith("add_one (column 0, float) does not compile:\n")
    assert f"op_kernel/add_one.cpp:{line}:" in caught.value.what
    assert "error:" in caught.value.what
    assert str(root) not in caught.value.what
    assert caught.value.exit_code == 2


@needs_compiler
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("AscendC::BroadCast<float, 2, 0>(y, x);", "BroadCast is not simulated"),
        ("AscendC::TBigQueue<int> queue;", "TBigQueue is not simulated"),
        ("LayerNormGradThing(x, y);", "LayerNormGradThing is not simulated"),
    ],
)
def test_a_name_that_the_simulator_does_not_have_is_said_by_name(root: Path, line: str, said: str) -> None:
    (root / "op_kernel" / "add_one.cpp").write_text(KERNEL.replace("(void)workspace;", line))
    with pytest.raises(BuildError) as caught:
        made(root, 0)
    assert caught.value.hint.startswith(said)


@needs_compiler
def test_a_header_that_the_simulator_does_not_have_is_said_by_name(root: Path) -> None:
    (root / "op_kernel" / "add_one.cpp").write_text('#include "lib/matmul_intf.h"\n' + KERNEL)
    with pytest.raises(BuildError) as caught:
        made(root, 0)
    assert caught.value.hint.startswith("the header lib/matmul_intf.h is not simulated")


@needs_compiler
def test_a_function_that_is_declared_and_nowhere_defined_does_not_link(root: Path) -> None:
    (root / "op_kernel" / "add_one.cpp").write_text(
        "void Nowhere();\n" + KERNEL.replace("(void)workspace;", "Nowhere();")
    )
    with pytest.raises(BuildError, match=r"does not link:\n(.|\n)*Nowhere"):
        made(root, 0)


@needs_compiler
def test_a_host_side_that_dies_when_it_is_loaded_is_told(root: Path) -> None:
    (root / "op_host" / "add_one_def.cpp").write_text(DEF + "static int died = (__builtin_trap(), 1);\n")
    with pytest.raises(BuildError, match="cannot be asked for its prototype"):
        made(root, 0)


@needs_compiler
def test_two_runs_at_once_share_one_build(root: Path, cache: Path) -> None:
    code = (
        "import sys\nfrom gnll_cli.simulator import build, package\n"
        "built = build(package.find(sys.argv[1]), lambda prototype: (0, 1))\n"
        "print(len(built.compiled), built.operators['AddOne'].host)\n"
    )
    command = [sys.executable, "-c", code, str(root)]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = [run.communicate(timeout=120)[0].split() for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert told[0][1] == told[1][1]
    # The host side and two columns, and maybe the runtime, each built by one of the two.
    assert sum(int(count) for count, _ in told) in (3, 4)


@needs_compiler
def test_a_build_killed_half_way_is_built_again_whole(root: Path, cache: Path) -> None:
    made(root)  # so that the runtime is there
    (root / "op_host" / "add_one_def.cpp").write_text(DEF.replace("Int(1)", "Int(7)"))
    code = (
        "import sys\nfrom gnll_cli.simulator import build, package\nbuild(package.find(sys.argv[1]), lambda p: (0,))\n"
    )
    run = subprocess.Popen([sys.executable, "-c", code, str(root)], start_new_session=True)
    until = time.monotonic() + 30
    while not list(cache.glob(f"{root.name}-host.building-*")):
        assert time.monotonic() < until
        assert run.poll() is None
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    found = build(package.find(root), columns(0))
    assert f"the host side of {root.name}" in found.compiled
    assert not list(cache.glob(f"{root.name}-*.building-*"))
    subprocess.run(
        [
            sys.executable,
            "-c",
            "import ctypes, sys; ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL); ctypes.CDLL(sys.argv[2])",
        ]
        + [found.runtime, found.operators["AddOne"].host],
        check=True,
    )


def test_without_a_compiler_the_command_that_installs_one_is_told(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.setenv("PATH", str(root))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(UnavailableError) as caught:
        made(root, 0)
    assert caught.value.exit_code == 3
    assert "no C++ compiler is on PATH; install one with: " in caught.value.what
    assert "`--backend numpy` runs without" in caught.value.what


def test_a_compiler_that_is_too_old_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = tmp_path / "g++"
    old.write_text("#!/bin/sh\necho 'g++ (GCC) 7.3.0'\n")
    old.chmod(0o755)
    monkeypatch.setenv("CXX", str(old))
    why = compiler.missing()
    assert why is not None
    assert "is g++ (GCC) 7.3.0, g++ 10 is the oldest that will do" in why


@needs_compiler
def test_a_kernel_that_is_a_template_is_told_to_be_one(root: Path) -> None:
    text = KERNEL.replace('extern "C" __global__', "template <uint32_t mode>\n__global__")
    (root / "op_kernel" / "add_one.cpp").write_text(text)
    with pytest.raises(UsageError, match="is a template \\(uint32_t mode\\), which is not simulated yet"):
        made(root, 0)
