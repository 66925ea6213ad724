/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators called by type name (aclopCompileAndExecute and its relatives): a table says which row
 * each type is and where the row's arguments come from. The arguments' words, in the order of the
 * row's parameters:
 *
 * - x0 y0: input or output tensor; x0':name with its last two dimensions exchanged if the
 *   attribute is set; x0? is NULL if the call has not so many inputs, or its type is undefined
 * - 0 1: a scalar, or an integer where the row takes one
 * - h1: the integers of input 1, which lies in host memory; v1: the one number of it as a scalar
 * - l:name: integers of an attribute; l:name:2 those from the third on
 * - p:name: paddings (before, after) of an attribute for two or three dimensions
 * - s:name: a scalar from an attribute
 * - i:name: an integer or bool from an attribute, 0 if it is not given
 * - t:y0: type of a tensor
 * - -: NULL
 */
#include "../frame/engine.h"
#include "float_status.h"
#include "objects.h"

#include <leo/acl_hook.h>
#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mapping {
    const char *type, *row, *args;
};

static const struct mapping mappings[] = {
    {"Abs", "Abs", "x0 y0"},
    {"Add", "Add", "x0 x1 1 y0"},
    {"AvgPool3D", "AvgPool3d", "x0 l:ksize l:strides p:pads i:ceil_mode i:count_include_pad 0 y0"},
    {"AvgPool3DGrad", "AvgPool3dBackward",
     "x1 y0 l:ksize:2 l:strides:2 p:pads i:ceil_mode i:count_include_pad 0 y0"},
    {"BatchMatMul", "BatchMatMul", "x0':adj_x1 x1':adj_x2 y0 0"},
    {"BatchMatMulV2", "BatchMatMul", "x0':adj_x1 x1':adj_x2 y0 0"},
    {"BiasAdd", "Add", "x0 x1 1 y0"},
    {"Cast", "Cast", "x0 t:y0 y0"},
    {"Ceil", "Ceil", "x0 y0"},
    {"Conv2D", "Convolution", "x0 x1 x2? l:strides:2 p:pads l:dilations:2 0 l:none i:groups y0 0"},
    {"Div", "Div", "x0 x1 y0"},
    {"DynamicRNN", "DynamicRnn", "x0 x1 x2? x4? x5? y0 y1 y2 y3 y4 y5 y6 y7"},
    {"DynamicRNNGrad", "DynamicRnnGrad",
     "x0 x1 x4 x5 x6 x7 x8 x9? x10? x11 x12 x13 x14 x15 y0 y1 y2 y3 y4"},
    {"DynamicRNNV2", "DynamicRnnV2", "x0 x1 x2 x3? x5? x6? y0 y1 y2 y3 y4 y5 y6 y7"},
    {"DynamicRNNV2Grad", "DynamicRnnV2Grad",
     "x0 x1 x2 x4 x5 x6 x7 x8 x9? x10? x11 x12 x13 x14 x15 y0 y1 y2 y3 y4 y5"},
    {"Equal", "EqTensor", "x0 x1 y0"},
    {"Exp", "Exp", "x0 y0"},
    {"FastGelu", "FastGelu", "x0 y0"},
    {"Fill", "InplaceFillScalar", "y0 v1"},
    {"Floor", "Floor", "x0 y0"},
    {"Greater", "GtTensor", "x0 x1 y0"},
    {"Identity", "InplaceCopy", "y0 x0"},
    {"Im2col", "Im2col", "x0 l:ksizes l:dilations p:pads l:strides y0"},
    {"Less", "LtTensor", "x0 x1 y0"},
    {"Log", "Log", "x0 y0"},
    {"LogicalAnd", "LogicalAnd", "x0 x1 y0"},
    {"LogicalNot", "LogicalNot", "x0 y0"},
    {"LogicalOr", "LogicalOr", "x0 x1 y0"},
    {"MatMul", "Matmul", "x0':transpose_x1 x1':transpose_x2 y0 0"},
    {"MatMulV2", "Matmul", "x0':transpose_x1 x1':transpose_x2 y0 0"},
    {"Maximum", "Maximum", "x0 x1 y0"},
    {"Minimum", "Minimum", "x0 x1 y0"},
    {"Mish", "Mish", "x0 y0"},
    {"Mul", "Mul", "x0 x1 y0"},
    {"Neg", "Neg", "x0 y0"},
    {"NotEqual", "NeTensor", "x0 x1 y0"},
    {"OnesLike", "InplaceOne", "y0"},
    {"Pow", "PowTensorTensor", "x0 x1 y0"},
    {"RealDiv", "Div", "x0 x1 y0"},
    {"Reciprocal", "Reciprocal", "x0 y0"},
    {"ReduceMean", "Mean", "x0 h1 i:keep_dims t:y0 y0"},
    {"ReduceSum", "ReduceSum", "x0 h1 i:keep_dims t:y0 y0"},
    {"ReduceSumD", "ReduceSum", "x0 l:axes i:keep_dims t:y0 y0"},
    {"Relu", "Relu", "x0 y0"},
    {"ReluGrad", "ThresholdBackward", "x0 x1 0 y0"},
    {"ResizeNearestNeighborV2", "UpsampleNearest2d", "x0 h1 y0"},
    {"Rsqrt", "Rsqrt", "x0 y0"},
    {"Sigmoid", "Sigmoid", "x0 y0"},
    {"SiluGrad", "SiluBackward", "x0 x1 y0"},
    {"Sqrt", "Sqrt", "x0 y0"},
    {"Sub", "Sub", "x0 x1 1 y0"},
    {"Swish", "Swish", "x0 s:scale y0"},
    {"Tanh", "Tanh", "x0 y0"},
    {"TensorMove", "InplaceCopy", "y0 x0"},
    {"ZerosLike", "InplaceZero", "y0"},
};

