/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of boxes that are turned: centre, size and angle in degrees. */
#pragma once

#include <stdint.h>

/** boxes [batch, 5, count] and others [batch, 5, other_count], out [batch, count, other_count]: the
 * area common to each pair, by that of both if `ratio`; f32, dense. */
struct op_turned_args {
    uint64_t boxes, others, out;
    uint64_t batch, count, other_count, per_block;
    uint8_t ratio;
};

/** Rows of boxes [count, 5] and scores [count], f32; indices i32[count] of those that overlap no
 * better one by more than `limit`, best first, `found` i64 of them; taken: a byte each, 0. */
struct op_turned_select_args {
    uint64_t boxes, scores, indices, found, taken;
    uint64_t count, most;
    float limit, least;
    uint8_t corners; /**< boxes are two corners and an angle that turns the other way */
};
