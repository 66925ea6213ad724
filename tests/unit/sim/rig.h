/* SPDX-License-Identifier: Apache-2.0 */
/* A chip on the bench: its rings driven by hand, kernels made of words. */
#pragma once

#include "rv.h"

#include <leo/faults.h>
#include <leo/layout.h>
#include <leo/regs.h>
#include <leo/sim.h>
#include <stdbool.h>

enum { RIG_DEPTH = 8, RIG_QUEUES = 4, RIG_FAULTS = 16, RIG_HOST_BYTES = 1 << 20 };
#define RIG_GM   UINT64_C(0x100000000)
#define RIG_HOST UINT64_C(0x10000) /* DMA address of rig->host */

struct rig_ring {
    struct leo_sqe sq[RIG_DEPTH];
    struct leo_cqe cq[RIG_DEPTH];
    uint32_t tail, head, phase;
};

struct rig {
    struct leo_sim_chip *chip;
    uint8_t *host;         /**< everything the chip may reach, one range */
    struct rig_ring *ring; /**< 0 = admin, in host memory */
    struct leo_fault_record *faults;
    uint8_t *args, *data; /**< in host memory */
    uint32_t next_cmd;
};

/** Chip from the built-in file `soc`, or from `text` if given, with admin queue, queues 1..3 and 1
 * MiB at RIG_GM. */
void rig_open(struct rig *rig, const char *soc, const char *text, unsigned threads);
void rig_close(struct rig *rig);
uint64_t rig_dma(const struct rig *rig, const void *host);
/** Pushes an entry; its cmd_id. */
uint32_t rig_push(struct rig *rig, unsigned queue, enum leo_sqe_op op, uint8_t kind,
                  const void *body, size_t bytes);
void rig_ring(struct rig *rig, unsigned queue);
/** Takes the next completion if it is there. */
bool rig_pop(struct rig *rig, unsigned queue, struct leo_cqe *cqe);
/** Runs the chip until queue has a completion; false: it went idle without. */
bool rig_wait(struct rig *rig, unsigned queue, struct leo_cqe *cqe);
/** Pushes, rings, waits; the status of the completion. */
unsigned rig_do(struct rig *rig, unsigned queue, enum leo_sqe_op op, uint8_t kind, const void *body,
                size_t bytes, struct leo_cqe *cqe);
unsigned rig_map(struct rig *rig, uint64_t addr, uint64_t bytes, bool read_only);
void rig_write(struct rig *rig, uint64_t addr, const void *data, size_t bytes);
void rig_read(struct rig *rig, uint64_t addr, void *data, size_t bytes);
/** Writes an image of these words (text only) at a device address. */
void rig_image(struct rig *rig, uint64_t addr, const uint32_t *words, size_t count);
/** Body of a launch of the image at `addr` with these argument slots. */
struct leo_sqe_kernel rig_kernel(struct rig *rig, uint64_t addr, uint32_t blocks,
                                 const uint64_t *slots, unsigned count);
/** Launches and waits. */
unsigned rig_run(struct rig *rig, uint8_t kind, uint64_t addr, uint32_t blocks,
                 const uint64_t *slots, unsigned count, struct leo_cqe *cqe);
/** Memory of this process that the host really keeps. */
long rig_resident_kib(void);
