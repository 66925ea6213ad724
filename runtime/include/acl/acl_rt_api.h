/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overloads of AscendCL's runtime for C++: shorter names of the calls with a limit or a
 * configuration, and pointers of any type where C wants void pointers. Nothing in C.
 */
#pragma once

#include <acl/acl_rt.h>

#ifdef __cplusplus

/* ---- limits, flags ---- */

inline aclError aclrtSynchronizeDevice(int32_t timeout)
{
    return aclrtSynchronizeDeviceWithTimeout(timeout);
}

inline aclError aclrtSynchronizeStream(aclrtStream stream, int32_t timeout)
{
    return aclrtSynchronizeStreamWithTimeout(stream, timeout);
}

inline aclError aclrtSynchronizeEvent(aclrtEvent event, int32_t timeout)
{
    return aclrtSynchronizeEventWithTimeout(event, timeout);
}

inline aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
    return aclrtStreamWaitEventWithTimeout(stream, event, timeout);
}

inline aclError aclrtCreateStream(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    return aclrtCreateStreamWithConfig(stream, priority, flag);
}

inline aclError aclrtCreateEvent(aclrtEvent *event, uint32_t flag)
{
    return aclrtCreateEventExWithFlag(event, flag);
}

inline aclError aclrtSetOpExecuteTimeOut(uint64_t timeout, uint64_t *actualTimeout)
{
    return aclrtSetOpExecuteTimeOutV2(timeout, actualTimeout);
}

/* ---- pointers of any type; sizes are in bytes as in C ---- */

template <typename T>
inline aclError aclrtMalloc(T **devPtr, size_t size,
                            aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST,
                            aclrtMallocConfig *cfg = nullptr)
{
    void **ptr = reinterpret_cast<void **>(devPtr);
    return cfg ? aclrtMallocWithCfg(ptr, size, policy, cfg) : aclrtMalloc(ptr, size, policy);
}

template <typename T>
inline aclError aclrtMallocHost(T **hostPtr, size_t size, aclrtMallocConfig *cfg = nullptr)
{
    void **ptr = reinterpret_cast<void **>(hostPtr);
    return cfg ? aclrtMallocHostWithCfg(ptr, size, cfg) : aclrtMallocHost(ptr, size);
}

template <typename T, typename U>
inline aclError aclrtMemcpy(T *dst, size_t destMax, const U *src, size_t count,
                            aclrtMemcpyKind kind)
{
    return aclrtMemcpy(static_cast<void *>(dst), destMax, static_cast<const void *>(src), count,
                       kind);
}

template <typename T, typename U>
inline aclError aclrtMemcpyAsync(T *dst, size_t destMax, const U *src, size_t count,
                                 aclrtMemcpyKind kind, aclrtStream stream)
{
    return aclrtMemcpyAsync(static_cast<void *>(dst), destMax, static_cast<const void *>(src),
                            count, kind, stream);
}

template <typename T, typename U>
inline aclError aclrtMemcpy2d(T *dst, size_t dpitch, const U *src, size_t spitch, size_t width,
                              size_t height, aclrtMemcpyKind kind)
{
    return aclrtMemcpy2d(static_cast<void *>(dst), dpitch, static_cast<const void *>(src), spitch,
                         width, height, kind);
}

template <typename T, typename U>
inline aclError aclrtMemcpy2dAsync(T *dst, size_t dpitch, const U *src, size_t spitch, size_t width,
                                   size_t height, aclrtMemcpyKind kind, aclrtStream stream)
{
    return aclrtMemcpy2dAsync(static_cast<void *>(dst), dpitch, static_cast<const void *>(src),
                              spitch, width, height, kind, stream);
}

template <typename T, typename U>
inline aclError aclrtMemcpyBatch(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes,
                                 size_t numBatches, aclrtMemcpyBatchAttr *attrs,
                                 size_t *attrsIndexes, size_t numAttrs, size_t *failIndex)
{
    return aclrtMemcpyBatch(reinterpret_cast<void **>(dsts), destMaxs,
                            reinterpret_cast<void **>(srcs), sizes, numBatches, attrs, attrsIndexes,
                            numAttrs, failIndex);
}

template <typename T, typename U>
inline aclError aclrtMemcpyBatchAsync(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes,
                                      size_t numBatches, aclrtMemcpyBatchAttr *attrs,
                                      size_t *attrsIndexes, size_t numAttrs, size_t *failIndex,
                                      aclrtStream stream)
{
    return aclrtMemcpyBatchAsync(reinterpret_cast<void **>(dsts), destMaxs,
                                 reinterpret_cast<void **>(srcs), sizes, numBatches, attrs,
                                 attrsIndexes, numAttrs, failIndex, stream);
}

template <typename T>
inline aclError aclrtPointerGetAttributes(const T *ptr, aclrtPtrAttributes *attributes)
{
    return aclrtPointerGetAttributes(static_cast<const void *>(ptr), attributes);
}

template <typename T, typename U>
inline aclError aclrtHostRegister(T *ptr, uint64_t size, aclrtHostRegisterType type, U **devPtr)
{
    return aclrtHostRegister(static_cast<void *>(ptr), size, type,
                             reinterpret_cast<void **>(devPtr));
}

template <typename T, typename U>
inline aclError aclrtHostGetDevicePointer(T *pHost, U **pDevice, uint32_t flag)
{
    return aclrtHostGetDevicePointer(static_cast<void *>(pHost), reinterpret_cast<void **>(pDevice),
                                     flag);
}

template <typename T> inline aclError aclrtHostUnregister(T *ptr)
{
    return aclrtHostUnregister(static_cast<void *>(ptr));
}

#endif
