/* SPDX-License-Identifier: Apache-2.0 */
/* The pointwise family: broadcasts, merges dimensions and shares the elements over the cores. */
#include "pointwise.h"

#include "../device/pointwise_args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The argument behind a variable; NULL for one that is no parameter.
static const struct op_value *value_of(const struct op_pointwise_work *work, unsigned var)
{
    return work->op->var[var] < OP_VAR_INDEX ? &work->call->args[work->op->var[var]] : NULL;
}

static const char *name_of(const struct op_pointwise_work *work, unsigned var)
{
    return work->call->row->params[work->op->var[var]].name;
}

// The common type of the inputs; of the output if there is no tensor among them.
static void find_common_type(struct op_pointwise_work *work)
{
    bool have = false;
    for (unsigned i = 0; i < work->op->var_count; i++) {
        if (work->is_tensor[i]) {
            const enum op_type type = work->tensors[i].type;
            work->common = have ? op_type_promote(work->common, type) : type;
            have = true;
        }
    }
    if (!have) {
        work->common = work->out.type;
        return;
    }
    for (unsigned i = 0; i < work->op->var_count; i++) {
        const struct op_value *value = value_of(work, i);
        if (value && value->kind == OP_KIND_SCALAR && value->scalar) {
            work->common = op_type_promote_scalar(work->common, value->scalar->type);
        }
    }
}

// A tensor of one element, whatever its rank, repeats over everything.
static struct op_tensor single(const struct op_tensor *tensor)
{
    struct op_tensor one = *tensor;
    one.rank = 0;
    return one;
}

static leo_status take_tensors(struct op_pointwise_work *work)
{
    const struct op_call *call = work->call;
    const char *only_one = op_row_attr(call->row, "single");
    unsigned rank = 0, tensors = 0;
    int64_t dim[OP_RANK_MAX];
    work->out = *call->args[work->op->out].tensor;
    for (unsigned i = 0; i < work->op->var_count; i++) {
        const struct op_value *value = value_of(work, i);
        work->is_tensor[i] = value && value->kind == OP_KIND_TENSOR && value->tensor;
        if (!work->is_tensor[i]) {
            continue;
        }
        tensors++;
        work->tensors[i] = *value->tensor;
        if (only_one && strcmp(only_one, name_of(work, i)) == 0) {
            if (op_tensor_count(value->tensor) != 1) {
                return op_call_fail(call, LEO_ERR_SHAPE,
                                    "%s has shape %s, it must have one element", name_of(work, i),
                                    op_tensor_shape_text(value->tensor).text);
            }
            work->tensors[i] = single(value->tensor);
        }
        if (!op_shape_join(&work->tensors[i], &rank, dim)) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "%s of shape %s does not broadcast with shape %s", name_of(work, i),
                                op_tensor_shape_text(&work->tensors[i]).text,
                                op_shape_text(rank, dim).text);
        }
    }
    const char *out_name = call->row->params[work->op->out].name;
    // A copy may repeat its source over the output; others compute exactly the shape of their
    // inputs.
    const bool wider = op_row_attr(call->row, "wider") || only_one || tensors == 0;
    if (!wider &&
        (rank != work->out.rank || memcmp(dim, work->out.dim, rank * sizeof(*dim)) != 0)) {
        return op_call_fail(
            call, LEO_ERR_SHAPE, "%s has shape %s, it must be %s, to which the inputs broadcast",
            out_name, op_tensor_shape_text(&work->out).text, op_shape_text(rank, dim).text);
    }
    for (unsigned i = 0; i < work->op->var_count; i++) {
        struct op_tensor narrow = work->tensors[i];
        if (work->is_tensor[i] &&
            !op_tensor_broadcast(&narrow, work->out.rank, work->out.dim, &work->tensors[i])) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "%s of shape %s does not broadcast to %s of shape %s",
                                name_of(work, i), op_tensor_shape_text(&narrow).text, out_name,
                                op_tensor_shape_text(&work->out).text);
        }
    }
    return LEO_OK;
}

