// IMPL_OP, IMPL_OP_OPTILING, IMPL_OP_INFERSHAPE: the host functions of an operator.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "gnll/host.h"
#include "graph/utils/type_utils.h"
#include "securec.h"

namespace gert {

// The chain that follows IMPL_OP; each call registers at once.
class OpImplRegister {
public:
    explicit OpImplRegister(const char *type) : type_(type) {}

    OpImplRegister &Tiling(::gnll::TilingFunction function)
    {
        ::gnll::ChangeHostFunctions(type_, [=](::gnll::HostFunctions &functions) { functions.tiling = function; });
        return *this;
    }
    template <typename T> OpImplRegister &TilingParse(::gnll::TilingParseFunction function)
    {
        ::gnll::ChangeHostFunctions(type_, [=](::gnll::HostFunctions &functions) {
            functions.tilingParse = function;
            functions.makeCompileInfo = []() -> std::shared_ptr<void> { return std::make_shared<T>(); };
        });
        return *this;
    }
    OpImplRegister &InferShape(::gnll::InferShapeFunction function)
    {
        ::gnll::ChangeHostFunctions(type_, [=](::gnll::HostFunctions &functions) { functions.inferShape = function; });
        return *this;
    }
    OpImplRegister &InferDataType(::gnll::InferDataTypeFunction function)
    {
        ::gnll::ChangeHostFunctions(type_,
                                    [=](::gnll::HostFunctions &functions) { functions.inferDataType = function; });
        return *this;
    }
    // Inputs of the prototype whose values the tiling looks at: their Tensor has host data.
    OpImplRegister &TilingInputsDataDependency(std::initializer_list<int32_t> inputs) { return HostInputs(inputs); }
    OpImplRegister &InputsDataDependency(std::initializer_list<int32_t> inputs) { return HostInputs(inputs); }

private:
    OpImplRegister &HostInputs(std::initializer_list<int32_t> inputs)
    {
        const std::vector<size_t> list(inputs.begin(), inputs.end());
        ::gnll::ChangeHostFunctions(type_, [=](::gnll::HostFunctions &functions) { functions.hostInputs = list; });
        return *this;
    }

    const char *type_;
};

} // namespace gert

#define GNLL_IMPL_OP_NAMED(type, number) \
    [[maybe_unused]] static const ::gert::OpImplRegister gnll_impl_##type##_##number = ::gert::OpImplRegister(#type)
#define GNLL_IMPL_OP(type, number) GNLL_IMPL_OP_NAMED(type, number)
#define IMPL_OP(type) GNLL_IMPL_OP(type, __COUNTER__)
#define IMPL_OP_OPTILING(type) GNLL_IMPL_OP(type, __COUNTER__)
#define IMPL_OP_INFERSHAPE(type) GNLL_IMPL_OP(type, __COUNTER__)
