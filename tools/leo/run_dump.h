/* SPDX-License-Identifier: Apache-2.0 */
/* leo run --dump: what on-chip buffers hold after the launch. */
#pragma once

#include <leo/isa_enums.h>
#include <leo/runtime.h>

/** One --dump, taken apart. */
struct run_dump {
    enum leo_mem_space space;
    enum leo_dtype type;
    bool hex; /**< no type was given */
    const char *text;
    uint64_t offset, bytes;
};

/** Reads SPACE:NAME[:DTYPE] or SPACE:OFFSET:BYTES[:DTYPE]. Tells mistakes on stderr; the result is
 * the exit code. */
int run_dump_parse(const char *text, struct leo_rt_module *module, struct run_dump *dump);
/** Prints it for `count` cores from `first` on, in their order. */
int run_dump_print(const struct run_dump *dump, struct leo_rt_device *device, unsigned first,
                   unsigned count);
