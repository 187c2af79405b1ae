// The two stages of an operator's ACLNN interface.
#include "gnll/aclnn.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "gnll/device.h"
#include "gnll/host.h"
#include "graph/utils/type_utils.h"
#include "host_internal.h"

namespace gnll {

// What the caller handed to the first stage.
struct CallState {
    std::string type;
    std::map<std::string, const aclTensor *> inputs;
    std::map<std::string, const aclTensor *> outputs;
    std::map<std::string, AttributeValue> attributes;
    std::string nullAttribute; // the first attribute that is a null pointer
};

namespace {

// A tensor as the kernel gets it. Where `repack` is set the kernel gets contiguous memory instead of the view.
struct Argument {
    std::string name;
    bool output = false;
    bool repack = false;
    bool absent = false;
    uint8_t *address = nullptr; // of the view's first element
    uint64_t elementBytes = 0;
    uint64_t count = 0; // elements
    uint64_t span = 0;  // bytes from the first element to the end of the last
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;
};

} // namespace
} // namespace gnll

struct aclOpExecutor {
    std::string type;
    size_t column = 0;
    std::vector<gnll::Argument> arguments;
    uint32_t blockDim = 0;
    uint64_t tilingKey = 0;
    std::vector<uint8_t> tiling;
    uint64_t workspace = 0;
    gnll::KernelEntry entry = nullptr;
    bool repeatable = false;
};

namespace gnll {
namespace {

struct Kernel {
    std::string library;
    KernelEntry entry = nullptr;
};

std::mutex lock;
std::map<std::pair<std::string, size_t>, Kernel> kernels;
std::set<aclOpExecutor *> executors;
std::string lastLaunch = "{}";

std::string Quoted(const std::string &text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
            out += code;
        } else {
            out += c;
        }
    }
    return out + '"';
}

template <typename List, typename Write> std::string Listed(const List &list, Write write)
{
    std::string out = "[";
    for (const auto &entry : list) {
        out += (out.size() == 1 ? "" : ", ") + write(entry);
    }
    return out + "]";
}

std::string Number(double value)
{
    char text[40];
    std::snprintf(text, sizeof(text), "%.17g", value);
    const std::string written = text;
    // JSON has no words for these.
    return written.find_first_of("ni") == std::string::npos ? written : Quoted(written);
}

std::string TypeName(aclDataType type)
{
    return type == ACL_DT_UNDEFINED ? "undefined"
                                    : ge::TypeUtils::DataTypeToSerialString(static_cast<ge::DataType>(type)).substr(3);
}

std::string ShapeText(const std::vector<int64_t> &shape)
{
    return Listed(shape, [](int64_t dim) { return std::to_string(dim); });
}

// ---- views of memory ----

bool Unknown(const std::vector<int64_t> &shape)
{
    return std::any_of(shape.begin(), shape.end(), [](int64_t dim) { return dim < 0; });
}

// Elements of a shape; `limit` at most.
uint64_t Elements(const std::vector<int64_t> &shape)
{
    unsigned __int128 count = 1;
    constexpr uint64_t LIMIT = UINT64_MAX;
    for (const int64_t dim : shape) {
        if (dim == 0) {
            return 0;
        }
    }
    for (const int64_t dim : shape) {
        count *= static_cast<uint64_t>(dim);
        if (count > LIMIT) {
            return LIMIT;
        }
    }
    return static_cast<uint64_t>(count);
}

bool Contiguous(const aclTensor &tensor)
{
    if (Unknown(tensor.shape) || Elements(tensor.shape) == 0) {
        return true;
    }
    __int128 expected = 1;
    for (size_t i = tensor.shape.size(); i-- > 0;) {
        if (tensor.shape[i] != 1 && tensor.strides[i] != expected) {
            return false;
        }
        expected = std::min<__int128>(expected * tensor.shape[i], INT64_MAX);
    }
    return true;
}

// Elements from the first of a view to the end of its last, 2^64 at most; 0 for an empty one.
unsigned __int128 Span(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides)
{
    unsigned __int128 last = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] <= 0) {
            return 0;
        }
        last += static_cast<unsigned __int128>(shape[i] - 1) * static_cast<uint64_t>(strides[i]);
        last = std::min<unsigned __int128>(last, UINT64_MAX);
    }
    return last + 1;
}

// Why the view of a tensor cannot lie in its storage; empty where it can.
std::string ViewFault(const aclTensor &tensor)
{
    if (tensor.offset < 0) {
        return "the offset " + std::to_string(tensor.offset) + " is below 0";
    }
    if (Unknown(tensor.shape) || Unknown(tensor.storage) || Elements(tensor.shape) == 0) {
        return "";
    }
    for (const int64_t stride : tensor.strides) {
        if (stride < 0) {
            return "the stride " + std::to_string(stride) + " is below 0";
        }
    }
    const uint64_t held = Elements(tensor.storage);
    // A storage beyond all memory is measured once the tiling has accepted it.
    if (held != UINT64_MAX && Span(tensor.shape, tensor.strides) + static_cast<uint64_t>(tensor.offset) > held) {
        return "the view of shape " + ShapeText(tensor.shape) + " with strides " + ShapeText(tensor.strides) +
               " from element " + std::to_string(tensor.offset) + " on leaves the storage of shape " +
               ShapeText(tensor.storage);
    }
    return "";
}

