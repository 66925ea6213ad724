/* SPDX-License-Identifier: Apache-2.0 */
/* From an address of the scalar unit to host memory. */
#pragma once

#include "scalar.h"

/** Cycles are kept in ticks: sixteenths of an ALU instruction, so that a count of instructions in
 * steps of one decoded instruction (16 bytes) is a count of ticks, and sums do not round. */
enum { SIM_TICKS = 16 };

int64_t sim_scalar_ticks(const struct sim_scalar *scalar, double cycles);

/** The region of an aligned (or allowed to be misaligned) access; NULL = fault set or to be tried
 * again. */
const struct sim_region *sim_scalar_reach(struct sim_scalar *scalar, uint64_t addr, unsigned bytes,
                                          enum sim_access access);

/** A load or store that its base register's reach does not know: does it and fills the reach.
 * `ticks` gets its cost beyond an ALU instruction. False as above. */
bool sim_scalar_load(struct sim_scalar *scalar, unsigned rs1, uint64_t addr, unsigned bytes,
                     uint64_t *value, int64_t *ticks);
bool sim_scalar_store(struct sim_scalar *scalar, unsigned rs1, uint64_t addr, unsigned bytes,
                      uint64_t value, int64_t *ticks);
