/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of byte-length bursts between global memory and UB. */
#include "mte.h"

static void fill(uint8_t *dst, uint64_t value, unsigned element, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += element) {
        memcpy(dst + at, &value, element);
    }
}

/* HW-DMA-11: left pad, bytes, right pad, and zeros up to the end of the last block. */
static bool load_padded(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_align0 cfg = leo_cfg_align0_unpack(op->c);
    const struct sim_span *to = &op->foot->span[SIM_OPERAND_A],
                          *from = &op->foot->span[SIM_OPERAND_B];
    const unsigned element = leo_dtype_bytes(cfg.dtype);
    const uint64_t length = from->bytes, left = cfg.lpad * element, right = cfg.rpad * element;
    uint8_t *dst = to->host;
    struct mte_gm gm;
    mte_gm_open(&gm, core, from);
    for (uint64_t i = 0; i < from->level[0].count; i++) {
        const uint8_t *src = mte_gm_at(&gm, i * (uint64_t)from->level[0].step, length);
        if (!src) {
            return false;
        }
        fill(dst, core->csr.mov_pad_val, element, left);
        memcpy(dst + left, src, length);
        fill(dst + left + length, core->csr.mov_pad_val, element, right);
        memset(dst + left + length + right, 0, to->bytes - left - length - right);
        dst += to->level[0].step;
    }
    return true;
}

/* HW-DMA-12: every burst starts on a block of UB; its unused tail is not read. */
static bool store_packed(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_span *to = &op->foot->span[SIM_OPERAND_A],
                          *from = &op->foot->span[SIM_OPERAND_B];
    uint64_t length = to->bytes;
    const uint8_t *src = from->host;
    struct mte_atomic atomic;
    if (!mte_atomic_open(core, length, &atomic)) {
        return false;
    }
    struct mte_gm gm;
    mte_gm_open(&gm, core, to);
    for (uint64_t i = 0; i < to->level[0].count; i++) {
        uint8_t *dst = mte_gm_at(&gm, i * (uint64_t)to->level[0].step, length);
        if (!dst) {
            return false;
        }
        if (atomic.combine) {
            mte_atomic_write(&atomic, dst, src, length);
        } else {
            memcpy(dst, src, length);
        }
        src += from->level[0].step;
    }
    return true;
}

bool sim_mte_align(struct sim_core *core, const struct sim_op *op)
{
    bool load = op->foot->span[SIM_OPERAND_B].space == LEO_MEM_SPACE_GM;
    return load ? load_padded(core, op) : store_packed(core, op);
}
