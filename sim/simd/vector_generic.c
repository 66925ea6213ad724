/* SPDX-License-Identifier: Apache-2.0 */
/* The truth the other paths are tested against: one lane at a time, formats from integers, float +
 * - * / sqrt fma. */
#include "simd_vector.h"

#include "../number/number.h"
#include "vector_plain.h"
#include <math.h>
#include <stdbool.h>

#define INLINE static inline __attribute__((always_inline))

INLINE float load16(const void *src, size_t i)
{
    return sim_number_f16_to_f32(((const uint16_t *)src)[i]);
}

INLINE uint16_t to16(float value)
{
    return sim_number_f32_to_f16(value, LEO_ROUND_RINT);
}

/* One lane of each operation. f16 lanes compute in f32 and round once. */
INLINE float add(float a, float b)
{
    return sim_number_canonical(a + b);
}

INLINE float sub(float a, float b)
{
    return sim_number_canonical(a - b);
}

INLINE float mul(float a, float b)
{
    return sim_number_canonical(a * b);
}

INLINE float divide(float a, float b)
{
    return sim_number_canonical(a / b);
}

INLINE float absolute(float a)
{
    return sim_number_canonical(fabsf(a));
}

INLINE float relu(float a)
{
    return sim_number_max(a, 0.0f);
}

INLINE float addrelu(float a, float b)
{
    return relu(a + b);
}

INLINE float subrelu(float a, float b)
{
    return relu(a - b);
}

INLINE float lrelu(float a, float b)
{
    return sim_number_canonical(a < 0 ? a * b : a);
}

INLINE void map2_f16(void *dst, const void *a, const void *b, size_t count,
                     float (*op)(float, float))
{
    for (size_t i = 0; i < count; i++) {
        ((uint16_t *)dst)[i] = to16(op(load16(a, i), load16(b, i)));
    }
}

INLINE void map2_f32(void *dst, const void *a, const void *b, size_t count,
                     float (*op)(float, float))
{
    for (size_t i = 0; i < count; i++) {
        ((float *)dst)[i] = op(((const float *)a)[i], ((const float *)b)[i]);
    }
}

INLINE void map1_f16(void *dst, const void *src, size_t count, float (*op)(float))
{
    for (size_t i = 0; i < count; i++) {
        ((uint16_t *)dst)[i] = to16(op(load16(src, i)));
    }
}

INLINE void map1_f32(void *dst, const void *src, size_t count, float (*op)(float))
{
    for (size_t i = 0; i < count; i++) {
        ((float *)dst)[i] = op(((const float *)src)[i]);
    }
}

static void add_f16(void *dst, const void *a, const void *b, size_t count)
{
    map2_f16(dst, a, b, count, add);
}

static void add_f32(void *dst, const void *a, const void *b, size_t count)
{
    map2_f32(dst, a, b, count, add);
}

static void sub_f16(void *dst, const void *a, const void *b, size_t count)
{
    map2_f16(dst, a, b, count, sub);
}

static void sub_f32(void *dst, const void *a, const void *b, size_t count)
{
    map2_f32(dst, a, b, count, sub);
}

static void mul_f16(void *dst, const void *a, const void *b, size_t count)
{
    map2_f16(dst, a, b, count, mul);
}

static void mul_f32(void *dst, const void *a, const void *b, size_t count)
{
    map2_f32(dst, a, b, count, mul);
}

static void div_f16(void *dst, const void *a, const void *b, size_t count)
{
    map2_f16(dst, a, b, count, divide);
}

static void div_f32(void *dst, const void *a, const void *b, size_t count)
{
    map2_f32(dst, a, b, count, divide);
}

static void max_f16(void *dst, const void *a, const void *b, size_t count)
{
    map2_f16(dst, a, b, count, sim_number_max);
}

static void max_f32(void *dst, const void *a, const void *b, size_t count)
{
    map2_f32(dst, a, b, count, sim_number_max);
}

static void min_f16(void *dst, const void *a, const void *b, size_t count)
{
    map2_f16(dst, a, b, count, sim_number_min);
}

static void min_f32(void *dst, const void *a, const void *b, size_t count)
{
    map2_f32(dst, a, b, count, sim_number_min);
}

