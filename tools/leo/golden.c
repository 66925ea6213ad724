/* SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"

#include <leo/dtype.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Elements that are numbers of their own. */
static const enum leo_dtype types[] = {
    LEO_DTYPE_F16, LEO_DTYPE_F32, LEO_DTYPE_BF16, LEO_DTYPE_S8,  LEO_DTYPE_U8,  LEO_DTYPE_S16,
    LEO_DTYPE_U16, LEO_DTYPE_S32, LEO_DTYPE_U32,  LEO_DTYPE_S64, LEO_DTYPE_U64,
};
#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))

bool golden_type(const char *name, enum leo_dtype *type)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (strcmp(name, leo_dtype_name(types[i])) == 0) {
            *type = types[i];
            return true;
        }
    }
    return false;
}

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    int fraction = bits & 1023;
    double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static double single_value(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

double golden_element(const void *data, size_t index, enum leo_dtype type)
{
    size_t bytes = leo_dtype_bytes(type);
    uint64_t bits = 0;
    memcpy(&bits, (const char *)data + index * bytes, bytes);
    switch (type) {
    case LEO_DTYPE_F16:
        return half_value((uint16_t)bits);
    case LEO_DTYPE_BF16:
        return single_value((uint32_t)bits << 16);
    case LEO_DTYPE_F32:
        return single_value((uint32_t)bits);
    case LEO_DTYPE_S8:
        return (int8_t)bits;
    case LEO_DTYPE_S16:
        return (int16_t)bits;
    case LEO_DTYPE_S32:
        return (int32_t)bits;
    case LEO_DTYPE_S64:
        return (double)(int64_t)bits;
    default:
        return (double)bits;
    }
}

static double error_of(double got, double expected, const struct golden_tolerance *tolerance)
{
    if (got == expected || (isnan(got) && isnan(expected))) {
        return 0;
    }
    double scale = tolerance->close ? tolerance->absolute + tolerance->relative * fabs(expected)
                                    : fmax(1, fabs(expected));
    double error = fabs(got - expected) / scale;
    return isnan(error) ? INFINITY : error;
}

struct golden_result golden_compare(const void *got, const void *expected, size_t bytes,
                                    enum leo_dtype type, const struct golden_tolerance *tolerance)
{
    double limit = tolerance->close ? 1 : tolerance->relative;
    struct golden_result result = {.count = bytes / leo_dtype_bytes(type)};
    for (size_t i = 0; i < result.count; i++) {
        double a = golden_element(got, i, type);
        double b = golden_element(expected, i, type);
        double error = error_of(a, b, tolerance);
        // !(<=): an error that is not a number is a mismatch.
        bool mismatch = !(error <= limit);
        if (mismatch ? result.mismatches == 0
                     : result.mismatches == 0 && error > result.max_error) {
            result.first = i;
            result.got = a;
            result.expected = b;
        }
        result.mismatches += mismatch;
        result.max_error = fmax(result.max_error, error);
    }
    return result;
}
