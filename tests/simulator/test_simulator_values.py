"""Values of the simulator's vector instructions against NumPy, ml_dtypes and naive loops."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

HERE = Path(__file__).parent
INCLUDE = HERE.parents[1] / "gnll_cli" / "simulator" / "include"
FLAGS = ["-std=c++17", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-I", str(INCLUDE)]
TYPES: dict[str, Any] = {
    "half": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float": np.float32,
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
}
NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD = range(7)
ROUNDING = [RINT, FLOOR, CEIL, ROUND, TRUNC]
COUNTS = [*range(1, 301), 4099]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, 65504.0, -65504.0, 6e-8, -6e-8, 6.2e-5, 1.5, 3.0]

pytestmark = [
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++"),
    # NaN, Inf and overflow are on purpose, in the expected values of NumPy too.
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

Array = np.ndarray[Any, Any]


class Library:
    """The compiled calls; arrays are passed by address."""

    def __init__(self, path: Path) -> None:
        self.native = ctypes.CDLL(str(path))
        self.native.values_limit.restype = ctypes.c_char_p

    def call(self, function: str, *arguments: Any) -> None:
        converted: list[Any] = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                converted.append(ctypes.c_void_p(argument.ctypes.data))
            elif isinstance(argument, str):
                converted.append(ctypes.c_char_p(argument.encode()))
            else:
                converted.append(argument)
        assert getattr(self.native, function)(*converted) == 0, f"{function} has no {arguments[:2]}"

    def limit(self) -> str:
        """The last broken limit, once."""
        return str(self.native.values_limit().decode())

    def operands(self, base: Array) -> list[list[int]]:
        rows = np.zeros((32, 5), np.int64)
        count = self.native.values_operands(
            ctypes.c_void_p(base.ctypes.data), ctypes.c_void_p(rows.ctypes.data), ctypes.c_int(32)
        )
        return [list(map(int, row)) for row in rows[:count]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    path = tmp_path_factory.mktemp("values") / "values.so"
    source = HERE / "cpp" / "values_calls.cpp"
    built = subprocess.run(
        ["g++", *FLAGS, "-fPIC", "-shared", "-Wl,-Bsymbolic", str(source), "-o", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return Library(path)


def float32(values: list[float]) -> Array:
    return np.array(values, np.float32)


def bits(array: Array) -> Array:
    """Bit patterns, all NaN made one."""
    unsigned = array.view(f"u{array.dtype.itemsize}").copy()
    if array.dtype.kind in "fV":
        unsigned[np.isnan(array.astype(np.float64))] = 0
        unsigned[np.isnan(array.astype(np.float64))] = np.iinfo(unsigned.dtype).max
    return unsigned


def same(got: Array, expected: Array) -> None:
    """Same bits, where any NaN is as good as another."""
    assert got.dtype == expected.dtype
    wrong = np.flatnonzero(bits(got) != bits(expected))
    assert wrong.size == 0, f"{wrong.size} differ, first at {wrong[0]}: {got[wrong[0]]!r}, not {expected[wrong[0]]!r}"


def numbers(dtype: Any, count: int, seed: int) -> Array:
    """Random numbers of a type: floats of all sizes with special values in between, integers of the whole range."""
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "i":
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
    values = random.normal(size=count) * np.exp2(random.integers(-6, 6, count))
    chosen = random.integers(0, 8, count) == 0
    values[chosen] = random.choice(SPECIAL, int(chosen.sum()))
    return values.astype(dtype)


def cast(library: Library, source: Array, from_type: str, to_type: str, mode: int) -> Array:
    result = np.zeros(source.size, TYPES[to_type])
    library.call("values_cast", from_type, to_type, mode, result, source, source.size)
    assert library.limit() == ""
    return result


# --- casts ------------------------------------------------------------------------------------------------------------


def all_of(name: str) -> Array:
    """All 2^16 values of a 16-bit type."""
    return np.arange(1 << 16, dtype=np.uint16).view(TYPES[name])


@pytest.mark.parametrize("name", ["half", "bfloat16"])
def test_every_16_bit_float_becomes_float_exactly(library: Library, name: str) -> None:
    same(cast(library, all_of(name), name, "float", NONE), all_of(name).astype(np.float32))


def round_into(values: Array, name: str, mode: int) -> Array:
    """Rounds float64 into a 16-bit type by looking its neighbours up in the sorted table of all of the type's values."""
    positive = np.arange(0x7C00 if name == "half" else 0x7F80, dtype=np.uint16)
    table = positive.view(TYPES[name]).astype(np.float64)
    beyond = 2.0 ** (16 if name == "half" else 128)  # the value the bits of Inf would have
    table = np.append(table, beyond)
    magnitude = np.abs(values)
    negative = np.signbit(values)
    safe = np.where(np.isfinite(magnitude), np.minimum(magnitude, beyond), beyond)
    below = np.searchsorted(table, safe, side="right") - 1
    above = np.minimum(below + 1, table.size - 1)
    exact = table[below] == safe
    up = table[above] - safe
    down = safe - table[below]
    if mode in (NONE, RINT):
        take = (up < down) | ((up == down) & (below % 2 == 1))
    elif mode == ROUND:
        take = up <= down
    elif mode == FLOOR:
        take = negative
    elif mode == CEIL:
        take = ~negative
    elif mode == TRUNC:
        take = np.zeros(values.shape, bool)
    else:
        take = below % 2 == 0
    index = np.where(exact | ~take, below, above).astype(np.uint16)
    patterns = np.where(negative, index | np.uint16(0x8000), index).astype(np.uint16)
    result = patterns.view(TYPES[name])
    result[np.isnan(values)] = np.nan
    return result


