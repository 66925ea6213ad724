/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over dimensions. A row says which ("reduce"), and which parameter is the second output
 * ("second") or which of two is the index ("index yes": out is the index). */
#include "../frame/layout.h"
#include "../frame/variant.h"
#include "reduce_vector.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static enum op_reduce_mode mode_of(const struct op_call *call, const struct op_tensor *self)
{
    static const struct {
        const char *word;
        enum op_reduce_mode mode;
    } modes[] = {
        {"sum", OP_REDUCE_SUM},   {"nansum", OP_REDUCE_NANSUM},
        {"mean", OP_REDUCE_MEAN}, {"prod", OP_REDUCE_PROD},
        {"max", OP_REDUCE_MAX},   {"min", OP_REDUCE_MIN},
        {"all", OP_REDUCE_ALL},   {"any", OP_REDUCE_ANY},
        {"norm", OP_REDUCE_NORM}, {"logsumexp", OP_REDUCE_LOG_SUM_EXP},
        {"var", OP_REDUCE_VAR},   {"std", OP_REDUCE_STD},
    };
    const char *word = op_row_attr(call->row, "reduce");
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(word, modes[i].word) == 0) {
            const enum op_reduce_mode mode = modes[i].mode;
            const bool integers = !op_type_is_float(self->type) && !op_type_is_complex(self->type);
            return mode == OP_REDUCE_NANSUM && integers ? OP_REDUCE_SUM : mode;
        }
    }
    return OP_REDUCE_SUM;
}

static leo_status take_dim(const struct op_call *call, const struct op_tensor *self, int64_t dim,
                           bool *reduced)
{
    const int64_t rank = self->rank ? self->rank : 1;
    const int64_t at = dim < 0 ? dim + rank : dim;
    if (at < 0 || at >= rank) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "dimension %" PRId64 " is out of range, self has %u dimensions", dim,
                            self->rank);
    }
    if (self->rank > 0) {
        reduced[at] = true;
    }
    return LEO_OK;
}

// Which dimensions go away: those of a list (empty: all), of one number, or all.
static leo_status take_dims(const struct op_call *call, const struct op_tensor *self, bool *reduced)
{
    const char *name = op_call_has(call, "dims") ? "dims" : op_call_has(call, "dim") ? "dim" : NULL;
    const struct op_ints *dims = NULL;
    if (name && op_call_value(call, name)->kind == OP_KIND_INT) {
        memset(reduced, 0, OP_RANK_MAX);
        return take_dim(call, self, op_call_int(call, name), reduced);
    }
    dims = name ? op_call_ints(call, name) : NULL;
    for (unsigned i = 0; i < self->rank; i++) {
        reduced[i] = !dims || dims->count == 0;
    }
    for (uint64_t i = 0; dims && i < dims->count; i++) {
        leo_status status = take_dim(call, self, dims->items[i], reduced);
        if (status != LEO_OK) {
            return status;
        }
    }
    return LEO_OK;
}

static bool keeps_dims(const struct op_call *call)
{
    static const char *const names[] = {"keepDims", "keepDim", "keepdim"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (op_call_has(call, names[i])) {
            return op_call_int(call, names[i]) != 0;
        }
    }
    return false;
}

// Order of a norm: a scalar of either name; none: 2.
static double order_of(const struct op_call *call)
{
    const char *name = op_call_has(call, "ord") ? "ord" : "pScalar";
    const struct op_scalar *order = op_call_has(call, name) ? op_call_scalar(call, name) : NULL;
    return order ? order->real : 2;
}

static int64_t correction_of(const struct op_call *call)
{
    if (op_call_has(call, "correction")) {
        return op_call_int(call, "correction");
    }
    return op_call_has(call, "unbiased") ? op_call_int(call, "unbiased") != 0 : 1;
}

static void split_dims(const struct op_tensor *self, const bool *reduced,
                       struct op_reduce_args *args)
{
    const unsigned unit = op_type_bytes(self->type);
    args->outer_count = args->inner_count = 1;
    for (unsigned i = 0; i < self->rank; i++) {
        if (reduced[i]) {
            args->inner_dim[args->inner_rank] = self->dim[i];
            args->inner_stride[args->inner_rank++] = self->stride[i] * unit;
            args->inner_count *= (uint64_t)self->dim[i];
        } else {
            args->outer_dim[args->outer_rank] = self->dim[i];
            args->outer_stride[args->outer_rank++] = self->stride[i] * unit;
            args->outer_count *= (uint64_t)self->dim[i];
        }
    }
}

