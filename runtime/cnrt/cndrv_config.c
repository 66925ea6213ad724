/* SPDX-License-Identifier: Apache-2.0 */
/* CNDrv: what a context may use of its card. */
#include "cnrt_internal.h"

#include <string.h>

static CNresult result(const char *func, leo_status status)
{
    return (CNresult)cnrt_result(func, status);
}

// The largest class whose clusters the card has.
static KernelClass largest_union(int clusters, int cores_per_cluster)
{
    int type = CN_KERNEL_CLASS_BLOCK;
    for (int next = CN_KERNEL_CLASS_UNION;
         next <= CN_KERNEL_CLASS_UNION16 && next <= clusters * cores_per_cluster; next *= 2) {
        type = next;
    }
    return (KernelClass)type;
}

static leo_status config(CNcontext context, CNctxConfigParamType type, CNctxConfigParam *param)
{
    int32_t device;
    int clusters, cores;
    leo_status status = api_context_device(context, &device);
    if (status == LEO_OK) {
        status = cnrt_attribute(cnrtAttrClusterCount, device, &clusters);
    }
    if (status == LEO_OK) {
        status = cnrt_attribute(cnrtAttrMcorePerCluster, device, &cores);
    }
    if (status != LEO_OK) {
        return status;
    }
    *param = (CNctxConfigParam){0};
    switch (type) {
    case CN_CTX_CONFIG_VISIBLE_CLUSTER:
        param->visibleCluster = clusters < 64 ? (UINT64_C(1) << clusters) - 1 : UINT64_MAX;
        return LEO_OK;
    case CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM:
        param->visibleClusterNumber = (uint64_t)clusters;
        return LEO_OK;
    case CN_CTX_CONFIG_UNION_LIMIT:
        param->unionLimit = largest_union(clusters, cores);
        return LEO_OK;
    default:
        return leo_rt_fail(API_BAD_ARGUMENT, "configuration %d is unknown", (int)type);
    }
}

CNresult cnGetCtxConfigParam(CNcontext context, CNctxConfigParamType type, CNctxConfigParam *param)
{
    CNctxConfigParam found;
    if (!param) {
        return (CNresult)cnrt_fail(cnrtErrorArgsInvalid, __func__, "param is NULL");
    }
    const leo_status status = config(context, type, &found);
    if (status == LEO_OK) {
        *param = found;
    }
    return result(__func__, status);
}

CNresult cnSetCtxConfigParam(CNcontext context, CNctxConfigParamType type, CNctxConfigParam *param)
{
    CNctxConfigParam has;
    if (!param || type == CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM) {
        return (CNresult)cnrt_fail(cnrtErrorArgsInvalid, __func__,
                                   "param is NULL, or is only to be read");
    }
    const leo_status status = config(context, type, &has);
    if (status != LEO_OK) {
        return result(__func__, status);
    }
    const bool is_same = type == CN_CTX_CONFIG_UNION_LIMIT
                             ? param->unionLimit == has.unionLimit
                             : param->visibleCluster == has.visibleCluster;
    return is_same ? CN_SUCCESS
                   : (CNresult)cnrt_fail(cnrtErrorNotSupport, __func__,
                                         "a context has all clusters of its card, and unions as "
                                         "large as they allow");
}

CNresult cnQueueGetContext(CNqueue queue, CNcontext *context)
{
    API_PINNED struct api_stream *found = NULL;
    void *handle;
    if (!context) {
        return (CNresult)cnrt_fail(cnrtErrorArgsInvalid, __func__, "context is NULL");
    }
    leo_status status = cnrt_stream(queue, &handle);
    if (status == LEO_OK) {
        status = api_stream_get(handle, &found);
    }
    if (status == LEO_OK) {
        *context = (CNcontext)(void *)found->context;
    }
    return result(__func__, status);
}

CNresult cnSharedContextGetState(CNdev device, unsigned int *flags, int *state)
{
    bool is_set = false;
    if (!flags || !state || device > INT32_MAX) {
        return (CNresult)cnrt_fail(cnrtErrorArgsInvalid, __func__,
                                   "flags or state is NULL, or there is no such device");
    }
    const CNresult code = result(__func__, api_device_is_set((int32_t)device, &is_set));
    *flags = 0;
    *state = is_set ? CN_CONTEXT_STATE_ACTIVE : CN_CONTEXT_STATE_INACTIVE;
    return code;
}

CNresult cnDeviceGetUuidStr(char *uuid, int length, CNdev device)
{
    enum { CHARACTERS = 36 };
    struct leo_caps caps;
    char text[CHARACTERS + 1];
    if (!uuid || length < CHARACTERS) {
        return (CNresult)cnrt_fail(cnrtErrorArgsInvalid, __func__,
                                   "uuid is NULL or has less than 36 characters");
    }
    const leo_status status = api_device_caps((int64_t)device, &caps);
    if (status == LEO_OK) {
        snprintf(text, sizeof(text), "6c656f6e-6172-646f-6d6c-%012u", (unsigned)device);
        memcpy(uuid, text, length > CHARACTERS ? sizeof(text) : CHARACTERS);
    }
    return result(__func__, status);
}
