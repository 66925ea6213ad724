/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions whose result lane i depends on source lanes i alone. */
#include "exec_vector.h"

#include <string.h>

/** What the kernels of one instruction need. */
struct lanes_context {
    const struct sim_vec *vec;
    union {
        sim_binary_fn binary;
        sim_unary_fn unary;
        sim_axpy_fn axpy;
        sim_fused_fn fused;
    };
    sim_unary_fn relu;
    enum sim_chain chain;
    uint32_t lane_bytes;
    uint32_t scalar;
    enum leo_dtype dst_type, src_type;
    enum leo_round round;
    struct sim_vec_splat splat;
};

static void run_binary(void *context, void *dst, const void *a, const void *b, uint64_t first,
                       size_t count)
{
    (void)first;
    const struct lanes_context *lanes = context;
    lanes->binary(dst, a, b, count);
}

static void run_scalar(void *context, void *dst, const void *a, const void *b, uint64_t first,
                       size_t count)
{
    (void)b;
    (void)first;
    const struct lanes_context *lanes = context;
    const uint8_t *from = a;
    uint8_t *to = dst;
    while (count != 0) {
        const size_t part = count < lanes->splat.lanes ? count : lanes->splat.lanes;
        lanes->binary(to, from, lanes->splat.bytes, part);
        from += part * lanes->lane_bytes;
        to += part * lanes->lane_bytes;
        count -= part;
    }
}

/** dst holds its old lanes. */
static void run_fused(void *context, void *dst, const void *a, const void *b, uint64_t first,
                      size_t count)
{
    (void)first;
    const struct lanes_context *lanes = context;
    if (lanes->chain == SIM_CHAIN_MLA) {
        lanes->fused(dst, a, b, dst, count);
        return;
    }
    lanes->fused(dst, dst, a, b, count);
    if (lanes->chain == SIM_CHAIN_MADDRELU) {
        lanes->relu(dst, dst, count);
    }
}

static void run_unary(void *context, void *dst, const void *a, const void *b, uint64_t first,
                      size_t count)
{
    (void)b;
    (void)first;
    const struct lanes_context *lanes = context;
    lanes->unary(dst, a, count);
}

/** b is the old destination. */
static void run_axpy(void *context, void *dst, const void *a, const void *b, uint64_t first,
                     size_t count)
{
    (void)first;
    const struct lanes_context *lanes = context;
    lanes->axpy(dst, a, b, lanes->scalar, count);
}

static void run_copy(void *context, void *dst, const void *a, const void *b, uint64_t first,
                     size_t count)
{
    (void)b;
    (void)first;
    const struct lanes_context *lanes = context;
    memmove(dst, a, count * lanes->lane_bytes);
}

static void run_dup(void *context, void *dst, const void *a, const void *b, uint64_t first,
                    size_t count)
{
    (void)a;
    (void)b;
    (void)first;
    const struct lanes_context *lanes = context;
    uint8_t *to = dst;
    for (size_t left = count; left != 0;) {
        const size_t part = left < lanes->splat.lanes ? left : lanes->splat.lanes;
        memcpy(to, lanes->splat.bytes, part * lanes->lane_bytes);
        to += part * lanes->lane_bytes;
        left -= part;
    }
}

static void run_convert(void *context, void *dst, const void *a, const void *b, uint64_t first,
                        size_t count)
{
    (void)b;
    (void)first;
    const struct lanes_context *lanes = context;
    lanes->vec->simd->convert(dst, lanes->dst_type, a, lanes->src_type, lanes->round, count);
}

/* What only repeats an operand or its magnitude cannot overflow (HW-NUM-15). */
static void binary_saturates(struct sim_vec *vec, unsigned member, enum leo_dtype type)
{
    if (member != SIM_BINARY_MAX && member != SIM_BINARY_MIN) {
        sim_vec_saturates(vec, type);
    }
}

bool sim_vec_binary(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array dst = sim_vec_array_of(op, SIM_OPERAND_A),
                               a = sim_vec_array_of(op, SIM_OPERAND_B),
                               b = sim_vec_array_of(op, SIM_OPERAND_C);
    struct lanes_context lanes;
    lanes.binary = vec.simd->binary[op->row->member][sim_vec_lane_of(cfg.dtype)];
    binary_saturates(&vec, op->row->member, cfg.dtype);
    sim_vec_run(&vec, &dst, &a, &b, run_binary, &lanes);
    return true;
}

/** All lanes of an instruction with the scalar side by side. */
static void fill_splat(struct lanes_context *lanes, const struct sim_vec *vec, uint64_t scalar,
                       uint32_t lane_bytes)
{
    lanes->lane_bytes = lane_bytes;
    sim_vec_splat_fill(&lanes->splat, scalar, lane_bytes,
                       (uint64_t)vec->lanes.count * vec->lanes.repeats);
}

bool sim_vec_scalar(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_vec2 cfg = leo_cfg_vec2_unpack(op->d);
    struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array dst = sim_vec_array_of(op, SIM_OPERAND_A),
                               src = sim_vec_array_of(op, SIM_OPERAND_B);
    struct lanes_context lanes;
    lanes.binary = vec.simd->binary[op->row->member][sim_vec_lane_of(cfg.dtype)];
    fill_splat(&lanes, &vec, op->c, dst.lane_bytes);
    binary_saturates(&vec, op->row->member, cfg.dtype);
    sim_vec_run(&vec, &dst, &src, NULL, run_scalar, &lanes);
    return true;
}

