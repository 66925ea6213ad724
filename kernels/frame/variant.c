/* SPDX-License-Identifier: Apache-2.0 */
#include "variant.h"

#include "explain.h"
#include "plan_internal.h"

leo_status op_choose(struct op_plan *plan, const struct op_variant *variants, unsigned count,
                     const void *work, bool *taken)
{
    bool takes = false;
    leo_status status = LEO_OK;
    for (unsigned i = 0; i < count && status == LEO_OK && !takes; i++) {
        const uint32_t steps = op_plan_steps(plan);
        const size_t said = op_explain_mark(plan);
        status = variants[i].plan(work, &takes);
        if (status == LEO_OK && takes) {
            op_explain_insert(plan, said, "by %s", variants[i].name);
        } else if (status == LEO_OK) {
            plan->step_count = steps;
            op_explain_drop(plan, said);
            op_explain_line(plan, "not by %s: needs %s", variants[i].name, variants[i].needs);
        }
    }
    if (taken) {
        *taken = takes;
    }
    return status;
}
