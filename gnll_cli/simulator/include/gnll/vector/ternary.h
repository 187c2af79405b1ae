// Instructions that also read their destination: Axpy (dst += src * scalar) and MulAddDst (dst += src0 * src1). The
// product and the sum are rounded one after the other; with a float destination and half sources the product is exact
// in float.
#pragma once

#include "gnll/vector/common.h"

namespace gnll {

template <typename T, typename U>
constexpr bool MultiplyAddTakes = (std::is_same_v<T, U> && OneOf<T, half, float>) ||
                                  (std::is_same_v<T, float> && std::is_same_v<U, half>);

// One element in the destination's type.
template <typename T, typename U> GNLL_INLINE T MultiplyAdd(T sum, U a, U b)
{
    if constexpr (std::is_same_v<T, half>) {
        return half(Widen(sum) + Widen(half(Widen(a) * Widen(b))));
    } else {
        return sum + Widen(a) * Widen(b);
    }
}

// Axpy without `factors`, MulAddDst with.
template <typename T, typename U>
inline void MultiplyAddRun(uint64_t n, T *dst, const U *src, const U *factors, U scalar)
{
    const T *sums = dst;
    if (factors != nullptr) {
        MapElements([](T s, U a, U b) GNLL_LAMBDA { return MultiplyAdd(s, a, b); }, n, dst, sums, src, factors);
    } else {
        MapElements([scalar](T s, U a) GNLL_LAMBDA { return MultiplyAdd(s, a, scalar); }, n, dst, sums, src);
    }
}

template <typename T, typename U, typename MaskForm>
inline void AxpyRepeat(const LocalTensor<T> &dst, const LocalTensor<U> &src, U scalar, MaskForm maskForm,
                       uint32_t repeats, const AscendC::UnaryRepeatParams &strides, Where where)
{
    Mask mask;
    if (repeats == 0 || !RepeatsHold(repeats, "Axpy", where) ||
        !MakeMask(&mask, maskForm, Widest<T, U>, "Axpy", where)) {
        return;
    }
    const Strided<T> to{dst, strides.dstBlkStride, strides.dstRepStride};
    const Strided<U> from{src, strides.srcBlkStride, strides.srcRepStride};
    Operands operands;
    operands.AddRepeats(to, mask, repeats, false);
    operands.AddRepeats(to, mask, repeats, true);
    operands.AddRepeats(from, mask, repeats, false);
    if (operands.Begin("Axpy", where)) {
        RunRepeats(
            mask, repeats,
            [scalar](uint64_t n, T *d, const U *s) { MultiplyAddRun<T, U>(n, d, s, nullptr, scalar); }, to, from);
    }
}

template <typename T, typename U, typename MaskForm>
inline void MulAddDstRepeat(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1,
                            MaskForm maskForm, uint32_t repeats, const AscendC::BinaryRepeatParams &strides,
                            Where where)
{
    Mask mask;
    if (repeats == 0 || !RepeatsHold(repeats, "MulAddDst", where) ||
        !MakeMask(&mask, maskForm, Widest<T, U>, "MulAddDst", where)) {
        return;
    }
    const Strided<T> to{dst, strides.dstBlkStride, strides.dstRepStride};
    const Strided<U> from0{src0, strides.src0BlkStride, strides.src0RepStride};
    const Strided<U> from1{src1, strides.src1BlkStride, strides.src1RepStride};
    Operands operands;
    operands.AddRepeats(to, mask, repeats, false);
    operands.AddRepeats(to, mask, repeats, true);
    operands.AddRepeats(from0, mask, repeats, false);
    operands.AddRepeats(from1, mask, repeats, false);
    if (operands.Begin("MulAddDst", where)) {
        RunRepeats(
            mask, repeats,
            [](uint64_t n, T *d, const U *a, const U *b) { MultiplyAddRun<T, U>(n, d, a, b, U()); }, to, from0, from1);
    }
}

}  // namespace gnll

namespace AscendC {

#define GNLL_MULTIPLY_ADD_CHECK(NAME)                                                                                  \
    static_assert(::gnll::MultiplyAddTakes<T, U>, NAME " takes half to half, float to float and half to float")

template <typename T, typename U>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, const int32_t &count,
                 ::gnll::Where where = GNLL_HERE)
{
    GNLL_MULTIPLY_ADD_CHECK("Axpy");
    if (count == 0 || !::gnll::CountHolds(count, "Axpy", where)) {
        return;
    }
    const uint64_t n = static_cast<uint64_t>(count);
    const ::gnll::Operand operands[] = {dst.Reads(n), dst.Writes(n), src.Reads(n)};
    if (::gnll::Begin("Axpy", ::gnll::Pipe::V, operands, 3, where)) {
        ::gnll::MultiplyAddRun<T, U>(n, dst.Data(), src.Data(), nullptr, scalarValue);
    }
}

template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, uint64_t mask,
                 const uint32_t repeatTime, const UnaryRepeatParams &repeatParams, ::gnll::Where where = GNLL_HERE)
{
    GNLL_MULTIPLY_ADD_CHECK("Axpy");
    GNLL_NEEDS_SET_MASK("Axpy", isSetMask);
    ::gnll::AxpyRepeat<T, U>(dst, src, scalarValue, mask, repeatTime, repeatParams, where);
}

template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, const uint64_t mask[],
                 const uint32_t repeatTime, const UnaryRepeatParams &repeatParams, ::gnll::Where where = GNLL_HERE)
{
    GNLL_MULTIPLY_ADD_CHECK("Axpy");
    GNLL_NEEDS_SET_MASK("Axpy", isSetMask);
    ::gnll::AxpyRepeat<T, U>(dst, src, scalarValue, mask, repeatTime, repeatParams, where);
}

template <typename T, typename U>
inline void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1,
                      const int32_t &count, ::gnll::Where where = GNLL_HERE)
{
    GNLL_MULTIPLY_ADD_CHECK("MulAddDst");
    if (count == 0 || !::gnll::CountHolds(count, "MulAddDst", where)) {
        return;
    }
    const uint64_t n = static_cast<uint64_t>(count);
    const ::gnll::Operand operands[] = {dst.Reads(n), dst.Writes(n), src0.Reads(n), src1.Reads(n)};
    if (::gnll::Begin("MulAddDst", ::gnll::Pipe::V, operands, 4, where)) {
        ::gnll::MultiplyAddRun<T, U>(n, dst.Data(), src0.Data(), src1.Data(), U());
    }
}

template <typename T, typename U, bool isSetMask = true>
inline void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, uint64_t mask,
                      const uint32_t repeatTime, const BinaryRepeatParams &repeatParams,
                      ::gnll::Where where = GNLL_HERE)
{
    GNLL_MULTIPLY_ADD_CHECK("MulAddDst");
    GNLL_NEEDS_SET_MASK("MulAddDst", isSetMask);
    ::gnll::MulAddDstRepeat(dst, src0, src1, mask, repeatTime, repeatParams, where);
}

template <typename T, typename U, bool isSetMask = true>
inline void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1,
                      const uint64_t mask[], const uint32_t repeatTime, const BinaryRepeatParams &repeatParams,
                      ::gnll::Where where = GNLL_HERE)
{
    GNLL_MULTIPLY_ADD_CHECK("MulAddDst");
    GNLL_NEEDS_SET_MASK("MulAddDst", isSetMask);
    ::gnll::MulAddDstRepeat(dst, src0, src1, mask, repeatTime, repeatParams, where);
}

#undef GNLL_MULTIPLY_ADD_CHECK

}  // namespace AscendC
