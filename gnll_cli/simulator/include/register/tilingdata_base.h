// Tiling data as a class: BEGIN_TILING_DATA_DEF, its fields, END_TILING_DATA_DEF, REGISTER_TILING_DATA_CLASS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gnll/host.h"
#include "securec.h"

namespace gnll {

// The bytes of a tiling data class. Fields lie as in a struct of the same fields: each at a multiple of its element's
// size, the whole a multiple of 8 bytes.
class TilingClass {
public:
    TilingClass() = default;
    TilingClass(const TilingClass &) = delete;
    TilingClass &operator=(const TilingClass &) = delete;

    size_t GetDataSize() const { return (bytes_.size() + 7) / 8 * 8; }
    // Copies the data to `target`; nothing is copied where `capacity` is smaller than the data.
    void SaveToBuffer(void *target, size_t capacity) const
    {
        if (target != nullptr && capacity >= GetDataSize()) {
            std::memset(target, 0, GetDataSize());
            std::memcpy(target, bytes_.data(), bytes_.size());
        }
    }
    const std::vector<TilingField> &Fields() const { return fields_; }

protected:
    size_t Add(const char *type, const char *name, size_t elementSize, size_t alignment, uint64_t count)
    {
        const size_t offset = (bytes_.size() + alignment - 1) / alignment * alignment;
        fields_.push_back({type, name, count, offset});
        bytes_.resize(offset + elementSize * (count == 0 ? 1 : count), 0);
        return offset;
    }
    template <typename T> void Put(size_t offset, const T *values, size_t count)
    {
        std::memcpy(bytes_.data() + offset, values, count * sizeof(T));
    }
    template <typename T> T Get(size_t offset) const
    {
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof(T));
        return value;
    }
    const uint8_t *At(size_t offset) const { return bytes_.data() + offset; }

private:
    std::vector<uint8_t> bytes_;
    std::vector<TilingField> fields_;
};

template <typename T> struct TilingClassRegister {
    TilingClassRegister(const char *type, const char *className)
    {
        AddTilingClass(type, className, T().Fields(), this);
    }
};

} // namespace gnll

#define BEGIN_TILING_DATA_DEF(className)           \
    class className : public ::gnll::TilingClass { \
    public:

#define TILING_DATA_FIELD_DEF(type, name)                                     \
    void set_##name(type value) { Put<type>(name##_at_, &value, 1); }         \
    type get_##name() const { return Get<type>(name##_at_); }                 \
                                                                              \
private:                                                                      \
    size_t name##_at_ = Add(#type, #name, sizeof(type), alignof(type), 0);    \
                                                                              \
public:

#define TILING_DATA_FIELD_DEF_ARR(type, count, name)                                                      \
    void set_##name(const type *values) { Put<type>(name##_at_, values, count); }                         \
    const type *get_##name() const { return reinterpret_cast<const type *>(At(name##_at_)); }             \
                                                                                                          \
private:                                                                                                  \
    size_t name##_at_ = Add(#type, #name, sizeof(type), alignof(type), count);                            \
                                                                                                          \
public:

#define END_TILING_DATA_DEF \
    }

#define REGISTER_TILING_DATA_CLASS(type, className)                                                       \
    [[maybe_unused]] static const ::gnll::TilingClassRegister<className> gnll_tiling_class_##type##_(#type, \
                                                                                                     #className);
