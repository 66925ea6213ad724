/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum category { BOOLEAN, INTEGER, FLOATING, COMPLEX };

static const struct {
    const char *name;
    uint8_t bytes;
    uint8_t category;
} types[OP_TYPES] = {
    [OP_TYPE_F32] = {"f32", 4, FLOATING},   [OP_TYPE_F16] = {"f16", 2, FLOATING},
    [OP_TYPE_BF16] = {"bf16", 2, FLOATING}, [OP_TYPE_F64] = {"f64", 8, FLOATING},
    [OP_TYPE_I8] = {"i8", 1, INTEGER},      [OP_TYPE_U8] = {"u8", 1, INTEGER},
    [OP_TYPE_I16] = {"i16", 2, INTEGER},    [OP_TYPE_U16] = {"u16", 2, INTEGER},
    [OP_TYPE_I32] = {"i32", 4, INTEGER},    [OP_TYPE_U32] = {"u32", 4, INTEGER},
    [OP_TYPE_I64] = {"i64", 8, INTEGER},    [OP_TYPE_U64] = {"u64", 8, INTEGER},
    [OP_TYPE_BOOL] = {"bool", 1, BOOLEAN},  [OP_TYPE_C64] = {"c64", 8, COMPLEX},
    [OP_TYPE_C128] = {"c128", 16, COMPLEX},
};

const char *op_type_name(enum op_type type)
{
    return (unsigned)type < OP_TYPES ? types[type].name : "unknown";
}

unsigned op_type_bytes(enum op_type type)
{
    return types[type].bytes;
}

bool op_type_is_float(enum op_type type)
{
    return types[type].category == FLOATING;
}

bool op_type_is_complex(enum op_type type)
{
    return types[type].category == COMPLEX;
}

bool op_type_is_integer(enum op_type type)
{
    return types[type].category == INTEGER;
}

static bool is_unsigned(enum op_type type)
{
    return type == OP_TYPE_U8 || type == OP_TYPE_U16 || type == OP_TYPE_U32 || type == OP_TYPE_U64;
}

// Two integer types: the wider one, or the next wider signed one if a signed type meets an unsigned
// one as wide.
static enum op_type promote_integers(enum op_type a, enum op_type b)
{
    if (is_unsigned(a) == is_unsigned(b)) {
        return types[a].bytes >= types[b].bytes ? a : b;
    }
    const enum op_type with_sign = is_unsigned(a) ? b : a, without = is_unsigned(a) ? a : b;
    if (types[with_sign].bytes > types[without].bytes) {
        return with_sign;
    }
    return types[without].bytes == 1   ? OP_TYPE_I16
           : types[without].bytes == 2 ? OP_TYPE_I32
                                       : OP_TYPE_I64;
}

enum op_type op_type_promote(enum op_type a, enum op_type b)
{
    if (a == b) {
        return a;
    }
    const unsigned category_a = types[a].category, category_b = types[b].category;
    if (category_a == COMPLEX || category_b == COMPLEX) {
        const bool wide =
            a == OP_TYPE_C128 || b == OP_TYPE_C128 || a == OP_TYPE_F64 || b == OP_TYPE_F64;
        return wide ? OP_TYPE_C128 : OP_TYPE_C64;
    }
    if (category_a != category_b) {
        return category_a > category_b ? a : b;
    }
    if (category_a == INTEGER) {
        return promote_integers(a, b);
    }
    if (types[a].bytes == types[b].bytes) {
        return OP_TYPE_F32; // f16 and bf16
    }
    return types[a].bytes > types[b].bytes ? a : b;
}

enum op_type op_type_promote_scalar(enum op_type tensor, enum op_type scalar)
{
    const unsigned mine = types[tensor].category, theirs = types[scalar].category;
    if (theirs <= mine) {
        return tensor;
    }
    switch (theirs) {
    case INTEGER:
        return OP_TYPE_I64;
    case FLOATING:
        return OP_TYPE_F32;
    default:
        return tensor == OP_TYPE_F64 ? OP_TYPE_C128 : OP_TYPE_C64;
    }
}

