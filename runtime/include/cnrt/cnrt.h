/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CNRT names of both generations, over the simulated card. Written from documented names, values
 * and behaviour. Kernels are ELF files of this project (leo cc --soc mlu370); their handle is what
 * cnModuleGetKernel gives (cn_api.h), or a function registered for it (__bangRegisterFunction).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CNRT_FUNC_VISIBILITY __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

#define CNRT_MAJOR_VERSION 6
#define CNRT_MINOR_VERSION 14
#define CNRT_PATCH_VERSION 1
#define CNRT_VERSION       (CNRT_MAJOR_VERSION * 10000 + CNRT_MINOR_VERSION * 100 + CNRT_PATCH_VERSION)

/** What calls return: numbers of the present generation, and those of the first under their names.
 */
typedef enum {
    cnrtSuccess = 0,
    cnrtErrorNotReady = 1,
    cnrtErrorInit = 100002,
    cnrtErrorNoDevice = 100004,
    cnrtErrorDeviceInvalid = 100005,
    cnrtErrorArgsInvalid = 100006,
    cnrtErrorSys = 100007,
    cnrtErrorSysNoMem = 100010,
    cnrtErrorInvalidResourceHandle = 100014,
    cnrtErrorIllegalState = 100015,
    cnrtErrorNotSupport = 100050,
    cnrtErrorOpsNotPermitted = 100051,
    cnrtErrorQueue = 100060,
    cnrtErrorNoMem = 100100,
    cnrtErrorAssert = 100128,
    cnrtErrorKernelTrap = 100132,
    cnrtErrorKernelUserTrap = 100133,
    cnrtErrorNotFound = 100301,
    cnrtErrorInvalidKernel = 100302,
    cnrtErrorUnsupportedKernelVersion = 100303,
    cnrtErrorNoKernel = 101312,
    cnrtErrorNoModule = 101315,
    cnrtErrorSetOnActiveProcess = 632002,
    cnrtErrorDevice = 632006,
    cnrtErrorNoAttribute = 632009,
    cnrtErrorMemcpyDirectionInvalid = 632013,
    cnrtErrorBusy = 632014,
    cnrtErrorCndrvFuncCall = 632015,
    cnrtErrorCndevFuncCall = 632017,
    cnrtErrorNoCnrtContext = 632019,
    cnrtErrorCndrvFuncNotFound = 632020,
    cnrtErrorInvalidSymbol = 632100,
    cnrtErrorUnknown = 999991,
    CNRT_RET_SUCCESS = 0,
    CNRT_RET_ERR_NOT_READY = 632006,
    CNRT_RET_ERR_INVALID = 632007,
    CNRT_RET_ERR_NOMEM = 632008,
    CNRT_RET_ERR_NODEV = 632009,
    CNRT_RET_ERR_BUSY = 632014,
    CNRT_RET_ERR_EXIST = 632016,
    CNRT_RET_ERR_UNSUPPORTED = 632020,
    CNRT_RET_ERR_INVALID_POINTER = 632021,
    CNRT_RET_ERR_INIT = 632024,
    CNRT_RET_ERR_QUEUE = 632025,
    CNRT_RET_ERR_NOTIFIER = 632034,
    CNRT_RET_ERR_MEMCPY = 632036,
    CNRT_RET_ERR_UNKNOWN = 999991
} cnrtRet_t;

struct CNqueue_st;
struct CNnotifier_st;
typedef struct CNqueue_st *cnrtQueue_t;
typedef struct CNnotifier_st *cnrtNotifier_t;
#define cnrtQueue    struct CNqueue_st
#define cnrtNotifier struct CNnotifier_st
/* Queues that need not be made: each thread's own (NULL means it too), and one for all threads. */
#define cnrtQueuePerThread ((cnrtQueue_t)1)
#define cnrtQueueLegacy    ((cnrtQueue_t)2)

typedef struct {
    unsigned int x, y, z;
} cnrtDim3_t;

