// Compare, Compares, CompareScalar: one bit for every element, the first element in the lowest bit of the first byte.
#pragma once

#include "gnll/vector/common.h"

namespace AscendC {

enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };

}  // namespace AscendC

namespace gnll {

using AscendC::CMPMODE;

// Whether a stands in the relation to b. Nothing holds with NaN, not even NE.
template <CMPMODE mode, typename T> GNLL_INLINE bool Holds(T a, T b)
{
    if constexpr (mode == CMPMODE::LT) {
        return a < b;
    } else if constexpr (mode == CMPMODE::GT) {
        return a > b;
    } else if constexpr (mode == CMPMODE::EQ) {
        return a == b;
    } else if constexpr (mode == CMPMODE::LE) {
        return a <= b;
    } else if constexpr (mode == CMPMODE::GE) {
        return a >= b;
    } else {
        return (a < b) | (a > b);
    }
}

// Bits of `count` elements (a multiple of 8); other(i) is what element i is compared with.
template <CMPMODE mode, typename T, typename Other>
inline void CompareBits(uint8_t *dst, const T *src, Other other, uint64_t count)
{
    for (uint64_t start = 0; start < count; start += 8) {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < 8; ++i) {
            bits |= static_cast<uint32_t>(Holds<mode>(Widen(src[start + i]), other(start + i))) << i;
        }
        dst[start / 8] = static_cast<uint8_t>(bits);
    }
}

template <typename T, typename Other>
inline void CompareRun(CMPMODE mode, uint8_t *dst, const T *src, Other other, uint64_t count)
{
    switch (mode) {
    case CMPMODE::LT:
        return CompareBits<CMPMODE::LT>(dst, src, other, count);
    case CMPMODE::GT:
        return CompareBits<CMPMODE::GT>(dst, src, other, count);
    case CMPMODE::EQ:
        return CompareBits<CMPMODE::EQ>(dst, src, other, count);
    case CMPMODE::LE:
        return CompareBits<CMPMODE::LE>(dst, src, other, count);
    case CMPMODE::GE:
        return CompareBits<CMPMODE::GE>(dst, src, other, count);
    default:
        return CompareBits<CMPMODE::NE>(dst, src, other, count);
    }
}

template <typename T> inline bool CompareModeHolds(CMPMODE mode, const char *name, Where where)
{
    return Require(static_cast<uint8_t>(mode) <= static_cast<uint8_t>(CMPMODE::NE), name, "an unknown CMPMODE",
                   where) &&
           Require(!std::is_integral_v<T> || mode == CMPMODE::EQ, name, "int32_t has only CMPMODE::EQ", where);
}

// Compares whole repeats only: a count that does not fill its last repeat is reported, and the rest is left alone.
template <typename T> inline uint64_t CompareCount(uint32_t count, const char *name, Where where)
{
    const uint32_t lanes = LanesOf(sizeof(T));
    Require(count % lanes == 0, name, "count elements must be a multiple of 256 bytes; the rest is not compared",
            where);
    return count / lanes * lanes;
}

template <typename T, typename U>
inline void CompareTensors(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                           CMPMODE mode, uint32_t count, Where where)
{
    if (count == 0 || !CompareModeHolds<T>(mode, "Compare", where)) {
        return;
    }
    const uint64_t n = CompareCount<T>(count, "Compare", where);
    const Operand operands[] = {dst.Writes(n / 8), src0.Reads(n), src1.Reads(n)};
    if (n != 0 && Begin("Compare", Pipe::V, operands, 3, where)) {
        const T *other = src1.Data();
        CompareRun(mode, reinterpret_cast<uint8_t *>(dst.Data()), static_cast<const T *>(src0.Data()),
                   [other](uint64_t i) GNLL_LAMBDA { return Widen(other[i]); }, n);
    }
}

template <typename T, typename U>
inline void CompareWithScalar(const char *name, const LocalTensor<U> &dst, const LocalTensor<T> &src, T scalar,
                              CMPMODE mode, uint32_t count, Where where)
{
    if (count == 0 || !CompareModeHolds<T>(mode, name, where)) {
        return;
    }
    const uint64_t n = CompareCount<T>(count, name, where);
    const Operand operands[] = {dst.Writes(n / 8), src.Reads(n)};
    if (n != 0 && Begin(name, Pipe::V, operands, 2, where)) {
        const Wide<T> wide = Widen(scalar);
        CompareRun(mode, reinterpret_cast<uint8_t *>(dst.Data()), static_cast<const T *>(src.Data()),
                   [wide](uint64_t) GNLL_LAMBDA { return wide; }, n);
    }
}

// The repeat forms: the mask has no effect on this architecture, every lane is compared, and the bits of all repeats
// lie one after the other whatever the strides of the destination say.
template <typename T, typename U>
inline void CompareTensorsRepeat(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                                 CMPMODE mode, uint32_t repeats, const AscendC::BinaryRepeatParams &strides,
                                 Where where)
{
    constexpr uint32_t lanes = LanesOf(sizeof(T));
    if (repeats == 0 || !RepeatsHold(repeats, "Compare", where) || !CompareModeHolds<T>(mode, "Compare", where)) {
        return;
    }
    const Strided<T> from0{src0, strides.src0BlkStride, strides.src0RepStride};
    const Strided<T> from1{src1, strides.src1BlkStride, strides.src1RepStride};
    Operands operands;
    operands.Add(dst.Writes(static_cast<uint64_t>(repeats) * lanes / 8));
    operands.AddRepeats(from0, Mask::First(lanes), repeats, false);
    operands.AddRepeats(from1, Mask::First(lanes), repeats, false);
    if (operands.Begin("Compare", where)) {
        for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
            for (uint32_t lane = 0; lane < lanes; lane += Strided<T>::BLOCK) {
                const T *other = from1.At(repeat, lane);
                CompareRun(mode, reinterpret_cast<uint8_t *>(dst.Data()) + (repeat * lanes + lane) / 8,
                           static_cast<const T *>(from0.At(repeat, lane)),
                           [other](uint64_t i) GNLL_LAMBDA { return Widen(other[i]); }, Strided<T>::BLOCK);
            }
        }
    }
}

