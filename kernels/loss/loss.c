/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses: a pointwise step, then a sum or mean. A row says the step and its arguments ("each"):
 * parameters of the row; name? is a weight that may be missing (then ones); scale is what the mean
 * divides a gradient by.
 */
#include "../frame/family.h"
#include "../frame/words.h"

#include <inttypes.h>
#include <string.h>

enum { ARGS_MAX = 10 };
enum { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM, REDUCE_BATCH_MEAN };

struct shape {
    unsigned rank;
    int64_t dim[OP_RANK_MAX];
    int64_t count;
};

static const char *output_of(const struct op_call *call)
{
    static const char *const names[] = {"out", "result", "gradInput", "gradTarget"};
    unsigned i = 0;
    while (!op_call_has(call, names[i])) {
        i++;
    }
    return names[i];
}

// The shape of the losses before they are reduced.
static leo_status take_shape(const struct op_call *call, struct shape *shape)
{
    const struct op_tensor *self = op_call_tensor(call, "self");
    const struct op_tensor *target = op_call_tensor(call, "target");
    memset(shape, 0, sizeof(*shape));
    shape->count = 1;
    if (!op_shape_join(self, &shape->rank, shape->dim) ||
        !op_shape_join(target, &shape->rank, shape->dim)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "target has shape %s, self %s: they do not broadcast",
                            op_tensor_shape_text(target).text, op_tensor_shape_text(self).text);
    }
    for (unsigned i = 0; i < shape->rank; i++) {
        shape->count *= shape->dim[i];
    }
    return LEO_OK;
}

static double scale_of(const struct shape *shape, int64_t reduction)
{
    if (reduction == REDUCE_MEAN) {
        return 1 / (double)shape->count;
    }
    return reduction == REDUCE_BATCH_MEAN && shape->rank ? 1 / (double)shape->dim[0] : 1;
}

// A tensor of one 1, for a weight that is not given.
static leo_status make_one(const struct op_call *call, struct op_tensor *one)
{
    const struct op_scalar scalar = op_scalar_real(1);
    leo_status status = op_plan_temp(call->plan, OP_TYPE_F32, 0, NULL, one);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_value fill[2] = {op_value_tensor(one), op_value_scalar(&scalar)};
    return op_plan_call(call->plan, "InplaceFillScalar", fill, 2);
}

// What a step takes beside self and target repeats over their common shape.
static leo_status check_fits(const struct op_call *call, const char *name,
                             const struct shape *shape)
{
    const struct op_value *value = op_call_value(call, name);
    struct op_tensor wide;
    if (value->kind == OP_KIND_TENSOR && value->tensor &&
        !op_tensor_broadcast(value->tensor, shape->rank, shape->dim, &wide)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s of shape %s does not broadcast to %s", name,
                            op_tensor_shape_text(value->tensor).text,
                            op_shape_text(shape->rank, shape->dim).text);
    }
    return LEO_OK;
}

// Calls the step of the row with its result in `out`.
static leo_status run_step(const struct op_call *call, const struct shape *shape, double scale,
                           const struct op_tensor *out)
{
    const char *text = op_row_attr(call->row, "each");
    char op[OP_WORD_BYTES], word[OP_WORD_BYTES];
    struct op_value args[ARGS_MAX];
    struct op_tensor one;
    bool has_one = false;
    unsigned used = 0;
    (void)op_next_word(&text, op);
    while (used < ARGS_MAX - 1 && op_next_word(&text, word)) {
        const size_t length = strlen(word);
        const bool optional = word[length - 1] == '?';
        if (strcmp(word, "scale") == 0) {
            args[used++] = op_value_real(scale);
            continue;
        }
        if (optional) {
            word[length - 1] = '\0';
        }
        leo_status status = check_fits(call, word, shape);
        if (status != LEO_OK) {
            return status;
        }
        args[used] = *op_call_value(call, word);
        if (optional && !args[used].tensor) {
            status = has_one ? LEO_OK : make_one(call, &one);
            if (status != LEO_OK) {
                return status;
            }
            has_one = true;
            args[used] = op_value_tensor(&one);
        }
        used++;
    }
    args[used++] = op_value_tensor(out);
    return op_plan_call(call->plan, op, args, used);
}

static leo_status reduce(const struct op_call *call, const struct op_tensor *losses,
                         int64_t reduction, double scale, const struct op_tensor *out)
{
    static const struct op_ints all = {NULL, 0};
    struct op_tensor number = *out; // of one element, in as many dimensions as the caller likes
    number.rank = 0;
    const struct op_value args[] = {op_value_tensor(losses), op_value_ints(&all), op_value_int(0),
                                    op_value_type(OP_TYPE_F32), op_value_tensor(&number)};
    leo_status status =
        op_plan_call(call->plan, reduction == REDUCE_MEAN ? "Mean" : "ReduceSum", args, 5);
    if (status == LEO_OK && reduction == REDUCE_BATCH_MEAN) {
        const struct op_scalar factor = op_scalar_real(scale);
        const struct op_value muls[] = {op_value_tensor(out), op_value_scalar(&factor)};
        status = op_plan_call(call->plan, "InplaceMuls", muls, 2);
    }
    return status;
}

leo_status op_plan_loss(const struct op_call *call)
{
    const char *out_name = output_of(call);
    const struct op_tensor *out = op_call_tensor(call, out_name);
    const int64_t reduction = op_call_int(call, "reduction");
    struct shape shape;
    struct op_tensor losses;
    leo_status status = take_shape(call, &shape);
    if (status == LEO_OK && (reduction < REDUCE_NONE || reduction > REDUCE_BATCH_MEAN)) {
        status =
            op_call_fail(call, LEO_ERR_INVALID_ARG,
                         "reduction is %" PRId64 ": it must be 0 none, 1 mean or 2 sum", reduction);
    }
    if (status != LEO_OK) {
        return status;
    }
    const double scale = scale_of(&shape, reduction);
    const bool backward = op_call_has(call, "gradOutput") || op_call_has(call, "gradOut");
    if (backward || reduction == REDUCE_NONE) {
        status = op_call_check_shape(call, out_name, shape.rank, shape.dim);
        return status == LEO_OK ? run_step(call, &shape, scale, out) : status;
    }
    status = op_call_check_number(call, out_name);
    if (status != LEO_OK) {
        return status;
    }
    // Sums in f32: a half has no room for them.
    status = op_plan_temp(call->plan, OP_TYPE_F32, shape.rank, shape.dim, &losses);
    if (status == LEO_OK) {
        status = run_step(call, &shape, scale, &losses);
    }
    return status == LEO_OK ? reduce(call, &losses, reduction, scale, out) : status;
}
