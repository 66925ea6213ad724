/* SPDX-License-Identifier: Apache-2.0 */
/* Tiling of communication in kernels. C++ only. The group comes with the launch and the algorithm
 * is not the kernel's choice here: settings are taken and dropped, the structures stay as they are.
 */
#pragma once

#include <hccl/hccl_types.h>

#include <cstdint>
#include <string>

enum class HcclCMDType {
    HCCL_CMD_INVALID = 0,
    HCCL_CMD_BROADCAST,
    HCCL_CMD_ALLREDUCE,
    HCCL_CMD_REDUCE,
    HCCL_CMD_SEND,
    HCCL_CMD_RECEIVE,
    HCCL_CMD_ALLGATHER,
    HCCL_CMD_REDUCE_SCATTER,
    HCCL_CMD_ALLTOALLV,
    HCCL_CMD_ALLTOALLVC,
    HCCL_CMD_ALLTOALL,
};

namespace AscendC
{

class Mc2CcTilingConfig
{
  public:
    Mc2CcTilingConfig(const std::string &group, uint32_t, const std::string &, uint32_t = 0,
                      uint8_t = 0, uint8_t = 0, uint8_t = 0)
        : group_(group)
    {
    }

    /** Of Mc2InitTiling and Mc2CcTiling, as classes of tiling data or plain structures. */
    template <typename T> uint32_t GetTiling(T &)
    {
        return group_.empty() ? 1 : 0;
    }
    uint32_t SetGroupName(const std::string &group)
    {
        group_ = group;
        return 0;
    }
// How the exchange is done.
#define LEO_TAKEN(name, ...)                                                                       \
    uint32_t name(__VA_ARGS__)                                                                     \
    {                                                                                              \
        return 0;                                                                                  \
    }
    LEO_TAKEN(SetOpType, uint32_t)
    LEO_TAKEN(SetAlgConfig, const std::string &)
    LEO_TAKEN(SetReduceType, uint32_t, uint8_t = 0, uint8_t = 0)
    LEO_TAKEN(SetStepSize, uint8_t)
    LEO_TAKEN(SetSkipLocalRankCopy, uint8_t)
    LEO_TAKEN(SetSkipBufferWindowCopy, uint8_t)
    LEO_TAKEN(SetDebugMode, uint8_t)
    LEO_TAKEN(SetCommBlockNum, uint16_t)
    LEO_TAKEN(SetQueueNum, uint16_t)
    LEO_TAKEN(SetCommEngine, uint8_t)
#undef LEO_TAKEN

  private:
    std::string group_;
};

} // namespace AscendC
