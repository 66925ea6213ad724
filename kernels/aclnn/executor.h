/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: a plan, the addresses of one call, and what may still be done with it. */
#pragma once

#include "../frame/run.h"
#include "objects.h"

enum { EXECUTOR_TENSORS = 12 }; // more are allocated

struct aclOpExecutor {
    uint32_t state; /**< enum in executor.c; a freed executor stays readable */
    bool repeatable;
    struct op_plan *plan;
    struct leo_rt_device *device;
    unsigned count; /**< tensor arguments, lists flattened */
    uint64_t *addr; /**< by tensor argument: own or few_addr */
    const struct op_tensor **tensors;
    uint32_t first[OP_PARAMS_MAX + 1]; /**< by parameter: its first tensor argument */
    uint64_t few_addr[EXECUTOR_TENSORS];
    const struct op_tensor *few_tensors[EXECUTOR_TENSORS];
    struct aclOpExecutor *next_free;
};

/** A call's tensor arguments, lists flattened; `first` has one entry more than the row parameters.
 */
void opapi_flatten(const struct op_row *row, const struct op_value *args,
                   const struct op_tensor **tensors, uint32_t *first);
/** An executor that owns one reference of the plan (also on failure); NULL if there is no host
 * memory. */
aclOpExecutor *opapi_executor_make(struct op_plan *plan, struct leo_rt_device *device,
                                   const struct op_value *args);
/** False, with an error text, for a NULL, freed or used one. */
bool opapi_executor_is_live(const char *func, const aclOpExecutor *executor);
/** After a run or on destruction. */
void opapi_executor_free(aclOpExecutor *executor);
