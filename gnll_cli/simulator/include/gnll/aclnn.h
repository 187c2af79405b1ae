// What the generated library of an operator calls: the two stages of its ACLNN interface, and the kernels it brings.
#pragma once

#include <cstdint>
#include <memory>

#include "aclnn/acl_meta.h"

namespace gnll {

struct CallState;

// The first stage. The inputs, attributes and outputs are named as in the prototype; one that is not mentioned is
// absent. Float attributes are double and strings char *, as in the generated interface.
//
//     gnll::Call call("GaussianNllLossGrad");
//     call.Input("input", input);
//     call.Attr("eps", eps);
//     call.Output("gradInput", gradInput);
//     return call.Prepare(workspaceSize, executor);
class Call {
public:
    explicit Call(const char *type);
    ~Call();
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;

    void Input(const char *name, const aclTensor *tensor);
    void Output(const char *name, const aclTensor *tensor);
    void Attr(const char *name, bool value);
    void Attr(const char *name, int32_t value);
    void Attr(const char *name, int64_t value);
    void Attr(const char *name, double value);
    void Attr(const char *name, const char *value);
    void Attr(const char *name, const aclIntArray *value);
    void Attr(const char *name, const aclFloatArray *value);
    void Attr(const char *name, const aclBoolArray *value);

    // Checks everything, runs the tiling, and makes an executor that holds all that the second stage needs; the tensors
    // may be destroyed in between, their memory not. Reads no tensor but those whose values the tiling asks for; writes
    // none.
    //
    // 0; 161001 null pointer; 161002 a parameter that the prototype does not have (data types, format, strides,
    // storage); 561002 the tiling refused or failed; 561003 no kernel for the dtype column; 561103 no such operator.
    aclnnStatus Prepare(uint64_t *workspaceSize, aclOpExecutor **executor);

private:
    std::unique_ptr<CallState> state_;
};

// The second stage: makes inputs contiguous, launches the kernel and waits for it. 0; 161001 null executor or
// workspace; 161002 an executor that is not there (any more) or a workspace that is too small; 361001 memory that is
// not on the device; the code of the launch (507034, 507035).
aclnnStatus Run(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

// The kernel of a dtype column: a library with `extern "C" void gnll_kernel_entry(uint8_t **)`, opened when it is first
// needed.
void RegisterKernel(const char *type, int column, const char *library);

} // namespace gnll

extern "C" {
// The last launch that the tiling accepted, as JSON: op, blockDim, tilingKey, workspace (bytes asked for by the
// tiling), tilingBytes (hex) and column. An empty object before the first. Valid until the next call.
const char *gnllSimLaunch(void);
// Opens a host library and describes what it registered, as JSON: {"operators": [...], "templates": [...],
// "tilingClasses": [...]}, or {"error": text}. Valid until the next call.
const char *gnllSimPrototype(const char *library);
}
