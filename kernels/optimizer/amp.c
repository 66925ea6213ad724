/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient scaling of mixed precision training. */
#include "../frame/family.h"
#include "../frame/members.h"

#include "amp_args.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum { OP_UNSCALE_ADDRESSES = 3 + OP_MEMBERS };

static leo_status check_one(const struct op_call *call, const char *name)
{
    const struct op_tensor *tensor = op_call_tensor(call, name);
    return op_tensor_count(tensor) == 1
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s: it must have one element",
                              name, op_tensor_shape_text(tensor).text);
}

/* Gradients of one launch. */
struct unscale {
    const struct op_call *call;
    struct op_unscale_args args;
    uint32_t members;
};

// Whether its own launch is what a gradient needs.
static bool is_alone(const struct unscale *u, const struct op_tensor *grad)
{
    return op_plan_has_tail(u->call->plan,
                            (uint64_t)op_tensor_count(grad) * op_type_bytes(grad->type));
}

static bool takes(const struct unscale *u, const struct op_tensor *grad)
{
    return u->members == 0 || (u->members < OP_MEMBERS && !is_alone(u, grad) &&
                               u->args.grad_type == (uint8_t)grad->type);
}

static void add(struct unscale *u, const struct op_tensor *grad)
{
    u->args.grad_type = (uint8_t)grad->type;
    u->args.grad[u->members] = grad->addr;
    u->args.members.member[u->members++].count = (uint32_t)op_tensor_count(grad);
}

/* The gradients so far; their blocks' flags lie behind those of earlier launches. */
static leo_status launch(struct unscale *u, uint64_t flags, uint32_t *lines)
{
    struct op_unscale_args *args = &u->args;
    const struct op_tensor *scale = op_call_tensor(u->call, "invScale");
    if (u->members == 0) {
        return LEO_OK;
    }
    const struct op_share share = op_members_cut(&args->members, u->members, OP_UNSCALE_TILE,
                                                 op_plan_vector_cores(u->call->plan));
    args->tiles = args->members.member[u->members].first;
    args->per_block = (uint32_t)share.per_block;
    args->flags = flags + *lines * UINT64_C(64);
    args->scale = scale->addr;
    args->scale_type = (uint8_t)scale->type;
    *lines += share.blocks;
    const size_t bytes = offsetof(struct op_unscale_args, members.member[u->members + 1]);
    leo_status status = op_plan_launch(u->call->plan, "amp", "amp_unscale", share.blocks, args,
                                       bytes, OP_UNSCALE_ADDRESSES);
    u->members = 0;
    return status;
}

// The gradient, dense, for the launch being made; a copy goes back at once.
static leo_status take_gradient(struct unscale *u, const struct op_tensor *grad, uint64_t flags,
                                uint32_t *lines)
{
    struct op_plan *plan = u->call->plan;
    struct op_tensor dense;
    if (op_tensor_count(grad) > UINT32_MAX) {
        return op_call_fail(u->call, LEO_ERR_RANGE, "a gradient has %" PRId64 " elements",
                            op_tensor_count(grad));
    }
    leo_status status = op_plan_dense(plan, grad, grad->type, &dense);
    if (status == LEO_OK && (!takes(u, &dense) || dense.addr != grad->addr)) {
        status = launch(u, flags, lines);
    }
    if (status != LEO_OK) {
        return status;
    }
    add(u, &dense);
    if (is_alone(u, &dense) || dense.addr != grad->addr) {
        status = launch(u, flags, lines);
    }
    return status == LEO_OK && dense.addr != grad->addr ? op_plan_copy(plan, grad, &dense) : status;
}

static leo_status plan_unscale(const struct op_call *call)
{
    const struct op_tensor_list *grads = op_call_value(call, "scaledGrads")->tensors;
    const struct op_tensor *found = op_call_tensor(call, "foundInf");
    struct unscale u = {.call = call};
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
            status = take_gradient(&u, grads->items[i], flags, &lines);
        }
    }
    if (status == LEO_OK) {
        status = launch(&u, flags, &lines);
    }
    if (status != LEO_OK || lines == 0) {
        return status;
    }
    const struct op_unscale_args args = {
        .flags = flags, .found = found->addr, .lines = lines, .found_type = (uint8_t)found->type};
    return op_plan_launch(call->plan, "amp", "amp_join", 1, &args,
                          offsetof(struct op_unscale_args, members), OP_UNSCALE_ADDRESSES);
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
