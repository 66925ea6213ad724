/* SPDX-License-Identifier: Apache-2.0 */
/* Operators by name, for C programs (leo/op.h). */
#include "call.h"

#include <leo/alloc.h>
#include <leo/op.h>
#include <string.h>

enum { TENSORS_MAX = 96 }; // most tensors of a call, lists included; keeps them on the stack

struct leo_op_context {
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct op_engine *engine;
    uint64_t workspace, workspace_bytes;
    bool is_lent;      /**< the workspace is the caller's */
    op_call_fn launch; /**< NULL: not watched */
    void *user;
};

/** A call in the frame's terms. */
struct call {
    const struct op_row *row;
    struct op_value values[OP_PARAMS_MAX];
    struct op_tensor tensors[TENSORS_MAX];
    const struct op_tensor *pointers[TENSORS_MAX];
    unsigned tensor_count;
    struct op_tensor_list lists[OP_PARAMS_MAX];
    struct op_scalar scalars[OP_PARAMS_MAX];
    struct op_ints ints[OP_PARAMS_MAX];
    struct op_bools bools[OP_PARAMS_MAX];
};

_Static_assert((int)LEO_OP_RANK_MAX == (int)OP_RANK_MAX, "one limit");

leo_status leo_op_context_create(struct leo_rt_device *device, struct leo_rt_stream *stream,
                                 struct leo_op_context **out)
{
    if (!device || !stream) {
        return leo_rt_fail(LEO_ERR_BAD_POINTER, "leo_op_context_create: device or stream is NULL");
    }
    struct op_engine *engine;
    leo_status status = op_engine_get(device, &engine);
    if (status != LEO_OK) {
        return status;
    }
    struct leo_op_context *context = leo_calloc(1, sizeof(*context));
    if (!context) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for a context of operators");
    }
    *context = (struct leo_op_context){.device = device, .stream = stream, .engine = engine};
    *out = context;
    return LEO_OK;
}

void leo_op_context_lend(struct leo_op_context *context, uint64_t workspace, uint64_t bytes)
{
    context->workspace = workspace;
    context->workspace_bytes = bytes;
    context->is_lent = true;
}

void op_context_watch(struct leo_op_context *context, op_call_fn launch, void *user)
{
    context->launch = launch;
    context->user = user;
}

// The stream may still use the workspace: a stream that failed has stopped.
static leo_status free_workspace(struct leo_op_context *context)
{
    if (!context->workspace || context->is_lent) {
        return LEO_OK;
    }
    leo_status status = leo_rt_stream_synchronize(context->stream, -1);
    leo_status freed = leo_rt_memory_free(context->device, context->workspace);
    context->workspace = context->workspace_bytes = 0;
    return status != LEO_OK ? status : freed;
}

void leo_op_context_destroy(struct leo_op_context *context)
{
    if (context) {
        (void)free_workspace(context); // nothing is left to do about a failure here
        leo_free(context);
    }
}

struct leo_op_tensor leo_op_tensor(uint64_t addr, enum leo_dtype dtype, unsigned rank,
                                   const int64_t *dim)
{
    struct leo_op_tensor tensor = {.addr = addr, .dtype = dtype, .rank = rank};
    int64_t stride = 1;
    for (unsigned i = rank < LEO_OP_RANK_MAX ? rank : LEO_OP_RANK_MAX; i-- > 0;) {
        tensor.dim[i] = dim[i];
        tensor.stride[i] = stride;
        stride *= dim[i];
    }
    return tensor;
}

struct leo_op_tensor leo_op_transposed(const struct leo_op_tensor *matrix)
{
    struct leo_op_tensor other = *matrix;
    for (unsigned i = 0; i < 2; i++) {
        other.dim[i] = matrix->dim[1 - i];
        other.stride[i] = matrix->stride[1 - i];
    }
    return other;
}

struct leo_op_arg leo_op_arg_none(void)
{
    return (struct leo_op_arg){.kind = LEO_OP_NONE};
}

struct leo_op_arg leo_op_arg_tensor(const struct leo_op_tensor *tensor)
{
    return (struct leo_op_arg){.kind = LEO_OP_TENSOR, .count = 1, .tensor = tensor};
}

