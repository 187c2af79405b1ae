// Helpers of the public operator repository that its tiling functions include.
#pragma once

#include <set>

#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "log/log.h"
#include "platform/platform_ascendc.h"
#include "platform/soc_spec.h"
#include "register/op_impl_registry.h"

namespace Ops {
namespace NN {
namespace OpTiling {

// Whether the device computes in vector registers, which the simulated one does not.
template <typename Context> bool IsRegbaseSocVersion(const Context *context)
{
    const NpuArch architecture = platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCurNpuArch();
    return architecture == NpuArch::DAV_3510 || architecture == NpuArch::DAV_5102;
}

// The shape itself, or {1} for a scalar.
inline const gert::Shape &EnsureNotScalar(const gert::Shape &shape)
{
    static const gert::Shape ONE = {1};
    return shape.IsScalar() ? ONE : shape;
}

} // namespace OpTiling
} // namespace NN
} // namespace Ops
