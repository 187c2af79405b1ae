"""Finding a package in a folder, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnll_cli.errors import UsageError
from gnll_cli.simulator import package

KERNEL = 'extern "C" __global__ __aicore__ void add_one(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {}\n'


def make(folder: Path, name: str = "add_one", kernel: str = KERNEL) -> Path:
    root = folder / name
    (root / "op_host").mkdir(parents=True)
    (root / "op_kernel").mkdir()
    (root / "op_host" / f"{name}_def.cpp").write_text("OP_ADD(AddOne);\n")
    (root / "op_host" / f"{name}_tiling.cpp").write_text("")
    (root / "op_kernel" / f"{name}.cpp").write_text(kernel)
    return root


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("GaussianNllLossGrad", "gaussian_nll_loss_grad"),
        ("L1LossGrad", "l1_loss_grad"),
        ("BinaryCrossEntropyGradV2", "binary_cross_entropy_grad_v2"),
        ("SmoothL1LossV2", "smooth_l1_loss_v2"),
        ("MSELoss", "mse_loss"),
        ("Add", "add"),
    ],
)
def test_the_file_name_of_a_type(kind: str, name: str) -> None:
    assert package.snake(kind) == name


def test_sources_of_the_architecture_and_no_others(tmp_path: Path) -> None:
    root = make(tmp_path)
    for other in ("op_host/op_api/aclnn.cpp", "op_host/arch35/tiling.cpp", "op_kernel/arch35/add_one.cpp"):
        (root / other).parent.mkdir()
        (root / other).write_text("")
    (root / "op_host" / "arch22").mkdir()
    (root / "op_host" / "arch22" / "more.cpp").write_text("")
    found = package.find(root)
    names = [str(f.relative_to(root)) for f in (*found.host, *found.kernels)]
    assert names == [
        "op_host/add_one_def.cpp",
        "op_host/add_one_tiling.cpp",
        "op_host/arch22/more.cpp",
        "op_kernel/add_one.cpp",
    ]
    assert found.include[:2] == (root / "op_kernel", root / "op_host")


def test_folders_of_the_repository_around_are_searched_last(tmp_path: Path) -> None:
    (tmp_path / "common" / "inc").mkdir(parents=True)
    assert package.find(make(tmp_path / "loss")).outer == (
        tmp_path,
        tmp_path / "common" / "inc",
        tmp_path / "common",
    )


def refused(folder: Path) -> UsageError:
    with pytest.raises(UsageError) as caught:
        package.find(folder)
    return caught.value


def test_no_such_folder_suggests_the_nearest(tmp_path: Path) -> None:
    root = make(tmp_path)
    error = refused(tmp_path / "ad_one")
    assert error.what == "there is no such folder"
    assert error.hint == f"did you mean {root}?"


def test_a_file_is_no_package(tmp_path: Path) -> None:
    assert refused(make(tmp_path) / "op_kernel" / "add_one.cpp").what == "is a file"


def test_a_part_of_a_package_names_the_whole(tmp_path: Path) -> None:
    root = make(tmp_path)
    for part in ("op_host", "op_kernel"):
        assert refused(root / part).hint == f"name the folder above it: {root}"


def test_a_repository_names_the_packages_in_it(tmp_path: Path) -> None:
    make(tmp_path / "loss", "add_one")
    make(tmp_path / "loss", "add_two")
    error = refused(tmp_path)
    assert error.what == "has no op_host/ and no op_kernel/"
    assert error.hint == "name one of the packages in it: loss/add_one, loss/add_two"


def test_a_half_of_a_package_says_which_half_lacks(tmp_path: Path) -> None:
    root = make(tmp_path)
    (root / "op_kernel" / "add_one.cpp").unlink()
    assert refused(root).what == "op_kernel has no .cpp file"
    (root / "op_kernel").rmdir()
    assert refused(root).what == "has no op_kernel/"


def test_an_operator_that_is_registered_in_a_comment_is_not_registered(tmp_path: Path) -> None:
    root = make(tmp_path)
    (root / "op_host" / "add_one_def.cpp").write_text("// OP_ADD(AddOne);\n/* OP_ADD(AddOne); */\n")
    error = refused(root)
    assert "OP_ADD is in none of its sources (op_host/add_one_def.cpp, op_host/add_one_tiling.cpp)" in error.what


@pytest.mark.parametrize(
    ("text", "template"),
    [
        (KERNEL, ""),
        ("__global__ __aicore__ void add_one(GM_ADDR x, GM_ADDR y,\n   GM_ADDR workspace, GM_ADDR tiling)\n{\n}", ""),
        (f"// __global__ __aicore__ void add_two(GM_ADDR x) {{}}\n{KERNEL}", ""),
        (
            "template <uint32_t mode, bool wide>\n__global__ __aicore__ void add_one(GM_ADDR x, GM_ADDR y, GM_ADDR w, GM_ADDR t) {}",
            "uint32_t mode, bool wide",
        ),
    ],
)
def test_the_kernel_function(tmp_path: Path, text: str, template: str) -> None:
    found = package.kernel(package.find(make(tmp_path, kernel=text)), "AddOne")
    assert (found.function, found.parameters, found.template) == ("add_one", 4, template)


def test_a_kernel_of_another_name_is_said_to_be_so(tmp_path: Path) -> None:
    found = package.find(make(tmp_path))
    (found.root / "op_kernel" / "other.cpp").write_text(KERNEL)
    both = package.find(found.root)
    with pytest.raises(UsageError, match=r"no op_kernel/add_two.cpp for operator AddTwo") as caught:
        package.kernel(both, "AddTwo")
    assert caught.value.hint == "op_kernel has op_kernel/add_one.cpp, op_kernel/other.cpp"


def test_a_source_without_a_kernel_is_said_to_be_so(tmp_path: Path) -> None:
    found = package.find(make(tmp_path, kernel="void add_one() {}"))
    with pytest.raises(UsageError, match="the kernel function add_one is not there") as caught:
        package.kernel(found, "AddOne")
    assert caught.value.where.endswith("op_kernel/add_one.cpp")
    assert "it defines no __global__ __aicore__ function" in caught.value.hint
