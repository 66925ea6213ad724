/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of gradient scaling. */
#pragma once

#include "types.h"

#include <stdint.h>

/** grad *= scale[0]; flags has a 64-byte line for each block: 1 in its first 8 bytes if an element
 * was Inf or NaN, else 0. */
struct op_unscale_args {
    uint64_t grad, flags, scale, found;
    uint64_t count, per_block;
    uint32_t lines;
    uint8_t grad_type, scale_type, found_type;
};

struct op_amp_update_args {
    uint64_t scale, tracker, found, new_scale, new_tracker;
    double growth, backoff;
    int64_t interval;
    uint8_t scale_type, tracker_type, found_type, new_scale_type, new_tracker_type;
};
