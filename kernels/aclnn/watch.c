/* SPDX-License-Identifier: Apache-2.0 */
#include <leo/op_watch.h>

#include "describe.h"
#include "run_row.h"

#include "../frame/call.h"

#include <stdio.h>
#include <string.h>

enum { TAG_BYTES = DESCRIBE_BYTES + 136 };

/* The tag of aclnn's calls, with the node behind a further bar. */
static void describe(const struct opapi_call *call, const char *node, char text[TAG_BYTES])
{
    char name[96];
    snprintf(name, sizeof(name), "aclnn%s", call->row->name);
    opapi_describe(name, call, text);
    const size_t length = strlen(text);
    if (node) {
        snprintf(text + length, TAG_BYTES - length, "|%s", node);
    }
}

static leo_status run_profiled(const struct leo_op_watch *watch, const struct op_plan *plan,
                               const struct opapi_call *call, struct leo_rt_stream *stream,
                               struct op_run *run)
{
    char tag[TAG_BYTES];
    if (!leo_rt_profile_is_on(watch->device)) {
        return op_plan_run(plan, stream, run);
    }
    const uint64_t begin_ns = leo_rt_profile_clock_ns();
    describe(call, watch->dump.node, tag);
    run->tag = tag;
    const leo_status status = op_plan_run(plan, stream, run);
    leo_rt_profile_call(watch->device, LEO_RT_PROFILE_OPERATOR, tag, begin_ns);
    return status;
}

static leo_status run_watched(void *user, const struct op_plan *plan, const struct op_value *values,
                              struct leo_rt_stream *stream, struct op_run *run)
{
    struct leo_op_watch *watch = user;
    struct opapi_flat flat;
    void *dump = NULL;
    opapi_flat_take(op_plan_row(plan), values, &flat);
    watch->dump.type = flat.call.row->name;
    if (watch->dumps && opapi_dump_begin(&watch->dump, &flat.call, watch->stream, &dump)) {
        return leo_rt_fail(LEO_ERR_IO, "%s", leo_acl_error_text());
    }
    const leo_status status = run_profiled(watch, plan, &flat.call, stream, run);
    const bool failed = status != LEO_OK;
    if (dump && leo_acl_dump_end(watch->dump.type, dump, failed) && !failed) {
        return leo_rt_fail(LEO_ERR_IO, "%s", leo_acl_error_text());
    }
    return status;
}

void leo_op_watch_begin(struct leo_op_context *context, struct leo_op_watch *watch)
{
    op_context_watch(context, run_watched, watch);
}
