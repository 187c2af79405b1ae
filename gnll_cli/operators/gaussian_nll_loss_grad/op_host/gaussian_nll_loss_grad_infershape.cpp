// Shapes and types of the outputs, for graphs: gradInput is like input and gradVar like var, whatever is broadcast.
#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "register/op_impl_registry.h"

namespace ops {
namespace {
constexpr size_t INPUT = 1;
constexpr size_t VAR = 3;
constexpr size_t GRAD_INPUT = 0;
constexpr size_t GRAD_VAR = 1;

ge::graphStatus CopyShape(gert::InferShapeContext *context, size_t input, size_t output)
{
    const gert::Shape *from = context->GetInputShape(input);
    gert::Shape *to = context->GetOutputShape(output);
    if (from == nullptr || to == nullptr) {
        return ge::GRAPH_FAILED;
    }
    *to = *from;
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus InferShape(gert::InferShapeContext *context)
{
    const bool done = CopyShape(context, INPUT, GRAD_INPUT) == ge::GRAPH_SUCCESS &&
                      CopyShape(context, VAR, GRAD_VAR) == ge::GRAPH_SUCCESS;
    return done ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}

ge::graphStatus InferDataType(gert::InferDataTypeContext *context)
{
    context->SetOutputDataType(GRAD_INPUT, context->GetInputDataType(INPUT));
    context->SetOutputDataType(GRAD_VAR, context->GetInputDataType(VAR));
    return ge::GRAPH_SUCCESS;
}
} // namespace

IMPL_OP_INFERSHAPE(GaussianNllLossGrad).InferShape(InferShape).InferDataType(InferDataType);
} // namespace ops
