/* SPDX-License-Identifier: Apache-2.0 */
/* Elements and blocks that are picked: by bits, by patterns, by offsets. HW-VEC-50 .. HW-VEC-54. */
#include "gather.h"

#include <string.h>

/* What picks (bits, offsets) is read before the first result is written: the footprint was made of
 * it. */
static const uint8_t *keep(struct sim_core *core, const struct sim_span *span)
{
    memcpy(core->scratch, span->host, span->extent); // at most all of UB
    return core->scratch;
}

bool sim_vec_pack_pattern(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_span *dst = &op->foot->span[SIM_OPERAND_A];
    const struct sim_span *src = &op->foot->span[SIM_OPERAND_B];
    const struct sim_span *bits = &op->foot->span[SIM_OPERAND_C];
    struct vec_gmask mask;
    (void)vec_gmask_unpack(core, op, &mask);
    const uint32_t per_block = SIM_VEC_BLOCK_BYTES / mask.bytes;
    const uint8_t *bytes = mask.pattern == 0 ? keep(core, bits) : NULL;
    uint64_t kept = 0;
    for (uint32_t repeat = 0; repeat < mask.repeats; repeat++) {
        const uint8_t *from = src->host + repeat * src->level[0].step;
        const uint8_t *select = bytes ? bytes + repeat * bits->level[0].step : NULL;
        for (uint32_t lane = 0; lane < mask.lanes; lane++) {
            if (vec_gmask_keeps(&mask, select, lane)) {
                const uint8_t *lane_at =
                    from + lane / per_block * src->level[1].step + lane % per_block * mask.bytes;
                memmove(dst->host + kept * mask.bytes, lane_at, mask.bytes);
                kept++;
            }
        }
    }
    core->csr.rsvd_cnt = kept;
    return true;
}

bool sim_vec_pack_bits(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array src = sim_vec_array_of(op, SIM_OPERAND_B);
    const uint8_t *bits = keep(core, &op->foot->span[SIM_OPERAND_C]);
    uint8_t *to = op->foot->span[SIM_OPERAND_A].host;
    uint64_t kept = 0;
    for (uint32_t repeat = 0; repeat < vec.lanes.repeats; repeat++) {
        _Alignas(64) uint8_t buffer[SIM_VEC_REPEAT_BYTES];
        const bool last = repeat == vec.lanes.repeats - 1;
        const uint32_t used = last ? vec.lanes.used_last : vec.lanes.used;
        const uint64_t *mask = last ? vec.lanes.mask_last : vec.lanes.mask;
        const uint8_t *lanes = sim_vec_lanes(&src, repeat, used, buffer);
        for (uint32_t lane = 0; lane < used; lane++) {
            const uint64_t at = (uint64_t)repeat * vec.lanes.count + lane;
            if (sim_vec_is_active(mask, lane) && bits[at / 8] >> (at % 8) & 1) {
                memmove(to + kept * src.lane_bytes, lanes + lane * src.lane_bytes, src.lane_bytes);
                kept++;
            }
        }
    }
    core->csr.rsvd_cnt = kept;
    return true;
}

bool sim_vec_broadcast(struct sim_core *core, const struct sim_op *op)
{
    (void)core;
    const struct leo_cfg_spread cfg = leo_cfg_spread_unpack(op->d);
    const struct sim_span *dst = &op->foot->span[SIM_OPERAND_A];
    const uint8_t *src = op->foot->span[SIM_OPERAND_B].host;
    const uint32_t bytes = sim_vec_type_bytes(cfg.dtype);
    for (uint32_t repeat = 0; repeat < cfg.repeat; repeat++) {
        uint8_t group[VEC_GROUP * sizeof(uint32_t)];
        memcpy(group, src + (size_t)repeat * VEC_GROUP * bytes, VEC_GROUP * bytes);
        for (uint32_t i = 0; i < VEC_GROUP; i++) {
            uint8_t *to = dst->host + repeat * dst->level[0].step + i * dst->level[1].step;
            for (uint32_t at = 0; at < SIM_VEC_BLOCK_BYTES; at += bytes) {
                memcpy(to + at, group + i * bytes, bytes);
            }
        }
    }
    return true;
}

/** Host address of a gathered piece: the footprint has checked it. */
static const uint8_t *place(struct sim_core *core, uint64_t addr, uint32_t bytes)
{
    return sim_core_local(core, LEO_MEM_SPACE_UB, addr, bytes, 1);
}

bool sim_vec_gather(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array dst = sim_vec_array_of(op, SIM_OPERAND_A);
    const uint8_t *offsets = keep(core, &op->foot->span[SIM_OPERAND_B]);
    const uint32_t per_block = SIM_VEC_BLOCK_BYTES / dst.lane_bytes;
    for (uint32_t repeat = 0; repeat < vec.lanes.repeats; repeat++) {
        uint8_t lanes[SIM_VEC_REPEAT_BYTES];
        const bool last = repeat == vec.lanes.repeats - 1;
        const uint32_t used = last ? vec.lanes.used_last : vec.lanes.used;
        const uint64_t *mask = last ? vec.lanes.mask_last : vec.lanes.mask;
        for (uint32_t lane = 0; lane < used; lane++) {
            if (sim_vec_is_active(mask, lane)) {
                const uint64_t at = (uint64_t)repeat * vec.lanes.count + lane;
                memcpy(lanes + lane * dst.lane_bytes,
                       place(core, op->c + vec_offset(offsets, at), dst.lane_bytes),
                       dst.lane_bytes);
            }
        }
        uint8_t *to = dst.data + (uint64_t)repeat * dst.rep;
        for (uint32_t lane = 0; lane < used; lane++) {
            if (sim_vec_is_active(mask, lane)) {
                memcpy(to + (uint64_t)(lane / per_block) * dst.blk +
                           lane % per_block * dst.lane_bytes,
                       lanes + lane * dst.lane_bytes, dst.lane_bytes);
            }
        }
    }
    return true;
}

bool sim_vec_gather_blocks(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_span *dst = &op->foot->span[SIM_OPERAND_A];
    const uint8_t *offsets = keep(core, &op->foot->span[SIM_OPERAND_B]);
    for (uint32_t repeat = 0; repeat < op->foot->lanes.repeats; repeat++) {
        uint8_t blocks[VEC_GROUP][SIM_VEC_BLOCK_BYTES];
        for (uint32_t i = 0; i < VEC_GROUP; i++) {
            const uint64_t at = (uint64_t)repeat * VEC_GROUP + i;
            memcpy(blocks[i], place(core, op->c + vec_offset(offsets, at), SIM_VEC_BLOCK_BYTES),
                   SIM_VEC_BLOCK_BYTES);
        }
        for (uint32_t i = 0; i < VEC_GROUP; i++) {
            memcpy(dst->host + repeat * dst->level[0].step + i * dst->level[1].step, blocks[i],
                   SIM_VEC_BLOCK_BYTES);
        }
    }
    return true;
}
