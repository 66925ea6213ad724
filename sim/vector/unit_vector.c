/* SPDX-License-Identifier: Apache-2.0 */
/* Time of vector instructions: a head, then repeats at the rate of the operation or of the buffer's
 * banks. */
#include "exec_vector.h"

#include <string.h>

// Of both architectures, marked as the numbers in isa/soc/*.ini.
/** Bank groups of the unified buffer (HW-VEC-41): block addresses take turns, each serves one row a
 * cycle. [P] */
#define BANK_GROUPS 16u
/** Bytes after which a group moves on to its next bank: [P] 16 groups of banks of 4 KiB. */
#define BANK_STEP_BYTES 0x10000u
/** One operand as block numbers. */
struct stream {
    uint32_t block, blk, rep; /**< first block; steps in blocks */
    uint32_t blocks;          /**< a repeat */
};

/** The traffic of one instruction with the unified buffer. */
struct traffic {
    struct stream read[3], write;
    unsigned reads, writes;
};

static struct stream stream_of(const struct sim_span *span)
{
    const uint32_t blk = (uint32_t)span->level[1].step / SIM_VEC_BLOCK_BYTES;
    return (struct stream){
        .block = (uint32_t)(span->addr / SIM_VEC_BLOCK_BYTES),
        .blk = blk,
        .rep = (uint32_t)span->level[0].step / SIM_VEC_BLOCK_BYTES,
        // a block stride of 0 reads its block once
        .blocks = blk == 0 ? 1 : span->level[1].count,
    };
}

/** Operands of lanes. What else is written (bits, results of reductions) is one block or less a
 * repeat. */
static struct traffic traffic_of(const struct sim_footprint *foot)
{
    struct traffic traffic = {.read = {{.blk = 1}, {.blk = 1}, {.blk = 1}}, .write = {.blk = 1}};
    const enum sim_operand sources[] = {SIM_OPERAND_B, SIM_OPERAND_C, SIM_OPERAND_A};
    for (unsigned i = 0; i < 3; i++) {
        const struct sim_span *span = &foot->span[sources[i]];
        if (span->touch & SIM_TOUCH_READ && span->lane_bytes) {
            traffic.read[traffic.reads++] = stream_of(span);
        }
    }
    const struct sim_span *dst = &foot->span[SIM_OPERAND_A];
    if (dst->touch & SIM_TOUCH_WRITE && dst->lane_bytes) {
        traffic.write = stream_of(dst);
        traffic.writes = 1;
    }
    return traffic;
}

/** What one repeat asks of the bank groups, sources or destination. */
struct rows {
    uint8_t groups[BANK_GROUPS]; /**< rows a group, of operands with a block stride */
    uint32_t run_groups;         /**< groups of operands without */
    unsigned most;               /**< rows of the fullest group */
    uint64_t banks;
};

static uint64_t bank_shift(uint32_t block)
{
    return block / (BANK_STEP_BYTES / SIM_VEC_BLOCK_BYTES) * BANK_GROUPS % 64;
}

/** Blocks side by side: at most one a group. */
static void count_run(const struct stream *stream, uint32_t block, struct rows *rows)
{
    const uint32_t run = ((UINT32_C(1) << stream->blocks) - 1) << block % BANK_GROUPS;
    const uint32_t low = run & 0xffff;
    const uint32_t high = run >> BANK_GROUPS; // past the last group: starts over at the first
    const unsigned most = rows->run_groups & (low | high) ? 2 : 1;
    rows->run_groups |= low | high;
    rows->banks |= (uint64_t)low << bank_shift(block);
    rows->banks |= (uint64_t)high << bank_shift(block + stream->blocks - 1);
    rows->most = most > rows->most ? most : rows->most;
}

