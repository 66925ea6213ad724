/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills. The direction follows from the addresses; what a face says of it is checked. */
#include "../context/context.h"
#include "../process/code.h"
#include "../process/lost.h"
#include "../stream/graph_handle.h"
#include "memory_owner.h"

// The largest that the copy engine's descriptors hold.
enum { WIDTH_MAX = 5000000, HEIGHT_MAX = 5242880 };

// *skip: nothing to do, success.
static leo_status check_copy(const struct api_copy *copy, bool *skip)
{
    *skip = true;
    if (copy->bytes == 0) {
        return LEO_OK;
    }
    if (!copy->dst || !copy->src) {
        return leo_rt_fail(API_BAD_ARGUMENT, "%s is NULL", copy->dst ? "src" : "dst");
    }
    if (copy->to == API_SIDE_UNKNOWN || copy->from == API_SIDE_UNKNOWN) {
        return leo_rt_fail(API_BAD_ARGUMENT, "the kind of copy is unknown");
    }
    if (copy->bytes > copy->room) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "%zu bytes are more than the %zu there is room for",
                           copy->bytes, copy->room);
    }
    *skip = copy->dst == copy->src;
    return LEO_OK;
}

static bool is_device(const void *ptr)
{
    uint64_t base, bytes;
    struct leo_rt_device *owner = api_memory_owner(ptr);
    return owner && leo_rt_memory_find(owner, (uintptr_t)ptr, &base, &bytes) == LEO_OK;
}

// Device memory, or host memory that has a device pointer because it is registered or pinned.
static bool is_reached(const struct api_context *context, const void *ptr)
{
    return is_device(ptr) || leo_rt_host_is_pinned(context->rt, ptr);
}

// Memory of two devices: one must have been let at the other's.
static leo_status check_peers(const struct api_copy *copy)
{
    const struct leo_rt_device *to = api_memory_owner(copy->dst);
    const struct leo_rt_device *from = api_memory_owner(copy->src);
    return to && from && to != from && !api_peer_allows(to, from)
               ? leo_rt_fail(LEO_ERR_INVALID_ARG,
                             "dst %p and src %p are memory of two devices: enable peer access "
                             "first",
                             copy->dst, copy->src)
               : LEO_OK;
}

// A pointer said to be device memory that no allocation holds would be taken for host memory:
// refuse it here.
static leo_status check_sides(const struct api_context *context, const struct api_copy *copy)
{
    if (copy->to == API_SIDE_DEVICE && !is_reached(context, copy->dst)) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "dst %p is no device memory", copy->dst);
    }
    if (copy->from == API_SIDE_DEVICE && !is_reached(context, copy->src)) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "src %p is no device memory", copy->src);
    }
    return check_peers(copy);
}

leo_status api_copy(const struct api_copy *copy)
{
    API_PINNED struct api_context *context = NULL;
    bool skip;
    leo_status status = check_copy(copy, &skip);
    if (status != LEO_OK || skip) {
        return status;
    }
    status = api_context_current(&context);
    if (status == LEO_OK) {
        status = api_capture_check();
    }
    if (status == LEO_OK) {
        status = api_context_check(context);
    }
    if (status == LEO_OK) {
        status = check_sides(context, copy);
    }
    if (status == LEO_OK) {
        status = api_lost_check();
    }
    return status != LEO_OK ? status
                            : leo_rt_memcpy(context->rt, copy->dst, copy->src, copy->bytes);
}

leo_status api_copy_async(const struct api_copy *copy, const void *handle)
{
    API_PINNED struct api_stream *stream = NULL;
    bool skip;
    leo_status status = check_copy(copy, &skip);
    if (status != LEO_OK || skip) {
        return status;
    }
    status = api_stream_to_fill(handle, &stream);
    if (status != LEO_OK) {
        return status;
    }
    if (!is_reached(stream->context, copy->dst) && !is_reached(stream->context, copy->src)) {
        return leo_rt_fail(LEO_ERR_UNSUPPORTED,
                           "neither pointer is memory that the device reaches");
    }
    status = check_sides(stream->context, copy);
    return status != LEO_OK ? status
                            : leo_rt_memcpy_async(stream->rt, copy->dst, copy->src, copy->bytes);
}

leo_status api_reduce_async(void *dst, const void *src, uint64_t bytes, enum leo_atomic kind,
                            enum leo_atomic_type type, const void *handle)
{
    API_PINNED struct api_stream *stream = NULL;
    struct leo_caps caps;
    if (!dst || !src) {
        return leo_rt_fail(API_BAD_ARGUMENT, "%s is NULL", dst ? "src" : "dst");
    }
    leo_status status = api_stream_to_fill(handle, &stream);
    if (status != LEO_OK) {
        return status;
    }
    leo_rt_device_get_caps(stream->context->rt, &caps);
    if (caps.arch == API_ARCH_SATURATES && type == LEO_ATOMIC_TYPE_BF16) {
        return leo_rt_fail(LEO_ERR_UNSUPPORTED, "this generation has no bfloat16");
    }
    return leo_rt_reduce_async(stream->rt, (uintptr_t)dst, (uintptr_t)src, bytes, kind, type);
}