enum { ARGS = 24 };

/** The row's arguments and what they point at. */
struct call {
    const struct leo_acl_op *op;
    const struct op_row *row;
    struct op_value args[ARGS];
    struct op_tensor tensors[ARGS];
    struct op_scalar scalars[ARGS];
    struct op_ints ints[ARGS];
    int64_t *numbers[ARGS]; /**< owned */
    aclError error;
};

static aclError fail(struct call *call, aclError code, const char *text)
{
    call->error = leo_acl_fail(code, call->op->type, "%s", text);
    return call->error;
}

static const struct leo_acl_attr *find_attr(const struct call *call, const char *name)
{
    for (const struct leo_acl_attr *attr = call->op->attr ? call->op->attr->first : NULL; attr;
         attr = attr->next) {
        if (strcmp(attr->name, name) == 0) {
            return attr;
        }
    }
    return NULL;
}

static int64_t attr_int(const struct call *call, const char *name, int64_t absent)
{
    const struct leo_acl_attr *attr = find_attr(call, name);
    if (!attr || attr->count == 0) {
        return absent;
    }
    return attr->kind == LEO_ACL_ATTR_BOOL  ? attr->value.bools[0]
           : attr->kind == LEO_ACL_ATTR_INT ? attr->value.ints[0]
                                            : absent;
}

static bool is_plain(aclFormat format)
{
    return format == ACL_FORMAT_UNDEFINED || format == ACL_FORMAT_ND || format == ACL_FORMAT_NCHW ||
           format == ACL_FORMAT_NCDHW || format == ACL_FORMAT_NCL;
}

