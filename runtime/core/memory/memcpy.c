/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills. Direction follows from the addresses; user memory is staged, mapped, or pinned
 * already. */
#include "../rt.h"

#include <stdint.h>
#include <string.h>

enum {
    STAGE_MAX = 128 * 1024
}; // synchronous copies up to this go through staging: cheaper than a mapping

/** A copy of `height` rows, host or device on either side. */
struct copy {
    uint64_t dst, src; /**< addresses as the user gave them */
    size_t dst_pitch, src_pitch, width, height;
    bool dst_device, src_device;               /**< of the copying device */
    struct leo_rt_device *dst_peer, *src_peer; /**< memory of another device */
    bool waits;                                /**< the caller waits for it */
    bool is_signal;                            /**< streams wait for what it writes */
    struct rt_outcome *outcome; /**< its own, if all wait on this stream; else NULL */
};

static void copy_rows(char *dst, size_t dst_pitch, const char *src, size_t src_pitch, size_t width,
                      size_t height)
{
    if (width == dst_pitch && width == src_pitch) {
        memmove(dst, src, width * height);
        return;
    }
    for (size_t row = 0; row < height; row++) {
        memmove(dst + row * dst_pitch, src + row * src_pitch, width);
    }
}

static char *host_ptr(uint64_t addr)
{
    return (char *)(uintptr_t)addr;
}

static size_t extent(size_t pitch, const struct copy *copy)
{
    return pitch * (copy->height - 1) + copy->width;
}

static leo_status submit_copy(struct leo_rt_stream *stream, const struct copy *copy,
                              const struct leo_sqe_copy *body, const struct rt_task *task)
{
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_COPY,
                            .flags = copy->is_signal ? LEO_SQE_IN_TIME : 0};
    memcpy(entry.body, body, sizeof(*body));
    return rt_stream_submit(stream, &entry, task);
}

static leo_status wait_copy(struct leo_rt_stream *stream, const struct copy *copy)
{
    return copy->outcome ? rt_stream_wait_outcome(stream, copy->outcome)
                         : rt_stream_wait(stream, stream->submitted, -1);
}

// The host side of a copy, made reachable: a DMA address and pitch, and what holds it there.
struct host_side {
    uint64_t addr;
    size_t pitch;
    struct rt_staging *staging;
    uint64_t mapped;
};

static leo_status stage_side(struct leo_rt_device *device, const struct copy *copy,
                             struct host_side *side)
{
    leo_status status = rt_staging_get(device, copy->width * copy->height, &side->staging);
    if (!status) {
        side->addr = side->staging->dma_addr;
        side->pitch = copy->width;
        if (!copy->src_device) {
            copy_rows(side->staging->ptr, copy->width, host_ptr(copy->src), copy->src_pitch,
                      copy->width, copy->height);
        }
    }
    return status;
}

// The other device's memory, through a window in the bus.
static leo_status reach_peer(struct leo_rt_device *device, struct leo_rt_device *peer,
                             uint64_t addr, size_t bytes, struct host_side *side)
{
    void *window = leo_drv_memory_window(peer->drv, addr, bytes);
    device->progress.peer_copies = true;
    leo_status status = LEO_ERR_UNSUPPORTED;
    if (window) {
        status = leo_drv_dma_map(device->drv, window, bytes, &side->addr);
        side->mapped = side->addr;
    }
    return status ? rt_fail(status, "device %d cannot reach memory of device %d: %s", device->index,
                            peer->index, leo_status_text(status))
                  : LEO_OK;
}

static leo_status reach_host(struct leo_rt_device *device, struct copy *copy,
                             struct host_side *side)
{
    bool to_device = copy->dst_device;
    uint64_t addr = to_device ? copy->src : copy->dst;
    size_t pitch = to_device ? copy->src_pitch : copy->dst_pitch;
    size_t bytes = copy->width * copy->height;
    *side = (struct host_side){.pitch = pitch};
    struct leo_rt_device *peer = to_device ? copy->src_peer : copy->dst_peer;
    if (peer) {
        return reach_peer(device, peer, addr, extent(pitch, copy), side);
    }
    side->addr = rt_memory_pinned(device, host_ptr(addr), extent(pitch, copy));
    if (side->addr) {
        return LEO_OK;
    }
    // Data from unpinned memory is taken before an asynchronous call returns; into it, it must be
    // mapped.
    if (copy->waits ? bytes > STAGE_MAX : !to_device) {
        leo_status status =
            leo_drv_dma_map(device->drv, host_ptr(addr), extent(pitch, copy), &side->addr);
        if (!status) {
            side->mapped = side->addr;
            return LEO_OK;
        }
        if (status != LEO_ERR_UNSUPPORTED) {
            return rt_fail(status, "cannot map %zu bytes of host memory at %p for the device: %s",
                           extent(pitch, copy), (void *)host_ptr(addr), leo_status_text(status));
        }
        copy->waits = true;
    }
    return stage_side(device, copy, side);
}

