/* SPDX-License-Identifier: Apache-2.0 */
/* Operators called by type name, on dense tensors. */
#pragma once

#include "rig_values.h"

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

/** A dense f32 tensor of random values, and one of the integers `values`. Owned by the caller. */
struct rig_tensor rig_named_floats(unsigned rank, const int64_t *dim, uint64_t seed);
struct rig_tensor rig_named_ints(enum op_type type, unsigned rank, const int64_t *dim,
                                 const int64_t *values);

enum { RIG_NAMED_MAX = 14 };

/** Tensors of a call, inputs first, and what each output shall hold. */
struct rig_named_made {
    struct rig_tensor t[RIG_NAMED_MAX];
    unsigned ins, outs;
    double *want[RIG_NAMED_MAX]; /**< of each output, zeros at first */
};

/* The tensors are owned from then on; inputs are added before outputs. */
void rig_named_input(struct rig_named_made *made, struct rig_tensor tensor);
void rig_named_output(struct rig_named_made *made, struct rig_tensor tensor);
/** Element `index` of tensor `tensor`. */
double rig_named_at(const struct rig_named_made *made, unsigned tensor, int64_t index);
/** Runs the operator, which must succeed; outputs stay on the device. `host`: as in rig_named. */
void rig_named_call(const char *type, aclopAttr *attr, struct rig_named_made *made, uint32_t host);
/** The same, compares the outputs with what is wanted, and frees it all. */
void rig_named_expect(const char *type, aclopAttr *attr, struct rig_named_made *made, uint32_t host,
                      struct rig_bound bound);
void rig_named_free(struct rig_named_made *made);