// Tensor `number` of the inputs ('x') or outputs ('y').
static bool get_tensor(struct call *call, char side, unsigned number, struct op_tensor *tensor)
{
    const struct leo_acl_op *op = call->op;
    const unsigned count = (unsigned)(side == 'x' ? op->input_count : op->output_count);
    if (number >= count) {
        fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH, "the call has fewer tensors than the operator");
        return false;
    }
    const aclTensorDesc *desc = side == 'x' ? op->input_descs[number] : op->output_descs[number];
    const aclDataBuffer *buffer = side == 'x' ? op->inputs[number] : op->outputs[number];
    const bool stored = desc->storage_format != ACL_FORMAT_UNDEFINED;
    if (!is_plain(stored ? desc->storage_format : desc->format)) {
        fail(call, ACL_ERROR_FORMAT_NOT_MATCH, "only tensors stored as ND or NCHW are possible");
        return false;
    }
    const size_t rank = desc->dim_count == LEO_ACL_NO_DIMS ? 0 : desc->dim_count;
    if (rank > OP_RANK_MAX) {
        fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH, "a tensor has more than 8 dimensions");
        return false;
    }
    *tensor = op_tensor_dense((uintptr_t)aclGetDataBufferAddr(buffer), opapi_type(desc->type),
                              (unsigned)rank, desc->dims);
    return true;
}

static int64_t *copy_numbers(struct call *call, unsigned at, uint64_t count)
{
    call->numbers[at] = leo_calloc(count + 1, sizeof(int64_t));
    if (!call->numbers[at]) {
        fail(call, ACL_ERROR_BAD_ALLOC, "out of host memory");
    }
    call->ints[at] = (struct op_ints){call->numbers[at], count};
    return call->numbers[at];
}

// Integers of an input in host memory.
static void host_numbers(struct call *call, unsigned at, unsigned number)
{
    struct op_tensor tensor;
    if (!get_tensor(call, 'x', number, &tensor)) {
        return;
    }
    const aclTensorDesc *desc = call->op->input_descs[number];
    const void *data = desc->constant ? desc->constant : (const void *)(uintptr_t)tensor.addr;
    if ((desc->placement == ACL_MEMTYPE_DEVICE && !desc->constant) || !data ||
        (tensor.type != OP_TYPE_I32 && tensor.type != OP_TYPE_I64)) {
        fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH, "an input must be int32 or int64 in host memory");
        return;
    }
    const uint64_t count = (uint64_t)op_tensor_count(&tensor);
    int64_t *numbers = copy_numbers(call, at, count);
    for (uint64_t i = 0; numbers && i < count; i++) {
        numbers[i] =
            tensor.type == OP_TYPE_I32 ? ((const int32_t *)data)[i] : ((const int64_t *)data)[i];
    }
    call->args[at] = op_value_ints(&call->ints[at]);
}

static void attr_numbers(struct call *call, unsigned at, const char *name, uint64_t from)
{
    const struct leo_acl_attr *attr = find_attr(call, name);
    const uint64_t all = attr && attr->kind == LEO_ACL_ATTR_INTS ? attr->count : 0,
                   count = all > from ? all - from : 0;
    int64_t *numbers = copy_numbers(call, at, count);
    if (numbers && count) {
        memcpy(numbers, attr->value.ints + from, count * sizeof(*numbers));
    }
    call->args[at] = op_value_ints(&call->ints[at]);
}

static void attr_paddings(struct call *call, unsigned at, const char *name)
{
    const struct leo_acl_attr *attr = find_attr(call, name);
    const bool three = attr && attr->kind == LEO_ACL_ATTR_INTS && attr->count == 6;
    int64_t *numbers = copy_numbers(call, at, three ? 3 : 2);
    if (numbers && attr && attr->kind == LEO_ACL_ATTR_INTS && (three || attr->count == 4)) {
        for (size_t i = 0; i < attr->count / 2; i++) {
            if (attr->value.ints[2 * i] != attr->value.ints[2 * i + 1]) {
                fail(call, ACL_ERROR_OP_ATTR_NOT_MATCH, "paddings must be the same on both sides");
            }
            numbers[i] = attr->value.ints[2 * i];
        }
    }
    call->args[at] = op_value_ints(&call->ints[at]);
}

