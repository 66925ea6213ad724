/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"
#include "plan_internal.h"
#include "whole.h"

#include <leo/alloc.h>
#include <string.h>

bool op_format_is_native(int format)
{
    return format == OP_FORMAT_NC1HWC0 || format == OP_FORMAT_FRACTAL_Z ||
           format == OP_FORMAT_FRACTAL_NZ || format == OP_FORMAT_NDC1HWC0 ||
           format == OP_FORMAT_FRACTAL_Z_3D;
}

const char *op_format_name(int format)
{
    switch (format) {
    case OP_FORMAT_NC1HWC0:
        return "NC1HWC0";
    case OP_FORMAT_FRACTAL_Z:
        return "FRACTAL_Z";
    case OP_FORMAT_FRACTAL_NZ:
        return "FRACTAL_NZ";
    case OP_FORMAT_NDC1HWC0:
        return "NDC1HWC0";
    case OP_FORMAT_FRACTAL_Z_3D:
        return "FRACTAL_Z_3D";
    default:
        return "ND";
    }
}

int64_t op_layout_c0(enum op_type type)
{
    return op_type_bytes(type) == 1 ? 32 : 16;
}

static int64_t c0_of(const struct op_tensor *tensor)
{
    return tensor->c0 ? tensor->c0 : op_layout_c0(tensor->type);
}

struct op_tensor op_layout_widen(const struct op_tensor *tensor)
{
    struct op_tensor wide = *tensor;
    if (tensor->rank == 4) {
        return wide;
    }
    for (unsigned i = 0; i < 4; i++) {
        const bool has = i >= 1 && i <= tensor->rank;
        wide.dim[i] = has ? tensor->dim[i - 1] : 1;
        wide.stride[i] = has ? tensor->stride[i - 1] : 0;
    }
    wide.rank = 4;
    return wide;
}

struct op_tensor op_layout_unturned(const struct op_tensor *tensor)
{
    struct op_tensor other = *tensor;
    const unsigned rows = tensor->rank - 2, columns = tensor->rank - 1;
    if (tensor->format != OP_FORMAT_FRACTAL_NZ || tensor->rank < 2 || tensor->stride[rows] != 1 ||
        tensor->stride[columns] != tensor->dim[rows] ||
        (tensor->stride[columns] == 1 && tensor->stride[rows] == tensor->dim[columns])) {
        return other;
    }
    other.dim[rows] = tensor->dim[columns];
    other.dim[columns] = tensor->dim[rows];
    other.stride[rows] = tensor->stride[columns];
    other.stride[columns] = tensor->stride[rows];
    return other;
}

bool op_layout_storage(const struct op_tensor *tensor, struct op_tensor *storage)
{
    const struct op_tensor unturned = op_layout_unturned(tensor), *t = &unturned;
    const int64_t c0 = c0_of(t), *d = t->dim;
    int64_t dim[OP_RANK_MAX];
    unsigned rank = 0;
    if (!op_format_is_native(t->format)) {
        *storage = *t;
        return true;
    }
    if (t->format == OP_FORMAT_NC1HWC0 && t->rank >= 1 && t->rank <= 4) {
        const struct op_tensor wide = op_layout_widen(t);
        const int64_t shape[] = {wide.dim[0], op_parts(wide.dim[1], c0), wide.dim[2], wide.dim[3],
                                 c0};
        rank = 5;
        memcpy(dim, shape, sizeof(shape));
    } else if (t->format == OP_FORMAT_FRACTAL_Z && t->rank == 4) {
        const int64_t shape[] = {op_parts(d[1], c0) * d[2] * d[3], op_parts(d[0], OP_LAYOUT_ROWS),
                                 OP_LAYOUT_ROWS, c0};
        rank = 4;
        memcpy(dim, shape, sizeof(shape));
    } else if (t->format == OP_FORMAT_NDC1HWC0 && t->rank == 5) {
        const int64_t shape[] = {d[0], d[2], op_parts(d[1], c0), d[3], d[4], c0};
        rank = 6;
        memcpy(dim, shape, sizeof(shape));
    } else if (t->format == OP_FORMAT_FRACTAL_Z_3D && t->rank == 5) {
        const int64_t shape[] = {d[2] * op_parts(d[1], c0) * d[3] * d[4],
                                 op_parts(d[0], OP_LAYOUT_ROWS), OP_LAYOUT_ROWS, c0};
        rank = 4;
        memcpy(dim, shape, sizeof(shape));
    } else if (t->format == OP_FORMAT_FRACTAL_NZ && t->rank >= 2 && t->rank + 2 <= OP_RANK_MAX) {
        const unsigned m = t->rank - 2;
        const int64_t shape[] = {op_parts(d[m + 1], c0), op_parts(d[m], OP_LAYOUT_ROWS),
                                 OP_LAYOUT_ROWS, c0};
        rank = t->rank + 2;
        memcpy(dim, d, m * sizeof(*dim));
        memcpy(dim + m, shape, sizeof(shape));
    } else {
        return false;
    }
    *storage = op_tensor_dense(t->addr, t->type, rank, dim);
    return true;
}

