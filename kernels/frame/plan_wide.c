/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on bf16 on a chip whose program images have no lanes for it: planned in f32, with the
 * conversions around it. Each result is rounded once, as it is where there are such lanes. */
#include "plan_wide.h"

#include "layout.h"

#include <leo/alloc.h>
#include <string.h>

/** A call with f32 in the place of bf16. */
struct wide_call {
    struct op_value values[OP_PARAMS_MAX];
    struct op_tensor_list lists[OP_PARAMS_MAX];
    const struct op_tensor **items; /**< of all tensors, lists flattened */
    struct op_tensor *owned;
    uint64_t used;
};

static bool is_narrow(const struct op_tensor *tensor)
{
    return tensor && tensor->type == OP_TYPE_BF16;
}

static bool any_narrow(const struct op_row *row, const struct op_value *args)
{
    for (unsigned i = 0; i < row->param_count; i++) {
        if (row->params[i].kind == OP_KIND_TENSOR && is_narrow(args[i].tensor)) {
            return true;
        }
        for (uint64_t k = 0; row->params[i].kind == OP_KIND_TENSOR_LIST && args[i].tensors &&
                             k < args[i].tensors->count;
             k++) {
            if (is_narrow(args[i].tensors->items[k])) {
                return true;
            }
        }
    }
    return false;
}

bool op_plan_must_widen(const struct op_plan *plan, const struct op_row *row,
                        const struct op_value *args)
{
    static const char *const own[] = {"InplaceCopy", "Cast"}; // they are the conversions
    if (!op_engine_widens(plan->engine)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strcmp(row->name, own[i]) == 0) {
            return false;
        }
    }
    return any_narrow(row, args);
}

static leo_status widen(struct op_plan *plan, const struct op_row *row,
                        const struct op_param *param, struct wide_call *call,
                        const struct op_tensor *tensor)
{
    const uint64_t at = call->used++;
    call->items[at] = tensor;
    if (!is_narrow(tensor)) {
        return LEO_OK;
    }
    if (op_format_is_native(tensor->format)) {
        return leo_rt_fail(LEO_ERR_UNSUPPORTED, "%s: %s is bf16 in format %s: not on this chip",
                           row->name, param->name, op_format_name(tensor->format));
    }
    call->items[at] = &call->owned[at];
    leo_status status =
        op_plan_temp(plan, OP_TYPE_F32, tensor->rank, tensor->dim, &call->owned[at]);
    call->owned[at].format = tensor->format;
    call->owned[at].unread = tensor->unread;
    if (status == LEO_OK && param->role != OP_ROLE_OUT && !tensor->unread) {
        status = op_plan_copy(plan, &call->owned[at], tensor);
    }
    return status;
}

static leo_status widen_param(struct op_plan *plan, const struct op_row *row, unsigned at,
                              const struct op_value *arg, struct wide_call *call)
{
    const struct op_param *param = &row->params[at];
    leo_status status = LEO_OK;
    if (param->kind == OP_KIND_TENSOR) {
        status = widen(plan, row, param, call, arg->tensor);
        call->values[at].tensor = call->items[call->used - 1];
    } else if (param->kind == OP_KIND_TENSOR_LIST && arg->tensors) {
        call->lists[at] = (struct op_tensor_list){call->items + call->used, arg->tensors->count};
        call->values[at].tensors = &call->lists[at];
        for (uint64_t k = 0; k < arg->tensors->count && status == LEO_OK; k++) {
            status = widen(plan, row, param, call, arg->tensors->items[k]);
        }
    } else if (param->kind == OP_KIND_DTYPE && arg->type == OP_TYPE_BF16) {
        call->values[at].type = OP_TYPE_F32;
    }
    return status;
}

static leo_status round_back(struct op_plan *plan, const struct op_tensor *to,
                             const struct op_tensor *from)
{
    return is_narrow(to) ? op_plan_copy(plan, to, from) : LEO_OK;
}

static leo_status round_results(struct op_plan *plan, const struct op_row *row,
                                const struct op_value *args, const struct wide_call *call)
{
    leo_status status = LEO_OK;
    for (unsigned i = 0; i < row->param_count && status == LEO_OK; i++) {
        if (row->params[i].role == OP_ROLE_IN) {
            continue;
        }
        if (row->params[i].kind == OP_KIND_TENSOR) {
            status = round_back(plan, args[i].tensor, call->values[i].tensor);
        }
        for (uint64_t k = 0; status == LEO_OK && row->params[i].kind == OP_KIND_TENSOR_LIST &&
                             args[i].tensors && k < args[i].tensors->count;
             k++) {
            status = round_back(plan, args[i].tensors->items[k], call->lists[i].items[k]);
        }
    }
    return status;
}

leo_status op_plan_add_widened(struct op_plan *plan, const struct op_row *row,
                               const struct op_value *args)
{
    const unsigned count = op_args_tensors(row, args);
    const uint64_t top = op_plan_temp_mark(plan);
    struct wide_call call = {.used = 0};
    leo_status status = LEO_OK;
    memcpy(call.values, args, row->param_count * sizeof(*args));
    call.items = leo_calloc(count + 1, sizeof(*call.items));
    call.owned = leo_calloc(count + 1, sizeof(*call.owned));
    if (!call.items || !call.owned) {
        status = leo_rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory for a plan", row->name);
    }
    for (unsigned i = 0; i < row->param_count && status == LEO_OK; i++) {
        status = widen_param(plan, row, i, &args[i], &call);
    }
    if (status == LEO_OK) {
        status = op_plan_add_row(plan, row, call.values);
    }
    if (status == LEO_OK) {
        status = round_results(plan, row, args, &call);
    }
    op_plan_temp_release(plan, top);
    leo_free(call.items);
    leo_free(call.owned);
    return status;
}
