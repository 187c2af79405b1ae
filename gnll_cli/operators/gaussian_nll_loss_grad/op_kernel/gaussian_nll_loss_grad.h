// Gradient of the Gaussian negative log likelihood, for float, half and bfloat16; computed in float.
//
// With d = input - target, v = max(var, eps) and w = gradOutput (times 1/N for mean):
//     gradInput = w d / v            gradVar = w / 2 (1/v - d^2/v^2), summed over what an element of var stands for.
//
// Taken literally, the second formula fails long before its result does: v^2 underflows for v below 1e-19, d^2
// overflows for d above 1.8e19, and d^2/v^2 is then inf/inf. So the ratio q = d / v comes first, and w is split into
// w = a b with a in [-1, 1] and b >= 1:
//     gradInput = w q                gradVar = (a/v - (a q) q) (b/2)
// A small w is in a, where it keeps q^2 and 1/v from overflowing. A large w is in b, which comes last: if it is
// infinite, or makes the result overflow, it meets one number and not the difference of two infinities.
#ifndef GAUSSIAN_NLL_LOSS_GRAD_H_
#define GAUSSIAN_NLL_LOSS_GRAD_H_

#include "gaussian_nll_loss_grad_tiling_data.h"
#include "kernel_operator.h"

namespace GaussianNllLossGrad {
using namespace AscendC;

// Two buffers per queue: one is copied while the vector unit works on the other.
constexpr int32_t DEPTH = 2;
constexpr uint32_t BLOCK_BYTES = 32;
// Elements of var that a core takes at a time in the second pass.
constexpr uint32_t VAR_UNIT = 8;
// A sum that overflows is formed again in units of 2^32.
constexpr float LARGE_UNIT = 4294967296.0f;

template <typename T> class Kernel {
public:
    __aicore__ inline void Init(GM_ADDR gradOutput, GM_ADDR input, GM_ADDR target, GM_ADDR var, GM_ADDR gradInput,
                                GM_ADDR gradVar, const GaussianNllLossGradTilingData &tiling, TPipe &pipe)
    {
        tiling_ = tiling;
        const uint32_t weights = tiling.reduction == REDUCTION_NONE ? tiling.totalDataNum : 1;
        gradOutput_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(gradOutput), weights);
        input_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(input), tiling.totalDataNum);
        target_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(target), tiling.targetDataNum);
        var_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(var), tiling.varDataNum);
        gradInput_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(gradInput), tiling.totalDataNum);
        gradVar_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(gradVar), tiling.varDataNum);

        const uint32_t tileBytes = (tiling.tileDataNum * sizeof(T) + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
        slot_ = tileBytes / sizeof(T);
        pipe.InitBuffer(inputs_, DEPTH, SLOTS * tileBytes);
        pipe.InitBuffer(outputs_, DEPTH, tileBytes);
        if constexpr (!IsSameType<T, float>::value) {
            pipe.InitBuffer(wide_, (SLOTS + 1) * tiling.tileDataNum * sizeof(float));
        }
    }

    __aicore__ inline void Process()
    {
        FirstPass();
        if (tiling_.varBroadcastMode != VAR_SAME) {
            SecondPass();
        }
    }

