/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over dimensions. A row says which ("reduce"), and which parameter is the second output
 * ("second") or which of two is the index ("index yes": out is the index). */
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

// An output and what the kernel writes in its place: dense, and at the start of a line of its own.
struct output {
    const struct op_tensor *given;
    struct op_tensor made;
};

static leo_status place_output(const struct op_call *call, struct output *output, bool fresh)
{
    output->made = *output->given;
    if (!fresh && op_tensor_is_dense(output->given)) {
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

// The extreme and its place through the vector unit; `value` may be NULL.
static leo_status plan_place(const struct op_call *call, const struct op_tensor *self,
                             const bool *reduced, const struct op_reduce_args *args,
                             const struct op_tensor *value, const struct op_tensor *index,
                             bool *done)
{
    struct op_tensor extreme, place;
    const bool extremes = args->mode == OP_REDUCE_MAX || args->mode == OP_REDUCE_MIN;
    leo_status status = LEO_OK;
    *done = false;
    if (extremes && op_type_is_float(self->type)) {
        status = op_plan_temp(call->plan, OP_TYPE_F32, index->rank, index->dim, &extreme);
        if (status == LEO_OK) {
            status = op_plan_temp(call->plan, OP_TYPE_F32, index->rank, index->dim, &place);
        }
        if (status == LEO_OK) {
            status = op_reduce_plan_place(call->plan, self, reduced,
                                          (enum op_reduce_mode)args->mode, &extreme, &place, done);
        }
        if (status == LEO_OK && *done) {
            status = op_plan_copy(call->plan, index, &place);
        }
        if (status == LEO_OK && *done && value) {
            const struct op_value copy[] = {op_value_tensor(&extreme), op_value_tensor(value)};
            status = op_plan_call(call->plan, "CopyExtreme", copy, 2);
        }
    }
    return status;
}

enum {
    LEAST_INTEGERS = 1024, // fewer are not worth other ways
    SUM_PARTS = 256,       // [A] of a long reduction in integers: a line of results for each core
};

// Sums, largest and smallest of bytes in f32, which holds every sum on the way.
static leo_status plan_bytes(const struct op_call *call, const struct op_tensor *self,
                             const bool *reduced, const struct op_reduce_args *args,
                             const struct op_tensor *out, bool *done)
{
    struct op_tensor wide, made;
    leo_status status = op_plan_temp(call->plan, OP_TYPE_F32, self->rank, self->dim, &wide);
    if (status == LEO_OK) {
        status = op_plan_copy(call->plan, &wide, self);
    }
    if (status == LEO_OK) {
        status = op_plan_temp(call->plan, OP_TYPE_F32, out->rank, out->dim, &made);
    }
    if (status == LEO_OK) {
        status = op_reduce_plan_vector(call->plan, &wide, reduced, (enum op_reduce_mode)args->mode,
                                       0, &made, done);
    }
    return status == LEO_OK && *done ? op_plan_copy(call->plan, out, &made) : status;
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

// Reductions of integers that need not go element by element on the scalar unit.
static leo_status plan_integers(const struct op_call *call, const struct op_tensor *self,
                                const bool *reduced, const struct op_reduce_args *args,
                                const struct op_tensor *out, bool *done)
{
    const enum op_reduce_mode mode = (enum op_reduce_mode)args->mode;
    const bool bytes = op_type_bytes(self->type) == 1, sums = mode == OP_REDUCE_SUM;
    const uint64_t most = self->type == OP_TYPE_BOOL ? 1 : 255;
    *done = false;
    if (!in_integers(call, mode, self) || op_type_is_complex(self->type) ||
        op_tensor_count(self) < LEAST_INTEGERS) {
        return LEO_OK;
    }
    const bool small_sums = (out->type == OP_TYPE_I32 || out->type == OP_TYPE_I64) &&
                            args->inner_count * most <= 1 << 24;
    if (bytes && mode != OP_REDUCE_PROD && (!sums || small_sums)) {
        return plan_bytes(call, self, reduced, args, out, done);
    }
    *done = mode != OP_REDUCE_PROD && args->outer_count == 1 && !op_type_is_float(out->type) &&
            op_tensor_is_dense(self);
    return *done ? plan_parts(call, mode, self, out) : LEO_OK;
}

// Whether a sum of all is given as a list of one.
static bool takes_list(const struct op_call *call, const char *out_name)
{
    return op_row_attr(call->row, "list") && op_call_tensor(call, out_name)->rank == 1;
}

leo_status op_plan_reduce(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self");
    const char *out_name = op_row_attr(call->row, "out"),
               *second = op_row_attr(call->row, "second");
    const bool keep = keeps_dims(call), wants_index = op_row_attr(call->row, "index") != NULL;
    bool reduced[OP_RANK_MAX] = {0};
    struct op_reduce_args args;
    int64_t shape[OP_RANK_MAX];
    unsigned rank = 0;
    out_name = out_name ? out_name : "out";
    memset(&args, 0, sizeof(args));
    leo_status status = take_dims(call, self, reduced);
    if (status != LEO_OK) {
        return status;
    }
    split_dims(self, reduced, &args);
    for (unsigned i = 0; i < self->rank; i++) {
        if (!reduced[i] || keep) {
            shape[rank++] = reduced[i] ? 1 : self->dim[i];
        }
    }
    if (rank == 0 && takes_list(call, out_name)) {
        shape[rank++] = 1;
    }
    args.mode = (uint8_t)mode_of(call, self);
    status = op_call_check_shape(call, out_name, rank, shape);
    if (status == LEO_OK && second) {
        status = op_call_check_shape(call, second, rank, shape);
    }
    if (status == LEO_OK) {
        status = check_count(call, &args);
    }
    if (status != LEO_OK || args.outer_count == 0) {
        return status;
    }
    // The value and what comes with it. Blocks share lines of no output: with two, both begin at a
    // line and blocks take whole lines of the narrowest type.
    struct output value = {.given = op_call_tensor(call, out_name)}, extra = {0};
    const bool two = second || wants_index;
    if (wants_index) {
        extra.given = value.given;
        value.given = self; // only the type counts: thrown away
        status = place_output(call, &extra, true);
        if (status == LEO_OK) {
            status = op_plan_temp(call->plan, self->type, rank, shape, &value.made);
        }
    } else {
        status = place_output(call, &value, two);
        if (status == LEO_OK && second) {
            extra.given = op_call_tensor(call, second);
            status = place_output(call, &extra, true);
        }
    }
    if (status != LEO_OK) {
        return status;
    }
    bool done = false;
    if (!two) {
        status = op_reduce_plan_vector(call->plan, self, reduced, (enum op_reduce_mode)args.mode,
                                       order_of(call), &value.made, &done);
        if (status != LEO_OK || done) {
            return status == LEO_OK ? deliver(call, &value) : status;
        }
    }
    if (!wants_index) {
        const struct op_reduction steps = {(enum op_reduce_mode)args.mode,
                                           self,
                                           reduced,
                                           order_of(call),
                                           correction_of(call),
                                           &value.made,
                                           two ? &extra.made : NULL};
        status = op_reduce_plan_steps(call, &steps, &done);
        if (status == LEO_OK && done) {
            status = deliver(call, &value);
            return status == LEO_OK && two ? deliver(call, &extra) : status;
        }
        if (status != LEO_OK) {
            return status;
        }
    }
    status = two ? plan_place(call, self, reduced, &args, wants_index ? NULL : &value.made,
                              &extra.made, &done)
                 : plan_integers(call, self, reduced, &args, &value.made, &done);
    if (status == LEO_OK && done && !wants_index) {
        status = deliver(call, &value);
    }
    if (status != LEO_OK || done) {
        return status == LEO_OK && two ? deliver(call, &extra) : status;
    }
    args.in = self->addr;
    args.in_type = (uint8_t)self->type;
    args.out = value.made.addr;
    args.out_type = (uint8_t)value.made.type;
    args.second = two ? extra.made.addr : 0;
    args.second_type = (uint8_t)(two ? extra.made.type : value.made.type);
    args.p = order_of(call);
    args.correction = correction_of(call);
    const struct op_share share = op_share_make(args.outer_count, two ? 64 : 1, two ? 64 : 1,
                                                op_plan_vector_cores(call->plan));
    args.per_block = share.per_block;
    status = op_plan_launch(call->plan, "reduce",
                            in_integers(call, (enum op_reduce_mode)args.mode, self) ? "reduce_i"
                                                                                    : "reduce_d",
                            share.blocks, &args, sizeof(args), 3);
    if (status == LEO_OK && !wants_index) {
        status = deliver(call, &value);
    }
    if (status == LEO_OK && two) {
        status = deliver(call, &extra);
    }
    return status;
}
