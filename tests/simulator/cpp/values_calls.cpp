// Vector instructions behind C functions, so that a Python test can call them on its own arrays and compare with NumPy.
// The runtime is replaced by a recorder: it lets every instruction run and keeps operands and broken limits.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gnll/vector.h"

namespace {

std::string lastLimit;
std::vector<gnll::Operand> lastOperands;

}  // namespace

namespace gnll {

int checksLevel = CHECKS_ALL;

bool BeginChecked(const char *, Pipe, const Operand *operands, int count, Where)
{
    lastOperands.assign(operands, operands + count);
    return true;
}

bool ScalarChecked(const char *, const void *, uint32_t, Touch, const void *, bool, Where) { return true; }

void LimitBroken(const char *instruction, const char *message, Where)
{
    lastLimit = std::string(instruction) + ": " + message;
}

}  // namespace gnll

using namespace AscendC;

namespace {

constexpr uint32_t SIZE = 1u << 30;

template <typename T> LocalTensor<T> Tensor(const void *data)
{
    return LocalTensor<T>(static_cast<T *>(const_cast<void *>(data)), SIZE, TPosition::VECCALC, 0);
}

bool Is(const char *a, const char *b) { return std::strcmp(a, b) == 0; }

// Calls body(T()) for the type of that name.
template <typename Body> int WithType(const char *type, Body body)
{
    if (Is(type, "float")) {
        return body(float());
    }
    if (Is(type, "half")) {
        return body(half());
    }
    if (Is(type, "int16")) {
        return body(int16_t());
    }
    if (Is(type, "int32")) {
        return body(int32_t());
    }
    return 1;
}

template <typename T> T ScalarOf(const void *data)
{
    T value;
    std::memcpy(&value, data, sizeof value);
    return value;
}

}  // namespace

