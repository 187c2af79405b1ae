// Filling a tensor: Duplicate with a scalar, CreateVecIndex with numbers that count up.
#pragma once

#include "gnll/vector/common.h"

namespace gnll {

template <typename T>
constexpr bool DuplicateTakes = OneOf<T, half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t, float>;

template <typename T, typename MaskForm>
inline void DuplicateRepeat(const LocalTensor<T> &dst, T value, MaskForm maskForm, uint32_t repeats,
                            uint32_t blockStride, uint32_t repeatStride, Where where)
{
    Mask mask;
    if (repeats == 0 || !RepeatsHold(repeats, "Duplicate", where) ||
        !MakeMask(&mask, maskForm, sizeof(T), "Duplicate", where)) {
        return;
    }
    const Strided<T> to{dst, blockStride, repeatStride};
    Operands operands;
    operands.AddRepeats(to, mask, repeats, true);
    if (operands.Begin("Duplicate", where)) {
        RunRepeats(
            mask, repeats,
            [value](uint64_t n, T *d) { MapElements([value]() GNLL_LAMBDA { return value; }, n, d); }, to);
    }
}

}  // namespace gnll

namespace AscendC {

template <typename T>
inline void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, const int32_t &count,
                      ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::DuplicateTakes<T>,
                  "Duplicate takes half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t and float");
    if (count == 0 || !::gnll::CountHolds(count, "Duplicate", where)) {
        return;
    }
    const uint64_t n = static_cast<uint64_t>(count);
    const ::gnll::Operand operands[] = {dst.Writes(n)};
    if (::gnll::Begin("Duplicate", ::gnll::Pipe::V, operands, 1, where)) {
        const T value = scalarValue;
        ::gnll::MapElements([value]() GNLL_LAMBDA { return value; }, n, dst.Data());
    }
}

template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, uint64_t mask, const uint32_t repeatTime,
                      const uint16_t dstBlockStride, const uint8_t dstRepeatStride, ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::DuplicateTakes<T>,
                  "Duplicate takes half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t and float");
    GNLL_NEEDS_SET_MASK("Duplicate", isSetMask);
    ::gnll::DuplicateRepeat<T>(dst, scalarValue, mask, repeatTime, dstBlockStride, dstRepeatStride, where);
}

template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, const uint64_t mask[],
                      const uint32_t repeatTime, const uint16_t dstBlockStride, const uint8_t dstRepeatStride,
                      ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::DuplicateTakes<T>,
                  "Duplicate takes half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t and float");
    GNLL_NEEDS_SET_MASK("Duplicate", isSetMask);
    ::gnll::DuplicateRepeat<T>(dst, scalarValue, mask, repeatTime, dstBlockStride, dstRepeatStride, where);
}

// firstValue, firstValue + 1, ...; every number is rounded once to T.
template <typename T>
inline void CreateVecIndex(LocalTensor<T> dst, const T &firstValue, uint32_t count, ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::OneOf<T, int16_t, half, int32_t, float>,
                  "CreateVecIndex takes int16_t, half, int32_t and float");
    const ::gnll::Operand operands[] = {dst.Writes(count)};
    if (count == 0 || !::gnll::Begin("CreateVecIndex", ::gnll::Pipe::V, operands, 1, where)) {
        return;
    }
    T *to = dst.Data();
    for (uint32_t i = 0; i < count; ++i) {
        if constexpr (std::is_integral_v<T>) {
            to[i] = static_cast<T>(static_cast<uint32_t>(firstValue) + i);
        } else {
            to[i] = T(static_cast<double>(static_cast<float>(firstValue)) + i);
        }
    }
}

}  // namespace AscendC
