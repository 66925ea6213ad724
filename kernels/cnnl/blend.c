/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and products with factors. */
#include "cnnl_subjects.h"

enum op_type cnnl_wide(enum op_type type)
{
    return type == OP_TYPE_F16 || type == OP_TYPE_BF16 ? OP_TYPE_F32 : type;
}

const struct op_scalar *cnnl_factor_of(struct cnnl_call *call, enum op_type type, const void *data,
                                       double none)
{
    const double number = cnnl_factor(type, data, none);
    return op_type_is_integer(type) || type == OP_TYPE_BOOL ? cnnl_integer(call, (int64_t)number)
                                                            : cnnl_real(call, number);
}

static const struct op_tensor *times(struct cnnl_call *call, const struct op_tensor *x,
                                     enum op_type type, const void *factor)
{
    if (!x || cnnl_factor(type, factor, 1) == 1) {
        return x;
    }
    const struct op_tensor *made = cnnl_temp_like(call, cnnl_wide(x->type), x);
    const struct op_value args[] = {op_value_tensor(x),
                                    op_value_scalar(cnnl_factor_of(call, type, factor, 1)),
                                    op_value_tensor(made)};
    cnnl_run(call, "Muls", args);
    return made;
}

// out = a + factor * b, or with the factor NULL a + b.
static void add(struct cnnl_call *call, const char *row, const struct op_tensor *a,
                const struct op_tensor *b, const struct op_scalar *factor,
                const struct op_tensor *out)
{
    const struct op_value args[] = {op_value_tensor(a), op_value_tensor(b), op_value_scalar(factor),
                                    op_value_tensor(out)};
    cnnl_run(call, row, args);
}

static void combine(struct cnnl_call *call, cnnlOpTensorDesc_t op, const struct op_tensor *a,
                    const void *alpha2, const struct op_tensor *b, const struct op_tensor *out)
{
    const enum op_type type = out->type;
    if (op == CNNL_OP_TENSOR_ADD || op == CNNL_OP_TENSOR_SUB) {
        add(call, op == CNNL_OP_TENSOR_ADD ? "Add" : "Sub", a, b,
            cnnl_factor_of(call, type, alpha2, 1), out);
    } else if (op == CNNL_OP_TENSOR_MUL) {
        const struct op_value args[] = {op_value_tensor(a),
                                        op_value_tensor(times(call, b, type, alpha2)),
                                        op_value_tensor(out)};
        cnnl_run(call, "Mul", args);
    } else {
        cnnl_bad(call, "the descriptor's operation is %d", (int)op);
    }
}

void cnnl_op_tensor(struct cnnl_call *call, cnnlOpTensorDesc_t op, const void *alpha1,
                    const struct op_tensor *a, const void *alpha2, const struct op_tensor *b,
                    const void *beta, const struct op_tensor *c)
{
    if (op_type_is_complex(c->type)) {
        cnnl_refuse(call, "complex numbers");
        return;
    }
    const struct op_tensor *first = times(call, a, c->type, alpha1);
    if (cnnl_factor(c->type, beta, 0) == 0) {
        combine(call, op, first, alpha2, b, c);
        return;
    }
    const struct op_tensor *sum = cnnl_temp_like(call, cnnl_wide(c->type), c);
    if (sum) {
        combine(call, op, first, alpha2, b, sum);
        add(call, "Add", sum, c, cnnl_factor_of(call, c->type, beta, 0), c);
    }
}

void cnnl_transform(struct cnnl_call *call, cnnlPointerMode_t mode, const void *alpha,
                    const struct op_tensor *x, const void *beta, const struct op_tensor *y)
{
    if (mode != CNNL_POINTER_MODE_HOST) {
        cnnl_refuse(call, "alpha and beta in device memory");
    } else if (op_type_is_complex(x->type)) {
        cnnl_refuse(call, "complex numbers");
    }
    const double sum = cnnl_factor(x->type, beta, 0);
    const struct op_tensor *to = sum == 0 ? y : cnnl_temp_like(call, cnnl_wide(y->type), y);
    const struct op_value product[] = {op_value_tensor(x),
                                       op_value_scalar(cnnl_factor_of(call, x->type, alpha, 1)),
                                       op_value_tensor(to)};
    cnnl_run(call, "Muls", product);
    if (sum != 0) {
        const struct op_value args[] = {op_value_tensor(to),
                                        op_value_scalar(cnnl_factor_of(call, x->type, beta, 0)),
                                        op_value_scalar(cnnl_integer(call, 1)), op_value_tensor(y)};
        cnnl_run(call, "Adds", args);
    }
}
