/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and notifiers between processes, and pools of memory. */
#include "../api_common/memory/ipc.h"
#include "../api_common/memory/memory_pool.h"
#include "cnrt_internal.h"

#include <string.h>

_Static_assert(sizeof(cnrtIpcMemHandle) == sizeof(api_shared_id), "a handle is an id");

static cnrtRet_t null(const char *func)
{
    return cnrt_fail(cnrtErrorArgsInvalid, func, "an argument is NULL or 0");
}

/* ---- memory ---- */

cnrtRet_t cnrtAcquireMemHandle(cnrtIpcMemHandle *handle, void *ptr)
{
    struct api_pointer place;
    char key[API_KEY_BYTES];
    if (!handle || !ptr) {
        return null(__func__);
    }
    leo_status status = api_pointer_get(ptr, &place);
    if (status == LEO_OK && (place.kind != API_PLACE_DEVICE || place.base != (uintptr_t)ptr)) {
        return cnrt_fail(cnrtErrorArgsInvalid, __func__, "no block of device memory begins there");
    }
    if (status == LEO_OK) {
        status = api_ipc_export(ptr, place.bytes / API_SHARED_PAGE * API_SHARED_PAGE, true, key);
    }
    if (status == LEO_OK) {
        status = api_shared_id_of(key, handle);
    }
    return cnrt_result(__func__, status);
}

cnrtRet_t cnrtMapMemHandle(void **pPtr, cnrtIpcMemHandle handle, int flag)
{
    char key[API_KEY_BYTES];
    if (!pPtr || flag) {
        return cnrt_fail(cnrtErrorArgsInvalid, __func__, "pPtr is NULL or flag is not 0");
    }
    api_shared_key(handle, key);
    return cnrt_result(__func__, api_ipc_import(key, pPtr));
}

cnrtRet_t cnrtUnMapMemHandle(void *ptr)
{
    return ptr ? cnrt_result(__func__, api_ipc_unmap(ptr)) : null(__func__);
}

/* ---- notifiers ---- */

cnrtRet_t cnrtIpcGetNotifierHandle(cnrtIpcNotifierHandle *handle, cnrtNotifier_t notifier)
{
    API_PINNED struct api_event *event = NULL;
    char key[API_KEY_BYTES];
    api_shared_id id = 0;
    if (!handle) {
        return null(__func__);
    }
    leo_status status = api_event_get(notifier, &event);
    if (status == LEO_OK) {
        status = api_event_export(event, key);
    }
    if (status == LEO_OK) {
        status = api_shared_id_of(key, &id);
    }
    memset(handle, 0, sizeof(*handle));
    handle->reserved[0] = id;
    return cnrt_result(__func__, status);
}

cnrtRet_t cnrtIpcOpenNotifierHandle(cnrtNotifier_t *notifier, cnrtIpcNotifierHandle handle)
{
    char key[API_KEY_BYTES];
    void *event;
    if (!notifier) {
        return null(__func__);
    }
    api_shared_key(handle.reserved[0], key);
    cnrtRet_t ret = cnrt_result(__func__, api_event_import(key, &event));
    if (ret == cnrtSuccess) {
        *notifier = event;
    }
    return ret;
}

/* ---- pools ---- */

cnrtRet_t cnrtMemPoolCreate(cnrtMemPool_t *memPool, const cnrtMemPoolProps_t *poolProps)
{
    int32_t device;
    void *pool;
    if (!memPool || !poolProps) {
        return null(__func__);
    }
    leo_status status = api_device_current(&device);
    if (status == LEO_OK && (poolProps->type != cnrtMemAllocationTypeDefault ||
                             poolProps->requestedHandleTypes != cnrtMemHandleTypeNone ||
                             poolProps->location.type != cnrtMemLocationTypeDevice ||
                             poolProps->location.id != (uint32_t)device)) {
        return cnrt_fail(cnrtErrorNotSupport, __func__,
                         "a pool is of the current device, of the default type, without handles");
    }
    if (status == LEO_OK) {
        status = api_pool_create(poolProps->maxSize, &pool);
    }
    if (status == LEO_OK) {
        *memPool = pool;
    }
    return cnrt_result(__func__, status);
}

