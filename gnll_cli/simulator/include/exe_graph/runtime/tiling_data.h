// gert::TilingData: the bytes that the tiling hands to the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gnll/host.h"

namespace gert {

class TilingData {
public:
    explicit TilingData(::gnll::Node *node) : node_(node) {}
    size_t GetCapacity() const { return node_->tilingData.size(); }
    size_t GetDataSize() const { return node_->tilingBytes; }
    // A size beyond the capacity is kept and makes the tiling fail.
    void SetDataSize(size_t bytes) { node_->tilingBytes = bytes; }
    void *GetData() { return node_->tilingData.data(); }
    const void *GetData() const { return node_->tilingData.data(); }

    template <typename T> ge::graphStatus Append(const T &value)
    {
        static_assert(std::is_trivially_copyable_v<T>, "tiling data are plain bytes");
        if (node_->tilingBytes + sizeof(T) > GetCapacity()) {
            return ge::GRAPH_FAILED;
        }
        std::memcpy(node_->tilingData.data() + node_->tilingBytes, &value, sizeof(T));
        node_->tilingBytes += sizeof(T);
        return ge::GRAPH_SUCCESS;
    }

private:
    ::gnll::Node *node_;
};

} // namespace gert
