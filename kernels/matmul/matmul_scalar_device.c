/* SPDX-License-Identifier: Apache-2.0 */
/* out = beta * self + alpha * (a @ b) for each matrix of a batch, on the scalar unit: any types and
 * strides; sums in double, in the order of k. */
#include "../device/element.h"
#include "matmul_scalar_args.h"

struct matrices {
    uint64_t a, b, self;
};

static struct matrices matrices_of(const struct op_matmul_scalar_args *t, uint64_t batch)
{
    struct matrices at = {t->a, t->b, t->self};
    for (uint32_t d = t->batch_rank; d-- > 0;) {
        const uint64_t above = batch / (uint64_t)t->batch_dim[d];
        const uint64_t index = batch - above * (uint64_t)t->batch_dim[d];
        at.a += index * (uint64_t)t->a_batch[d];
        at.b += index * (uint64_t)t->b_batch[d];
        at.self += index * (uint64_t)t->self_batch[d];
        batch = above;
    }
    return at;
}

__global__ __vector__ void matmul_scalar(struct op_matmul_scalar_args args)
{
    const struct op_matmul_scalar_args t = args;
    const struct op_span span =
        op_block_span(t.out, t.out_type, t.batches * t.m * t.n, t.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const uint64_t row_index = i / t.n, column = i - row_index * t.n;
        const uint64_t batch = row_index / t.m, row = row_index - batch * t.m;
        const struct matrices at = matrices_of(&t, batch);
        uint64_t left = at.a + row * (uint64_t)t.a_stride[0],
                 right = at.b + column * (uint64_t)t.b_stride[1];
        double sum = 0;
        for (uint64_t k = 0; k < t.k; k++) {
            sum += op_get_d(left, t.a_type) * op_get_d(right, t.b_type);
            left += (uint64_t)t.a_stride[1];
            right += (uint64_t)t.b_stride[0];
        }
        sum *= t.alpha;
        if (t.self && t.beta != 0) { // beta 0 ignores NaN in self
            sum += t.beta * op_get_d(at.self + row * (uint64_t)t.self_stride[0] +
                                         column * (uint64_t)t.self_stride[1],
                                     t.self_type);
        }
        op_put_d(t.out + i * op_bytes_of(t.out_type), t.out_type, sum);
    }
    op_flush();
}
