// DumpTensor: prints the elements of a tensor to the standard error, with core and description.
#pragma once

#include <cstdint>
#include <cstdio>

#include "gnll/core.h"
#include "gnll/kernel.h"
#include "gnll/tensor.h"

namespace gnll {

template <typename T> void PrintElements(const char *memory, uint32_t description, const T *data, uint32_t count)
{
    std::fprintf(stderr, "DumpTensor %u (%s), core %d, %u elements:", description, memory,
                 static_cast<int>(AscendC::GetBlockIdx()), count);
    for (uint32_t i = 0; i < count; ++i) {
        std::fprintf(stderr, " %.9g", static_cast<double>(static_cast<float>(data[i])));
    }
    std::fprintf(stderr, "\n");
}

}  // namespace gnll

namespace AscendC {

// The first `count` elements as numbers; `description` tells one dump from another.
template <typename T>
void DumpTensor(const LocalTensor<T> &tensor, uint32_t description, uint32_t count, ::gnll::Where where = GNLL_HERE)
{
    const ::gnll::Operand operands[] = {tensor.Reads(count, 1)};
    if (::gnll::Begin("DumpTensor", ::gnll::Pipe::V, operands, 1, where)) {
        ::gnll::PrintElements("local", description, tensor.Data(), count);
    }
}
template <typename T>
void DumpTensor(const GlobalTensor<T> &tensor, uint32_t description, uint32_t count, ::gnll::Where where = GNLL_HERE)
{
    const ::gnll::Operand operands[] = {{tensor.Data(), count * sizeof(T), false, 1, tensor.End()}};
    if (::gnll::Begin("DumpTensor", ::gnll::Pipe::MTE2, operands, 1, where)) {
        ::gnll::PrintElements("global", description, tensor.Data(), count);
    }
}

}  // namespace AscendC
