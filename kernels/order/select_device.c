/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions and values where a mask is not 0, in order. First the elements of each part of the mask
 * are counted; then every block writes a share of the results, whole lines of 64 bytes, and finds
 * where in the mask they come from by the counts.
 */
#include "../device/element.h"
#include "../device/walk.h"
#include "select_args.h"

#include <stdbool.h>

static bool is_set(const struct op_select_args *a, uint64_t i)
{
    if (a->bytes) {
        return *(const __gm__ uint8_t *)(a->mask + i) != 0;
    }
    return op_get_d(a->mask + op_offset(a->rank, a->dim, a->mask_stride, i), a->mask_type) != 0;
}

/* Eight bytes of a mask, each 1 if it is not 0. */
OP_INLINE uint64_t ones_of(uint64_t bytes)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7f;
    return ((((bytes & low) + low) | bytes) & ~low) >> 7;
}

OP_INLINE uint64_t eight_at(const struct op_select_args *a, uint64_t i)
{
    return ones_of(*(const __gm__ volatile uint64_t *)(a->mask + i));
}

/* Whether elements [i, i + 8) are bytes before `end` that can be read together. */
OP_INLINE bool has_eight(const struct op_select_args *a, uint64_t i, uint64_t end)
{
    return a->bytes && (a->mask + i) % 8 == 0 && i + 8 <= end;
}

OP_INLINE uint64_t count_of(uint64_t ones)
{
    return ones * 0x0101010101010101 >> 56;
}

OP_INLINE uint64_t parts_of(const struct op_select_args *a)
{
    return (a->elements + OP_SELECT_PART - 1) / OP_SELECT_PART;
}

__global__ __vector__ void select_count(struct op_select_args args)
{
    const struct op_select_args a = args;
    const uint64_t begin = (uint64_t)get_block_idx() * a.per_block;
    const uint64_t end = op_min64(begin + a.per_block, parts_of(&a));
    for (uint64_t part = begin; part < end; part++) {
        const uint64_t last = op_min64((part + 1) * OP_SELECT_PART, a.elements);
        uint64_t count = 0;
        for (uint64_t i = part * OP_SELECT_PART; i < last;) {
            if (has_eight(&a, i, last)) {
                count += count_of(eight_at(&a, i));
                i += 8;
            } else {
                count += is_set(&a, i++);
            }
        }
        ((__gm__ volatile uint64_t *)a.counts)[part] = count;
    }
    op_flush();
}

static uint64_t sum_counts(const struct op_select_args *a)
{
    uint64_t sum = 0;
    for (uint64_t part = 0; part < parts_of(a); part++) {
        sum += ((const __gm__ volatile uint64_t *)a->counts)[part];
    }
    if (get_block_idx() == 0) {
        *(__gm__ volatile uint64_t *)a->count = sum;
    }
    return sum;
}

/* Results [begin, end) of a block; boundaries of rows that do not begin with a line lie `shift`
 * results before. */
struct share {
    uint64_t begin, end, shift;
};

static struct share share_of(const struct op_select_args *a, uint64_t count, uint32_t unit,
                             uint64_t row)
{
    const uint64_t line = OP_LINE / unit, blocks = (uint64_t)get_block_num(),
                   block = (uint64_t)get_block_idx();
    const uint64_t each = ((count + blocks - 1) / blocks + line - 1) / line * line + line;
    struct share s = {block * each, (block + 1) * each, (a->out / unit + row * count) % line};
    s.begin -= op_min64(s.begin, s.shift);
    s.end = op_min64(s.end - s.shift, count);
    return s;
}

/* The first element of the mask that may be a result from n on; n becomes the number of the first
 * one there. */
static uint64_t find_part(const struct op_select_args *a, uint64_t *n)
{
    uint64_t before = 0, part = 0;
    for (; part < parts_of(a); part++) {
        const uint64_t here = ((const __gm__ volatile uint64_t *)a->counts)[part];
        if (before + here > *n) {
            break;
        }
        before += here;
    }
    *n = before;
    return part * OP_SELECT_PART;
}

/* Over eight elements of which none is a result of the block, whose first one is `first`. */
OP_INLINE uint64_t skip(const struct op_select_args *a, uint64_t i, uint64_t *n, uint64_t first)
{
    if (!has_eight(a, i, a->elements)) {
        return i;
    }
    const uint64_t here = count_of(eight_at(a, i));
    if (here != 0 && *n + here > first) {
        return i;
    }
    *n += here;
    return i + 8;
}

static void put_position(const struct op_select_args *a, const struct share *shares, uint64_t count,
                         uint64_t n, uint64_t i)
{
    __gm__ int64_t *out = (__gm__ int64_t *)a->out;
    for (uint32_t d = a->rank; d-- > 0;) {
        const uint64_t above = i / (uint64_t)a->dim[d];
        const struct share *s = &shares[a->columns ? d : 0];
        if (n >= s->begin && n < s->end) {
            out[a->columns ? d * count + n : n * a->rank + d] =
                (int64_t)(i - above * (uint64_t)a->dim[d]);
        }
        i = above;
    }
}

__global__ __vector__ void select_positions(struct op_select_args args)
{
    const struct op_select_args a = args;
    const uint64_t count = sum_counts(&a);
    struct share shares[OP_RANK_MAX];
    uint64_t first = UINT64_MAX, last = 0;
    for (uint32_t d = 0; d < (a.columns ? a.rank : 1u); d++) {
        shares[d] = share_of(&a, count, 8, d);
        if (!a.columns) { // of whole rows, whose lines a matrix off a line's begin may cut
            const bool alone = a.out % OP_LINE != 0;
            shares[d].begin = alone ? 0 : shares[d].begin + shares[d].shift;
            shares[d].end = alone ? (get_block_idx() == 0 ? count : 0) : shares[d].end;
        }
        first = op_min64(first, shares[d].begin);
        last = shares[d].end > last ? shares[d].end : last;
    }
    uint64_t n = first;
    for (uint64_t i = find_part(&a, &n); n < last;) {
        const uint64_t next = skip(&a, i, &n, first);
        if (next > i) {
            i = next;
            continue;
        }
        if (is_set(&a, i)) {
            put_position(&a, shares, count, n, i);
            n++;
        }
        i++;
    }
    op_flush();
}

__global__ __vector__ void select_values(struct op_select_args args)
{
    const struct op_select_args a = args;
    const uint32_t unit = op_bytes_of(a.out_type);
    const uint64_t count = sum_counts(&a);
    const struct share share = share_of(&a, count, unit, 0);
    uint64_t n = share.begin;
    for (uint64_t i = find_part(&a, &n); n < share.end; i++) {
        for (uint64_t next; (next = skip(&a, i, &n, share.begin)) > i;) {
            i = next;
        }
        if (!is_set(&a, i)) {
            continue;
        }
        if (n >= share.begin) {
            const uint64_t from =
                a.dense ? a.in + i * unit : a.in + op_offset(a.rank, a.dim, a.in_stride, i);
            if (a.in_type <= OP_TYPE_F64) {
                op_put_d(a.out + n * unit, a.out_type, op_get_d(from, a.in_type));
            } else {
                op_put_i(a.out + n * unit, a.out_type, op_get_i(from, a.in_type));
            }
        }
        n++;
    }
    op_flush();
}

#if __NPU_ARCH__ == 2201
#include "select_lanes_device_2201.h"
#endif
