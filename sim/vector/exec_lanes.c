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
    };
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

bool sim_vec_binary(struct sim_core *core, const struct sim_op *op, unsigned member)
{
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    if (!sim_vec_check_type(core, op, cfg.dtype)) {
        return false;
    }
    if (cfg.mod != 0) {
        return sim_vec_bad_config(core);
    }
    const uint32_t bytes = sim_vec_type_bytes(cfg.dtype);
    struct sim_vec vec;
    if (!sim_vec_begin(&vec, core, bytes, cfg.repeat)) {
        return false;
    }
    if (vec.repeats == 0) {
        return true;
    }
    struct sim_vec_array dst = sim_vec_array_of(op->a, cfg.dst_blk, cfg.dst_rep, bytes);
    struct sim_vec_array a = sim_vec_array_of(op->b, cfg.src0_blk, cfg.src0_rep, bytes);
    struct sim_vec_array b = sim_vec_array_of(op->c, cfg.src1_blk, cfg.src1_rep, bytes);
    if (!sim_vec_map(&vec, &a) || !sim_vec_map(&vec, &b) || !sim_vec_map(&vec, &dst)) {
        return false;
    }
    struct lanes_context lanes;
    lanes.binary = vec.simd->binary[member][sim_vec_lane_of(cfg.dtype)];
    sim_vec_run(&vec, &dst, &a, &b, run_binary, &lanes);
    return true;
}

/** Operands of the vec2 form, type checked and mapped; vec.repeats 0 = nothing to do, no address
 * looked at. */
struct vec2_call {
    struct leo_cfg_vec2 cfg;
    struct sim_vec vec;
    struct sim_vec_array dst, src;
};

/* `has_src`: the b operand is an address too. */
static bool begin_vec2(struct vec2_call *call, struct sim_core *core, const struct sim_op *op,
                       bool has_src)
{
    call->cfg = leo_cfg_vec2_unpack(op->d);
    const struct leo_cfg_vec2 *cfg = &call->cfg;
    if (!sim_vec_check_type(core, op, cfg->dtype)) {
        return false;
    }
    if (cfg->mod != 0) {
        return sim_vec_bad_config(core);
    }
    const uint32_t bytes = sim_vec_type_bytes(cfg->dtype);
    call->dst = sim_vec_array_of(op->a, cfg->dst_blk, cfg->dst_rep, bytes);
    call->src = sim_vec_array_of(op->b, cfg->src_blk, cfg->src_rep, bytes);
    if (!sim_vec_begin(&call->vec, core, bytes, cfg->repeat)) {
        return false;
    }
    return call->vec.repeats == 0 || ((!has_src || sim_vec_map(&call->vec, &call->src)) &&
                                      sim_vec_map(&call->vec, &call->dst));
}

bool sim_vec_scalar(struct sim_core *core, const struct sim_op *op, unsigned member)
{
    struct vec2_call call;
    if (!begin_vec2(&call, core, op, true)) {
        return false;
    }
    if (call.vec.repeats == 0) {
        return true;
    }
    struct lanes_context lanes;
    lanes.lane_bytes = call.dst.lane_bytes;
    lanes.binary = call.vec.simd->binary[member][sim_vec_lane_of(call.cfg.dtype)];
    sim_vec_splat_fill(&lanes.splat, op->c, lanes.lane_bytes,
                       (uint64_t)call.vec.lanes * call.vec.repeats);
    sim_vec_run(&call.vec, &call.dst, &call.src, NULL, run_scalar, &lanes);
    return true;
}

bool sim_vec_unary(struct sim_core *core, const struct sim_op *op, unsigned member)
{
    struct vec2_call call;
    if (!begin_vec2(&call, core, op, true)) {
        return false;
    }
    if (call.vec.repeats == 0) {
        return true;
    }
    struct lanes_context lanes;
    lanes.unary = call.vec.simd->unary[member][sim_vec_lane_of(call.cfg.dtype)];
    sim_vec_run(&call.vec, &call.dst, &call.src, NULL, run_unary, &lanes);
    return true;
}

