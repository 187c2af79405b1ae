// Registered prototypes and host functions, the tiling of a node, the log.
#include "gnll/host.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "ascendc/host_api/tiling/template_argument.h"
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "gnll/device.h"
#include "graph/utils/type_utils.h"
#include "host_internal.h"
#include "op_common/log/log.h"
#include "register/op_def.h"

namespace gnll {
namespace {

// Host libraries register while they are opened, possibly by several threads.
std::recursive_mutex registryLock;
std::map<std::string, Prototype> &Prototypes()
{
    static std::map<std::string, Prototype> all;
    return all;
}
std::map<std::string, HostFunctions> &Functions()
{
    static std::map<std::string, HostFunctions> all;
    return all;
}

thread_local std::string errors;

LogLevel PrintLevel()
{
    static const LogLevel level = [] {
        const char *text = std::getenv("GNLL_SIM_LOG");
        const std::string wanted = text == nullptr ? "" : text;
        return wanted == "debug"     ? LogLevel::Debug
               : wanted == "info"    ? LogLevel::Info
               : wanted == "warning" ? LogLevel::Warning
               : wanted == "error"   ? LogLevel::Error
                                     : static_cast<LogLevel>(static_cast<int>(LogLevel::Error) + 1);
    }();
    return level;
}

} // namespace

std::string LibraryOf(const void *address)
{
    Dl_info info{};
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
        return "";
    }
    return RealPath(info.dli_fname);
}

std::string RealPath(const char *path)
{
    char *resolved = realpath(path, nullptr);
    const std::string text = resolved == nullptr ? path : resolved;
    std::free(resolved);
    return text;
}

Registered &RegisteredBy(const std::string &library)
{
    static std::map<std::string, Registered> all;
    return all[library];
}

std::recursive_mutex &RegistryLock() { return registryLock; }

const char *AttributeTypeName(AttributeType type)
{
    static const char *const NAMES[] = {"bool", "int", "float", "string", "listBool", "listInt", "listFloat"};
    return NAMES[static_cast<int>(type)];
}

void AddPrototype(Prototype prototype, const void *owner)
{
    const std::lock_guard<std::recursive_mutex> lock(registryLock);
    RegisteredBy(LibraryOf(owner)).types.push_back(prototype.type);
    Prototypes()[prototype.type] = std::move(prototype);
}

void AddTilingClass(const char *type, const char *className, std::vector<TilingField> fields, const void *owner)
{
    const std::lock_guard<std::recursive_mutex> lock(registryLock);
    auto &classes = RegisteredBy(LibraryOf(owner)).tilingClasses;
    for (const auto &known : classes) {
        if (known.type == type && known.name == className) {
            return; // a header that several files include
        }
    }
    classes.push_back({type, className, std::move(fields)});
}

void AddTemplate(const char *name, const TemplateParameters &declared, const void *owner)
{
    const std::lock_guard<std::recursive_mutex> lock(registryLock);
    RegisteredBy(LibraryOf(owner)).templates.push_back({name, declared, {}});
}

void AddTemplateSelections(const std::vector<TemplateParameters> &selections, const void *owner)
{
    const std::lock_guard<std::recursive_mutex> lock(registryLock);
    auto &templates = RegisteredBy(LibraryOf(owner)).templates;
    if (templates.empty()) {
        return;
    }
    templates.back().selections = selections;
    for (size_t i = 0; i + 1 < templates.size(); ++i) {
        if (templates[i].name == templates.back().name) {
            templates.pop_back(); // a header that several files include
            return;
        }
    }
}

void ChangeHostFunctions(const char *type, const std::function<void(HostFunctions &)> &change)
{
    const std::lock_guard<std::recursive_mutex> lock(registryLock);
    change(Functions()[type]);
}

const Prototype *FindPrototype(const std::string &type)
{
    const std::lock_guard<std::recursive_mutex> lock(registryLock);
    const auto found = Prototypes().find(type);
    return found == Prototypes().end() ? nullptr : &found->second;
}

const HostFunctions *FindHostFunctions(const std::string &type)
{
    const std::lock_guard<std::recursive_mutex> lock(registryLock);
    const auto found = Functions().find(type);
    return found == Functions().end() ? nullptr : &found->second;
}

// ---- template arguments ----

