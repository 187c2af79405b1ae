// Tiling structs of the toolkit's own matrix and collective kernels, which are not simulated. Packages include it by
// habit.
#pragma once

#include <cstdint>