static void drop_side(struct leo_rt_device *device, const struct host_side *side)
{
    if (side->staging) {
        rt_staging_put(device, side->staging);
    }
    if (side->mapped) {
        leo_drv_dma_unmap(device->drv, side->mapped);
    }
}

static leo_status copy_with_host(struct leo_rt_stream *stream, struct copy *copy)
{
    struct leo_rt_device *device = stream->device;
    struct host_side side;
    leo_status status = reach_host(device, copy, &side);
    if (status) {
        return status;
    }
    bool to_device = copy->dst_device;
    const struct leo_sqe_copy body = {
        .dst = to_device ? copy->dst : side.addr,
        .src = to_device ? side.addr : copy->src,
        .width = copy->width,
        .height = (uint32_t)copy->height,
        .flags = to_device ? LEO_SQE_COPY_HOST_SRC : LEO_SQE_COPY_HOST_DST,
        .dst_pitch = to_device ? copy->dst_pitch : side.pitch,
        .src_pitch = to_device ? side.pitch : copy->src_pitch,
    };
    // A staged copy to the host is ours until the rows are copied out; everything else is the
    // task's.
    bool copies_out = side.staging && !to_device;
    const struct rt_task task = {
        .what = "copy",
        .staging = copies_out ? NULL : side.staging,
        .mapped = side.mapped,
        .outcome = copy->outcome,
        .to_host = !to_device && !copy->waits,
    };
    status = submit_copy(stream, copy, &body, &task);
    if (status) {
        drop_side(device, &side);
        return status;
    }
    if (copy->waits) {
        status = wait_copy(stream, copy);
    }
    if (copies_out) {
        if (!status) {
            copy_rows(host_ptr(copy->dst), copy->dst_pitch, side.staging->ptr, side.pitch,
                      copy->width, copy->height);
        }
        rt_staging_put(device, side.staging);
    }
    return status;
}

static leo_status check_copy(struct leo_rt_device *device, struct copy *copy)
{
    if (copy->dst_pitch < copy->width || copy->src_pitch < copy->width) {
        return rt_fail(LEO_ERR_INVALID_ARG,
                       "copy: rows of %zu bytes are longer than the pitch (to %zu, from %zu)",
                       copy->width, copy->dst_pitch, copy->src_pitch);
    }
    if (copy->height > UINT32_MAX || copy->dst_pitch > SIZE_MAX / 2 / copy->height ||
        copy->src_pitch > SIZE_MAX / 2 / copy->height) {
        return rt_fail(LEO_ERR_RANGE, "copy: %zu rows are too many", copy->height);
    }
    struct leo_rt_device *dst, *src;
    leo_status status =
        rt_memory_side(device, copy->dst, extent(copy->dst_pitch, copy), "copy to", &dst);
    if (!status) {
        status =
            rt_memory_side(device, copy->src, extent(copy->src_pitch, copy), "copy from", &src);
    }
    if (status) {
        return status;
    }
    copy->dst_device = dst == device;
    copy->src_device = src == device;
    copy->dst_peer = copy->dst_device ? NULL : dst;
    copy->src_peer = copy->src_device ? NULL : src;
    if (!copy->dst_device && !copy->src_device && (dst || src)) {
        return rt_fail(LEO_ERR_UNSUPPORTED,
                       "copy: device %d cannot copy memory of device %d to or from elsewhere: use "
                       "a stream of that device",
                       device->index, dst ? dst->index : src->index);
    }
    return LEO_OK;
}