// Calls visit(offset in the view, offset in contiguous memory), both in elements, and the number of elements of the run
// and its stride, for each run along the last dimension.
template <typename Visit> void ForRuns(const Argument &argument, Visit visit)
{
    if (argument.count == 0) {
        return;
    }
    const size_t rank = argument.shape.size();
    const int64_t length = rank == 0 ? 1 : argument.shape[rank - 1];
    const int64_t stride = rank == 0 ? 1 : argument.strides[rank - 1];
    std::vector<int64_t> index(rank, 0);
    int64_t from = 0;
    for (uint64_t done = 0; done < argument.count; done += static_cast<uint64_t>(length)) {
        visit(from, done, length, stride);
        for (size_t i = rank < 2 ? 0 : rank - 1; i-- > 0;) {
            from += argument.strides[i];
            if (++index[i] < argument.shape[i]) {
                break;
            }
            from -= argument.strides[i] * argument.shape[i];
            index[i] = 0;
        }
    }
}

template <typename T>
void CopyRun(uint8_t *target, int64_t toStride, const uint8_t *source, int64_t fromStride, int64_t count)
{
    auto *to = reinterpret_cast<T *>(target);
    const auto *from = reinterpret_cast<const T *>(source);
    for (int64_t i = 0; i < count; ++i) {
        to[i * toStride] = from[i * fromStride];
    }
}

void CopyElements(uint8_t *to, int64_t toStride, const uint8_t *from, int64_t fromStride, int64_t count, uint64_t bytes)
{
    if (toStride == 1 && fromStride == 1) {
        std::memcpy(to, from, static_cast<size_t>(count) * bytes);
    } else if (bytes == 1) {
        CopyRun<uint8_t>(to, toStride, from, fromStride, count);
    } else if (bytes == 2) {
        CopyRun<uint16_t>(to, toStride, from, fromStride, count);
    } else if (bytes == 4) {
        CopyRun<uint32_t>(to, toStride, from, fromStride, count);
    } else if (bytes == 8) {
        CopyRun<uint64_t>(to, toStride, from, fromStride, count);
    } else {
        for (int64_t i = 0; i < count; ++i) {
            const int64_t size = static_cast<int64_t>(bytes);
            std::memcpy(to + i * toStride * size, from + i * fromStride * size, bytes);
        }
    }
}

// Copies the view to contiguous memory.
void Gather(const Argument &argument, uint8_t *packed)
{
    const int64_t size = static_cast<int64_t>(argument.elementBytes);
    ForRuns(argument, [&](int64_t from, uint64_t to, int64_t count, int64_t stride) {
        CopyElements(packed + to * argument.elementBytes, 1, argument.address + from * size, stride, count,
                     argument.elementBytes);
    });
}

// Copies contiguous memory to the view.
void Scatter(const Argument &argument, const uint8_t *packed)
{
    const int64_t size = static_cast<int64_t>(argument.elementBytes);
    ForRuns(argument, [&](int64_t to, uint64_t from, int64_t count, int64_t stride) {
        CopyElements(argument.address + to * size, stride, packed + from * argument.elementBytes, 1, count,
                     argument.elementBytes);
        const int64_t reach = ((count - 1) * stride + 1) * size;
        DeviceWritten(argument.address + to * size, static_cast<uint64_t>(reach));
    });
}

// ---- the first stage ----

struct Refusal {
    aclnnStatus code = 0;
    std::string text;
};

// ND takes every format whose dimensions lie in memory as they are written.
bool FormatFits(ge::Format wanted, aclFormat given)
{
    static const std::set<int> PLAIN = {ACL_FORMAT_NCHW,  ACL_FORMAT_NHWC,  ACL_FORMAT_ND, ACL_FORMAT_HWCN,
                                        ACL_FORMAT_NDHWC, ACL_FORMAT_NCDHW, ACL_FORMAT_NCL};
    return static_cast<int>(wanted) == given || (wanted == ge::FORMAT_ND && PLAIN.count(given) > 0);
}

using Tensors = std::vector<const aclTensor *>; // in the prototype's order, null where absent

