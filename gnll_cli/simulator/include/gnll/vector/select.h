// Select: takes every element from one of two sources, as a mask of bits says (1: the first source).
#pragma once

#include "gnll/vector/common.h"

namespace AscendC {

enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

}  // namespace AscendC

namespace gnll {

using AscendC::SELMODE;

// Elements `first` to `first + count` of a repeat or tensor; bit i of the mask belongs to element i.
template <typename T, typename Other>
inline void SelectBits(T *dst, const uint8_t *bits, uint64_t firstBit, const T *src, Other other, uint64_t count)
{
    uint64_t i = 0;
    if (firstBit % 8 == 0) {
        const uint8_t *bytes = bits + firstBit / 8;
        for (; i + 8 <= count; i += 8) {
            const uint32_t byte = bytes[i / 8];
            for (uint32_t j = 0; j < 8; ++j) {
                const T a = src[i + j];
                const T b = other(i + j);
                dst[i + j] = ((byte >> j) & 1u) != 0 ? a : b;
            }
        }
    }
    for (; i < count; ++i) {
        const uint64_t bit = firstBit + i;
        dst[i] = ((bits[bit / 8] >> (bit % 8)) & 1u) != 0 ? src[i] : other(i);
    }
}

inline bool SelectModeHolds(SELMODE mode, bool scalar, Where where)
{
    return Require(scalar ? mode == SELMODE::VSEL_TENSOR_SCALAR_MODE
                          : mode == SELMODE::VSEL_CMPMASK_SPR || mode == SELMODE::VSEL_TENSOR_TENSOR_MODE,
                   "Select",
                   scalar ? "a scalar source needs SELMODE::VSEL_TENSOR_SCALAR_MODE"
                          : "two tensors need SELMODE::VSEL_CMPMASK_SPR or VSEL_TENSOR_TENSOR_MODE",
                   where);
}

template <typename U> inline Operand MaskBits(const LocalTensor<U> &selMask, uint64_t bits)
{
    Operand operand = selMask.Reads(0);
    operand.bytes = (bits + 7) / 8;
    return operand;
}

// `otherTensor` is null when the second source is a scalar.
template <typename T, typename U>
inline void SelectCount(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
                        const LocalTensor<T> *otherTensor, T scalar, SELMODE mode, uint32_t count, Where where)
{
    constexpr uint32_t lanes = LanesOf(sizeof(T));
    if (count == 0 || !SelectModeHolds(mode, otherTensor == nullptr, where)) {
        return;
    }
    // With the mask in a register all repeats use the same bits.
    const bool same = mode == SELMODE::VSEL_CMPMASK_SPR;
    Operands operands;
    operands.Add(dst.Writes(count));
    operands.Add(MaskBits(selMask, same ? lanes : count));
    operands.Add(src0.Reads(count));
    if (otherTensor != nullptr) {
        operands.Add(otherTensor->Reads(count));
    }
    if (!operands.Begin("Select", where)) {
        return;
    }
    const uint8_t *bits = reinterpret_cast<const uint8_t *>(selMask.Data());
    const uint32_t run = same ? lanes : count;
    for (uint32_t start = 0; start < count; start += run) {
        const uint32_t n = count - start < run ? count - start : run;
        if (otherTensor != nullptr) {
            const T *other = otherTensor->Data() + start;
            SelectBits(dst.Data() + start, bits, 0, src0.Data() + start,
                       [other](uint64_t i) GNLL_LAMBDA { return other[i]; }, n);
        } else {
            SelectBits(dst.Data() + start, bits, 0, src0.Data() + start,
                       [scalar](uint64_t) GNLL_LAMBDA { return scalar; }, n);
        }
    }
}

template <typename T, typename U, typename MaskForm>
inline void SelectRepeat(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
                         const LocalTensor<T> *otherTensor, T scalar, SELMODE mode, MaskForm maskForm,
                         uint32_t repeats, const AscendC::BinaryRepeatParams &strides, Where where)
{
    constexpr uint32_t lanes = LanesOf(sizeof(T));
    Mask mask;
    if (repeats == 0 || !RepeatsHold(repeats, "Select", where) ||
        !SelectModeHolds(mode, otherTensor == nullptr, where) ||
        !MakeMask(&mask, maskForm, sizeof(T), "Select", where)) {
        return;
    }
    const bool same = mode == SELMODE::VSEL_CMPMASK_SPR;
    const Strided<T> to{dst, strides.dstBlkStride, strides.dstRepStride};
    const Strided<T> from0{src0, strides.src0BlkStride, strides.src0RepStride};
    const Strided<T> from1{otherTensor != nullptr ? *otherTensor : src0, strides.src1BlkStride, strides.src1RepStride};
    Operands operands;
    operands.AddRepeats(to, mask, repeats, true);
    operands.Add(MaskBits(selMask, static_cast<uint64_t>(lanes) * (same ? 1 : repeats)));
    operands.AddRepeats(from0, mask, repeats, false);
    if (otherTensor != nullptr) {
        operands.AddRepeats(from1, mask, repeats, false);
    }
    if (!operands.Begin("Select", where)) {
        return;
    }
    const uint8_t *bits = reinterpret_cast<const uint8_t *>(selMask.Data());
    for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
        for (uint32_t lane = 0; lane < mask.End(); ++lane) {
            if (mask.Has(lane)) {
                const uint32_t bit = (same ? 0 : repeat * lanes) + lane;
                const T a = *from0.At(repeat, lane);
                const T b = otherTensor != nullptr ? *from1.At(repeat, lane) : scalar;
                *to.At(repeat, lane) = ((bits[bit / 8] >> (bit % 8)) & 1u) != 0 ? a : b;
            }
        }
    }
}

}  // namespace gnll

