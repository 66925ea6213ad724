/* SPDX-License-Identifier: Apache-2.0 */
/* Time of the data movers. Rates and heads come from the SoC file; docs/hw/dma.md, HW-DMA-30 and
 * up. */
#include "mte.h"
#include <sim_units.h>

#include <math.h>

// Of both architectures, marked as the numbers in isa/soc/*.ini. Which unit a piece is rounded to
// (HW-DMA-31) is [A].
#define LINE_BYTES   128u /* least piece global memory moves: [P] line the L2 reads */
#define WINDOW_BYTES 512u /* largest piece of one DMA request: [P] longest burst of the DMA */

/* What one piece costs the memory: short ones whole lines, long ones whole windows if bursts are
 * more than a line. */
static uint64_t piece_bytes(uint64_t addr, uint64_t bytes, bool aligned)
{
    uint64_t unit = bytes < WINDOW_BYTES || !aligned ? LINE_BYTES : WINDOW_BYTES;
    return (addr % unit + bytes + unit - 1) / unit * unit;
}

/* What the memory moves for a span: level 0 are alike, level 1 (or 0) are its pieces. */
static uint64_t memory_bytes(const struct sim_span *span, bool aligned)
{
    // Matrices of one instruction are alike: the first one's lines count for each.
    bool matrices = span->level[1].count != 1 || span->level[1].step != 0;
    const struct sim_level *pieces = &span->level[matrices];
    uint64_t again = matrices ? span->level[0].count : 1;
    uint64_t count = pieces->count, step = (uint64_t)pieces->step;
    if (again == 0 || count == 0 || span->bytes == 0) {
        return 0;
    }
    if (step == span->bytes) {
        return again * piece_bytes(span->addr, count * span->bytes, aligned);
    }
    if (step % WINDOW_BYTES == 0) {
        return again * count * piece_bytes(span->addr, span->bytes, aligned);
    }
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        sum += piece_bytes(span->addr + i * step, span->bytes, aligned);
    }
    return again * sum;
}

/* Global memory in or out: the engine finds the time from the bytes and from what else is under
 * way; the pipe takes the next one after some cycles at the earliest. */
static void cost_gm(const struct sim_core *core, const struct sim_op *op,
                    const struct sim_span *span, struct sim_cost *cost)
{
    bool write = span->touch & SIM_TOUCH_WRITE;
    const struct sim_insn_time *time = &core->config->insn[op->insn];
    uint64_t width = (uint64_t)time->rate16;
    bool in_one = span->level[0].step == span->bytes && span->level[1].count == 1;
    uint64_t run = in_one ? (uint64_t)span->level[0].count * span->bytes : span->bytes;
    uint64_t lines =
        (run < WINDOW_BYTES ? run + LINE_BYTES - 1 : WINDOW_BYTES) / LINE_BYTES * LINE_BYTES;
    cost->head_cycles = time->head;
    cost->busy_cycles = 0;
    cost->gm_path = (uint32_t)width;
    // A burst lies in one window of its size: what is not aligned to it goes in lines.
    const uint32_t most = core->config->gm_request_bytes;
    bool aligned = (span->addr | (in_one ? 0 : (uint64_t)span->level[0].step)) % most == 0;
    cost->gm_request = (uint32_t)(!aligned ? LINE_BYTES : lines < most ? lines : most);
    *(write ? &cost->gm_write_bytes : &cost->gm_read_bytes) = memory_bytes(span, aligned);
}

/** Most bytes per cycle of img2col to L0A and to L0B when 16 output pixels lie in one row and are
 * read without a stride, and the least it falls to. [P] the vendor's table of MTE1, second
 * generation */
static const double img2col_most[2] = {256, 128}, img2col_least[2] = {32, 28};

/* Bytes per cycle for 16 output pixels that lie in `rows` rows, by that table. */
static double img2col_rate(bool to_right, uint32_t stride, uint32_t rows)
{
    const double more = to_right ? 2 : 0;
    const bool even = stride == 2 || stride == 4 || stride == 8;
    if (stride == 1 && rows == 1) {
        return img2col_most[to_right];
    }
    if (stride != 1 && !even) {
        return img2col_least[to_right];
    }
    const double steps =
        stride == 1 ? 2 + more + rows : 2.0 * stride + more + (rows > 1 ? rows : 0);
    const double rate = floor(512 / steps);
    return rate > img2col_least[to_right] ? rate : img2col_least[to_right];
}

/* How many times as long img2col takes as a load of the same bytes, on average over its groups of
 * 16 output pixels. */
static double img2col_slow(const struct sim_footprint *foot, bool to_right)
{
    const uint32_t width = foot->pixels.out_w, groups = (foot->pixels.count + 15) / 16;
    double sum = 0;
    for (uint32_t i = 0; i < groups; i++) {
        const uint32_t column = (foot->pixels.first + i * 16) % width;
        const uint32_t rows = column + 15 < width ? 1 : (column + 15) / width + 1;
        sum += img2col_most[to_right] / img2col_rate(to_right, foot->pixels.stride_w, rows);
    }
    return groups ? sum / groups : 1;
}

/* On chip: head, then bytes at the path's rate. */
static void cost_local(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    const struct sim_insn_time *time = &core->config->insn[op->insn];
    double moving = time->rate16 > 0 ? (double)cost->work / time->rate16 : 0;
    if (op->row->foot == sim_foot_load3d || op->row->foot == sim_foot_img2col) {
        moving *= img2col_slow(op->foot, op->foot->span[SIM_OPERAND_A].space == LEO_MEM_SPACE_L0B);
    }
    moving = ceil(moving);
    cost->head_cycles = time->head;
    cost->busy_cycles = time->head + moving;
}

void sim_unit_mte(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    const struct sim_span *dst = &op->foot->span[SIM_OPERAND_A],
                          *src = &op->foot->span[SIM_OPERAND_B];
    if (dst->touch == 0) {
        return; // nothing to do
    }
    uint64_t pieces = (uint64_t)src->level[0].count * src->level[1].count;
    bool from_gm = src->touch && src->space == LEO_MEM_SPACE_GM;
    bool to_gm = dst->space == LEO_MEM_SPACE_GM;
    bool to_l0 = dst->space == LEO_MEM_SPACE_L0A || dst->space == LEO_MEM_SPACE_L0B;
    cost->work = pieces * src->bytes;
    if (!from_gm && !to_gm && (src->touch == 0 || src->touch & SIM_TOUCH_PADDED)) {
        // Fills and img2col write what they do not read.
        cost->work = (uint64_t)dst->level[0].count * dst->level[1].count * dst->bytes;
    }
    if (from_gm || to_gm) {
        cost_gm(core, op, from_gm ? src : dst, cost);
    } else {
        cost_local(core, op, cost);
    }
    if (op->insn == LEO_INSN_COPY_GM_TO_CBUF_ND2NZ) {
        cost->busy_cycles += core->config->nd2nz_row * (double)pieces;
    }
    if (to_l0 && !from_gm) {
        // Loads queued back to back pay the head once (HW-DMA-34).
        cost->overlap_cycles = cost->head_cycles;
    }
}
