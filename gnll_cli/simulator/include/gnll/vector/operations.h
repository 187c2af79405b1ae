// The arithmetic of one element: what the instructions of binary.h, binary_scalar.h and unary.h compute. Integers wrap.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "gnll/types.h"

namespace gnll::op {

// Integer arithmetic without overflow: in an unsigned type that is not promoted to int.
template <typename T> using Wrapping = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;

struct Add {
    template <typename T> GNLL_INLINE T operator()(T a, T b) const
    {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
        } else {
            return a + b;
        }
    }
};

struct Sub {
    template <typename T> GNLL_INLINE T operator()(T a, T b) const
    {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
        } else {
            return a - b;
        }
    }
};

struct Mul {
    template <typename T> GNLL_INLINE T operator()(T a, T b) const
    {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
        } else {
            return a * b;
        }
    }
};

struct Div {
    template <typename T> GNLL_INLINE T operator()(T a, T b) const { return a / b; }
};

// Of two numbers the larger; NaN where either is NaN.
struct Max {
    template <typename T> GNLL_INLINE T operator()(T a, T b) const { return (a > b) | (a != a) ? a : b; }
};

struct Min {
    template <typename T> GNLL_INLINE T operator()(T a, T b) const { return (a < b) | (a != a) ? a : b; }
};

struct And {
    template <typename T> GNLL_INLINE T operator()(T a, T b) const { return static_cast<T>(a & b); }
};

struct Or {
    template <typename T> GNLL_INLINE T operator()(T a, T b) const { return static_cast<T>(a | b); }
};

struct Not {
    template <typename T> GNLL_INLINE T operator()(T a) const { return static_cast<T>(~a); }
};

struct Abs {
    GNLL_INLINE float operator()(float a) const { return BitsFloat(FloatBits(a) & 0x7fffffffu); }
};

// max(a, 0), NaN stays.
struct Relu {
    template <typename T> GNLL_INLINE T operator()(T a) const { return a <= T(0) ? T(0) : a; }
};

struct Exp {
    GNLL_INLINE float operator()(float a) const { return std::exp(a); }
};

struct Ln {
    GNLL_INLINE float operator()(float a) const { return std::log(a); }
};

struct Sqrt {
    GNLL_INLINE float operator()(float a) const { return std::sqrt(a); }
};

// Rounded once: the double quotient has digits to spare.
struct Rsqrt {
    GNLL_INLINE float operator()(float a) const
    {
        return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a)));
    }
};

struct Reciprocal {
    GNLL_INLINE float operator()(float a) const { return 1.0f / a; }
};

// a >= 0 ? a : a * slope; NaN stays.
struct LeakyRelu {
    GNLL_INLINE float operator()(float a, float slope) const { return a >= 0.0f ? a : a * slope; }
};

// -1, +0 or 1; +0 also for NaN, as the instruction compares with zero twice and adds up.
struct Sign {
    GNLL_INLINE float operator()(float a) const { return (a > 0.0f ? 1.0f : 0.0f) - (a < 0.0f ? 1.0f : 0.0f); }
};

// Logical for unsigned, arithmetic for signed types. Shifts by the width or more leave no digit.
struct ShiftLeft {
    template <typename T> GNLL_INLINE T operator()(T a, T distance) const
    {
        const uint64_t shift = static_cast<uint64_t>(distance);
        return shift >= 8 * sizeof(T) ? T(0) : static_cast<T>(static_cast<uint64_t>(a) << shift);
    }
};

struct ShiftRight {
    template <typename T> GNLL_INLINE T operator()(T a, T distance) const
    {
        const uint64_t shift = static_cast<uint64_t>(distance);
        const uint64_t last = 8 * sizeof(T) - 1;
        if constexpr (std::is_signed_v<T>) {
            return static_cast<T>(a >> (shift > last ? last : shift));
        } else {
            return shift > last ? T(0) : static_cast<T>(a >> shift);
        }
    }
};

}  // namespace gnll::op
