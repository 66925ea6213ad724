/* SPDX-License-Identifier: Apache-2.0 */
/* Bags of embeddings, on the scalar unit. */
#include "../device/element.h"
#include "bag_args.h"

#include <math.h>
#include <stdbool.h>

OP_INLINE int64_t index_at(const struct op_bag_args *a, uint64_t i)
{
    const int64_t index = ((const __gm__ int64_t *)a->indices)[i];
    if (index < 0 || (uint64_t)index >= a->rows) {
        trap(); // an index that the table does not have
    }
    return index;
}

OP_INLINE double element(const struct op_bag_args *a, int64_t row, uint64_t column)
{
    return op_get_d(a->weight + ((uint64_t)row * a->columns + column) * op_bytes_of(a->type),
                    a->type);
}

/* Indices [begin, end) of a bag. */
static struct op_span range_of(const struct op_bag_args *a, uint64_t bag)
{
    const __gm__ int64_t *offsets = (const __gm__ int64_t *)a->offsets;
    const uint64_t begin = (uint64_t)offsets[bag],
                   end = bag + 1 < a->bags ? (uint64_t)offsets[bag + 1] : a->count;
    return (struct op_span){op_min64(begin, a->count), op_min64(end, a->count)};
}

static double entry(const struct op_bag_args *a, struct op_span range, uint64_t column,
                    int64_t *which)
{
    double sum = 0;
    int64_t used = 0;
    *which = 0;
    for (uint64_t i = range.begin; i < range.end; i++) {
        const int64_t row = index_at(a, i);
        if (row == a->padding) {
            continue;
        }
        double x = element(a, row, column);
        if (a->mode == OP_BAG_MAX) {
            if (used == 0 || x > sum || x != x) {
                sum = x;
                *which = row;
            }
        } else {
            x *= a->weights
                     ? op_get_d(a->weights + i * op_bytes_of(a->weights_type), a->weights_type)
                     : 1;
            sum += x;
        }
        used++;
    }
    return a->mode == OP_BAG_MEAN && used ? sum / (double)used : sum;
}

__global__ __vector__ void bag_reduce(struct op_bag_args args)
{
    const struct op_bag_args a = args;
    const struct op_span span = op_block_span(a.out, a.type, a.bags * a.columns, a.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        int64_t which;
        const double value = entry(&a, range_of(&a, i / a.columns), i % a.columns, &which);
        op_put_d(a.out + i * op_bytes_of(a.type), a.type, value);
    }
    op_flush();
}

/* What the gradient needs, by one block. */
__global__ __vector__ void bag_describe(struct op_bag_args args)
{
    const struct op_bag_args a = args;
    for (uint64_t bag = 0; bag < a.bags; bag++) {
        const struct op_span range = range_of(&a, bag);
        int64_t used = 0;
        for (uint64_t i = range.begin; i < range.end; i++) {
            used += index_at(&a, i) != a.padding;
            if (a.offset2bag) {
                ((__gm__ int64_t *)a.offset2bag)[i] = (int64_t)bag;
            }
        }
        if (a.bag_size) {
            ((__gm__ int64_t *)a.bag_size)[bag] = used;
        }
        for (uint64_t column = 0; a.max_indices && column < a.columns; column++) {
            int64_t which;
            (void)entry(&a, range, column, &which);
            ((__gm__ int64_t *)a.max_indices)[bag * a.columns + column] = which;
        }
    }
    op_flush();
}
