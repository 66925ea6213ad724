/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of byte-length bursts between global memory and UB. */
#include "mte.h"

#define MAX_LEN_BYTES 2097151u

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + MTE_BLOCK_BYTES - 1) / MTE_BLOCK_BYTES * MTE_BLOCK_BYTES;
}

/* HW-DMA-11: left pad, bytes, right pad, and zeros up to the end of the last block. */
static bool load_padded(struct sim_core *core, const struct sim_op *op, uint64_t count,
                        uint64_t length, uint64_t left, uint64_t right)
{
    const struct leo_cfg_align1 gaps = leo_cfg_align1_unpack(op->d);
    uint64_t block = round_up(left + length + right),
             dst_gap = (uint64_t)gaps.dst_gap * MTE_BLOCK_BYTES;
    uint64_t src_step = length + gaps.src_gap;
    uint8_t *dst =
        sim_core_local(core, LEO_MEM_SPACE_UB, op->a, mte_span(count, block, dst_gap), 32);
    if (!dst) {
        return false;
    }
    struct mte_gm gm;
    mte_gm_open(&gm, core, op->b, mte_span(count, length, gaps.src_gap), false);
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *src = mte_gm_at(&gm, i * src_step, length);
        if (!src) {
            return false;
        }
        memset(dst, 0, left);
        memcpy(dst + left, src, length);
        memset(dst + left + length, 0, block - left - length);
        dst += block + dst_gap;
    }
    return true;
}

/* HW-DMA-12: every burst starts on a block of UB; its unused tail is not read. */
static bool store_packed(struct sim_core *core, const struct sim_op *op, uint64_t count,
                         uint64_t length)
{
    const struct leo_cfg_align1 gaps = leo_cfg_align1_unpack(op->d);
    uint64_t src_step = round_up(length) + (uint64_t)gaps.src_gap * MTE_BLOCK_BYTES;
    uint64_t dst_step = length + gaps.dst_gap;
    struct mte_atomic atomic;
    if (!mte_atomic_open(core, length, &atomic)) {
        return false;
    }
    const uint8_t *src =
        sim_core_local(core, LEO_MEM_SPACE_UB, op->b, (count - 1) * src_step + length, 32);
    if (!src) {
        return false;
    }
    struct mte_gm gm;
    mte_gm_open(&gm, core, op->a, mte_span(count, length, gaps.dst_gap), true);
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *dst = mte_gm_at(&gm, i * dst_step, length);
        if (!dst) {
            return false;
        }
        if (atomic.combine) {
            mte_atomic_write(&atomic, dst, src, length);
        } else {
            memcpy(dst, src, length);
        }
        src += src_step;
    }
    return true;
}

bool mte_exec_align(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_align0 cfg = leo_cfg_align0_unpack(op->c);
    unsigned element = mte_dtype_bytes(cfg.dtype);
    bool load = op->insn == LEO_INSN_COPY_GM_TO_UBUF_ALIGN;
    uint32_t left = cfg.lpad * element, right = cfg.rpad * element;
    if (op->c & LEO_CFG_ALIGN0_RESERVED || element == 0 || cfg.len_bytes > MAX_LEN_BYTES ||
        left > 32 || right > 32 || (!load && left + right != 0)) {
        return mte_bad_config(core, op->c);
    }
    if (op->d & LEO_CFG_ALIGN1_RESERVED) {
        return mte_bad_config(core, op->d);
    }
    if (cfg.n_burst == 0 || cfg.len_bytes == 0) {
        return true;
    }
    return load ? load_padded(core, op, cfg.n_burst, cfg.len_bytes, left, right)
                : store_packed(core, op, cfg.n_burst, cfg.len_bytes);
}
