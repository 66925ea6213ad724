/* SPDX-License-Identifier: Apache-2.0 */
/* Address space of the host that is reserved whole and costs only what is touched. */
#pragma once

#include <stdint.h>

/** Zeroed memory in whole pages; NULL on failure. */
uint8_t *sim_pages_reserve(uint64_t bytes);
/** NULL is allowed. */
void sim_pages_release(uint8_t *data, uint64_t bytes);
/** Makes whole pages read zero again: they go back to the host. */
void sim_pages_forget(uint8_t *data, uint64_t bytes);
