// The header that packages include for tiling contexts and logs. Tiling classes chosen by priority
// (REGISTER_TILING_TEMPLATE, TilingBaseClass) are not simulated: a package that uses them does not compile.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "exe_graph/runtime/tiling_context.h"
#include "log/log.h"
#include "platform/platform_infos_def.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"
