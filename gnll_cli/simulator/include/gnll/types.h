// half and bfloat16_t, as the compiler of the device has them: 16 bits of storage, conversions from and to the
// arithmetic types, and arithmetic that rounds to nearest even after every operation.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gnll/rounding.h"

namespace gnll {

struct HalfFormat {
    static GNLL_CONSTANT float ToFloat(uint16_t bits) { return HalfToFloat(bits); }
    static GNLL_CONSTANT uint16_t FromFloat(float value) { return FloatToHalf<>(value); }
};

struct Bfloat16Format {
    static GNLL_CONSTANT float ToFloat(uint16_t bits) { return Bfloat16ToFloat(bits); }
    static GNLL_CONSTANT uint16_t FromFloat(float value) { return FloatToBfloat16<>(value); }
};

// A 16-bit floating-point number. Results of float operations have enough digits (24 >= 2 * 11 + 2) that rounding
// them to this format equals rounding the exact result once, for + - * / and sqrt.
template <typename Format> struct SmallFloat {
    uint16_t bits;

    SmallFloat() = default;
    GNLL_CONSTANT SmallFloat(float value) : bits(Format::FromFloat(value)) {}
    template <typename T, std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, float>, int> = 0>
    GNLL_CONSTANT SmallFloat(T value) : bits(Format::FromFloat(DoubleToOddFloat(static_cast<double>(value))))
    {
    }
    GNLL_CONSTANT operator float() const { return Format::ToFloat(bits); }

    static GNLL_CONSTANT SmallFloat FromBits(uint16_t bits)
    {
        return SmallFloat(Bits{bits});
    }

    GNLL_CONSTANT SmallFloat operator-() const { return FromBits(static_cast<uint16_t>(bits ^ 0x8000u)); }
    GNLL_CONSTANT SmallFloat operator+() const { return *this; }
    template <typename T> SmallFloat &operator+=(T other) { return *this = SmallFloat(*this + other); }
    template <typename T> SmallFloat &operator-=(T other) { return *this = SmallFloat(*this - other); }
    template <typename T> SmallFloat &operator*=(T other) { return *this = SmallFloat(*this * other); }
    template <typename T> SmallFloat &operator/=(T other) { return *this = SmallFloat(*this / other); }

private:
    struct Bits {
        uint16_t value;
    };
    explicit GNLL_CONSTANT SmallFloat(Bits pattern) : bits(pattern.value) {}
};

// What arithmetic of a 16-bit float with a T gives: T for the wider floating-point types, the 16-bit float for
// integers.
template <typename Small, typename T>
using WithSmallFloat =
    std::enable_if_t<std::is_arithmetic_v<T>, std::conditional_t<std::is_floating_point_v<T>, T, Small>>;

#define GNLL_SMALL_FLOAT_ARITHMETIC(SYMBOL)                                                                            \
    template <typename F> GNLL_CONSTANT SmallFloat<F> operator SYMBOL(SmallFloat<F> a, SmallFloat<F> b)                  \
    {                                                                                                                  \
        return SmallFloat<F>(static_cast<float>(a) SYMBOL static_cast<float>(b));                                      \
    }                                                                                                                  \
    template <typename F, typename T>                                                                                  \
    GNLL_CONSTANT WithSmallFloat<SmallFloat<F>, T> operator SYMBOL(SmallFloat<F> a, T b)                                 \
    {                                                                                                                  \
        using Wide = WithSmallFloat<SmallFloat<F>, T>;                                                                 \
        return static_cast<Wide>(a) SYMBOL static_cast<Wide>(b);                                                       \
    }                                                                                                                  \
    template <typename F, typename T>                                                                                  \
    GNLL_CONSTANT WithSmallFloat<SmallFloat<F>, T> operator SYMBOL(T a, SmallFloat<F> b)                                 \
    {                                                                                                                  \
        using Wide = WithSmallFloat<SmallFloat<F>, T>;                                                                 \
        return static_cast<Wide>(a) SYMBOL static_cast<Wide>(b);                                                       \
    }

#define GNLL_SMALL_FLOAT_COMPARISON(SYMBOL)                                                                            \
    template <typename F> GNLL_CONSTANT bool operator SYMBOL(SmallFloat<F> a, SmallFloat<F> b)                           \
    {                                                                                                                  \
        return static_cast<float>(a) SYMBOL static_cast<float>(b);                                                     \
    }                                                                                                                  \
    template <typename F, typename T>                                                                                  \
    GNLL_CONSTANT std::enable_if_t<std::is_arithmetic_v<T>, bool> operator SYMBOL(SmallFloat<F> a, T b)                  \
    {                                                                                                                  \
        return static_cast<double>(static_cast<float>(a)) SYMBOL static_cast<double>(b);                               \
    }                                                                                                                  \
    template <typename F, typename T>                                                                                  \
    GNLL_CONSTANT std::enable_if_t<std::is_arithmetic_v<T>, bool> operator SYMBOL(T a, SmallFloat<F> b)                  \
    {                                                                                                                  \
        return static_cast<double>(a) SYMBOL static_cast<double>(static_cast<float>(b));                               \
    }

GNLL_SMALL_FLOAT_ARITHMETIC(+)
GNLL_SMALL_FLOAT_ARITHMETIC(-)
GNLL_SMALL_FLOAT_ARITHMETIC(*)
GNLL_SMALL_FLOAT_ARITHMETIC(/)
GNLL_SMALL_FLOAT_COMPARISON(==)
GNLL_SMALL_FLOAT_COMPARISON(!=)
GNLL_SMALL_FLOAT_COMPARISON(<)
GNLL_SMALL_FLOAT_COMPARISON(>)
GNLL_SMALL_FLOAT_COMPARISON(<=)
GNLL_SMALL_FLOAT_COMPARISON(>=)

#undef GNLL_SMALL_FLOAT_ARITHMETIC
#undef GNLL_SMALL_FLOAT_COMPARISON

}  // namespace gnll

using half = ::gnll::SmallFloat<::gnll::HalfFormat>;
using bfloat16_t = ::gnll::SmallFloat<::gnll::Bfloat16Format>;

static_assert(sizeof(half) == 2 && std::is_trivial_v<half>, "half is two bytes that may lie in unions and buffers");
static_assert(sizeof(bfloat16_t) == 2 && std::is_trivial_v<bfloat16_t>, "bfloat16_t is two bytes");

namespace AscendC {

// Scalar conversions of the scalar unit.
GNLL_CONSTANT float ToFloat(const bfloat16_t &value) { return static_cast<float>(value); }
GNLL_CONSTANT bfloat16_t ToBfloat16(const float &value) { return bfloat16_t(value); }

}  // namespace AscendC
