/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../frame/family.h"

/** A step of Adam whose numbers are tensors (ApplyAdam, AclApplyAdam): one pass over memory for f32
 * that lie as rows, else operator by operator. */
LEO_MUST_CHECK leo_status op_adam_plan(const struct op_call *call);
