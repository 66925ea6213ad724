/* SPDX-License-Identifier: Apache-2.0 */
/* A row run at once, with a workspace of its own. */
#include "run_row.h"

#include "dump.h"

#include "../frame/engine.h"

// Workspace, run, and its end: the memory must outlive the work.
static leo_status run_plan(const struct op_plan *plan, struct leo_rt_device *device,
                           struct leo_rt_stream *stream, const struct op_row *row,
                           const struct op_value *args, struct run_row_shape shape)
{
    uint64_t addr[OP_PARAMS_MAX + RUN_ROW_TENSORS], workspace = 0;
    const uint64_t bytes = op_plan_workspace_bytes(plan);
    leo_status status = bytes ? leo_rt_memory_alloc(device, bytes, &workspace) : LEO_OK;
    if (status != LEO_OK) {
        return status;
    }
    op_args_addresses(row, args, addr);
    const struct op_run run = {.addr = addr,
                               .addr_count = op_args_tensors(row, args),
                               .workspace = workspace,
                               .set_shape = shape.set,
                               .user = shape.user};
    status = op_plan_run(plan, stream, &run);
    if (bytes) {
        // A fault stays the stream's to report: it is not taken here.
        while (status == LEO_OK && leo_rt_stream_query(stream) == LEO_ERR_NOT_READY) {
        }
        leo_status freed = leo_rt_memory_free(device, workspace);
        status = leo_status_first(status, freed);
    }
    return status;
}

static aclError begin_dump(const char *name, const struct op_row *row, const struct op_value *args,
                           aclrtStream stream, void **dump)
{
    const struct op_tensor *tensors[OP_PARAMS_MAX + RUN_ROW_TENSORS];
    uint64_t addr[OP_PARAMS_MAX + RUN_ROW_TENSORS];
    uint32_t first[OP_PARAMS_MAX + 1];
    op_args_addresses(row, args, addr);
    opapi_flatten(row, args, tensors, first);
    const struct opapi_call call = {row, tensors, addr, first};
    return opapi_dump_begin(name, &call, stream, dump);
}

aclError opapi_run_row(const char *name, const struct op_row *row, const struct op_value *args,
                       aclrtStream stream, struct run_row_shape shape)
{
    struct leo_rt_stream *rt;
    struct leo_rt_device *device;
    struct op_engine *engine;
    struct op_plan *plan = NULL;
    aclError error = leo_acl_stream_get(stream, &rt, &device);
    if (error) {
        return error;
    }
    leo_status status = op_engine_get(device, &engine);
    if (status == LEO_OK) {
        status = op_engine_plan(engine, row, args, &plan);
    }
    void *dump = NULL;
    if (status == LEO_OK && leo_acl_dump_is_on()) {
        error = begin_dump(name, row, args, stream, &dump);
    }
    if (status == LEO_OK && !error) {
        status = run_plan(plan, device, rt, row, args, shape);
    }
    op_plan_put(plan);
    if (dump) {
        error = leo_acl_dump_end(name, dump, status != LEO_OK);
    }
    return status == LEO_OK ? error : leo_acl_status(name, status);
}