struct op_tensor op_tensor_dense(uint64_t addr, enum op_type type, unsigned rank,
                                 const int64_t *dim)
{
    struct op_tensor tensor = {.addr = addr, .type = type, .rank = rank, .format = 2};
    int64_t stride = 1;
    for (unsigned i = rank; i-- > 0;) {
        tensor.dim[i] = dim[i];
        tensor.stride[i] = stride;
        stride *= dim[i] > 0 ? dim[i] : 1;
    }
    return tensor;
}

int64_t op_tensor_count(const struct op_tensor *tensor)
{
    int64_t count = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        count *= tensor->dim[i];
    }
    return count;
}

bool op_tensor_is_dense(const struct op_tensor *tensor)
{
    int64_t stride = 1;
    for (unsigned i = tensor->rank; i-- > 0;) {
        if (tensor->dim[i] != 1 && tensor->stride[i] != stride) {
            return op_tensor_count(tensor) == 0;
        }
        stride *= tensor->dim[i];
    }
    return true;
}

bool op_tensor_same_shape(const struct op_tensor *a, const struct op_tensor *b)
{
    return a->rank == b->rank && memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0])) == 0;
}

bool op_tensor_broadcast(const struct op_tensor *tensor, unsigned rank, const int64_t *dim,
                         struct op_tensor *out)
{
    if (tensor->rank > rank) {
        return false;
    }
    struct op_tensor wide = *tensor;
    const unsigned shift = rank - tensor->rank;
    for (unsigned i = 0; i < rank; i++) {
        wide.dim[i] = dim[i];
        wide.stride[i] = 0;
        if (i >= shift && tensor->dim[i - shift] != 1) {
            if (tensor->dim[i - shift] != dim[i]) {
                return false;
            }
            wide.stride[i] = tensor->stride[i - shift];
        }
    }
    wide.rank = rank;
    *out = wide;
    return true;
}

bool op_shape_join(const struct op_tensor *tensor, unsigned *rank, int64_t *dim)
{
    if (tensor->rank > *rank) {
        const unsigned shift = tensor->rank - *rank;
        memmove(dim + shift, dim, *rank * sizeof(*dim));
        for (unsigned i = 0; i < shift; i++) {
            dim[i] = 1;
        }
        *rank = tensor->rank;
    }
    for (unsigned i = 0; i < tensor->rank; i++) {
        int64_t *mine = &dim[*rank - 1 - i];
        const int64_t theirs = tensor->dim[tensor->rank - 1 - i];
        if (*mine == 1) {
            *mine = theirs;
        } else if (theirs != 1 && theirs != *mine) {
            return false;
        }
    }
    return true;
}

struct op_tensor op_tensor_permute(const struct op_tensor *tensor, const unsigned *order)
{
    struct op_tensor out = *tensor;
    for (unsigned i = 0; i < tensor->rank; i++) {
        out.dim[i] = tensor->dim[order[i]];
        out.stride[i] = tensor->stride[order[i]];
    }
    return out;
}

struct op_shape_text op_shape_text(unsigned rank, const int64_t *dim)
{
    struct op_shape_text out = {"["};
    size_t at = 1;
    for (unsigned i = 0; i < rank; i++) {
        at += (size_t)snprintf(out.text + at, sizeof(out.text) - at, "%s%" PRId64, i ? ", " : "",
                               dim[i]);
    }
    snprintf(out.text + at, sizeof(out.text) - at, "]");
    return out;
}

struct op_shape_text op_tensor_shape_text(const struct op_tensor *tensor)
{
    return op_shape_text(tensor->rank, tensor->dim);
}

struct op_tensor op_view_part(const struct op_tensor *tensor, unsigned which)
{
    struct op_tensor part = *tensor;
    part.type = tensor->type == OP_TYPE_C64 ? OP_TYPE_F32 : OP_TYPE_F64;
    part.addr += which * op_type_bytes(part.type);
    for (unsigned i = 0; i < part.rank; i++) {
        part.stride[i] *= 2;
    }
    return part;
}
