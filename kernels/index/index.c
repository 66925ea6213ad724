/* SPDX-License-Identifier: Apache-2.0 */
/* Elements by index tensors along one dimension, and backwards; picks the plan of each row with the
 * word "index". Several tensors: index_several.c; embeddings: embedding.c. */
#include "../frame/chain.h"
#include "../frame/dims.h"
#include "index_launch.h"

#include <inttypes.h>
#include <string.h>

/* ---- along one dimension ---- */

// index has self's rank and is no larger (except along dim): gather and the scatters.
static leo_status check_inside(const struct op_call *call, const struct op_tensor *self,
                               const struct op_tensor *index, unsigned dim)
{
    bool fits = self->rank == index->rank || (self->rank + index->rank == 1);
    for (unsigned i = 0; fits && i < index->rank && i < self->rank; i++) {
        fits = i == dim || index->dim[i] <= self->dim[i];
    }
    return fits ? LEO_OK
                : op_call_fail(call, LEO_ERR_SHAPE, "index of shape %s does not fit in self of %s",
                               op_tensor_shape_text(index).text, op_tensor_shape_text(self).text);
}

static void set_other_dims(struct op_index_args *args, const struct op_tensor *table, unsigned dim)
{
    op_index_set_table(args, table);
    for (unsigned i = 0; i < table->rank; i++) {
        args->table_stride[i] = i == dim ? 0 : table->stride[i] * op_type_bytes(table->type);
    }
}

static leo_status plan_gather(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self");
    const struct op_tensor *index = op_call_tensor(call, "index");
    struct op_index_args args;
    unsigned dim = 0;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), self->rank, &dim);
    if (status == LEO_OK) {
        status = check_inside(call, self, index, dim);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "out", index->rank, index->dim);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_index_lines lines = {.table = self,
                                         .index = index,
                                         .value = op_call_tensor(call, "out"),
                                         .dim = dim,
                                         .mode = OP_INDEX_GET};
    const struct op_index_goal goal = {
        .call = call, .elements = &args, .taken_into = lines.value, .lines = &lines};
    op_index_begin(&args, index->rank, index->dim, OP_INDEX_GET);
    set_other_dims(&args, self, dim);
    op_index_add_tensor(&args, index, 0, self, dim);
    return op_index_choose(&goal);
}

// Every place of index has its element of src.
static leo_status check_source(const struct op_call *call, const struct op_tensor *index)
{
    const struct op_tensor *src = op_call_tensor(call, "src");
    bool fits = src->rank == index->rank || src->rank + index->rank == 1;
    for (unsigned i = 0; fits && i < index->rank && i < src->rank; i++) {
        fits = index->dim[i] <= src->dim[i];
    }
    return fits ? LEO_OK
                : op_call_fail(call, LEO_ERR_SHAPE, "index of shape %s does not fit in src of %s",
                               op_tensor_shape_text(index).text, op_tensor_shape_text(src).text);
}

// The elements of src that index has places for.
static struct op_tensor first_of(const struct op_tensor *src, const struct op_tensor *index)
{
    struct op_tensor first = *src;
    for (unsigned i = 0; i < src->rank && i < index->rank; i++) {
        first.dim[i] = index->dim[i];
    }
    return first;
}

// Whether an index names whole slices: it says the same for all elements of one. `list`: of each.
static bool is_repeated(const struct op_tensor *index, const struct op_tensor *table, unsigned dim,
                        struct op_tensor *list)
{
    bool same = index->rank == table->rank && index->rank > 0;
    *list = *index;
    for (unsigned i = index->rank; same && i-- > 0;) {
        if (i != dim) {
            same = index->dim[i] == table->dim[i] && (index->dim[i] == 1 || index->stride[i] == 0);
            *list = same && index->dim[i] > 0 ? op_view_select(list, i, 0) : *list;
        }
    }
    return same && list->rank == 1;
}