Refusal Present(const CallState &state, const Prototype &prototype, Tensors &inputs, Tensors &outputs)
{
    struct Side {
        const std::vector<Parameter> &parameters;
        const std::map<std::string, const aclTensor *> &given;
        Tensors &tensors;
        const char *word;
    };
    for (const Side &side : {Side{prototype.inputs, state.inputs, inputs, "input"},
                             Side{prototype.outputs, state.outputs, outputs, "output"}}) {
        for (const auto &parameter : side.parameters) {
            const auto found = side.given.find(parameter.name);
            const aclTensor *tensor = found == side.given.end() ? nullptr : found->second;
            if (parameter.presence == Presence::DYNAMIC) {
                return {ACLNN_ERR_PARAM_INVALID,
                        std::string(side.word) + " " + parameter.name +
                            " is a list of tensors, which is not simulated"};
            }
            if (tensor == nullptr && parameter.presence == Presence::REQUIRED) {
                return {ACLNN_ERR_PARAM_NULLPTR, std::string(side.word) + " " + parameter.name + " is null"};
            }
            side.tensors.push_back(tensor);
        }
        for (const auto &[name, tensor] : side.given) {
            const bool known = std::any_of(side.parameters.begin(), side.parameters.end(),
                                           [&name = name](const Parameter &p) { return p.name == name; });
            if (!known) {
                return {ACLNN_ERR_PARAM_INVALID, "the prototype has no " + std::string(side.word) + " " + name};
            }
        }
    }
    return {};
}

bool ColumnFits(const std::vector<Parameter> &parameters, const Tensors &tensors, size_t column)
{
    for (size_t i = 0; i < tensors.size(); ++i) {
        const int wanted = parameters[i].types[column];
        if (tensors[i] != nullptr && wanted != static_cast<int>(tensors[i]->type)) {
            return false;
        }
    }
    return true;
}

std::string TypesText(const std::vector<Parameter> &parameters, const Tensors &tensors)
{
    std::string text;
    for (size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i] != nullptr) {
            text += (text.empty() ? "" : ", ") + parameters[i].name + " " + TypeName(tensors[i]->type);
        }
    }
    return text;
}

// The first column that has the inputs' data types, and among those the first that has the outputs' as well.
Refusal ChooseColumn(const Prototype &prototype, const Tensors &inputs, const Tensors &outputs, size_t &column)
{
    bool inputsFit = false;
    for (column = 0; column < prototype.columns; ++column) {
        if (ColumnFits(prototype.inputs, inputs, column)) {
            inputsFit = true;
            if (ColumnFits(prototype.outputs, outputs, column)) {
                return {};
            }
        }
    }
    if (!inputsFit) {
        return {ACLNN_ERR_PARAM_INVALID,
                "no column of data types has the inputs " + TypesText(prototype.inputs, inputs)};
    }
    return {ACLNN_ERR_PARAM_INVALID, "the data types of the outputs, " + TypesText(prototype.outputs, outputs) +
                                         ", do not belong to those of the inputs, " +
                                         TypesText(prototype.inputs, inputs)};
}

Refusal MakeArgument(const Parameter &parameter, const aclTensor *tensor, size_t column, bool output,
                     Argument &argument)
{
    const std::string word = std::string(output ? "output " : "input ") + parameter.name;
    argument.name = word;
    argument.output = output;
    if (tensor == nullptr) {
        argument.absent = true;
        return {};
    }
    if (!FormatFits(parameter.formats[column], tensor->format)) {
        return {ACLNN_ERR_PARAM_INVALID, "the format of " + word + " is " + std::to_string(tensor->format) +
                                             ", it should be " + std::to_string(parameter.formats[column])};
    }
    const std::string fault = ViewFault(*tensor);
    if (!fault.empty()) {
        return {ACLNN_ERR_PARAM_INVALID, word + ": " + fault};
    }
    argument.elementBytes = ElementBytes(tensor->type);
    if (argument.elementBytes == 0) {
        return {ACLNN_ERR_PARAM_INVALID, "the data type of " + word + " is not simulated: " + TypeName(tensor->type)};
    }
    argument.shape = tensor->shape;
    argument.strides = tensor->strides;
    if (tensor->data != nullptr) {
        argument.address =
            static_cast<uint8_t *>(tensor->data) + static_cast<uint64_t>(tensor->offset) * argument.elementBytes;
    }
    if (!Contiguous(*tensor)) {
        if (!parameter.autoContiguous && !parameter.ignoreContiguous) {
            return {ACLNN_ERR_PARAM_INVALID, word + " is not contiguous (shape " + ShapeText(tensor->shape) +
                                                 ", strides " + ShapeText(tensor->strides) +
                                                 "), and the prototype does not say AutoContiguous"};
        }
        argument.repack = parameter.autoContiguous;
    }
    return {};
}

// Sizes in bytes, once the tiling has accepted the shapes.
Refusal Measure(Argument &argument)
{
    if (argument.absent) {
        return {};
    }
    if (Unknown(argument.shape)) {
        return {ACLNN_ERR_PARAM_INVALID, argument.name + " has a dimension below 0: " + ShapeText(argument.shape)};
    }
    argument.count = Elements(argument.shape);
    const unsigned __int128 span = Span(argument.shape, argument.strides) * argument.elementBytes;
    if (span > INT64_MAX || argument.count > static_cast<uint64_t>(INT64_MAX) / argument.elementBytes) {
        return {ACLNN_ERR_PARAM_INVALID, argument.name + " is too large: " + ShapeText(argument.shape)};
    }
    argument.span = static_cast<uint64_t>(span);
    return {};
}

