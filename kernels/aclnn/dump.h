/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of a call for dumps. */
#pragma once

#include "executor.h"

#include <leo/acl_hook.h>

/** Tensor arguments of a call, lists flattened, by parameter. */
struct opapi_call {
    const struct op_row *row;
    const struct op_tensor *const *tensors;
    const uint64_t *addr;
    const uint32_t *first; /**< row->param_count + 1 */
};

/** leo_acl_dump_begin for a call; *dump is NULL while dumps are off. */
aclError opapi_dump_begin(const struct leo_acl_dump_name *name, const struct opapi_call *call,
                          aclrtStream stream, void **dump);
