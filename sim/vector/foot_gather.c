/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions touch whose places depend on data: offsets and selecting bits are read here. */
#include "gather.h"

bool vec_gmask_unpack(const struct sim_core *core, const struct sim_op *op, struct vec_gmask *mask)
{
    const struct leo_cfg_gmask cfg = leo_cfg_gmask_unpack(op->d);
    const bool counts = leo_cfg_ctrl_unpack(core->ctrl).counter;
    mask->bytes = sim_vec_type_bytes(cfg.dtype);
    mask->repeats = cfg.repeat;
    mask->lanes = counts ? (uint32_t)core->vmask[0] : SIM_VEC_REPEAT_BYTES / mask->bytes;
    mask->pattern = cfg.pattern;
    return cfg.pattern < VEC_PATTERNS && (!counts || core->vmask[0] <= FOOT_MAX_LANES);
}

/** Elements that an instruction keeps. */
static uint64_t count_kept(const struct vec_gmask *mask, const uint8_t *bits, uint64_t bits_step)
{
    uint64_t kept = 0;
    for (uint32_t repeat = 0; repeat < mask->repeats; repeat++) {
        for (uint32_t lane = 0; lane < mask->lanes; lane++) {
            kept += vec_gmask_keeps(mask, bits ? bits + repeat * bits_step : NULL, lane);
        }
    }
    return kept;
}

bool sim_foot_gmask(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_gmask cfg = leo_cfg_gmask_unpack(op->d);
    struct vec_gmask mask;
    if (!sim_vec_foot_check(core, op, cfg.dtype, 0)) {
        return false;
    }
    if (op->d & LEO_CFG_GMASK_RESERVED || !vec_gmask_unpack(core, op, &mask)) {
        return sim_vec_bad_config(core);
    }
    sim_vec_foot_unmasked(foot, mask.repeats, mask.lanes);
    foot->empty |= mask.lanes == 0;
    if (foot->empty) {
        core->csr.rsvd_cnt = 0;
        return true;
    }
    const uint32_t blocks =
        (mask.lanes * mask.bytes + SIM_VEC_BLOCK_BYTES - 1) / SIM_VEC_BLOCK_BYTES;
    const uint64_t step = (uint64_t)cfg.src1_rep * SIM_VEC_BLOCK_BYTES;
    const uint8_t *bits = NULL;
    sim_vec_foot_blocks(foot, SIM_OPERAND_B, SIM_TOUCH_READ | SIM_TOUCH_MOVED, op->b,
                        (struct sim_level){mask.repeats, cfg.src0_rep},
                        (struct sim_level){blocks, cfg.src0_blk}, SIM_VEC_BLOCK_BYTES);
    if (mask.pattern == 0) {
        const uint32_t bytes = (mask.lanes + 7) / 8;
        sim_vec_foot_blocks(foot, SIM_OPERAND_C, SIM_TOUCH_READ, op->c,
                            (struct sim_level){mask.repeats, cfg.src1_rep},
                            (struct sim_level){1, 0}, bytes);
        bits = sim_vec_foot_peek(core, op->c, (mask.repeats - 1) * step + bytes);
        if (!bits) {
            return false;
        }
    }
    const uint64_t kept = count_kept(&mask, bits, step);
    if (kept) {
        sim_vec_foot_bytes(foot, SIM_OPERAND_A, SIM_TOUCH_WRITE, op->a, kept * mask.bytes,
                           SIM_VEC_BLOCK_BYTES);
    }
    return true;
}

/** Active lanes whose bit is set. */
static uint64_t count_set(const struct sim_lanes *lanes, const uint8_t *bits)
{
    uint64_t kept = 0;
    for (uint32_t repeat = 0; repeat < lanes->repeats; repeat++) {
        const bool last = repeat == lanes->repeats - 1;
        const uint64_t *mask = last ? lanes->mask_last : lanes->mask;
        for (uint32_t lane = 0; lane < lanes->count; lane++) {
            const uint64_t at = (uint64_t)repeat * lanes->count + lane;
            kept += sim_vec_is_active(mask, lane) && bits[at / 8] >> (at % 8) & 1;
        }
    }
    return kept;
}

/* Bits of all repeats one after the other, as comparisons leave them. */
bool sim_foot_vreduce(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    if (!sim_vec_foot_check(core, op, cfg.dtype, cfg.mod)) {
        return false;
    }
    const uint32_t bytes = sim_vec_type_bytes(cfg.dtype);
    if (!sim_vec_foot_begin(core, foot, bytes, cfg.repeat)) {
        return false;
    }
    if (foot->empty) {
        core->csr.rsvd_cnt = 0;
        return true;
    }
    const struct sim_lanes *lanes = &foot->lanes;
    const uint64_t bit_bytes =
        ((uint64_t)(lanes->repeats - 1) * lanes->count + lanes->used_last + 7) / 8;
    sim_vec_foot_lanes(foot, SIM_OPERAND_B, SIM_TOUCH_READ | SIM_TOUCH_MOVED, op->b, cfg.src0_blk,
                       cfg.src0_rep, bytes);
    sim_vec_foot_bytes(foot, SIM_OPERAND_C, SIM_TOUCH_READ, op->c, bit_bytes, SIM_VEC_BLOCK_BYTES);
    const uint8_t *bits = sim_vec_foot_peek(core, op->c, bit_bytes);
    const uint64_t kept = bits ? count_set(lanes, bits) : 0;
    if (kept) {
        sim_vec_foot_bytes(foot, SIM_OPERAND_A, SIM_TOUCH_WRITE, op->a, kept * bytes,
                           SIM_VEC_BLOCK_BYTES);
    }
    return bits != NULL;
}

