/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by <bang.h>: the memory of a cluster, and tasks that wait for each other. The simulated
 * card has no such memory: global memory takes its place, so its times are those of global memory.
 * An array of it has no address a core could use by itself: only copies know where it is. No core
 * is a memory core: a copy is done by the task that asks for it.
 */
#pragma once

/* The window of a buffer that this card has nothing of (isa/layout/address.map). */
#define __mlu_shared__ LEO_BANG_ARRAY(".npu.bt")

enum : uint64_t { LEO_SHARED = 0x25000000, LEO_SHARED_END = 0x26000000 };

/* A kernel whose tasks meet has memory of clusters, be it for this alone. */
__mlu_shared__ uint32_t leo_meeting[16];

LEO_BANG uint64_t leo_cluster()
{
    return leo_task_id() / LEO_CLUSTER_CORES;
}

LEO_BANG uint64_t leo_shared_lines(uint64_t cluster)
{
    return leo_task_get()->shared_addr +
           cluster * (LEO_CLUSTER_LINES + LEO_UNION_LINES) * LEO_LINE_BYTES;
}

/** Where an array of the cluster stands in global memory. */
LEO_BANG uint8_t *leo_shared_place(const void *at)
{
    const leo_task *task = leo_task_get();
    const uint64_t offset = (uint64_t)at - LEO_SHARED;
    if (!task->shared_addr || (uint64_t)at < LEO_SHARED || (uint64_t)at >= LEO_SHARED_END) {
        leo_bang_refuse("SRAM is for arrays of __mlu_shared__, in a launch of type Union");
    }
    return (uint8_t *)(leo_shared_lines(task->clusters) + leo_cluster() * task->shared_bytes +
                       offset);
}

/* `cores` tasks meet, of which this is number `own`; round: 1, then 2 and so on. */
LEO_BANG_SMALL void leo_meet(uint64_t lines, uint32_t cores, uint32_t own, uint32_t round)
{
    uint32_t *line = (uint32_t *)lines;
    leo_poll_set(line + own * LEO_POLL_LINE_WORDS, round);
    if (own == 0) {
        for (uint32_t i = 1; i < cores; i++) {
            leo_poll_wait(line + i * LEO_POLL_LINE_WORDS, round);
        }
        leo_poll_set(line + cores * LEO_POLL_LINE_WORDS, round);
    } else {
        leo_poll_wait(line + cores * LEO_POLL_LINE_WORDS, round);
    }
}

/** The tasks of a cluster: what any did before, all see after. Alone in a launch of type Block. */
LEO_BANG void __sync_cluster()
{
    __sync();
    __asm__ __volatile__("" : : "r"(leo_meeting));
    if (leo_task_get()->shared_addr) {
        leo_meet(leo_shared_lines(leo_cluster()), LEO_CLUSTER_CORES, coreId,
                 ++leo_bang.cluster_round);
    }
}

LEO_BANG void __sync_cluster_ipu()
{
    __sync_cluster();
}

LEO_BANG void __sync_all_ipu_within_cluster()
{
    __sync_cluster();
}

/** The same of all clusters of a union. */
LEO_BANG void __sync_all()
{
    const uint32_t type = leo_task_get()->type;
    __sync();
    __asm__ __volatile__("" : : "r"(leo_meeting));
    if (leo_task_get()->shared_addr) {
        leo_meet(leo_shared_lines(leo_task_id() / type * (type / LEO_CLUSTER_CORES)) +
                     LEO_CLUSTER_LINES * LEO_LINE_BYTES,
                 type, leo_task_id() % type, ++leo_bang.union_round);
    }
}

LEO_BANG void __sync_all_ipu()
{
    __sync_all();
}
