/* SPDX-License-Identifier: Apache-2.0 */
#include "walk.h"

#include "../core/saturate.h"
#include <string.h>

void sim_vec_set_prefix(uint64_t mask[2], uint32_t lanes)
{
    mask[0] = lanes >= 64 ? UINT64_MAX : (UINT64_C(1) << lanes) - 1;
    mask[1] = lanes <= 64 ? 0 : lanes >= 128 ? UINT64_MAX : (UINT64_C(1) << (lanes - 64)) - 1;
}

bool sim_vec_is_prefix(const uint64_t mask[2], uint32_t used)
{
    uint64_t prefix[2];
    sim_vec_set_prefix(prefix, used);
    return mask[0] == prefix[0] && mask[1] == prefix[1];
}

struct sim_vec sim_vec_of(struct sim_core *core, const struct sim_op *op)
{
    return (struct sim_vec){.core = core, .simd = core->simd->vector, .lanes = op->foot->lanes};
}

struct sim_vec_array sim_vec_array_of(const struct sim_op *op, enum sim_operand at)
{
    const struct sim_span *span = &op->foot->span[at];
    return (struct sim_vec_array){
        .rep = (uint32_t)span->level[0].step,
        .blk = (uint32_t)span->level[1].step,
        .lane_bytes = span->lane_bytes,
        .data = span->host,
        .bytes = span->extent,
    };
}

bool sim_vec_is_contiguous(const struct sim_vec *vec, const struct sim_vec_array *array)
{
    const uint32_t bytes = vec->lanes.count * array->lane_bytes;
    const uint32_t used = vec->lanes.repeats == 1 ? vec->lanes.used_last : vec->lanes.count;
    const bool one_block = used * array->lane_bytes <= SIM_VEC_BLOCK_BYTES;
    return (array->blk == SIM_VEC_BLOCK_BYTES || one_block) &&
           (array->rep == bytes || vec->lanes.repeats == 1);
}

bool sim_vec_overlap(const uint8_t *a, uint64_t a_bytes, const uint8_t *b, uint64_t b_bytes)
{
    return (uintptr_t)a < (uintptr_t)b + b_bytes && (uintptr_t)b < (uintptr_t)a + a_bytes;
}

/** Whether the lanes of a repeat lie side by side. */
static bool is_run(const struct sim_vec_array *array, uint32_t used)
{
    return array->blk == SIM_VEC_BLOCK_BYTES || used * array->lane_bytes <= SIM_VEC_BLOCK_BYTES;
}

const uint8_t *sim_vec_lanes(const struct sim_vec_array *array, uint32_t repeat, uint32_t used,
                             uint8_t *buffer)
{
    const uint8_t *from = array->data + (uint64_t)repeat * array->rep;
    uint32_t left = used * array->lane_bytes;
    if (is_run(array, used)) {
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
    if (sim_vec_is_prefix(mask, used)) {
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

static bool is_apart(const struct sim_vec_array *dst, const struct sim_vec_array *src)
{
    return !sim_vec_overlap(dst->data, dst->bytes, src->data, src->bytes);
}

/** Whether computing all of dst at once reads src as repeat by repeat would. */
static bool is_safe_at_once(const struct sim_vec_array *dst, const struct sim_vec_array *src)
{
    const bool same = dst->data == src->data && dst->lane_bytes == src->lane_bytes;
    return same || is_apart(dst, src);
}

/** Whether a repeat written at `to` lane by lane changes no lane of `from` that is still to be
 * read. */
static bool is_lane_by_lane(const struct sim_vec_array *dst, const uint8_t *to,
                            const struct sim_vec_array *src, const uint8_t *from, uint32_t used)
{
    return src == NULL || (to == from && dst->lane_bytes == src->lane_bytes) ||
           !sim_vec_overlap(to, (uint64_t)used * dst->lane_bytes, from,
                            (uint64_t)used * src->lane_bytes);
}

void sim_vec_saturates(struct sim_vec *vec, enum leo_dtype type)
{
    vec->infinity = sim_core_saturates(vec->core) ? sim_infinity_of(type) : 0;
}

void sim_vec_run(const struct sim_vec *vec, const struct sim_vec_array *dst,
                 const struct sim_vec_array *a, const struct sim_vec_array *b,
                 sim_vec_kernel_fn kernel, void *context)
{
    const bool a_runs = a == NULL || (sim_vec_is_contiguous(vec, a) && is_safe_at_once(dst, a));
    const bool b_runs = b == NULL || (sim_vec_is_contiguous(vec, b) && is_safe_at_once(dst, b));
    if (vec->lanes.dense && a_runs && b_runs && sim_vec_is_contiguous(vec, dst)) {
        kernel(context, dst->data, a != NULL ? a->data : NULL, b != NULL ? b->data : NULL, 0,
               vec->lanes.total);
        if (vec->infinity) {
            sim_core_saturate(vec->core, vec->infinity, dst->data, vec->lanes.total, NULL);
        }
        return;
    }
    _Alignas(64) uint8_t buffer[3][SIM_VEC_REPEAT_BYTES];
    // A block that every repeat takes again and that nothing writes is gathered once.
    const uint8_t *steady = NULL;
    if (b != NULL && b->blk == 0 && b->rep == 0 && is_apart(dst, b)) {
        const bool only = vec->lanes.repeats == 1;
        steady = sim_vec_lanes(b, 0, only ? vec->lanes.used_last : vec->lanes.used, buffer[1]);
    }
    for (uint32_t repeat = 0; repeat < vec->lanes.repeats; repeat++) {
        const bool last = repeat == vec->lanes.repeats - 1;
        const uint32_t used = last ? vec->lanes.used_last : vec->lanes.used;
        const uint64_t *mask = last ? vec->lanes.mask_last : vec->lanes.mask;
        const uint8_t *left = a != NULL ? sim_vec_lanes(a, repeat, used, buffer[0]) : NULL;
        const uint8_t *right = steady      ? steady
                               : b != NULL ? sim_vec_lanes(b, repeat, used, buffer[1])
                                           : NULL;
        uint8_t *to = dst->data + (uint64_t)repeat * dst->rep;
        const bool in_place = is_run(dst, used) && sim_vec_is_prefix(mask, used) &&
                              is_lane_by_lane(dst, to, a, left, used) &&
                              is_lane_by_lane(dst, to, b, right, used);
        if (!in_place) {
            to = buffer[2];
            if (vec->keeps_dst) {
                const uint8_t *old = sim_vec_lanes(dst, repeat, used, to);
                if (old != to) {
                    memcpy(to, old, (size_t)used * dst->lane_bytes);
                }
            }
        }
        kernel(context, to, left, right, (uint64_t)repeat * vec->lanes.count, used);
        if (vec->infinity) {
            sim_core_saturate(vec->core, vec->infinity, to, used, mask);
        }
        if (!in_place) {
            scatter(vec, dst, repeat, mask, used, to);
        }
    }
}
