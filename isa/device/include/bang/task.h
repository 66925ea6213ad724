/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by <bang.h>: which task this is. Tasks are numbered x first. The launch leaves how they
 * lie at the end of the argument block (isa/layout/kernel_note.layout), which ends the core's
 * private memory (isa/layout/address.map).
 */
#pragma once

#include <leo/cluster.h>

struct leo_task {
    uint32_t x, y, z;
    uint32_t type; /**< cores that the tasks of one union take together; 1: each for itself */
    uint64_t shared_addr; /**< memory of all clusters (bang/cluster.h); 0: none */
    uint32_t shared_bytes, clusters;
};

enum : uint32_t { LEO_PRIVATE_END = 0x31000000 };

LEO_BANG const leo_task *leo_task_get()
{
    return (const leo_task *)(uint64_t)(LEO_PRIVATE_END - sizeof(leo_task));
}

LEO_BANG uint32_t leo_task_id()
{
    return (uint32_t)get_block_idx();
}

/** Clusters of a union. */
LEO_BANG uint32_t leo_task_clusters()
{
    const uint32_t type = leo_task_get()->type;
    return type < LEO_CLUSTER_CORES ? 1 : type / LEO_CLUSTER_CORES;
}

#define taskId   (leo_task_id())
#define taskDim  ((uint32_t)get_block_num())
#define taskDimX (leo_task_get()->x)
#define taskDimY (leo_task_get()->y)
#define taskDimZ (leo_task_get()->z)
#define taskIdX  (leo_task_id() % taskDimX)
#define taskIdY  (leo_task_id() / taskDimX % taskDimY)
#define taskIdZ  (leo_task_id() / taskDimX / taskDimY)
/* Assumed: counted inside the union, for tasks of type Block too. */
#define coreDim    ((uint32_t)LEO_CLUSTER_CORES)
#define coreId     (taskIdX % coreDim)
#define clusterDim (leo_task_clusters())
#define clusterId  (taskIdX / coreDim % clusterDim)

/** There are no memory cores: none of the cores is one. */
LEO_BANG bool __is_mpu()
{
    return false;
}

LEO_BANG bool __is_ipu()
{
    return true;
}

LEO_BANG bool __is_nram(const void *at)
{
    return (uint64_t)at >> 24 == 0x20;
}