TemplateParameter UintParameter(const char *name, uint8_t bits, const std::vector<uint64_t> &written)
{
    TemplateParameter parameter{name, TemplateParameter::Kind::UINT, bits, {}};
    if (written.empty() || written[0] == ASCENDC_TPL_UI_LIST) {
        parameter.values.assign(written.begin() + (written.empty() ? 0 : 1), written.end());
        return parameter;
    }
    const size_t ranges = written.size() > 1 ? static_cast<size_t>(written[1]) : 0;
    for (size_t i = 0; i < ranges && 3 + 2 * i < written.size(); ++i) {
        for (uint64_t value = written[2 + 2 * i]; value <= written[3 + 2 * i]; ++value) {
            parameter.values.push_back(value);
        }
    }
    for (size_t i = 2 + 2 * ranges; written[0] == ASCENDC_TPL_UI_MIX && i < written.size(); ++i) {
        parameter.values.push_back(written[i]);
    }
    return parameter;
}

namespace {

bool Contains(const std::vector<uint64_t> &values, uint64_t value)
{
    return std::find(values.begin(), values.end(), value) != values.end();
}

// Whether a selection has the choice: each of its parameters that is declared lists the value chosen for it.
bool Selects(const TemplateParameters &selection, const TemplateParameters &declared,
             const std::vector<uint64_t> &values)
{
    for (const auto &parameter : selection) {
        for (size_t i = 0; i < declared.size(); ++i) {
            if (std::strcmp(declared[i].name, parameter.name) == 0 && !Contains(parameter.values, values[i])) {
                return false;
            }
        }
    }
    return true;
}

} // namespace

uint64_t TemplateKey(const TemplateParameters &declared, const std::vector<TemplateParameters> &selections,
                     const std::vector<uint64_t> &values)
{
    if (values.size() != declared.size()) {
        AddError("GET_TPL_TILING_KEY has " + std::to_string(values.size()) + " values, ASCENDC_TPL_ARGS_DECL has " +
                 std::to_string(declared.size()));
        return INVALID_TILING_KEY;
    }
    uint64_t key = 0;
    unsigned bits = 0;
    std::string choice;
    for (size_t i = 0; i < declared.size(); ++i) {
        const TemplateParameter &parameter = declared[i];
        choice += std::string(i == 0 ? "" : ", ") + parameter.name + " " + std::to_string(values[i]);
        if (!Contains(parameter.values, values[i])) {
            AddError("GET_TPL_TILING_KEY: " + std::string(parameter.name) + " is not declared with the value " +
                     std::to_string(values[i]));
            return INVALID_TILING_KEY;
        }
        uint64_t code = values[i];
        if (parameter.kind == TemplateParameter::Kind::UINT) {
            code = static_cast<uint64_t>(
                std::find(parameter.values.begin(), parameter.values.end(), code) - parameter.values.begin());
        }
        if (bits + parameter.bits > 64 || (parameter.bits < 64 && code >> parameter.bits != 0)) {
            AddError("GET_TPL_TILING_KEY: " + std::string(parameter.name) + " needs more than its " +
                     std::to_string(parameter.bits) + " bits, or the key more than 64");
            return INVALID_TILING_KEY;
        }
        key |= code << bits;
        bits += parameter.bits;
    }
    for (const auto &selection : selections) {
        if (Selects(selection, declared, values)) {
            return key;
        }
    }
    AddError("GET_TPL_TILING_KEY: no ASCENDC_TPL_ARGS_SEL has " + choice + ", so the device has no kernel for it");
    return INVALID_TILING_KEY;
}

// ---- the tiling of a node ----

Node::Node() : tilingData(TILING_CAPACITY, 0xA5) {}

