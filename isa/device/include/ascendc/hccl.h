/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: names of communication in kernels. Kernels that keep
 * them in their tiling data or in structures compile; what would communicate is a compile error. */
#pragma once

#define LEO_NO_HCCL                                                                                \
    "communication in kernels (Hccl) is not there: call HCCL between kernels, from the host"

namespace AscendC
{

constexpr uint32_t HCCL_MAX_RANK_NUM = 32, HCCL_GROUP_ID_0 = 0, HCCL_GROUP_ID_1 = 1;
struct IbVerbsData;
using HcclHandle = int8_t;
enum HcclServerType { HCCL_SERVER_TYPE_AICPU, HCCL_SERVER_TYPE_CCU, HCCL_SERVER_TYPE_END };

template <HcclServerType server = HCCL_SERVER_TYPE_AICPU> class Hccl
{
    static_assert(server == HCCL_SERVER_TYPE_END, LEO_NO_HCCL);
};

template <uint32_t group> __attribute__((unavailable(LEO_NO_HCCL))) GM_ADDR GetHcclContext();

} // namespace AscendC
