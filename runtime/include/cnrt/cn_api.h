/* SPDX-License-Identifier: Apache-2.0 */
/* CNDrv names over the simulated card: the driver interface that cnrt.h stands on. Written from
 * documented names, values and behaviour. */
#pragma once

#include "cnrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The same numbers as cnrtRet_t. */
typedef enum {
    CN_SUCCESS = 0,
    CN_ERROR_NOT_READY = 1,
    CN_ERROR_NOT_INITIALIZED = 100002,
    CN_ERROR_NO_DEVICE = 100004,
    CN_ERROR_INVALID_DEVICE = 100005,
    CN_ERROR_INVALID_VALUE = 100006,
    CN_ERROR_OPERATING_SYSTEM = 100007,
    CN_ERROR_SYSTEM_OUT_OF_MEMORY = 100010,
    CN_ERROR_INVALID_HANDLE = 100014,
    CN_ERROR_ILLEGAL_STATE = 100015,
    CN_ERROR_NOT_SUPPORTED = 100050,
    CN_ERROR_NOT_PERMITTED = 100051,
    CN_ERROR_QUEUE = 100060,
    CN_MEMORY_ERROR_OUT_OF_MEMORY = 100100,
    CN_INVOKE_ERROR_KERNEL_TRAP = 100132,
    CN_INVOKE_ERROR_KERNEL_USER_TRAP = 100133,
    CN_OPS_ERROR_NOT_FOUND = 100301,
    CN_ERROR_INVALID_KERNEL = 100302,
    CN_ERROR_UNSUPPORTED_VERSION = 100303,
    CN_ERROR_UNKNOWN = 999991
} CNresult;

typedef uint64_t CNdev;
typedef uint64_t CNaddr;
typedef cnrtQueue_t CNqueue;
typedef cnrtNotifier_t CNnotifier;
typedef struct CNcontext_st *CNcontext;
typedef struct CNmodule_st *CNmodule;
typedef struct CNkernel_st *CNkernel;

typedef enum {
    CN_KERNEL_CLASS_BLOCK = 1,
    CN_KERNEL_CLASS_UNION = 4,
    CN_KERNEL_CLASS_UNION2 = 8,
    CN_KERNEL_CLASS_UNION4 = 16,
    CN_KERNEL_CLASS_UNION8 = 32,
    CN_KERNEL_CLASS_UNION16 = 64,
    CN_KERNEL_CLASS_NONE = 0xFF
} KernelClass;

typedef enum {
    CN_CTX_CONFIG_VISIBLE_CLUSTER = 0,
    CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM = 1,
    CN_CTX_CONFIG_UNION_LIMIT = 2
} CNctxConfigParamType;

typedef union {
    uint64_t visibleCluster; /**< a bit each */
    uint64_t visibleClusterNumber;
    KernelClass unionLimit;
} CNctxConfigParam;

/** The numbers of cnrtDeviceAttr_t. */
typedef enum {
    CN_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 0x01,
    CN_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 0x02,
    CN_DEVICE_ATTRIBUTE_MAX_QUEUE_COUNT = 0x101,
    CN_DEVICE_ATTRIBUTE_MAX_NOTIFIER_COUNT = 0x102,
    CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_X = 0x201,
    CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_Y = 0x202,
    CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_Z = 0x203,
    CN_DEVICE_ATTRIBUTE_MAX_CLUSTER_COUNT_PER_UNION_TASK = 0x204,
    CN_DEVICE_ATTRIBUTE_MAX_CLUSTER_COUNT = 0x205,
    CN_DEVICE_ATTRIBUTE_MAX_CORE_COUNT_PER_CLUSTER = 0x206,
    CN_DEVICE_ATTRIBUTE_MLU_ISA_VERSION = 0x20a,
    CN_DEVICE_ATTRIBUTE_MAX_L2_CACHE_SIZE = 0x301,
    CN_DEVICE_ATTRIBUTE_NRAM_SIZE_PER_CORE = 0x302,
    CN_DEVICE_ATTRIBUTE_WEIGHT_RAM_SIZE_PER_CORE = 0x303,
    CN_DEVICE_ATTRIBUTE_MAX_SHARED_RAM_SIZE_PER_CLUSTER = 0x306,
    CN_DEVICE_ATTRIBUTE_LINEAR_MAPPING_SUPPORTED = 0x310, /**< 0: no memory here is mapped so */
    CN_DEVICE_ATTRIBUTE_CLUSTER_CLOCK_RATE = 0x402,
    CN_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 0x403,
    CN_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 0x404,
    CN_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_TOTAL_SIZE = 0x405
} CNdevice_attribute;

CNRT_FUNC_VISIBILITY CNresult cnInit(unsigned int flags);
CNRT_FUNC_VISIBILITY CNresult cnGetLibVersion(int *major, int *minor, int *patch);
CNRT_FUNC_VISIBILITY CNresult cnGetDriverVersion(int *major, int *minor, int *patch);
CNRT_FUNC_VISIBILITY CNresult cnGetErrorString(CNresult result, const char **text);
CNRT_FUNC_VISIBILITY CNresult cnGetErrorName(CNresult result, const char **name);