static void addrelu_f16(void *dst, const void *a, const void *b, size_t count)
{
    map2_f16(dst, a, b, count, addrelu);
}

static void addrelu_f32(void *dst, const void *a, const void *b, size_t count)
{
    map2_f32(dst, a, b, count, addrelu);
}

static void subrelu_f16(void *dst, const void *a, const void *b, size_t count)
{
    map2_f16(dst, a, b, count, subrelu);
}

static void subrelu_f32(void *dst, const void *a, const void *b, size_t count)
{
    map2_f32(dst, a, b, count, subrelu);
}

static void lrelu_f16(void *dst, const void *a, const void *b, size_t count)
{
    map2_f16(dst, a, b, count, lrelu);
}

static void lrelu_f32(void *dst, const void *a, const void *b, size_t count)
{
    map2_f32(dst, a, b, count, lrelu);
}

static void abs_f16(void *dst, const void *src, size_t count)
{
    map1_f16(dst, src, count, absolute);
}

static void abs_f32(void *dst, const void *src, size_t count)
{
    map1_f32(dst, src, count, absolute);
}

static void relu_f16(void *dst, const void *src, size_t count)
{
    map1_f16(dst, src, count, relu);
}

static void relu_f32(void *dst, const void *src, size_t count)
{
    map1_f32(dst, src, count, relu);
}

static void exp_f16(void *dst, const void *src, size_t count)
{
    map1_f16(dst, src, count, sim_number_exp);
}

static void exp_f32(void *dst, const void *src, size_t count)
{
    map1_f32(dst, src, count, sim_number_exp);
}

static void ln_f16(void *dst, const void *src, size_t count)
{
    map1_f16(dst, src, count, sim_number_ln);
}

static void ln_f32(void *dst, const void *src, size_t count)
{
    map1_f32(dst, src, count, sim_number_ln);
}

static void sqrt_f16(void *dst, const void *src, size_t count)
{
    map1_f16(dst, src, count, sim_number_sqrt);
}

static void sqrt_f32(void *dst, const void *src, size_t count)
{
    map1_f32(dst, src, count, sim_number_sqrt);
}

static void rsqrt_f16(void *dst, const void *src, size_t count)
{
    map1_f16(dst, src, count, sim_number_rsqrt);
}

static void rsqrt_f32(void *dst, const void *src, size_t count)
{
    map1_f32(dst, src, count, sim_number_rsqrt);
}

static void rec_f16(void *dst, const void *src, size_t count)
{
    map1_f16(dst, src, count, sim_number_rec);
}

static void rec_f32(void *dst, const void *src, size_t count)
{
    map1_f32(dst, src, count, sim_number_rec);
}

static void axpy_f16(void *dst, const void *src, const void *addend, uint32_t scalar, size_t count)
{
    const float factor = sim_number_f16_to_f32((uint16_t)scalar);
    for (size_t i = 0; i < count; i++) {
        ((uint16_t *)dst)[i] = to16(fmaf(load16(src, i), factor, load16(addend, i)));
    }
}

static void axpy_f32(void *dst, const void *src, const void *addend, uint32_t scalar, size_t count)
{
    const float factor = sim_number_float(scalar);
    for (size_t i = 0; i < count; i++) {
        ((float *)dst)[i] =
            sim_number_canonical(fmaf(((const float *)src)[i], factor, ((const float *)addend)[i]));
    }
}

static void axpy_mixed(void *dst, const void *src, const void *addend, uint32_t scalar,
                       size_t count)
{
    const float factor = sim_number_f16_to_f32((uint16_t)scalar);
    for (size_t i = 0; i < count; i++) {
        ((float *)dst)[i] =
            sim_number_canonical(fmaf(load16(src, i), factor, ((const float *)addend)[i]));
    }
}

static void fused_f16(void *dst, const void *x, const void *y, const void *z, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ((uint16_t *)dst)[i] = to16(fmaf(load16(x, i), load16(y, i), load16(z, i)));
    }
}

static void fused_f32(void *dst, const void *x, const void *y, const void *z, size_t count)
{
    const float *a = x, *b = y, *c = z;
    for (size_t i = 0; i < count; i++) {
        ((float *)dst)[i] = sim_number_canonical(fmaf(a[i], b[i], c[i]));
    }
}

