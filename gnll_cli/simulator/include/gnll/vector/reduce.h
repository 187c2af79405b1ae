// Reductions: ReduceSum, ReduceMax, ReduceMin over a tensor; WholeReduce* over each repeat; BlockReduce* over each
// block.
#pragma once

#include "gnll/vector/common.h"
#include "gnll/vector/operations.h"

namespace AscendC {

// What ReduceRepeat and ReduceDataBlock compute.
enum class ReduceType { NONE = -1, SUM = 0, MAX, MIN };

// What the search for the largest or smallest element stores for a repeat.
enum class ReduceOrder : uint8_t { ORDER_VALUE_INDEX = 0, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };

}  // namespace AscendC

namespace gnll {

using AscendC::ReduceOrder;

// The sum of `lanes` elements (a power of two) as the hardware forms it: neighbours are added, then their sums, and
// so on; every addition is rounded to T. Overwrites `values`.
template <typename T, uint32_t lanes> GNLL_INLINE Wide<T> TreeSum(Wide<T> *values)
{
    if constexpr (lanes == 1) {
        return values[0];
    } else {
        Wide<T> sums[lanes / 2];
        for (uint32_t i = 0; i < lanes / 2; ++i) {
            sums[i] = Widen(Narrow<T>(values[2 * i] + values[2 * i + 1]));
        }
        return TreeSum<T, lanes / 2>(sums);
    }
}

// The sum of one repeat of which `count` elements take part; the others count as zero.
template <typename T> GNLL_INLINE Wide<T> RepeatSum(const T *src, uint32_t count)
{
    constexpr uint32_t lanes = LanesOf(sizeof(T));
    Wide<T> values[lanes];
    if (count == lanes) {
        for (uint32_t i = 0; i < lanes; ++i) {
            values[i] = Widen(src[i]);
        }
    } else {
        for (uint32_t i = 0; i < lanes; ++i) {
            values[i] = i < count ? Widen(src[i]) : Wide<T>(0);
        }
    }
    return TreeSum<T, lanes>(values);
}

// The active lanes of one repeat, the others as zero.
template <typename T> inline void Gathered(const Strided<T> &view, uint32_t repeat, const Mask &mask, Wide<T> *values)
{
    for (uint32_t lane = 0; lane < LanesOf(sizeof(T)); ++lane) {
        values[lane] = mask.Has(lane) ? Widen(*view.At(repeat, lane)) : Wide<T>(0);
    }
}

template <typename T> inline uint64_t BlockAligned(uint64_t elements)
{
    constexpr uint64_t block = 32 / sizeof(T);
    return (elements + block - 1) / block * block;
}

template <typename T, typename MaskForm>
inline void ReduceSumRepeat(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &shared,
                            MaskForm maskForm, int32_t repeatTime, int32_t srcRepStride, Where where)
{
    constexpr uint32_t lanes = LanesOf(sizeof(T));
    Mask mask;
    if (repeatTime == 0 || !CountHolds(repeatTime, "ReduceSum", where) ||
        !Require(srcRepStride >= 0 && srcRepStride <= UINT16_MAX, "ReduceSum",
                 "srcRepStride must be between 0 and 65535", where) ||
        !MakeMask(&mask, maskForm, sizeof(T), "ReduceSum", where)) {
        return;
    }
    const uint32_t repeats = static_cast<uint32_t>(repeatTime);
    const Strided<T> from{src, 1, static_cast<uint32_t>(srcRepStride)};
    Operands operands;
    operands.Add(dst.Writes(1, sizeof(T)));
    operands.Add(shared.Writes(BlockAligned<T>(repeats)));
    operands.AddRepeats(from, mask, repeats, false);
    if (!operands.Begin("ReduceSum", where)) {
        return;
    }
    // The sums of the repeats go to the shared buffer and are reduced there like a tensor of their own, until one is
    // left.
    T *sums = shared.Data();
    for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
        Wide<T> values[lanes];
        Gathered(from, repeat, mask, values);
        sums[repeat] = Narrow<T>(TreeSum<T, lanes>(values));
    }
    for (uint32_t left = repeats; left > 1; left = (left + lanes - 1) / lanes) {
        for (uint32_t start = 0; start < left; start += lanes) {
            sums[start / lanes] = Narrow<T>(RepeatSum(sums + start, left - start < lanes ? left - start : lanes));
        }
    }
    dst.Data()[0] = sums[0];
}

