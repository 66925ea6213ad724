/* SPDX-License-Identifier: Apache-2.0 */
/* Burst copies between global memory, UB, L1 and BT, and what all data movers share. */
#include "mte.h"

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

bool mte_bad_config(struct sim_core *core, uint64_t word)
{
    return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_GM, word, 0);
}

unsigned mte_dtype_bytes(unsigned dtype)
{
    static const uint8_t bytes[LEO_DTYPE_COUNT] = {
        [LEO_DTYPE_F16] = 2, [LEO_DTYPE_F32] = 4, [LEO_DTYPE_BF16] = 2, [LEO_DTYPE_S8] = 1,
        [LEO_DTYPE_U8] = 1,  [LEO_DTYPE_S16] = 2, [LEO_DTYPE_U16] = 2,  [LEO_DTYPE_S32] = 4,
        [LEO_DTYPE_U32] = 4, [LEO_DTYPE_S64] = 8, [LEO_DTYPE_U64] = 8,  [LEO_DTYPE_B8] = 1,
        [LEO_DTYPE_B16] = 2, [LEO_DTYPE_B32] = 4,
    };
    return dtype < LEO_DTYPE_COUNT ? bytes[dtype] : 0;
}

unsigned mte_dtype_bits(unsigned dtype)
{
    return dtype == LEO_DTYPE_S4 ? 4 : mte_dtype_bytes(dtype) * 8;
}

#define AHEAD 24 /* pieces */

/* Shape of a burst copy in bytes. */
struct mte_burst {
    uint64_t count, length, src_step, dst_step;
};

/* A few blocks: a loop of fixed moves beats a call. */
static void copy_blocks(uint8_t *dst, const uint8_t *src, uint64_t bytes)
{
    if (bytes > 256) {
        memcpy(dst, src, bytes);
        return;
    }
    for (uint64_t i = 0; i < bytes; i += MTE_BLOCK_BYTES) {
        memcpy(dst + i, src + i, MTE_BLOCK_BYTES);
    }
}

/* A block in registers: through memory of its own it would cost two more moves. */
typedef uint64_t block_half __attribute__((vector_size(16), aligned(1), may_alias));

/* Source and destination both on chip; one buffer may overlap itself (HW-DMA-07). */
static void copy_local(uint8_t *dst, const uint8_t *src, const struct mte_burst *burst)
{
    uint64_t src_step = burst->src_step, dst_step = burst->dst_step;
    for (uint64_t i = 0; i < burst->count; i++) {
        if (burst->length == MTE_BLOCK_BYTES) {
            // Both may be one place: read whole, then write.
            block_half low = *(const block_half *)src, high = *(const block_half *)(src + 16);
            *(block_half *)dst = low;
            *(block_half *)(dst + 16) = high;
        } else {
            memmove(dst, src, burst->length);
        }
        dst += dst_step;
        src += src_step;
    }
}

/* Pieces of one mapping; far apart they miss the host's caches, so they are asked for ahead. */
static void copy_strided(uint8_t *dst, const uint8_t *src, const struct mte_burst *burst)
{
    uint64_t src_step = burst->src_step, dst_step = burst->dst_step;
    for (uint64_t i = 0; i < burst->count; i++) {
        __builtin_prefetch(src + AHEAD * src_step);
        copy_blocks(dst, src, burst->length);
        dst += dst_step;
        src += src_step;
    }
}

static bool copy_in(struct sim_core *core, const struct sim_op *op, uint8_t *dst,
                    const struct mte_burst *burst)
{
    struct mte_gm gm;
    mte_gm_open(&gm, core, &op->foot->span[SIM_OPERAND_B]);
    if (gm.base && burst->src_step == burst->length && burst->dst_step == burst->length) {
        memcpy(dst, gm.base, burst->count * burst->length);
        return true;
    }
    if (gm.base) {
        copy_strided(dst, gm.base, burst);
        return true;
    }
    for (uint64_t i = 0; i < burst->count; i++) {
        const uint8_t *src = mte_gm_at(&gm, i * burst->src_step, burst->length);
        if (!src) {
            return false;
        }
        copy_blocks(dst, src, burst->length);
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
    for (uint64_t i = 0; i < burst->count; i++) {
        uint8_t *dst = mte_gm_at(&gm, i * burst->dst_step, burst->length);
        if (!dst) {
            return false;
        }
        if (atomic.combine) {
            mte_atomic_write(&atomic, dst, src, burst->length);
        } else {
            copy_blocks(dst, src, burst->length);
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
    copy_local(dst->host, src->host, &burst);
    return true;
}
