/* SPDX-License-Identifier: Apache-2.0 */
/* What vector instructions touch, by the form of their configuration word, and which of their lanes
 * are active. docs/hw/vector.md. */
#include "foot_vector.h"

#include <string.h>

/** Lanes up to the last active one. */
static uint32_t used_lanes(const uint64_t mask[2])
{
    if (mask[1] != 0) {
        return 128 - (uint32_t)__builtin_clzll(mask[1]);
    }
    return mask[0] != 0 ? 64 - (uint32_t)__builtin_clzll(mask[0]) : 0;
}

static bool begin_counter(struct sim_core *core, struct sim_lanes *lanes)
{
    const uint64_t count = core->vmask[0];
    if (count > core->local[LEO_MEM_SPACE_UB].bytes) {
        return sim_core_fault(core, LEO_FAULT_LOCAL_OUT_OF_RANGE, LEO_MEM_SPACE_UB, 0, count);
    }
    lanes->repeats = (uint32_t)((count + lanes->count - 1) / lanes->count);
    lanes->asked = lanes->repeats;
    lanes->used = lanes->count;
    lanes->used_last = lanes->repeats ? (uint32_t)count - (lanes->repeats - 1) * lanes->count : 0;
    sim_vec_set_prefix(lanes->mask, lanes->count);
    sim_vec_set_prefix(lanes->mask_last, lanes->used_last);
    lanes->dense = true;
    lanes->total = count;
    return true;
}

bool sim_vec_foot_begin(struct sim_core *core, struct sim_footprint *foot, uint32_t widest,
                        uint32_t repeat)
{
    struct sim_lanes *lanes = &foot->lanes;
    lanes->count = SIM_VEC_REPEAT_BYTES / widest;
    if (core->ctrl & 1) {
        if (!begin_counter(core, lanes)) {
            return false;
        }
    } else {
        sim_vec_set_prefix(lanes->mask, lanes->count);
        lanes->mask[0] &= core->vmask[0];
        lanes->mask[1] &= core->vmask[1];
        memcpy(lanes->mask_last, lanes->mask, sizeof(lanes->mask));
        lanes->used = lanes->used_last = used_lanes(lanes->mask);
        lanes->asked = repeat;
        lanes->repeats = lanes->used == 0 ? 0 : repeat;
        lanes->dense = (lanes->used == lanes->count || repeat == 1) &&
                       sim_vec_is_prefix(lanes->mask, lanes->used);
        lanes->total = (uint64_t)lanes->used * lanes->repeats;
    }
    foot->empty = lanes->repeats == 0;
    return true;
}

/** Bytes from the start of a repeat to the end of its last used lane. */
static uint64_t repeat_extent(const struct sim_span *span, uint32_t used)
{
    const uint32_t per_block = SIM_VEC_BLOCK_BYTES / span->lane_bytes;
    const uint64_t blk = (uint64_t)span->level[1].step, block = (used - 1) / per_block;
    const uint64_t partial = block * blk + ((used - 1) % per_block + 1) * span->lane_bytes;
    const uint64_t whole = block > 0 ? (block - 1) * blk + SIM_VEC_BLOCK_BYTES : 0;
    return partial > whole ? partial : whole;
}

/** Bytes of `repeats` pieces, `step` apart, whose last one may be shorter. */
static uint64_t repeats_extent(uint32_t repeats, uint64_t step, uint64_t bytes, uint64_t last)
{
    const uint64_t end = (repeats - 1) * step + last;
    const uint64_t other = repeats > 1 ? (repeats - 2) * step + bytes : 0;
    return end > other ? end : other;
}

void sim_vec_foot_lanes(struct sim_footprint *foot, enum sim_operand at, unsigned touch,
                        uint64_t addr, uint32_t blk, uint32_t rep, uint32_t lane_bytes)
{
    const struct sim_lanes *lanes = &foot->lanes;
    struct sim_span *span =
        sim_footprint_add(foot, at, LEO_MEM_SPACE_UB, touch, addr, SIM_VEC_BLOCK_BYTES);
    span->align = SIM_VEC_BLOCK_BYTES;
    span->lane_bytes = (uint8_t)lane_bytes;
    span->level[0] = (struct sim_level){lanes->asked, (int64_t)rep * SIM_VEC_BLOCK_BYTES};
    span->level[1] = (struct sim_level){lanes->count * lane_bytes / SIM_VEC_BLOCK_BYTES,
                                        (int64_t)blk * SIM_VEC_BLOCK_BYTES};
    span->extent = foot->empty ? 0
                               : repeats_extent(lanes->repeats, (uint64_t)span->level[0].step,
                                                repeat_extent(span, lanes->used),
                                                repeat_extent(span, lanes->used_last));
}

