/* SPDX-License-Identifier: Apache-2.0 */
/* The chip in the words of tiling functions. C++ only. */
#pragma once

#include <platform/platform_infos_def.h>

/* Public code opens it for the names of the language's own objects. */
namespace AscendC
{
}

namespace platform_ascendc
{

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };
enum class SocVersion {
    ASCEND910 = 0,
    ASCEND910B,
    ASCEND310P,
    ASCEND310B,
    ASCEND910_95,
    RESERVED_VERSION = 99999
};

class PlatformAscendC
{
  public:
    explicit PlatformAscendC(fe::PlatFormInfos *infos)
        : infos_(infos ? *infos : fe::PlatFormInfos())
    {
    }
    /** Cores that a launch counts: of a split chip the vector cores. */
    uint32_t GetCoreNum() const
    {
        return is_split() ? GetCoreNumAiv() : infos_.GetCoreNum();
    }
    uint32_t GetCoreNumAic() const
    {
        return static_cast<uint32_t>(infos_.number(ACL_PLATFORM_CUBE_CORE_CNT));
    }
    uint32_t GetCoreNumAiv() const
    {
        return static_cast<uint32_t>(infos_.number(ACL_PLATFORM_VECTOR_CORE_CNT));
    }
    uint32_t GetCoreNumVector() const
    {
        return 0; // vector cores beside the AI cores: another family has them
    }
    /** Blocks of a kernel of both kinds of cores, for that many parts of work on vector cores. */
    uint32_t CalcTschBlockDim(uint32_t parts, uint32_t cubes, uint32_t vectors) const
    {
        if (!is_split() || cubes == 0 || vectors == 0 || vectors <= cubes) {
            return parts;
        }
        const uint32_t each = vectors / cubes;
        return (parts + each - 1) / each;
    }
    void GetCoreMemSize(const CoreMemType &type, uint64_t &bytes) const
    {
        static const aclplatformDevInfo what[] = {
            ACL_PLATFORM_L0_A_SIZE,  ACL_PLATFORM_L0_B_SIZE, ACL_PLATFORM_L0_C_SIZE,
            ACL_PLATFORM_L1_SIZE,    ACL_PLATFORM_L2_SIZE,   ACL_PLATFORM_AICORE_UB_SIZE,
            ACL_PLATFORM_MEMORY_SIZE};
        const size_t index = static_cast<size_t>(type);
        bytes = index < sizeof(what) / sizeof(what[0]) ? infos_.number(what[index]) : 0;
    }
    /** Workspace that the language's own objects take in front of the kernel's. */
    uint32_t GetLibApiWorkSpaceSize() const
    {
        return 16u << 20;
    }
    SocVersion GetSocVersion() const
    {
        return is_split() ? SocVersion::ASCEND910B : SocVersion::ASCEND910;
    }

  private:
    bool is_split() const
    {
        return infos_.text(ACL_PLATFORM_NPU_ARCH) == "2201" || GetCoreNumAiv() > GetCoreNumAic();
    }
    fe::PlatFormInfos infos_;
};

class PlatformAscendCManager
{
  public:
    static PlatformAscendC *GetInstance()
    {
        static fe::PlatFormInfos infos;
        static PlatformAscendC platform(&infos);
        return &platform;
    }
    static PlatformAscendC *GetInstance(const char *)
    {
        return GetInstance();
    }
};

} // namespace platform_ascendc
