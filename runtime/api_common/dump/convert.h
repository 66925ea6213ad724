/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of arrays on the host, as runtimes offer it beside copies. */
#pragma once

#include <leo/status.h>
#include <stddef.h>
#include <stdint.h>

enum api_number {
    API_NUMBER_F16,
    API_NUMBER_F32,
    API_NUMBER_F64,
    API_NUMBER_I8,
    API_NUMBER_I16,
    API_NUMBER_I32,
    API_NUMBER_I64,
    API_NUMBER_U8,
    API_NUMBER_U16,
    API_NUMBER_U32,
};
size_t api_number_bytes(enum api_number type);

/** An integer of 8 or 16 bits stands for (integer - offset) * 2^position / scale. */
struct api_quantum {
    int position, offset;
    float scale;
};

uint16_t api_half_from_float(float value);
float api_half_to_float(uint16_t half);
/** To the nearest, ties to even, saturating; NaN becomes 0 as an integer. `quantum` may be NULL. */
void api_convert(const void *src, enum api_number from, void *dst, enum api_number to, size_t count,
                 const struct api_quantum *quantum);
