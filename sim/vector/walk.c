/* SPDX-License-Identifier: Apache-2.0 */
#include "walk.h"

#include <string.h>

/** Lanes up to the last active one. */
static uint32_t used_lanes(const uint64_t mask[2])
{
    if (mask[1] != 0) {
        return 128 - (uint32_t)__builtin_clzll(mask[1]);
    }
    return mask[0] != 0 ? 64 - (uint32_t)__builtin_clzll(mask[0]) : 0;
}

/** The lowest `lanes` lanes, 0..128. */
static void set_prefix(uint64_t mask[2], uint32_t lanes)
{
    mask[0] = lanes >= 64 ? UINT64_MAX : (UINT64_C(1) << lanes) - 1;
    mask[1] = lanes <= 64 ? 0 : lanes >= 128 ? UINT64_MAX : (UINT64_C(1) << (lanes - 64)) - 1;
}

static bool is_prefix(const uint64_t mask[2], uint32_t used)
{
    uint64_t prefix[2];
    set_prefix(prefix, used);
    return mask[0] == prefix[0] && mask[1] == prefix[1];
}

static bool begin_counter(struct sim_vec *vec, struct sim_core *core)
{
    const uint64_t count = core->vmask[0];
    if (count > core->local[LEO_MEM_SPACE_UB].bytes) {
        return sim_core_fault(core, LEO_FAULT_LOCAL_OUT_OF_RANGE, LEO_MEM_SPACE_UB, 0, count);
    }
    vec->repeats = (uint32_t)((count + vec->lanes - 1) / vec->lanes);
    if (vec->repeats == 0) {
        return true;
    }
    vec->used = vec->lanes;
    vec->used_last = (uint32_t)count - (vec->repeats - 1) * vec->lanes;
    set_prefix(vec->mask, vec->lanes);
    set_prefix(vec->mask_last, vec->used_last);
    vec->dense = true;
    vec->total = count;
    return true;
}

bool sim_vec_begin(struct sim_vec *vec, struct sim_core *core, uint32_t widest, uint32_t repeat)
{
    vec->core = core;
    vec->simd = core->simd->vector;
    vec->lanes = SIM_VEC_REPEAT_BYTES / widest;
    if (core->ctrl & 1) {
        return begin_counter(vec, core);
    }
    set_prefix(vec->mask, vec->lanes);
    vec->mask[0] &= core->vmask[0];
    vec->mask[1] &= core->vmask[1];
    memcpy(vec->mask_last, vec->mask, sizeof(vec->mask));
    vec->used = vec->used_last = used_lanes(vec->mask);
    vec->repeats = vec->used == 0 ? 0 : repeat;
    vec->dense = (vec->used == vec->lanes || repeat == 1) && is_prefix(vec->mask, vec->used);
    vec->total = (uint64_t)vec->used * vec->repeats;
    return true;
}

struct sim_vec_array sim_vec_array_of(uint64_t addr, uint32_t blk, uint32_t rep,
                                      uint32_t lane_bytes)
{
    return (struct sim_vec_array){
        .addr = addr,
        .blk = blk * SIM_VEC_BLOCK_BYTES,
        .rep = rep * SIM_VEC_BLOCK_BYTES,
        .lane_bytes = lane_bytes,
    };
}

/** Bytes from the start of a repeat to the end of its last used lane. */
static uint64_t repeat_extent(const struct sim_vec_array *array, uint32_t used)
{
    const uint32_t per_block = SIM_VEC_BLOCK_BYTES / array->lane_bytes;
    const uint64_t block = (used - 1) / per_block;
    const uint64_t partial = block * array->blk + ((used - 1) % per_block + 1) * array->lane_bytes;
    const uint64_t whole = block > 0 ? (block - 1) * array->blk + SIM_VEC_BLOCK_BYTES : 0;
    return partial > whole ? partial : whole;
}

bool sim_vec_map(const struct sim_vec *vec, struct sim_vec_array *array)
{
    const uint64_t last =
        (uint64_t)(vec->repeats - 1) * array->rep + repeat_extent(array, vec->used_last);
    array->bytes = last;
    if (vec->repeats > 1) {
        const uint64_t other =
            (uint64_t)(vec->repeats - 2) * array->rep + repeat_extent(array, vec->used);
        array->bytes = last > other ? last : other;
    }
    array->data =
        sim_core_local(vec->core, LEO_MEM_SPACE_UB, array->addr, array->bytes, SIM_VEC_BLOCK_BYTES);
    return array->data != NULL;
}

bool sim_vec_is_contiguous(const struct sim_vec *vec, const struct sim_vec_array *array)
{
    const uint32_t bytes = vec->lanes * array->lane_bytes;
    const uint32_t used = vec->repeats == 1 ? vec->used_last : vec->lanes;
    const bool one_block = used * array->lane_bytes <= SIM_VEC_BLOCK_BYTES;
    return (array->blk == SIM_VEC_BLOCK_BYTES || one_block) &&
           (array->rep == bytes || vec->repeats == 1);
}

bool sim_vec_overlap(const uint8_t *a, uint64_t a_bytes, const uint8_t *b, uint64_t b_bytes)
{
    return (uintptr_t)a < (uintptr_t)b + b_bytes && (uintptr_t)b < (uintptr_t)a + a_bytes;
}

