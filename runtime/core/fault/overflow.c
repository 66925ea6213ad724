/* SPDX-License-Identifier: Apache-2.0 */
/* The sticky status of float overflows. */
#include "../rt.h"

#include <string.h>

leo_status leo_rt_overflow_async(struct leo_rt_stream *stream, uint64_t addr, uint32_t bytes,
                                 uint32_t value, bool clear)
{
    struct leo_rt_device *device = stream->device, *owner;
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_OVERFLOW};
    const struct leo_sqe_overflow body = {
        .dst = addr, .bytes = addr ? bytes : 0, .value = value, .clear = clear};
    leo_status status = LEO_OK;
    memcpy(entry.body, &body, sizeof(body));
    pthread_mutex_lock(&device->lock);
    if (addr) {
        status = rt_memory_side(device, addr, bytes, "overflow status", &owner);
        if (!status && owner != device) {
            status =
                rt_fail(LEO_ERR_BAD_POINTER, "overflow status: 0x%llx is not memory of device %d",
                        (unsigned long long)addr, device->index);
        }
    }
    if (!status) {
        status = rt_stream_submit(stream, &entry, &(struct rt_task){.what = "overflow status"});
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}
