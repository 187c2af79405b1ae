// Instructions with two sources: Add, Sub, Mul, Div, Max, Min, And, Or, MulAddDst.
#pragma once

#include "gnll/vector/common.h"
#include "gnll/vector/operations.h"

namespace gnll {

// The arithmetic of an instruction on its storage types.
template <typename Operation> struct BinaryElement {
    template <typename T> GNLL_INLINE T operator()(T a, T b) const
    {
        return Narrow<T>(Operation()(Widen(a), Widen(b)));
    }
};

template <typename Operation, typename T>
inline void BinaryCount(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                        const LocalTensor<T> &src1, int32_t count, Where where)
{
    if (count == 0 || !CountHolds(count, name, where)) {
        return;
    }
    const uint64_t n = static_cast<uint64_t>(count);
    const Operand operands[] = {dst.Writes(n), src0.Reads(n), src1.Reads(n)};
    if (Begin(name, Pipe::V, operands, 3, where)) {
        MapElements(BinaryElement<Operation>(), n, dst.Data(), src0.Data(), src1.Data());
    }
}

template <typename Operation, typename T, typename MaskForm>
inline void BinaryRepeat(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                         const LocalTensor<T> &src1, MaskForm maskForm, uint32_t repeats,
                         const AscendC::BinaryRepeatParams &strides, Where where)
{
    Mask mask;
    if (repeats == 0 || !RepeatsHold(repeats, name, where) || !MakeMask(&mask, maskForm, sizeof(T), name, where)) {
        return;
    }
    const Strided<T> to{dst, strides.dstBlkStride, strides.dstRepStride};
    const Strided<T> from0{src0, strides.src0BlkStride, strides.src0RepStride};
    const Strided<T> from1{src1, strides.src1BlkStride, strides.src1RepStride};
    Operands operands;
    operands.AddRepeats(to, mask, repeats, true);
    operands.AddRepeats(from0, mask, repeats, false);
    operands.AddRepeats(from1, mask, repeats, false);
    if (operands.Begin(name, where)) {
        RunRepeats(
            mask, repeats,
            [](uint64_t n, T *d, const T *a, const T *b) { MapElements(BinaryElement<Operation>(), n, d, a, b); }, to,
            from0, from1);
    }
}

}  // namespace gnll

namespace AscendC {

// Defines an instruction in its three forms: count, mask of the first lanes, mask bit by bit. The types follow the
// message.
#define GNLL_BINARY(NAME, OPERATION, MESSAGE, ...)                                                                     \
    template <typename T>                                                                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                \
                     const int32_t &count, ::gnll::Where where = GNLL_HERE)                                            \
    {                                                                                                                  \
        static_assert(::gnll::OneOf<T, __VA_ARGS__>, MESSAGE);                                                         \
        ::gnll::BinaryCount<::gnll::op::OPERATION>(#NAME, dst, src0, src1, count, where);                              \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                \
                     uint64_t mask, const uint32_t repeatTime, const BinaryRepeatParams &repeatParams,                 \
                     ::gnll::Where where = GNLL_HERE)                                                                  \
    {                                                                                                                  \
        static_assert(::gnll::OneOf<T, __VA_ARGS__>, MESSAGE);                                                         \
        GNLL_NEEDS_SET_MASK(#NAME, isSetMask);                                                                         \
        ::gnll::BinaryRepeat<::gnll::op::OPERATION>(#NAME, dst, src0, src1, mask, repeatTime, repeatParams, where);    \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                \
                     const uint64_t mask[], const uint32_t repeatTime, const BinaryRepeatParams &repeatParams,         \
                     ::gnll::Where where = GNLL_HERE)                                                                  \
    {                                                                                                                  \
        static_assert(::gnll::OneOf<T, __VA_ARGS__>, MESSAGE);                                                         \
        GNLL_NEEDS_SET_MASK(#NAME, isSetMask);                                                                         \
        ::gnll::BinaryRepeat<::gnll::op::OPERATION>(#NAME, dst, src0, src1, mask, repeatTime, repeatParams, where);    \
    }

GNLL_BINARY(Add, Add, "Add takes half, float, int16_t and int32_t", half, float, int16_t, int32_t)
GNLL_BINARY(Sub, Sub, "Sub takes half, float, int16_t and int32_t", half, float, int16_t, int32_t)
GNLL_BINARY(Mul, Mul, "Mul takes half, float, int16_t and int32_t", half, float, int16_t, int32_t)
GNLL_BINARY(Div, Div, "Div takes half and float", half, float)
GNLL_BINARY(Max, Max, "Max takes half, float, int16_t and int32_t", half, float, int16_t, int32_t)
GNLL_BINARY(Min, Min, "Min takes half, float, int16_t and int32_t", half, float, int16_t, int32_t)
GNLL_BINARY(And, And, "And takes int16_t and uint16_t", int16_t, uint16_t)
GNLL_BINARY(Or, Or, "Or takes int16_t and uint16_t", int16_t, uint16_t)

#undef GNLL_BINARY

}  // namespace AscendC
