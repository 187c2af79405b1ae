// Temporary buffers of the high-level Sign: three buffers of the tensor's size, at least three repeats.
#pragma once

#include <algorithm>
#include <cstdint>

#include "graph/tensor.h"

namespace AscendC {

inline void GetSignTmpBufferFactorSize(uint32_t, uint32_t &liveNodes, uint32_t &extraBytes)
{
    liveNodes = 3;
    extraBytes = 0;
}

// Bytes for a tensor of `shape` with elements of `typeSize` bytes.
inline void GetSignMaxMinTmpSize(const ge::Shape &shape, uint32_t typeSize, bool, uint32_t &most, uint32_t &least)
{
    least = 3 * 256;
    const int64_t count = std::max<int64_t>(shape.GetShapeSize(), 0);
    most = std::max(static_cast<uint32_t>(3 * count * typeSize), least);
}

} // namespace AscendC
