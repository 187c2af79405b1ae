// Cast: conversion between types with a rounding mode. The rules are the table of this architecture, one line a pair.
#pragma once

#include <string>

#include "gnll/vector/common.h"

namespace gnll {

constexpr uint32_t ModeBit(RoundMode mode) { return 1u << static_cast<uint32_t>(mode); }
constexpr uint32_t MODE_NONE = ModeBit(RoundMode::CAST_NONE);
constexpr uint32_t MODE_ODD = ModeBit(RoundMode::CAST_ODD);
constexpr uint32_t MODES_OF_ROUNDING = ModeBit(RoundMode::CAST_RINT) | ModeBit(RoundMode::CAST_FLOOR) |
                                       ModeBit(RoundMode::CAST_CEIL) | ModeBit(RoundMode::CAST_ROUND) |
                                       ModeBit(RoundMode::CAST_TRUNC);

// CAST_NONE rounds as CAST_RINT wherever it is allowed and digits are lost.
template <RoundMode mode>
constexpr RoundMode Rounding = mode == RoundMode::CAST_NONE ? RoundMode::CAST_RINT : mode;

template <typename Integer> GNLL_INLINE Integer Saturate(int64_t value)
{
    const int64_t smallest = static_cast<int64_t>(~uint64_t{0} << (8 * sizeof(Integer) - 1));
    const int64_t largest = -(smallest + 1);
    return static_cast<Integer>(value < smallest ? smallest : value > largest ? largest : value);
}

// The conversion from S to D: the modes it has and how one element is converted.
template <typename D, typename S> struct CastRule {
    static constexpr uint32_t MODES = 0;
};

#define GNLL_CAST_RULE(FROM, TO, ALLOWED, EXPRESSION)                                                                  \
    template <> struct CastRule<TO, FROM> {                                                                            \
        static constexpr uint32_t MODES = ALLOWED;                                                                     \
        template <RoundMode mode> static GNLL_INLINE TO Convert(FROM x) { return EXPRESSION; }                         \
    };

GNLL_CAST_RULE(half, float, MODE_NONE, HalfToFloat(x.bits))
GNLL_CAST_RULE(half, int32_t, MODES_OF_ROUNDING, (FloatToInteger<mode, int32_t>(HalfToFloat(x.bits))))
GNLL_CAST_RULE(half, int16_t, MODES_OF_ROUNDING, (FloatToInteger<mode, int16_t>(HalfToFloat(x.bits))))
GNLL_CAST_RULE(half, int8_t, MODES_OF_ROUNDING | MODE_NONE,
               (FloatToInteger<Rounding<mode>, int8_t>(HalfToFloat(x.bits))))
GNLL_CAST_RULE(half, uint8_t, MODES_OF_ROUNDING | MODE_NONE,
               (FloatToInteger<Rounding<mode>, uint8_t>(HalfToFloat(x.bits))))
GNLL_CAST_RULE(bfloat16_t, float, MODE_NONE, Bfloat16ToFloat(x.bits))
GNLL_CAST_RULE(bfloat16_t, int32_t, MODES_OF_ROUNDING, (FloatToInteger<mode, int32_t>(Bfloat16ToFloat(x.bits))))
GNLL_CAST_RULE(float, half, MODES_OF_ROUNDING | MODE_NONE | MODE_ODD, half::FromBits(FloatToHalf<mode>(x)))
GNLL_CAST_RULE(float, bfloat16_t, MODES_OF_ROUNDING, bfloat16_t::FromBits(FloatToBfloat16<mode>(x)))
GNLL_CAST_RULE(float, float, MODES_OF_ROUNDING, RoundToIntegral<mode>(x))
GNLL_CAST_RULE(float, int16_t, MODES_OF_ROUNDING, (FloatToInteger<mode, int16_t>(x)))
GNLL_CAST_RULE(float, int32_t, MODES_OF_ROUNDING, (FloatToInteger<mode, int32_t>(x)))
GNLL_CAST_RULE(float, int64_t, MODES_OF_ROUNDING, FloatToInt64<mode>(x))
GNLL_CAST_RULE(int8_t, half, MODE_NONE, half(static_cast<float>(x)))
GNLL_CAST_RULE(uint8_t, half, MODE_NONE, half(static_cast<float>(x)))
GNLL_CAST_RULE(int16_t, half, MODES_OF_ROUNDING | MODE_NONE,
               half::FromBits(FloatToHalf<mode>(static_cast<float>(x))))
GNLL_CAST_RULE(int16_t, float, MODE_NONE, static_cast<float>(x))
GNLL_CAST_RULE(int32_t, int16_t, MODE_NONE, Saturate<int16_t>(x))
GNLL_CAST_RULE(int32_t, int64_t, MODE_NONE, static_cast<int64_t>(x))
GNLL_CAST_RULE(int64_t, int32_t, MODE_NONE, Saturate<int32_t>(x))
GNLL_CAST_RULE(int64_t, float, MODES_OF_ROUNDING, IntegerToFloat<mode>(x))

#undef GNLL_CAST_RULE

// The hardware of the host rounds to nearest even by itself.
template <> struct CastRule<float, int32_t> {
    static constexpr uint32_t MODES = MODES_OF_ROUNDING | MODE_NONE;
    template <RoundMode mode> static GNLL_INLINE float Convert(int32_t x)
    {
        if constexpr (Rounding<mode> == RoundMode::CAST_RINT) {
            return static_cast<float>(x);
        } else {
            return IntegerToFloat<mode>(x);
        }
    }
};

template <typename T> constexpr const char *TypeName()
{
    return std::is_same_v<T, half>         ? "half"
           : std::is_same_v<T, bfloat16_t> ? "bfloat16_t"
           : std::is_same_v<T, float>      ? "float"
           : std::is_same_v<T, int8_t>     ? "int8_t"
           : std::is_same_v<T, uint8_t>    ? "uint8_t"
           : std::is_same_v<T, int16_t>    ? "int16_t"
           : std::is_same_v<T, int32_t>    ? "int32_t"
                                           : "int64_t";
}

// A mode the pair does not have: the device leaves the destination alone, here it is also reported.
template <typename D, typename S> bool CastModeHolds(RoundMode mode, Where where)
{
    static const char *const names[] = {"CAST_NONE",  "CAST_RINT",  "CAST_FLOOR", "CAST_CEIL",
                                        "CAST_ROUND", "CAST_TRUNC", "CAST_ODD"};
    const uint32_t number = static_cast<uint32_t>(mode);
    if (number <= static_cast<uint32_t>(RoundMode::CAST_ODD) && (CastRule<D, S>::MODES & ModeBit(mode)) != 0) {
        return true;
    }
    std::string allowed;
    for (uint32_t i = 0; i <= static_cast<uint32_t>(RoundMode::CAST_ODD); ++i) {
        if ((CastRule<D, S>::MODES & (1u << i)) != 0) {
            allowed += allowed.empty() ? names[i] : std::string(", ") + names[i];
        }
    }
    const std::string name = number <= static_cast<uint32_t>(RoundMode::CAST_ODD) ? names[number] : "the mode given";
    return Require(false, "Cast",
                   (name + " does not exist from " + TypeName<S>() + " to " + TypeName<D>() + " (use " + allowed + ")")
                       .c_str(),
                   where);
}

template <RoundMode mode, typename D, typename S>
inline void CastElements(uint64_t count, D *dst, const S *src)
{
    if constexpr ((CastRule<D, S>::MODES & ModeBit(mode)) != 0) {
        MapElements([](S x) GNLL_LAMBDA { return CastRule<D, S>::template Convert<mode>(x); }, count, dst, src);
    }
}

// The mode is looked at once a run, not once an element.
template <typename D, typename S> inline void CastRun(RoundMode mode, uint64_t count, D *dst, const S *src)
{
    switch (mode) {
    case RoundMode::CAST_NONE:
        return CastElements<RoundMode::CAST_NONE>(count, dst, src);
    case RoundMode::CAST_RINT:
        return CastElements<RoundMode::CAST_RINT>(count, dst, src);
    case RoundMode::CAST_FLOOR:
        return CastElements<RoundMode::CAST_FLOOR>(count, dst, src);
    case RoundMode::CAST_CEIL:
        return CastElements<RoundMode::CAST_CEIL>(count, dst, src);
    case RoundMode::CAST_ROUND:
        return CastElements<RoundMode::CAST_ROUND>(count, dst, src);
    case RoundMode::CAST_TRUNC:
        return CastElements<RoundMode::CAST_TRUNC>(count, dst, src);
    default:
        return CastElements<RoundMode::CAST_ODD>(count, dst, src);
    }
}

template <typename D, typename S, typename MaskForm>
inline void CastRepeat(const LocalTensor<D> &dst, const LocalTensor<S> &src, RoundMode mode, MaskForm maskForm,
                       uint32_t repeats, const AscendC::UnaryRepeatParams &strides, Where where)
{
    Mask mask;
    if (repeats == 0 || !RepeatsHold(repeats, "Cast", where) ||
        !MakeMask(&mask, maskForm, Widest<D, S>, "Cast", where) || !CastModeHolds<D, S>(mode, where)) {
        return;
    }
    const Strided<D> to{dst, strides.dstBlkStride, strides.dstRepStride};
    const Strided<S> from{src, strides.srcBlkStride, strides.srcRepStride};
    Operands operands;
    operands.AddRepeats(to, mask, repeats, true);
    operands.AddRepeats(from, mask, repeats, false);
    if (operands.Begin("Cast", where)) {
        RunRepeats(
            mask, repeats, [mode](uint64_t n, D *d, const S *s) { CastRun(mode, n, d, s); }, to, from);
    }
}

}  // namespace gnll

