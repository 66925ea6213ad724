/* SPDX-License-Identifier: Apache-2.0 */
/* Pointwise kernels on the scalar unit: any types, any strides. The kernels themselves are made
 * from the rows of operators. */
#pragma once

#include "../device/element.h"
#include "pointwise_args.h"
#include "pointwise_functions.h"

struct pw_span {
    uint64_t begin, end;
};

/* Address of element `index` (row-major over dim) of a tensor. */
OP_INLINE uint64_t pw_address(const struct op_pointwise_args *a, uint64_t base,
                              const int64_t *stride, uint64_t index)
{
    for (uint32_t d = a->rank; d-- > 0;) {
        const uint64_t dim = (uint64_t)a->dim[d], above = d ? index / dim : 0;
        base += (index - above * dim) * (uint64_t)stride[d];
        index = above;
    }
    return base;
}

/* The first index from `at` on whose element begins in another line of the output than the one
 * before it. */
OP_INLINE uint64_t pw_next_line(const struct op_pointwise_args *a, uint64_t at)
{
    if (at == 0 || at >= a->count) {
        return op_min64(at, a->count);
    }
    const uint64_t line = pw_address(a, a->out, a->out_stride, at - 1) / OP_LINE;
    while (at < a->count && pw_address(a, a->out, a->out_stride, at) / OP_LINE == line) {
        at++;
    }
    return at;
}

OP_INLINE struct pw_span pw_share(const struct op_pointwise_args *a)
{
    const uint64_t begin = (uint64_t)get_block_idx() * a->per_block;
    return (struct pw_span){pw_next_line(a, begin), pw_next_line(a, begin + a->per_block)};
}

/* Index, row or column of element `i` of the row that begins at element `at`, column `in_row`. */
OP_INLINE uint64_t pw_place(const struct op_pointwise_args *a, uint32_t which, uint64_t at,
                            uint64_t in_row, uint64_t i)
{
    const uint32_t last = a->rank - 1u;
    switch (which) {
    case OP_VAR_INDEX:
        return at + i;
    case OP_VAR_COLUMN:
        return in_row + i;
    default:
        return at / (uint64_t)a->dim[last] % (uint64_t)a->dim[last - 1];
    }
}

/* In f16 and bf16 an infinite result becomes the largest number and NaN 0 where the launch
 * saturates, unless they are meant. */
OP_INLINE void pw_put_f(const struct op_pointwise_args *a, uint64_t addr, float value)
{
    const uint32_t type = a->out_type;
    if (op_is_half(type) && !(__builtin_fabsf(value) < __builtin_inff()) && !a->infinite) {
        value = op_saturate_float(value);
    }
    op_put_f(addr, type, value);
}

OP_INLINE void pw_put_d(const struct op_pointwise_args *a, uint64_t addr, double value)
{
    if (op_is_half(a->out_type)) {
        pw_put_f(a, addr, (float)value);
        return;
    }
    op_put_d(addr, a->out_type, value);
}

OP_INLINE void pw_put_i(const struct op_pointwise_args *a, uint64_t addr, int64_t value)
{
    op_put_i(addr, a->out_type, value);
}

#define PW_T       float
#define PW_NAME(x) pw_##x##_f
#define PW_GET     op_get_f
#define PW_PUT     pw_put_f
#define PW_CONST   real
#include "pointwise_device.inc"
#undef PW_T
#undef PW_NAME
#undef PW_GET
#undef PW_PUT
#undef PW_CONST

#define PW_T       double
#define PW_NAME(x) pw_##x##_d
#define PW_GET     op_get_d
#define PW_PUT     pw_put_d
#define PW_CONST   real
#include "pointwise_device.inc"
#undef PW_T
#undef PW_NAME
#undef PW_GET
#undef PW_PUT
#undef PW_CONST

#define PW_T       int64_t
#define PW_NAME(x) pw_##x##_i
#define PW_GET     op_get_i
#define PW_PUT     pw_put_i
#define PW_CONST   integer
#include "pointwise_device.inc"
