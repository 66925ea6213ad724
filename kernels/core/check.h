/* SPDX-License-Identifier: Apache-2.0 */
/* Checks every operator makes before it launches anything. A failed check sets the thread's error
 * text. */
#pragma once

#include <leo/op.h>
#include <stdbool.h>

/** A tensor argument and its name in messages. */
struct op_arg {
    const char *name;
    const struct leo_op_tensor *tensor;
};

enum op_dtypes { OP_F16 = 1, OP_F32 = 2, OP_S32 = 4, OP_FLOAT = OP_F16 | OP_F32 };

/** Elements of a tensor; a scalar (rank 0) has one. */
uint64_t op_tensor_elements(const struct leo_op_tensor *tensor);
uint32_t op_tensor_unit(const struct leo_op_tensor *tensor); /**< bytes an element */

/** Non-NULL, known and allowed dtype, rank 0..4, no zero dimension, an address aligned to its
 * element. */
LEO_MUST_CHECK leo_status op_check_tensor(const char *op, struct op_arg arg, unsigned dtypes);
LEO_MUST_CHECK leo_status op_check_rank(const char *op, struct op_arg arg, unsigned rank);
LEO_MUST_CHECK leo_status op_check_same_shape(const char *op, struct op_arg a, struct op_arg b);
LEO_MUST_CHECK leo_status op_check_same_dtype(const char *op, struct op_arg a, struct op_arg b);
LEO_MUST_CHECK leo_status op_check_dim(const char *op, struct op_arg arg, unsigned index,
                                       uint32_t expected, const char *what);
/** Refuses memory that `out` shares with `in`; the very same bytes are fine if `in_place`. */
LEO_MUST_CHECK leo_status op_check_apart(const char *op, struct op_arg in, struct op_arg out,
                                         bool in_place);
LEO_MUST_CHECK leo_status op_check_pointers(const char *op, const struct leo_op_context *context,
                                            const struct leo_rt_stream *stream);
