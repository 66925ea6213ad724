/* SPDX-License-Identifier: Apache-2.0 */
/* Two sources combined, results converted to half the width. */
#include "exec_vector.h"

#include "../core/saturate.h"
#include <string.h>

struct narrow {
    sim_binary_fn combine;
    sim_convert_fn convert;
    enum leo_dtype src_type, dst_type;
    uint32_t src_bytes, dst_bytes;
};

static void run_narrow(void *context, void *dst, const void *a, const void *b, uint64_t first,
                       size_t count)
{
    (void)first;
    const struct narrow *narrow = context;
    _Alignas(64) uint8_t wide[SIM_VEC_REPEAT_BYTES];
    const size_t most = sizeof(wide) / narrow->src_bytes;
    for (size_t done = 0; done < count; done += most) {
        const size_t part = count - done < most ? count - done : most;
        narrow->combine(wide, (const uint8_t *)a + done * narrow->src_bytes,
                        (const uint8_t *)b + done * narrow->src_bytes, part);
        narrow->convert((uint8_t *)dst + done * narrow->dst_bytes, narrow->dst_type, wide,
                        narrow->src_type, LEO_ROUND_RINT, part);
    }
}

/** mod 1: results of block i of the sources in the upper half of block i of the destination. */
static void run_halves(const struct sim_vec *vec, const struct sim_op *op, struct narrow *narrow)
{
    const struct sim_vec_array a = sim_vec_array_of(op, SIM_OPERAND_B),
                               b = sim_vec_array_of(op, SIM_OPERAND_C);
    const struct sim_span *dst = &op->foot->span[SIM_OPERAND_A];
    const uint32_t per_block = SIM_VEC_BLOCK_BYTES / narrow->src_bytes;
    _Alignas(64) uint8_t buffer[3][SIM_VEC_REPEAT_BYTES];
    for (uint32_t repeat = 0; repeat < vec->lanes.repeats; repeat++) {
        const bool last = repeat == vec->lanes.repeats - 1;
        const uint32_t used = last ? vec->lanes.used_last : vec->lanes.used;
        const uint64_t *mask = last ? vec->lanes.mask_last : vec->lanes.mask;
        run_narrow(narrow, buffer[2], sim_vec_lanes(&a, repeat, used, buffer[0]),
                   sim_vec_lanes(&b, repeat, used, buffer[1]), 0, used);
        if (vec->infinity) {
            sim_core_saturate(vec->core, vec->infinity, buffer[2], used, mask);
        }
        uint8_t *to = dst->host + repeat * dst->level[0].step;
        for (uint32_t lane = 0; lane < used; lane++) {
            if (sim_vec_is_active(mask, lane)) {
                memcpy(to + lane / per_block * dst->level[1].step +
                           lane % per_block * narrow->dst_bytes,
                       buffer[2] + lane * narrow->dst_bytes, narrow->dst_bytes);
            }
        }
    }
}

bool sim_vec_narrow(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    struct sim_vec vec = sim_vec_of(core, op);
    const bool halves = op->row->traits & SIM_TRAIT_HALF;
    struct narrow narrow = {
        .combine = vec.simd->binary[op->row->member][sim_vec_lane_of(cfg.dtype)],
        .convert = vec.simd->convert,
        .src_type = cfg.dtype,
        .dst_type = cfg.dtype == LEO_DTYPE_F32 ? LEO_DTYPE_F16
                    : !halves && cfg.mod == 1  ? LEO_DTYPE_U8
                                               : LEO_DTYPE_S8,
        .src_bytes = sim_vec_type_bytes(cfg.dtype),
        .dst_bytes = sim_vec_type_bytes(cfg.dtype) / 2,
    };
    sim_vec_saturates(&vec, narrow.dst_type);
    if (halves && cfg.mod == 1) {
        run_halves(&vec, op, &narrow);
        return true;
    }
    const struct sim_vec_array dst = sim_vec_array_of(op, SIM_OPERAND_A),
                               a = sim_vec_array_of(op, SIM_OPERAND_B),
                               b = sim_vec_array_of(op, SIM_OPERAND_C);
    sim_vec_run(&vec, &dst, &a, &b, run_narrow, &narrow);
    return true;
}