ge::graphStatus RunTiling(Node &node)
{
    const HostFunctions *functions = FindHostFunctions(node.type);
    if (functions == nullptr || functions->tiling == nullptr) {
        AddError(node.type + ": no tiling function is registered (IMPL_OP_OPTILING(" + node.type + ").Tiling(...))");
        return ge::GRAPH_FAILED;
    }
    if (functions->makeCompileInfo != nullptr && node.compileInfo == nullptr) {
        node.compileInfo = functions->makeCompileInfo();
        gert::TilingParseContext context(&node);
        if (functions->tilingParse != nullptr && functions->tilingParse(&context) != ge::GRAPH_SUCCESS) {
            AddError(node.type + ": TilingParse failed");
            return ge::GRAPH_FAILED;
        }
    }
    gert::TilingContext context(&node);
    const ge::graphStatus status = functions->tiling(&context);
    if (status != ge::GRAPH_SUCCESS) {
        return status;
    }
    const uint32_t cores = node.platform.GetVectorCores();
    if (node.blockDim == 0) {
        AddError(node.type + ": the tiling set no block dim");
        return ge::GRAPH_FAILED;
    }
    if (node.blockDim > cores) {
        AddError(node.type + ": the tiling set block dim " + std::to_string(node.blockDim) + ", the device has " +
                 std::to_string(cores) + " vector cores");
        return ge::GRAPH_FAILED;
    }
    if (node.tilingBytes > node.tilingData.size()) {
        AddError(node.type + ": the tiling data have " + std::to_string(node.tilingBytes) + " bytes, the most is " +
                 std::to_string(node.tilingData.size()));
        return ge::GRAPH_FAILED;
    }
    if (node.tilingKey == INVALID_TILING_KEY) {
        AddError(node.type + ": the tiling set no valid tiling key");
        return ge::GRAPH_FAILED;
    }
    return ge::GRAPH_SUCCESS;
}

// ---- the log ----

bool LogEnabled(LogLevel level) { return level == LogLevel::Error || level >= PrintLevel(); }

void AddError(const std::string &text)
{
    // What a tiling says in a loop must not fill the memory.
    constexpr size_t MOST = 64 * 1024;
    if (errors.size() + text.size() < MOST) {
        errors += (errors.empty() ? "" : "\n") + text;
    }
}

std::string TakeErrors()
{
    std::string taken;
    taken.swap(errors);
    return taken;
}

void Log(LogLevel level, const char *file, int line, const std::string &owner, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    std::string text(length < 0 ? 0 : static_cast<size_t>(length), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);

    const char *slash = std::strrchr(file, '/');
    const std::string whole =
        owner + ": " + text + " (" + (slash == nullptr ? file : slash + 1) + ":" + std::to_string(line) + ")";
    if (level == LogLevel::Error) {
        AddError(whole);
    }
    if (level >= PrintLevel()) {
        static const char *const NAMES[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
        std::fprintf(stderr, "[%s] %s\n", NAMES[static_cast<int>(level)], whole.c_str());
    }
}

} // namespace gnll

// ---- prototypes ----

namespace ops {
namespace {

// The types and formats of a parameter that follows another are that one's.
void Follow(std::vector<::gnll::Parameter> &parameters, const ::gnll::Parameter &leader, const std::string &name)
{
    for (auto &parameter : parameters) {
        if (parameter.name == name) {
            parameter.types = leader.types;
            if (parameter.formats.empty()) {
                parameter.formats = leader.formats;
            }
        }
    }
}

} // namespace

void OpDef::Register(const char *file, const void *owner) const
{
    ::gnll::Prototype prototype;
    prototype.type = type_;
    prototype.file = file;

    const OpAICoreConfig *own = nullptr;
    for (const auto &[soc, configuration] : core_.configurations_) {
        prototype.socs.push_back(soc);
        if (soc == ::gnll::SOC) {
            own = &configuration;
            prototype.configuration = configuration.values_;
        }
    }
    const bool replaced = own != nullptr && (!own->inputs_.empty() || !own->outputs_.empty());
    const auto &inputs = replaced ? own->inputs_ : inputs_;
    const auto &outputs = replaced ? own->outputs_ : outputs_;
    for (const auto &input : inputs) {
        prototype.inputs.push_back(input.parameter_);
    }
    for (const auto &output : outputs) {
        prototype.outputs.push_back(output.parameter_);
    }
    for (const auto *list : {&inputs, &outputs}) {
        for (const auto &follower : *list) {
            const std::string &name = follower.parameter_.name;
            if (!follower.known_) {
                prototype.errors.push_back("the ParamType of " + name + " is neither REQUIRED, OPTIONAL nor DYNAMIC");
            }
            if (follower.follow_.empty()) {
                continue;
            }
            const ::gnll::Parameter *leader = nullptr;
            for (const auto *parameters : {&prototype.inputs, &prototype.outputs}) {
                for (const auto &parameter : *parameters) {
                    leader = parameter.name == follower.follow_ ? &parameter : leader;
                }
            }
            if (leader == nullptr) {
                prototype.errors.push_back(name + " follows " + follower.follow_ + ", which does not exist");
                continue;
            }
            const ::gnll::Parameter copy = *leader;
            Follow(list == &inputs ? prototype.inputs : prototype.outputs, copy, name);
        }
    }

    // A parameter with one entry has it in every column.
    for (const auto *parameters : {&prototype.inputs, &prototype.outputs}) {
        for (const auto &parameter : *parameters) {
            prototype.columns = std::max(prototype.columns, parameter.types.size());
        }
    }
    for (auto *parameters : {&prototype.inputs, &prototype.outputs}) {
        for (auto &parameter : *parameters) {
            if (parameter.types.size() != prototype.columns) {
                prototype.errors.push_back("DataType of " + parameter.name + " lists " +
                                           std::to_string(parameter.types.size()) + " types, that of another " +
                                           std::to_string(prototype.columns));
            }
            if (parameter.formats.empty()) {
                parameter.formats.assign(prototype.columns, ge::FORMAT_ND);
            } else if (parameter.formats.size() != prototype.columns) {
                prototype.errors.push_back("Format of " + parameter.name + " lists " +
                                           std::to_string(parameter.formats.size()) + " formats for " +
                                           std::to_string(prototype.columns) + " columns of data types");
            }
        }
    }
    for (const auto &attribute : attributes_) {
        prototype.attributes.push_back(attribute.attribute_);
    }

    ::gnll::ChangeHostFunctions(type_.c_str(), [this](::gnll::HostFunctions &functions) {
        functions.tiling = core_.tiling_ == nullptr ? functions.tiling : core_.tiling_;
        functions.inferShape = inferShape_ == nullptr ? functions.inferShape : inferShape_;
        functions.inferDataType = inferDataType_ == nullptr ? functions.inferDataType : inferDataType_;
    });
    ::gnll::AddPrototype(std::move(prototype), owner);
}

} // namespace ops

