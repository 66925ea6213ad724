/* SPDX-License-Identifier: Apache-2.0 */
/* An operator as part of a plan: its row run with tensors in formats that it takes and with inputs
 * apart from outputs. */
#include "explain.h"
#include "layout.h"
#include "plan_internal.h"
#include "plan_wide.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 8 };

/**
 * A call's tensors as its row takes them: those in native formats are replaced by their storage
 * (rows with "native same", if all have one shape and format, or the same channels in NC1HWC0),
 * left alone ("native own"), or replaced by rows, to which inputs are converted; what was written
 * is converted back in the end.
 */
struct stored_call {
    struct op_tensor tensors[OP_PARAMS_MAX];
    struct op_value values[OP_PARAMS_MAX];
    struct op_tensor_list lists[OP_PARAMS_MAX];
    const struct op_tensor **items; /**< of the lists, or NULL */
    struct op_tensor *owned;
    bool converted;
};

// Whether every tensor has the same shape and native format, and none is padded: what elements are
// then does not matter to an operator that takes them one by one.
static bool all_same(const struct op_row *row, const struct op_value *args)
{
    const struct op_tensor *first = NULL;
    for (unsigned i = 0; i < row->param_count; i++) {
        const struct op_tensor *tensor =
            row->params[i].kind == OP_KIND_TENSOR ? args[i].tensor : NULL;
        if (row->params[i].kind == OP_KIND_TENSOR_LIST) {
            return false;
        }
        if (!tensor) {
            continue;
        }
        first = first ? first : tensor;
        if (tensor->format != first->format || !op_tensor_same_shape(tensor, first) ||
            op_layout_c0_of(tensor) != op_layout_c0_of(first) || op_layout_is_padded(tensor)) {
            return false;
        }
    }
    return true;
}

// Tensors of elements as blocks of the same channels, numbers as they are. False: not all of them
// can be seen so.
static bool make_blocks(const struct op_row *row, const struct op_value *args,
                        struct stored_call *call)
{
    const struct op_tensor *first = NULL; // that has channels
    for (unsigned i = 0; i < row->param_count; i++) {
        const struct op_tensor *tensor =
            row->params[i].kind == OP_KIND_TENSOR ? args[i].tensor : NULL;
        if (row->params[i].kind == OP_KIND_TENSOR_LIST) {
            return false;
        }
        first = !first && tensor && tensor->format == OP_FORMAT_NC1HWC0 ? tensor : first;
    }
    for (unsigned i = 0; first && i < row->param_count; i++) {
        const struct op_tensor *tensor =
            row->params[i].kind == OP_KIND_TENSOR ? args[i].tensor : NULL;
        if (!tensor || (row->params[i].role == OP_ROLE_IN && tensor->rank <= 1 &&
                        op_tensor_count(tensor) == 1 && !op_format_is_native(tensor->format))) {
            continue;
        }
        if (!op_layout_blocks(tensor, first->rank == 4 ? first->dim[1] : 0, op_layout_c0_of(first),
                              &call->tensors[i])) {
            return false;
        }
        call->values[i].tensor = &call->tensors[i];
    }
    return first != NULL;
}

static leo_status make_list(struct op_plan *plan, const struct op_param *param,
                            const struct op_tensor_list *list, struct stored_call *call,
                            unsigned at, uint64_t *used)
{
    call->lists[at] = (struct op_tensor_list){call->items + *used, list->count};
    for (uint64_t k = 0; k < list->count; k++, ++*used) {
        const struct op_tensor *tensor = list->items[k];
        call->items[*used] = tensor;
        if (!op_format_is_native(tensor->format)) {
            continue;
        }
        call->items[*used] = &call->owned[*used];
        leo_status status =
            op_plan_rows(plan, tensor, param->role != OP_ROLE_OUT, &call->owned[*used]);
        if (status != LEO_OK) {
            return status;
        }
    }
    call->values[at].tensors = &call->lists[at];
    return LEO_OK;
}

