// The mode chooses what the tiling does wrong; "copy" copies x (or adds y, where it is there) to z.
#include "host_probe_tiling.h"

#include <cstdlib>

#include "../op_kernel/host_probe_tiling_key.h"
#include "log/log.h"
#include "register/op_def_registry.h"
#include "util/math_util.h"
#include "util/platform_util.h"

namespace optiling {
struct HostProbeCompileInfo {
    uint32_t cores = 0;
};

static ge::graphStatus Parse(gert::TilingParseContext *context)
{
    context->GetCompiledInfo<HostProbeCompileInfo>()->cores =
        platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv();
    return ge::GRAPH_SUCCESS;
}

static ge::graphStatus Tiling(gert::TilingContext *context)
{
    const auto *attrs = context->GetAttrs();
    OP_CHECK_NULL_WITH_CONTEXT(context, attrs);
    const std::string mode = attrs->GetStr(3);
    const auto *axes = attrs->GetListInt(4);
    OP_CHECK_IF(mode == "refuse", OP_LOGE(context, "mode %s with %zu axes", mode.c_str(), axes->GetSize()),
                return ge::GRAPH_FAILED);
    OP_CHECK_IF(attrs->GetAttrNum() != 5 || attrs->GetAttrPointer<int64_t>(9) != nullptr,
                OP_LOGE(context, "attributes are wrong"), return ge::GRAPH_FAILED);
    const int64_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    const auto *y = context->GetOptionalInputShape(1);
    const auto *info = context->GetCompileInfo<HostProbeCompileInfo>();
    OP_CHECK_IF(info->cores != Ops::Base::GetAivCoreNum(context), OP_LOGE(context, "cores differ"),
                return ge::GRAPH_FAILED);

    HostProbeTilingData data;
    data.set_flag(*attrs->GetBool(0) ? 1 : 0);
    data.set_length(static_cast<uint32_t>(length));
    data.set_count(*attrs->GetInt(1));
    data.set_scale(*attrs->GetFloat(2));
    data.set_axes(axes->GetData());
    data.set_tail(y == nullptr ? 0 : 1);
    auto *raw = context->GetRawTilingData();
    data.SaveToBuffer(raw->GetData(), raw->GetCapacity());
    raw->SetDataSize(data.GetDataSize());

    context->SetBlockDim(mode == "blocks" ? info->cores + 1 : mode == "no blocks" ? 0 : 1);
    const uint64_t kind = mode == "undeclared" ? 5 : mode == "unselected" || mode == "kind 9" ? 9 : 4;
    context->SetTilingKey(GET_TPL_TILING_KEY(kind, y != nullptr || mode == "unselected"));
    size_t *workspace = context->GetWorkspaceSizes(2);
    OP_CHECK_NULL_WITH_CONTEXT(context, workspace);
    workspace[0] = mode == "workspace" ? 96 : 0;
    workspace[1] = mode == "workspace" ? 4 : 0;
    return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(HostProbe).Tiling(Tiling).TilingParse<HostProbeCompileInfo>(Parse);
} // namespace optiling