// Whether `a` replaces the best value so far: strictly better, or the first NaN.
struct Larger {
    using Operation = op::Max;
    static GNLL_INLINE bool Better(float a, float best) { return (a > best) | ((a != a) & (best == best)); }
    static constexpr const char *REDUCE = "ReduceMax";
    static constexpr const char *WHOLE = "WholeReduceMax";
    static constexpr const char *BLOCK = "BlockReduceMax";
};
struct Smaller {
    using Operation = op::Min;
    static GNLL_INLINE bool Better(float a, float best) { return (a < best) | ((a != a) & (best == best)); }
    static constexpr const char *REDUCE = "ReduceMin";
    static constexpr const char *WHOLE = "WholeReduceMin";
    static constexpr const char *BLOCK = "BlockReduceMin";
};

template <typename T> struct Best {
    T value;
    uint32_t index;
};

// The best of the active lanes of a repeat and the lowest lane that holds it. At least one lane must be active.
template <typename Order, typename T>
inline Best<T> BestOf(const Strided<T> &view, uint32_t repeat, const Mask &mask)
{
    bool found = false;
    Best<T> best{};
    for (uint32_t lane = 0; lane < mask.End(); ++lane) {
        const T value = *view.At(repeat, lane);
        if (mask.Has(lane) &&
            (!found || Order::Better(static_cast<float>(value), static_cast<float>(best.value)))) {
            best = Best<T>{value, lane};
            found = true;
        }
    }
    return best;
}

// The best of `count` values (a power of two): halves are compared with each other, which vectorises.
template <typename Order, uint32_t count> GNLL_INLINE float BestOfHalves(float *values)
{
    if constexpr (count == 1) {
        return values[0];
    } else {
        for (uint32_t i = 0; i < count / 2; ++i) {
            values[i] = typename Order::Operation()(values[i], values[i + count / 2]);
        }
        return BestOfHalves<Order, count / 2>(values);
    }
}

// The best value of one whole repeat that lies in one piece.
template <typename Order, typename T> GNLL_INLINE float BestValue(const T *src)
{
    constexpr uint32_t lanes = LanesOf(sizeof(T));
    float values[lanes];
    for (uint32_t i = 0; i < lanes; ++i) {
        values[i] = static_cast<float>(src[i]);
    }
    return BestOfHalves<Order, lanes>(values);
}

