/* SPDX-License-Identifier: Apache-2.0 */
/* Positions and values where a mask is not 0, by one block of the scalar unit, in order. */
#include "element.h"
#include "select_args.h"
#include "walk.h"

#include <stdbool.h>

static bool is_set(const struct op_select_args *a, uint64_t i)
{
    if (a->bytes) {
        return *(const __gm__ uint8_t *)(a->mask + i) != 0;
    }
    return op_get_d(a->mask + op_offset(a->rank, a->dim, a->mask_stride, i), a->mask_type) != 0;
}

static uint64_t count_set(const struct op_select_args *a)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < a->elements; i++) {
        count += is_set(a, i);
    }
    *(__gm__ volatile uint64_t *)a->count = count;
    return count;
}

__global__ __vector__ void select_positions(struct op_select_args args)
{
    const struct op_select_args a = args;
    const uint64_t count = count_set(&a);
    __gm__ int64_t *out = (__gm__ int64_t *)a.out;
    uint64_t n = 0;
    for (uint64_t i = 0; i < a.elements; i++) {
        if (!is_set(&a, i)) {
            continue;
        }
        uint64_t rest = i;
        for (uint32_t d = a.rank; d-- > 0;) {
            const uint64_t above = rest / (uint64_t)a.dim[d];
            out[a.columns ? d * count + n : n * a.rank + d] =
                (int64_t)(rest - above * (uint64_t)a.dim[d]);
            rest = above;
        }
        n++;
    }
    op_flush();
}

__global__ __vector__ void select_values(struct op_select_args args)
{
    const struct op_select_args a = args;
    const uint32_t unit = op_bytes_of(a.out_type);
    uint64_t n = 0;
    for (uint64_t i = 0; i < a.elements; i++) {
        if (is_set(&a, i)) {
            const uint64_t from =
                a.dense ? a.in + i * unit : a.in + op_offset(a.rank, a.dim, a.in_stride, i);
            if (a.in_type <= OP_TYPE_F64) {
                op_put_d(a.out + n * unit, a.out_type, op_get_d(from, a.in_type));
            } else {
                op_put_i(a.out + n * unit, a.out_type, op_get_i(from, a.in_type));
            }
            n++;
        }
    }
    *(__gm__ volatile uint64_t *)a.count = n;
    op_flush();
}
