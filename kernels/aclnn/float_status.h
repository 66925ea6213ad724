/* SPDX-License-Identifier: Apache-2.0 */
/* Operators by type name that read and clear the sticky status of overflows. */
#pragma once

#include <leo/acl_hook.h>
#include <stdbool.h>

/** Runs `op` if it is one of them; false: it is another operator. */
bool aclop_run_float_status(const struct leo_acl_op *op, aclError *error);
