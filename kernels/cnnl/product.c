/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices. */
#include "cnnl_subjects.h"

#include <inttypes.h>

const struct op_tensor *cnnl_matrix(struct cnnl_call *call, const struct op_tensor *tensor,
                                    int pitch, bool turned)
{
    struct op_tensor *view = cnnl_view(call, tensor);
    if (!view) {
        return NULL;
    }
    if (view->rank < 2) {
        cnnl_bad(call, "a matrix has %u dimensions", view->rank);
        return NULL;
    }
    const unsigned row = view->rank - 2, column = view->rank - 1;
    if (pitch > 0) {
        if (pitch < view->dim[column] || view->rank != 2) {
            cnnl_bad(call, "rows of %" PRId64 " elements, %d apart", view->dim[column], pitch);
        }
        view->stride[row] = pitch;
        view->stride[column] = 1;
    }
    if (turned) {
        const struct op_tensor as_stored = *view;
        view->dim[row] = as_stored.dim[column];
        view->dim[column] = as_stored.dim[row];
        view->stride[row] = as_stored.stride[column];
        view->stride[column] = as_stored.stride[row];
    }
    return view;
}

const struct op_tensor *cnnl_batch(struct cnnl_call *call, const struct op_tensor *tensor,
                                   int batch, int rows, int columns, int pitch, int64_t stride,
                                   bool turned)
{
    struct op_tensor *view = cnnl_view(call, tensor);
    if (!view) {
        return NULL;
    }
    if (batch < 0 || rows < 0 || columns < 0 || stride < 0 || pitch < (turned ? rows : columns)) {
        cnnl_bad(call, "%d matrices of %d x %d, rows %d apart, %" PRId64 " from one to the next",
                 batch, rows, columns, pitch, stride);
        return NULL;
    }
    const int64_t dim[] = {batch, rows, columns};
    *view = op_tensor_dense(tensor->addr, tensor->type, 3, dim);
    view->stride[0] = stride;
    view->stride[1] = turned ? 1 : pitch;
    view->stride[2] = turned ? pitch : 1;
    return view;
}

// f32 stays f32: no narrower type on the way.
enum { KEEP_TYPES = 0 };

static void multiply(struct cnnl_call *call, const struct op_tensor *a, const struct op_tensor *b,
                     const struct op_tensor *y)
{
    const struct op_value args[] = {op_value_tensor(a), op_value_tensor(b), op_value_tensor(y),
                                    op_value_int(KEEP_TYPES)};
    cnnl_run(call, "Matmul", args);
}

void cnnl_multiply(struct cnnl_call *call, const struct op_tensor *a, const struct op_tensor *b,
                   const void *alpha, const void *beta, const struct op_tensor *c,
                   const struct op_tensor *y)
{
    const double product = cnnl_factor(OP_TYPE_F32, alpha, 1);
    const double sum = cnnl_factor(OP_TYPE_F32, beta, 0);
    cnnl_need(call, "c", c || sum == 0);
    if (!a || !b || !y || call->status != CNNL_STATUS_SUCCESS) {
        return;
    }
    if (!op_type_is_float(y->type)) {
        cnnl_refuse(call, "products of type %s", op_type_name(y->type));
        return;
    }
    if (sum == 0 && product == 1) {
        multiply(call, a, b, y);
        return;
    }
    if (sum == 0) {
        const struct op_tensor *made = cnnl_temp_like(call, cnnl_wide(y->type), y);
        multiply(call, cnnl_as(call, cnnl_wide(a->type), a), cnnl_as(call, cnnl_wide(b->type), b),
                 made);
        const struct op_value args[] = {
            op_value_tensor(made), op_value_scalar(cnnl_real(call, product)), op_value_tensor(y)};
        cnnl_run(call, "Muls", args);
        return;
    }
    const struct op_value args[] = {op_value_tensor(c),
                                    op_value_tensor(a),
                                    op_value_tensor(b),
                                    op_value_scalar(cnnl_real(call, sum)),
                                    op_value_scalar(cnnl_real(call, product)),
                                    op_value_tensor(y),
                                    op_value_int(KEEP_TYPES)};
    cnnl_run(call, a->rank == 2 ? "Addmm" : "Baddbmm", args);
}

void cnnl_multiply_more(struct cnnl_call *call, cnnlMatMulExDescriptor_t d, const void *alpha,
                        const struct op_tensor *a, const struct op_tensor *b, const void *beta,
                        const struct op_tensor *c, const struct op_tensor *y)
{
    static const float one = 1;
    const struct op_tensor *left = cnnl_matrix(call, a, d->lda, d->trans_a);
    const struct op_tensor *right = cnnl_matrix(call, b, d->ldb, d->trans_b);
    const struct op_tensor *to = cnnl_matrix(call, y, d->ldc, false);
    const bool has_bias = d->epilogue != CNNL_MATMUL_EPI_NONE && d->bias;
    if (has_bias && cnnl_factor(OP_TYPE_F32, beta, 0) != 0) {
        cnnl_refuse(call, "a bias and beta c in one call");
    }
    if (has_bias) {
        const struct op_tensor *bias = cnnl_in(call, "bias", d->bias_desc, d->bias);
        cnnl_multiply(call, left, right, alpha, &one, bias, to);
    } else {
        cnnl_multiply(call, left, right, alpha, beta, c, to);
    }
    if (d->epilogue == CNNL_MATMUL_EPI_BIAS_SCALE_BN_ACTIVATION && d->activation &&
        d->activation->mode != CNNL_ACTIVATION_IDENTITY) {
        if (d->activation->mode != CNNL_ACTIVATION_RELU) {
            cnnl_refuse(call, "activation %d after a product", (int)d->activation->mode);
        }
        const struct op_value args[] = {op_value_tensor(to), op_value_tensor(to)};
        cnnl_run(call, "Relu", args);
    }
}

cnnlStatus_t cnnl_one_algo(const char *func, int requested, bool results, int *returned)
{
    if (requested < 1 || !results || !returned) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, func, "%d results asked for, or a pointer is NULL",
                         requested);
    }
    *returned = 1;
    return CNNL_STATUS_SUCCESS;
}
