// The prototype: names, types and defaults, from which the ACLNN functions are generated.
#include <vector>

#include "register/op_def_registry.h"

namespace ops {
class GaussianNllLossGrad : public OpDef {
public:
    explicit GaussianNllLossGrad(const char *name) : OpDef(name)
    {
        // Columns, not a free choice: all six tensors have the type of one column, and no other mixture is accepted.
        const std::vector<ge::DataType> types = {ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16};
        const std::vector<ge::Format> formats(types.size(), ge::FORMAT_ND);
        for (const char *input : {"gradOutput", "input", "target", "var"}) {
            // The kernel reads flat arrays. A strided view becomes one before it is called.
            this->Input(input)
                .ParamType(REQUIRED)
                .DataType(types)
                .Format(formats)
                .UnknownShapeFormat(formats)
                .AutoContiguous();
        }
        for (const char *output : {"gradInput", "gradVar"}) {
            this->Output(output).ParamType(REQUIRED).DataType(types).Format(formats).UnknownShapeFormat(formats);
        }
        // full adds a constant to the loss and so nothing to the gradient. It is here for the forward operator's sake.
        this->Attr("full").AttrType(OPTIONAL).Bool(false);
        this->Attr("eps").AttrType(OPTIONAL).Float(1e-6f);
        this->Attr("reduction").AttrType(OPTIONAL).String("mean");
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(GaussianNllLossGrad);
} // namespace ops