cnrtRet_t cnrtMemPoolDestroy(cnrtMemPool_t memPool)
{
    return cnrt_result(__func__, api_pool_destroy(memPool));
}

cnrtRet_t cnrtDeviceGetDefaultMemPool(cnrtMemPool_t *memPool, int device)
{
    int32_t current;
    void *pool;
    if (!memPool) {
        return null(__func__);
    }
    leo_status status = api_device_current(&current);
    if (status == LEO_OK && device != current) {
        return cnrt_fail(cnrtErrorNotSupport, __func__, "set the device first");
    }
    if (status == LEO_OK) {
        status = api_pool_default(&pool);
    }
    if (status == LEO_OK) {
        *memPool = pool;
    }
    return cnrt_result(__func__, status);
}

static bool find_number(cnrtMemPoolAttr_t attr, enum api_pool_number *number)
{
    switch (attr) {
    case cnrtMemPoolAttrReleaseThreshold:
        *number = API_POOL_THRESHOLD;
        return true;
    case cnrtMemPoolAttrReservedMemCurrent:
        *number = API_POOL_RESERVED;
        return true;
    case cnrtMemPoolAttrReservedMemHigh:
        *number = API_POOL_RESERVED_HIGH;
        return true;
    case cnrtMemPoolAttrUsedMemCurrent:
        *number = API_POOL_USED;
        return true;
    case cnrtMemPoolAttrUsedMemHigh:
        *number = API_POOL_USED_HIGH;
        return true;
    default:
        return false;
    }
}

cnrtRet_t cnrtMemPoolSetAttribute(cnrtMemPool_t memPool, cnrtMemPoolAttr_t attr, void *value)
{
    enum api_pool_number number;
    if (!value) {
        return null(__func__);
    }
    if (!find_number(attr, &number)) {
        return cnrt_fail(cnrtErrorNotSupport, __func__,
                         "when blocks are taken again cannot be set");
    }
    uint64_t wanted;
    memcpy(&wanted, value, sizeof(wanted));
    return cnrt_result(__func__, api_pool_set(memPool, number, wanted));
}

cnrtRet_t cnrtMemPoolGetAttribute(cnrtMemPool_t memPool, cnrtMemPoolAttr_t attr, void *value)
{
    enum api_pool_number number;
    uint64_t now;
    if (!value) {
        return null(__func__);
    }
    if (!find_number(attr, &number)) {
        return cnrt_fail(cnrtErrorNotSupport, __func__, "the attribute is not kept");
    }
    cnrtRet_t ret = cnrt_result(__func__, api_pool_get(memPool, number, &now));
    if (ret == cnrtSuccess) {
        memcpy(value, &now, sizeof(now));
    }
    return ret;
}

cnrtRet_t cnrtMemPoolTrimTo(cnrtMemPool_t memPool, size_t minBytesToKeep)
{
    return cnrt_result(__func__, api_pool_trim(memPool, minBytesToKeep));
}

cnrtRet_t cnrtMemAllocFromPoolAsync(void **pPtr, size_t bytes, cnrtMemPool_t memPool,
                                    cnrtQueue_t queue)
{
    void *stream;
    if (!pPtr || !bytes) {
        return null(__func__);
    }
    leo_status status = cnrt_stream(queue, &stream);
    return cnrt_result(__func__,
                       status != LEO_OK ? status : api_pool_alloc(memPool, bytes, stream, pPtr));
}

cnrtRet_t cnrtMemAllocAsync(void **pPtr, size_t bytes, cnrtQueue_t queue)
{
    void *pool = NULL;
    cnrtRet_t ret = cnrt_result(__func__, api_pool_default(&pool));
    return ret == cnrtSuccess ? cnrtMemAllocFromPoolAsync(pPtr, bytes, pool, queue) : ret;
}

cnrtRet_t cnrtMemFreeAsync(void *ptr, cnrtQueue_t queue)
{
    void *stream;
    leo_status status = cnrt_stream(queue, &stream);
    return cnrt_result(__func__, status != LEO_OK ? status : api_pool_free(ptr, stream));
}