static leo_status make_all_rows(struct op_plan *plan, const struct op_row *row,
                                const struct op_value *args, struct stored_call *call)
{
    const unsigned count = op_args_tensors(row, args);
    uint64_t used = 0;
    call->items = leo_calloc(count + 1, sizeof(*call->items));
    call->owned = leo_calloc(count + 1, sizeof(*call->owned));
    if (!call->items || !call->owned) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory for a plan", row->name);
    }
    call->converted = true;
    leo_status status = LEO_OK;
    for (unsigned i = 0; i < row->param_count && status == LEO_OK; i++) {
        const struct op_param *param = &row->params[i];
        const struct op_tensor *tensor = param->kind == OP_KIND_TENSOR ? args[i].tensor : NULL;
        if (param->kind == OP_KIND_TENSOR_LIST && args[i].tensors) {
            status = make_list(plan, param, args[i].tensors, call, i, &used);
        } else if (tensor && op_format_is_native(tensor->format)) {
            call->values[i].tensor = &call->tensors[i];
            status = op_plan_rows(plan, tensor, param->role != OP_ROLE_OUT && !tensor->unread,
                                  &call->tensors[i]);
        }
    }
    return status;
}

static leo_status begin_formats(struct op_plan *plan, const struct op_row *row,
                                const struct op_value *args, struct stored_call *call)
{
    const char *native = op_row_attr(row, "native");
    call->converted = false;
    call->items = NULL;
    call->owned = NULL;
    memcpy(call->values, args, row->param_count * sizeof(*args));
    if (!op_layout_any_native(row, args) || (native && strcmp(native, "own") == 0)) {
        return LEO_OK;
    }
    const bool same = native && all_same(row, args);
    if (native && !same && make_blocks(row, args, call)) {
        return LEO_OK;
    }
    if (!same) {
        memcpy(call->values, args, row->param_count * sizeof(*args)); // some are blocks
        return make_all_rows(plan, row, args, call);
    }
    for (unsigned i = 0; i < row->param_count; i++) {
        if (row->params[i].kind == OP_KIND_TENSOR && args[i].tensor) {
            (void)op_layout_storage(args[i].tensor, &call->tensors[i]); // checked with the call
            call->values[i].tensor = &call->tensors[i];
        }
    }
    return LEO_OK;
}

static leo_status convert_back(struct op_plan *plan, const struct op_row *row,
                               const struct op_value *args, const struct stored_call *call)
{
    leo_status status = LEO_OK;
    for (unsigned i = 0; i < row->param_count && status == LEO_OK; i++) {
        if (row->params[i].role == OP_ROLE_IN) {
            continue;
        }
        if (row->params[i].kind == OP_KIND_TENSOR && call->values[i].tensor != args[i].tensor) {
            status = op_plan_change_format(plan, call->values[i].tensor, args[i].tensor);
        }
        for (uint64_t k = 0; status == LEO_OK && row->params[i].kind == OP_KIND_TENSOR_LIST &&
                             args[i].tensors && k < args[i].tensors->count;
             k++) {
            const struct op_tensor *from = call->lists[i].items[k], *to = args[i].tensors->items[k];
            status = from != to ? op_plan_change_format(plan, from, to) : LEO_OK;
        }
    }
    return status;
}

static leo_status finish_formats(struct op_plan *plan, const struct op_row *row,
                                 const struct op_value *args, struct stored_call *call)
{
    leo_status status = call->converted ? convert_back(plan, row, args, call) : LEO_OK;
    leo_free(call->items);
    leo_free(call->owned);
    return status;
}

leo_status op_call_run_as_rows(const struct op_call *call)
{
    struct stored_call rows = {.converted = false};
    const struct op_call other = {call->row, rows.values, call->plan};
    memcpy(rows.values, call->args, call->row->param_count * sizeof(*call->args));
    leo_status status = make_all_rows(call->plan, call->row, call->args, &rows);
    if (status == LEO_OK) {
        status = call->row->plan(&other);
    }
    rows.converted = rows.converted && status == LEO_OK; // else there is nothing to convert back
    const leo_status finished = finish_formats(call->plan, call->row, call->args, &rows);
    return status == LEO_OK ? finished : status;
}

