/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of norm/norm_rows_device.c. */
#include "../frame/dims.h"
#include "norm.h"

#include <stdio.h>
#include <string.h>

enum {
    LEAST_ELEMENTS = 64, // fewer are not worth another core
    LEAST_LENGTH = 16,   // [A] of a row: below, the vector unit waits longer than it computes
};

// Vector code takes one type of 32 or 16 bits for all, and weights that run along the row.
static bool is_for_vectors(const struct op_norm_rows *rows, const struct op_norm_rows_args *args,
                           bool has_out)
{
    const bool weighted = args->weight || args->bias;
    return (args->in_type == OP_TYPE_F32 || args->in_type == OP_TYPE_F16) &&
           (!args->gradient || args->gradient_type == args->in_type) &&
           (!has_out || args->out_type == args->in_type) && rows->length >= LEAST_LENGTH &&
           (!weighted || (rows->weight_span == 1 && rows->weights == rows->length));
}

static void set_rows(struct op_norm_rows_args *args, const struct op_norm_rows *rows,
                     const struct op_tensor *gradient, const struct op_tensor *in)
{
    args->in = in->addr;
    args->in_type = (uint8_t)in->type;
    if (gradient) {
        args->gradient = gradient->addr;
        args->gradient_type = (uint8_t)gradient->type;
    }
    args->rows = (uint64_t)rows->rows;
    args->length = (uint64_t)rows->length;
    args->entry_rows = (uint64_t)rows->entry_rows;
    args->entries = (uint64_t)rows->entries;
    args->weight_span = (uint64_t)rows->weight_span;
    args->weights = (uint64_t)rows->weights;
    args->no_mean = rows->no_mean;
}

static leo_status launch_scalar(struct op_plan *plan, const char *kernel, uint64_t count,
                                uint64_t least, struct op_norm_rows_args *args)
{
    const struct op_share share = op_share_make(count, 1, least, op_plan_vector_cores(plan));
    args->per_block = share.per_block;
    return op_plan_launch(plan, "norm_rows", kernel, share.blocks, args, sizeof(*args), 6);
}

static leo_status launch_rows(struct op_plan *plan, const char *kernel,
                              const struct op_norm_rows *rows, bool by_element,
                              struct op_norm_rows_args *args)
{
    const uint64_t count = by_element ? args->rows * args->length : args->rows;
    const uint64_t least = by_element ? LEAST_ELEMENTS : 1;
    if (!is_for_vectors(rows, args, by_element)) {
        return launch_scalar(plan, kernel, count, least, args);
    }
    char name[40];
    snprintf(name, sizeof(name), "%s_%s", kernel, op_type_name(args->in_type));
    if (args->length <= OP_NORM_SHORT) {
        // Whole lines a block where rows are the result.
        const uint64_t granule =
            by_element ? op_row_granule(args->length, op_type_bytes(args->in_type)) : 8;
        const struct op_share rows_share =
            op_share_make(args->rows, granule, granule, op_plan_vector_cores(plan));
        args->per_block = rows_share.per_block;
        return op_plan_launch(plan, "norm_short", name, rows_share.blocks, args, sizeof(*args), 6);
    }
    const struct op_share share = op_share_make(count, 1, least, op_plan_vector_cores(plan));
    args->per_block = share.per_block;
    return op_plan_launch(plan, "norm_vector", name, share.blocks, args, sizeof(*args), 6);
}

leo_status op_norm_plan_input(struct op_plan *plan, const struct op_tensor *tensor,
                              struct op_tensor *out)
{
    return op_plan_dense(plan, tensor, tensor->type == OP_TYPE_BF16 ? OP_TYPE_F32 : tensor->type,
                         out);
}

leo_status op_norm_plan_moments(struct op_plan *plan, const struct op_norm_rows *rows,
                                const struct op_tensor *in, uint64_t *moments)
{
    struct op_norm_rows_args args;
    memset(&args, 0, sizeof(args));
    leo_status status =
        op_plan_temp_bytes(plan, (uint64_t)rows->rows * sizeof(struct op_norm_moments), moments);
    if (status != LEO_OK) {
        return status;
    }
    args.out = *moments;
    set_rows(&args, rows, NULL, in);
    return launch_rows(plan, "norm_moments", rows, false, &args);
}

leo_status op_norm_plan_sums(struct op_plan *plan, const struct op_norm_rows *rows,
                             const struct op_tensor *gradient, const struct op_tensor *in,
                             uint64_t means, uint64_t *sums)
{
    struct op_norm_rows_args args;
    memset(&args, 0, sizeof(args));
    leo_status status =
        op_plan_temp_bytes(plan, (uint64_t)rows->rows * sizeof(struct op_norm_sums), sums);
    if (status != LEO_OK) {
        return status;
    }
    args.out = *sums;
    args.entry = means;
    args.weight = rows->weight;
    set_rows(&args, rows, gradient, in);
    return launch_rows(plan, "norm_sums", rows, false, &args);
}