// An output and what is written in its place: dense.
struct output {
    const struct op_tensor *given;
    struct op_tensor made;
};

// A call: what goes away, and its outputs.
struct goal {
    const struct op_call *call;
    const struct op_tensor *self;
    bool reduced[OP_RANK_MAX];
    struct op_reduce_args args;
    bool wants_index;    // the extra output is the place of the value, which is not wanted
    bool two;            // there is an extra output
    struct output value; // of which only the type counts where the index is wanted
    struct output extra;
};

static leo_status place_output(const struct op_call *call, struct output *output)
{
    output->made = *output->given;
    if (op_tensor_is_dense(output->given)) {
        return LEO_OK;
    }
    return op_plan_temp(call->plan, output->given->type, output->given->rank, output->given->dim,
                        &output->made);
}

static leo_status deliver(const struct op_call *call, const struct output *output)
{
    return output->made.addr == output->given->addr
               ? LEO_OK
               : op_plan_copy(call->plan, output->given, &output->made);
}

// Whether the reduction is in integers: nothing about it is a float.
static bool in_integers(const struct op_call *call, enum op_reduce_mode mode,
                        const struct op_tensor *self)
{
    const bool exact = mode == OP_REDUCE_SUM || mode == OP_REDUCE_PROD || mode == OP_REDUCE_MAX ||
                       mode == OP_REDUCE_MIN;
    return exact && !op_type_is_float(self->type) &&
           !(op_call_has(call, "dtype") && op_type_is_float(op_call_value(call, "dtype")->type));
}

static leo_status check_count(const struct op_call *call, const struct op_reduce_args *args)
{
    if (args->inner_count == 0 && args->outer_count > 0 &&
        (args->mode == OP_REDUCE_MAX || args->mode == OP_REDUCE_MIN)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "self has no element to choose from");
    }
    return LEO_OK;
}

/* ---- the ways over the chip ---- */

enum { LEAST_ROWS = 1024 }; // elements; fewer are not worth filling the vector unit's pipes

static leo_status by_vector(const void *object)
{
    const struct goal *goal = object;
    return goal->two ? OP_DECLINED
                     : op_reduce_plan_vector(goal->call->plan, goal->self, goal->reduced,
                                             (enum op_reduce_mode)goal->args.mode,
                                             order_of(goal->call), &goal->value.made);
}

static struct op_reduction reduction_of(const struct goal *goal)
{
    return (struct op_reduction){(enum op_reduce_mode)goal->args.mode,
                                 goal->self,
                                 goal->reduced,
                                 order_of(goal->call),
                                 correction_of(goal->call),
                                 &goal->value.made,
                                 goal->two ? &goal->extra.made : NULL};
}

static leo_status by_rows(const void *object)
{
    const struct goal *goal = object;
    const enum op_reduce_mode mode = (enum op_reduce_mode)goal->args.mode;
    const struct op_reduction reduction = reduction_of(goal);
    if (op_tensor_count(goal->self) < LEAST_ROWS) {
        return OP_DECLINED;
    }
    if (goal->two && (mode == OP_REDUCE_MAX || mode == OP_REDUCE_MIN)) {
        return op_reduce_plan_extreme(goal->call->plan, goal->self, goal->reduced, mode,
                                      goal->wants_index ? NULL : &goal->value.made,
                                      &goal->extra.made);
    }
    return op_reduce_plan_variance(goal->call->plan, &reduction);
}

static leo_status by_steps(const void *object)
{
    const struct goal *goal = object;
    const struct op_reduction reduction = reduction_of(goal);
    return goal->wants_index ? OP_DECLINED : op_reduce_plan_steps(goal->call, &reduction);
}

