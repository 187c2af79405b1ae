// gert::TilingContext: what a tiling function is given and where it puts its results.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exe_graph/runtime/context.h"
#include "exe_graph/runtime/tiling_data.h"

namespace gert {

class TilingContext : public ExtendedKernelContext {
public:
    explicit TilingContext(::gnll::Node *node) : ExtendedKernelContext(node), raw_(node) {}

    const StorageShape *GetInputShape(size_t index) const { return ShapeOf(Input(index)); }
    const StorageShape *GetOptionalInputShape(size_t irIndex) const { return ShapeOf(IrInput(irIndex)); }
    const StorageShape *GetRequiredInputShape(size_t irIndex) const { return ShapeOf(IrInput(irIndex)); }
    const StorageShape *GetOutputShape(size_t index) const { return ShapeOf(Output(index)); }
    const Tensor *GetInputTensor(size_t index) const { return Input(index); }
    const Tensor *GetOptionalInputTensor(size_t irIndex) const { return IrInput(irIndex); }
    const Tensor *GetRequiredInputTensor(size_t irIndex) const { return IrInput(irIndex); }

    template <typename T> const T *GetCompileInfo() const { return static_cast<const T *>(node_->compileInfo.get()); }
    const void *GetCompileInfo() const { return node_->compileInfo.get(); }
    fe::PlatFormInfos *GetPlatformInfo() const { return &node_->platform; }
    int32_t GetDeterministic() const { return node_->deterministic ? 1 : 0; }

    ge::graphStatus SetTilingKey(uint64_t key)
    {
        node_->tilingKey = key;
        return ge::GRAPH_SUCCESS;
    }
    uint64_t GetTilingKey() const { return node_->tilingKey; }
    ge::graphStatus SetBlockDim(uint32_t count)
    {
        node_->blockDim = count;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetBlockDim() const { return node_->blockDim; }
    // All blocks of the simulator run at once in every mode.
    ge::graphStatus SetScheduleMode(uint32_t mode)
    {
        node_->scheduleMode = mode;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetScheduleMode() const { return node_->scheduleMode; }
    ge::graphStatus SetTilingCond(int32_t condition)
    {
        node_->tilingCondition = condition;
        return ge::GRAPH_SUCCESS;
    }
    int32_t GetTilingCond() const { return node_->tilingCondition; }
    ge::graphStatus SetNeedAtomic(bool need)
    {
        node_->needAtomic = need;
        return ge::GRAPH_SUCCESS;
    }
    bool NeedAtomic() const { return node_->needAtomic; }

    // The tiling data as a struct; its size becomes the size of the data. Null where it does not fit.
    template <typename T> T *GetTilingData()
    {
        if (raw_.GetCapacity() < sizeof(T)) {
            return nullptr;
        }
        raw_.SetDataSize(sizeof(T));
        return static_cast<T *>(raw_.GetData());
    }
    TilingData *GetRawTilingData() { return &raw_; }

    // Room for the sizes of `count` workspaces; null for more than there is room for.
    size_t *GetWorkspaceSizes(size_t count)
    {
        if (count > ::gnll::WORKSPACE_CAPACITY) {
            return nullptr;
        }
        node_->workspaceCount = count;
        return node_->workspaces.data();
    }
    size_t GetWorkspaceNum() const { return node_->workspaceCount; }

private:
    static const StorageShape *ShapeOf(const Tensor *tensor)
    {
        return tensor == nullptr ? nullptr : &tensor->GetShape();
    }

    TilingData raw_;
};

} // namespace gert
