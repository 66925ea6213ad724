/* SPDX-License-Identifier: Apache-2.0 */
#include "cnnl_call.h"

#include "handle.h"

#include <leo/alloc.h>
#include <leo/cnrt_hook.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

cnnlStatus_t cnnl_set_attr(const char *func, void *desc, const struct cnnl_attr *attrs,
                           size_t count, int attr, const void *buf, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (attrs[i].attr != attr) {
            continue;
        }
        if (!buf || bytes != attrs[i].bytes) {
            return cnnl_fail(CNNL_STATUS_BAD_PARAM, func,
                             "attribute %d takes %zu bytes, %zu are given%s", attr, attrs[i].bytes,
                             bytes, buf ? "" : " at NULL");
        }
        memcpy((char *)desc + attrs[i].at, buf, bytes);
        return CNNL_STATUS_SUCCESS;
    }
    return cnnl_fail(CNNL_STATUS_NOT_SUPPORTED, func, "attribute %d is not one of this descriptor",
                     attr);
}

cnnlStatus_t cnnl_workspace(cnnlHandle_t handle, const char *func, size_t *size)
{
    if (!cnnl_handle_is_live(handle) || !size) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, func, "%s",
                         size ? "handle is none that cnnlCreate gave" : "size is NULL");
    }
    *size = CNNL_WORKSPACE_BYTES;
    return CNNL_STATUS_SUCCESS;
}

void cnnl_begin(struct cnnl_call *call, cnnlHandle_t handle, const char *func)
{
    call->func = func;
    call->handle = handle;
    call->status = CNNL_STATUS_SUCCESS;
    call->tensor_count = call->scalar_count = call->list_count = 0;
    call->int_count = call->ints_count = call->block_count = 0;
    if (!cnnl_handle_is_live(handle)) {
        cnnl_bad(call, "handle is none that cnnlCreate gave");
    } else if (leo_cnrt_stream_get(handle->queue, &call->stream) != LEO_OK) {
        cnnl_bad(call, "the handle's queue: %s", leo_rt_last_error());
    } else {
        // The card's floats are IEEE's; those of the programs' generation would stop at 65504.
        leo_rt_stream_set_float_mode(call->stream, LEO_FLOAT_MODE_INFINITE);
        cnnl_arena_reset(handle);
    }
}

cnnlStatus_t cnnl_end(struct cnnl_call *call)
{
    for (unsigned i = 0; i < call->block_count; i++) {
        leo_free(call->blocks[i]);
    }
    return call->status;
}

static void fail_with(struct cnnl_call *call, cnnlStatus_t status, const char *format, va_list args)
{
    char text[400];
    if (call->status == CNNL_STATUS_SUCCESS) {
        vsnprintf(text, sizeof(text), format, args);
        call->status = cnnl_fail(status, call->func, "%s", text);
    }
}

void cnnl_refuse(struct cnnl_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_with(call, CNNL_STATUS_NOT_SUPPORTED, format, args);
    va_end(args);
}

void cnnl_bad(struct cnnl_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_with(call, CNNL_STATUS_BAD_PARAM, format, args);
    va_end(args);
}

void cnnl_need(struct cnnl_call *call, const char *name, bool there)
{
    if (!there) {
        cnnl_bad(call, "%s is NULL or no live object of its kind", name);
    }
}

static cnnlStatus_t code_of(leo_status status)
{
    switch (status) {
    case LEO_ERR_DTYPE:
    case LEO_ERR_UNSUPPORTED:
        return CNNL_STATUS_NOT_SUPPORTED;
    case LEO_ERR_SHAPE:
    case LEO_ERR_INVALID_ARG:
    case LEO_ERR_RANGE:
    case LEO_ERR_BAD_POINTER:
        return CNNL_STATUS_BAD_PARAM;
    case LEO_ERR_NO_MEMORY:
    case LEO_ERR_NO_DEVICE_MEMORY:
        return CNNL_STATUS_ALLOC_FAILED;
    default:
        return CNNL_STATUS_EXECUTION_FAILED;
    }
}

void cnnl_take(struct cnnl_call *call, leo_status status)
{
    if (status != LEO_OK && call->status == CNNL_STATUS_SUCCESS) {
        char text[400];
        const char *last = leo_rt_last_error();
        snprintf(text, sizeof(text), "%s", *last ? last : leo_status_text(status));
        call->status = cnnl_fail(code_of(status), call->func, "%s", text);
    }
}

static leo_status run_plan(struct cnnl_call *call, const struct op_row *row,
                           const struct op_value *args, const struct op_plan *plan)
{
    enum { FEW = 64 };
    uint64_t few[FEW], workspace = 0;
    const unsigned count = op_args_tensors(row, args);
    uint64_t *addr = count <= FEW ? few : leo_calloc(count, sizeof(*addr));
    leo_status status = addr ? LEO_OK : leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    const uint64_t bytes = op_plan_workspace_bytes(plan);
    if (status == LEO_OK && bytes) {
        status = cnnl_arena_take(call->handle, bytes, &workspace);
    }
    if (status == LEO_OK) {
        op_args_addresses(row, args, addr);
        call->handle->used = true;
        status = op_plan_run(
            plan, call->stream,
            &(struct op_run){
                .addr = addr, .addr_count = count, .workspace = workspace, .tag = call->func});
    }
    if (addr != few) {
        leo_free(addr);
    }
    return status;
}

void cnnl_run(struct cnnl_call *call, const char *name, const struct op_value *args)
{
    struct op_plan *plan;
    if (call->status != CNNL_STATUS_SUCCESS) {
        return;
    }
    const struct op_row *row = op_row_find(name); // the generator checked the name
    leo_status status = op_plan_get(call->handle->engine, row, args, &plan);
    if (status == LEO_OK) {
        status = run_plan(call, row, args, plan);
        op_plan_put(plan);
    }
    cnnl_take(call, status);
}
