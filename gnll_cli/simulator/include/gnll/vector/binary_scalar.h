// Instructions with one source and a scalar: Adds, Muls, Maxs, Mins, ShiftLeft, ShiftRight, LeakyRelu.
#pragma once

#include "gnll/vector/common.h"
#include "gnll/vector/operations.h"

namespace gnll {

template <typename Operation, typename T>
inline void ScalarCount(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src, T scalar,
                        int32_t count, Where where)
{
    if (count == 0 || !CountHolds(count, name, where)) {
        return;
    }
    const uint64_t n = static_cast<uint64_t>(count);
    const Operand operands[] = {dst.Writes(n), src.Reads(n)};
    if (Begin(name, Pipe::V, operands, 2, where)) {
        const Wide<T> wide = Widen(scalar);
        MapElements([wide](T a) GNLL_LAMBDA { return Narrow<T>(Operation()(Widen(a), wide)); }, n, dst.Data(),
                    static_cast<const T *>(src.Data()));
    }
}

template <typename Operation, typename T, typename MaskForm>
inline void ScalarRepeat(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src, T scalar,
                         MaskForm maskForm, uint32_t repeats, const AscendC::UnaryRepeatParams &strides, Where where)
{
    Mask mask;
    if (repeats == 0 || !RepeatsHold(repeats, name, where) || !MakeMask(&mask, maskForm, sizeof(T), name, where)) {
        return;
    }
    const Strided<T> to{dst, strides.dstBlkStride, strides.dstRepStride};
    const Strided<T> from{src, strides.srcBlkStride, strides.srcRepStride};
    Operands operands;
    operands.AddRepeats(to, mask, repeats, true);
    operands.AddRepeats(from, mask, repeats, false);
    if (operands.Begin(name, where)) {
        const Wide<T> wide = Widen(scalar);
        RunRepeats(
            mask, repeats,
            [wide](uint64_t n, T *d, const T *a) {
                MapElements([wide](T x) GNLL_LAMBDA { return Narrow<T>(Operation()(Widen(x), wide)); }, n, d, a);
            },
            to, from);
    }
}

}  // namespace gnll

namespace AscendC {

// The scalar is a template parameter of its own so that a wrong type is named instead of "no matching function".
#define GNLL_SCALAR_CHECKS(NAME, MESSAGE, ...)                                                                         \
    static_assert(::gnll::OneOf<T, __VA_ARGS__>, MESSAGE);                                                             \
    static_assert(std::is_same_v<T, S>, #NAME ": the scalar must have the type of the tensor's elements")

#define GNLL_BINARY_SCALAR(NAME, OPERATION, MESSAGE, ...)                                                              \
    template <typename T, bool isSetMask = true, typename S>                                                           \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const S &scalarValue, const int32_t &count, \
                     ::gnll::Where where = GNLL_HERE)                                                                  \
    {                                                                                                                  \
        GNLL_SCALAR_CHECKS(NAME, MESSAGE, __VA_ARGS__);                                                                \
        GNLL_NEEDS_SET_MASK(#NAME, isSetMask);                                                                         \
        ::gnll::ScalarCount<::gnll::op::OPERATION, T>(#NAME, dst, src, scalarValue, count, where);                     \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true, typename S>                                                           \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const S &scalarValue, uint64_t mask,        \
                     const uint32_t repeatTime, const UnaryRepeatParams &repeatParams,                                 \
                     ::gnll::Where where = GNLL_HERE)                                                                  \
    {                                                                                                                  \
        GNLL_SCALAR_CHECKS(NAME, MESSAGE, __VA_ARGS__);                                                                \
        GNLL_NEEDS_SET_MASK(#NAME, isSetMask);                                                                         \
        ::gnll::ScalarRepeat<::gnll::op::OPERATION, T>(#NAME, dst, src, scalarValue, mask, repeatTime, repeatParams,   \
                                                       where);                                                         \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true, typename S>                                                           \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const S &scalarValue,                       \
                     const uint64_t mask[], const uint32_t repeatTime, const UnaryRepeatParams &repeatParams,          \
                     ::gnll::Where where = GNLL_HERE)                                                                  \
    {                                                                                                                  \
        GNLL_SCALAR_CHECKS(NAME, MESSAGE, __VA_ARGS__);                                                                \
        GNLL_NEEDS_SET_MASK(#NAME, isSetMask);                                                                         \
        ::gnll::ScalarRepeat<::gnll::op::OPERATION, T>(#NAME, dst, src, scalarValue, mask, repeatTime, repeatParams,   \
                                                       where);                                                         \
    }

GNLL_BINARY_SCALAR(Adds, Add, "Adds takes half, float, int16_t and int32_t", half, float, int16_t, int32_t)
GNLL_BINARY_SCALAR(Muls, Mul, "Muls takes half, float, int16_t and int32_t", half, float, int16_t, int32_t)
GNLL_BINARY_SCALAR(Maxs, Max, "Maxs takes half, float, int16_t and int32_t", half, float, int16_t, int32_t)
GNLL_BINARY_SCALAR(Mins, Min, "Mins takes half, float, int16_t and int32_t", half, float, int16_t, int32_t)
GNLL_BINARY_SCALAR(LeakyRelu, LeakyRelu, "LeakyRelu takes half and float", half, float)
GNLL_BINARY_SCALAR(ShiftLeft, ShiftLeft, "ShiftLeft takes uint16_t, uint32_t, int16_t and int32_t", uint16_t, uint32_t,
                   int16_t, int32_t)
GNLL_BINARY_SCALAR(ShiftRight, ShiftRight, "ShiftRight takes uint16_t, uint32_t, int16_t and int32_t", uint16_t,
                   uint32_t, int16_t, int32_t)

#undef GNLL_BINARY_SCALAR
#undef GNLL_SCALAR_CHECKS

}  // namespace AscendC
