/* SPDX-License-Identifier: Apache-2.0 */
/* Row-major matrices of global memory to NZ fractals of L1. */
#include "mte.h"

#include "simd/simd.h"
#include "simd/simd_cube.h"

bool sim_mte_nd2nz(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_span *to = &op->foot->span[SIM_OPERAND_A],
                          *from = &op->foot->span[SIM_OPERAND_B];
    const struct sim_level *matrix = &from->level[0], *row = &from->level[1];
    struct mte_gm gm;
    mte_gm_open(&gm, core, from);
    // One call a matrix if the range is one mapping, else one a row.
    uint32_t step = gm.base ? row->count : 1;
    // Matrices, or rows, that all go to one place: the last one stays.
    bool one_matrix = gm.base && to->level[0].step == 0;
    bool one_row = gm.base && to->level[2].step == 0;
    step = one_row ? 1 : step;
    for (uint64_t i = one_matrix ? matrix->count - 1 : 0; i < matrix->count; i++) {
        for (uint64_t at = one_row ? row->count - 1 : 0; at < row->count; at += step) {
            const uint8_t *src =
                mte_gm_at(&gm, i * (uint64_t)matrix->step + at * (uint64_t)row->step, from->bytes);
            if (!src) {
                return false;
            }
            core->simd->cube->nd2nz(to->host + i * (uint64_t)to->level[0].step +
                                        at * (uint64_t)to->level[2].step,
                                    (uint64_t)to->level[1].step, (uint64_t)to->level[2].step, src,
                                    (uint64_t)row->step, step, from->bytes);
        }
    }
    return true;
}
