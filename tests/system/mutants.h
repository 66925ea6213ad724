/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel files whose instructions are changed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MUTANTS_NOP = 0x13 };

/** Where the bytes of a symbol are in the file; 0 bytes: there is none. */
size_t mutants_find_code(const uint8_t *elf, const char *name, size_t *bytes);
void mutants_set_word(uint8_t *elf, size_t offset, uint32_t word);
