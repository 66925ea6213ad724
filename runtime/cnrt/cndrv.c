/* SPDX-License-Identifier: Apache-2.0 */
/* CNDrv: the driver interface. Queues, notifiers and memory are cnrt.h's; contexts, modules and
 * kernels are named here. */
#include "cnrt_internal.h"

#include "../api_common/process/stub.h"

// Both interfaces share their numbers.
static CNresult result(const char *func, leo_status status)
{
    return (CNresult)cnrt_result(func, status);
}

static CNresult null(const char *func)
{
    return (CNresult)cnrt_fail(cnrtErrorArgsInvalid, func, "an argument is NULL");
}

CNresult cnInit(unsigned int flags)
{
    uint32_t count;
    return flags ? (CNresult)cnrt_fail(cnrtErrorArgsInvalid, __func__, "flags must be 0")
                 : result(__func__, api_device_count(&count));
}

CNresult cnGetLibVersion(int *major, int *minor, int *patch)
{
    return (CNresult)cnrtGetLibVersion(major, minor, patch);
}

CNresult cnGetDriverVersion(int *major, int *minor, int *patch)
{
    return (CNresult)cnrtDriverGetVersion(major, minor, patch);
}

CNresult cnDeviceGetCount(int *count)
{
    unsigned number;
    if (!count) {
        return null(__func__);
    }
    CNresult code = (CNresult)cnrtGetDeviceCount(&number);
    if (code == CN_SUCCESS) {
        *count = (int)number;
    }
    return code;
}

CNresult cnDeviceGet(CNdev *device, int ordinal)
{
    return (CNresult)cnrtGetDeviceHandle(device, ordinal);
}

CNresult cnDeviceGetName(char *name, int length, CNdev device)
{
    return name && length > 0
               ? result(__func__, cnrt_device_name((int64_t)device, name, (size_t)length))
               : null(__func__);
}

CNresult cnDeviceGetAttribute(int *value, CNdevice_attribute attribute, CNdev device)
{
    return device <= INT32_MAX
               ? (CNresult)cnrtDeviceGetAttribute(value, (cnrtDeviceAttr_t)attribute, (int)device)
               : (CNresult)cnrt_fail(cnrtErrorDeviceInvalid, __func__, "no such device");
}

CNresult cnDeviceTotalMem(size_t *bytes, CNdev device)
{
    struct leo_caps caps;
    if (!bytes) {
        return null(__func__);
    }
    CNresult code = result(__func__, api_device_caps((int64_t)device, &caps));
    if (code == CN_SUCCESS) {
        *bytes = caps.hbm_bytes;
    }
    return code;
}

CNresult cnCtxCreate(CNcontext *context, unsigned int flags, CNdev device)
{
    enum {
        SCHEDULING_MAX = 3
    }; // spin, wait, yield, auto: how a host thread waits, which is one here
    struct api_context *made;
    if (!context || flags > SCHEDULING_MAX || device > INT32_MAX) {
        return (CNresult)cnrt_fail(cnrtErrorArgsInvalid, __func__,
                                   "context is NULL, or flags or device are unknown");
    }
    CNresult code = result(__func__, api_context_create((int32_t)device, &made));
    if (code == CN_SUCCESS) {
        *context = (CNcontext)(void *)made;
    }
    return code;
}

CNresult cnCtxDestroy(CNcontext context)
{
    return context ? result(__func__, api_context_destroy(context)) : null(__func__);
}

CNresult cnCtxSetCurrent(CNcontext context)
{
    return result(__func__, api_context_set(context));
}

CNresult cnCtxGetCurrent(CNcontext *context)
{
    void *found;
    if (!context) {
        return null(__func__);
    }
    CNresult code = result(__func__, api_context_get(&found));
    if (code == CN_SUCCESS) {
        *context = found;
    }
    return code;
}