/** How many cores a task of a kernel takes together; the value is that number of cores. */
typedef enum {
    cnrtFuncTypeBlock = 1,
    cnrtFuncTypeBlock0 = 1,
    cnrtFuncTypeBlock1 = 2,
    cnrtFuncTypeUnion1 = 4,
    cnrtFuncTypeUnion2 = 8,
    cnrtFuncTypeUnion4 = 16,
    cnrtFuncTypeUnion8 = 32,
    cnrtFuncTypeUnion16 = 64,
    cnrtFuncTypeMutable = -1,
    CNRT_FUNC_TYPE_BLOCK = 1,
    CNRT_FUNC_TYPE_BLOCK0 = 1,
    CNRT_FUNC_TYPE_BLOCK1 = 2,
    CNRT_FUNC_TYPE_UNION1 = 4,
    CNRT_FUNC_TYPE_UNION2 = 8,
    CNRT_FUNC_TYPE_UNION4 = 16,
    CNRT_FUNC_TYPE_UNION8 = 32,
    CNRT_FUNC_TYPE_UNION16 = 64,
    CNRT_FUNC_TYPE_MUTABLE = -1
} cnrtFunctionType_t;
typedef cnrtFunctionType_t cnrtJobType_t;
#define cnrtJobTypeBlock   cnrtFuncTypeBlock
#define cnrtJobTypeUnion1  cnrtFuncTypeUnion1
#define cnrtJobTypeUnion2  cnrtFuncTypeUnion2
#define cnrtJobTypeUnion4  cnrtFuncTypeUnion4
#define cnrtJobTypeUnion8  cnrtFuncTypeUnion8
#define cnrtJobTypeUnion16 cnrtFuncTypeUnion16

typedef enum {
    cnrtMemcpyHostToDev = 0,
    cnrtMemcpyDevToDev = 1,
    cnrtMemcpyDevToHost = 2,
    cnrtMemcpyHostToHost = 3,
    cnrtMemcpyPeerToPeer = 4,
    cnrtMemcpyNoDirection = 5,
    CNRT_MEM_TRANS_DIR_HOST2DEV = 0,
    CNRT_MEM_TRANS_DIR_DEV2DEV = 1,
    CNRT_MEM_TRANS_DIR_DEV2HOST = 2,
    CNRT_MEM_TRANS_DIR_HOST2HOST = 3,
    CNRT_MEM_TRANS_DIR_PEER2PEER = 4,
    CNRT_MEM_TRANS_DIR_NODIR = 5
} cnrtMemTransDir_t;

typedef enum {
    cnrtMemTypeUnregistered = 0,
    cnrtMemTypeHost = 1,
    cnrtMemTypeDevice = 2
} cnrtMemType;
typedef struct {
    cnrtMemType type;
    int device;
    size_t size;
    void *devicePointer, *hostPointer;
    int cacheMode;
    void *deviceBasePointer;
} cnrtPointerAttributes_t;

typedef enum {
    cnrtInvalid = 0,
    cnrtFloat16 = 0x12,
    cnrtFloat32 = 0x13,
    cnrtFloat64 = 0x14,
    cnrtInt8 = 0x21,
    cnrtInt16 = 0x22,
    cnrtInt32 = 0x23,
    cnrtInt64 = 0x24,
    cnrtUInt8 = 0x31,
    cnrtUInt16 = 0x32,
    cnrtUInt32 = 0x33,
    cnrtBool = 0x61,
    CNRT_INVALID = 0,
    CNRT_FLOAT16 = 0x12,
    CNRT_FLOAT32 = 0x13,
    CNRT_FLOAT64 = 0x14,
    CNRT_INT8 = 0x21,
    CNRT_INT16 = 0x22,
    CNRT_INT32 = 0x23,
    CNRT_INT64 = 0x24,
    CNRT_UINT8 = 0x31,
    CNRT_UINT16 = 0x32,
    CNRT_UINT32 = 0x33,
    CNRT_BOOL = 0x61
} cnrtDataType_t;

/** Types as newer programs count them: of matrices and of kernels' arguments. */
typedef enum {
    cnrtUnknown = 0,
    cnrtDouble = 1,
    cnrtFloat = 2,
    cnrtHalf = 3,
    cnrtBfloat = 4,
    cnrtUlonglong = 0x11,
    cnrtUint = 0x12,
    cnrtUshort = 0x13,
    cnrtUchar = 0x14,
    cnrtLonglong = 0x21,
    cnrtInt = 0x22,
    cnrtShort = 0x23,
    cnrtChar = 0x24,
    cnrtBoolean = 0x31
} cnrtDataType_V2_t;

