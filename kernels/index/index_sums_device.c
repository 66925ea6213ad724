/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of values added to the rows of a table that a list names. A block looks at all of the list
 * and keeps, of the entries whose rows are its own, a chain for each row; then a row is loaded
 * once, gets its values in the order of the list, and goes back.
 *
 * Flags. MTE2 -> S 0: indices there. V -> S 0: no row has a chain. V -> MTE2 and MTE2 -> V, event =
 * slot of a value: free, loaded, its row before it too. V -> MTE3 and MTE3 -> MTE2, event = slot of
 * a row: sums ready, stored.
 */
#include "../device/copy.h"
#include "../device/element.h"
#include "index_args.h"

enum {
    NONE = 0xffff,
    VALUE_SLOTS = 4, /* the coupled core has so many events */
    INDEX_AT = 0,
    NEXT_AT = INDEX_AT + OP_SUMS_CHUNK * 8,
    FIRST_AT = NEXT_AT + OP_SUMS_CHUNK * 2,
    LAST_AT = FIRST_AT + OP_SUMS_CHUNK * 2,
    VALUE_AT = LAST_AT + OP_SUMS_ROWS * 2,
    ROW_AT = VALUE_AT + VALUE_SLOTS * OP_SUMS_SLICE,
};

OP_INLINE __ubuf__ volatile uint16_t *links(uint32_t at)
{
    return (__ubuf__ volatile uint16_t *)(uintptr_t)at;
}

/* The row that entry `i` of the chunk names; one out of range is a fault. */
OP_INLINE int64_t row_at(const struct op_index_sums_args *t, uint32_t i)
{
    const int64_t given = t->index_type == OP_TYPE_I64
                              ? *(__ubuf__ volatile int64_t *)(uintptr_t)(INDEX_AT + i * 8)
                              : *(__ubuf__ volatile int32_t *)(uintptr_t)(INDEX_AT + i * 4);
    const int64_t row = given < 0 ? given + t->limit : given;
    leo_assert(row >= 0 && row < t->limit, "index %lld of a dimension of %lld", (long long)given,
               (long long)t->limit);
    return row;
}

/* Chains of the entries of this block's rows; how many. */
OP_INLINE uint32_t make_chains(const struct op_index_sums_args *t, uint32_t count, uint32_t group)
{
    uint32_t chains = 0;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t row = row_at(t, i);
        if ((row & (t->row_groups - 1)) != group || row == t->skip) {
            continue;
        }
        __ubuf__ volatile uint16_t *last = &links(LAST_AT)[row >> t->row_shift];
        if (*last == NONE) {
            links(FIRST_AT)[chains++] = (uint16_t)i;
        } else {
            links(NEXT_AT)[*last] = (uint16_t)i;
        }
        links(NEXT_AT)[i] = NONE;
        *last = (uint16_t)i;
    }
    return chains;
}

OP_INLINE void load(uint32_t ub, uint64_t from, uint32_t rows, uint32_t bytes, uint64_t pitch)
{
    copy_gm_to_ubuf((__ubuf__ void *)(uintptr_t)ub, (__gm__ void *)from, 0, (uint16_t)rows,
                    (uint16_t)(bytes / 32), (uint16_t)((pitch - bytes) / 32), 0);
}

/* Entries of a chain from `i` on that follow each other in the list. */
OP_INLINE uint32_t run_of(uint32_t i, uint32_t most)
{
    uint32_t run = 1;
    while (run < most && links(NEXT_AT)[i + run - 1] == i + run) {
        run++;
    }
    return run;
}

__global__ __vector__ void index_sum_rows(struct op_index_sums_args args)
{
    const struct op_index_sums_args copy = args, *t = &copy;
    const uint32_t block = (uint32_t)get_block_idx(), group = block & (t->row_groups - 1),
                   column = (block >> t->row_shift) * t->slice,
                   bytes = op_min(t->slice, t->bytes - column);
    const uint32_t index_bytes = op_bytes_of(t->index_type), most = OP_SUMS_SLICE / bytes;
    uint32_t slot = 0, place = 0;
    (void)op_infinite_begin();
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    for (uint32_t at = 0; at < OP_SUMS_ROWS * 2; at += 128 * 256) {
        vector_dup((__ubuf__ int16_t *)(uintptr_t)(LAST_AT + at), (int16_t)-1, 128, 1, 1, 8, 8);
    }
    set_flag(PIPE_V, PIPE_S, 0);
    wait_flag(PIPE_V, PIPE_S, 0);
    set_mask_count();
    set_vector_mask(0, bytes / 4);
    for (uint32_t i = 0; i < VALUE_SLOTS; i++) {
        set_flag(PIPE_V, PIPE_MTE2, i);
    }
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    set_flag(PIPE_MTE3, PIPE_MTE2, 1);
    for (uint64_t begin = 0; begin < t->count; begin += OP_SUMS_CHUNK) {
        const uint32_t count = (uint32_t)op_min64(OP_SUMS_CHUNK, t->count - begin);
        op_load(INDEX_AT, t->index + begin * index_bytes, count * index_bytes);
        set_flag(PIPE_MTE2, PIPE_S, 0);
        wait_flag(PIPE_MTE2, PIPE_S, 0);
        const uint32_t chains = make_chains(t, count, group);
        for (uint32_t c = 0; c < chains; c++, place ^= 1) {
            uint32_t i = links(FIRST_AT)[c];
            const int64_t row = row_at(t, i);
            const uint32_t sum = ROW_AT + place * OP_SUMS_SLICE;
            const uint64_t to = t->table + (uint64_t)row * t->pitch + column;
            links(LAST_AT)[row >> t->row_shift] = NONE;
            wait_flag(PIPE_MTE3, PIPE_MTE2, place);
            load(sum, to, 1, bytes, bytes);
            for (uint32_t run; i != NONE; slot = (slot + 1) % VALUE_SLOTS) {
                uint32_t value = VALUE_AT + slot * OP_SUMS_SLICE;
                run = run_of(i, most);
                wait_flag(PIPE_V, PIPE_MTE2, slot);
                load(value, t->value + (begin + i) * t->value_pitch + column, run, bytes,
                     t->value_pitch);
                set_flag(PIPE_MTE2, PIPE_V, slot);
                wait_flag(PIPE_MTE2, PIPE_V, slot);
                i = links(NEXT_AT)[i + run - 1];
                for (; run > 0; run--, value += bytes) {
                    pipe_barrier(PIPE_V);
                    vadd(op_ub_f32(sum), op_ub_f32(sum), op_ub_f32(value), 1, 1, 1, 1, 8, 8, 8);
                }
                set_flag(PIPE_V, PIPE_MTE2, slot);
            }
            set_flag(PIPE_V, PIPE_MTE3, place);
            wait_flag(PIPE_V, PIPE_MTE3, place);
            copy_ubuf_to_gm((__gm__ void *)to, (__ubuf__ void *)(uintptr_t)sum, 0, 1,
                            (uint16_t)(bytes / 32), 0, 0);
            set_flag(PIPE_MTE3, PIPE_MTE2, place);
        }
        pipe_barrier(PIPE_ALL); // rows of the next entries may be these
    }
    for (uint32_t i = 0; i < VALUE_SLOTS; i++) {
        wait_flag(PIPE_V, PIPE_MTE2, i);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, 1);
    op_flush();
}