bool op_layout_is_padded(const struct op_tensor *tensor)
{
    struct op_tensor storage;
    return op_layout_storage(tensor, &storage) &&
           op_tensor_count(&storage) != op_tensor_count(tensor);
}

/* Calls. */

bool op_layout_any_native(const struct op_row *row, const struct op_value *args)
{
    for (unsigned i = 0; i < row->param_count; i++) {
        if (row->params[i].kind == OP_KIND_TENSOR && args[i].tensor &&
            op_format_is_native(args[i].tensor->format)) {
            return true;
        }
        for (uint64_t k = 0; row->params[i].kind == OP_KIND_TENSOR_LIST && args[i].tensors &&
                             k < args[i].tensors->count;
             k++) {
            if (op_format_is_native(args[i].tensors->items[k]->format)) {
                return true;
            }
        }
    }
    return false;
}

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
            c0_of(tensor) != c0_of(first) || op_layout_is_padded(tensor)) {
            return false;
        }
    }
    return true;
}

static leo_status convert(struct op_plan *plan, const struct op_tensor *from,
                          const struct op_tensor *to)
{
    const struct op_value args[] = {op_value_tensor(from), op_value_tensor(to)};
    return op_plan_call(plan, "TransData", args, 2);
}

// The tensor as rows; `read`: with what it holds.
static leo_status make_rows(struct op_plan *plan, const struct op_tensor *tensor, bool read,
                            struct op_tensor *rows)
{
    leo_status status = op_plan_temp(plan, tensor->type, tensor->rank, tensor->dim, rows);
    return status == LEO_OK && read ? convert(plan, tensor, rows) : status;
}

static leo_status make_list(struct op_plan *plan, const struct op_param *param,
                            const struct op_tensor_list *list, struct op_layout_call *call,
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
            make_rows(plan, tensor, param->role != OP_ROLE_OUT, &call->owned[*used]);
        if (status != LEO_OK) {
            return status;
        }
    }
    call->values[at].tensors = &call->lists[at];
    return LEO_OK;
}

static leo_status make_all_rows(struct op_plan *plan, const struct op_row *row,
                                const struct op_value *args, struct op_layout_call *call)
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
            status = make_rows(plan, tensor, param->role != OP_ROLE_OUT, &call->tensors[i]);
        }
    }
    return status;
}

leo_status op_layout_begin(struct op_plan *plan, const struct op_row *row,
                           const struct op_value *args, struct op_layout_call *call)
{
    const char *native = op_row_attr(row, "native");
    call->converted = false;
    call->items = NULL;
    call->owned = NULL;
    memcpy(call->values, args, row->param_count * sizeof(*args));
    if (!op_layout_any_native(row, args) || (native && strcmp(native, "own") == 0)) {
        return LEO_OK;
    }
    if (!native || !all_same(row, args)) {
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

leo_status op_layout_run_as_rows(const struct op_call *call)
{
    struct op_layout_call rows = {.converted = false};
    const struct op_call other = {call->row, rows.values, call->plan};
    memcpy(rows.values, call->args, call->row->param_count * sizeof(*call->args));
    leo_status status = make_all_rows(call->plan, call->row, call->args, &rows);
    if (status == LEO_OK) {
        status = call->row->plan(&other);
    }
    rows.converted = rows.converted && status == LEO_OK; // else there is nothing to convert back
    const leo_status finished = op_layout_finish(call->plan, call->row, call->args, &rows);
    return status == LEO_OK ? finished : status;
}

static leo_status convert_back(struct op_plan *plan, const struct op_row *row,
                               const struct op_value *args, const struct op_layout_call *call)
{
    leo_status status = LEO_OK;
    for (unsigned i = 0; i < row->param_count && status == LEO_OK; i++) {
        if (row->params[i].role == OP_ROLE_IN) {
            continue;
        }
        if (row->params[i].kind == OP_KIND_TENSOR && call->values[i].tensor != args[i].tensor) {
            status = convert(plan, call->values[i].tensor, args[i].tensor);
        }
        for (uint64_t k = 0; status == LEO_OK && row->params[i].kind == OP_KIND_TENSOR_LIST &&
                             args[i].tensors && k < args[i].tensors->count;
             k++) {
            const struct op_tensor *from = call->lists[i].items[k], *to = args[i].tensors->items[k];
            status = from != to ? convert(plan, from, to) : LEO_OK;
        }
    }
    return status;
}

leo_status op_layout_finish(struct op_plan *plan, const struct op_row *row,
                            const struct op_value *args, struct op_layout_call *call)
{
    leo_status status = call->converted ? convert_back(plan, row, args, call) : LEO_OK;
    leo_free(call->items);
    leo_free(call->owned);
    return status;
}
