/* SPDX-License-Identifier: Apache-2.0 */
/* The two phases behind every generated entry point. */
#pragma once

#include "../frame/row.h"
#include "objects.h"

aclnnStatus opapi_phase1(const struct op_row *row, const struct op_value *args,
                         uint64_t *workspace_size, aclOpExecutor **executor);
/** As phase 1, but `workspace_size` is that of the longest sequences the tensors hold: enough for
 * later calls with other lists of lengths (attention alone, rows with "most yes"). */
aclnnStatus opapi_phase1_most(const struct op_row *row, const struct op_value *args,
                              uint64_t *workspace_size, aclOpExecutor **executor);
aclnnStatus opapi_phase2(const struct op_row *row, void *workspace, uint64_t workspace_size,
                         aclOpExecutor *executor, aclrtStream stream);
