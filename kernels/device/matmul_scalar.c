/* SPDX-License-Identifier: Apache-2.0 */
/* out = beta * self + alpha * (a @ b) on the scalar unit: any types and strides; sums in double, in
 * the order of k. */
#include "element.h"
#include "matmul_scalar_args.h"

__global__ __vector__ void matmul_scalar(struct op_matmul_scalar_args args)
{
    const struct op_matmul_scalar_args a = args;
    const struct op_span span = op_block_span(a.out, a.out_type, a.m * a.n, a.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const uint64_t row = i / a.n, column = i - row * a.n;
        uint64_t left = a.a + row * (uint64_t)a.a_stride[0],
                 right = a.b + column * (uint64_t)a.b_stride[1];
        double sum = 0;
        for (uint64_t k = 0; k < a.k; k++) {
            sum += op_get_d(left, a.a_type) * op_get_d(right, a.b_type);
            left += (uint64_t)a.a_stride[1];
            right += (uint64_t)a.b_stride[0];
        }
        sum *= a.alpha;
        if (a.self && a.beta != 0) { // beta 0 ignores NaN in self
            sum += a.beta * op_get_d(a.self + row * (uint64_t)a.self_stride[0] +
                                         column * (uint64_t)a.self_stride[1],
                                     a.self_type);
        }
        op_put_d(a.out + i * op_bytes_of(a.out_type), a.out_type, sum);
    }
    op_flush();
}
