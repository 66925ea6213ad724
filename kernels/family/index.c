/* SPDX-License-Identifier: Apache-2.0 */
/* Elements by index tensors: Index and IndexPut (several tensors), the forms along one dimension,
 * and embeddings. A row says which ("index"). */
#include "index.h"
#include "dims.h"

#include "../device/index_args.h"

#include <inttypes.h>
#include <string.h>

enum {
    LEAST_SHARED = 256, // elements; fewer are not worth another core
    LEAST_SHARE = 8,    // [A] of a table's rows, one in so many is changed if rows are moved whole
};

// Everything but the table's and the indices' part.
static void begin(struct op_index_args *args, unsigned rank, const int64_t *dim, uint8_t mode)
{
    memset(args, 0, sizeof(*args));
    args->rank = (uint8_t)rank;
    args->count = 1;
    for (unsigned i = 0; i < rank; i++) {
        args->dim[i] = dim[i];
        args->count *= (uint64_t)dim[i];
    }
    args->scale = 1;
    args->skip = INT64_MIN;
    args->mode = mode;
}

static void set_table(struct op_index_args *args, const struct op_tensor *table)
{
    args->table = table->addr;
    args->table_type = (uint8_t)table->type;
}

static void set_value(struct op_index_args *args, const struct op_tensor *value)
{
    args->value = value->addr;
    args->value_type = (uint8_t)value->type;
    for (unsigned i = 0; i < value->rank; i++) {
        args->value_stride[i] = value->stride[i] * op_type_bytes(value->type);
    }
}

// One more index tensor, seen with the shape of the index space from dimension `at` on.
static void add_index(struct op_index_args *args, const struct op_tensor *index, unsigned at,
                      const struct op_tensor *table, unsigned dim)
{
    const unsigned k = args->indices++;
    args->index[k] = index->addr;
    args->index_type[k] = (uint8_t)index->type;
    for (unsigned i = 0; i < index->rank; i++) {
        args->index_stride[k][at + i] = index->stride[i] * op_type_bytes(index->type);
    }
    args->jump[k] = (table->rank ? table->stride[dim] : 0) * op_type_bytes(table->type);
    args->limit[k] = table->rank ? table->dim[dim] : 1;
}

/*
 * A dimension that is not indexed, by which blocks can share a table that is written: elements of
 * different blocks are in different lines of 64 bytes. Either every step of it is one of whole
 * lines and it is the outermost (what else moves stays within a step), or it is the innermost and
 * everything else moves by whole lines beyond it. The multiple of steps that blocks take, 0: none.
 */
static uint64_t shared_steps(const struct op_index_args *args, unsigned d, int64_t unit)
{
    const int64_t step = args->table_stride[d], line = 64;
    int64_t reach = unit, rest = (int64_t)args->table;
    for (unsigned i = 0; i < args->rank; i++) {
        if (i != d && args->table_stride[i] < 0) {
            return 0;
        }
        reach += i == d ? 0 : (args->dim[i] - 1) * args->table_stride[i];
        rest |= i == d ? 0 : args->table_stride[i];
    }
    for (unsigned k = 0; k < args->indices; k++) {
        reach += (args->limit[k] - 1) * args->jump[k];
        rest |= args->jump[k];
        if (args->jump[k] < 0) {
            return 0;
        }
    }
    if (step > 0 && step % line == 0 && (int64_t)args->table % line == 0 && reach <= step) {
        return 1;
    }
    int64_t least = INT64_MAX; // what else moves moves by at least so much
    for (unsigned i = 0; i < args->rank; i++) {
        const int64_t other = args->table_stride[i];
        least = i != d && args->dim[i] > 1 && other && other < least ? other : least;
    }
    for (unsigned k = 0; k < args->indices; k++) {
        least = args->jump[k] && args->jump[k] < least ? args->jump[k] : least;
    }
    return step == unit && rest % line == 0 && args->dim[d] * step <= least
               ? (uint64_t)(line / unit)
               : 0;
}

