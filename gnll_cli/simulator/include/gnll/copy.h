// DataCopy and DataCopyPad: moves between global memory and the unified buffer, and inside the unified buffer.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "gnll/core.h"
#include "gnll/sync.h"
#include "gnll/tensor.h"

namespace AscendC {

// Lengths and gaps in blocks of 32 bytes for DataCopy. For DataCopyPad the length and the gaps in global memory are
// bytes.
struct DataCopyParams {
    DataCopyParams() : blockCount(1), blockLen(0), srcStride(0), dstStride(0) {}
    DataCopyParams(uint16_t count, uint16_t length, uint16_t sourceGap, uint16_t destinationGap)
        : blockCount(count), blockLen(length), srcStride(sourceGap), dstStride(destinationGap)
    {
    }

    uint16_t blockCount;
    uint16_t blockLen;
    union {
        uint16_t srcGap;
        uint16_t srcStride;
    };
    union {
        uint16_t dstGap;
        uint16_t dstStride;
    };
};

// Length in bytes; gaps in bytes on the global memory side, in blocks of 32 bytes on the unified buffer side.
struct DataCopyExtParams {
    DataCopyExtParams() = default;
    DataCopyExtParams(uint16_t count, uint32_t length, uint32_t sourceGap, uint32_t destinationGap, uint32_t reserved)
        : blockCount(count), blockLen(length), srcStride(sourceGap), dstStride(destinationGap), rsv(reserved)
    {
    }

    uint16_t blockCount = 1;
    uint32_t blockLen = 0;
    uint32_t srcStride = 0;
    uint32_t dstStride = 0;
    uint32_t rsv = 0;
};

// Padding of each block in elements.
template <typename T> struct DataCopyPadExtParams {
    DataCopyPadExtParams() = default;
    DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value)
    {
    }

    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    T paddingValue = T(0);
};

struct DataCopyPadParams {
    DataCopyPadParams() = default;
    DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value)
    {
    }

    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    uint64_t paddingValue = 0;
};

}  // namespace AscendC

