// OP_LOGE and its family, OP_CHECK_IF, OP_CHECK_NULL_WITH_CONTEXT. The first argument of a log macro is a context, or a
// name. What OP_LOGE says becomes part of aclGetRecentErrMsg; the environment variable GNLL_SIM_LOG (error, warning,
// info or debug) also prints to standard error.
#pragma once

#include <cinttypes>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "exe_graph/runtime/shape.h"
#include "gnll/host.h"
#include "graph/ge_error_codes.h"
#include "graph/types.h"
#include "graph/utils/type_utils.h"

namespace Ops {
namespace Base {

inline std::string GetOpInfo(const char *name) { return name == nullptr ? "nil" : name; }
inline std::string GetOpInfo(const std::string &name) { return name; }
inline std::string GetOpInfo(std::nullptr_t) { return "nil"; }
template <typename Context> std::string GetOpInfo(const Context *context)
{
    return context == nullptr ? "nil" : context->GetNodeType();
}

std::string ToString(ge::DataType type);
std::string ToString(ge::Format format);
std::string ToString(const gert::Shape &shape);

} // namespace Base
} // namespace Ops

#define GNLL_LOG(level, owner, ...)                                                                            \
    do {                                                                                                       \
        if (::gnll::LogEnabled(level)) {                                                                       \
            ::gnll::Log(level, __FILE__, __LINE__, ::Ops::Base::GetOpInfo(owner), __VA_ARGS__);                 \
        }                                                                                                      \
    } while (0)

#define OP_LOGE(owner, ...) GNLL_LOG(::gnll::LogLevel::Error, owner, __VA_ARGS__)
#define OP_LOGW(owner, ...) GNLL_LOG(::gnll::LogLevel::Warning, owner, __VA_ARGS__)
#define OP_LOGI(owner, ...) GNLL_LOG(::gnll::LogLevel::Info, owner, __VA_ARGS__)
#define OP_LOGD(owner, ...) GNLL_LOG(::gnll::LogLevel::Debug, owner, __VA_ARGS__)
#define OP_LOGE_WITHOUT_REPORT(owner, ...) OP_LOGE(owner, __VA_ARGS__)
#define D_OP_LOGE(owner, ...) OP_LOGE(owner, __VA_ARGS__)
#define D_OP_LOGW(owner, ...) OP_LOGW(owner, __VA_ARGS__)
#define D_OP_LOGI(owner, ...) OP_LOGI(owner, __VA_ARGS__)
#define D_OP_LOGD(owner, ...) OP_LOGD(owner, __VA_ARGS__)

#define OP_CHECK_IF(condition, log, leave) \
    do {                                   \
        if (condition) {                   \
            log;                           \
            leave;                         \
        }                                  \
    } while (0)

#define OP_CHECK_NULL_WITH_CONTEXT(context, pointer)                 \
    do {                                                             \
        if ((pointer) == nullptr) {                                  \
            OP_LOGE(context, "%s is nullptr!", #pointer);            \
            return ge::GRAPH_FAILED;                                 \
        }                                                            \
    } while (0)

// Errors in set words, one for each thing that can be wrong with a parameter.
#define GNLL_LOG_VALUE(owner, what, name, actual, expected)                                                          \
    OP_LOGE(owner, "%s of %s is %s; it should be %s", what, std::string(name).c_str(), std::string(actual).c_str(), \
            std::string(expected).c_str())
#define GNLL_LOG_REASON(owner, what, name, actual, reason)                                                         \
    OP_LOGE(owner, "%s of %s is %s: %s", what, std::string(name).c_str(), std::string(actual).c_str(), \
            std::string(reason).c_str())
#define OP_LOGE_FOR_INVALID_SHAPE(owner, name, actual, expected) GNLL_LOG_VALUE(owner, "shape", name, actual, expected)
#define OP_LOGE_FOR_INVALID_SHAPEDIM(owner, name, actual, expected) \
    GNLL_LOG_VALUE(owner, "number of dimensions", name, actual, expected)
#define OP_LOGE_FOR_INVALID_SHAPESIZE(owner, name, actual, expected) \
    GNLL_LOG_VALUE(owner, "number of elements", name, actual, expected)
#define OP_LOGE_FOR_INVALID_FORMAT(owner, name, actual, expected) \
    GNLL_LOG_VALUE(owner, "format", name, actual, expected)
#define OP_LOGE_FOR_INVALID_DTYPE(owner, name, actual, expected) \
    GNLL_LOG_VALUE(owner, "data type", name, actual, expected)
#define OP_LOGE_FOR_INVALID_VALUE(owner, name, actual, expected) GNLL_LOG_VALUE(owner, "value", name, actual, expected)
#define OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(owner, name, actual, reason) \
    GNLL_LOG_REASON(owner, "shape", name, actual, reason)
#define OP_LOGE_FOR_INVALID_DTYPE_WITH_REASON(owner, name, actual, reason) \
    GNLL_LOG_REASON(owner, "data type", name, actual, reason)
#define OP_LOGE_FOR_INVALID_VALUE_WITH_REASON(owner, name, actual, reason) \
    GNLL_LOG_REASON(owner, "value", name, actual, reason)