static bool is_written(const struct op_param *param)
{
    return param->role != OP_ROLE_IN;
}

// An input that shares memory with an output in a way the operator cannot bear is read from a copy.
static leo_status part_inputs(const struct op_call *call, struct op_value *args,
                              struct op_tensor *copies)
{
    const struct op_row *row = call->row;
    for (unsigned i = 0; i < row->param_count; i++) {
        const struct op_tensor *in = args[i].tensor;
        if (row->params[i].kind != OP_KIND_TENSOR || row->params[i].role != OP_ROLE_IN || !in ||
            in->unread) {
            continue;
        }
        bool apart = true;
        for (unsigned j = 0; j < row->param_count; j++) {
            if (row->params[j].kind == OP_KIND_TENSOR && is_written(&row->params[j]) &&
                call->args[j].tensor) {
                const enum op_alias alias = op_tensor_alias(in, call->args[j].tensor);
                apart =
                    apart && (alias == OP_ALIAS_NONE || (alias == OP_ALIAS_SAME && row->same_ok));
            }
        }
        if (apart) {
            continue;
        }
        leo_status status = op_plan_temp(call->plan, in->type, in->rank, in->dim, &copies[i]);
        if (status == LEO_OK) {
            status = op_plan_copy(call->plan, &copies[i], in);
        }
        if (status != LEO_OK) {
            return status;
        }
        args[i].tensor = &copies[i];
    }
    return LEO_OK;
}

/* Before the row what it reads becomes f32, behind it what it wrote bf16. */
static leo_status convert_wide(struct op_plan *plan, const struct op_wide_call *call, bool before)
{
    leo_status status = LEO_OK;
    for (unsigned i = 0; i < call->count && status == LEO_OK; i++) {
        const struct op_wide_copy *copy = &call->copies[i];
        if (copy->wide && (before ? copy->is_read : copy->is_written)) {
            status = before ? op_plan_copy(plan, copy->wide, copy->narrow)
                            : op_plan_copy(plan, copy->narrow, copy->wide);
        }
    }
    return status;
}

static leo_status add_widened(struct op_plan *plan, const struct op_row *row,
                              const struct op_value *args)
{
    struct op_wide_call call;
    const uint64_t top = op_plan_temp_mark(plan);
    leo_status status = op_wide_begin(plan, row, args, &call);
    if (status == LEO_OK) {
        status = convert_wide(plan, &call, true);
    }
    if (status == LEO_OK) {
        status = op_plan_add_row(plan, row, call.values);
    }
    if (status == LEO_OK) {
        status = convert_wide(plan, &call, false);
    }
    op_plan_temp_release(plan, top);
    op_wide_end(&call);
    return status;
}

/* ---- complex numbers of rows that have none ---- */

static bool goes_by_parts(const struct op_call *call)
{
    return op_row_attr(call->row, "parts") && op_call_has_complex(call);
}

// The real (0) or imaginary (1) parts of those tensors that may be complex.
static leo_status plan_part(const struct op_call *call, unsigned which)
{
    struct op_value values[OP_PARAMS_MAX];
    struct op_tensor parts[OP_PARAMS_MAX];
    for (unsigned i = 0; i < call->row->param_count; i++) {
        const struct op_param *param = &call->row->params[i];
        values[i] = call->args[i];
        if (values[i].kind == OP_KIND_DTYPE && op_type_is_complex(values[i].type)) {
            values[i].type = values[i].type == OP_TYPE_C64 ? OP_TYPE_F32 : OP_TYPE_F64;
        }
        if (values[i].kind != OP_KIND_TENSOR || !values[i].tensor) {
            continue;
        }
        const bool complex = op_type_is_complex(values[i].tensor->type);
        if (!complex && param->types[op_plan_chip(call->plan)] >> OP_TYPE_C64 & 1) {
            return op_call_fail(call, LEO_ERR_DTYPE, "%s is %s beside complex numbers", param->name,
                                op_type_name(values[i].tensor->type));
        }
        if (complex) {
            parts[i] = op_view_part(values[i].tensor, which);
            values[i].tensor = &parts[i];
        }
    }
    const struct op_call part = {call->row, values, call->plan};
    return call->row->plan(&part);
}

