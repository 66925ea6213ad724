/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills. The direction follows from the pointers; the kind is only checked to be one of
 * the enum. */
#include "acl_internal.h"

#include <string.h>

#define MEMCPY2D_MAX_WIDTH  5000000u
#define MEMCPY2D_MAX_HEIGHT 5242880u

// Checks shared by the plain copies. *skip: nothing to do, success.
static aclError check_copy(const char *func, const void *dst, size_t max, const void *src,
                           size_t count, aclrtMemcpyKind kind, bool *skip)
{
    *skip = true;
    if (count == 0) {
        return ACL_SUCCESS;
    }
    if (!dst || !src) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s is NULL", dst ? "src" : "dst");
    }
    if ((int)kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "kind %d is not an aclrtMemcpyKind",
                        (int)kind);
    }
    if (count > max) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func, "count %zu is more than destMax %zu",
                        count, max);
    }
    *skip = dst == src;
    return ACL_SUCCESS;
}

static bool is_device(const struct acl_context *context, const void *ptr)
{
    uint64_t base, bytes;
    struct leo_rt_device *owner = acl_memory_owner(context, ptr);
    return owner && leo_rt_memory_find(owner, (uintptr_t)ptr, &base, &bytes) == LEO_OK;
}

// Device memory, or host memory that has a device pointer because it is registered or pinned.
static bool is_reached(const struct acl_context *context, const void *ptr)
{
    return is_device(context, ptr) || leo_rt_host_is_pinned(context->rt, ptr);
}

// Memory of two devices: one must have been let at the other's.
static aclError check_peers(const char *func, const struct acl_context *context, const void *dst,
                            const void *src)
{
    const struct leo_rt_device *to = acl_memory_owner(context, dst);
    const struct leo_rt_device *from = acl_memory_owner(context, src);
    if (to && from && to != from && !acl_peer_is_enabled(to, from)) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                        "dst %p and src %p are memory of two devices: call "
                        "aclrtDeviceEnablePeerAccess first",
                        dst, src);
    }
    return ACL_SUCCESS;
}

// A pointer said to be device memory that no allocation holds would be taken for host memory:
// refuse it here.
static aclError check_kind(const char *func, const struct acl_context *context, const void *dst,
                           const void *src, aclrtMemcpyKind kind)
{
    bool dst_device = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    bool src_device = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    if (dst_device && !is_reached(context, dst)) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func, "dst %p is no device memory (kind %d)",
                        dst, (int)kind);
    }
    if (src_device && !is_reached(context, src)) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func, "src %p is no device memory (kind %d)",
                        src, (int)kind);
    }
    return check_peers(func, context, dst, src);
}

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
    ACL_PINNED struct acl_context *context = NULL;
    bool skip;
    const char *func = "aclrtMemcpy";
    aclError error = check_copy(func, dst, destMax, src, count, kind, &skip);
    if (error || skip) {
        return error;
    }
    error = acl_current_context(func, &context);
    if (!error) {
        error = acl_capture_check(func);
    }
    if (!error) {
        error = check_kind(func, context, dst, src, kind);
    }
    return error ? error : acl_status(func, leo_rt_memcpy(context->rt, dst, src, count));
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream)
{
    ACL_PINNED struct acl_stream *where = NULL;
    bool skip;
    const char *func = "aclrtMemcpyAsync";
    aclError error = check_copy(func, dst, destMax, src, count, kind, &skip);
    if (error || skip) {
        return error;
    }
    error = acl_stream_get(func, stream, &where);
    if (error) {
        return error;
    }
    if (!is_device(where->context, dst) && !is_device(where->context, src) &&
        !leo_rt_host_is_pinned(where->context->rt, dst) &&
        !leo_rt_host_is_pinned(where->context->rt, src)) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func,
                        "neither pointer is memory that the device reaches");
    }
    error = check_kind(func, where->context, dst, src, kind);
    return error ? error : acl_status(func, leo_rt_memcpy_async(where->rt, dst, src, count));
}

aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax, const void *src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream)
{
    // Memory the device cannot reach is copied through memory it can: no condition is left.
    return aclrtMemcpyAsync(dst, destMax, src, count, kind, stream);
}

static aclError check_2d(const char *func, const void *dst, size_t dpitch, const void *src,
                         size_t spitch, size_t width, size_t height, bool *skip)
{
    *skip = width == 0 || height == 0;
    if (*skip) {
        return ACL_SUCCESS;
    }
    if (!dst || !src) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s is NULL", dst ? "src" : "dst");
    }
    if (width > dpitch || width > spitch) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "width %zu is more than a pitch (%zu, %zu)",
                        width, dpitch, spitch);
    }
    if (width > MEMCPY2D_MAX_WIDTH || height > MEMCPY2D_MAX_HEIGHT) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func,
                        "width %zu or height %zu is above the limit of %u, %u", width, height,
                        MEMCPY2D_MAX_WIDTH, MEMCPY2D_MAX_HEIGHT);
    }
    return ACL_SUCCESS;
}

aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream)
{
    ACL_PINNED struct acl_stream *where = NULL;
    bool skip;
    const char *func = "aclrtMemcpy2dAsync";
    aclError error = check_2d(func, dst, dpitch, src, spitch, width, height, &skip);
    if (error || skip) {
        return error;
    }
    if (kind < ACL_MEMCPY_HOST_TO_DEVICE || kind > ACL_MEMCPY_DEFAULT) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "kind %d is not possible here", (int)kind);
    }
    error = acl_stream_get(func, stream, &where);
    if (!error) {
        error = check_kind(func, where->context, dst, src, kind);
    }
    return error ? error
                 : acl_status(func, leo_rt_memcpy2d_async(where->rt, dst, dpitch, src, spitch,
                                                          width, height));
}

aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind)
{
    if (kind == ACL_MEMCPY_DEVICE_TO_DEVICE) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtMemcpy2d",
                        "device to device: use aclrtMemcpy2dAsync");
    }
    aclError error = acl_capture_check("aclrtMemcpy2d");
    if (error) {
        return error;
    }
    error = aclrtMemcpy2dAsync(dst, dpitch, src, spitch, width, height, kind, NULL);
    return error || width == 0 || height == 0 ? error : aclrtSynchronizeStream(NULL);
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream)
{
    ACL_PINNED struct acl_stream *where = NULL;
    const char *func = "aclrtMemsetAsync";
    if (count == 0) {
        return ACL_SUCCESS;
    }
    if (!devPtr) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "devPtr is NULL");
    }
    if (count > maxCount) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func, "count %zu is more than maxCount %zu",
                        count, maxCount);
    }
    aclError error = acl_stream_get(func, stream, &where);
    if (error) {
        return error;
    }
    return acl_status(func,
                      leo_rt_memset_async(where->rt, (uintptr_t)devPtr, (uint8_t)value, count));
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    aclError error = acl_capture_check("aclrtMemset");
    if (!error) {
        error = aclrtMemsetAsync(devPtr, maxCount, value, count, NULL);
    }
    return error || count == 0 ? error : aclrtSynchronizeStream(NULL);
}

static aclError check_batch(const char *func, const void *const *pointers, size_t count,
                            const aclrtMemcpyBatchAttr *attrs, const size_t *attrsIndexes,
                            size_t numAttrs)
{
    if (!pointers[0] || !pointers[1] || !pointers[2] || !pointers[3] || count == 0 || !attrs ||
        !attrsIndexes || numAttrs == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "an argument is NULL or a count is 0");
    }
    for (size_t i = 0; i < numAttrs; i++) {
        bool rising = i == 0 ? attrsIndexes[0] == 0 : attrsIndexes[i] > attrsIndexes[i - 1];
        if (!rising || attrsIndexes[i] >= count) {
            return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                            "attrsIndexes must begin with 0, rise, and stay below %zu", count);
        }
    }
    return ACL_SUCCESS;
}

aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                               size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                               size_t numAttrs, size_t *failIndex, aclrtStream stream)
{
    const char *func = "aclrtMemcpyBatchAsync";
    const void *const pointers[] = {dsts, destMaxs, srcs, sizes};
    aclError error = check_batch(func, pointers, numBatches, attrs, attrsIndexes, numAttrs);
    if (failIndex) {
        *failIndex = SIZE_MAX; // none of them in particular
    }
    for (size_t i = 0; !error && i < numBatches; i++) {
        error =
            aclrtMemcpyAsync(dsts[i], destMaxs[i], srcs[i], sizes[i], ACL_MEMCPY_DEFAULT, stream);
        if (error && failIndex) {
            *failIndex = i;
        }
    }
    return error;
}

aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                          size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                          size_t numAttrs, size_t *failIndex)
{
    const char *func = "aclrtMemcpyBatch";
    const void *const pointers[] = {dsts, destMaxs, srcs, sizes};
    aclError error = check_batch(func, pointers, numBatches, attrs, attrsIndexes, numAttrs);
    if (failIndex) {
        *failIndex = SIZE_MAX;
    }
    for (size_t i = 0; !error && i < numBatches; i++) {
        error = aclrtMemcpy(dsts[i], destMaxs[i], srcs[i], sizes[i], ACL_MEMCPY_DEFAULT);
        if (error && failIndex) {
            *failIndex = i;
        }
    }
    return error;
}
