/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: a binary tree of adjacent pairs, rounded to the type at each level (HW-VEC-30). */
#include "exec_vector.h"

#include "../core/saturate.h"
#include <string.h>

/** Repeats computed together: their lanes fit the nearest cache. */
#define BATCH_REPEATS 32u
#define BATCH_BYTES   (BATCH_REPEATS * SIM_VEC_REPEAT_BYTES)

/** Parts of the core's scratch. */
struct tree {
    uint8_t *lanes, *level, *even, *odd;
    sim_split_fn split;
    sim_binary_fn combine;
};

struct reduce_call {
    struct sim_vec vec;
    struct sim_vec_array src;
    uint8_t *dst;
    uint64_t dst_step;   /**< bytes from one repeat's results to the next */
    uint32_t lanes_each; /**< source lanes of one result */
    uint32_t lane_bytes;
    enum leo_order order;
    uint32_t neutral; /**< what a masked lane counts as */
    bool wants_index;
    struct tree tree;
};

/** Of all repeats together. */
struct overall {
    bool any;
    uint32_t value, index;
};

static struct tree tree_of(const struct sim_vec *vec, unsigned member, enum sim_lane lane)
{
    uint8_t *scratch = vec->core->scratch;
    return (struct tree){
        .lanes = scratch,
        .level = scratch + BATCH_BYTES,
        .even = scratch + 2 * BATCH_BYTES,
        .odd = scratch + 3 * BATCH_BYTES,
        .split = lane == SIM_LANE_F16 ? vec->simd->split16 : vec->simd->split32,
        .combine = vec->simd->binary[member][lane],
    };
}

static uint32_t neutral_of(unsigned member, enum sim_lane lane)
{
    if (member == SIM_BINARY_ADD) {
        return 0;
    }
    const uint32_t infinity = lane == SIM_LANE_F16 ? 0x7c00 : 0x7f800000;
    const uint32_t sign = lane == SIM_LANE_F16 ? 0x8000 : 0x80000000;
    return member == SIM_BINARY_MAX ? sign | infinity : infinity;
}

/** The lanes of `count` repeats side by side, masked ones neutral. */
static const uint8_t *load_repeats(const struct reduce_call *call, uint32_t first, uint32_t count)
{
    const struct sim_vec *vec = &call->vec;
    if (vec->lanes.dense && vec->lanes.used_last == vec->lanes.count &&
        sim_vec_is_contiguous(vec, &call->src)) {
        return call->src.data + (uint64_t)first * SIM_VEC_REPEAT_BYTES;
    }
    for (uint32_t i = 0; i < count; i++) {
        const bool last = first + i == vec->lanes.repeats - 1;
        const uint64_t *mask = last ? vec->lanes.mask_last : vec->lanes.mask;
        const uint32_t used = last ? vec->lanes.used_last : vec->lanes.used;
        uint8_t *to = call->tree.lanes + i * SIM_VEC_REPEAT_BYTES;
        const uint8_t *from = sim_vec_lanes(&call->src, first + i, used, to);
        if (from != to) {
            memcpy(to, from, used * call->lane_bytes);
        }
        for (uint32_t lane = 0; lane < vec->lanes.count; lane++) {
            if (!sim_vec_is_active(mask, lane)) {
                memcpy(to + lane * call->lane_bytes, &call->neutral, call->lane_bytes);
            }
        }
    }
    return call->tree.lanes;
}

/** Reduces `count` lanes to count / lanes_each results; lanes_each is 2 at least. */
static uint8_t *reduce_lanes(const struct reduce_call *call, const uint8_t *lanes, size_t count)
{
    const struct tree *tree = &call->tree;
    for (uint32_t each = call->lanes_each; each > 1; each /= 2) {
        count /= 2;
        tree->split(tree->even, tree->odd, lanes, count);
        tree->combine(tree->level, tree->even, tree->odd, count);
        lanes = tree->level;
    }
    return tree->level;
}

static uint32_t load_lane(const uint8_t *lanes, uint32_t lane, uint32_t lane_bytes)
{
    uint32_t bits = 0;
    memcpy(&bits, lanes + lane * lane_bytes, lane_bytes);
    return bits;
}