struct leo_op_arg leo_op_arg_tensors(const struct leo_op_tensor *first, size_t count)
{
    return (struct leo_op_arg){.kind = LEO_OP_TENSORS, .count = count, .tensor = first};
}

struct leo_op_arg leo_op_arg_number(double number)
{
    return (struct leo_op_arg){.kind = LEO_OP_NUMBER, .count = 1, .number = number};
}

struct leo_op_arg leo_op_arg_ints(const int64_t *ints, size_t count)
{
    return (struct leo_op_arg){.kind = LEO_OP_INTS, .count = count, .ints = ints};
}

struct leo_op_arg leo_op_arg_bools(const bool *bools, size_t count)
{
    return (struct leo_op_arg){.kind = LEO_OP_BOOLS, .count = count, .bools = bools};
}

struct leo_op_arg leo_op_arg_dtype(enum leo_dtype dtype)
{
    return (struct leo_op_arg){.kind = LEO_OP_DTYPE, .count = 1, .dtype = dtype};
}

struct leo_op_arg leo_op_arg_text(const char *text)
{
    return (struct leo_op_arg){.kind = LEO_OP_TEXT, .count = 1, .text = text};
}

/* The frame's types by enum leo_dtype. */
static const struct {
    bool known;
    enum op_type type;
} types[LEO_DTYPE_COUNT] = {
    [LEO_DTYPE_F16] = {true, OP_TYPE_F16},   [LEO_DTYPE_F32] = {true, OP_TYPE_F32},
    [LEO_DTYPE_BF16] = {true, OP_TYPE_BF16}, [LEO_DTYPE_S8] = {true, OP_TYPE_I8},
    [LEO_DTYPE_U8] = {true, OP_TYPE_U8},     [LEO_DTYPE_S16] = {true, OP_TYPE_I16},
    [LEO_DTYPE_U16] = {true, OP_TYPE_U16},   [LEO_DTYPE_S32] = {true, OP_TYPE_I32},
    [LEO_DTYPE_U32] = {true, OP_TYPE_U32},   [LEO_DTYPE_S64] = {true, OP_TYPE_I64},
    [LEO_DTYPE_U64] = {true, OP_TYPE_U64},   [LEO_DTYPE_B8] = {true, OP_TYPE_BOOL},
};

static leo_status take_type(const struct call *call, const char *param, enum leo_dtype dtype,
                            enum op_type *type)
{
    if ((unsigned)dtype >= LEO_DTYPE_COUNT || !types[dtype].known) {
        return leo_rt_fail(LEO_ERR_DTYPE, "%s: %s has type %s, which no operator takes",
                           call->row->name, param, leo_dtype_name(dtype));
    }
    *type = types[dtype].type;
    return LEO_OK;
}

// Appends a tensor; its place is the last one.
static leo_status take_tensor(struct call *call, const char *param,
                              const struct leo_op_tensor *tensor)
{
    if (call->tensor_count == TENSORS_MAX) {
        return leo_rt_fail(LEO_ERR_RANGE, "%s: more than %d tensors in one call", call->row->name,
                           TENSORS_MAX);
    }
    struct op_tensor *to = &call->tensors[call->tensor_count];
    if (tensor->rank > LEO_OP_RANK_MAX) {
        return leo_rt_fail(LEO_ERR_SHAPE, "%s: %s has %u dimensions, at most %d are possible",
                           call->row->name, param, tensor->rank, LEO_OP_RANK_MAX);
    }
    *to = (struct op_tensor){.addr = tensor->addr, .rank = tensor->rank, .format = tensor->format};
    memcpy(to->dim, tensor->dim, sizeof(to->dim));
    memcpy(to->stride, tensor->stride, sizeof(to->stride));
    call->pointers[call->tensor_count++] = to;
    return take_type(call, param, tensor->dtype, &to->type);
}

static leo_status take_list(struct call *call, const char *param, const struct leo_op_arg *arg,
                            unsigned at)
{
    call->lists[at] = (struct op_tensor_list){call->pointers + call->tensor_count, arg->count};
    call->values[at].tensors = &call->lists[at];
    leo_status status = LEO_OK;
    for (size_t i = 0; i < arg->count && status == LEO_OK; i++) {
        status = take_tensor(call, param, &arg->tensor[i]);
    }
    return status;
}