// The extreme and its place through the vector unit.
static leo_status by_places(const void *object)
{
    const struct goal *goal = object;
    struct op_plan *plan = goal->call->plan;
    const struct op_tensor *index = &goal->extra.made;
    const enum op_reduce_mode mode = (enum op_reduce_mode)goal->args.mode;
    struct op_tensor extreme, place;
    if (!goal->two || (mode != OP_REDUCE_MAX && mode != OP_REDUCE_MIN) ||
        !op_type_is_float(goal->self->type)) {
        return OP_DECLINED;
    }
    leo_status status = op_plan_temp(plan, OP_TYPE_F32, index->rank, index->dim, &extreme);
    if (status == LEO_OK) {
        status = op_plan_temp(plan, OP_TYPE_F32, index->rank, index->dim, &place);
    }
    if (status == LEO_OK) {
        status = op_reduce_plan_place(plan, goal->self, goal->reduced, mode, &extreme, &place);
    }
    if (status == LEO_OK) {
        status = op_plan_copy(plan, index, &place);
    }
    if (status == LEO_OK && !goal->wants_index) {
        const struct op_value copy[] = {op_value_tensor(&extreme),
                                        op_value_tensor(&goal->value.made)};
        status = op_plan_call(plan, "CopyExtreme", copy, 2);
    }
    return status;
}

enum {
    LEAST_INTEGERS = 1024, // fewer are not worth other ways
    SUM_PARTS = 256,       // [A] of a long reduction in integers: a line of results for each core
};

// Whether it is in integers, and worth other ways than element by element on the scalar unit.
static bool is_long_in_integers(const struct goal *goal)
{
    return !goal->two && !op_type_is_complex(goal->self->type) &&
           in_integers(goal->call, (enum op_reduce_mode)goal->args.mode, goal->self) &&
           op_tensor_count(goal->self) >= LEAST_INTEGERS;
}

// Sums, largest and smallest of bytes in f32, which holds every sum on the way.
static leo_status by_bytes(const void *object)
{
    const struct goal *goal = object;
    const struct op_tensor *self = goal->self, *out = &goal->value.made;
    const enum op_reduce_mode mode = (enum op_reduce_mode)goal->args.mode;
    struct op_plan *plan = goal->call->plan;
    const uint64_t most = self->type == OP_TYPE_BOOL ? 1 : 255;
    const bool small_sums = (out->type == OP_TYPE_I32 || out->type == OP_TYPE_I64) &&
                            goal->args.inner_count * most <= 1 << 24;
    struct op_tensor wide, made;
    if (!is_long_in_integers(goal) || op_type_bytes(self->type) != 1 || mode == OP_REDUCE_PROD ||
        (mode == OP_REDUCE_SUM && !small_sums)) {
        return OP_DECLINED;
    }
    leo_status status = op_plan_temp(plan, OP_TYPE_F32, self->rank, self->dim, &wide);
    if (status == LEO_OK) {
        status = op_plan_copy(plan, &wide, self);
    }
    if (status == LEO_OK) {
        status = op_plan_temp(plan, OP_TYPE_F32, out->rank, out->dim, &made);
    }
    if (status == LEO_OK) {
        status = op_reduce_plan_vector(plan, &wide, goal->reduced, mode, 0, &made);
    }
    return status == LEO_OK ? op_plan_copy(plan, out, &made) : status;
}

// All of a dense tensor: parts by as many cores, and what is left over (at least one element); then
// the sum of those.
static leo_status plan_parts(const struct op_call *call, enum op_reduce_mode mode,
                             const struct op_tensor *self, const struct op_tensor *out)
{
    static const int64_t second[] = {1};
    const int64_t count = op_tensor_count(self), each = (count - 1) / SUM_PARTS,
                  all = SUM_PARTS + 1, whole = each * SUM_PARTS;
    const struct op_ints over = {second, 1};
    struct op_tensor sums;
    leo_status status = op_plan_temp(call->plan, OP_TYPE_I64, 1, &all, &sums);
    const struct {
        uint64_t from, to;
        enum op_type type, made;
        int64_t dim[2];
    } steps[] = {
        {self->addr, sums.addr, self->type, OP_TYPE_I64, {SUM_PARTS, each}},
        {self->addr + (uint64_t)whole * op_type_bytes(self->type),
         sums.addr + SUM_PARTS * sizeof(int64_t),
         self->type,
         OP_TYPE_I64,
         {1, count - whole}},
        {sums.addr, out->addr, OP_TYPE_I64, out->type, {1, all}},
    };
    for (unsigned i = 0; i < 3 && status == LEO_OK; i++) {
        const struct op_tensor in = op_tensor_dense(steps[i].from, steps[i].type, 2, steps[i].dim),
                               result =
                                   op_tensor_dense(steps[i].to, steps[i].made, 1, steps[i].dim);
        const struct op_value args[] = {op_value_tensor(&in), op_value_ints(&over),
                                        op_value_int(false), op_value_type(result.type),
                                        op_value_tensor(&result)},
                              extreme[] = {args[0], args[1], args[2], args[4]};
        status =
            mode == OP_REDUCE_SUM
                ? op_plan_call(call->plan, "ReduceSum", args, 5)
                : op_plan_call(call->plan, mode == OP_REDUCE_MAX ? "Amax" : "Amin", extreme, 4);
    }
    return status;
}

