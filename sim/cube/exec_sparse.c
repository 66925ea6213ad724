/* SPDX-License-Identifier: Apache-2.0 */
/* Meaning of mmad_sp: the right matrix is written out, then multiplied as by mmad. docs/hw/cube.md,
 * HW-CUBE-10. */
#include "mad.h"

#include <string.h>

enum { COLUMNS = 16, PAIRS = MAD_ROW_BYTES / 2, FRACTAL = COLUMNS * MAD_ROW_BYTES };

/* One column of a fractal: 32 elements and 64 bits of index become 64 elements, the first 32 of
 * them of one fractal, the others of the one `below` it. */
static void spread(uint8_t *to, size_t below, const uint8_t *from, const uint8_t *index)
{
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        const unsigned bits = index[pair / 2] >> pair % 2 * 4;
        const unsigned place[] = {bits & 3u, ((bits >> 2 & 3u) + 1) & 3u};
        uint8_t *four = to + (pair * 4 >= MAD_ROW_BYTES ? below : 0) + pair * 4 % MAD_ROW_BYTES;
        for (unsigned i = 0; i < 2; i++) {
            four[place[i]] = (uint8_t)(four[place[i]] + from[pair * 2 + i]);
        }
    }
}

bool sim_cube_mmad_sp(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_mad cfg = leo_cfg_mad_unpack(op->d);
    const uint32_t l0b_bytes = core->local[LEO_MEM_SPACE_L0B].bytes;
    const uint8_t *from = op->foot->span[SIM_OPERAND_C].host;
    const uint8_t *index = core->sparse + (from - core->local[LEO_MEM_SPACE_L0B].data) / 4;
    const size_t n1 = (cfg.n + 15u) / 16, fractals = mad_sparse_fractals(&cfg) * n1;
    uint8_t *dense = core->sparse + l0b_bytes / 4;
    memset(dense, 0, 2 * fractals * FRACTAL);
    for (size_t i = 0; i < fractals; i++) {
        uint8_t *to = dense + (i / n1 * 2 * n1 + i % n1) * FRACTAL;
        for (unsigned j = 0; j < COLUMNS; j++) {
            spread(to + j * MAD_ROW_BYTES, n1 * FRACTAL, from + i * FRACTAL + j * MAD_ROW_BYTES,
                   index + (i * FRACTAL + j * MAD_ROW_BYTES) / 4);
        }
    }
    mad_multiply(core, op, dense);
    return true;
}
