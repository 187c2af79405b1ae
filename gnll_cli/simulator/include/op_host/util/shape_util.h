// The same header under another path that packages use.
#pragma once

#include "op_common/op_host/util/shape_util.h"
