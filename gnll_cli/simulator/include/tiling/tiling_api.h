// The tiling helpers of the high-level interface that are simulated. Others do not compile.
#pragma once

#include "graph/tensor.h"
#include "register/tilingdata_base.h"
#include "tiling/math/log_tiling.h"
#include "tiling/math/sign_tiling.h"
#include "tiling/platform/platform_ascendc.h"
