// Temporary buffers of the high-level Log: on the simulated architecture float needs none.
#pragma once

#include <cstdint>

#include "graph/tensor.h"

namespace AscendC {

inline void GetLogTmpBufferFactorSize(uint32_t, uint32_t &liveNodes, uint32_t &extraBytes)
{
    liveNodes = 0;
    extraBytes = 0;
}

inline void GetLogMaxMinTmpSize(const ge::Shape &, uint32_t, bool, uint32_t &most, uint32_t &least)
{
    most = 0;
    least = 0;
}

} // namespace AscendC
