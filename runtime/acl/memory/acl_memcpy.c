/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills. The direction follows from the pointers; the kind says what to check. */
#include "../acl_internal.h"

// What a kind says of the two sides.
static struct api_copy describe(void *dst, size_t max, const void *src, size_t count,
                                aclrtMemcpyKind kind)
{
    bool known = (int)kind >= ACL_MEMCPY_HOST_TO_HOST && kind <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE;
    bool to = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    bool from = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    return (struct api_copy){
        .dst = dst,
        .src = src,
        .bytes = count,
        .room = max,
        .to = !known ? API_SIDE_UNKNOWN
              : to   ? API_SIDE_DEVICE
                     : API_SIDE_ANY,
        .from = from ? API_SIDE_DEVICE : API_SIDE_ANY,
    };
}

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
    const struct api_copy copy = describe(dst, destMax, src, count, kind);
    return acl_result(__func__, api_copy(&copy));
}

// Whether a copy from the device goes to host memory that is not pinned.
static bool goes_to_pages(const struct api_copy *copy)
{
    struct api_pointer to, from;
    return copy->to != API_SIDE_DEVICE && !api_pointer_get(copy->dst, &to) &&
           to.kind == API_PLACE_PAGEABLE && !api_pointer_get(copy->src, &from) &&
           from.kind == API_PLACE_DEVICE;
}

// The data are there when the call returns if the host's memory is not pinned: programs that read
// them then (onnxruntime's loops) wait for nothing else.
aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream)
{
    const struct api_copy copy = describe(dst, destMax, src, count, kind);
    const aclError error = acl_result(__func__, api_copy_async(&copy, stream));
    return error || !goes_to_pages(&copy) || acl_is_captured(stream)
               ? error
               : aclrtSynchronizeStream(stream);
}

aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax, const void *src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream)
{
    // Memory the device cannot reach is copied through memory it can: no condition is left.
    return aclrtMemcpyAsync(dst, destMax, src, count, kind, stream);
}

static struct api_copy describe_2d(void *dst, const void *src, size_t width, aclrtMemcpyKind kind)
{
    struct api_copy copy = describe(dst, SIZE_MAX, src, width, kind);
    if (kind < ACL_MEMCPY_HOST_TO_DEVICE || kind > ACL_MEMCPY_DEFAULT) {
        copy.to = API_SIDE_UNKNOWN;
    }
    return copy;
}

aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream)
{
    const struct api_copy copy = describe_2d(dst, src, width, kind);
    return acl_result(__func__, api_copy_2d_async(&copy, dpitch, spitch, height, stream));
}

aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind)
{
    const struct api_copy copy = describe_2d(dst, src, width, kind);
    return kind == ACL_MEMCPY_DEVICE_TO_DEVICE
               ? acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                          "device to device: use aclrtMemcpy2dAsync")
               : acl_result(__func__, api_copy_2d(&copy, dpitch, spitch, height));
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream)
{
    return acl_result(__func__, api_fill_async(devPtr, maxCount, value, count, stream));
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    return acl_result(__func__, api_fill(devPtr, maxCount, value, count));
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

aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                            size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                            size_t numAttrs)
{
    return aclrtMemcpyBatch(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs,
                            NULL);
}

aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                                 size_t numBatches, aclrtMemcpyBatchAttr *attrs,
                                 size_t *attrsIndexes, size_t numAttrs, aclrtStream stream)
{
    return aclrtMemcpyBatchAsync(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes,
                                 numAttrs, NULL, stream);
}

static aclError check_words(const char *func, const void *ptr, size_t bytes, size_t count)
{
    return ptr && (uintptr_t)ptr % sizeof(uint32_t) == 0 && count <= bytes / sizeof(uint32_t)
               ? ACL_SUCCESS
               : acl_fail(ACL_ERROR_INVALID_PARAM, func,
                          "ptr %p must be a multiple of 4 and hold %zu words: there are %zu bytes",
                          ptr, count, bytes);
}

aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N)
{
    aclError error = check_words(__func__, ptr, memSize, N);
    return error ? error : acl_result(__func__, api_fill_words(ptr, value, N));
}

aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value, size_t N,
                             aclrtStream stream)
{
    aclError error = check_words(__func__, ptr, memSize, N);
    return error ? error : acl_result(__func__, api_fill_words_async(ptr, value, N, stream));
}

// The copy engine's number of a type; LEO_ATOMIC_TYPE_COUNT: it has none.
static enum leo_atomic_type reduced_type(aclDataType type)
{
    switch (type) {
    case ACL_FLOAT:
        return LEO_ATOMIC_TYPE_F32;
    case ACL_FLOAT16:
        return LEO_ATOMIC_TYPE_F16;
    case ACL_BF16:
        return LEO_ATOMIC_TYPE_BF16;
    case ACL_INT8:
        return LEO_ATOMIC_TYPE_S8;
    case ACL_INT16:
        return LEO_ATOMIC_TYPE_S16;
    case ACL_INT32:
        return LEO_ATOMIC_TYPE_S32;
    default:
        return (enum leo_atomic_type)LEO_ATOMIC_TYPE_COUNT;
    }
}

aclError aclrtReduceAsync(void *dst, const void *src, uint64_t count, aclrtReduceKind kind,
                          aclDataType type, aclrtStream stream, void *reserve)
{
    static const enum leo_atomic kinds[] = {LEO_ATOMIC_ADD, LEO_ATOMIC_MAX, LEO_ATOMIC_MIN};
    const enum leo_atomic_type reduced = reduced_type(type);
    if (reserve || kind < ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM ||
        kind > ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__,
                        "kind %d is unknown or reserve is not NULL", (int)kind);
    }
    if (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL ||
        reduced == (enum leo_atomic_type)LEO_ATOMIC_TYPE_COUNT) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                        "kind %d of data type %d: sum, maximum and minimum of int8, int16, int32, "
                        "half, float and bfloat16 are possible",
                        (int)kind, (int)type);
    }
    const unsigned which = (unsigned)kind - ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
    return acl_result(__func__, api_reduce_async(dst, src, count, kinds[which], reduced, stream));
}
