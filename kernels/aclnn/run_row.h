/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that have one phase: by type name, and products of cblas. */
#pragma once

#include "../frame/value.h"

#include <leo/acl_hook.h>

struct op_row;

enum { RUN_ROW_TENSORS = 64 }; /**< most tensors in lists of one call */

/** Plans and runs `row` on the stream; returns when its workspace is free again. `name` stands in
 * error texts. */
aclError opapi_run_row(const char *name, const struct op_row *row, const struct op_value *args,
                       aclrtStream stream);