def neighbourhood(name: str) -> Array:
    """Float values on, between and next to all values of a 16-bit type, both signs, beyond the ends, and random ones."""
    finite = all_of(name)[: 0x7C00 if name == "half" else 0x7F80].astype(np.float32)
    middle = ((finite[:-1].astype(np.float64) + finite[1:]) / 2).astype(np.float32)
    base = np.concatenate([finite, middle, float32([65519.996, 65520, 65536, 1e10, 3.3895314e38, 3.4028235e38])])
    around = np.concatenate(
        [base, np.nextafter(base, np.float32(np.inf)), np.nextafter(base, np.float32(-np.inf)), [np.inf, np.nan]]
    ).astype(np.float32)
    random = np.random.default_rng(5).integers(0, 1 << 32, 200_000, dtype=np.uint32).view(np.float32)
    return np.concatenate([around, -around, random]).astype(np.float32)


@pytest.mark.parametrize("name", ["half", "bfloat16"])
@pytest.mark.parametrize("mode", [NONE, *ROUNDING, ODD])
def test_float_rounds_into_16_bits(library: Library, name: str, mode: int) -> None:
    if name == "bfloat16" and mode in (NONE, ODD):
        pytest.skip("not a mode of this conversion; refused below")
    values = neighbourhood(name)
    same(cast(library, values, "float", name, mode), round_into(values.astype(np.float64), name, mode))


def test_round_to_nearest_agrees_with_numpy_and_ml_dtypes(library: Library) -> None:
    values = neighbourhood("half")
    with np.errstate(over="ignore"):
        same(cast(library, values, "float", "half", NONE), values.astype(np.float16))
        same(cast(library, values, "float", "bfloat16", RINT), values.astype(ml_dtypes.bfloat16))


INTEGRAL: dict[int, Any] = {
    NONE: np.rint,
    RINT: np.rint,
    FLOOR: np.floor,
    CEIL: np.ceil,
    TRUNC: np.trunc,
    ROUND: lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
}


def to_integer(values: Array, dtype: Any, mode: int) -> Array:
    """Float64 values rounded, limited and NaN made zero, with integers of Python."""
    limits = np.iinfo(dtype)
    rounded = INTEGRAL[mode](values)
    result = []
    for value in rounded.tolist():
        if value != value:
            result.append(0)
        elif value in (np.inf, -np.inf):
            result.append(limits.max if value > 0 else limits.min)
        else:
            result.append(max(int(limits.min), min(int(limits.max), int(value))))
    return np.array(result, dtype)


@pytest.mark.parametrize(
    ("source", "target", "modes"),
    [
        ("half", "int32", ROUNDING),
        ("half", "int16", ROUNDING),
        ("half", "int8", [NONE, *ROUNDING]),
        ("half", "uint8", [NONE, *ROUNDING]),
        ("bfloat16", "int32", ROUNDING),
    ],
)
def test_every_16_bit_float_becomes_integer(library: Library, source: str, target: str, modes: list[int]) -> None:
    values = all_of(source)
    with np.errstate(invalid="ignore"):
        for mode in modes:
            same(
                cast(library, values, source, target, mode), to_integer(values.astype(np.float64), TYPES[target], mode)
            )


FLOATS = np.concatenate(
    [
        float32([0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, -0.49999997, 0.9999999, -0.7, 1e-45, np.nan]),
        float32([8388607.5, 8388608, -8388607.5, 4194303.5, 4194304.5, 32767.4, 32767.5, -32768.5, -32769.0]),
        float32([2147483520, 2147483648, -2147483648, -2147483904, 9.223371e18, 9.223372e18, -9.223372e18, 1e30]),
        float32([np.inf, -np.inf]),
        np.random.default_rng(1).normal(size=5000).astype(np.float32) * 50,
        np.random.default_rng(2).integers(0, 1 << 32, 20000, dtype=np.uint32).view(np.float32),
    ]
)


@pytest.mark.parametrize("target", ["int16", "int32", "int64"])
@pytest.mark.parametrize("mode", ROUNDING)
def test_float_becomes_integer(library: Library, target: str, mode: int) -> None:
    with np.errstate(invalid="ignore"):
        expected = to_integer(FLOATS.astype(np.float64), TYPES[target], mode)
    same(cast(library, FLOATS, "float", target, mode), expected)


@pytest.mark.parametrize("mode", ROUNDING)
def test_float_loses_its_fraction(library: Library, mode: int) -> None:
    with np.errstate(invalid="ignore"):
        expected = INTEGRAL[mode](FLOATS.astype(np.float64)).astype(np.float32)
    same(cast(library, FLOATS, "float", "float", mode), expected)


@pytest.mark.parametrize("mode", [NONE, *ROUNDING])
def test_every_int16_becomes_half(library: Library, mode: int) -> None:
    values = np.arange(-32768, 32768).astype(np.int16)
    same(cast(library, values, "int16", "half", mode), round_into(values.astype(np.float64), "half", mode))


def integer_to_float(value: int, mode: int) -> np.float32:
    """An integer rounded to float32 with integers of Python: cut to 24 digits, then the rest decides."""
    magnitude = abs(value)
    shift = max(0, magnitude.bit_length() - 24)
    kept, rest, half = magnitude >> shift, magnitude & ((1 << shift) - 1), 1 << shift >> 1
    up = {
        RINT: rest > half or (rest == half and rest != 0 and kept % 2 == 1),
        FLOOR: value < 0 and rest != 0,
        CEIL: value > 0 and rest != 0,
        ROUND: rest != 0 and rest >= half,
        TRUNC: False,
    }[RINT if mode == NONE else mode]
    result = np.float32(np.ldexp(float(kept + up), shift))
    return -result if value < 0 else result