namespace AscendC {

#define GNLL_CAST_CHECK                                                                                                \
    static_assert((::gnll::CastRule<T, U>::MODES) != 0,                                                                \
                  "Cast has no conversion between these two types (int4b_t, and int32_t to half, which needs "        \
                  "SetDeqScale, are not simulated)")

template <typename T, typename U>
inline void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode,
                 const uint32_t count, ::gnll::Where where = GNLL_HERE)
{
    GNLL_CAST_CHECK;
    if (count == 0 || !::gnll::CastModeHolds<T, U>(roundMode, where)) {
        return;
    }
    const ::gnll::Operand operands[] = {dst.Writes(count), src.Reads(count)};
    if (::gnll::Begin("Cast", ::gnll::Pipe::V, operands, 2, where)) {
        ::gnll::CastRun(roundMode, count, dst.Data(), static_cast<const U *>(src.Data()));
    }
}

template <typename T, typename U, bool isSetMask = true>
inline void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode,
                 const uint64_t mask, const uint32_t repeatTime, const UnaryRepeatParams &repeatParams,
                 ::gnll::Where where = GNLL_HERE)
{
    GNLL_CAST_CHECK;
    GNLL_NEEDS_SET_MASK("Cast", isSetMask);
    ::gnll::CastRepeat(dst, src, roundMode, mask, repeatTime, repeatParams, where);
}

template <typename T, typename U, bool isSetMask = true>
inline void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode,
                 const uint64_t mask[], const uint32_t repeatTime, const UnaryRepeatParams &repeatParams,
                 ::gnll::Where where = GNLL_HERE)
{
    GNLL_CAST_CHECK;
    GNLL_NEEDS_SET_MASK("Cast", isSetMask);
    ::gnll::CastRepeat(dst, src, roundMode, mask, repeatTime, repeatParams, where);
}

#undef GNLL_CAST_CHECK

}  // namespace AscendC
