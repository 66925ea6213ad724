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
enum form {
    FORM_NONE,
    FORM_BINARY,
    FORM_TO_BITS,
    FORM_UNARY,
    FORM_BITS_SCALAR,
    FORM_AXPY,
    FORM_DUP,
    FORM_CONVERT,
    FORM_REDUCE
};

static const uint8_t forms[LEO_INSN_COUNT] = {
    [LEO_INSN_VADD] = FORM_BINARY,        [LEO_INSN_VSUB] = FORM_BINARY,
    [LEO_INSN_VMUL] = FORM_BINARY,        [LEO_INSN_VDIV] = FORM_BINARY,
    [LEO_INSN_VMAX] = FORM_BINARY,        [LEO_INSN_VMIN] = FORM_BINARY,
    [LEO_INSN_VSEL] = FORM_BINARY,        [LEO_INSN_VCMPV] = FORM_TO_BITS,
    [LEO_INSN_VCMP] = FORM_TO_BITS,       [LEO_INSN_VADDS] = FORM_UNARY,
    [LEO_INSN_VMULS] = FORM_UNARY,        [LEO_INSN_VMAXS] = FORM_UNARY,
    [LEO_INSN_VMINS] = FORM_UNARY,        [LEO_INSN_VAXPY] = FORM_AXPY,
    [LEO_INSN_VCMPVS] = FORM_BITS_SCALAR, [LEO_INSN_VDUP] = FORM_DUP,
    [LEO_INSN_VCOPY] = FORM_UNARY,        [LEO_INSN_VABS] = FORM_UNARY,
    [LEO_INSN_VRELU] = FORM_UNARY,        [LEO_INSN_VEXP] = FORM_UNARY,
    [LEO_INSN_VLN] = FORM_UNARY,          [LEO_INSN_VSQRT] = FORM_UNARY,
    [LEO_INSN_VRSQRT] = FORM_UNARY,       [LEO_INSN_VREC] = FORM_UNARY,
    [LEO_INSN_VCONV] = FORM_CONVERT,      [LEO_INSN_VCADD] = FORM_REDUCE,
    [LEO_INSN_VCMAX] = FORM_REDUCE,       [LEO_INSN_VCMIN] = FORM_REDUCE,
    [LEO_INSN_VCGADD] = FORM_REDUCE,      [LEO_INSN_VCGMAX] = FORM_REDUCE,
    [LEO_INSN_VCGMIN] = FORM_REDUCE,      [LEO_INSN_VCPADD] = FORM_REDUCE,
};

/** One operand as block numbers. */
struct stream {
    uint32_t block, blk, rep; /**< first block; steps in blocks */
    uint32_t blocks;          /**< a repeat */
};

/** The traffic of one instruction with the unified buffer. */
struct traffic {
    struct stream read[2], write;
    unsigned reads, writes;
    uint32_t repeat;     /**< the field */
    uint32_t wide_bytes; /**< lane of the widest operand */
};

static struct stream stream_of(uint64_t addr, uint32_t blk, uint32_t rep, uint32_t lane_bytes,
                               uint32_t wide_bytes)
{
    const uint32_t lanes = SIM_VEC_REPEAT_BYTES / wide_bytes;
    return (struct stream){
        .block = (uint32_t)(addr / SIM_VEC_BLOCK_BYTES),
        .blk = blk,
        .rep = rep,
        // a block stride of 0 reads its block once
        .blocks = blk == 0 ? 1 : lanes * lane_bytes / SIM_VEC_BLOCK_BYTES,
    };
}

static void read_vec3(const struct sim_op *op, enum form form, struct traffic *traffic)
{
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    const uint32_t bytes = sim_vec_type_bytes(cfg.dtype);
    const bool scalar_select = op->insn == LEO_INSN_VSEL && cfg.mod == 1;
    traffic->repeat = cfg.repeat;
    traffic->wide_bytes = bytes;
    traffic->reads = scalar_select ? 1 : 2;
    traffic->writes = form == FORM_BINARY;
    traffic->read[0] = stream_of(op->b, cfg.src0_blk, cfg.src0_rep, bytes, bytes);
    traffic->read[1] = stream_of(op->c, cfg.src1_blk, cfg.src1_rep, bytes, bytes);
    traffic->write = stream_of(op->a, cfg.dst_blk, cfg.dst_rep, bytes, bytes);
}