namespace AscendC {

#define GNLL_SELECT_CHECK                                                                                              \
    static_assert(::gnll::OneOf<T, half, float>, "Select takes half and float");                                       \
    static_assert(::gnll::OneOf<U, uint8_t, uint16_t, uint32_t, uint64_t>,                                             \
                  "Select takes its mask as uint8_t, uint16_t, uint32_t or uint64_t")

template <typename T, typename U>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
                   const LocalTensor<T> &src1, SELMODE selMode, uint32_t count, ::gnll::Where where = GNLL_HERE)
{
    GNLL_SELECT_CHECK;
    ::gnll::SelectCount(dst, selMask, src0, &src1, T(), selMode, count, where);
}

template <typename T, typename U>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1,
                   SELMODE selMode, uint32_t count, ::gnll::Where where = GNLL_HERE)
{
    GNLL_SELECT_CHECK;
    ::gnll::SelectCount<T, U>(dst, selMask, src0, nullptr, src1, selMode, count, where);
}

#define GNLL_SELECT_REPEAT(MASK)                                                                                       \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,           \
                       const LocalTensor<T> &src1, SELMODE selMode, MASK, uint32_t repeatTime,                         \
                       const BinaryRepeatParams &repeatParams, ::gnll::Where where = GNLL_HERE)                        \
    {                                                                                                                  \
        GNLL_SELECT_CHECK;                                                                                             \
        GNLL_NEEDS_SET_MASK("Select", isSetMask);                                                                      \
        ::gnll::SelectRepeat(dst, selMask, src0, &src1, T(), selMode, mask, repeatTime, repeatParams, where);          \
    }                                                                                                                  \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1,   \
                       SELMODE selMode, MASK, uint32_t repeatTime, const BinaryRepeatParams &repeatParams,             \
                       ::gnll::Where where = GNLL_HERE)                                                                \
    {                                                                                                                  \
        GNLL_SELECT_CHECK;                                                                                             \
        GNLL_NEEDS_SET_MASK("Select", isSetMask);                                                                      \
        ::gnll::SelectRepeat<T, U>(dst, selMask, src0, nullptr, src1, selMode, mask, repeatTime, repeatParams, where); \
    }

GNLL_SELECT_REPEAT(uint64_t mask)
GNLL_SELECT_REPEAT(const uint64_t mask[])

#undef GNLL_SELECT_REPEAT
#undef GNLL_SELECT_CHECK

}  // namespace AscendC
