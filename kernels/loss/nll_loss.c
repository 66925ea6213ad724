/* SPDX-License-Identifier: Apache-2.0 */
/* Negative log likelihood: [N, C] or [C] (NLLLoss), [N, C, H, W] (NLLLoss2d), forward and gradient.
 */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include "nll_loss_args.h"

#include <inttypes.h>
#include <string.h>

// self as [batch, classes, inner]: what it is with its strides in bytes.
static leo_status take_self(const struct op_call *call, const struct op_tensor *self,
                            struct op_nll_loss_args *args)
{
    const int64_t unit = op_type_bytes(self->type);
    if (self->rank != 1 && self->rank != 2 && self->rank != 4) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "self has shape %s: it must be [C], [N, C] or [N, C, H, W]",
                            op_tensor_shape_text(self).text);
    }
    const unsigned c = self->rank > 1;
    args->batch = c ? (uint64_t)self->dim[0] : 1;
    args->classes = (uint64_t)self->dim[c];
    args->inner = self->rank == 4 ? (uint64_t)(self->dim[2] * self->dim[3]) : 1;
    args->self_stride[0] = c ? self->stride[0] * unit : 0;
    args->self_stride[1] = self->stride[c] * unit;
    args->self_stride[2] = self->rank == 4 ? self->stride[3] * unit : 0;
    args->self_type = (uint8_t)self->type;
    args->self = self->addr;
    return LEO_OK;
}

// Shape of a value for each sample: self's without the classes.
static unsigned sample_shape(const struct op_tensor *self, int64_t *shape)
{
    unsigned rank = 0;
    for (unsigned i = 0; i < self->rank; i++) {
        if (i != (self->rank > 1 ? 1u : 0u)) {
            shape[rank++] = self->dim[i];
        }
    }
    return rank;
}

// Strides of a dense tensor of samples as [batch, inner].
static void sample_strides(const struct op_tensor *tensor, const struct op_nll_loss_args *args,
                           int64_t *stride)
{
    const int64_t unit = op_type_bytes(tensor->type);
    stride[0] = (int64_t)args->inner * unit;
    stride[1] = unit;
}

static leo_status take_targets(const struct op_call *call, const struct op_tensor *self,
                               struct op_nll_loss_args *args)
{
    const struct op_tensor *target = op_call_tensor(call, "target");
    const struct op_tensor *weight = op_call_tensor(call, "weight");
    struct op_tensor dense;
    int64_t shape[OP_RANK_MAX];
    const unsigned rank = sample_shape(self, shape);
    leo_status status = LEO_OK;
    // [C] has a target of no dimension, or of one element.
    if (!(self->rank == 1 && op_tensor_count(target) == 1)) {
        status = op_call_check_shape(call, "target", rank, shape);
    }
    if (status == LEO_OK && (weight->rank != 1 || weight->dim[0] != (int64_t)args->classes)) {
        status = op_call_fail(call, LEO_ERR_SHAPE, "weight has shape %s: it must be [%" PRIu64 "]",
                              op_tensor_shape_text(weight).text, args->classes);
    }
    if (status == LEO_OK) {
        status = op_plan_dense(call->plan, target, target->type, &dense);
    }
    if (status != LEO_OK) {
        return status;
    }
    sample_strides(&dense, args, args->target_stride);
    args->target = dense.addr;
    args->target_type = (uint8_t)dense.type;
    args->weight = weight->addr;
    args->weight_type = (uint8_t)weight->type;
    args->weight_stride = weight->stride[0] * op_type_bytes(weight->type);
    args->ignore = op_call_int(call, "ignoreIndex");
    args->reduction = (uint8_t)op_call_int(call, "reduction");
    if (args->reduction > OP_LOSS_SUM) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "reduction is %u: it must be 0 none, 1 mean or 2 sum", args->reduction);
    }
    return LEO_OK;
}

// self with the two inner dimensions of [N, C, H, W] as one.
static leo_status make_joinable(const struct op_call *call, const struct op_tensor *self,
                                struct op_tensor *out)
{
    *out = *self;
    const bool joined = self->rank != 4 || self->stride[2] == self->dim[3] * self->stride[3];
    return joined ? LEO_OK : op_plan_dense(call->plan, self, self->type, out);
}

enum {
    SAMPLES_A_LINE = 32, /**< losses of the narrowest type in 64 bytes */
    LEAST_SAMPLES = 8,   /* [A] fewer are not worth another core */
};

static leo_status forward(const struct op_call *call, struct op_nll_loss_args *args)
{
    const struct op_tensor *out = op_call_tensor(call, "out");
    const struct op_tensor *total = op_call_tensor(call, "totalWeightOut");
    int64_t shape[OP_RANK_MAX];
    const unsigned rank = sample_shape(op_call_tensor(call, "self"), shape);
    struct op_tensor made;
    leo_status status = LEO_OK;
    if (args->reduction == OP_LOSS_NONE) {
        status = op_call_check_shape(call, "out", rank, shape);
    } else {
        status = op_call_check_number(call, "out");
    }
    if (status == LEO_OK) {
        status = op_call_check_number(call, "totalWeightOut");
    }
    if (status == LEO_OK) {
        status = op_plan_temp(call->plan, out->type, out->rank, out->dim, &made);
    }
    if (status != LEO_OK) {
        return status;
    }
    // Blocks share no line of the output; a core that sums has more than its parts to write.
    const bool none = args->reduction == OP_LOSS_NONE;
    const uint64_t samples = args->batch * args->inner; // one block where there are none
    const struct op_share share =
        op_share_make(samples ? samples : 1, none ? SAMPLES_A_LINE : 1,
                      none ? SAMPLES_A_LINE : LEAST_SAMPLES, op_plan_vector_cores(call->plan));
    args->per_block = share.per_block;
    args->blocks = share.blocks;
    args->out = made.addr;
    args->out_type = (uint8_t)out->type;
    args->total = total->addr;
    args->total_type = (uint8_t)total->type;
    if (!none) {
        status = op_plan_temp_bytes(call->plan, share.blocks * UINT64_C(64), &args->parts);
    }
    if (status == LEO_OK) {
        status = op_plan_launch(call->plan, "nll_loss", "nll_loss", share.blocks, args,
                                sizeof(*args), 7);
    }
    if (status == LEO_OK && !none) {
        status = op_plan_launch(call->plan, "nll_loss", "nll_loss_join", 1, args, sizeof(*args), 7);
    }
    return status == LEO_OK ? op_plan_copy(call->plan, out, &made) : status;
}

