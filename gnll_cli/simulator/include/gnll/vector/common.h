// What all vector instructions share: the loops over elements, repeats, masks and strides, and the operands for the
// checks.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gnll/core.h"
#include "gnll/tensor.h"
#include "gnll/types.h"

// The iterations of the next loop do not depend on each other: operands of a vector instruction are apart or the same.
#if defined(__clang__)
#define GNLL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define GNLL_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace AscendC {

constexpr int32_t DEFAULT_BLK_NUM = 8;
constexpr int32_t DEFAULT_BLK_STRIDE = 1;
constexpr int32_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint32_t ONE_BLK_SIZE = 32;
constexpr uint32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr uint32_t MAX_REPEAT_TIMES = 255;

// Strides of instructions with one source, in blocks of 32 bytes: between the blocks of a repeat and between repeats.
struct UnaryRepeatParams {
    UnaryRepeatParams() = default;
    UnaryRepeatParams(uint16_t dstBlock, uint16_t srcBlock, uint8_t dstRepeat, uint8_t srcRepeat)
        : dstBlkStride(dstBlock), srcBlkStride(srcBlock), dstRepStride(dstRepeat), srcRepStride(srcRepeat)
    {
    }

    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint16_t srcBlkStride = DEFAULT_BLK_STRIDE;
    uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t srcRepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
    bool halfBlock = false;
};

// The same for two sources.
struct BinaryRepeatParams {
    BinaryRepeatParams() = default;
    BinaryRepeatParams(uint8_t dstBlock, uint8_t src0Block, uint8_t src1Block, uint8_t dstRepeat, uint8_t src0Repeat,
                       uint8_t src1Repeat)
        : dstBlkStride(dstBlock), src0BlkStride(src0Block), src1BlkStride(src1Block), dstRepStride(dstRepeat),
          src0RepStride(src0Repeat), src1RepStride(src1Repeat)
    {
    }

    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
};

}  // namespace AscendC

namespace gnll {

using AscendC::LocalTensor;

// Whether T is one of the types an instruction takes.
template <typename T, typename... Types> constexpr bool OneOf = (std::is_same_v<T, Types> || ...);

// A template parameter that the interface has and the simulator cannot honour yet.
#define GNLL_NEEDS_SET_MASK(NAME, IS_SET_MASK)                                                                         \
    static_assert(IS_SET_MASK, NAME ": isSetMask = false (a mask set outside of the call) is not simulated")

// Arithmetic on half is done in float and rounded once by Narrow; all other types compute as they are.
template <typename T> GNLL_INLINE T Widen(T value) { return value; }
GNLL_INLINE float Widen(half value) { return static_cast<float>(value); }
template <typename T> using Wide = decltype(Widen(T()));
template <typename T> GNLL_INLINE T Narrow(Wide<T> value) { return T(value); }

// Elements that one step of a loop handles: a constant, so that it is vectorised without run-time checks of its length.
constexpr uint64_t STEP = 64;

// dst[i] = operation(sources[i]...) for `count` elements that lie one after the other.
template <typename Operation, typename D, typename... S>
GNLL_INLINE void MapElements(Operation operation, uint64_t count, D *dst, const S *...sources)
{
    const uint64_t rest = count % STEP;
    const uint64_t whole = count - rest;
    for (uint64_t start = 0; start < whole; start += STEP) {
        GNLL_INDEPENDENT
        for (uint64_t i = 0; i < STEP; ++i) {
            dst[start + i] = operation(sources[start + i]...);
        }
    }
    for (uint64_t i = 0; i < rest; ++i) {
        dst[whole + i] = operation(sources[whole + i]...);
    }
}

// The lanes of a repeat that an instruction computes: bit k is lane k, lanes 64 to 127 in `high`.
struct Mask {
    uint64_t low;
    uint64_t high;

