// Conversions between float and the 16-bit formats and the integers, in every rounding mode. They work on bit
// patterns and have no branches that depend on the value where the mode is common, so that loops over them vectorise.
// Results do not depend on instruction sets, except that subnormal numbers must not be flushed (never build with
// -ffast-math).
#pragma once

#include <cstdint>
#include <type_traits>

// A small function that a loop calls for every element: a call that is not inlined would keep the loop from
// vectorising.
#define GNLL_INLINE inline __attribute__((always_inline))
#define GNLL_LAMBDA __attribute__((always_inline))

// The conversions of this file are constant expressions where the compiler can look at bits in one (g++ 11, clang 9), so
// that a kernel may have constants of type half.
#if defined(__has_builtin)
#if __has_builtin(__builtin_bit_cast)
#define GNLL_BIT_CAST
#endif
#endif
#if defined(GNLL_BIT_CAST)
#define GNLL_CONSTANT constexpr GNLL_INLINE
#else
#define GNLL_CONSTANT GNLL_INLINE
#endif

namespace AscendC {

// How a conversion that loses digits rounds. CAST_NONE is CAST_RINT where digits are lost.
enum class RoundMode : uint8_t {
    CAST_NONE = 0,
    CAST_RINT,   // to nearest, ties to even
    CAST_FLOOR,  // towards minus infinity
    CAST_CEIL,   // towards plus infinity
    CAST_ROUND,  // to nearest, ties away from zero
    CAST_TRUNC,  // towards zero
    CAST_ODD,    // to the neighbour with an odd last digit (von Neumann)
    UNKNOWN = 0xFF,
};

}  // namespace AscendC

namespace gnll {

using AscendC::RoundMode;

template <typename To, typename From> GNLL_CONSTANT To BitCast(From value)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits");
#if defined(GNLL_BIT_CAST)
    return __builtin_bit_cast(To, value);
#else
    To result;
    __builtin_memcpy(&result, &value, sizeof result);
    return result;
#endif
}
GNLL_CONSTANT uint32_t FloatBits(float value) { return BitCast<uint32_t>(value); }
GNLL_CONSTANT float BitsFloat(uint32_t bits) { return BitCast<float>(bits); }

// condition ? a : b without a branch. A conditional expression on results of float operations becomes a branch (the
// compiler does not compute a float operation that is not asked for), and a loop with a branch is not vectorised.
GNLL_CONSTANT uint32_t Choose(bool condition, uint32_t a, uint32_t b)
{
    return b ^ ((a ^ b) & (0u - static_cast<uint32_t>(condition)));
}
GNLL_CONSTANT float Choose(bool condition, float a, float b)
{
    return BitsFloat(Choose(condition, FloatBits(a), FloatBits(b)));
}

// Rounds a magnitude that was cut into the digits kept and the rest; `half` is half a unit of the last kept digit.
template <RoundMode mode, typename Unsigned>
GNLL_CONSTANT Unsigned RoundMagnitude(Unsigned kept, Unsigned rest, Unsigned half, bool negative)
{
    if constexpr (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT) {
        return kept + ((rest > half) | ((rest == half) & ((kept & 1) != 0)));
    } else if constexpr (mode == RoundMode::CAST_FLOOR) {
        return kept + (negative & (rest != 0));
    } else if constexpr (mode == RoundMode::CAST_CEIL) {
        return kept + (!negative & (rest != 0));
    } else if constexpr (mode == RoundMode::CAST_ROUND) {
        return kept + (rest >= half);
    } else if constexpr (mode == RoundMode::CAST_ODD) {
        return kept | (rest != 0);
    } else {
        static_assert(mode == RoundMode::CAST_TRUNC, "a rounding mode of this architecture");
        return kept;
    }
}

// half -> float, exact; NaN stays NaN (made quiet, payload kept).
GNLL_CONSTANT float HalfToFloat(uint16_t bits)
{
    const uint32_t magnitude = bits & 0x7fffu;
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t normal = (magnitude << 13) + (112u << 23);
    const uint32_t special = ((magnitude << 13) | 0x7f800000u) | Choose(magnitude > 0x7c00u, 0x00400000u, 0u);
    // A subnormal half is its digits times 2^-24: put under a one at 2^-14 and taken off again.
    const uint32_t subnormal = FloatBits(BitsFloat((magnitude << 13) + (113u << 23)) - BitsFloat(113u << 23));
    const uint32_t finite = Choose(magnitude < 0x0400u, subnormal, normal);
    return BitsFloat(Choose(magnitude >= 0x7c00u, special, finite) | sign);
}