@pytest.mark.parametrize(("source", "modes"), [("int32", [NONE, *ROUNDING]), ("int64", ROUNDING)])
def test_integer_becomes_float(library: Library, source: str, modes: list[int]) -> None:
    limits = np.iinfo(TYPES[source])
    powers = [s * ((1 << p) + d) for p in range(limits.bits - 1) for d in (-3, -1, 0, 1, 3) for s in (1, -1)]
    edges = [int(limits.min), int(limits.max), (1 << 24) + 1, (1 << 25) + 2, (1 << 25) + 6, -(1 << 24) - 1]
    values = np.concatenate([np.array([*powers, *edges], TYPES[source]), numbers(TYPES[source], 2000, 3)])
    for mode in modes:
        expected = np.array([integer_to_float(int(value), mode) for value in values], np.float32)
        same(cast(library, values, source, "float", mode), expected)


def test_integers_become_others(library: Library) -> None:
    for name in ("int8", "uint8"):
        values = np.arange(256).astype(np.uint8).view(TYPES[name])
        same(cast(library, values, name, "half", NONE), values.astype(np.float16))
    short = np.arange(-32768, 32768).astype(np.int16)
    same(cast(library, short, "int16", "float", NONE), short.astype(np.float32))
    words = np.concatenate([numbers(np.int32, 500, 4), np.array([32767, 32768, -32768, -32769], np.int32)])
    same(cast(library, words, "int32", "int16", NONE), np.clip(words, -32768, 32767).astype(np.int16))
    same(cast(library, words, "int32", "int64", NONE), words.astype(np.int64))
    longs = np.concatenate([numbers(np.int64, 500, 5), words.astype(np.int64)])
    same(cast(library, longs, "int64", "int32", NONE), np.clip(longs, -(2**31), 2**31 - 1).astype(np.int32))


@pytest.mark.parametrize(
    ("source", "target", "mode", "message"),
    [
        ("float", "bfloat16", NONE, "Cast: CAST_NONE does not exist from float to bfloat16_t"),
        ("half", "float", RINT, "Cast: CAST_RINT does not exist from half to float (use CAST_NONE)"),
        ("float", "int32", ODD, "Cast: CAST_ODD does not exist from float to int32_t"),
        ("int64", "float", NONE, "Cast: CAST_NONE does not exist from int64_t to float"),
    ],
)
def test_cast_refuses_modes_the_device_does_not_have(
    library: Library, source: str, target: str, mode: int, message: str
) -> None:
    result = np.full(8, 7, TYPES[target])
    library.call("values_cast", source, target, mode, result, np.ones(8, TYPES[source]), 8)
    assert message in library.limit()
    assert np.all(result == 7)


# --- arithmetic -------------------------------------------------------------------------------------------------------


def wide(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype == np.float16 else array


BINARY: dict[str, Any] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Max": np.maximum,
    "Min": np.minimum,
}


@pytest.mark.parametrize("name", ["half", "float", "int16", "int32"])
@pytest.mark.parametrize("instruction", list(BINARY))
def test_binary_values(library: Library, name: str, instruction: str) -> None:
    if instruction == "Div" and name.startswith("int"):
        pytest.skip("not a type of this instruction; refused below")
    dtype = TYPES[name]
    with np.errstate(all="ignore"):
        for count in COUNTS:
            a, b = numbers(dtype, count, count), numbers(dtype, count, count + 1000)
            expected = BINARY[instruction](wide(a), wide(b)).astype(dtype)
            zeros = (a == 0) & (b == 0)
            result = np.full(count + 8, 7, dtype)
            library.call("values_binary", instruction, name, result, a, b, count)
            assert np.all(result[count:] == 7)
            if instruction in ("Max", "Min"):  # which zero is not defined
                result[:count][zeros], expected[zeros] = 0, 0
            same(result[:count], expected)


@pytest.mark.parametrize("name", ["half", "float", "int16", "int32"])
@pytest.mark.parametrize(("instruction", "like"), [("Adds", "Add"), ("Muls", "Mul"), ("Maxs", "Max"), ("Mins", "Min")])
def test_scalar_values(library: Library, name: str, instruction: str, like: str) -> None:
    dtype = TYPES[name]
    with np.errstate(all="ignore"):
        for count in COUNTS:
            a = numbers(dtype, count, count)
            scalar = np.array([3], dtype) if name.startswith("int") else np.array([-0.3], dtype)
            result = a.copy()
            library.call("values_scalar", instruction, name, result, result, scalar, count)
            same(result, BINARY[like](wide(a), wide(scalar)).astype(dtype))


def test_integer_instructions(library: Library) -> None:
    a, b = numbers(np.int16, 333, 1), numbers(np.int16, 333, 2)
    for instruction, expected in [("And", a & b), ("Or", a | b)]:
        result = np.zeros(333, np.int16)
        library.call("values_binary", instruction, "int16", result, a, b, 333)
        same(result, expected)
    library.call("values_unary", "Not", "int16", result, a, 333)
    same(result, ~a)
    for name in ("int16", "int32"):
        values = numbers(TYPES[name], 333, 3)
        for distance in (0, 1, 7, 15):
            result = np.zeros(333, TYPES[name])
            scalar = np.array([distance], TYPES[name])
            library.call("values_scalar", "ShiftLeft", name, result, values, scalar, 333)
            same(result, np.left_shift(values, scalar))
            library.call("values_scalar", "ShiftRight", name, result, values, scalar, 333)
            same(result, np.right_shift(values, scalar))