// ---- names of types, formats and shapes ----

namespace ge {

std::string TypeUtils::DataTypeToSerialString(DataType type)
{
    static const std::map<int, const char *> NAMES = {
        {DT_FLOAT, "DT_FLOAT"},   {DT_FLOAT16, "DT_FLOAT16"}, {DT_INT8, "DT_INT8"},     {DT_INT32, "DT_INT32"},
        {DT_UINT8, "DT_UINT8"},   {DT_INT16, "DT_INT16"},     {DT_UINT16, "DT_UINT16"}, {DT_UINT32, "DT_UINT32"},
        {DT_INT64, "DT_INT64"},   {DT_UINT64, "DT_UINT64"},   {DT_DOUBLE, "DT_DOUBLE"}, {DT_BOOL, "DT_BOOL"},
        {DT_STRING, "DT_STRING"}, {DT_BF16, "DT_BF16"},       {DT_COMPLEX64, "DT_COMPLEX64"},
        {DT_COMPLEX128, "DT_COMPLEX128"}};
    const auto found = NAMES.find(type);
    return found == NAMES.end() ? "DT_" + std::to_string(static_cast<int>(type)) : found->second;
}

std::string TypeUtils::FormatToSerialString(Format format)
{
    static const std::map<int, const char *> NAMES = {
        {FORMAT_NCHW, "NCHW"}, {FORMAT_NHWC, "NHWC"},   {FORMAT_ND, "ND"},       {FORMAT_NC1HWC0, "NC1HWC0"},
        {FORMAT_HWCN, "HWCN"}, {FORMAT_NDHWC, "NDHWC"}, {FORMAT_NCDHW, "NCDHW"}, {FORMAT_FRACTAL_NZ, "FRACTAL_NZ"},
        {FORMAT_NCL, "NCL"},   {FORMAT_FRACTAL_Z, "FRACTAL_Z"}};
    const auto found = NAMES.find(format);
    return found == NAMES.end() ? "FORMAT_" + std::to_string(static_cast<int>(format)) : found->second;
}

} // namespace ge

namespace Ops {
namespace Base {

std::string ToString(ge::DataType type) { return ge::TypeUtils::DataTypeToSerialString(type); }
std::string ToString(ge::Format format) { return ge::TypeUtils::FormatToSerialString(format); }
std::string ToString(const gert::Shape &shape)
{
    std::string text = "[";
    for (size_t i = 0; i < shape.GetDimNum(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape.GetDim(i));
    }
    return text + "]";
}

} // namespace Base
} // namespace Ops
