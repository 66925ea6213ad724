/* SPDX-License-Identifier: Apache-2.0 */
/* Time of the data movers. Rates and heads come from the SoC file; docs/hw/dma.md, HW-DMA-30 and
 * up. */
#include "mte.h"

#include <math.h>

// Of both architectures, marked as the numbers in isa/soc/*.ini. Which unit a piece is rounded to
// (HW-DMA-31) is [A].
#define LINE_BYTES   128u /* least piece global memory moves: [P] line the L2 reads */
#define WINDOW_BYTES 512u /* largest piece of one DMA request: [P] longest burst of the DMA */

/* `count` pieces of `bytes`, `step` bytes apart, in global memory. */
struct pieces {
    uint64_t addr, count, bytes, step;
};

/* What one piece costs the memory: short ones whole lines, long ones whole windows. */
static uint64_t piece_bytes(uint64_t addr, uint64_t bytes)
{
    uint64_t unit = bytes < WINDOW_BYTES ? LINE_BYTES : WINDOW_BYTES;
    return (addr % unit + bytes + unit - 1) / unit * unit;
}

static uint64_t memory_bytes(const struct pieces *pieces)
{
    if (pieces->count == 0 || pieces->bytes == 0) {
        return 0;
    }
    if (pieces->step == pieces->bytes) {
        return piece_bytes(pieces->addr, pieces->count * pieces->bytes);
    }
    if (pieces->step % WINDOW_BYTES == 0) {
        return pieces->count * piece_bytes(pieces->addr, pieces->bytes);
    }
    uint64_t sum = 0;
    for (uint64_t i = 0; i < pieces->count; i++) {
        sum += piece_bytes(pieces->addr + i * pieces->step, pieces->bytes);
    }
    return sum;
}

static double least_rate(double share, double port)
{
    return port > 0 && (share <= 0 || port < share) ? port : share;
}

/* Global memory in or out: latency, then bytes at the core's share; behind a busy pipe only the
 * bytes. */
static void cost_gm(const struct sim_core *core, const struct sim_op *op, uint64_t bytes,
                    const struct pieces *pieces, bool write, struct sim_cost *cost)
{
    const struct sim_config *config = core->config;
    const struct sim_insn_time *time = &config->insn[op->insn];
    double share = write ? core->gm_write_rate : core->gm_read_rate;
    double rate = least_rate(share > 0 ? share
                             : write   ? config->gm_write_rate
                                       : config->gm_read_rate,
                             time->rate16);
    double head = time->head > 0 ? time->head
                  : write        ? config->gm_write_latency
                                 : config->gm_read_latency;
    double moving = rate > 0 ? (double)bytes / rate : 0;
    double behind = fmax(moving, config->gm_small_interval);
    cost->head_cycles = head;
    cost->busy_cycles = head + moving;
    cost->overlap_cycles = fmax(cost->busy_cycles - behind, 0);
    *(write ? &cost->gm_write_bytes : &cost->gm_read_bytes) = bytes;
    cost->gm_addr = pieces->addr;
    cost->gm_count = pieces->count;
    cost->gm_piece = pieces->bytes;
    cost->gm_step = pieces->step;
}

/* On chip: head, then bytes at the path's rate. */
static void cost_local(const struct sim_core *core, const struct sim_op *op, uint64_t bytes,
                       struct sim_cost *cost)
{
    const struct sim_insn_time *time = &core->config->insn[op->insn];
    cost->work = bytes;
    cost->head_cycles = time->head;
    cost->busy_cycles = time->head + (time->rate16 > 0 ? ceil((double)bytes / time->rate16) : 0);
}

static struct pieces burst_pieces(uint64_t addr, const struct leo_cfg_burst *cfg, uint64_t gap)
{
    uint64_t bytes = (uint64_t)cfg->len_burst * MTE_BLOCK_BYTES;
    return (struct pieces){addr, cfg->n_burst, bytes, bytes + gap * MTE_BLOCK_BYTES};
}

