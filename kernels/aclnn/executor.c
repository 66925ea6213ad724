/* SPDX-License-Identifier: Apache-2.0 */
#include "executor.h"

#include <leo/acl_hook.h>
#include <leo/alloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { LIVE = 0x6c656f31, FREED = 0x6c656f30, SLAB = 64 };

/* Freed executors, used again. Their memory is never given back, so that a stale handle is reported
 * instead of followed; the interface has no object to keep them in (decision 8). */
static struct {
    pthread_mutex_t lock;
    aclOpExecutor *free;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool grow_pool(void)
{
    aclOpExecutor *slab = leo_calloc(SLAB, sizeof(*slab));
    for (unsigned i = 0; slab && i < SLAB; i++) {
        slab[i].state = FREED;
        slab[i].next_free = pool.free;
        pool.free = &slab[i];
    }
    return slab != NULL;
}

static aclOpExecutor *take(void)
{
    pthread_mutex_lock(&pool.lock);
    aclOpExecutor *executor = pool.free || grow_pool() ? pool.free : NULL;
    if (executor) {
        pool.free = executor->next_free;
    }
    pthread_mutex_unlock(&pool.lock);
    return executor;
}

void opapi_flatten(const struct op_row *row, const struct op_value *args,
                   const struct op_tensor **tensors, uint32_t *first)
{
    const struct op_tensor **at = tensors;
    for (unsigned i = 0; i < row->param_count; i++) {
        first[i] = (uint32_t)(at - tensors);
        if (row->params[i].kind == OP_KIND_TENSOR) {
            *at++ = args[i].tensor;
        } else if (row->params[i].kind == OP_KIND_TENSOR_LIST && args[i].tensors) {
            memcpy(at, args[i].tensors->items, args[i].tensors->count * sizeof(*at));
            at += args[i].tensors->count;
        }
    }
    first[row->param_count] = (uint32_t)(at - tensors);
}

aclOpExecutor *opapi_executor_make(struct op_plan *plan, struct leo_rt_device *device,
                                   const struct op_value *args)
{
    const struct op_row *row = op_plan_row(plan);
    const unsigned count = op_args_tensors(row, args);
    aclOpExecutor *executor = take();
    if (!executor) {
        op_plan_put(plan);
        return NULL;
    }
    executor->plan = plan;
    executor->device = device;
    executor->repeatable = false;
    executor->count = count;
    executor->addr = executor->few_addr;
    executor->tensors = executor->few_tensors;
    if (count > EXECUTOR_TENSORS) {
        executor->addr = leo_calloc(count, sizeof(*executor->addr));
        executor->tensors = leo_calloc(count, sizeof(*executor->tensors));
    }
    __atomic_store_n(&executor->state, LIVE, __ATOMIC_RELEASE);
    if (!executor->addr || !executor->tensors) {
        opapi_executor_free(executor);
        return NULL;
    }
    op_args_addresses(row, args, executor->addr);
    opapi_flatten(row, args, executor->tensors, executor->first);
    return executor;
}

void opapi_executor_free(aclOpExecutor *executor)
{
    op_plan_put(executor->plan);
    if (executor->addr != executor->few_addr) {
        leo_free(executor->addr);
    }
    if (executor->tensors != executor->few_tensors) {
        leo_free(executor->tensors);
    }
    __atomic_store_n(&executor->state, FREED, __ATOMIC_RELEASE);
    pthread_mutex_lock(&pool.lock);
    executor->next_free = pool.free;
    pool.free = executor;
    pthread_mutex_unlock(&pool.lock);
}

bool opapi_executor_is_live(const char *func, const aclOpExecutor *executor)
{
    if (!executor) {
        leo_acl_fail(ACLNN_ERR_INNER_NULLPTR, func, "executor is NULL");
        return false;
    }
    if (__atomic_load_n(&executor->state, __ATOMIC_ACQUIRE) != LIVE) {
        leo_acl_fail(ACLNN_ERR_PARAM_INVALID, func,
                     "the executor was used already or destroyed: an executor runs once, unless "
                     "aclSetAclOpExecutorRepeatable was called after phase 1");
        return false;
    }
    return true;
}

static aclnnStatus check_live(const char *func, const aclOpExecutor *executor)
{
    if (opapi_executor_is_live(func, executor)) {
        return ACLNN_SUCCESS;
    }
    return executor ? ACLNN_ERR_PARAM_INVALID : ACLNN_ERR_INNER_NULLPTR;
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor)
{
    aclnnStatus status = check_live("aclSetAclOpExecutorRepeatable", executor);
    if (!status) {
        executor->repeatable = true;
    }
    return status;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor)
{
    aclnnStatus status = check_live("aclDestroyAclOpExecutor", executor);
    if (!status) {
        opapi_executor_free(executor);
    }
    return status;
}

/* Which parameters an index counts. */
enum which { INPUTS, OUTPUTS, ALL };

static bool counts(const struct op_param *param, enum which which)
{
    return which == ALL || (which == OUTPUTS) == (param->role == OP_ROLE_OUT);
}

// The index-th parameter that is a tensor or a list of them and that `which` counts; the number of
// parameters if there is none.
static unsigned find_param(const struct op_row *row, enum which which, size_t index)
{
    size_t seen = 0;
    for (unsigned i = 0; i < row->param_count; i++) {
        const struct op_param *param = &row->params[i];
        if ((param->kind == OP_KIND_TENSOR || param->kind == OP_KIND_TENSOR_LIST) &&
            counts(param, which) && seen++ == index) {
            return i;
        }
    }
    return row->param_count;
}

static aclnnStatus bad_index(const char *func, const char *what, size_t index)
{
    char text[96];
    snprintf(text, sizeof(text), "%s %zu is outside what the operator has", what, index);
    return leo_acl_fail(ACLNN_ERR_PARAM_INVALID, func, "%s", text);
}

static aclnnStatus set_tensor(const char *func, aclOpExecutor *executor, enum which which,
                              size_t index, const aclTensor *tensor, void *addr)
{
    aclnnStatus status = check_live(func, executor);
    if (status) {
        return status;
    }
    if (!tensor) {
        return leo_acl_fail(ACLNN_ERR_PARAM_NULLPTR, func, "tensor is NULL");
    }
    const struct op_row *row = op_plan_row(executor->plan);
    const unsigned at = find_param(row, which, index);
    if (at == row->param_count || row->params[at].kind != OP_KIND_TENSOR) {
        return bad_index(func, "tensor", index);
    }
    executor->addr[executor->first[at]] = opapi_address(tensor, (uintptr_t)addr);
    return ACLNN_SUCCESS;
}

// Tensor `relative` of a list.
static aclnnStatus set_in_list(const char *func, aclOpExecutor *executor, enum which which,
                               size_t index, size_t relative, const aclTensorList *list, void *addr)
{
    aclnnStatus status = check_live(func, executor);
    if (status) {
        return status;
    }
    if (!list) {
        return leo_acl_fail(ACLNN_ERR_PARAM_NULLPTR, func, "tensors is NULL");
    }
    const struct op_row *row = op_plan_row(executor->plan);
    const unsigned at = find_param(row, which, index);
    if (at == row->param_count || row->params[at].kind != OP_KIND_TENSOR_LIST) {
        return bad_index(func, "list", index);
    }
    const uint32_t length = executor->first[at + 1] - executor->first[at];
    if (relative >= length || relative >= list->value.count) {
        return bad_index(func, "tensor of the list", relative);
    }
    executor->addr[executor->first[at] + relative] =
        opapi_address(list->items[relative], (uintptr_t)addr);
    return ACLNN_SUCCESS;
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
                                  void *addr)
{
    return set_tensor("aclSetInputTensorAddr", executor, INPUTS, index, tensor, addr);
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
                                   void *addr)
{
    return set_tensor("aclSetOutputTensorAddr", executor, OUTPUTS, index, tensor, addr);
}

aclnnStatus aclSetTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
                             void *addr)
{
    return set_tensor("aclSetTensorAddr", executor, ALL, index, tensor, addr);
}

aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                         const size_t relativeIndex, aclTensorList *tensors,
                                         void *addr)
{
    return set_in_list("aclSetDynamicInputTensorAddr", executor, INPUTS, irIndex, relativeIndex,
                       tensors, addr);
}

aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                          const size_t relativeIndex, aclTensorList *tensors,
                                          void *addr)
{
    return set_in_list("aclSetDynamicOutputTensorAddr", executor, OUTPUTS, irIndex, relativeIndex,
                       tensors, addr);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                    const size_t relativeIndex, aclTensorList *tensors, void *addr)
{
    return set_in_list("aclSetDynamicTensorAddr", executor, ALL, irIndex, relativeIndex, tensors,
                       addr);
}
