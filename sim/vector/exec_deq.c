/* SPDX-License-Identifier: Apache-2.0 */
/* Integers times a scale to f16 or 8 bits, footprints included. HW-VEC-80 .. HW-VEC-82. */
#include "foot_vector.h"

#include "../number/quantize.h"
#include <string.h>

#define SCALES 16u /* of vconv_vdeqs162b8 */

bool sim_foot_vdeq(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_vdeq cfg = leo_cfg_vdeq_unpack(op->d);
    const bool to_bytes = op->insn != LEO_INSN_VCONV_DEQ;
    if (!sim_vec_foot_check(core, op, cfg.dtype, 0)) {
        return false;
    }
    if (op->d & LEO_CFG_VDEQ_RESERVED || (cfg.high && !to_bytes)) {
        return sim_vec_bad_config(core);
    }
    const uint32_t src_bytes = to_bytes ? 2 : 4;
    if (!sim_vec_foot_begin(core, foot, src_bytes, cfg.repeat)) {
        return false;
    }
    sim_vec_foot_lanes(foot, SIM_OPERAND_B, SIM_TOUCH_READ, op->b, cfg.src_blk, cfg.src_rep,
                       src_bytes);
    if (!to_bytes) {
        sim_vec_foot_lanes(foot, SIM_OPERAND_A, SIM_TOUCH_WRITE, op->a, cfg.dst_blk, cfg.dst_rep,
                           2);
        return true;
    }
    if (!foot->empty && op->a % SIM_VEC_BLOCK_BYTES != 0) {
        return sim_core_fault(core, LEO_FAULT_MISALIGNED_LOCAL, LEO_MEM_SPACE_UB, op->a,
                              SIM_VEC_BLOCK_BYTES);
    }
    sim_vec_foot_halves(foot, op->a + (cfg.high ? SIM_VEC_BLOCK_BYTES / 2 : 0), cfg.dst_blk,
                        cfg.dst_rep);
    if (op->insn == LEO_INSN_VCONV_VDEQS162B8) {
        sim_vec_foot_bytes(foot, SIM_OPERAND_EXTRA, SIM_TOUCH_READ, core->csr.deqscale,
                           SCALES * sizeof(uint64_t), SIM_VEC_BLOCK_BYTES);
    }
    return true;
}

static void run_deq(void *context, void *dst, const void *a, const void *b, uint64_t first,
                    size_t count)
{
    (void)b;
    (void)first;
    const uint16_t *scale = context;
    for (size_t i = 0; i < count; i++) {
        ((uint16_t *)dst)[i] = sim_number_deq_f16(((const int32_t *)a)[i], *scale);
    }
}

bool sim_vec_deq(struct sim_core *core, const struct sim_op *op)
{
    struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array dst = sim_vec_array_of(op, SIM_OPERAND_A),
                               src = sim_vec_array_of(op, SIM_OPERAND_B);
    sim_vec_saturates(&vec, LEO_DTYPE_F16);
    uint16_t scale = (uint16_t)core->csr.deqscale;
    sim_vec_run(&vec, &dst, &src, NULL, run_deq, &scale);
    return true;
}

bool sim_vec_deq_bytes(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array src = sim_vec_array_of(op, SIM_OPERAND_B);
    const struct sim_span *dst = &op->foot->span[SIM_OPERAND_A];
    const struct leo_cfg_vdeq cfg = leo_cfg_vdeq_unpack(op->d);
    uint64_t scale[SCALES];
    for (unsigned i = 0; i < SCALES; i++) {
        scale[i] = core->csr.deqscale;
    }
    if (op->insn == LEO_INSN_VCONV_VDEQS162B8) {
        memcpy(scale, op->foot->span[SIM_OPERAND_EXTRA].host, sizeof(scale));
    }
    for (uint32_t repeat = 0; repeat < vec.lanes.repeats; repeat++) {
        _Alignas(64) uint8_t buffer[SIM_VEC_REPEAT_BYTES];
        uint8_t results[SIM_VEC_REPEAT_BYTES / 2];
        const bool last = repeat == vec.lanes.repeats - 1;
        const uint32_t used = last ? vec.lanes.used_last : vec.lanes.used;
        const uint64_t *mask = last ? vec.lanes.mask_last : vec.lanes.mask;
        const int16_t *lanes = (const void *)sim_vec_lanes(&src, repeat, used, buffer);
        for (uint32_t lane = 0; lane < used; lane++) {
            results[lane] = (uint8_t)sim_number_requantize(lanes[lane], scale[lane % SCALES], 8,
                                                           cfg.dtype == LEO_DTYPE_S8);
        }
        uint8_t *to = dst->host + repeat * dst->level[0].step;
        for (uint32_t lane = 0; lane < used; lane++) {
            if (sim_vec_is_active(mask, lane)) {
                to[lane / 16 * dst->level[1].step + lane % 16] = results[lane];
            }
        }
    }
    return true;
}
