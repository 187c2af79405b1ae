// Sizes and names of data types and formats.
#pragma once

#include <cstdint>
#include <string>

#include "graph/types.h"

namespace ge {

class TypeUtils {
public:
    // Bytes of one element of `type`; false where the type has no whole number of bytes (`length` is left as it is).
    static bool GetDataTypeLength(DataType type, uint32_t &length)
    {
        const int32_t size = GetSizeByDataType(type);
        if (size > 0) {
            length = static_cast<uint32_t>(size);
        }
        return size > 0;
    }

    static std::string DataTypeToSerialString(DataType type);
    static std::string FormatToSerialString(Format format);
};

} // namespace ge
