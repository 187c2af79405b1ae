// Unknown ranks and dimensions, and bounds of an axis.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exe_graph/runtime/shape.h"

namespace Ops {
namespace Base {

constexpr int64_t UNKNOWN_DIM = -1;
constexpr int64_t UNKNOWN_RANK = -2;

// Whether `axis` (negative: from the end) is one of `rank` dimensions; a scalar has axis 0.
template <typename Rank, typename Axis> bool CheckAxisBounds(Rank rank, Axis axis)
{
    const int64_t count = static_cast<int64_t>(rank);
    const int64_t index = static_cast<int64_t>(axis);
    return count == 0 ? index == 0 : index >= -count && index < count;
}

inline void SetUnknownRank(gert::Shape &shape)
{
    shape.SetDimNum(1);
    shape.SetDim(0, UNKNOWN_RANK);
}

inline bool IsUnknownRank(const gert::Shape &shape)
{
    return shape.GetDimNum() == 1 && shape.GetDim(0) == UNKNOWN_RANK;
}

inline void SetUnknownShape(int64_t rank, gert::Shape &shape)
{
    shape.SetDimNum(static_cast<size_t>(rank));
    for (int64_t i = 0; i < rank; ++i) {
        shape.SetDim(static_cast<size_t>(i), UNKNOWN_DIM);
    }
}

inline bool IsUnknownShape(const gert::Shape &shape)
{
    for (size_t i = 0; i < shape.GetDimNum(); ++i) {
        if (shape.GetDim(i) == UNKNOWN_DIM) {
            return true;
        }
    }
    return false;
}

} // namespace Base
} // namespace Ops
