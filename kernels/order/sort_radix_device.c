/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting on the scalar units: rows in UB by their keys' bytes, from the lowest one (a radix sort,
 * stable by itself). An item is the key, as an unsigned number in the order asked for, over its
 * position. Longer rows are sorted in parts, whose items the cores merge, each a share of the
 * result.
 *
 * Flags, event 0: MTE2 -> S: the row is there; S -> MTE3: results are; MTE3 -> S: they are stored.
 */
#include "../device/copy.h"
#include "../device/element.h"
#include "sort_args.h"

enum {
    ITEM = 8,
    DIGITS = 256,
    SHORT = 32, /* elements of a row */
    FEW = 16,   /* [A] that are kept; more are found sooner among sorted ones */
    FROM = 0,
    TO = FROM + OP_SORT_PART * ITEM,
    ROW = TO + OP_SORT_PART * ITEM,
    VALUES = ROW + OP_SORT_PART * 4,
    COUNTS = VALUES + OP_SORT_PART * 4, /* of each digit's 256 values */
};

OP_INLINE __ubuf__ volatile uint64_t *items(uint32_t at)
{
    return (__ubuf__ volatile uint64_t *)(uintptr_t)at;
}

OP_INLINE __ubuf__ volatile uint32_t *counts(uint32_t digit)
{
    return (__ubuf__ volatile uint32_t *)(uintptr_t)(COUNTS + digit * DIGITS * 4);
}

/* Floats: NaN largest, the two zeros alike. `most`: all bits of the type. */
OP_INLINE uint32_t float_key(uint32_t bits, uint32_t infinity, uint32_t most)
{
    const uint32_t sign = most ^ most >> 1;
    if ((bits & ~sign) > infinity) {
        return most;
    }
    if (bits == sign) {
        return sign;
    }
    return bits & sign ? bits ^ most : bits | sign;
}

OP_INLINE uint32_t key_at(uint32_t type, uint32_t i)
{
    switch (type) {
    case OP_TYPE_F32:
        return float_key(((const __ubuf__ volatile uint32_t *)(uintptr_t)ROW)[i], 0x7f800000u,
                         0xffffffffu);
    case OP_TYPE_F16:
        return float_key(((const __ubuf__ volatile uint16_t *)(uintptr_t)ROW)[i], 0x7c00u, 0xffffu);
    case OP_TYPE_BF16:
        return float_key(((const __ubuf__ volatile uint16_t *)(uintptr_t)ROW)[i], 0x7f80u, 0xffffu);
    case OP_TYPE_I32:
        return ((const __ubuf__ volatile uint32_t *)(uintptr_t)ROW)[i] ^ 0x80000000u;
    case OP_TYPE_I16:
        return ((const __ubuf__ volatile uint16_t *)(uintptr_t)ROW)[i] ^ 0x8000u;
    case OP_TYPE_I8:
        return ((const __ubuf__ volatile uint8_t *)(uintptr_t)ROW)[i] ^ 0x80u;
    default: // u8 and bool
        return ((const __ubuf__ volatile uint8_t *)(uintptr_t)ROW)[i];
    }
}

/* Rows too short for 256 places a byte: each item goes down to where it belongs. */
static void insert_items(const struct op_radix_args *t, uint32_t count)
{
    const uint32_t flip = t->descending ? 0xffffffffu : 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t item = (uint64_t)(key_at(t->type, i) ^ flip) << 32 | i;
        uint32_t at = i;
        for (; at > 0 && items(FROM)[at - 1] > item; at--) {
            items(FROM)[at] = items(FROM)[at - 1];
        }
        items(FROM)[at] = item;
    }
}

/* The first `keep` items of a row in order, of which there are few: most others are only compared
 * with the last of them. */
static void pick_items(const struct op_radix_args *t, uint32_t count)
{
    const uint32_t flip = t->descending ? 0xffffffffu : 0, keep = (uint32_t)t->keep;
    uint64_t last = UINT64_MAX;
    uint32_t held = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t item = (uint64_t)(key_at(t->type, i) ^ flip) << 32 | i;
        if (held == keep && item > last) {
            continue;
        }
        uint32_t at = held < keep ? held++ : keep - 1;
        for (; at > 0 && items(FROM)[at - 1] > item; at--) {
            items(FROM)[at] = items(FROM)[at - 1];
        }
        items(FROM)[at] = item;
        last = items(FROM)[held - 1];
    }
}

