/* SPDX-License-Identifier: Apache-2.0 */
/* Types and formats as words, for messages. C++ only. */
#pragma once

#include <graph/types.h>

#include <string>

namespace ge
{

struct TypeUtils {
    static std::string DataTypeToSerialString(DataType type)
    {
        return "type " + std::to_string(static_cast<int>(type));
    }
    static std::string FormatToSerialString(Format format)
    {
        return "format " + std::to_string(static_cast<int>(format));
    }
    static bool GetDataTypeLength(DataType type, uint32_t &bytes)
    {
        bytes = static_cast<uint32_t>(GetSizeByDataType(type));
        return bytes != 0;
    }
};

} // namespace ge
