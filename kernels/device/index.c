/* SPDX-License-Identifier: Apache-2.0 */
/* Elements by index tensors, on the scalar unit: take, put, add, multiply. */
#include "element.h"
#include "index_args.h"
#include "walk.h"

#include <stdbool.h>

/* Where the element of the table is; false: nothing is to be done. */
static bool find(const struct op_index_args *a, uint64_t at, uint64_t *addr)
{
    *addr = a->table + op_offset(a->rank, a->dim, a->table_stride, at);
    for (uint32_t k = 0; k < a->indices; k++) {
        int64_t i = op_get_i(a->index[k] + op_offset(a->rank, a->dim, a->index_stride[k], at),
                             a->index_type[k]);
        if (k == 0 && i == a->skip) {
            return false;
        }
        i += i < 0 ? a->limit[k] : 0;
        leo_assert(i >= 0 && i < a->limit[k], "index %lld of a dimension of %lld", (long long)i,
                   (long long)a->limit[k]);
        *addr += (uint64_t)(i * a->jump[k]);
    }
    return true;
}

OP_INLINE bool is_float(uint32_t type)
{
    return type <= OP_TYPE_F64;
}

/* 64-bit integers do not fit a double. */
OP_INLINE void move(uint64_t to, uint32_t to_type, uint64_t from, uint32_t from_type)
{
    if (is_float(from_type)) {
        op_put_d(to, to_type, op_get_d(from, from_type));
    } else {
        op_put_i(to, to_type, op_get_i(from, from_type));
    }
}

__global__ __vector__ void index_get(struct op_index_args args)
{
    const struct op_index_args a = args;
    const struct op_span span = op_block_span(a.value, a.value_type, a.count, a.per_block);
    const uint32_t unit = op_bytes_of(a.value_type);
    for (uint64_t i = span.begin; i < span.end; i++) {
        uint64_t addr;
        if (find(&a, i, &addr)) {
            move(a.value + i * unit, a.value_type, addr, a.table_type);
        }
    }
    op_flush();
}

/* The block's part of dimension `split`; false: there is none. */
static bool take_part(struct op_index_args *a)
{
    if (a->split == a->rank) {
        return true;
    }
    const uint32_t d = a->split;
    const uint64_t begin = (uint64_t)get_block_idx() * a->per_block, dim = (uint64_t)a->dim[d];
    if (begin >= dim) {
        return false;
    }
    a->table += begin * (uint64_t)a->table_stride[d];
    a->value += begin * (uint64_t)a->value_stride[d];
    for (uint32_t k = 0; k < a->indices; k++) {
        a->index[k] += begin * (uint64_t)a->index_stride[k][d];
    }
    a->dim[d] = (int64_t)op_min64(a->per_block, dim - begin);
    a->count = a->count / dim * (uint64_t)a->dim[d];
    return true;
}

/* Several positions may name one element, and their order counts: they are in one block. */
__global__ __vector__ void index_put(struct op_index_args args)
{
    struct op_index_args a = args;
    if (!take_part(&a)) {
        return;
    }
    for (uint64_t i = 0; i < a.count; i++) {
        const uint64_t value = a.value + op_offset(a.rank, a.dim, a.value_stride, i);
        uint64_t addr;
        if (!find(&a, i, &addr)) {
            continue;
        }
        if (a.mode == OP_INDEX_PUT) {
            move(addr, a.table_type, value, a.value_type);
        } else if (is_float(a.table_type)) {
            const double old = op_get_d(addr, a.table_type), x = op_get_d(value, a.value_type);
            op_put_d(addr, a.table_type, a.mode == OP_INDEX_ADD ? old + a.scale * x : old * x);
        } else {
            const int64_t old = op_get_i(addr, a.table_type), x = op_get_i(value, a.value_type);
            op_put_i(addr, a.table_type,
                     a.mode == OP_INDEX_ADD ? old + (int64_t)a.scale * x : old * x);
        }
    }
    op_flush();
}
