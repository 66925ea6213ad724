/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of device/norm_rows.c. */
#include "norm.h"

#include <string.h>

static leo_status launch_rows(struct op_plan *plan, const char *kernel,
                              const struct op_norm_rows *rows, const struct op_tensor *gradient,
                              const struct op_tensor *in, struct op_norm_rows_args *args)
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
    const bool by_row = args->out_type == OP_TYPE_F64;
    const struct op_share share = op_share_make(by_row ? args->rows : args->rows * args->length, 1,
                                                by_row ? 1 : 64, op_plan_vector_cores(plan));
    args->per_block = share.per_block;
    return op_plan_launch(plan, "norm_rows", kernel, share.blocks, args, sizeof(*args), 4);
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
    args.out_type = OP_TYPE_F64; // two floats a row
    return launch_rows(plan, "norm_moments", rows, NULL, in, &args);
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
    args.out_type = OP_TYPE_F64;
    args.entry = means;
    return launch_rows(plan, "norm_sums", rows, gradient, in, &args);
}

leo_status op_norm_plan_apply(struct op_plan *plan, const struct op_norm_rows *rows,
                              const struct op_tensor *gradient, const struct op_tensor *in,
                              uint64_t table, const struct op_tensor *out)
{
    struct op_norm_rows_args args;
    memset(&args, 0, sizeof(args));
    struct op_tensor dense = *out;
    if (!op_tensor_is_dense(out)) {
        leo_status status = op_plan_temp(plan, out->type, out->rank, out->dim, &dense);
        if (status != LEO_OK) {
            return status;
        }
    }
    args.out = dense.addr;
    args.out_type = (uint8_t)dense.type;
    args.entry = table;
    leo_status status =
        launch_rows(plan, gradient ? "norm_gradient" : "norm_apply", rows, gradient, in, &args);
    if (status != LEO_OK || dense.addr == out->addr) {
        return status;
    }
    return op_plan_copy(plan, out, &dense);
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
