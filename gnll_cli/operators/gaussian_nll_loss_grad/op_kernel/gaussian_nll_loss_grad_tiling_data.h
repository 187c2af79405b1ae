// What the host's tiling tells the kernel. Both sides include this file, so that they cannot disagree about the layout.
#ifndef GAUSSIAN_NLL_LOSS_GRAD_TILING_DATA_H_
#define GAUSSIAN_NLL_LOSS_GRAD_TILING_DATA_H_

#include <cstdint>

// How target covers input.
constexpr uint32_t TARGET_SAME = 0;
constexpr uint32_t TARGET_ONE_AXIS = 1;

// How var covers input. Everything but VAR_SAME is broadcast: an element of var stands for varReduceSize elements of
// input.
constexpr uint32_t VAR_SAME = 0;
constexpr uint32_t VAR_LAST_DIM_ONE = 1;
constexpr uint32_t VAR_MISSING_LAST_DIM = 2;
constexpr uint32_t VAR_SCALAR = 3;

constexpr uint32_t REDUCTION_NONE = 0;
constexpr uint32_t REDUCTION_SUM = 1;
constexpr uint32_t REDUCTION_MEAN = 2;

// Counts are in elements. The first tailBlockNum cores are "big": they take one element of input more than the others.
struct GaussianNllLossGradTilingData {
    uint32_t smallCoreDataNum;
    uint32_t bigCoreDataNum;
    uint32_t finalBigTileNum;
    uint32_t finalSmallTileNum;
    uint32_t tileDataNum;
    uint32_t smallTailDataNum; // the last tile of a small core
    uint32_t bigTailDataNum;   // the last tile of a big core
    uint32_t tailBlockNum;
    uint32_t totalDataNum; // elements of input
    uint32_t targetDataNum;
    uint32_t varDataNum;
    uint32_t targetBroadcastAxisSize; // size of the axis of input that target lacks
    uint32_t targetInnerStride;       // elements of input from one step on that axis to the next
    uint32_t targetBroadcastMode;
    uint32_t varBroadcastMode;
    uint32_t varReduceSize;
    uint32_t reduction;
    float eps;
    float meanScale; // 1 / totalDataNum, 0 for an empty input
};

#endif
