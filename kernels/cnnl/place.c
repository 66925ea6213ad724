/* SPDX-License-Identifier: Apache-2.0 */
/* Masks, indices, random numbers. */
#include "cnnl_subjects.h"

#include "tensor_desc.h"

#include <string.h>

// y becomes x before elements of it change.
static void begin_with(struct cnnl_call *call, const struct op_tensor *x, const struct op_tensor *y)
{
    if (x->addr != y->addr || x->type != y->type) {
        cnnl_copy(call, y, x);
    }
}

// y = x mask scale, in f32 for what is narrower.
static void scale_masked(struct cnnl_call *call, const struct op_tensor *x,
                         const struct op_tensor *mask, const void *scale, const struct op_tensor *y)
{
    const struct op_tensor *kept = cnnl_temp_like(call, cnnl_wide(y->type), y);
    const struct op_tensor *truth = cnnl_as(call, cnnl_wide(y->type), mask);
    const struct op_value product[] = {op_value_tensor(x), op_value_tensor(truth),
                                       op_value_tensor(kept)};
    const struct op_value scaled[] = {
        op_value_tensor(kept), op_value_scalar(cnnl_real(call, cnnl_factor(OP_TYPE_F32, scale, 1))),
        op_value_tensor(y)};
    cnnl_run(call, "Mul", product);
    cnnl_run(call, "Muls", scaled);
}

void cnnl_masked(struct cnnl_call *call, cnnlMaskedOp_t op, const struct op_tensor *x,
                 const struct op_tensor *mask, const struct op_tensor *value, const void *scale,
                 const struct op_tensor *y)
{
    if (op == CNNL_MASKED_SCALE) {
        scale_masked(call, x, mask, scale, y);
        return;
    }
    const struct op_tensor *truth = cnnl_as(call, OP_TYPE_BOOL, mask);
    if (op == CNNL_MASKED_FILL_HOST) {
        const struct op_value args[] = {op_value_tensor(y), op_value_tensor(truth),
                                        op_value_scalar(cnnl_host(call, "scale", y->type, scale))};
        begin_with(call, x, y);
        cnnl_run(call, "InplaceMaskedFillScalar", args);
    } else if (op == CNNL_MASKED_FILL || op == CNNL_MASKED_SCATTER) {
        const bool fill = op == CNNL_MASKED_FILL;
        cnnl_need(call, "value", value != NULL);
        const struct op_tensor *from =
            fill && value ? cnnl_shaped(call, "value", value, 0, NULL) : value;
        const struct op_value args[] = {op_value_tensor(y), op_value_tensor(truth),
                                        op_value_tensor(from)};
        begin_with(call, x, y);
        cnnl_run(call, fill ? "InplaceMaskedFillTensor" : "InplaceMaskedScatter", args);
    } else {
        cnnl_refuse(call, "operation %d on a mask", (int)op);
    }
}

const struct op_tensor_list *cnnl_indices(struct cnnl_call *call, const struct op_tensor *x,
                                          const struct op_tensor_list *indices)
{
    // An index that is not given is an empty one of x's type to operators: all of its dimension.
    const struct op_tensor none = {.type = x->type, .rank = 1, .stride = {1}};
    const struct op_tensor *all = cnnl_view(call, &none);
    struct op_tensor_list *list = &call->lists[call->list_count];
    if (indices->count > OP_RANK_MAX || call->list_count == CNNL_CALL_LISTS) {
        cnnl_bad(call, "%d indices", (int)indices->count);
        return indices;
    }
    call->list_count++;
    *list = (struct op_tensor_list){call->places, 0};
    for (uint64_t i = 0; i < indices->count; i++) {
        call->places[i] = indices->items[i] ? indices->items[i] : all;
        list->count = indices->items[i] ? i + 1 : list->count;
    }
    return list;
}

/** What indices make of a shape. */
struct index_shape {
    struct op_tensor joined; /**< of the indices, broadcast */
    unsigned first, last, used;
};

static bool join_indices(cnnlTensorDescriptor_t x, const cnnlTensorDescriptor_t indices[],
                         struct index_shape *shape)
{
    *shape = (struct index_shape){.used = 0};
    for (unsigned i = 0; i < x->rank; i++) {
        struct op_tensor one = {.rank = 0};
        if (!indices[i]) {
            continue;
        }
        if (!cnnl_tensor_is_live(indices[i])) {
            return false;
        }
        one.rank = indices[i]->rank;
        memcpy(one.dim, indices[i]->dim, sizeof(one.dim));
        if (!op_shape_join(&one, &shape->joined.rank, shape->joined.dim)) {
            return false;
        }
        shape->first = shape->used++ ? shape->first : i;
        shape->last = i;
    }
    return true;
}

cnnlStatus_t cnnl_index_shape(const char *func, cnnlTensorDescriptor_t x,
                              const cnnlTensorDescriptor_t indices[], int *rank, int64_t *sizes)
{
    struct index_shape shape;
    unsigned count = 0;
    if (!cnnl_tensor_is_live(x) || !indices || !rank || !sizes ||
        !join_indices(x, indices, &shape) ||
        x->rank - shape.used + shape.joined.rank > OP_RANK_MAX) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, func,
                         "an argument is NULL, or the indices' shapes do not fit together");
    }
    // Indices that stand apart put their dimensions first.
    const bool together = shape.used && shape.last - shape.first + 1 == shape.used;
    for (unsigned i = 0; i <= x->rank; i++) {
        if (shape.used && i == (together ? shape.first : 0)) {
            memcpy(sizes + count, shape.joined.dim, shape.joined.rank * sizeof(*sizes));
            count += shape.joined.rank;
        }
        if (i < x->rank && !indices[i]) {
            sizes[count++] = x->dim[i];
        }
    }
    *rank = (int)count;
    return CNNL_STATUS_SUCCESS;
}

void cnnl_random(struct cnnl_call *call, bool is_device)
{
    if (is_device) {
        cnnl_refuse(call, "seed and offset in device memory");
    }
}
