// What every context has: the description of the node, its tensors and its attributes.
#pragma once

#include <cstddef>

#include "exe_graph/runtime/runtime_attrs.h"
#include "exe_graph/runtime/tensor.h"
#include "gnll/host.h"

namespace gert {


class ComputeNodeInfo {
public:
    explicit ComputeNodeInfo(const ::gnll::Node *node) : node_(node) {}
    size_t GetInputsNum() const { return node_->inputs.size(); }
    size_t GetOutputsNum() const { return node_->outputs.size(); }
    size_t GetIrInputsNum() const { return node_->inputOf.size(); }
    const char *GetNodeType() const { return node_->type.c_str(); }
    const char *GetNodeName() const { return node_->name.c_str(); }
    const RuntimeAttrs *GetAttrs() const { return &node_->attributes; }

private:
    const ::gnll::Node *node_;
};

// Inputs by `index` count the tensors that are there; inputs by `irIndex` count the inputs of the prototype. Every
// getter is null where there is no such tensor.
class ExtendedKernelContext {
public:
    explicit ExtendedKernelContext(::gnll::Node *node) : node_(node), info_(node) {}

    const char *GetNodeType() const { return node_->type.c_str(); }
    const char *GetNodeName() const { return node_->name.c_str(); }
    const RuntimeAttrs *GetAttrs() const { return &node_->attributes; }
    const ComputeNodeInfo *GetComputeNodeInfo() const { return &info_; }
    size_t GetComputeNodeInputNum() const { return node_->inputs.size(); }
    size_t GetComputeNodeOutputNum() const { return node_->outputs.size(); }

    const CompileTimeTensorDesc *GetInputDesc(size_t index) const { return Describe(Input(index)); }
    const CompileTimeTensorDesc *GetOptionalInputDesc(size_t irIndex) const { return Describe(IrInput(irIndex)); }
    const CompileTimeTensorDesc *GetRequiredInputDesc(size_t irIndex) const { return Describe(IrInput(irIndex)); }
    const CompileTimeTensorDesc *GetOutputDesc(size_t index) const { return Describe(Output(index)); }

protected:
    Tensor *Input(size_t index) const { return index < node_->inputs.size() ? &node_->inputs[index] : nullptr; }
    Tensor *IrInput(size_t irIndex) const
    {
        if (irIndex >= node_->inputOf.size() || node_->inputOf[irIndex] < 0) {
            return nullptr;
        }
        return Input(static_cast<size_t>(node_->inputOf[irIndex]));
    }
    Tensor *Output(size_t index) const { return index < node_->outputs.size() ? &node_->outputs[index] : nullptr; }

    ::gnll::Node *node_;

private:
    static const CompileTimeTensorDesc *Describe(const Tensor *tensor)
    {
        return tensor == nullptr ? nullptr : &tensor->GetDescription();
    }

    ComputeNodeInfo info_;
};

} // namespace gert
