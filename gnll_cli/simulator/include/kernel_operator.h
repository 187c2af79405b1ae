// The one header that an Ascend C kernel includes.
#pragma once

#include "gnll/core.h"
#include "gnll/types.h"
#include "gnll/tensor.h"
#include "gnll/kernel.h"
#include "gnll/sync.h"
#include "gnll/pipe.h"
#include "gnll/copy.h"
#include "gnll/print.h"
#include "gnll/vector.h"
