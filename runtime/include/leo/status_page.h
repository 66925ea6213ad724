/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process shows of its devices to others (leo smi): a page of shared memory without a name,
 * which other processes of the same user find under /proc/PID/fd and which goes with the process,
 * however it ends. Numbers only grow but `memory_used`; they are written and read atomically
 * (__atomic_load_n), one by one.
 */
#pragma once

#include <stdint.h>

#define LEO_STATUS_NAME  "leonardo-status" /**< of the memory file */
#define LEO_STATUS_MAGIC UINT32_C(0x314f454c)

enum { LEO_STATUS_DEVICES = 8, LEO_STATUS_CHIP_BYTES = 32 };

struct leo_status_device {
    uint32_t is_open;
    char chip[LEO_STATUS_CHIP_BYTES];
    uint64_t memory_used, memory_total;
    uint64_t time_ns;            /**< simulated: end of the newest task */
    uint64_t cube_ns, vector_ns; /**< kernels on cores that have a Cube; on vector cores */
    uint64_t tasks, kernels;     /**< that ended */
    uint64_t link_bytes;         /**< of collectives, left this device */
};

struct leo_status_page {
    uint32_t magic;
    int32_t pid; /**< whose it is: children inherit the file */
    struct leo_status_device device[LEO_STATUS_DEVICES];
};
