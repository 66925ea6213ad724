/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, events and notifies between processes. */
#include "../../api_common/memory/ipc.h"
#include "../../api_common/stream/notify.h"

#include "../acl_internal.h"

#include <string.h>

static aclError check_key(const char *func, const char *key, size_t len, uint64_t flags)
{
    if (!key) {
        return acl_null(func, "key");
    }
    if (len != API_KEY_BYTES || flags > ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                        "len %zu must be %d, and flags 0x%llx 0 or 1", len, API_KEY_BYTES,
                        (unsigned long long)flags);
    }
    return ACL_SUCCESS;
}

static aclError check_pids(const char *func, const int32_t *pid, size_t num)
{
    return pid && num ? ACL_SUCCESS
                      : acl_fail(ACL_ERROR_INVALID_PARAM, func, "pid is NULL or num is 0");
}

aclError aclrtIpcMemGetExportKey(void *devPtr, size_t size, char *key, size_t len, uint64_t flags)
{
    aclError error = devPtr ? check_key(__func__, key, len, flags) : acl_null(__func__, "devPtr");
    return error ? error : acl_result(__func__, api_ipc_export(devPtr, size, flags, key));
}

aclError aclrtIpcMemSetImportPid(const char *key, int32_t *pid, size_t num)
{
    aclError error = key ? check_pids(__func__, pid, num) : acl_null(__func__, "key");
    return error ? error : acl_result(__func__, api_ipc_allow(key, pid, num));
}

aclError aclrtIpcMemImportByKey(void **devPtr, const char *key, uint64_t flags)
{
    if (!devPtr || !key) {
        return acl_null(__func__, devPtr ? "key" : "devPtr");
    }
    if (flags > ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__, "flags 0x%llx must be 0 or 1",
                        (unsigned long long)flags);
    }
    return acl_result(__func__, api_ipc_import(key, devPtr));
}

aclError aclrtIpcMemClose(const char *key)
{
    return key ? acl_result(__func__, api_ipc_close(key)) : acl_null(__func__, "key");
}

aclError aclrtIpcMemSetAttr(const char *key, aclrtIpcMemAttrType type, uint64_t attr)
{
    (void)key;
    (void)type;
    (void)attr;
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                    "imported memory has no choice of links: it is the importing device's own");
}

aclError aclrtIpcMemImportPidInterServer(const char *key, aclrtServerPid *serverPids, size_t num)
{
    (void)key;
    (void)serverPids;
    (void)num;
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                    "memory is shared between processes of one host");
}

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle *handle)
{
    API_PINNED struct api_event *found = NULL;
    char key[API_KEY_BYTES];
    if (!handle) {
        return acl_null(__func__, "handle");
    }
    aclError error = acl_result(__func__, api_event_get(event, &found));
    if (!error) {
        error = acl_result(__func__, api_event_export(found, key));
    }
    if (!error) {
        memcpy(handle->reserved, key, sizeof(handle->reserved)); // a key ends before that
    }
    return error;
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event)
{
    char key[API_KEY_BYTES] = {0};
    if (!event) {
        return acl_null(__func__, "event");
    }
    memcpy(key, handle.reserved, sizeof(handle.reserved));
    return acl_result(__func__, api_event_import(key, event));
}

aclError aclrtNotifyGetExportKey(aclrtNotify notify, char *key, size_t len, uint64_t flags)
{
    API_PINNED struct api_notify *found = NULL;
    aclError error = check_key(__func__, key, len, flags);
    if (!error) {
        error = acl_result(__func__, api_notify_get(notify, &found));
    }
    return error ? error : acl_result(__func__, api_notify_export(found, flags, key));
}

aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t *pid, size_t num)
{
    API_PINNED struct api_notify *found = NULL;
    aclError error = check_pids(__func__, pid, num);
    if (!error) {
        error = acl_result(__func__, api_notify_get(notify, &found));
    }
    return error ? error : acl_result(__func__, api_notify_allow(found, pid, num));
}

aclError aclrtNotifyImportByKey(aclrtNotify *notify, const char *key, uint64_t flags)
{
    if (!notify || !key) {
        return acl_null(__func__, notify ? "key" : "notify");
    }
    if (flags & ~ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__, "flags 0x%llx must be 0 or 2",
                        (unsigned long long)flags);
    }
    return acl_result(__func__, api_notify_import(key, notify));
}

aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid *serverPids,
                                            size_t num)
{
    (void)notify;
    (void)serverPids;
    (void)num;
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                    "notifies are shared between processes of one host");
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType,
                                         uint64_t flags, uint64_t *shareableHandle)
{
    if (!shareableHandle) {
        return acl_null(__func__, "shareableHandle");
    }
    if (handleType != ACL_MEM_HANDLE_TYPE_NONE ||
        flags > ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__,
                        "handleType %d must be 0, flags 0x%llx 0 or 1", (int)handleType,
                        (unsigned long long)flags);
    }
    return acl_result(__func__, api_physical_export(handle, flags, shareableHandle));
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                           aclrtDrvMemHandle *handle)
{
    return handle ? acl_result(__func__, api_physical_import(shareableHandle, deviceId, handle))
                  : acl_null(__func__, "handle");
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid, size_t pidNum)
{
    aclError error = check_pids(__func__, pid, pidNum);
    return error ? error : acl_result(__func__, api_physical_allow(shareableHandle, pid, pidNum));
}

// Fabric handles reach other hosts.
static aclError check_share_type(const char *func, aclrtMemSharedHandleType shareType,
                                 const void *shareableHandle)
{
    if (shareType == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func,
                        "memory is shared between processes of one host: no fabric handles");
    }
    if (shareType != ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func, "shareType %d is unknown",
                        (int)shareType);
    }
    return shareableHandle ? ACL_SUCCESS : acl_null(func, "shareableHandle");
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                           aclrtMemSharedHandleType shareType,
                                           void *shareableHandle)
{
    aclError error = check_share_type(__func__, shareType, shareableHandle);
    return error ? error
                 : aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, flags,
                                                   shareableHandle);
}

aclError aclrtMemImportFromShareableHandleV2(void *shareableHandle,
                                             aclrtMemSharedHandleType shareType, uint64_t flags,
                                             aclrtDrvMemHandle *handle)
{
    int32_t device;
    uint64_t id;
    aclError error = check_share_type(__func__, shareType, shareableHandle);
    if (!error && flags) {
        error = acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__, "flags 0x%llx must be 0",
                         (unsigned long long)flags);
    }
    if (!error) {
        error = aclrtGetDevice(&device);
    }
    if (error) {
        return error;
    }
    memcpy(&id, shareableHandle, sizeof(id));
    return aclrtMemImportFromShareableHandle(id, device, handle);
}

aclError aclrtMemSetPidToShareableHandleV2(void *shareableHandle,
                                           aclrtMemSharedHandleType shareType, int32_t *pid,
                                           size_t pidNum)
{
    uint64_t id;
    aclError error = check_share_type(__func__, shareType, shareableHandle);
    if (error) {
        return error;
    }
    memcpy(&id, shareableHandle, sizeof(id));
    return aclrtMemSetPidToShareableHandle(id, pid, pidNum);
}
