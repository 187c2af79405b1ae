// gert::TilingParseContext: what a TilingParse function is given to fill the compile information from.
#pragma once

#include "exe_graph/runtime/context.h"

namespace gert {

class TilingParseContext : public ExtendedKernelContext {
public:
    explicit TilingParseContext(::gnll::Node *node) : ExtendedKernelContext(node) {}
    template <typename T> T *GetCompiledInfo() { return static_cast<T *>(node_->compileInfo.get()); }
    fe::PlatFormInfos *GetPlatformInfo() const { return &node_->platform; }
    // The kernel's compile information as JSON: an Ascend C kernel has none.
    const char *GetCompiledJson() const { return "{}"; }
};

} // namespace gert
