// Devices, streams, memory, tensors: the ACL interface.
#include "acl/acl.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>

#include "aclnn/aclnn_base.h"
#include "gnll/device.h"
#include "graph/types.h"
#include "host_internal.h"

namespace {

constexpr size_t MAX_RANK = 25;

std::mutex lock;
bool initialized = false;
std::set<gnll::Stream *> streams;

// The device is bound to a thread; the context stands for it.
thread_local bool bound = false;
char context;

thread_local std::string recent;
thread_local std::string told;

// 0 where this thread may use the device.
int Ready(const char *function)
{
    if (!initialized) {
        return gnll::Fail(ACL_ERROR_UNINITIALIZE, std::string(function) + ": aclInit was not called");
    }
    if (!bound) {
        return gnll::Fail(ACL_ERROR_RT_CONTEXT_NULL,
                          std::string(function) + ": this thread has no device, aclrtSetDevice was not called");
    }
    return ACL_SUCCESS;
}

aclError Synchronize(const char *function, aclrtStream handle)
{
    if (const int code = Ready(function)) {
        return code;
    }
    gnll::Stream *stream = gnll::FindStream(handle);
    if (stream == nullptr) {
        return gnll::Fail(ACL_ERROR_RT_STREAM_CONTEXT, std::string(function) + ": the stream does not exist");
    }
    const int pending = stream->pending;
    stream->pending = 0;
    return pending == 0 ? ACL_SUCCESS : gnll::Fail(pending, stream->text);
}

aclError Copied(const char *function, int code)
{
    return code == 0 ? ACL_SUCCESS
                     : gnll::Fail(code, std::string(function) +
                                            ": the kind does not fit the addresses, or the bytes leave an allocation");
}

template <typename T> aclnnStatus Give(const std::vector<int64_t> &values, T **array, uint64_t *count)
{
    if (array == nullptr || count == nullptr) {
        return gnll::Fail(ACLNN_ERR_PARAM_NULLPTR, "a null pointer where a result belongs");
    }
    *array = new T[values.size() + 1];
    std::copy(values.begin(), values.end(), *array);
    *count = values.size();
    return ACL_SUCCESS;
}

template <typename T, typename Array> Array *MakeArray(const T *value, uint64_t size, const char *function)
{
    if (value == nullptr && size > 0) {
        gnll::Fail(ACLNN_ERR_PARAM_NULLPTR, std::string(function) + ": the values are null");
        return nullptr;
    }
    auto *array = new Array;
    array->values.assign(value, value + size);
    return array;
}

template <typename Array> aclnnStatus SizeOf(const Array *array, uint64_t *size)
{
    if (array == nullptr || size == nullptr) {
        return gnll::Fail(ACLNN_ERR_PARAM_NULLPTR, "the array or the place for its size is null");
    }
    *size = array->values.size();
    return ACL_SUCCESS;
}

} // namespace

namespace gnll {

uint64_t ElementBytes(aclDataType type)
{
    return static_cast<uint64_t>(ge::GetSizeByDataType(static_cast<ge::DataType>(type)));
}

int Fail(int code, const std::string &text)
{
    recent = text;
    return code;
}

Stream *FindStream(aclrtStream handle)
{
    static Stream standard;
    if (handle == nullptr) {
        return &standard;
    }
    const std::lock_guard<std::mutex> guard(lock);
    const auto found = streams.find(static_cast<Stream *>(handle));
    return found == streams.end() ? nullptr : *found;
}

int DeviceReady(const char *function) { return Ready(function); }

} // namespace gnll

