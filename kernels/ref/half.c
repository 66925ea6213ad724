/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

#include <math.h>
#include <string.h>

float op_ref_from_half(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31,
                   fraction = bits & 1023;
    if (exponent == 0) {
        const float size = (float)fraction * 0x1p-24f;
        return sign ? -size : size;
    }
    // Rebias 15 to 127; infinity and NaN keep an exponent of all ones.
    const uint32_t wide = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
    float value;
    memcpy(&value, &wide, sizeof(value));
    return value;
}

uint16_t op_ref_to_half(float value)
{
    if (isnan(value)) {
        return 0x7e00;
    }
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const float size = fabsf(value);
    if (size >= 65520.0f) { // rounds beyond 65504
        return sign | 0x7c00;
    }
    if (size == 0.0f) {
        return sign;
    }
    int exponent = 0;
    frexpf(size, &exponent);
    // The last place of a half near this value: 2^-24 below the smallest normal 2^-14, else 10 bits
    // under the first.
    const int place = exponent - 11 < -24 ? -24 : exponent - 11;
    const int units =
        (int)nearbyintf(ldexpf(size, -place)); // 0..2048, to even; 2048 carries into the exponent
    return (uint16_t)(sign | (place == -24 ? units : (units - 1024) + (place + 25) * 1024));
}

float op_ref_canonical(float value)
{
    if (isnan(value)) {
        const uint32_t quiet = 0x7fc00000;
        memcpy(&value, &quiet, sizeof(value));
    }
    return value;
}
