// The same header under another path that packages use.
#pragma once

#include "op_common/log/log.h"
