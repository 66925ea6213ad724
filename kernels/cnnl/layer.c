/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisation, softmax, losses. */
#include "cnnl_subjects.h"

#include "tensor_desc.h"

#include <inttypes.h>

enum op_type cnnl_vector_type(struct cnnl_call *call, cnnlTensorDescriptor_t desc)
{
    enum op_type type = OP_TYPE_F32;
    if (!cnnl_tensor_is_live(desc)) {
        cnnl_bad(call, "the descriptor of weight, bias, mean and variance is NULL or none");
    } else if (!cnnl_type_of(desc->type, &type)) {
        cnnl_refuse(call, "weight, bias, mean and variance of type %d", (int)desc->type);
    }
    return type;
}

// A statistic of each row, in the shape that operators take: 1 where x is normalised over.
static const struct op_tensor *statistic(struct cnnl_call *call, const struct op_tensor *x,
                                         int64_t axis, enum op_type type, const void *data)
{
    int64_t dim[OP_RANK_MAX];
    for (unsigned i = 0; i < x->rank; i++) {
        dim[i] = i < axis ? x->dim[i] : 1;
    }
    const struct op_tensor made = op_tensor_dense((uintptr_t)data, type, x->rank, dim);
    return data ? cnnl_view(call, &made) : NULL;
}

struct cnnl_layer cnnl_layer_of(struct cnnl_call *call, const struct op_tensor *x, int64_t axis,
                                cnnlTensorDescriptor_t vector, cnnlTensorDescriptor_t mean_rstd,
                                const void *mean, const void *rstd)
{
    struct cnnl_layer layer = {.vector_type = x->type};
    axis = axis < 0 ? axis + x->rank : axis;
    if (axis < 0 || axis >= x->rank) {
        cnnl_bad(call, "axis is %" PRId64 ", x has %u dimensions", axis, x->rank);
        return layer;
    }
    layer.sizes = cnnl_sizes(call, x, (unsigned)axis);
    if (vector) {
        layer.vector_type = cnnl_vector_type(call, vector);
    }
    if (mean_rstd) {
        const enum op_type type = cnnl_vector_type(call, mean_rstd);
        layer.mean = statistic(call, x, axis, type, mean);
        layer.rstd = statistic(call, x, axis, type, rstd);
    }
    return layer;
}

const struct op_tensor *cnnl_layer_vector(struct cnnl_call *call, const struct cnnl_layer *layer,
                                          const void *data)
{
    if (!data || !layer->sizes) {
        return NULL;
    }
    const struct op_tensor made = op_tensor_dense(
        (uintptr_t)data, layer->vector_type, (unsigned)layer->sizes->count, layer->sizes->items);
    return cnnl_view(call, &made);
}

void cnnl_inverse_deviation(struct cnnl_call *call, const struct op_tensor *saved, float eps)
{
    if (!saved) {
        return;
    }
    const struct op_value sum[] = {op_value_tensor(saved),
                                   op_value_scalar(cnnl_real(call, (double)eps)),
                                   op_value_scalar(cnnl_integer(call, 1)), op_value_tensor(saved)};
    const struct op_value root[] = {op_value_tensor(saved), op_value_tensor(saved)};
    cnnl_run(call, "Adds", sum);
    cnnl_run(call, "Rsqrt", root);
}

int64_t cnnl_softmax_dim(struct cnnl_call *call, cnnlSoftmaxMode_t mode, const struct op_tensor *x)
{
    switch ((int)mode) {
    case CNNL_SOFTMAX_MODE_HIGH_DIMENSION:
        return 0;
    case CNNL_SOFTMAX_MODE_LOW_DIMENSION:
        return x->rank ? x->rank - 1 : 0;
    case CNNL_SOFTMAX_MODE_MEDIUM_DIMENSION:
        if (x->rank != 3) {
            cnnl_bad(call, "the middle one of %u dimensions: there must be 3", x->rank);
        }
        return 1;
    default:
        cnnl_bad(call, "mode is %d", (int)mode);
        return 0;
    }
}

int64_t cnnl_reduction(int mode)
{
    enum { NONE, MEAN, SUM }; // as operators count
    return mode == CNNL_REDUCTION_SUM ? SUM : mode == CNNL_REDUCTION_MEAN ? MEAN : NONE;
}
