/* SPDX-License-Identifier: Apache-2.0 */
#include <leo/ring_math.h>

bool leo_ring_is_depth(uint32_t depth)
{
    return depth >= 2 && (depth & (depth - 1)) == 0;
}

uint32_t leo_ring_next(uint32_t index, uint32_t depth)
{
    return (index + 1) & (depth - 1);
}

uint32_t leo_ring_distance(uint32_t from, uint32_t to, uint32_t depth)
{
    return (to - from) & (depth - 1);
}

bool leo_ring_is_empty(uint32_t head, uint32_t tail)
{
    return head == tail;
}

bool leo_ring_is_full(uint32_t head, uint32_t tail, uint32_t depth)
{
    return leo_ring_next(tail, depth) == head;
}

uint32_t leo_ring_next_phase(uint32_t index, uint32_t depth, uint32_t phase)
{
    if (index + 1 < depth) {
        return phase;
    }
    // 0 is what memory that was never written holds; it is no phase.
    return phase + 1 ? phase + 1 : 1;
}