namespace gnll {

constexpr uint32_t BLOCK_BYTES = 32;

constexpr uint64_t RoundUp(uint64_t bytes)
{
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

// The end of the last block that a local tensor reaches into: moves work in whole blocks.
template <typename T> const uint8_t *LocalEnd(const AscendC::LocalTensor<T> &tensor)
{
    return reinterpret_cast<const uint8_t *>(tensor.Data()) +
           RoundUp(static_cast<uint64_t>(tensor.GetSize()) * sizeof(T));
}

template <typename T, typename = void> struct IsAddable : std::false_type {
};
template <typename T>
struct IsAddable<T, std::void_t<decltype(std::declval<T>() + std::declval<T>()),
                                decltype(std::declval<T>() < std::declval<T>())>> : std::true_type {
};

// One block to global memory in the atomic mode of the core.
template <typename T> void StoreBlock(T *destination, const T *source, uint64_t bytes, const AtomicMode &mode)
{
    if (mode.operation == Atomic::NONE) {
        std::memcpy(static_cast<void *>(destination), static_cast<const void *>(source), bytes);
        return;
    }
    if constexpr (IsAddable<T>::value) {
        for (uint64_t i = 0; i < bytes / sizeof(T); ++i) {
            if (mode.operation == Atomic::ADD) {
                destination[i] = static_cast<T>(destination[i] + source[i]);
            } else if (mode.operation == Atomic::MAX) {
                destination[i] = destination[i] < source[i] ? source[i] : destination[i];
            } else {
                destination[i] = source[i] < destination[i] ? source[i] : destination[i];
            }
        }
    }
}

// A strided move into the unified buffer. `sourceStride` and `destinationStride` from start to start, in bytes.
struct Blocks {
    uint32_t count;
    uint64_t bytes;
    int64_t sourceStride;
    int64_t destinationStride;
};

template <typename T>
bool CheckAtomic(const char *instruction, const AtomicMode &mode, Where where)
{
    return Require(mode.operation == Atomic::NONE || (mode.type == TypeId<T>() && IsAddable<T>::value), instruction,
                   "the atomic mode was set for another element type than this move's", where);
}

template <typename T>
void MoveOut(const char *instruction, const AscendC::GlobalTensor<T> &destination,
             const AscendC::LocalTensor<T> &source, const Blocks &blocks, Where where)
{
    if (blocks.count == 0 || blocks.bytes == 0) {
        return;
    }
    const AtomicMode mode = CurrentAtomic();
    if (!CheckAtomic<T>(instruction, mode, where)) {
        return;
    }
    const Operand operands[] = {
        {source.Data(), blocks.bytes, false, BLOCK_BYTES, LocalEnd(source), blocks.count,
         blocks.sourceStride},
        {destination.Data(), blocks.bytes, true, 1, destination.End(), blocks.count, blocks.destinationStride}};
    if (!Begin(instruction, Pipe::MTE3, operands, 2, where)) {
        return;
    }
    auto *to = reinterpret_cast<uint8_t *>(destination.Data());
    const auto *from = reinterpret_cast<const uint8_t *>(source.Data());
    for (uint32_t block = 0; block < blocks.count; ++block) {
        StoreBlock(reinterpret_cast<T *>(to + block * blocks.destinationStride),
                   reinterpret_cast<const T *>(from + block * blocks.sourceStride), blocks.bytes, mode);
    }
}

template <typename T>
void MovePadded(const AscendC::LocalTensor<T> &destination, const AscendC::GlobalTensor<T> &source,
                const AscendC::DataCopyExtParams &copy, const AscendC::DataCopyPadExtParams<T> &pad, Where where)
{
    const char *instruction = "DataCopyPad";
    const uint64_t left = static_cast<uint64_t>(pad.leftPadding) * sizeof(T);
    const uint64_t right = static_cast<uint64_t>(pad.rightPadding) * sizeof(T);
    if (!Require(copy.blockCount <= 4095, instruction, "blockCount is above 4095", where) ||
        !Require(copy.blockLen <= 2097151, instruction, "blockLen is above 2097151", where) ||
        !Require(copy.blockLen % sizeof(T) == 0, instruction, "blockLen is no multiple of the element size", where) ||
        !Require(left <= BLOCK_BYTES && right <= BLOCK_BYTES, instruction, "padding of more than 32 bytes", where) ||
        copy.blockCount == 0 || copy.blockLen == 0) {
        return;
    }
    if constexpr (sizeof(T) == 8) {
        if (!Require(!pad.isPad || pad.paddingValue == T(0), instruction,
                     "paddingValue of an 8-byte type must be 0", where)) {
            return;
        }
    }
    const uint64_t bytes = RoundUp(left + copy.blockLen + right);
    const int64_t stride = static_cast<int64_t>(bytes + static_cast<uint64_t>(copy.dstStride) * BLOCK_BYTES);
    const int64_t sourceStride = static_cast<int64_t>(copy.blockLen) + copy.srcStride;
    const Operand operands[] = {
        {source.Data(), copy.blockLen, false, 1, source.End(), copy.blockCount, sourceStride},
        {destination.Data(), bytes, true, BLOCK_BYTES, LocalEnd(destination), copy.blockCount, stride}};
    if (!Begin(instruction, Pipe::MTE2, operands, 2, where)) {
        return;
    }
    const bool padded = left != 0 || right != 0;
    for (uint32_t block = 0; block < copy.blockCount; ++block) {
        auto *to = reinterpret_cast<uint8_t *>(destination.Data()) + block * stride;
        const auto *from = reinterpret_cast<const uint8_t *>(source.Data()) + block * sourceStride;
        const uint64_t end = left + copy.blockLen;
        if (padded && !pad.isPad) {
            // Any value: the bits of a NaN, or of -1, are the likeliest to be noticed.
            std::memset(to, 0xFF, left);
            std::memset(to + end, 0xFF, bytes - end);
        } else {
            T value;
            std::memcpy(static_cast<void *>(&value), padded ? static_cast<const void *>(&pad.paddingValue) : from,
                        sizeof(T));
            for (uint64_t at = 0; at < left; at += sizeof(T)) {
                std::memcpy(to + at, static_cast<const void *>(&value), sizeof(T));
            }
            for (uint64_t at = end; at < bytes; at += sizeof(T)) {
                std::memcpy(to + at, static_cast<const void *>(&value), sizeof(T));
            }
        }
        std::memcpy(to + left, from, copy.blockLen);
    }
}

template <typename T> bool CheckGlobalAlignment(const char *instruction, const T *address, Where where)
{
    return Require(reinterpret_cast<uintptr_t>(address) % sizeof(T) == 0, instruction,
                   "the global memory address is no multiple of the element size", where);
}

template <typename T>
void MoveIn(const AscendC::LocalTensor<T> &destination, const AscendC::GlobalTensor<T> &source, const Blocks &blocks,
            Where where)
{
    if (blocks.count == 0 || blocks.bytes == 0 || !CheckGlobalAlignment("DataCopy", source.Data(), where)) {
        return;
    }
    const Operand operands[] = {
        {source.Data(), blocks.bytes, false, 1, source.End(), blocks.count, blocks.sourceStride},
        {destination.Data(), blocks.bytes, true, BLOCK_BYTES, LocalEnd(destination), blocks.count,
         blocks.destinationStride}};
    if (!Begin("DataCopy", Pipe::MTE2, operands, 2, where)) {
        return;
    }
    for (uint32_t block = 0; block < blocks.count; ++block) {
        std::memcpy(reinterpret_cast<uint8_t *>(destination.Data()) + block * blocks.destinationStride,
                    reinterpret_cast<const uint8_t *>(source.Data()) + block * blocks.sourceStride, blocks.bytes);
    }
}

template <typename T>
void MoveInside(const AscendC::LocalTensor<T> &destination, const AscendC::LocalTensor<T> &source, const Blocks &blocks,
                Where where)
{
    if (blocks.count == 0 || blocks.bytes == 0) {
        return;
    }
    const Operand operands[] = {
        {source.Data(), blocks.bytes, false, BLOCK_BYTES, LocalEnd(source), blocks.count,
         blocks.sourceStride},
        {destination.Data(), blocks.bytes, true, BLOCK_BYTES, LocalEnd(destination), blocks.count,
         blocks.destinationStride}};
    if (!Begin("DataCopy", Pipe::V, operands, 2, where)) {
        return;
    }
    for (uint32_t block = 0; block < blocks.count; ++block) {
        std::memmove(reinterpret_cast<uint8_t *>(destination.Data()) + block * blocks.destinationStride,
                     reinterpret_cast<const uint8_t *>(source.Data()) + block * blocks.sourceStride, blocks.bytes);
    }
}

// Whole blocks only: the byte count of the count form is rounded down.
template <typename T> Blocks WholeBlocks(uint32_t count)
{
    const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(T) / BLOCK_BYTES * BLOCK_BYTES;
    return Blocks{1, bytes, static_cast<int64_t>(bytes), static_cast<int64_t>(bytes)};
}

inline Blocks StridedBlocks(const AscendC::DataCopyParams &copy)
{
    return Blocks{copy.blockCount, static_cast<uint64_t>(copy.blockLen) * BLOCK_BYTES,
                  (static_cast<int64_t>(copy.blockLen) + copy.srcStride) * BLOCK_BYTES,
                  (static_cast<int64_t>(copy.blockLen) + copy.dstStride) * BLOCK_BYTES};
}

template <typename T> constexpr bool IsMovable()
{
    return sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8;
}

}  // namespace gnll

namespace AscendC {

template <typename T>
void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, uint32_t count, ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::IsMovable<T>(), "DataCopy moves elements of 1, 2, 4 or 8 bytes");
    ::gnll::MoveIn(dst, src, ::gnll::WholeBlocks<T>(count), where);
}
template <typename T>
void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count, ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::IsMovable<T>(), "DataCopy moves elements of 1, 2, 4 or 8 bytes");
    if (::gnll::CheckGlobalAlignment("DataCopy", dst.Data(), where)) {
        ::gnll::MoveOut("DataCopy", dst, src, ::gnll::WholeBlocks<T>(count), where);
    }
}
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count, ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::IsMovable<T>(), "DataCopy moves elements of 1, 2, 4 or 8 bytes");
    ::gnll::MoveInside(dst, src, ::gnll::WholeBlocks<T>(count), where);
}
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &copy,
              ::gnll::Where where = GNLL_HERE)
{
    if (::gnll::Require(copy.blockCount <= 4095, "DataCopy", "blockCount is above 4095", where)) {
        ::gnll::MoveIn(dst, src, ::gnll::StridedBlocks(copy), where);
    }
}
template <typename T>
void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &copy,
              ::gnll::Where where = GNLL_HERE)
{
    if (::gnll::Require(copy.blockCount <= 4095, "DataCopy", "blockCount is above 4095", where) &&
        ::gnll::CheckGlobalAlignment("DataCopy", dst.Data(), where)) {
        ::gnll::MoveOut("DataCopy", dst, src, ::gnll::StridedBlocks(copy), where);
    }
}
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &copy,
              ::gnll::Where where = GNLL_HERE)
{
    if (::gnll::Require(copy.blockCount <= 4095, "DataCopy", "blockCount is above 4095", where)) {
        ::gnll::MoveInside(dst, src, ::gnll::StridedBlocks(copy), where);
    }
}

