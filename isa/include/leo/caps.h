/* SPDX-License-Identifier: Apache-2.0 */
/* What a chip is and has, as its registers say (isa/regs). */
#pragma once

#include <stdint.h>

/** What the registers say of a device. */
struct leo_caps {
    char soc_name[32];
    uint32_t arch, cube_cores, vector_cores, queues, queue_depth, clock_khz;
    uint32_t ub_bytes, l1_bytes, l0a_bytes, l0b_bytes, l0c_bytes, l2_bytes;
    uint64_t hbm_base, hbm_bytes;
    uint64_t gm_bytes; /**< addresses from hbm_base on that memory can be mapped to */
};
