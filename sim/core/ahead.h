/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel will read from global memory next, guessed from the pattern of its last reads. The
 * lines are asked for while the Cube's multiply-adds keep the host busy; a wrong guess costs
 * nothing else. Only the host's time depends on it.
 */
#pragma once

#include "../simd/simd_cube.h"

enum { SIM_AHEAD_SEEN = 16, SIM_AHEAD_NEXT = 2 };

struct sim_ahead {
    struct sim_lines seen[SIM_AHEAD_SEEN]; /**< a ring; the last one is seen[(count - 1) % SEEN] */
    unsigned count;
    struct sim_lines next[SIM_AHEAD_NEXT]; /**< soonest first; pieces 0 = no guess */
};

/** Notes a read of `pieces` of `bytes` that lie `step` apart, if the host's own prefetcher would
 * not follow it. */
void sim_ahead_note(struct sim_ahead *ahead, const uint8_t *src, uint64_t step, uint64_t bytes,
                    uint64_t pieces);
