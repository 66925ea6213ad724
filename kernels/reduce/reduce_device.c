/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions on the scalar unit: floats in double, integers in 64 bits, element by element in the
 * order of memory.
 */
#include "../device/element.h"
#include "../device/walk.h"
#include "reduce_args.h"

#include <math.h>
#include <stdbool.h>

/* A walk over the inner index space. */
struct walk {
    uint64_t addr;
    int64_t index[OP_RANK_MAX];
};

OP_INLINE struct walk walk_begin(uint64_t addr)
{
    struct walk walk = {.addr = addr};
    return walk;
}

OP_INLINE void walk_next(const struct op_reduce_args *a, struct walk *walk)
{
    for (uint32_t d = a->inner_rank; d-- > 0;) {
        walk->addr += (uint64_t)a->inner_stride[d];
        if (++walk->index[d] < a->inner_dim[d]) {
            return;
        }
        walk->addr -= (uint64_t)(a->inner_stride[d] * a->inner_dim[d]);
        walk->index[d] = 0;
    }
}

struct result {
    double value, second;
};

OP_INLINE bool better(uint32_t mode, double x, double best)
{
    return mode == OP_REDUCE_MAX ? x > best : x < best;
}

static struct result extreme_d(const struct op_reduce_args *a, uint64_t base)
{
    struct walk walk = walk_begin(base);
    struct result best = {op_get_d(base, a->in_type), 0};
    for (uint64_t i = 0; i < a->inner_count; i++) {
        const double x = op_get_d(walk.addr, a->in_type);
        if (better(a->mode, x, best.value) || (x != x && best.value == best.value)) {
            best = (struct result){x, (double)i};
        }
        walk_next(a, &walk);
    }
    return best;
}

static double norm_d(const struct op_reduce_args *a, uint64_t base)
{
    struct walk walk = walk_begin(base);
    const double p = a->p;
    double sum = p == -INFINITY && a->inner_count ? INFINITY : 0;
    for (uint64_t i = 0; i < a->inner_count; i++) {
        const double x = fabs(op_get_d(walk.addr, a->in_type));
        if (p == 2) {
            sum += x * x;
        } else if (p == 1) {
            sum += x;
        } else if (p == 0) {
            sum += x != 0;
        } else if (p == INFINITY) {
            sum = x > sum || x != x ? x : sum;
        } else if (p == -INFINITY) {
            sum = x < sum || x != x ? x : sum;
        } else {
            sum += pow(x, p);
        }
        walk_next(a, &walk);
    }
    if (p == 2) {
        return sqrt(sum);
    }
    return p == 0 || p == 1 || p == INFINITY || p == -INFINITY ? sum : pow(sum, 1 / p);
}

static double log_sum_exp_d(const struct op_reduce_args *a, uint64_t base)
{
    if (a->inner_count == 0) {
        return -INFINITY;
    }
    struct op_reduce_args largest = *a;
    largest.mode = OP_REDUCE_MAX;
    const double most = extreme_d(&largest, base).value;
    const double shift = most == INFINITY || most == -INFINITY ? 0 : most;
    struct walk walk = walk_begin(base);
    double sum = 0;
    for (uint64_t i = 0; i < a->inner_count; i++) {
        sum += exp(op_get_d(walk.addr, a->in_type) - shift);
        walk_next(a, &walk);
    }
    return log(sum) + shift;
}

/* Two passes: the second sums squared distances from the mean of the first. */
static struct result variance_d(const struct op_reduce_args *a, uint64_t base)
{
    struct walk walk = walk_begin(base);
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < a->inner_count; i++) {
        sum += op_get_d(walk.addr, a->in_type);
        walk_next(a, &walk);
    }
    const double mean = sum / (double)a->inner_count;
    walk = walk_begin(base);
    for (uint64_t i = 0; i < a->inner_count; i++) {
        const double distance = op_get_d(walk.addr, a->in_type) - mean;
        squares += distance * distance;
        walk_next(a, &walk);
    }
    const double divisor = (double)((int64_t)a->inner_count - a->correction);
    const double variance = squares / (divisor > 0 ? divisor : 0);
    return (struct result){a->mode == OP_REDUCE_STD ? sqrt(variance) : variance, mean};
}

