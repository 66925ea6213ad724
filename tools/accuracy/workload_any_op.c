/* SPDX-License-Identifier: Apache-2.0 */
/* Any operator of the library as a workload. The row names the operator's parameters:
 * op_softmax, "self=f16:8192x2048 dim=1"; or gives one shape for all its tensors: op_add,
 * "dtype=f16 rows=1024 cols=1024 alpha=1". */
#include "measure.h"

#include <ctype.h>
#include <leo/dtype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 48, MAX_INTS = 16 };

/** A call that is being read from a row. */
struct call {
    char name[96];
    unsigned count;
    struct leo_op_arg args[MAX_ARGS];
    int64_t ints[MAX_ARGS][MAX_INTS];
    bool bools[MAX_ARGS][MAX_INTS];
};

// op_layer_norm: LayerNorm.
static void name_of(const char *workload, char *name, size_t room)
{
    bool begins = true;
    size_t length = 0;
    for (const char *at = workload + strlen("op_"); *at && length + 1 < room; at++) {
        if (*at == '_') {
            begins = true;
            continue;
        }
        name[length++] = (char)(begins ? toupper((unsigned char)*at) : *at);
        begins = false;
    }
    name[length] = '\0';
}

// Integers as the instruction set spells them, s32, or as the tables of operators do, i32.
static bool read_dtype(const char *text, size_t length, enum leo_dtype *type)
{
    char spelled[16] = {0};
    if (length >= sizeof(spelled)) {
        return false;
    }
    memcpy(spelled, text, length);
    spelled[0] = spelled[0] == 'i' ? 's' : spelled[0];
    if (strcmp(spelled, "bool") == 0) {
        *type = LEO_DTYPE_B8;
        return true;
    }
    for (unsigned i = 0; i < LEO_DTYPE_COUNT; i++) {
        const char *name = leo_dtype_name((enum leo_dtype)i);
        if (strcmp(name, spelled) == 0) {
            *type = (enum leo_dtype)i;
            return true;
        }
    }
    return false;
}

// Whole numbers joined by x. Returns how many, 0 if that is not what the text is.
static unsigned read_ints(const char *text, size_t length, int64_t *out, unsigned most)
{
    unsigned count = 0;
    for (const char *at = text;; at++) {
        char *end;
        const int64_t number = strtoll(at, &end, 10);
        if (end == at || count == most || end > text + length) {
            return 0;
        }
        out[count++] = number;
        if (end == text + length) {
            return count;
        }
        if (*end != 'x') {
            return 0;
        }
        at = end;
    }
}

static bool read_format(const char *text, int *format)
{
    static const struct {
        const char *name;
        int format;
    } formats[] = {{"nc1hwc0", NC1HWC0}, {"fractal_z", FRACTAL_Z}, {"fractal_nz", FRACTAL_NZ}};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(formats[i].name, text) == 0) {
            *format = formats[i].format;
            return true;
        }
    }
    return false;
}

/** A tensor as a row writes it: f16:8192x2048, f16:8x64x56x56:nc1hwc0; a scalar is f32:. */
struct shape {
    enum leo_dtype dtype;
    unsigned rank;
    int64_t dim[LEO_OP_RANK_MAX];
    int format;
};

static bool read_shape(const char *text, struct shape *shape)
{
    *shape = (struct shape){.format = 0};
    const char *colon = strchr(text, ':');
    if (!colon || !read_dtype(text, (size_t)(colon - text), &shape->dtype)) {
        return false;
    }
    const size_t length = strcspn(colon + 1, ":");
    if (length) {
        shape->rank = read_ints(colon + 1, length, shape->dim, LEO_OP_RANK_MAX);
    }
    for (unsigned i = 0; i < shape->rank; i++) {
        if (shape->dim[i] < 0) {
            return false;
        }
    }
    const char *format = colon + 1 + length;
    return (shape->rank || !length) && (!*format || read_format(format + 1, &shape->format));
}

// The shape of the tensors that the row does not name. False if it gives none.
static bool common_shape(struct accuracy_params *params, struct shape *shape)
{
    *shape = (struct shape){.rank = 2};
    const char *type = accuracy_params_text(params, "dtype");
    const char *dims = accuracy_params_text(params, "shape");
    if (type && !read_dtype(type, strlen(type), &shape->dtype)) {
        accuracy_params_refuse(params, "dtype", "no type of an element");
    }
    if (dims) {
        shape->rank = read_ints(dims, strlen(dims), shape->dim, LEO_OP_RANK_MAX);
        if (!shape->rank) {
            accuracy_params_refuse(params, "shape", "expected numbers joined by x, as 8x64x56x56");
        }
        return type;
    }
    const bool given = accuracy_params_has(params, "rows") || accuracy_params_has(params, "cols");
    shape->dim[0] = (int64_t)accuracy_params_number(params, "rows", 1, 1, UINT32_MAX);
    shape->dim[1] = (int64_t)accuracy_params_number(params, "cols", 1, 1, UINT32_MAX);
    return type && given;
}

