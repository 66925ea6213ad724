/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host arithmetic of the vector unit on contiguous arrays. Arrays need no alignment. A destination
 * may be exactly one of the sources, never a shifted overlap. Bits count from the low end of the
 * first byte. docs/hw/vector.md.
 */
#pragma once

#include <leo/isa_enums.h>
#include <sim_vector_members.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What a lane holds, for operations that compute. */
enum sim_lane {
    SIM_LANE_F16,
    SIM_LANE_F32,
    SIM_LANE_S16,
    SIM_LANE_S32,
    SIM_LANE_U16,
    SIM_LANE_U32
};
#define SIM_LANE_COUNT 6

/** Mixed: f16 source and scalar, f32 addend and destination. */
enum sim_axpy { SIM_AXPY_F16, SIM_AXPY_F32, SIM_AXPY_MIXED };
#define SIM_AXPY_COUNT 3

/** Types of fused multiply-add; mixed: f16 factors, f32 addend and result. */
enum sim_fused { SIM_FUSED_F16, SIM_FUSED_F32, SIM_FUSED_MIXED };
#define SIM_FUSED_COUNT 3

typedef void (*sim_binary_fn)(void *dst, const void *a, const void *b, size_t count);
typedef void (*sim_unary_fn)(void *dst, const void *src, size_t count);
/** dst = addend + src x scalar, fused. */
typedef void (*sim_axpy_fn)(void *dst, const void *src, const void *addend, uint32_t scalar,
                            size_t count);
/** dst = x x y + z, fused. dst may be one of the sources. */
typedef void (*sim_fused_fn)(void *dst, const void *x, const void *y, const void *z, size_t count);
/** Writes ceil(count / 8) bytes; the bits past count are 0. */
typedef void (*sim_compare_fn)(uint8_t *bits, const void *a, const void *b, size_t count);
typedef void (*sim_select_fn)(void *dst, const uint8_t *bits, const void *a, const void *b,
                              size_t count);
/** even[i] = src[2i], odd[i] = src[2i + 1] for i < count. */
typedef void (*sim_split_fn)(void *even, void *odd, const void *src, size_t count);
/** A pair that is no conversion of the vector unit writes nothing. Source and destination must not
 * overlap. */
typedef void (*sim_convert_fn)(void *dst, enum leo_dtype dst_type, const void *src,
                               enum leo_dtype src_type, enum leo_round round, size_t count);

/** Whether no lane has all bits of `infinity`, the exponent of its type:
 * none is infinite or NaN. */
typedef bool (*sim_finite_fn)(const void *lanes, uint32_t infinity, size_t count);

/** A combination no instruction has is NULL. */
struct sim_simd_vector {
    sim_binary_fn binary[SIM_BINARY_COUNT][SIM_LANE_COUNT];
    sim_unary_fn unary[SIM_UNARY_COUNT][SIM_LANE_COUNT];
    sim_axpy_fn axpy[SIM_AXPY_COUNT];
    sim_fused_fn fused[SIM_FUSED_COUNT];
    sim_compare_fn compare[LEO_COND_COUNT][SIM_LANE_COUNT];
    sim_select_fn select16, select32;
    sim_split_fn split16, split32;
    sim_finite_fn finite16, finite32;
    sim_convert_fn convert;
};

extern const struct sim_simd_vector sim_simd_vector_generic;
extern const struct sim_simd_vector sim_simd_vector_avx2;
extern const struct sim_simd_vector sim_simd_vector_avx512;

/** The generic conversion, which the other paths use for the rare pairs. */
void sim_vector_convert_generic(void *dst, enum leo_dtype dst_type, const void *src,
                                enum leo_dtype src_type, enum leo_round round, size_t count);
