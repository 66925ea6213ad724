/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and copies. */
#include "cnrt_internal.h"

static cnrtRet_t null(const char *func)
{
    return cnrt_fail(cnrtErrorArgsInvalid, func, "a pointer is NULL or a size is 0");
}

cnrtRet_t cnrtMalloc(void **pPtr, size_t bytes)
{
    // Whole pages, which other processes can have, but for what is less than one. Kernels of
    // operator libraries load whole blocks of 32 bytes: so many more belong to the memory.
    enum { BEHIND = 32 };
    const size_t pages = (bytes + API_SHARED_PAGE - 1) / API_SHARED_PAGE * API_SHARED_PAGE;
    const size_t size = bytes < API_SHARED_PAGE || pages < bytes ? bytes : pages;
    return pPtr && bytes ? cnrt_result(__func__, api_memory_alloc(size, BEHIND, pPtr))
                         : null(__func__);
}

cnrtRet_t cnrtMallocConstant(void **pPtr, size_t bytes)
{
    // Constant memory is global memory here: kernels read both alike.
    return cnrtMalloc(pPtr, bytes);
}

cnrtRet_t cnrtFree(void *ptr)
{
    return ptr ? cnrt_result(__func__, api_memory_free(ptr)) : cnrtSuccess;
}

cnrtRet_t cnrtHostMalloc(void **pPtr, size_t bytes)
{
    return pPtr && bytes ? cnrt_result(__func__, api_host_alloc(bytes, pPtr)) : null(__func__);
}

cnrtRet_t cnrtFreeHost(void *ptr)
{
    return ptr ? cnrt_result(__func__, api_host_free(ptr)) : null(__func__);
}

// What a direction says of the two sides.
static struct api_copy describe(void *dst, const void *src, size_t bytes, cnrtMemTransDir_t dir)
{
    static const struct {
        enum api_side to, from;
    } sides[] = {
        [cnrtMemcpyHostToDev] = {API_SIDE_DEVICE, API_SIDE_ANY},
        [cnrtMemcpyDevToDev] = {API_SIDE_DEVICE, API_SIDE_DEVICE},
        [cnrtMemcpyDevToHost] = {API_SIDE_ANY, API_SIDE_DEVICE},
        [cnrtMemcpyHostToHost] = {API_SIDE_ANY, API_SIDE_ANY},
        [cnrtMemcpyPeerToPeer] = {API_SIDE_DEVICE, API_SIDE_DEVICE},
        [cnrtMemcpyNoDirection] = {API_SIDE_ANY, API_SIDE_ANY},
    };
    bool known = (int)dir >= 0 && (size_t)dir < sizeof(sides) / sizeof(sides[0]);
    return (struct api_copy){
        .dst = dst,
        .src = src,
        .bytes = bytes,
        .room = SIZE_MAX,
        .to = known ? sides[dir].to : API_SIDE_UNKNOWN,
        .from = known ? sides[dir].from : API_SIDE_UNKNOWN,
    };
}

cnrtRet_t cnrtMemcpy(void *dst, void *src, size_t bytes, cnrtMemTransDir_t dir)
{
    const struct api_copy copy = describe(dst, src, bytes, dir);
    return cnrt_result(__func__, api_copy(&copy));
}

cnrtRet_t cnrtMemcpyAsync(void *dst, void *src, size_t bytes, cnrtQueue_t queue,
                          cnrtMemTransDir_t dir)
{
    const struct api_copy copy = describe(dst, src, bytes, dir);
    void *stream;
    if (dir == cnrtMemcpyHostToHost) {
        return cnrt_fail(cnrtErrorNotSupport, __func__,
                         "copies between host memory are not asynchronous: use cnrtMemcpy");
    }
    leo_status status = cnrt_stream(queue, &stream);
    return cnrt_result(__func__, status != LEO_OK ? status : api_copy_async(&copy, stream));
}

