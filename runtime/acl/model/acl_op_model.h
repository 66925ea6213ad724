/* SPDX-License-Identifier: Apache-2.0 */
/* Operators called by name, and the models of single ones that a program has loaded. */
#pragma once

#include "../acl_internal.h"

#include <leo/acl_hook.h>

/** ACL_ERROR_INVALID_PARAM if type, descriptions or (`with_data`) buffers are missing. */
aclError acl_op_check(const char *func, const struct leo_acl_op *op, bool with_data);
/* Of calls that acl_op_check took: */
/** ACL_ERROR_OP_NOT_FOUND if models are loaded and the call fits none of them. */
aclError acl_op_model_check(const char *func, const struct leo_acl_op *op);
/** Makes a call one that fits, if models are loaded. */
aclError acl_op_model_add(const char *func, const struct leo_acl_op *op);
/** None is loaded any more. */
void acl_op_models_drop(void);