// An index is stored as the bits of an integer as wide as the elements.
template <typename T> GNLL_INLINE T IndexBits(uint32_t index)
{
    std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t> bits = static_cast<decltype(bits)>(index);
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

// Elements of the shared buffer that a search over `repeats` repeats needs: pairs of value and index for every repeat,
// and, where the index is asked for, the pairs of all further rounds behind each other.
template <typename T> inline uint64_t SearchSpace(uint64_t repeats, bool index)
{
    constexpr uint64_t lanes = LanesOf(sizeof(T));
    uint64_t output = 2 * (repeats == 0 ? 1 : repeats);
    uint64_t space = BlockAligned<T>(output);
    while (index && output > 2) {
        output = 2 * ((output + lanes - 1) / lanes);
        space += BlockAligned<T>(output);
    }
    return space;
}

template <typename Order, typename T>
inline void Search(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &shared,
                   const Mask &mask, uint32_t repeats, uint32_t tail, uint32_t srcRepStride, bool calIndex,
                   Where where)
{
    constexpr uint32_t lanes = LanesOf(sizeof(T));
    const Strided<T> from{src, 1, srcRepStride};
    Operands operands;
    operands.Add(dst.Writes(calIndex ? 2 : 1, static_cast<uint32_t>(sizeof(T)) * (calIndex ? 2 : 1)));
    operands.Add(shared.Writes(SearchSpace<T>(repeats, calIndex)));
    if (repeats > 0) {
        operands.AddRepeats(from, mask, repeats, false);
    }
    if (tail > 0) {
        Operand rest = src.Reads(tail);
        rest.address = from.At(repeats, 0);
        operands.Add(rest);
    }
    if (!operands.Begin(Order::REDUCE, where)) {
        return;
    }
    const bool dense = mask == Mask::First(lanes);
    Best<T> best{};
    for (uint32_t repeat = 0; repeat < repeats + (tail > 0 ? 1 : 0); ++repeat) {
        // Most repeats of a long tensor are not better than what was found: their value alone says so.
        if (repeat > 0 && repeat < repeats && dense &&
            !Order::Better(BestValue<Order>(from.At(repeat, 0)), static_cast<float>(best.value))) {
            continue;
        }
        Best<T> one = BestOf<Order>(from, repeat, repeat < repeats ? mask : Mask::First(tail));
        one.index += repeat * srcRepStride * Strided<T>::BLOCK;
        if (repeat == 0 || Order::Better(static_cast<float>(one.value), static_cast<float>(best.value))) {
            best = one;
        }
    }
    dst.Data()[0] = best.value;
    if (calIndex) {
        dst.Data()[1] = IndexBits<T>(best.index);
    }
}

template <typename Order, typename T>
inline void SearchCount(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &shared,
                        int32_t count, bool calIndex, Where where)
{
    constexpr uint32_t lanes = LanesOf(sizeof(T));
    if (count == 0 || !CountHolds(count, Order::REDUCE, where)) {
        return;
    }
    const uint32_t n = static_cast<uint32_t>(count);
    Search<Order>(dst, src, shared, Mask::First(lanes), n / lanes, n % lanes, 8, calIndex, where);
}

template <typename Order, typename T, typename MaskForm>
inline void SearchRepeat(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &shared,
                         MaskForm maskForm, int32_t repeatTime, int32_t srcRepStride, bool calIndex, Where where)
{
    Mask mask;
    if (repeatTime == 0 || !CountHolds(repeatTime, Order::REDUCE, where) ||
        !Require(srcRepStride >= 0 && srcRepStride <= UINT16_MAX, Order::REDUCE,
                 "srcRepStride must be between 0 and 65535", where) ||
        !MakeMask(&mask, maskForm, sizeof(T), Order::REDUCE, where)) {
        return;
    }
    Search<Order>(dst, src, shared, mask, static_cast<uint32_t>(repeatTime), 0, static_cast<uint32_t>(srcRepStride),
                  calIndex, where);
}

// With no lane these instructions do nothing, by their documentation.
inline bool NoLanes(uint64_t lanes) { return lanes == 0; }
inline bool NoLanes(const uint64_t *bits) { return bits[0] == 0 && bits[1] == 0; }

// What the instructions that reduce every repeat share: limits, mask, operands. `outputs` is the number of
// elements a repeat writes (0: one for every block up to the last active lane), `unit` the elements dstRepStride
// counts, `alignment` that of the destination in bytes.
template <typename T, typename MaskForm, typename Kernel>
inline void ReduceRepeats(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src, MaskForm maskForm,
                          int32_t repeatTime, int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,
                          uint32_t outputs, uint32_t unit, uint32_t alignment, Where where, Kernel kernel)
{
    Mask mask;
    if (repeatTime == 0 || NoLanes(maskForm) ||
        !Require(repeatTime > 0 && repeatTime <= 255, name, "the repeat times must be between 0 and 255", where) ||
        !Require(dstRepStride >= 0 && dstRepStride <= UINT16_MAX && srcBlkStride >= 0 && srcBlkStride <= UINT16_MAX &&
                     srcRepStride >= 0 && srcRepStride <= UINT16_MAX,
                 name, "strides must be between 0 and 65535", where) ||
        !MakeMask(&mask, maskForm, sizeof(T), name, where)) {
        return;
    }
    const uint32_t repeats = static_cast<uint32_t>(repeatTime);
    const Strided<T> from{src, static_cast<uint32_t>(srcBlkStride), static_cast<uint32_t>(srcRepStride)};
    const uint64_t apart = static_cast<uint64_t>(dstRepStride) * unit;
    const uint32_t blocks = (mask.End() + Strided<T>::BLOCK - 1) / Strided<T>::BLOCK;
    Operand written = dst.Writes(outputs != 0 ? outputs : blocks, alignment);
    written.blocks = repeats;
    written.stride = static_cast<int64_t>(apart * sizeof(T));
    Operands operands;
    operands.Add(written);
    operands.AddRepeats(from, mask, repeats, false);
    if (operands.Begin(name, where)) {
        for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
            kernel(dst.Data() + repeat * apart, from, repeat, mask);
        }
    }
}

