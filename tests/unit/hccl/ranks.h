/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of HCCL as processes of a test, each with a simulated card. */
#pragma once

#include <acl/acl.h>
#include <hccl/hccl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { RANKS_MAX = 8, RANK_ELEMENTS = RANKS_MAX * 3000 };

struct rank {
    HcclComm comm;
    aclrtStream stream;
    uint32_t rank, ranks;
    void *a, *b; /**< device memory of RANK_ELEMENTS floats */
    float host[RANK_ELEMENTS];
};

/** What a rank does; 0 = good. */
typedef int (*rank_fn)(struct rank *self);

/** In a rank_fn or what it calls: ends it if a call or a condition fails, with the reason. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        int got = (int)(call);                                                                     \
        if (got) {                                                                                 \
            const char *why = aclGetRecentErrMsg();                                                \
            fprintf(stderr, "rank %u: %s = %d: %s\n", self->rank, #call, got, why ? why : "");     \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "rank %u: line %d: %s\n", self->rank, __LINE__, #condition);           \
            return 2;                                                                              \
        }                                                                                          \
    } while (0)

/** Starts `ranks` processes that meet and call `fn`; asserts that all end well. */
void ranks_run(uint32_t ranks, rank_fn fn);
/** The same; rank `killed` must end by a signal. */
void ranks_run_losing(uint32_t ranks, rank_fn fn, int killed);
/** The same without any group: `fn` makes self->comm itself, or not. */
void ranks_run_alone(uint32_t ranks, rank_fn fn);
