/* SPDX-License-Identifier: Apache-2.0 */
/* Row-major matrices of global memory to NZ fractals of L1. */
#include "mte.h"

#include "simd/simd.h"
#include "simd/simd_cube.h"

#define MAX_ROWS 16384u

struct nd2nz {
    uint64_t matrices, rows, row_bytes;
    uint64_t src_matrix, src_row;             /* bytes */
    uint64_t dst_matrix, dst_column, dst_row; /* bytes */
};

static bool unpack(struct sim_core *core, const struct sim_op *op, struct nd2nz *move)
{
    const struct leo_cfg_nz0 cfg0 = leo_cfg_nz0_unpack(op->c);
    const struct leo_cfg_nz1 cfg1 = leo_cfg_nz1_unpack(op->d);
    unsigned element = mte_dtype_bytes(cfg0.dtype);
    if (op->c & LEO_CFG_NZ0_RESERVED || (element != 1 && element != 2 && element != 4) ||
        cfg0.n_value > MAX_ROWS) {
        return mte_bad_config(core, op->c);
    }
    if (op->d & LEO_CFG_NZ1_RESERVED || cfg1.src_d == 0) {
        return mte_bad_config(core, op->d);
    }
    *move = (struct nd2nz){
        .matrices = cfg0.nd_num,
        .rows = cfg0.n_value,
        .row_bytes = (uint64_t)cfg0.d_value * element,
        .src_matrix = (uint64_t)cfg0.src_nd_stride * element,
        .src_row = (uint64_t)cfg1.src_d * element,
        .dst_matrix = (uint64_t)cfg1.dst_nd_stride * element,
        .dst_column = (uint64_t)cfg1.dst_c0_stride * MTE_BLOCK_BYTES,
        .dst_row = (uint64_t)cfg1.dst_n_stride * MTE_BLOCK_BYTES,
    };
    return true;
}

bool mte_exec_nd2nz(struct sim_core *core, const struct sim_op *op)
{
    struct nd2nz move = {0};
    if (!unpack(core, op, &move)) {
        return false;
    }
    if (move.matrices == 0 || move.rows == 0 || move.row_bytes == 0) {
        return true;
    }
    uint64_t columns = (move.row_bytes + MTE_BLOCK_BYTES - 1) / MTE_BLOCK_BYTES;
    uint64_t last = move.matrices - 1;
    uint64_t matrix_bytes =
        (columns - 1) * move.dst_column + (move.rows - 1) * move.dst_row + MTE_BLOCK_BYTES;
    if (last != 0 && move.dst_matrix % MTE_BLOCK_BYTES != 0) {
        return sim_core_fault(core, LEO_FAULT_MISALIGNED_LOCAL, LEO_MEM_SPACE_L1,
                              op->a + move.dst_matrix, matrix_bytes);
    }
    uint8_t *dst = sim_core_local(core, LEO_MEM_SPACE_L1, op->a,
                                  last * move.dst_matrix + matrix_bytes, MTE_BLOCK_BYTES);
    if (!dst) {
        return false;
    }
    struct mte_gm gm;
    mte_gm_open(&gm, core, op->b,
                last * move.src_matrix + (move.rows - 1) * move.src_row + move.row_bytes, false);
    // One call a matrix if the range is one mapping, else one a row.
    uint32_t step = gm.base ? (uint32_t)move.rows : 1;
    for (uint64_t i = 0; i < move.matrices; i++) {
        for (uint64_t row = 0; row < move.rows; row += step) {
            const uint8_t *src =
                mte_gm_at(&gm, i * move.src_matrix + row * move.src_row, move.row_bytes);
            if (!src) {
                return false;
            }
            core->simd->cube->nd2nz(dst + i * move.dst_matrix + row * move.dst_row, move.dst_column,
                                    move.dst_row, src, move.src_row, step,
                                    (uint32_t)move.row_bytes);
        }
    }
    return true;
}
