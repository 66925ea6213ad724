/* SPDX-License-Identifier: Apache-2.0 */
/* A small world for one scalar unit: text, a page of memory, a recorder of custom instructions. */
#pragma once

#include "scalar/decode.h"

#define WORLD_TEXT    UINT64_C(0x10000000)
#define WORLD_MEMORY  UINT64_C(0x20000)
#define WORLD_ALIGNED UINT64_C(0x30000) /**< the same bytes, but aligned accesses only */
#define WORLD_CONST   UINT64_C(0x40000) /**< the same bytes, read-only */
#define WORLD_BYTES   4096

struct world {
    struct sim_scalar scalar;
    struct sim_decoded *text;
    uint8_t memory[WORLD_BYTES];
    struct sim_op ops[64]; /**< custom instructions issued */
    unsigned op_count;
    unsigned block;     /**< refuse so many custom instructions first */
    unsigned finds;     /**< calls of find */
    uint64_t csr_value; /**< of csr 0x800 */
};

/** Decodes the words and resets the unit at the first one; ra is the address that ends a kernel. */
void world_init(struct world *world, const uint32_t *words, size_t count);
void world_finish(struct world *world);