cnrtRet_t cnrtMemcpyAsync_V2(void *dst, void *src, size_t bytes, cnrtQueue_t queue,
                             cnrtMemTransDir_t dir)
{
    return cnrtMemcpyAsync(dst, src, bytes, queue, dir);
}

cnrtRet_t cnrtMemcpyAsync_V3(void *dst, void *src, size_t bytes, cnrtQueue_t queue,
                             cnrtMemTransDir_t dir)
{
    return cnrtMemcpyAsync(dst, src, bytes, queue, dir);
}

cnrtRet_t cnrtMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                       size_t height, cnrtMemTransDir_t dir)
{
    const struct api_copy copy = describe(dst, src, width, dir);
    return cnrt_result(__func__, api_copy_2d(&copy, dpitch, spitch, height));
}

// Copies between devices need no leave here: it is given for the two of them.
static leo_status describe_peers(void *dst, int to, void *src, int from, size_t bytes,
                                 struct api_copy *copy)
{
    *copy = describe(dst, src, bytes, cnrtMemcpyPeerToPeer);
    return api_peer_join(to, from);
}

cnrtRet_t cnrtMemcpyPeer(void *dst, int dstDevice, void *src, int srcDevice, size_t bytes)
{
    struct api_copy copy;
    leo_status status = describe_peers(dst, dstDevice, src, srcDevice, bytes, &copy);
    return cnrt_result(__func__, status != LEO_OK ? status : api_copy(&copy));
}

cnrtRet_t cnrtMemcpyPeerAsync(void *dst, int dstDevice, void *src, int srcDevice, size_t bytes,
                              cnrtQueue_t queue)
{
    struct api_copy copy;
    void *stream;
    leo_status status = describe_peers(dst, dstDevice, src, srcDevice, bytes, &copy);
    if (status == LEO_OK) {
        status = cnrt_stream(queue, &stream);
    }
    return cnrt_result(__func__, status != LEO_OK ? status : api_copy_async(&copy, stream));
}

cnrtRet_t cnrtMemset(void *ptr, int value, size_t bytes)
{
    return cnrt_result(__func__, api_fill(ptr, SIZE_MAX, value, bytes));
}

cnrtRet_t cnrtMemsetAsync(void *ptr, int value, size_t bytes, cnrtQueue_t queue)
{
    void *stream;
    leo_status status = cnrt_stream(queue, &stream);
    return cnrt_result(
        __func__, status != LEO_OK ? status : api_fill_async(ptr, SIZE_MAX, value, bytes, stream));
}

cnrtRet_t cnrtMemGetInfo(size_t *freeBytes, size_t *totalBytes)
{
    return freeBytes && totalBytes ? cnrt_result(__func__, api_memory_info(freeBytes, totalBytes))
                                   : null(__func__);
}

cnrtRet_t cnrtPointerGetAttributes(cnrtPointerAttributes_t *attr, const void *ptr)
{
    static const cnrtMemType types[] = {
        [API_PLACE_PAGEABLE] = cnrtMemTypeUnregistered,
        [API_PLACE_PINNED] = cnrtMemTypeHost,
        [API_PLACE_DEVICE] = cnrtMemTypeDevice,
    };
    struct api_pointer pointer;
    if (!attr || !ptr) {
        return null(__func__);
    }
    cnrtRet_t ret = cnrt_result(__func__, api_pointer_get(ptr, &pointer));
    if (ret == cnrtSuccess) {
        bool on_device = pointer.kind == API_PLACE_DEVICE;
        *attr = (cnrtPointerAttributes_t){
            .type = types[pointer.kind],
            .device = pointer.device,
            .size = pointer.bytes,
            .devicePointer = on_device ? (void *)(uintptr_t)ptr : NULL,
            .hostPointer = on_device ? NULL : (void *)(uintptr_t)ptr,
            .deviceBasePointer = on_device ? (void *)(uintptr_t)pointer.base : NULL,
        };
    }
    return ret;
}
