// gert::InferShapeContext: input shapes and where to put output shapes.
#pragma once

#include <cstddef>

#include "exe_graph/runtime/context.h"

namespace gert {

class InferShapeContext : public ExtendedKernelContext {
public:
    explicit InferShapeContext(::gnll::Node *node) : ExtendedKernelContext(node) {}

    const Shape *GetInputShape(size_t index) const { return ShapeOf(Input(index)); }
    const Shape *GetOptionalInputShape(size_t irIndex) const { return ShapeOf(IrInput(irIndex)); }
    const Shape *GetRequiredInputShape(size_t irIndex) const { return ShapeOf(IrInput(irIndex)); }
    const Tensor *GetInputTensor(size_t index) const { return Input(index); }
    const Tensor *GetOptionalInputTensor(size_t irIndex) const { return IrInput(irIndex); }
    const Tensor *GetRequiredInputTensor(size_t irIndex) const { return IrInput(irIndex); }
    Shape *GetOutputShape(size_t index)
    {
        Tensor *tensor = Output(index);
        return tensor == nullptr ? nullptr : &tensor->MutableOriginShape();
    }

private:
    static const Shape *ShapeOf(const Tensor *tensor)
    {
        return tensor == nullptr ? nullptr : &tensor->GetOriginShape();
    }
};

} // namespace gert
