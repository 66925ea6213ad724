/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of tensors. */
#include "cnnl_subjects.h"

#include "tensor_desc.h"

#include <inttypes.h>

void cnnl_foreach_zero(struct cnnl_call *call, const struct op_tensor_list *ys)
{
    const struct op_value args[] = {op_value_tensors(ys)};
    cnnl_run(call, "ForeachZeroInplace", args);
}

void cnnl_foreach_norm(struct cnnl_call *call, const struct op_tensor_list *xs, double p,
                       const struct op_tensor_list *ys)
{
    const struct op_scalar *order = cnnl_real(call, p);
    for (uint64_t i = 0; i < xs->count && call->status == CNNL_STATUS_SUCCESS; i++) {
        if (!xs->items[i] || !ys->items[i] || op_tensor_count(ys->items[i]) != 1) {
            cnnl_bad(call, "norm %" PRIu64 " is missing or not one number", i);
            return;
        }
        const struct op_tensor norm =
            op_tensor_dense(ys->items[i]->addr, ys->items[i]->type, 0, NULL);
        const struct op_tensor *to = &norm;
        const struct op_tensor_list in = {&xs->items[i], 1}, out = {&to, 1};
        const struct op_value args[] = {op_value_tensors(&in), op_value_scalar(order),
                                        op_value_tensors(&out)};
        cnnl_run(call, "ForeachNorm", args);
    }
}

static bool is_place(enum op_type type)
{
    return op_type_is_integer(type) || type == OP_TYPE_BOOL;
}

// Number `at` of host memory that holds the type in which tensors of `type` are computed with.
static const struct op_scalar *number_at(struct cnnl_call *call, enum op_type type,
                                         const void *numbers, uint64_t at)
{
    const enum op_type wide = cnnl_wide(type);
    return cnnl_host(call, "scalar", wide,
                     numbers ? (const char *)numbers + at * op_type_bytes(wide) : NULL);
}

/** An operation by tensors: list with list, list with one number, one tensor with one number. */
struct operation {
    cnnlForeachOpMode_t op;
    const char *lists, *number, *one;
    bool factor; /**< `lists` and `one` take a factor of the second operand */
};

static const struct operation operations[] = {
    {CNNL_FOREACH_ADD, "ForeachAddListV2", "ForeachAddScalarV2", "Adds", true},
    {CNNL_FOREACH_SUB, "ForeachSubListV2", "ForeachSubScalarV2", "Subs", true},
    {CNNL_FOREACH_MUL, "ForeachMulList", "ForeachMulScalarV2", "Muls", false},
    {CNNL_FOREACH_DIV, "ForeachDivList", "ForeachDivScalarV2", "Divs", false},
};

static const struct operation *find(struct cnnl_call *call, cnnlForeachOpMode_t op)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (operations[i].op == op) {
            return &operations[i];
        }
    }
    cnnl_refuse(call, "operation %d of a list with another", (int)op);
    return NULL;
}

static void with_list(struct cnnl_call *call, const struct operation *operation,
                      const struct op_tensor_list *as, const struct op_tensor_list *bs,
                      const void *alpha, const struct op_tensor_list *ys)
{
    cnnl_need(call, "bs", bs != NULL);
    if (call->status != CNNL_STATUS_SUCCESS || !as->count) {
        return;
    }
    const struct op_scalar *factor =
        alpha ? number_at(call, as->items[0]->type, alpha, 0) : cnnl_integer(call, 1);
    const struct op_value scaled[] = {op_value_tensors(as), op_value_tensors(bs),
                                      op_value_scalar(factor), op_value_tensors(ys)};
    const struct op_value plain[] = {scaled[0], scaled[1], scaled[3]};
    cnnl_run(call, operation->lists, operation->factor ? scaled : plain);
}

// A number for each tensor: an operator for each.
static void with_numbers(struct cnnl_call *call, const struct operation *operation,
                         const struct op_tensor_list *as, const void *numbers,
                         const struct op_tensor_list *ys)
{
    for (uint64_t i = 0; i < as->count && call->status == CNNL_STATUS_SUCCESS; i++) {
        call->scalar_count = 0; // those of the last tensor are done with
        const struct op_scalar *number = number_at(call, as->items[i]->type, numbers, i);
        const struct op_value factor = op_value_scalar(cnnl_integer(call, 1));
        const struct op_value scaled[] = {op_value_tensor(as->items[i]), op_value_scalar(number),
                                          factor, op_value_tensor(ys->items[i])};
        const struct op_value plain[] = {scaled[0], scaled[1], scaled[3]};
        cnnl_run(call, operation->one, operation->factor ? scaled : plain);
    }
}

static void with_number(struct cnnl_call *call, const struct operation *operation,
                        const struct op_tensor_list *as, const void *number,
                        const struct op_tensor_list *ys)
{
    if (as->count) {
        const struct op_value args[] = {
            op_value_tensors(as), op_value_scalar(number_at(call, as->items[0]->type, number, 0)),
            op_value_tensors(ys)};
        cnnl_run(call, operation->number, args);
    }
}