CNRT_FUNC_VISIBILITY CNresult cnDeviceGetCount(int *count);
CNRT_FUNC_VISIBILITY CNresult cnDeviceGet(CNdev *device, int ordinal);
CNRT_FUNC_VISIBILITY CNresult cnDeviceGetName(char *name, int length, CNdev device);
CNRT_FUNC_VISIBILITY CNresult cnDeviceGetAttribute(int *value, CNdevice_attribute attribute,
                                                   CNdev device);
CNRT_FUNC_VISIBILITY CNresult cnDeviceTotalMem(size_t *bytes, CNdev device);
/** 36 characters in groups; a simulated card's number is the last. */
CNRT_FUNC_VISIBILITY CNresult cnDeviceGetUuidStr(char *uuid, int length, CNdev device);

CNRT_FUNC_VISIBILITY CNresult cnCtxCreate(CNcontext *context, unsigned int flags, CNdev device);
CNRT_FUNC_VISIBILITY CNresult cnCtxDestroy(CNcontext context);
CNRT_FUNC_VISIBILITY CNresult cnCtxSetCurrent(CNcontext context);
CNRT_FUNC_VISIBILITY CNresult cnCtxGetCurrent(CNcontext *context);
CNRT_FUNC_VISIBILITY CNresult cnCtxGetDevice(CNdev *device);
CNRT_FUNC_VISIBILITY CNresult cnCtxSync(void);
/** The device's own context, which calls of cnrt.h use; each is released once. */
CNRT_FUNC_VISIBILITY CNresult cnSharedContextAcquire(CNcontext *context, CNdev device);
CNRT_FUNC_VISIBILITY CNresult cnSharedContextRelease(CNdev device);
/** Whether the device's own context is in use; flags are 0. */
enum { CN_CONTEXT_STATE_INACTIVE = 0, CN_CONTEXT_STATE_ACTIVE = 1 };
CNRT_FUNC_VISIBILITY CNresult cnSharedContextGetState(CNdev device, unsigned int *flags,
                                                      int *state);
/** How many tasks of a class run at a time. */
CNRT_FUNC_VISIBILITY CNresult cnGetCtxMaxParallelUnionTasks(CNcontext context, KernelClass type,
                                                            int *count);
/** Contexts have all clusters of their card, and launches no limit below its largest union: set is
 * refused for anything else. */
CNRT_FUNC_VISIBILITY CNresult cnGetCtxConfigParam(CNcontext context, CNctxConfigParamType type,
                                                  CNctxConfigParam *param);
CNRT_FUNC_VISIBILITY CNresult cnSetCtxConfigParam(CNcontext context, CNctxConfigParamType type,
                                                  CNctxConfigParam *param);
CNRT_FUNC_VISIBILITY CNresult cnQueueGetContext(CNqueue queue, CNcontext *context);

CNRT_FUNC_VISIBILITY CNresult cnCreateQueue(CNqueue *queue, unsigned int flags);
CNRT_FUNC_VISIBILITY CNresult cnCreateQueueWithPriority(CNqueue *queue, unsigned int flags,
                                                        int priority);
CNRT_FUNC_VISIBILITY CNresult cnDestroyQueue(CNqueue queue);
CNRT_FUNC_VISIBILITY CNresult cnQueueSync(CNqueue queue);
CNRT_FUNC_VISIBILITY CNresult cnQueryQueue(CNqueue queue);
CNRT_FUNC_VISIBILITY CNresult cnCreateNotifier(CNnotifier *notifier, unsigned int flags);
CNRT_FUNC_VISIBILITY CNresult cnDestroyNotifier(CNnotifier notifier);
CNRT_FUNC_VISIBILITY CNresult cnPlaceNotifier(CNnotifier notifier, CNqueue queue);
CNRT_FUNC_VISIBILITY CNresult cnQueryNotifier(CNnotifier notifier);
CNRT_FUNC_VISIBILITY CNresult cnWaitNotifier(CNnotifier notifier);
CNRT_FUNC_VISIBILITY CNresult cnQueueWaitNotifier(CNnotifier notifier, CNqueue queue,
                                                  unsigned int flags);
/** Milliseconds; ExecTime is the device's own clock, which is the same here. */
CNRT_FUNC_VISIBILITY CNresult cnNotifierElapsedTime(CNnotifier start, CNnotifier end, float *ms);
CNRT_FUNC_VISIBILITY CNresult cnNotifierElapsedExecTime(CNnotifier start, CNnotifier end,
                                                        float *ms);

