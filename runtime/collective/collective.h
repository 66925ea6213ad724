/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives between ranks on plain memory: what every vendor face (hccl, cncl) stands on. Knows
 * neither streams nor devices. */
#pragma once

#include "wire.h"

enum coll_kind {
    COLL_ALL_REDUCE,
    COLL_REDUCE,
    COLL_BROADCAST,
    COLL_ALL_GATHER,
    COLL_REDUCE_SCATTER,
    COLL_SCATTER,
    COLL_ALL_TO_ALL,
    COLL_BARRIER,
    COLL_POINT_TO_POINT, /**< sends and receives of one group */
};

enum coll_type {
    COLL_S8,
    COLL_U8,
    COLL_S16,
    COLL_U16,
    COLL_S32,
    COLL_U32,
    COLL_S64,
    COLL_U64,
    COLL_F16,
    COLL_BF16,
    COLL_F32,
    COLL_F64,
};

enum { COLL_TYPES = COLL_F64 + 1 };

enum coll_reduction { COLL_SUM, COLL_PROD, COLL_MAX, COLL_MIN };

unsigned coll_type_bytes(enum coll_type type);
const char *coll_type_name(enum coll_type type);
const char *coll_kind_name(enum coll_kind kind);

/** One message of COLL_POINT_TO_POINT. */
struct coll_message {
    bool is_send;
    uint32_t peer;
    enum coll_type type;
    uint64_t count;
    void *data;
};

/** Elements for and from each rank, and where they start, in elements; arrays of `ranks`. */
struct coll_parts {
    const uint64_t *count, *offset;
};

/**
 * One collective as one rank sees it. `count` is what the rank gives (broadcast, reduce,
 * all_reduce: the whole; all_gather: its part; reduce_scatter, scatter: the part each rank gets).
 * `send` may equal `recv` (all_gather, scatter: this rank's part of the large buffer).
 */
struct coll_op {
    enum coll_kind kind;
    enum coll_type type;
    enum coll_reduction reduction;
    uint32_t root;
    uint64_t count;
    const void *send;
    void *recv;
    /** all_to_all: both; all_gather with parts of several sizes: recv_parts; reduce_scatter and
     * scatter: send_parts. Count NULL: all parts are `count` long, one after the other. */
    struct coll_parts send_parts, recv_parts;
    const struct coll_message *messages; /**< point to point */
    unsigned message_count;
};

/** When a collective may start and when it ended, in simulated time. */
struct coll_times {
    uint64_t arrival_ns;      /**< in: this rank is there */
    uint64_t last_arrival_ns; /**< out: the last rank of those that took part */
    uint64_t sent_bytes;      /**< out: by this rank, to all others */
};

/**
 * Does `op` together with the other ranks; every rank must call with the same kind, type, count,
 * reduction and root. Blocks. Checks that the ranks agree before any data moves; LEO_ERR_MISMATCH
 * at every rank, `text` names two that differ.
 *
 * Sums are in the order of the ranks, rank 0 first, in f32 for f16 and bf16 (rounded once at the
 * end, to nearest even): the same bits for the same number of ranks.
 */
LEO_MUST_CHECK leo_status coll_run(struct coll_wire *wire, const struct coll_op *op,
                                   unsigned timeout_ms, struct coll_times *times, char *text,
                                   size_t text_bytes);

/** out[i] = in[0][i] op in[1][i] op ..., in this order. `out` may be one of `in`. */
void coll_reduce(enum coll_type type, enum coll_reduction reduction, void *out,
                 const void *const *in, unsigned inputs, size_t count);
