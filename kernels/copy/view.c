/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of parts of a tensor and of its dimensions in another order. */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include <inttypes.h>

// `x` with its dimensions in the order `list` gives, negative from the end.
static leo_status turn(const struct op_call *call, const char *name, const struct op_tensor *x,
                       const struct op_ints *list, struct op_tensor *out)
{
    unsigned order[OP_RANK_MAX] = {0}, seen = 0;
    bool fits = list->count == x->rank;
    for (unsigned i = 0; fits && i < x->rank; i++) {
        const int64_t at = list->items[i] < 0 ? list->items[i] + x->rank : list->items[i];
        fits = at >= 0 && at < x->rank;
        order[i] = fits ? (unsigned)at : 0;
        seen |= 1u << order[i];
    }
    if (!fits || seen != (1u << x->rank) - 1) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s does not name every dimension of %s once",
                            name, op_tensor_shape_text(x).text);
    }
    *out = op_tensor_permute(x, order);
    return LEO_OK;
}

static leo_status copy_out(const struct op_call *call, const struct op_tensor *from)
{
    const struct op_tensor *out = op_call_tensor(call, "out");
    leo_status status = op_call_check_shape(call, "out", from->rank, from->dim);
    return status == LEO_OK && op_tensor_count(out) ? op_plan_copy(call->plan, out, from) : status;
}

leo_status op_plan_permute_dims(const struct op_call *call)
{
    struct op_tensor turned;
    leo_status status =
        turn(call, "dims", op_call_tensor(call, "self"), op_call_ints(call, "dims"), &turned);
    return status == LEO_OK ? copy_out(call, &turned) : status;
}

// A place in a dimension: negative from the end, what lies outside at its nearer end.
static int64_t place_in(int64_t at, int64_t size)
{
    const int64_t place = at < 0 ? at + size : at;
    return place < 0 ? 0 : place > size ? size : place;
}

leo_status op_plan_slice_dim(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self");
    const int64_t step = op_call_int(call, "step");
    unsigned dim;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), self->rank, &dim);
    if (status == LEO_OK && (self->rank == 0 || step < 1)) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG,
                              "step is %" PRId64 ", self has %u dimensions: both must be above 0",
                              step, self->rank);
    }
    if (status != LEO_OK) {
        return status;
    }
    const int64_t size = self->dim[dim], begin = place_in(op_call_int(call, "start"), size),
                  end = place_in(op_call_int(call, "end"), size),
                  count = end > begin ? end - begin : 0;
    struct op_tensor part = op_view_slice(self, dim, begin, count);
    part.dim[dim] = count / step + (count % step != 0);
    part.stride[dim] *= step;
    return copy_out(call, &part);
}

leo_status op_plan_split_sizes(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self");
    const struct op_ints *sizes = op_call_ints(call, "splitSize");
    const struct op_tensor_list *out = op_call_value(call, "out")->tensors;
    unsigned dim;
    int64_t begin = 0;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), self->rank, &dim);
    if (status == LEO_OK && (self->rank == 0 || sizes->count != out->count)) {
        status = op_call_fail(call, LEO_ERR_SHAPE,
                              "%" PRIu64 " sizes and %" PRIu64 " outputs for self of shape %s",
                              sizes->count, out->count, op_tensor_shape_text(self).text);
    }
    for (uint64_t i = 0; status == LEO_OK && i < sizes->count; i++) {
        const int64_t count = sizes->items[i], left = self->dim[dim] - begin;
        struct op_tensor part = *self;
        if (count < 0 || count > left || (i + 1 == sizes->count && count != left)) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "splitSize %" PRIu64 " is %" PRId64 ", %" PRId64
                                " elements of dimension %u are left",
                                i, count, left, dim);
        }
        part = op_view_slice(self, dim, begin, count);
        if (!op_tensor_same_shape(&part, out->items[i])) {
            return op_call_fail(
                call, LEO_ERR_SHAPE, "output %" PRIu64 " has shape %s, it must be %s", i,
                op_tensor_shape_text(out->items[i]).text, op_tensor_shape_text(&part).text);
        }
        status = op_tensor_count(&part) ? op_plan_copy(call->plan, out->items[i], &part) : LEO_OK;
        begin += count;
    }
    return status;
}

// A dense tensor with the shape of the call.
static leo_status reshape(const struct op_call *call, const struct op_tensor *dense,
                          struct op_tensor *out)
{
    const struct op_ints *shape = op_call_ints(call, "shape");
    int64_t count = 1;
    for (uint64_t i = 0; i < shape->count; i++) {
        count *= shape->items[i];
    }
    if (shape->count > OP_RANK_MAX || count != op_tensor_count(dense)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "shape of %" PRIu64 " numbers does not hold the %" PRId64
                            " elements of x",
                            shape->count, op_tensor_count(dense));
    }
    *out = op_view_shape(dense, (unsigned)shape->count, shape->items);
    return LEO_OK;
}

leo_status op_plan_confusion_transpose(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x");
    const struct op_ints *perm = op_call_ints(call, "perm");
    struct op_tensor dense, seen, turned;
    if (op_call_int(call, "transpose_first")) {
        leo_status status = turn(call, "perm", x, perm, &turned);
        if (status == LEO_OK) {
            status = op_plan_dense(call->plan, &turned, x->type, &dense);
        }
        if (status == LEO_OK) {
            status = reshape(call, &dense, &seen);
        }
        return status == LEO_OK ? copy_out(call, &seen) : status;
    }
    leo_status status = op_plan_dense(call->plan, x, x->type, &dense);
    if (status == LEO_OK) {
        status = reshape(call, &dense, &seen);
    }
    if (status == LEO_OK) {
        status = turn(call, "perm", &seen, perm, &turned);
    }
    return status == LEO_OK ? copy_out(call, &turned) : status;
}

leo_status op_plan_expand(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    const struct op_ints *size = op_call_ints(call, "size");
    const uint64_t front = size->count - self->rank;
    int64_t dim[OP_RANK_MAX];
    bool fits = size->count >= self->rank && size->count <= OP_RANK_MAX;
    for (uint64_t i = 0; fits && i < size->count; i++) {
        const int64_t own = i < front ? 1 : self->dim[i - front];
        dim[i] = size->items[i] == -1 && i >= front ? own : size->items[i];
        fits = dim[i] >= 0 && (own == 1 || dim[i] == own);
    }
    if (!fits) {
        return op_call_fail(call, LEO_ERR_SHAPE, "self of shape %s cannot be expanded to that size",
                            op_tensor_shape_text(self).text);
    }
    leo_status status = op_call_check_shape(call, "out", (unsigned)size->count, dim);
    return status == LEO_OK && op_tensor_count(out) ? op_plan_copy(call->plan, out, self) : status;
}