CNresult cnCtxGetDevice(CNdev *device)
{
    int32_t current;
    if (!device) {
        return null(__func__);
    }
    CNresult code = result(__func__, api_device_current(&current));
    if (code == CN_SUCCESS) {
        *device = (CNdev)current;
    }
    return code;
}

CNresult cnCtxSync(void)
{
    return (CNresult)cnrtSyncDevice();
}

CNresult cnSharedContextAcquire(CNcontext *context, CNdev device)
{
    if (!context || device > INT32_MAX) {
        return null(__func__);
    }
    CNresult code = result(__func__, api_device_set((int32_t)device));
    return code == CN_SUCCESS ? cnCtxGetCurrent(context) : code;
}

CNresult cnSharedContextRelease(CNdev device)
{
    return device <= INT32_MAX
               ? result(__func__, api_device_reset((int32_t)device, false))
               : (CNresult)cnrt_fail(cnrtErrorDeviceInvalid, __func__, "no such device");
}

CNresult cnGetCtxMaxParallelUnionTasks(CNcontext context, KernelClass type, int *count)
{
    int32_t device;
    int clusters, cores;
    if (!count || type < CN_KERNEL_CLASS_UNION || type > CN_KERNEL_CLASS_UNION16) {
        return (CNresult)cnrt_fail(cnrtErrorArgsInvalid, __func__,
                                   "count is NULL or the class takes no clusters");
    }
    leo_status status = api_context_device(context, &device);
    if (status == LEO_OK) {
        status = cnrt_attribute(cnrtAttrClusterCount, device, &clusters);
    }
    if (status == LEO_OK) {
        status = cnrt_attribute(cnrtAttrMcorePerCluster, device, &cores);
    }
    if (status == LEO_OK) {
        *count = clusters * cores / (int)type;
    }
    return result(__func__, status);
}

CNresult cnCreateQueue(CNqueue *queue, unsigned int flags)
{
    return flags ? (CNresult)cnrt_fail(cnrtErrorArgsInvalid, __func__, "flags must be 0")
                 : (CNresult)cnrtQueueCreate(queue);
}

CNresult cnCreateQueueWithPriority(CNqueue *queue, unsigned int flags, int priority)
{
    return (CNresult)cnrtQueueCreateWithPriority(queue, flags, priority);
}

CNresult cnDestroyQueue(CNqueue queue)
{
    return (CNresult)cnrtQueueDestroy(queue);
}

CNresult cnQueueSync(CNqueue queue)
{
    return (CNresult)cnrtQueueSync(queue);
}

CNresult cnQueryQueue(CNqueue queue)
{
    return (CNresult)cnrtQueueQuery(queue);
}

CNresult cnCreateNotifier(CNnotifier *notifier, unsigned int flags)
{
    return (CNresult)cnrtNotifierCreateWithFlags(notifier, flags);
}

CNresult cnDestroyNotifier(CNnotifier notifier)
{
    return (CNresult)cnrtNotifierDestroy(notifier);
}

CNresult cnPlaceNotifier(CNnotifier notifier, CNqueue queue)
{
    return (CNresult)cnrtPlaceNotifier(notifier, queue);
}

CNresult cnQueryNotifier(CNnotifier notifier)
{
    return (CNresult)cnrtQueryNotifier(notifier);
}

CNresult cnWaitNotifier(CNnotifier notifier)
{
    return (CNresult)cnrtWaitNotifier(notifier);
}

CNresult cnQueueWaitNotifier(CNnotifier notifier, CNqueue queue, unsigned int flags)
{
    return (CNresult)cnrtQueueWaitNotifier(notifier, queue, flags);
}

CNresult cnNotifierElapsedTime(CNnotifier start, CNnotifier end, float *ms)
{
    return (CNresult)cnrtNotifierElapsedTime(start, end, ms);
}

CNresult cnNotifierElapsedExecTime(CNnotifier start, CNnotifier end, float *ms)
{
    CNresult code = (CNresult)cnrtNotifierDuration(start, end, ms);
    if (code == CN_SUCCESS) {
        *ms /= 1000;
    }
    return code;
}