template <typename Order, typename T, typename MaskForm>
inline void WholeSearch(const LocalTensor<T> &dst, const LocalTensor<T> &src, MaskForm mask, int32_t repeatTime,
                        int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride, ReduceOrder order,
                        Where where)
{
    const bool pair = order == ReduceOrder::ORDER_VALUE_INDEX || order == ReduceOrder::ORDER_INDEX_VALUE;
    const bool index = order == ReduceOrder::ORDER_ONLY_INDEX;
    // An index alone is always stored in 4 bytes.
    const uint32_t outputs = pair ? 2 : index ? static_cast<uint32_t>(4 / sizeof(T)) : 1;
    ReduceRepeats(Order::WHOLE, dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, outputs, outputs,
                  outputs * static_cast<uint32_t>(sizeof(T)), where,
                  [order, pair, index](T *to, const Strided<T> &from, uint32_t repeat, const Mask &lanes) {
                      const Best<T> best = BestOf<Order>(from, repeat, lanes);
                      if (index) {
                          __builtin_memcpy(static_cast<void *>(to), &best.index, sizeof best.index);
                      } else if (pair) {
                          const bool first = order == ReduceOrder::ORDER_VALUE_INDEX;
                          to[first ? 0 : 1] = best.value;
                          to[first ? 1 : 0] = IndexBits<T>(best.index);
                      } else {
                          to[0] = best.value;
                      }
                  });
}

template <typename T, typename MaskForm>
inline void WholeSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, MaskForm mask, int32_t repeatTime,
                     int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride, Where where)
{
    ReduceRepeats("WholeReduceSum", dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, 1, 1,
                  sizeof(T), where, [](T *to, const Strided<T> &from, uint32_t repeat, const Mask &lanes) {
                      Wide<T> values[LanesOf(sizeof(T))];
                      Gathered(from, repeat, lanes, values);
                      to[0] = Narrow<T>(TreeSum<T, LanesOf(sizeof(T))>(values));
                  });
}

// One result for each of the 8 blocks of a repeat; blocks without an active lane keep what was there.
template <typename T, typename MaskForm, typename Reduce>
inline void ReduceBlocks(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src, MaskForm mask,
                         int32_t repeatTime, int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,
                         Where where, Reduce reduce)
{
    constexpr uint32_t block = Strided<T>::BLOCK;
    ReduceRepeats(name, dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, 0, 8, 8 * sizeof(T),
                  where, [reduce](T *to, const Strided<T> &from, uint32_t repeat, const Mask &lanes) {
                      for (uint32_t b = 0; b < 8; ++b) {
                          const uint64_t active = lanes.Part(b * block, block);
                          if (active != 0) {
                              to[b] = reduce(from.At(repeat, b * block), active);
                          }
                      }
                  });
}

template <typename T, typename MaskForm>
inline void BlockSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, MaskForm mask, int32_t repeatTime,
                     int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride, Where where)
{
    ReduceBlocks("BlockReduceSum", dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, where,
                 [](const T *from, uint64_t active) {
                     constexpr uint32_t block = Strided<T>::BLOCK;
                     Wide<T> values[block];
                     for (uint32_t i = 0; i < block; ++i) {
                         values[i] = ((active >> i) & 1u) != 0 ? Widen(from[i]) : Wide<T>(0);
                     }
                     return Narrow<T>(TreeSum<T, block>(values));
                 });
}

template <typename Order, typename T, typename MaskForm>
inline void BlockSearch(const LocalTensor<T> &dst, const LocalTensor<T> &src, MaskForm mask, int32_t repeatTime,
                        int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride, Where where)
{
    ReduceBlocks(Order::BLOCK, dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, where,
                 [](const T *from, uint64_t active) {
                     T best = from[__builtin_ctzll(active)];
                     for (uint32_t i = 0; i < Strided<T>::BLOCK; ++i) {
                         if (((active >> i) & 1u) != 0 &&
                             Order::Better(static_cast<float>(from[i]), static_cast<float>(best))) {
                             best = from[i];
                         }
                     }
                     return best;
                 });
}

}  // namespace gnll

