/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of operators. */
#pragma once

#include "tensor.h"

/** A scalar keeps the type its maker gave; both readings are there. */
struct op_scalar {
    enum op_type type; /**< f64, i64, bool, c128 or narrower */
    double real, imag;
    int64_t integer; /**< the same number, truncated if it is no integer */
};

enum op_kind {
    OP_KIND_TENSOR,
    OP_KIND_TENSOR_LIST,
    OP_KIND_SCALAR,
    OP_KIND_SCALAR_LIST,
    OP_KIND_INTS,
    OP_KIND_FLOATS,
    OP_KIND_BOOLS,
    OP_KIND_TEXT,
    OP_KIND_DTYPE,
    OP_KIND_INT,  /**< any integer or bool by value */
    OP_KIND_REAL, /**< float or double by value */
};

/** A list of things; `count` of them. */
struct op_tensor_list {
    const struct op_tensor *const *items;
    uint64_t count;
};
struct op_scalar_list {
    const struct op_scalar *const *items;
    uint64_t count;
};
struct op_ints {
    const int64_t *items;
    uint64_t count;
};
struct op_floats {
    const float *items;
    uint64_t count;
};
struct op_bools {
    const bool *items;
    uint64_t count;
};

/** One argument. Pointers may be NULL where the row says so. */
struct op_value {
    enum op_kind kind;
    union {
        const struct op_tensor *tensor;
        const struct op_tensor_list *tensors;
        const struct op_scalar *scalar;
        const struct op_scalar_list *scalars;
        const struct op_ints *ints;
        const struct op_floats *floats;
        const struct op_bools *bools;
        const char *text;
        const void *pointer; /**< any of the above */
        enum op_type type;
        int64_t integer;
        double real;
    };
};

static inline struct op_value op_value_tensor(const struct op_tensor *tensor)
{
    return (struct op_value){.kind = OP_KIND_TENSOR, .tensor = tensor};
}

static inline struct op_value op_value_tensors(const struct op_tensor_list *tensors)
{
    return (struct op_value){.kind = OP_KIND_TENSOR_LIST, .tensors = tensors};
}

static inline struct op_value op_value_scalar(const struct op_scalar *scalar)
{
    return (struct op_value){.kind = OP_KIND_SCALAR, .scalar = scalar};
}

static inline struct op_value op_value_ints(const struct op_ints *ints)
{
    return (struct op_value){.kind = OP_KIND_INTS, .ints = ints};
}

static inline struct op_value op_value_floats(const struct op_floats *floats)
{
    return (struct op_value){.kind = OP_KIND_FLOATS, .floats = floats};
}
static inline struct op_value op_value_bools(const struct op_bools *bools)
{
    return (struct op_value){.kind = OP_KIND_BOOLS, .bools = bools};
}

static inline struct op_value op_value_type(enum op_type type)
{
    return (struct op_value){.kind = OP_KIND_DTYPE, .type = type};
}

static inline struct op_value op_value_int(int64_t integer)
{
    return (struct op_value){.kind = OP_KIND_INT, .integer = integer};
}

static inline struct op_value op_value_real(double real)
{
    return (struct op_value){.kind = OP_KIND_REAL, .real = real};
}

/** A scalar made from a number. */
static inline struct op_scalar op_scalar_real(double real)
{
    return (struct op_scalar){.type = OP_TYPE_F64, .real = real, .integer = (int64_t)real};
}

static inline struct op_scalar op_scalar_int(int64_t integer)
{
    return (struct op_scalar){.type = OP_TYPE_I64, .real = (double)integer, .integer = integer};
}
