/* SPDX-License-Identifier: Apache-2.0 */
/* How the data of a collective moves. Reductions: every rank reduces its own share of the elements
 * (reduce-scatter by direct exchange), so 2 (n - 1) / n of the bytes leave each rank. */
#include "collective.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

enum {
    TAG_HEAD = 1,
    TAG_DATA = 2,
    TAG_RESULT = 3,
    TAG_PAIR_HEAD = 4,
    TAG_PAIR_DATA = 5,
    /* Bytes of one rank's share that are reduced at a time: the parts of all ranks stay in the
     * cache. */
    SEGMENT_BYTES = 1 << 20,
};

/* What every rank tells every other before data moves. */
struct head {
    uint32_t kind, type, reduction, root;
    uint64_t count, arrival_ns;
};

/* What the two ends of a message tell each other. */
struct pair_head {
    uint32_t type, reserved;
    uint64_t count, arrival_ns;
};

/* A collective under way at this rank. */
struct run {
    struct coll_wire *wire;
    const struct coll_op *op;
    uint32_t rank, ranks;
    size_t unit; /* bytes an element */
    uint64_t deadline_ms;
    struct coll_transfer *transfers; /* 2 * ranks */
    size_t open;
    uint64_t sent; /* bytes */
    uint8_t *staging;
    char *text;
    size_t text_bytes;
};