// Exact bytes from global memory; each block is filled up to a multiple of 32 bytes.
template <typename T>
void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyExtParams &copy,
                 const DataCopyPadExtParams<T> &pad, ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::IsMovable<T>(), "DataCopyPad moves elements of 1, 2, 4 or 8 bytes");
    ::gnll::MovePadded(dst, src, copy, pad, where);
}
template <typename T>
void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &copy,
                 const DataCopyPadParams &pad, ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::IsMovable<T>(), "DataCopyPad moves elements of 1, 2, 4 or 8 bytes");
    DataCopyPadExtParams<T> wide;
    wide.isPad = pad.isPad;
    wide.leftPadding = pad.leftPadding;
    wide.rightPadding = pad.rightPadding;
    std::memcpy(static_cast<void *>(&wide.paddingValue), &pad.paddingValue, sizeof(T));
    ::gnll::MovePadded(dst, src, DataCopyExtParams(copy.blockCount, copy.blockLen, copy.srcStride, copy.dstStride, 0),
                       wide, where);
}

// Exact bytes to global memory.
template <typename T>
void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &copy,
                 ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::IsMovable<T>(), "DataCopyPad moves elements of 1, 2, 4 or 8 bytes");
    if (!::gnll::Require(copy.blockCount <= 4095, "DataCopyPad", "blockCount is above 4095", where) ||
        !::gnll::Require(copy.blockLen <= 2097151, "DataCopyPad", "blockLen is above 2097151", where) ||
        !::gnll::Require(copy.blockLen % sizeof(T) == 0, "DataCopyPad", "blockLen is no multiple of the element size",
                         where)) {
        return;
    }
    const int64_t sourceStride = static_cast<int64_t>(::gnll::RoundUp(copy.blockLen)) +
                                 static_cast<int64_t>(copy.srcStride) * ::gnll::BLOCK_BYTES;
    const int64_t destinationStride = static_cast<int64_t>(copy.blockLen) + copy.dstStride;
    ::gnll::MoveOut("DataCopyPad", dst, src,
                    ::gnll::Blocks{copy.blockCount, copy.blockLen, sourceStride, destinationStride}, where);
}
template <typename T>
void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &copy,
                 ::gnll::Where where = GNLL_HERE)
{
    DataCopyPad(dst, src, DataCopyExtParams(copy.blockCount, copy.blockLen, copy.srcStride, copy.dstStride, 0), where);
}

// Fills `count` elements from the tensor's start with a value (pipe MTE3: SyncAll or MTE3 flags order it).
template <typename T>
void InitGlobalMemory(const GlobalTensor<T> &tensor, uint64_t count, T value, ::gnll::Where where = GNLL_HERE)
{
    const ::gnll::Operand operands[] = {{tensor.Data(), count * sizeof(T), true, 1, tensor.End()}};
    if (::gnll::Begin("InitGlobalMemory", ::gnll::Pipe::MTE3, operands, 1, where)) {
        for (uint64_t i = 0; i < count; ++i) {
            tensor.Data()[i] = value;
        }
    }
}

}  // namespace AscendC
