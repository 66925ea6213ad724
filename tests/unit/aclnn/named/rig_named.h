/* SPDX-License-Identifier: Apache-2.0 */
/* Operators called by type name, on dense tensors. */
#pragma once

#include "rig.h"

#include <acl/acl_op.h>

/** A call: `in` and `out` are dense tensors of the rig; input i lies in host memory if bit i of
 * `host` is set, or is not given where it is NULL. `attr` is owned by the call, NULL for none. */
struct rig_named {
    struct rig_tensor *const *in;
    unsigned ins;
    struct rig_tensor *const *out;
    unsigned outs;
    aclopAttr *attr;
    uint32_t host;
};

/** Runs operator `type` and waits for it; gives what the call or the wait says. */
aclError rig_named_try(const char *type, struct rig_named call);
/** The same for a call that must succeed, with everything in device memory. */
void rig_named_run(const char *type, aclopAttr *attr, struct rig_tensor *const *in, unsigned ins,
                   struct rig_tensor *const *out, unsigned outs);
