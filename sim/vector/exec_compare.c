/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons to packed bits, and selection by such bits. */
#include "exec_vector.h"

#include <string.h>

struct select_context {
    const struct sim_vec *vec;
    sim_select_fn select;
    const uint8_t *bits;
    bool same_bits; /**< every repeat uses the first bits */
    bool with_scalar;
    uint32_t lane_bytes;
    struct sim_vec_splat splat;
};

static void run_select(void *context, void *dst, const void *a, const void *b, uint64_t first,
                       size_t count)
{
    const struct select_context *select = context;
    const uint32_t lanes = select->vec->lanes;
    for (size_t done = 0; done < count;) {
        const size_t part = count - done < lanes ? count - done : lanes;
        const size_t offset = done * select->lane_bytes;
        const uint8_t *bits = select->bits + (select->same_bits ? 0 : (first + done) / 8);
        const void *other = select->with_scalar ? select->splat.bytes : (const uint8_t *)b + offset;
        select->select((uint8_t *)dst + offset, bits, (const uint8_t *)a + offset, other, part);
        done += part;
    }
}

/** Bytes of continuous bits from the first lane to the last active one. */
static uint64_t bit_bytes(const struct sim_vec *vec)
{
    return ((uint64_t)(vec->repeats - 1) * vec->lanes + vec->used_last + 7) / 8;
}