// One tensor, or as many as "tensors" says; those that are not named have the common shape.
static leo_status read_tensors(struct accuracy_chip *chip, struct accuracy_params *params,
                               const struct leo_op_param *param, struct accuracy_tensors *all,
                               struct leo_op_arg *arg)
{
    const char *text = accuracy_params_text(params, param->name);
    struct shape shape;
    *arg = leo_op_arg_none();
    if (!text && param->optional) {
        return LEO_OK;
    }
    if (text && !read_shape(text, &shape)) {
        accuracy_params_refuse(params, param->name, "expected a tensor, as f16:8192x2048");
        return LEO_ERR_INVALID_ARG;
    }
    if (!text && !common_shape(params, &shape)) {
        accuracy_params_refuse(params, param->name, "missing; expected a tensor, as f16:8192x2048");
        return LEO_ERR_INVALID_ARG;
    }
    if (!text && !(param->dtypes >> shape.dtype & 1) && param->dtypes >> LEO_DTYPE_B8 & 1) {
        shape.dtype = LEO_DTYPE_B8; // masks and results of comparisons
    }
    const unsigned first = all->count;
    uint64_t count = 1;
    if (param->kind == LEO_OP_TENSORS) {
        count = accuracy_params_number(params, "tensors", 1, 1, ACCURACY_MAX_TENSORS);
    }
    for (uint64_t i = 0; i < count; i++) {
        leo_status status =
            accuracy_add_stored(chip, all, shape.dtype, shape.rank, shape.dim, shape.format);
        if (status != LEO_OK) {
            return status;
        }
        all->inputs |= param->written ? 0 : UINT64_C(1) << (all->count - 1);
    }
    *arg = param->kind == LEO_OP_TENSORS ? leo_op_arg_tensors(&all->tensor[first], count)
                                         : leo_op_arg_tensor(&all->tensor[first]);
    return LEO_OK;
}

// What is not a tensor.
static void read_value(struct accuracy_params *params, const struct leo_op_param *param,
                       struct call *call, unsigned at)
{
    const char *text = accuracy_params_text(params, param->name);
    struct leo_op_arg *arg = &call->args[at];
    enum leo_dtype type = LEO_DTYPE_F32;
    unsigned count = 0;
    char *end = NULL;
    *arg = leo_op_arg_none();
    if (!text) {
        if (!param->optional) {
            accuracy_params_refuse(params, param->name, "missing");
        }
        return;
    }
    switch (param->kind) {
    case LEO_OP_NUMBER:
        *arg = leo_op_arg_number(strtod(text, &end));
        if (end == text || *end) {
            accuracy_params_refuse(params, param->name, "expected a number");
        }
        break;
    case LEO_OP_INTS:
    case LEO_OP_BOOLS:
        count = read_ints(text, strlen(text), call->ints[at], MAX_INTS);
        if (!count) {
            accuracy_params_refuse(params, param->name, "expected whole numbers joined by x");
        }
        for (unsigned i = 0; i < count; i++) {
            call->bools[at][i] = call->ints[at][i] != 0;
        }
        *arg = param->kind == LEO_OP_INTS ? leo_op_arg_ints(call->ints[at], count)
                                          : leo_op_arg_bools(call->bools[at], count);
        break;
    case LEO_OP_DTYPE:
        if (!read_dtype(text, strlen(text), &type)) {
            accuracy_params_refuse(params, param->name, "no type of an element");
        }
        *arg = leo_op_arg_dtype(type);
        break;
    case LEO_OP_TEXT:
        *arg = leo_op_arg_text(text);
        break;
    default:
        accuracy_params_refuse(params, param->name, "of a kind that a row cannot write");
        break;
    }
}

static leo_status read_call(struct accuracy_chip *chip, struct accuracy_params *params,
                            struct accuracy_tensors *all, struct call *call)
{
    for (unsigned i = 0; i < call->count; i++) {
        struct leo_op_param param;
        leo_status status = leo_op_param(chip->ops, call->name, i, &param);
        if (status != LEO_OK) {
            return status;
        }
        if (param.kind == LEO_OP_TENSOR || param.kind == LEO_OP_TENSORS) {
            status = read_tensors(chip, params, &param, all, &call->args[i]);
            if (status != LEO_OK) {
                return status;
            }
        } else {
            read_value(params, &param, call, i);
        }
    }
    return accuracy_params_end(params) ? LEO_OK : LEO_ERR_INVALID_ARG;
}

static leo_status run_call(struct accuracy_chip *chip, const struct accuracy_tensors *all,
                           const void *options)
{
    const struct call *call = options;
    (void)all; // the arguments point to them
    return leo_op_run(chip->ops, call->name, call->args, call->count);
}

// As the operator before leaves them: in the L2, as far as it holds them.
static leo_status write_inputs(struct accuracy_chip *chip, const struct accuracy_tensors *all)
{
    leo_status status = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < all->count; i++) {
        const struct leo_op_tensor *tensor = &all->tensor[i];
        const int64_t count = accuracy_stored(tensor->rank, tensor->dim, tensor->format);
        if (all->inputs >> i & 1 && count > 0) {
            status = leo_rt_memset_async(chip->stream, tensor->addr, 0,
                                         (size_t)count * (leo_dtype_bits(tensor->dtype) / 8));
        }
    }
    return status;
}

leo_status accuracy_run_any_op(struct accuracy_chip *chip, const char *workload,
                               struct accuracy_params *params, struct accuracy_result *result)
{
    struct accuracy_tensors all = {.count = 0};
    struct call call = {.count = 0};
    name_of(workload, call.name, sizeof(call.name));
    leo_status status = leo_op_param_count(call.name, &call.count);
    if (status != LEO_OK) {
        return LEO_ERR_UNSUPPORTED; // the text says that there is none
    }
    if (call.count > MAX_ARGS) {
        return leo_rt_fail(LEO_ERR_UNSUPPORTED, "%s has more than %d parameters", call.name,
                           MAX_ARGS);
    }
    all.before = chip->producer ? write_inputs : NULL;
    status = read_call(chip, params, &all, &call);
    return accuracy_measure(chip, run_call, &all, &call, status, &result->record);
}
