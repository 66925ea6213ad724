/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of a row from a call by type name. */
#pragma once

#include "../frame/engine.h"

#include <leo/acl_hook.h>

enum {
    ACLOP_ARGS = 32,
    ACLOP_LIST = 64,      /**< most tensors of a list */
    ACLOP_CONSTANTS = 16, /**< the text of put_on_device says so */
};

/** The row's arguments and what they point at. */
struct aclop_call {
    const struct leo_acl_op *op;
    const struct op_row *row;
    struct op_value args[ACLOP_ARGS];
    struct op_tensor tensors[ACLOP_ARGS];
    struct op_scalar scalars[ACLOP_ARGS];
    struct op_ints ints[ACLOP_ARGS];
    struct op_floats floats[ACLOP_ARGS];
    struct op_bools bools[ACLOP_ARGS];
    bool flags[ACLOP_ARGS][4];
    int64_t *numbers[ACLOP_ARGS]; /**< owned */
    struct op_tensor members[ACLOP_LIST];
    const struct op_tensor *member[ACLOP_LIST];
    struct op_tensor_list list;
    uint64_t constants[ACLOP_CONSTANTS]; /**< owned: device copies of inputs in host memory */
    unsigned constant_count;
    uint64_t read_back[8]; /**< what an input on the device holds */
    aclError error;
};

/** Fills call->args by the words of a mapping (aclop_types.h); call->error tells. */
void aclop_take_args(struct aclop_call *call, const char *words);
/** Tensors in the order of the row's parameters, for a pointwise row: the call must fit it. */
void aclop_take_tensors(struct aclop_call *call);
void aclop_free_args(struct aclop_call *call);
