/* SPDX-License-Identifier: Apache-2.0 */
/* Burst copies between global memory, UB, L1 and BT, and what all data movers share. */
#include "mte.h"

#include "simd/simd.h"
#include "simd/simd_cube.h"

void mte_gm_open(struct mte_gm *gm, struct sim_core *core, const struct sim_span *span)
{
    struct sim_fault before = core->scalar.fault;
    bool write = span->touch & SIM_TOUCH_WRITE;
    *gm = (struct mte_gm){.core = core, .addr = span->low, .write = write};
    gm->base = sim_core_gm(core, span->low, span->extent, write);
    if (!gm->base) {
        core->scalar.fault = before; // a gap may cross what is not mapped: the pieces decide
    }
}

// Longer pieces are left to the host's memcpy.
#define WIDE_PIECE 1024u

/* Shape of a burst copy in bytes. */
struct mte_burst {
    uint64_t count, length, src_step, dst_step;
};

/* Source and destination do not share a byte. */
static void copy_apart(const struct sim_core *core, uint8_t *dst, const uint8_t *src,
                       const struct mte_burst *burst)
{
    if (burst->src_step == burst->length && burst->dst_step == burst->length) {
        memcpy(dst, src, burst->count * burst->length);
    } else if (burst->length <= WIDE_PIECE && burst->length % MTE_BLOCK_BYTES == 0) {
        core->simd->cube->copy_pieces(dst, (ptrdiff_t)burst->dst_step, src,
                                      (ptrdiff_t)burst->src_step, burst->length, burst->count);
    } else {
        for (uint64_t i = 0; i < burst->count; i++) {
            memcpy(dst + i * burst->dst_step, src + i * burst->src_step, burst->length);
        }
    }
}

/* Source and destination both on chip; one buffer may overlap itself (HW-DMA-07). */
static void copy_local(const struct sim_core *core, const struct sim_op *op, uint8_t *dst,
                       const uint8_t *src, const struct mte_burst *burst)
{
    const struct sim_span *to = &op->foot->span[SIM_OPERAND_A],
                          *from = &op->foot->span[SIM_OPERAND_B];
    if (dst + to->extent <= src || src + from->extent <= dst) {
        copy_apart(core, dst, src, burst);
        return;
    }
    for (uint64_t i = 0; i < burst->count; i++) {
        memmove(dst, src, burst->length);
        dst += burst->dst_step;
        src += burst->src_step;
    }
}

/* Into or out of global memory: a function, so that tests/tsan.supp can name this access alone. */
static void copy_piece(uint8_t *dst, const uint8_t *src, uint64_t bytes)
{
    memcpy(dst, src, bytes);
}

static bool copy_in(struct sim_core *core, const struct sim_op *op, uint8_t *dst,
                    const struct mte_burst *burst)
{
    struct mte_gm gm;
    mte_gm_open(&gm, core, &op->foot->span[SIM_OPERAND_B]);
    if (gm.base) {
        copy_apart(core, dst, gm.base, burst);
        return true;
    }
    for (uint64_t i = 0; i < burst->count; i++) {
        const uint8_t *src = mte_gm_at(&gm, i * burst->src_step, burst->length);
        if (!src) {
            return false;
        }
        copy_piece(dst, src, burst->length);
        dst += burst->dst_step;
    }
    return true;
}

static bool copy_out(struct sim_core *core, const struct sim_op *op, const uint8_t *src,
                     const struct mte_burst *burst)
{
    struct mte_atomic atomic;
    if (!mte_atomic_open(core, burst->length, &atomic)) {
        return false;
    }
    struct mte_gm gm;
    mte_gm_open(&gm, core, &op->foot->span[SIM_OPERAND_A]);
    if (gm.base && !atomic.combine) {
        copy_apart(core, gm.base, src, burst);
        return true;
    }
    for (uint64_t i = 0; i < burst->count; i++) {
        uint8_t *dst = mte_gm_at(&gm, i * burst->dst_step, burst->length);
        if (!dst) {
            return false;
        }
        if (atomic.combine) {
            mte_atomic_write(&atomic, dst, src, burst->length);
        } else {
            copy_piece(dst, src, burst->length);
        }
        src += burst->src_step;
    }
    return true;
}

bool sim_mte_burst(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_span *dst = &op->foot->span[SIM_OPERAND_A],
                          *src = &op->foot->span[SIM_OPERAND_B];
    const struct mte_burst burst = {
        .count = src->level[0].count,
        .length = src->bytes,
        .src_step = (uint64_t)src->level[0].step,
        .dst_step = (uint64_t)dst->level[0].step,
    };
    if (!src->host) {
        return copy_in(core, op, dst->host, &burst);
    }
    if (!dst->host) {
        return copy_out(core, op, src->host, &burst);
    }
    copy_local(core, op, dst->host, src->host, &burst);
    return true;
}