CNresult cnMalloc(CNaddr *addr, size_t bytes)
{
    void *ptr;
    if (!addr) {
        return null(__func__);
    }
    CNresult code = (CNresult)cnrtMalloc(&ptr, bytes);
    if (code == CN_SUCCESS) {
        *addr = (uintptr_t)ptr;
    }
    return code;
}

CNresult cnMallocConstant(CNaddr *addr, size_t bytes)
{
    return cnMalloc(addr, bytes);
}

CNresult cnFree(CNaddr addr)
{
    return (CNresult)cnrtFree((void *)(uintptr_t)addr);
}

CNresult cnMallocHost(void **ptr, size_t bytes)
{
    return (CNresult)cnrtHostMalloc(ptr, bytes);
}

CNresult cnFreeHost(void *ptr)
{
    return (CNresult)cnrtFreeHost(ptr);
}

CNresult cnMemcpyHtoD(CNaddr dst, const void *src, size_t bytes)
{
    return (CNresult)cnrtMemcpy((void *)(uintptr_t)dst, (void *)(uintptr_t)src, bytes,
                                cnrtMemcpyHostToDev);
}

CNresult cnMemcpyDtoH(void *dst, CNaddr src, size_t bytes)
{
    return (CNresult)cnrtMemcpy(dst, (void *)(uintptr_t)src, bytes, cnrtMemcpyDevToHost);
}

CNresult cnMemcpyDtoD(CNaddr dst, CNaddr src, size_t bytes)
{
    return (CNresult)cnrtMemcpy((void *)(uintptr_t)dst, (void *)(uintptr_t)src, bytes,
                                cnrtMemcpyDevToDev);
}

CNresult cnMemcpyDtoDAsync(CNaddr dst, CNaddr src, size_t bytes, CNqueue queue)
{
    return (CNresult)cnrtMemcpyAsync((void *)(uintptr_t)dst, (void *)(uintptr_t)src, bytes, queue,
                                     cnrtMemcpyDevToDev);
}

CNresult cnModuleLoadFatBinary(const void *file, CNmodule *module)
{
    void *loaded;
    if (!file || !module) {
        return null(__func__);
    }
    CNresult code = result(__func__, api_module_load_image(file, &loaded));
    if (code == CN_SUCCESS) {
        *module = loaded;
    }
    return code;
}

CNresult cnModuleLoad(const char *path, CNmodule *module)
{
    void *loaded;
    if (!path || !module) {
        return null(__func__);
    }
    CNresult code = result(__func__, api_module_load_file(path, &loaded));
    if (code == CN_SUCCESS) {
        *module = loaded;
    }
    return code;
}

CNresult cnModuleGetKernel(CNmodule module, const char *name, CNkernel *kernel)
{
    void *found;
    if (!name || !kernel) {
        return null(__func__);
    }
    CNresult code = result(__func__, api_module_find(module, name, &found));
    if (code == CN_SUCCESS) {
        *kernel = found;
    }
    return code;
}

CNresult cnModuleUnload(CNmodule module)
{
    return result(__func__, api_module_unload(module));
}

CNresult cnInvokeKernel(CNkernel kernel, unsigned int dimX, unsigned int dimY, unsigned int dimZ,
                        KernelClass type, unsigned int reserve, CNqueue queue, void **params,
                        void **extra)
{
    struct api_launch launch;
    const cnrtDim3_t dim = {dimX, dimY, dimZ};
    if (reserve || extra) {
        return (CNresult)cnrt_fail(cnrtErrorArgsInvalid, __func__,
                                   "reserve must be 0 and extra NULL");
    }
    leo_status status = cnrt_launch(kernel, dim, (int)type, queue, &launch);
    return result(__func__, status != LEO_OK
                                ? status
                                : api_launch_array(&launch, (const void *const *)params));
}
