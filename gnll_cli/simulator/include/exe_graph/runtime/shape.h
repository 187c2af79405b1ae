// gert::Shape: the dimensions of a tensor in the contexts of tiling and shape inference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace gert {

// At most 25 dimensions; a shape without dimensions is a scalar of one element.
class Shape {
public:
    static constexpr size_t kMaxDimNum = 25;
    static constexpr int64_t kInvalidDimValue = std::numeric_limits<int64_t>::min();

    Shape() = default;
    Shape(std::initializer_list<int64_t> dims)
    {
        if (dims.size() > kMaxDimNum) {
            return;
        }
        for (const int64_t dim : dims) {
            dims_[count_++] = dim;
        }
    }

    bool operator==(const Shape &other) const
    {
        if (count_ != other.count_) {
            return false;
        }
        for (size_t i = 0; i < count_; ++i) {
            if (dims_[i] != other.dims_[i]) {
                return false;
            }
        }
        return true;
    }
    bool operator!=(const Shape &other) const { return !(*this == other); }

    size_t GetDimNum() const { return count_; }
    void SetDimNum(size_t count)
    {
        count_ = count;
        for (size_t i = count_; i < kMaxDimNum; ++i) {
            dims_[i] = 0;
        }
    }

    // kInvalidDimValue for an index that no shape has.
    int64_t GetDim(size_t index) const { return index < kMaxDimNum ? dims_[index] : kInvalidDimValue; }
    void SetDim(size_t index, int64_t value)
    {
        if (index < kMaxDimNum) {
            dims_[index] = value;
        }
    }
    int64_t operator[](size_t index) const { return GetDim(index); }
    int64_t &operator[](size_t index)
    {
        static thread_local int64_t outside;
        outside = kInvalidDimValue;
        return index < kMaxDimNum ? dims_[index] : outside;
    }
    Shape &AppendDim(int64_t value)
    {
        if (count_ < kMaxDimNum) {
            dims_[count_++] = value;
        }
        return *this;
    }

    // Elements of the tensor: 1 for a scalar, -1 where a dimension is below 0 or the product does not fit int64.
    int64_t GetShapeSize() const
    {
        int64_t size = 1;
        for (size_t i = 0; i < count_; ++i) {
            if (dims_[i] < 0 || __builtin_mul_overflow(size, dims_[i], &size)) {
                return -1;
            }
        }
        return size;
    }

    bool IsScalar() const { return count_ == 0; }
    void SetScalar() { count_ = 0; }

private:
    size_t count_ = 0;
    int64_t dims_[kMaxDimNum] = {};
};

} // namespace gert
