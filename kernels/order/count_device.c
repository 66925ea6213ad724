/* SPDX-License-Identifier: Apache-2.0 */
/* Places in sorted lists by bisection, and counts, on the scalar unit. */
#include "../device/element.h"
#include "count_args.h"

#include <stdbool.h>

/* Whether x belongs behind the element at `addr`. */
static bool is_behind(const struct op_search_args *a, uint64_t x, uint64_t addr)
{
    if (a->in_type > OP_TYPE_F64 && a->sorted_type > OP_TYPE_F64) {
        const int64_t value = op_get_i(x, a->in_type), element = op_get_i(addr, a->sorted_type);
        return a->right ? !(element > value) : !(element >= value);
    }
    const double value = op_get_d(x, a->in_type), element = op_get_d(addr, a->sorted_type);
    return a->right ? !(element > value) : !(element >= value);
}

__global__ __vector__ void count_search(struct op_search_args args)
{
    const struct op_search_args a = args;
    const struct op_span span = op_block_span(a.out, OP_TYPE_I64, a.count, a.per_block);
    const uint32_t unit = op_bytes_of(a.sorted_type);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const uint64_t row = a.shared ? 0 : i / a.per_row * a.length,
                       x = a.in + i * op_bytes_of(a.in_type);
        uint64_t low = 0, high = a.length;
        while (low < high) {
            const uint64_t middle = (low + high) / 2;
            const uint64_t at =
                a.sorter ? (uint64_t)((const __gm__ int64_t *)a.sorter)[row + middle] : middle;
            if (is_behind(&a, x, a.sorted + (row + at) * unit)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        ((__gm__ int64_t *)a.out)[i] = (int64_t)low;
    }
    op_flush();
}

/* The block's elements and its counts, which become 0: the same bits as 0.0. */
static struct op_span begin_counts(struct op_count_args *a)
{
    const uint64_t block = (uint64_t)get_block_idx();
    a->out += block * a->pitch;
    for (uint64_t i = 0; i < a->bins; i++) {
        ((__gm__ int64_t *)a->out)[i] = 0;
    }
    return (struct op_span){op_min64(block * a->per_block, a->count),
                            op_min64((block + 1) * a->per_block, a->count)};
}

__global__ __vector__ void count_bins(struct op_count_args args)
{
    struct op_count_args a = args;
    const struct op_span span = begin_counts(&a);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const int64_t bin = op_get_i(a.in + i * op_bytes_of(a.in_type), a.in_type);
        if (bin < 0 || (uint64_t)bin >= a.bins) {
            trap(); // a number that has no bin
        }
        if (a.weights) {
            ((__gm__ double *)a.out)[bin] +=
                op_get_d(a.weights + i * op_bytes_of(a.weight_type), a.weight_type);
        } else {
            ((__gm__ int64_t *)a.out)[bin]++;
        }
    }
    op_flush();
}

OP_INLINE double narrow(const struct op_count_args *a, double x)
{
    return a->wide ? x : (double)(float)x;
}

/* Edge i of the ranges, counted from the nearer end. */
static double edge(const struct op_count_args *a, int64_t i)
{
    const int64_t bins = (int64_t)a->bins;
    const double step = narrow(a, (a->high - a->low) / (double)bins);
    return i < (bins + 1) / 2 ? narrow(a, a->low + narrow(a, step * (double)i))
                              : narrow(a, a->high - narrow(a, step * (double)(bins - i)));
}

__global__ __vector__ void count_range(struct op_count_args args)
{
    struct op_count_args copy = args, *a = &copy;
    const uint32_t unit = op_bytes_of(a->in_type);
    if (a->low == a->high && a->count) {
        a->low = a->high = op_get_d(a->in, a->in_type);
        for (uint64_t i = 1; i < a->count; i++) {
            const double x = op_get_d(a->in + i * unit, a->in_type);
            a->low = x < a->low ? x : a->low;
            a->high = x > a->high ? x : a->high;
        }
    }
    if (a->low == a->high) {
        a->low -= 1;
        a->high += 1;
    }
    ((__gm__ volatile double *)a->range)[0] = a->low;
    ((__gm__ volatile double *)a->range)[1] = a->high;
    op_flush();
}

__global__ __vector__ void count_histogram(struct op_count_args args)
{
    struct op_count_args a = args;
    const int64_t bins = (int64_t)a.bins;
    const struct op_span span = begin_counts(&a);
    a.low = ((const __gm__ volatile double *)a.range)[0];
    a.high = ((const __gm__ volatile double *)a.range)[1];
    for (uint64_t i = span.begin; i < span.end; i++) {
        const double x = op_get_d(a.in + i * op_bytes_of(a.in_type), a.in_type);
        if (!(x >= a.low && x <= a.high)) {
            continue; // NaN, too
        }
        int64_t bin =
            (int64_t)narrow(&a, narrow(&a, (x - a.low) * (double)bins) / (a.high - a.low));
        bin = bin >= bins ? bins - 1 : bin;
        // Rounding may have put it beside the range its edges say.
        if (bin > 0 && x < edge(&a, bin)) {
            bin--;
        } else if (bin + 1 < bins && x >= edge(&a, bin + 1)) {
            bin++;
        }
        ((__gm__ int64_t *)a.out)[bin]++;
    }
    op_flush();
}

__global__ __vector__ void count_repeat(struct op_repeat_args args)
{
    const struct op_repeat_args a = args;
    uint64_t used = 0;
    for (uint64_t i = 0; i < a.count; i++) {
        const int64_t times =
            op_get_i(a.repeats + (a.single ? 0 : i) * op_bytes_of(a.type), a.type);
        if (times < 0 || (uint64_t)times > a.total - used) {
            trap(); // the numbers of repeats and the size of the output differ
        }
        for (int64_t k = 0; k < times; k++) {
            ((__gm__ int64_t *)a.out)[used++] = (int64_t)i;
        }
    }
    if (used != a.total) {
        trap();
    }
    op_flush();
}
