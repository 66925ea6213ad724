/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory the function may reach, every access checked against the table. */
#pragma once

#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_host_lock;

struct sim_dma_range {
    uint64_t base, bytes;
    uint8_t *host; /**< NULL: unmapped, and not yet taken out */
};

struct sim_dma {
    struct sim_host_lock *lock;  /**< protects the rest, and the memory while it is being copied */
    struct sim_dma_range *range; /**< sorted, disjoint; `dead` of them are unmapped */
    size_t count, dead, capacity;
};

leo_status sim_dma_init(struct sim_dma *dma);
void sim_dma_finish(struct sim_dma *dma);
leo_status sim_dma_map(struct sim_dma *dma, uint64_t base, void *host, size_t bytes);
void sim_dma_unmap(struct sim_dma *dma, uint64_t base);
/** False: some byte of the range is not mapped; nothing was copied. */
bool sim_dma_read(struct sim_dma *dma, uint64_t addr, void *data, uint64_t bytes);
bool sim_dma_write(struct sim_dma *dma, uint64_t addr, const void *data, uint64_t bytes);
bool sim_dma_fill(struct sim_dma *dma, uint64_t addr, uint32_t pattern, uint64_t bytes);
/** Writes a completion-like entry whose word at `phase_offset` becomes visible last. */
bool sim_dma_publish(struct sim_dma *dma, uint64_t addr, const void *data, uint64_t bytes,
                     size_t phase_offset);
/** Where the range lies in the host, as a number; 0: some byte of it is not mapped. */
uint64_t sim_dma_where(struct sim_dma *dma, uint64_t addr, uint64_t bytes);
bool sim_dma_is_mapped(struct sim_dma *dma, uint64_t addr, uint64_t bytes);