static leo_status by_parts(const void *object)
{
    const struct goal *goal = object;
    const enum op_reduce_mode mode = (enum op_reduce_mode)goal->args.mode;
    const bool fits = is_long_in_integers(goal) && mode != OP_REDUCE_PROD &&
                      goal->args.outer_count == 1 && !op_type_is_float(goal->value.made.type) &&
                      op_tensor_is_dense(goal->self);
    return fits ? plan_parts(goal->call, mode, goal->self, &goal->value.made) : OP_DECLINED;
}

// Blocks share lines of no output: with two, which both begin at a line of their own, blocks take
// whole lines of the narrowest type.
static leo_status by_scalar_unit(const void *object)
{
    const struct goal *goal = object;
    struct op_plan *plan = goal->call->plan;
    struct op_reduce_args args;
    struct op_tensor out = goal->value.made, second = goal->two ? goal->extra.made : out;
    const uint64_t line = goal->two ? 64 : 1;
    const struct op_share share =
        op_share_make(goal->args.outer_count, line, line, op_plan_vector_cores(plan));
    const bool integers = in_integers(goal->call, (enum op_reduce_mode)goal->args.mode, goal->self);
    leo_status status = LEO_OK;
    if (goal->two) {
        status = op_plan_temp(plan, out.type, out.rank, out.dim, &out);
    }
    if (goal->two && status == LEO_OK) {
        status = op_plan_temp(plan, second.type, second.rank, second.dim, &second);
    }
    memcpy(&args, &goal->args, sizeof(args)); // with the bytes between members
    args.in = goal->self->addr;
    args.in_type = (uint8_t)goal->self->type;
    args.out = out.addr;
    args.out_type = (uint8_t)out.type;
    args.second = goal->two ? second.addr : 0;
    args.second_type = (uint8_t)second.type;
    args.p = order_of(goal->call);
    args.correction = correction_of(goal->call);
    args.per_block = share.per_block;
    if (status == LEO_OK) {
        status = op_plan_launch(plan, "reduce", integers ? "reduce_i" : "reduce_d", share.blocks,
                                &args, sizeof(args), 3);
    }
    if (goal->two && status == LEO_OK && !goal->wants_index) {
        status = op_plan_copy(plan, &goal->value.made, &out);
    }
    return goal->two && status == LEO_OK ? op_plan_copy(plan, &goal->extra.made, &second) : status;
}

static const struct op_variant ways[] = {
    {"the vector unit", "one output, floats, rows that it sums or compares", by_vector},
    {"rows in UB", "a variance or the place of an extreme of floats, rows of 65 to 8192", by_rows},
    {"steps of the vector unit", "values alone, rows long enough for several operators", by_steps},
    {"places on the vector unit", "the extreme of floats and its place", by_places},
    {"bytes in f32", "at least 1024 bytes whose sums f32 holds", by_bytes},
    {"parts", "all of at least 1024 integers without gaps", by_parts},
    {"the scalar unit", NULL, by_scalar_unit},
};

/* ---- what the call says ---- */

// Whether a sum of all is given as a list of one.
static bool takes_list(const struct op_call *call, const char *out_name)
{
    return op_row_attr(call->row, "list") && op_call_tensor(call, out_name)->rank == 1;
}

// The second output, or the only one if it is the index.
static const struct op_tensor *extra_of(const struct op_call *call, const struct op_tensor *out)
{
    const char *second = op_row_attr(call->row, "second");
    return op_row_attr(call->row, "index") ? out : second ? op_call_tensor(call, second) : NULL;
}

