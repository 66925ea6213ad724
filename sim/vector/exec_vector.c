/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_vector.h"

#include <leo/dtype.h>

#include <string.h>

bool sim_vec_bad_config(struct sim_core *core)
{
    return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_UB, 0, 0);
}

uint32_t sim_vec_type_bytes(enum leo_dtype type)
{
    // Four bits have no lane of their own, and a number that is no type is refused before it
    // counts.
    const uint32_t bits = leo_dtype_bits(type);
    return bits ? (bits + 7) / 8 : 8;
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
