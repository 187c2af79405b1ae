#pragma once

#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(HostProbeTilingData)
TILING_DATA_FIELD_DEF(uint8_t, flag);
TILING_DATA_FIELD_DEF(uint32_t, length);
TILING_DATA_FIELD_DEF(int64_t, count);
TILING_DATA_FIELD_DEF(float, scale);
TILING_DATA_FIELD_DEF_ARR(int64_t, 3, axes);
TILING_DATA_FIELD_DEF(uint16_t, tail);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(HostProbe, HostProbeTilingData)
} // namespace optiling
