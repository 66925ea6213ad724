/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting along one dimension on the scalar unit: a stable merge sort of 64-bit keys with their
 * positions. Keys order floats with NaN largest and the two zeros alike.
 */
#include "../device/element.h"
#include "../device/walk.h"
#include "sort_args.h"

#include <stdbool.h>

struct item {
    int64_t key, index;
};

static int64_t key_of(uint64_t addr, uint32_t type)
{
    if (type > OP_TYPE_F64) {
        return op_get_i(addr, type);
    }
    union {
        double d;
        int64_t i;
    } bits = {.d = op_get_d(addr, type) + 0.0};
    if (bits.d != bits.d) {
        return INT64_MAX;
    }
    return bits.i < 0 ? INT64_MIN - bits.i : bits.i;
}

static bool before(const struct op_sort_args *a, int64_t left, int64_t right)
{
    return a->descending ? left > right : left < right;
}

/* Merges runs of `width` from one half of the scratch space into the other. */
static void merge_pass(const struct op_sort_args *a, const __gm__ struct item *from,
                       __gm__ struct item *to, uint64_t width)
{
    for (uint64_t at = 0; at < a->length; at += 2 * width) {
        const uint64_t middle = op_min64(at + width, a->length);
        const uint64_t end = op_min64(at + 2 * width, a->length);
        uint64_t left = at, right = middle;
        for (uint64_t i = at; i < end; i++) {
            const bool take_right =
                left == middle || (right < end && before(a, from[right].key, from[left].key));
            to[i] = from[take_right ? right++ : left++];
        }
    }
}

static void sort_row(const struct op_sort_args *a, uint64_t in, __gm__ struct item *scratch,
                     uint64_t index)
{
    __gm__ struct item *from = scratch, *to = scratch + a->length;
    for (uint64_t i = 0; i < a->length; i++) {
        from[i].key = key_of(in + i * (uint64_t)a->step, a->in_type);
        from[i].index = (int64_t)i;
    }
    for (uint64_t width = 1; width < a->length; width *= 2) {
        merge_pass(a, from, to, width);
        __gm__ struct item *swap = from;
        from = to;
        to = swap;
    }
    for (uint64_t i = 0; i < a->length; i++) {
        ((__gm__ int64_t *)index)[i] = from[i].index;
    }
}

__global__ __vector__ void sort_rows(struct op_sort_args args)
{
    const struct op_sort_args a = args;
    const uint64_t begin = (uint64_t)get_block_idx() * a.per_block;
    const uint64_t end = op_min64(begin + a.per_block, a.rows);
    for (uint64_t i = begin; i < end; i++) {
        sort_row(&a, a.in + op_offset(a.rank, a.dim, a.stride, i),
                 (__gm__ struct item *)(a.scratch + i * a.length * 2 * sizeof(struct item)),
                 a.index + i * a.length * 8);
    }
    op_flush();
}

static void scan_d(const struct op_sort_args *a, uint64_t in, uint64_t row)
{
    double total = a->mode == OP_SCAN_PROD;
    int64_t where = 0;
    for (uint64_t i = 0; i < a->length; i++) {
        const double x = op_get_d(in + i * (uint64_t)a->step, a->in_type);
        const bool extreme = a->mode == OP_SCAN_MAX || a->mode == OP_SCAN_MIN;
        if (a->mode == OP_SCAN_SUM) {
            total += x;
        } else if (a->mode == OP_SCAN_PROD) {
            total *= x;
        } else if (i == 0 || x != x ||
                   (total == total && (a->mode == OP_SCAN_MAX ? x >= total : x <= total))) {
            total = x;
            where = (int64_t)i;
        }
        const uint64_t at = row * a->length + i;
        op_put_d(a->out + at * op_bytes_of(a->out_type), a->out_type, total);
        if (extreme && a->index) {
            ((__gm__ int64_t *)a->index)[at] = where;
        }
    }
}

static void scan_i(const struct op_sort_args *a, uint64_t in, uint64_t row)
{
    int64_t total = a->mode == OP_SCAN_PROD, where = 0;
    for (uint64_t i = 0; i < a->length; i++) {
        const int64_t x = op_get_i(in + i * (uint64_t)a->step, a->in_type);
        if (a->mode == OP_SCAN_SUM) {
            total += x;
        } else if (a->mode == OP_SCAN_PROD) {
            total *= x;
        } else if (i == 0 || (a->mode == OP_SCAN_MAX ? x >= total : x <= total)) {
            total = x;
            where = (int64_t)i;
        }
        const uint64_t at = row * a->length + i;
        op_put_i(a->out + at * op_bytes_of(a->out_type), a->out_type, total);
        if (a->index && (a->mode == OP_SCAN_MAX || a->mode == OP_SCAN_MIN)) {
            ((__gm__ int64_t *)a->index)[at] = where;
        }
    }
}

__global__ __vector__ void scan_rows(struct op_sort_args args)
{
    const struct op_sort_args a = args;
    const uint64_t begin = (uint64_t)get_block_idx() * a.per_block;
    const uint64_t end = op_min64(begin + a.per_block, a.rows);
    const bool integer = a.in_type > OP_TYPE_F64 && a.out_type > OP_TYPE_F64;
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t in = a.in + op_offset(a.rank, a.dim, a.stride, i);
        if (integer) {
            scan_i(&a, in, i);
        } else {
            scan_d(&a, in, i);
        }
    }
    op_flush();
}
