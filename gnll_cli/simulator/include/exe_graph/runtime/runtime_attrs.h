// gert::RuntimeAttrs: the values of the attributes, in the order of the prototype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "exe_graph/runtime/continuous_vector.h"

namespace gert {

// An attribute is held as the bytes that its type has on the device's side: bool 1, int 8 (int64), float 4, a string
// its characters and a zero, a list a TypedContinuousVector. GetAttrPointer<T> is null where there are fewer bytes than
// T has.
class RuntimeAttrs {
public:
    RuntimeAttrs() = default;
    RuntimeAttrs(const RuntimeAttrs &) = delete;
    RuntimeAttrs &operator=(const RuntimeAttrs &) = delete;
    RuntimeAttrs(RuntimeAttrs &&) = default;
    RuntimeAttrs &operator=(RuntimeAttrs &&) = default;

    template <typename T> const T *GetAttrPointer(size_t index) const
    {
        if (index >= values_.size() || values_[index].size() < sizeof(T)) {
            return nullptr;
        }
        return reinterpret_cast<const T *>(values_[index].data());
    }
    const bool *GetBool(size_t index) const { return GetAttrPointer<bool>(index); }
    const int64_t *GetInt(size_t index) const { return GetAttrPointer<int64_t>(index); }
    const float *GetFloat(size_t index) const { return GetAttrPointer<float>(index); }
    const char *GetStr(size_t index) const { return GetAttrPointer<char>(index); }
    const TypedContinuousVector<int64_t> *GetListInt(size_t index) const
    {
        return GetAttrPointer<TypedContinuousVector<int64_t>>(index);
    }
    const TypedContinuousVector<float> *GetListFloat(size_t index) const
    {
        return GetAttrPointer<TypedContinuousVector<float>>(index);
    }
    const TypedContinuousVector<bool> *GetListBool(size_t index) const
    {
        return GetAttrPointer<TypedContinuousVector<bool>>(index);
    }
    size_t GetAttrNum() const { return values_.size(); }

    // Appends the next attribute.
    void AddBool(bool value) { AddBytes(&value, sizeof(value)); }
    void AddInt(int64_t value) { AddBytes(&value, sizeof(value)); }
    void AddFloat(float value) { AddBytes(&value, sizeof(value)); }
    void AddString(const std::string &value) { AddBytes(value.c_str(), value.size() + 1); }
    void AddListInt(const std::vector<int64_t> &value) { AddList<int64_t>(value.data(), value.size()); }
    void AddListFloat(const std::vector<float> &value) { AddList<float>(value.data(), value.size()); }
    void AddListBool(const std::vector<uint8_t> &value) { AddList<bool>(value.data(), value.size()); }

private:
    void AddBytes(const void *value, size_t bytes)
    {
        const auto *first = static_cast<const uint8_t *>(value);
        values_.emplace_back(first, first + bytes);
    }
    template <typename T> void AddList(const void *data, size_t count)
    {
        const auto *first = static_cast<const uint8_t *>(data);
        lists_.emplace_back(first, first + count * sizeof(T));
        const TypedContinuousVector<T> list(reinterpret_cast<const T *>(lists_.back().data()), count);
        AddBytes(&list, sizeof(list));
    }

    // The heap memory of an inner vector stays where it is when the outer one grows or is moved, not when it is copied.
    std::vector<std::vector<uint8_t>> values_;
    std::vector<std::vector<uint8_t>> lists_;
};

} // namespace gert