// The number an input holds in host memory.
static void host_scalar(struct call *call, unsigned at, unsigned number)
{
    struct op_tensor tensor;
    if (!get_tensor(call, 'x', number, &tensor)) {
        return;
    }
    const aclTensorDesc *desc = call->op->input_descs[number];
    const void *data = desc->constant ? desc->constant : (const void *)(uintptr_t)tensor.addr;
    const bool there = data && (desc->placement != ACL_MEMTYPE_DEVICE || desc->constant) &&
                       op_tensor_count(&tensor) == 1;
    if (there && tensor.type == OP_TYPE_I32) {
        call->scalars[at] = op_scalar_int(*(const int32_t *)data);
    } else if (there && tensor.type == OP_TYPE_I64) {
        call->scalars[at] = op_scalar_int(*(const int64_t *)data);
    } else if (there && tensor.type == OP_TYPE_F32) {
        call->scalars[at] = op_scalar_real((double)*(const float *)data);
    } else {
        fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH,
             "an input must be one int32, int64 or float32 in host memory");
        return;
    }
    call->args[at] = op_value_scalar(&call->scalars[at]);
}

static void attr_scalar(struct call *call, unsigned at, const char *name)
{
    const struct leo_acl_attr *attr = find_attr(call, name);
    if (attr && attr->kind == LEO_ACL_ATTR_FLOAT) {
        call->scalars[at] = op_scalar_real((double)attr->value.floats[0]);
    } else {
        call->scalars[at] = op_scalar_int(attr_int(call, name, 1));
    }
    call->args[at] = op_value_scalar(&call->scalars[at]);
}

static void take_tensor(struct call *call, unsigned at, const char *word)
{
    const unsigned number = (unsigned)strtoul(word + 1, NULL, 10);
    struct op_tensor *tensor = &call->tensors[at];
    if (strchr(word, '?') && (number >= (unsigned)call->op->input_count ||
                              call->op->input_descs[number]->type == ACL_DT_UNDEFINED)) {
        call->args[at] = op_value_tensor(NULL);
        return;
    }
    if (!get_tensor(call, word[0], number, tensor)) {
        return;
    }
    const char *flag = strchr(word, ':');
    if (flag && attr_int(call, flag + 1, 0) && tensor->rank >= 2) {
        unsigned order[OP_RANK_MAX];
        for (unsigned i = 0; i < tensor->rank; i++) {
            order[i] = i;
        }
        order[tensor->rank - 1] = tensor->rank - 2;
        order[tensor->rank - 2] = tensor->rank - 1;
        *tensor = op_tensor_permute(tensor, order);
    }
    call->args[at] = op_value_tensor(tensor);
}

static void take_word(struct call *call, unsigned at, const char *word)
{
    char name[64];
    const char *more = strchr(word + 2, ':');
    snprintf(name, sizeof(name), "%.*s", (int)(more ? more - word - 2 : 60),
             word + (word[1] == ':' ? 2 : 0));
    const enum op_kind kind = call->row->params[at].kind;
    struct op_tensor tensor;
    switch (word[0]) {
    case 'x':
    case 'y':
        take_tensor(call, at, word);
        return;
    case 'h':
        host_numbers(call, at, (unsigned)strtoul(word + 1, NULL, 10));
        return;
    case 'v':
        host_scalar(call, at, (unsigned)strtoul(word + 1, NULL, 10));
        return;
    case 'l':
        attr_numbers(call, at, name, more ? strtoul(more + 1, NULL, 10) : 0);
        return;
    case 'p':
        attr_paddings(call, at, name);
        return;
    case 's':
        attr_scalar(call, at, name);
        return;
    case 'i':
        call->args[at] = op_value_int(attr_int(call, name, strcmp(name, "groups") == 0));
        return;
    case 't':
        if (get_tensor(call, word[2], (unsigned)strtoul(word + 3, NULL, 10), &tensor)) {
            call->args[at] = op_value_type(tensor.type);
        }
        return;
    case '-':
        call->args[at] = (struct op_value){.kind = kind};
        return;
    default:
        call->scalars[at] = op_scalar_int(strtol(word, NULL, 10));
        call->args[at] = kind == OP_KIND_SCALAR ? op_value_scalar(&call->scalars[at])
                                                : op_value_int(call->scalars[at].integer);
        return;
    }
}

