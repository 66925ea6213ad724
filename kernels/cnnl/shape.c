/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors seen in other shapes. */
#include "cnnl_subjects.h"

#include <inttypes.h>
#include <string.h>

const struct op_tensor *cnnl_shaped(struct cnnl_call *call, const char *name,
                                    const struct op_tensor *tensor, unsigned rank,
                                    const int64_t *dim)
{
    struct op_tensor *view = cnnl_view(call, tensor);
    if (!view || (tensor->rank == rank && memcmp(tensor->dim, dim, rank * sizeof(*dim)) == 0)) {
        return view;
    }
    *view = op_tensor_dense(tensor->addr, tensor->type, rank, dim);
    if (op_tensor_count(view) != op_tensor_count(tensor) || !op_tensor_is_dense(tensor)) {
        cnnl_bad(call, "%s has shape %s, it must be without gaps and of shape %s", name,
                 op_tensor_shape_text(tensor).text, op_shape_text(rank, dim).text);
    }
    return view;
}

const struct op_tensor *cnnl_shape_only(struct cnnl_call *call, const struct op_tensor *tensor)
{
    struct op_tensor *view = cnnl_view(call, tensor);
    if (view) {
        view->unread = true;
    }
    return view;
}

static bool is_permutation(unsigned rank, const int *permute)
{
    unsigned seen = 0;
    for (unsigned i = 0; i < rank; i++) {
        if (permute[i] < 0 || permute[i] >= (int)rank) {
            return false;
        }
        seen |= 1U << permute[i];
    }
    return seen == (1U << rank) - 1;
}

const struct op_tensor *cnnl_permuted(struct cnnl_call *call, const struct op_tensor *tensor,
                                      int rank, const int *permute)
{
    unsigned order[OP_RANK_MAX];
    if (!tensor || rank != (int)tensor->rank || !is_permutation(tensor->rank, permute)) {
        cnnl_bad(call, "the descriptor does not permute the tensor's dimensions");
        return NULL;
    }
    for (int i = 0; i < rank; i++) {
        order[i] = (unsigned)permute[i];
    }
    struct op_tensor *view = cnnl_view(call, tensor);
    if (view) {
        *view = op_tensor_permute(tensor, order);
    }
    return view;
}

// From the end where negative, and inside.
static int64_t clamp_place(int64_t place, int64_t size)
{
    place = place < 0 ? place + size : place;
    return place < 0 ? 0 : place > size ? size : place;
}

const struct op_tensor *cnnl_sliced(struct cnnl_call *call, const struct op_tensor *tensor,
                                    const int64_t *begin, const int64_t *end, const int64_t *step)
{
    struct op_tensor *view = cnnl_view(call, tensor);
    cnnl_need(call, "begin, end or step", begin && end && step);
    for (unsigned i = 0; call->status == CNNL_STATUS_SUCCESS && i < view->rank; i++) {
        const int64_t first = clamp_place(begin[i], view->dim[i]);
        const int64_t last = clamp_place(end[i], view->dim[i]);
        if (step[i] < 1) {
            cnnl_refuse(call, "a step of %" PRId64 ", it must be 1 or more", step[i]);
            return NULL;
        }
        view->addr += (uint64_t)(first * view->stride[i] * (int64_t)op_type_bytes(view->type));
        view->dim[i] = last > first ? (last - first + step[i] - 1) / step[i] : 0;
        view->stride[i] *= step[i];
    }
    return view;
}

const struct op_tensor *cnnl_filled(struct cnnl_call *call, enum op_type type, int64_t count,
                                    double number)
{
    const struct op_tensor *made = cnnl_temp(call, type, 1, &count);
    const struct op_value args[] = {op_value_tensor(made),
                                    op_value_scalar(cnnl_real(call, number))};
    cnnl_run(call, "InplaceFillScalar", args);
    return made;
}

const struct op_tensor *cnnl_i64(struct cnnl_call *call, const struct op_tensor *tensor)
{
    return !tensor || tensor->type == OP_TYPE_I64 ? tensor
                                                  : cnnl_temp_like(call, OP_TYPE_I64, tensor);
}

const struct op_tensor *cnnl_dense_like(struct cnnl_call *call, const struct op_tensor *tensor)
{
    return !tensor || op_tensor_is_dense(tensor) ? tensor
                                                 : cnnl_temp_like(call, tensor->type, tensor);
}

void cnnl_give(struct cnnl_call *call, const struct op_tensor *to, const struct op_tensor *from)
{
    if (to != from) {
        cnnl_copy(call, to, from);
    }
}

const struct op_ints *cnnl_repeats(struct cnnl_call *call, const struct op_tensor *x,
                                   const struct op_tensor *y)
{
    int64_t repeats[OP_RANK_MAX];
    if (x->rank > y->rank) {
        cnnl_bad(call, "x has %u dimensions, y only %u", x->rank, y->rank);
        return NULL;
    }
    for (unsigned i = 0; i < y->rank; i++) {
        const unsigned before = y->rank - x->rank;
        const int64_t size = i < before ? 1 : x->dim[i - before];
        if (size == 0 || y->dim[i] % size != 0) {
            cnnl_bad(call, "y of shape %s is no repetition of x of shape %s",
                     op_tensor_shape_text(y).text, op_tensor_shape_text(x).text);
            return NULL;
        }
        repeats[i] = y->dim[i] / size;
    }
    return cnnl_longs(call, repeats, y->rank);
}

void cnnl_split(struct cnnl_call *call, const struct op_tensor *x, int64_t axis,
                const struct op_tensor_list *pieces)
{
    int64_t at = 0;
    axis = axis < 0 ? axis + x->rank : axis;
    if (axis < 0 || axis >= x->rank) {
        cnnl_bad(call, "axis is %" PRId64 ", x has %u dimensions", axis, x->rank);
    }
    for (uint64_t i = 0; call->status == CNNL_STATUS_SUCCESS && i < pieces->count; i++) {
        const struct op_tensor *piece = pieces->items[i];
        if (!piece || piece->rank != x->rank || at + piece->dim[axis] > x->dim[axis]) {
            cnnl_bad(call, "piece %" PRIu64 " does not fit into what is left of x", i);
            return;
        }
        struct op_tensor part = *x;
        part.addr += (uint64_t)(at * part.stride[axis] * (int64_t)op_type_bytes(part.type));
        part.dim[axis] = piece->dim[axis];
        at += piece->dim[axis];
        if (!op_tensor_same_shape(&part, piece)) {
            cnnl_bad(call, "piece %" PRIu64 " has shape %s, it must be %s", i,
                     op_tensor_shape_text(piece).text, op_tensor_shape_text(&part).text);
        }
        cnnl_copy(call, piece, &part);
    }
    if (at != x->dim[axis]) {
        cnnl_bad(call, "the pieces take %" PRId64 " of %" PRId64, at, x->dim[axis]);
    }
}

const struct op_scalar *cnnl_arange_end(struct cnnl_call *call, const struct op_scalar *start,
                                        const struct op_scalar *step, const struct op_tensor *y)
{
    if (!start || !step || y->rank != 1) {
        cnnl_bad(call, "y has %u dimensions, it must have one", y->rank);
        return NULL;
    }
    return op_type_is_integer(y->type)
               ? cnnl_integer(call, start->integer + step->integer * y->dim[0])
               : cnnl_real(call, start->real + step->real * (double)y->dim[0]);
}
