/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of kernels, by handle or by the address of a function of the program. */
#include "cnrt_internal.h"

#include "../api_common/process/stub.h"

leo_status cnrt_launch(const void *func, cnrtDim3_t dim, int type, cnrtQueue_t queue,
                       struct api_launch *launch)
{
    void *stream;
    const uint64_t tasks = (uint64_t)dim.x * dim.y * dim.z;
    if (!func || dim.x == 0 || dim.y == 0 || dim.z == 0 || tasks > UINT32_MAX) {
        return leo_rt_fail(API_BAD_ARGUMENT, "kernel %p with %u x %u x %u tasks", func, dim.x,
                           dim.y, dim.z);
    }
    if (type < cnrtFuncTypeBlock || type > cnrtFuncTypeUnion16 || type & (type - 1) ||
        dim.x % (unsigned)type) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "dim.x %u is no multiple of the %d cores that the tasks of a kernel of "
                           "this type take together",
                           dim.x, type);
    }
    *launch = (struct api_launch){
        .blocks = (uint32_t)tasks,
        .opts = {.task_dim = {dim.x, dim.y, dim.z}, .task_type = (uint32_t)type},
    };
    leo_status status = cnrt_stream(queue, &stream);
    launch->stream = stream;
    return status != LEO_OK ? status : api_stub_find(func, &launch->func);
}

cnrtRet_t cnrtInvokeKernel(const void *kernel, cnrtDim3_t dim, cnrtFunctionType_t ktype,
                           void **args, size_t reserved, cnrtQueue_t queue)
{
    struct api_launch launch;
    if (reserved) {
        return cnrt_fail(cnrtErrorArgsInvalid, __func__, "reserved must be 0");
    }
    leo_status status = cnrt_launch(kernel, dim, (int)ktype, queue, &launch);
    return cnrt_result(
        __func__, status != LEO_OK ? status : api_launch_array(&launch, (const void *const *)args));
}

void **__bangRegisterFatBinary(void *file)
{
    return (void **)api_image_register(file);
}

void __bangUnregisterFatBinary(void **handle)
{
    api_image_unregister((struct api_image *)handle);
}

void __bangRegisterFunction(void **handle, const char *hostFunction, char *deviceFunction,
                            const char *deviceName, int threadLimit, void *reserved1,
                            void *reserved2, cnrtDim3_t *reserved3, cnrtDim3_t *reserved4,
                            int *reserved5)
{
    (void)deviceFunction, (void)threadLimit, (void)reserved1, (void)reserved2;
    (void)reserved3, (void)reserved4, (void)reserved5;
    // No caller takes an error here: the launch reports it.
    cnrt_result(__func__,
                handle && hostFunction && deviceName
                    ? api_stub_register((struct api_image *)handle, hostFunction, deviceName)
                    : leo_rt_fail(LEO_ERR_INVALID_ARG, "an argument is NULL"));
}

cnrtRet_t __bangPushCallConfiguration(cnrtDim3_t dim, cnrtFunctionType_t ktype, cnrtQueue_t queue)
{
    const struct api_call call = {{dim.x, dim.y, dim.z}, (int)ktype, queue};
    return cnrt_result(__func__, api_call_push(&call));
}

cnrtRet_t __bangPopCallConfiguration(cnrtDim3_t *dim, cnrtFunctionType_t *ktype, cnrtQueue_t *queue)
{
    struct api_call call;
    leo_status status = dim && ktype && queue
                            ? api_call_pop(&call)
                            : leo_rt_fail(API_BAD_ARGUMENT, "an argument is NULL");
    if (status == LEO_OK) {
        *dim = (cnrtDim3_t){call.dim[0], call.dim[1], call.dim[2]};
        *ktype = (cnrtFunctionType_t)call.type;
        *queue = call.stream;
    }
    return cnrt_result(__func__, status);
}

static cnrtRet_t profile_a_part(const char *func)
{
    return cnrt_fail(
        cnrtErrorNotSupport, func,
        "a part of a process is not profiled: set LEO_PROFILE to a folder for all of it");
}

cnrtRet_t cnrtProfilerStart(void)
{
    return profile_a_part(__func__);
}

cnrtRet_t cnrtProfilerStop(void)
{
    return profile_a_part(__func__);
}
