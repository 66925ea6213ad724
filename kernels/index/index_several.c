/* SPDX-License-Identifier: Apache-2.0 */
/* Index and IndexPut: several index tensors at once, as numpy joins them. */
#include "../frame/dims.h"
#include "index_launch.h"

#include <inttypes.h>
#include <string.h>

/* Index and IndexPutImpl: which dimensions are indexed, and the index space. */
struct advanced {
    const struct op_tensor *index[OP_RANK_MAX]; /* by dimension, NULL = all of it */
    unsigned rank, at, joined_rank;             /* index space; where the joined dimensions stand */
    int64_t dim[OP_RANK_MAX], joined[OP_RANK_MAX];
    bool together;
};

static bool holds_places(const struct op_tensor *index)
{
    return index->type == OP_TYPE_I64 || index->type == OP_TYPE_I32;
}

/*
 * torch marks a dimension that is not indexed by an empty tensor of shape [0] and self's type. If
 * self has integers it looks like an empty list of places, which it is where the result is empty,
 * or where no other tensor indexes anything.
 */
static bool may_be_skipped(const struct op_tensor *index, const struct op_tensor *self)
{
    return index->rank == 1 && index->dim[0] == 0 &&
           (!holds_places(index) || index->type == self->type);
}

static bool takes_nothing(const struct op_call *call, const struct op_tensor_list *list,
                          const struct op_tensor *self)
{
    bool others = false;
    for (unsigned d = 0; d < list->count; d++) {
        others = others || (list->items[d] && !may_be_skipped(list->items[d], self));
    }
    return !others || (op_call_has(call, "out") && op_tensor_count(self) != 0 &&
                       op_tensor_count(op_call_tensor(call, "out")) == 0);
}

static leo_status join_indices(const struct op_call *call, const struct op_tensor *self,
                               struct advanced *adv)
{
    const struct op_tensor_list *list = op_call_value(call, "indices")->tensors;
    int last = -1;
    memset(adv, 0, sizeof(*adv));
    adv->together = true;
    if (list->count > self->rank) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%" PRIu64 " indices for a tensor of shape %s",
                            list->count, op_tensor_shape_text(self).text);
    }
    const bool nothing = takes_nothing(call, list, self);
    for (unsigned d = 0; d < list->count; d++) {
        const struct op_tensor *index = list->items[d];
        const bool places = index && holds_places(index);
        if (!index || (may_be_skipped(index, self) && !(places && nothing))) {
            continue;
        }
        if (!places) {
            return op_call_fail(call, LEO_ERR_DTYPE, "indices[%u] is %s: it must be i64 or i32", d,
                                op_type_name(index->type));
        }
        if (!op_shape_join(index, &adv->joined_rank, adv->joined)) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "indices[%u] of shape %s does not broadcast with those before it",
                                d, op_tensor_shape_text(index).text);
        }
        adv->together = adv->together && (last < 0 || last + 1 == (int)d);
        adv->at = last < 0 ? d : adv->at;
        last = (int)d;
        adv->index[d] = index;
    }
    // Indexed dimensions that are apart come first in the result, as in numpy.
    adv->at = adv->together ? adv->at : 0;
    return LEO_OK;
}

// The index space: the joined dimensions in the place of the indexed ones.
static leo_status plan_space(const struct op_call *call, const struct op_tensor *self,
                             struct advanced *adv)
{
    unsigned plain = 0;
    for (unsigned d = 0; d <= self->rank; d++) {
        if (plain == adv->at && adv->rank == plain) {
            if (adv->rank + adv->joined_rank > OP_RANK_MAX) {
                return op_call_fail(call, LEO_ERR_SHAPE, "the result has more than %u dimensions",
                                    OP_RANK_MAX);
            }
            memcpy(adv->dim + adv->rank, adv->joined, adv->joined_rank * sizeof(int64_t));
            adv->rank += adv->joined_rank;
        }
        if (d < self->rank && !adv->index[d]) {
            if (adv->rank == OP_RANK_MAX) {
                return op_call_fail(call, LEO_ERR_SHAPE, "the result has more than %u dimensions",
                                    OP_RANK_MAX);
            }
            adv->dim[adv->rank++] = self->dim[d];
            plain++;
        }
    }
    return LEO_OK;
}

static void fill_advanced(const struct op_tensor *self, const struct advanced *adv,
                          struct op_index_args *args)
{
    unsigned plain = 0;
    op_index_set_table(args, self);
    for (unsigned d = 0; d < self->rank; d++) {
        struct op_tensor index;
        if (!adv->index[d]) {
            const unsigned at = plain < adv->at ? plain : plain + adv->joined_rank;
            args->table_stride[at] = self->stride[d] * op_type_bytes(self->type);
            plain++;
            continue;
        }
        (void)op_tensor_broadcast(adv->index[d], adv->joined_rank, adv->joined, &index);
        op_index_add_tensor(args, &index, adv->at, self, d);
    }
}

static bool only_first(const struct advanced *adv)
{
    bool only = adv->index[0] != NULL;
    for (unsigned d = 1; d < OP_RANK_MAX; d++) {
        only = only && !adv->index[d];
    }
    return only;
}

leo_status op_index_plan_several(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    struct advanced adv;
    struct op_index_args args;
    leo_status status = join_indices(call, self, &adv);
    if (status == LEO_OK) {
        status = plan_space(call, self, &adv);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "out", adv.rank, adv.dim);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_index_goal goal = {.call = call,
                                       .elements = &args,
                                       .taken_into = out,
                                       .rows = only_first(&adv) ? op_index_by_taking_rows : NULL,
                                       .table = self,
                                       .index = adv.index[0]};
    op_index_begin(&args, adv.rank, adv.dim, OP_INDEX_GET);
    fill_advanced(self, &adv, &args);
    return op_index_choose(&goal);
}

leo_status op_index_plan_put_several(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "selfRef");
    const struct op_tensor *values = op_call_tensor(call, "values");
    struct advanced adv;
    struct op_index_args args;
    struct op_tensor seen;
    leo_status status = join_indices(call, self, &adv);
    if (status == LEO_OK) {
        status = plan_space(call, self, &adv);
    }
    if (status == LEO_OK && !op_tensor_broadcast(values, adv.rank, adv.dim, &seen)) {
        status =
            op_call_fail(call, LEO_ERR_SHAPE, "values of shape %s does not broadcast to %s",
                         op_tensor_shape_text(values).text, op_shape_text(adv.rank, adv.dim).text);
    }
    if (status != LEO_OK) {
        return status;
    }
    const bool add = op_call_int(call, "accumulate") != 0;
    const struct op_index_goal goal = {.call = call,
                                       .elements = &args,
                                       .rows = only_first(&adv) ? op_index_by_changing_rows : NULL,
                                       .table = self,
                                       .index = adv.index[0],
                                       .values = &seen,
                                       .add = add,
                                       .alpha = 1};
    op_index_begin(&args, adv.rank, adv.dim, add ? OP_INDEX_ADD : OP_INDEX_PUT);
    op_index_set_value(&args, &seen);
    fill_advanced(self, &adv, &args);
    return op_index_choose(&goal);
}