static leo_status check_2d(const struct api_copy *copy, size_t dst_pitch, size_t src_pitch,
                           size_t height)
{
    if (!copy->dst || !copy->src) {
        return leo_rt_fail(API_BAD_ARGUMENT, "%s is NULL", copy->dst ? "src" : "dst");
    }
    if (copy->bytes > dst_pitch || copy->bytes > src_pitch) {
        return leo_rt_fail(API_BAD_ARGUMENT, "width %zu is more than a pitch (%zu, %zu)",
                           copy->bytes, dst_pitch, src_pitch);
    }
    if (copy->bytes > WIDTH_MAX || height > HEIGHT_MAX) {
        return leo_rt_fail(API_BAD_ARGUMENT, "width %zu or height %zu is above the limit of %d, %d",
                           copy->bytes, height, WIDTH_MAX, HEIGHT_MAX);
    }
    return copy->to == API_SIDE_UNKNOWN || copy->from == API_SIDE_UNKNOWN
               ? leo_rt_fail(API_BAD_ARGUMENT, "the kind of copy is not possible here")
               : LEO_OK;
}

leo_status api_copy_2d_async(const struct api_copy *copy, size_t dst_pitch, size_t src_pitch,
                             size_t height, const void *handle)
{
    API_PINNED struct api_stream *stream = NULL;
    if (copy->bytes == 0 || height == 0) {
        return LEO_OK;
    }
    leo_status status = check_2d(copy, dst_pitch, src_pitch, height);
    if (status == LEO_OK) {
        status = api_stream_to_fill(handle, &stream);
    }
    if (status == LEO_OK) {
        status = check_sides(stream->context, copy);
    }
    return status != LEO_OK ? status
                            : leo_rt_memcpy2d_async(stream->rt, copy->dst, dst_pitch, copy->src,
                                                    src_pitch, copy->bytes, height);
}

leo_status api_copy_2d(const struct api_copy *copy, size_t dst_pitch, size_t src_pitch,
                       size_t height)
{
    leo_status status = api_capture_check();
    if (status == LEO_OK) {
        status = api_copy_2d_async(copy, dst_pitch, src_pitch, height, NULL);
    }
    return status != LEO_OK || copy->bytes == 0 || height == 0
               ? status
               : api_stream_synchronize(NULL, API_FOREVER);
}

leo_status api_fill_async(void *ptr, size_t room, int value, size_t bytes, const void *handle)
{
    API_PINNED struct api_stream *stream = NULL;
    if (bytes == 0) {
        return LEO_OK;
    }
    if (!ptr) {
        return leo_rt_fail(API_BAD_ARGUMENT, "the pointer is NULL");
    }
    if (bytes > room) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "%zu bytes are more than the %zu there is room for",
                           bytes, room);
    }
    leo_status status = api_stream_to_fill(handle, &stream);
    return status != LEO_OK
               ? status
               : leo_rt_memset_async(stream->rt, (uintptr_t)ptr, (uint8_t)value, bytes);
}

leo_status api_fill(void *ptr, size_t room, int value, size_t bytes)
{
    leo_status status = api_capture_check();
    if (status == LEO_OK) {
        status = api_fill_async(ptr, room, value, bytes, NULL);
    }
    return status != LEO_OK || bytes == 0 ? status : api_stream_synchronize(NULL, API_FOREVER);
}

leo_status api_fill_words_async(void *ptr, uint32_t value, size_t count, const void *handle)
{
    enum { SEED_WORDS = 1024 };
    uint32_t seed[SEED_WORDS];
    const size_t bytes = count * sizeof(seed[0]);
    size_t done = bytes < sizeof(seed) ? bytes : sizeof(seed);
    for (size_t i = 0; i < SEED_WORDS; i++) {
        seed[i] = value;
    }
    // Taken before the call returns; then the filled part doubles on the device.
    const struct api_copy first = {.dst = ptr,
                                   .src = seed,
                                   .bytes = done,
                                   .room = bytes,
                                   .to = API_SIDE_DEVICE,
                                   .from = API_SIDE_ANY};
    leo_status status = api_copy_async(&first, handle);
    while (status == LEO_OK && done < bytes) {
        const size_t more = bytes - done < done ? bytes - done : done;
        const struct api_copy next = {.dst = (char *)ptr + done,
                                      .src = ptr,
                                      .bytes = more,
                                      .room = bytes - done,
                                      .to = API_SIDE_DEVICE,
                                      .from = API_SIDE_DEVICE};
        status = api_copy_async(&next, handle);
        done += more;
    }
    return status;
}

leo_status api_fill_words(void *ptr, uint32_t value, size_t count)
{
    leo_status status = api_capture_check();
    if (status == LEO_OK) {
        status = api_fill_words_async(ptr, value, count, NULL);
    }
    return status != LEO_OK || count == 0 ? status : api_stream_synchronize(NULL, API_FOREVER);
}

leo_status api_value_write(void *ptr, uint64_t value, const void *handle)
{
    API_PINNED struct api_stream *stream = NULL;
    leo_status status = api_stream_to_fill(handle, &stream);
    return status != LEO_OK ? status : leo_rt_value_write(stream->rt, (uintptr_t)ptr, value);
}

leo_status api_value_wait(void *ptr, uint64_t value, enum leo_value_compare compare,
                          const void *handle)
{
    API_PINNED struct api_stream *stream = NULL;
    leo_status status = api_stream_to_fill(handle, &stream);
    return status != LEO_OK ? status
                            : leo_rt_value_wait(stream->rt, (uintptr_t)ptr, value, compare);
}
