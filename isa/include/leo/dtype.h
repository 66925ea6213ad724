/* SPDX-License-Identifier: Apache-2.0 */
/* What the element types of instructions (enum leo_dtype, isa/insn/formats.isa) take in memory. */
#pragma once

#include <stdint.h>

#include <leo/isa_enums.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bits of one element: 4 to 64; 0 for a number that is no type. */
uint32_t leo_dtype_bits(enum leo_dtype type);

/** Whole bytes of one element: 1 to 8; 0 for s4, two of which share a byte, and for what is no
 * type. */
uint32_t leo_dtype_bytes(enum leo_dtype type);

#ifdef __cplusplus
}
#endif
