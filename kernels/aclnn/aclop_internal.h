/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that take a call's arguments apart share. */
#pragma once

#include "aclop_arguments.h"

/* What a call has (aclop_tensor.c). */
aclError aclop_fail(struct aclop_call *call, aclError code, const char *text);
/** NULL if it is not given. */
const struct leo_acl_attr *aclop_attr(const struct aclop_call *call, const char *name);
/** Tensor `number` of the inputs ('x') or outputs ('y'); false after a failure. */
bool aclop_tensor(struct aclop_call *call, char side, unsigned number, struct op_tensor *tensor);
/** Room for the integers of argument `at`, NULL after a failure. */
int64_t *aclop_numbers(struct aclop_call *call, unsigned at, uint64_t count);
/** A number as what the row takes in this place. */
void aclop_put_number(struct aclop_call *call, unsigned at, struct op_scalar scalar);

/* Argument `at` from inputs in host memory (aclop_host.c). */
void aclop_host_numbers(struct aclop_call *call, unsigned at, unsigned number);
/** Pairs in the reverse order; at most `most` numbers unless 0. */
void aclop_host_pairs(struct aclop_call *call, unsigned at, unsigned number, uint64_t most);
/** The one number of an input, or number `index` of several. */
void aclop_host_scalar(struct aclop_call *call, unsigned at, unsigned number, uint64_t index);
void aclop_host_view(struct aclop_call *call, unsigned at, unsigned number, unsigned from);
void aclop_host_indices(struct aclop_call *call, unsigned at, unsigned number, unsigned from);
