/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that only other chips have, and those that are not computed yet (elsewhere.op). */
#include "../frame/family.h"

// Arguments are refused before a plan is asked for (frame/check.c): this is what is left.
leo_status op_plan_elsewhere(const struct op_call *call)
{
    return op_call_fail(call, LEO_ERR_UNSUPPORTED, "this operator is on other chips alone");
}

leo_status op_plan_later(const struct op_call *call)
{
    return op_call_fail(call, LEO_ERR_UNSUPPORTED, "this operator is not computed yet");
}
