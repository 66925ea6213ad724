/* SPDX-License-Identifier: Apache-2.0 */
/* The pointwise family: which way a call goes, and the scalar unit's. */
#include "pointwise.h"

#include "../frame/variant.h"
#include "pointwise_args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_ELEMENTS = 64 }; // fewer are not worth another core

static leo_status plan_scalar_unit(const struct op_pointwise_work *work,
                                   const struct op_pointwise_space *space)
{
    struct op_pointwise_args args;
    char kernel[80];
    memset(&args, 0, sizeof(args));
    args.out = work->out.addr;
    args.out_type = (uint8_t)work->out.type;
    args.count = (uint64_t)op_tensor_count(&work->out);
    args.rank = (uint8_t)space->rank;
    args.infinite = op_pointwise_keeps_infinities(work);
    for (unsigned d = 0; d < space->rank; d++) {
        args.dim[d] = space->dim[d];
        args.out_stride[d] = space->stride[0][d] * op_type_bytes(work->out.type);
    }
    for (unsigned i = 0; i < work->op->var_count; i++) {
        if (!work->is_tensor[i]) {
            args.in_type[i] = work->op->var[i] >= OP_VAR_INDEX ? work->op->var[i] : 0;
            args.real[i] = work->real[i];
            args.integer[i] = work->integer[i];
            continue;
        }
        args.in[i] = work->tensors[i].addr;
        args.in_type[i] = (uint8_t)work->tensors[i].type;
        for (unsigned d = 0; d < space->rank; d++) {
            args.in_stride[i][d] = space->stride[1 + i][d] * op_type_bytes(work->tensors[i].type);
        }
    }
    const struct op_share share = op_share_make(
        args.count, 1, LEAST_ELEMENTS,
        op_pointwise_is_ascending(space) ? op_plan_vector_cores(work->call->plan) : 1);
    args.per_block = share.per_block;
    snprintf(kernel, sizeof(kernel), "pw_%s_%c", work->op->name, op_pointwise_class(work));
    return op_plan_launch(work->call->plan, work->op->program, kernel, share.blocks, &args,
                          sizeof(args), 1 + OP_POINTWISE_VARS);
}

// Whether a copy makes complex numbers of others, or others of them, or moves those of 16 bytes.
static bool changes_complex(const struct op_pointwise_work *work)
{
    const enum op_type from = work->tensors[0].type, to = work->out.type;
    return (op_type_is_complex(from) || op_type_is_complex(to)) &&
           (from != to || to != OP_TYPE_C64);
}

// Fills with zeros, which are bytes 0 in every type.
static bool is_zero_fill(const struct op_pointwise_work *work)
{
    const bool literal = work->op->var_count == 0 && strcmp(work->op->name, "InplaceZero") == 0;
    const bool number = work->op->var_count == 1 && !work->is_tensor[0] && work->real[0] == 0 &&
                        !signbit(work->real[0]) && work->op->tile && work->op->tile->count == 0;
    return (literal || number) && op_tensor_is_dense(&work->out);
}

enum {
    LEAST_TILE = 64,  /**< elements; fewer are not worth filling the vector unit's pipes */
    LEAST_TEMP = 1024 /**< elements; fewer are not worth a copy before */
};

static leo_status plan_work(const struct op_pointwise_work *work);

static bool repeats_one(const struct op_tensor *tensor)
{
    for (unsigned i = 0; i < tensor->rank; i++) {
        if (tensor->dim[i] > 1 && tensor->stride[i] != 0) {
            return false;
        }
    }
    return true;
}