void sim_vec_foot_unmasked(struct sim_footprint *foot, uint32_t repeat, uint32_t count)
{
    foot->lanes = (struct sim_lanes){
        .count = count, .asked = repeat, .repeats = repeat, .total = (uint64_t)repeat * count};
    foot->empty = repeat == 0;
}

struct sim_span *sim_vec_foot_bytes(struct sim_footprint *foot, enum sim_operand at, unsigned touch,
                                    uint64_t addr, uint64_t bytes, unsigned align)
{
    struct sim_span *span = sim_footprint_add(foot, at, LEO_MEM_SPACE_UB, touch, addr, bytes);
    span->align = (uint16_t)align;
    return span;
}

void sim_vec_foot_blocks(struct sim_footprint *foot, enum sim_operand at, unsigned touch,
                         uint64_t addr, struct sim_level repeats, struct sim_level blocks,
                         uint32_t bytes)
{
    struct sim_span *span = sim_vec_foot_bytes(foot, at, touch, addr, bytes, SIM_VEC_BLOCK_BYTES);
    span->level[0] = (struct sim_level){repeats.count, repeats.step * SIM_VEC_BLOCK_BYTES};
    span->level[1] = (struct sim_level){blocks.count, blocks.step * SIM_VEC_BLOCK_BYTES};
    sim_span_close(span);
}

const uint8_t *sim_vec_foot_peek(struct sim_core *core, uint64_t addr, uint64_t bytes)
{
    return sim_core_local(core, LEO_MEM_SPACE_UB, addr, bytes, SIM_VEC_BLOCK_BYTES);
}

/** Packed bits, one a lane, continuous over the repeats up to the last active lane. */
static void add_bits(struct sim_footprint *foot, enum sim_operand at, unsigned touch, uint64_t addr)
{
    const struct sim_lanes *lanes = &foot->lanes;
    const uint64_t bits =
        foot->empty ? 0 : (uint64_t)(lanes->repeats - 1) * lanes->count + lanes->used_last;
    sim_footprint_add(foot, at, LEO_MEM_SPACE_UB, touch, addr, (bits + 7) / 8)->align =
        SIM_VEC_BLOCK_BYTES;
}

static bool is_ub(const struct sim_op *op, enum sim_operand at)
{
    return op->row->operand[at] == LEO_INSN_OPERAND_UB;
}

bool sim_vec_foot_check(struct sim_core *core, const struct sim_op *op, unsigned type,
                        unsigned mode)
{
    if (!leo_insn_has_type(op->insn, core->config->arch, type)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_UB, 0, 0);
    }
    return mode <= op->row->mode || sim_vec_bad_config(core);
}

/** Lane sizes of the destination and the sources. */
struct widths {
    uint32_t dst, src;
};

static struct widths widths_of(const struct sim_op *op, enum leo_dtype type, unsigned mod)
{
    const uint32_t bytes = sim_vec_type_bytes(type);
    if (op->row->traits & SIM_TRAIT_MIXED && mod == 1) {
        return (struct widths){4, 2};
    }
    return (struct widths){op->row->traits & SIM_TRAIT_NARROW ? bytes / 2 : bytes, bytes};
}

static uint32_t widest(struct widths widths)
{
    return widths.dst > widths.src ? widths.dst : widths.src;
}

void sim_vec_foot_halves(struct sim_footprint *foot, uint64_t addr, uint32_t blk, uint32_t rep)
{
    struct sim_span *dst =
        sim_footprint_add(foot, SIM_OPERAND_A, LEO_MEM_SPACE_UB, SIM_TOUCH_WRITE | SIM_TOUCH_PARTLY,
                          addr, SIM_VEC_BLOCK_BYTES / 2);
    dst->align = SIM_VEC_BLOCK_BYTES / 2;
    dst->level[0] = (struct sim_level){foot->lanes.repeats, (int64_t)rep * SIM_VEC_BLOCK_BYTES};
    dst->level[1] = (struct sim_level){SIM_VEC_REPEAT_BYTES / SIM_VEC_BLOCK_BYTES,
                                       (int64_t)blk * SIM_VEC_BLOCK_BYTES};
    sim_span_close(dst);
}

