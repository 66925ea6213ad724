/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on bf16 on a chip whose program images have no lanes for it: planned in f32, with the
 * conversions around it. Each result is rounded once, as it is where there are such lanes. */
#include "plan_wide.h"

#include "layout.h"

#include <leo/alloc.h>
#include <string.h>

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
                        const struct op_param *param, struct op_wide_call *call,
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
    call->copies[at] =
        (struct op_wide_copy){.narrow = tensor,
                              .wide = &call->owned[at],
                              .is_read = param->role != OP_ROLE_OUT && !tensor->unread,
                              .is_written = param->role != OP_ROLE_IN};
    return status;
}

static leo_status widen_param(struct op_plan *plan, const struct op_row *row, unsigned at,
                              const struct op_value *arg, struct op_wide_call *call)
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

leo_status op_wide_begin(struct op_plan *plan, const struct op_row *row,
                         const struct op_value *args, struct op_wide_call *call)
{
    const unsigned count = op_args_tensors(row, args);
    *call = (struct op_wide_call){.count = count};
    memcpy(call->values, args, row->param_count * sizeof(*args));
    call->items = leo_calloc(count + 1, sizeof(*call->items));
    call->owned = leo_calloc(count + 1, sizeof(*call->owned));
    call->copies = leo_calloc(count + 1, sizeof(*call->copies));
    if (!call->items || !call->owned || !call->copies) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory for a plan", row->name);
    }
    leo_status status = LEO_OK;
    for (unsigned i = 0; i < row->param_count && status == LEO_OK; i++) {
        status = widen_param(plan, row, i, &args[i], call);
    }
    return status;
}

void op_wide_end(struct op_wide_call *call)
{
    leo_free(call->items);
    leo_free(call->owned);
    leo_free(call->copies);
}
