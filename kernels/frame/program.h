/* SPDX-License-Identifier: Apache-2.0 */
/* Device programs as built into this library. The table is made by gen/gen.py. */
#pragma once

#include <stddef.h>

/** A device program compiled for both generations; NULL where one has none. Sizes are not constants
 * of the table's file, hence pointers. */
struct op_program {
    const char *name;
    const unsigned char *coupled, *split;
    const size_t *coupled_bytes, *split_bytes;
};

extern const struct op_program op_programs[]; /**< sorted by name */
extern const unsigned op_program_total;
