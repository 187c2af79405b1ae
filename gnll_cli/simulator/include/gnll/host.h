// The host side of the simulator: prototypes and host functions that a package registers, and one node of a graph,
// which is what the contexts of tiling and shape inference look at.
#pragma once

#include <any>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exe_graph/runtime/runtime_attrs.h"
#include "exe_graph/runtime/tensor.h"
#include "graph/ge_error_codes.h"
#include "graph/types.h"
#include "platform/platform_infos_def.h"

namespace gert {
class TilingContext;
class TilingParseContext;
class InferShapeContext;
class InferDataTypeContext;
} // namespace gert

namespace gnll {

enum class Presence : uint8_t { REQUIRED, OPTIONAL, DYNAMIC };

// An input or output of a prototype. Every list has one entry per dtype column.
struct Parameter {
    std::string name;
    Presence presence = Presence::REQUIRED;
    std::vector<ge::DataType> types;
    std::vector<ge::Format> formats;
    bool autoContiguous = false;
    bool ignoreContiguous = false;
    bool hostValue = false;
};

enum class AttributeType : uint8_t { BOOL, INT, FLOAT, STRING, LIST_BOOL, LIST_INT, LIST_FLOAT };
const char *AttributeTypeName(AttributeType type);

// The value of an attribute; `type` says which member holds it (BOOL and INT: integer).
struct AttributeValue {
    AttributeType type = AttributeType::BOOL;
    int64_t integer = 0;
    double real = 0.0;
    std::string text;
    std::vector<int64_t> integers; // LIST_INT, and LIST_BOOL as 0 and 1
    std::vector<double> reals;
};

struct Attribute {
    std::string name;
    bool required = false;
    bool hasDefault = false;
    AttributeValue value; // the default where there is one; `value.type` is the attribute's type in any case
};

// A field of a tiling data class made with BEGIN_TILING_DATA_DEF. `count` is 0 for a field that is no array.
struct TilingField {
    std::string type;
    std::string name;
    uint64_t count;
    uint64_t offset;
};

struct Prototype {
    std::string type;
    std::string file; // of the OP_ADD
    std::vector<Parameter> inputs;
    std::vector<Parameter> outputs;
    std::vector<Attribute> attributes;
    std::vector<std::string> socs;
    std::map<std::string, std::string> configuration; // ExtendCfgInfo of the SoC that is simulated
    std::vector<std::string> errors;                  // what is wrong with the prototype, in words
    size_t columns = 0;
};

using TilingFunction = ge::graphStatus (*)(gert::TilingContext *);
using TilingParseFunction = ge::graphStatus (*)(gert::TilingParseContext *);
using InferShapeFunction = ge::graphStatus (*)(gert::InferShapeContext *);
using InferDataTypeFunction = ge::graphStatus (*)(gert::InferDataTypeContext *);

// What IMPL_OP_OPTILING, IMPL_OP_INFERSHAPE and OP_ADD registered for one operator type.
struct HostFunctions {
    TilingFunction tiling = nullptr;
    TilingParseFunction tilingParse = nullptr;
    std::shared_ptr<void> (*makeCompileInfo)() = nullptr;
    InferShapeFunction inferShape = nullptr;
    InferDataTypeFunction inferDataType = nullptr;
    std::vector<size_t> hostInputs; // inputs whose values the tiling looks at
};

// `owner` is an address in the library that registers.
void AddPrototype(Prototype prototype, const void *owner);
void AddTilingClass(const char *type, const char *className, std::vector<TilingField> fields, const void *owner);
// Merges what `change` sets into the functions of `type`.
void ChangeHostFunctions(const char *type, const std::function<void(HostFunctions &)> &change);
// Null where nothing was registered for the type.
const Prototype *FindPrototype(const std::string &type);
const HostFunctions *FindHostFunctions(const std::string &type);

// The tiling data of a node: room for `Capacity` bytes, filled with 0xA5 so that a field nobody wrote does not look
// like one.
constexpr size_t TILING_CAPACITY = 16384;
constexpr size_t WORKSPACE_CAPACITY = 8;

// One node of a graph. Tensors of absent optional inputs are no entries of `inputs`; `inputOf` has the entry of each
// input of the prototype, -1 where it is absent.
struct Node {
    std::string type;
    std::string name;
    std::vector<gert::Tensor> inputs;
    std::vector<int> inputOf;
    std::vector<gert::Tensor> outputs;
    gert::RuntimeAttrs attributes;
    fe::PlatFormInfos platform;
    std::shared_ptr<void> compileInfo;
    bool deterministic = false;

    // Results of the tiling.
    uint64_t tilingKey = 0;
    uint32_t blockDim = 0;
    uint32_t scheduleMode = 0;
    int32_t tilingCondition = 0;
    bool needAtomic = false;
    uint32_t localMemory = 0;
    std::vector<uint8_t> tilingData;
    size_t tilingBytes = 0;
    std::array<size_t, WORKSPACE_CAPACITY> workspaces{};
    size_t workspaceCount = 0;

    Node();
};

// The SoC that is simulated.
constexpr const char *SOC = "ascend910b";
constexpr const char *SOC_NAME = "Ascend910B1";

// Runs TilingParse (once per call) and the tiling of the node's operator type. GRAPH_FAILED also where the type has no
// tiling, and where the results cannot be launched (no block dim, more blocks than cores, more tiling data than there
// is room).
ge::graphStatus RunTiling(Node &node);

// The log. Errors are kept until TakeErrors(); what GNLL_SIM_LOG (error, warning, info, debug) asks for goes to
// standard error.
enum class LogLevel : uint8_t { Debug, Info, Warning, Error };
bool LogEnabled(LogLevel level);
void Log(LogLevel level, const char *file, int line, const std::string &owner, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void AddError(const std::string &text);
// The errors since the last call, one a line.
std::string TakeErrors();

} // namespace gnll
