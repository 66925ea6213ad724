/* SPDX-License-Identifier: Apache-2.0 */
#include "../core/check.h"
#include "../core/context.h"
#include "../device/args.h"

#include <inttypes.h>

/* A core gets at least so many elements of the gradient. */
enum { LEAST_GRAD = 256 };

/* [rows, classes] and one label a row. */
static leo_status check_labelled(const char *op, struct op_arg rows, struct op_arg labels)
{
    leo_status status = op_check_rank(op, rows, 2);
    if (status != LEO_OK) {
        return status;
    }
    if (rows.tensor->dim[1] < 2 || rows.tensor->dim[1] > OP_SOFTMAX_MAX_CLASSES) {
        return leo_rt_fail(LEO_ERR_SHAPE, "%s: %s has %" PRIu32 " classes, possible are 2 to %d",
                           op, rows.name, rows.tensor->dim[1], OP_SOFTMAX_MAX_CLASSES);
    }
    status = op_check_rank(op, labels, 1);
    return status != LEO_OK ? status
                            : op_check_dim(op, labels, 0, rows.tensor->dim[0], "one a row");
}

static leo_status check_xent(const char *op, struct op_arg logits, struct op_arg labels,
                             struct op_arg loss, struct op_arg prob)
{
    leo_status status = op_check_tensor(op, logits, OP_F32);
    status = status != LEO_OK ? status : op_check_tensor(op, labels, OP_S32);
    status = status != LEO_OK ? status : op_check_tensor(op, loss, OP_F32);
    status = status != LEO_OK ? status : op_check_tensor(op, prob, OP_F32);
    status = status != LEO_OK ? status : check_labelled(op, logits, labels);
    status = status != LEO_OK ? status : op_check_rank(op, loss, 1);
    status =
        status != LEO_OK ? status : op_check_dim(op, loss, 0, logits.tensor->dim[0], "one a row");
    status = status != LEO_OK ? status : op_check_same_shape(op, logits, prob);
    status = status != LEO_OK ? status : op_check_apart(op, logits, prob, true);
    status = status != LEO_OK ? status : op_check_apart(op, logits, loss, false);
    status = status != LEO_OK ? status : op_check_apart(op, labels, loss, false);
    status = status != LEO_OK ? status : op_check_apart(op, labels, prob, false);
    status = status != LEO_OK ? status : op_check_apart(op, prob, loss, false);
    return status;
}

leo_status leo_op_softmax_xent(struct leo_op_context *context, struct leo_rt_stream *stream,
                               const struct leo_op_tensor *logits,
                               const struct leo_op_tensor *labels, const struct leo_op_tensor *loss,
                               const struct leo_op_tensor *prob)
{
    static const char op[] = "softmax_xent";
    leo_status status = op_check_pointers(op, context, stream);
    status =
        status != LEO_OK
            ? status
            : check_xent(op, (struct op_arg){"logits", logits}, (struct op_arg){"labels", labels},
                         (struct op_arg){"loss", loss}, (struct op_arg){"prob", prob});
    if (status != LEO_OK) {
        return status;
    }
    const uint32_t pitch = (logits->dim[1] * 4 + 31) / 32 * 32;
    const uint32_t fit = OP_SOFTMAX_GROUP_BYTES / pitch;
    const struct op_split split =
        op_split_make(logits->dim[0], 8, 8, op_context_vector_cores(context));
    const struct op_softmax_args args = {
        .logits = logits->addr,
        .labels = labels->addr,
        .loss = loss->addr,
        .prob = prob->addr,
        .rows = logits->dim[0],
        .classes = logits->dim[1],
        .per_block = (uint32_t)split.per_block,
        .group = fit < OP_SOFTMAX_GROUP_ROWS ? fit : OP_SOFTMAX_GROUP_ROWS,
    };
    return op_context_launch(context, stream, OP_KERNEL_SOFTMAX_XENT, split.blocks, &args, op);
}

leo_status leo_op_softmax_xent_grad(struct leo_op_context *context, struct leo_rt_stream *stream,
                                    const struct leo_op_tensor *prob,
                                    const struct leo_op_tensor *labels, float scale,
                                    const struct leo_op_tensor *dlogits)
{
    static const char op[] = "softmax_xent_grad";
    const struct op_arg prob_arg = {"prob", prob}, labels_arg = {"labels", labels},
                        out_arg = {"dlogits", dlogits};
    leo_status status = op_check_pointers(op, context, stream);
    status = status != LEO_OK ? status : op_check_tensor(op, prob_arg, OP_F32);
    status = status != LEO_OK ? status : op_check_tensor(op, labels_arg, OP_S32);
    status = status != LEO_OK ? status : op_check_tensor(op, out_arg, OP_FLOAT);
    status = status != LEO_OK ? status : check_labelled(op, prob_arg, labels_arg);
    status = status != LEO_OK ? status : op_check_same_shape(op, prob_arg, out_arg);
    status = status != LEO_OK ? status : op_check_apart(op, prob_arg, out_arg, true);
    status = status != LEO_OK ? status : op_check_apart(op, labels_arg, out_arg, false);
    if (status != LEO_OK) {
        return status;
    }
    const uint64_t count = op_tensor_elements(prob);
    const struct op_split split =
        op_split_make(count, 16, LEAST_GRAD, op_context_vector_cores(context));
    const struct op_softmax_grad_args args = {prob->addr,      labels->addr, dlogits->addr, count,
                                              split.per_block, prob->dim[1], scale};
    const bool f16 = dlogits->dtype == LEO_DTYPE_F16;
    return op_context_launch(
        context, stream, f16 ? OP_KERNEL_SOFTMAX_XENT_GRAD_F16 : OP_KERNEL_SOFTMAX_XENT_GRAD_F32,
        split.blocks, &args, op);
}