extern "C" {

aclError aclInit(const char *configPath)
{
    const std::lock_guard<std::mutex> guard(lock);
    if (configPath != nullptr && *configPath != '\0') {
        return gnll::Fail(ACL_ERROR_INVALID_PARAM, "aclInit: a configuration file is not simulated, pass null");
    }
    if (initialized) {
        return gnll::Fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit was called before");
    }
    initialized = true;
    return ACL_SUCCESS;
}

aclError aclFinalize(void)
{
    const std::lock_guard<std::mutex> guard(lock);
    if (!initialized) {
        return gnll::Fail(ACL_ERROR_UNINITIALIZE, "aclFinalize: aclInit was not called");
    }
    initialized = false;
    return ACL_SUCCESS;
}

const char *aclGetRecentErrMsg(void)
{
    told.swap(recent);
    recent.clear();
    return told.empty() ? nullptr : told.c_str();
}

aclError aclrtSetDevice(int32_t deviceId)
{
    if (!initialized) {
        return gnll::Fail(ACL_ERROR_UNINITIALIZE, "aclrtSetDevice: aclInit was not called");
    }
    if (deviceId != 0) {
        return gnll::Fail(ACL_ERROR_RT_INVALID_DEVICEID,
                          "aclrtSetDevice: there is one device, 0, not " + std::to_string(deviceId));
    }
    bound = true;
    return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t deviceId)
{
    if (deviceId != 0) {
        return gnll::Fail(ACL_ERROR_RT_INVALID_DEVICEID, "aclrtResetDevice: there is one device, 0");
    }
    bound = false;
    return ACL_SUCCESS;
}

aclError aclrtGetDevice(int32_t *deviceId)
{
    if (const int code = Ready("aclrtGetDevice")) {
        return code;
    }
    if (deviceId == nullptr) {
        return gnll::Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice: a null pointer");
    }
    *deviceId = 0;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count)
{
    if (count == nullptr) {
        return gnll::Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount: a null pointer");
    }
    *count = 1;
    return ACL_SUCCESS;
}

const char *aclrtGetSocName(void) { return gnll::SOC_NAME; }

aclError aclrtGetRunMode(aclrtRunMode *runMode)
{
    if (runMode == nullptr) {
        return gnll::Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetRunMode: a null pointer");
    }
    *runMode = ACL_HOST;
    return ACL_SUCCESS;
}

aclError aclrtCreateContext(aclrtContext *result, int32_t deviceId)
{
    if (result == nullptr) {
        return gnll::Fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext: a null pointer");
    }
    if (const aclError code = aclrtSetDevice(deviceId)) {
        return code;
    }
    *result = &context;
    return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext handle)
{
    if (handle != &context) {
        return gnll::Fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtDestroyContext: the context does not exist");
    }
    bound = false;
    return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext handle)
{
    if (handle != &context) {
        return gnll::Fail(ACL_ERROR_RT_CONTEXT_NULL, "the context does not exist");
    }
    bound = true;
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *result)
{
    if (const int code = Ready("aclrtGetCurrentContext")) {
        return code;
    }
    if (result == nullptr) {
        return gnll::Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext: a null pointer");
    }
    *result = &context;
    return ACL_SUCCESS;
}

aclError aclrtCreateStream(aclrtStream *stream)
{
    if (const int code = Ready("aclrtCreateStream")) {
        return code;
    }
    if (stream == nullptr) {
        return gnll::Fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateStream: a null pointer");
    }
    auto *made = new gnll::Stream;
    const std::lock_guard<std::mutex> guard(lock);
    streams.insert(made);
    *stream = made;
    return ACL_SUCCESS;
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    const std::lock_guard<std::mutex> guard(lock);
    if (streams.erase(static_cast<gnll::Stream *>(stream)) == 0) {
        return gnll::Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyStream: the stream does not exist");
    }
    delete static_cast<gnll::Stream *>(stream);
    return ACL_SUCCESS;
}

aclError aclrtSynchronizeStream(aclrtStream stream) { return Synchronize("aclrtSynchronizeStream", stream); }

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t milliseconds)
{
    if (milliseconds < -1) {
        return gnll::Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtSynchronizeStreamWithTimeout: the timeout is below -1");
    }
    return Synchronize("aclrtSynchronizeStreamWithTimeout", stream);
}

aclError aclrtSynchronizeDevice(void)
{
    std::set<gnll::Stream *> all;
    {
        const std::lock_guard<std::mutex> guard(lock);
        all = streams;
    }
    all.insert(nullptr);
    aclError first = ACL_SUCCESS;
    for (gnll::Stream *stream : all) {
        const aclError code = Synchronize("aclrtSynchronizeDevice", stream);
        first = first == ACL_SUCCESS ? code : first;
    }
    return first;
}

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy)
{
    if (const int code = Ready("aclrtMalloc")) {
        return code;
    }
    if (devPtr == nullptr || size == 0) {
        return gnll::Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMalloc: a null pointer or a size of 0 bytes");
    }
    *devPtr = gnll::DeviceAllocate(size);
    return *devPtr != nullptr ? ACL_SUCCESS
                              : gnll::Fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                                           "aclrtMalloc: no memory for " + std::to_string(size) + " bytes");
}

aclError aclrtFree(void *devPtr)
{
    if (const int code = Ready("aclrtFree")) {
        return code;
    }
    return gnll::DeviceFree(devPtr)
               ? ACL_SUCCESS
               : gnll::Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFree: the address is not the start of an allocation");
}

aclError aclrtMallocHost(void **hostPtr, size_t size)
{
    if (hostPtr == nullptr || size == 0) {
        return gnll::Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMallocHost: a null pointer or a size of 0 bytes");
    }
    *hostPtr = std::malloc(size);
    return *hostPtr != nullptr
               ? ACL_SUCCESS
               : gnll::Fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                            "aclrtMallocHost: no memory for " + std::to_string(size) + " bytes");
}

aclError aclrtFreeHost(void *hostPtr)
{
    std::free(hostPtr);
    return ACL_SUCCESS;
}

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
    if (const int code = Ready("aclrtMemcpy")) {
        return code;
    }
    return Copied("aclrtMemcpy", gnll::DeviceCopy(dst, destMax, src, count, static_cast<gnll::CopyKind>(kind)));
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream)
{
    if (gnll::FindStream(stream) == nullptr) {
        return gnll::Fail(ACL_ERROR_RT_STREAM_CONTEXT, "aclrtMemcpyAsync: the stream does not exist");
    }
    return aclrtMemcpy(dst, destMax, src, count, kind);
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    if (const int code = Ready("aclrtMemset")) {
        return code;
    }
    return Copied("aclrtMemset", gnll::DeviceSet(devPtr, maxCount, value, count));
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream)
{
    if (gnll::FindStream(stream) == nullptr) {
        return gnll::Fail(ACL_ERROR_RT_STREAM_CONTEXT, "aclrtMemsetAsync: the stream does not exist");
    }
    return aclrtMemset(devPtr, maxCount, value, count);
}