// Into how many blocks a launch that writes the table is cut.
static uint32_t share_table(struct op_index_args *args, uint32_t cores)
{
    const int64_t unit = op_type_bytes((enum op_type)args->table_type);
    struct op_share best = {.blocks = 1, .per_block = args->count};
    args->split = args->rank;
    for (unsigned d = 0; d < args->rank; d++) {
        const uint64_t steps = shared_steps(args, d, unit);
        if (steps == 0 || args->count < LEAST_SHARED) {
            continue;
        }
        const struct op_share share = op_share_make((uint64_t)args->dim[d], steps, 1, cores);
        if (share.blocks > best.blocks) {
            best = share;
            args->split = (uint8_t)d;
        }
    }
    args->per_block = best.per_block;
    return best.blocks;
}

static leo_status launch(const struct op_call *call, struct op_index_args *args)
{
    if (args->count == 0) {
        return LEO_OK;
    }
    const bool get = args->mode == OP_INDEX_GET;
    const uint32_t cores = op_plan_vector_cores(call->plan);
    struct op_share share = op_share_make(args->count, 1, 16, cores);
    args->per_block = share.per_block;
    if (!get) {
        share.blocks = share_table(args, cores);
    }
    return op_plan_launch(call->plan, "index", get ? "index_get" : "index_put", share.blocks, args,
                          sizeof(*args), 2 + OP_INDEX_MAX);
}

// Takes into a dense tensor in place of `out`.
static leo_status get_into(const struct op_call *call, struct op_index_args *args,
                           const struct op_tensor *out)
{
    struct op_tensor made = *out;
    leo_status status = LEO_OK;
    if (!op_tensor_is_dense(out)) {
        status = op_plan_temp(call->plan, out->type, out->rank, out->dim, &made);
    }
    if (status != LEO_OK) {
        return status;
    }
    args->value = made.addr;
    args->value_type = (uint8_t)made.type;
    status = launch(call, args);
    return status == LEO_OK && made.addr != out->addr ? op_plan_copy(call->plan, out, &made)
                                                      : status;
}

/* ---- several index tensors ---- */

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
    set_table(args, self);
    for (unsigned d = 0; d < self->rank; d++) {
        struct op_tensor index;
        if (!adv->index[d]) {
            const unsigned at = plain < adv->at ? plain : plain + adv->joined_rank;
            args->table_stride[at] = self->stride[d] * op_type_bytes(self->type);
            plain++;
            continue;
        }
        (void)op_tensor_broadcast(adv->index[d], adv->joined_rank, adv->joined, &index);
        add_index(args, &index, adv->at, self, d);
    }
}

// A table of which whole rows are taken: its first dimension against all others, which lie without
// gaps. False: they do not.
static bool view_rows(const struct op_tensor *table, struct op_tensor *rows)
{
    struct op_tensor one = *table;
    if (table->rank < 2 || table->dim[0] == 0) {
        return false;
    }
    one.rank--;
    memmove(one.dim, table->dim + 1, one.rank * sizeof(*one.dim));
    memmove(one.stride, table->stride + 1, one.rank * sizeof(*one.stride));
    *rows = *table;
    rows->rank = 2;
    rows->dim[1] = op_tensor_count(&one);
    rows->stride[1] = 1;
    return op_tensor_is_dense(&one) && rows->dim[1] > 0;
}

static leo_status take_rows(const struct op_call *call, const struct op_tensor *self,
                            const struct op_tensor *index, const struct op_tensor *out, bool *taken)
{
    struct op_tensor rows;
    *taken = view_rows(self, &rows);
    return *taken ? op_index_plan_get_rows(call->plan, &rows, index, out, taken) : LEO_OK;
}

/*
 * Whole rows of `table`, which values (dense rows of them, in the order of the list) replace, or
 * are added to times `alpha`. What is added is summed up in f32 in a table of its own, so the list
 * has to be worth a pass over that.
 */
static leo_status change_rows(const struct op_call *call, const struct op_tensor *table,
                              const struct op_tensor *index, const struct op_tensor *values,
                              bool add, double alpha, bool *taken)
{
    const struct op_scalar factor = op_scalar_real(alpha);
    struct op_tensor rows, sums;
    *taken = view_rows(table, &rows) && op_tensor_count(index) * LEAST_SHARE >= table->dim[0];
    if (!*taken) {
        return LEO_OK;
    }
    if (!add) {
        return op_index_plan_put_rows(call->plan, values, index, &rows, taken);
    }
    *taken = table->type <= OP_TYPE_BF16 && values->type == table->type;
    if (!*taken) {
        return LEO_OK;
    }
    leo_status status = op_plan_temp(call->plan, OP_TYPE_F32, 2, rows.dim, &sums);
    if (status == LEO_OK) {
        status = op_index_plan_add_rows(call->plan, values, index, -1, &sums, taken);
    }
    if (status != LEO_OK || !*taken) {
        return status;
    }
    const struct op_value args[] = {op_value_tensor(&rows), op_value_tensor(&sums),
                                    op_value_scalar(&factor)};
    return op_plan_call(call->plan, "InplaceAdd", args, 3);
}

