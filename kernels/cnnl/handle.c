/* SPDX-License-Identifier: Apache-2.0 */
#include "handle.h"

#include "cnnl_call.h"

#include <leo/alloc.h>
#include <leo/cnrt_hook.h>
#include <leo/op.h>

// [S] of the release that present adapters are built for.
enum { VERSION_MAJOR = 2, VERSION_MINOR = 0, VERSION_PATCH = 0 };
enum { MAGIC = 0x4c4e4e43, ARENA_FIRST = 1 << 20, ARENA_ALIGN = 512 };

bool cnnl_handle_is_live(cnnlHandle_t handle)
{
    return handle && handle->magic == MAGIC;
}

static cnnlStatus_t not_live(const char *func)
{
    return cnnl_fail(CNNL_STATUS_BAD_PARAM, func, "handle is none that cnnlCreate gave");
}

static cnnlStatus_t failed(const char *func, leo_status status)
{
    const char *text = leo_rt_last_error();
    return cnnl_fail(status == LEO_ERR_NO_MEMORY ? CNNL_STATUS_ALLOC_FAILED
                                                 : CNNL_STATUS_EXECUTION_FAILED,
                     func, "%s", *text ? text : leo_status_text(status));
}

cnnlStatus_t cnnlCreate(cnnlHandle_t *handle)
{
    struct leo_rt_device *device;
    struct op_engine *engine;
    if (!handle) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, __func__, "handle is NULL");
    }
    leo_status status = leo_cnrt_device_get(&device);
    if (status == LEO_OK) {
        status = op_engine_get(device, &engine);
    }
    if (status != LEO_OK) {
        return failed(__func__, status);
    }
    *handle = leo_calloc(1, sizeof(**handle));
    if (!*handle) {
        return cnnl_fail(CNNL_STATUS_ALLOC_FAILED, __func__, "out of host memory");
    }
    (*handle)->magic = MAGIC;
    (*handle)->device = device;
    (*handle)->engine = engine;
    return CNNL_STATUS_SUCCESS;
}

// The queue's work, if it is still there; a queue that was destroyed has none left.
static leo_status wait_for_queue(cnnlHandle_t handle)
{
    struct leo_rt_stream *stream;
    if (!handle->used || leo_cnrt_stream_get(handle->queue, &stream) != LEO_OK) {
        return LEO_OK;
    }
    return leo_rt_stream_synchronize(stream, -1);
}

cnnlStatus_t cnnlDestroy(cnnlHandle_t handle)
{
    if (!cnnl_handle_is_live(handle)) {
        return not_live(__func__);
    }
    leo_status status = handle->block_count ? wait_for_queue(handle) : LEO_OK;
    for (unsigned i = 0; i < handle->block_count; i++) {
        leo_status freed = leo_rt_memory_free(handle->device, handle->blocks[i].addr);
        if (freed != LEO_OK) {
            status = freed;
        }
    }
    if (handle->event) {
        leo_rt_event_destroy(handle->event);
    }
    handle->magic = 0;
    leo_free(handle);
    return status == LEO_OK ? CNNL_STATUS_SUCCESS : failed(__func__, status);
}

// Temporaries are shared by both queues, so the new one goes on when the old one got here.
static leo_status hand_over(cnnlHandle_t handle, struct leo_rt_stream *next)
{
    struct leo_rt_stream *last;
    leo_status status = LEO_OK;
    if (!handle->used || !handle->block_count ||
        leo_cnrt_stream_get(handle->queue, &last) != LEO_OK || last == next) {
        return LEO_OK;
    }
    if (!handle->event) {
        status = leo_rt_event_create(handle->device, &handle->event);
    }
    if (status == LEO_OK) {
        status = leo_rt_event_record(handle->event, last);
    }
    return status == LEO_OK ? leo_rt_event_wait(handle->event, next) : status;
}

cnnlStatus_t cnnlSetQueue(cnnlHandle_t handle, cnrtQueue_t queue)
{
    struct leo_rt_stream *stream;
    if (!cnnl_handle_is_live(handle)) {
        return not_live(__func__);
    }
    leo_status status = leo_cnrt_stream_get(queue, &stream);
    if (status != LEO_OK) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, __func__, "%s", leo_rt_last_error());
    }
    if (queue != handle->queue) {
        status = hand_over(handle, stream);
        handle->queue = queue;
        handle->used = false;
    }
    return status == LEO_OK ? CNNL_STATUS_SUCCESS : failed(__func__, status);
}

cnnlStatus_t cnnlGetQueue(cnnlHandle_t handle, cnrtQueue_t *queue)
{
    if (!cnnl_handle_is_live(handle)) {
        return not_live(__func__);
    }
    if (!queue) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, __func__, "queue is NULL");
    }
    *queue = handle->queue;
    return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t cnnlGetLibVersion(int *major, int *minor, int *patch)
{
    if (!major || !minor || !patch) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, __func__, "a pointer is NULL");
    }
    *major = VERSION_MAJOR;
    *minor = VERSION_MINOR;
    *patch = VERSION_PATCH;
    return CNNL_STATUS_SUCCESS;
}

size_t cnnlGetVersion(void)
{
    return VERSION_MAJOR * 10000 + VERSION_MINOR * 100 + VERSION_PATCH;
}

void cnnl_arena_reset(cnnlHandle_t handle)
{
    handle->block_at = 0;
    handle->block_used = 0;
}

static leo_status add_block(cnnlHandle_t handle, uint64_t bytes)
{
    uint64_t size = ARENA_FIRST;
    for (unsigned i = 0; i < handle->block_count; i++) {
        size += handle->blocks[i].bytes;
    }
    size = size < bytes ? bytes : size;
    if (handle->block_count == CNNL_ARENA_BLOCKS) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "the handle's memory for temporaries is exhausted");
    }
    leo_status status =
        leo_rt_memory_alloc(handle->device, size, &handle->blocks[handle->block_count].addr);
    if (status != LEO_OK && size > bytes) {
        size = bytes;
        status =
            leo_rt_memory_alloc(handle->device, size, &handle->blocks[handle->block_count].addr);
    }
    if (status == LEO_OK) {
        handle->blocks[handle->block_count++].bytes = size;
    }
    return status;
}

leo_status cnnl_arena_take(cnnlHandle_t handle, uint64_t bytes, uint64_t *addr)
{
    bytes = (bytes + LEO_OP_READ_MARGIN + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    while (handle->block_at < handle->block_count &&
           handle->blocks[handle->block_at].bytes - handle->block_used < bytes) {
        handle->block_at++;
        handle->block_used = 0;
    }
    if (handle->block_at == handle->block_count) {
        leo_status status = add_block(handle, bytes);
        if (status != LEO_OK) {
            return status;
        }
    }
    *addr = handle->blocks[handle->block_at].addr + handle->block_used;
    handle->block_used += bytes;
    return LEO_OK;
}
