/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor as operators see it: type, shape and strides over device memory. */
#pragma once

#include "../device/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * `addr` is the address of element [0, 0, ...]. Strides count elements; 0 repeats an element. In a
 * plan addresses are symbolic (plan.h).
 */
struct op_tensor {
    uint64_t addr;
    int64_t dim[OP_RANK_MAX], stride[OP_RANK_MAX];
    enum op_type type;
    unsigned rank;
    int format; /**< aclFormat */
    unsigned
        c0; /**< innermost dimension of a native format if not op_layout_c0 of the type; else 0 */
    bool unread; /**< the operator asks for its shape alone: what it holds is not read */
};

/** Name of a type in messages and documentation: "f32", "bool". */
const char *op_type_name(enum op_type type);
unsigned op_type_bytes(enum op_type type);
bool op_type_is_float(enum op_type type); /**< f16, bf16, f32, f64 */
bool op_type_is_complex(enum op_type type);
bool op_type_is_integer(enum op_type type); /**< not bool */

/** The common type of two tensors as PyTorch promotes them. */
enum op_type op_type_promote(enum op_type a, enum op_type b);
/** The common type of a tensor type and a scalar's: only a higher category (bool, integer, float,
 * complex) counts. */
enum op_type op_type_promote_scalar(enum op_type tensor, enum op_type scalar);

/** A dense row-major tensor. */
struct op_tensor op_tensor_dense(uint64_t addr, enum op_type type, unsigned rank,
                                 const int64_t *dim);
int64_t op_tensor_count(const struct op_tensor *tensor); /**< elements; 1 for rank 0 */
bool op_tensor_is_dense(
    const struct op_tensor *tensor); /**< row-major without gaps; dimensions of 1 do not count */
bool op_tensor_same_shape(const struct op_tensor *a, const struct op_tensor *b);
/** The tensor seen with the shape dim[0..rank): its own dimensions are the last ones, and those of
 * 1 repeat (stride 0). False if it does not fit. */
bool op_tensor_broadcast(const struct op_tensor *tensor, unsigned rank, const int64_t *dim,
                         struct op_tensor *out);
/** Joins the shape of `tensor` into the common broadcast shape; false if they do not fit. */
bool op_shape_join(const struct op_tensor *tensor, unsigned *rank, int64_t *dim);
/** The tensor with dimensions in another order: dimension i of the result is dimension order[i]. */
struct op_tensor op_tensor_permute(const struct op_tensor *tensor, const unsigned *order);

/** "[2, 3]" for messages. */
struct op_shape_text {
    char text[OP_RANK_MAX * 22 + 3];
};
struct op_shape_text op_tensor_shape_text(const struct op_tensor *tensor);
struct op_shape_text op_shape_text(unsigned rank, const int64_t *dim);
/** The real (0) or imaginary (1) part of a complex tensor: every second number. */
struct op_tensor op_view_part(const struct op_tensor *tensor, unsigned which);
