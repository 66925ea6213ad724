/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by sort_lanes_device_2201.c. Runs that are too long for UB: the scalar unit finds which
 * records of two runs make a piece of their merged run, the vector unit merges them.
 */
#pragma once

enum { MERGE_PIECE = 4064 /* records; a list has at most OP_LANES_LIST */ };

/* A score as a number of the same order. */
OP_INLINE int64_t rank_of(uint32_t type, uint64_t record)
{
    const uint32_t score = (uint32_t)record, sign = is_wide(type) ? 0x80000000u : 0x8000u,
                   size = score & (sign - 1);
    if (is_nan(type, score)) {
        return INT64_MAX;
    }
    return score & sign ? -(int64_t)size : (int64_t)size;
}

/* Two runs in order, side by side. */
struct lanes_runs {
    const __gm__ volatile uint64_t *left, *right;
    uint64_t left_count, right_count;
    uint32_t type;
};

/* How many of the first `taken` records of the two runs together are the left one's. */
static uint64_t split_of(const struct lanes_runs *r, uint64_t taken)
{
    uint64_t low = taken > r->right_count ? taken - r->right_count : 0,
             high = op_min64(taken, r->left_count);
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (rank_of(r->type, r->left[middle]) >= rank_of(r->type, r->right[taken - 1 - middle])) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* `left` and `right` records of the two lists at their addresses, merged, to `to`. */
static void merge_piece(bool wide, uint64_t to, uint64_t left_at, uint32_t left, uint64_t right_at,
                        uint32_t right)
{
    const uint32_t second = FIRST + (left + 3) / 4 * 32;
    uint32_t result = FIRST;
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    if (left > 0) {
        op_load(FIRST, left_at, left * RECORD);
    }
    if (right > 0) {
        op_load(second, right_at, right * RECORD);
    }
    set_flag(PIPE_MTE2, PIPE_V, 0);
    wait_flag(PIPE_MTE2, PIPE_V, 0);
    if (left > 0 && right > 0 && wide) {
        __ubuf__ float *const lists[] = {op_ub_f32(FIRST), op_ub_f32(second), op_ub_f32(0),
                                         op_ub_f32(0)};
        vmrgsort4(op_ub_f32(SECOND), lists, 1, left, right, 0, 0, false, 3);
        result = SECOND;
    } else if (left > 0 && right > 0) {
        __ubuf__ half *const lists[] = {op_ub_f16(FIRST), op_ub_f16(second), op_ub_f16(0),
                                        op_ub_f16(0)};
        vmrgsort4(op_ub_f16(SECOND), lists, 1, left, right, 0, 0, false, 3);
        result = SECOND;
    }
    set_flag(PIPE_V, PIPE_MTE3, 0);
    wait_flag(PIPE_V, PIPE_MTE3, 0);
    op_store(to, result, (left + right) * RECORD);
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
}

__global__ __vector__ void lanes_merge(struct op_lanes_args args)
{
    const struct op_lanes_args t = args;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block,
                   end = op_min64(begin + t.per_block, t.rows * t.pitch);
    set_mask_count();
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    for (uint64_t at = begin; at < end;) {
        const uint64_t row = at / t.pitch, in_row = at - row * t.pitch,
                       from = t.items + row * t.pitch * RECORD,
                       first = in_row / (2 * t.width) * (2 * t.width),
                       middle = op_min64(first + t.width, t.pitch),
                       last = op_min64(first + 2 * t.width, t.pitch),
                       stop = op_min64(end - row * t.pitch, last);
        const struct lanes_runs r = {(const __gm__ volatile uint64_t *)from + first,
                                     (const __gm__ volatile uint64_t *)from + middle,
                                     middle - first, last - middle, t.type};
        uint64_t left = split_of(&r, in_row - first);
        for (uint64_t i = in_row; i < stop;) {
            const uint64_t next = op_min64(i + MERGE_PIECE, stop), to = split_of(&r, next - first),
                           right = i - first - left;
            merge_piece(is_wide(t.type), t.merged + (row * t.pitch + i) * RECORD,
                        from + (first + left) * RECORD, (uint32_t)(to - left),
                        from + (middle + right) * RECORD, (uint32_t)(next - i - (to - left)));
            left = to;
            i = next;
        }
        at = row * t.pitch + stop;
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    pipe_barrier(PIPE_ALL);
}

/* How many records a row begins with whose score is NaN. */
static uint64_t count_nan(const struct op_lanes_args *t, uint64_t row)
{
    const __gm__ volatile uint64_t *records =
        (const __gm__ volatile uint64_t *)(t->items + row * t->pitch * RECORD);
    uint64_t low = 0, high = t->length;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (is_nan(t->type, (uint32_t)records[middle])) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

__global__ __vector__ void lanes_give(struct op_lanes_args args)
{
    const struct op_lanes_args t = args;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block,
                   end = op_min64(begin + t.per_block, t.rows * t.keep);
    uint64_t counted = UINT64_MAX, nan = 0;
    set_mask_count();
    set_flag(PIPE_MTE3, PIPE_V, 0);
    for (uint64_t at = begin; at < end;) {
        const uint64_t row = at / t.keep, in_row = at - row * t.keep;
        if (!t.descending && counted != row) {
            nan = count_nan(&t, row);
            counted = row;
        }
        const bool wraps = in_row + nan >= t.length;
        const uint64_t from = wraps ? in_row + nan - t.length : in_row + nan,
                       most = wraps ? nan - from : t.length - from;
        const uint32_t count =
            (uint32_t)op_min64(op_min64(most, OP_LANES_PART), op_min64(end - at, t.keep - in_row));
        wait_flag(PIPE_MTE3, PIPE_V, 0);
        set_flag(PIPE_V, PIPE_MTE2, 0);
        wait_flag(PIPE_V, PIPE_MTE2, 0);
        op_load(FIRST, t.items + (row * t.pitch + from) * RECORD, count * RECORD);
        set_flag(PIPE_MTE2, PIPE_V, 0);
        wait_flag(PIPE_MTE2, PIPE_V, 0);
        give(&t, at, FIRST, 1, up_to_group(count), count);
        at += count;
    }
    wait_flag(PIPE_MTE3, PIPE_V, 0);
    pipe_barrier(PIPE_ALL);
}
