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
    const uint32_t lanes = select->vec->lanes.count;
    for (size_t done = 0; done < count;) {
        const size_t part = count - done < lanes ? count - done : lanes;
        const size_t offset = done * select->lane_bytes;
        // Results may lie over the bits: those of a repeat are read before it writes.
        uint8_t bits[SIM_VEC_REPEAT_BYTES / 2 / 8] = {0};
        memcpy(bits, select->bits + (select->same_bits ? 0 : (first + done) / 8), (part + 7) / 8);
        const void *other = select->with_scalar ? select->splat.bytes : (const uint8_t *)b + offset;
        select->select((uint8_t *)dst + offset, bits, (const uint8_t *)a + offset, other, part);
        done += part;
    }
}

bool sim_vec_select(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    const struct sim_vec vec = sim_vec_of(core, op);
    const struct sim_vec_array dst = sim_vec_array_of(op, SIM_OPERAND_A),
                               a = sim_vec_array_of(op, SIM_OPERAND_B),
                               b = sim_vec_array_of(op, SIM_OPERAND_C);
    struct select_context context;
    context.vec = &vec;
    context.select = dst.lane_bytes == 2 ? vec.simd->select16 : vec.simd->select32;
    context.lane_bytes = dst.lane_bytes;
    context.same_bits = cfg.mod == 0;
    context.with_scalar = cfg.mod == 1;
    context.bits =
        cfg.mod == 0 ? (const uint8_t *)core->cmpmask : op->foot->span[SIM_OPERAND_EXTRA].host;
    if (context.with_scalar) {
        sim_vec_splat_fill(&context.splat, op->c, dst.lane_bytes, vec.lanes.count);
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
    const uint32_t used = repeat == vec->lanes.repeats - 1 ? vec->lanes.used_last : vec->lanes.used;
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
    const uint32_t step = vec->lanes.count / 8;
    for (uint32_t repeat = 0; repeat < vec->lanes.repeats; repeat++) {
        const bool last = repeat == vec->lanes.repeats - 1;
        const uint64_t *mask = last ? vec->lanes.mask_last : vec->lanes.mask;
        uint64_t bits[2], old[2] = {0};
        compare_repeat(call, repeat, bits);
        uint8_t *to = dst + (uint64_t)repeat * step;
        const size_t bytes = ((last ? vec->lanes.used_last : vec->lanes.used) + 7) / 8;
        memcpy(old, to, bytes);
        merge_masked(&old[0], bits[0], mask[0]);
        merge_masked(&old[1], bits[1], mask[1]);
        memcpy(to, old, bytes);
    }
}

static bool run_compare(struct compare_call *call, const struct sim_op *op)
{
    struct sim_vec *vec = &call->vec;
    const struct sim_span *bits = &op->foot->span[SIM_OPERAND_A];
    const bool at_once = vec->lanes.dense && call->splat == NULL && vec->lanes.total % 8 == 0 &&
                         sim_vec_is_contiguous(vec, &call->a) &&
                         sim_vec_is_contiguous(vec, &call->b) &&
                         !sim_vec_overlap(bits->host, bits->bytes, call->a.data, call->a.bytes) &&
                         !sim_vec_overlap(bits->host, bits->bytes, call->b.data, call->b.bytes);
    if (at_once) {
        call->compare(bits->host, call->a.data, call->b.data, vec->lanes.total);
    } else {
        compare_to_memory(call, bits->host);
    }
    return true;
}

static struct compare_call compare_of(struct sim_core *core, const struct sim_op *op,
                                      unsigned dtype, unsigned condition)
{
    return (struct compare_call){
        .vec = sim_vec_of(core, op),
        .a = sim_vec_array_of(op, SIM_OPERAND_B),
        .b = sim_vec_array_of(op, SIM_OPERAND_C),
        .compare = core->simd->vector->compare[condition][sim_vec_lane_of(dtype)],
    };
}

bool sim_vec_compare(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    struct compare_call call = compare_of(core, op, cfg.dtype, cfg.mod);
    return run_compare(&call, op);
}

bool sim_vec_compare_scalar(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_vec2 cfg = leo_cfg_vec2_unpack(op->d);
    struct compare_call call = compare_of(core, op, cfg.dtype, cfg.mod);
    struct sim_vec_splat splat;
    sim_vec_splat_fill(&splat, op->c, call.a.lane_bytes, call.vec.lanes.count);
    call.splat = &splat;
    return run_compare(&call, op);
}

bool sim_vec_compare_to_csr(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    const struct compare_call call = compare_of(core, op, cfg.dtype, cfg.mod);
    const struct sim_lanes *lanes = &call.vec.lanes;
    for (uint32_t repeat = 0; repeat < lanes->repeats; repeat++) { // the last one stays
        const uint64_t *mask = repeat == lanes->repeats - 1 ? lanes->mask_last : lanes->mask;
        uint64_t bits[2];
        compare_repeat(&call, repeat, bits);
        merge_masked(&core->cmpmask[0], bits[0], mask[0]);
        merge_masked(&core->cmpmask[1], bits[1], mask[1]);
    }
    return true;
}
