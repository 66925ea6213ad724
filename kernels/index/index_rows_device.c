/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a table by one list of indices, of 32 bytes or more.
 *
 * Flags, event = slot. V -> MTE2: slot free (index_add_rows); MTE3 -> MTE2: the same (others); MTE2
 * -> V and MTE2 -> MTE3: loaded; V -> MTE3 0 and MTE3 -> V 0: sums ready, stored.
 */
#include "../device/copy.h"
#include "../device/element.h"
#include "index_args.h"

enum { BLOCK = 32 };

OP_INLINE int64_t given_at(const struct op_index_rows_args *t, uint64_t i)
{
    return op_get_i(t->index + i * op_bytes_of(t->index_type), t->index_type);
}

/* The row that an index names; one out of range is a fault. */
OP_INLINE int64_t row_of(const struct op_index_rows_args *t, int64_t given)
{
    const int64_t row = given < 0 ? given + t->limit : given;
    leo_assert(row >= 0 && row < t->limit, "index %lld of a dimension of %lld", (long long)given,
               (long long)t->limit);
    return row;
}

OP_INLINE int64_t row_at(const struct op_index_rows_args *t, uint64_t i)
{
    return row_of(t, given_at(t, i));
}

/* value[i] = table[index[i]]: rows are gathered in UB and leave together. */
__global__ __vector__ void index_get_rows(struct op_index_rows_args args)
{
    const struct op_index_rows_args copy = args, *t = &copy;
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(begin + t->per_block, t->count);
    const bool whole = t->bytes == t->blocks * BLOCK;
    uint32_t slot = 0;
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    set_flag(PIPE_MTE3, PIPE_MTE2, 1);
    for (uint64_t i = begin; i < end; slot ^= 1) {
        const uint32_t rows = (uint32_t)op_min64(t->rows, end - i), ub = slot * OP_INDEX_SLOT;
        wait_flag(PIPE_MTE3, PIPE_MTE2, slot);
        for (uint32_t r = 0; r < rows; r++) {
            const uint64_t from = t->table + (uint64_t)row_at(t, i + r) * t->pitch;
            const uint32_t to = ub + r * t->blocks * BLOCK;
            if (whole) {
                copy_gm_to_ubuf((__ubuf__ void *)(uintptr_t)to, (__gm__ void *)from, 0, 1,
                                (uint16_t)t->blocks, 0, 0);
            } else {
                op_load(to, from, t->bytes);
            }
        }
        set_flag(PIPE_MTE2, PIPE_MTE3, slot);
        wait_flag(PIPE_MTE2, PIPE_MTE3, slot);
        if (t->value_pitch == t->blocks * BLOCK) {
            copy_ubuf_to_gm((__gm__ void *)(t->value + i * t->value_pitch),
                            (__ubuf__ void *)(uintptr_t)ub, 0, 1, (uint16_t)(rows * t->blocks), 0,
                            0);
        } else {
            op_store_rows(t->value + i * t->value_pitch, ub, rows, t->bytes, t->value_pitch,
                          t->blocks * BLOCK);
        }
        set_flag(PIPE_MTE3, PIPE_MTE2, slot);
        i += rows;
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, 1);
    op_flush();
}

/*
 * table[index[i]] += value[i] in f32, in the order of the list, for a table that starts as 0. A
 * piece is one column of blocks of up to `rows` rows of the table, which stand in UB while all of
 * the list goes by: no two pieces touch the same element.
 */
