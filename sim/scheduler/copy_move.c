/* SPDX-License-Identifier: Apache-2.0 */
/* What a copy, reduction or fill asks for, and its bytes. */
#include "../mte/mte.h"
#include "scheduler.h"

#include <string.h>

/* A kind of `enum leo_atomic` combines what is at dst with what is at src. */
static unsigned kind_of(const struct leo_sqe_copy *body)
{
    return leo_sqe_copy_get_atomic(body->flags);
}

/* Bytes from the first to past the last of a 2D block; 0 = does not fit a number. */
uint64_t sim_copy_span(uint64_t width, uint32_t height, uint64_t pitch)
{
    uint64_t rows = height - 1;
    if (rows && pitch > (UINT64_MAX - width) / rows) {
        return 0;
    }
    return rows * pitch + width;
}

static bool check_side(struct sim_scheduler *scheduler, struct sim_stream *stream, uint16_t number,
                       const struct leo_sqe_copy *body, bool is_dst)
{
    uint64_t addr = is_dst ? body->dst : body->src;
    uint64_t span =
        sim_copy_span(body->width, body->height, is_dst ? body->dst_pitch : body->src_pitch);
    if (body->flags & (is_dst ? LEO_SQE_COPY_HOST_DST : LEO_SQE_COPY_HOST_SRC)) {
        return (span && sim_dma_is_mapped(&scheduler->host->dma, addr, span)) ||
               sim_stream_fault(stream, LEO_FAULT_DMA_OUT_OF_RANGE, addr, span);
    }
    const struct sim_space *space = &scheduler->memory->space[number];
    return (span && sim_space_find(space, addr, span)) ||
           sim_stream_fault(stream, LEO_FAULT_GM_OUT_OF_RANGE, addr, span);
}

/* False: host memory went away since it was checked. */
static bool move_row(struct sim_scheduler *scheduler, const struct leo_sqe_copy *body, bool is_fill,
                     uint64_t dst, uint64_t src, uint64_t bytes)
{
    struct sim_dma *dma = &scheduler->host->dma;
    uint8_t *memory = scheduler->memory->hbm.data;
    uint64_t base = scheduler->memory->hbm.base;
    if (is_fill) {
        if (body->flags & LEO_SQE_COPY_HOST_DST) {
            return sim_dma_fill(dma, dst, (uint32_t)body->src, bytes);
        }
        uint8_t *to = memory + (dst - base);
        uint32_t pattern = (uint32_t)body->src;
        if (pattern == (pattern & 0xff) * UINT32_C(0x01010101)) {
            memset(to, (int)(pattern & 0xff), bytes);
            return true;
        }
        for (uint64_t i = 0; i < bytes; i++) {
            to[i] = (uint8_t)(pattern >> i % 4 * 8);
        }
        return true;
    }
    if (body->flags & LEO_SQE_COPY_HOST_DST) {
        return sim_dma_write(dma, dst, memory + (src - base), bytes);
    }
    if (body->flags & LEO_SQE_COPY_HOST_SRC) {
        return sim_dma_read(dma, src, memory + (dst - base), bytes);
    }
    if (kind_of(body)) {
        struct mte_atomic reduction;
        if (!mte_atomic_choose(scheduler->cores->simd, kind_of(body),
                               leo_sqe_copy_get_atomic_type(body->flags), &reduction)) {
            return false; // the entry was checked
        }
        mte_atomic_write(&reduction, memory + (dst - base), memory + (src - base), bytes);
        return true;
    }
    memmove(memory + (dst - base), memory + (src - base), bytes);
    return true;
}

/* The bytes themselves. */
bool sim_copy_bytes(struct sim_scheduler *scheduler, struct sim_stream *stream,
                    const struct leo_sqe_copy *body)
{
    const bool is_fill = stream->entry.opcode == LEO_SQE_OP_FILL;
    if (!(body->flags & LEO_SQE_COPY_HOST_DST)) {
        sim_image_drop(scheduler, body->dst,
                       sim_copy_span(body->width, body->height, body->dst_pitch));
        sim_checks_written(scheduler, body->dst,
                           sim_copy_span(body->width, body->height, body->dst_pitch), true);
    }
    for (uint32_t row = 0; row < body->height; row++) {
        uint64_t dst = body->dst + row * body->dst_pitch;
        uint64_t src = body->src + row * body->src_pitch;
        if (!move_row(scheduler, body, is_fill, dst, src, body->width)) {
            return sim_stream_fault(stream, LEO_FAULT_DMA_OUT_OF_RANGE,
                                    body->flags & LEO_SQE_COPY_HOST_DST ? dst : src, body->width);
        }
    }
    return true;
}

/* Whole elements of one row, all of them on the device and apart. */
static bool is_reduction(const struct sim_scheduler *scheduler, const struct leo_sqe_copy *body,
                         bool is_fill)
{
    struct mte_atomic reduction;
    const uint32_t known = LEO_SQE_COPY_ATOMIC | LEO_SQE_COPY_ATOMIC_TYPE;
    const uint64_t between = body->dst > body->src ? body->dst - body->src : body->src - body->dst;
    return !is_fill && !(body->flags & ~known) && body->height <= 1 && between >= body->width &&
           mte_atomic_choose(scheduler->cores->simd, kind_of(body),
                             leo_sqe_copy_get_atomic_type(body->flags), &reduction) &&
           body->width % reduction.bytes == 0;
}

/* What the entry asks for, in as few rows as possible; false: with its fault set, it cannot be. */
bool sim_copy_read(struct sim_scheduler *scheduler, struct sim_stream *stream,
                   struct leo_sqe_copy *body)
{
    const bool is_fill = stream->entry.opcode == LEO_SQE_OP_FILL;
    memcpy(body, stream->entry.body, sizeof(*body));
    const bool both_host = body->flags == (LEO_SQE_COPY_HOST_DST | LEO_SQE_COPY_HOST_SRC);
    if ((kind_of(body) ? !is_reduction(scheduler, body, is_fill)
                       : body->flags & ~(LEO_SQE_COPY_HOST_DST | LEO_SQE_COPY_HOST_SRC)) ||
        both_host || (is_fill && body->flags & LEO_SQE_COPY_HOST_SRC) ||
        (body->height > 1 &&
         (body->dst_pitch < body->width || (!is_fill && body->src_pitch < body->width)))) {
        return sim_stream_fault(stream, LEO_FAULT_BAD_ENTRY, 0, 0);
    }
    if (body->height > 1 && body->dst_pitch == body->width && body->src_pitch == body->width &&
        !is_fill) {
        body->width *= body->height;
        body->height = 1;
    }
    return true;
}

bool sim_copy_check(struct sim_scheduler *scheduler, struct sim_stream *stream, uint16_t space,
                    struct leo_sqe_copy *body)
{
    return sim_copy_read(scheduler, stream, body) &&
           (body->width == 0 || body->height == 0 ||
            (check_side(scheduler, stream, space, body, true) &&
             (stream->entry.opcode == LEO_SQE_OP_FILL ||
              check_side(scheduler, stream, space, body, false))));
}
