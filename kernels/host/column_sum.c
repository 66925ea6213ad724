/* SPDX-License-Identifier: Apache-2.0 */
#include "../core/check.h"
#include "../core/context.h"
#include "../device/args.h"

/* Fewer columns a core than this make its rows too short for the DMA. */
enum { LEAST_COLUMNS = 64 };

leo_status leo_op_column_sum(struct leo_op_context *context, struct leo_rt_stream *stream,
                             const struct leo_op_tensor *in, const struct leo_op_tensor *out)
{
    static const char op[] = "column_sum";
    const struct op_arg in_arg = {"in", in}, out_arg = {"out", out};
    leo_status status = op_check_pointers(op, context, stream);
    status = status != LEO_OK ? status : op_check_tensor(op, in_arg, OP_FLOAT);
    status = status != LEO_OK ? status : op_check_tensor(op, out_arg, OP_F32);
    status = status != LEO_OK ? status : op_check_rank(op, in_arg, 2);
    status = status != LEO_OK ? status : op_check_rank(op, out_arg, 1);
    status = status != LEO_OK ? status : op_check_dim(op, out_arg, 0, in->dim[1], "in's columns");
    status = status != LEO_OK ? status : op_check_apart(op, in_arg, out_arg, false);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_split split =
        op_split_make(in->dim[1], 16, LEAST_COLUMNS, op_context_vector_cores(context));
    const struct op_column_sum_args args = {
        in->addr, out->addr, in->dim[0], in->dim[1], (uint32_t)split.per_block, 0};
    const bool f16 = in->dtype == LEO_DTYPE_F16;
    return op_context_launch(context, stream,
                             f16 ? OP_KERNEL_COLUMN_SUM_F16 : OP_KERNEL_COLUMN_SUM_F32,
                             split.blocks, &args, op);
}
