// Shared by the host side of the runtime: what libraries registered, and tensors behind their handles.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "ascendc/host_api/tiling/template_argument.h"
#include "gnll/host.h"

namespace gnll {

struct RegisteredTemplate {
    std::string name;
    TemplateParameters declared;
    std::vector<TemplateParameters> selections;
};

struct RegisteredTilingClass {
    std::string type;
    std::string name;
    std::vector<TilingField> fields;
};

// What one library registered.
struct Registered {
    std::vector<std::string> types;
    std::vector<RegisteredTemplate> templates;
    std::vector<RegisteredTilingClass> tilingClasses;
};
// By the library's real path.
Registered &RegisteredBy(const std::string &library);
std::string RealPath(const char *path);
std::recursive_mutex &RegistryLock();

// Bytes of one element of an acl data type; 0 for one that is not simulated.
uint64_t ElementBytes(aclDataType type);
// Strides in elements of a tensor in C order.
std::vector<int64_t> ContiguousStrides(const std::vector<int64_t> &shape);
// Sets the text of aclGetRecentErrMsg and returns the code.
int Fail(int code, const std::string &text);

// A kernel runs inside the call that launches it; what the device would have said while the host waits is kept for the
// next synchronisation.
struct Stream {
    int pending = 0;
    std::string text;
};
// The stream behind a handle, the standard one for null; null where there is none (any more).
Stream *FindStream(aclrtStream handle);
// 0 where this thread may use the device.
int DeviceReady(const char *function);

} // namespace gnll

struct aclTensor {
    std::vector<int64_t> shape;
    std::vector<int64_t> strides; // in elements
    std::vector<int64_t> storage;
    int64_t offset = 0; // in elements
    aclDataType type = ACL_DT_UNDEFINED;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    void *data = nullptr;
};

struct aclScalar {
    aclDataType type = ACL_DT_UNDEFINED;
    std::vector<uint8_t> value;
};

struct aclIntArray {
    std::vector<int64_t> values;
};

struct aclFloatArray {
    std::vector<float> values;
};

struct aclBoolArray {
    std::vector<uint8_t> values;
};