Refusal AddAttribute(const CallState &state, const Attribute &attribute, gert::RuntimeAttrs &attributes)
{
    const auto found = state.attributes.find(attribute.name);
    const bool given = found != state.attributes.end();
    if (!given && !attribute.hasDefault) {
        return {ACLNN_ERR_PARAM_INVALID, "the attribute " + attribute.name + " has no value"};
    }
    const AttributeValue &value = given ? found->second : attribute.value;
    if (value.type != attribute.value.type) {
        return {ACLNN_ERR_PARAM_INVALID, "the attribute " + attribute.name + " is of type " +
                                             AttributeTypeName(attribute.value.type) + ", not " +
                                             AttributeTypeName(value.type)};
    }
    switch (value.type) {
        case AttributeType::BOOL:
            attributes.AddBool(value.integer != 0);
            break;
        case AttributeType::INT:
            attributes.AddInt(value.integer);
            break;
        case AttributeType::FLOAT:
            attributes.AddFloat(static_cast<float>(value.real));
            break;
        case AttributeType::STRING:
            attributes.AddString(value.text);
            break;
        case AttributeType::LIST_BOOL:
            attributes.AddListBool(std::vector<uint8_t>(value.integers.begin(), value.integers.end()));
            break;
        case AttributeType::LIST_INT:
            attributes.AddListInt(value.integers);
            break;
        case AttributeType::LIST_FLOAT:
            attributes.AddListFloat(std::vector<float>(value.reals.begin(), value.reals.end()));
            break;
    }
    return {};
}

gert::Tensor NodeTensor(const aclTensor &tensor, ge::Format format)
{
    gert::Shape shape;
    for (const int64_t dim : tensor.shape) {
        shape.AppendDim(dim);
    }
    return gert::Tensor(gert::StorageShape(shape, shape), gert::StorageFormat(format, format),
                        static_cast<ge::DataType>(tensor.type));
}

// Whether the bytes from the argument's first element to the end of its last lie in one device allocation.
bool OnDevice(const uint8_t *address, uint64_t bytes)
{
    uint64_t offset = 0;
    uint64_t held = 0;
    return address != nullptr && DeviceFind(address, &offset, &held) && bytes <= held - offset;
}

Refusal OnDevice(const Argument &argument)
{
    if (argument.count == 0 || OnDevice(argument.address, argument.span)) {
        return {};
    }
    char address[24];
    std::snprintf(address, sizeof(address), "%p", static_cast<void *>(argument.address));
    return {ACLNN_ERR_RUNTIME_ERROR, argument.name + ": its " + std::to_string(argument.span) + " bytes from " +
                                         address + " on are not all in one allocation of device memory"};
}

std::string Hex(const std::vector<uint8_t> &bytes)
{
    static const char DIGITS[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const uint8_t byte : bytes) {
        text += DIGITS[byte >> 4];
        text += DIGITS[byte & 15];
    }
    return text;
}

std::string LaunchText(const aclOpExecutor &executor)
{
    return "{\"op\": " + Quoted(executor.type) + ", \"blockDim\": " + std::to_string(executor.blockDim) +
           ", \"tilingKey\": " + std::to_string(executor.tilingKey) +
           ", \"workspace\": " + std::to_string(executor.workspace) + ", \"tilingBytes\": \"" + Hex(executor.tiling) +
           "\", \"column\": " + std::to_string(executor.column) + "}";
}

// The kernel of a column, opened when it is first wanted.
Refusal FindKernel(const std::string &type, size_t column, KernelEntry &entry)
{
    const std::lock_guard<std::mutex> guard(lock);
    const auto found = kernels.find({type, column});
    if (found == kernels.end()) {
        return {ACLNN_ERR_INNER_FIND_KERNEL_ERROR, "no kernel is registered for column " + std::to_string(column)};
    }
    Kernel &kernel = found->second;
    if (kernel.entry == nullptr) {
        void *library = dlopen(kernel.library.c_str(), RTLD_NOW | RTLD_LOCAL);
        void *symbol = library == nullptr ? nullptr : dlsym(library, "gnll_kernel_entry");
        if (symbol == nullptr) {
            const char *fault = dlerror();
            return {ACLNN_ERR_INNER_FIND_KERNEL_ERROR,
                    "the kernel library of column " + std::to_string(column) +
                        " cannot be used: " + (fault == nullptr ? kernel.library : fault)};
        }
        kernel.entry = reinterpret_cast<KernelEntry>(symbol);
    }
    entry = kernel.entry;
    return {};
}