// The kind of argument that a parameter takes.
static int kind_of(enum op_kind kind)
{
    switch (kind) {
    case OP_KIND_TENSOR:
        return LEO_OP_TENSOR;
    case OP_KIND_TENSOR_LIST:
        return LEO_OP_TENSORS;
    case OP_KIND_SCALAR:
    case OP_KIND_INT:
    case OP_KIND_REAL:
        return LEO_OP_NUMBER;
    case OP_KIND_INTS:
        return LEO_OP_INTS;
    case OP_KIND_BOOLS:
        return LEO_OP_BOOLS;
    case OP_KIND_DTYPE:
        return LEO_OP_DTYPE;
    case OP_KIND_TEXT:
        return LEO_OP_TEXT;
    default:
        return -1;
    }
}

static leo_status take_number(struct call *call, unsigned at, double number)
{
    const bool whole = number >= -0x1p53 && number <= 0x1p53 && number == (double)(int64_t)number;
    switch (call->values[at].kind) {
    case OP_KIND_SCALAR:
        call->scalars[at] = whole ? op_scalar_int((int64_t)number) : op_scalar_real(number);
        call->values[at].scalar = &call->scalars[at];
        return LEO_OK;
    case OP_KIND_INT:
        call->values[at].integer = whole ? (int64_t)number : 0;
        return whole ? LEO_OK
                     : leo_rt_fail(LEO_ERR_INVALID_ARG, "%s: %s is %g, it must be an integer",
                                   call->row->name, call->row->params[at].name, number);
    default:
        call->values[at].real = number;
        return LEO_OK;
    }
}

static leo_status take_arg(struct call *call, unsigned at, const struct leo_op_arg *arg)
{
    static const char *const kinds[] = {"nothing",  "a tensor",       "a list of tensors",
                                        "a number", "a list of ints", "a list of bools",
                                        "a type",   "a text"};
    const struct op_param *param = &call->row->params[at];
    const int wanted = kind_of(param->kind);
    struct op_value *value = &call->values[at];
    *value = (struct op_value){.kind = param->kind};
    if (wanted < 0) {
        return leo_rt_fail(LEO_ERR_UNSUPPORTED, "%s: %s is of a kind that leo_op_run cannot pass",
                           call->row->name, param->name);
    }
    if (arg->kind == LEO_OP_NONE && param->kind < OP_KIND_DTYPE) {
        return LEO_OK; // the frame refuses it where it must not be missing
    }
    if ((int)arg->kind != wanted) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "%s: %s (argument %u) is %s, it must be %s",
                           call->row->name, param->name, at + 1,
                           (unsigned)arg->kind <= LEO_OP_TEXT ? kinds[arg->kind] : "of no kind",
                           kinds[wanted]);
    }
    switch (arg->kind) {
    case LEO_OP_TENSOR: {
        leo_status status = take_tensor(call, param->name, arg->tensor);
        value->tensor = status == LEO_OK ? call->pointers[call->tensor_count - 1] : NULL;
        return status;
    }
    case LEO_OP_TENSORS:
        return take_list(call, param->name, arg, at);
    case LEO_OP_INTS:
        call->ints[at] = (struct op_ints){arg->ints, arg->count};
        value->ints = &call->ints[at];
        return LEO_OK;
    case LEO_OP_BOOLS:
        call->bools[at] = (struct op_bools){arg->bools, arg->count};
        value->bools = &call->bools[at];
        return LEO_OK;
    case LEO_OP_DTYPE:
        return take_type(call, param->name, arg->dtype, &value->type);
    case LEO_OP_TEXT:
        value->text = arg->text;
        return LEO_OK;
    default:
        return take_number(call, at, arg->number);
    }
}