__global__ __vector__ void index_add_rows(struct op_index_rows_args args)
{
    const struct op_index_rows_args copy = args, *t = &copy;
    (void)op_infinite_begin();
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(begin + t->per_block, (uint64_t)t->blocks * t->parts);
    uint32_t slot = 0;
    set_flag(PIPE_V, PIPE_MTE2, 0);
    set_flag(PIPE_V, PIPE_MTE2, 1);
    for (uint64_t piece = begin; piece < end; piece++) {
        const uint64_t part = piece / t->blocks, column = (piece - part * t->blocks) * BLOCK;
        const int64_t row0 = (int64_t)(part * t->rows);
        const uint32_t rows = (uint32_t)op_min64(t->rows, (uint64_t)(t->limit - row0)),
                       sums = 2 * OP_INDEX_SLOT;
        set_mask_norm();
        set_vector_mask(~0ull, ~0ull);
        for (uint32_t at = 0; at < rows; at += 255 * 8) {
            vector_dup(op_ub_f32(sums + at * BLOCK), 0.0f,
                       (uint8_t)((op_min(rows - at, 255 * 8) + 7) / 8), 1, 1, 8, 8);
        }
        const uint32_t bytes = (uint32_t)op_min64(BLOCK, t->bytes - column);
        set_vector_mask(0, (1ull << bytes / 4) - 1);
        for (uint64_t i = 0; i < t->count; slot ^= 1) {
            const uint32_t values = (uint32_t)op_min64(OP_INDEX_SLOT / BLOCK, t->count - i),
                           ub = slot * OP_INDEX_SLOT;
            wait_flag(PIPE_V, PIPE_MTE2, slot);
            op_load_rows(ub, t->value + i * t->value_pitch + column, values, bytes, t->value_pitch,
                         BLOCK);
            set_flag(PIPE_MTE2, PIPE_V, slot);
            wait_flag(PIPE_MTE2, PIPE_V, slot);
            for (uint32_t r = 0; r < values; r++) {
                const int64_t row = row_at(t, i + r);
                if (row == t->skip || row < row0 || row >= row0 + (int64_t)rows) {
                    continue;
                }
                __ubuf__ float *to = op_ub_f32(sums + (uint32_t)(row - row0) * BLOCK);
                pipe_barrier(PIPE_V);
                vadd(to, to, op_ub_f32(ub + r * BLOCK), 1, 1, 1, 1, 8, 8, 8);
            }
            set_flag(PIPE_V, PIPE_MTE2, slot);
            i += values;
        }
        set_flag(PIPE_V, PIPE_MTE3, 0);
        wait_flag(PIPE_V, PIPE_MTE3, 0);
        op_store_rows(t->table + (uint64_t)row0 * t->pitch + column, sums, rows, BLOCK, t->pitch,
                      BLOCK);
        set_flag(PIPE_MTE3, PIPE_V, 0);
        wait_flag(PIPE_MTE3, PIPE_V, 0);
    }
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    wait_flag(PIPE_V, PIPE_MTE2, 1);
    op_flush();
}

/*
 * table[index[i]] = value[i], in the order of the list: the last one stays. A block takes
 * `per_block` blocks of 32 bytes of its part of the rows, so that no other one writes its elements.
 */
__global__ __vector__ void index_put_rows(struct op_index_rows_args args)
{
    const struct op_index_rows_args copy = args, *t = &copy;
    const uint32_t column = get_block_idx() / t->parts;
    const int64_t row0 = (int64_t)(get_block_idx() - column * t->parts) * t->part_rows;
    const uint64_t first = (uint64_t)column * t->per_block;
    const uint32_t blocks = (uint32_t)op_min64(t->per_block, t->blocks - first),
                   bytes = (uint32_t)op_min64(blocks * BLOCK, t->bytes - first * BLOCK);
    uint32_t slot = 0;
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    set_flag(PIPE_MTE3, PIPE_MTE2, 1);
    for (uint64_t i = 0; i < t->count; slot ^= 1) {
        const uint32_t rows = (uint32_t)op_min64(t->rows, t->count - i), ub = slot * OP_INDEX_SLOT;
        wait_flag(PIPE_MTE3, PIPE_MTE2, slot);
        op_load_rows(ub, t->value + i * t->value_pitch + first * BLOCK, rows, bytes, t->value_pitch,
                     blocks * BLOCK);
        set_flag(PIPE_MTE2, PIPE_MTE3, slot);
        wait_flag(PIPE_MTE2, PIPE_MTE3, slot);
        for (uint32_t r = 0; r < rows; r++) {
            const int64_t given = given_at(t, i + r),
                          row = given == t->skip ? -1 : row_of(t, given);
            if (row < row0 || row >= row0 + t->part_rows) {
                continue;
            }
            pipe_barrier(PIPE_MTE3); // stores of the same row stay in their order
            const uint64_t to = t->table + (uint64_t)row * t->pitch + first * BLOCK;
            const uint32_t from = ub + r * blocks * BLOCK;
            if (bytes == blocks * BLOCK) {
                copy_ubuf_to_gm((__gm__ void *)to, (__ubuf__ void *)(uintptr_t)from, 0, 1,
                                (uint16_t)blocks, 0, 0);
            } else {
                op_store(to, from, bytes);
            }
        }
        set_flag(PIPE_MTE3, PIPE_MTE2, slot);
        i += rows;
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, 1);
    op_flush();
}
