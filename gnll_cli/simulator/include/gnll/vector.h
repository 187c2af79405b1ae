// The vector instructions of AscendC on LocalTensor, grouped as the interface's documentation groups them. Types an
// instruction does not take on this architecture do not compile; what is not simulated does not exist here or says so.
#pragma once

#include "gnll/vector/binary.h"
#include "gnll/vector/binary_scalar.h"
#include "gnll/vector/cast.h"
#include "gnll/vector/compare.h"
#include "gnll/vector/duplicate.h"
#include "gnll/vector/gather.h"
#include "gnll/vector/math.h"
#include "gnll/vector/reduce.h"
#include "gnll/vector/select.h"
#include "gnll/vector/ternary.h"
#include "gnll/vector/unary.h"
