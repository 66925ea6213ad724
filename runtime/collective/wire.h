/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between the ranks of a communicator, over UCX (link.c, bootstrap.c, wire.c). */
#pragma once

#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    COLL_TOKEN_BYTES = 16,    /**< tells one communicator from another */
    COLL_SOCKADDR_BYTES = 28, /**< IPv4 or IPv6 socket address */
};

/** Where the ranks of a communicator meet: made by one process, carried to the others as bytes. */
struct coll_root {
    uint32_t magic;
    uint32_t sockaddr_bytes;
    uint8_t token[COLL_TOKEN_BYTES];
    uint8_t sockaddr[COLL_SOCKADDR_BYTES];
};

struct coll_bootstrap; /**< The listening end of a root, in the process that made it. */
struct coll_wire;      /**< One rank's connections to all others. One thread at a time. */

/** Opens a bootstrap place. `interface` (name of a network interface) and `address` (numeric) say
 * where it listens; NULL: the first that is up, else loopback. */
LEO_MUST_CHECK leo_status coll_bootstrap_create(const char *interface, const char *address,
                                                struct coll_root *root,
                                                struct coll_bootstrap **out);
void coll_bootstrap_destroy(struct coll_bootstrap *bootstrap);
/** The root of ranks that know their place beforehand: IPv4 `address` and `port`; all make the same
 * token from `seed`. */
LEO_MUST_CHECK leo_status coll_root_at(const char *address, uint16_t port, const void *seed,
                                       size_t seed_bytes, struct coll_root *root);
/** Opens the bootstrap place of such a root, in the process of rank 0. */
LEO_MUST_CHECK leo_status coll_bootstrap_open(const struct coll_root *root,
                                              struct coll_bootstrap **out);
/** Address and port in text, for messages. */
void coll_root_text(const struct coll_root *root, char *text, size_t bytes);

struct coll_wire_opts {
    struct coll_root root;
    struct coll_bootstrap *bootstrap; /**< taken over by rank 0; NULL for the others */
    uint32_t rank, ranks;
    unsigned timeout_ms; /**< for all ranks to come */
    bool is_known;       /**< a root of coll_root_at: rank 0 may come after this rank */
};
/** Blocks until every rank came. On failure `text` says who did not. */
LEO_MUST_CHECK leo_status coll_wire_create(const struct coll_wire_opts *opts,
                                           struct coll_wire **out, char *text, size_t text_bytes);
void coll_wire_destroy(struct coll_wire *wire);
uint32_t coll_wire_rank(const struct coll_wire *wire);
uint32_t coll_wire_ranks(const struct coll_wire *wire);

/** A transfer under way: `done` is set when the buffer may be used again. */
struct coll_transfer {
    void *request;
    bool done;
    int error; /**< of the transport, 0 = none */
    uint32_t peer;
};

/** Starts a message to or from a rank. Messages between two ranks with one tag keep their order. */
void coll_wire_send(struct coll_wire *wire, uint32_t peer, uint32_t tag, const void *data,
                    size_t bytes, struct coll_transfer *transfer);
void coll_wire_recv(struct coll_wire *wire, uint32_t peer, uint32_t tag, void *data, size_t bytes,
                    struct coll_transfer *transfer);
/** Waits for all. A peer that is gone, a deadline or coll_wire_interrupt ends the wait: what is
 * still open is cancelled, `text` says why. deadline_ms: coll_wire_now_ms() based, 0 = none. */
LEO_MUST_CHECK leo_status coll_wire_wait(struct coll_wire *wire, struct coll_transfer *transfers,
                                         size_t count, uint64_t deadline_ms, char *text,
                                         size_t text_bytes);
/** From any thread: waits under way and later ones end with LEO_ERR_CANCELLED. */
void coll_wire_interrupt(struct coll_wire *wire);
uint64_t coll_wire_now_ms(void);
