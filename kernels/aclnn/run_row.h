/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that have one phase: by type name, and products of cblas. */
#pragma once

#include "../frame/value.h"

#include <leo/acl_hook.h>

struct op_row;

enum { RUN_ROW_TENSORS = 64 }; /**< most tensors in lists of one call */

/** Where the size of a result that depends on data is told; NULL: nowhere. */
struct run_row_shape {
    void (*set)(void *user, unsigned index, unsigned rank, const int64_t *dim);
    void *user;
};

/** Plans and runs `row` on the stream; returns when its workspace is free again. `name` stands in
 * error texts. */
aclError opapi_run_row(const char *name, const struct op_row *row, const struct op_value *args,
                       aclrtStream stream, struct run_row_shape shape);
