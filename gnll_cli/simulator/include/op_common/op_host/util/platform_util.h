// Core counts and sizes of the device from a tiling or tiling-parse context. 0 where the context is null.
#pragma once

#include <cstdint>

#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "op_common/log/log.h"
#include "tiling/platform/platform_ascendc.h"

namespace Ops {
namespace Base {

template <typename Context> uint32_t GetAivCoreNum(const Context *context)
{
    return context == nullptr ? 0 : platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv();
}

template <typename Context> uint32_t GetAicCoreNum(const Context *context)
{
    return context == nullptr ? 0 : platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAic();
}

template <typename Context> uint32_t GetUbSize(const Context *context)
{
    uint64_t size = 0;
    if (context != nullptr) {
        platform_ascendc::PlatformAscendC(context->GetPlatformInfo())
            .GetCoreMemSize(platform_ascendc::CoreMemType::UB, size);
    }
    return static_cast<uint32_t>(size);
}

template <typename Context> uint32_t GetWorkspaceSize(const Context *context)
{
    return context == nullptr
               ? 0
               : platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetLibApiWorkSpaceSize();
}

// Bytes of a block of the unified buffer, of a repeat of a vector instruction, and of a cache line.
template <typename Context> uint32_t GetUbBlockSize(const Context *) { return 32; }
template <typename Context> uint32_t GetVRegSize(const Context *) { return 256; }
template <typename Context> uint32_t GetCacheLineSize(const Context *) { return 256; }

} // namespace Base
} // namespace Ops