CNRT_FUNC_VISIBILITY CNresult cnMalloc(CNaddr *addr, size_t bytes);
CNRT_FUNC_VISIBILITY CNresult cnMallocConstant(CNaddr *addr, size_t bytes);
CNRT_FUNC_VISIBILITY CNresult cnFree(CNaddr addr);
CNRT_FUNC_VISIBILITY CNresult cnMallocHost(void **ptr, size_t bytes);
CNRT_FUNC_VISIBILITY CNresult cnFreeHost(void *ptr);
CNRT_FUNC_VISIBILITY CNresult cnMemcpyHtoD(CNaddr dst, const void *src, size_t bytes);
CNRT_FUNC_VISIBILITY CNresult cnMemcpyDtoH(void *dst, CNaddr src, size_t bytes);
CNRT_FUNC_VISIBILITY CNresult cnMemcpyDtoD(CNaddr dst, CNaddr src, size_t bytes);
CNRT_FUNC_VISIBILITY CNresult cnMemcpyDtoDAsync(CNaddr dst, CNaddr src, size_t bytes,
                                                CNqueue queue);

/* Addresses reserved apart from the memory behind them. Numbers of these enumerators are this
 * library's own. */
typedef uint64_t CNmemGenericAllocationHandle;
typedef enum { CN_MEM_ALLOCATION_TYPE_DEFAULT = 0 } CNmemAllocationType;
typedef enum {
    CN_MEM_LOCATION_TYPE_INVALID = 0,
    CN_MEM_LOCATION_TYPE_DEVICE = 1
} CNmemLocationType;
typedef enum { CN_MEM_HANDLE_TYPE_NONE = 0 } CNmemAllocationHandleType;
typedef enum { CN_MEM_ALLOCATION_COMP_NONE = 0 } CNmemAllocationCompType;
typedef enum {
    CN_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    CN_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1
} CNmemAllocationGranularity_flags;
typedef enum {
    CN_MEM_ACCESS_FLAGS_PROT_NONE = 0,
    CN_MEM_ACCESS_FLAGS_PROT_READONLY = 1,
    CN_MEM_ACCESS_FLAGS_PROT_READWRITE = 3
} CNmemAccess_flags;
typedef struct {
    CNmemLocationType type;
    int id; /**< of the device */
} CNmemLocation;
typedef struct {
    CNmemAllocationType type;
    CNmemAllocationHandleType requestedHandleTypes;
    CNmemLocation location;
    struct {
        unsigned char compressionType;
    } allocFlags;
} CNmemAllocationProp;
typedef struct {
    CNmemLocation location;
    CNmemAccess_flags accessFlags;
} CNmemAccessDesc;
typedef enum { CN_MEM_ATTRIBUTE_ISLINEAR = 1 } CNmem_attribute;

/** 2 MiB, asked for either way. */
CNRT_FUNC_VISIBILITY CNresult cnMemGetAllocationGranularity(
    size_t *granularity, const CNmemAllocationProp *prop, CNmemAllocationGranularity_flags option);
CNRT_FUNC_VISIBILITY CNresult cnMemCreate(CNmemGenericAllocationHandle *handle, size_t bytes,
                                          const CNmemAllocationProp *prop,
                                          unsigned long long flags);
CNRT_FUNC_VISIBILITY CNresult cnMemRelease(CNmemGenericAllocationHandle handle);
/** `wanted` is a hint. */
CNRT_FUNC_VISIBILITY CNresult cnMemAddressReserve(CNaddr *addr, size_t bytes, size_t alignment,
                                                  CNaddr wanted, unsigned long long flags);
CNRT_FUNC_VISIBILITY CNresult cnMemAddressFree(CNaddr addr, size_t bytes);
/** The whole of the memory, from offset 0, at one address at a time. */
CNRT_FUNC_VISIBILITY CNresult cnMemMap(CNaddr addr, size_t bytes, size_t offset,
                                       CNmemGenericAllocationHandle handle,
                                       unsigned long long flags);
CNRT_FUNC_VISIBILITY CNresult cnMemUnmap(CNaddr addr, size_t bytes);
/** Mapped memory is the device's to read and write: anything else is refused. */
CNRT_FUNC_VISIBILITY CNresult cnMemSetAccess(CNaddr addr, size_t bytes,
                                             const CNmemAccessDesc *access, size_t count);
/** Whether device memory is mapped linearly, as int: never. */
CNRT_FUNC_VISIBILITY CNresult cnGetMemAttribute(void *data, CNmem_attribute attribute, CNaddr addr);

/** A kernel file in memory: its size is found from its head. */
CNRT_FUNC_VISIBILITY CNresult cnModuleLoadFatBinary(const void *file, CNmodule *module);
CNRT_FUNC_VISIBILITY CNresult cnModuleLoad(const char *path, CNmodule *module);
CNRT_FUNC_VISIBILITY CNresult cnModuleGetKernel(CNmodule module, const char *name,
                                                CNkernel *kernel);
CNRT_FUNC_VISIBILITY CNresult cnModuleUnload(CNmodule module);
CNRT_FUNC_VISIBILITY CNresult cnInvokeKernel(CNkernel kernel, unsigned int dimX, unsigned int dimY,
                                             unsigned int dimZ, KernelClass type,
                                             unsigned int reserve, CNqueue queue, void **params,
                                             void **extra);

#ifdef __cplusplus
}
#endif
