/* SPDX-License-Identifier: Apache-2.0 */
/* Fractals of L1 to L0A and L0B. */
#include "mte.h"

#include "simd/simd.h"
#include "simd/simd_cube.h"

bool mte_exec_load2d(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_load2d cfg = leo_cfg_load2d_unpack(op->d);
    enum leo_mem_space to =
        op->insn == LEO_INSN_LOAD_CBUF_TO_CA ? LEO_MEM_SPACE_L0A : LEO_MEM_SPACE_L0B;
    unsigned element = mte_dtype_bytes(cfg.dtype);
    if (op->d & LEO_CFG_LOAD2D_RESERVED || element == 0 || (cfg.transpose && element != 2)) {
        return mte_bad_config(core, op->d);
    }
    if (cfg.repeat == 0) {
        return true;
    }
    uint64_t last = cfg.repeat - 1u, reach = last * cfg.src_stride * MTE_FRACTAL_BYTES;
    uint64_t first = op->b + (uint64_t)cfg.base * MTE_FRACTAL_BYTES;
    uint64_t low =
        cfg.decrement ? first - reach : first; // below zero it wraps, which no buffer holds
    uint64_t dst_step = (cfg.dst_gap + 1u) * (uint64_t)MTE_FRACTAL_BYTES;
    const uint8_t *src =
        sim_core_local(core, LEO_MEM_SPACE_L1, low, reach + MTE_FRACTAL_BYTES, MTE_BLOCK_BYTES);
    if (!src) {
        return false;
    }
    uint8_t *dst =
        sim_core_local(core, to, op->a, last * dst_step + MTE_FRACTAL_BYTES, MTE_FRACTAL_BYTES);
    if (!dst) {
        return false;
    }
    ptrdiff_t src_step = (ptrdiff_t)cfg.src_stride * (ptrdiff_t)MTE_FRACTAL_BYTES;
    if (cfg.decrement) {
        src += reach;
        src_step = -src_step;
    }
    const struct sim_simd_cube *cube = core->simd->cube;
    (cfg.transpose ? cube->transpose_b16 : cube->copy_fractals)(dst, (ptrdiff_t)dst_step, src,
                                                                src_step, cfg.repeat);
    return true;
}
