/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of operators with many parameters, most of them left out. */
#pragma once

#include "rig.h"

/** One argument by the name of its parameter. */
struct rig_named {
    const char *name;
    union op_test_arg value;
};

/** Runs operator `op` (name without aclnn); parameters that are not named are NULL or 0. Asserts
 * that the operator and its parameters exist. The code of rig_run. */
aclnnStatus rig_run_named(const char *op, const struct rig_named *named, unsigned count, bool loud);
#define RIG_RUN_NAMED(op, loud, ...)                                                               \
    rig_run_named(op, (const struct rig_named[]){__VA_ARGS__},                                     \
                  sizeof((const struct rig_named[]){__VA_ARGS__}) / sizeof(struct rig_named),      \
                  loud)

/** A list of the handles of `count` tensors. Destroying it destroys them: rig_list_free. */
aclTensorList *rig_list_make(struct rig_tensor *tensors, unsigned count);
/** Destroys the list, and leaves the tensors' storage to rig_tensor_free. */
void rig_list_free(aclTensorList *list, struct rig_tensor *tensors, unsigned count);
/** After a kernel that ended with a fault: frees the tensors' host side and resets the device, and
 * with it their memory. */
void rig_end_fault(struct rig_tensor *tensors, unsigned count);
