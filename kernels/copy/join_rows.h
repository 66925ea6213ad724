/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../frame/family.h"

/**
 * Copies between `whole` and `parts`, which stand one after the other in it along a dimension: to
 * the parts with `split`. OP_DECLINED: not all are dense and of one type, with rows of whole blocks
 * of 32 bytes.
 */
LEO_MUST_CHECK leo_status op_join_rows(struct op_plan *plan, const struct op_tensor *whole,
                                       unsigned dim, const struct op_tensor *parts, uint64_t count,
                                       bool split);
