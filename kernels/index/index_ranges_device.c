/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements put into a list by index, by all cores: each has a part of the list and goes through all
 * indices, so that those of one element meet in their order on one core.
 *
 * Flags, event = slot: S -> MTE2: indices are used up; MTE2 -> S: loaded.
 */
#include "../device/copy.h"
#include "index_change_device.h"

OP_INLINE int64_t index_at(uint32_t slot, uint32_t i)
{
    return ((const __ubuf__ volatile int64_t *)(uintptr_t)(slot * OP_INDEX_CHUNK * 8))[i];
}

OP_INLINE void load(const struct op_index_ranges_args *t, uint64_t first, uint32_t slot)
{
    if (first < t->count) {
        wait_flag(PIPE_S, PIPE_MTE2, slot);
        op_load(slot * OP_INDEX_CHUNK * 8, t->index + first * 8,
                (uint32_t)op_min64(OP_INDEX_CHUNK, t->count - first) * 8);
        set_flag(PIPE_MTE2, PIPE_S, slot);
    }
}

__global__ __vector__ void index_ranges(struct op_index_ranges_args args)
{
    const struct op_index_ranges_args t = args;
    const uint32_t unit = op_bytes_of(t.table_type);
    const struct op_span span =
        op_block_span(t.table, t.table_type, (uint64_t)t.limit, t.per_block);
    const uint64_t size = span.end - span.begin;
    uint32_t slot = 0;
    set_flag(PIPE_S, PIPE_MTE2, 0);
    set_flag(PIPE_S, PIPE_MTE2, 1);
    load(&t, 0, 0);
    for (uint64_t first = 0; first < t.count; first += OP_INDEX_CHUNK, slot ^= 1) {
        const uint32_t count = (uint32_t)op_min64(OP_INDEX_CHUNK, t.count - first);
        load(&t, first + OP_INDEX_CHUNK, slot ^ 1);
        wait_flag(PIPE_MTE2, PIPE_S, slot);
        for (uint32_t i = 0; i < count; i++) {
            const int64_t given = index_at(slot, i), at = given < 0 ? given + t.limit : given;
            leo_assert((uint64_t)at < (uint64_t)t.limit, "index %lld of a dimension of %lld",
                       (long long)given, (long long)t.limit);
            if ((uint64_t)at - span.begin < size) {
                op_index_change(t.mode, t.scale, t.table + (uint64_t)at * unit, t.table_type,
                                t.value + (first + i) * t.value_step, t.value_type);
            }
        }
        set_flag(PIPE_S, PIPE_MTE2, slot);
    }
    wait_flag(PIPE_S, PIPE_MTE2, 0);
    wait_flag(PIPE_S, PIPE_MTE2, 1);
    op_flush();
}
