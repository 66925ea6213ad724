/* SPDX-License-Identifier: Apache-2.0 */
/* Transpositions of 16 rows, footprints included: the rows of one of them lie anywhere. HW-VEC-70
 * .. HW-VEC-73. */
#include "foot_vector.h"

#include "../simd/simd_cube.h"
#include <string.h>

#define ROWS         16u
#define MATRIX_BYTES 512u
#define VA_COUNT     8u
#define VA_ADDRESSES 8u

bool sim_foot_vtranspose(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    (void)core;
    sim_vec_foot_unmasked(foot, 1, ROWS * ROWS);
    sim_vec_foot_bytes(foot, SIM_OPERAND_B, SIM_TOUCH_READ | SIM_TOUCH_MOVED, op->b, MATRIX_BYTES,
                       SIM_VEC_BLOCK_BYTES);
    sim_vec_foot_bytes(foot, SIM_OPERAND_A, SIM_TOUCH_WRITE, op->a, MATRIX_BYTES,
                       SIM_VEC_BLOCK_BYTES);
    return true;
}

bool sim_vec_transpose(struct sim_core *core, const struct sim_op *op)
{
    _Alignas(64) uint8_t src[MATRIX_BYTES], turned[MATRIX_BYTES];
    memcpy(src, op->foot->span[SIM_OPERAND_B].host, sizeof(src));
    core->simd->cube->transpose_b16(turned, 0, src, 0, 1);
    memcpy(op->foot->span[SIM_OPERAND_A].host, turned, sizeof(turned));
    return true;
}

/** The part of a row that an element size and the half bits leave. */
struct nchw {
    struct leo_cfg_nchw cfg;
    uint32_t element;
    uint32_t src_at, dst_at, part; /**< bytes in a block: where, and how many */
};

static bool unpack(struct sim_core *core, const struct sim_op *op, struct nchw *nchw)
{
    nchw->cfg = leo_cfg_nchw_unpack(op->d);
    if (!sim_vec_foot_check(core, op, nchw->cfg.dtype, 0)) {
        return false;
    }
    nchw->element = sim_vec_type_bytes(nchw->cfg.dtype);
    const bool bytes = nchw->element == 1;
    if (op->d & LEO_CFG_NCHW_RESERVED || op->a + 1 >= VA_COUNT || op->b + 1 >= VA_COUNT ||
        (!bytes && (nchw->cfg.dst_high || nchw->cfg.src_high))) {
        return sim_vec_bad_config(core);
    }
    nchw->part = bytes ? SIM_VEC_BLOCK_BYTES / 2 : SIM_VEC_BLOCK_BYTES;
    nchw->src_at = nchw->cfg.src_high ? nchw->part : 0;
    nchw->dst_at = nchw->cfg.dst_high ? nchw->part : 0;
    return true;
}

/** Rows of one side: 16 blocks anywhere, each of them again every repeat. */
static bool add_rows(struct sim_core *core, struct sim_footprint *foot, unsigned va, unsigned touch,
                     uint32_t at, uint32_t bytes, struct sim_level repeats)
{
    for (unsigned row = 0; row < ROWS; row++) {
        const uint64_t addr =
            (uint64_t)core->va[va + row / VA_ADDRESSES][row % VA_ADDRESSES] * SIM_VEC_BLOCK_BYTES;
        struct sim_span *span =
            sim_vec_foot_bytes(foot, SIM_OPERAND_EXTRA, touch, addr + at, bytes, 1);
        span->level[0] = (struct sim_level){repeats.count, repeats.step * SIM_VEC_BLOCK_BYTES};
        sim_span_close(span);
    }
    return true;
}

