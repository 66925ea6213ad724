/* SPDX-License-Identifier: Apache-2.0 */
/* Meaning of mmad. docs/hw/cube.md. */
#include "mad.h"

#include "core/deferred_mmad.h"
#include <string.h>

void mad_multiply(struct sim_core *core, const struct sim_op *op, uint8_t *b)
{
    const struct leo_cfg_mad cfg = leo_cfg_mad_unpack(op->d);
    const struct leo_cfg_ctrl ctrl = leo_cfg_ctrl_unpack(core->ctrl);
    const struct sim_footprint *foot = op->foot;
    const bool bias = foot->count > SIM_OPERAND_EXTRA;
    struct sim_mmad mmad = {
        .c = foot->span[SIM_OPERAND_A].host,
        .a = foot->span[SIM_OPERAND_B].host,
        .b = b,
        .bias = bias ? foot->span[SIM_OPERAND_EXTRA].host : NULL,
        .zero = cfg.c_init,
        .vector = mad_is_vector(&cfg),
        .to_zero = ctrl.hf32_to_zero,
        .type = cfg.type == LEO_MAD_F32F32 && ctrl.hf32 ? LEO_MAD_HF32F32 : (enum leo_mad)cfg.type,
        .m = cfg.m,
        .k = cfg.k,
        .n = cfg.n,
        .k1 = mad_fractals_of_k(&cfg),
    };
    sim_deferred_multiply(core, foot, &mmad);
}

/* HW-CUBE-23: whole numbers 0 to 3, two bits each, the first in the lowest bits, to f16. */
static void spread_u2(uint16_t *to, const uint8_t *from, size_t count)
{
    static const uint16_t number[4] = {0x0000, 0x3c00, 0x4000, 0x4200};
    for (size_t i = 0; i < count; i++) {
        to[i] = number[from[i / 4] >> i % 4 * 2 & 3];
    }
}

/* One column of fractals of B after the other, so that what it becomes fits beside L0B. */
static void multiply_u2(struct sim_core *core, const struct sim_op *op)
{
    enum { COLUMNS = 16 };
    const struct leo_cfg_mad cfg = leo_cfg_mad_unpack(op->d);
    const struct sim_footprint *foot = op->foot;
    const uint32_t k1 = mad_fractals_of_k(&cfg), m1 = (cfg.m + 15) / 16;
    sim_deferred_meet(core, foot);
    const uint32_t right = mad_right_bytes(cfg.type), n1 = (cfg.n + COLUMNS - 1) / COLUMNS;
    for (uint32_t j = 0; j < n1; j++) {
        // A fractal of k, its columns of B one after the other: ZN has them in rows of n1.
        for (uint32_t i = 0; i < k1; i++) {
            spread_u2((uint16_t *)(void *)core->sparse + i * 256,
                      foot->span[SIM_OPERAND_C].host + ((size_t)i * n1 + j) * right, 256);
        }
        struct sim_footprint part = *foot;
        part.span[SIM_OPERAND_A].host += (size_t)j * m1 * 512;
        struct leo_cfg_mad one = cfg;
        one.type = LEO_MAD_F16F16;
        one.n = cfg.n - j * COLUMNS < COLUMNS ? cfg.n - j * COLUMNS : COLUMNS;
        struct sim_op of = *op;
        of.d = leo_cfg_mad_pack(&one);
        of.foot = &part;
        mad_multiply(core, &of, core->sparse);
    }
}

bool sim_cube_mmad(struct sim_core *core, const struct sim_op *op)
{
    if (leo_cfg_mad_unpack(op->d).type == LEO_MAD_F16U2) {
        multiply_u2(core, op);
        return true;
    }
    mad_multiply(core, op, op->foot->span[SIM_OPERAND_C].host);
    return true;
}
