"""Raw files that are none, or do not fit: one message with what, where and what to do."""

from __future__ import annotations

import gzip
import io
import os
import zipfile

import numpy as np
import pytest

from gnll_cli import dtypes
from gnll_cli.compare.raw import judge_files
from gnll_cli.compare.rawfile import likely_cause, open_raw
from gnll_cli.errors import RawFileError, UsageError

FP32, FP16 = dtypes.get("fp32"), dtypes.get("fp16")


def npy():
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(4, np.float32))
    return buffer.getvalue()


def npz():
    buffer = io.BytesIO()
    np.savez(buffer, x=np.zeros(4))
    return buffer.getvalue()


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("data.pkl", b"x" * 32)
    return buffer.getvalue()


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 67108864\n"


@pytest.mark.parametrize(
    ("content", "what", "advice"),
    [
        (npy(), "NumPy .npy file", "tofile"),
        (npz(), "zip archive", "tofile"),
        (zipped(), "zip archive", "tofile"),
        (POINTER, "Git LFS pointer", "git lfs pull"),
        (gzip.compress(b"\0" * 64), "gzip", "gunzip"),
        (b'{"input": [0.1, 0.2], "target": []}\n', "text", "tofile"),
        (b"1.0 2.0 3.5e-3 nan\n4.0 5.0 6.0 inf\n", "text", "tofile"),
        (b"[0.5, 0.25]\n", "text", "tofile"),
        (b"\xef\xbb\xbf1.0,2.0,3.0,4.0\r\n", "text", "tofile"),
        (b"\x89HDF\r\n\x1a\n" + b"\0" * 40, "HDF5", "tofile"),
    ],
    # Archives hold the time: ids made of them would differ between the processes that run the tests.
    ids=["npy", "npz", "zip", "lfs", "gzip", "json", "numbers", "list", "csv", "hdf5"],
)
def test_what_is_not_raw_is_refused(tmp_path, content, what, advice):
    path = tmp_path / "x.bin"
    path.write_bytes(content)
    with pytest.raises(RawFileError) as caught:
        open_raw(path, FP32)
    assert what in caught.value.what
    assert caught.value.where == str(path)
    assert advice in caught.value.hint
    # In both places of a comparison.
    raw = tmp_path / "raw.bin"
    np.zeros(8, np.float32).tofile(raw)
    for pair in ((path, raw), (raw, path)):
        with pytest.raises(RawFileError, match=what):
            judge_files(*pair, FP32)


@pytest.mark.parametrize(
    "values",
    [
        np.array([14.6, 6e-5], "<f2"),
        np.full(3, 0x41414141, "<u4").view("<f4"),
        np.linspace(0, 1, 50).astype("<f4"),
        np.zeros(16, "<f4"),
    ],
)
def test_numbers_are_not_taken_for_something_else(tmp_path, values):
    path = tmp_path / "x.bin"
    values.tofile(path)
    with open_raw(path, FP16) as raw:
        assert raw.size == values.nbytes // 2
        assert raw.read(0, raw.size).tobytes() == values.tobytes()


def test_missing_folder_empty_device_pipe(tmp_path):
    (tmp_path / "empty.bin").touch()
    os.mkfifo(tmp_path / "pipe")
    for name, what in (
        ("none.bin", "no such file"),
        (".", "folder"),
        ("empty.bin", "empty"),
        ("pipe", "pipe or a device"),
    ):
        with pytest.raises(RawFileError, match=what):
            open_raw(tmp_path / name, FP32)
    with pytest.raises(RawFileError, match="pipe or a device"):
        open_raw("/dev/zero", FP32)
    with pytest.raises(RawFileError, match="cannot be read"):
        open_raw(tmp_path / "none\0.bin", FP32)
    with pytest.raises(RawFileError, match="empty"):
        open_raw(tmp_path / "empty.bin", FP32, (2, 3))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"\0" * 8)
    path.chmod(0)
    with pytest.raises(RawFileError, match="Permission denied"):
        open_raw(path, FP32)


def test_sizes_that_do_not_fit_name_both_and_the_cause(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"\0" * 13)
    with pytest.raises(RawFileError) as caught:
        open_raw(path, FP32)
    assert "13 bytes" in caught.value.what
    assert "3 elements of 4 bytes and 1 over" in caught.value.what
    for size, dtype, shape, cause in (
        (48, FP32, (2, 3), "twice|2 times as wide"),
        (12, FP32, (2, 3), "narrower type, 2 bytes"),
        (24 + 80, FP32, (2, 3), "80 bytes too many: likely a header"),
        (20, FP32, (2, 3), "4 bytes missing"),
        (24, FP16, (0, 3), "no elements"),
    ):
        path.write_bytes(b"\0" * size)
        with pytest.raises(RawFileError) as caught:
            open_raw(path, dtype, shape)
        wanted = dtype.itemsize * int(np.prod(shape))
        assert f"{size} bytes" in caught.value.what
        assert f"is {wanted} bytes" in caught.value.what
        assert any(c in caught.value.hint for c in cause.split("|")), caught.value.hint


def test_likely_cause_of_far_off_sizes():
    assert "--shape" in likely_cause(10**9, 24, FP32)


