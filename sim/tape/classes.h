/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a tape that do the same: the same instructions, flags and scalar cycles, and the same
 * places of device memory but for where its buffers lie. Blocks of a class cost the same on one
 * chip; launches of a class take the same time if the L2 answers the same.
 */
#pragma once

#include "format.h"
#include <leo/status.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_tape_entry;
struct sim_tape_file;

enum { SIM_TAPE_NO_CLASS = UINT32_MAX };

/** Addresses of device memory in classes are told apart by their place in this many bytes. */
enum { SIM_TAPE_ALIGN = 512 };

/** Parts of blocks that do the same; `part` is one of them. */
struct sim_tape_class {
    uint64_t hash;
    uint64_t part;
    uint32_t addresses; /**< operands that lie in device memory */
    uint32_t operations;
    uint32_t uses; /**< parts of it */
};

/** Finds the classes of a tape's parts and launches. */
leo_status sim_tape_classify(struct sim_tape_file *file);

/** Blocks of a launch. */
uint32_t sim_tape_blocks(const struct sim_tape_task *task);
/** Parts of a launch, all of its blocks' cores; 0 of other tasks. */
uint64_t sim_tape_parts(const struct sim_tape_entry *entry);
/** Bytes of the item that begins here; 0 = it does not end in time. */
size_t sim_tape_item_bytes(const uint8_t *item, const uint8_t *end);
/** The operand of an operation that is an address in device memory; NULL: it has none. */
const uint64_t *sim_tape_address(const struct sim_tape_op *op);