// Caller holds the device's lock.
static leo_status run_copy(struct leo_rt_stream *stream, struct copy *copy)
{
    if (copy->width == 0 || copy->height == 0) {
        return LEO_OK;
    }
    leo_status status = check_copy(stream->device, copy);
    if (status) {
        return status;
    }
    if (copy->dst_device != copy->src_device) {
        return copy_with_host(stream, copy);
    }
    if (copy->dst_device) {
        const struct leo_sqe_copy body = {
            .dst = copy->dst,
            .src = copy->src,
            .width = copy->width,
            .height = (uint32_t)copy->height,
            .dst_pitch = copy->dst_pitch,
            .src_pitch = copy->src_pitch,
        };
        const struct rt_task task = {.what = "copy", .outcome = copy->outcome};
        status = submit_copy(stream, copy, &body, &task);
        return status || !copy->waits ? status : wait_copy(stream, copy);
    }
    // Host to host, in the stream's order.
    status = rt_stream_wait(stream, stream->submitted, -1);
    if (!status) {
        copy_rows(host_ptr(copy->dst), copy->dst_pitch, host_ptr(copy->src), copy->src_pitch,
                  copy->width, copy->height);
    }
    return status;
}

static struct copy plain_copy(void *dst, const void *src, size_t bytes, bool waits)
{
    return (struct copy){
        .dst = (uintptr_t)dst,
        .src = (uintptr_t)src,
        .dst_pitch = bytes,
        .src_pitch = bytes,
        .width = bytes,
        .height = 1,
        .waits = waits,
    };
}

leo_status leo_rt_memcpy(struct leo_rt_device *device, void *dst, const void *src, size_t bytes)
{
    struct rt_outcome outcome = {0};
    // Who has the memory copies it: the caller need not be on that device.
    struct leo_rt_device *to = leo_rt_memory_owner(device->rt, (uintptr_t)dst);
    struct leo_rt_device *from = leo_rt_memory_owner(device->rt, (uintptr_t)src);
    if (to != device && from != device && (to || from)) {
        device = to ? to : from;
    }
    struct copy copy = plain_copy(dst, src, bytes, true);
    copy.outcome = &outcome;
    pthread_mutex_lock(&device->lock);
    leo_status status = run_copy(device->copy_stream, &copy);
    pthread_mutex_unlock(&device->lock);
    return status;
}

leo_status leo_rt_memcpy_async(struct leo_rt_stream *stream, void *dst, const void *src,
                               size_t bytes)
{
    struct copy copy = plain_copy(dst, src, bytes, false);
    pthread_mutex_lock(&stream->device->lock);
    leo_status status = run_copy(stream, &copy);
    pthread_mutex_unlock(&stream->device->lock);
    return status;
}

leo_status leo_rt_memcpy2d_async(struct leo_rt_stream *stream, void *dst, size_t dst_pitch,
                                 const void *src, size_t src_pitch, size_t width, size_t height)
{
    struct copy copy = {
        .dst = (uintptr_t)dst,
        .src = (uintptr_t)src,
        .dst_pitch = dst_pitch,
        .src_pitch = src_pitch,
        .width = width,
        .height = height,
    };
    pthread_mutex_lock(&stream->device->lock);
    leo_status status = run_copy(stream, &copy);
    pthread_mutex_unlock(&stream->device->lock);
    return status;
}

