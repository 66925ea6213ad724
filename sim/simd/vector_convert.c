/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions in generic C: every source is widened to f32 or an integer, both exact, then rounded
 * once. */
#include "simd_vector.h"

#include "../number/number.h"
#include <stdbool.h>

/** A lane on its way: f32 holds f16, bf16 and f32 exactly. */
struct value {
    bool is_integer;
    float real;
    int64_t integer;
};

static struct value load(const void *src, enum leo_dtype type, size_t i)
{
    switch (type) {
    case LEO_DTYPE_F16:
        return (struct value){.real = sim_number_f16_to_f32(((const uint16_t *)src)[i])};
    case LEO_DTYPE_BF16:
        return (struct value){.real = sim_number_bf16_to_f32(((const uint16_t *)src)[i])};
    case LEO_DTYPE_F32:
        return (struct value){.real = ((const float *)src)[i]};
    case LEO_DTYPE_S8:
        return (struct value){.is_integer = true, .integer = ((const int8_t *)src)[i]};
    case LEO_DTYPE_U8:
        return (struct value){.is_integer = true, .integer = ((const uint8_t *)src)[i]};
    case LEO_DTYPE_S16:
        return (struct value){.is_integer = true, .integer = ((const int16_t *)src)[i]};
    case LEO_DTYPE_S32:
        return (struct value){.is_integer = true, .integer = ((const int32_t *)src)[i]};
    case LEO_DTYPE_S64:
        return (struct value){.is_integer = true, .integer = ((const int64_t *)src)[i]};
    default:
        return (struct value){0};
    }
}

static int64_t to_integer(const struct value *value, enum leo_round round, int64_t low,
                          int64_t high)
{
    if (!value->is_integer) {
        return sim_number_f32_to_int(value->real, round, low, high);
    }
    return value->integer < low ? low : value->integer > high ? high : value->integer;
}

static void store(void *dst, enum leo_dtype type, size_t i, const struct value *value,
                  enum leo_round round)
{
    switch (type) {
    case LEO_DTYPE_F16:
        ((uint16_t *)dst)[i] = value->is_integer ? sim_number_int_to_f16(value->integer, round)
                                                 : sim_number_f32_to_f16(value->real, round);
        break;
    case LEO_DTYPE_BF16:
        ((uint16_t *)dst)[i] = sim_number_f32_to_bf16(value->real, round);
        break;
    case LEO_DTYPE_F32:
        ((float *)dst)[i] =
            value->is_integer ? sim_number_int_to_f32(value->integer, round) : value->real;
        break;
    case LEO_DTYPE_S8:
        ((int8_t *)dst)[i] = (int8_t)to_integer(value, round, INT8_MIN, INT8_MAX);
        break;
    case LEO_DTYPE_U8:
        ((uint8_t *)dst)[i] = (uint8_t)to_integer(value, round, 0, UINT8_MAX);
        break;
    case LEO_DTYPE_S16:
        ((int16_t *)dst)[i] = (int16_t)to_integer(value, round, INT16_MIN, INT16_MAX);
        break;
    case LEO_DTYPE_S32:
        ((int32_t *)dst)[i] = (int32_t)to_integer(value, round, INT32_MIN, INT32_MAX);
        break;
    case LEO_DTYPE_S64:
        ((int64_t *)dst)[i] = to_integer(value, round, INT64_MIN, INT64_MAX);
        break;
    default:
        break;
    }
}

void sim_vector_convert_generic(void *dst, enum leo_dtype dst_type, const void *src,
                                enum leo_dtype src_type, enum leo_round round, size_t count)
{
    const bool to_integral = src_type == LEO_DTYPE_F32 && dst_type == LEO_DTYPE_F32;
    for (size_t i = 0; i < count; i++) {
        struct value value = load(src, src_type, i);
        if (to_integral) {
            value.real = sim_number_f32_to_integral(value.real, round);
        } else {
            value.real = sim_number_canonical(value.real);
        }
        store(dst, dst_type, i, &value, round);
    }
}