static void add_dst(struct sim_footprint *foot, const struct sim_op *op, uint32_t blk, uint32_t rep,
                    uint32_t lane_bytes)
{
    if (!is_ub(op, SIM_OPERAND_A)) {
        return;
    }
    if (op->row->traits & SIM_TRAIT_BITS) {
        add_bits(foot, SIM_OPERAND_A, SIM_TOUCH_WRITE | SIM_TOUCH_PARTLY, op->a);
        return;
    }
    const bool old = op->row->traits & SIM_TRAIT_ACCUMULATE;
    sim_vec_foot_lanes(foot, SIM_OPERAND_A, SIM_TOUCH_WRITE | (old ? SIM_TOUCH_READ : 0), op->a,
                       blk, rep, lane_bytes);
}

bool sim_foot_vec3(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    if (!sim_vec_foot_check(core, op, cfg.dtype, cfg.mod)) {
        return false;
    }
    const bool selects = op->row->traits & SIM_TRAIT_SELECT;
    const struct widths widths = widths_of(op, cfg.dtype, cfg.mod);
    if (!sim_vec_foot_begin(core, foot, widest(widths), cfg.repeat)) {
        return false;
    }
    sim_vec_foot_lanes(foot, SIM_OPERAND_B, SIM_TOUCH_READ, op->b, cfg.src0_blk, cfg.src0_rep,
                       widths.src);
    if (is_ub(op, SIM_OPERAND_C) && !(selects && cfg.mod == 1)) {
        sim_vec_foot_lanes(foot, SIM_OPERAND_C, SIM_TOUCH_READ, op->c, cfg.src1_blk, cfg.src1_rep,
                           widths.src);
    }
    if (op->row->traits & SIM_TRAIT_HALF && cfg.mod == 1) {
        if (!foot->empty && op->a % SIM_VEC_BLOCK_BYTES != 0) {
            return sim_core_fault(core, LEO_FAULT_MISALIGNED_LOCAL, LEO_MEM_SPACE_UB, op->a,
                                  SIM_VEC_BLOCK_BYTES);
        }
        sim_vec_foot_halves(foot, op->a + SIM_VEC_BLOCK_BYTES / 2, cfg.dst_blk, cfg.dst_rep);
        return true;
    }
    add_dst(foot, op, cfg.dst_blk, cfg.dst_rep, widths.dst);
    if (selects && cfg.mod != 0) {
        add_bits(foot, SIM_OPERAND_EXTRA, SIM_TOUCH_READ, core->selmask_addr);
    }
    return true;
}

bool sim_foot_vec2(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_vec2 cfg = leo_cfg_vec2_unpack(op->d);
    if (!sim_vec_foot_check(core, op, cfg.dtype, cfg.mod)) {
        return false;
    }
    const struct widths widths = widths_of(op, cfg.dtype, cfg.mod);
    if (!sim_vec_foot_begin(core, foot, widest(widths), cfg.repeat)) {
        return false;
    }
    if (is_ub(op, SIM_OPERAND_B)) {
        sim_vec_foot_lanes(foot, SIM_OPERAND_B, SIM_TOUCH_READ, op->b, cfg.src_blk, cfg.src_rep,
                           widths.src);
    }
    add_dst(foot, op, cfg.dst_blk, cfg.dst_rep, widths.dst);
    return true;
}

/** Whole blocks of packed s4, two a repeat. */
static void add_s4(struct sim_footprint *foot, enum sim_operand at, unsigned touch, uint64_t addr,
                   uint32_t blk, uint32_t rep)
{
    sim_vec_foot_blocks(foot, at, touch, addr, (struct sim_level){foot->lanes.repeats, rep},
                        (struct sim_level){2, blk}, SIM_VEC_BLOCK_BYTES);
}

bool sim_foot_vcvt(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_vcvt cfg = leo_cfg_vcvt_unpack(op->d);
    if (op->sub >= LEO_ROUND_COUNT ||
        !leo_insn_has_convert(core->config->arch, cfg.src_type, cfg.dst_type)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_UB, 0, 0);
    }
    const struct widths widths = {sim_vec_type_bytes(cfg.dst_type),
                                  sim_vec_type_bytes(cfg.src_type)};
    if (!sim_vec_foot_begin(core, foot, widest(widths), cfg.repeat)) {
        return false;
    }
    if (cfg.src_type == LEO_DTYPE_S4) {
        add_s4(foot, SIM_OPERAND_B, SIM_TOUCH_READ, op->b, cfg.src_blk, cfg.src_rep);
    } else {
        sim_vec_foot_lanes(foot, SIM_OPERAND_B, SIM_TOUCH_READ, op->b, cfg.src_blk, cfg.src_rep,
                           widths.src);
    }
    if (cfg.dst_type == LEO_DTYPE_S4) {
        add_s4(foot, SIM_OPERAND_A, SIM_TOUCH_WRITE | SIM_TOUCH_READ | SIM_TOUCH_PADDED, op->a,
               cfg.dst_blk, cfg.dst_rep);
    } else {
        add_dst(foot, op, cfg.dst_blk, cfg.dst_rep, widths.dst);
    }
    return true;
}

