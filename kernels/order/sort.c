/* SPDX-License-Identifier: Apache-2.0 */
/* Along one dimension in order: sort, top k, running sums, products and extrema. A row says which
 * ("order"). Kernels write rows one after the other; views put them where they belong. */
#include "../frame/chain.h"
#include "../frame/dims.h"
#include "../frame/whole.h"
#include "../pointwise/move_steps.h"
#include "scan.h"
#include "sort_lanes.h"

#include "sort_args.h"

#include <inttypes.h>
#include <string.h>

static void begin(struct op_sort_args *args, const struct op_tensor *self, unsigned dim)
{
    const int64_t unit = op_type_bytes(self->type);
    memset(args, 0, sizeof(*args));
    args->in = self->addr;
    args->in_type = (uint8_t)self->type;
    args->rows = 1;
    args->length = self->rank ? (uint64_t)self->dim[dim] : 1;
    args->step = self->rank ? self->stride[dim] * unit : unit;
    for (unsigned i = 0; i < self->rank; i++) {
        if (i != dim) {
            args->dim[args->rank] = self->dim[i];
            args->stride[args->rank++] = self->stride[i] * unit;
            args->rows *= (uint64_t)self->dim[i];
        }
    }
}

// A dense tensor of self's shape with `dim` last in memory, seen in self's order of dimensions.
static leo_status make_rows(const struct op_call *call, const struct op_tensor *self, unsigned dim,
                            enum op_type type, struct op_tensor *out)
{
    int64_t shape[OP_RANK_MAX];
    unsigned rank = 0;
    struct op_tensor rows;
    for (unsigned i = 0; i < self->rank; i++) {
        if (i != dim) {
            shape[rank++] = self->dim[i];
        }
    }
    if (self->rank) {
        shape[rank++] = self->dim[dim];
    }
    leo_status status = op_plan_temp(call->plan, type, rank, shape, &rows);
    *out = rows;
    for (unsigned i = 0, k = 0; i < self->rank; i++) {
        const unsigned from = i == dim ? rank - 1 : k++;
        out->dim[i] = rows.dim[from];
        out->stride[i] = rows.stride[from];
    }
    return status;
}

static leo_status launch(const struct op_call *call, const char *kernel, unsigned unit,
                         struct op_sort_args *args)
{
    const struct op_share share = op_share_make(args->rows, op_row_granule(args->length, unit), 1,
                                                op_plan_vector_cores(call->plan));
    args->per_block = share.per_block;
    return op_plan_launch(call->plan, "sort", kernel, share.blocks, args, sizeof(*args), 4);
}