bool sim_foot_vbrcb(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_spread cfg = leo_cfg_spread_unpack(op->d);
    if (!sim_vec_foot_check(core, op, cfg.dtype, 0)) {
        return false;
    }
    if (op->d & LEO_CFG_SPREAD_RESERVED) {
        return sim_vec_bad_config(core);
    }
    const uint32_t bytes = sim_vec_type_bytes(cfg.dtype);
    sim_vec_foot_unmasked(foot, cfg.repeat, SIM_VEC_REPEAT_BYTES / bytes);
    sim_vec_foot_bytes(foot, SIM_OPERAND_B, SIM_TOUCH_READ, op->b,
                       (uint64_t)cfg.repeat * VEC_GROUP * bytes, SIM_VEC_BLOCK_BYTES);
    sim_vec_foot_blocks(foot, SIM_OPERAND_A, SIM_TOUCH_WRITE, op->a,
                        (struct sim_level){cfg.repeat, cfg.dst_rep},
                        (struct sim_level){VEC_GROUP, cfg.dst_blk}, SIM_VEC_BLOCK_BYTES);
    return true;
}

/** Where the gathered pieces lie. */
struct reach {
    uint64_t low, high;
};

static bool add_place(struct sim_core *core, struct reach *reach, uint64_t base, uint32_t offset,
                      uint32_t bytes)
{
    const uint64_t addr = base + offset;
    if (!sim_core_local(core, LEO_MEM_SPACE_UB, addr, bytes, bytes)) {
        return false;
    }
    reach->low = addr < reach->low ? addr : reach->low;
    reach->high = addr + bytes > reach->high ? addr + bytes : reach->high;
    return true;
}

/** One span around all of them: what lies between is not looked at. */
static void add_reach(struct sim_footprint *foot, const struct reach *reach)
{
    if (reach->low < reach->high) {
        sim_vec_foot_bytes(foot, SIM_OPERAND_EXTRA, SIM_TOUCH_READ | SIM_TOUCH_MOVED, reach->low,
                           reach->high - reach->low, 1);
    }
}

bool sim_foot_vgather(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_spread cfg = leo_cfg_spread_unpack(op->d);
    if (!sim_vec_foot_check(core, op, cfg.dtype, 0)) {
        return false;
    }
    if (op->d & LEO_CFG_SPREAD_RESERVED) {
        return sim_vec_bad_config(core);
    }
    const uint32_t bytes = sim_vec_type_bytes(cfg.dtype);
    if (!sim_vec_foot_begin(core, foot, bytes, cfg.repeat)) {
        return false;
    }
    const struct sim_lanes *lanes = &foot->lanes;
    sim_vec_foot_lanes(foot, SIM_OPERAND_A, SIM_TOUCH_WRITE, op->a, cfg.dst_blk, cfg.dst_rep,
                       bytes);
    if (foot->empty) {
        return true;
    }
    const uint64_t offset_bytes =
        ((uint64_t)(lanes->repeats - 1) * lanes->count + lanes->used_last) * sizeof(uint32_t);
    sim_vec_foot_bytes(foot, SIM_OPERAND_B, SIM_TOUCH_READ | SIM_TOUCH_PADDED, op->b, offset_bytes,
                       SIM_VEC_BLOCK_BYTES);
    const uint8_t *offsets = sim_vec_foot_peek(core, op->b, offset_bytes);
    if (!offsets) {
        return false;
    }
    struct reach reach = {UINT64_MAX, 0};
    for (uint64_t i = 0; i < offset_bytes / sizeof(uint32_t); i++) {
        const uint32_t lane = (uint32_t)(i % lanes->count);
        const bool last = i / lanes->count == lanes->repeats - 1;
        if (sim_vec_is_active(last ? lanes->mask_last : lanes->mask, lane) &&
            !add_place(core, &reach, op->c, vec_offset(offsets, i), bytes)) {
            return false;
        }
    }
    add_reach(foot, &reach);
    return true;
}

bool sim_foot_vgatherb(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_spread cfg = leo_cfg_spread_unpack(op->d);
    if (!sim_vec_foot_check(core, op, cfg.dtype, 0)) {
        return false;
    }
    if (op->d & LEO_CFG_SPREAD_RESERVED) {
        return sim_vec_bad_config(core);
    }
    sim_vec_foot_unmasked(foot, cfg.repeat, SIM_VEC_REPEAT_BYTES / sim_vec_type_bytes(cfg.dtype));
    sim_vec_foot_blocks(foot, SIM_OPERAND_A, SIM_TOUCH_WRITE, op->a,
                        (struct sim_level){cfg.repeat, cfg.dst_rep},
                        (struct sim_level){VEC_GROUP, cfg.dst_blk}, SIM_VEC_BLOCK_BYTES);
    if (foot->empty) {
        return true;
    }
    const uint64_t count = (uint64_t)cfg.repeat * VEC_GROUP;
    sim_vec_foot_bytes(foot, SIM_OPERAND_B, SIM_TOUCH_READ, op->b, count * sizeof(uint32_t),
                       SIM_VEC_BLOCK_BYTES);
    const uint8_t *offsets = sim_vec_foot_peek(core, op->b, count * sizeof(uint32_t));
    if (!offsets) {
        return false;
    }
    struct reach reach = {UINT64_MAX, 0};
    for (uint64_t i = 0; i < count; i++) {
        if (!add_place(core, &reach, op->c, vec_offset(offsets, i), SIM_VEC_BLOCK_BYTES)) {
            return false;
        }
    }
    add_reach(foot, &reach);
    return true;
}