// out = self, then the values go where index says.
static leo_status plan_scatter(const struct op_call *call)
{
    const bool in_place = op_call_has(call, "selfRef");
    const struct op_tensor *self = op_call_tensor(call, in_place ? "selfRef" : "self");
    const struct op_tensor *index = op_call_tensor(call, "index");
    const struct op_tensor *out = in_place ? self : op_call_tensor(call, "out");
    struct op_tensor number, made;
    struct op_index_args args;
    unsigned dim = 0;
    const bool general = op_row_attr(call->row, "general") != NULL;
    const int64_t reduce = op_call_has(call, "reduce") ? op_call_int(call, "reduce") : 1;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), self->rank, &dim);
    if (status == LEO_OK) {
        status = check_inside(call, self, index, dim);
    }
    if (status == LEO_OK && op_call_has(call, "src")) {
        status = check_source(call, index);
    }
    if (status == LEO_OK && !in_place) {
        status = op_call_check_shape(call, "out", self->rank, self->dim);
    }
    if (status == LEO_OK && !general && (reduce < 0 || reduce > 2)) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG,
                              "reduce is %" PRId64 ": it must be 0 replace, 1 add or 2 multiply",
                              reduce);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor *src = op_call_has(call, "src") ? op_call_tensor(call, "src") : &number;
    if (src == &number) {
        // The number as a tensor that repeats.
        const struct op_value fill[2] = {op_value_tensor(&made),
                                         op_value_scalar(op_call_scalar(call, "value"))};
        status = op_plan_temp(call->plan, out->type, 0, NULL, &made);
        if (status == LEO_OK) {
            status = op_plan_call(call->plan, "InplaceFillScalar", fill, 2);
        }
        (void)op_tensor_broadcast(&made, index->rank, index->dim, &number);
    }
    static const uint8_t modes[] = {OP_INDEX_PUT, OP_INDEX_ADD, OP_INDEX_MUL, OP_INDEX_LARGEST,
                                    OP_INDEX_SMALLEST};
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor values = first_of(src, index);
    const struct op_index_lines lines = {.table = self,
                                         .index = index,
                                         .value = &values,
                                         .out = out,
                                         .dim = dim,
                                         .mode = modes[reduce]};
    struct op_tensor list;
    const bool slices = in_place && modes[reduce] == OP_INDEX_PUT && dim == 0 &&
                        is_repeated(index, out, dim, &list);
    const struct op_index_goal goal = {.call = call,
                                       .elements = &args,
                                       .rows = slices ? op_index_by_changing_rows : NULL,
                                       .lines = general ? NULL : &lines,
                                       .table = out,
                                       .index = &list,
                                       .values = &values,
                                       .from = self};
    op_index_begin(&args, index->rank, index->dim, modes[reduce]);
    args.skip = general ? OP_INDEX_NOWHERE : INT64_MIN;
    set_other_dims(&args, out, dim);
    op_index_set_value(&args, src);
    op_index_add_tensor(&args, index, 0, out, dim);
    return op_index_choose(&goal);
}

// One list of indices along dim: the index space is that of `shape` with dim replaced.
static leo_status check_list(const struct op_call *call, const struct op_tensor *index)
{
    return index->rank <= 1
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE, "index has shape %s: it must be a list",
                              op_tensor_shape_text(index).text);
}

static void list_space(const struct op_tensor *table, unsigned dim, const struct op_tensor *index,
                       int64_t *shape)
{
    memcpy(shape, table->dim, sizeof(table->dim));
    shape[dim] = op_tensor_count(index);
}

static leo_status plan_index_select(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self");
    const struct op_tensor *index = op_call_tensor(call, "index");
    struct op_index_args args;
    int64_t shape[OP_RANK_MAX];
    unsigned dim = 0;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), self->rank, &dim);
    if (status == LEO_OK) {
        status = check_list(call, index);
    }
    if (status != LEO_OK) {
        return status;
    }
    list_space(self, dim, index, shape);
    status = op_call_check_shape(call, "out", self->rank, shape);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_index_goal goal = {.call = call,
                                       .elements = &args,
                                       .taken_into = op_call_tensor(call, "out"),
                                       .rows = op_index_by_taking_rows,
                                       .table = self,
                                       .index = index,
                                       .dim = dim};
    op_index_begin(&args, self->rank, shape, OP_INDEX_GET);
    set_other_dims(&args, self, dim);
    op_index_add_tensor(&args, index, dim, self, dim);
    return op_index_choose(&goal);
}

