/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On a chip that computes no values: which lines of device memory hold what nobody computed. Who
 * reads them to decide what to do next does not do what a run with values would. Calls may come
 * from any thread. A line is the unit: what is written of one stands for all of it.
 */
#pragma once

#include <leo/status.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_unknown;

leo_status sim_unknown_create(uint64_t base, uint64_t bytes, struct sim_unknown **unknown);
void sim_unknown_destroy(struct sim_unknown *unknown);
/** [addr, addr + bytes) was written without its values, or (`known`) with them. */
void sim_unknown_set(struct sim_unknown *unknown, uint64_t addr, uint64_t bytes, bool known);
/** Whether any of it is unknown. */
bool sim_unknown_has(const struct sim_unknown *unknown, uint64_t addr, uint64_t bytes);
