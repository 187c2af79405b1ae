// The same interface under the path that newer packages use.
#pragma once

#include "tiling/platform/platform_ascendc.h"