namespace AscendC {

#define GNLL_REDUCE_CHECK(NAME) static_assert(::gnll::OneOf<T, half, float>, NAME " takes half and float")

// A tree inside every repeat of 256 bytes; the sums of the repeats are added one after the other. The shared buffer is
// not used by this form.
template <typename T, bool isSetMask = true>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,
                      const int32_t count, ::gnll::Where where = GNLL_HERE)
{
    GNLL_REDUCE_CHECK("ReduceSum");
    GNLL_NEEDS_SET_MASK("ReduceSum", isSetMask);
    constexpr uint32_t lanes = ::gnll::LanesOf(sizeof(T));
    static_cast<void>(sharedTmpBuffer);
    if (count == 0 || !::gnll::CountHolds(count, "ReduceSum", where)) {
        return;
    }
    const uint32_t n = static_cast<uint32_t>(count);
    const ::gnll::Operand operands[] = {dst.Writes(1, sizeof(T)), src.Reads(n)};
    if (!::gnll::Begin("ReduceSum", ::gnll::Pipe::V, operands, 2, where)) {
        return;
    }
    const T *from = src.Data();
    ::gnll::Wide<T> sum = ::gnll::RepeatSum(from, n < lanes ? n : lanes);
    for (uint32_t start = lanes; start < n; start += lanes) {
        const ::gnll::Wide<T> next = ::gnll::RepeatSum(from + start, n - start < lanes ? n - start : lanes);
        sum = ::gnll::Widen(::gnll::Narrow<T>(sum + next));
    }
    dst.Data()[0] = ::gnll::Narrow<T>(sum);
}

template <typename T>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,
                      const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride,
                      ::gnll::Where where = GNLL_HERE)
{
    GNLL_REDUCE_CHECK("ReduceSum");
    ::gnll::ReduceSumRepeat(dst, src, sharedTmpBuffer, static_cast<uint64_t>(mask), repeatTime, srcRepStride, where);
}

template <typename T>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,
                      const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride,
                      ::gnll::Where where = GNLL_HERE)
{
    GNLL_REDUCE_CHECK("ReduceSum");
    ::gnll::ReduceSumRepeat(dst, src, sharedTmpBuffer, mask, repeatTime, srcRepStride, where);
}

