/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels print: the rings of a module, emptied when the host synchronises. */
#pragma once

#include "../rt.h"
#include <leo/print_ring.h>

/** What is known of a ring. */
struct rt_print_ring {
    uint64_t read, lost;
    bool mid_line; /**< the last text did not end its line */
};

/** The rings of a module whose kernels print. */
struct rt_print {
    uint64_t addr, ring_bytes;
    uint32_t rings;
    bool pending; /**< launched since the rings were last read */
    struct rt_print_ring ring[];
};

/** Writes a record's text. `record` is whole and stands in consecutive memory. */
void rt_print_format(const struct leo_print_record *record, char *out, size_t bytes);
