/* SPDX-License-Identifier: Apache-2.0 */
/* A core that is nothing but a unified buffer, a configuration and vector registers. */
#pragma once

#include "core/core.h"

#define FAKE_UB_BYTES (256u * 1024u)

struct fake_core {
    struct sim_core core;
    struct sim_config config;
};

/** simd NULL: the host's best path. The caller destroys it. */
struct fake_core *fake_core_create(uint32_t arch, const char *simd);
void fake_core_destroy(struct fake_core *fake);
/** Clears the fault and sets normal mode with all lanes. */
void fake_core_reset(struct fake_core *fake);

/** The next number of a fixed sequence. */
uint64_t fake_random(uint64_t *state);
