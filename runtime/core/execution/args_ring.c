/* SPDX-License-Identifier: Apache-2.0 */
/* Room for argument blocks in a stream's ring, given back in the order of submission. */
#include "../rt.h"

// Finds `bytes` consecutive bytes in the ring; false if it has to drain first.
static bool find_place(struct leo_rt_stream *stream, uint32_t bytes, uint32_t *at)
{
    if (stream->args_tasks == 0) {
        stream->args_head = stream->args_tail = 0;
    }
    if (stream->args_tasks == 0 || stream->args_head > stream->args_tail) {
        if (RT_ARGS_BYTES - stream->args_head >= bytes) {
            *at = stream->args_head;
            return true;
        }
        *at = 0;
        return stream->args_tail > bytes;
    }
    *at = stream->args_head;
    return stream->args_tail - stream->args_head > bytes;
}

leo_status rt_args_place(struct leo_rt_stream *stream, uint32_t bytes, struct rt_place *place)
{
    const uint32_t size = (bytes + RT_ARGS_ALIGN - 1) / RT_ARGS_ALIGN * RT_ARGS_ALIGN;
    uint32_t at;
    // Room in the queue first: places are given back in the order of submission, so from here to
    // the submission no other thread may get in.
    leo_status status = rt_stream_wait_room(stream);
    while (!status && !find_place(stream, size, &at)) {
        status = rt_stream_wait(stream, stream->completed + 1, -1);
        if (status == LEO_OK) {
            status = rt_stream_wait_room(stream);
        }
    }
    if (status) {
        return status;
    }
    place->ptr = stream->args + at;
    place->addr = stream->args_addr + at;
    place->args_at = at;
    place->args_end = at + size;
    return LEO_OK;
}