bool sim_vec_shift(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_vec2 cfg = leo_cfg_vec2_unpack(op->d);
    const struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array dst = sim_vec_array_of(op, SIM_OPERAND_A),
                               src = sim_vec_array_of(op, SIM_OPERAND_B);
    const uint32_t width = dst.lane_bytes * 8, distance = (uint32_t)op->c;
    const unsigned member = cfg.mod == 1 ? SIM_BINARY_SHR_ROUND : op->row->member;
    struct lanes_context lanes;
    lanes.binary = vec.simd->binary[member][sim_vec_lane_of(cfg.dtype)];
    fill_splat(&lanes, &vec, distance < width ? distance : width, dst.lane_bytes);
    sim_vec_run(&vec, &dst, &src, NULL, run_scalar, &lanes);
    return true;
}

bool sim_vec_fused(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array dst = sim_vec_array_of(op, SIM_OPERAND_A),
                               a = sim_vec_array_of(op, SIM_OPERAND_B),
                               b = sim_vec_array_of(op, SIM_OPERAND_C);
    struct lanes_context lanes;
    lanes.chain = op->row->member;
    lanes.fused = vec.simd->fused[cfg.mod == 1                 ? SIM_FUSED_MIXED
                                  : cfg.dtype == LEO_DTYPE_F16 ? SIM_FUSED_F16
                                                               : SIM_FUSED_F32];
    lanes.relu = vec.simd->unary[SIM_UNARY_RELU][sim_vec_lane_of(cfg.dtype)];
    vec.keeps_dst = true;
    sim_vec_saturates(&vec, cfg.mod == 1 ? LEO_DTYPE_F32 : (enum leo_dtype)cfg.dtype);
    sim_vec_run(&vec, &dst, &a, &b, run_fused, &lanes);
    return true;
}

bool sim_vec_unary(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_vec2 cfg = leo_cfg_vec2_unpack(op->d);
    struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array dst = sim_vec_array_of(op, SIM_OPERAND_A),
                               src = sim_vec_array_of(op, SIM_OPERAND_B);
    struct lanes_context lanes;
    lanes.unary = vec.simd->unary[op->row->member][sim_vec_lane_of(cfg.dtype)];
    if (op->row->member != SIM_UNARY_ABS && op->row->member != SIM_UNARY_RELU) {
        sim_vec_saturates(&vec, cfg.dtype);
    }
    sim_vec_run(&vec, &dst, &src, NULL, run_unary, &lanes);
    return true;
}

bool sim_vec_copy(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array dst = sim_vec_array_of(op, SIM_OPERAND_A),
                               src = sim_vec_array_of(op, SIM_OPERAND_B);
    struct lanes_context lanes;
    lanes.lane_bytes = dst.lane_bytes;
    sim_vec_run(&vec, &dst, &src, NULL, run_copy, &lanes);
    return true;
}

bool sim_vec_dup(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array dst = sim_vec_array_of(op, SIM_OPERAND_A);
    struct lanes_context lanes;
    fill_splat(&lanes, &vec, op->c, dst.lane_bytes);
    sim_vec_run(&vec, &dst, NULL, NULL, run_dup, &lanes);
    return true;
}

bool sim_vec_axpy(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_vec2 cfg = leo_cfg_vec2_unpack(op->d);
    struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array dst = sim_vec_array_of(op, SIM_OPERAND_A),
                               src = sim_vec_array_of(op, SIM_OPERAND_B);
    struct lanes_context lanes;
    lanes.scalar = (uint32_t)op->c;
    lanes.axpy = vec.simd->axpy[cfg.mod == 1                 ? SIM_AXPY_MIXED
                                : cfg.dtype == LEO_DTYPE_F16 ? SIM_AXPY_F16
                                                             : SIM_AXPY_F32];
    sim_vec_saturates(&vec, cfg.mod == 1 ? LEO_DTYPE_F32 : (enum leo_dtype)cfg.dtype);
    sim_vec_run(&vec, &dst, &src, &dst, run_axpy, &lanes);
    return true;
}

bool sim_vec_convert(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_vcvt cfg = leo_cfg_vcvt_unpack(op->d);
    if (cfg.src_type == LEO_DTYPE_S4 || cfg.dst_type == LEO_DTYPE_S4) {
        return sim_vec_convert_s4(core, op);
    }
    struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array dst = sim_vec_array_of(op, SIM_OPERAND_A),
                               src = sim_vec_array_of(op, SIM_OPERAND_B);
    struct lanes_context lanes;
    lanes.vec = &vec;
    lanes.dst_type = cfg.dst_type;
    lanes.src_type = cfg.src_type;
    lanes.round = op->sub;
    if (cfg.dst_type != LEO_DTYPE_F32) { // wide enough for every source
        sim_vec_saturates(&vec, cfg.dst_type);
    }
    sim_vec_run(&vec, &dst, &src, NULL, run_convert, &lanes);
    return true;
}
