/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces shared by the data movers and the output path. docs/hw/dma.md. */
#pragma once

#include "core/core.h"
#include "simd/simd_vector.h"
#include <leo/dtype.h>
#include <sim_units.h>

#include <string.h>

#define MTE_BLOCK_BYTES   32u   /* unit of bursts and gaps */
#define MTE_FRACTAL_BYTES 512u  /* unit of load2d */
#define MTE_INDEX_BYTES   128u  /* of a sparse fractal */
#define MTE_BT_BYTES      64u   /* unit of the bias table */
#define MTE_FB_BYTES      128u  /* unit of the fixpipe's parameters */
#define MTE_L0C_BYTES     1024u /* a fractal of accumulators */

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

void mte_gm_open(struct mte_gm *gm, struct sim_core *core, const struct sim_span *span);
/** Host pointer to [addr + offset, + bytes), or NULL with the fault set. */
static inline uint8_t *mte_gm_at(const struct mte_gm *gm, uint64_t offset, uint64_t bytes)
{
    return gm->base ? gm->base + offset
                    : sim_core_gm(gm->core, gm->addr + offset, bytes, gm->write);
}

/** Fault illegal_config with the word as address; returns false. */
static inline bool mte_bad_config(struct sim_core *core, uint64_t word)
{
    return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_GM, word, 0);
}

/** Whether writes to global memory combine with what is there. */
static inline bool mte_is_atomic(const struct sim_core *core)
{
    return leo_cfg_ctrl_unpack(core->ctrl).atomic != LEO_ATOMIC_NONE;
}

/** How a write to global memory combines with what is there; combine NULL = it replaces it. */
struct mte_atomic {
    sim_binary_fn combine;
    unsigned bytes;        /**< of an element */
    struct sim_core *core; /**< whose CSR overflow a sum raises */
    uint32_t infinity;     /**< of the type if sums saturate; else 0 */
};

/** The arithmetic of a kind and type without saturation; false: there is none. */
bool mte_atomic_choose(const struct sim_simd *simd, unsigned kind, unsigned type,
                       struct mte_atomic *atomic);
/** Atomic mode of the control register for pieces of so many bytes (HW-DMA-06); false = fault. */
bool mte_atomic_open(struct sim_core *core, uint64_t bytes, struct mte_atomic *atomic);
/** dst = combine(dst, src); any alignment. */
void mte_atomic_write(const struct mte_atomic *atomic, uint8_t *dst, const uint8_t *src,
                      uint64_t bytes);
