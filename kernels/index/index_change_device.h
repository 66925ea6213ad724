/* SPDX-License-Identifier: Apache-2.0 */
/* What is done with an element that was found by an index, on the scalar unit. */
#pragma once

#include "../device/element.h"
#include "index_args.h"

#include <stdbool.h>

OP_INLINE bool op_index_is_float(uint32_t type)
{
    return type <= OP_TYPE_F64;
}

/* An element of `unit` bytes as it is. */
OP_INLINE void op_index_move_bits(uint64_t to, uint64_t from, uint32_t unit)
{
    if (unit == 4) {
        *(__gm__ volatile uint32_t *)to = *(const __gm__ volatile uint32_t *)from;
    } else if (unit == 2) {
        *(__gm__ volatile uint16_t *)to = *(const __gm__ volatile uint16_t *)from;
    } else if (unit == 8) {
        *(__gm__ volatile uint64_t *)to = *(const __gm__ volatile uint64_t *)from;
    } else {
        *(__gm__ volatile uint8_t *)to = *(const __gm__ volatile uint8_t *)from;
    }
}

/* Whether elements are moved as they are: truth values become 0 or 1. */
OP_INLINE bool op_index_moves_bits(uint32_t to_type, uint32_t from_type)
{
    return to_type == from_type && to_type != OP_TYPE_BOOL && op_bytes_of(to_type) <= 8;
}

/* 64-bit integers do not fit a double. */
OP_INLINE void op_index_move(uint64_t to, uint32_t to_type, uint64_t from, uint32_t from_type)
{
    if (op_index_moves_bits(to_type, from_type)) {
        op_index_move_bits(to, from, op_bytes_of(to_type));
    } else if (op_index_is_float(from_type)) {
        op_put_d(to, to_type, op_get_d(from, from_type));
    } else {
        op_put_i(to, to_type, op_get_i(from, from_type));
    }
}

OP_INLINE double op_index_join_d(uint32_t mode, double scale, double old, double x)
{
    if (mode == OP_INDEX_LARGEST) {
        return x > old || x != x ? x : old;
    }
    if (mode == OP_INDEX_SMALLEST) {
        return x < old || x != x ? x : old;
    }
    return mode == OP_INDEX_ADD ? old + scale * x : old * x;
}

OP_INLINE int64_t op_index_join_i(uint32_t mode, double scale, int64_t old, int64_t x)
{
    if (mode == OP_INDEX_LARGEST) {
        return x > old ? x : old;
    }
    if (mode == OP_INDEX_SMALLEST) {
        return x < old ? x : old;
    }
    return mode == OP_INDEX_ADD ? old + (int64_t)scale * x : old * x;
}

/* What `mode` does with the element at `addr` and the value at `value`. */
OP_INLINE void op_index_change(uint32_t mode, double scale, uint64_t addr, uint32_t table_type,
                               uint64_t value, uint32_t value_type)
{
    if (mode == OP_INDEX_PUT) {
        op_index_move(addr, table_type, value, value_type);
    } else if (op_index_is_float(table_type)) {
        const double old = op_get_d(addr, table_type), x = op_get_d(value, value_type);
        op_put_d(addr, table_type, op_index_join_d(mode, scale, old, x));
    } else {
        const int64_t old = op_get_i(addr, table_type), x = op_get_i(value, value_type);
        op_put_i(addr, table_type, op_index_join_i(mode, scale, old, x));
    }
}
