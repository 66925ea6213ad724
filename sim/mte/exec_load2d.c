/* SPDX-License-Identifier: Apache-2.0 */
/* Fractals of L1 to L0A and L0B. */
#include "mte.h"

#include "simd/simd.h"
#include "simd/simd_cube.h"

bool sim_mte_load2d(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_simd_cube *cube = core->simd->cube;
    const struct sim_span *to = &op->foot->span[SIM_OPERAND_A],
                          *from = &op->foot->span[SIM_OPERAND_B];
    (leo_cfg_load2d_unpack(op->d).transpose ? cube->transpose_b16 : cube->copy_fractals)(
        to->host, (ptrdiff_t)to->level[0].step, from->host, (ptrdiff_t)from->level[0].step,
        from->level[0].count);
    return true;
}