#define CNRT_NOTIFIER_DEFAULT 0
/** The host sleeps while it waits, as it does for every notifier here. [A] the number. */
#define CNRT_NOTIFIER_SYNC_WAIT          1
#define CNRT_NOTIFIER_DISABLE_TIMING_SW  2
#define CNRT_NOTIFIER_DISABLE_TIMING_ALL 4
#define CNRT_NOTIFIER_INTERPROCESS       8

/** Numbers of a card; cn_api.h has the same under CN_DEVICE_ATTRIBUTE_ names. */
typedef enum {
    cnrtAttrComputeCapabilityMajor = 0x01,
    cnrtAttrComputeCapabilityMinor = 0x02,
    cnrtAttrFP16ComputingSupported = 0x04,
    cnrtAttrINT8ComputingSupported = 0x06,
    cnrtAttrBF16ComputingSupported = 0x07,
    cnrtAttrMaxQueueCount = 0x101,
    cnrtAttrMaxNotifierCount = 0x102,
    cnrtAttrMaxDimX = 0x201,
    cnrtAttrMaxDimY = 0x202,
    cnrtAttrMaxDimZ = 0x203,
    cnrtAttrMaxClusterCountPerUnionTask = 0x204,
    cnrtAttrClusterCount = 0x205,
    cnrtAttrMcorePerCluster = 0x206,
    cnrtAttrIsaVersion = 0x20a,
    cnrtAttrISAVersion = 0x20a, /**< the same, as newer programs spell it */
    cnrtAttrMaxL2CacheSize = 0x301,
    cnrtAttrNramSizePerMcore = 0x302,
    cnrtAttrWramSizePerMcore = 0x303,
    cnrtAttrSramSizePerMcore = 0x306,
    cnrtAttrEccEnabled = 0x401,
    cnrtAttrClockRate = 0x402,
    cnrtAttrMemClockRate = 0x403,
    cnrtAttrGmemBusWidth = 0x404,
    cnrtAttrTotalMemSize = 0x405,
    cnrtAttrPciBusID = 0x406,
    cnrtAttrPciDeviceID = 0x407,
    cnrtAttrPciDomainID = 0x408
} cnrtDeviceAttr_t;

typedef struct {
    char name[256];
    int totalMem; /**< MiB */
    int maxDim[3];
    int clockRate, memClockRate; /**< kHz */
    int computeCapabilityMajor, computeCapabilityMinor;
    int clusterCount, McorePerCluster;
    int NramSizePerMcore, WramSizePerMcore, SramSizePerMcore;
    uint8_t uuid[16];
    uint64_t totalGlobalMemSize; /**< bytes */
    uint64_t reserved[32];
} cnrtDeviceProp_t;

