/* SPDX-License-Identifier: Apache-2.0 */
/* The table of device programs in this library. */
#pragma once

#include "context.h"
#include <stddef.h>

struct op_image {
    const char *name; /**< source file, for messages */
    const unsigned char *elf;
    size_t bytes;
};

unsigned op_program_count(void);
/** Symbol of a kernel; `program` and `image`: where it is for that architecture. */
const char *op_program_find(enum op_kernel kernel, uint32_t arch, unsigned *program,
                            struct op_image *image);
