// Gather: element i of the destination is the element of the source at a byte offset that lies in a tensor.
#pragma once

#include <algorithm>

#include "gnll/vector/common.h"

namespace AscendC {

template <typename T>
inline void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &srcOffset,
                   const uint32_t srcBaseAddr, const uint32_t count, ::gnll::Where where = GNLL_HERE)
{
    static_assert(::gnll::OneOf<T, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float>,
                  "Gather takes int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t and float");
    if (count == 0 || !::gnll::Require(srcBaseAddr % sizeof(T) == 0, "Gather",
                                       "srcBaseAddr must be a multiple of the element's size", where)) {
        return;
    }
    // The offsets must be readable before they can say what of the source is touched.
    const ::gnll::Operand offsetsOnly[] = {srcOffset.Reads(count)};
    if (!::gnll::Begin("Gather", ::gnll::Pipe::V, offsetsOnly, 1, where)) {
        return;
    }
    const uint32_t *offsets = srcOffset.Data();
    const auto range = std::minmax_element(offsets, offsets + count);
    const bool aligned = std::all_of(offsets, offsets + count, [](uint32_t offset) { return offset % sizeof(T) == 0; });
    if (!::gnll::Require(aligned, "Gather", "an offset is no multiple of the element's size", where)) {
        return;
    }
    const char *base = reinterpret_cast<const char *>(src.Data()) + srcBaseAddr;
    ::gnll::Operand first = src.Reads(1, sizeof(T));
    first.address = base + *range.first;
    ::gnll::Operand last = src.Reads(1, sizeof(T));
    last.address = base + *range.second;
    const ::gnll::Operand operands[] = {dst.Writes(count), first, last};
    if (::gnll::Begin("Gather", ::gnll::Pipe::V, operands, 3, where)) {
        T *to = dst.Data();
        for (uint32_t i = 0; i < count; ++i) {
            to[i] = *reinterpret_cast<const T *>(base + offsets[i]);
        }
    }
}

}  // namespace AscendC