static void sort_dimensions(const struct op_tensor *out, unsigned *order, unsigned *count)
{
    *count = 0;
    for (unsigned i = 0; i < out->rank; i++) {
        if (out->dim[i] == 1) {
            continue;
        }
        unsigned at = (*count)++;
        for (; at > 0 && out->stride[order[at - 1]] < out->stride[i]; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

static bool can_merge(const struct op_pointwise_space *space, unsigned tensors, unsigned into,
                      const int64_t *dim_stride, int64_t dim)
{
    for (unsigned t = 0; t < tensors; t++) {
        if (space->stride[t][into] != dim_stride[t] * dim) {
            return false;
        }
    }
    return true;
}

bool op_pointwise_is_place(const struct op_pointwise_work *work, unsigned var)
{
    return work->op->var[var] >= OP_VAR_INDEX && work->op->var[var] <= OP_VAR_COLUMN;
}

// Then dimensions must stay as they are.
bool op_pointwise_asks_places(const struct op_pointwise_work *work)
{
    bool asks = false;
    for (unsigned i = 0; i < work->op->var_count; i++) {
        asks = asks || op_pointwise_is_place(work, i);
    }
    return asks;
}

static void make_plain_space(const struct op_pointwise_work *work, struct op_pointwise_space *space)
{
    const unsigned shift = work->out.rank < 2 ? 2 - work->out.rank : 0;
    memset(space, 0, sizeof(*space));
    space->rank = work->out.rank + shift;
    for (unsigned d = 0; d < space->rank; d++) {
        space->dim[d] = d < shift ? 1 : work->out.dim[d - shift];
        for (unsigned t = 0; d >= shift && t <= work->op->var_count; t++) {
            if (t == 0 || work->is_tensor[t - 1]) {
                space->stride[t][d] =
                    t ? work->tensors[t - 1].stride[d - shift] : work->out.stride[d - shift];
            }
        }
    }
}

static void make_space(const struct op_pointwise_work *work, struct op_pointwise_space *space)
{
    if (op_pointwise_asks_places(work)) {
        make_plain_space(work, space);
        return;
    }
    unsigned order[OP_RANK_MAX], count;
    const unsigned tensors = 1 + work->op->var_count;
    sort_dimensions(&work->out, order, &count);
    space->rank = 0;
    for (unsigned i = 0; i < count; i++) {
        const unsigned from = order[i];
        int64_t stride[1 + OP_POINTWISE_MAX];
        stride[0] = work->out.stride[from];
        for (unsigned t = 1; t < tensors; t++) {
            stride[t] = work->is_tensor[t - 1] ? work->tensors[t - 1].stride[from] : 0;
        }
        unsigned at = space->rank;
        if (at > 0 && can_merge(space, tensors, at - 1, stride, work->out.dim[from])) {
            at--;
            space->dim[at] *= work->out.dim[from];
        } else {
            space->dim[at] = work->out.dim[from];
            space->rank++;
        }
        for (unsigned t = 0; t < tensors; t++) {
            space->stride[t][at] = stride[t];
        }
    }
    if (space->rank == 0) {
        space->rank = 1;
        space->dim[0] = 1;
        for (unsigned t = 0; t < tensors; t++) {
            space->stride[t][0] = 0;
        }
    }
}

// Whether later elements of the output have higher addresses, which sharing by lines needs.
static bool is_ascending(const struct op_pointwise_space *space)
{
    int64_t span = 0;
    for (unsigned d = space->rank; d-- > 0;) {
        if (space->dim[d] > 1 && space->stride[0][d] <= span) {
            return false;
        }
        span += (space->dim[d] - 1) * space->stride[0][d];
    }
    return true;
}

static char class_of(const struct op_pointwise_work *work)
{
    switch (work->op->compute) {
    case OP_COMPUTE_INT:
        return 'i';
    case OP_COMPUTE_REAL:
        return 'd';
    case OP_COMPUTE_WIDE:
        return op_type_is_float(work->common) ? 'd' : 'i';
    case OP_COMPUTE_FLOAT:
        return work->common == OP_TYPE_F64 ? 'd' : 'f';
    case OP_COMPUTE_ANY:
        break;
    }
    return work->common == OP_TYPE_F64 ? 'd' : op_type_is_float(work->common) ? 'f' : 'i';
}

// A bound that was not given: the row says which number stands for it.
static void set_absent(struct op_pointwise_work *work, unsigned var)
{
    char key[64];
    snprintf(key, sizeof(key), "absent.%s", name_of(work, var));
    const char *what = op_row_attr(work->call->row, key);
    const bool lowest = what && strcmp(what, "lowest") == 0;
    const bool highest = what && strcmp(what, "highest") == 0;
    const bool one = what && strcmp(what, "one") == 0;
    work->real[var] = lowest ? -INFINITY : highest ? INFINITY : one;
    work->integer[var] = lowest ? INT64_MIN : highest ? INT64_MAX : one;
}

static void set_number(struct op_pointwise_work *work, unsigned var)
{
    const struct op_value *value = value_of(work, var);
    if (!value) {
        work->integer[var] = work->op->var[var] == OP_VAR_IS_BOOL && work->common == OP_TYPE_BOOL;
        work->real[var] = (double)work->integer[var];
    } else if (value->kind == OP_KIND_TENSOR || (value->kind == OP_KIND_SCALAR && !value->scalar)) {
        set_absent(work, var);
    } else if (value->kind == OP_KIND_SCALAR) {
        work->real[var] = value->scalar->real;
        work->integer[var] = value->scalar->integer;
    } else if (value->kind == OP_KIND_REAL) {
        work->real[var] = value->real;
        work->integer[var] = (int64_t)value->real;
    } else {
        work->real[var] = (double)value->integer;
        work->integer[var] = value->integer;
    }
}

bool op_pointwise_keeps_infinities(const struct op_pointwise_work *work)
{
    bool keeps = work->op->moves;
    if (op_row_attr(work->call->row, "infinite")) {
        return true;
    }
    for (unsigned i = 0; i < work->op->var_count; i++) {
        if (!work->is_tensor[i]) {
            keeps = keeps || !isfinite(work->real[i]);
        } else if (op_type_bytes(work->tensors[i].type) > op_type_bytes(work->out.type)) {
            return false;
        }
    }
    return keeps;
}

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
    const struct op_share share =
        op_share_make(args.count, 1, LEAST_ELEMENTS,
                      is_ascending(space) ? op_plan_vector_cores(work->call->plan) : 1);
    args.per_block = share.per_block;
    snprintf(kernel, sizeof(kernel), "pw_%s_%c", work->op->name, class_of(work));
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

// Operators that only move bits take complex numbers of 8 bytes as integers.
static leo_status take_complex(struct op_pointwise_work *work)
{
    bool all = work->out.type == OP_TYPE_C64, any = op_type_is_complex(work->out.type);
    for (unsigned i = 0; i < work->op->var_count; i++) {
        if (work->is_tensor[i] && strcmp(name_of(work, i), "condition") != 0) {
            all = all && work->tensors[i].type == OP_TYPE_C64;
            any = any || op_type_is_complex(work->tensors[i].type);
        }
    }
    if (any && (!all || !op_row_attr(work->call->row, "bits"))) {
        return op_call_fail(work->call, LEO_ERR_DTYPE,
                            "complex numbers can only be moved, and only as c64 to c64");
    }
    if (any) {
        work->out.type = OP_TYPE_I64;
        for (unsigned i = 0; i < work->op->var_count; i++) {
            if (work->tensors[i].type == OP_TYPE_C64) {
                work->tensors[i].type = OP_TYPE_I64;
            }
        }
    }
    return LEO_OK;
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
    const bool moves = op_pointwise_is_copy(work) && work->tensors[0].type == work->out.type;
    return !dense && !moves && op_tensor_count(&work->out) >= LEAST_TEMP &&
           op_pointwise_fits_vector(work, floats);
}

static leo_status plan_work(const struct op_pointwise_work *work)
{
    struct op_pointwise_space space;
    const char class = class_of(work);
    const bool places = op_pointwise_asks_places(work), floats = class == 'f';
    bool done = false;
    leo_status status = LEO_OK;
    make_space(work, &space);
    if (op_tensor_count(&work->out) >= LEAST_TILE) {
        status = places ? LEO_OK : op_pointwise_plan_moves(work, &space, &done);
        if (status == LEO_OK && !done && !places) {
            status = op_pointwise_plan_wide(work, &done);
        }
        if (status == LEO_OK && !done) {
            status = op_pointwise_plan_tiles(work, &space, class, &done);
        }
        if (status == LEO_OK && !done && class != 'd' && gains_by_temps(work, floats)) {
            return plan_over_temps(work);
        }
    }
    return status != LEO_OK || done ? status : plan_scalar_unit(work, &space);
}

leo_status op_plan_pointwise(const struct op_call *call)
{
    struct op_pointwise_work work = {.call = call, .op = call->row->data};
    leo_status status = take_tensors(&work);
    if (status == LEO_OK && op_pointwise_is_copy(&work) && changes_complex(&work)) {
        return op_complex_plan_copy(call, &work.out, &work.tensors[0]);
    }
    if (status == LEO_OK) {
        status = take_complex(&work);
    }
    const uint64_t count = (uint64_t)op_tensor_count(&work.out);
    if (status != LEO_OK || count == 0) {
        return status;
    }
    find_common_type(&work);
    for (unsigned i = 0; i < work.op->var_count; i++) {
        if (!work.is_tensor[i]) {
            set_number(&work, i);
        }
    }
    if (is_zero_fill(&work)) {
        return op_plan_fill(call->plan, work.out.addr, 0, count * op_type_bytes(work.out.type));
    }
    return plan_work(&work);
}
