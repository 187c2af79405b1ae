#include "register/op_def_registry.h"

namespace ops {
class HostProbe : public OpDef {
public:
    explicit HostProbe(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_INT32, ge::DT_FLOAT}).AutoContiguous();
        this->Input("y").ParamType(OPTIONAL).DataType({ge::DT_FLOAT, ge::DT_INT32, ge::DT_INT64}).Format(
            {ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).Follow("x").AutoContiguous();
        this->Attr("flag").AttrType(OPTIONAL).Bool(true);
        this->Attr("count").AttrType(OPTIONAL).Int(-3);
        this->Attr("scale").AttrType(OPTIONAL).Float(0.1f);
        this->Attr("mode").AttrType(REQUIRED).String();
        this->Attr("axes").AttrType(OPTIONAL).ListInt({4, -5, 6});
        OpAICoreConfig configuration;
        configuration.DynamicRankSupportFlag(true).ExtendCfgInfo("opFile.value", "host_probe");
        this->AICore().AddConfig("ascend910b", configuration);
    }
};
OP_ADD(HostProbe);
} // namespace ops