static void take_args(struct call *call, const char *words)
{
    for (unsigned at = 0; *words && at < ARGS && !call->error; at++) {
        char word[64];
        const size_t length = strcspn(words, " ");
        snprintf(word, sizeof(word), "%.*s", (int)length, words);
        words += length + strspn(words + length, " ");
        take_word(call, at, word);
    }
}

// Workspace, run, and its end: the memory must outlive the work.
static leo_status run_plan(const struct op_plan *plan, struct leo_rt_device *device,
                           struct leo_rt_stream *stream, const struct call *call)
{
    uint64_t addr[ARGS], workspace = 0;
    const uint64_t bytes = op_plan_workspace_bytes(plan);
    leo_status status = bytes ? leo_rt_memory_alloc(device, bytes, &workspace) : LEO_OK;
    if (status != LEO_OK) {
        return status;
    }
    op_args_addresses(call->row, call->args, addr);
    const struct op_run run = {
        .addr = addr, .addr_count = op_args_tensors(call->row, call->args), .workspace = workspace};
    status = op_plan_run(plan, stream, &run);
    if (bytes) {
        // A fault stays the stream's to report: it is not taken here.
        while (status == LEO_OK && leo_rt_stream_query(stream) == LEO_ERR_NOT_READY) {
        }
        leo_status freed = leo_rt_memory_free(device, workspace);
        status = status != LEO_OK ? status : freed;
    }
    return status;
}

static aclError run_row(struct call *call)
{
    struct leo_rt_stream *stream;
    struct leo_rt_device *device;
    struct op_engine *engine;
    struct op_plan *plan = NULL;
    aclError error = leo_acl_stream_get(call->op->stream, &stream, &device);
    if (error) {
        return error;
    }
    leo_status status = op_engine_get(device, &engine);
    if (status == LEO_OK) {
        status = op_engine_plan(engine, call->row, call->args, &plan);
    }
    if (status == LEO_OK) {
        status = run_plan(plan, device, stream, call);
    }
    op_plan_put(plan);
    return leo_acl_status(call->op->type, status);
}

static int compare_mapping(const void *type, const void *mapping)
{
    return strcmp(type, ((const struct mapping *)mapping)->type);
}

// torch_npu calls from a thread that gives up at the first error, without a word from its main
// thread until that synchronises: so this is told at once, and where it can be seen.
static aclError tell(const char *type, aclError error)
{
    if (error) {
        aclAppLog(ACL_ERROR, "aclop", __FILE__, __LINE__,
                  "operator of type %s: error %d; work submitted behind it may be missing", type,
                  error);
        fprintf(stderr,
                "leonardo: operator of type %s: error %d. Under torch_npu what follows in this "
                "process may be wrong: its queue ends here. ASCEND_LAUNCH_BLOCKING=1 shows the "
                "line of the script\n",
                type, error);
    }
    return error;
}

static aclError run_op(const struct leo_acl_op *op)
{
    aclError status_error;
    if (aclop_run_float_status(op, &status_error)) {
        return status_error;
    }
    const struct mapping *mapping =
        bsearch(op->type, mappings, sizeof(mappings) / sizeof(mappings[0]), sizeof(mappings[0]),
                compare_mapping);
    struct call call = {.op = op};
    call.row = mapping ? op_row_find(mapping->row) : NULL;
    aclError other = leo_acl_check_build(LEO_BUILD, mappings);
    if (other) {
        return other;
    }
    if (!call.row) {
        return tell(op->type, leo_acl_fail(ACL_ERROR_OP_NOT_FOUND, op->type,
                                           "there is no operator of this type"));
    }
    take_args(&call, mapping->args);
    aclError error = call.error ? call.error : run_row(&call);
    for (unsigned i = 0; i < ARGS; i++) {
        leo_free(call.numbers[i]);
    }
    return tell(op->type, error);
}

// Loading the library is what makes its operators known.
__attribute__((constructor)) static void register_operators(void)
{
    leo_acl_set_op_executor(run_op);
}
