/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a kernel asks for collectives (docs/ascend_c.md): shared by the Ascend C header, which posts,
 * and who serves it (runtime/collective/serve.c). Words of the server and words of the kernel never
 * share a cache line. What is written holds the number of the launch, so that nothing needs to be
 * cleared between launches.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    LEO_GROUP_MESSAGES = 64, /**< of a launch, the last of them LEO_GROUP_END */
    LEO_GROUP_TURNS = 256,   /**< of a message */
    LEO_GROUP_PARTS = 32,    /**< ranks whose parts may be of several sizes */
};

/** In leo_group_done: this message and all later ones failed. */
#define LEO_GROUP_FAILED UINT32_C(0x80000000)

enum leo_group_kind {
    LEO_GROUP_END, /**< nothing comes after it */
    LEO_GROUP_ALL_REDUCE,
    LEO_GROUP_ALL_GATHER,
    LEO_GROUP_REDUCE_SCATTER,
    LEO_GROUP_ALL_TO_ALL,
    LEO_GROUP_ALL_TO_ALL_PARTS,
    LEO_GROUP_KINDS,
};

/** One collective, repeated `turns` times on parts that lie one after the other. */
struct leo_group_message {
    uint64_t posted; /**< the launch; written last */
    uint64_t send, recv, count;
    uint64_t stride; /**< elements from one rank's part to the next; 0: `count` */
    uint32_t kind, type, reduction, turns; /**< type and reduction as HCCL numbers them */
    uint64_t reserved;
};

/** By the server: launch << 32 | turns that are done. */
struct leo_group_done {
    uint64_t word, reserved[7];
};

/** Device memory of a communicator. It begins as kernels expect of what GetHcclContext gives. */
struct leo_group_area {
    uint64_t messages, message_bytes; /**< where this structure is, and its size */
    uint32_t rank, ranks;
    uint64_t window_bytes, window_in, window_out; /**< 0: cards do not see each other's memory */
    char name[128];
    uint64_t reserved0[2];
    uint64_t launch, reserved1[7];
    struct leo_group_message message[LEO_GROUP_MESSAGES];
    struct leo_group_done done[LEO_GROUP_MESSAGES];
    uint64_t committed[LEO_GROUP_MESSAGES][LEO_GROUP_TURNS]; /**< the launch */
    /** Of LEO_GROUP_ALL_TO_ALL_PARTS: counts and offsets sent, then received, in elements. */
    uint64_t parts[LEO_GROUP_MESSAGES][4][LEO_GROUP_PARTS];
};

#ifdef __cplusplus
#define LEO_GROUP_ASSERT static_assert
#else
#define LEO_GROUP_ASSERT _Static_assert
#endif
LEO_GROUP_ASSERT(sizeof(struct leo_group_message) == 64 && sizeof(struct leo_group_done) == 64 &&
                     offsetof(struct leo_group_area, launch) % 64 == 0 &&
                     offsetof(struct leo_group_area, message) % 64 == 0 &&
                     sizeof(struct leo_group_area) % 64 == 0,
                 "lines of the cache");
#undef LEO_GROUP_ASSERT
