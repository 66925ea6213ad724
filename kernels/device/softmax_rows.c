/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax along one dimension on the scalar unit: exponentials in float, sums in double. */
#include "element.h"
#include "softmax_rows_args.h"

#include <math.h>

struct row {
    uint64_t out, a, b;
};

static struct row find_row(const struct op_softmax_args *t, uint64_t index)
{
    struct row row = {t->out, t->a, t->b};
    for (uint32_t d = t->rank; d-- > 0;) {
        const uint64_t above = index / (uint64_t)t->dim[d];
        const uint64_t at = index - above * (uint64_t)t->dim[d];
        row.out += at * (uint64_t)t->stride[0][d];
        row.a += at * (uint64_t)t->stride[1][d];
        row.b += at * (uint64_t)t->stride[2][d];
        index = above;
    }
    return row;
}

OP_INLINE float get_a(const struct op_softmax_args *t, const struct row *row, uint64_t i)
{
    return op_get_f(row->a + i * (uint64_t)t->step[1], t->a_type);
}

OP_INLINE float get_b(const struct op_softmax_args *t, const struct row *row, uint64_t i)
{
    return op_get_f(row->b + i * (uint64_t)t->step[2], t->b_type);
}

OP_INLINE void put(const struct op_softmax_args *t, const struct row *row, uint64_t i, float x)
{
    op_put_f(row->out + i * (uint64_t)t->step[0], t->out_type, x);
}

static void forward(const struct op_softmax_args *t, const struct row *row)
{
    float most = -INFINITY;
    double sum = 0;
    for (uint64_t i = 0; i < t->length; i++) {
        const float x = get_a(t, row, i);
        most = x > most || x != x ? x : most;
    }
    for (uint64_t i = 0; i < t->length; i++) {
        sum += (double)expf(get_a(t, row, i) - most);
    }
    if (t->mode == OP_SOFTMAX) {
        const float scale = (float)(1 / sum);
        for (uint64_t i = 0; i < t->length; i++) {
            put(t, row, i, expf(get_a(t, row, i) - most) * scale);
        }
        return;
    }
    const float shift = (float)log(sum);
    for (uint64_t i = 0; i < t->length; i++) {
        put(t, row, i, get_a(t, row, i) - most - shift);
    }
}

static void backward(const struct op_softmax_args *t, const struct row *row)
{
    double sum = 0;
    for (uint64_t i = 0; i < t->length; i++) {
        const double a = (double)get_a(t, row, i);
        sum += t->mode == OP_SOFTMAX_BACKWARD ? a * (double)get_b(t, row, i) : a;
    }
    for (uint64_t i = 0; i < t->length; i++) {
        const float a = get_a(t, row, i), b = get_b(t, row, i);
        put(t, row, i,
            t->mode == OP_SOFTMAX_BACKWARD ? b * (a - (float)sum) : a - expf(b) * (float)sum);
    }
}

__global__ __vector__ void softmax_rows(struct op_softmax_args args)
{
    const struct op_softmax_args t = args;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t end = op_min64(begin + t.per_block, t.rows);
    for (uint64_t i = begin; i < end; i++) {
        const struct row row = find_row(&t, i);
        if (t.mode == OP_SOFTMAX || t.mode == OP_SOFTMAX_LOG) {
            forward(&t, &row);
        } else {
            backward(&t, &row);
        }
    }
    op_flush();
}
