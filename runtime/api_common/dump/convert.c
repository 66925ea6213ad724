/* SPDX-License-Identifier: Apache-2.0 */
#include "convert.h"

#include <math.h>
#include <string.h>

size_t api_number_bytes(enum api_number type)
{
    static const uint8_t bytes[] = {
        [API_NUMBER_F16] = 2, [API_NUMBER_F32] = 4, [API_NUMBER_F64] = 8, [API_NUMBER_I8] = 1,
        [API_NUMBER_I16] = 2, [API_NUMBER_I32] = 4, [API_NUMBER_I64] = 8, [API_NUMBER_U8] = 1,
        [API_NUMBER_U16] = 2, [API_NUMBER_U32] = 4,
    };
    return bytes[type];
}

uint16_t api_half_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    const float size = fabsf(value);
    if (isnan(value)) {
        return sign | 0x7e00;
    }
    if (size >= 65520) { // rounds to 2^16
        return sign | 0x7c00;
    }
    // Below 2^-14 halves are multiples of 2^-24; above, one in 2^10 of their power of two.
    int exponent = size < 0x1p-14F ? -14 : ilogbf(size);
    uint32_t steps = (uint32_t)nearbyintf(ldexpf(size, 10 - exponent));
    // A step carries into the exponent by itself.
    return (uint16_t)(sign | (((uint32_t)(exponent + 14) << 10) + steps));
}

float api_half_to_float(uint16_t half)
{
    const float sign = half & 0x8000 ? -1 : 1;
    const int exponent = half >> 10 & 31;
    const float fraction = (float)(half & 1023);
    if (exponent == 31) {
        return fraction != 0 ? NAN : sign * INFINITY;
    }
    return sign * (exponent ? ldexpf(1024 + fraction, exponent - 25) : ldexpf(fraction, -24));
}

static double read_number(const void *src, enum api_number type, size_t i)
{
    switch (type) {
    case API_NUMBER_F16:
        return (double)api_half_to_float(((const uint16_t *)src)[i]);
    case API_NUMBER_F32:
        return (double)((const float *)src)[i];
    case API_NUMBER_F64:
        return ((const double *)src)[i];
    case API_NUMBER_I8:
        return ((const int8_t *)src)[i];
    case API_NUMBER_I16:
        return ((const int16_t *)src)[i];
    case API_NUMBER_I32:
        return ((const int32_t *)src)[i];
    case API_NUMBER_I64:
        return (double)((const int64_t *)src)[i];
    case API_NUMBER_U8:
        return ((const uint8_t *)src)[i];
    case API_NUMBER_U16:
        return ((const uint16_t *)src)[i];
    case API_NUMBER_U32:
        return ((const uint32_t *)src)[i];
    }
    return 0;
}

static double limit(double value, double least, double most)
{
    value = isnan(value) ? 0 : nearbyint(value);
    return value < least ? least : value > most ? most : value;
}

static void write_number(void *dst, enum api_number type, size_t i, double value)
{
    switch (type) {
    case API_NUMBER_F16:
        ((uint16_t *)dst)[i] = api_half_from_float((float)value);
        break;
    case API_NUMBER_F32:
        ((float *)dst)[i] = (float)value;
        break;
    case API_NUMBER_F64:
        ((double *)dst)[i] = value;
        break;
    case API_NUMBER_I8:
        ((int8_t *)dst)[i] = (int8_t)limit(value, INT8_MIN, INT8_MAX);
        break;
    case API_NUMBER_I16:
        ((int16_t *)dst)[i] = (int16_t)limit(value, INT16_MIN, INT16_MAX);
        break;
    case API_NUMBER_I32:
        ((int32_t *)dst)[i] = (int32_t)limit(value, INT32_MIN, INT32_MAX);
        break;
    case API_NUMBER_I64:
        // The largest double below 2^63.
        ((int64_t *)dst)[i] = (int64_t)limit(value, -0x1p63, 0x1.fffffffffffffp62);
        break;
    case API_NUMBER_U8:
        ((uint8_t *)dst)[i] = (uint8_t)limit(value, 0, UINT8_MAX);
        break;
    case API_NUMBER_U16:
        ((uint16_t *)dst)[i] = (uint16_t)limit(value, 0, UINT16_MAX);
        break;
    case API_NUMBER_U32:
        ((uint32_t *)dst)[i] = (uint32_t)limit(value, 0, UINT32_MAX);
        break;
    }
}

static int is_quantized(enum api_number type)
{
    return type == API_NUMBER_I8 || type == API_NUMBER_I16;
}

void api_convert(const void *src, enum api_number from, void *dst, enum api_number to, size_t count,
                 const struct api_quantum *quantum)
{
    for (size_t i = 0; i < count; i++) {
        double value = read_number(src, from, i);
        if (quantum && is_quantized(from)) {
            value = ldexp(value - quantum->offset, quantum->position) / (double)quantum->scale;
        }
        if (quantum && is_quantized(to)) {
            value = ldexp(value * (double)quantum->scale, -quantum->position) + quantum->offset;
        }
        write_number(dst, to, i, value);
    }
}
