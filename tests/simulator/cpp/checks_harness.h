// Runs small kernels of the checks tests: each CASE is one kernel, with its fault (FAULT is true) or corrected.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "gnll/device.h"
#include "kernel_operator.h"

// `input` and `output` hold ELEMENTS floats, the input's are 0, 1, 2 ...; `workspace` holds half as many that nobody
// wrote.
constexpr uint32_t ELEMENTS = 1024;

struct Tiling {
    uint32_t count;
    float scale;
};
struct LongTiling {
    Tiling head;
    uint32_t more;
};

struct Case {
    const char *name;
    void (*clean)(uint8_t **);
    void (*faulty)(uint8_t **);
    uint32_t blocks;
};

inline std::vector<Case> &Cases()
{
    static std::vector<Case> cases;
    return cases;
}

struct AddCase {
    AddCase(const Case &added) { Cases().push_back(added); }
};

#define CASE(name, blocks)                                                                               \
    template <bool FAULT> static void name(GM_ADDR input, GM_ADDR output, GM_ADDR workspace, GM_ADDR tiling); \
    template <bool FAULT> static void name##Entry(uint8_t **arguments)                                   \
    {                                                                                                    \
        name<FAULT>(arguments[0], arguments[1], arguments[2], arguments[3]);                             \
    }                                                                                                    \
    static const AddCase name##Added({#name, name##Entry<false>, name##Entry<true>, blocks});            \
    template <bool FAULT>                                                                                \
    static void name([[maybe_unused]] GM_ADDR input, [[maybe_unused]] GM_ADDR output,                    \
                     [[maybe_unused]] GM_ADDR workspace, [[maybe_unused]] GM_ADDR tiling)

namespace testing {
using namespace AscendC;

inline GlobalTensor<float> Global(GM_ADDR address, uint64_t count = ELEMENTS)
{
    GlobalTensor<float> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<float *>(address), count);
    return tensor;
}

inline DataCopyExtParams Bytes(uint32_t floats)
{
    return DataCopyExtParams(1, static_cast<uint32_t>(floats * sizeof(float)), 0, 0, 0);
}
}  // namespace testing
