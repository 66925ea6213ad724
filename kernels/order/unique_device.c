/* SPDX-License-Identifier: Apache-2.0 */
/* Slices without repetition, by one block of the scalar unit: their order by a stable merge sort,
 * then each that differs from the one before it. */
#include "../device/element.h"
#include "unique_args.h"

#include <stdbool.h>

OP_INLINE uint64_t row_at(const struct op_unique_args *a, int64_t row)
{
    return a->in + (uint64_t)row * a->outer * a->inner * op_bytes_of(a->type);
}

/* -1, 0, 1; NaN is larger than all and, for the order, like itself. */
static int compare_elements(uint64_t left, uint64_t right, uint32_t type)
{
    if (type > OP_TYPE_F64) {
        const int64_t x = op_get_i(left, type), y = op_get_i(right, type);
        return x < y ? -1 : x > y;
    }
    const double x = op_get_d(left, type), y = op_get_d(right, type);
    return x != x ? y == y : y != y ? -1 : x < y ? -1 : x > y;
}

static int compare(const struct op_unique_args *a, int64_t left, int64_t right)
{
    const uint64_t x = row_at(a, left), y = row_at(a, right), count = a->outer * a->inner;
    const uint32_t unit = op_bytes_of(a->type);
    for (uint64_t i = 0; i < count; i++) {
        const int order = compare_elements(x + i * unit, y + i * unit, a->type);
        if (order) {
            return order;
        }
    }
    return 0;
}

/* As == has it: NaN differs from itself. */
static bool same(const struct op_unique_args *a, int64_t left, int64_t right)
{
    const uint64_t x = row_at(a, left), y = row_at(a, right), count = a->outer * a->inner;
    const uint32_t unit = op_bytes_of(a->type);
    for (uint64_t i = 0; i < count; i++) {
        const bool equal = a->type > OP_TYPE_F64
                               ? op_get_i(x + i * unit, a->type) == op_get_i(y + i * unit, a->type)
                               : op_get_d(x + i * unit, a->type) == op_get_d(y + i * unit, a->type);
        if (!equal) {
            return false;
        }
    }
    return true;
}

static void merge_pass(const struct op_unique_args *a, const __gm__ int64_t *from,
                       __gm__ int64_t *to, uint64_t width)
{
    for (uint64_t at = 0; at < a->rows; at += 2 * width) {
        const uint64_t middle = op_min64(at + width, a->rows),
                       end = op_min64(at + 2 * width, a->rows);
        uint64_t left = at, right = middle;
        for (uint64_t i = at; i < end; i++) {
            const bool take_right =
                left == middle || (right < end && compare(a, from[right], from[left]) < 0);
            to[i] = from[take_right ? right++ : left++];
        }
    }
}

static void copy_row(const struct op_unique_args *a, int64_t row, uint64_t at, uint64_t count)
{
    const uint32_t unit = op_bytes_of(a->type);
    for (uint64_t o = 0; o < a->outer; o++) {
        for (uint64_t i = 0; i < a->inner; i++) {
            const uint64_t from = row_at(a, row) + (o * a->inner + i) * unit,
                           to = a->values + ((o * count + at) * a->inner + i) * unit;
            if (a->type > OP_TYPE_F64) {
                op_put_i(to, a->type, op_get_i(from, a->type));
            } else {
                op_put_d(to, a->type, op_get_d(from, a->type));
            }
        }
    }
}

__global__ __vector__ void unique(struct op_unique_args args)
{
    const struct op_unique_args a = args;
    __gm__ int64_t *order = (__gm__ int64_t *)a.scratch, *other = order + a.rows;
    __gm__ int64_t *kept = order + 2 * a.rows, *times = order + 3 * a.rows;
    for (uint64_t i = 0; i < a.rows; i++) {
        order[i] = (int64_t)i;
    }
    for (uint64_t width = 1; a.sorted && width < a.rows; width *= 2) {
        merge_pass(&a, order, other, width);
        __gm__ int64_t *swap = order;
        order = other;
        other = swap;
    }
    uint64_t count = 0;
    for (uint64_t i = 0; i < a.rows; i++) {
        const int64_t row = order[i];
        if (i == 0 || !same(&a, order[i - 1], row)) {
            kept[count] = row;
            times[count++] = 0;
        }
        times[count - 1]++;
        if (a.inverse) {
            ((__gm__ int64_t *)a.inverse)[row] = (int64_t)count - 1;
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        copy_row(&a, kept[i], i, count);
        if (a.counts) {
            ((__gm__ int64_t *)a.counts)[i] = times[i];
        }
    }
    *(__gm__ volatile uint64_t *)a.count = count;
    op_flush();
}