Refusal PrepareExecutor(const CallState &state, aclOpExecutor &executor)
{
    const Prototype *prototype = FindPrototype(state.type);
    if (prototype == nullptr) {
        return {ACLNN_ERR_INNER_NULLPTR, "no operator of this type is registered"};
    }
    if (!prototype->errors.empty()) {
        return {ACLNN_ERR_PARAM_INVALID, "the prototype is not usable: " + prototype->errors.front()};
    }
    Tensors inputs;
    Tensors outputs;
    Refusal refusal = Present(state, *prototype, inputs, outputs);
    if (refusal.code == 0 && !state.nullAttribute.empty()) {
        refusal = {ACLNN_ERR_PARAM_NULLPTR, "the attribute " + state.nullAttribute + " is null"};
    }
    if (refusal.code != 0) {
        return refusal;
    }
    refusal = ChooseColumn(*prototype, inputs, outputs, executor.column);
    if (refusal.code != 0) {
        return refusal;
    }

    Node node;
    node.type = state.type;
    node.name = state.type;
    node.platform.SetVectorCores(CoreCount());
    executor.type = state.type;
    for (size_t i = 0; i < inputs.size() + outputs.size(); ++i) {
        const bool output = i >= inputs.size();
        const aclTensor *tensor = output ? outputs[i - inputs.size()] : inputs[i];
        const Parameter &parameter = output ? prototype->outputs[i - inputs.size()] : prototype->inputs[i];
        Argument argument;
        refusal = MakeArgument(parameter, tensor, executor.column, output, argument);
        if (refusal.code != 0) {
            return refusal;
        }
        executor.arguments.push_back(std::move(argument));
        auto &list = output ? node.outputs : node.inputs;
        if (!output) {
            node.inputOf.push_back(tensor == nullptr ? -1 : static_cast<int>(list.size()));
        }
        if (tensor != nullptr) {
            list.push_back(NodeTensor(*tensor, parameter.formats[executor.column]));
        }
    }
    for (const auto &attribute : prototype->attributes) {
        refusal = AddAttribute(state, attribute, node.attributes);
        if (refusal.code != 0) {
            return refusal;
        }
    }
    for (const auto &[name, value] : state.attributes) {
        const bool known = std::any_of(prototype->attributes.begin(), prototype->attributes.end(),
                                       [&name = name](const Attribute &a) { return a.name == name; });
        if (!known) {
            return {ACLNN_ERR_PARAM_INVALID, "the prototype has no attribute " + name};
        }
    }

    // Values that the tiling looks at.
    const HostFunctions *functions = FindHostFunctions(state.type);
    std::vector<std::vector<uint8_t>> hostValues;
    for (size_t i = 0; i < inputs.size(); ++i) {
        bool wanted = prototype->inputs[i].hostValue;
        for (const size_t listed : functions == nullptr ? std::vector<size_t>() : functions->hostInputs) {
            wanted = wanted || listed == i;
        }
        if (inputs[i] == nullptr || !wanted) {
            continue;
        }
        Argument &argument = executor.arguments[i];
        refusal = Measure(argument);
        refusal = refusal.code != 0 ? refusal : OnDevice(argument);
        if (refusal.code != 0) {
            return refusal;
        }
        hostValues.emplace_back(argument.count * argument.elementBytes);
        Gather(argument, hostValues.back().data());
        gert::Tensor &tensor = node.inputs[static_cast<size_t>(node.inputOf[i])];
        tensor.SetHostData(hostValues.back().data(), hostValues.back().size());
    }

    if (RunTiling(node) != ge::GRAPH_SUCCESS) {
        return {ACLNN_ERR_INNER_TILING_ERROR, "the tiling refused or failed"};
    }
    for (auto &argument : executor.arguments) {
        refusal = Measure(argument);
        if (refusal.code != 0) {
            return refusal;
        }
    }
    executor.blockDim = node.blockDim;
    executor.tilingKey = node.tilingKey;
    executor.tiling.assign(node.tilingData.begin(), node.tilingData.begin() + static_cast<ptrdiff_t>(node.tilingBytes));
    for (size_t i = 0; i < node.workspaceCount; ++i) {
        executor.workspace += node.workspaces[i];
    }
    {
        const std::lock_guard<std::mutex> guard(lock);
        lastLaunch = LaunchText(executor);
    }
    return FindKernel(state.type, executor.column, executor.entry);
}

// ---- the second stage ----

// Contiguous memory that lives for one launch.
class Packed {
public:
    Packed() = default;
    Packed(const Packed &) = delete;
    Packed &operator=(const Packed &) = delete;
    ~Packed()
    {
        for (const auto &[argument, memory] : list_) {
            DeviceFree(memory);
        }
    }
    // Null: no memory.
    uint8_t *Add(const Argument *argument, uint64_t bytes)
    {
        uint8_t *memory = DeviceAllocate(bytes);
        if (memory != nullptr) {
            list_.emplace_back(argument, memory);
        }
        return memory;
    }
    const std::vector<std::pair<const Argument *, uint8_t *>> &List() const { return list_; }

private:
    std::vector<std::pair<const Argument *, uint8_t *>> list_;
};