leo_status leo_rt_memset_async(struct leo_rt_stream *stream, uint64_t addr, uint8_t value,
                               size_t bytes)
{
    struct leo_rt_device *device = stream->device;
    if (bytes == 0) {
        return LEO_OK;
    }
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_FILL};
    struct leo_sqe_copy body = {
        .dst = addr,
        .src = value * 0x01010101u,
        .width = bytes,
        .height = 1,
        .dst_pitch = bytes,
    };
    struct leo_rt_device *owner;
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_memory_side(device, addr, bytes, "fill", &owner);
    if (!status && !owner) {
        body.dst = rt_memory_pinned(device, host_ptr(addr), bytes);
        body.flags = LEO_SQE_COPY_HOST_DST;
    }
    if (!status && (owner ? owner != device : !body.dst)) {
        status = rt_fail(LEO_ERR_BAD_POINTER,
                         "fill: 0x%llx is neither memory of device %d nor %llu bytes of pinned "
                         "memory",
                         (unsigned long long)addr, device->index, (unsigned long long)bytes);
    }
    if (!status) {
        memcpy(entry.body, &body, sizeof(body));
        status = rt_stream_submit(stream, &entry, &(struct rt_task){.what = "fill"});
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

// Caller holds the device's lock.
static leo_status check_operand(struct leo_rt_device *device, uint64_t addr, uint64_t bytes)
{
    struct leo_rt_device *owner;
    leo_status status = rt_memory_side(device, addr, bytes, "reduction", &owner);
    return status != LEO_OK || owner == device
               ? status
               : rt_fail(LEO_ERR_BAD_POINTER,
                         "reduction: 0x%llx is no memory of device %d, which reduces",
                         (unsigned long long)addr, device->index);
}

leo_status leo_rt_reduce_async(struct leo_rt_stream *stream, uint64_t dst, uint64_t src,
                               uint64_t bytes, enum leo_atomic kind, enum leo_atomic_type type)
{
    static const uint8_t units[LEO_ATOMIC_TYPE_COUNT] = {
        [LEO_ATOMIC_TYPE_F32] = 4, [LEO_ATOMIC_TYPE_F16] = 2, [LEO_ATOMIC_TYPE_S16] = 2,
        [LEO_ATOMIC_TYPE_S32] = 4, [LEO_ATOMIC_TYPE_S8] = 1,  [LEO_ATOMIC_TYPE_BF16] = 2,
    };
    if (bytes % units[type] || (dst > src ? dst - src : src - dst) < bytes) {
        return rt_fail(LEO_ERR_INVALID_ARG,
                       "reduction: %llu bytes must be whole elements of %u bytes, and 0x%llx and "
                       "0x%llx so far apart",
                       (unsigned long long)bytes, units[type], (unsigned long long)dst,
                       (unsigned long long)src);
    }
    struct leo_rt_device *device = stream->device;
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_COPY};
    const struct leo_sqe_copy body = {
        .dst = dst,
        .src = src,
        .width = bytes,
        .height = 1,
        .flags = leo_sqe_copy_set_atomic(leo_sqe_copy_set_atomic_type(0, type), kind),
        .dst_pitch = bytes,
        .src_pitch = bytes,
    };
    memcpy(entry.body, &body, sizeof(body));
    pthread_mutex_lock(&device->lock);
    leo_status status = check_operand(device, dst, bytes);
    if (status == LEO_OK) {
        status = check_operand(device, src, bytes);
    }
    if (status == LEO_OK && bytes) {
        status = rt_stream_submit(stream, &entry, &(struct rt_task){.what = "reduction"});
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

// Caller holds the device's lock.
static leo_status check_value(struct leo_rt_stream *stream, uint64_t addr, const char *what)
{
    struct leo_rt_device *owner;
    leo_status status = rt_memory_side(stream->device, addr, sizeof(uint64_t), what, &owner);
    if (!status && (owner != stream->device || addr % sizeof(uint64_t))) {
        status =
            rt_fail(LEO_ERR_BAD_POINTER, "%s: 0x%llx is not 8-byte aligned memory of device %d",
                    what, (unsigned long long)addr, stream->device->index);
    }
    return status;
}

leo_status leo_rt_value_write(struct leo_rt_stream *stream, uint64_t addr, uint64_t value)
{
    struct copy copy = plain_copy(host_ptr(addr), &value, sizeof(value), false);
    copy.is_signal = true;
    pthread_mutex_lock(&stream->device->lock);
    leo_status status = check_value(stream, addr, "value write");
    if (!status) {
        status = run_copy(stream, &copy);
    }
    pthread_mutex_unlock(&stream->device->lock);
    return status;
}

leo_status leo_rt_value_wait(struct leo_rt_stream *stream, uint64_t addr, uint64_t value,
                             enum leo_value_compare compare)
{
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_VALUE_WAIT};
    const struct leo_sqe_value body = {.addr = addr, .value = value, .compare = compare};
    memcpy(entry.body, &body, sizeof(body));
    pthread_mutex_lock(&stream->device->lock);
    rt_run_ahead_stop(stream->device); // time must not pass by itself
    leo_status status = check_value(stream, addr, "value wait");
    if (!status) {
        rt_run_ahead_watch(stream->device);
        status = rt_stream_submit(stream, &entry, &(struct rt_task){.what = "value wait"});
    }
    pthread_mutex_unlock(&stream->device->lock);
    return status;
}
