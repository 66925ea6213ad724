/* SPDX-License-Identifier: Apache-2.0 */
/* A pointwise call in the family's terms: its tensors, numbers and types, and its index space. */
#include "pointwise.h"

#include "pointwise_args.h"

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

// A tensor of one element, whatever its rank, repeats over everything.
static struct op_tensor single(const struct op_tensor *tensor)
{
    struct op_tensor one = *tensor;
    one.rank = 0;
    return one;
}

leo_status op_pointwise_take_tensors(struct op_pointwise_work *work)
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

void op_pointwise_make_space(const struct op_pointwise_work *work, struct op_pointwise_space *space)
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

bool op_pointwise_is_ascending(const struct op_pointwise_space *space)
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

char op_pointwise_class(const struct op_pointwise_work *work)
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

// A number as the nearest one of a floating type, as PyTorch converts it: by way of f32.
static double nearest_of(double number, enum op_type type)
{
    if ((type != OP_TYPE_F32 && type != OP_TYPE_F16 && type != OP_TYPE_BF16) || !isfinite(number)) {
        return number;
    }
    const double wide = (double)(float)number;
    if (type == OP_TYPE_F32 || !isfinite(wide)) {
        return wide;
    }
    const int bits = type == OP_TYPE_F16 ? 11 : 8, least = type == OP_TYPE_F16 ? -24 : -133;
    int exponent;
    (void)frexp(wide, &exponent);
    const double step = ldexp(1, exponent - bits > least ? exponent - bits : least),
                 nearest = rint(wide / step) * step;
    const double too_large = type == OP_TYPE_F16 ? 65536 : ldexp(1, 128);
    return fabs(nearest) < too_large ? nearest : copysign(INFINITY, nearest);
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
        const char *rounded = op_row_attr(work->call->row, "number");
        work->real[var] = rounded && strcmp(rounded, name_of(work, var)) == 0
                              ? nearest_of(value->scalar->real, work->common)
                              : value->scalar->real;
        work->integer[var] = value->scalar->integer;
    } else if (value->kind == OP_KIND_REAL) {
        work->real[var] = value->real;
        work->integer[var] = (int64_t)value->real;
    } else {
        work->real[var] = (double)value->integer;
        work->integer[var] = value->integer;
    }
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
        // A factor of a summand is brought to the type of the others, if it can be.
        const bool factor = value && strcmp(name_of(work, i), "alpha") == 0 &&
                            value->kind == OP_KIND_SCALAR && value->scalar &&
                            !op_type_is_float(value->scalar->type);
        if (value && value->kind == OP_KIND_SCALAR && value->scalar && !factor) {
            work->common = op_type_promote_scalar(work->common, value->scalar->type);
        }
    }
}

void op_pointwise_take_numbers(struct op_pointwise_work *work)
{
    find_common_type(work);
    for (unsigned i = 0; i < work->op->var_count; i++) {
        if (!work->is_tensor[i]) {
            set_number(work, i);
        }
    }
}

static const char *complex_name(const struct op_pointwise_work *work)
{
    for (unsigned i = 0; i < work->op->var_count; i++) {
        if (work->is_tensor[i] && op_type_is_complex(work->tensors[i].type)) {
            return name_of(work, i);
        }
    }
    return work->call->row->params[work->op->out].name;
}

leo_status op_pointwise_take_complex(struct op_pointwise_work *work)
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
                            "%s is complex: such numbers can only be moved, and only as c64 to c64",
                            complex_name(work));
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

bool op_pointwise_is_copy(const struct op_pointwise_work *work)
{
    return work->op->tile && work->op->tile->count == 0 && work->op->var_count == 1 &&
           work->is_tensor[0];
}