Refusal RunExecutor(aclOpExecutor &executor, uint8_t *workspace, uint64_t workspaceSize, Stream &stream)
{
    if (workspaceSize < executor.workspace) {
        return {ACLNN_ERR_PARAM_INVALID, "the workspace has " + std::to_string(workspaceSize) + " bytes, " +
                                             std::to_string(executor.workspace) + " are needed"};
    }
    if (executor.workspace > 0) {
        if (workspace == nullptr) {
            return {ACLNN_ERR_PARAM_NULLPTR, "the workspace is null"};
        }
        if (!OnDevice(workspace, executor.workspace)) {
            return {ACLNN_ERR_RUNTIME_ERROR, "the workspace is not all in one allocation of device memory"};
        }
    }
    Packed packed;
    Launch launch{};
    for (const auto &argument : executor.arguments) {
        Refusal refusal = argument.absent ? Refusal{} : OnDevice(argument);
        if (refusal.code != 0) {
            return refusal;
        }
        uint8_t *address = argument.address;
        uint64_t bytes = argument.span;
        if (argument.repack) {
            bytes = argument.count * argument.elementBytes;
            address = packed.Add(&argument, bytes);
            if (address == nullptr) {
                return {ACLNN_ERR_RUNTIME_ERROR, argument.name + ": no memory to make it contiguous"};
            }
            if (!argument.output) {
                Gather(argument, address);
                DeviceWritten(address, bytes);
            }
        }
        launch.arguments.push_back(address);
        launch.argumentBytes.push_back(bytes);
    }
    launch.arguments.push_back(executor.workspace > 0 ? workspace : nullptr);
    launch.argumentBytes.push_back(executor.workspace);
    launch.arguments.push_back(executor.tiling.data());
    launch.argumentBytes.push_back(UINT64_MAX);
    launch.blockDim = executor.blockDim;
    launch.tilingKey = executor.tilingKey;
    launch.tiling = executor.tiling.data();
    launch.tilingBytes = executor.tiling.size();
    launch.entry = executor.entry;
    launch.name = executor.type.c_str();

    const int code = RunKernel(launch);
    if (code == ACL_ERROR_RT_PARAM_INVALID) {
        return {ACLNN_ERR_RUNTIME_ERROR, "the kernel cannot be launched"};
    }
    if (code != 0) {
        // The host of a device learns of it when it waits for the stream.
        stream.pending = code;
        stream.text = executor.type + ": the kernel was stopped (" + std::to_string(code) + ")";
        return {};
    }
    for (const auto &[argument, memory] : packed.List()) {
        if (argument->output) {
            Scatter(*argument, memory);
        }
    }
    return {};
}

aclnnStatus Report(const Refusal &refusal, const std::string &function)
{
    const std::string logged = TakeErrors();
    if (refusal.code == 0) {
        return ACLNN_SUCCESS;
    }
    return Fail(refusal.code, function + ": " + refusal.text + " (" + std::to_string(refusal.code) + ")" +
                                  (logged.empty() ? "" : "\n" + logged));
}

// ---- prototypes as JSON ----

std::string Presences(Presence presence)
{
    return presence == Presence::REQUIRED ? "required" : presence == Presence::OPTIONAL ? "optional" : "dynamic";
}

std::string Code(int number) { return std::to_string(number); }

std::string ParameterText(const Parameter &parameter)
{
    return "{\"name\": " + Quoted(parameter.name) + ", \"param\": \"" + Presences(parameter.presence) +
           "\", \"dtypes\": " + Listed(parameter.types, Code) +
           ", \"formats\": " + Listed(parameter.formats, Code) +
           ", \"autoContiguous\": " + (parameter.autoContiguous ? "true" : "false") +
           ", \"ignoreContiguous\": " + (parameter.ignoreContiguous ? "true" : "false") + "}";
}

std::string DefaultText(const Attribute &attribute)
{
    const AttributeValue &value = attribute.value;
    if (!attribute.hasDefault) {
        return "null";
    }
    switch (value.type) {
        case AttributeType::BOOL:
            return value.integer != 0 ? "true" : "false";
        case AttributeType::INT:
            return std::to_string(value.integer);
        case AttributeType::FLOAT:
            return Number(value.real);
        case AttributeType::STRING:
            return Quoted(value.text);
        case AttributeType::LIST_BOOL:
            return Listed(value.integers, [](int64_t v) { return std::string(v != 0 ? "true" : "false"); });
        case AttributeType::LIST_INT:
            return Listed(value.integers, [](int64_t v) { return std::to_string(v); });
        case AttributeType::LIST_FLOAT:
            return Listed(value.reals, [](double v) { return Number(v); });
    }
    return "null";
}