// One number in device memory.
static void with_tensor(struct cnnl_call *call, cnnlForeachOpMode_t op,
                        const struct op_tensor_list *as, cnnlTensorDescriptor_t desc,
                        const void *data, const struct op_tensor_list *ys)
{
    const struct op_tensor *number = cnnl_in(call, "scalar", desc, data);
    if (op != CNNL_FOREACH_MUL && op != CNNL_FOREACH_DIV) {
        cnnl_refuse(call, "operation %d with a number in device memory", (int)op);
    }
    for (uint64_t i = 0; i < as->count && call->status == CNNL_STATUS_SUCCESS; i++) {
        const struct op_value args[] = {op_value_tensor(as->items[i]), op_value_tensor(number),
                                        op_value_tensor(ys->items[i])};
        cnnl_run(call, op == CNNL_FOREACH_MUL ? "Mul" : "Div", args);
    }
}

static bool one_kind(struct cnnl_call *call, const struct op_tensor_list *list)
{
    for (uint64_t i = 0; i < list->count; i++) {
        if (!list->items[i] || is_place(list->items[i]->type) != is_place(list->items[0]->type)) {
            cnnl_bad(call, "tensor %" PRIu64 " of a list is missing or of another kind", i);
            return false;
        }
    }
    return true;
}

void cnnl_foreach_binary(struct cnnl_call *call, cnnlForeachOpMode_t op,
                         cnnlForeachBinaryMode_t mode, const struct op_tensor_list *as,
                         const struct op_tensor_list *bs, cnnlTensorDescriptor_t scalar_desc,
                         const void *scalar, const void *alpha, const struct op_tensor_list *ys)
{
    const struct operation *operation = find(call, op);
    if (!operation || !one_kind(call, as) || !one_kind(call, ys)) {
        return;
    }
    switch ((int)mode) {
    case FOREACH_BINARY_TENSOR_LIST:
        with_list(call, operation, as, bs, alpha, ys);
        return;
    case FOREACH_BINARY_SCALAR:
        with_number(call, operation, as, scalar, ys);
        return;
    case FOREACH_BINARY_SCALAR_LIST:
        with_numbers(call, operation, as, scalar, ys);
        return;
    case FOREACH_BINARY_SCALAR_TENSOR:
        with_tensor(call, op, as, scalar_desc, scalar, ys);
        return;
    default:
        cnnl_bad(call, "mode is %d", (int)mode);
    }
}

void cnnl_foreach_pointwise(struct cnnl_call *call, cnnlForeachOpMode_t op,
                            cnnlForeachPointWiseMode_t mode, const struct op_tensor_list *xs,
                            const struct op_tensor_list *as, const struct op_tensor_list *bs,
                            const void *scalar, const struct op_tensor_list *ys)
{
    const bool divide = op == CNNL_FOREACH_ADDCDIV;
    if (!divide && op != CNNL_FOREACH_ADDCMUL) {
        cnnl_refuse(call, "operation %d of three lists", (int)op);
    } else if (mode != FOREACH_POINTWISE_SCALAR && mode != FOREACH_POINTWISE_SCALAR_LIST) {
        cnnl_refuse(call, "numbers in device memory (mode %d)", (int)mode);
    }
    if (call->status != CNNL_STATUS_SUCCESS || !one_kind(call, xs) || !xs->count) {
        return;
    }
    if (mode == FOREACH_POINTWISE_SCALAR) {
        const struct op_value args[] = {
            op_value_tensors(xs), op_value_tensors(as), op_value_tensors(bs),
            op_value_scalar(number_at(call, xs->items[0]->type, scalar, 0)), op_value_tensors(ys)};
        cnnl_run(call, divide ? "ForeachAddcdivScalarV2" : "ForeachAddcmulScalarV2", args);
        return;
    }
    for (uint64_t i = 0; i < xs->count && call->status == CNNL_STATUS_SUCCESS; i++) {
        call->scalar_count = 0;
        const struct op_value args[] = {
            op_value_tensor(xs->items[i]), op_value_tensor(as->items[i]),
            op_value_tensor(bs->items[i]),
            op_value_scalar(number_at(call, xs->items[i]->type, scalar, i)),
            op_value_tensor(ys->items[i])};
        cnnl_run(call, divide ? "Addcdiv" : "Addcmul", args);
    }
}

void cnnl_foreach_lerp(struct cnnl_call *call, cnnlForeachLerpMode_t mode,
                       const struct op_tensor_list *as, const struct op_tensor_list *bs,
                       const cnnlTensorDescriptor_t weight_desc[], const void *const weight[],
                       const struct op_tensor_list *ys)
{
    if (!one_kind(call, as) || !as->count) {
        return;
    }
    if (mode == FOREACH_LERP_SCALAR) {
        const void *number = weight ? weight[0] : NULL;
        const struct op_value args[] = {
            op_value_tensors(as), op_value_tensors(bs),
            op_value_scalar(number_at(call, as->items[0]->type, number, 0)), op_value_tensors(ys)};
        cnnl_run(call, "ForeachLerpScalar", args);
        return;
    }
    const struct op_tensor_list *weights =
        cnnl_list(call, "weight", (int64_t)as->count, weight_desc, weight, false);
    const struct op_value args[] = {op_value_tensors(as), op_value_tensors(bs),
                                    op_value_tensors(weights), op_value_tensors(ys)};
    cnnl_run(call, "ForeachLerpList", args);
}