static double fold_d(const struct op_reduce_args *a, uint64_t base)
{
    struct walk walk = walk_begin(base);
    double acc = a->mode == OP_REDUCE_PROD;
    for (uint64_t i = 0; i < a->inner_count; i++) {
        const double x = op_get_d(walk.addr, a->in_type);
        if (a->mode == OP_REDUCE_PROD) {
            acc *= x;
        } else if (a->mode != OP_REDUCE_NANSUM || x == x) {
            acc += x;
        }
        walk_next(a, &walk);
    }
    return a->mode == OP_REDUCE_MEAN ? acc / (double)a->inner_count : acc;
}

/* all and any end at the first element that decides. */
static double logic_d(const struct op_reduce_args *a, uint64_t base)
{
    struct walk walk = walk_begin(base);
    const bool any = a->mode == OP_REDUCE_ANY;
    for (uint64_t i = 0; i < a->inner_count; i++) {
        if ((op_get_d(walk.addr, a->in_type) != 0) == any) {
            return any;
        }
        walk_next(a, &walk);
    }
    return !any;
}

static struct result reduce_one_d(const struct op_reduce_args *a, uint64_t base)
{
    switch (a->mode) {
    case OP_REDUCE_MAX:
    case OP_REDUCE_MIN:
        return extreme_d(a, base);
    case OP_REDUCE_ALL:
    case OP_REDUCE_ANY:
        return (struct result){logic_d(a, base), 0};
    case OP_REDUCE_NORM:
        return (struct result){norm_d(a, base), 0};
    case OP_REDUCE_LOG_SUM_EXP:
        return (struct result){log_sum_exp_d(a, base), 0};
    case OP_REDUCE_VAR:
    case OP_REDUCE_STD:
        return variance_d(a, base);
    default:
        return (struct result){fold_d(a, base), 0};
    }
}

struct result_i {
    int64_t value, second;
};

static struct result_i reduce_one_i(const struct op_reduce_args *a, uint64_t base)
{
    struct walk walk = walk_begin(base);
    const bool extreme = a->mode == OP_REDUCE_MAX || a->mode == OP_REDUCE_MIN;
    struct result_i acc = {a->mode == OP_REDUCE_PROD, 0};
    if (extreme) {
        acc.value = op_get_i(base, a->in_type);
    }
    for (uint64_t i = 0; i < a->inner_count; i++) {
        const int64_t x = op_get_i(walk.addr, a->in_type);
        if (a->mode == OP_REDUCE_PROD) {
            acc.value *= x;
        } else if (!extreme) {
            acc.value += x;
        } else if (a->mode == OP_REDUCE_MAX ? x > acc.value : x < acc.value) {
            acc = (struct result_i){x, (int64_t)i};
        }
        walk_next(a, &walk);
    }
    return acc;
}

__global__ __vector__ void reduce_d(struct op_reduce_args args)
{
    const struct op_reduce_args a = args;
    const struct op_span span = op_block_span(a.out, a.out_type, a.outer_count, a.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const struct result result =
            reduce_one_d(&a, a.in + op_offset(a.outer_rank, a.outer_dim, a.outer_stride, i));
        op_put_d(a.out + i * op_bytes_of(a.out_type), a.out_type, result.value);
        if (a.second) {
            op_put_d(a.second + i * op_bytes_of(a.second_type), a.second_type, result.second);
        }
    }
    op_flush();
}

__global__ __vector__ void reduce_i(struct op_reduce_args args)
{
    const struct op_reduce_args a = args;
    const struct op_span span = op_block_span(a.out, a.out_type, a.outer_count, a.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const struct result_i result =
            reduce_one_i(&a, a.in + op_offset(a.outer_rank, a.outer_dim, a.outer_stride, i));
        op_put_i(a.out + i * op_bytes_of(a.out_type), a.out_type, result.value);
        if (a.second) {
            op_put_i(a.second + i * op_bytes_of(a.second_type), a.second_type, result.second);
        }
    }
    op_flush();
}