private:
    // The four inputs of a tile lie one behind the other in one buffer of the queue: one event covers their copies.
    enum Slot : uint32_t { WEIGHT, INPUT, TARGET, VAR, SLOTS };

    // A tile in float. Two of its tensors are named for what Prepare leaves there.
    struct Tile {
        LocalTensor<float> weight;
        LocalTensor<float> ratio;    // input, then q
        LocalTensor<float> factor;   // target, then free for a
        LocalTensor<float> variance; // var, then v
    };

    // gradInput of this core's elements, and gradVar beside it where var has input's shape.
    __aicore__ inline void FirstPass()
    {
        const uint32_t core = GetBlockIdx();
        const bool big = core < tiling_.tailBlockNum;
        const uint32_t bigBefore = big ? core : tiling_.tailBlockNum;
        const uint32_t tiles = big ? tiling_.finalBigTileNum : tiling_.finalSmallTileNum;
        const uint32_t lastTile = big ? tiling_.bigTailDataNum : tiling_.smallTailDataNum;
        uint32_t begin = core * tiling_.smallCoreDataNum + bigBefore;
        for (uint32_t tile = 0; tile < tiles; ++tile) {
            const uint32_t end = begin + (tile + 1 == tiles ? lastTile : tiling_.tileDataNum);
            while (begin < end) {
                const uint32_t count = RunLength(begin, end - begin);
                Gradients(begin, count);
                begin += count;
            }
        }
    }

    // gradVar where var is broadcast. A core owns whole units of var elements, the first cores one unit more, and forms
    // each sum from its first element to its last: the result does not depend on the number of cores.
    __aicore__ inline void SecondPass()
    {
        const uint32_t units = tiling_.varDataNum / VAR_UNIT + (tiling_.varDataNum % VAR_UNIT == 0 ? 0 : 1);
        const uint32_t cores = GetBlockNum();
        const uint32_t core = GetBlockIdx();
        const uint32_t share = units / cores;
        const uint32_t more = units % cores;
        const uint32_t first = core * share + Least(core, more);
        const uint32_t end = first + share + (core < more ? 1 : 0);
        for (uint32_t unit = first; unit < end; ++unit) {
            const uint32_t begin = unit * VAR_UNIT;
            const uint32_t count = Least(VAR_UNIT, tiling_.varDataNum - begin);
            LocalTensor<T> output = outputs_.template AllocTensor<T>();
            LocalTensor<float> sums = Result(output);
            for (uint32_t i = 0; i < count; ++i) {
                sums.SetValue(i, GroupSum(begin + i));
            }
            Store(gradVar_[begin], output, count);
        }
    }

    __aicore__ inline void Gradients(uint32_t begin, uint32_t count)
    {
        LocalTensor<T> raw = Load(begin, count);
        Tile tile = Prepare(raw, count);

        LocalTensor<T> output = outputs_.template AllocTensor<T>();
        Mul(Result(output), tile.weight, tile.ratio, count);
        Store(gradInput_[begin], output, count);

        if (tiling_.varBroadcastMode == VAR_SAME) {
            output = outputs_.template AllocTensor<T>();
            Terms(Result(output), tile, 1.0f, count);
            Store(gradVar_[begin], output, count);
        }
        inputs_.FreeTensor(raw);
    }

    // gradVar of one element of var. 0 for a group of no elements.
    __aicore__ inline float GroupSum(uint32_t index)
    {
        const float sum = SumInUnits(index, 1.0f);
        if (sum - sum == 0.0f) {
            return sum;
        }
        // Inf or NaN. Perhaps only on the way: contributions beyond the largest float that cancel. What the large unit
        // loses of small ones is far below the rounding of a sum of such size.
        return SumInUnits(index, 1.0f / LARGE_UNIT) * LARGE_UNIT;
    }

    // Sum of scale * contribution over the group of an element of var: a tree within a run, and from run to run with
    // the rounding error of each addition kept aside, so that the length of the group costs no digits.
    __aicore__ inline float SumInUnits(uint32_t index, float scale)
    {
        float sum = 0.0f;
        float lost = 0.0f;
        uint32_t begin = index * tiling_.varReduceSize;
        const uint32_t end = begin + tiling_.varReduceSize;
        while (begin < end) {
            const uint32_t count = RunLength(begin, Least(end - begin, tiling_.tileDataNum));
            const float part = RunSum(begin, count, scale);
            const float total = sum + part;
            const float kept = total - sum;
            lost += (sum - (total - kept)) + (part - kept);
            sum = total;
            begin += count;
        }
        // After an overflow `lost` is NaN and means nothing.
        return sum - sum == 0.0f ? sum + lost : sum;
    }

    __aicore__ inline float RunSum(uint32_t begin, uint32_t count, float scale)
    {
        LocalTensor<T> raw = Load(begin, count);
        Tile tile = Prepare(raw, count);
        Terms(tile.variance, tile, scale, count);
        // ratio and factor have served and are free for the sum and for what ReduceSum needs to form it.
        ReduceSum(tile.ratio, tile.variance, tile.factor, static_cast<int32_t>(count));
        const float sum = tile.ratio.GetValue(0);
        inputs_.FreeTensor(raw);
        return sum;
    }

    // How many of the `limit` elements of input from `begin` on can be computed at once: those that meet one element of
    // var (where it is broadcast) and either one element of target or consecutive ones. Short rows make short runs.
    __aicore__ inline uint32_t RunLength(uint32_t begin, uint32_t limit) const
    {
        uint32_t count = limit;
        if (tiling_.varBroadcastMode != VAR_SAME) {
            count = Least(count, tiling_.varReduceSize - begin % tiling_.varReduceSize);
        }
        if (tiling_.targetBroadcastMode == TARGET_ONE_AXIS) {
            const uint32_t inner = tiling_.targetInnerStride;
            const uint32_t stretch = inner == 1 ? tiling_.targetBroadcastAxisSize : inner;
            count = Least(count, stretch - begin % stretch);
        }
        return count;
    }

    // Brings the inputs of a run into the unified buffer. What is one number for the run is spread by the vector unit.
    __aicore__ inline LocalTensor<T> Load(uint32_t begin, uint32_t count)
    {
        LocalTensor<T> raw = inputs_.template AllocTensor<T>();
        if (tiling_.reduction == REDUCTION_NONE) {
            CopyIn(raw[WEIGHT * slot_], gradOutput_[begin], count);
        } else {
            Duplicate(raw[WEIGHT * slot_], gradOutput_.GetValue(0), count);
        }
        CopyIn(raw[INPUT * slot_], input_[begin], count);
        if (tiling_.targetBroadcastMode == TARGET_SAME) {
            CopyIn(raw[TARGET * slot_], target_[begin], count);
        } else {
            const uint32_t inner = tiling_.targetInnerStride;
            const uint32_t from = begin / (inner * tiling_.targetBroadcastAxisSize) * inner + begin % inner;
            if (inner == 1) {
                Duplicate(raw[TARGET * slot_], target_.GetValue(from), count);
            } else {
                CopyIn(raw[TARGET * slot_], target_[from], count);
            }
        }
        if (tiling_.varBroadcastMode == VAR_SAME) {
            CopyIn(raw[VAR * slot_], var_[begin], count);
        } else {
            Duplicate(raw[VAR * slot_], var_.GetValue(begin / tiling_.varReduceSize), count);
        }
        inputs_.EnQue(raw);
        return inputs_.template DeQue<T>();
    }

    // Inputs to float, and what both gradients need: w, q and v.
    __aicore__ inline Tile Prepare(const LocalTensor<T> &raw, uint32_t count)
    {
        Tile tile = {Wide(raw, WEIGHT, count), Wide(raw, INPUT, count), Wide(raw, TARGET, count),
                     Wide(raw, VAR, count)};
        if (tiling_.reduction == REDUCTION_MEAN) {
            Muls(tile.weight, tile.weight, tiling_.meanScale, count);
        }
        Sub(tile.ratio, tile.ratio, tile.factor, count);
        Maxs(tile.variance, tile.variance, tiling_.eps, count);
        Div(tile.ratio, tile.ratio, tile.variance, count);
        return tile;
    }

    // scale * contribution to gradVar, element by element: (a/v - (a q) q) (b/2). Uses up the tile, of which `result`
    // may be the variance.
    __aicore__ inline void Terms(const LocalTensor<float> &result, const Tile &tile, float scale, uint32_t count)
    {
        const LocalTensor<float> &a = tile.factor;
        const LocalTensor<float> &b = tile.weight;
        Mins(a, tile.weight, 1.0f, count);
        Maxs(a, a, -1.0f, count);
        Muls(a, a, scale, count);
        // b/2 with b = max(abs(w), 1). Halved here, where nothing can underflow.
        Abs(b, tile.weight, count);
        Muls(b, b, 0.5f, count);
        Maxs(b, b, 0.5f, count);
        Div(tile.variance, a, tile.variance, count);
        Mul(a, a, tile.ratio, count);
        Mul(a, a, tile.ratio, count);
        Sub(tile.variance, tile.variance, a, count);
        Mul(result, tile.variance, b, count);
    }

    // An input of the tile in float: where it is, or converted beside it.
    __aicore__ inline LocalTensor<float> Wide(const LocalTensor<T> &raw, Slot slot, uint32_t count)
    {
        if constexpr (IsSameType<T, float>::value) {
            return raw[slot * slot_];
        } else {
            LocalTensor<float> wide = wide_.template Get<float>()[slot * tiling_.tileDataNum];
            Cast(wide, raw[slot * slot_], RoundMode::CAST_NONE, count);
            return wide;
        }
    }

    // Where the float result goes that Store writes: `output` itself, or a place from which Store converts it.
    __aicore__ inline LocalTensor<float> Result(const LocalTensor<T> &output)
    {
        if constexpr (IsSameType<T, float>::value) {
            return output;
        } else {
            return wide_.template Get<float>()[SLOTS * tiling_.tileDataNum];
        }
    }

    __aicore__ inline void Store(const GlobalTensor<T> &destination, LocalTensor<T> output, uint32_t count)
    {
        if constexpr (!IsSameType<T, float>::value) {
            Cast(output, Result(output), RoundMode::CAST_RINT, count);
        }
        outputs_.EnQue(output);
        output = outputs_.template DeQue<T>();
        // Exactly `count` elements: what follows them belongs to another core, or to nobody.
        DataCopyPad(destination, output, Bytes(count));
        outputs_.FreeTensor(output);
    }

    __aicore__ inline void CopyIn(const LocalTensor<T> &destination, const GlobalTensor<T> &source, uint32_t count)
    {
        DataCopyPad(destination, source, Bytes(count), DataCopyPadExtParams<T>());
    }

    // One piece of `count` elements.
    __aicore__ static inline DataCopyExtParams Bytes(uint32_t count)
    {
        return DataCopyExtParams(1, count * static_cast<uint32_t>(sizeof(T)), 0, 0, 0);
    }

    __aicore__ static inline uint32_t Least(uint32_t a, uint32_t b) { return a < b ? a : b; }

    GaussianNllLossGradTilingData tiling_;
    uint32_t slot_ = 0; // elements from one input of a tile to the next
    GlobalTensor<T> gradOutput_;
    GlobalTensor<T> input_;
    GlobalTensor<T> target_;
    GlobalTensor<T> var_;
    GlobalTensor<T> gradInput_;
    GlobalTensor<T> gradVar_;
    TQue<TPosition::VECIN, DEPTH> inputs_;
    TQue<TPosition::VECOUT, DEPTH> outputs_;
    TBuf<TPosition::VECCALC> wide_; // 16-bit types: the four inputs and a result in float
};
} // namespace GaussianNllLossGrad

#endif