// out (self, or a copy of it): source is put at, or added to, the indices along dim.
static leo_status plan_index_add(const struct op_call *call)
{
    const bool in_place = !op_call_has(call, "out");
    const bool add = op_call_has(call, "alpha");
    const struct op_tensor *self = op_call_tensor(call, in_place ? "selfRef" : "self");
    const struct op_tensor *out = in_place ? self : op_call_tensor(call, "out");
    const struct op_tensor *index = op_call_tensor(call, "index");
    struct op_index_args args;
    int64_t shape[OP_RANK_MAX];
    unsigned dim = 0;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), self->rank, &dim);
    if (status == LEO_OK) {
        status = check_list(call, index);
    }
    if (status == LEO_OK && !in_place) {
        status = op_call_check_shape(call, "out", self->rank, self->dim);
    }
    if (status != LEO_OK) {
        return status;
    }
    list_space(self, dim, index, shape);
    status = op_call_check_shape(call, "source", self->rank, shape);
    if (status == LEO_OK && !in_place && op_tensor_alias(self, out) != OP_ALIAS_SAME) {
        status = op_plan_copy(call->plan, out, self);
    }
    if (status != LEO_OK) {
        return status;
    }
    const double alpha = add ? op_call_scalar(call, "alpha")->real : 1;
    const struct op_index_goal goal = {.call = call,
                                       .elements = &args,
                                       .rows = dim == 0 ? op_index_by_changing_rows : NULL,
                                       .table = out,
                                       .index = index,
                                       .values = op_call_tensor(call, "source"),
                                       .add = add,
                                       .alpha = alpha};
    op_index_begin(&args, self->rank, shape, add ? OP_INDEX_ADD : OP_INDEX_PUT);
    args.scale = alpha;
    set_other_dims(&args, out, dim);
    op_index_set_value(&args, op_call_tensor(call, "source"));
    op_index_add_tensor(&args, index, dim, out, dim);
    return op_index_choose(&goal);
}

/* ---- backwards ---- */

static leo_status by_turned_rows(const struct op_index_goal *goal)
{
    return op_index_plan_flip(goal->call, goal->table, goal->turned, goal->taken_into);
}

// No index tensor: the table is walked from its far end.
static leo_status plan_flip(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self");
    const struct op_ints *dims = op_call_ints(call, "dims");
    const int64_t unit = op_type_bytes(self->type);
    struct op_index_args args;
    bool turned[OP_RANK_MAX] = {false};
    leo_status status = op_call_check_shape(call, "out", self->rank, self->dim);
    for (uint64_t i = 0; status == LEO_OK && i < dims->count; i++) {
        const int64_t at = dims->items[i] < 0 ? dims->items[i] + self->rank : dims->items[i];
        if (at < 0 || at >= (int64_t)self->rank) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "dims[%" PRIu64 "] is %" PRId64 ", there are %u dimensions", i,
                                dims->items[i], self->rank);
        }
        turned[at] = true;
    }
    if (status != LEO_OK || op_tensor_count(self) == 0) {
        return status;
    }
    const struct op_index_goal goal = {.call = call,
                                       .elements = &args,
                                       .taken_into = op_call_tensor(call, "out"),
                                       .rows = by_turned_rows,
                                       .table = self,
                                       .turned = turned};
    op_index_begin(&args, self->rank, self->dim, OP_INDEX_GET);
    op_index_set_table(&args, self);
    for (unsigned i = 0; i < self->rank; i++) {
        const int64_t stride = self->stride[i] * unit;
        args.table_stride[i] = turned[i] ? -stride : stride;
        args.table += turned[i] ? (uint64_t)(stride * (self->dim[i] - 1)) : 0;
    }
    return op_index_choose(&goal);
}

leo_status op_plan_index(const struct op_call *call)
{
    static const struct {
        const char *word;
        leo_status (*plan)(const struct op_call *call);
    } plans[] = {
        {"index", op_index_plan_several},
        {"index_put", op_index_plan_put_several},
        {"gather", plan_gather},
        {"scatter", plan_scatter},
        {"select", plan_index_select},
        {"add", plan_index_add},
        {"embedding", op_index_plan_embedding},
        {"embedding_backward", op_index_plan_embedding_gradient},
        {"flip", plan_flip},
    };
    const char *word = op_row_attr(call->row, "index");
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        if (strcmp(word, plans[i].word) == 0) {
            return plans[i].plan(call);
        }
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED, "its row names no way of indexing");
}