static void fused_mixed(void *dst, const void *x, const void *y, const void *z, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ((float *)dst)[i] =
            sim_number_canonical(fmaf(load16(x, i), load16(y, i), ((const float *)z)[i]));
    }
}

INLINE bool eq(float a, float b)
{
    return a == b;
}

INLINE bool ne(float a, float b)
{
    return a != b;
}

INLINE bool lt(float a, float b)
{
    return a < b;
}

INLINE bool le(float a, float b)
{
    return a <= b;
}

INLINE bool gt(float a, float b)
{
    return a > b;
}

INLINE bool ge(float a, float b)
{
    return a >= b;
}

INLINE bool eq_int(int32_t a, int32_t b)
{
    return a == b;
}

INLINE bool ne_int(int32_t a, int32_t b)
{
    return a != b;
}

INLINE bool lt_int(int32_t a, int32_t b)
{
    return a < b;
}

INLINE bool le_int(int32_t a, int32_t b)
{
    return a <= b;
}

INLINE bool gt_int(int32_t a, int32_t b)
{
    return a > b;
}

INLINE bool ge_int(int32_t a, int32_t b)
{
    return a >= b;
}

INLINE void compare_f16(uint8_t *bits, const void *a, const void *b, size_t count,
                        bool (*holds)(float, float))
{
    memset(bits, 0, (count + 7) / 8);
    for (size_t i = 0; i < count; i++) {
        bits[i / 8] |= (uint8_t)(holds(load16(a, i), load16(b, i)) << (i % 8));
    }
}

INLINE void compare_f32(uint8_t *bits, const void *a, const void *b, size_t count,
                        bool (*holds)(float, float))
{
    memset(bits, 0, (count + 7) / 8);
    for (size_t i = 0; i < count; i++) {
        bits[i / 8] |= (uint8_t)(holds(((const float *)a)[i], ((const float *)b)[i]) << (i % 8));
    }
}

INLINE void compare_s32(uint8_t *bits, const void *a, const void *b, size_t count,
                        bool (*holds)(int32_t, int32_t))
{
    memset(bits, 0, (count + 7) / 8);
    for (size_t i = 0; i < count; i++) {
        bits[i / 8] |=
            (uint8_t)(holds(((const int32_t *)a)[i], ((const int32_t *)b)[i]) << (i % 8));
    }
}

static void eq_f16(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_f16(bits, a, b, count, eq);
}

static void eq_f32(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_f32(bits, a, b, count, eq);
}

static void eq_s32(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_s32(bits, a, b, count, eq_int);
}

static void ne_f16(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_f16(bits, a, b, count, ne);
}

static void ne_f32(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_f32(bits, a, b, count, ne);
}

static void ne_s32(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_s32(bits, a, b, count, ne_int);
}

static void lt_f16(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_f16(bits, a, b, count, lt);
}

static void lt_f32(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_f32(bits, a, b, count, lt);
}

static void lt_s32(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_s32(bits, a, b, count, lt_int);
}

static void le_f16(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_f16(bits, a, b, count, le);
}

static void le_f32(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_f32(bits, a, b, count, le);
}

static void le_s32(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_s32(bits, a, b, count, le_int);
}

static void gt_f16(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_f16(bits, a, b, count, gt);
}

static void gt_f32(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_f32(bits, a, b, count, gt);
}

static void gt_s32(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_s32(bits, a, b, count, gt_int);
}

static void ge_f16(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_f16(bits, a, b, count, ge);
}

static void ge_f32(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_f32(bits, a, b, count, ge);
}

static void ge_s32(uint8_t *bits, const void *a, const void *b, size_t count)
{
    compare_s32(bits, a, b, count, ge_int);
}

const struct sim_simd_vector sim_simd_vector_generic = {
#include "vector_rows.inc"
    .select16 = plain_select16,
    .select32 = plain_select32,
    .split16 = plain_split16,
    .split32 = plain_split32,
    .finite16 = plain_finite16,
    .finite32 = plain_finite32,
    .convert = sim_vector_convert_generic,
};
