// OP_ADD(Class) registers the prototype that ops::Class describes, under the name of the class.
#pragma once

#include "register/op_def.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

namespace gnll {

struct PrototypeRegister {
    PrototypeRegister(const ops::OpDef &definition, const char *file) { definition.Register(file, this); }
};

} // namespace gnll

// A second argument, the compile information of older packages, is named in TilingParse as well and not needed here.
#define OP_ADD(type, ...) \
    [[maybe_unused]] static const ::gnll::PrototypeRegister gnll_prototype_##type { type(#type), __FILE__ }
