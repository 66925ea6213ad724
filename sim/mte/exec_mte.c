/* SPDX-License-Identifier: Apache-2.0 */
/* Burst copies between global memory, UB, L1 and BT, and the dispatch of all data movers. */
#include "mte.h"

void mte_gm_open(struct mte_gm *gm, struct sim_core *core, uint64_t addr, uint64_t bytes,
                 bool write)
{
    struct sim_fault before = core->scalar.fault;
    *gm = (struct mte_gm){.core = core, .addr = addr, .write = write};
    gm->base = sim_core_gm(core, addr, bytes, write);
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

#define AHEAD 24 /* pieces */

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
    uint64_t src_step = burst->length + burst->src_gap, dst_step = burst->length + burst->dst_gap;
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
    uint64_t src_step = burst->length + burst->src_gap, dst_step = burst->length + burst->dst_gap;
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
    mte_gm_open(&gm, core, op->b, mte_span(burst->count, burst->length, burst->src_gap), false);
    if (gm.base && burst->src_gap == 0 && burst->dst_gap == 0) {
        memcpy(dst, gm.base, burst->count * burst->length);
        return true;
    }
    if (gm.base) {
        copy_strided(dst, gm.base, burst);
        return true;
    }
    for (uint64_t i = 0; i < burst->count; i++) {
        const uint8_t *src = mte_gm_at(&gm, i * (burst->length + burst->src_gap), burst->length);
        if (!src) {
            return false;
        }
        copy_blocks(dst, src, burst->length);
        dst += burst->length + burst->dst_gap;
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
    mte_gm_open(&gm, core, op->a, mte_span(burst->count, burst->length, burst->dst_gap), true);
    for (uint64_t i = 0; i < burst->count; i++) {
        uint8_t *dst = mte_gm_at(&gm, i * (burst->length + burst->dst_gap), burst->length);
        if (!dst) {
            return false;
        }
        if (atomic.combine) {
            mte_atomic_write(&atomic, dst, src, burst->length);
        } else {
            copy_blocks(dst, src, burst->length);
        }
        src += burst->length + burst->src_gap;
    }
    return true;
}

/* Where a burst copy reads and writes, and its units. */
struct route {
    enum leo_mem_space src, dst;
    uint16_t length_unit, src_unit, dst_unit, src_align, dst_align;
};

#define GM LEO_MEM_SPACE_GM
#define UB LEO_MEM_SPACE_UB
#define L1 LEO_MEM_SPACE_L1

static const struct route *find_route(enum leo_insn insn)
{
    static const struct route routes[] = {
        {GM, UB, 32, 32, 32, 1, 32},  {GM, L1, 32, 32, 32, 1, 32},
        {UB, GM, 32, 32, 32, 32, 1},  {UB, UB, 32, 32, 32, 32, 32},
        {UB, L1, 32, 32, 32, 32, 32}, {L1, UB, 32, 32, 32, 32, 32},
        {L1, GM, 32, 32, 32, 32, 1},  {L1, LEO_MEM_SPACE_BT, 64, 32, 64, 32, 64},
    };
    switch ((int)insn) {
    case LEO_INSN_COPY_GM_TO_UBUF:
        return &routes[0];
    case LEO_INSN_COPY_GM_TO_CBUF:
        return &routes[1];
    case LEO_INSN_COPY_UBUF_TO_GM:
        return &routes[2];
    case LEO_INSN_COPY_UBUF_TO_UBUF:
        return &routes[3];
    case LEO_INSN_COPY_UBUF_TO_CBUF:
        return &routes[4];
    case LEO_INSN_COPY_CBUF_TO_UBUF:
        return &routes[5];
    case LEO_INSN_COPY_CBUF_TO_GM:
        return &routes[6];
    case LEO_INSN_COPY_CBUF_TO_BT:
        return &routes[7];
    default:
        return NULL;
    }
}

static bool exec_burst(struct sim_core *core, const struct sim_op *op, const struct route *route)
{
    const struct leo_cfg_burst cfg = leo_cfg_burst_unpack(op->d);
    const struct mte_burst burst = {
        .count = cfg.n_burst,
        .length = (uint64_t)cfg.len_burst * route->length_unit,
        .src_gap = (uint64_t)cfg.src_gap * route->src_unit,
        .dst_gap = (uint64_t)cfg.dst_gap * route->dst_unit,
    };
    if (op->d & LEO_CFG_BURST_RESERVED) {
        return mte_bad_config(core, op->d);
    }
    if (burst.count == 0 || burst.length == 0) {
        return true;
    }
    uint8_t *src = NULL, *dst = NULL;
    uint64_t src_bytes = mte_span(burst.count, burst.length, burst.src_gap);
    uint64_t dst_bytes = mte_span(burst.count, burst.length, burst.dst_gap);
    if (route->src != GM &&
        !(src = sim_core_local(core, route->src, op->b, src_bytes, route->src_align))) {
        return false;
    }
    if (route->dst != GM &&
        !(dst = sim_core_local(core, route->dst, op->a, dst_bytes, route->dst_align))) {
        return false;
    }
    if (!src) {
        return copy_in(core, op, dst, &burst);
    }
    if (!dst) {
        return copy_out(core, op, src, &burst);
    }
    copy_local(dst, src, &burst);
    return true;
}

bool sim_exec_mte(struct sim_core *core, const struct sim_op *op)
{
    switch ((int)op->insn) {
    case LEO_INSN_COPY_GM_TO_UBUF_ALIGN:
    case LEO_INSN_COPY_UBUF_TO_GM_ALIGN:
        return mte_exec_align(core, op);
    case LEO_INSN_COPY_GM_TO_CBUF_ND2NZ:
        return mte_exec_nd2nz(core, op);
    case LEO_INSN_LOAD_CBUF_TO_CA:
    case LEO_INSN_LOAD_CBUF_TO_CB:
        return mte_exec_load2d(core, op);
    default:
        break;
    }
    const struct route *route = find_route(op->insn);
    return route
               ? exec_burst(core, op, route)
               : sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_GM, op->word, 0);
}