static void cost_align(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    const struct leo_cfg_align0 cfg = leo_cfg_align0_unpack(op->c);
    const struct leo_cfg_align1 gaps = leo_cfg_align1_unpack(op->d);
    bool write = op->insn == LEO_INSN_COPY_UBUF_TO_GM_ALIGN;
    struct pieces pieces = {write ? op->a : op->b, cfg.n_burst, cfg.len_bytes,
                            (uint64_t)cfg.len_bytes + (write ? gaps.dst_gap : gaps.src_gap)};
    cost_gm(core, op, memory_bytes(&pieces), &pieces, write, cost);
    cost->work = pieces.count * pieces.bytes;
}

static void cost_nd2nz(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    const struct leo_cfg_nz0 cfg0 = leo_cfg_nz0_unpack(op->c);
    const struct leo_cfg_nz1 cfg1 = leo_cfg_nz1_unpack(op->d);
    unsigned element = mte_dtype_bytes(cfg0.dtype);
    // Matrices of one instruction are alike: the first one's lines count for each.
    struct pieces pieces = {op->b, cfg0.n_value, (uint64_t)cfg0.d_value * element,
                            (uint64_t)cfg1.src_d * element};
    cost_gm(core, op, memory_bytes(&pieces) * cfg0.nd_num, &pieces, false, cost);
    cost->gm_count = cfg0.nd_num ? pieces.count : 0;
    cost->gm_more = cfg0.nd_num ? cfg0.nd_num - 1u : 0;
    cost->gm_more_step = (uint64_t)cfg0.src_nd_stride * element;
    cost->busy_cycles += core->config->nd2nz_row * (double)pieces.count * cfg0.nd_num;
    cost->work = pieces.count * pieces.bytes * cfg0.nd_num;
}

static void cost_burst(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    const struct leo_cfg_burst cfg = leo_cfg_burst_unpack(op->d);
    struct pieces in = burst_pieces(op->b, &cfg, cfg.src_gap),
                  out = burst_pieces(op->a, &cfg, cfg.dst_gap);
    switch ((int)op->insn) {
    case LEO_INSN_COPY_GM_TO_UBUF:
    case LEO_INSN_COPY_GM_TO_CBUF:
        cost_gm(core, op, memory_bytes(&in), &in, false, cost);
        cost->work = in.count * in.bytes;
        break;
    case LEO_INSN_COPY_UBUF_TO_GM:
    case LEO_INSN_COPY_CBUF_TO_GM:
        cost_gm(core, op, memory_bytes(&out), &out, true, cost);
        cost->work = out.count * out.bytes;
        break;
    case LEO_INSN_COPY_CBUF_TO_BT:
        cost_local(core, op, 2 * in.count * in.bytes, cost);
        break;
    default:
        cost_local(core, op, in.count * in.bytes, cost);
        break;
    }
}

void sim_unit_mte(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    *cost = (struct sim_cost){0};
    switch ((int)op->insn) {
    case LEO_INSN_COPY_GM_TO_UBUF_ALIGN:
    case LEO_INSN_COPY_UBUF_TO_GM_ALIGN:
        cost_align(core, op, cost);
        cost->flag_drains = true;
        break;
    case LEO_INSN_COPY_GM_TO_CBUF_ND2NZ:
        cost_nd2nz(core, op, cost);
        break;
    case LEO_INSN_LOAD_CBUF_TO_CA:
    case LEO_INSN_LOAD_CBUF_TO_CB:
        cost_local(core, op, (uint64_t)leo_cfg_load2d_unpack(op->d).repeat * MTE_FRACTAL_BYTES,
                   cost);
        cost->overlap_cycles =
            cost->head_cycles; // loads queued back to back pay the head once (HW-DMA-34)
        break;
    default:
        cost_burst(core, op, cost);
        // Loads to UB and stores were measured to drain between flags, tile streams to L1 not
        // (HW-DMA-33).
        cost->flag_drains = op->insn != LEO_INSN_COPY_GM_TO_CBUF;
        break;
    }
}
