/* SPDX-License-Identifier: Apache-2.0 */
/* Fractals to L1, L0A and L0B: copied, transposed, or filled with a value. */
#include "mte.h"

#include "core/deferred_mmad.h"
#include "simd/simd.h"
#include "simd/simd_cube.h"

/** From global memory, where a gap may cross what is not mapped. */
static bool load_gm(struct sim_core *core, const struct sim_span *to, const struct sim_span *from)
{
    struct mte_gm gm;
    mte_gm_open(&gm, core, from);
    for (uint32_t i = 0; i < from->level[0].count; i++) {
        const uint64_t offset = from->addr - from->low + (uint64_t)(i * from->level[0].step);
        const uint8_t *src = mte_gm_at(&gm, offset, MTE_FRACTAL_BYTES);
        if (!src) {
            return false;
        }
        memcpy(to->host + i * to->level[0].step, src, MTE_FRACTAL_BYTES);
    }
    return true;
}

bool sim_mte_load2d(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_simd_cube *cube = core->simd->cube;
    const struct sim_span *to = &op->foot->span[SIM_OPERAND_A],
                          *from = &op->foot->span[SIM_OPERAND_B];
    if (!from->host) {
        return load_gm(core, to, from);
    }
    const bool transpose = leo_cfg_load2d_unpack(op->d).transpose;
    if (sim_deferred_load(core, op->foot, transpose)) {
        return true;
    }
    (transpose ? cube->transpose_b16
               : cube->copy_fractals)(to->host, (ptrdiff_t)to->level[0].step, from->host,
                                      (ptrdiff_t)from->level[0].step, from->level[0].count);
    return true;
}

/* HW-DMA-24: the index lies beside L0B, a quarter as far from its beginning. */
bool sim_mte_load_sparse(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_span *to = &op->foot->span[SIM_OPERAND_A],
                          *from = &op->foot->span[SIM_OPERAND_B],
                          *index = &op->foot->span[SIM_OPERAND_C];
    const ptrdiff_t first = to->host - core->local[LEO_MEM_SPACE_L0B].data;
    for (uint32_t i = 0; i < from->level[0].count; i++) {
        memcpy(to->host + i * to->level[0].step, from->host + i * from->level[0].step,
               MTE_FRACTAL_BYTES);
        memcpy(core->sparse + (first + i * to->level[0].step) / 4,
               index->host + i * index->level[0].step, MTE_INDEX_BYTES);
    }
    return true;
}

/** A square of fractals as a matrix of `side` rows and columns of `bits` each. */
struct square {
    uint32_t side, bits;
    uint8_t *fractal[4];
};

/** Byte of element (row, column), for elements of at least a byte. Two fractals of 32 bits lie side
 * by side, those of narrower types one below the other. */
static uint8_t *element_at(const struct square *square, uint32_t row, uint32_t column)
{
    const uint32_t bytes = square->bits / 8, width = MTE_BLOCK_BYTES / bytes;
    const uint32_t which = square->bits == 32 ? column / width : row / 16;
    return square->fractal[which] + row % 16 * MTE_BLOCK_BYTES + column % width * bytes;
}

static void transpose_bytes(const struct square *dst, const struct square *src)
{
    const uint32_t bytes = src->bits / 8;
    for (uint32_t row = 0; row < src->side; row++) {
        for (uint32_t column = 0; column < src->side; column++) {
            memcpy(element_at(dst, column, row), element_at(src, row, column), bytes);
        }
    }
}

static void transpose_nibbles(const struct square *dst, const struct square *src)
{
    for (uint32_t row = 0; row < src->side; row++) {
        for (uint32_t column = 0; column < src->side; column++) {
            const uint8_t *from = src->fractal[row / 16] + row % 16 * MTE_BLOCK_BYTES + column / 2;
            uint8_t *to = dst->fractal[column / 16] + column % 16 * MTE_BLOCK_BYTES + row / 2;
            const unsigned value = *from >> column % 2 * 4 & 15u, shift = row % 2 * 4;
            *to = (uint8_t)((*to & ~(15u << shift)) | value << shift);
        }
    }
}

bool sim_mte_load_transpose(struct sim_core *core, const struct sim_op *op)
{
    (void)core;
    const struct sim_span *to = &op->foot->span[SIM_OPERAND_A],
                          *from = &op->foot->span[SIM_OPERAND_B];
    const unsigned bits = leo_dtype_bits(leo_cfg_load2d_unpack(op->c).dtype);
    const uint32_t fractals = from->level[1].count;
    for (uint32_t i = 0; i < from->level[0].count; i++) {
        uint8_t buffer[4][MTE_FRACTAL_BYTES];
        struct square src = {.side = bits == 32 ? 16 : fractals * 16, .bits = bits}, dst = src;
        for (uint32_t f = 0; f < fractals; f++) {
            memcpy(buffer[f], from->host + i * from->level[0].step + f * from->level[1].step,
                   MTE_FRACTAL_BYTES);
            src.fractal[f] = buffer[f];
            dst.fractal[f] = to->host + i * to->level[0].step + f * to->level[1].step;
        }
        if (bits == 4) {
            transpose_nibbles(&dst, &src);
        } else {
            transpose_bytes(&dst, &src);
        }
    }
    return true;
}

bool sim_mte_fill(struct sim_core *core, const struct sim_op *op)
{
    (void)core;
    const struct sim_span *to = &op->foot->span[SIM_OPERAND_A];
    const unsigned bytes = leo_dtype_bytes(leo_cfg_create_unpack(op->d).dtype);
    uint8_t block[MTE_BLOCK_BYTES];
    for (unsigned at = 0; at < sizeof(block); at += bytes) {
        memcpy(block + at, &op->b, bytes);
    }
    for (uint32_t i = 0; i < to->level[0].count; i++) {
        uint8_t *dst = to->host + i * to->level[0].step;
        for (uint32_t at = 0; at < to->bytes; at += sizeof(block)) {
            memcpy(dst + at, block, sizeof(block));
        }
    }
    return true;
}