// float -> half. Overflow gives Inf; NaN stays NaN (made quiet, leading digits of the payload kept).
template <RoundMode mode = RoundMode::CAST_RINT> GNLL_CONSTANT uint16_t FloatToHalf(float value)
{
    const uint32_t bits = FloatBits(value);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x03ffu);
    uint32_t result = 0;
    if constexpr (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT) {
        // Adding 0.5 to a number below 2^-14 leaves exactly the digits of a subnormal half, rounded by the addition.
        const uint32_t subnormal = FloatBits(BitsFloat(magnitude) + 0.5f) - FloatBits(0.5f);
        const uint32_t normal = (magnitude - (112u << 23) + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
        const uint32_t finite = Choose(magnitude < (113u << 23), subnormal, normal);
        result = Choose(magnitude >= (143u << 23), 0x7c00u, finite);
    } else {
        const uint32_t exponent = magnitude >> 23;
        const bool small = exponent < 113u;
        const uint32_t digits = (magnitude & 0x007fffffu) | (exponent != 0 ? 0x00800000u : 0u);
        const uint32_t distance = 126u - (exponent != 0 ? exponent : 1u);
        const uint32_t shift = small ? (distance < 31u ? distance : 31u) : 13u;
        const uint32_t source = small ? digits : magnitude - (112u << 23);
        const uint32_t kept = source >> shift;
        const uint32_t rest = source & ((1u << shift) - 1u);
        result = RoundMagnitude<mode, uint32_t>(kept, rest, 1u << (shift - 1u), sign != 0);
        result = (magnitude >= (143u << 23)) | (result > 0x7c00u) ? 0x7c00u : result;
    }
    return static_cast<uint16_t>(Choose(magnitude > 0x7f800000u, nan, result) | sign);
}

// bfloat16 -> float, exact; NaN is made quiet.
GNLL_CONSTANT float Bfloat16ToFloat(uint16_t bits)
{
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    return BitsFloat(wide | Choose((bits & 0x7fffu) > 0x7f80u, 0x00400000u, 0u));
}

// float -> bfloat16. Overflow gives Inf; NaN stays NaN (made quiet, leading digits of the payload kept).
template <RoundMode mode = RoundMode::CAST_RINT> GNLL_CONSTANT uint16_t FloatToBfloat16(float value)
{
    const uint32_t bits = FloatBits(value);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t nan = (magnitude >> 16) | 0x7fc0u;
    uint32_t result = 0;
    if constexpr (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT) {
        result = (magnitude + 0x7fffu + ((magnitude >> 16) & 1u)) >> 16;
    } else {
        result = RoundMagnitude<mode, uint32_t>(magnitude >> 16, magnitude & 0xffffu, 0x8000u, sign != 0);
    }
    return static_cast<uint16_t>(Choose(magnitude > 0x7f800000u, nan, result) | sign);
}

// double -> float by round to odd: rounding the result again to a format of at most 22 digits equals rounding once.
GNLL_CONSTANT float DoubleToOddFloat(double value)
{
    const float nearest = static_cast<float>(value);
    const double back = static_cast<double>(nearest);
    if (!(back < value) && !(back > value)) {
        return nearest;
    }
    uint32_t bits = FloatBits(nearest);
    const bool away = (value < 0 ? -back : back) > (value < 0 ? -value : value);
    return BitsFloat((away ? bits - 1u : bits) | 1u);
}

