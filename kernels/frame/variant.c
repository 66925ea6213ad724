/* SPDX-License-Identifier: Apache-2.0 */
#include "variant.h"

#include "explain.h"
#include "plan_internal.h"

leo_status op_decline(struct op_plan *plan, const char *name, const char *needs)
{
    op_explain_line(plan, "not by %s: needs %s", name, needs);
    return OP_DECLINED;
}

leo_status op_choose(struct op_plan *plan, const struct op_variant *variants, unsigned count,
                     const void *work)
{
    leo_status status = OP_DECLINED;
    for (unsigned i = 0; i < count && status == OP_DECLINED; i++) {
        const uint32_t steps = op_plan_steps(plan);
        const size_t said = op_explain_mark(plan);
        status = variants[i].plan(work);
        if (status == OP_DECLINED) {
            plan->step_count = steps;
            op_explain_drop(plan, said);
            status = op_decline(plan, variants[i].name, variants[i].needs);
        } else if (status == LEO_OK) {
            op_explain_insert(plan, said, "by %s", variants[i].name);
        }
    }
    return status;
}