// Tensors that do not lie row-major without gaps go through dense copies, so that the vector unit
// can have the operator.
static leo_status plan_over_temps(const struct op_pointwise_work *work)
{
    struct op_pointwise_work dense = *work;
    struct op_plan *plan = work->call->plan;
    leo_status status = LEO_OK;
    for (unsigned i = 0; i < work->op->var_count && status == LEO_OK; i++) {
        const struct op_tensor *tensor = &work->tensors[i];
        if (work->is_tensor[i] && !op_tensor_is_dense(tensor) && !repeats_one(tensor)) {
            status = op_plan_temp(plan, tensor->type, tensor->rank, tensor->dim, &dense.tensors[i]);
            if (status == LEO_OK) {
                status = op_plan_copy(plan, &dense.tensors[i], tensor);
            }
        }
    }
    const bool direct = op_tensor_is_dense(&work->out);
    if (status == LEO_OK && !direct) {
        status = op_plan_temp(plan, work->out.type, work->out.rank, work->out.dim, &dense.out);
    }
    if (status == LEO_OK) {
        status = plan_work(&dense);
    }
    return status == LEO_OK && !direct ? op_plan_copy(plan, &work->out, &dense.out) : status;
}

// A copy without conversion has no way over dense copies: it is one.
static bool gains_by_temps(const struct op_pointwise_work *work, bool floats)
{
    bool dense = op_tensor_is_dense(&work->out);
    for (unsigned i = 0; i < work->op->var_count; i++) {
        dense = dense && (!work->is_tensor[i] || op_tensor_is_dense(&work->tensors[i]) ||
                          repeats_one(&work->tensors[i]));
    }
    const bool moves =
        op_pointwise_is_copy(work) && work->is_tensor[0] && work->tensors[0].type == work->out.type;
    return !dense && !moves && op_tensor_count(&work->out) >= LEAST_TEMP &&
           op_pointwise_fits_vector(work, floats);
}

/* ---- the ways over the chip ---- */

// A call, and what its ways ask of it.
struct goal {
    const struct op_pointwise_work *work;
    struct op_pointwise_space space;
    char class;
    bool places;
};

static leo_status by_range(const void *object)
{
    const struct goal *goal = object;
    return goal->places ? op_pointwise_plan_range(goal->work) : OP_DECLINED;
}

static leo_status by_moves(const void *object)
{
    const struct goal *goal = object;
    return goal->places ? OP_DECLINED : op_pointwise_plan_moves(goal->work, &goal->space);
}

static leo_status by_wide(const void *object)
{
    const struct goal *goal = object;
    return goal->places ? OP_DECLINED : op_pointwise_plan_wide(goal->work);
}

static leo_status by_tiles(const void *object)
{
    const struct goal *goal = object;
    return op_pointwise_plan_tiles(goal->work, &goal->space, goal->class);
}

static leo_status by_temps(const void *object)
{
    const struct goal *goal = object;
    return goal->class != 'd' && gains_by_temps(goal->work, goal->class == 'f')
               ? plan_over_temps(goal->work)
               : OP_DECLINED;
}

static leo_status by_scalar_unit(const void *object)
{
    const struct goal *goal = object;
    return plan_scalar_unit(goal->work, &goal->space);
}

static const struct op_variant ways[] = {
    {"a range", "whole numbers, start + step * place", by_range},
    {"moves", "a copy without conversion, between layouts that copies reach", by_moves},
    {"pairs of 32 bits", "64-bit integers, an expression that 32-bit steps compute", by_wide},
    {"tiles of the vector unit", "types, an expression and strides of the vector unit", by_tiles},
    {"tiles over dense copies", "strides alone in the way of tiles, no mere copy", by_temps},
    {"the scalar unit", NULL, by_scalar_unit},
};

static leo_status plan_work(const struct op_pointwise_work *work)
{
    struct goal goal = {.work = work, // strides of tensors that are not there are 0
                        .class = op_pointwise_class(work),
                        .places = op_pointwise_asks_places(work)};
    const unsigned count = sizeof(ways) / sizeof(*ways),
                   first = op_tensor_count(&work->out) < LEAST_TILE ? count - 1 : 0;
    op_pointwise_make_space(work, &goal.space);
    return op_choose(work->call->plan, ways + first, count - first, &goal);
}

