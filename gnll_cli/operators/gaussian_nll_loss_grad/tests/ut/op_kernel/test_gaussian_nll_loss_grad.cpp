// Kernel unit test: the kernel alone, with block counts and tiles that no tiling would choose, so that every tail and
// every way to split a group is met with few elements. The data are multiples of 1/8, exact in all three types.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tikicpulib.h"

#include "../../../op_kernel/gaussian_nll_loss_grad.h"

// One kernel function for each type.
#define DEFINE_KERNEL(NAME, TYPE)                                                                                      \
    extern "C" __global__ __aicore__ void NAME(GM_ADDR gradOutput, GM_ADDR input, GM_ADDR target, GM_ADDR var,         \
                                               GM_ADDR gradInput, GM_ADDR gradVar, GM_ADDR workspace, GM_ADDR tiling)  \
    {                                                                                                                  \
        (void)workspace;                                                                                               \
        REGISTER_TILING_DEFAULT(GaussianNllLossGradTilingData);                                                        \
        GET_TILING_DATA_WITH_STRUCT(GaussianNllLossGradTilingData, tilingData, tiling);                                \
        AscendC::TPipe pipe;                                                                                           \
        GaussianNllLossGrad::Kernel<TYPE> kernel;                                                                      \
        kernel.Init(gradOutput, input, target, var, gradInput, gradVar, tilingData, pipe);                             \
        kernel.Process();                                                                                              \
    }
DEFINE_KERNEL(kernel_float, float)
DEFINE_KERNEL(kernel_half, half)
DEFINE_KERNEL(kernel_bf16, bfloat16_t)

