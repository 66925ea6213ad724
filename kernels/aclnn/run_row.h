/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that have one phase: by type name, and products of cblas. */
#pragma once

#include "dump.h"

#include "../frame/value.h"

enum { RUN_ROW_TENSORS = 96 }; /**< most tensors in lists of one call */

/** A call's tensors, flattened. */
struct opapi_flat {
    const struct op_tensor *tensors[OP_PARAMS_MAX + RUN_ROW_TENSORS];
    uint64_t addr[OP_PARAMS_MAX + RUN_ROW_TENSORS];
    uint32_t first[OP_PARAMS_MAX + 1];
    struct opapi_call call; /**< of the others */
};
void opapi_flat_take(const struct op_row *row, const struct op_value *args,
                     struct opapi_flat *flat);

/** Where the size of a result that depends on data is reported; NULL: nowhere. */
struct run_row_shape {
    void (*set)(void *user, unsigned index, unsigned rank, const int64_t *dim);
    void *user;
};

/** Plans and runs `row` on the stream; returns when its workspace is free again. `name` stands in
 * error texts. */
aclError opapi_run_row(const char *name, const struct op_row *row, const struct op_value *args,
                       aclrtStream stream, struct run_row_shape shape);
