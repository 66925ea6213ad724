/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of gradient scaling. */
#pragma once

#include "../device/members_args.h"
#include "../device/types.h"

#include <stdint.h>

enum {
    OP_UNSCALE_TILE = 8192, /**< elements at a time */
};

/** Each grad *= scale[0]; flags has a 64-byte line for each block: 1 in its first 8 bytes if an
 * element was Inf or NaN, else 0. Block b works on tiles [b * per_block, (b + 1) * per_block) of
 * all members. */
struct op_unscale_args {
    uint64_t flags, scale, found;
    uint64_t grad[OP_MEMBERS];
    uint32_t tiles, per_block, lines;
    uint8_t grad_type, scale_type, found_type;
    struct op_members members; /**< a launch ends with the one after its last */
};

struct op_amp_update_args {
    uint64_t scale, tracker, found, new_scale, new_tracker;
    double growth, backoff;
    int64_t interval;
    uint8_t scale_type, tracker_type, found_type, new_scale_type, new_tracker_type;
};
