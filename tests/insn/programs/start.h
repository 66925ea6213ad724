/* SPDX-License-Identifier: Apache-2.0 */
/* What a test program without a C library has: memory functions and a way to write words. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Writes one value to the output. */
void emit(uint64_t value);
void emit_bytes(const void *data, size_t bytes);
uint64_t next_random(uint64_t *state);
/** The program. */
int program(void);

void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