template <typename T, typename U>
inline void CompareWithScalarRepeat(const char *name, const LocalTensor<U> &dst, const LocalTensor<T> &src, T scalar,
                                    CMPMODE mode, uint32_t repeats, const AscendC::UnaryRepeatParams &strides,
                                    Where where)
{
    constexpr uint32_t lanes = LanesOf(sizeof(T));
    if (repeats == 0 || !RepeatsHold(repeats, name, where) || !CompareModeHolds<T>(mode, name, where)) {
        return;
    }
    const Strided<T> from{src, strides.srcBlkStride, strides.srcRepStride};
    Operands operands;
    operands.Add(dst.Writes(static_cast<uint64_t>(repeats) * lanes / 8));
    operands.AddRepeats(from, Mask::First(lanes), repeats, false);
    if (operands.Begin(name, where)) {
        const Wide<T> wide = Widen(scalar);
        for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
            for (uint32_t lane = 0; lane < lanes; lane += Strided<T>::BLOCK) {
                CompareRun(mode, reinterpret_cast<uint8_t *>(dst.Data()) + (repeat * lanes + lane) / 8,
                           static_cast<const T *>(from.At(repeat, lane)),
                           [wide](uint64_t) GNLL_LAMBDA { return wide; }, Strided<T>::BLOCK);
            }
        }
    }
}

}  // namespace gnll

namespace AscendC {

#define GNLL_COMPARE_CHECK(NAME, ...)                                                                                  \
    static_assert(::gnll::OneOf<T, half, float, int32_t>, NAME " compares half, float and int32_t");                   \
    static_assert(::gnll::OneOf<U, __VA_ARGS__>, NAME " writes its bits as " #__VA_ARGS__)

template <typename T, typename U>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode,
                    uint32_t count, ::gnll::Where where = GNLL_HERE)
{
    GNLL_COMPARE_CHECK("Compare", uint8_t, int8_t);
    ::gnll::CompareTensors(dst, src0, src1, cmpMode, count, where);
}

template <typename T, typename U, bool isSetMask = true>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode,
                    const uint64_t, uint32_t repeatTime, const BinaryRepeatParams &repeatParams,
                    ::gnll::Where where = GNLL_HERE)
{
    GNLL_COMPARE_CHECK("Compare", uint8_t, int8_t);
    ::gnll::CompareTensorsRepeat(dst, src0, src1, cmpMode, repeatTime, repeatParams, where);
}

template <typename T, typename U, bool isSetMask = true>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode,
                    const uint64_t[], uint32_t repeatTime, const BinaryRepeatParams &repeatParams,
                    ::gnll::Where where = GNLL_HERE)
{
    GNLL_COMPARE_CHECK("Compare", uint8_t, int8_t);
    ::gnll::CompareTensorsRepeat(dst, src0, src1, cmpMode, repeatTime, repeatParams, where);
}

// CompareScalar is the older name of Compares.
#define GNLL_COMPARE_SCALAR(NAME)                                                                                      \
    template <typename T, typename U>                                                                                  \
    inline void NAME(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode,       \
                     uint32_t count, ::gnll::Where where = GNLL_HERE)                                                  \
    {                                                                                                                  \
        GNLL_COMPARE_CHECK(#NAME, uint8_t);                                                                            \
        ::gnll::CompareWithScalar(#NAME, dst, src0, src1Scalar, cmpMode, count, where);                                \
    }                                                                                                                  \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    inline void NAME(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode,       \
                     const uint64_t, uint32_t repeatTime, const UnaryRepeatParams &repeatParams,                       \
                     ::gnll::Where where = GNLL_HERE)                                                                  \
    {                                                                                                                  \
        GNLL_COMPARE_CHECK(#NAME, uint8_t);                                                                            \
        ::gnll::CompareWithScalarRepeat(#NAME, dst, src0, src1Scalar, cmpMode, repeatTime, repeatParams, where);       \
    }                                                                                                                  \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    inline void NAME(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode,       \
                     const uint64_t[], uint32_t repeatTime, const UnaryRepeatParams &repeatParams,                     \
                     ::gnll::Where where = GNLL_HERE)                                                                  \
    {                                                                                                                  \
        GNLL_COMPARE_CHECK(#NAME, uint8_t);                                                                            \
        ::gnll::CompareWithScalarRepeat(#NAME, dst, src0, src1Scalar, cmpMode, repeatTime, repeatParams, where);       \
    }

GNLL_COMPARE_SCALAR(Compares)
GNLL_COMPARE_SCALAR(CompareScalar)

#undef GNLL_COMPARE_SCALAR
#undef GNLL_COMPARE_CHECK

}  // namespace AscendC
