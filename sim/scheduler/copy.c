/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, reductions and fills. The bytes move when the entry starts; its end follows from the
 * engine's latency and rate. */
#include "../memory/unknown.h"
#include "../replay/memo.h"
#include "../replay/replay.h"
#include "run_ahead.h"
#include "scheduler.h"

#include <string.h>

/* Takes the engine for the transfer; when the last byte has arrived. The rate within the device is
 * that of bytes that are read and written: a fill reads none. */
static uint64_t reserve_engine(struct sim_scheduler *scheduler, uint32_t flags, uint64_t start_ps,
                               double bytes, bool is_fill)
{
    const struct sim_config *config = scheduler->config;
    const bool host = flags != 0;
    const double device_gb_per_s = config->device_gb_per_s * (is_fill ? 2 : 1);
    uint64_t *free_ps = &scheduler->engine_free_ps[flags & LEO_SQE_COPY_HOST_DST   ? 1
                                                   : flags & LEO_SQE_COPY_HOST_SRC ? 0
                                                                                   : 2];
    uint64_t from = start_ps > *free_ps ? start_ps : *free_ps;
    *free_ps = from + sim_ps_from_ns(bytes / (host ? config->host_gb_per_s : device_gb_per_s));
    return *free_ps + sim_ps_from_ns(host ? config->host_latency_ns : config->device_latency_ns);
}

/* What is known of what a copy writes; whether it takes to the host what nobody computed. */
static bool tell_unknown(struct sim_unknown *unknown, const struct leo_sqe_copy *body, bool is_fill)
{
    bool looks = false;
    for (uint32_t row = 0; row < body->height; row++) {
        const uint64_t src = body->src + row * body->src_pitch,
                       dst = body->dst + row * body->dst_pitch;
        const bool known = is_fill || body->flags & LEO_SQE_COPY_HOST_SRC ||
                           !sim_unknown_has(unknown, src, body->width);
        if (!(body->flags & LEO_SQE_COPY_HOST_DST)) {
            sim_unknown_set(unknown, dst, body->width, known);
        }
        looks |= body->flags & LEO_SQE_COPY_HOST_DST && !known;
    }
    return looks;
}

static bool move(struct sim_scheduler *scheduler, struct sim_stream *stream,
                 const struct leo_sqe_copy *body)
{
    const bool is_fill = stream->entry.opcode == LEO_SQE_OP_FILL;
    const bool to_host = body->flags & LEO_SQE_COPY_HOST_DST;
    if (!sim_run_ahead_is_done(stream->early) || (is_fill && to_host)) {
        return sim_copy_bytes(scheduler, stream, body);
    }
    return !to_host || sim_run_ahead_write(scheduler, stream->early, body) ||
           sim_stream_fault(stream, LEO_FAULT_DMA_OUT_OF_RANGE, body->dst, body->width);
}

bool sim_copy_start(struct sim_scheduler *scheduler, unsigned queue, uint64_t *end_ps)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    struct leo_sqe_copy body;
    if (scheduler->replay
            ? !sim_copy_read(scheduler, stream, &body)
            : !sim_copy_check(scheduler, stream, scheduler->host->ring[queue].space, &body)) {
        return false;
    }
    if (body.width == 0 || body.height == 0) {
        return true;
    }
    if (!scheduler->replay && !move(scheduler, stream, &body)) {
        return false;
    }
    const bool is_fill = stream->entry.opcode == LEO_SQE_OP_FILL;
    if (scheduler->memory->unknown) {
        stream->looked = tell_unknown(scheduler->memory->unknown, &body, is_fill);
    }
    if (scheduler->replay) {
        sim_memo_copy(scheduler->replay->memo, scheduler->replay->present[queue], &body, is_fill);
    } else {
        sim_l2_copy(&scheduler->memory->l2, &body, is_fill);
    }
    *end_ps =
        reserve_engine(scheduler, body.flags & (LEO_SQE_COPY_HOST_DST | LEO_SQE_COPY_HOST_SRC),
                       stream->start_ps, (double)body.width * body.height, is_fill);
    if (!(body.flags & LEO_SQE_COPY_HOST_DST)) {
        sim_polls_copied(scheduler, queue, body.dst,
                         sim_copy_span(body.width, body.height, body.dst_pitch), *end_ps);
    }
    return true;
}