/** First active lane that holds the extreme: equal as a number, zeros of both signs alike, or any
 * NaN. */
static uint32_t find_lane(const struct reduce_call *call, const uint64_t mask[2],
                          const uint8_t *lanes, uint32_t extreme)
{
    const bool half = call->lane_bytes == 2;
    const uint32_t magnitude = half ? 0x7fff : 0x7fffffff;
    const uint32_t infinity = half ? 0x7c00 : 0x7f800000;
    if ((extreme & magnitude) - 1 < infinity) { // not NaN, not zero: one pattern only
        for (uint32_t lane = 0; lane < call->vec.lanes.count; lane++) {
            const uint32_t bits =
                half ? ((const uint16_t *)lanes)[lane] : ((const uint32_t *)lanes)[lane];
            if (bits == extreme && sim_vec_is_active(mask, lane)) {
                return lane;
            }
        }
        return 0;
    }
    const bool is_nan = (extreme & magnitude) != 0;
    for (uint32_t lane = 0; lane < call->vec.lanes.count; lane++) {
        const uint32_t size = load_lane(lanes, lane, call->lane_bytes) & magnitude;
        if ((is_nan ? size > infinity : size == 0) && sim_vec_is_active(mask, lane)) {
            return lane;
        }
    }
    return 0;
}

/** Writes what one repeat of vcmax or vcmin gives, in the order asked for. */
static void write_extreme(const struct reduce_call *call, uint8_t *to, uint32_t value,
                          uint32_t index)
{
    const uint32_t bytes = call->lane_bytes;
    switch (call->order) {
    case LEO_ORDER_VALUE_INDEX:
        memcpy(to, &value, bytes);
        memcpy(to + bytes, &index, bytes);
        break;
    case LEO_ORDER_INDEX_VALUE:
        memcpy(to, &index, bytes);
        memcpy(to + bytes, &value, bytes);
        break;
    case LEO_ORDER_ONLY_VALUE:
        memcpy(to, &value, bytes);
        break;
    case LEO_ORDER_ONLY_INDEX:
        memcpy(to, &index, bytes);
        break;
    }
}

static bool has_active(const uint64_t mask[2], uint32_t first, uint32_t lanes)
{
    for (uint32_t lane = first; lane < first + lanes; lane++) {
        if (sim_vec_is_active(mask, lane)) {
            return true;
        }
    }
    return false;
}

static void write_repeat(const struct reduce_call *call, uint32_t repeat, const uint8_t *lanes,
                         const uint8_t *results)
{
    const struct sim_vec *vec = &call->vec;
    const uint64_t *mask =
        repeat == vec->lanes.repeats - 1 ? vec->lanes.mask_last : vec->lanes.mask;
    uint8_t *to = call->dst + (uint64_t)repeat * call->dst_step;
    const uint32_t bytes = call->lane_bytes;
    if (call->wants_index) {
        const uint32_t value = load_lane(results, 0, bytes);
        const uint32_t index =
            call->order == LEO_ORDER_ONLY_VALUE ? 0 : find_lane(call, mask, lanes, value);
        write_extreme(call, to, value, index);
        return;
    }
    const uint32_t count = vec->lanes.count / call->lanes_each;
    for (uint32_t i = 0; i < count; i++) {
        if (has_active(mask, i * call->lanes_each, call->lanes_each)) {
            memcpy(to + i * bytes, results + i * bytes, bytes);
        }
    }
}

/** Goes on with what the control registers tell of the whole instruction: the sums of the repeats
 * added in order, or the extreme of all lanes and where it was first (HW-VEC-34). */