def test_half_arithmetic_rounds_once(library: Library) -> None:
    random = np.random.default_rng(9)
    a = random.integers(0, 1 << 16, 300_000, dtype=np.uint16)
    b = random.integers(0, 1 << 16, 300_000, dtype=np.uint16)
    results = np.zeros((a.size, 4), np.uint16)
    library.native.values_half_scalars(
        *(ctypes.c_void_p(x.ctypes.data) for x in (a, b, results)), ctypes.c_int64(a.size)
    )
    x, y = a.view(np.float16).astype(np.float64), b.view(np.float16).astype(np.float64)
    with np.errstate(all="ignore"):
        for column, exact in enumerate([x + y, x - y, x * y, x / y]):  # in double: exact or far from a tie
            same(np.ascontiguousarray(results[:, column]).view(np.float16), exact.astype(np.float16))


def test_double_becomes_16_bits_in_one_rounding(library: Library) -> None:
    # Just above and below ties: a detour over float would round twice.
    ties = np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 2.0**-25, 65520.0])
    values = np.concatenate([ties, np.nextafter(ties, 9e9), np.nextafter(ties, 0), [1e300, 1e-300, np.inf, np.nan]])
    values = np.concatenate([values, -values])
    halves, bfloats = np.zeros(values.size, np.uint16), np.zeros(values.size, np.uint16)
    library.native.values_from_double(
        *(ctypes.c_void_p(x.ctypes.data) for x in (values, halves, bfloats)), ctypes.c_int64(values.size)
    )
    same(halves.view(np.float16), round_into(values, "half", RINT))
    same(bfloats.view(ml_dtypes.bfloat16), round_into(values, "bfloat16", RINT))


@pytest.mark.parametrize("name", ["half", "float"])
def test_exact_unary_values(library: Library, name: str) -> None:
    dtype = TYPES[name]
    with np.errstate(all="ignore"):
        for count in COUNTS:
            a = numbers(dtype, count, count)
            double = a.astype(np.float64)
            expected = {
                "Abs": np.abs(a),
                "Relu": np.where(np.isnan(a), a, np.maximum(a, 0) + dtype(0)),
                "Sqrt": np.sqrt(double).astype(dtype),
                "Reciprocal": (1 / double).astype(dtype),
                "Rsqrt": (1 / np.sqrt(double)).astype(np.float32).astype(dtype),
                "Sign": np.where(np.isnan(a), 0, np.sign(a)).astype(dtype) + dtype(0),
            }
            for instruction, values in expected.items():
                result = np.full(count + 8, 7, dtype)
                library.call("values_unary", instruction, name, result, a, count)
                assert library.limit() == ""
                assert np.all(result[count:] == 7)
                same(result[:count], values)


@pytest.mark.parametrize("name", ["half", "float"])
@pytest.mark.parametrize(("instruction", "function"), [("Exp", np.exp), ("Ln", np.log), ("Log", np.log)])
def test_functions_are_good_to_a_unit(library: Library, name: str, instruction: str, function: Any) -> None:
    dtype = TYPES[name]
    a = np.concatenate([numbers(dtype, 20000, 11), np.array(SPECIAL, dtype)])
    with np.errstate(all="ignore"):
        exact = function(a.astype(np.float64))
        expected = exact.astype(dtype)
        result = np.zeros(a.size, dtype)
        library.call("values_unary", instruction, name, result, a, a.size)
        finite = np.isfinite(expected) & np.isfinite(result)
        same(result[~finite], expected[~finite])
        error = np.abs(result[finite].astype(np.float64) - exact[finite])
        assert np.all(error <= np.spacing(np.abs(expected[finite]))), "more than a unit of the last digit"


def test_relu_of_integers(library: Library) -> None:
    a = numbers(np.int32, 333, 3)
    result = np.zeros(333, np.int32)
    library.call("values_unary", "Relu", "int32", result, a, 333)
    same(result, np.maximum(a, 0))


@pytest.mark.parametrize("name", ["half", "float", "int16", "int32"])
def test_duplicate(library: Library, name: str) -> None:
    for count in COUNTS:
        result = np.zeros(count + 3, TYPES[name])
        library.call("values_scalar", "Duplicate", name, result, result, np.array([9], TYPES[name]), count)
        assert np.all(result[:count] == 9)
        assert np.all(result[count:] == 0)


@pytest.mark.parametrize("name", ["half", "float", "int16", "int32"])
def test_create_vec_index(library: Library, name: str) -> None:
    for count in COUNTS:
        result = np.zeros(count + 3, TYPES[name])
        library.call("values_scalar", "CreateVecIndex", name, result, result, np.array([-5], TYPES[name]), count)
        same(result, np.concatenate([np.arange(-5, count - 5), np.zeros(3)]).astype(TYPES[name]))


@pytest.mark.parametrize("name", ["half", "float"])
def test_multiply_add_rounds_product_and_sum(library: Library, name: str) -> None:
    dtype = TYPES[name]
    with np.errstate(all="ignore"):
        for count in COUNTS:
            s, a, b = (numbers(dtype, count, count + i) for i in range(3))
            product = (wide(a) * wide(b)).astype(dtype)
            result = s.copy()
            library.call("values_binary", "MulAddDst", name, result, a, b, count)
            same(result, (wide(s) + wide(product)).astype(dtype))
            scaled = (wide(a) * wide(b[:1])).astype(dtype)
            result = s.copy()
            library.call("values_scalar", "Axpy", name, result, a, b[:1], count)
            same(result, (wide(s) + wide(scaled)).astype(dtype))


