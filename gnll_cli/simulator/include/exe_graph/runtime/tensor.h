// gert::Tensor: shape, format and data type of an input or output, and its host data where the prototype asks for them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exe_graph/runtime/storage_format.h"
#include "exe_graph/runtime/storage_shape.h"

namespace gert {

// What is known of a tensor without its shape.
class CompileTimeTensorDesc {
public:
    ge::DataType GetDataType() const { return type_; }
    ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
    ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
    const StorageFormat &GetFormat() const { return format_; }
    void SetDataType(ge::DataType type) { type_ = type; }
    void SetOriginFormat(ge::Format format) { format_.SetOriginFormat(format); }
    void SetStorageFormat(ge::Format format) { format_.SetStorageFormat(format); }

private:
    ge::DataType type_ = ge::DT_UNDEFINED;
    StorageFormat format_;
};

class Tensor {
public:
    Tensor() = default;
    Tensor(const StorageShape &shape, const StorageFormat &format, ge::DataType type) : shape_(shape)
    {
        description_.SetDataType(type);
        description_.SetOriginFormat(format.GetOriginFormat());
        description_.SetStorageFormat(format.GetStorageFormat());
    }

    const StorageShape &GetShape() const { return shape_; }
    StorageShape &GetShape() { return shape_; }
    const Shape &GetOriginShape() const { return shape_.GetOriginShape(); }
    const Shape &GetStorageShape() const { return shape_.GetStorageShape(); }
    Shape &MutableOriginShape() { return shape_.MutableOriginShape(); }
    Shape &MutableStorageShape() { return shape_.MutableStorageShape(); }
    int64_t GetShapeSize() const { return shape_.GetStorageShape().GetShapeSize(); }
    ge::DataType GetDataType() const { return description_.GetDataType(); }
    const StorageFormat &GetFormat() const { return description_.GetFormat(); }
    ge::Format GetOriginFormat() const { return description_.GetOriginFormat(); }
    ge::Format GetStorageFormat() const { return description_.GetStorageFormat(); }
    const CompileTimeTensorDesc &GetDescription() const { return description_; }
    void SetDataType(ge::DataType type) { description_.SetDataType(type); }

    // Host data of an input whose values the tiling may look at; null for every other tensor.
    template <typename T> const T *GetData() const { return static_cast<const T *>(data_); }
    const void *GetAddr() const { return data_; }
    size_t GetSize() const { return bytes_; }
    void SetHostData(const void *data, size_t bytes)
    {
        data_ = data;
        bytes_ = bytes;
    }

private:
    StorageShape shape_;
    CompileTimeTensorDesc description_;
    const void *data_ = nullptr;
    size_t bytes_ = 0;
};

} // namespace gert
