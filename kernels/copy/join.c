/* SPDX-License-Identifier: Apache-2.0 */
/* Joining, repeating, turning and padding: copies between views. A row says which ("join"). */
#include "../frame/chain.h"
#include "../frame/dims.h"
#include "../frame/layout.h"
#include "join_rows.h"

#include <inttypes.h>
#include <leo/alloc.h>
#include <string.h>

// Elements [begin, begin + length) along a dimension.
static struct op_tensor slice(const struct op_tensor *tensor, unsigned dim, int64_t begin,
                              int64_t length)
{
    struct op_tensor view = *tensor;
    view.addr += (uint64_t)(begin * tensor->stride[dim] * op_type_bytes(tensor->type));
    view.dim[dim] = length;
    return view;
}

static leo_status copy_if_any(const struct op_call *call, const struct op_tensor *dst,
                              const struct op_tensor *src)
{
    return op_tensor_count(src) ? op_plan_copy(call->plan, dst, src) : LEO_OK;
}

static bool is_nothing(const struct op_tensor *tensor)
{
    return tensor->rank == 1 && tensor->dim[0] == 0;
}

// Whether `out` has room for the member from `at` on.
static bool fits_from(const struct op_tensor *member, const struct op_tensor *out, unsigned dim,
                      int64_t at)
{
    bool fits = member->rank == out->rank;
    for (unsigned d = 0; fits && d < out->rank; d++) {
        fits = d == dim ? at + member->dim[d] <= out->dim[d] : member->dim[d] == out->dim[d];
    }
    return fits;
}

// Parts one after the other along a dimension.
static leo_status join(const struct op_call *call, const struct op_tensor *whole, unsigned dim,
                       const struct op_tensor *parts, uint64_t count)
{
    leo_status status = op_join_rows(call->plan, whole, dim, parts, count, false);
    int64_t at = 0;
    if (status != OP_DECLINED) {
        return status;
    }
    status = LEO_OK;
    for (uint64_t i = 0; status == LEO_OK && i < count; i++) {
        const struct op_tensor to = slice(whole, dim, at, parts[i].dim[dim]);
        status = copy_if_any(call, &to, &parts[i]);
        at += parts[i].dim[dim];
    }
    return status;
}

// Members stored in blocks of channels, if each begins with a block and fills what it takes:
// storages of all of them.
static bool take_blocks(const struct op_tensor_list *list, const struct op_tensor *out,
                        unsigned dim, struct op_tensor *parts)
{
    int64_t from[4] = {0};
    bool fits = out->rank == 4 && list->count > 0;
    for (uint64_t i = 0; fits && i < list->count; i++) {
        const struct op_tensor *member = list->items[i];
        struct op_tensor to;
        fits = member->format == OP_FORMAT_NC1HWC0 && fits_from(member, out, dim, from[dim]) &&
               op_layout_part(out, from, member->dim, &to) &&
               op_layout_storage(member, &parts[i]) && op_tensor_same_shape(&to, &parts[i]);
        from[dim] += member->dim[dim];
    }
    return fits && from[dim] == out->dim[dim];
}

// Members as they are, without those that are nothing.
static leo_status take_members(const struct op_call *call, unsigned dim, struct op_tensor *parts,
                               uint64_t *count)
{
    const struct op_tensor_list *list = op_call_value(call, "tensors")->tensors;
    const struct op_tensor *out = op_call_tensor(call, "out");
    int64_t at = 0;
    *count = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        const struct op_tensor *member = list->items[i];
        if (is_nothing(member)) {
            continue;
        }
        if (!fits_from(member, out, dim, at)) {
            return op_call_fail(
                call, LEO_ERR_SHAPE,
                "tensors[%" PRIu64 "] of shape %s does not fit into out of shape %s "
                "from %" PRId64 " on",
                i, op_tensor_shape_text(member).text, op_tensor_shape_text(out).text, at);
        }
        at += member->dim[dim];
        parts[*count] = *member;
        *count += op_tensor_count(member) > 0;
    }
    return out->rank && at != out->dim[dim]
               ? op_call_fail(call, LEO_ERR_SHAPE,
                              "out has %" PRId64 " elements along dim, the tensors have %" PRId64,
                              out->dim[dim], at)
               : LEO_OK;
}

static leo_status plan_cat_parts(const struct op_call *call, struct op_tensor *parts)
{
    const struct op_tensor_list *list = op_call_value(call, "tensors")->tensors;
    const struct op_tensor *out = op_call_tensor(call, "out");
    struct op_tensor whole = *out;
    unsigned dim = 0;
    uint64_t count = list->count;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), out->rank, &dim);
    if (status == LEO_OK && op_layout_any_native(call->row, call->args)) {
        if (!take_blocks(list, out, dim, parts)) {
            return op_call_run_as_rows(call);
        }
        (void)op_layout_storage(out, &whole);
    } else if (status == LEO_OK) {
        status = take_members(call, dim, parts, &count);
    }
    return status == LEO_OK ? join(call, &whole, dim, parts, count) : status;
}

