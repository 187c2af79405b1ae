// Host tiling: refuses what the operator does not do, finds the broadcast forms, spreads the elements over the cores.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "../op_kernel/gaussian_nll_loss_grad_tiling_data.h"
#include "op_common/log/log.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
namespace {
enum Input : size_t { GRAD_OUTPUT, INPUT, TARGET, VAR, INPUTS };
enum Output : size_t { GRAD_INPUT, GRAD_VAR, OUTPUTS };
enum Attribute : size_t { FULL, EPS, REDUCTION };

// The tiling data counts in 32 bits.
constexpr uint64_t MAX_COUNT = std::numeric_limits<uint32_t>::max();

// Unified buffer that a tile may take: 44 bytes an element and 160. The kernel takes 40 of the 44: in float, 4 inputs
// and 1 output, each twice so that copies run beside the arithmetic; in a 16-bit type these are 20, and 5 values in
// float to compute with another 20. The 160 are for rounding each of ten 16-bit buffers up to 32 bytes.
constexpr uint64_t BYTES_PER_ELEMENT = 44;
constexpr uint64_t FIXED_BYTES = 160;
constexpr uint64_t TILE_UNIT = 8; // floats in a 32-byte block
constexpr uint64_t MAX_TILE = 4096;

// Everything that the shapes and attributes say, once they are found to be legal.
struct Problem {
    uint64_t total = 0;
    uint64_t targets = 0;
    uint64_t vars = 0;
    uint64_t axisSize = 1;
    uint64_t innerStride = 1;
    uint64_t reduceSize = 1;
    uint32_t targetMode = TARGET_SAME;
    uint32_t varMode = VAR_SAME;
    uint32_t reduction = REDUCTION_MEAN;
    float eps = 0.0f;
};

// The product of the dimensions [first, end), at most MAX_COUNT + 1: one that does not fit must not wrap around to one
// that does.
uint64_t Product(const gert::Shape &shape, size_t first, size_t end)
{
    uint64_t product = 1;
    bool beyond = false;
    for (size_t i = first; i < end; ++i) {
        const uint64_t dim = static_cast<uint64_t>(shape.GetDim(i));
        if (dim == 0) {
            return 0;
        }
        beyond = beyond || dim > MAX_COUNT / product;
        product = beyond ? 1 : product * dim;
    }
    return beyond ? MAX_COUNT + 1 : product;
}

uint64_t Elements(const gert::Shape &shape) { return Product(shape, 0, shape.GetDimNum()); }

bool HasNegativeDim(const gert::Shape &shape)
{
    for (size_t i = 0; i < shape.GetDimNum(); ++i) {
        if (shape.GetDim(i) < 0) {
            return true;
        }
    }
    return false;
}

// The dimensions [0, count) are the same in both.
bool SamePrefix(const gert::Shape &a, const gert::Shape &b, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (a.GetDim(i) != b.GetDim(i)) {
            return false;
        }
    }
    return true;
}

bool SameShape(const gert::Shape &a, const gert::Shape &b)
{
    return a.GetDimNum() == b.GetDimNum() && SamePrefix(a, b, a.GetDimNum());
}