bool sim_foot_nchw(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    struct nchw nchw;
    if (!unpack(core, op, &nchw)) {
        return false;
    }
    const struct leo_cfg_nchw *cfg = &nchw.cfg;
    sim_vec_foot_unmasked(foot, cfg->repeat, ROWS * nchw.part / nchw.element);
    return foot->empty ||
           (add_rows(core, foot, (unsigned)op->b, SIM_TOUCH_READ | SIM_TOUCH_MOVED, nchw.src_at,
                     nchw.part, (struct sim_level){cfg->repeat, cfg->src_rep}) &&
            add_rows(core, foot, (unsigned)op->a, SIM_TOUCH_WRITE, nchw.dst_at, nchw.part,
                     (struct sim_level){cfg->repeat, cfg->dst_rep}));
}

/* 16 rows of 8 elements of 32 bits to 8 of 16, a row of the result in two blocks. */
static void turn_32(uint8_t *out, const uint8_t *in)
{
    uint32_t from[ROWS][8], to[8][ROWS];
    memcpy(from, in, sizeof(from));
    for (unsigned column = 0; column < 8; column++) {
        for (unsigned row = 0; row < ROWS; row++) {
            to[column][row] = from[row][column];
        }
    }
    memcpy(out, to, sizeof(to));
}

/* 16 rows of 16 bytes, each the first half of a block. */
static void turn_8(uint8_t *out, const uint8_t *in)
{
    for (unsigned column = 0; column < ROWS; column++) {
        for (unsigned row = 0; row < ROWS; row++) {
            out[column * SIM_VEC_BLOCK_BYTES + row] = in[row * SIM_VEC_BLOCK_BYTES + column];
        }
    }
}

/* Lengths the compiler knows: a call of memcpy a row takes longer than the row. */
static void copy_row(uint8_t *to, const uint8_t *from, bool whole)
{
    if (whole) {
        memcpy(to, from, SIM_VEC_BLOCK_BYTES);
    } else {
        memcpy(to, from, SIM_VEC_BLOCK_BYTES / 2);
    }
}

bool sim_vec_nchwconv(struct sim_core *core, const struct sim_op *op)
{
    struct nchw nchw;
    if (!unpack(core, op, &nchw)) {
        return false;
    }
    const struct sim_span *src = &op->foot->span[SIM_OPERAND_EXTRA], *dst = src + ROWS;
    const bool whole = nchw.part == SIM_VEC_BLOCK_BYTES;
    for (uint32_t repeat = 0; repeat < nchw.cfg.repeat; repeat++) {
        _Alignas(64) uint8_t in[MATRIX_BYTES], out[MATRIX_BYTES];
        for (unsigned row = 0; row < ROWS; row++) {
            copy_row(in + row * SIM_VEC_BLOCK_BYTES,
                     src[row].host + repeat * src[row].level[0].step, whole);
        }
        if (nchw.element == 2) { // a fractal, turned
            core->simd->cube->transpose_b16(out, 0, in, 0, 1);
        } else if (nchw.element == 4) {
            turn_32(out, in);
        } else {
            turn_8(out, in);
        }
        for (unsigned row = 0; row < ROWS; row++) {
            copy_row(dst[row].host + repeat * dst[row].level[0].step,
                     out + row * SIM_VEC_BLOCK_BYTES, whole);
        }
    }
    return true;
}

/* VA registers: 8 UB addresses of 16 bits each, in blocks. */
bool sim_core_set_va(struct sim_core *core, const struct sim_op *op)
{
    if (op->a >= VA_COUNT) {
        return sim_vec_bad_config(core);
    }
    const uint64_t addresses[] = {op->b, op->c};
    memcpy(core->va[op->a], addresses, sizeof(addresses));
    return true;
}

bool sim_foot_va(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    if (op->c > 1 || op->a + op->c >= VA_COUNT) {
        return sim_vec_bad_config(core);
    }
    sim_vec_foot_unmasked(foot, 1, VA_ADDRESSES);
    sim_vec_foot_bytes(foot, SIM_OPERAND_B, SIM_TOUCH_READ, op->b, sizeof(core->va[0]),
                       sizeof(core->va[0]));
    return true;
}

bool sim_vec_load_va(struct sim_core *core, const struct sim_op *op)
{
    memcpy(core->va[op->a + op->c], op->foot->span[SIM_OPERAND_B].host, sizeof(core->va[0]));
    return true;
}
