/* SPDX-License-Identifier: Apache-2.0 */
/* Running plans. */
#include "plan_internal.h"

#include <leo/host_model.h>
#include <leo/op.h>
#include <string.h>

enum { ARGS_MAX = 12288 }; // most bytes of a launch's arguments; keeps them on the stack

static void resolve(unsigned char *args, unsigned addresses, const struct op_run *run)
{
    for (unsigned i = 0; i < addresses; i++) {
        uint64_t word;
        memcpy(&word, args + i * 8, sizeof(word));
        word = op_symbol_resolve(word, run);
        memcpy(args + i * 8, &word, sizeof(word));
    }
}

static leo_status run_step(const struct op_plan *plan, const struct op_step *step,
                           struct leo_rt_stream *stream, const struct op_run *run)
{
    _Alignas(16) unsigned char args[ARGS_MAX];
    const void *values[] = {args};
    const struct op_host_run host = {stream, op_engine_device(plan->engine), run};
    if (step->args_bytes > ARGS_MAX) {
        return leo_rt_fail(LEO_ERR_RANGE, "%s: %u bytes of launch arguments", plan->row->name,
                           step->args_bytes);
    }
    if (step->args_bytes) { // a plan of fills alone has no arguments
        memcpy(args, plan->args + step->args_at, step->args_bytes);
    }
    switch (step->kind) {
    case OP_STEP_LAUNCH:
        resolve(args, step->addresses, run);
        return leo_rt_launch(step->kernel, step->blocks, stream, values, 1,
                             run->tag ? run->tag : plan->row->name);
    case OP_STEP_FILL:
        return leo_rt_memset_async(stream, op_symbol_resolve(step->fill_addr, run), step->value,
                                   step->fill_bytes);
    case OP_STEP_HOST:
        resolve(args, step->addresses, run);
        return step->host(&host, args);
    }
    return LEO_ERR_STATE;
}

leo_status op_plan_run(const struct op_plan *plan, struct leo_rt_stream *stream,
                       const struct op_run *run)
{
    leo_status status = LEO_OK;
    leo_rt_operator_begin(stream);
    for (uint32_t i = 0; status == LEO_OK && i < plan->step_count; i++) {
        status = run_step(plan, &plan->steps[i], stream, run);
    }
    leo_rt_operator_end(stream);
    return status;
}

void op_host_set_shape(const struct op_host_run *run, unsigned index, unsigned rank,
                       const int64_t *dim)
{
    if (run->run->set_shape) {
        run->run->set_shape(run->run->user, index, rank, dim);
    }
}

uint64_t op_plan_workspace_bytes(const struct op_plan *plan)
{
    return plan->workspace_bytes ? plan->workspace_bytes + LEO_OP_READ_MARGIN : 0;
}

const struct op_row *op_plan_row(const struct op_plan *plan)
{
    return plan->row;
}
