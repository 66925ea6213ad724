/* SPDX-License-Identifier: Apache-2.0 */
/* The chip that a tiling function works for: that of the current device (aclplatformGetDeviceInfo).
 * C++ only. */
#pragma once

#include <acl/acl_platform.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace fe
{

class PlatFormInfos
{
  public:
    /** "" if the runtime does not tell it. */
    std::string text(aclplatformDevInfo what) const
    {
        char value[128] = "";
        return aclplatformGetDeviceInfo(what, value, sizeof(value)) == ACL_SUCCESS ? value : "";
    }
    uint64_t number(aclplatformDevInfo what) const
    {
        return std::strtoull(text(what).c_str(), nullptr, 0);
    }
    uint32_t GetCoreNum() const
    {
        return static_cast<uint32_t>(number(ACL_PLATFORM_AICORE_CNT));
    }
};

} // namespace fe