def test_multiply_add_of_half_into_float(library: Library) -> None:
    with np.errstate(all="ignore"):
        s, a, b = numbers(np.float32, 500, 1), numbers(np.float16, 500, 2), numbers(np.float16, 500, 3)
        result = s.copy()
        library.call("values_mixed", "MulAddDst", result, a, b, 500)
        same(result, s + a.astype(np.float32) * b.astype(np.float32))
        result = s.copy()
        library.call("values_mixed", "Axpy", result, a, b[3:4], 500)
        same(result, s + a.astype(np.float32) * np.float32(b[3]))


def test_leaky_relu(library: Library) -> None:
    a = numbers(np.float32, 500, 1)
    result = np.zeros(500, np.float32)
    library.call("values_scalar", "LeakyRelu", "float", result, a, float32([0.1]), 500)
    same(result, np.where(a >= 0, a, a * np.float32(0.1)))


# --- reductions -------------------------------------------------------------------------------------------------------


def tree(values: list[Any]) -> Any:
    """Neighbours added, then their sums, and so on; NumPy scalars round every addition to their type."""
    while len(values) > 1:
        values = [values[i] + values[i + 1] for i in range(0, len(values), 2)]
    return values[0]


def repeat_sums(a: Array, lanes: int) -> list[Any]:
    padded = np.zeros(-(-a.size // lanes) * lanes, a.dtype)
    padded[: a.size] = a
    return [tree(list(row)) for row in padded.reshape(-1, lanes)]


def plain(dtype: Any, count: int, seed: int) -> Array:
    """Finite numbers that lose digits when added."""
    random = np.random.default_rng(seed)
    return (random.normal(size=count) * np.exp2(random.integers(-4, 4, count))).astype(dtype)


@pytest.mark.parametrize("name", ["half", "float"])
def test_reduce_sum_adds_repeats_in_order(library: Library, name: str) -> None:
    dtype = TYPES[name]
    lanes = 256 // np.dtype(dtype).itemsize
    for count in [*range(1, 301, 7), 64, 128, 256, 300, 1000, 4099]:
        a = plain(dtype, count, count)
        sums = repeat_sums(a, lanes)
        expected = sums[0]
        for value in sums[1:]:
            expected = expected + value
        result = np.full(2, 7, dtype)
        library.call("values_reduce", "ReduceSum", name, result, a, result, count, 0)
        assert result[0] == expected
        assert result[1] == 7
        inplace = a.copy()
        library.call("values_reduce", "ReduceSum", name, inplace, inplace, inplace, count, 0)
        assert inplace[0] == expected
        assert np.array_equal(inplace[1:], a[1:])


@pytest.mark.parametrize("name", ["half", "float"])
def test_reduce_sum_of_repeats_is_a_tree_across_repeats(library: Library, name: str) -> None:
    dtype = TYPES[name]
    size = np.dtype(dtype).itemsize
    lanes = 256 // size
    for repeats in (1, 2, 3, lanes, lanes + 1, 300):
        for active in (1, 5, lanes):
            a = plain(dtype, repeats * lanes, repeats + active)
            sums = [repeat_sums(row[:active], lanes)[0] for row in a.reshape(-1, lanes)]
            while len(sums) > 1:
                sums = repeat_sums(np.array(sums, dtype), lanes)
            result, shared = np.zeros(1, dtype), np.zeros(512, dtype)
            library.call("values_reduce_repeat", "ReduceSum", name, result, a, shared, active, repeats, 1, 1, 8, 0)
            assert library.limit() == ""
            assert result[0] == sums[0]


@pytest.mark.parametrize("name", ["half", "float"])
@pytest.mark.parametrize(("instruction", "function"), [("ReduceMax", np.max), ("ReduceMin", np.min)])
def test_reduce_search(library: Library, name: str, instruction: str, function: Any) -> None:
    dtype = TYPES[name]
    unsigned = np.uint16 if name == "half" else np.uint32
    for count in COUNTS:
        a = np.random.default_rng(count).integers(-20, 20, count).astype(dtype)
        if count % 3 == 0:
            a[count // 2] = np.nan
        where = int(np.flatnonzero(np.isnan(a))[0]) if count % 3 == 0 else int(np.flatnonzero(a == function(a))[0])
        shared = np.zeros(count + 64, dtype)
        result = np.full(3, 7, dtype)
        library.call("values_reduce", instruction, name, result, a, shared, count, 1)
        same(result[:1], a[where : where + 1])
        assert result.view(unsigned)[1] == where
        assert result[2] == 7
        result[:] = 7
        library.call("values_reduce", instruction, name, result, a, shared, count, 0)
        same(result[:1], a[where : where + 1])
        assert result[1] == 7


def test_search_asks_for_the_shared_buffer_of_the_documentation(library: Library) -> None:
    # 20 repeats of float: 40 elements, and with the index one round more: 2 of 40 give 2 elements in a block of 8.
    a, shared, result = np.ones(20 * 64, np.float32), np.zeros(64, np.float32), np.zeros(2, np.float32)
    library.call("values_reduce", "ReduceMax", "float", result, a, shared, 20 * 64, 0)
    assert [0, 40 * 4, 1, 1, 0] in library.operands(shared)
    library.call("values_reduce", "ReduceMax", "float", result, a, shared, 20 * 64, 1)
    assert [0, 48 * 4, 1, 1, 0] in library.operands(shared)


SEARCHES: dict[str, Any] = {
    "WholeReduceMax": np.argmax,
    "WholeReduceMin": np.argmin,
    "ReduceRepeat MAX": np.argmax,
}
BLOCKS: dict[str, Any] = {
    "BlockReduceSum": lambda part, block: repeat_sums(part, block)[0],
    "ReduceDataBlock SUM": lambda part, block: repeat_sums(part, block)[0],
    "BlockReduceMax": lambda part, block: np.max(part),
    "BlockReduceMin": lambda part, block: np.min(part),
}


@pytest.mark.parametrize("name", ["half", "float"])
def test_whole_and_block_reductions(library: Library, name: str) -> None:
    dtype = TYPES[name]
    size = np.dtype(dtype).itemsize
    lanes, block = 256 // size, 32 // size
    unsigned = np.uint16 if name == "half" else np.uint32
    for active in (1, block + 3, lanes):
        for repeats in (1, 4):
            a = plain(dtype, 16 * lanes, active + repeats)
            rows = [a[r * 9 * block :][:lanes] for r in range(repeats)]  # a repeat stride of 9 blocks
            result = np.full(64, 7, dtype)
            library.call("values_reduce_repeat", "WholeReduceSum", name, result, a, result, active, repeats, 3, 1, 9, 0)
            for r, row in enumerate(rows):
                assert result[3 * r] == repeat_sums(row[:active], lanes)[0]
                assert result[3 * r + 1] == 7
            for instruction, pick in SEARCHES.items():
                for order in range(4):
                    result = np.full(64, 7, dtype)
                    library.call(
                        "values_reduce_repeat", instruction, name, result, a, result, active, repeats, 1, 1, 9, order
                    )
                    for r, row in enumerate(rows):
                        index = int(pick(row[:active]))
                        if order < 2:
                            assert result[2 * r + order] == row[index]
                            assert result.view(unsigned)[2 * r + 1 - order] == index
                        elif order == 2:
                            assert result[r] == row[index]
                        else:
                            assert result.view(np.uint32)[r] == index
            for instruction, reduce in BLOCKS.items():
                result = np.full(64, 7, dtype)
                library.call("values_reduce_repeat", instruction, name, result, a, result, active, repeats, 1, 1, 9, 0)
                for r, row in enumerate(rows):
                    for b in range(8):
                        part = row[:active][b * block : (b + 1) * block]
                        assert result[8 * r + b] == (reduce(part, block) if part.size else 7)


# --- compare, select, gather ------------------------------------------------------------------------------------------

RELATIONS: list[Any] = [np.less, np.greater, np.equal, np.less_equal, np.greater_equal]


@pytest.mark.parametrize("name", ["half", "float", "int32"])
def test_compare(library: Library, name: str) -> None:
    dtype = TYPES[name]
    lanes = 256 // np.dtype(dtype).itemsize
    random = np.random.default_rng(3)
    for mode in range(6):
        if name == "int32" and mode != 2:
            continue
        for count in (lanes, 3 * lanes, 40 * lanes):
            a, b = (random.integers(-2, 3, count).astype(dtype) for _ in range(2))
            if name != "int32":
                a[::7], b[::11] = np.nan, np.nan
            for scalar in (False, True):
                other = b[1:2] if scalar else b
                # NE with NaN gives 0, unlike in NumPy.
                holds = (a < other) | (a > other) if mode == 5 else RELATIONS[mode](a, other)
                result = np.full(count // 8 + 1, 0x5A, np.uint8)
                library.call("values_compare", name, result, a, np.ascontiguousarray(other), int(scalar), mode, count)
                assert library.limit() == ""
                assert np.array_equal(result[:-1], np.packbits(holds, bitorder="little"))
                assert result[-1] == 0x5A


def test_compare_limits(library: Library) -> None:
    a, result = np.ones(100, np.float32), np.zeros(16, np.uint8)
    library.call("values_compare", "float", result, a, a, 0, 2, 100)
    assert "multiple of 256 bytes" in library.limit()
    assert np.array_equal(result, [255] * 8 + [0] * 8)
    words = np.ones(64, np.int32)
    library.call("values_compare", "int32", result, words, words, 0, 0, 64)
    assert library.limit() == "Compare: int32_t has only CMPMODE::EQ"


@pytest.mark.parametrize("name", ["half", "float"])
def test_select(library: Library, name: str) -> None:
    dtype = TYPES[name]
    lanes = 256 // np.dtype(dtype).itemsize
    for count in COUNTS:
        a, b = numbers(dtype, count, count), numbers(dtype, count, count + 1)
        chosen = np.random.default_rng(count).integers(0, 2, max(count, lanes)).astype(bool)
        mask = np.packbits(chosen, bitorder="little")
        for mode in range(3):
            taken = np.resize(chosen[:lanes], count) if mode == 0 else chosen[:count]
            result = np.full(count + 5, 7, dtype)
            library.call("values_select", name, result, mask, a, b, mode, count)
            same(result[:count], np.where(taken, a, b[0] if mode == 1 else b))
            assert np.all(result[count:] == 7)


@pytest.mark.parametrize("name", ["half", "float", "int32"])
def test_gather(library: Library, name: str) -> None:
    dtype = TYPES[name]
    size = np.dtype(dtype).itemsize
    a = numbers(dtype, 400, 1)
    for count in COUNTS[:300:13]:
        index = np.random.default_rng(count).integers(0, 390, count)
        result = np.zeros(count, dtype)
        offsets = (index * size).astype(np.uint32)
        library.call("values_gather", name, result, a, offsets, 5 * size, count)
        assert library.limit() == ""
        same(result, a[index + 5])


# --- masks, repeats, nothing at all -----------------------------------------------------------------------------------


def places(mask: int, lanes: int, repeats: int, block_stride: int, repeat_stride: int, dtype: Any) -> list[int]:
    """Element indices of the active lanes, by the definition of the strides (in blocks of 32 bytes)."""
    block = 32 // np.dtype(dtype).itemsize
    active = [lane for lane in range(lanes) if mask >> lane & 1]
    return [
        (repeat * repeat_stride + lane // block * block_stride) * block + lane % block
        for repeat in range(repeats)
        for lane in active
    ]


ELEMENT: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "Add": lambda old, a, b, scalar: a + b,
    "Adds": lambda old, a, b, scalar: a + scalar,
    "Abs": lambda old, a, b, scalar: np.abs(a),
    "MulAddDst": lambda old, a, b, scalar: old + a * b,
    "Duplicate": lambda old, a, b, scalar: scalar,
    "Cast": lambda old, a, b, scalar: np.float32(a),
}


@pytest.mark.parametrize("name", ["half", "float"])
@pytest.mark.parametrize("instruction", list(ELEMENT))
def test_repeats_masks_and_strides(library: Library, name: str, instruction: str) -> None:
    if instruction == "Cast" and name == "float":
        pytest.skip("half to float covers a conversion between widths")
    dtype = TYPES[name]
    out: Any = np.float32 if instruction == "Cast" else dtype
    lanes = 256 // max(np.dtype(out).itemsize, np.dtype(dtype).itemsize)
    every = (1 << lanes) - 1
    source_stride = 4 if instruction == "Cast" else 8
    masks = [1, every, (1 << 20) - 1, 0b1010 << (lanes - 4), 0x5EED5EED12345678 << 3 & every]
    layouts = [(1, 1, 1, 8, source_stride, 8), (1, 1, 1, 9, 8, 10), (2, 3, 1, 16, 24, 8), (1, 0, 1, 8, 0, 8)]
    a, b, before = plain(dtype, 8192, 1), plain(dtype, 8192, 2), plain(out, 8192, 3)
    for mask, repeats, layout in itertools.product(masks, (1, 2, 5), layouts):
        expected = before.copy()
        d, x, y = (
            places(mask, lanes, repeats, layout[i], layout[3 + i], kind) for i, kind in enumerate((out, dtype, dtype))
        )
        for i, j, k in zip(d, x, y, strict=True):
            expected[i] = ELEMENT[instruction](expected[i], a[j], b[k], b[0])
        words = np.array([mask & (2**64 - 1), mask >> 64], np.uint64)
        continuous = mask & (mask + 1) == 0
        for form in (0, mask.bit_length()) if continuous else (0,):
            result = before.copy()
            strides = np.array(layout, np.int32)
            library.call("values_repeat", instruction, name, result, a, b, form, words, repeats, strides)
            assert library.limit() == ""
            same(result, expected)


def test_repeat_operands_name_what_is_touched(library: Library) -> None:
    data = np.zeros(4096, np.float32)
    words = np.array([0, 0], np.uint64)
    # 20 lanes of 3 repeats without gaps between blocks: one range of 80 bytes a repeat, 9 blocks apart.
    library.call(
        "values_repeat", "Abs", "float", data, data, data, 20, words, 3, np.array([1, 1, 1, 9, 9, 9], np.int32)
    )
    assert library.operands(data) == [[0, 80, 1, 3, 288], [0, 80, 0, 3, 288]]
    # Blocks apart: one range for each block.
    library.call(
        "values_repeat", "Abs", "float", data, data, data, 20, words, 3, np.array([2, 1, 1, 9, 9, 9], np.int32)
    )
    assert library.operands(data)[:3] == [[0, 32, 1, 3, 288], [64, 32, 1, 3, 288], [128, 16, 1, 3, 288]]


@pytest.mark.parametrize(
    ("lanes", "words", "repeats", "message"),
    [
        (65, [0, 0], 1, "the mask must be between 1 and the number of elements of a repeat"),
        (64, [0, 0], 256, "the repeat times must be at most 255"),
        (0, [1, 1], 1, "mask[1] must be 0 for types of 4 bytes"),
        (0, [0, 0], 1, "the mask names no lane"),
    ],
)
def test_limits_of_repeats(library: Library, lanes: int, words: list[int], repeats: int, message: str) -> None:
    data = np.full(64, -3, np.float32)
    mask = np.array(words, np.uint64)
    library.call("values_repeat", "Abs", "float", data, data, data, lanes, mask, repeats, np.full(6, 1, np.int32))
    assert message in library.limit()
    assert np.all(data == -3)


def test_count_zero_touches_nothing(library: Library) -> None:
    null = ctypes.c_void_p()
    one = np.ones(1, np.float32)
    library.call("values_binary", "Add", "float", null, null, null, 0)
    library.call("values_binary", "MulAddDst", "float", null, null, null, 0)
    library.call("values_scalar", "Muls", "float", null, null, one, 0)
    library.call("values_scalar", "Duplicate", "float", null, null, one, 0)
    library.call("values_scalar", "Axpy", "float", null, null, one, 0)
    library.call("values_unary", "Exp", "float", null, null, 0)
    library.call("values_unary", "Sign", "float", null, null, 0)
    library.call("values_cast", "half", "float", NONE, null, null, 0)
    library.call("values_reduce", "ReduceSum", "float", null, null, null, 0, 0)
    library.call("values_reduce", "ReduceMax", "float", null, null, null, 0, 1)
    library.call("values_compare", "float", null, null, one, 1, 0, 0)
    library.call("values_select", "float", null, null, null, one, 1, 0)
    library.call("values_gather", "float", null, null, null, 0, 0)
    library.call("values_repeat", "Add", "float", null, null, null, 64, null, 0, np.full(6, 1, np.int32))
    library.call("values_reduce_repeat", "WholeReduceSum", "float", null, null, null, 0, 3, 1, 1, 8, 0)
    library.call("values_reduce_repeat", "BlockReduceMax", "float", null, null, null, 64, 0, 1, 1, 8, 0)
    assert library.limit() == ""


def test_negative_counts_are_refused(library: Library) -> None:
    data = np.full(4, 7, np.float32)
    library.call("values_binary", "Add", "float", data, data, data, -1)
    assert library.limit() == "Add: the count must not be negative"
    assert np.all(data == 7)


# --- what must not compile --------------------------------------------------------------------------------------------

REFUSED = [
    ("Adds(f, f, 1, 8);", "Adds: the scalar must have the type of the tensor's elements"),
    ("Muls(f, f, 0.5, 8);", "Muls: the scalar must have the type of the tensor's elements"),
    ("Maxs(h, h, 1.0f, 8);", "Maxs: the scalar must have the type of the tensor's elements"),
    ("Adds(b, b, bfloat16_t(1), 8);", "Adds takes half, float, int16_t and int32_t"),
    ("Add(b, b, b, 8);", "Add takes half, float, int16_t and int32_t"),
    ("Div(i, i, i, 8);", "Div takes half and float"),
    ("Exp(b, b, 8);", "Exp takes half and float"),
    ("And(i, i, i, 8);", "And takes int16_t and uint16_t"),
    ("ReduceSum(i, i, i, 8);", "ReduceSum takes half and float"),
    ("Cast(h, b, RoundMode::CAST_RINT, 8);", "Cast has no conversion between these two types"),
    ("Cast(h, i, RoundMode::CAST_NONE, 8);", "Cast has no conversion between these two types"),
    ("Select(i, u, i, i, SELMODE::VSEL_TENSOR_TENSOR_MODE, 8);", "Select takes half and float"),
    ("Compare(u, b, b, CMPMODE::LT, 128);", "Compare compares half, float and int32_t"),
    ("Axpy(h, f, 1.0f, 8);", "Axpy takes half to half, float to float and half to float"),
    (
        "Duplicate(u, uint8_t(1), 8);",
        "Duplicate takes half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t and float",
    ),
    ("Add<float, false>(f, f, f, 64, 1, {1, 1, 1, 8, 8, 8});", "Add: isSetMask = false"),
]


def test_types_of_other_architectures_do_not_compile(tmp_path: Path) -> None:
    # One translation unit with one function a line, so that one compiler run shows the errors of all.
    source = tmp_path / "refused.cpp"
    tensors = "LocalTensor<float> f, LocalTensor<half> h, LocalTensor<bfloat16_t> b, LocalTensor<int32_t> i"
    lines = ['#include "gnll/vector.h"', "using namespace AscendC;"]
    first = len(lines) + 1
    for number, (statement, _) in enumerate(REFUSED):
        lines.append(
            f"void F{number}({tensors}, LocalTensor<uint8_t> u) {{ (void)f, (void)h, (void)b, (void)i, (void)u; {statement} }}"
        )
    source.write_text("\n".join(lines) + "\n")
    built = subprocess.run(
        ["g++", *FLAGS, "-fsyntax-only", "-fmax-errors=0", str(source)], capture_output=True, text=True, check=False
    )
    assert built.returncode != 0
    for number, (statement, message) in enumerate(REFUSED):
        assert message in built.stderr, f"{statement} is not refused as it should be:\n{built.stderr[:3000]}"
        assert f"refused.cpp:{first + number}:" in built.stderr, f"{statement}: the line is not named"


def test_device_idioms_compile_without_warnings(tmp_path: Path) -> None:
    source = tmp_path / "idioms.cpp"
    source.write_text(
        """
#include "gnll/vector.h"
using namespace AscendC;
template <typename T> void Idioms(LocalTensor<T> x, LocalTensor<float> f, LocalTensor<uint8_t> u, uint32_t n)
{
    Duplicate<T>(x, 0, n);
    Duplicate(f, 1.0f, 64, 4, 1, 8);
    T zero = static_cast<T>(0);
    T half_of = zero + T(0.5f);
    half_of += T(1);
    float wide = static_cast<float>(half_of) * 2.0f;
    f.SetValue(0, wide);
    x.SetValue(0, wide);
    uint64_t mask[2] = {~0ull, 0};
    Add(f, f, f, mask, 1, {1, 1, 1, 8, 8, 8});
    Add(f, f, f, 64, 1, BinaryRepeatParams());
    ReduceSum<float>(f, f, f, n);
    CompareScalar(u, f, wide, CMPMODE::LE, 64, 1, {1, 1, 8, 8});
    if (half_of > zero && wide < 3 && half_of != 2) {
        Relu(f, f, n);
    }
}
template void Idioms<half>(LocalTensor<half>, LocalTensor<float>, LocalTensor<uint8_t>, uint32_t);
template void Idioms<bfloat16_t>(LocalTensor<bfloat16_t>, LocalTensor<float>, LocalTensor<uint8_t>, uint32_t);
template void Idioms<float>(LocalTensor<float>, LocalTensor<float>, LocalTensor<uint8_t>, uint32_t);
"""
    )
    built = subprocess.run(["g++", *FLAGS, "-fsyntax-only", str(source)], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
