/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to global memory that combine with what is there (HW-DMA-06). */
#include "mte.h"

#include "core/saturate.h"
#include "number/number.h"
#include "simd/simd.h"
#include "simd/simd_vector.h"

#define CHUNK_BYTES 512u

static void add_s8(void *dst, const void *a, const void *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ((uint8_t *)dst)[i] = (uint8_t)(((const uint8_t *)a)[i] + ((const uint8_t *)b)[i]);
    }
}

static void max_s8(void *dst, const void *a, const void *b, size_t count)
{
    const int8_t *x = a, *y = b;
    for (size_t i = 0; i < count; i++) {
        ((int8_t *)dst)[i] = x[i] > y[i] ? x[i] : y[i];
    }
}

static void min_s8(void *dst, const void *a, const void *b, size_t count)
{
    const int8_t *x = a, *y = b;
    for (size_t i = 0; i < count; i++) {
        ((int8_t *)dst)[i] = x[i] < y[i] ? x[i] : y[i];
    }
}

static float add_real(float a, float b)
{
    return a + b;
}

static void each_bf16(void *dst, const void *a, const void *b, size_t count,
                      float (*combine)(float, float))
{
    const uint16_t *x = a, *y = b;
    for (size_t i = 0; i < count; i++) {
        ((uint16_t *)dst)[i] = sim_number_f32_to_bf16(
            combine(sim_number_bf16_to_f32(x[i]), sim_number_bf16_to_f32(y[i])), LEO_ROUND_RINT);
    }
}

static void add_bf16(void *dst, const void *a, const void *b, size_t count)
{
    each_bf16(dst, a, b, count, add_real);
}

static void max_bf16(void *dst, const void *a, const void *b, size_t count)
{
    each_bf16(dst, a, b, count, sim_number_max);
}

static void min_bf16(void *dst, const void *a, const void *b, size_t count)
{
    each_bf16(dst, a, b, count, sim_number_min);
}

static const struct {
    uint8_t bytes;
    int8_t lane;              /**< of the vector unit, whose arithmetic it is; -1: own */
    sim_binary_fn combine[3]; /**< add, max, min */
} types[LEO_ATOMIC_TYPE_COUNT] = {
    [LEO_ATOMIC_TYPE_F32] = {4, SIM_LANE_F32, {NULL}},
    [LEO_ATOMIC_TYPE_F16] = {2, SIM_LANE_F16, {NULL}},
    [LEO_ATOMIC_TYPE_S16] = {2, SIM_LANE_S16, {NULL}},
    [LEO_ATOMIC_TYPE_S32] = {4, SIM_LANE_S32, {NULL}},
    [LEO_ATOMIC_TYPE_S8] = {1, -1, {add_s8, max_s8, min_s8}},
    [LEO_ATOMIC_TYPE_BF16] = {2, -1, {add_bf16, max_bf16, min_bf16}},
};

static uint32_t infinity_of(enum leo_atomic_type type)
{
    return sim_infinity_of(type == LEO_ATOMIC_TYPE_F32    ? LEO_DTYPE_F32
                           : type == LEO_ATOMIC_TYPE_F16  ? LEO_DTYPE_F16
                           : type == LEO_ATOMIC_TYPE_BF16 ? LEO_DTYPE_BF16
                                                          : LEO_DTYPE_S32);
}

bool mte_atomic_choose(const struct sim_simd *simd, unsigned kind, unsigned type,
                       struct mte_atomic *atomic)
{
    static const enum sim_binary members[] = {SIM_BINARY_ADD, SIM_BINARY_MAX, SIM_BINARY_MIN};
    *atomic = (struct mte_atomic){0};
    if (kind == LEO_ATOMIC_NONE || kind >= LEO_ATOMIC_COUNT || type >= LEO_ATOMIC_TYPE_COUNT) {
        return false;
    }
    const int lane = types[type].lane;
    const unsigned which = kind - 1u;
    atomic->bytes = types[type].bytes;
    atomic->combine =
        lane < 0 ? types[type].combine[which] : simd->vector->binary[members[which]][lane];
    return true;
}

bool mte_atomic_open(struct sim_core *core, uint64_t bytes, struct mte_atomic *atomic)
{
    const struct leo_cfg_ctrl ctrl = leo_cfg_ctrl_unpack(core->ctrl);
    *atomic = (struct mte_atomic){0};
    if (ctrl.atomic == LEO_ATOMIC_NONE) {
        return true;
    }
    if (!mte_atomic_choose(core->simd, ctrl.atomic, ctrl.atomic_type, atomic) ||
        bytes % atomic->bytes != 0) {
        return mte_bad_config(core, core->ctrl);
    }
    atomic->core = core;
    if (ctrl.atomic == LEO_ATOMIC_ADD && ctrl.saturate) {
        atomic->infinity = infinity_of(ctrl.atomic_type);
    }
    return true;
}

static void combine(const struct mte_atomic *atomic, uint8_t *dst, const uint8_t *src,
                    uint64_t bytes)
{
    atomic->combine(dst, dst, src, bytes / atomic->bytes);
    if (atomic->infinity) {
        sim_core_saturate(atomic->core, atomic->infinity, dst, bytes / atomic->bytes, NULL);
    }
}

void mte_atomic_write(const struct mte_atomic *atomic, uint8_t *dst, const uint8_t *src,
                      uint64_t bytes)
{
    if (((uintptr_t)dst | (uintptr_t)src) % atomic->bytes == 0) {
        combine(atomic, dst, src, bytes);
        return;
    }
    // Global memory may start at any byte, the loops want whole elements.
    _Alignas(64) uint8_t old[CHUNK_BYTES], with[CHUNK_BYTES];
    for (uint64_t at = 0; at < bytes; at += CHUNK_BYTES) {
        const uint64_t part = bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES;
        memcpy(old, dst + at, part);
        memcpy(with, src + at, part);
        combine(atomic, old, with, part);
        memcpy(dst + at, old, part);
    }
}
