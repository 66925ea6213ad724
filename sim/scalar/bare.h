/* SPDX-License-Identifier: Apache-2.0 */
/* A static program in flat memory: what bare_load.c makes of a file and bare.c runs. */
#pragma once

#include "scalar.h"

#include <leo/sim.h>

enum { BARE_SEGMENT_MAX = 16, BARE_STACK_BYTES = 1 << 20, BARE_STACK_GAP = 1 << 16 };

/** No program of a test needs more; a broken file must not make us reserve the host's memory. */
#define BARE_IMAGE_BYTES_MAX (UINT64_C(1) << 30)

struct segment {
    uint64_t addr, bytes, file_offset, file_bytes;
    unsigned access;
};

struct bare {
    struct segment segments[BARE_SEGMENT_MAX + 1]; /**< the last is the stack */
    size_t segment_count;
    uint64_t low, high; /**< addresses of the image */
    uint8_t *image, *stack;
    uint64_t entry;
    struct sim_decoded *text;
    void (*write_fn)(void *user, int fd, const void *data, size_t bytes);
    void *user;
    struct leo_sim_bare_result *result;
    struct sim_scalar scalar;
};

/** Reads the file. Else a status, and result->text says what is wrong with it. */
leo_status sim_bare_load(struct bare *bare, const uint8_t *file, size_t file_bytes);
/** Writes result->text and returns the status. */
__attribute__((format(printf, 3, 4))) leo_status sim_bare_refuse(struct leo_sim_bare_result *result,
                                                                 leo_status status,
                                                                 const char *format, ...);