static leo_status grow_workspace(struct leo_op_context *context, uint64_t bytes)
{
    if (bytes <= context->workspace_bytes) {
        return LEO_OK;
    }
    if (context->is_lent) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "the workspace has %llu bytes, %llu are needed",
                           (unsigned long long)context->workspace_bytes, (unsigned long long)bytes);
    }
    leo_status status = free_workspace(context);
    if (status == LEO_OK) {
        status = leo_rt_memory_alloc(context->device, bytes, &context->workspace);
    }
    context->workspace_bytes = status == LEO_OK ? bytes : 0;
    return status;
}

static leo_status run_plan(struct leo_op_context *context, const struct call *call,
                           const struct op_plan *plan)
{
    uint64_t addr[TENSORS_MAX + OP_PARAMS_MAX]; // parameters that were not given count
    leo_status status = grow_workspace(context, op_plan_workspace_bytes(plan));
    if (status != LEO_OK) {
        return status;
    }
    op_args_addresses(call->row, call->values, addr);
    struct op_run run = {.addr = addr,
                         .addr_count = op_args_tensors(call->row, call->values),
                         .workspace = context->workspace};
    return context->launch
               ? context->launch(context->user, plan, call->values, context->stream, &run)
               : op_plan_run(plan, context->stream, &run);
}

static leo_status find_row(const char *name, const struct op_row **row)
{
    *row = op_row_find(name);
    return *row ? LEO_OK : leo_rt_fail(LEO_ERR_NOT_FOUND, "there is no operator %s", name);
}

leo_status leo_op_param_count(const char *name, unsigned *count)
{
    const struct op_row *row;
    leo_status status = find_row(name, &row);
    *count = status == LEO_OK ? row->param_count : 0;
    return status;
}

leo_status leo_op_param(const struct leo_op_context *context, const char *name, unsigned index,
                        struct leo_op_param *out)
{
    const struct op_row *row;
    leo_status status = find_row(name, &row);
    if (status != LEO_OK) {
        return status;
    }
    if (index >= row->param_count) {
        return leo_rt_fail(LEO_ERR_RANGE, "%s has %u parameters, there is none at %u", name,
                           row->param_count, index);
    }
    const struct op_param *param = &row->params[index];
    const int kind = kind_of(param->kind);
    *out = (struct leo_op_param){.name = param->name,
                                 .kind = kind < 0 ? LEO_OP_NONE : (enum leo_op_arg_kind)kind,
                                 .optional = param->optional,
                                 .written = param->role != OP_ROLE_IN};
    for (unsigned i = 0; i < LEO_DTYPE_COUNT; i++) {
        const bool takes =
            types[i].known && op_engine_types(context->engine, param) >> types[i].type & 1;
        out->dtypes |= (uint32_t)takes << i;
    }
    return LEO_OK;
}

// The arguments in the frame's terms, and the plan for them.
static leo_status take_call(struct leo_op_context *context, const char *name,
                            const struct leo_op_arg *args, unsigned count, struct call *call,
                            struct op_plan **plan)
{
    call->tensor_count = 0;
    leo_status found = find_row(name, &call->row);
    if (found != LEO_OK) {
        return found;
    }
    if (count != call->row->param_count) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "%s takes %u arguments, %u are given", name,
                           call->row->param_count, count);
    }
    for (unsigned i = 0; i < count; i++) {
        leo_status status = take_arg(call, i, &args[i]);
        if (status != LEO_OK) {
            return status;
        }
    }
    return op_plan_get(context->engine, call->row, call->values, plan);
}

leo_status leo_op_workspace(struct leo_op_context *context, const char *name,
                            const struct leo_op_arg *args, unsigned count, uint64_t *bytes)
{
    struct call call;
    struct op_plan *plan;
    leo_status status = take_call(context, name, args, count, &call, &plan);
    *bytes = 0;
    if (status == LEO_OK) {
        *bytes = op_plan_workspace_bytes(plan);
        op_plan_put(plan);
    }
    return status;
}

leo_status leo_op_run(struct leo_op_context *context, const char *name,
                      const struct leo_op_arg *args, unsigned count)
{
    struct call call;
    struct op_plan *plan;
    leo_status status = take_call(context, name, args, count, &call, &plan);
    if (status == LEO_OK) {
        status = run_plan(context, &call, plan);
        op_plan_put(plan);
    }
    return status;
}