const char *coll_kind_name(enum coll_kind kind)
{
    static const char *const names[] = {
        [COLL_ALL_REDUCE] = "all_reduce",         [COLL_REDUCE] = "reduce",
        [COLL_BROADCAST] = "broadcast",           [COLL_ALL_GATHER] = "all_gather",
        [COLL_REDUCE_SCATTER] = "reduce_scatter", [COLL_SCATTER] = "scatter",
        [COLL_ALL_TO_ALL] = "all_to_all",         [COLL_BARRIER] = "barrier",
        [COLL_POINT_TO_POINT] = "point to point",
    };
    return (unsigned)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

static void send_to(struct run *run, uint32_t peer, uint32_t tag, const void *data, size_t bytes)
{
    if (bytes) {
        run->sent += bytes;
        coll_wire_send(run->wire, peer, tag, data, bytes, &run->transfers[run->open++]);
    }
}

static void recv_from(struct run *run, uint32_t peer, uint32_t tag, void *data, size_t bytes)
{
    if (bytes) {
        coll_wire_recv(run->wire, peer, tag, data, bytes, &run->transfers[run->open++]);
    }
}

static leo_status wait_all(struct run *run)
{
    leo_status status = coll_wire_wait(run->wire, run->transfers, run->open, run->deadline_ms,
                                       run->text, run->text_bytes);
    run->open = 0;
    return status;
}

/* ---- agreement ---- */

static leo_status compare_heads(struct run *run, const struct head *heads)
{
    const struct head *own = &heads[run->rank];
    for (uint32_t i = 0; i < run->ranks; i++) {
        const struct head *other = &heads[i];
        if (other->kind == own->kind && other->type == own->type && other->root == own->root &&
            other->reduction == own->reduction && other->count == own->count) {
            continue;
        }
        snprintf(run->text, run->text_bytes,
                 "the ranks call different collectives: rank %u %s of %llu %s (reduction %u, root "
                 "%u), rank %u %s of %llu %s (reduction %u, root %u)",
                 run->rank, coll_kind_name((enum coll_kind)own->kind),
                 (unsigned long long)own->count, coll_type_name((enum coll_type)own->type),
                 own->reduction, own->root, i, coll_kind_name((enum coll_kind)other->kind),
                 (unsigned long long)other->count, coll_type_name((enum coll_type)other->type),
                 other->reduction, other->root);
        return LEO_ERR_MISMATCH;
    }
    return LEO_OK;
}

/* All-to-all of the heads: small messages, one round. */
static leo_status agree(struct run *run, struct coll_times *times)
{
    struct head *heads = leo_calloc(run->ranks, sizeof(*heads));
    if (!heads) {
        snprintf(run->text, run->text_bytes, "out of host memory");
        return LEO_ERR_NO_MEMORY;
    }
    const struct coll_op *op = run->op;
    heads[run->rank] = (struct head){
        .kind = (uint32_t)op->kind,
        .type = (uint32_t)op->type,
        .reduction = (uint32_t)op->reduction,
        .root = op->root,
        // Parts of several sizes: each rank has its own counts.
        .count = op->send_parts.count || op->recv_parts.count ? 0 : op->count,
        .arrival_ns = times->arrival_ns,
    };
    for (uint32_t i = 0; i < run->ranks; i++) {
        if (i != run->rank) {
            send_to(run, i, TAG_HEAD, &heads[run->rank], sizeof(*heads));
            recv_from(run, i, TAG_HEAD, &heads[i], sizeof(*heads));
        }
    }
    leo_status status = wait_all(run);
    if (status == LEO_OK) {
        status = compare_heads(run, heads);
    }
    for (uint32_t i = 0; i < run->ranks; i++) {
        if (heads[i].arrival_ns > times->last_arrival_ns) {
            times->last_arrival_ns = heads[i].arrival_ns;
        }
    }
    leo_free(heads);
    return status;
}

/* ---- shares ---- */

/* Elements [begin, end) of `count` that a rank reduces; 64-byte aligned for 4-byte types. */
static uint64_t share_begin(const struct run *run, uint64_t count, uint32_t rank)
{
    const uint64_t share = ((count + run->ranks - 1) / run->ranks + 15) / 16 * 16;
    return share * rank < count ? share * rank : count;
}

/* Part `rank` of a buffer cut as `parts` say. */
static uint64_t part_count(const struct run *run, const struct coll_parts *parts, uint32_t rank)
{
    return parts->count ? parts->count[rank] : run->op->count;
}

static size_t part_at(const struct run *run, const struct coll_parts *parts, uint32_t rank)
{
    return (parts->count ? parts->offset[rank] : rank * run->op->count) * run->unit;
}

/*
 * Reduces elements [begin[i], end[i]) of everybody's `send` at rank i, into `out` (this rank's).
 * Rank `only` alone reduces if it is below `ranks`. Rounds of SEGMENT_BYTES.
 */
struct range {
    uint64_t begin, end;
};

static leo_status reduce_ranges(struct run *run, const struct range *range, uint8_t *out)
{
    const struct range own = range[run->rank];
    const uint64_t step = SEGMENT_BYTES / run->unit;
    uint64_t longest = 0;
    for (uint32_t i = 0; i < run->ranks; i++) {
        const uint64_t length = range[i].end - range[i].begin;
        longest = length > longest ? length : longest;
    }
    const void **parts = leo_alloc(run->ranks * sizeof(*parts));
    leo_status status = parts ? LEO_OK : LEO_ERR_NO_MEMORY;
    for (uint64_t done = 0; status == LEO_OK && done < longest; done += step) {
        for (uint32_t k = 1; k < run->ranks; k++) {
            // Everybody starts with another peer, so that no rank is asked by all at once.
            const uint32_t to = (run->rank + k) % run->ranks;
            const uint32_t from = (run->rank + run->ranks - k) % run->ranks;
            const uint64_t begin = range[to].begin + done;
            if (begin < range[to].end) {
                const uint64_t count = range[to].end - begin < step ? range[to].end - begin : step;
                send_to(run, to, TAG_DATA, (const uint8_t *)run->op->send + begin * run->unit,
                        count * run->unit);
            }
            if (own.begin + done < own.end) {
                const uint64_t left = own.end - own.begin - done;
                recv_from(run, from, TAG_DATA, run->staging + from * (size_t)SEGMENT_BYTES,
                          (left < step ? left : step) * run->unit);
            }
        }
        status = wait_all(run);
        if (status == LEO_OK && own.begin + done < own.end) {
            const uint64_t left = own.end - own.begin - done;
            for (uint32_t i = 0; i < run->ranks; i++) {
                parts[i] = i == run->rank
                               ? (const uint8_t *)run->op->send + (own.begin + done) * run->unit
                               : run->staging + i * (size_t)SEGMENT_BYTES;
            }
            coll_reduce(run->op->type, run->op->reduction, out + done * run->unit, parts,
                        run->ranks, left < step ? left : step);
        }
    }
    leo_free(parts);
    return status;
}

static leo_status all_reduce(struct run *run)
{
    const struct coll_op *op = run->op;
    struct range *range = leo_alloc(run->ranks * sizeof(*range));
    if (!range) {
        return LEO_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < run->ranks; i++) {
        range[i] =
            (struct range){share_begin(run, op->count, i), share_begin(run, op->count, i + 1)};
    }
    range[run->ranks - 1].end = op->count;
    uint8_t *own = (uint8_t *)op->recv + range[run->rank].begin * run->unit;
    leo_status status = reduce_ranges(run, range, own);
    if (status == LEO_OK) {
        // In place, a rank's result may not land before everybody has taken that rank's share:
        // it has, because the result is made of it.
        for (uint32_t k = 1; k < run->ranks; k++) {
            const uint32_t to = (run->rank + k) % run->ranks;
            const uint32_t from = (run->rank + run->ranks - k) % run->ranks;
            send_to(run, to, TAG_RESULT, own,
                    (range[run->rank].end - range[run->rank].begin) * run->unit);
            recv_from(run, from, TAG_RESULT, (uint8_t *)op->recv + range[from].begin * run->unit,
                      (range[from].end - range[from].begin) * run->unit);
        }
        status = wait_all(run);
    }
    leo_free(range);
    return status;
}

static leo_status reduce_scatter(struct run *run)
{
    const struct coll_op *op = run->op;
    struct range *range = leo_alloc(run->ranks * sizeof(*range));
    if (!range) {
        return LEO_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < run->ranks; i++) {
        const uint64_t begin = part_at(run, &op->send_parts, i) / run->unit;
        range[i] = (struct range){begin, begin + part_count(run, &op->send_parts, i)};
    }
    leo_status status = reduce_ranges(run, range, op->recv);
    leo_free(range);
    return status;
}

static leo_status reduce(struct run *run)
{
    const struct coll_op *op = run->op;
    struct range *range = leo_calloc(run->ranks, sizeof(*range));
    if (!range) {
        return LEO_ERR_NO_MEMORY;
    }
    range[op->root] = (struct range){0, op->count};
    leo_status status = reduce_ranges(run, range, op->recv);
    leo_free(range);
    return status;
}

/* ---- no arithmetic ---- */

static leo_status broadcast(struct run *run)
{
    // The root sends each rank a share, and the ranks pass the shares on: the root's link carries
    // the data once, not once a rank.
    const struct coll_op *op = run->op;
    uint8_t *data = op->recv;
    const uint64_t own_begin = share_begin(run, op->count, run->rank);
    const uint64_t own_end =
        run->rank == run->ranks - 1 ? op->count : share_begin(run, op->count, run->rank + 1);
    for (uint32_t i = 0; i < run->ranks; i++) {
        const uint64_t begin = share_begin(run, op->count, i);
        const uint64_t end = i == run->ranks - 1 ? op->count : share_begin(run, op->count, i + 1);
        if (run->rank == op->root && i != op->root) {
            send_to(run, i, TAG_DATA, (const uint8_t *)op->send + begin * run->unit,
                    (end - begin) * run->unit);
        }
    }
    if (run->rank != op->root) {
        recv_from(run, op->root, TAG_DATA, data + own_begin * run->unit,
                  (own_end - own_begin) * run->unit);
    }
    leo_status status = wait_all(run);
    if (status != LEO_OK) {
        return status;
    }
    const uint8_t *have = run->rank == op->root ? op->send : data;
    for (uint32_t k = 1; k < run->ranks; k++) {
        const uint32_t to = (run->rank + k) % run->ranks;
        const uint32_t from = (run->rank + run->ranks - k) % run->ranks;
        if (to != op->root) {
            send_to(run, to, TAG_RESULT, have + own_begin * run->unit,
                    (own_end - own_begin) * run->unit);
        }
        if (run->rank != op->root) {
            const uint64_t begin = share_begin(run, op->count, from);
            const uint64_t end =
                from == run->ranks - 1 ? op->count : share_begin(run, op->count, from + 1);
            recv_from(run, from, TAG_RESULT, data + begin * run->unit, (end - begin) * run->unit);
        }
    }
    return wait_all(run);
}

/* This rank's own part of an exchange. */
static void copy_own(uint8_t *to, const uint8_t *from, size_t bytes)
{
    if (bytes && to != from) {
        memmove(to, from, bytes);
    }
}

static leo_status all_gather(struct run *run)
{
    const struct coll_op *op = run->op;
    uint8_t *out = op->recv;
    const size_t own_bytes = part_count(run, &op->recv_parts, run->rank) * run->unit;
    for (uint32_t k = 1; k < run->ranks; k++) {
        const uint32_t to = (run->rank + k) % run->ranks;
        const uint32_t from = (run->rank + run->ranks - k) % run->ranks;
        send_to(run, to, TAG_DATA, op->send, own_bytes);
        recv_from(run, from, TAG_DATA, out + part_at(run, &op->recv_parts, from),
                  part_count(run, &op->recv_parts, from) * run->unit);
    }
    leo_status status = wait_all(run);
    copy_own(out + part_at(run, &op->recv_parts, run->rank), op->send, own_bytes);
    return status;
}

static leo_status scatter(struct run *run)
{
    const struct coll_op *op = run->op;
    const size_t own_bytes = part_count(run, &op->send_parts, run->rank) * run->unit;
    if (run->rank != op->root) {
        recv_from(run, op->root, TAG_DATA, op->recv, own_bytes);
        return wait_all(run);
    }
    const uint8_t *data = op->send;
    for (uint32_t i = 0; i < run->ranks; i++) {
        if (i != run->rank) {
            send_to(run, i, TAG_DATA, data + part_at(run, &op->send_parts, i),
                    part_count(run, &op->send_parts, i) * run->unit);
        }
    }
    leo_status status = wait_all(run);
    copy_own(op->recv, data + part_at(run, &op->send_parts, run->rank), own_bytes);
    return status;
}

static leo_status all_to_all(struct run *run)
{
    const struct coll_op *op = run->op;
    const uint8_t *in = op->send;
    uint8_t *out = op->recv;
    for (uint32_t k = 1; k < run->ranks; k++) {
        const uint32_t to = (run->rank + k) % run->ranks;
        const uint32_t from = (run->rank + run->ranks - k) % run->ranks;
        send_to(run, to, TAG_DATA, in + part_at(run, &op->send_parts, to),
                part_count(run, &op->send_parts, to) * run->unit);
        recv_from(run, from, TAG_DATA, out + part_at(run, &op->recv_parts, from),
                  part_count(run, &op->recv_parts, from) * run->unit);
    }
    leo_status status = wait_all(run);
    copy_own(out + part_at(run, &op->recv_parts, run->rank),
             in + part_at(run, &op->send_parts, run->rank),
             part_count(run, &op->send_parts, run->rank) * run->unit);
    return status;
}

/* ---- point to point ---- */

static leo_status compare_pair(struct run *run, const struct coll_message *message,
                               const struct pair_head *other)
{
    if (other->type == (uint32_t)message->type && other->count == message->count) {
        return LEO_OK;
    }
    snprintf(run->text, run->text_bytes, "rank %u %s %llu %s, rank %u %s %llu %s", run->rank,
             message->is_send ? "sends" : "receives", (unsigned long long)message->count,
             coll_type_name(message->type), message->peer, message->is_send ? "receives" : "sends",
             (unsigned long long)other->count, coll_type_name((enum coll_type)other->type));
    return LEO_ERR_MISMATCH;
}

/* Both ends of each message tell each other what they expect; then the data. */
static leo_status exchange_messages(struct run *run, struct coll_times *times)
{
    const struct coll_op *op = run->op;
    struct pair_head *heads = leo_calloc(op->message_count, 2 * sizeof(*heads));
    struct coll_transfer *transfers = leo_calloc(op->message_count, 2 * sizeof(*transfers));
    leo_status status = heads && transfers ? LEO_OK : LEO_ERR_NO_MEMORY;
    run->transfers = transfers;
    for (unsigned i = 0; status == LEO_OK && i < op->message_count; i++) {
        const struct coll_message *message = &op->messages[i];
        heads[2 * i] = (struct pair_head){.type = (uint32_t)message->type,
                                          .count = message->count,
                                          .arrival_ns = times->arrival_ns};
        // Each direction has tags of its own: a pair may send to each other in one group.
        const uint32_t mine = TAG_PAIR_HEAD | (message->is_send ? 0u : 1u) << 8;
        const uint32_t theirs = TAG_PAIR_HEAD | (message->is_send ? 1u : 0u) << 8;
        send_to(run, message->peer, mine, &heads[2 * i], sizeof(*heads));
        recv_from(run, message->peer, theirs, &heads[2 * i + 1], sizeof(*heads));
    }
    if (status == LEO_OK) {
        status = wait_all(run);
    }
    leo_status agreed = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < op->message_count; i++) {
        const struct pair_head *other = &heads[2 * i + 1];
        if (other->arrival_ns > times->last_arrival_ns) {
            times->last_arrival_ns = other->arrival_ns;
        }
        if (agreed == LEO_OK) {
            agreed = compare_pair(run, &op->messages[i], other);
        }
    }
    status = leo_status_first(status, agreed);
    for (unsigned i = 0; status == LEO_OK && i < op->message_count; i++) {
        const struct coll_message *message = &op->messages[i];
        const size_t bytes = message->count * coll_type_bytes(message->type);
        if (message->is_send) {
            send_to(run, message->peer, TAG_PAIR_DATA, message->data, bytes);
        } else {
            recv_from(run, message->peer, TAG_PAIR_DATA, message->data, bytes);
        }
    }
    if (status == LEO_OK) {
        status = wait_all(run);
    }
    leo_free(heads);
    leo_free(transfers);
    return status;
}

