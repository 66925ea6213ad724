/* SPDX-License-Identifier: Apache-2.0 */
/* What every call is checked for, from its row alone: NULL, element types, shapes that make sense.
 */
#include "layout.h"
#include "plan_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct types_text {
    char text[128];
};

static struct types_text text_of_types(uint32_t types)
{
    struct types_text out = {""};
    size_t at = 0;
    for (unsigned i = 0; i < OP_TYPES; i++) {
        if (types >> i & 1) {
            at += (size_t)snprintf(out.text + at, sizeof(out.text) - at, "%s%s", at ? ", " : "",
                                   op_type_name((enum op_type)i));
        }
    }
    return out;
}

// No device has so many elements; keeps every later product of sizes far from 64 bits.
static const int64_t most_elements = INT64_C(1) << 40;

/* ---- elements of a tensor that share memory ---- */

struct span {
    int64_t dim, stride;
};

enum { SEARCH_MAX = 1 << 16 }; // [A] steps of a search; what it does not find then is let through

// Whether steps of less than each dimension's size, back or forth, make up for `left`. Spans with
// the longest strides come first.
static bool makes_up(const struct span *spans, unsigned count, int64_t left, unsigned *steps)
{
    int64_t rest = 0; // what the shorter strides reach
    if (left == 0 || count == 0 || ++*steps > SEARCH_MAX) {
        return left == 0;
    }
    for (unsigned i = 1; i < count; i++) {
        rest += (spans[i].dim - 1) * spans[i].stride;
    }
    int64_t first = (left - rest) / spans->stride, last = (left + rest) / spans->stride;
    first = first <= -spans->dim ? 1 - spans->dim : first;
    last = last >= spans->dim ? spans->dim - 1 : last;
    for (int64_t step = first; step <= last; step++) {
        if (makes_up(spans + 1, count - 1, left - step * spans->stride, steps)) {
            return true;
        }
    }
    return false;
}

// Two elements at one place are a way from it and back: the longest stride that takes part, so
// often, against the shorter ones.
static bool overlaps_itself(const struct op_tensor *tensor)
{
    static const int64_t most = INT64_C(1)
                                << 56; // elements no device has: views are checked for them
    struct span spans[OP_RANK_MAX];
    int64_t reach[OP_RANK_MAX + 1] = {0}, all;
    unsigned count = 0, steps = 0;
    for (unsigned i = 0; i < tensor->rank; i++) {
        const struct span span = {tensor->dim[i], tensor->stride[i]};
        if (span.dim < 2) {
            continue;
        }
        if (__builtin_mul_overflow(span.dim - 1, span.stride, &all) || all > most) {
            return false;
        }
        unsigned at = count++;
        for (; at > 0 && spans[at - 1].stride < span.stride; at--) {
            spans[at] = spans[at - 1];
        }
        spans[at] = span;
    }
    for (unsigned i = count; i-- > 0;) {
        reach[i] = reach[i + 1] + (spans[i].dim - 1) * spans[i].stride;
        for (int64_t k = 1; k < spans[i].dim && k * spans[i].stride <= reach[i + 1]; k++) {
            if (makes_up(spans + i + 1, count - i - 1, k * spans[i].stride, &steps)) {
                return true;
            }
            if (steps > SEARCH_MAX) {
                return false;
            }
        }
    }
    return false;
}

static leo_status check_shape(const struct op_row *row, const char *name,
                              const struct op_tensor *tensor, bool written)
{
    int64_t count = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        if (tensor->dim[i] < 0) {
            return leo_rt_fail(LEO_ERR_SHAPE, "%s: %s has shape %s: dimension %u is negative",
                               row->name, name, op_tensor_shape_text(tensor).text, i);
        }
        if (tensor->stride[i] < 0) {
            return leo_rt_fail(LEO_ERR_SHAPE,
                               "%s: stride %u of %s is %" PRId64 ", it must not be negative",
                               row->name, i, name, tensor->stride[i]);
        }
        if (tensor->dim[i] > 0 && count > most_elements / tensor->dim[i]) {
            return leo_rt_fail(LEO_ERR_SHAPE, "%s: %s %s is larger than any device memory",
                               row->name, name, op_tensor_shape_text(tensor).text);
        }
        count *= tensor->dim[i];
    }
    for (unsigned i = 0; written && count > 0 && i < tensor->rank; i++) {
        if (tensor->dim[i] > 1 && tensor->stride[i] == 0) {
            return leo_rt_fail(LEO_ERR_INVALID_ARG,
                               "%s: %s of shape %s is written, but dimension %u has stride 0: its "
                               "elements share memory",
                               row->name, name, op_tensor_shape_text(tensor).text, i);
        }
    }
    if (written && count > 0 && overlaps_itself(tensor)) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "%s: %s of shape %s is written, but its strides let elements share "
                           "memory",
                           row->name, name, op_tensor_shape_text(tensor).text);
    }
    return LEO_OK;
}