leo_status op_norm_plan_apply(struct op_plan *plan, const struct op_norm_rows *rows,
                              const struct op_tensor *gradient, const struct op_tensor *in,
                              uint64_t table, const struct op_tensor *out)
{
    struct op_norm_rows_args args;
    memset(&args, 0, sizeof(args));
    struct op_tensor dense = *out;
    if (!op_tensor_is_dense(out) || out->type == OP_TYPE_BF16) {
        leo_status status = op_plan_temp(plan, in->type, out->rank, out->dim, &dense);
        if (status != LEO_OK) {
            return status;
        }
    }
    args.out = dense.addr;
    args.out_type = (uint8_t)dense.type;
    args.entry = table;
    args.weight = rows->weight;
    args.bias = rows->bias;
    set_rows(&args, rows, gradient, in);
    leo_status status =
        launch_rows(plan, gradient ? "norm_gradient" : "norm_apply", rows, true, &args);
    if (status != LEO_OK || dense.addr == out->addr) {
        return status;
    }
    return op_plan_copy(plan, out, &dense);
}

// gradient * (in - mean) / deviation, f32 in rows.
static leo_status plan_products(struct op_plan *plan, const struct op_norm_rows *rows,
                                const struct op_tensor *gradient, const struct op_tensor *in,
                                uint64_t means, uint64_t inverses, struct op_tensor *out)
{
    const int64_t dim[] = {rows->rows, rows->length}, column[] = {rows->rows, 1};
    const struct op_tensor g = op_tensor_dense(gradient->addr, gradient->type, 2, dim),
                           x = op_tensor_dense(in->addr, in->type, 2, dim),
                           mean = op_tensor_dense(means, OP_TYPE_F32, 2, column),
                           inverse = op_tensor_dense(inverses, OP_TYPE_F32, 2, column);
    leo_status status = op_plan_temp(plan, OP_TYPE_F32, 2, dim, out);
    if (status != LEO_OK) {
        return status;
    }
    if (!means) {
        const struct op_value args[] = {op_value_tensor(&g), op_value_tensor(&x),
                                        op_value_tensor(&inverse), op_value_tensor(out)};
        return op_plan_call(plan, "NormProductOfRoot", args, 4);
    }
    const struct op_value args[] = {op_value_tensor(&g), op_value_tensor(&x),
                                    op_value_tensor(&mean), op_value_tensor(&inverse),
                                    op_value_tensor(out)};
    return op_plan_call(plan, "NormProduct", args, 5);
}

leo_status op_norm_plan_columns(struct op_plan *plan, const struct op_norm_rows *rows,
                                const struct op_tensor *gradient, const struct op_tensor *in,
                                uint64_t means, uint64_t inverses, uint64_t out)
{
    struct op_tensor terms = *gradient;
    if (inverses) {
        leo_status status = plan_products(plan, rows, gradient, in, means, inverses, &terms);
        if (status != LEO_OK) {
            return status;
        }
    }
    // Elements of a weight: spans in each period.
    const int64_t period = rows->weight_span * rows->weights,
                  dim[] = {rows->rows * rows->length / period, rows->weights, rows->weight_span},
                  items[] = {0, 2};
    const struct op_tensor all = op_tensor_dense(terms.addr, terms.type, 3, dim),
                           sums = op_tensor_dense(out, OP_TYPE_F32, 1, &rows->weights);
    const struct op_ints dims = {items, 2};
    const struct op_value args[] = {op_value_tensor(&all), op_value_ints(&dims),
                                    op_value_int(false), op_value_type(OP_TYPE_F32),
                                    op_value_tensor(&sums)};
    return op_plan_call(plan, "ReduceSum", args, 5);
}

leo_status op_norm_take(struct op_plan *plan, const struct op_tensor *tensor, uint64_t *addr)
{
    struct op_tensor dense = {.addr = 0};
    leo_status status = tensor ? op_plan_dense(plan, tensor, OP_TYPE_F32, &dense) : LEO_OK;
    *addr = dense.addr;
    return status;
}

static bool is_plain(const struct op_tensor *tensor)
{
    return tensor->type == OP_TYPE_F32 && op_tensor_is_dense(tensor);
}

leo_status op_norm_place(struct op_plan *plan, const struct op_tensor *tensor, uint64_t *addr)
{
    struct op_tensor dense = {.addr = 0};
    if (tensor && is_plain(tensor)) {
        dense = *tensor;
    } else if (tensor) {
        leo_status status = op_plan_temp(plan, OP_TYPE_F32, tensor->rank, tensor->dim, &dense);
        if (status != LEO_OK) {
            return status;
        }
    }
    *addr = dense.addr;
    return LEO_OK;
}

leo_status op_norm_give(struct op_plan *plan, uint64_t addr, const struct op_tensor *tensor)
{
    if (!tensor || is_plain(tensor)) {
        return LEO_OK;
    }
    const struct op_tensor dense = op_tensor_dense(addr, OP_TYPE_F32, tensor->rank, tensor->dim);
    return op_plan_copy(plan, tensor, &dense);
}