/* ---- all ---- */

static bool reduces(enum coll_kind kind)
{
    return kind == COLL_ALL_REDUCE || kind == COLL_REDUCE || kind == COLL_REDUCE_SCATTER;
}

static leo_status move_data(struct run *run)
{
    switch (run->op->kind) {
    case COLL_ALL_REDUCE:
        return all_reduce(run);
    case COLL_REDUCE:
        return reduce(run);
    case COLL_BROADCAST:
        return broadcast(run);
    case COLL_ALL_GATHER:
        return all_gather(run);
    case COLL_REDUCE_SCATTER:
        return reduce_scatter(run);
    case COLL_SCATTER:
        return scatter(run);
    case COLL_ALL_TO_ALL:
        return all_to_all(run);
    case COLL_BARRIER:
    case COLL_POINT_TO_POINT:
        break;
    }
    return LEO_OK;
}

leo_status coll_run(struct coll_wire *wire, const struct coll_op *op, unsigned timeout_ms,
                    struct coll_times *times, char *text, size_t text_bytes)
{
    struct run run = {
        .wire = wire,
        .op = op,
        .rank = coll_wire_rank(wire),
        .ranks = coll_wire_ranks(wire),
        .unit = coll_type_bytes(op->type),
        .deadline_ms = timeout_ms ? coll_wire_now_ms() + timeout_ms : 0,
        .text = text,
        .text_bytes = text_bytes,
    };
    times->last_arrival_ns = times->arrival_ns;
    snprintf(text, text_bytes, "out of host memory");
    if (op->kind == COLL_POINT_TO_POINT) {
        leo_status status = exchange_messages(&run, times);
        times->sent_bytes = run.sent;
        return status;
    }
    run.transfers = leo_calloc(run.ranks, 2 * sizeof(*run.transfers));
    leo_status status = run.transfers ? LEO_OK : LEO_ERR_NO_MEMORY;
    if (status == LEO_OK && reduces(op->kind)) {
        run.staging = leo_aligned_alloc(64, run.ranks * (size_t)SEGMENT_BYTES);
        status = run.staging ? LEO_OK : LEO_ERR_NO_MEMORY;
    }
    if (status == LEO_OK) {
        status = agree(&run, times);
    }
    if (status == LEO_OK) {
        status = move_data(&run);
    }
    times->sent_bytes = run.sent;
    leo_free(run.staging);
    leo_free(run.transfers);
    return status;
}
