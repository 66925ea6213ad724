/* SPDX-License-Identifier: Apache-2.0 */
/* Elements by index tensors, on the scalar unit: take, put, add, multiply. */
#include "../device/walk.h"
#include "index_change_device.h"

#include <stdbool.h>

/* Where the walk over the index space is: in the table, among the values and in each index tensor.
 */
struct cursor {
    uint64_t table, value, index[OP_INDEX_MAX];
};

/* Offsets by division, once a row; step goes along the last dimension. */
static struct cursor begin_row(const struct op_index_args *a, uint64_t at)
{
    struct cursor c;
    c.table = a->table + op_offset(a->rank, a->dim, a->table_stride, at);
    c.value = a->mode == OP_INDEX_GET ? a->value + at * op_bytes_of(a->value_type)
                                      : a->value + op_offset(a->rank, a->dim, a->value_stride, at);
    for (uint32_t k = 0; k < a->indices; k++) {
        c.index[k] = a->index[k] + op_offset(a->rank, a->dim, a->index_stride[k], at);
    }
    return c;
}

OP_INLINE void step(const struct op_index_args *a, struct cursor *c)
{
    if (a->rank == 0) {
        return;
    }
    const uint32_t last = a->rank - 1u;
    c->table += (uint64_t)a->table_stride[last];
    c->value +=
        a->mode == OP_INDEX_GET ? op_bytes_of(a->value_type) : (uint64_t)a->value_stride[last];
    for (uint32_t k = 0; k < a->indices; k++) {
        c->index[k] += (uint64_t)a->index_stride[k][last];
    }
}

/* Elements from `at` on in its row, at most up to `end`. */
OP_INLINE uint64_t rest_of_row(const struct op_index_args *a, uint64_t at, uint64_t end)
{
    const uint64_t dim = a->rank ? (uint64_t)a->dim[a->rank - 1] : 1;
    return op_min64(dim - at % dim, end - at);
}

/* Dimensions of one element at the end would make every element a row of its own. */
OP_INLINE void drop_ones(struct op_index_args *a, uint32_t keep)
{
    while (a->rank > keep && a->dim[a->rank - 1] == 1) {
        a->rank--;
    }
}

/* Where the element of the table is; false: nothing is to be done. */
static bool find(const struct op_index_args *a, const struct cursor *c, uint64_t *addr)
{
    *addr = c->table;
    for (uint32_t k = 0; k < a->indices; k++) {
        int64_t i = op_get_i(c->index[k], a->index_type[k]);
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

/* `length` elements of a row by one index tensor, moved as they are. `unit` and `index_bytes` are
 * constants where this is called. */
OP_INLINE void get_row_as(const struct op_index_args *a, const struct cursor *c, uint64_t length,
                          uint32_t unit, uint32_t index_bytes)
{
    const uint32_t last = a->rank ? a->rank - 1u : 0;
    const int64_t limit = a->limit[0], jump = a->jump[0], skip = a->skip;
    const uint64_t table_step = (uint64_t)a->table_stride[last],
                   index_step = (uint64_t)a->index_stride[0][last];
    uint64_t table = c->table, value = c->value, index = c->index[0];
    for (const uint64_t end = value + length * unit; value != end; value += unit) {
        const int64_t given = index_bytes == 8 ? *(const __gm__ volatile int64_t *)index
                                               : *(const __gm__ volatile int32_t *)index;
        if (__builtin_expect(given != skip, 1)) {
            int64_t at = given;
            if (__builtin_expect((uint64_t)at >= (uint64_t)limit, 0)) {
                at += limit;
                leo_assert((uint64_t)at < (uint64_t)limit, "index %lld of a dimension of %lld",
                           (long long)given, (long long)limit);
            }
            op_index_move_bits(value, table + (uint64_t)(at * jump), unit);
        }
        table += table_step;
        index += index_step;
    }
}

OP_INLINE void get_row_unit(const struct op_index_args *a, const struct cursor *c, uint64_t length,
                            uint32_t unit)
{
    if (a->index_type[0] == OP_TYPE_I64) {
        get_row_as(a, c, length, unit, 8);
    } else {
        get_row_as(a, c, length, unit, 4);
    }
}

/* False: the general walk has to do it. */
OP_INLINE bool get_row(const struct op_index_args *a, const struct cursor *c, uint64_t length)
{
    if (a->indices != 1 || !op_index_moves_bits(a->value_type, a->table_type) ||
        (a->index_type[0] != OP_TYPE_I64 && a->index_type[0] != OP_TYPE_I32)) {
        return false;
    }
    switch (op_bytes_of(a->value_type)) {
    case 8:
        get_row_unit(a, c, length, 8);
        return true;
    case 4:
        get_row_unit(a, c, length, 4);
        return true;
    case 2:
        get_row_unit(a, c, length, 2);
        return true;
    default:
        get_row_unit(a, c, length, 1);
        return true;
    }
}

__global__ __vector__ void index_get(struct op_index_args args)
{
    struct op_index_args a = args;
    const struct op_span span = op_block_span(a.value, a.value_type, a.count, a.per_block);
    drop_ones(&a, 1);
    for (uint64_t at = span.begin; at < span.end;) {
        struct cursor c = begin_row(&a, at);
        const uint64_t length = rest_of_row(&a, at, span.end);
        const bool done = get_row(&a, &c, length);
        for (uint64_t i = done ? length : 0; i < length; i++, step(&a, &c)) {
            uint64_t addr;
            if (find(&a, &c, &addr)) {
                op_index_move(c.value, a.value_type, addr, a.table_type);
            }
        }
        at += length;
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
    drop_ones(&a, 1);
    for (uint64_t at = 0; at < a.count;) {
        struct cursor c = begin_row(&a, at);
        const uint64_t length = rest_of_row(&a, at, a.count);
        for (uint64_t i = 0; i < length; i++, step(&a, &c)) {
            uint64_t addr;
            if (find(&a, &c, &addr)) {
                op_index_change(a.mode, a.scale, addr, a.table_type, c.value, a.value_type);
            }
        }
        at += length;
    }
    op_flush();
}
