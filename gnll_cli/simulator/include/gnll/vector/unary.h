// Instructions with one source: Abs, Relu, Exp, Ln, Log, Sqrt, Rsqrt, Reciprocal, Sign, Not.
#pragma once

#include "gnll/vector/common.h"
#include "gnll/vector/operations.h"

namespace gnll {

template <typename Operation> struct UnaryElement {
    template <typename T> GNLL_INLINE T operator()(T a) const { return Narrow<T>(Operation()(Widen(a))); }
};

template <typename Operation, typename T>
inline void UnaryCount(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src, int64_t count,
                       Where where)
{
    if (count == 0 || !CountHolds(count, name, where)) {
        return;
    }
    const uint64_t n = static_cast<uint64_t>(count);
    const Operand operands[] = {dst.Writes(n), src.Reads(n)};
    if (Begin(name, Pipe::V, operands, 2, where)) {
        MapElements(UnaryElement<Operation>(), n, dst.Data(), src.Data());
    }
}

template <typename Operation, typename T, typename MaskForm>
inline void UnaryRepeat(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src, MaskForm maskForm,
                        uint32_t repeats, const AscendC::UnaryRepeatParams &strides, Where where)
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
        RunRepeats(
            mask, repeats, [](uint64_t n, T *d, const T *a) { MapElements(UnaryElement<Operation>(), n, d, a); }, to,
            from);
    }
}

}  // namespace gnll

namespace AscendC {

// Defines an instruction in its three forms: count, mask of the first lanes, mask bit by bit. The types follow the
// message.
#define GNLL_UNARY(NAME, OPERATION, MESSAGE, ...)                                                                      \
    template <typename T>                                                                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t &count,                       \
                     ::gnll::Where where = GNLL_HERE)                                                                  \
    {                                                                                                                  \
        static_assert(::gnll::OneOf<T, __VA_ARGS__>, MESSAGE);                                                         \
        ::gnll::UnaryCount<::gnll::op::OPERATION>(#NAME, dst, src, count, where);                                      \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask, const uint32_t repeatTime,   \
                     const UnaryRepeatParams &repeatParams, ::gnll::Where where = GNLL_HERE)                           \
    {                                                                                                                  \
        static_assert(::gnll::OneOf<T, __VA_ARGS__>, MESSAGE);                                                         \
        GNLL_NEEDS_SET_MASK(#NAME, isSetMask);                                                                         \
        ::gnll::UnaryRepeat<::gnll::op::OPERATION>(#NAME, dst, src, mask, repeatTime, repeatParams, where);            \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[],                      \
                     const uint32_t repeatTime, const UnaryRepeatParams &repeatParams,                                 \
                     ::gnll::Where where = GNLL_HERE)                                                                  \
    {                                                                                                                  \
        static_assert(::gnll::OneOf<T, __VA_ARGS__>, MESSAGE);                                                         \
        GNLL_NEEDS_SET_MASK(#NAME, isSetMask);                                                                         \
        ::gnll::UnaryRepeat<::gnll::op::OPERATION>(#NAME, dst, src, mask, repeatTime, repeatParams, where);            \
    }

GNLL_UNARY(Abs, Abs, "Abs takes half and float", half, float)
GNLL_UNARY(Relu, Relu, "Relu takes half, float and int32_t", half, float, int32_t)
GNLL_UNARY(Exp, Exp, "Exp takes half and float", half, float)
GNLL_UNARY(Ln, Ln, "Ln takes half and float", half, float)
GNLL_UNARY(Sqrt, Sqrt, "Sqrt takes half and float", half, float)
GNLL_UNARY(Rsqrt, Rsqrt, "Rsqrt takes half and float", half, float)
GNLL_UNARY(Reciprocal, Reciprocal, "Reciprocal takes half and float", half, float)
GNLL_UNARY(Not, Not, "Not takes int16_t and uint16_t", int16_t, uint16_t)

#undef GNLL_UNARY

}  // namespace AscendC
