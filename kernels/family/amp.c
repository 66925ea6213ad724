/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient scaling of mixed precision training. */
#include "family.h"

#include "../device/amp_args.h"

#include <inttypes.h>
#include <string.h>

static leo_status check_one(const struct op_call *call, const char *name)
{
    const struct op_tensor *tensor = op_call_tensor(call, name);
    return op_tensor_count(tensor) == 1
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s: it must have one element",
                              name, op_tensor_shape_text(tensor).text);
}

static leo_status unscale(const struct op_call *call, const struct op_tensor *grad, uint64_t flags,
                          uint32_t *lines)
{
    const struct op_tensor *scale = op_call_tensor(call, "invScale");
    struct op_tensor dense = *grad;
    leo_status status = op_plan_dense(call->plan, grad, grad->type, &dense);
    struct op_unscale_args args = {
        .grad = dense.addr,
        .flags = flags + *lines * UINT64_C(64),
        .scale = scale->addr,
        .count = (uint64_t)op_tensor_count(grad),
        .grad_type = (uint8_t)grad->type,
        .scale_type = (uint8_t)scale->type,
    };
    const struct op_share share =
        op_share_make(args.count, 1, 64, op_plan_vector_cores(call->plan));
    args.per_block = share.per_block;
    if (status == LEO_OK) {
        status =
            op_plan_launch(call->plan, "amp", "amp_unscale", share.blocks, &args, sizeof(args), 3);
    }
    *lines += share.blocks;
    return status == LEO_OK && dense.addr != grad->addr ? op_plan_copy(call->plan, grad, &dense)
                                                        : status;
}

static leo_status plan_unscale(const struct op_call *call)
{
    const struct op_tensor_list *grads = op_call_value(call, "scaledGrads")->tensors;
    const struct op_tensor *found = op_call_tensor(call, "foundInf");
    uint64_t flags = 0;
    uint32_t lines = 0;
    leo_status status = check_one(call, "foundInf");
    if (status == LEO_OK) {
        status = check_one(call, "invScale");
    }
    if (status == LEO_OK && grads->count) {
        status = op_plan_temp_bytes(
            call->plan, grads->count * op_plan_vector_cores(call->plan) * UINT64_C(64), &flags);
    }
    for (uint64_t i = 0; status == LEO_OK && i < grads->count; i++) {
        if (op_tensor_count(grads->items[i])) {
            status = unscale(call, grads->items[i], flags, &lines);
        }
    }
    if (status != LEO_OK || lines == 0) {
        return status;
    }
    const struct op_unscale_args args = {
        .flags = flags, .found = found->addr, .lines = lines, .found_type = (uint8_t)found->type};
    return op_plan_launch(call->plan, "amp", "amp_join", 1, &args, sizeof(args), 4);
}

static leo_status plan_update(const struct op_call *call)
{
    static const char *const names[] = {"currentScale", "growthTracker", "foundInf", "updatedScale",
                                        "updatedGrowthTracker"};
    const struct op_tensor *tensors[5];
    for (unsigned i = 0; i < 5; i++) {
        leo_status status = check_one(call, names[i]);
        if (status != LEO_OK) {
            return status;
        }
        tensors[i] = op_call_tensor(call, names[i]);
    }
    const struct op_amp_update_args args = {
        .scale = tensors[0]->addr,
        .tracker = tensors[1]->addr,
        .found = tensors[2]->addr,
        .new_scale = tensors[3]->addr,
        .new_tracker = tensors[4]->addr,
        .growth = op_call_real(call, "growthFactor"),
        .backoff = op_call_real(call, "backoffFactor"),
        .interval = op_call_int(call, "growthInterval"),
        .scale_type = (uint8_t)tensors[0]->type,
        .tracker_type = (uint8_t)tensors[1]->type,
        .found_type = (uint8_t)tensors[2]->type,
        .new_scale_type = (uint8_t)tensors[3]->type,
        .new_tracker_type = (uint8_t)tensors[4]->type,
    };
    return op_plan_launch(call->plan, "amp", "amp_update", 1, &args, sizeof(args), 5);
}

leo_status op_plan_amp(const struct op_call *call)
{
    return op_call_has(call, "scaledGrads") ? plan_unscale(call) : plan_update(call);
}