bool sim_vec_select(struct sim_core *core, const struct sim_op *op, unsigned member)
{
    (void)member;
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    if (!sim_vec_check_type(core, op, cfg.dtype)) {
        return false;
    }
    if (cfg.mod > 2) {
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
    struct select_context context;
    context.vec = &vec;
    context.select = bytes == 2 ? vec.simd->select16 : vec.simd->select32;
    context.lane_bytes = bytes;
    context.same_bits = cfg.mod == 0;
    context.with_scalar = cfg.mod == 1;
    context.bits = (const uint8_t *)core->cmpmask;
    if (cfg.mod != 0) {
        context.bits = sim_core_local(core, LEO_MEM_SPACE_UB, core->selmask_addr, bit_bytes(&vec),
                                      SIM_VEC_BLOCK_BYTES);
        if (context.bits == NULL) {
            return false;
        }
    }
    struct sim_vec_array dst = sim_vec_array_of(op->a, cfg.dst_blk, cfg.dst_rep, bytes);
    struct sim_vec_array a = sim_vec_array_of(op->b, cfg.src0_blk, cfg.src0_rep, bytes);
    struct sim_vec_array b = sim_vec_array_of(op->c, cfg.src1_blk, cfg.src1_rep, bytes);
    if (context.with_scalar) {
        sim_vec_splat_fill(&context.splat, op->c, bytes, vec.lanes);
    } else if (!sim_vec_map(&vec, &b)) {
        return false;
    }
    if (!sim_vec_map(&vec, &a) || !sim_vec_map(&vec, &dst)) {
        return false;
    }
    sim_vec_run(&vec, &dst, &a, context.with_scalar ? NULL : &b, run_select, &context);
    return true;
}

/** A comparison with mapped sources; b NULL = the splat. */
struct compare_call {
    struct sim_vec vec;
    struct sim_vec_array a, b;
    sim_compare_fn compare;
    const struct sim_vec_splat *splat;
};

static void compare_repeat(const struct compare_call *call, uint32_t repeat, uint64_t bits[2])
{
    _Alignas(64) uint8_t buffer[2][SIM_VEC_REPEAT_BYTES];
    const struct sim_vec *vec = &call->vec;
    const uint32_t used = repeat == vec->repeats - 1 ? vec->used_last : vec->used;
    const uint8_t *a = sim_vec_lanes(&call->a, repeat, used, buffer[0]);
    const uint8_t *b =
        call->splat != NULL ? call->splat->bytes : sim_vec_lanes(&call->b, repeat, used, buffer[1]);
    bits[0] = bits[1] = 0;
    call->compare((uint8_t *)bits, a, b, used);
}

static void merge_masked(uint64_t *word, uint64_t bits, uint64_t mask)
{
    *word = (*word & ~mask) | (bits & mask);
}

/** Packs the bits of all repeats one after the other at dst. */
static void compare_to_memory(const struct compare_call *call, uint8_t *dst)
{
    const struct sim_vec *vec = &call->vec;
    const uint32_t step = vec->lanes / 8;
    for (uint32_t repeat = 0; repeat < vec->repeats; repeat++) {
        const bool last = repeat == vec->repeats - 1;
        const uint64_t *mask = last ? vec->mask_last : vec->mask;
        uint64_t bits[2], old[2] = {0};
        compare_repeat(call, repeat, bits);
        uint8_t *to = dst + (uint64_t)repeat * step;
        const size_t bytes = ((last ? vec->used_last : vec->used) + 7) / 8;
        memcpy(old, to, bytes);
        merge_masked(&old[0], bits[0], mask[0]);
        merge_masked(&old[1], bits[1], mask[1]);
        memcpy(to, old, bytes);
    }
}

static bool run_compare(struct compare_call *call, uint64_t dst_addr)
{
    struct sim_vec *vec = &call->vec;
    const uint64_t bytes = bit_bytes(vec);
    uint8_t *dst =
        sim_core_local(vec->core, LEO_MEM_SPACE_UB, dst_addr, bytes, SIM_VEC_BLOCK_BYTES);
    if (dst == NULL || !sim_vec_map(vec, &call->a) ||
        (call->splat == NULL && !sim_vec_map(vec, &call->b))) {
        return false;
    }
    const bool at_once = vec->dense && call->splat == NULL && vec->total % 8 == 0 &&
                         sim_vec_is_contiguous(vec, &call->a) &&
                         sim_vec_is_contiguous(vec, &call->b) &&
                         !sim_vec_overlap(dst, bytes, call->a.data, call->a.bytes) &&
                         !sim_vec_overlap(dst, bytes, call->b.data, call->b.bytes);
    if (at_once) {
        call->compare(dst, call->a.data, call->b.data, vec->total);
    } else {
        compare_to_memory(call, dst);
    }
    return true;
}

static bool begin_compare(struct compare_call *call, struct sim_core *core, const struct sim_op *op,
                          unsigned dtype, unsigned condition, uint32_t repeat)
{
    if (!sim_vec_check_type(core, op, dtype)) {
        return false;
    }
    if (condition >= LEO_COND_COUNT) {
        return sim_vec_bad_config(core);
    }
    call->splat = NULL;
    call->compare = core->simd->vector->compare[condition][sim_vec_lane_of(dtype)];
    return sim_vec_begin(&call->vec, core, sim_vec_type_bytes(dtype), repeat);
}

bool sim_vec_compare(struct sim_core *core, const struct sim_op *op, unsigned member)
{
    (void)member;
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    struct compare_call call;
    if (!begin_compare(&call, core, op, cfg.dtype, cfg.mod, cfg.repeat)) {
        return false;
    }
    if (call.vec.repeats == 0) {
        return true;
    }
    const uint32_t bytes = sim_vec_type_bytes(cfg.dtype);
    call.a = sim_vec_array_of(op->b, cfg.src0_blk, cfg.src0_rep, bytes);
    call.b = sim_vec_array_of(op->c, cfg.src1_blk, cfg.src1_rep, bytes);
    return run_compare(&call, op->a);
}

bool sim_vec_compare_scalar(struct sim_core *core, const struct sim_op *op, unsigned member)
{
    (void)member;
    const struct leo_cfg_vec2 cfg = leo_cfg_vec2_unpack(op->d);
    struct compare_call call;
    if (!begin_compare(&call, core, op, cfg.dtype, cfg.mod, cfg.repeat)) {
        return false;
    }
    if (call.vec.repeats == 0) {
        return true;
    }
    const uint32_t bytes = sim_vec_type_bytes(cfg.dtype);
    struct sim_vec_splat splat;
    sim_vec_splat_fill(&splat, op->c, bytes, call.vec.lanes);
    call.splat = &splat;
    call.a = sim_vec_array_of(op->b, cfg.src_blk, cfg.src_rep, bytes);
    return run_compare(&call, op->a);
}

bool sim_vec_compare_to_csr(struct sim_core *core, const struct sim_op *op, unsigned member)
{
    (void)member;
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    struct compare_call call;
    if (!begin_compare(&call, core, op, cfg.dtype, cfg.mod, cfg.repeat)) {
        return false;
    }
    if (call.vec.repeats == 0) {
        return true;
    }
    const uint32_t bytes = sim_vec_type_bytes(cfg.dtype);
    call.a = sim_vec_array_of(op->b, cfg.src0_blk, cfg.src0_rep, bytes);
    call.b = sim_vec_array_of(op->c, cfg.src1_blk, cfg.src1_rep, bytes);
    if (!sim_vec_map(&call.vec, &call.a) || !sim_vec_map(&call.vec, &call.b)) {
        return false;
    }
    for (uint32_t repeat = 0; repeat < call.vec.repeats; repeat++) { // the last one stays
        const uint64_t *mask = repeat == call.vec.repeats - 1 ? call.vec.mask_last : call.vec.mask;
        uint64_t bits[2];
        compare_repeat(&call, repeat, bits);
        merge_masked(&core->cmpmask[0], bits[0], mask[0]);
        merge_masked(&core->cmpmask[1], bits[1], mask[1]);
    }
    return true;
}
