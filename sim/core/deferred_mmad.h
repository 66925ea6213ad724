/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work of the Cube that is put off while nothing can tell (decision 37). Fractals that load2d
 * brings from L1 to L0 stay in L1 and are noted as views until something but a product needs them,
 * or their bytes in L1 change. Products that go on adding to one tile of L0C are done together.
 * Only within sim_core_run: outside of it every buffer holds its bytes.
 */
#pragma once

#include "../footprint.h"
#include "../simd/simd_cube.h"

enum {
    SIM_DEFERRED_FRACTALS = 256, /**< of L0A and of L0B that can be views */
    SIM_DEFERRED_SOURCES = 512,  /**< of the products put off, for each operand */
    SIM_DEFERRED_PARTS = 16,     /**< products put off */
    /** k from which on products are done: a panel of B, 32 columns of f32, fills two thirds of a
     * host's first-level cache of 48 KB. */
    SIM_DEFERRED_DEPTH = 256,
    SIM_DEFERRED_WATCHED = 256 /**< stretches of L1 */
};

/** Zero: nothing is put off. */
struct sim_deferred {
    unsigned views;                          /**< some view may be noted */
    uint32_t view[2][SIM_DEFERRED_FRACTALS]; /**< by fractal of L0A and of L0B: SIM_VIEW bits */
    uint16_t watched[SIM_DEFERRED_WATCHED];  /**< by stretch of L1: first and last bytes of views */
    unsigned parts;
    uint32_t depth;                           /**< sum of their k */
    uint32_t sources[2];                      /**< of their operands */
    uint32_t source[2][SIM_DEFERRED_SOURCES]; /**< SIM_VIEW bits */
    uint64_t low, high;                       /**< bytes of L1 all sources lie in */
    struct sim_mmad part[SIM_DEFERRED_PARTS];
};

struct sim_core;

/** Between these calls work is put off, if the host's path for the Cube can do it later. */
void sim_deferred_begin(struct sim_core *core);
void sim_deferred_end(struct sim_core *core);
/** Before an instruction that looks at bytes or changes them: does what it could tell from. */
void sim_deferred_meet(struct sim_core *core, const struct sim_footprint *foot);
/** Does the products put off, which may set CSR overflow. */
void sim_deferred_products(struct sim_core *core);
/** Notes the fractals of a load2d from L1 instead of moving them; false = they have to be moved. */
bool sim_deferred_load(struct sim_core *core, const struct sim_footprint *foot, bool turned);
/** Multiplies, now or later, what an instruction with this footprint says. */
void sim_deferred_multiply(struct sim_core *core, const struct sim_footprint *foot,
                           struct sim_mmad *mmad);