def test_a_file_is_not_compared_with_itself(tmp_path):
    path = tmp_path / "x.bin"
    np.ones(4, np.float32).tofile(path)
    (tmp_path / "link.bin").symlink_to(path)
    os.link(path, tmp_path / "hard.bin")
    for other in (path, tmp_path / "." / "x.bin", tmp_path / "link.bin", tmp_path / "hard.bin"):
        with pytest.raises(RawFileError, match="always equals itself"):
            judge_files(path, other, FP32)
    with pytest.raises(RawFileError, match="always equals itself"):
        judge_files(tmp_path / "none.bin", tmp_path / "none.bin", FP32)


def test_a_file_that_shrinks_meanwhile(tmp_path):
    path = tmp_path / "x.bin"
    np.ones(100, np.float32).tofile(path)
    with open_raw(path, FP32) as raw:
        os.truncate(path, 100)
        with pytest.raises(RawFileError, match="100 bytes, it had 400"):
            raw.read(0, 100)


def write(tmp_path, actual, golden):
    a, g = tmp_path / "a.bin", tmp_path / "g.bin"
    actual.tofile(a)
    golden.tofile(g)
    return a, g


def test_different_numbers_of_elements_fail(tmp_path):
    a, g = write(tmp_path, np.ones(6, np.float32), np.ones(12, np.float32))
    verdict = judge_files(a, g, FP32)
    assert not verdict.passed
    assert "6 elements" in verdict.outputs[0].reason
    assert "12 in" in verdict.outputs[0].reason
    assert "narrower type" in verdict.outputs[0].notes[0]


def test_empty_tensors_of_an_empty_shape(tmp_path):
    a, g = write(tmp_path, np.ones(0, np.float32), np.ones(0, np.float32))
    verdict = judge_files(a, g, FP32, shape=(0, 3))
    assert verdict.passed
    assert "nothing to compare" in verdict.outputs[0].notes[0]


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
def test_byte_swapped_and_other_type_are_hinted(tmp_path, dtype):
    storage = dtypes.get(dtype).storage
    golden = np.linspace(0.5, 900, 999).astype(storage)
    swapped = golden.view(dtypes.get(dtype).bits).byteswap()
    a, g = write(tmp_path, swapped, golden)
    assert "bytes swapped" in judge_files(a, g, dtypes.get(dtype)).hints[0]
    if dtype != "fp32":
        other = "bf16" if dtype == "fp16" else "fp16"
        a, g = write(tmp_path, np.linspace(0.5, 900, 999).astype(dtypes.get(other).storage), golden)
        assert judge_files(a, g, dtypes.get(dtype)).hints == (f"{a} would match the golden read as {other}",)
    a, g = write(tmp_path, (golden.astype(np.float32) * 3).astype(storage), golden)
    assert judge_files(a, g, dtypes.get(dtype)).hints == ()


def test_golden_of_another_dtype(tmp_path):
    golden = np.array([1 / 3, 2 / 3, 7202.0, 1e-9], "<f8")
    a, g = write(tmp_path, golden.astype("<f2"), golden)
    verdict = judge_files(a, g, FP16, golden_dtype=dtypes.get("fp64"), profiles=["ut", "exact"])
    ut, exact = verdict.outputs
    # 7202 lies between 7200 and 7204: RN is 7200 (even), 2 away.
    assert not ut.passed
    assert ut.max_abs == 2.0
    assert exact.passed
    with pytest.raises(UsageError, match="one is an integer type"):
        judge_files(a, g, FP16, golden_dtype=dtypes.get("int64"))


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "bool"])
def test_integers_are_exact_by_default(tmp_path, name):
    dtype = dtypes.get(name)
    golden = np.array([0, 1, 1, 0, 1], dtype="<u1" if name == "bool" else dtype.storage)
    if name not in ("bool",):
        golden[:2] = np.iinfo(dtype.storage).min, np.iinfo(dtype.storage).max
    a, g = write(tmp_path, golden, golden)
    assert judge_files(a, g, dtype).outputs[0].profile == "exact"
    assert judge_files(a, g, dtype).passed
    actual = golden.copy()
    actual[0], actual[1] = golden[1], golden[0]
    a, g = write(tmp_path, actual, golden)
    (output,) = judge_files(a, g, dtype).outputs
    assert output.mismatched == 2
    assert output.max_abs == int(golden[1]) - int(golden[0])


def test_more_than_one_block_and_all_profiles(tmp_path):
    rng = np.random.default_rng(7)
    golden = rng.standard_normal(100_001).astype(np.float32)
    actual = golden.copy()
    actual[[40_000, 99_999]] += np.float32(1e-4)
    a, g = write(tmp_path, actual, golden)
    fast = judge_files(a, g, FP32, profiles=["ut"]).outputs[0]
    both = judge_files(a, g, FP32, profiles=["ut", "community-mixed-2026-07"]).outputs
    assert fast.mismatched == 2
    assert fast.first_bad_index == (40_000,)
    for field in (
        "passed",
        "mismatched",
        "max_abs",
        "max_rel",
        "max_ulp",
        "worst_index",
        "first_bad_index",
        "reason",
        "elements",
        "finite",
    ):
        assert getattr(fast, field) == getattr(both[0], field), field
    assert both[1].passed
