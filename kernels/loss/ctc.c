/* SPDX-License-Identifier: Apache-2.0 */
/* Connectionist temporal classification: lengths go with the launches, so many members at a time.
 */
#include "../frame/chain.h"

#include "ctc_args.h"

#include <inttypes.h>
#include <string.h>

static leo_status take(const struct op_call *call, struct op_ctc_args *args)
{
    const char *lengths_name =
        op_call_has(call, "targetlengths") ? "targetlengths" : "targetLengths";
    const struct op_tensor *probs = op_call_tensor(call, "logProbs"),
                           *targets = op_call_tensor(call, "targets");
    const struct op_ints *inputs = op_call_ints(call, "inputLengths"),
                         *lengths = op_call_ints(call, lengths_name);
    const int64_t blank = op_call_int(call, "blank");
    memset(args, 0, sizeof(*args));
    if (probs->rank != 3 || inputs->count != (uint64_t)probs->dim[1] ||
        lengths->count != inputs->count || targets->rank < 1 || targets->rank > 2 ||
        (targets->rank == 2 && targets->dim[0] != probs->dim[1])) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "logProbs has shape %s, targets %s, with %" PRIu64 " and %" PRIu64
                            " lengths",
                            op_tensor_shape_text(probs).text, op_tensor_shape_text(targets).text,
                            inputs->count, lengths->count);
    }
    int64_t most = 0, sum = 0;
    for (uint64_t i = 0; i < lengths->count; i++) {
        const bool fits = lengths->items[i] >= 0 && inputs->items[i] >= 0 &&
                          inputs->items[i] <= probs->dim[0] &&
                          (targets->rank == 1 || lengths->items[i] <= targets->dim[1]);
        if (!fits) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "member %" PRIu64 " has %" PRId64 " steps and %" PRId64 " targets",
                                i, inputs->items[i], lengths->items[i]);
        }
        most = lengths->items[i] > most ? lengths->items[i] : most;
        sum += lengths->items[i];
    }
    if (blank < 0 || blank >= probs->dim[2] || (targets->rank == 1 && sum > targets->dim[0])) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "blank is %" PRId64 " of %" PRId64 " classes; %" PRId64
                            " targets are needed, %" PRId64 " given",
                            blank, probs->dim[2], sum, op_tensor_count(targets));
    }
    args->steps = probs->dim[0];
    args->batch = probs->dim[1];
    args->classes = probs->dim[2];
    args->width = 2 * most + 1;
    args->blank = blank;
    args->type = (uint8_t)probs->type;
    args->target_type = (uint8_t)targets->type;
    args->zero_infinity = op_call_int(call, "zeroInfinity") != 0;
    return LEO_OK;
}

static void launch_all(struct op_chain *chain, const char *kernel, struct op_ctc_args *args)
{
    const struct op_call *call = chain->call;
    const char *lengths_name =
        op_call_has(call, "targetlengths") ? "targetlengths" : "targetLengths";
    const struct op_tensor *targets = op_call_tensor(call, "targets");
    int64_t offset = 0;
    for (int64_t first = 0; chain->status == LEO_OK && first < args->batch;
         first += OP_CTC_MEMBERS) {
        const int64_t left = args->batch - first,
                      count = left < OP_CTC_MEMBERS ? left : OP_CTC_MEMBERS;
        args->first = first;
        for (int64_t k = 0; k < count; k++) {
            args->inputs[k] = op_call_ints(call, "inputLengths")->items[first + k];
            args->lengths[k] = op_call_ints(call, lengths_name)->items[first + k];
            args->offsets[k] = targets->rank == 2 ? (first + k) * targets->dim[1] : offset;
            offset += args->lengths[k];
        }
        chain->status =
            op_plan_launch(chain->plan, "ctc", kernel, (uint32_t)count, args, sizeof(*args), 7);
    }
}

// Rows whose members lie on lines of their own: 8 numbers of 8 bytes.
static struct op_tensor losses_temp(struct op_chain *chain, const struct op_ctc_args *args)
{
    const int64_t shape[] = {args->batch, 8};
    return op_chain_temp(chain, OP_TYPE_F64, 2, shape);
}

