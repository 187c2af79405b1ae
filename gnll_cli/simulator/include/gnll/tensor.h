// LocalTensor and GlobalTensor: typed views of the unified buffer of a core and of global memory.
#pragma once

#include <cstdint>

#include "gnll/core.h"

namespace AscendC {

// Positions of the logical memories of a core. On a vector core all of them but GM lie in the unified buffer; those of
// the cube core (A1 ... C2) can be named, but no buffer can be made there.
enum class TPosition : uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    TSCM,
    MAX
};
using QuePosition = TPosition;

// Cache use hint of a GlobalTensor. It changes no value, so it is accepted and has nothing to do.
enum class CacheMode : uint8_t { CACHE_MODE_DISABLE, CACHE_MODE_NORMAL, CACHE_MODE_LAST, CACHE_MODE_PERSISTENT };

// A view of `GetSize()` elements of type T in the unified buffer. Copies are views of the same memory.
template <typename T> class LocalTensor {
public:
    using PrimType = T;

    LocalTensor() = default;
    LocalTensor(T *data, uint32_t size, TPosition position, int32_t buffer)
        : data_(data), size_(size), position_(position), buffer_(buffer)
    {
    }

    T GetValue(uint32_t index, ::gnll::Where where = GNLL_HERE) const
    {
        if (!::gnll::Scalar("LocalTensor::GetValue", data_ + index, sizeof(T), ::gnll::Touch::READ, data_ + size_, true,
                            where)) {
            return T();
        }
        return data_[index];
    }

    template <typename U> void SetValue(uint32_t index, U value, ::gnll::Where where = GNLL_HERE) const
    {
        if (::gnll::Scalar("LocalTensor::SetValue", data_ + index, sizeof(T), ::gnll::Touch::WRITE, data_ + size_, true,
                           where)) {
            data_[index] = static_cast<T>(value);
        }
    }

    // A reference, so the simulator cannot see whether it is read or written: the element counts as written from here
    // on.
    T &operator()(uint32_t index, ::gnll::Where where = GNLL_HERE) const
    {
        if (!::gnll::Scalar("LocalTensor::operator()", data_ + index, sizeof(T), ::gnll::Touch::REFERENCE,
                            data_ + size_, true, where)) {
            static T nowhere;
            nowhere = T();
            return nowhere;
        }
        return data_[index];
    }

    // The view from element `offset` on. An offset beyond the end gives a view of no elements.
    LocalTensor operator[](uint32_t offset) const
    {
        return LocalTensor(data_ + offset, offset < size_ ? size_ - offset : 0, position_, buffer_);
    }

    template <typename U> LocalTensor<U> ReinterpretCast() const
    {
        const uint64_t bytes = static_cast<uint64_t>(size_) * sizeof(T);
        return LocalTensor<U>(reinterpret_cast<U *>(data_), static_cast<uint32_t>(bytes / sizeof(U)), position_,
                              buffer_);
    }

    // Number of elements.
    uint32_t GetSize() const { return size_; }
    void SetSize(uint32_t size) { size_ = size; }
    uint32_t GetLength() const { return size_ * static_cast<uint32_t>(sizeof(T)); }
    TPosition GetPosition() const { return position_; }
    T *GetPhyAddr() const { return data_; }
    T *GetPhyAddr(uint32_t offset) const { return data_ + offset; }

    // The simulator's own view, without any check.
    T *Data() const { return data_; }
    int32_t Buffer() const { return buffer_; }

    // Operands of `count` elements from the start on, for gnll::Begin.
    ::gnll::Operand Reads(uint64_t count, uint32_t alignment = 32) const
    {
        return ::gnll::Operand{data_, count * sizeof(T), false, alignment, data_ + size_};
    }
    ::gnll::Operand Writes(uint64_t count, uint32_t alignment = 32) const
    {
        return ::gnll::Operand{data_, count * sizeof(T), true, alignment, data_ + size_};
    }

private:
    T *data_ = nullptr;
    uint32_t size_ = 0;
    TPosition position_ = TPosition::VECCALC;
    int32_t buffer_ = -1;
};

// A view of global memory. Without a size only the allocation bounds it.
template <typename T> class GlobalTensor {
public:
    using PrimType = T;

    void SetGlobalBuffer(T *data, uint64_t size)
    {
        data_ = data;
        size_ = size;
        sized_ = true;
    }
    void SetGlobalBuffer(T *data)
    {
        data_ = data;
        size_ = 0;
        sized_ = false;
    }

    T GetValue(uint64_t index, ::gnll::Where where = GNLL_HERE) const
    {
        if (!::gnll::Scalar("GlobalTensor::GetValue", data_ + index, sizeof(T), ::gnll::Touch::READ, End(), true,
                            where)) {
            return T();
        }
        return data_[index];
    }

    // Not covered by the automatic synchronisation, unlike GetValue.
    template <typename U> void SetValue(uint64_t index, U value, ::gnll::Where where = GNLL_HERE) const
    {
        if (::gnll::Scalar("GlobalTensor::SetValue", data_ + index, sizeof(T), ::gnll::Touch::WRITE, End(), false,
                           where)) {
            data_[index] = static_cast<T>(value);
        }
    }

    T operator()(uint64_t index, ::gnll::Where where = GNLL_HERE) const { return GetValue(index, where); }

    GlobalTensor operator[](uint64_t offset) const
    {
        GlobalTensor slice;
        slice.data_ = data_ + offset;
        slice.size_ = offset < size_ ? size_ - offset : 0;
        slice.sized_ = sized_;
        slice.past_ = sized_ ? past_ + (offset > size_ ? offset - size_ : 0) : 0;
        return slice;
    }

    // Number of elements as given to SetGlobalBuffer, less the offset of a slice.
    uint64_t GetSize() const { return size_; }
    T *GetPhyAddr() const { return data_; }
    T *GetPhyAddr(uint64_t offset) const { return data_ + offset; }
    void SetL2CacheHint(CacheMode) const {}

    // The simulator's own view, without any check: the first element and the end of the tensor (null: not known).
    T *Data() const { return data_; }
    const T *End() const { return sized_ ? data_ + size_ - past_ : nullptr; }

private:
    T *data_ = nullptr;
    uint64_t size_ = 0;
    uint64_t past_ = 0;
    bool sized_ = false;
};

}  // namespace AscendC
