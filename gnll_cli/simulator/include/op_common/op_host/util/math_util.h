// Integer division and alignment.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace Ops {
namespace Base {

// x / y rounded towards zero; x where y is 0.
template <typename T> std::enable_if_t<std::is_integral_v<T>, T> FloorDiv(T x, T y) { return y == 0 ? x : x / y; }

// The largest multiple of `align` that is not above x (x >= 0); 0 where align is 0.
template <typename T> std::enable_if_t<std::is_integral_v<T>, T> FloorAlign(T x, T align)
{
    return align == 0 ? T(0) : x / align * align;
}

// x / y rounded up; x where y is 0.
template <typename T> std::enable_if_t<std::is_integral_v<T>, T> CeilDiv(T x, T y)
{
    if (y == 0) {
        return x;
    }
    const T quotient = x / y;
    const bool up = x % y != 0 && (x < 0) == (y < 0);
    return up ? quotient + 1 : quotient;
}

// The smallest multiple of `align` that is not below x; 0 where align is 0, the type's largest value where it does not
// fit.
template <typename T> std::enable_if_t<std::is_integral_v<T>, T> CeilAlign(T x, T align)
{
    T result;
    if (align == 0) {
        return 0;
    }
    return __builtin_mul_overflow(CeilDiv(x, align), align, &result) ? std::numeric_limits<T>::max() : result;
}

// Equal up to the type's epsilon; infinities of one sign are equal, NaN equals nothing.
template <typename T> std::enable_if_t<std::is_floating_point_v<T>, bool> IsFloatEqual(T a, T b)
{
    if (std::isinf(a) || std::isinf(b)) {
        return a == b;
    }
    return std::fabs(a - b) <= std::numeric_limits<T>::epsilon();
}

} // namespace Base
} // namespace Ops
