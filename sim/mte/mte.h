/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces shared by the data movers and the output path. docs/hw/dma.md. */
#pragma once

#include "core/core.h"
#include "simd/simd_vector.h"

#include <string.h>

#define MTE_BLOCK_BYTES   32u  /* unit of bursts and gaps */
#define MTE_FRACTAL_BYTES 512u /* unit of load2d */

/**
 * Global memory touched by one instruction. If the bounding range lies in one mapping it is checked
 * once, before anything moves; otherwise every access is checked as it comes and a fault leaves the
 * earlier ones done (HW-DMA-05).
 */
struct mte_gm {
    struct sim_core *core;
    uint64_t addr;
    uint8_t *base; /**< NULL: look up each access */
    bool write;
};

void mte_gm_open(struct mte_gm *gm, struct sim_core *core, uint64_t addr, uint64_t bytes,
                 bool write);
/** Host pointer to [addr + offset, + bytes), or NULL with the fault set. */
static inline uint8_t *mte_gm_at(const struct mte_gm *gm, uint64_t offset, uint64_t bytes)
{
    return gm->base ? gm->base + offset
                    : sim_core_gm(gm->core, gm->addr + offset, bytes, gm->write);
}

/** Fault illegal_config with the word as address; returns false. */
bool mte_bad_config(struct sim_core *core, uint64_t word);
/** Bytes of an element, 0 for s4 and values outside the enum. */
unsigned mte_dtype_bytes(unsigned dtype);
/** How a write to global memory combines with what is there; combine NULL = it replaces it. */
struct mte_atomic {
    sim_binary_fn combine;
    unsigned bytes; /**< of an element */
};

/** Atomic mode of the control register for pieces of so many bytes (HW-DMA-06); false = fault. */
bool mte_atomic_open(struct sim_core *core, uint64_t bytes, struct mte_atomic *atomic);
/** dst = combine(dst, src); any alignment. */
void mte_atomic_write(const struct mte_atomic *atomic, uint8_t *dst, const uint8_t *src,
                      uint64_t bytes);
/** Bytes from the first to the last byte of `count` pieces of `length` with `gap` between end and
 * start. */
static inline uint64_t mte_span(uint64_t count, uint64_t length, uint64_t gap)
{
    return count * length + (count - 1) * gap;
}

/** Shape of a burst copy in bytes. */
struct mte_burst {
    uint64_t count, length, src_gap, dst_gap;
};

bool mte_exec_align(struct sim_core *core, const struct sim_op *op);
bool mte_exec_nd2nz(struct sim_core *core, const struct sim_op *op);
bool mte_exec_load2d(struct sim_core *core, const struct sim_op *op);