static leo_status plan_stack_parts(const struct op_call *call, struct op_tensor *parts)
{
    const struct op_tensor_list *list = op_call_value(call, "tensors")->tensors;
    const struct op_tensor *out = op_call_tensor(call, "out");
    unsigned dim = 0;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), out->rank, &dim);
    for (uint64_t i = 0; status == LEO_OK && i < list->count; i++) {
        struct op_tensor part = slice(out, dim, (int64_t)i, 1);
        part = op_view_select(&part, dim, 0);
        if (!op_tensor_same_shape(&part, list->items[i]) ||
            (uint64_t)out->dim[dim] != list->count) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "tensors[%" PRIu64 "] of shape %s, %" PRIu64
                                " of them, do not make out of shape %s",
                                i, op_tensor_shape_text(list->items[i]).text, list->count,
                                op_tensor_shape_text(out).text);
        }
        parts[i] = op_view_insert(list->items[i], dim);
    }
    return status == LEO_OK ? join(call, out, dim, parts, list->count) : status;
}

// With memory for the members of the list.
static leo_status with_parts(const struct op_call *call,
                             leo_status (*plan)(const struct op_call *call,
                                                struct op_tensor *parts))
{
    const uint64_t count = op_call_value(call, "tensors")->tensors->count;
    struct op_tensor *parts = leo_calloc(count + 1, sizeof(*parts));
    if (!parts) {
        return op_call_fail(call, LEO_ERR_NO_MEMORY, "out of host memory for a plan");
    }
    const leo_status status = plan(call, parts);
    leo_free(parts);
    return status;
}

static leo_status plan_cat(const struct op_call *call)
{
    return with_parts(call, plan_cat_parts);
}

static leo_status plan_stack(const struct op_call *call)
{
    return with_parts(call, plan_stack_parts);
}

// One dimension after the other, each as [before, times, it and what is behind it].
static leo_status repeat_each(const struct op_call *call, const struct op_tensor *self,
                              const struct op_ints *repeats, const struct op_tensor *out)
{
    const unsigned rank = (unsigned)repeats->count, lead = rank - self->rank;
    int64_t shape[OP_RANK_MAX];
    struct op_tensor made;
    leo_status status = op_plan_dense(call->plan, self, self->type, &made);
    for (unsigned i = 0; i < rank; i++) {
        shape[i] = i < lead ? 1 : self->dim[i - lead];
    }
    for (unsigned i = rank; status == LEO_OK && i-- > 0;) {
        const int64_t times = repeats->items[i];
        int64_t parts[] = {1, 1, 1};
        for (unsigned k = 0; k < rank; k++) {
            parts[k < i ? 0 : 2] *= shape[k];
        }
        if (times == 1) {
            continue;
        }
        struct op_tensor from = op_tensor_dense(made.addr, made.type, 3, parts), wide, next;
        parts[1] = times;
        shape[i] *= times;
        (void)op_tensor_broadcast(&from, 3, parts, &wide);
        status = op_plan_temp(call->plan, made.type, rank, shape, &next);
        if (status == LEO_OK) {
            const struct op_tensor to = op_tensor_dense(next.addr, next.type, 3, parts);
            status = copy_if_any(call, &to, &wide);
        }
        made = next;
    }
    return status == LEO_OK ? copy_if_any(call, out, &made) : status;
}

// A repeated dimension is two: the repetitions (stride 0 in self) and the dimension itself.
static leo_status plan_repeat(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    const struct op_ints *repeats = op_call_ints(call, "repeats");
    struct op_tensor from = *self, to = *out;
    int64_t shape[OP_RANK_MAX];
    const unsigned rank = (unsigned)repeats->count;
    bool many = false; // more dimensions than a tensor has
    if (repeats->count < self->rank || repeats->count > OP_RANK_MAX) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%" PRIu64 " repeats for a tensor of shape %s",
                            repeats->count, op_tensor_shape_text(self).text);
    }
    from.rank = to.rank = 0;
    for (unsigned d = 0; d < rank; d++) {
        const unsigned lead = rank - self->rank;
        const int64_t length = d < lead ? 1 : self->dim[d - lead], times = repeats->items[d];
        if (times < 0) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "repeats[%u] is %" PRId64 ": it must not be negative", d, times);
        }
        shape[d] = length * times;
        many = many || to.rank + (times != 1) + (length != 1) > OP_RANK_MAX;
        if (many) {
            continue;
        }
        if (times != 1) {
            from.dim[from.rank] = to.dim[to.rank] = times;
            from.stride[from.rank++] = 0;
            to.stride[to.rank++] = out->rank == rank ? out->stride[d] * length : 0;
        }
        if (length != 1) {
            from.dim[from.rank] = to.dim[to.rank] = length;
            from.stride[from.rank++] = self->stride[d - lead];
            to.stride[to.rank++] = out->rank == rank ? out->stride[d] : 0;
        }
    }
    leo_status status = op_call_check_shape(call, "out", rank, shape);
    if (status != LEO_OK) {
        return status;
    }
    return many ? repeat_each(call, self, repeats, out) : copy_if_any(call, &to, &from);
}

