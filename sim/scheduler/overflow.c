/* SPDX-License-Identifier: Apache-2.0 */
/* The sticky status of float overflows, one an address space. */
#include "scheduler.h"

#include <string.h>

enum { MAX_BYTES = 64 };

static bool is_legal(const struct leo_sqe_overflow *body)
{
    for (unsigned i = 0; i < sizeof(body->reserved0); i++) {
        if (body->reserved0[i]) {
            return false;
        }
    }
    return body->clear <= 1 && body->bytes % 4 == 0 && body->bytes <= MAX_BYTES &&
           (body->dst == 0) == (body->bytes == 0);
}

bool sim_overflow_start(struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    const unsigned space = scheduler->host->ring[queue].space;
    struct leo_sqe_overflow body;
    memcpy(&body, stream->entry.body, sizeof(body));
    if (!is_legal(&body)) {
        return sim_stream_fault(stream, LEO_FAULT_BAD_ENTRY, 0, 0);
    }
    if (body.dst) {
        if (!sim_space_find(&scheduler->memory->space[space], body.dst, body.bytes)) {
            return sim_stream_fault(stream, LEO_FAULT_GM_OUT_OF_RANGE, body.dst, body.bytes);
        }
        const uint32_t word = scheduler->memory->overflow[space] ? body.value : 0;
        uint8_t *to = scheduler->memory->hbm.data + (body.dst - scheduler->memory->hbm.base);
        sim_image_drop(scheduler, body.dst, body.bytes);
        sim_checks_written(scheduler, body.dst, body.bytes, true);
        memset(to, 0, body.bytes);
        memcpy(to, &word, sizeof(word));
    }
    scheduler->memory->overflow[space] = scheduler->memory->overflow[space] && !body.clear;
    return true;
}
