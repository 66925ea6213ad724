/* SPDX-License-Identifier: Apache-2.0 */
/* MultilabelMarginLoss: a loss for each sample on the scalar unit, then their sum or mean. */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include "multilabel_args.h"

#include <inttypes.h>

enum { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM };
enum { LOSSES_A_LINE = 16 };

// A number by itself is one class of one sample.
static int64_t classes_of(const struct op_tensor *self)
{
    return self->rank ? self->dim[self->rank - 1] : 1;
}

static leo_status check(const struct op_call *call, const struct op_tensor *self, int64_t reduction)
{
    if (self->rank > 2 || classes_of(self) == 0) {
        return op_call_fail(call, LEO_ERR_SHAPE, "self has shape %s: it must be [], [C] or [N, C]",
                            op_tensor_shape_text(self).text);
    }
    if (reduction < REDUCE_NONE || reduction > REDUCE_SUM) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "reduction is %" PRId64 ": it must be 0 none, 1 mean or 2 sum",
                            reduction);
    }
    leo_status status = op_call_check_shape(call, "target", self->rank, self->dim);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "isTarget", self->rank, self->dim);
    }
    if (status == LEO_OK) {
        const unsigned rank = reduction == REDUCE_NONE && self->rank == 2;
        status = op_call_check_shape(call, "out", rank, self->dim);
    }
    return status;
}

// Losses of the samples, f32, and the marks in a dense tensor.
static void plan_losses(struct op_chain *chain, const struct op_tensor *self,
                        const struct op_tensor *losses, const struct op_tensor *marks)
{
    const struct op_tensor x = op_chain_dense(chain, self->type, self),
                           target = op_chain_dense(chain, OP_TYPE_I64,
                                                   op_call_tensor(chain->call, "target"));
    struct op_multilabel_args args = {.is_target = marks->addr,
                                      .losses = losses->addr,
                                      .self = x.addr,
                                      .target = target.addr,
                                      .rows = (uint64_t)op_tensor_count(losses),
                                      .classes = (uint64_t)classes_of(self),
                                      .is_target_type = (uint8_t)marks->type,
                                      .self_type = (uint8_t)x.type};
    uint64_t granule = op_row_granule(args.classes, op_type_bytes(marks->type));
    granule = granule < LOSSES_A_LINE ? LOSSES_A_LINE : granule; // both are powers of two
    const struct op_share share =
        op_share_make(args.rows, granule, granule, op_plan_vector_cores(chain->plan));
    args.per_block = share.per_block;
    if (chain->status == LEO_OK) {
        chain->status = op_plan_launch(chain->plan, "multilabel", "multilabel", share.blocks, &args,
                                       sizeof(args), 4);
    }
}

leo_status op_plan_multilabel(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out"),
                           *is_target = op_call_tensor(call, "isTarget");
    const int64_t reduction = op_call_int(call, "reduction");
    const struct op_ints all = {NULL, 0};
    leo_status status = check(call, self, reduction);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t samples = self->rank == 2 ? self->dim[0] : 1;
    const struct op_tensor losses = op_chain_temp(&chain, OP_TYPE_F32, self->rank == 2, &samples),
                           marks = op_chain_temp_like(&chain, is_target->type, self);
    if (samples > 0) {
        plan_losses(&chain, self, &losses, &marks);
        op_chain_copy(&chain, is_target, &marks);
    }
    if (reduction == REDUCE_NONE || self->rank < 2) {
        op_chain_copy(&chain, out, &losses);
    } else {
        OP_CHAIN_CALL(&chain, reduction == REDUCE_MEAN ? "Mean" : "ReduceSum",
                      op_value_tensor(&losses), op_value_ints(&all), op_value_int(0),
                      op_value_type(OP_TYPE_F32), op_value_tensor(out));
    }
    return chain.status;
}