static struct op_tensor sums_temp(struct op_chain *chain, struct op_ctc_args *args)
{
    args->width = (args->width + 7) / 8 * 8; // whole lines
    const int64_t shape[] = {args->batch, args->steps, args->width};
    return op_chain_temp(chain, OP_TYPE_F64, 3, shape);
}

static void take_memory(struct op_chain *chain, struct op_ctc_args *args)
{
    const struct op_tensor *probs = op_call_tensor(chain->call, "logProbs"),
                           *targets = op_call_tensor(chain->call, "targets");
    args->log_probs = op_chain_dense(chain, probs->type, probs).addr;
    args->targets = op_chain_dense(chain, targets->type, targets).addr;
}

static leo_status plan_forward(const struct op_call *call)
{
    const struct op_tensor *loss = op_call_tensor(call, "negLogLikelihoodOut"),
                           *alpha = op_call_tensor(call, "logAlphaOut");
    struct op_ctc_args args;
    leo_status status = take(call, &args);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "negLogLikelihoodOut", 1, &args.batch);
    }
    if (status == LEO_OK && (alpha->rank != 3 || alpha->dim[0] != args.batch ||
                             alpha->dim[1] != args.steps || alpha->dim[2] < args.width)) {
        status = op_call_fail(call, LEO_ERR_SHAPE,
                              "logAlphaOut has shape %s, it needs [%" PRId64 ", %" PRId64
                              ", %" PRId64 "]",
                              op_tensor_shape_text(alpha).text, args.batch, args.steps, args.width);
    }
    if (status != LEO_OK || args.batch == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t wanted = args.width;
    const struct op_tensor sums = sums_temp(&chain, &args), losses = losses_temp(&chain, &args),
                           column = op_view_select(&losses, 1, 0),
                           from = op_view_slice(&sums, 2, 0, wanted),
                           to = op_view_slice(alpha, 2, 0, wanted);
    args.alpha = sums.addr;
    args.loss = losses.addr;
    take_memory(&chain, &args);
    launch_all(&chain, "ctc_forward", &args);
    op_chain_copy(&chain, loss, &column);
    op_chain_fill(&chain, alpha, 0);
    op_chain_copy(&chain, &to, &from);
    return chain.status;
}

static leo_status plan_backward(const struct op_call *call)
{
    const struct op_tensor *weight = op_call_tensor(call, "gradOut"),
                           *out = op_call_tensor(call, "out"),
                           *probs = op_call_tensor(call, "logProbs");
    struct op_ctc_args args;
    leo_status status = take(call, &args);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "out", probs->rank, probs->dim);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "gradOut", 1, &args.batch);
    }
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    // Members' rows begin on lines of their own: the classes are rounded up to whole ones in
    // memory.
    const int64_t shape[] = {args.batch, (args.steps * args.classes + 7) / 8 * 8};
    const struct op_tensor alpha = sums_temp(&chain, &args), beta = sums_temp(&chain, &args),
                           dense = op_chain_dense(&chain, weight->type, weight),
                           made = op_chain_temp(&chain, OP_TYPE_F64, 2, shape);
    args.alpha = alpha.addr;
    args.beta = beta.addr;
    args.grad = made.addr;
    args.grad_pitch = shape[1];
    args.grad_loss = dense.addr;
    args.grad_loss_type = (uint8_t)weight->type;
    take_memory(&chain, &args);
    launch_all(&chain, "ctc_backward", &args);
    // [batch, steps, classes] -> [steps, batch, classes]
    struct op_tensor rows = made;
    rows.rank = 3;
    rows.dim[0] = args.steps;
    rows.stride[0] = args.classes;
    rows.dim[1] = args.batch;
    rows.stride[1] = shape[1];
    rows.dim[2] = args.classes;
    rows.stride[2] = 1;
    op_chain_copy(&chain, out, &rows);
    return chain.status;
}

leo_status op_plan_ctc(const struct op_call *call)
{
    return op_call_has(call, "out") ? plan_backward(call) : plan_forward(call);
}
