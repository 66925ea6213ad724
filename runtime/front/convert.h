/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of arrays on the host, as runtimes offer it beside copies. */
#pragma once

#include <leo/status.h>
#include <stddef.h>
#include <stdint.h>

enum front_number {
    FRONT_NUMBER_F16,
    FRONT_NUMBER_F32,
    FRONT_NUMBER_F64,
    FRONT_NUMBER_I8,
    FRONT_NUMBER_I16,
    FRONT_NUMBER_I32,
    FRONT_NUMBER_I64,
    FRONT_NUMBER_U8,
    FRONT_NUMBER_U16,
    FRONT_NUMBER_U32,
};
size_t front_number_bytes(enum front_number type);

/** An integer of 8 or 16 bits stands for (integer - offset) * 2^position / scale. */
struct front_quantum {
    int position, offset;
    float scale;
};

uint16_t front_half_from_float(float value);
float front_half_to_float(uint16_t half);
/** To the nearest, ties to even, saturating; NaN becomes 0 as an integer. `quantum` may be NULL. */
void front_convert(const void *src, enum front_number from, void *dst, enum front_number to,
                   size_t count, const struct front_quantum *quantum);
