// gert::InferDataTypeContext: input data types and where to put output data types.
#pragma once

#include <cstddef>

#include "exe_graph/runtime/context.h"

namespace gert {

// DT_UNDEFINED for a tensor that is not there.
class InferDataTypeContext : public ExtendedKernelContext {
public:
    explicit InferDataTypeContext(::gnll::Node *node) : ExtendedKernelContext(node) {}

    ge::DataType GetInputDataType(size_t index) const { return TypeOf(Input(index)); }
    ge::DataType GetOptionalInputDataType(size_t irIndex) const { return TypeOf(IrInput(irIndex)); }
    ge::DataType GetRequiredInputDataType(size_t irIndex) const { return TypeOf(IrInput(irIndex)); }
    ge::DataType GetOutputDataType(size_t index) const { return TypeOf(Output(index)); }
    ge::graphStatus SetOutputDataType(size_t index, ge::DataType type)
    {
        Tensor *tensor = Output(index);
        if (tensor == nullptr) {
            return ge::GRAPH_FAILED;
        }
        tensor->SetDataType(type);
        return ge::GRAPH_SUCCESS;
    }

private:
    static ge::DataType TypeOf(const Tensor *tensor)
    {
        return tensor == nullptr ? ge::DT_UNDEFINED : tensor->GetDataType();
    }
};

} // namespace gert