std::string AttributeText(const Attribute &attribute)
{
    return "{\"name\": " + Quoted(attribute.name) + ", \"type\": \"" + AttributeTypeName(attribute.value.type) +
           "\", \"required\": " + (attribute.required ? "true" : "false") +
           ", \"default\": " + DefaultText(attribute) + "}";
}

std::string PrototypeText(const Prototype &prototype)
{
    std::string configuration;
    for (const auto &[key, value] : prototype.configuration) {
        configuration += (configuration.empty() ? "" : ", ") + Quoted(key) + ": " + Quoted(value);
    }
    const HostFunctions *functions = FindHostFunctions(prototype.type);
    const auto has = [](bool there) { return std::string(there ? "true" : "false"); };
    return "{\"name\": " + Quoted(prototype.type) + ", \"file\": " + Quoted(prototype.file) +
           ", \"inputs\": " + Listed(prototype.inputs, ParameterText) +
           ", \"outputs\": " + Listed(prototype.outputs, ParameterText) +
           ", \"attrs\": " + Listed(prototype.attributes, AttributeText) +
           ", \"socs\": " + Listed(prototype.socs, Quoted) +
           ", \"config\": {" + configuration + "}, \"errors\": " + Listed(prototype.errors, Quoted) +
           ", \"tiling\": " + has(functions != nullptr && functions->tiling != nullptr) +
           ", \"inferShape\": " + has(functions != nullptr && functions->inferShape != nullptr) +
           ", \"inferDataType\": " + has(functions != nullptr && functions->inferDataType != nullptr) + "}";
}

std::string TemplateText(const TemplateParameter &parameter)
{
    static const char *const KINDS[] = {"dtype",      "format",        "uint",        "bool",
                                        "kernelType", "deterministic", "tilingStruct"};
    return "{\"name\": " + Quoted(parameter.name) + ", \"kind\": \"" + KINDS[static_cast<int>(parameter.kind)] +
           "\", \"bits\": " + std::to_string(parameter.bits) +
           ", \"values\": " + Listed(parameter.values, [](uint64_t v) { return std::to_string(v); }) +
           ", \"text\": " + Quoted(parameter.text) + "}";
}

std::string SelectionText(const TemplateParameters &selection) { return Listed(selection, TemplateText); }

std::string TemplatesText(const RegisteredTemplate &entry)
{
    return "{\"name\": " + Quoted(entry.name) + ", \"parameters\": " + Listed(entry.declared, TemplateText) +
           ", \"selections\": " + Listed(entry.selections, SelectionText) + "}";
}

std::string FieldText(const TilingField &field)
{
    return "{\"type\": " + Quoted(field.type) + ", \"name\": " + Quoted(field.name) +
           ", \"count\": " + std::to_string(field.count) + ", \"offset\": " + std::to_string(field.offset) + "}";
}

std::string TilingClassText(const RegisteredTilingClass &entry)
{
    return "{\"op\": " + Quoted(entry.type) + ", \"name\": " + Quoted(entry.name) +
           ", \"fields\": " + Listed(entry.fields, FieldText) + "}";
}

std::string RegisteredText(const Registered &registered)
{
    const auto described = [](const std::string &type) { return PrototypeText(*FindPrototype(type)); };
    return "{\"operators\": " + Listed(registered.types, described) +
           ", \"templates\": " + Listed(registered.templates, TemplatesText) +
           ", \"tilingClasses\": " + Listed(registered.tilingClasses, TilingClassText) + "}";
}

} // namespace

std::vector<int64_t> ContiguousStrides(const std::vector<int64_t> &shape)
{
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;) {
        // A shape that no memory holds keeps the largest stride.
        if (__builtin_mul_overflow(strides[i], shape[i], &strides[i - 1])) {
            strides[i - 1] = INT64_MAX;
        }
    }
    return strides;
}

Call::Call(const char *type) : state_(std::make_unique<CallState>())
{
    state_->type = type;
    TakeErrors();
}

Call::~Call() = default;

void Call::Input(const char *name, const aclTensor *tensor) { state_->inputs[name] = tensor; }

void Call::Output(const char *name, const aclTensor *tensor) { state_->outputs[name] = tensor; }

void Call::Attr(const char *name, bool value)
{
    AttributeValue &attribute = state_->attributes[name];
    attribute.type = AttributeType::BOOL;
    attribute.integer = value ? 1 : 0;
}

void Call::Attr(const char *name, int32_t value) { Attr(name, static_cast<int64_t>(value)); }

void Call::Attr(const char *name, int64_t value)
{
    AttributeValue &attribute = state_->attributes[name];
    attribute.type = AttributeType::INT;
    attribute.integer = value;
}

void Call::Attr(const char *name, double value)
{
    AttributeValue &attribute = state_->attributes[name];
    attribute.type = AttributeType::FLOAT;
    attribute.real = value;
}

void Call::Attr(const char *name, const char *value)
{
    AttributeValue &attribute = state_->attributes[name];
    attribute.type = AttributeType::STRING;
    if (value != nullptr) {
        attribute.text = value;
    } else if (state_->nullAttribute.empty()) {
        state_->nullAttribute = name;
    }
}