static void count_strided(const struct stream *stream, uint32_t block, struct rows *rows)
{
    for (uint32_t i = 0; i < stream->blocks; i++, block += stream->blk) {
        const uint32_t group = block % BANK_GROUPS;
        const unsigned most = ++rows->groups[group];
        rows->most = most > rows->most ? most : rows->most;
        rows->banks |= UINT64_C(1) << (bank_shift(block) + group);
    }
}

static void count_rows(const struct stream *stream, uint32_t repeat, bool runs, struct rows *rows)
{
    const uint32_t block = stream->block + repeat * stream->rep;
    if (runs) {
        count_run(stream, block, rows);
    } else {
        count_strided(stream, block, rows);
    }
}

static bool is_run(const struct stream *stream)
{
    return stream->blk == 1 || stream->blocks == 1;
}

/** Repeats after which the bank groups of an operand come again: a power of two. */
static uint32_t period_of(const struct stream *stream)
{
    const uint32_t step = stream->rep % BANK_GROUPS;
    return step == 0 ? 1 : BANK_GROUPS / (step & -step);
}

/** Cycles a repeat for which the banks keep the operands apart, on average over the pattern of the
 * addresses. */
static double bank_cycles(const struct traffic *traffic, uint32_t repeats, double wait)
{
    uint32_t period = 1;
    for (unsigned i = 0; i < traffic->reads; i++) {
        const uint32_t each = period_of(&traffic->read[i]);
        period = each > period ? each : period;
    }
    if (traffic->writes) {
        const uint32_t each = period_of(&traffic->write);
        period = each > period ? each : period;
    }
    const uint32_t sampled = period < repeats ? period : repeats;
    const bool runs = is_run(&traffic->read[0]) && is_run(&traffic->read[1]) &&
                      is_run(&traffic->read[2]) && is_run(&traffic->write);
    double sum = 0;
    uint64_t written = 0; // banks that the repeat before writes meanwhile
    for (uint32_t repeat = 0; repeat <= sampled; repeat++) {
        struct rows read = {.most = 1}, write = {.most = 1};
        for (unsigned i = 0; i < traffic->reads; i++) {
            // a repeat stride of 0 keeps what the first repeat read
            if (traffic->read[i].rep != 0) {
                count_rows(&traffic->read[i], repeat, runs, &read);
            }
        }
        if (traffic->writes) {
            count_rows(&traffic->write, repeat, runs, &write);
        }
        // the pattern of repeat `sampled` is that of repeat 0, with a repeat before it
        if (repeat > 0) {
            // A repeat that waits for the write before it gets its own rows meanwhile.
            const double most = read.most > write.most ? read.most : write.most;
            const double meets = repeats > 1 && (read.banks & written) != 0 ? 1 + wait : 1;
            sum += most > meets ? most : meets;
        }
        written = write.banks;
    }
    return sum / sampled;
}

void sim_unit_vector(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    const struct sim_lanes *lanes = &op->foot->lanes;
    const bool counts = core->ctrl & 1;
    cost->work = counts ? lanes->total : (uint64_t)lanes->asked * lanes->count;
    if (lanes->asked == 0) {
        return;
    }
    const struct traffic traffic = traffic_of(op->foot);
    const struct sim_insn_time *time = &core->config->insn[op->insn];
    const bool wide = lanes->count < SIM_VEC_REPEAT_BYTES / 2; // the widest operand: over 16 bits
    const double rate = wide && time->rate32 > 0 ? time->rate32 : time->rate16;
    const double compute = rate > 0 ? lanes->count / rate : 1;
    const double banks =
        bank_cycles(&traffic, lanes->asked, core->config->ub_bank_wait) / core->config->ub_repeats;
    cost->head_cycles = time->head;
    cost->busy_cycles = time->head + lanes->asked * (compute > banks ? compute : banks);
    cost->bank_cycles = banks > compute ? lanes->asked * (banks - compute) : 0;
    // The first repeats follow the last ones of the instruction before, unless a barrier drains the
    // pipe.
    cost->overlap_cycles = time->head; // HW-VEC-43
}
