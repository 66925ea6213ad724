/* SPDX-License-Identifier: Apache-2.0 */
/* The first generation's names. */
#include "cnrt_internal.h"

#include "../api_common/process/stub.h"

static cnrtRet_t null(const char *func)
{
    return cnrt_fail(cnrtErrorArgsInvalid, func, "an argument is NULL");
}

cnrtRet_t cnrtInit(unsigned int flags)
{
    return flags ? cnrt_fail(cnrtErrorArgsInvalid, __func__, "flags must be 0")
                 : cnrt_result(__func__, api_initialize(api_face.default_device));
}

void cnrtDestroy(void)
{
    // Programs initialise and destroy once for each of their tests.
    cnrt_result(__func__, api_finalize(false, NULL));
}

cnrtRet_t cnrtGetDeviceHandle(cnrtDev_t *pDevice, int ordinal)
{
    int index;
    if (!pDevice) {
        return null(__func__);
    }
    cnrtRet_t ret = cnrt_result(__func__, api_device_index(ordinal, &index));
    if (ret == cnrtSuccess) {
        *pDevice = (cnrtDev_t)ordinal;
    }
    return ret;
}

cnrtRet_t cnrtSetCurrentDevice(cnrtDev_t device)
{
    return device <= INT32_MAX
               ? cnrtSetDevice((int)device)
               : cnrt_fail(cnrtErrorDeviceInvalid, __func__, "no handle of a device");
}

cnrtRet_t cnrtSetCurrentChannel(cnrtChannelType_t channel)
{
    return channel >= CNRT_CHANNEL_TYPE_DUPLICATE && channel <= CNRT_CHANNEL_TYPE_3
               ? cnrtSuccess
               : cnrt_fail(cnrtErrorArgsInvalid, __func__, "no such channel");
}

cnrtRet_t cnrtGetDeviceInfo(cnrtDeviceInfo_t *info, int ordinal)
{
    struct leo_caps caps;
    if (!info) {
        return null(__func__);
    }
    leo_status status = cnrt_device_name(ordinal, info->device_name, sizeof(info->device_name));
    if (status == LEO_OK) {
        status = api_device_caps(ordinal, &caps);
    }
    if (status == LEO_OK) {
        info->core_version = CNRT_MLU290;
        info->core_num = (int)caps.cube_cores;
    }
    return cnrt_result(__func__, status);
}

cnrtRet_t cnrtCreateQueue(cnrtQueue_t *pQueue)
{
    return cnrtQueueCreate(pQueue);
}

cnrtRet_t cnrtDestroyQueue(cnrtQueue_t queue)
{
    return cnrtQueueDestroy(queue);
}

cnrtRet_t cnrtSyncQueue(cnrtQueue_t queue)
{
    return cnrtQueueSync(queue);
}

cnrtRet_t cnrtQueryQueue(cnrtQueue_t queue)
{
    return cnrtQueueQuery(queue);
}

cnrtRet_t cnrtCreateNotifier(cnrtNotifier_t *pNotifier)
{
    return cnrtNotifierCreate(pNotifier);
}

cnrtRet_t cnrtDestroyNotifier(cnrtNotifier_t *pNotifier)
{
    return pNotifier ? cnrtNotifierDestroy(*pNotifier) : null(__func__);
}

cnrtRet_t cnrtMallocHost(void **pPtr, size_t bytes, cnrtMallocHostType_t type)
{
    return type >= CNRT_MALLOC_HOST_TYPE_DEFAULT && type <= CNRT_MALLOC_HOST_TYPE_DEV
               ? cnrtHostMalloc(pPtr, bytes)
               : cnrt_fail(cnrtErrorArgsInvalid, __func__, "no such kind of host memory");
}

cnrtRet_t cnrtGetKernelParamsBuffer(cnrtKernelParamsBuffer_t *pParams)
{
    void *args;
    if (!pParams) {
        return null(__func__);
    }
    cnrtRet_t ret = cnrt_result(__func__, api_args_create(NULL, &args));
    if (ret == cnrtSuccess) {
        *pParams = args;
    }
    return ret;
}

cnrtRet_t cnrtKernelParamsBufferAddParam(cnrtKernelParamsBuffer_t params, void *data, size_t bytes)
{
    void *ignored;
    return cnrt_result(__func__, api_args_append(params, data, bytes, &ignored));
}

cnrtRet_t cnrtCopyKernelParamsBuffer(cnrtKernelParamsBuffer_t *dst, cnrtKernelParamsBuffer_t src)
{
    void *args;
    if (!dst) {
        return null(__func__);
    }
    cnrtRet_t ret = cnrt_result(__func__, api_args_copy(src, &args));
    if (ret == cnrtSuccess) {
        *dst = args;
    }
    return ret;
}

cnrtRet_t cnrtDestroyKernelParamsBuffer(cnrtKernelParamsBuffer_t params)
{
    return cnrt_result(__func__, api_args_destroy(params));
}

cnrtRet_t cnrtInvokeKernel_V2(const void *function, cnrtDim3_t dim, cnrtKernelParamsBuffer_t params,
                              cnrtFunctionType_t ktype, cnrtQueue_t queue)
{
    struct api_launch launch;
    leo_status status = cnrt_launch(function, dim, (int)ktype, queue, &launch);
    return cnrt_result(__func__, status != LEO_OK ? status : api_launch_args(&launch, params));
}

/* What the first generation prepares on a device for a kernel is its file loaded there; the handle
 * is an argument list without arguments, since it must be some live object. */
cnrtRet_t cnrtCreateKernelInitParam(cnrtKernelInitParam_t *pParam)
{
    void *args;
    if (!pParam) {
        return null(__func__);
    }
    cnrtRet_t ret = cnrt_result(__func__, api_args_create(NULL, &args));
    if (ret == cnrtSuccess) {
        *pParam = args;
    }
    return ret;
}

cnrtRet_t cnrtInitKernelMemory(const void *function, cnrtKernelInitParam_t param)
{
    const void *func;
    return param ? cnrt_result(__func__, api_stub_find(function, &func)) : null(__func__);
}

cnrtRet_t cnrtInvokeKernel_V3(const void *function, cnrtKernelInitParam_t init, cnrtDim3_t dim,
                              cnrtKernelParamsBuffer_t params, cnrtFunctionType_t ktype,
                              cnrtQueue_t queue, void *extra)
{
    if (!init) {
        return null(__func__);
    }
    return extra ? cnrt_fail(cnrtErrorNotSupport, __func__, "extra must be NULL")
                 : cnrtInvokeKernel_V2(function, dim, params, ktype, queue);
}

cnrtRet_t cnrtDestroyKernelInitParamAndMemory(cnrtKernelInitParam_t param)
{
    return cnrt_result(__func__, api_args_destroy(param));
}
