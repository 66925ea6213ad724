/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the parts of all ranks. Integers wrap; floating point goes rank by rank. */
#include "collective.h"

#include <string.h>

/* Elements at a time: the accumulators of a block stay in the first-level cache. */
enum { BLOCK = 2048 };

unsigned coll_type_bytes(enum coll_type type)
{
    static const uint8_t bytes[COLL_TYPES] = {
        [COLL_S8] = 1,  [COLL_U8] = 1,   [COLL_S16] = 2, [COLL_U16] = 2,
        [COLL_S32] = 4, [COLL_U32] = 4,  [COLL_S64] = 8, [COLL_U64] = 8,
        [COLL_F16] = 2, [COLL_BF16] = 2, [COLL_F32] = 4, [COLL_F64] = 8,
    };
    return bytes[type];
}

const char *coll_type_name(enum coll_type type)
{
    static const char *const names[COLL_TYPES] = {
        [COLL_S8] = "s8",   [COLL_U8] = "u8",     [COLL_S16] = "s16", [COLL_U16] = "u16",
        [COLL_S32] = "s32", [COLL_U32] = "u32",   [COLL_S64] = "s64", [COLL_U64] = "u64",
        [COLL_F16] = "f16", [COLL_BF16] = "bf16", [COLL_F32] = "f32", [COLL_F64] = "f64",
    };
    return (unsigned)type < COLL_TYPES ? names[type] : "?";
}

static float f32_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint32_t bits_from_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static float load_bf16(uint16_t half)
{
    return f32_from_bits((uint32_t)half << 16);
}

static uint16_t store_bf16(float value)
{
    uint32_t bits = bits_from_f32(value);
    if ((bits & 0x7fffffff) > 0x7f800000) {
        return (uint16_t)(bits >> 16 | 0x40); // stays a NaN
    }
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Branch-free so that the compiler vectorises it: the exponent is rebased by a multiplication,
 * which also turns denormal halves into the right floats. */
static float load_f16(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = (uint32_t)(half & 0x7fff) << 13;
    const float value = f32_from_bits(rest) * 0x1p112f;
    const uint32_t special = rest >= 0x0f800000 ? 0x7f800000u : 0; // Inf and NaN keep their bits
    return f32_from_bits(bits_from_f32(value) | special | sign);
}

static uint16_t store_f16(float value)
{
    const uint32_t bits = bits_from_f32(value), sign = bits >> 16 & 0x8000,
                   rest = bits & 0x7fffffff;
    if (rest > 0x7f800000) {
        return (uint16_t)(sign | 0x7e00 | (rest >> 13 & 0x3ff));
    }
    if (rest >= 0x477ff000) {
        return (uint16_t)(sign | 0x7c00); // from 65520 on
    }
    if (rest < 0x38800000) {
        // Denormal: adding 0.5 puts the last bit of a half at the last bit of the float, rounded.
        const float shifted = f32_from_bits(rest) + 0.5f;
        return (uint16_t)(sign | (bits_from_f32(shifted) - 0x3f000000));
    }
    return (uint16_t)(sign | (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13);
}

#define PLAIN(value) (value)

#define NAME  reduce_s8
#define ELEM  int8_t
#define ACC   int8_t
#define WRAP  uint32_t
#define LOAD  PLAIN
#define STORE PLAIN
#include "reduce_body.inc"

#define NAME  reduce_u8
#define ELEM  uint8_t
#define ACC   uint8_t
#define WRAP  uint32_t
#define LOAD  PLAIN
#define STORE PLAIN
#include "reduce_body.inc"

#define NAME  reduce_s16
#define ELEM  int16_t
#define ACC   int16_t
#define WRAP  uint32_t
#define LOAD  PLAIN
#define STORE PLAIN
#include "reduce_body.inc"

#define NAME  reduce_u16
#define ELEM  uint16_t
#define ACC   uint16_t
#define WRAP  uint32_t
#define LOAD  PLAIN
#define STORE PLAIN
#include "reduce_body.inc"

#define NAME  reduce_s32
#define ELEM  int32_t
#define ACC   int32_t
#define WRAP  uint32_t
#define LOAD  PLAIN
#define STORE PLAIN
#include "reduce_body.inc"

#define NAME  reduce_u32
#define ELEM  uint32_t
#define ACC   uint32_t
#define WRAP  uint32_t
#define LOAD  PLAIN
#define STORE PLAIN
#include "reduce_body.inc"

#define NAME  reduce_s64
#define ELEM  int64_t
#define ACC   int64_t
#define WRAP  uint64_t
#define LOAD  PLAIN
#define STORE PLAIN
#include "reduce_body.inc"

#define NAME  reduce_u64
#define ELEM  uint64_t
#define ACC   uint64_t
#define WRAP  uint64_t
#define LOAD  PLAIN
#define STORE PLAIN
#include "reduce_body.inc"

#define NAME  reduce_f16
#define ELEM  uint16_t
#define ACC   float
#define WRAP  float
#define LOAD  load_f16
#define STORE store_f16
#include "reduce_body.inc"

#define NAME  reduce_bf16
#define ELEM  uint16_t
#define ACC   float
#define WRAP  float
#define LOAD  load_bf16
#define STORE store_bf16
#include "reduce_body.inc"

#define NAME  reduce_f32
#define ELEM  float
#define ACC   float
#define WRAP  float
#define LOAD  PLAIN
#define STORE PLAIN
#include "reduce_body.inc"

#define NAME  reduce_f64
#define ELEM  double
#define ACC   double
#define WRAP  double
#define LOAD  PLAIN
#define STORE PLAIN
#include "reduce_body.inc"

typedef void (*reduce_fn)(enum coll_reduction reduction, void *out, const void *const *in,
                          unsigned inputs, size_t count);

void coll_reduce(enum coll_type type, enum coll_reduction reduction, void *out,
                 const void *const *in, unsigned inputs, size_t count)
{
    static const reduce_fn by_type[COLL_TYPES] = {
        [COLL_S8] = reduce_s8,     [COLL_U8] = reduce_u8,   [COLL_S16] = reduce_s16,
        [COLL_U16] = reduce_u16,   [COLL_S32] = reduce_s32, [COLL_U32] = reduce_u32,
        [COLL_S64] = reduce_s64,   [COLL_U64] = reduce_u64, [COLL_F16] = reduce_f16,
        [COLL_BF16] = reduce_bf16, [COLL_F32] = reduce_f32, [COLL_F64] = reduce_f64,
    };
    by_type[type](reduction, out, in, inputs, count);
}