size_t aclDataTypeSize(aclDataType dataType) { return gnll::ElementBytes(dataType); }

aclnnStatus aclnnInit(const char *) { return ACL_SUCCESS; }

aclnnStatus aclnnFinalize(void) { return ACL_SUCCESS; }

// ---- tensors, scalars, lists ----

aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t *stride,
                           int64_t offset, aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum,
                           void *tensorData)
{
    if ((viewDims == nullptr && viewDimsNum > 0) || (storageDims == nullptr && storageDimsNum > 0)) {
        gnll::Fail(ACLNN_ERR_PARAM_NULLPTR, "aclCreateTensor: the dimensions of the view or of the storage are null");
        return nullptr;
    }
    if (viewDimsNum > MAX_RANK || storageDimsNum > MAX_RANK) {
        gnll::Fail(ACLNN_ERR_PARAM_INVALID, "aclCreateTensor: a tensor has at most 25 dimensions");
        return nullptr;
    }
    auto *tensor = new aclTensor;
    tensor->shape.assign(viewDims, viewDims + viewDimsNum);
    tensor->storage.assign(storageDims, storageDims + storageDimsNum);
    tensor->offset = offset;
    tensor->type = dataType;
    tensor->format = format;
    tensor->data = tensorData;
    if (stride != nullptr) {
        tensor->strides.assign(stride, stride + viewDimsNum);
    } else {
        tensor->strides = gnll::ContiguousStrides(tensor->shape);
    }
    return tensor;
}

aclScalar *aclCreateScalar(void *value, aclDataType dataType)
{
    const uint64_t bytes = gnll::ElementBytes(dataType);
    if (value == nullptr || bytes == 0) {
        gnll::Fail(ACLNN_ERR_PARAM_INVALID, "aclCreateScalar: the value is null or of no simulated data type");
        return nullptr;
    }
    auto *scalar = new aclScalar;
    scalar->type = dataType;
    scalar->value.assign(static_cast<uint8_t *>(value), static_cast<uint8_t *>(value) + bytes);
    return scalar;
}

aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size)
{
    return MakeArray<int64_t, aclIntArray>(value, size, "aclCreateIntArray");
}

aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size)
{
    return MakeArray<float, aclFloatArray>(value, size, "aclCreateFloatArray");
}

aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size)
{
    return MakeArray<bool, aclBoolArray>(value, size, "aclCreateBoolArray");
}

aclnnStatus aclDestroyTensor(const aclTensor *tensor)
{
    delete tensor;
    return ACL_SUCCESS;
}

aclnnStatus aclDestroyScalar(const aclScalar *scalar)
{
    delete scalar;
    return ACL_SUCCESS;
}

aclnnStatus aclDestroyIntArray(const aclIntArray *array)
{
    delete array;
    return ACL_SUCCESS;
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray *array)
{
    delete array;
    return ACL_SUCCESS;
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray *array)
{
    delete array;
    return ACL_SUCCESS;
}

aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims, uint64_t *viewDimsNum)
{
    return tensor == nullptr ? gnll::Fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetViewShape: the tensor is null")
                             : Give(tensor->shape, viewDims, viewDimsNum);
}

aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims, uint64_t *storageDimsNum)
{
    return tensor == nullptr ? gnll::Fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetStorageShape: the tensor is null")
                             : Give(tensor->storage, storageDims, storageDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **strides, uint64_t *stridesNum)
{
    return tensor == nullptr ? gnll::Fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetViewStrides: the tensor is null")
                             : Give(tensor->strides, strides, stridesNum);
}

aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset)
{
    if (tensor == nullptr || offset == nullptr) {
        return gnll::Fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetViewOffset: a null pointer");
    }
    *offset = tensor->offset;
    return ACL_SUCCESS;
}

aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format)
{
    if (tensor == nullptr || format == nullptr) {
        return gnll::Fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetFormat: a null pointer");
    }
    *format = tensor->format;
    return ACL_SUCCESS;
}

aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType)
{
    if (tensor == nullptr || dataType == nullptr) {
        return gnll::Fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetDataType: a null pointer");
    }
    *dataType = tensor->type;
    return ACL_SUCCESS;
}

aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size) { return SizeOf(array, size); }

aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size) { return SizeOf(array, size); }

aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size) { return SizeOf(array, size); }

aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **address)
{
    if (tensor == nullptr || address == nullptr) {
        return gnll::Fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetRawTensorAddr: a null pointer");
    }
    *address = tensor->data;
    return ACL_SUCCESS;
}

aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *address)
{
    if (tensor == nullptr) {
        return gnll::Fail(ACLNN_ERR_PARAM_NULLPTR, "aclSetRawTensorAddr: the tensor is null");
    }
    tensor->data = address;
    return ACL_SUCCESS;
}

} // extern "C"