// The order of self along dim, as i64 in self's shape.
static leo_status plan_order(const struct op_call *call, const struct op_tensor *self, unsigned dim,
                             bool descending, struct op_tensor *order)
{
    struct op_sort_args args;
    leo_status status = make_rows(call, self, dim, OP_TYPE_I64, order);
    begin(&args, self, dim);
    if (status == LEO_OK) {
        status = op_plan_temp_bytes(call->plan, args.rows * args.length * 32, &args.scratch);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.index = order->addr;
    args.descending = descending;
    return launch(call, "sort_rows", 8, &args);
}

static struct op_tensor first_of(const struct op_tensor *tensor, unsigned dim, int64_t count)
{
    struct op_tensor view = *tensor;
    if (view.rank) {
        view.dim[dim] = count;
    }
    return view;
}

// Types whose keys are 32 bits at most.
static bool has_short_keys(enum op_type type)
{
    return type == OP_TYPE_F32 || type == OP_TYPE_F16 || type == OP_TYPE_BF16 ||
           type == OP_TYPE_I32 || type == OP_TYPE_I16 || type == OP_TYPE_I8 || type == OP_TYPE_U8 ||
           type == OP_TYPE_BOOL;
}

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

// Rows of which each begins in a line of its own; seen in the order of `shape`.
static leo_status make_apart_rows(const struct op_call *call, const struct op_tensor *shape,
                                  unsigned dim, uint64_t pitch, enum op_type type,
                                  struct op_tensor *out)
{
    struct op_tensor wide = *shape;
    if (wide.rank) {
        wide.dim[dim] = (int64_t)pitch;
    }
    leo_status status = make_rows(call, &wide, dim, type, out);
    if (status == LEO_OK && wide.rank) {
        out->dim[dim] = shape->dim[dim];
    }
    return status;
}

static leo_status launch_radix(const struct op_call *call, const char *kernel, uint64_t count,
                               uint64_t granule, struct op_radix_args *args)
{
    const struct op_share share =
        op_share_make(count, granule, granule, op_plan_vector_cores(call->plan));
    args->per_block = share.per_block;
    return op_plan_launch(call->plan, "sort_radix", kernel, share.blocks, args, sizeof(*args), 5);
}

// Rows longer than a part: parts in order, merged two by two, and the first ones taken.
static leo_status launch_long(const struct op_call *call, struct op_radix_args *args)
{
    enum { LINE_ITEMS = 8, LEAST_ITEMS = 64 };
    const uint64_t parts = (args->length + OP_SORT_PART - 1) / OP_SORT_PART;
    args->pitch = round_up(args->length, LINE_ITEMS);
    const uint64_t bytes = args->rows * args->pitch * 8;
    leo_status status = op_plan_temp_bytes(call->plan, bytes, &args->items);
    if (status == LEO_OK) {
        status = op_plan_temp_bytes(call->plan, bytes, &args->merged);
    }
    if (status == LEO_OK) {
        status = launch_radix(call, "sort_parts", args->rows * parts, 1, args);
    }
    for (args->width = OP_SORT_PART; args->width < args->length && status == LEO_OK;
         args->width *= 2) {
        status = launch_radix(call, "sort_merge", args->rows * args->pitch, LEAST_ITEMS, args);
        const uint64_t swap = args->items;
        args->items = args->merged;
        args->merged = swap;
    }
    return status == LEO_OK
               ? launch_radix(call, "sort_give", args->rows * args->keep_pitch, LEAST_ITEMS, args)
               : status;
}

// self's rows along dim, one after the other.
static leo_status take_rows(const struct op_call *call, const struct op_tensor *self, unsigned dim,
                            struct op_tensor *rows)
{
    *rows = *self;
    if (op_tensor_is_dense(self) && dim + 1 >= self->rank) {
        return LEO_OK;
    }
    leo_status status = make_rows(call, self, dim, self->type, rows);
    return status == LEO_OK ? op_plan_copy(call->plan, rows, self) : status;
}

// Where rows for `out` go: there itself, if they lie so.
static leo_status give_rows(const struct op_call *call, const struct op_tensor *out, unsigned dim,
                            enum op_type type, struct op_tensor *rows)
{
    *rows = *out;
    if (out->type == type && op_tensor_is_dense(out) && dim + 1 >= out->rank) {
        return LEO_OK;
    }
    return make_rows(call, out, dim, type, rows);
}

static leo_status plan_lanes(const struct op_call *call, const struct op_tensor *self, unsigned dim,
                             bool descending, const struct op_tensor *values,
                             const struct op_tensor *indices)
{
    struct op_tensor in, first, where;
    leo_status status = take_rows(call, self, dim, &in);
    if (status == LEO_OK) {
        status = give_rows(call, values, dim, self->type, &first);
    }
    if (status == LEO_OK) {
        status = give_rows(call, indices, dim, OP_TYPE_I64, &where);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_lanes_rows rows = {
        .in = in.addr,
        .values = first.addr,
        .index = where.addr,
        .rows = (uint64_t)op_tensor_count(values) / (values->rank ? (uint64_t)values->dim[dim] : 1),
        .length = self->rank ? (uint64_t)self->dim[dim] : 1,
        .keep = values->rank ? (uint64_t)values->dim[dim] : 1,
        .type = self->type,
        .descending = descending,
    };
    status = op_lanes_plan(call->plan, &rows);
    if (status == LEO_OK && first.addr != values->addr) {
        status = op_plan_copy(call->plan, values, &first);
    }
    return status == LEO_OK && where.addr != indices->addr
               ? op_plan_copy(call->plan, indices, &where)
               : status;
}

// The first `keep` elements along dim in order, and where they were.
static leo_status plan_radix(const struct op_call *call, const struct op_tensor *self, unsigned dim,
                             bool descending, const struct op_tensor *values,
                             const struct op_tensor *indices)
{
    enum { LINE = 64 };
    const unsigned unit = op_type_bytes(self->type);
    struct op_tensor rows, apart_values, apart_index;
    struct op_radix_args args = {
        .length = self->rank ? (uint64_t)self->dim[dim] : 1,
        .keep = self->rank ? (uint64_t)values->dim[dim] : 1,
        .unit = unit,
        .type = (uint8_t)self->type,
        .descending = descending,
    };
    args.rows = (uint64_t)op_tensor_count(self) / args.length;
    args.keep_pitch = round_up(args.keep, LINE / unit);
    leo_status status = take_rows(call, self, dim, &rows);
    if (status == LEO_OK) {
        status = make_apart_rows(call, values, dim, args.keep_pitch, self->type, &apart_values);
    }
    if (status == LEO_OK) {
        status = make_apart_rows(call, values, dim, args.keep_pitch, OP_TYPE_I64, &apart_index);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.in = rows.addr;
    args.values = apart_values.addr;
    args.index = apart_index.addr;
    status = args.length <= OP_SORT_PART ? launch_radix(call, "sort_parts", args.rows, 1, &args)
                                         : launch_long(call, &args);
    if (status == LEO_OK) {
        status = op_plan_copy(call->plan, values, &apart_values);
    }
    return status == LEO_OK ? op_plan_copy(call->plan, indices, &apart_index) : status;
}

// The type of scores for what the chip sorts in its vector unit: integers of 8 and 16 bits are
// floats exactly.
static enum op_type lanes_type(enum op_type type)
{
    switch (type) {
    case OP_TYPE_I8:
    case OP_TYPE_U8:
    case OP_TYPE_BOOL:
        return OP_TYPE_F16;
    case OP_TYPE_I16:
        return OP_TYPE_F32;
    default:
        return type;
    }
}

static leo_status plan_lanes_as(const struct op_call *call, enum op_type type,
                                const struct op_tensor *self, unsigned dim, bool descending,
                                const struct op_tensor *values, const struct op_tensor *indices)
{
    struct op_chain chain = op_chain_begin(call);
    if (type == self->type) {
        return plan_lanes(call, self, dim, descending, values, indices);
    }
    const struct op_tensor in = op_chain_temp_like(&chain, type, self),
                           out = op_chain_temp_like(&chain, type, values);
    op_chain_copy(&chain, &in, self);
    if (chain.status == LEO_OK) {
        chain.status = plan_lanes(call, &in, dim, descending, &out, indices);
    }
    op_chain_copy(&chain, values, &out);
    return chain.status;
}

static leo_status plan_short(const struct op_call *call, const struct op_tensor *self, unsigned dim,
                             bool descending, const struct op_tensor *values,
                             const struct op_tensor *indices)
{
    const enum op_type type = lanes_type(self->type);
    return op_lanes_take(call->plan, type, self->rank ? self->dim[dim] : 1)
               ? plan_lanes_as(call, type, self, dim, descending, values, indices)
               : plan_radix(call, self, dim, descending, values, indices);
}

static leo_status deliver(const struct op_call *call, const struct op_tensor *self, unsigned dim,
                          const struct op_tensor *order, const struct op_tensor *values,
                          const struct op_tensor *indices)
{
    const struct op_value gather[] = {op_value_tensor(self), op_value_int((int64_t)dim),
                                      op_value_tensor(order), op_value_tensor(values)};
    leo_status status = op_plan_call(call->plan, "Gather", gather, 4);
    return status == LEO_OK ? op_plan_copy(call->plan, indices, order) : status;
}

// The halves of integers as integers of half the width, the lower ones with their upper bit turned:
// their order as signed numbers is that of the bits.
static leo_status take_halves(struct op_chain *chain, const struct op_tensor *self,
                              struct op_tensor *low, struct op_tensor *high)
{
    const bool wide = self->type == OP_TYPE_I64;
    const struct op_scalar upper = op_scalar_int(wide ? INT32_MIN : 1 << 15);
    const struct op_tensor dense = op_chain_dense(chain, self->type, self);
    if (wide) {
        struct op_tensor words = {0};
        if (chain->status == LEO_OK) {
            chain->status = op_move_plan_words(chain->plan, &dense, &words, high);
        }
        *low = op_chain_temp_like(chain, OP_TYPE_I32, self);
        OP_CHAIN_CALL(chain, "BitwiseXorScalar", op_value_tensor(&words), op_value_scalar(&upper),
                      op_value_tensor(low));
        return chain->status;
    }
    const struct op_tensor turned = op_chain_temp_like(chain, OP_TYPE_I32, self);
    OP_CHAIN_CALL(chain, "BitwiseXorScalar", op_value_tensor(&dense), op_value_scalar(&upper),
                  op_value_tensor(&turned));
    *low = op_chain_temp_like(chain, OP_TYPE_I16, self);
    *high = op_chain_temp_like(chain, OP_TYPE_I16, self);
    const uint64_t planes[] = {low->addr, high->addr};
    const struct op_move_steps pairs = {
        .groups = turned.addr, .rows = 1, .count = op_tensor_count(self), .step = 2, .bytes = 2};
    if (chain->status == LEO_OK) {
        chain->status = op_move_plan_split(chain->plan, &pairs, planes, 2);
    }
    return chain->status;
}

// Integers by their lower halves, then, what is in order staying so, by their upper ones.
static leo_status plan_halves(const struct op_call *call, const struct op_tensor *self,
                              unsigned dim, bool descending, struct op_tensor *order)
{
    struct op_chain chain = op_chain_begin(call);
    const struct op_value along = op_value_int((int64_t)dim), stable = op_value_int(1),
                          down = op_value_int(descending);
    struct op_tensor low = {0}, high = {0};
    *order = op_chain_temp_like(&chain, OP_TYPE_I64, self);
    if (take_halves(&chain, self, &low, &high) != LEO_OK) {
        return chain.status;
    }
    const struct op_tensor sorted = op_chain_temp_like(&chain, low.type, self),
                           upper = op_chain_temp_like(&chain, low.type, self),
                           first = op_chain_temp_like(&chain, OP_TYPE_I64, self),
                           second = op_chain_temp_like(&chain, OP_TYPE_I64, self);
    OP_CHAIN_CALL(&chain, "Sort", op_value_tensor(&low), stable, along, down,
                  op_value_tensor(&sorted), op_value_tensor(&first));
    OP_CHAIN_CALL(&chain, "Gather", op_value_tensor(&high), along, op_value_tensor(&first),
                  op_value_tensor(&upper));
    OP_CHAIN_CALL(&chain, "Sort", op_value_tensor(&upper), stable, along, down,
                  op_value_tensor(&sorted), op_value_tensor(&second));
    OP_CHAIN_CALL(&chain, "Gather", op_value_tensor(&first), along, op_value_tensor(&second),
                  op_value_tensor(order));
    return chain.status;
}

// Whether halves of integers are in order sooner than the integers: where 16 bits are sorted in the
// vector unit, for more than some launches' worth of a core's scalar unit; elsewhere i64 rows that
// are fewer than the cores.
static bool goes_by_halves(const struct op_call *call, const struct op_tensor *self, unsigned dim)
{
    enum { LEAST_EACH = 256, LEAST_ROW = 512 }; // [A]
    const int64_t length = self->rank ? self->dim[dim] : 1, rows = op_tensor_count(self) / length,
                  cores = op_plan_vector_cores(call->plan);
    if (self->type != OP_TYPE_I32 && self->type != OP_TYPE_I64) {
        return false;
    }
    if (op_lanes_take(call->plan, lanes_type(OP_TYPE_I16), length)) {
        return op_parts(rows, cores) * length >= LEAST_EACH;
    }
    return self->type == OP_TYPE_I64 && length >= LEAST_ROW && rows * 2 <= cores;
}

// The first elements along dim in order, as many as `values` has, and where they were.
static leo_status plan_first(const struct op_call *call, const struct op_tensor *self, unsigned dim,
                             bool descending, const struct op_tensor *values,
                             const struct op_tensor *indices)
{
    const bool halves = goes_by_halves(call, self, dim);
    struct op_tensor order;
    if (!halves && has_short_keys(self->type)) {
        return plan_short(call, self, dim, descending, values, indices);
    }
    leo_status status = halves ? plan_halves(call, self, dim, descending, &order)
                               : plan_order(call, self, dim, descending, &order);
    const struct op_tensor best = first_of(&order, dim, values->rank ? values->dim[dim] : 1);
    return status == LEO_OK ? deliver(call, self, dim, &best, values, indices) : status;
}

static leo_status plan_sort(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self");
    unsigned dim = 0;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), self->rank, &dim);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "valuesOut", self->rank, self->dim);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "indicesOut", self->rank, self->dim);
    }
    if (status != LEO_OK || op_tensor_count(self) == 0) {
        return status;
    }
    return plan_first(call, self, dim, op_call_int(call, "descending") != 0,
                      op_call_tensor(call, "valuesOut"), op_call_tensor(call, "indicesOut"));
}