// What is left of self's shape is the shape of the outputs.
static leo_status check_shapes(const struct goal *goal, const char *out_name)
{
    const struct op_call *call = goal->call;
    const char *second = op_row_attr(call->row, "second");
    const bool keep = keeps_dims(call);
    int64_t shape[OP_RANK_MAX];
    unsigned rank = 0;
    for (unsigned i = 0; i < goal->self->rank; i++) {
        if (!goal->reduced[i] || keep) {
            shape[rank++] = goal->reduced[i] ? 1 : goal->self->dim[i];
        }
    }
    if (rank == 0 && takes_list(call, out_name)) {
        shape[rank++] = 1;
    }
    leo_status status = op_call_check_shape(call, out_name, rank, shape);
    if (status == LEO_OK && second) {
        status = op_call_check_shape(call, second, rank, shape);
    }
    return status == LEO_OK ? check_count(call, &goal->args) : status;
}

static leo_status place_outputs(struct goal *goal, const struct op_tensor *out)
{
    const struct op_call *call = goal->call;
    goal->extra.given = extra_of(call, out);
    goal->two = goal->extra.given != NULL;
    goal->value.given = out;
    leo_status status = goal->two ? place_output(call, &goal->extra) : LEO_OK;
    if (status != LEO_OK || !goal->wants_index) {
        return status == LEO_OK ? place_output(call, &goal->value) : status;
    }
    return op_plan_temp(call->plan, goal->self->type, out->rank, out->dim, &goal->value.made);
}

// A map in NC1HWC0 over its positions: rows of channels stay as they lie. Other native tensors
// become rows. Rows of the table that come here have self, the dimensions, ..., out.
static leo_status reduce_native(const struct op_call *call)
{
    static const int64_t positions[] = {2, 3};
    const struct op_ints dims = {positions, 2};
    const unsigned last = call->row->param_count - 1;
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = call->args[last].tensor;
    struct op_value args[OP_PARAMS_MAX];
    struct op_tensor maps, means;
    bool reduced[OP_RANK_MAX] = {false};
    leo_status status = take_dims(call, self, reduced);
    if (status != LEO_OK) {
        return status;
    }
    if (self->rank != 4 || reduced[0] || reduced[1] || !reduced[2] || !reduced[3] ||
        self->format != OP_FORMAT_NC1HWC0 || out->format != OP_FORMAT_NC1HWC0 || out->rank != 4 ||
        op_layout_c0_of(self) != op_layout_c0_of(out) || !op_layout_storage(self, &maps) ||
        !op_layout_storage(out, &means)) {
        return op_call_run_as_rows(call);
    }
    memcpy(args, call->args, call->row->param_count * sizeof(*args));
    args[0] = op_value_tensor(&maps);
    args[1] = op_value_ints(&dims);
    args[last] = op_value_tensor(&means);
    const struct op_call blocks = {call->row, args, call->plan};
    return op_plan_reduce(&blocks);
}

leo_status op_plan_reduce(const struct op_call *call)
{
    if (op_layout_any_native(call->row, call->args)) {
        return reduce_native(call);
    }
    const char *named = op_row_attr(call->row, "out"), *out_name = named ? named : "out";
    struct goal goal;
    memset(&goal, 0, sizeof(goal));
    goal.call = call;
    goal.self = op_call_tensor(call, "self");
    goal.wants_index = op_row_attr(call->row, "index") != NULL;
    leo_status status = take_dims(call, goal.self, goal.reduced);
    if (status != LEO_OK) {
        return status;
    }
    split_dims(goal.self, goal.reduced, &goal.args);
    goal.args.mode = (uint8_t)mode_of(call, goal.self);
    status = check_shapes(&goal, out_name);
    if (status != LEO_OK || goal.args.outer_count == 0) {
        return status;
    }
    status = place_outputs(&goal, op_call_tensor(call, out_name));
    if (status == LEO_OK) {
        status = op_choose(call->plan, ways, sizeof(ways) / sizeof(*ways), &goal);
    }
    if (status == LEO_OK && !goal.wants_index) {
        status = deliver(call, &goal.value);
    }
    return status == LEO_OK && goal.two ? deliver(call, &goal.extra) : status;
}