static bool only_first(const struct advanced *adv)
{
    bool only = adv->index[0] != NULL;
    for (unsigned d = 1; d < OP_RANK_MAX; d++) {
        only = only && !adv->index[d];
    }
    return only;
}

static leo_status plan_index(const struct op_call *call)
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
    bool taken = false;
    if (only_first(&adv)) {
        status = take_rows(call, self, adv.index[0], out, &taken);
    }
    if (status != LEO_OK || taken) {
        return status;
    }
    begin(&args, adv.rank, adv.dim, OP_INDEX_GET);
    fill_advanced(self, &adv, &args);
    return get_into(call, &args, out);
}

static leo_status plan_index_put(const struct op_call *call)
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
    bool taken = false;
    if (only_first(&adv)) {
        status = change_rows(call, self, adv.index[0], &seen, add, 1, &taken);
    }
    if (status != LEO_OK || taken) {
        return status;
    }
    begin(&args, adv.rank, adv.dim, add ? OP_INDEX_ADD : OP_INDEX_PUT);
    set_value(&args, &seen);
    fill_advanced(self, &adv, &args);
    return launch(call, &args);
}

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
    set_table(args, table);
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
    bool taken;
    status = op_index_plan_lines(call->plan, &lines, &taken);
    if (status != LEO_OK || taken) {
        return status;
    }
    begin(&args, index->rank, index->dim, OP_INDEX_GET);
    set_other_dims(&args, self, dim);
    add_index(&args, index, 0, self, dim);
    return get_into(call, &args, op_call_tensor(call, "out"));
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
    if (status == LEO_OK && (reduce < 0 || reduce > 2)) {
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
    static const uint8_t modes[] = {OP_INDEX_PUT, OP_INDEX_ADD, OP_INDEX_MUL};
    bool taken = false;
    if (status == LEO_OK) {
        const struct op_tensor values = first_of(src, index);
        const struct op_index_lines lines = {.table = self,
                                             .index = index,
                                             .value = &values,
                                             .out = out,
                                             .dim = dim,
                                             .mode = modes[reduce]};
        status = op_index_plan_lines(call->plan, &lines, &taken);
    }
    if (status == LEO_OK && !taken && op_tensor_alias(self, out) != OP_ALIAS_SAME) {
        status = op_plan_copy(call->plan, out, self);
    }
    if (status != LEO_OK || taken) {
        return status;
    }
    begin(&args, index->rank, index->dim, modes[reduce]);
    set_other_dims(&args, out, dim);
    set_value(&args, src);
    add_index(&args, index, 0, out, dim);
    return launch(call, &args);
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
    bool taken = false;
    const struct op_tensor *out = op_call_tensor(call, "out");
    status = dim == 0 ? take_rows(call, self, index, out, &taken)
                      : op_index_plan_select(call->plan, self, dim, index, out, &taken);
    if (status != LEO_OK || taken) {
        return status;
    }
    begin(&args, self->rank, shape, OP_INDEX_GET);
    set_other_dims(&args, self, dim);
    add_index(&args, index, dim, self, dim);
    return get_into(call, &args, out);
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
    bool taken = false;
    if (dim == 0) {
        status = change_rows(call, out, index, op_call_tensor(call, "source"), add, alpha, &taken);
    }
    if (status != LEO_OK || taken) {
        return status;
    }
    begin(&args, self->rank, shape, add ? OP_INDEX_ADD : OP_INDEX_PUT);
    args.scale = alpha;
    set_other_dims(&args, out, dim);
    set_value(&args, op_call_tensor(call, "source"));
    add_index(&args, index, dim, out, dim);
    return launch(call, &args);
}

/* ---- embeddings ---- */