// float -> float without a fraction. The sign of zero, Inf and NaN are kept.
template <RoundMode mode> GNLL_CONSTANT float RoundToIntegral(float value)
{
    static_assert(mode != RoundMode::CAST_NONE && mode != RoundMode::CAST_ODD && mode != RoundMode::UNKNOWN,
                  "the mode must be CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND or CAST_TRUNC");
    const uint32_t sign = FloatBits(value) & 0x80000000u;
    const float magnitude = BitsFloat(FloatBits(value) & 0x7fffffffu);
    const float limit = 8388608.0f;  // 2^23: from here on there is no fraction
    const float nearest = (magnitude + limit) - limit;
    float result = 0.0f;
    if constexpr (mode == RoundMode::CAST_RINT) {
        result = nearest;
    } else {
        const float below = nearest - Choose(nearest > magnitude, 1.0f, 0.0f);
        const float rest = magnitude - below;
        if constexpr (mode == RoundMode::CAST_TRUNC) {
            result = below;
        } else if constexpr (mode == RoundMode::CAST_ROUND) {
            result = below + Choose(rest >= 0.5f, 1.0f, 0.0f);
        } else {
            const uint32_t away = mode == RoundMode::CAST_FLOOR ? 0x80000000u : 0u;
            result = below + Choose((rest > 0.0f) & (sign == away), 1.0f, 0.0f);
        }
    }
    const float rounded = BitsFloat(FloatBits(result) | sign);
    return Choose(magnitude < limit, rounded, value);
}

// float -> integer of 32 bits or less: saturates, NaN gives 0.
template <RoundMode mode, typename Integer> GNLL_CONSTANT Integer FloatToInteger(float value)
{
    static_assert(sizeof(Integer) <= 4 && (std::is_signed_v<Integer> || sizeof(Integer) < 4), "up to 32 bits");
    const float rounded = RoundToIntegral<mode>(value);
    if constexpr (sizeof(Integer) == 4) {
        // 2147483647 is no float: everything below 2^31 converts exactly, the rest is the limit.
        const bool above = rounded >= 2147483648.0f;
        const bool below = rounded < -2147483648.0f;
        const float safe = Choose((rounded >= -2147483648.0f) & !above, rounded, 0.0f);
        const uint32_t inside = static_cast<uint32_t>(static_cast<int32_t>(safe));
        return static_cast<int32_t>(Choose(above, 0x7fffffffu, Choose(below, 0x80000000u, inside)));
    } else {
        const float smallest = static_cast<float>(std::is_signed_v<Integer> ? -(1 << (8 * sizeof(Integer) - 1)) : 0);
        const float largest =
            static_cast<float>((1 << (8 * sizeof(Integer) - (std::is_signed_v<Integer> ? 1 : 0))) - 1);
        const float low = Choose(rounded < smallest, smallest, rounded);
        const float inside = Choose(low > largest, largest, low);
        return static_cast<Integer>(static_cast<int32_t>(Choose(rounded == rounded, inside, 0.0f)));
    }
}

// float -> int64: saturates, NaN gives 0.
template <RoundMode mode> GNLL_CONSTANT int64_t FloatToInt64(float value)
{
    const float rounded = RoundToIntegral<mode>(value);
    if (rounded >= 9223372036854775808.0f) {
        return INT64_MAX;
    }
    if (rounded < -9223372036854775808.0f) {
        return INT64_MIN;
    }
    return rounded == rounded ? static_cast<int64_t>(rounded) : 0;
}

// int32 or int64 -> float in any mode.
template <RoundMode mode> GNLL_CONSTANT float IntegerToFloat(int64_t value)
{
    const bool negative = value < 0;
    const uint64_t magnitude = negative ? 0u - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    if (magnitude < (1u << 24)) {
        return static_cast<float>(value);
    }
    const uint32_t shift = 40u - static_cast<uint32_t>(__builtin_clzll(magnitude));
    const uint64_t kept = magnitude >> shift;
    const uint64_t rest = magnitude & ((uint64_t{1} << shift) - 1u);
    const uint64_t half = uint64_t{1} << (shift - 1u);
    const uint64_t rounded = RoundMagnitude<mode, uint64_t>(kept, rest, half, negative);
    // kept has exactly 24 digits; a carry out of them moves into the exponent by itself.
    const uint32_t bits = ((127u + 23u + shift - 1u) << 23) + static_cast<uint32_t>(rounded);
    return BitsFloat(bits | (negative ? 0x80000000u : 0u));
}

}  // namespace gnll
