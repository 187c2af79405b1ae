"""Input data by ranges: drawn, listed, from a raw file; and reading of a tensor broadcast along one axis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnll_cli import golden, operators
from gnll_cli.cases.model import Case, Distribution
from gnll_cli.errors import RawFileError, UsageError
from gnll_cli.golden.broadcast import read_one_axis
from gnll_cli.golden.data import SMALL_BYTES, ArrayData, DrawnData, RawFileData, tensor_data, with_first_element

NORMAL = Distribution("normal", (0.0, 1.0), "normal(0, 1)")


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("size", [1, 1000, SMALL_BYTES])
def test_ranges_agree_with_the_whole(dtype, size):
    data = DrawnData(NORMAL, 5, "input", dtype, (size,))
    whole = data.array()
    assert whole.shape == (size,)
    fresh = DrawnData(NORMAL, 5, "input", dtype, (size,))
    for start, stop in ((0, size), (size // 2, size), (size // 3, size // 3 + 1), (0, 0)):
        assert fresh.read(start, stop).tobytes() == whole[start:stop].tobytes()


def test_small_tensors_are_made_once_and_cannot_be_written_to():
    data = DrawnData(NORMAL, 5, "input", "fp32", (4, 5))
    assert data.array().base is data.array().base
    with pytest.raises(ValueError, match="read-only"):
        data.array()[0, 0] = 1


def test_shapes_of_rank_zero_and_of_nothing():
    assert DrawnData(NORMAL, 5, "input", "fp32", ()).array().shape == ()
    assert DrawnData(NORMAL, 5, "input", "fp32", (0, 3)).array().shape == (0, 3)


def test_listed_values():
    values = Distribution("values", (1.0, 2.0, "nan", "largest"), "values(...)")
    found = tensor_data(values, 0, "var", "fp16", (2, 2)).array()
    np.testing.assert_array_equal(found, np.array([[1, 2], [np.nan, 65504]], np.float16))
    with pytest.raises(UsageError, match=r"4 values for var of shape \[5\], which has 5 elements"):
        tensor_data(values, 0, "var", "fp16", (5,))


def test_raw_files_are_read_by_ranges(tmp_path):
    numbers = np.arange(SMALL_BYTES, dtype="<f4")
    numbers.tofile(tmp_path / "x.bin")
    large = RawFileData(tmp_path / "x.bin", "fp32", (SMALL_BYTES,))
    assert large.read(1000, 1010).tolist() == list(range(1000, 1010))
    np.testing.assert_array_equal(large.array(), numbers)
    distribution = Distribution("file", (str(tmp_path / "x.bin"),), "file(x.bin)")
    np.testing.assert_array_equal(tensor_data(distribution, 0, "var", "fp32", (1024, 1024)).read(5, 9), [5, 6, 7, 8])


def test_raw_files_that_do_not_fit_are_told(tmp_path):
    (tmp_path / "x.bin").write_bytes(b"\0" * 13)
    with pytest.raises(
        RawFileError, match=r"x\.bin: 13 bytes, but shape \[3\] of fp32 needs 12 \(3 elements of 4 bytes\)"
    ):
        RawFileData(tmp_path / "x.bin", "fp32", (3,))
    with pytest.raises(RawFileError, match="No such file"):
        RawFileData(tmp_path / "y.bin", "fp32", (3,))
    with pytest.raises(RawFileError, match="cannot be read"):
        RawFileData(tmp_path, "fp32", (3,))


def test_a_raw_file_cut_while_it_is_used_is_told(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(4 * SMALL_BYTES))
    data = RawFileData(path, "fp32", (SMALL_BYTES,))
    path.write_bytes(b"\0" * 100)
    with pytest.raises(RawFileError, match="ends before element"):
        data.read(0, 50)
    path.unlink()
    with pytest.raises(RawFileError, match="No such file"):
        data.read(0, 50)


def case_of(**changes):
    operator = operators.get("gaussian_nll_loss_grad")
    shapes = dict.fromkeys(operator.tensors, (2, 3))
    data = dict.fromkeys(operator.inputs, NORMAL)
    attributes = {"full": False, "eps": 1e-6, "reduction": "none"}
    return operator, Case(
        "a/b", operator.name, "fp32", attributes, shapes, dict.fromkeys(shapes, "fp32"), data, 1, **changes
    )


def test_inputs_of_a_case():
    operator, case = case_of()
    found = golden.inputs(case, operator)
    assert list(found) == ["gradOutput", "input", "target", "var"]
    assert len({data.array().tobytes() for data in found.values()}) == 4


def test_a_refused_case_has_no_inputs_whatever_its_shape():
    operator, case = case_of(reject="null_pointer", null=("var",))
    assert golden.inputs(case, operator) == {}


def test_first_element_only():
    data = {"a": ArrayData(np.array([[3.0, 4.0]], np.float32), "fp32"), "b": ArrayData(np.ones(2, np.float32), "fp32")}
    found = with_first_element(data, "a")
    assert found["a"].array().tolist() == [3.0]
    assert found["a"].shape == (1,)
    assert found["b"] is data["b"]


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple),
    st.data(),
)
@settings(max_examples=300, deadline=None)
def test_one_axis_broadcast_reads_as_numpy_broadcasts(shape, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    small = (*shape[:axis], 1, *shape[axis + 1 :])
    values = np.arange(np.prod(small), dtype=np.float32).reshape(small)
    whole = np.broadcast_to(values, shape).ravel()
    start = data.draw(st.integers(0, whole.size - 1))
    stop = data.draw(st.integers(start + 1, whole.size))
    inner = int(np.prod(shape[axis + 1 :]))
    found = read_one_axis(ArrayData(values, "fp32"), start, stop, shape[axis], inner)
    np.testing.assert_array_equal(found, whole[start:stop])


class Counting(ArrayData):
    """Says how many elements were read."""

    __slots__ = ("count",)

    def read(self, start, stop):
        self.count = getattr(self, "count", 0) + stop - start
        return super().read(start, stop)


@pytest.mark.parametrize("shape", [(2, 100_000), (100_000, 2), (50, 40, 50), (2, 50_000, 2)])
def test_no_more_is_read_than_about_the_range(shape):
    for axis in range(len(shape)):
        small = (*shape[:axis], 1, *shape[axis + 1 :])
        data = Counting(np.zeros(small, np.float32), "fp32")
        inner = int(np.prod(shape[axis + 1 :]))
        read_one_axis(data, 49_990, 50_990, shape[axis], inner)
        assert data.count <= 3 * 1000
