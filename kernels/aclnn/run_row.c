/* SPDX-License-Identifier: Apache-2.0 */
/* A row run at once, with a workspace of its own. */
#include "run_row.h"

#include "describe.h"

#include "../frame/run.h"

void opapi_flat_take(const struct op_row *row, const struct op_value *args, struct opapi_flat *flat)
{
    op_args_addresses(row, args, flat->addr);
    opapi_flatten(row, args, flat->tensors, flat->first);
    flat->call = (struct opapi_call){row, flat->tensors, flat->addr, flat->first};
}

// Workspace, run, and its end: the memory must outlive the work.
static leo_status run_plan(const struct op_plan *plan, struct leo_rt_device *device,
                           struct leo_rt_stream *stream, struct op_run *run)
{
    const uint64_t bytes = op_plan_workspace_bytes(plan);
    leo_status status = bytes ? leo_rt_memory_alloc(device, bytes, &run->workspace) : LEO_OK;
    if (status != LEO_OK) {
        return status;
    }
    status = op_plan_run(plan, stream, run);
    if (bytes) {
        // A fault stays the stream's to report: it is not taken here.
        while (status == LEO_OK && leo_rt_stream_query(stream) == LEO_ERR_NOT_READY) {
        }
        leo_status freed = leo_rt_memory_free(device, run->workspace);
        status = leo_status_first(status, freed);
    }
    return status;
}

static leo_status run_profiled(const char *name, const struct op_plan *plan,
                               struct leo_rt_device *device, struct leo_rt_stream *stream,
                               const struct opapi_flat *flat, struct op_run *run)
{
    char tag[DESCRIBE_BYTES];
    if (!leo_rt_profile_is_on(device)) {
        return run_plan(plan, device, stream, run);
    }
    const uint64_t begin_ns = leo_rt_profile_clock_ns();
    opapi_describe(name, &flat->call, tag);
    run->tag = tag;
    const leo_status status = run_plan(plan, device, stream, run);
    leo_rt_profile_call(device, LEO_RT_PROFILE_OPERATOR, tag, begin_ns);
    return status;
}

aclError opapi_run_row(const char *name, const struct op_row *row, const struct op_value *args,
                       aclrtStream stream, struct run_row_shape shape)
{
    struct leo_rt_stream *rt;
    struct leo_rt_device *device;
    struct op_engine *engine;
    struct op_plan *plan = NULL;
    struct opapi_flat flat;
    aclError error = leo_acl_stream_get(stream, &rt, &device);
    if (error) {
        return error;
    }
    leo_status status = op_engine_get(device, &engine);
    if (status == LEO_OK) {
        status = op_plan_get(engine, row, args, &plan);
    }
    void *dump = NULL;
    if (status == LEO_OK) {
        opapi_flat_take(row, args, &flat);
        error =
            opapi_dump_begin(&(struct leo_acl_dump_name){.type = name}, &flat.call, stream, &dump);
    }
    if (status == LEO_OK && !error) {
        struct op_run run = {.addr = flat.addr,
                             .addr_count = op_args_tensors(row, args),
                             .set_shape = shape.set,
                             .user = shape.user};
        status = run_profiled(name, plan, device, rt, &flat, &run);
    }
    op_plan_put(plan);
    if (dump) {
        error = leo_acl_dump_end(name, dump, status != LEO_OK);
    }
    return status == LEO_OK ? error : leo_acl_status(name, status);
}