static void read_vec2(const struct sim_op *op, enum form form, struct traffic *traffic)
{
    const struct leo_cfg_vec2 cfg = leo_cfg_vec2_unpack(op->d);
    const bool mixed = form == FORM_AXPY && cfg.mod == 1;
    const uint32_t bytes = mixed ? 4 : sim_vec_type_bytes(cfg.dtype);
    traffic->repeat = cfg.repeat;
    traffic->wide_bytes = bytes;
    traffic->reads = form == FORM_DUP ? 0 : form == FORM_AXPY ? 2 : 1;
    traffic->writes = form != FORM_BITS_SCALAR;
    traffic->read[0] = stream_of(op->b, cfg.src_blk, cfg.src_rep, mixed ? 2 : bytes, bytes);
    traffic->write = stream_of(op->a, cfg.dst_blk, cfg.dst_rep, bytes, bytes);
    traffic->read[1] = traffic->write;
}

static void read_vcvt(const struct sim_op *op, struct traffic *traffic)
{
    const struct leo_cfg_vcvt cfg = leo_cfg_vcvt_unpack(op->d);
    const uint32_t dst_bytes = sim_vec_type_bytes(cfg.dst_type);
    const uint32_t src_bytes = sim_vec_type_bytes(cfg.src_type);
    const uint32_t wide = dst_bytes > src_bytes ? dst_bytes : src_bytes;
    traffic->repeat = cfg.repeat;
    traffic->wide_bytes = wide;
    traffic->reads = 1;
    traffic->writes = 1;
    traffic->read[0] = stream_of(op->b, cfg.src_blk, cfg.src_rep, src_bytes, wide);
    traffic->write = stream_of(op->a, cfg.dst_blk, cfg.dst_rep, dst_bytes, wide);
}

static void read_vred(const struct sim_op *op, struct traffic *traffic)
{
    const struct leo_cfg_vred cfg = leo_cfg_vred_unpack(op->d);
    const uint32_t bytes = sim_vec_type_bytes(cfg.dtype);
    traffic->repeat = cfg.repeat;
    traffic->wide_bytes = bytes;
    traffic->reads = 1;
    traffic->writes = 0; // one block or less a repeat
    traffic->read[0] = stream_of(op->b, cfg.src_blk, cfg.src_rep, bytes, bytes);
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
    const bool runs =
        is_run(&traffic->read[0]) && is_run(&traffic->read[1]) && is_run(&traffic->write);
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
            sum += read.most > write.most ? read.most : write.most;
            sum += repeats > 1 && (read.banks & written) != 0 ? wait : 0;
        }
        written = write.banks;
    }
    return sum / sampled;
}

static uint32_t repeats_of(const struct sim_core *core, const struct traffic *traffic,
                           uint64_t *lanes_done)
{
    const uint32_t lanes = SIM_VEC_REPEAT_BYTES / traffic->wide_bytes;
    if (core->ctrl & 1) {
        *lanes_done = core->vmask[0];
        return (uint32_t)((core->vmask[0] + lanes - 1) / lanes);
    }
    *lanes_done = (uint64_t)traffic->repeat * lanes;
    return traffic->repeat;
}

void sim_unit_vector(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    struct traffic traffic = {.read = {{.blk = 1}, {.blk = 1}}, .write = {.blk = 1}};
    const enum form form = forms[op->insn];
    switch (form) {
    case FORM_NONE:
        return;
    case FORM_BINARY:
    case FORM_TO_BITS:
        read_vec3(op, form, &traffic);
        break;
    case FORM_UNARY:
    case FORM_BITS_SCALAR:
    case FORM_AXPY:
    case FORM_DUP:
        read_vec2(op, form, &traffic);
        break;
    case FORM_CONVERT:
        read_vcvt(op, &traffic);
        break;
    case FORM_REDUCE:
        read_vred(op, &traffic);
        break;
    }
    const uint32_t repeats = repeats_of(core, &traffic, &cost->work);
    if (repeats == 0) {
        return;
    }
    const struct sim_insn_time *time = &core->config->insn[op->insn];
    const double lanes = SIM_VEC_REPEAT_BYTES / traffic.wide_bytes;
    const double rate = traffic.wide_bytes > 2 && time->rate32 > 0 ? time->rate32 : time->rate16;
    const double compute = rate > 0 ? lanes / rate : 1;
    const double banks = bank_cycles(&traffic, repeats, core->config->ub_bank_wait);
    cost->head_cycles = time->head;
    cost->busy_cycles = time->head + repeats * (compute > banks ? compute : banks);
    // The first repeats follow the last ones of the instruction before, unless a barrier or flag
    // drains the pipe.
    cost->overlap_cycles = time->head; // HW-VEC-43
    cost->flag_drains = true;
}
