/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint.h"

#include "memory/hbm.h"

#define BLOCK_BYTES 32u

struct sim_span *sim_footprint_add(struct sim_footprint *foot, enum sim_operand at,
                                   enum leo_mem_space space, unsigned touch, uint64_t addr,
                                   uint64_t bytes)
{
    unsigned place = at == SIM_OPERAND_EXTRA ? foot->count++ : (unsigned)at;
    struct sim_span *span = &foot->span[place];
    if (space == LEO_MEM_SPACE_GM && addr & SIM_GM_NO_L2) {
        addr &= ~SIM_GM_NO_L2;
        touch |= SIM_TOUCH_NO_L2;
    }
    // Field by field: the compiler clears a whole span with a string instruction, which takes the
    // host longer than everything else here.
    span->addr = addr;
    for (unsigned i = 0; i < 3; i++) {
        span->level[i].count = 1;
        span->level[i].step = 0;
    }
    span->bytes = (uint32_t)bytes;
    span->align = 1;
    span->touch = (uint8_t)touch;
    span->space = (uint8_t)space;
    span->lane_bytes = 0;
    span->low = addr;
    span->extent = bytes;
    span->host = NULL;
    return span;
}

void sim_span_close(struct sim_span *span)
{
    span->low = span->addr;
    span->extent = span->bytes;
    for (int i = 0; i < 3; i++) {
        uint32_t count = span->level[i].count;
        int64_t reach = count ? (int64_t)(count - 1) * span->level[i].step : 0;
        span->low += reach < 0 ? (uint64_t)reach : 0;
        span->extent += (uint64_t)(reach < 0 ? -reach : reach);
    }
}

enum leo_mem_space sim_operand_space(enum leo_insn_operand operand)
{
    switch (operand) {
    case LEO_INSN_OPERAND_UB:
        return LEO_MEM_SPACE_UB;
    case LEO_INSN_OPERAND_L1:
        return LEO_MEM_SPACE_L1;
    case LEO_INSN_OPERAND_L0A:
        return LEO_MEM_SPACE_L0A;
    case LEO_INSN_OPERAND_L0B:
        return LEO_MEM_SPACE_L0B;
    case LEO_INSN_OPERAND_L0C:
        return LEO_MEM_SPACE_L0C;
    case LEO_INSN_OPERAND_BT:
        return LEO_MEM_SPACE_BT;
    case LEO_INSN_OPERAND_FB:
        return LEO_MEM_SPACE_FB;
    case LEO_INSN_OPERAND_NONE:
    case LEO_INSN_OPERAND_VAL:
    case LEO_INSN_OPERAND_CFG:
    case LEO_INSN_OPERAND_GM:
        break;
    }
    return LEO_MEM_SPACE_GM;
}

static bool is_active(const uint64_t mask[2], uint32_t lane)
{
    return mask[lane / 64] >> lane % 64 & 1;
}

/* The active lanes of one repeat, a run of neighbours at a time and a block at most unless blocks
 * lie side by side. */
static void each_lane_run(const struct sim_lanes *lanes, const struct sim_span *span,
                          uint32_t repeat, sim_range_fn fn, void *context)
{
    const bool last = repeat == lanes->repeats - 1;
    const uint64_t *mask = last ? lanes->mask_last : lanes->mask;
    const uint32_t used = last ? lanes->used_last : lanes->used;
    const uint32_t per_block = BLOCK_BYTES / span->lane_bytes;
    const uint64_t start = span->addr + (uint64_t)(repeat * span->level[0].step);
    const bool side_by_side = span->level[1].step == BLOCK_BYTES;
    uint32_t first = 0;
    while (first < used) {
        if (!is_active(mask, first)) {
            first++;
            continue;
        }
        uint32_t end = first + 1;
        while (end < used && is_active(mask, end) && (side_by_side || end % per_block != 0)) {
            end++;
        }
        fn(context,
           start + (uint64_t)(first / per_block * span->level[1].step) +
               first % per_block * span->lane_bytes,
           (uint64_t)(end - first) * span->lane_bytes);
        first = end;
    }
}

static bool is_whole(const struct sim_lanes *lanes)
{
    return lanes->dense && lanes->used == lanes->count && lanes->used_last == lanes->count;
}

void sim_span_each(const struct sim_footprint *foot, const struct sim_span *span, sim_range_fn fn,
                   void *context)
{
    if (span->lane_bytes != 0 && !is_whole(&foot->lanes)) {
        for (uint32_t repeat = 0; repeat < foot->lanes.repeats; repeat++) {
            each_lane_run(&foot->lanes, span, repeat, fn, context);
        }
        return;
    }
    struct sim_level level[3];
    uint64_t bytes = span->bytes;
    unsigned levels = 0;
    for (int i = 2; i >= 0; i--) { // innermost first: what continues the piece makes it longer
        if (span->level[i].count == 1) {
            continue;
        }
        if (levels == 0 && span->level[i].step == (int64_t)bytes) {
            bytes *= span->level[i].count;
        } else {
            level[levels++] = span->level[i];
        }
    }
    while (levels < 3) {
        level[levels++] = (struct sim_level){1, 0};
    }
    for (uint32_t i = 0; i < level[2].count; i++) {
        for (uint32_t j = 0; j < level[1].count; j++) {
            for (uint32_t k = 0; k < level[0].count; k++) {
                fn(context,
                   span->addr +
                       (uint64_t)(i * level[2].step + j * level[1].step + k * level[0].step),
                   bytes);
            }
        }
    }
}
