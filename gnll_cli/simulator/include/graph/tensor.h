// A shape as the helper functions of the tiling library take it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/ge_error_codes.h"
#include "graph/types.h"

namespace ge {

class Shape {
public:
    Shape() = default;
    explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}
    size_t GetDimNum() const { return dims_.size(); }
    int64_t GetDim(size_t index) const { return index < dims_.size() ? dims_[index] : 0; }
    std::vector<int64_t> GetDims() const { return dims_; }
    // Elements; -1 where a dimension is unknown, 0 for a shape without dimensions.
    int64_t GetShapeSize() const
    {
        int64_t size = dims_.empty() ? 0 : 1;
        for (const int64_t dim : dims_) {
            if (dim < 0) {
                return -1;
            }
            size *= dim;
        }
        return size;
    }

private:
    std::vector<int64_t> dims_;
};

} // namespace ge