void Call::Attr(const char *name, const aclIntArray *value)
{
    AttributeValue &attribute = state_->attributes[name];
    attribute.type = AttributeType::LIST_INT;
    if (value != nullptr) {
        attribute.integers = value->values;
    } else if (state_->nullAttribute.empty()) {
        state_->nullAttribute = name;
    }
}

void Call::Attr(const char *name, const aclFloatArray *value)
{
    AttributeValue &attribute = state_->attributes[name];
    attribute.type = AttributeType::LIST_FLOAT;
    if (value != nullptr) {
        attribute.reals.assign(value->values.begin(), value->values.end());
    } else if (state_->nullAttribute.empty()) {
        state_->nullAttribute = name;
    }
}

void Call::Attr(const char *name, const aclBoolArray *value)
{
    AttributeValue &attribute = state_->attributes[name];
    attribute.type = AttributeType::LIST_BOOL;
    if (value != nullptr) {
        attribute.integers.assign(value->values.begin(), value->values.end());
    } else if (state_->nullAttribute.empty()) {
        state_->nullAttribute = name;
    }
}

aclnnStatus Call::Prepare(uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const std::string function = "aclnn" + state_->type + "GetWorkspaceSize";
    if (workspaceSize == nullptr || executor == nullptr) {
        return Report({ACLNN_ERR_PARAM_NULLPTR, "the workspace's size or the executor has a null place"}, function);
    }
    *workspaceSize = 0;
    *executor = nullptr;
    if (const int code = DeviceReady(function.c_str())) {
        return code;
    }
    auto made = std::make_unique<aclOpExecutor>();
    const Refusal refusal = PrepareExecutor(*state_, *made);
    if (refusal.code == 0) {
        *workspaceSize = made->workspace;
        *executor = made.get();
        const std::lock_guard<std::mutex> guard(lock);
        executors.insert(made.release());
    }
    return Report(refusal, function);
}

aclnnStatus Run(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream handle)
{
    if (executor == nullptr) {
        return Report({ACLNN_ERR_PARAM_NULLPTR, "the executor is null"}, "aclnn");
    }
    {
        const std::lock_guard<std::mutex> guard(lock);
        if (executors.count(executor) == 0) {
            return Report({ACLNN_ERR_PARAM_INVALID, "the executor does not exist (it runs once, unless repeatable)"},
                          "aclnn");
        }
        if (!executor->repeatable) {
            executors.erase(executor);
        }
    }
    const std::unique_ptr<aclOpExecutor> own(executor->repeatable ? nullptr : executor);
    const std::string function = "aclnn" + executor->type;
    if (const int code = DeviceReady(function.c_str())) {
        return code;
    }
    Stream *stream = FindStream(handle);
    if (stream == nullptr) {
        return Report({ACLNN_ERR_RUNTIME_ERROR, "the stream does not exist"}, function);
    }
    return Report(RunExecutor(*executor, static_cast<uint8_t *>(workspace), workspaceSize, *stream), function);
}

void RegisterKernel(const char *type, int column, const char *library)
{
    const std::lock_guard<std::mutex> guard(lock);
    kernels[{type, static_cast<size_t>(column)}] = Kernel{library, nullptr};
}

} // namespace gnll

extern "C" {

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor)
{
    const std::lock_guard<std::mutex> guard(gnll::lock);
    if (gnll::executors.count(executor) == 0) {
        return gnll::Fail(ACLNN_ERR_PARAM_INVALID, "aclSetAclOpExecutorRepeatable: the executor does not exist");
    }
    executor->repeatable = true;
    return ACLNN_SUCCESS;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor)
{
    const std::lock_guard<std::mutex> guard(gnll::lock);
    if (gnll::executors.erase(executor) == 0) {
        return gnll::Fail(ACLNN_ERR_PARAM_INVALID, "aclDestroyAclOpExecutor: the executor does not exist");
    }
    delete executor;
    return ACLNN_SUCCESS;
}

const char *gnllSimLaunch(void)
{
    static thread_local std::string text;
    const std::lock_guard<std::mutex> guard(gnll::lock);
    text = gnll::lastLaunch;
    return text.c_str();
}

const char *gnllSimPrototype(const char *library)
{
    static thread_local std::string text;
    const std::lock_guard<std::recursive_mutex> guard(gnll::RegistryLock());
    if (library == nullptr) {
        text = "{\"error\": \"no library is named\"}";
        return text.c_str();
    }
    if (dlopen(library, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        const char *fault = dlerror();
        text = "{\"error\": " + gnll::Quoted(fault == nullptr ? "the library cannot be opened" : fault) + "}";
        return text.c_str();
    }
    text = gnll::RegisteredText(gnll::RegisteredBy(gnll::RealPath(library)));
    return text.c_str();
}

} // extern "C"