static void note_results(const struct reduce_call *call, uint32_t first, uint32_t count,
                         const uint8_t *lanes, const uint8_t *results, struct overall *all)
{
    const struct sim_vec *vec = &call->vec;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t value = load_lane(results, i, call->lane_bytes);
        uint32_t next = value;
        if (all->any) {
            call->tree.combine(&next, &all->value, &value, 1);
        }
        if (vec->infinity) {
            sim_core_saturate(vec->core, vec->infinity, &next, 1, NULL);
        }
        if (call->wants_index && (!all->any || next != all->value)) {
            const uint64_t *mask =
                first + i == vec->lanes.repeats - 1 ? vec->lanes.mask_last : vec->lanes.mask;
            all->index = (first + i) * vec->lanes.count +
                         find_lane(call, mask, lanes + i * SIM_VEC_REPEAT_BYTES, value);
        }
        all->value = next;
        all->any = true;
    }
}

static void run_reduce(const struct reduce_call *call, uint64_t dst_bytes, struct overall *all)
{
    const struct sim_vec *vec = &call->vec;
    const bool apart = !sim_vec_overlap(call->dst, dst_bytes, call->src.data, call->src.bytes);
    const uint32_t batch = apart ? BATCH_REPEATS : 1;
    const uint32_t results_each = vec->lanes.count / call->lanes_each;
    const bool whole = vec->lanes.dense && vec->lanes.used_last == vec->lanes.count &&
                       (!call->wants_index || call->order == LEO_ORDER_ONLY_VALUE);
    const uint64_t result_bytes = (uint64_t)results_each * call->lane_bytes;
    for (uint32_t first = 0; first < vec->lanes.repeats; first += batch) {
        const uint32_t count =
            vec->lanes.repeats - first < batch ? vec->lanes.repeats - first : batch;
        const uint8_t *lanes = load_repeats(call, first, count);
        uint8_t *results = reduce_lanes(call, lanes, (size_t)count * vec->lanes.count);
        if (vec->infinity) {
            sim_core_saturate(vec->core, vec->infinity, results, (size_t)count * results_each,
                              NULL);
        }
        if (results_each == 1) {
            note_results(call, first, count, lanes, results, all);
        }
        if (whole && call->dst_step == result_bytes) {
            memcpy(call->dst + first * result_bytes, results, count * result_bytes);
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            write_repeat(call, first + i, lanes + i * SIM_VEC_REPEAT_BYTES,
                         results + i * result_bytes);
        }
    }
}

static bool reduce(struct sim_core *core, const struct sim_op *op, struct reduce_call *call)
{
    const struct leo_cfg_vred cfg = leo_cfg_vred_unpack(op->d);
    const struct sim_span *dst = &op->foot->span[SIM_OPERAND_A];
    const enum sim_lane lane = sim_vec_lane_of(cfg.dtype);
    const unsigned member = op->row->member;
    call->vec = sim_vec_of(core, op);
    call->src = sim_vec_array_of(op, SIM_OPERAND_B);
    call->lane_bytes = call->src.lane_bytes;
    call->order = cfg.order;
    call->dst = dst->host;
    call->dst_step = (uint64_t)dst->level[0].step;
    call->neutral = neutral_of(member, lane);
    call->tree = tree_of(&call->vec, member, lane);
    if (member == SIM_BINARY_ADD) { // an extreme is one of the lanes
        sim_vec_saturates(&call->vec, cfg.dtype);
    }
    struct overall all = {0};
    run_reduce(call, (call->vec.lanes.repeats - 1) * call->dst_step + dst->bytes, &all);
    if (all.any && call->wants_index) {
        core->csr.max_min_cnt = all.value | (uint64_t)all.index << 32;
    } else if (all.any) {
        core->csr.acc_val = all.value;
    }
    return true;
}

bool sim_vec_reduce_repeat(struct sim_core *core, const struct sim_op *op)
{
    struct reduce_call call = {
        .lanes_each = op->foot->lanes.count,
        .wants_index = op->row->mode != 0,
    };
    return reduce(core, op, &call);
}

bool sim_vec_reduce_block(struct sim_core *core, const struct sim_op *op)
{
    struct reduce_call call = {.lanes_each = op->foot->lanes.count / 8}; // 8 blocks a repeat
    return reduce(core, op, &call);
}

bool sim_vec_reduce_pair(struct sim_core *core, const struct sim_op *op)
{
    struct reduce_call call = {.lanes_each = 2};
    return reduce(core, op, &call);
}
