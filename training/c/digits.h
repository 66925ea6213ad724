/* SPDX-License-Identifier: Apache-2.0 */
/* The digits of data/digits.csv: 64 pixels of 0..16 and a label 0..9 a line. */
#pragma once

#include <leo/status.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGITS_PIXELS = 64, DIGITS_CLASSES = 10 };

struct digits {
    uint32_t count;
    float *pixels;   /**< [count, 64], 0..1 */
    int32_t *labels; /**< [count] */
};

/** Reads a file. On failure `error` names file, line and column, and what is expected there. */
LEO_MUST_CHECK leo_status digits_read(const char *path, struct digits *digits, char *error,
                                      size_t error_bytes);
void digits_finish(struct digits *digits);