bool sim_vec_copy(struct sim_core *core, const struct sim_op *op, unsigned member)
{
    (void)member;
    struct vec2_call call;
    if (!begin_vec2(&call, core, op, true)) {
        return false;
    }
    if (call.vec.repeats == 0) {
        return true;
    }
    struct lanes_context lanes;
    lanes.lane_bytes = call.dst.lane_bytes;
    sim_vec_run(&call.vec, &call.dst, &call.src, NULL, run_copy, &lanes);
    return true;
}

bool sim_vec_dup(struct sim_core *core, const struct sim_op *op, unsigned member)
{
    (void)member;
    struct vec2_call call;
    if (!begin_vec2(&call, core, op, false)) {
        return false;
    }
    if (call.vec.repeats == 0) {
        return true;
    }
    struct lanes_context lanes;
    lanes.lane_bytes = call.dst.lane_bytes;
    sim_vec_splat_fill(&lanes.splat, op->c, lanes.lane_bytes,
                       (uint64_t)call.vec.lanes * call.vec.repeats);
    sim_vec_run(&call.vec, &call.dst, NULL, NULL, run_dup, &lanes);
    return true;
}

bool sim_vec_axpy(struct sim_core *core, const struct sim_op *op, unsigned member)
{
    (void)member;
    const struct leo_cfg_vec2 cfg = leo_cfg_vec2_unpack(op->d);
    if (!sim_vec_check_type(core, op, cfg.dtype)) {
        return false;
    }
    if (cfg.mod > 1) {
        return sim_vec_bad_config(core);
    }
    const bool mixed = cfg.mod == 1;
    const uint32_t dst_bytes = mixed ? 4 : sim_vec_type_bytes(cfg.dtype);
    const uint32_t src_bytes = mixed ? 2 : dst_bytes;
    struct sim_vec vec;
    if (!sim_vec_begin(&vec, core, dst_bytes, cfg.repeat)) {
        return false;
    }
    if (vec.repeats == 0) {
        return true;
    }
    struct sim_vec_array dst = sim_vec_array_of(op->a, cfg.dst_blk, cfg.dst_rep, dst_bytes);
    struct sim_vec_array src = sim_vec_array_of(op->b, cfg.src_blk, cfg.src_rep, src_bytes);
    if (!sim_vec_map(&vec, &src) || !sim_vec_map(&vec, &dst)) {
        return false;
    }
    struct lanes_context lanes;
    lanes.scalar = (uint32_t)op->c;
    lanes.axpy = vec.simd->axpy[mixed                        ? SIM_AXPY_MIXED
                                : cfg.dtype == LEO_DTYPE_F16 ? SIM_AXPY_F16
                                                             : SIM_AXPY_F32];
    sim_vec_run(&vec, &dst, &src, &dst, run_axpy, &lanes);
    return true;
}

bool sim_vec_convert(struct sim_core *core, const struct sim_op *op, unsigned member)
{
    (void)member;
    const struct leo_cfg_vcvt cfg = leo_cfg_vcvt_unpack(op->d);
    if (op->sub >= LEO_ROUND_COUNT ||
        !leo_insn_has_convert(core->config->arch, cfg.src_type, cfg.dst_type)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_UB, 0, 0);
    }
    const uint32_t dst_bytes = sim_vec_type_bytes(cfg.dst_type);
    const uint32_t src_bytes = sim_vec_type_bytes(cfg.src_type);
    struct sim_vec vec;
    if (!sim_vec_begin(&vec, core, dst_bytes > src_bytes ? dst_bytes : src_bytes, cfg.repeat)) {
        return false;
    }
    if (vec.repeats == 0) {
        return true;
    }
    struct sim_vec_array dst = sim_vec_array_of(op->a, cfg.dst_blk, cfg.dst_rep, dst_bytes);
    struct sim_vec_array src = sim_vec_array_of(op->b, cfg.src_blk, cfg.src_rep, src_bytes);
    if (!sim_vec_map(&vec, &src) || !sim_vec_map(&vec, &dst)) {
        return false;
    }
    struct lanes_context lanes;
    lanes.vec = &vec;
    lanes.dst_type = cfg.dst_type;
    lanes.src_type = cfg.src_type;
    lanes.round = op->sub;
    sim_vec_run(&vec, &dst, &src, NULL, run_convert, &lanes);
    return true;
}