// The count form, and the forms with a mask, of the searches. With calIndex dst[1] holds the index as an integer's
// bits.
#define GNLL_REDUCE_SEARCH(NAME, ORDER)                                                                                \
    template <typename T>                                                                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,      \
                     const int32_t count, bool calIndex = false, ::gnll::Where where = GNLL_HERE)                      \
    {                                                                                                                  \
        GNLL_REDUCE_CHECK(#NAME);                                                                                      \
        ::gnll::SearchCount<::gnll::ORDER>(dst, src, sharedTmpBuffer, count, calIndex, where);                         \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,      \
                     const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = false,  \
                     ::gnll::Where where = GNLL_HERE)                                                                  \
    {                                                                                                                  \
        GNLL_REDUCE_CHECK(#NAME);                                                                                      \
        ::gnll::SearchRepeat<::gnll::ORDER>(dst, src, sharedTmpBuffer, static_cast<uint64_t>(mask), repeatTime,        \
                                            srcRepStride, calIndex, where);                                            \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,      \
                     const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride,                      \
                     bool calIndex = false, ::gnll::Where where = GNLL_HERE)                                           \
    {                                                                                                                  \
        GNLL_REDUCE_CHECK(#NAME);                                                                                      \
        ::gnll::SearchRepeat<::gnll::ORDER>(dst, src, sharedTmpBuffer, mask, repeatTime, srcRepStride, calIndex,       \
                                            where);                                                                    \
    }

GNLL_REDUCE_SEARCH(ReduceMax, Larger)
GNLL_REDUCE_SEARCH(ReduceMin, Smaller)

#undef GNLL_REDUCE_SEARCH

// One result (a sum, or a value with its index) for every repeat.
#define GNLL_WHOLE_SUM(MASK, AS)                                                                                       \
    template <typename T, bool isSetMask = true>                                                                       \
    inline void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, MASK, const int32_t repeatTime,   \
                               const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,     \
                               ::gnll::Where where = GNLL_HERE)                                                        \
    {                                                                                                                  \
        GNLL_REDUCE_CHECK("WholeReduceSum");                                                                           \
        GNLL_NEEDS_SET_MASK("WholeReduceSum", isSetMask);                                                              \
        ::gnll::WholeSum(dst, src, AS, repeatTime, dstRepStride, srcBlkStride, srcRepStride, where);                   \
    }
#define GNLL_WHOLE_SEARCH(NAME, ORDER, MASK, AS)                                                                       \
    template <typename T, bool isSetMask = true>                                                                       \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, MASK, const int32_t repeatTime,             \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,               \
                     ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, ::gnll::Where where = GNLL_HERE)              \
    {                                                                                                                  \
        GNLL_REDUCE_CHECK(#NAME);                                                                                      \
        GNLL_NEEDS_SET_MASK(#NAME, isSetMask);                                                                         \
        ::gnll::WholeSearch<::gnll::ORDER>(dst, src, AS, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order,  \
                                           where);                                                                     \
    }
// One result for every block of 32 bytes.
#define GNLL_BLOCK_REDUCE(NAME, FUNCTION, MASK, AS)                                                                    \
    template <typename T, bool isSetMask = true>                                                                       \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, MASK,             \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,               \
                     ::gnll::Where where = GNLL_HERE)                                                                  \
    {                                                                                                                  \
        GNLL_REDUCE_CHECK(#NAME);                                                                                      \
        GNLL_NEEDS_SET_MASK(#NAME, isSetMask);                                                                         \
        ::gnll::FUNCTION(dst, src, AS, repeatTime, dstRepStride, srcBlkStride, srcRepStride, where);                   \
    }


GNLL_WHOLE_SUM(const int32_t mask, static_cast<uint64_t>(mask))
GNLL_WHOLE_SUM(const uint64_t mask[], mask)
GNLL_WHOLE_SEARCH(WholeReduceMax, Larger, const int32_t mask, static_cast<uint64_t>(mask))
GNLL_WHOLE_SEARCH(WholeReduceMax, Larger, const uint64_t mask[], mask)
GNLL_WHOLE_SEARCH(WholeReduceMin, Smaller, const int32_t mask, static_cast<uint64_t>(mask))
GNLL_WHOLE_SEARCH(WholeReduceMin, Smaller, const uint64_t mask[], mask)
GNLL_BLOCK_REDUCE(BlockReduceSum, BlockSum, const int32_t mask, static_cast<uint64_t>(mask))
GNLL_BLOCK_REDUCE(BlockReduceSum, BlockSum, const uint64_t mask[], mask)
GNLL_BLOCK_REDUCE(BlockReduceMax, BlockSearch<::gnll::Larger>, const int32_t mask, static_cast<uint64_t>(mask))
GNLL_BLOCK_REDUCE(BlockReduceMax, BlockSearch<::gnll::Larger>, const uint64_t mask[], mask)
GNLL_BLOCK_REDUCE(BlockReduceMin, BlockSearch<::gnll::Smaller>, const int32_t mask, static_cast<uint64_t>(mask))
GNLL_BLOCK_REDUCE(BlockReduceMin, BlockSearch<::gnll::Smaller>, const uint64_t mask[], mask)

// The newer names: the kind of reduction is a template argument, and source and destination have one type here.
#define GNLL_REDUCE_BY_TYPE(MASK)                                                                                      \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                    \
    inline void ReduceRepeat(const LocalTensor<T> &dst, const LocalTensor<U> &src, MASK, const int32_t repeatTime,     \
                             const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,       \
                             ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, ::gnll::Where where = GNLL_HERE)      \
    {                                                                                                                  \
        static_assert(std::is_same_v<T, U>, "ReduceRepeat: source and destination must have the same type");           \
        if constexpr (reduceType == ReduceType::SUM) {                                                                 \
            WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, where); \
        } else if constexpr (reduceType == ReduceType::MAX) {                                                          \
            WholeReduceMax<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order,  \
                                         where);                                                                       \
        } else {                                                                                                       \
            static_assert(reduceType == ReduceType::MIN, "ReduceRepeat reduces by SUM, MAX or MIN");                   \
            WholeReduceMin<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order,  \
                                         where);                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                    \
    inline void ReduceDataBlock(const LocalTensor<T> &dst, const LocalTensor<U> &src, MASK, const int32_t repeatTime,  \
                                const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,    \
                                ::gnll::Where where = GNLL_HERE)                                                       \
    {                                                                                                                  \
        static_assert(std::is_same_v<T, U>, "ReduceDataBlock: source and destination must have the same type");        \
        if constexpr (reduceType == ReduceType::SUM) {                                                                 \
            BlockReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, where); \
        } else if constexpr (reduceType == ReduceType::MAX) {                                                          \
            BlockReduceMax<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, where); \
        } else {                                                                                                       \
            static_assert(reduceType == ReduceType::MIN, "ReduceDataBlock reduces by SUM, MAX or MIN");                \
            BlockReduceMin<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, where); \
        }                                                                                                              \
    }

GNLL_REDUCE_BY_TYPE(const int32_t mask)
GNLL_REDUCE_BY_TYPE(const uint64_t mask[])

#undef GNLL_REDUCE_BY_TYPE
#undef GNLL_WHOLE_SUM
#undef GNLL_WHOLE_SEARCH
#undef GNLL_BLOCK_REDUCE
#undef GNLL_REDUCE_CHECK

}  // namespace AscendC
