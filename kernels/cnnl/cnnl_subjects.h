/* SPDX-License-Identifier: Apache-2.0 */
/* What rows cannot say in a line, by subject. Tensors may be NULL after a failure of the call,
 * which ends what is done here too. */
#pragma once

#include "cnnl_call.h"

#include <cnnl_objects.h>

/* blend.c */
/** A factor as an operator's number: float, or a whole number for integers. */
const struct op_scalar *cnnl_factor_of(struct cnnl_call *call, enum op_type type, const void *data,
                                       double none);
/** f32 for what is narrower, so that a result is rounded once. */
enum op_type cnnl_wide(enum op_type type);
/** c = op(alpha1 a, alpha2 b) + beta c. */
void cnnl_op_tensor(struct cnnl_call *call, cnnlOpTensorDesc_t op, const void *alpha1,
                    const struct op_tensor *a, const void *alpha2, const struct op_tensor *b,
                    const void *beta, const struct op_tensor *c);
/** y = alpha x + beta. */
void cnnl_transform(struct cnnl_call *call, cnnlPointerMode_t mode, const void *alpha,
                    const struct op_tensor *x, const void *beta, const struct op_tensor *y);