#define CALL(NAME, ...)                                                                                                \
    if (Is(name, #NAME)) {                                                                                             \
        NAME(__VA_ARGS__);                                                                                             \
        return 0;                                                                                                      \
    }

extern "C" const char *values_limit()
{
    static std::string text;
    text = lastLimit;
    lastLimit.clear();
    return text.c_str();
}

// Operands of the last instruction as rows of offset from `base`, bytes, write, blocks, stride. Returns their number.
extern "C" int values_operands(const void *base, int64_t *rows, int capacity)
{
    int count = 0;
    for (const gnll::Operand &operand : lastOperands) {
        if (count == capacity) {
            break;
        }
        int64_t *row = rows + 5 * count++;
        row[0] = static_cast<const char *>(operand.address) - static_cast<const char *>(base);
        row[1] = static_cast<int64_t>(operand.bytes);
        row[2] = operand.write;
        row[3] = operand.blocks;
        row[4] = operand.stride;
    }
    return count;
}

extern "C" int values_binary(const char *name, const char *type, void *dst, const void *a, const void *b, int32_t count)
{
    return WithType(type, [&](auto tag) {
        using T = decltype(tag);
        const auto d = Tensor<T>(dst), x = Tensor<T>(a), y = Tensor<T>(b);
        CALL(Add, d, x, y, count)
        CALL(Sub, d, x, y, count)
        CALL(Mul, d, x, y, count)
        CALL(Max, d, x, y, count)
        CALL(Min, d, x, y, count)
        if constexpr (gnll::OneOf<T, half, float>) {
            CALL(Div, d, x, y, count)
            CALL(MulAddDst, d, x, y, count)
        }
        if constexpr (gnll::OneOf<T, int16_t>) {
            CALL(And, d, x, y, count)
            CALL(Or, d, x, y, count)
        }
        return 1;
    });
}

extern "C" int values_scalar(const char *name, const char *type, void *dst, const void *a, const void *scalar,
                             int32_t count)
{
    return WithType(type, [&](auto tag) {
        using T = decltype(tag);
        const auto d = Tensor<T>(dst), x = Tensor<T>(a);
        const T s = ScalarOf<T>(scalar);
        CALL(Adds, d, x, s, count)
        CALL(Muls, d, x, s, count)
        CALL(Maxs, d, x, s, count)
        CALL(Mins, d, x, s, count)
        CALL(Duplicate, d, s, count)
        CALL(CreateVecIndex, d, s, static_cast<uint32_t>(count))
        if constexpr (gnll::OneOf<T, half, float>) {
            CALL(LeakyRelu, d, x, s, count)
            CALL(Axpy, d, x, s, count)
        }
        if constexpr (gnll::OneOf<T, int16_t, int32_t>) {
            CALL(ShiftLeft, d, x, s, count)
            CALL(ShiftRight, d, x, s, count)
        }
        return 1;
    });
}

extern "C" int values_mixed(const char *name, float *dst, const void *a, const void *b, int32_t count)
{
    const auto d = Tensor<float>(dst);
    const auto x = Tensor<half>(a);
    if (Is(name, "MulAddDst")) {
        MulAddDst(d, x, Tensor<half>(b), count);
        return 0;
    }
    Axpy(d, x, ScalarOf<half>(b), count);
    return 0;
}

extern "C" int values_unary(const char *name, const char *type, void *dst, const void *a, int32_t count)
{
    return WithType(type, [&](auto tag) {
        using T = decltype(tag);
        const auto d = Tensor<T>(dst), x = Tensor<T>(a);
        if constexpr (gnll::OneOf<T, half, float>) {
            CALL(Abs, d, x, count)
            CALL(Exp, d, x, count)
            CALL(Ln, d, x, count)
            CALL(Sqrt, d, x, count)
            CALL(Rsqrt, d, x, count)
            CALL(Reciprocal, d, x, count)
            CALL(Sign, d, x, static_cast<uint32_t>(count))
            CALL(Log, d, x, static_cast<uint32_t>(count))
        }
        if constexpr (gnll::OneOf<T, half, float, int32_t>) {
            CALL(Relu, d, x, count)
        }
        if constexpr (gnll::OneOf<T, int16_t>) {
            CALL(Not, d, x, count)
        }
        return 1;
    });
}

extern "C" int values_cast(const char *from, const char *to, int mode, void *dst, const void *src, uint32_t count)
{
#define CAST(FROM, FROM_TYPE, TO, TO_TYPE)                                                                             \
    if (Is(from, FROM) && Is(to, TO)) {                                                                                \
        Cast(Tensor<TO_TYPE>(dst), Tensor<FROM_TYPE>(src), static_cast<RoundMode>(mode), count);                       \
        return 0;                                                                                                      \
    }
    CAST("half", half, "float", float)
    CAST("half", half, "int32", int32_t)
    CAST("half", half, "int16", int16_t)
    CAST("half", half, "int8", int8_t)
    CAST("half", half, "uint8", uint8_t)
    CAST("bfloat16", bfloat16_t, "float", float)
    CAST("bfloat16", bfloat16_t, "int32", int32_t)
    CAST("float", float, "half", half)
    CAST("float", float, "bfloat16", bfloat16_t)
    CAST("float", float, "float", float)
    CAST("float", float, "int16", int16_t)
    CAST("float", float, "int32", int32_t)
    CAST("float", float, "int64", int64_t)
    CAST("int8", int8_t, "half", half)
    CAST("uint8", uint8_t, "half", half)
    CAST("int16", int16_t, "half", half)
    CAST("int16", int16_t, "float", float)
    CAST("int32", int32_t, "float", float)
    CAST("int32", int32_t, "int16", int16_t)
    CAST("int32", int32_t, "int64", int64_t)
    CAST("int64", int64_t, "int32", int32_t)
    CAST("int64", int64_t, "float", float)
    return 1;
}

extern "C" int values_reduce(const char *name, const char *type, void *dst, const void *src, void *shared,
                             int32_t count, int index)
{
    return WithType(type, [&](auto tag) {
        using T = decltype(tag);
        if constexpr (gnll::OneOf<T, half, float>) {
            const auto d = Tensor<T>(dst), x = Tensor<T>(src), s = Tensor<T>(shared);
            CALL(ReduceSum, d, x, s, count)
            CALL(ReduceMax, d, x, s, count, index != 0)
            CALL(ReduceMin, d, x, s, count, index != 0)
        }
        return 1;
    });
}

// Reductions of repeats: `lanes` is the mask; the strides are those of the interface.
extern "C" int values_reduce_repeat(const char *name, const char *type, void *dst, const void *src, void *shared,
                                    int32_t lanes, int32_t repeats, int32_t dstStride, int32_t blockStride,
                                    int32_t srcStride, int order)
{
    return WithType(type, [&](auto tag) {
        using T = decltype(tag);
        if constexpr (gnll::OneOf<T, half, float>) {
            const auto d = Tensor<T>(dst), x = Tensor<T>(src), s = Tensor<T>(shared);
            CALL(ReduceSum, d, x, s, lanes, repeats, srcStride)
            CALL(ReduceMax, d, x, s, lanes, repeats, srcStride, order != 0)
            CALL(ReduceMin, d, x, s, lanes, repeats, srcStride, order != 0)
            CALL(WholeReduceSum, d, x, lanes, repeats, dstStride, blockStride, srcStride)
            CALL(WholeReduceMax, d, x, lanes, repeats, dstStride, blockStride, srcStride,
                 static_cast<ReduceOrder>(order))
            CALL(WholeReduceMin, d, x, lanes, repeats, dstStride, blockStride, srcStride,
                 static_cast<ReduceOrder>(order))
            CALL(BlockReduceSum, d, x, repeats, lanes, dstStride, blockStride, srcStride)
            CALL(BlockReduceMax, d, x, repeats, lanes, dstStride, blockStride, srcStride)
            CALL(BlockReduceMin, d, x, repeats, lanes, dstStride, blockStride, srcStride)
            if (Is(name, "ReduceRepeat MAX")) {
                ReduceRepeat<ReduceType::MAX>(d, x, lanes, repeats, dstStride, blockStride, srcStride,
                                              static_cast<ReduceOrder>(order));
                return 0;
            }
            if (Is(name, "ReduceDataBlock SUM")) {
                ReduceDataBlock<ReduceType::SUM>(d, x, lanes, repeats, dstStride, blockStride, srcStride);
                return 0;
            }
        }
        return 1;
    });
}

extern "C" int values_compare(const char *type, uint8_t *dst, const void *a, const void *b, int scalar, int mode,
                              uint32_t count)
{
    return WithType(type, [&](auto tag) {
        using T = decltype(tag);
        if constexpr (gnll::OneOf<T, half, float, int32_t>) {
            if (scalar != 0) {
                CompareScalar(Tensor<uint8_t>(dst), Tensor<T>(a), ScalarOf<T>(b), static_cast<CMPMODE>(mode), count);
            } else {
                Compare(Tensor<uint8_t>(dst), Tensor<T>(a), Tensor<T>(b), static_cast<CMPMODE>(mode), count);
            }
            return 0;
        }
        return 1;
    });
}

extern "C" int values_select(const char *type, void *dst, const uint8_t *bits, const void *a, const void *b, int mode,
                             uint32_t count)
{
    return WithType(type, [&](auto tag) {
        using T = decltype(tag);
        if constexpr (gnll::OneOf<T, half, float>) {
            const SELMODE selMode = static_cast<SELMODE>(mode);
            if (selMode == SELMODE::VSEL_TENSOR_SCALAR_MODE) {
                Select(Tensor<T>(dst), Tensor<uint8_t>(bits), Tensor<T>(a), ScalarOf<T>(b), selMode, count);
            } else {
                Select(Tensor<T>(dst), Tensor<uint8_t>(bits), Tensor<T>(a), Tensor<T>(b), selMode, count);
            }
            return 0;
        }
        return 1;
    });
}

extern "C" int values_gather(const char *type, void *dst, const void *src, const uint32_t *offsets, uint32_t base,
                             uint32_t count)
{
    return WithType(type, [&](auto tag) {
        using T = decltype(tag);
        Gather(Tensor<T>(dst), Tensor<T>(src), Tensor<uint32_t>(offsets), base, count);
        return 0;
    });
}

// Repeat forms of one instruction of every kind. `lanes` 0: the mask is `bits`. Strides: blocks of dst, a, b, then
// repeats.
extern "C" int values_repeat(const char *name, const char *type, void *dst, const void *a, const void *b,
                             int32_t lanes, const uint64_t *bits, int32_t repeats, const int32_t *strides)
{
    const auto byte = [&](int i) { return static_cast<uint8_t>(strides[i]); };
    const BinaryRepeatParams two(byte(0), byte(1), byte(2), byte(3), byte(4), byte(5));
    const UnaryRepeatParams one(byte(0), byte(1), byte(3), byte(4));
    return WithType(type, [&](auto tag) {
        using T = decltype(tag);
        const auto d = Tensor<T>(dst), x = Tensor<T>(a), y = Tensor<T>(b);
        const auto call = [&](auto mask) {
            const uint32_t times = static_cast<uint32_t>(repeats);
            CALL(Add, d, x, y, mask, times, two)
            if (Is(name, "Duplicate")) {
                Duplicate(d, ScalarOf<T>(b), mask, times, byte(0), byte(3));
                return 0;
            }
            if (Is(name, "Adds")) {
                Adds(d, x, ScalarOf<T>(b), mask, times, one);
                return 0;
            }
            if constexpr (gnll::OneOf<T, half, float>) {
                CALL(Abs, d, x, mask, times, one)
                CALL(MulAddDst, d, x, y, mask, times, two)
            }
            if constexpr (gnll::OneOf<T, half>) {
                if (Is(name, "Cast")) {
                    Cast(Tensor<float>(dst), x, RoundMode::CAST_NONE, mask, times, one);
                    return 0;
                }
            }
            return 1;
        };
        return lanes != 0 ? call(static_cast<uint64_t>(lanes)) : call(bits);
    });
}

// Scalar arithmetic of half: a SYMBOL b, rounded.
extern "C" void values_half_scalars(const uint16_t *a, const uint16_t *b, uint16_t *results, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) {
        const half x = half::FromBits(a[i]);
        const half y = half::FromBits(b[i]);
        results[4 * i] = (x + y).bits;
        results[4 * i + 1] = (x - y).bits;
        results[4 * i + 2] = (x * y).bits;
        results[4 * i + 3] = (x / y).bits;
    }
}

extern "C" void values_from_double(const double *values, uint16_t *halves, uint16_t *bfloats, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) {
        halves[i] = half(values[i]).bits;
        bfloats[i] = bfloat16_t(values[i]).bits;
    }
}