// Pairs of (before, after), the last dimension first. Negative: cropped.
static leo_status plan_pad(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    const struct op_ints *pad = op_call_ints(call, "pad");
    const struct op_value fill[2] = {op_value_tensor(out),
                                     op_value_scalar(op_call_scalar(call, "value"))};
    struct op_tensor from = *self, to = *out;
    int64_t shape[OP_RANK_MAX];
    bool pads = false;
    memcpy(shape, self->dim, sizeof(shape));
    if (pad->count % 2 || pad->count / 2 > self->rank) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "pad has %" PRIu64 " numbers for a tensor of shape %s", pad->count,
                            op_tensor_shape_text(self).text);
    }
    for (uint64_t i = 0; i < pad->count / 2; i++) {
        const unsigned d = self->rank - 1 - (unsigned)i;
        const int64_t before = pad->items[2 * i], after = pad->items[2 * i + 1];
        shape[d] += before + after;
        pads = pads || before > 0 || after > 0;
        from = slice(&from, d, before < 0 ? -before : 0,
                     from.dim[d] + (before < 0 ? before : 0) + (after < 0 ? after : 0));
        if (shape[d] < 0 || from.dim[d] < 0) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "pad %" PRId64 ", %" PRId64 " leaves nothing of dimension %u",
                                before, after, d);
        }
        if (out->rank == self->rank) {
            to = slice(&to, d, before > 0 ? before : 0, from.dim[d]);
        }
    }
    leo_status status = op_call_check_shape(call, "out", self->rank, shape);
    if (status == LEO_OK && pads && op_tensor_count(out)) {
        status = op_plan_call(call->plan, "InplaceFillScalar", fill, 2);
    }
    return status == LEO_OK ? copy_if_any(call, &to, &from) : status;
}

// One dimension moved round by `shift`: two copies.
static leo_status roll_one(const struct op_call *call, const struct op_tensor *from,
                           const struct op_tensor *to, unsigned dim, int64_t shift)
{
    const int64_t length = from->dim[dim];
    const int64_t at = length ? (shift % length + length) % length : 0;
    const struct op_tensor tail = slice(from, dim, length - at, at);
    const struct op_tensor head = slice(from, dim, 0, length - at);
    const struct op_tensor front = slice(to, dim, 0, at), back = slice(to, dim, at, length - at);
    leo_status status = copy_if_any(call, &front, &tail);
    return status == LEO_OK ? copy_if_any(call, &back, &head) : status;
}

static leo_status plan_roll(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "x"), *out = op_call_tensor(call, "out");
    const struct op_ints *shifts = op_call_ints(call, "shifts"), *dims = op_call_ints(call, "dims");
    struct op_tensor from = *self, made = *out;
    leo_status status = op_call_check_shape(call, "out", self->rank, self->dim);
    if (status == LEO_OK && shifts->count != (dims->count ? dims->count : 1)) {
        status = op_call_fail(call, LEO_ERR_SHAPE, "%" PRIu64 " shifts for %" PRIu64 " dims",
                              shifts->count, dims->count);
    }
    if (status == LEO_OK && dims->count == 0) {
        // Without dims the tensor is one long line.
        struct op_tensor line;
        const int64_t count = op_tensor_count(self);
        status = op_plan_dense(call->plan, self, self->type, &line);
        if (status == LEO_OK) {
            status = op_plan_temp(call->plan, out->type, out->rank, out->dim, &made);
        }
        if (status != LEO_OK) {
            return status;
        }
        const struct op_tensor flat = op_tensor_dense(line.addr, line.type, 1, &count);
        const struct op_tensor to = op_tensor_dense(made.addr, made.type, 1, &count);
        status = roll_one(call, &flat, &to, 0, shifts->items[0]);
        return status == LEO_OK ? copy_if_any(call, out, &made) : status;
    }
    for (uint64_t i = 0; status == LEO_OK && i < dims->count; i++) {
        unsigned dim = 0;
        struct op_tensor to = *out;
        if (op_take_dim(call, dims->items[i], self->rank, &dim) != LEO_OK) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "dims[%" PRIu64 "] is %" PRId64 ": x has %u dimensions", i,
                                dims->items[i], self->rank);
        }
        if (status == LEO_OK && i + 1 < dims->count) {
            status = op_plan_temp(call->plan, out->type, out->rank, out->dim, &to);
        }
        if (status == LEO_OK) {
            status = roll_one(call, &from, &to, dim, shifts->items[i]);
        }
        from = to;
    }
    return status;
}

leo_status op_plan_join(const struct op_call *call)
{
    static const struct {
        const char *word;
        leo_status (*plan)(const struct op_call *call);
    } plans[] = {
        {"cat", plan_cat}, {"stack", plan_stack}, {"repeat", plan_repeat},
        {"pad", plan_pad}, {"roll", plan_roll},
    };
    const char *word = op_row_attr(call->row, "join");
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        if (strcmp(word, plans[i].word) == 0) {
            return plans[i].plan(call);
        }
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED, "its row names no way of joining");
}