static leo_status check_native(const struct op_row *row, const char *name,
                               const struct op_tensor *tensor)
{
    struct op_tensor storage;
    if (!op_format_is_native(tensor->format)) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "%s: %s has format %d, it must be one of rows (ND, NCHW, NHWC, HWCN, "
                           "NDHWC, NCDHW, NC, NCL), NC1HWC0, NDC1HWC0, FRACTAL_Z, FRACTAL_Z_3D or "
                           "FRACTAL_NZ",
                           row->name, name, tensor->format);
    }
    if (!op_layout_storage(tensor, &storage)) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "%s: %s of shape %s and type %s has no format %s: NC1HWC0 takes 1 "
                           "to 4 dimensions, FRACTAL_Z 2 or 4, FRACTAL_NZ 2 to 6, NDC1HWC0 and "
                           "FRACTAL_Z_3D 5",
                           row->name, name, op_tensor_shape_text(tensor).text,
                           op_type_name(tensor->type), op_format_name(tensor->format));
    }
    const struct op_tensor unturned = op_layout_unturned(tensor);
    if (!op_tensor_is_dense(&unturned)) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "%s: %s of shape %s is a view, but a tensor in format %s must be whole",
                           row->name, name, op_tensor_shape_text(tensor).text,
                           op_format_name(tensor->format));
    }
    return LEO_OK;
}

// A chip has an operator if a parameter takes a type there, or if it has no tensors.
static bool is_here(const struct op_engine *engine, const struct op_row *row)
{
    bool has_tensors = false;
    for (unsigned i = 0; i < row->param_count; i++) {
        const enum op_kind kind = row->params[i].kind;
        const bool tensors = kind == OP_KIND_TENSOR || kind == OP_KIND_TENSOR_LIST;
        if (tensors && row->params[i].types[op_engine_chip(engine)]) {
            return true;
        }
        has_tensors = has_tensors || tensors;
    }
    return !has_tensors;
}

// A parameter without types is one of a form of the operator that the chip does not have.
static leo_status refuse_type(const struct op_engine *engine, const struct op_row *row,
                              uint32_t types, const struct op_tensor *tensor, const char *name)
{
    const char *soc = op_engine_caps(engine)->soc_name;
    return types ? leo_rt_fail(LEO_ERR_DTYPE, "%s: %s has type %s, on %s it must be one of: %s",
                               row->name, name, op_type_name(tensor->type), soc,
                               text_of_types(types).text)
                 : leo_rt_fail(LEO_ERR_DTYPE, "%s: %s cannot be given on %s: pass NULL", row->name,
                               name, soc);
}

static leo_status check_tensor(const struct op_engine *engine, const struct op_row *row,
                               const struct op_param *param, const struct op_tensor *tensor,
                               const char *name)
{
    const uint32_t types = op_engine_types(engine, param);
    if (!tensor) {
        return leo_rt_fail(LEO_ERR_BAD_POINTER, "%s: %s is NULL", row->name, name);
    }
    if ((unsigned)tensor->type >= OP_TYPES || !(types >> tensor->type & 1)) {
        return refuse_type(engine, row, types, tensor, name);
    }
    leo_status status = check_shape(row, name, tensor, param->role != OP_ROLE_IN);
    if (status != LEO_OK) {
        return status;
    }
    if (!op_format_is_rows(tensor->format)) {
        status = check_native(row, name, tensor);
        if (status != LEO_OK) {
            return status;
        }
    }
    if (tensor->addr == 0 && op_tensor_count(tensor) > 0) {
        return leo_rt_fail(LEO_ERR_BAD_POINTER, "%s: %s has no memory (its data pointer is NULL)",
                           row->name, name);
    }
    return LEO_OK;
}

static leo_status check_list(const struct op_engine *engine, const struct op_row *row,
                             const struct op_param *param, const struct op_tensor_list *list)
{
    for (uint64_t i = 0; i < list->count; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s[%" PRIu64 "]", param->name, i);
        leo_status status = check_tensor(engine, row, param, list->items[i], name);
        if (status != LEO_OK) {
            return status;
        }
    }
    return LEO_OK;
}

leo_status op_check_args(const struct op_engine *engine, const struct op_row *row,
                         const struct op_value *args)
{
    if (!is_here(engine, row)) {
        return leo_rt_fail(LEO_ERR_DTYPE,
                           "%s: this operator is not on %s, only on chips of another generation",
                           row->name, op_engine_caps(engine)->soc_name);
    }
    for (unsigned i = 0; i < row->param_count; i++) {
        const struct op_param *param = &row->params[i];
        leo_status status = LEO_OK;
        if (param->kind < OP_KIND_DTYPE && !args[i].pointer) {
            if (!param->optional) {
                return leo_rt_fail(LEO_ERR_BAD_POINTER, "%s: %s is NULL", row->name, param->name);
            }
        } else if (param->kind == OP_KIND_TENSOR) {
            status = check_tensor(engine, row, param, args[i].tensor, param->name);
        } else if (param->kind == OP_KIND_TENSOR_LIST) {
            status = check_list(engine, row, param, args[i].tensors);
        } else if (param->kind == OP_KIND_DTYPE && (unsigned)args[i].type >= OP_TYPES) {
            status = leo_rt_fail(LEO_ERR_DTYPE, "%s: %s names a type that no operator has",
                                 row->name, param->name);
        }
        if (status != LEO_OK) {
            return status;
        }
    }
    return LEO_OK;
}
