/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that have devices open, as they show themselves (leo/status_page.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One device of one process. */
struct smi_use {
    int pid, device;
    char command[32], chip[32];
    uint64_t memory_used, memory_total, time_ns, cube_ns, vector_ns, tasks, kernels, link_bytes;
};

struct smi_uses {
    struct smi_use *all; /**< by process and device; leo_free() it */
    size_t count;
};

/** Looks through /proc. False: out of memory, or /proc cannot be read. */
bool smi_processes(struct smi_uses *uses);
/** The same device of the same process at an earlier look; NULL: it was not there. */
const struct smi_use *smi_find(const struct smi_uses *uses, const struct smi_use *use);