static leo_status plan_row(const struct op_call *call)
{
    if (!goes_by_parts(call)) {
        return call->row->plan(call);
    }
    leo_status status = plan_part(call, 0);
    return status == LEO_OK ? plan_part(call, 1) : status;
}

leo_status op_plan_add_row(struct op_plan *plan, const struct op_row *row,
                           const struct op_value *args)
{
    struct stored_call stored;
    struct op_tensor copies[OP_PARAMS_MAX];
    struct op_call call = {row, stored.values, plan};
    const uint64_t top = op_plan_temp_mark(plan);
    op_explain_row(plan, row, args);
    if (op_plan_must_widen(plan, row, args)) {
        return add_widened(plan, row, args);
    }
    leo_status status = begin_formats(plan, row, args, &stored);
    if (status == LEO_OK) {
        status = part_inputs(&call, stored.values, copies);
    }
    if (status == LEO_OK) {
        status = plan_row(&call);
    }
    if (status != LEO_OK) {
        stored.converted = false; // there is nothing to convert back
    }
    const leo_status finished = finish_formats(plan, row, args, &stored);
    op_plan_temp_release(plan, top);
    return status == LEO_OK ? finished : status;
}

leo_status op_plan_call(struct op_plan *plan, const char *op, const struct op_value *args,
                        unsigned count)
{
    const struct op_row *row = op_row_find(op);
    if (!row || row->param_count != count || plan->depth == DEPTH_MAX) {
        fprintf(stderr, "operator %s, called by %s with %u arguments, %s\n", op, plan->row->name,
                count, !row ? "does not exist" : "is called wrongly");
        abort();
    }
    leo_status status = op_check_args(plan->engine, row, args);
    if (status == LEO_OK) {
        plan->depth++;
        status = op_plan_add_row(plan, row, args);
        plan->depth--;
    }
    return status;
}

leo_status op_plan_copy(struct op_plan *plan, const struct op_tensor *dst,
                        const struct op_tensor *src)
{
    const struct op_value args[] = {op_value_tensor(dst), op_value_tensor(src)};
    return op_plan_call(plan, "InplaceCopy", args, 2);
}

leo_status op_plan_change_format(struct op_plan *plan, const struct op_tensor *src,
                                 const struct op_tensor *dst)
{
    const struct op_value args[] = {op_value_tensor(src), op_value_tensor(dst)};
    return op_plan_call(plan, "TransData", args, 2);
}

leo_status op_plan_rows(struct op_plan *plan, const struct op_tensor *tensor, bool read,
                        struct op_tensor *rows)
{
    *rows = *tensor;
    if (!op_format_is_native(tensor->format)) {
        return LEO_OK;
    }
    leo_status status = op_plan_temp(plan, tensor->type, tensor->rank, tensor->dim, rows);
    return status == LEO_OK && read ? op_plan_change_format(plan, tensor, rows) : status;
}

leo_status op_plan_dense(struct op_plan *plan, const struct op_tensor *tensor, enum op_type type,
                         struct op_tensor *out)
{
    if (tensor->type == type && op_tensor_is_dense(tensor)) {
        *out = op_tensor_dense(tensor->addr, type, tensor->rank, tensor->dim);
        return LEO_OK;
    }
    struct op_tensor dense; // callers may replace a tensor by its copy
    leo_status status = op_plan_temp(plan, type, tensor->rank, tensor->dim, &dense);
    if (status != LEO_OK) {
        return status;
    }
    status = op_plan_copy(plan, &dense, tensor);
    *out = dense;
    return status;
}