namespace {
constexpr size_t GUARD_BYTES = 64;
constexpr uint8_t GUARD = 0xA5;

// Outputs round to the type once more: 2^-24, 2^-11 or 2^-8 of the result, and a few float roundings on the way.
template <typename T> struct Type;
template <> struct Type<float> {
    static constexpr double RELATIVE = 1e-5;
    static constexpr auto KERNEL = kernel_float;
};
template <> struct Type<half> {
    static constexpr double RELATIVE = 6e-4;
    static constexpr auto KERNEL = kernel_half;
};
template <> struct Type<bfloat16_t> {
    static constexpr double RELATIVE = 5e-3;
    static constexpr auto KERNEL = kernel_bf16;
};

// Device memory of `count` elements between two guards.
template <typename T> class Memory {
public:
    explicit Memory(size_t count) : count_(count), bytes_(count * sizeof(T) + 2 * GUARD_BYTES)
    {
        base_ = static_cast<uint8_t *>(AscendC::GmAlloc(bytes_));
        std::memset(base_, GUARD, bytes_);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory() { AscendC::GmFree(base_); }

    uint8_t *Address() const { return base_ + GUARD_BYTES; }
    T *Data() const { return reinterpret_cast<T *>(Address()); }

    bool GuardsHold() const
    {
        const auto untouched = [](uint8_t byte) { return byte == GUARD; };
        const uint8_t *end = Address() + count_ * sizeof(T);
        return std::all_of(base_, base_ + GUARD_BYTES, untouched) && std::all_of(end, end + GUARD_BYTES, untouched);
    }

private:
    size_t count_;
    size_t bytes_;
    uint8_t *base_;
};

// A problem by what the kernel is told of it: groups of `reduceSize` elements of input share an element of var, and
// input is [outer, axis, inner] where target is [outer, 1, inner].
struct Problem {
    uint32_t total;
    uint32_t varMode;
    uint32_t reduceSize;
    uint32_t axis; // 1: target has input's shape
    uint32_t inner;
    uint32_t reduction;
    float eps;

    uint32_t Vars() const { return varMode == VAR_SCALAR ? 1 : total / std::max(reduceSize, 1u); }
    uint32_t Targets() const { return total / axis; }
    uint32_t TargetOf(uint32_t i) const { return axis == 1 ? i : i / (axis * inner) * inner + i % inner; }
    double Weight(uint32_t i) const
    {
        const double weight = reduction == REDUCTION_NONE ? Cycle(i, 5, -1.25) : 1.25;
        return reduction == REDUCTION_MEAN ? weight / total : weight;
    }
    static double Cycle(uint32_t i, uint32_t length, double first) { return first + 0.5 * (i % length) + 0.125; }
    static double Input(uint32_t i) { return Cycle(i, 11, -2.5); }
    static double Target(uint32_t i) { return Cycle(i, 7, -1.0); }
    static double Var(uint32_t i) { return Cycle(i, 4, 0.125); }
};

GaussianNllLossGradTilingData Tiling(const Problem &problem, uint32_t blocks, uint32_t tile)
{
    const uint32_t small = problem.total / blocks;
    const uint32_t big = small + (problem.total % blocks == 0 ? 0 : 1);
    GaussianNllLossGradTilingData data = {};
    data.smallCoreDataNum = small;
    data.bigCoreDataNum = big;
    data.finalBigTileNum = (big + tile - 1) / tile;
    data.finalSmallTileNum = (small + tile - 1) / tile;
    data.tileDataNum = tile;
    data.smallTailDataNum = small == 0 ? 0 : (small - 1) % tile + 1;
    data.bigTailDataNum = big == 0 ? 0 : (big - 1) % tile + 1;
    data.tailBlockNum = problem.total % blocks;
    data.totalDataNum = problem.total;
    data.targetDataNum = problem.Targets();
    data.varDataNum = problem.Vars();
    data.targetBroadcastAxisSize = problem.axis;
    data.targetInnerStride = problem.inner;
    data.targetBroadcastMode = problem.axis == 1 ? TARGET_SAME : TARGET_ONE_AXIS;
    data.varBroadcastMode = problem.varMode;
    data.varReduceSize = problem.reduceSize;
    data.reduction = problem.reduction;
    data.eps = problem.eps;
    data.meanScale = problem.total == 0 ? 0.0f : 1.0f / static_cast<float>(problem.total);
    return data;
}

template <typename T> void Run(const Problem &problem, uint32_t blocks, uint32_t tile)
{
    SCOPED_TRACE(::testing::Message() << "total " << problem.total << ", var mode " << problem.varMode << ", axis "
                                      << problem.axis << ", " << blocks << " blocks, tile " << tile);
    const uint32_t weights = problem.reduction == REDUCTION_NONE ? problem.total : 1;
    const Memory<T> gradOutput(weights);
    const Memory<T> input(problem.total);
    const Memory<T> target(problem.Targets());
    const Memory<T> var(problem.Vars());
    const Memory<T> gradInput(problem.total);
    const Memory<T> gradVar(problem.Vars());
    const Memory<uint8_t> workspace(32); // the kernel needs none; a launch has one
    const Memory<GaussianNllLossGradTilingData> tiling(1);
    for (uint32_t i = 0; i < weights; ++i) {
        const double weight = problem.reduction == REDUCTION_NONE ? problem.Weight(i) : 1.25;
        gradOutput.Data()[i] = static_cast<T>(static_cast<float>(weight));
    }
    for (uint32_t i = 0; i < problem.total; ++i) {
        input.Data()[i] = static_cast<T>(static_cast<float>(Problem::Input(i)));
    }
    for (uint32_t i = 0; i < problem.Targets(); ++i) {
        target.Data()[i] = static_cast<T>(static_cast<float>(Problem::Target(i)));
    }
    for (uint32_t i = 0; i < problem.Vars(); ++i) {
        var.Data()[i] = static_cast<T>(static_cast<float>(Problem::Var(i)));
    }
    *tiling.Data() = Tiling(problem, blocks, tile);

    AscendC::SetKernelMode(KernelMode::AIV_MODE);
    ICPU_RUN_KF(Type<T>::KERNEL, blocks, gradOutput.Address(), input.Address(), target.Address(), var.Address(),
                gradInput.Address(), gradVar.Address(), workspace.Address(), tiling.Address());

    std::vector<double> sums(problem.Vars(), 0.0);
    std::vector<double> magnitudes(problem.Vars(), 0.0);
    for (uint32_t i = 0; i < problem.total; ++i) {
        const uint32_t group = i / problem.reduceSize;
        const double v = std::max(Problem::Var(group), static_cast<double>(problem.eps));
        const double ratio = (Problem::Input(i) - Problem::Target(problem.TargetOf(i))) / v;
        const double expected = problem.Weight(i) * ratio;
        ASSERT_NEAR(static_cast<float>(gradInput.Data()[i]), expected, Type<T>::RELATIVE * std::fabs(expected))
            << "gradInput[" << i << "]";
        sums[group] += problem.Weight(i) * 0.5 * (1.0 / v - ratio * ratio);
        magnitudes[group] += std::fabs(problem.Weight(i)) * 0.5 * (1.0 / v + ratio * ratio);
    }
    for (uint32_t i = 0; i < problem.Vars(); ++i) {
        // Small sums of large terms are as exact as their terms.
        const double limit = Type<T>::RELATIVE * std::fabs(sums[i]) + Type<float>::RELATIVE * magnitudes[i];
        ASSERT_NEAR(static_cast<float>(gradVar.Data()[i]), sums[i], limit) << "gradVar[" << i << "]";
    }
    EXPECT_TRUE(gradInput.GuardsHold());
    EXPECT_TRUE(gradVar.GuardsHold());
}

template <typename T> class GaussianNllLossGradTest : public ::testing::Test {};
using Types = ::testing::Types<float, half, bfloat16_t>;
TYPED_TEST_SUITE(GaussianNllLossGradTest, Types);

TYPED_TEST(GaussianNllLossGradTest, EveryTileAndBlockCount)
{
    for (uint32_t blocks : {1u, 3u, 4u, 5u}) {
        for (uint32_t tile : {8u, 16u, 64u, 4096u}) {
            Run<TypeParam>({131, VAR_SAME, 1, 1, 1, REDUCTION_NONE, 1e-3f}, blocks, tile);
        }
    }
}

TYPED_TEST(GaussianNllLossGradTest, GroupsOfVarAcrossTiles)
{
    for (uint32_t tile : {8u, 24u, 4096u}) {
        Run<TypeParam>({17 * 13, VAR_LAST_DIM_ONE, 13, 1, 1, REDUCTION_NONE, 1e-3f}, 3, tile);
        Run<TypeParam>({17 * 13, VAR_MISSING_LAST_DIM, 13, 13, 1, REDUCTION_SUM, 1e-3f}, 4, tile);
        Run<TypeParam>({17 * 13, VAR_SCALAR, 17 * 13, 17, 13, REDUCTION_MEAN, 1e-3f}, 5, tile);
    }
}

TYPED_TEST(GaussianNllLossGradTest, TargetLacksTheMiddleAxis)
{
    Run<TypeParam>({3 * 5 * 7, VAR_SAME, 1, 5, 7, REDUCTION_SUM, 1e-3f}, 3, 16);
}

TYPED_TEST(GaussianNllLossGradTest, VarBelowEps)
{
    Run<TypeParam>({40, VAR_SAME, 1, 1, 1, REDUCTION_NONE, 1.0f}, 3, 8);
}

TYPED_TEST(GaussianNllLossGradTest, EmptyInputGivesZeros)
{
    Run<TypeParam>({0, VAR_SCALAR, 0, 1, 1, REDUCTION_SUM, 1e-3f}, 1, 8);
}
} // namespace