static leo_status plan_embedding(const struct op_call *call)
{
    const struct op_tensor *weight = op_call_tensor(call, "weight");
    const struct op_tensor *indices = op_call_tensor(call, "indices");
    struct op_index_args args;
    int64_t shape[OP_RANK_MAX];
    if (weight->rank != 2 || indices->rank == OP_RANK_MAX) {
        return op_call_fail(call, LEO_ERR_SHAPE, "weight has shape %s: it must be [rows, columns]",
                            op_tensor_shape_text(weight).text);
    }
    memcpy(shape, indices->dim, sizeof(indices->dim));
    shape[indices->rank] = weight->dim[1];
    leo_status status = op_call_check_shape(call, "out", indices->rank + 1, shape);
    if (status != LEO_OK) {
        return status;
    }
    bool taken;
    status =
        op_index_plan_get_rows(call->plan, weight, indices, op_call_tensor(call, "out"), &taken);
    if (status != LEO_OK || taken) {
        return status;
    }
    begin(&args, indices->rank + 1, shape, OP_INDEX_GET);
    set_table(&args, weight);
    args.table_stride[indices->rank] = weight->stride[1] * op_type_bytes(weight->type);
    add_index(&args, indices, 0, weight, 0);
    return get_into(call, &args, op_call_tensor(call, "out"));
}

static leo_status plan_embedding_backward(const struct op_call *call)
{
    const struct op_tensor *grad = op_call_tensor(call, "grad");
    const struct op_tensor *indices = op_call_tensor(call, "indices");
    const struct op_tensor *out = op_call_tensor(call, "out");
    struct op_index_args args;
    struct op_tensor sums;
    if (out->rank != 2 || grad->rank != indices->rank + 1 ||
        grad->dim[indices->rank] != out->dim[1]) {
        return op_call_fail(call, LEO_ERR_SHAPE, "grad has shape %s, indices %s and out %s",
                            op_tensor_shape_text(grad).text, op_tensor_shape_text(indices).text,
                            op_tensor_shape_text(out).text);
    }
    if (op_call_int(call, "scaleGradByFreq")) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "scaleGradByFreq is not supported");
    }
    // Sums in f32, whatever the type of the gradient.
    const int64_t padding = op_call_int(call, "paddingIdx");
    bool taken;
    leo_status status = op_plan_temp(call->plan, OP_TYPE_F32, 2, out->dim, &sums);
    if (status == LEO_OK) {
        status = op_index_plan_add_rows(call->plan, grad, indices, padding < 0 ? -1 : padding,
                                        &sums, &taken);
    }
    if (status == LEO_OK && taken) {
        return op_plan_copy(call->plan, out, &sums);
    }
    if (status == LEO_OK) {
        status = op_plan_fill(call->plan, sums.addr, 0, (uint64_t)op_tensor_count(out) * 4);
    }
    if (status != LEO_OK) {
        return status;
    }
    begin(&args, grad->rank, grad->dim, OP_INDEX_ADD);
    set_table(&args, &sums);
    args.table_stride[indices->rank] = 4;
    set_value(&args, grad);
    add_index(&args, indices, 0, &sums, 0);
    args.skip = padding < 0 ? INT64_MIN : padding;
    status = launch(call, &args);
    return status == LEO_OK ? op_plan_copy(call->plan, out, &sums) : status;
}

/* ---- backwards ---- */

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
    bool taken;
    status = op_index_plan_flip(call, self, turned, op_call_tensor(call, "out"), &taken);
    if (status != LEO_OK || taken) {
        return status;
    }
    begin(&args, self->rank, self->dim, OP_INDEX_GET);
    set_table(&args, self);
    for (unsigned i = 0; i < self->rank; i++) {
        const int64_t stride = self->stride[i] * unit;
        args.table_stride[i] = turned[i] ? -stride : stride;
        args.table += turned[i] ? (uint64_t)(stride * (self->dim[i] - 1)) : 0;
    }
    return get_into(call, &args, op_call_tensor(call, "out"));
}

leo_status op_plan_index(const struct op_call *call)
{
    static const struct {
        const char *word;
        leo_status (*plan)(const struct op_call *call);
    } plans[] = {
        {"index", plan_index},         {"index_put", plan_index_put},
        {"gather", plan_gather},       {"scatter", plan_scatter},
        {"select", plan_index_select}, {"add", plan_index_add},
        {"embedding", plan_embedding}, {"embedding_backward", plan_embedding_backward},
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