/** Results of one repeat. */
struct results {
    uint32_t lanes_each; /**< source lanes of one result */
    uint32_t bytes_each;
    uint32_t step, align; /**< bytes of one step of dst_rep; what the destination asks for */
};

static void add_results(struct sim_footprint *foot, const struct sim_op *op,
                        const struct leo_cfg_vred *cfg, const struct results *results)
{
    const struct sim_lanes *lanes = &foot->lanes;
    const uint32_t each = results->lanes_each;
    // Of several results a repeat, those without an active lane stay.
    const unsigned touch = SIM_TOUCH_WRITE | (each < lanes->count ? SIM_TOUCH_PARTLY : 0);
    const uint64_t bytes = (uint64_t)(lanes->used + each - 1) / each * results->bytes_each;
    const uint64_t last = (uint64_t)(lanes->used_last + each - 1) / each * results->bytes_each;
    struct sim_span *dst = sim_footprint_add(foot, SIM_OPERAND_A, LEO_MEM_SPACE_UB, touch, op->a,
                                             lanes->repeats > 1 ? bytes : last);
    dst->align = (uint16_t)results->align;
    dst->level[0] = (struct sim_level){lanes->repeats, (int64_t)cfg->dst_rep * results->step};
    if (lanes->repeats > 1 && last != bytes) {
        dst->level[0].count--;
        sim_footprint_add(foot, SIM_OPERAND_EXTRA, LEO_MEM_SPACE_UB, touch,
                          op->a + dst->level[0].count * (uint64_t)dst->level[0].step, last);
    }
    sim_span_close(dst);
}

static bool foot_reduce(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot,
                        const struct leo_cfg_vred *cfg, const struct results *results)
{
    const uint32_t bytes = sim_vec_type_bytes(cfg->dtype);
    if (!sim_vec_foot_begin(core, foot, bytes, cfg->repeat)) {
        return false;
    }
    sim_vec_foot_lanes(foot, SIM_OPERAND_B, SIM_TOUCH_READ, op->b, cfg->src_blk, cfg->src_rep,
                       bytes);
    add_results(foot, op, cfg, results);
    return true;
}

/** One result a repeat; those with an order (mode) write a value, an index or both. */
bool sim_foot_vred_repeat(struct sim_core *core, const struct sim_op *op,
                          struct sim_footprint *foot)
{
    const struct leo_cfg_vred cfg = leo_cfg_vred_unpack(op->d);
    if (!sim_vec_foot_check(core, op, cfg.dtype, cfg.order)) {
        return false;
    }
    const uint32_t bytes = sim_vec_type_bytes(cfg.dtype);
    const bool pair = op->row->mode != 0 && cfg.order <= LEO_ORDER_INDEX_VALUE;
    const uint32_t written = pair ? 2 * bytes : bytes;
    const struct results results = {SIM_VEC_REPEAT_BYTES / bytes, written, written, bytes};
    return foot_reduce(core, op, foot, &cfg, &results);
}

bool sim_foot_vred_block(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_vred cfg = leo_cfg_vred_unpack(op->d);
    if (!sim_vec_foot_check(core, op, cfg.dtype, cfg.order)) {
        return false;
    }
    const uint32_t bytes = sim_vec_type_bytes(cfg.dtype);
    const struct results results = {SIM_VEC_BLOCK_BYTES / bytes, bytes, 8 * bytes, 8 * bytes};
    return foot_reduce(core, op, foot, &cfg, &results);
}

bool sim_foot_vred_pair(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_vred cfg = leo_cfg_vred_unpack(op->d);
    if (!sim_vec_foot_check(core, op, cfg.dtype, cfg.order)) {
        return false;
    }
    const struct results results = {2, sim_vec_type_bytes(cfg.dtype), SIM_VEC_REPEAT_BYTES / 2,
                                    SIM_VEC_BLOCK_BYTES};
    return foot_reduce(core, op, foot, &cfg, &results);
}