/* Items of the row, and how often each value of each byte of a key is there. */
static void make_items(const struct op_radix_args *t, uint32_t count, uint32_t first)
{
    const uint32_t flip = t->descending ? 0xffffffffu : 0;
    for (uint32_t i = 0; i < DIGITS * t->unit; i++) {
        counts(0)[i] = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t key = key_at(t->type, i) ^ flip;
        items(FROM)[i] = (uint64_t)key << 32 | (first + i);
        for (uint32_t digit = 0; digit < t->unit; digit++) {
            counts(digit)[key >> 8 * digit & 0xff]++;
        }
    }
}

/* Counts become where each value begins; false: all items have the same one. */
static bool make_places(uint32_t digit, uint32_t count)
{
    uint32_t begin = 0;
    for (uint32_t i = 0; i < DIGITS; i++) {
        const uint32_t here = counts(digit)[i];
        if (here == count) {
            return false;
        }
        counts(digit)[i] = begin;
        begin += here;
    }
    return true;
}

/* Where the items are, in order. */
static uint32_t sort_items(const struct op_radix_args *t, uint32_t count)
{
    uint32_t from = FROM, to = TO;
    for (uint32_t digit = 0; digit < t->unit; digit++) {
        if (!make_places(digit, count)) {
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t item = items(from)[i];
            const uint32_t value = (uint32_t)(item >> (32 + 8 * digit)) & 0xff;
            const uint32_t place = counts(digit)[value];
            counts(digit)[value] = place + 1;
            items(to)[place] = item;
        }
        const uint32_t swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static void put_value(uint32_t unit, uint32_t to, uint32_t from)
{
    if (unit == 4) {
        ((__ubuf__ volatile uint32_t *)(uintptr_t)VALUES)[to] =
            ((const __ubuf__ volatile uint32_t *)(uintptr_t)ROW)[from];
    } else if (unit == 2) {
        ((__ubuf__ volatile uint16_t *)(uintptr_t)VALUES)[to] =
            ((const __ubuf__ volatile uint16_t *)(uintptr_t)ROW)[from];
    } else {
        ((__ubuf__ volatile uint8_t *)(uintptr_t)VALUES)[to] =
            ((const __ubuf__ volatile uint8_t *)(uintptr_t)ROW)[from];
    }
}

/* The first `keep` of a row that is one part: values and positions to their places. */
static void give_row(const struct op_radix_args *t, uint64_t row, uint32_t from)
{
    const uint32_t keep = (uint32_t)t->keep;
    for (uint32_t i = 0; i < keep; i++) {
        const uint32_t index = (uint32_t)items(from)[i];
        put_value(t->unit, i, index);
        items(from)[i] = index;
    }
    set_flag(PIPE_S, PIPE_MTE3, 0);
    wait_flag(PIPE_S, PIPE_MTE3, 0);
    op_store(t->values + row * t->keep_pitch * t->unit, VALUES, keep * t->unit);
    op_store(t->index + row * t->keep_pitch * ITEM, from, keep * ITEM);
}

/* A block has parts [b * per_block, ...) of all rows' parts. */
__global__ __vector__ void sort_parts(struct op_radix_args args)
{
    const struct op_radix_args t = args;
    const uint64_t a_row = (t.length + OP_SORT_PART - 1) / OP_SORT_PART;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t end = op_min64(begin + t.per_block, t.rows * a_row);
    for (uint64_t part = begin; part < end; part++) {
        const uint64_t row = part / a_row, first = (part - row * a_row) * OP_SORT_PART;
        const uint32_t count = (uint32_t)op_min64(OP_SORT_PART, t.length - first);
        set_flag(PIPE_S, PIPE_MTE2, 0); // what was there has been read
        wait_flag(PIPE_S, PIPE_MTE2, 0);
        op_load(ROW, t.in + (row * t.length + first) * t.unit, count * t.unit);
        set_flag(PIPE_MTE2, PIPE_S, 0);
        wait_flag(PIPE_MTE2, PIPE_S, 0);
        uint32_t from = FROM;
        if (t.length <= SHORT) {
            insert_items(&t, count);
        } else if (a_row == 1 && t.keep <= FEW) {
            pick_items(&t, count);
        } else {
            make_items(&t, count, (uint32_t)first);
            from = sort_items(&t, count);
        }
        if (a_row == 1) {
            give_row(&t, row, from);
        } else {
            set_flag(PIPE_S, PIPE_MTE3, 0);
            wait_flag(PIPE_S, PIPE_MTE3, 0);
            op_store(t.items + (row * t.pitch + first) * ITEM, from, count * ITEM);
        }
        set_flag(PIPE_MTE3, PIPE_S, 0);
        wait_flag(PIPE_MTE3, PIPE_S, 0);
    }
    op_flush();
}

/* Two runs in order, side by side, and how far each is used up. */
struct runs {
    const __gm__ volatile uint64_t *left, *right;
    uint64_t left_count, right_count;
};

/* How many of the first `taken` items of the two runs together are the left one's. */
static uint64_t find_split(const struct runs *r, uint64_t taken)
{
    uint64_t low = taken > r->right_count ? taken - r->right_count : 0,
             high = op_min64(taken, r->left_count);
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (r->left[middle] < r->right[taken - 1 - middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Runs of t.width items become runs of twice as many; a block makes items [b * per_block, ...) of
 * the rows, gaps between them included. */
__global__ __vector__ void sort_merge(struct op_radix_args args)
{
    const struct op_radix_args t = args;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t end = op_min64(begin + t.per_block, t.rows * t.pitch);
    for (uint64_t at = begin; at < end;) {
        const uint64_t row = at / t.pitch, in_row = at - row * t.pitch;
        const uint64_t first = in_row / (2 * t.width) * (2 * t.width);
        const uint64_t middle = op_min64(first + t.width, t.length),
                       last = op_min64(first + 2 * t.width, t.length);
        const __gm__ volatile uint64_t *from =
            (const __gm__ volatile uint64_t *)(t.items + row * t.pitch * ITEM);
        __gm__ volatile uint64_t *to =
            (__gm__ volatile uint64_t *)(t.merged + row * t.pitch * ITEM);
        if (in_row >= t.length) {
            at = (row + 1) * t.pitch;
            continue;
        }
        const struct runs r = {from + first, from + middle, middle - first, last - middle};
        const uint64_t stop = op_min64(end - row * t.pitch, last);
        uint64_t left = find_split(&r, in_row - first), right = in_row - first - left;
        for (uint64_t i = in_row; i < stop; i++) {
            const bool take_left =
                right == r.right_count || (left < r.left_count && r.left[left] < r.right[right]);
            to[i] = take_left ? r.left[left++] : r.right[right++];
        }
        at = row * t.pitch + (stop == t.length ? t.pitch : stop);
    }
    op_flush();
}

OP_INLINE void copy_value(uint64_t to, uint64_t from, uint32_t unit)
{
    if (unit == 4) {
        *(__gm__ volatile uint32_t *)to = *(const __gm__ volatile uint32_t *)from;
    } else if (unit == 2) {
        *(__gm__ volatile uint16_t *)to = *(const __gm__ volatile uint16_t *)from;
    } else {
        *(__gm__ volatile uint8_t *)to = *(const __gm__ volatile uint8_t *)from;
    }
}

/* Values and positions of the first t.keep items of each row, of gaps included t.keep_pitch. */
__global__ __vector__ void sort_give(struct op_radix_args args)
{
    const struct op_radix_args t = args;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t end = op_min64(begin + t.per_block, t.rows * t.keep_pitch);
    uint64_t row = begin / t.keep_pitch, i = begin - row * t.keep_pitch;
    for (uint64_t at = begin; at < end; at++) {
        if (i < t.keep) {
            const uint32_t index =
                (uint32_t)((const __gm__ volatile uint64_t *)t.items)[row * t.pitch + i];
            copy_value(t.values + at * t.unit, t.in + (row * t.length + index) * t.unit, t.unit);
            ((__gm__ volatile int64_t *)t.index)[at] = index;
        }
        if (++i == t.keep_pitch) {
            i = 0;
            row++;
        }
    }
    op_flush();
}
