/* SPDX-License-Identifier: Apache-2.0 */
/* The two phases behind every generated entry point. */
#pragma once

#include "../frame/row.h"
#include "objects.h"

aclnnStatus opapi_phase1(const struct op_row *row, const struct op_value *args,
                         uint64_t *workspace_size, aclOpExecutor **executor);
aclnnStatus opapi_phase2(const struct op_row *row, void *workspace, uint64_t workspace_size,
                         aclOpExecutor *executor, aclrtStream stream);