// The gradient where each sample has a row of classes: 0 but for one element of it.
static leo_status backward_rows(const struct op_call *call, struct op_nll_loss_args *args,
                                const struct op_tensor *out)
{
    struct op_tensor made;
    leo_status status = op_plan_temp(call->plan, out->type, out->rank, out->dim, &made);
    if (status == LEO_OK) {
        status = op_plan_fill(call->plan, made.addr, 0,
                              (uint64_t)op_tensor_count(out) * op_type_bytes(out->type));
    }
    if (status != LEO_OK) {
        return status;
    }
    // Blocks write whole lines.
    const struct op_share share = op_share_make(
        args->batch, op_row_granule(args->classes * args->inner, op_type_bytes(out->type)),
        LEAST_SAMPLES, op_plan_vector_cores(call->plan));
    args->out = made.addr;
    args->per_block = share.per_block;
    status = op_plan_launch(call->plan, "nll_loss", "nll_loss_backward", share.blocks, args,
                            sizeof(*args), 7);
    return status == LEO_OK ? op_plan_copy(call->plan, out, &made) : status;
}

// The same where classes are planes of samples: what stands at the samples' classes, then whole
// planes by the vector unit (single elements cost a line of memory each).
static leo_status backward_planes(const struct op_call *call, struct op_nll_loss_args *args,
                                  const struct op_tensor *out)
{
    const int64_t samples[] = {out->dim[0], 1, out->dim[2], out->dim[3]},
                  classes[] = {out->dim[1], 1, 1};
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor value = op_chain_temp(&chain, out->type, 4, samples),
                           place = op_chain_temp(&chain, OP_TYPE_F32, 4, samples),
                           index = op_chain_temp(&chain, OP_TYPE_F32, 3, classes),
                           flat = op_tensor_dense(index.addr, OP_TYPE_F32, 1, classes);
    const struct op_share share = op_share_make(args->batch * args->inner, SAMPLES_A_LINE,
                                                SAMPLES_A_LINE, op_plan_vector_cores(call->plan));
    args->out = value.addr;
    args->parts = place.addr;
    args->per_block = share.per_block;
    if (chain.status == LEO_OK) {
        chain.status = op_plan_launch(call->plan, "nll_loss", "nll_loss_values", share.blocks, args,
                                      sizeof(*args), 7);
    }
    op_chain_range(&chain, &flat, 0, 1);
    OP_CHAIN_CALL(&chain, "AtClass", op_value_tensor(&value), op_value_tensor(&place),
                  op_value_tensor(&index), op_value_tensor(out));
    return chain.status;
}

enum { CLASSES_MAX = 1 << 24 }; // f32 holds every one

static leo_status backward(const struct op_call *call, struct op_nll_loss_args *args)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    const struct op_tensor *grad = op_call_tensor(call, "gradOutput");
    const struct op_tensor *total = op_call_tensor(call, "totalWeight");
    int64_t shape[OP_RANK_MAX];
    struct op_tensor dense = *grad;
    const unsigned rank = sample_shape(self, shape);
    leo_status status = op_call_check_shape(call, "out", self->rank, self->dim);
    if (status == LEO_OK && args->reduction == OP_LOSS_NONE) {
        status = op_call_check_shape(call, "gradOutput", rank, shape);
        if (status == LEO_OK) {
            status = op_plan_dense(call->plan, grad, grad->type, &dense);
        }
        sample_strides(grad, args, args->grad_stride);
    } else if (status == LEO_OK) {
        status = op_call_check_number(call, "gradOutput");
    }
    if (status != LEO_OK) {
        return status;
    }
    args->out_type = (uint8_t)out->type;
    args->grad = dense.addr;
    args->grad_type = (uint8_t)dense.type;
    args->total = total->addr;
    args->total_type = (uint8_t)total->type;
    return out->rank == 4 && args->classes <= CLASSES_MAX ? backward_planes(call, args, out)
                                                          : backward_rows(call, args, out);
}

leo_status op_plan_nll_loss(const struct op_call *call)
{
    struct op_nll_loss_args args;
    struct op_tensor self;
    memset(&args, 0, sizeof(args));
    leo_status status = make_joinable(call, op_call_tensor(call, "self"), &self);
    if (status == LEO_OK) {
        status = take_self(call, &self, &args);
    }
    if (status == LEO_OK) {
        status = take_targets(call, &self, &args);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (op_call_has(call, "gradOutput")) {
        return op_tensor_count(&self) > 0 ? backward(call, &args) : LEO_OK;
    }
    return forward(call, &args);
}
