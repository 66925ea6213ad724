/* SPDX-License-Identifier: Apache-2.0 */
/* A core without a scalar unit: buffers of exact size and two mappings of global memory with a hole
 * between. */
#pragma once

#include "core/core.h"
#include "harness.h"
#include "memory/space.h"
#include "simd/simd.h"

#include <stdlib.h>
#include <string.h>

#define FAKE_GM      UINT64_C(0x100000000)
#define FAKE_GM_SIZE 0x40000u
#define FAKE_RO      (FAKE_GM + 0x80000u) /* read-only, after a hole */
#define FAKE_RO_SIZE 0x8000u

struct fake {
    struct sim_core core;
    struct sim_config config;
    struct sim_space space;
    uint8_t *gm, *ro;
    uint64_t random;
};

/** Everything random; arch 1001 or 2201 sizes do not matter here, so one size for each buffer. */
struct fake *fake_create(const char *path);
void fake_destroy(struct fake *fake);
uint32_t fake_random(struct fake *fake);
void fake_fill(struct fake *fake, uint8_t *bytes, size_t count);
/** Runs an instruction; on fault returns its code and clears it. */
enum leo_fault fake_run(struct fake *fake, enum leo_insn insn, uint64_t a, uint64_t b, uint64_t c,
                        uint64_t d);
/** Copy of a buffer, to compare with or to compute what is expected in. */
uint8_t *fake_copy(const uint8_t *bytes, size_t count);

/** Names of the arithmetic paths; those the host cannot run are skipped by fake_create returning
 * NULL. */
extern const char *const fake_paths[3];