const uint8_t *sim_vec_lanes(const struct sim_vec_array *array, uint32_t repeat, uint32_t used,
                             uint8_t *buffer)
{
    const uint8_t *from = array->data + (uint64_t)repeat * array->rep;
    uint32_t left = used * array->lane_bytes;
    if (array->blk == SIM_VEC_BLOCK_BYTES || left <= SIM_VEC_BLOCK_BYTES) {
        return from;
    }
    for (uint8_t *to = buffer; left != 0; to += SIM_VEC_BLOCK_BYTES, from += array->blk) {
        const uint32_t bytes = left < SIM_VEC_BLOCK_BYTES ? left : SIM_VEC_BLOCK_BYTES;
        memcpy(to, from, bytes);
        left -= bytes;
    }
    return buffer;
}

/** Writes the first `used` lanes of `buffer` to a repeat. */
static void scatter_all(const struct sim_vec_array *array, uint32_t repeat, uint32_t used,
                        const uint8_t *buffer)
{
    uint8_t *to = array->data + (uint64_t)repeat * array->rep;
    uint32_t left = used * array->lane_bytes;
    if (array->blk == SIM_VEC_BLOCK_BYTES) {
        memcpy(to, buffer, left);
        return;
    }
    for (; left != 0; to += array->blk, buffer += SIM_VEC_BLOCK_BYTES) {
        const uint32_t bytes = left < SIM_VEC_BLOCK_BYTES ? left : SIM_VEC_BLOCK_BYTES;
        memcpy(to, buffer, bytes);
        left -= bytes;
    }
}

/** Writes the active ones of the first `used` lanes of `buffer` to a repeat, one by one: strides
 * may be 0. */
static void scatter_active(const struct sim_vec_array *array, uint32_t repeat,
                           const uint64_t mask[2], uint32_t used, const uint8_t *buffer)
{
    uint8_t *to = array->data + (uint64_t)repeat * array->rep;
    const uint32_t lane_bytes = array->lane_bytes;
    const uint32_t per_block = SIM_VEC_BLOCK_BYTES / lane_bytes;
    for (uint32_t lane = 0; lane < used; lane++) {
        if (sim_vec_is_active(mask, lane)) {
            memcpy(to + (uint64_t)(lane / per_block) * array->blk + lane % per_block * lane_bytes,
                   buffer + lane * lane_bytes, lane_bytes);
        }
    }
}

/** Writes the active ones of the first `used` lanes of `buffer` to a repeat. */
static void scatter(const struct sim_vec *vec, const struct sim_vec_array *array, uint32_t repeat,
                    const uint64_t mask[2], uint32_t used, const uint8_t *buffer)
{
    if (is_prefix(mask, used)) {
        scatter_all(array, repeat, used, buffer);
        return;
    }
    const bool has_select = array->lane_bytes == 2 || array->lane_bytes == 4;
    if (!has_select || array->blk == 0) {
        scatter_active(array, repeat, mask, used, buffer);
        return;
    }
    _Alignas(64) uint8_t gathered[SIM_VEC_REPEAT_BYTES], mixed[SIM_VEC_REPEAT_BYTES];
    const uint8_t *old = sim_vec_lanes(array, repeat, used, gathered);
    const sim_select_fn select = array->lane_bytes == 2 ? vec->simd->select16 : vec->simd->select32;
    select(mixed, (const uint8_t *)mask, buffer, old, used);
    scatter_all(array, repeat, used, mixed);
}

/** Whether computing all of dst at once reads src as repeat by repeat would. */
static bool is_safe_at_once(const struct sim_vec_array *dst, const struct sim_vec_array *src)
{
    const bool same = dst->data == src->data && dst->lane_bytes == src->lane_bytes;
    return same || !sim_vec_overlap(dst->data, dst->bytes, src->data, src->bytes);
}

void sim_vec_run(const struct sim_vec *vec, const struct sim_vec_array *dst,
                 const struct sim_vec_array *a, const struct sim_vec_array *b,
                 sim_vec_kernel_fn kernel, void *context)
{
    const bool a_runs = a == NULL || (sim_vec_is_contiguous(vec, a) && is_safe_at_once(dst, a));
    const bool b_runs = b == NULL || (sim_vec_is_contiguous(vec, b) && is_safe_at_once(dst, b));
    if (vec->dense && a_runs && b_runs && sim_vec_is_contiguous(vec, dst)) {
        kernel(context, dst->data, a != NULL ? a->data : NULL, b != NULL ? b->data : NULL, 0,
               vec->total);
        return;
    }
    _Alignas(64) uint8_t buffer[3][SIM_VEC_REPEAT_BYTES];
    for (uint32_t repeat = 0; repeat < vec->repeats; repeat++) {
        const bool last = repeat == vec->repeats - 1;
        const uint32_t used = last ? vec->used_last : vec->used;
        const uint64_t *mask = last ? vec->mask_last : vec->mask;
        const uint8_t *left = a != NULL ? sim_vec_lanes(a, repeat, used, buffer[0]) : NULL;
        const uint8_t *right = b != NULL ? sim_vec_lanes(b, repeat, used, buffer[1]) : NULL;
        kernel(context, buffer[2], left, right, (uint64_t)repeat * vec->lanes, used);
        scatter(vec, dst, repeat, mask, used, buffer[2]);
    }
}