// Integers wrap in the common type of the inputs before the result becomes one of another type,
// where that would show.
static bool wraps_before(const struct op_pointwise_work *work)
{
    const enum op_type from = work->common, to = work->out.type;
    return op_row_attr(work->call->row, "wraps") && op_pointwise_class(work) == 'i' && from != to &&
           from != OP_TYPE_I64 &&
           (from == OP_TYPE_BOOL || op_type_is_float(to) ||
            op_type_bytes(to) > op_type_bytes(from));
}

static leo_status plan_wrapped(const struct op_pointwise_work *work)
{
    struct op_pointwise_work wrapped = *work;
    struct op_plan *plan = work->call->plan;
    leo_status status =
        op_plan_temp(plan, work->common, work->out.rank, work->out.dim, &wrapped.out);
    if (status == LEO_OK) {
        status = plan_work(&wrapped);
    }
    return status == LEO_OK ? op_plan_copy(plan, &work->out, &wrapped.out) : status;
}

// Of one tensor, by a row of integers: a conversion of floats would lose the sign of a NaN.
static leo_status plan_bits(const struct op_call *call, const char *row)
{
    static const enum op_type integers[] = {
        [2] = OP_TYPE_I16, [4] = OP_TYPE_I32, [8] = OP_TYPE_I64};
    struct op_tensor self = *op_call_tensor(call, "self");
    if (op_type_is_float(self.type)) {
        self.type = integers[op_type_bytes(self.type)];
    }
    const struct op_value args[] = {op_value_tensor(&self),
                                    op_value_tensor(op_call_tensor(call, "out"))};
    return op_plan_call(call->plan, row, args, 2);
}

// Rows with `cast checked`: a number of a kind that the output cannot hold is refused, as PyTorch
// does.
static leo_status check_cast(const struct op_pointwise_work *work)
{
    const struct op_call *call = work->call;
    const char *compute = op_row_attr(call->row, "compute");
    const bool floats =
                   op_type_is_float(work->common) || (compute && strcmp(compute, "float") == 0),
               whole = op_type_is_integer(work->common) && !floats;
    const enum op_type out = work->out.type;
    if (!op_row_attr(call->row, "cast") || op_type_is_float(out) ||
        !(floats || (whole && out == OP_TYPE_BOOL))) {
        return LEO_OK;
    }
    return op_call_fail(call, LEO_ERR_DTYPE,
                        "a result of %s can't be cast to the desired output type %s",
                        floats ? "floats" : op_type_name(work->common), op_type_name(out));
}

// A number that the row wants at least 0.
static leo_status check_sign(const struct op_call *call)
{
    const char *name = op_row_attr(call->row, "nonnegative");
    const double number = name ? op_call_value(call, name)->scalar->real : 0;
    return number >= 0 ? LEO_OK
                       : op_call_fail(call, LEO_ERR_INVALID_ARG, "%s is %g: it must be at least 0",
                                      name, number);
}

leo_status op_plan_pointwise(const struct op_call *call)
{
    const char *bits = op_row_attr(call->row, "as_bits");
    if (bits) {
        return plan_bits(call, bits);
    }
    struct op_pointwise_work work = {.call = call, .op = call->row->data};
    leo_status status = op_pointwise_take_tensors(&work);
    if (status == LEO_OK && op_pointwise_is_copy(&work) && changes_complex(&work)) {
        return op_complex_plan_copy(call, &work.out, &work.tensors[0]);
    }
    if (status == LEO_OK && op_row_attr(call->row, "complex") && op_call_has_complex(call)) {
        return op_plan_complex(call);
    }
    if (status == LEO_OK) {
        status = op_pointwise_take_complex(&work);
    }
    if (status != LEO_OK) {
        return status;
    }
    const uint64_t count = (uint64_t)op_tensor_count(&work.out);
    op_pointwise_take_numbers(&work);
    status = check_sign(call);
    if (status == LEO_OK) {
        status = check_cast(&work);
    }
    if (status != LEO_OK || count == 0) {
        return status;
    }
    if (is_zero_fill(&work)) {
        return op_plan_fill(call->plan, work.out.addr, 0, count * op_type_bytes(work.out.type));
    }
    return wraps_before(&work) ? plan_wrapped(&work) : plan_work(&work);
}