    static Mask First(uint64_t lanes)
    {
        const uint64_t all = ~uint64_t{0};
        return Mask{lanes >= 64 ? all : (uint64_t{1} << lanes) - 1,
                    lanes >= 128 ? all : lanes > 64 ? (uint64_t{1} << (lanes - 64)) - 1 : 0};
    }
    bool Has(uint32_t lane) const { return (((lane < 64 ? low : high) >> (lane & 63u)) & 1u) != 0; }
    // The `width` lanes from `lane` on as bits (width divides 64).
    uint64_t Part(uint32_t lane, uint32_t width) const
    {
        return ((lane < 64 ? low : high) >> (lane & 63u)) & (width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1);
    }
    bool operator==(const Mask &other) const { return low == other.low && high == other.high; }
    // One more than the highest lane.
    uint32_t End() const
    {
        return high != 0  ? 128u - static_cast<uint32_t>(__builtin_clzll(high))
               : low != 0 ? 64u - static_cast<uint32_t>(__builtin_clzll(low))
                          : 0u;
    }
    uint32_t Count() const
    {
        return static_cast<uint32_t>(__builtin_popcountll(low) + __builtin_popcountll(high));
    }
    // Whether the lanes are the first ones without a hole.
    bool Continuous() const { return Count() == End(); }
};

// Size of the widest of some types, in bytes.
template <typename T, typename... Rest> constexpr uint64_t WidestOf()
{
    if constexpr (sizeof...(Rest) == 0) {
        return sizeof(T);
    } else {
        return sizeof(T) > WidestOf<Rest...>() ? sizeof(T) : WidestOf<Rest...>();
    }
}
template <typename... T> constexpr uint64_t Widest = WidestOf<T...>();

// Lanes of one repeat of an instruction whose widest type has `size` bytes.
constexpr uint32_t LanesOf(uint64_t size) { return static_cast<uint32_t>(AscendC::ONE_REPEAT_BYTE_SIZE / size); }

// The mask of the continuous form (the first `lanes` lanes) and of the form bit by bit, with the limits of the widest
// type.
inline bool MakeMask(Mask *mask, uint64_t lanes, uint64_t size, const char *name, Where where)
{
    *mask = Mask::First(lanes);
    return Require(lanes >= 1 && lanes <= LanesOf(size), name,
                   "the mask must be between 1 and the number of elements of a repeat (256 bytes of the widest type)",
                   where);
}
inline bool MakeMask(Mask *mask, const uint64_t *bits, uint64_t size, const char *name, Where where)
{
    *mask = Mask{bits[0], size == 2 ? bits[1] : 0};
    return Require(size == 2 || bits[1] == 0, name, "mask[1] must be 0 for types of 4 bytes", where) &&
           Require(mask->End() <= LanesOf(size), name, "the mask names lanes beyond the end of a repeat", where) &&
           Require(mask->End() != 0, name, "the mask names no lane", where);
}

inline bool RepeatsHold(uint32_t repeats, const char *name, Where where)
{
    return Require(repeats <= AscendC::MAX_REPEAT_TIMES, name, "the repeat times must be at most 255", where);
}

inline bool CountHolds(int64_t count, const char *name, Where where)
{
    return Require(count >= 0, name, "the count must not be negative", where);
}

// A tensor with its strides in blocks of 32 bytes.
template <typename T> struct Strided {
    const LocalTensor<T> &tensor;
    uint32_t blockStride;
    uint32_t repeatStride;

    static constexpr uint32_t BLOCK = 32 / sizeof(T);
    T *At(uint32_t repeat, uint32_t lane) const
    {
        return tensor.Data() + (static_cast<uint64_t>(repeat) * repeatStride + lane / BLOCK * blockStride) * BLOCK +
               lane % BLOCK;
    }
    // Whether `repeats` repeats of `lanes` lanes lie one after the other.
    bool Dense(uint32_t lanes, uint32_t repeats) const
    {
        return blockStride == 1 && (repeats == 1 || repeatStride * BLOCK == lanes);
    }
};

// Operands of a call, collected for Begin: at most 8 blocks for each of 4 tensors.
struct Operands {
    Operand list[32];
    int count = 0;

    void Add(const Operand &operand) { list[count++] = operand; }

    // Adds what `repeats` repeats of the lanes in `mask` touch: one range a repeat, or one a block where blocks are
    // apart.
    template <typename T> void AddRepeats(const Strided<T> &view, const Mask &mask, uint32_t repeats, bool write)
    {
        constexpr uint32_t block = Strided<T>::BLOCK;
        const uint32_t end = mask.End();
        const uint32_t blocks = (end + block - 1) / block;
        uint32_t first = 0;
        while (first < blocks && mask.Part(first * block, block) == 0) {
            ++first;
        }
        const uint32_t together = view.blockStride == 1 ? blocks - first : 1;
        for (uint32_t b = first; b < blocks; b += together) {
            if (mask.Part(b * block, block) == 0) {
                continue;
            }
            const uint32_t stop = (b + together) * block < end ? (b + together) * block : end;
            Operand operand = write ? view.tensor.Writes(0) : view.tensor.Reads(0);
            operand.address = view.At(0, b * block);
            operand.bytes = (stop - b * block) * sizeof(T);
            operand.blocks = repeats;
            operand.stride = static_cast<int64_t>(view.repeatStride) * 32;
            Add(operand);
        }
    }

    bool Begin(const char *name, Where where) const { return ::gnll::Begin(name, Pipe::V, list, count, where); }
};

// One copy of the kernel's loops for all the places that call it: they are long, and compiling them takes its time.
template <typename Kernel, typename... T>
__attribute__((noinline)) void CallKernel(const Kernel &kernel, uint64_t count, T *...pointers)
{
    kernel(count, pointers...);
}

// Calls kernel(count, pointers...) for all runs of active lanes. Every run lies in one piece in all views.
template <typename Kernel, typename... T>
inline void RunRepeats(const Mask &mask, uint32_t repeats, const Kernel &kernel, const Strided<T> &...views)
{
    constexpr uint64_t widest = Widest<T...>;
    constexpr uint32_t lanes = LanesOf(widest);
    constexpr uint32_t piece = static_cast<uint32_t>(32 / widest);
    if (mask == Mask::First(lanes) && (views.Dense(lanes, repeats) && ...)) {
        CallKernel(kernel, static_cast<uint64_t>(repeats) * lanes, views.At(0, 0)...);
        return;
    }
    const uint32_t end = mask.End();
    const bool whole = mask.Continuous() && ((views.blockStride == 1) && ...);
    for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
        if (whole) {
            CallKernel(kernel, end, views.At(repeat, 0)...);
            continue;
        }
        for (uint32_t lane = 0; lane < end; lane += piece) {
            const uint64_t bits = mask.Part(lane, piece);
            if (bits == Mask::First(piece).low) {
                CallKernel(kernel, piece, views.At(repeat, lane)...);
                continue;
            }
            for (uint32_t i = 0; i < piece; ++i) {
                if (((bits >> i) & 1u) != 0) {
                    CallKernel(kernel, 1, views.At(repeat, lane + i)...);
                }
            }
        }
    }
}

}  // namespace gnll