ge::graphStatus CheckTypes(gert::TilingContext *context)
{
    for (size_t i = 0; i < INPUTS; ++i) {
        OP_CHECK_NULL_WITH_CONTEXT(context, context->GetInputDesc(i));
    }
    for (size_t i = 0; i < OUTPUTS; ++i) {
        OP_CHECK_NULL_WITH_CONTEXT(context, context->GetOutputDesc(i));
    }
    const ge::DataType type = context->GetInputDesc(INPUT)->GetDataType();
    for (size_t i = 0; i < INPUTS; ++i) {
        const ge::DataType given = context->GetInputDesc(i)->GetDataType();
        OP_CHECK_IF(given != ge::DT_FLOAT && given != ge::DT_FLOAT16 && given != ge::DT_BF16,
                    OP_LOGE(context, "dtype_unsupported: input %zu has type %d; FLOAT, FLOAT16 and BF16 are supported",
                            i, static_cast<int>(given)),
                    return ge::GRAPH_FAILED);
    }
    for (size_t i = 0; i < INPUTS; ++i) {
        const ge::DataType given = context->GetInputDesc(i)->GetDataType();
        OP_CHECK_IF(given != type,
                    OP_LOGE(context, "dtype_mismatch: input %zu has type %d, input 1 has %d", i,
                            static_cast<int>(given), static_cast<int>(type)),
                    return ge::GRAPH_FAILED);
    }
    for (size_t i = 0; i < OUTPUTS; ++i) {
        const ge::DataType given = context->GetOutputDesc(i)->GetDataType();
        OP_CHECK_IF(given != type,
                    OP_LOGE(context, "output_dtype_mismatch: output %zu has type %d, the inputs have %d", i,
                            static_cast<int>(given), static_cast<int>(type)),
                    return ge::GRAPH_FAILED);
    }
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus ReadAttributes(gert::TilingContext *context, Problem &problem)
{
    const gert::RuntimeAttrs *attributes = context->GetAttrs();
    OP_CHECK_NULL_WITH_CONTEXT(context, attributes);
    const char *reduction = attributes->GetStr(REDUCTION);
    const float *eps = attributes->GetFloat(EPS);
    OP_CHECK_NULL_WITH_CONTEXT(context, reduction);
    OP_CHECK_NULL_WITH_CONTEXT(context, eps);
    if (std::strcmp(reduction, "none") == 0) {
        problem.reduction = REDUCTION_NONE;
    } else if (std::strcmp(reduction, "sum") == 0) {
        problem.reduction = REDUCTION_SUM;
    } else if (std::strcmp(reduction, "mean") == 0) {
        problem.reduction = REDUCTION_MEAN;
    } else {
        OP_LOGE(context, "reduction_unknown: '%s'; none, sum and mean are known", reduction);
        return ge::GRAPH_FAILED;
    }
    OP_CHECK_IF(std::isnan(*eps), OP_LOGE(context, "eps_nan: eps must be a number above 0"), return ge::GRAPH_FAILED);
    OP_CHECK_IF(*eps == 0.0f, OP_LOGE(context, "eps_zero: eps must be above 0, as float"), return ge::GRAPH_FAILED);
    OP_CHECK_IF(*eps < 0.0f, OP_LOGE(context, "eps_negative: eps is %g and must be above 0", *eps),
                return ge::GRAPH_FAILED);
    problem.eps = *eps;
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus ClassifyTarget(gert::TilingContext *context, const gert::Shape &input, const gert::Shape &target,
                               Problem &problem)
{
    const size_t rank = input.GetDimNum();
    OP_CHECK_IF(target.GetDimNum() != rank,
                OP_LOGE(context, "target_rank: target has %zu dimensions, input %zu", target.GetDimNum(), rank),
                return ge::GRAPH_FAILED);
    size_t differing = 0;
    size_t axis = 0;
    for (size_t i = 0; i < rank; ++i) {
        if (input.GetDim(i) != target.GetDim(i)) {
            ++differing;
            axis = i;
        }
    }
    if (differing == 0) {
        return ge::GRAPH_SUCCESS;
    }
    OP_CHECK_IF(differing > 1,
                OP_LOGE(context, "target_two_axes: target differs from input in %zu dimensions", differing),
                return ge::GRAPH_FAILED);
    OP_CHECK_IF(target.GetDim(axis) != 1,
                OP_LOGE(context, "target_not_one: dimension %zu of target is %ld, neither 1 nor input's %ld", axis,
                        static_cast<long>(target.GetDim(axis)), static_cast<long>(input.GetDim(axis))),
                return ge::GRAPH_FAILED);
    problem.targetMode = TARGET_ONE_AXIS;
    problem.axisSize = static_cast<uint64_t>(input.GetDim(axis));
    problem.innerStride = Product(input, axis + 1, rank);
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus ClassifyVar(gert::TilingContext *context, const gert::Shape &input, const gert::Shape &var,
                            Problem &problem)
{
    if (SameShape(input, var)) {
        return ge::GRAPH_SUCCESS;
    }
    // Before the other forms: a var of one element may look like any of them, and means the same.
    if (problem.vars == 1) {
        problem.varMode = VAR_SCALAR;
        problem.reduceSize = problem.total;
        return ge::GRAPH_SUCCESS;
    }
    const size_t rank = input.GetDimNum();
    const size_t last = rank == 0 ? 0 : rank - 1;
    const bool prefix = rank > 0 && var.GetDimNum() >= last && SamePrefix(input, var, last);
    if (prefix && var.GetDimNum() == rank && var.GetDim(last) == 1) {
        problem.varMode = VAR_LAST_DIM_ONE;
    } else if (prefix && var.GetDimNum() == last) {
        problem.varMode = VAR_MISSING_LAST_DIM;
    } else {
        OP_LOGE(context, "var_form: var must have input's shape, its last dimension 1 or missing, or one element");
        return ge::GRAPH_FAILED;
    }
    problem.reduceSize = static_cast<uint64_t>(input.GetDim(last));
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus ReadShapes(gert::TilingContext *context, Problem &problem)
{
    for (size_t i = 0; i < INPUTS; ++i) {
        OP_CHECK_NULL_WITH_CONTEXT(context, context->GetInputShape(i));
        OP_CHECK_IF(HasNegativeDim(context->GetInputShape(i)->GetStorageShape()),
                    OP_LOGE(context, "dynamic_dim: input %zu has a dimension below 0 at tiling", i),
                    return ge::GRAPH_FAILED);
    }
    for (size_t i = 0; i < OUTPUTS; ++i) {
        OP_CHECK_NULL_WITH_CONTEXT(context, context->GetOutputShape(i));
    }
    const gert::Shape &gradOutput = context->GetInputShape(GRAD_OUTPUT)->GetStorageShape();
    const gert::Shape &input = context->GetInputShape(INPUT)->GetStorageShape();
    const gert::Shape &target = context->GetInputShape(TARGET)->GetStorageShape();
    const gert::Shape &var = context->GetInputShape(VAR)->GetStorageShape();
    problem.total = Elements(input);
    problem.targets = Elements(target);
    problem.vars = Elements(var);
    OP_CHECK_IF(std::max({problem.total, problem.targets, problem.vars}) > MAX_COUNT,
                OP_LOGE(context, "too_many_elements: input, target and var may have 2^32 - 1 elements at most"),
                return ge::GRAPH_FAILED);
    if (ClassifyTarget(context, input, target, problem) != ge::GRAPH_SUCCESS ||
        ClassifyVar(context, input, var, problem) != ge::GRAPH_SUCCESS) {
        return ge::GRAPH_FAILED;
    }
    if (problem.reduction == REDUCTION_NONE) {
        OP_CHECK_IF(!SameShape(gradOutput, input),
                    OP_LOGE(context, "grad_output_not_input_shape: reduction none needs gradOutput in input's shape"),
                    return ge::GRAPH_FAILED);
    } else {
        OP_CHECK_IF(Elements(gradOutput) != 1,
                    OP_LOGE(context, "grad_output_not_scalar: reductions sum and mean need gradOutput of one element"),
                    return ge::GRAPH_FAILED);
    }
    OP_CHECK_IF(!SameShape(context->GetOutputShape(GRAD_INPUT)->GetStorageShape(), input),
                OP_LOGE(context, "grad_input_shape: gradInput must have input's shape"), return ge::GRAPH_FAILED);
    OP_CHECK_IF(!SameShape(context->GetOutputShape(GRAD_VAR)->GetStorageShape(), var),
                OP_LOGE(context, "grad_var_shape: gradVar must have var's shape"), return ge::GRAPH_FAILED);
    return ge::GRAPH_SUCCESS;
}

// Of an empty tensor, a dimension beside the one that is 0 may be beyond 32 bits. Nothing ever uses it.
uint32_t Narrow(uint64_t count) { return static_cast<uint32_t>(std::min(count, MAX_COUNT)); }

uint64_t Tiles(uint64_t count, uint64_t tile) { return (count + tile - 1) / tile; }

uint64_t LastTile(uint64_t count, uint64_t tile) { return count == 0 ? 0 : (count - 1) % tile + 1; }

ge::graphStatus Tiling(gert::TilingContext *context)
{
    Problem problem;
    if (CheckTypes(context) != ge::GRAPH_SUCCESS || ReadAttributes(context, problem) != ge::GRAPH_SUCCESS ||
        ReadShapes(context, problem) != ge::GRAPH_SUCCESS) {
        return ge::GRAPH_FAILED;
    }

    const platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    const uint64_t cores = platform.GetCoreNumAiv();
    OP_CHECK_IF(cores == 0 || ubBytes < FIXED_BYTES + BYTES_PER_ELEMENT * TILE_UNIT,
                OP_LOGE(context, "the platform has %lu cores and %lu bytes of unified buffer: not enough for one tile",
                        static_cast<unsigned long>(cores), static_cast<unsigned long>(ubBytes)),
                return ge::GRAPH_FAILED);

    const uint64_t room = (ubBytes - FIXED_BYTES) / BYTES_PER_ELEMENT;
    const uint64_t tile = std::min(room / TILE_UNIT * TILE_UNIT, MAX_TILE);
    // An empty input still gets one core: gradVar may have elements, all zero.
    const uint64_t used = std::max<uint64_t>(1, std::min(problem.total, cores));
    const uint64_t small = problem.total / used;
    const uint64_t bigCores = problem.total % used;
    const uint64_t big = small + (bigCores > 0 ? 1 : 0);

    auto *data = context->GetTilingData<GaussianNllLossGradTilingData>();
    OP_CHECK_NULL_WITH_CONTEXT(context, data);
    data->smallCoreDataNum = Narrow(small);
    data->bigCoreDataNum = Narrow(big);
    data->finalBigTileNum = Narrow(Tiles(big, tile));
    data->finalSmallTileNum = Narrow(Tiles(small, tile));
    data->tileDataNum = Narrow(tile);
    data->smallTailDataNum = Narrow(LastTile(small, tile));
    data->bigTailDataNum = Narrow(LastTile(big, tile));
    data->tailBlockNum = Narrow(bigCores);
    data->totalDataNum = Narrow(problem.total);
    data->targetDataNum = Narrow(problem.targets);
    data->varDataNum = Narrow(problem.vars);
    data->targetBroadcastAxisSize = Narrow(problem.axisSize);
    data->targetInnerStride = Narrow(problem.innerStride);
    data->targetBroadcastMode = problem.targetMode;
    data->varBroadcastMode = problem.varMode;
    data->varReduceSize = Narrow(problem.reduceSize);
    data->reduction = problem.reduction;
    data->eps = problem.eps;
    data->meanScale = problem.total == 0 ? 0.0f : 1.0f / static_cast<float>(problem.total);

    context->SetBlockDim(Narrow(used));
    context->SetTilingKey(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    OP_CHECK_NULL_WITH_CONTEXT(context, workspaces);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace

IMPL_OP_OPTILING(GaussianNllLossGrad).Tiling(Tiling);
} // namespace optiling
