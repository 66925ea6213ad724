/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_vector.h"

#include <string.h>

bool sim_vec_bad_config(struct sim_core *core)
{
    return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_UB, 0, 0);
}

uint32_t sim_vec_type_bytes(enum leo_dtype type)
{
    switch (type) {
    case LEO_DTYPE_S8:
    case LEO_DTYPE_U8:
    case LEO_DTYPE_B8:
    case LEO_DTYPE_S4: // has no lane of its own; no vector instruction takes it
        return 1;
    case LEO_DTYPE_F16:
    case LEO_DTYPE_BF16:
    case LEO_DTYPE_S16:
    case LEO_DTYPE_U16:
    case LEO_DTYPE_B16:
        return 2;
    case LEO_DTYPE_F32:
    case LEO_DTYPE_S32:
    case LEO_DTYPE_U32:
    case LEO_DTYPE_B32:
        return 4;
    case LEO_DTYPE_S64:
    case LEO_DTYPE_U64:
        break;
    }
    return 8;
}

enum sim_lane sim_vec_lane_of(enum leo_dtype type)
{
    switch (type) {
    case LEO_DTYPE_F16:
        return SIM_LANE_F16;
    case LEO_DTYPE_F32:
        return SIM_LANE_F32;
    case LEO_DTYPE_S16:
        return SIM_LANE_S16;
    case LEO_DTYPE_U16:
        return SIM_LANE_U16;
    case LEO_DTYPE_U32:
        return SIM_LANE_U32;
    default:
        return SIM_LANE_S32;
    }
}

void sim_vec_splat_fill(struct sim_vec_splat *splat, uint64_t scalar, uint32_t lane_bytes,
                        uint64_t lanes)
{
    const size_t most = sizeof(splat->bytes) / lane_bytes;
    splat->lanes = lanes < most ? lanes : most;
    if (lane_bytes == 2) {
        uint16_t *to = (uint16_t *)splat->bytes;
        for (size_t i = 0; i < splat->lanes; i++) {
            to[i] = (uint16_t)scalar;
        }
        return;
    }
    uint32_t *to = (uint32_t *)splat->bytes;
    for (size_t i = 0; i < splat->lanes; i++) {
        to[i] = (uint32_t)scalar;
    }
}
