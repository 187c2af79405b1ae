"""Guarded outputs and inputs in a layout: what is written outside an output or into an input is found."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gnll_cli.dtypes import DTYPES
from gnll_cli.golden.data import ArrayData
from gnll_cli.runners.memory import GUARD, Input, Output

SHAPES = [(), (1,), (5,), (0,), (2, 3), (1, 1), (3, 0, 2), (2, 3, 4), (2, 1, 3, 1, 2, 1, 1, 2)]
LAYOUTS = ["contiguous", "transposed", "sliced", "offset"]


def data(shape: tuple[int, ...], dtype: str) -> ArrayData:
    values = np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape)
    return ArrayData(values.astype(DTYPES[dtype].storage), dtype)


def raw(tensor: Input | Output) -> np.ndarray:  # type: ignore[type-arg]
    return tensor._raw


@pytest.mark.parametrize(
    ("dtype", "fill"),
    [("fp32", b"\xa5\xa5\xa5\x7f"), ("fp16", b"\xa5\x7d"), ("bf16", b"\xa5\x7f"), ("int32", b"\xa5" * 4)],
)
def test_an_output_holds_the_fill_between_guards(dtype: str, fill: bytes) -> None:
    output = Output("out", dtype, (3, 5))
    assert output.array.shape == (3, 5)
    assert output.array.dtype == DTYPES[dtype].storage
    assert output.array.flags.c_contiguous
    assert output.array.flags.writeable
    assert output.array.__array_interface__["data"][0] % 64 == 0
    assert raw(output).tobytes() == b"\xa5" * 64 + fill * 15 + b"\xa5" * 64
    assert output.findings() == []


@pytest.mark.parametrize("shape", SHAPES)
def test_writing_every_element_leaves_the_guards(shape: tuple[int, ...]) -> None:
    output = Output("out", "fp16", shape)
    output.array[...] = 1
    assert output.findings() == []
    assert output.array.shape == shape


@pytest.mark.parametrize(
    ("where", "side", "offset"),
    [(0, "before", -64), (63, "before", -1), (-64, "after", 0), (-1, "after", 63), (-62, "after", 2)],
)
def test_a_touched_guard_is_found_with_its_place(where: int, side: str, offset: int) -> None:
    output = Output("gradVar", "fp32", (2,))
    raw(output)[where] = 0
    (finding,) = output.findings()
    assert finding["kind"] == "guard"
    assert finding["severity"] == "failure"
    assert (finding["tensor"], finding["side"], finding["bytes"], finding["offset"]) == ("gradVar", side, 1, offset)
    place = f"{-offset} bytes before its start" if side == "before" else f"{offset} bytes after its end"
    assert finding["message"] == f"written {side} gradVar: 1 of 64 guard bytes changed, the first {place}"


def test_both_guards_are_told() -> None:
    output = Output("out", "fp32", (2,))
    raw(output)[60:64] = 1
    raw(output)[-64:-44] = 2
    assert [(f["side"], f["bytes"], f["offset"]) for f in output.findings()] == [("before", 4, -4), ("after", 20, 0)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16", "int16"])
def test_a_layout_changes_no_value(layout: str, shape: tuple[int, ...], dtype: str) -> None:
    tensor = data(shape, dtype)
    placed = Input("input", tensor, layout)
    assert placed.view.shape == shape
    assert placed.view.dtype == DTYPES[dtype].storage
    np.testing.assert_array_equal(placed.view, tensor.array())
    assert placed.findings() == []


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_storage_offset_and_strides_describe_the_view(layout: str, shape: tuple[int, ...]) -> None:
    placed = Input("input", data(shape, "fp32"), layout)
    for index in np.ndindex(*shape):
        at = placed.offset + sum(i * s for i, s in zip(index, placed.strides, strict=True))
        assert placed.storage[at] == placed.view[index]


def test_the_layouts_are_what_they_say() -> None:
    tensor = data((2, 3, 4), "fp32")
    assert (Input("x", tensor).strides, Input("x", tensor).offset) == ((12, 4, 1), 0)
    assert Input("x", tensor, "transposed").strides == (1, 2, 6)
    sliced = Input("x", tensor, "sliced")
    assert (sliced.strides, sliced.storage.size) == ((32, 8, 2), 2 * 4 * 8)
    offset = Input("x", tensor, "offset")
    assert (offset.strides, offset.offset, offset.storage.size) == ((12, 4, 1), 3, 24 + 6)


@pytest.mark.parametrize("layout", ["sliced", "offset"])
def test_gaps_hold_a_nan(layout: str) -> None:
    placed = Input("x", data((2, 3), "bf16"), layout)
    bits = placed.storage.view(np.uint16)
    assert np.count_nonzero(bits == 0x7FA5) == placed.storage.size - 6
    assert np.count_nonzero(np.isnan(placed.storage.astype(np.float32))) == placed.storage.size - 6


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_changed_element_is_found(layout: str) -> None:
    placed = Input("var", data((2, 3), "fp16"), layout)
    placed.view[1, 1] += 1
    placed.view[1, 2] += 1
    assert placed.findings() == [
        {
            "kind": "input_changed",
            "severity": "failure",
            "tensor": "var",
            "elements": 2,
            "index": [1, 1],
            "message": "the run changed its input var: 2 elements, the first at [1, 1]",
        }
    ]


def test_a_change_of_bits_alone_is_found() -> None:
    placed = Input("x", ArrayData(np.array([0.0, np.nan], np.float32), "fp32"))
    placed.view[0] = -0.0
    assert placed.findings()[0]["index"] == [0]


def test_a_write_between_or_beside_the_elements_is_found() -> None:
    between = Input("x", data((2, 3), "fp32"), "sliced")
    between.storage[1] = 0
    beside = Input("x", data((2, 3), "fp32"))
    raw(beside)[GUARD - 1] = 0
    for placed in (between, beside):
        (finding,) = placed.findings()
        assert finding["elements"] == 0
        assert finding["message"] == "the run wrote next to its input x, outside its elements"


def test_a_tensor_of_many_blocks() -> None:
    size = (1 << 17) + 5
    values = np.arange(size, dtype=np.float32)
    placed = Input("x", ArrayData(values, "fp32"), "offset")
    np.testing.assert_array_equal(placed.view, values)
    placed.view[[1 << 16, size - 1]] = -1
    finding = placed.findings()[0]
    assert (finding["elements"], finding["index"]) == (2, [1 << 16])


def test_no_two_tensors_share_memory() -> None:
    """Small tensors come from one block, a few hundred to a block; large ones have their own."""
    outputs = [Output("out", "fp32", (n % 97,)) for n in range(1000)] + [Output("out", "fp32", (1 << 16,))]
    places = sorted((raw(o).__array_interface__["data"][0], raw(o).nbytes) for o in outputs)
    assert all(start + size <= following for (start, size), (following, _) in pairwise(places))
    assert all(start % 64 == 0 for start, _ in places)
