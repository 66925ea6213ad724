/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: address space of the host that is reserved
 * whole and costs only what is touched. */
#pragma once

#include <leo/isa_enums.h>
#include <leo/map.h>
#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The same memory once more: what is addressed here goes past the L2 (docs/hw/dma.md). */
#define SIM_GM_NO_L2 (UINT64_C(1) << LEO_GM_BIT_NO_L2)

struct sim_hbm {
    uint8_t *data; /**< host address of `base` */
    uint64_t base, bytes;
    struct sim_adopted *adopted;
    size_t adopted_count, adopted_capacity;
};

/** Bytes that lie in memory of the caller's; offsets from `base`. */
struct sim_adopted {
    uint64_t begin, end;
};

leo_status sim_hbm_create(struct sim_hbm *hbm, uint64_t base, uint64_t bytes);
void sim_hbm_destroy(struct sim_hbm *hbm);
/** Makes [addr, addr + bytes) read zero again; whole pages go back to the host. The range must lie
 * inside. */
void sim_hbm_zero(struct sim_hbm *hbm, uint64_t addr, uint64_t bytes);

/**
 * Keeps [addr, addr + bytes) in pages of the host that the caller has mapped at `host` and gives
 * away, until the range is zeroed. `keep`: the contents move there, else what is there shows.
 */
leo_status sim_hbm_adopt(struct sim_hbm *hbm, uint64_t addr, uint64_t bytes, void *host, bool keep);