// Always sorted: what is asked for as unsorted may come in any order.
static leo_status plan_top(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self");
    const bool first = op_call_has(call, "valuesOut");
    const char *values = first ? "valuesOut" : "values",
               *indices = first ? "indicesOut" : "indices";
    const int64_t k = op_call_int(call, "k");
    unsigned dim = 0;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), self->rank, &dim);
    const int64_t length = self->rank ? self->dim[dim] : 1;
    if (status == LEO_OK && (k < 0 || k > length)) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG, "k is %" PRId64 " of %" PRId64 " elements",
                              k, length);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor shape = first_of(self, dim, k);
    status = op_call_check_shape(call, values, shape.rank, shape.dim);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, indices, shape.rank, shape.dim);
    }
    if (status != LEO_OK || op_tensor_count(&shape) == 0) {
        return status;
    }
    return plan_first(call, self, dim, op_call_int(call, "largest") != 0,
                      op_call_tensor(call, values), op_call_tensor(call, indices));
}

static leo_status plan_scan(const struct op_call *call, enum op_scan_mode mode)
{
    const struct op_tensor *self =
        op_call_tensor(call, op_call_has(call, "self") ? "self" : "input");
    const bool extreme = mode == OP_SCAN_MAX || mode == OP_SCAN_MIN;
    const char *out_name = extreme ? "valuesOut" : "out";
    const struct op_tensor *out = op_call_tensor(call, out_name);
    const int64_t given = op_call_value(call, "dim")->kind == OP_KIND_SCALAR
                              ? op_call_scalar(call, "dim")->integer
                              : op_call_int(call, "dim");
    struct op_tensor totals, where = {0};
    struct op_sort_args args;
    unsigned dim = 0;
    leo_status status = op_take_dim(call, given, self->rank, &dim);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, out_name, self->rank, self->dim);
    }
    if (status == LEO_OK && extreme) {
        status = op_call_check_shape(call, "indicesOut", self->rank, self->dim);
    }
    if (status != LEO_OK || op_tensor_count(self) == 0) {
        return status;
    }
    status = extreme ? OP_DECLINED : op_scan_plan(call, mode == OP_SCAN_PROD, self, dim, out);
    if (status != OP_DECLINED) {
        return status;
    }
    status = make_rows(call, self, dim, out->type, &totals);
    if (status == LEO_OK && extreme) {
        status = make_rows(call, self, dim, OP_TYPE_I64, &where);
    }
    if (status != LEO_OK) {
        return status;
    }
    begin(&args, self, dim);
    args.out = totals.addr;
    args.out_type = (uint8_t)out->type;
    args.index = where.addr;
    args.mode = (uint8_t)mode;
    status = launch(call, "scan_rows", op_type_bytes(out->type), &args);
    if (status == LEO_OK) {
        status = op_plan_copy(call->plan, out, &totals);
    }
    return status == LEO_OK && extreme
               ? op_plan_copy(call->plan, op_call_tensor(call, "indicesOut"), &where)
               : status;
}

leo_status op_plan_sort(const struct op_call *call)
{
    const char *word = op_row_attr(call->row, "order");
    if (strcmp(word, "sort") == 0) {
        return plan_sort(call);
    }
    if (strcmp(word, "top") == 0) {
        return plan_top(call);
    }
    return plan_scan(call, strcmp(word, "sum") == 0    ? OP_SCAN_SUM
                           : strcmp(word, "prod") == 0 ? OP_SCAN_PROD
                           : strcmp(word, "max") == 0  ? OP_SCAN_MAX
                                                       : OP_SCAN_MIN);
}