/* ---- devices ---- */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtGetDeviceCount(unsigned int *pCount);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtGetDevice(int *pOrdinal);
/** The calling thread works on it; without a call it is 0. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtSetDevice(int ordinal);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtSyncDevice(void);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtDeviceReset(void);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtDeviceGetAttribute(int *pValue, cnrtDeviceAttr_t attr,
                                                      int ordinal);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtGetDeviceProperties(cnrtDeviceProp_t *prop, int ordinal);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtDeviceGetPCIBusId(char *pciBusIdStr, int len, int ordinal);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtDeviceGetByPCIBusId(int *ordinal, const char *pciBusIdStr);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtDeviceGetQueuePriorityRange(int *leastPriority,
                                                               int *greatestPriority);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtGetPeerAccessibility(unsigned int *canPeer, int dev, int peer);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtDriverGetVersion(int *major, int *minor, int *patch);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtGetLibVersion(int *major, int *minor, int *patch);

/* ---- memory ---- */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMalloc(void **pPtr, size_t bytes);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMallocConstant(void **pPtr, size_t bytes);
/** NULL is nothing to free. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtFree(void *ptr);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtHostMalloc(void **pPtr, size_t bytes);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtFreeHost(void *ptr);
/** Waits for no queue: synchronise first if a kernel writes the source. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemcpy(void *dst, void *src, size_t bytes,
                                          cnrtMemTransDir_t dir);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemcpyAsync(void *dst, void *src, size_t bytes,
                                               cnrtQueue_t queue, cnrtMemTransDir_t dir);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemcpyAsync_V2(void *dst, void *src, size_t bytes,
                                                  cnrtQueue_t queue, cnrtMemTransDir_t dir);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemcpyAsync_V3(void *dst, void *src, size_t bytes,
                                                  cnrtQueue_t queue, cnrtMemTransDir_t dir);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemcpy2D(void *dst, size_t dpitch, const void *src,
                                            size_t spitch, size_t width, size_t height,
                                            cnrtMemTransDir_t dir);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemcpyPeer(void *dst, int dstDevice, void *src, int srcDevice,
                                              size_t bytes);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemcpyPeerAsync(void *dst, int dstDevice, void *src,
                                                   int srcDevice, size_t bytes, cnrtQueue_t queue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemset(void *ptr, int value, size_t bytes);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemsetAsync(void *ptr, int value, size_t bytes,
                                               cnrtQueue_t queue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemGetInfo(size_t *freeBytes, size_t *totalBytes);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtPointerGetAttributes(cnrtPointerAttributes_t *attr,
                                                        const void *ptr);

/* ---- queues ---- */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtQueueCreate(cnrtQueue_t *pQueue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtQueueCreateWithPriority(cnrtQueue_t *pQueue, unsigned int flags,
                                                           int priority);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtQueueGetPriority(cnrtQueue_t queue, int *priority);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtQueueDestroy(cnrtQueue_t queue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtQueueQuery(cnrtQueue_t queue);
/** Tells of failed kernels and copies in the queue too. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtQueueSync(cnrtQueue_t queue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtQueueWaitNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue,
                                                     unsigned int flag);
typedef void (*cnrtHostFn_t)(void *args);
/** `fn` must not call this library. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtInvokeHostFunc(cnrtQueue_t queue, cnrtHostFn_t fn, void *args);

/* ---- notifiers ---- */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtNotifierCreate(cnrtNotifier_t *pNotifier);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtNotifierCreateWithFlags(cnrtNotifier_t *pNotifier,
                                                           unsigned int flags);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtNotifierDestroy(cnrtNotifier_t notifier);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtPlaceNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtPlaceNotifierWithFlags(cnrtNotifier_t notifier,
                                                          cnrtQueue_t queue, unsigned int flags);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtQueryNotifier(cnrtNotifier_t notifier);
/** A notifier never placed is not waited for. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtWaitNotifier(cnrtNotifier_t notifier);
/** Milliseconds. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtNotifierElapsedTime(cnrtNotifier_t start, cnrtNotifier_t end,
                                                       float *ms);
/** Microseconds. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtNotifierDuration(cnrtNotifier_t start, cnrtNotifier_t end,
                                                    float *us);

/** Of notifiers made with CNRT_NOTIFIER_INTERPROCESS, and the same one in another process. */
typedef struct cnrtIpcNotifierHandle {
    uint64_t reserved[8];
} cnrtIpcNotifierHandle;
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtIpcGetNotifierHandle(cnrtIpcNotifierHandle *handle,
                                                        cnrtNotifier_t notifier);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtIpcOpenNotifierHandle(cnrtNotifier_t *notifier,
                                                         cnrtIpcNotifierHandle handle);

/* ---- memory between processes ---- */
typedef uint64_t cnrtIpcMemHandle;
/** Of a whole block of cnrtMalloc of at least 4096 bytes. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtAcquireMemHandle(cnrtIpcMemHandle *handle, void *ptr);
/** In another process; flag must be 0. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMapMemHandle(void **pPtr, cnrtIpcMemHandle handle, int flag);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtUnMapMemHandle(void *ptr);

/* ---- pools of memory, in the order of queues ---- */
typedef struct CNmemoryPool_st *cnrtMemPool_t;
typedef enum cnrtMemAllocationType {
    cnrtMemAllocationTypeInvalid = 0,
    cnrtMemAllocationTypeDefault = 1
} cnrtMemAllocationType_t;
typedef enum cnrtMemAllocationHandleType {
    cnrtMemHandleTypeNone = 0,
    cnrtMemHandleTypePosixFileDescriptor = 1
} cnrtMemAllocationHandleType_t;
typedef enum cnrtMemLocationType {
    cnrtMemLocationTypeInvalid = 0,
    cnrtMemLocationTypeDevice = 1
} cnrtMemLocationType_t;
typedef struct cnrtMemLocation {
    cnrtMemLocationType_t type;
    uint32_t id;
} cnrtMemLocation_t;
typedef struct cnrtMemPoolProps {
    cnrtMemAllocationType_t type;
    cnrtMemAllocationHandleType_t requestedHandleTypes;
    cnrtMemLocation_t location;
    size_t maxSize; /**< 0: what the device has */
    unsigned char reserved[64];
} cnrtMemPoolProps_t;
typedef enum cnrtMemPoolAttr {
    cnrtMemPoolAttrReuseFollowNotifierDependencies = 1,
    cnrtMemPoolAttrReuseAllowOpportunistic = 2,
    cnrtMemPoolAttrReuseAllowInternalDependencies = 3,
    cnrtMemPoolAttrReleaseThreshold = 4,
    cnrtMemPoolAttrReservedMemCurrent = 5,
    cnrtMemPoolAttrReservedMemHigh = 6,
    cnrtMemPoolAttrUsedMemCurrent = 7,
    cnrtMemPoolAttrUsedMemHigh = 8
} cnrtMemPoolAttr_t;
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemPoolCreate(cnrtMemPool_t *memPool,
                                                 const cnrtMemPoolProps_t *poolProps);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemPoolDestroy(cnrtMemPool_t memPool);
/** Of the current device; it ends with it. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtDeviceGetDefaultMemPool(cnrtMemPool_t *memPool, int device);
/** Values are 64-bit numbers. The threshold; high marks to 0. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemPoolSetAttribute(cnrtMemPool_t memPool,
                                                       cnrtMemPoolAttr_t attr, void *value);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemPoolGetAttribute(cnrtMemPool_t memPool,
                                                       cnrtMemPoolAttr_t attr, void *value);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemPoolTrimTo(cnrtMemPool_t memPool, size_t minBytesToKeep);
/** From the default pool. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemAllocAsync(void **pPtr, size_t bytes, cnrtQueue_t queue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemAllocFromPoolAsync(void **pPtr, size_t bytes,
                                                         cnrtMemPool_t memPool, cnrtQueue_t queue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMemFreeAsync(void *ptr, cnrtQueue_t queue);

/* ---- capture of queues, and what was captured as a task that is repeated ---- */
typedef struct CNtaskTopo_st *cnrtTaskTopo_t;
typedef struct CNtaskTopoEntity_st *cnrtTaskTopoEntity_t;
typedef struct CNtaskTopoNode_st *cnrtTaskTopoNode_t;
typedef enum cnrtQueueCaptureStatus {
    cnrtQueueCaptureStatusNone = 0,
    cnrtQueueCaptureStatusActive = 1,
    cnrtQueueCaptureStatusInvalidated = 2
} cnrtQueueCaptureStatus_t;
typedef enum cnrtQueueCaptureMode {
    cnrtQueueCaptureModeGlobal = 0,
    cnrtQueueCaptureModeThreadLocal = 1,
    cnrtQueueCaptureModeRelaxed = 2
} cnrtQueueCaptureMode_t;
/** Of a queue that was created. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtQueueBeginCapture(cnrtQueue_t queue,
                                                     cnrtQueueCaptureMode_t mode);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtQueueEndCapture(cnrtQueue_t queue, cnrtTaskTopo_t *pTaskTopo);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtQueueIsCapturing(cnrtQueue_t queue,
                                                    cnrtQueueCaptureStatus_t *pStatus);
/** All but pStatus may be NULL; the dependencies must be. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtQueueGetCaptureInfo(cnrtQueue_t queue,
                                                       cnrtQueueCaptureStatus_t *pStatus,
                                                       uint64_t *pId, cnrtTaskTopo_t *pTaskTopo,
                                                       const cnrtTaskTopoNode_t **pDependencies,
                                                       size_t *pNumDependencies);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtThreadExchangeQueueCaptureMode(cnrtQueueCaptureMode_t *mode);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtTaskTopoInstantiate(cnrtTaskTopoEntity_t *pEntity,
                                                       cnrtTaskTopo_t taskTopo,
                                                       cnrtTaskTopoNode_t *pErrorNode,
                                                       char *pLogBuffer, size_t bufferSize);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtTaskTopoEntityInvoke(cnrtTaskTopoEntity_t entity,
                                                        cnrtQueue_t queue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtTaskTopoEntityDestroy(cnrtTaskTopoEntity_t entity);
/** Entities made of it stay. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtTaskTopoDestroy(cnrtTaskTopo_t taskTopo);
/** How many there are; `nodes` must be NULL. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtTaskTopoGetNodes(cnrtTaskTopo_t taskTopo,
                                                    cnrtTaskTopoNode_t *nodes, size_t *numNodes);
/** Not supported: topologies are not written as dot. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtTaskTopoDebugDotPrint(cnrtTaskTopo_t taskTopo, const char *path,
                                                         unsigned int flags);

/* ---- profiles ---- */
/** Not supported: with LEO_PROFILE the whole process is profiled, no part of it. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtProfilerStart(void);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtProfilerStop(void);

/* ---- kernels ---- */
/** args[i] points at the i-th argument's value. dim.x must be a multiple of the cores of `ktype`.
 */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtInvokeKernel(const void *kernel, cnrtDim3_t dim,
                                                cnrtFunctionType_t ktype, void **args,
                                                size_t reserved, cnrtQueue_t queue);
/* What compilers call for `kernel<<<dim, type, queue>>>(...)`: a file of kernels that a program
 * carries, and the names of its functions on host and card. Here a file is an ELF file in memory.
 */
CNRT_FUNC_VISIBILITY void **__bangRegisterFatBinary(void *file);
CNRT_FUNC_VISIBILITY void __bangUnregisterFatBinary(void **handle);
CNRT_FUNC_VISIBILITY void __bangRegisterFunction(void **handle, const char *hostFunction,
                                                 char *deviceFunction, const char *deviceName,
                                                 int threadLimit, void *reserved1, void *reserved2,
                                                 cnrtDim3_t *reserved3, cnrtDim3_t *reserved4,
                                                 int *reserved5);
CNRT_FUNC_VISIBILITY cnrtRet_t __bangPushCallConfiguration(cnrtDim3_t dim, cnrtFunctionType_t ktype,
                                                           cnrtQueue_t queue);
CNRT_FUNC_VISIBILITY cnrtRet_t __bangPopCallConfiguration(cnrtDim3_t *dim,
                                                          cnrtFunctionType_t *ktype,
                                                          cnrtQueue_t *queue);

/* ---- conversion on the host ---- */
struct cnrtQuantizedParam;
typedef struct cnrtQuantizedParam *cnrtQuantizedParam_t;
/** An integer q stands for q * 2^pos / scale. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtCreateQuantizedParam(cnrtQuantizedParam_t *param, int pos,
                                                        float scale, int offset);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtDestroyQuantizedParam(cnrtQuantizedParam_t param);
/** `param` for integers of 8 and 16 bits; NULL: as they are. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtCastDataType(void *src, cnrtDataType_t srcType, void *dst,
                                                cnrtDataType_t dstType, int count,
                                                cnrtQuantizedParam_t param);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtConvertFloatToHalf(uint16_t *half, float value);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtConvertHalfToFloat(float *value, uint16_t half);
CNRT_FUNC_VISIBILITY int cnrtDataTypeSize(cnrtDataType_t type);

/* ---- errors ---- */
CNRT_FUNC_VISIBILITY const char *cnrtGetErrorStr(cnrtRet_t ret);
CNRT_FUNC_VISIBILITY const char *cnrtGetErrorName(cnrtRet_t ret);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtGetLastError(void); /**< and clears it */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtPeekAtLastError(void);
/** Ends the program with a text unless `ret` is success. */
CNRT_FUNC_VISIBILITY void cnrtCheck(cnrtRet_t ret, const char *expression, const char *file,
                                    int line);
#define CNRT_CHECK(expression) cnrtCheck((expression), #expression, __FILE__, __LINE__)

/* ---- the first generation ---- */
typedef uint64_t cnrtDev_t;
typedef enum {
    CNRT_CHANNEL_TYPE_DUPLICATE = -2,
    CNRT_CHANNEL_TYPE_NONE = -1,
    CNRT_CHANNEL_TYPE_0 = 0,
    CNRT_CHANNEL_TYPE_1 = 1,
    CNRT_CHANNEL_TYPE_2 = 2,
    CNRT_CHANNEL_TYPE_3 = 3
} cnrtChannelType_t;
typedef enum {
    CNRT_MALLOC_HOST_TYPE_DEFAULT = 0,
    CNRT_MALLOC_HOST_TYPE_LOCKED = 1,
    CNRT_MALLOC_HOST_TYPE_DEV = 2
} cnrtMallocHostType_t;
typedef enum {
    CNRT_MLU100 = 3,
    CNRT_MLU270 = 5,
    CNRT_MLU220 = 6,
    CNRT_MLU290 = 7
} cnrtCoreVersion_t;
typedef struct {
    char device_name[64];
    cnrtCoreVersion_t core_version; /**< newer cards, which this generation has no number for: 7 */
    int core_num;
} cnrtDeviceInfo_t;
struct cnrtKernelParamsBuffer;
typedef struct cnrtKernelParamsBuffer *cnrtKernelParamsBuffer_t;
struct cnrtKernelInitParam;
typedef struct cnrtKernelInitParam *cnrtKernelInitParam_t;

/** `flags` must be 0. Counts; what works without it works before it too. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtInit(unsigned int flags);
CNRT_FUNC_VISIBILITY void cnrtDestroy(void);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtGetDeviceHandle(cnrtDev_t *pDevice, int ordinal);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtSetCurrentDevice(cnrtDev_t device);
/** Memory has one channel here: any of the names is right. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtSetCurrentChannel(cnrtChannelType_t channel);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtGetDeviceInfo(cnrtDeviceInfo_t *info, int ordinal);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtCreateQueue(cnrtQueue_t *pQueue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtDestroyQueue(cnrtQueue_t queue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtSyncQueue(cnrtQueue_t queue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtQueryQueue(cnrtQueue_t queue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtCreateNotifier(cnrtNotifier_t *pNotifier);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtDestroyNotifier(cnrtNotifier_t *pNotifier);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtMallocHost(void **pPtr, size_t bytes, cnrtMallocHostType_t type);
/** Arguments of a kernel, in the order of its declaration. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtGetKernelParamsBuffer(cnrtKernelParamsBuffer_t *pParams);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtKernelParamsBufferAddParam(cnrtKernelParamsBuffer_t params,
                                                              void *data, size_t bytes);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtCopyKernelParamsBuffer(cnrtKernelParamsBuffer_t *dst,
                                                          cnrtKernelParamsBuffer_t src);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtDestroyKernelParamsBuffer(cnrtKernelParamsBuffer_t params);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtInvokeKernel_V2(const void *function, cnrtDim3_t dim,
                                                   cnrtKernelParamsBuffer_t params,
                                                   cnrtFunctionType_t ktype, cnrtQueue_t queue);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtCreateKernelInitParam(cnrtKernelInitParam_t *pParam);
/** Loads the function's file onto the current device now. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtInitKernelMemory(const void *function,
                                                    cnrtKernelInitParam_t param);
/** `extra` must be NULL. */
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtInvokeKernel_V3(const void *function, cnrtKernelInitParam_t init,
                                                   cnrtDim3_t dim, cnrtKernelParamsBuffer_t params,
                                                   cnrtFunctionType_t ktype, cnrtQueue_t queue,
                                                   void *extra);
CNRT_FUNC_VISIBILITY cnrtRet_t cnrtDestroyKernelInitParamAndMemory(cnrtKernelInitParam_t param);

#ifdef __cplusplus
}
#endif
