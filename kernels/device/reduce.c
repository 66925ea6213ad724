/* SPDX-License-Identifier: Apache-2.0 */
/* Sums on the scalar unit: floats in double, integers in 64 bits, element by element in the order
 * of memory. */
#include "element.h"
#include "reduce_args.h"

static uint64_t offset_of(uint32_t rank, const int64_t *dim, const int64_t *stride, uint64_t index)
{
    uint64_t offset = 0;
    for (uint32_t d = rank; d-- > 0;) {
        const uint64_t above = index / (uint64_t)dim[d];
        offset += (index - above * (uint64_t)dim[d]) * (uint64_t)stride[d];
        index = above;
    }
    return offset;
}

static double sum_d(const struct op_reduce_args *a, uint64_t base)
{
    double sum = 0;
    for (uint64_t i = 0; i < a->inner_count; i++) {
        sum +=
            op_get_d(base + offset_of(a->inner_rank, a->inner_dim, a->inner_stride, i), a->in_type);
    }
    return sum;
}

static int64_t sum_i(const struct op_reduce_args *a, uint64_t base)
{
    int64_t sum = 0;
    for (uint64_t i = 0; i < a->inner_count; i++) {
        sum +=
            op_get_i(base + offset_of(a->inner_rank, a->inner_dim, a->inner_stride, i), a->in_type);
    }
    return sum;
}

__global__ __vector__ void reduce_sum_d(struct op_reduce_args args)
{
    const struct op_reduce_args a = args;
    const struct op_span span = op_block_span(a.out, a.out_type, a.outer_count, a.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        op_put_d(a.out + i * op_bytes_of(a.out_type), a.out_type,
                 sum_d(&a, a.in + offset_of(a.outer_rank, a.outer_dim, a.outer_stride, i)));
    }
    op_flush();
}

__global__ __vector__ void reduce_sum_i(struct op_reduce_args args)
{
    const struct op_reduce_args a = args;
    const struct op_span span = op_block_span(a.out, a.out_type, a.outer_count, a.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        op_put_i(a.out + i * op_bytes_of(a.out_type), a.out_type,
                 sum_i(&a, a.in + offset_of(a.outer_rank, a.outer_dim, a.outer_stride, i)));
    }
    op_flush();
}
