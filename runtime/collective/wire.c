/* SPDX-License-Identifier: Apache-2.0 */
/* UCX under the ranks of a communicator: shared memory on one host, TCP between hosts. */
#include "wire.h"

#include "bootstrap.h"
#include "shm_cleanup.h"

#include <leo/alloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <ucp/api/ucp.h>

enum { NO_PEER = -1 };

/* A peer that has done its part may leave while what it sent still lies in shared memory: so long
 * after it is seen to be gone, what it sent may still be taken. */
enum { LAST_WORDS_MS = 300 };

struct peer {
    struct coll_wire *wire;
    uint32_t rank;
    bool lost;        /* `watch` failed */
    uint64_t lost_ms; /* when */
    ucp_ep_h data;    /* messages */
    ucp_ep_h watch;   /* notices the end of the peer's process */
};

struct coll_wire {
    struct coll_link link;
    uint32_t rank, ranks;
    struct peer *peers; /* by rank; its own entry has no endpoint */
    bool broken;        /* the link is closed for good */
    atomic_bool interrupted;
};

uint32_t coll_wire_rank(const struct coll_wire *wire)
{
    return wire->rank;
}

uint32_t coll_wire_ranks(const struct coll_wire *wire)
{
    return wire->ranks;
}

/* ---- endpoints ---- */

static void endpoint_failed(void *arg, ucp_ep_h endpoint, ucs_status_t status)
{
    struct peer *peer = arg;
    (void)endpoint;
    (void)status;
    peer->lost = true;
    peer->lost_ms = coll_wire_now_ms();
}

/* UCX 1.13 has no shared memory for endpoints that report a lost peer. So on one host the data goes
 * over an endpoint that does not, beside one over TCP that does. */
static leo_status connect_peer(struct coll_wire *wire, uint32_t rank, const struct coll_card *card)
{
    struct peer *peer = &wire->peers[rank];
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = (const ucp_address_t *)(const void *)card->address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = endpoint_failed, .arg = peer},
    };
    if (ucp_ep_create(wire->link.worker, &params, &peer->watch) != UCS_OK) {
        peer->watch = NULL;
        return LEO_ERR_IO;
    }
    params.err_mode =
        card->host == coll_host_id() ? UCP_ERR_HANDLING_MODE_NONE : UCP_ERR_HANDLING_MODE_PEER;
    if (ucp_ep_create(wire->link.worker, &params, &peer->data) != UCS_OK) {
        peer->data = NULL;
        return LEO_ERR_IO;
    }
    return LEO_OK;
}

static leo_status send_book(struct coll_wire *wire, const struct coll_address_book *book,
                            unsigned timeout_ms, char *text, size_t text_bytes)
{
    size_t bytes;
    void *message = coll_address_book_pack(book, &bytes);
    struct coll_transfer *transfers = leo_calloc(wire->ranks, sizeof(*transfers));
    leo_status status = message && transfers ? LEO_OK : LEO_ERR_NO_MEMORY;
    if (status == LEO_OK) {
        for (uint32_t i = 1; i < wire->ranks; i++) {
            coll_wire_send(wire, i, COLL_TAG_BOOK, message, bytes, &transfers[i]);
        }
        transfers[0].done = true;
        status = coll_wire_wait(wire, transfers, wire->ranks, coll_wire_now_ms() + timeout_ms, text,
                                text_bytes);
    }
    leo_free(message);
    leo_free(transfers);
    return status;
}

leo_status coll_wire_create(const struct coll_wire_opts *opts, struct coll_wire **out, char *text,
                            size_t text_bytes)
{
    *out = NULL;
    struct coll_wire *wire = leo_calloc(1, sizeof(*wire));
    struct peer *peers = leo_calloc(opts->ranks, sizeof(*peers));
    struct coll_address_book book = {0};
    leo_status status = wire && peers ? LEO_OK : LEO_ERR_NO_MEMORY;
    if (status != LEO_OK) {
        snprintf(text, text_bytes, "out of host memory");
        leo_free(wire);
        leo_free(peers);
        coll_bootstrap_destroy(opts->bootstrap);
        return status;
    }
    wire->rank = opts->rank;
    wire->ranks = opts->ranks;
    wire->peers = peers;
    for (uint32_t i = 0; i < opts->ranks; i++) {
        peers[i] = (struct peer){.wire = wire, .rank = i};
    }
    status = coll_bootstrap_join(opts, &wire->link, &book, text, text_bytes);
    for (uint32_t i = 0; status == LEO_OK && i < opts->ranks; i++) {
        if (i != opts->rank) {
            status = connect_peer(wire, i, coll_address_book_at(&book, i));
            if (status != LEO_OK) {
                snprintf(text, text_bytes, "cannot connect to rank %u: its process may have ended",
                         i);
            }
        }
    }
    if (status == LEO_OK && opts->rank == 0) {
        status = send_book(wire, &book, opts->timeout_ms, text, text_bytes);
    }
    coll_address_book_finish(&book);
    if (status != LEO_OK) {
        coll_wire_destroy(wire);
        return status;
    }
    *out = wire;
    return LEO_OK;
}

void coll_wire_destroy(struct coll_wire *wire)
{
    if (!wire) {
        return;
    }
    for (uint32_t i = 0; !wire->broken && i < wire->ranks; i++) {
        // Politely: what the others still wait for is flushed.
        if (wire->peers[i].lost) {
            wire->broken = true; // its endpoints cannot be closed in order
        } else {
            coll_link_close_endpoint(&wire->link, wire->peers[i].data, false);
            coll_link_close_endpoint(&wire->link, wire->peers[i].watch, false);
        }
    }
    if (wire->broken) {
        leo_free(wire->link.kept); // the library's worker stays, with its endpoints
    } else {
        coll_link_close(&wire->link);
    }
    leo_free(wire->peers);
    leo_free(wire);
}

/* ---- messages ---- */

/* Tag: what the caller gave, and who sends; so a receive takes only its own peer's message. */
static ucp_tag_t full_tag(uint32_t tag, uint32_t sender)
{
    return (ucp_tag_t)tag << 32 | sender;
}

static void start(struct coll_transfer *transfer, uint32_t peer, ucs_status_ptr_t request)
{
    *transfer = (struct coll_transfer){.peer = peer};
    if (UCS_PTR_IS_ERR(request)) {
        transfer->done = true;
        transfer->error = UCS_PTR_STATUS(request);
    } else if (!request) {
        transfer->done = true;
    } else {
        transfer->request = request;
    }
}

static bool refuse(const struct coll_wire *wire, uint32_t peer, struct coll_transfer *transfer)
{
    const bool gone = wire->broken || wire->peers[peer].lost;
    if (gone) {
        *transfer = (struct coll_transfer){.peer = peer, .done = true, .error = LEO_ERR_IO};
    }
    return gone;
}

void coll_wire_send(struct coll_wire *wire, uint32_t peer, uint32_t tag, const void *data,
                    size_t bytes, struct coll_transfer *transfer)
{
    const ucp_request_param_t param = {0};
    if (!refuse(wire, peer, transfer)) {
        start(transfer, peer,
              ucp_tag_send_nbx(wire->peers[peer].data, data, bytes, full_tag(tag, wire->rank),
                               &param));
    }
}

// A peer that is gone may have sent before it went.
void coll_wire_recv(struct coll_wire *wire, uint32_t peer, uint32_t tag, void *data, size_t bytes,
                    struct coll_transfer *transfer)
{
    const ucp_request_param_t param = {0};
    if (wire->broken) {
        (void)refuse(wire, peer, transfer);
        return;
    }
    start(
        transfer, peer,
        ucp_tag_recv_nbx(wire->link.worker, data, bytes, full_tag(tag, peer), UINT64_MAX, &param));
}

/* Takes finished transfers; how many are still open. A peer that is gone matters only to who waits
 * for it: others may have had all they needed. */
static size_t collect(const struct coll_wire *wire, struct coll_transfer *transfers, size_t count,
                      int *failed_peer)
{
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        struct coll_transfer *transfer = &transfers[i];
        if (!transfer->done) {
            ucs_status_t status = ucp_request_check_status(transfer->request);
            if (status == UCS_INPROGRESS) {
                open++;
                const struct peer *peer = &wire->peers[transfer->peer];
                if (peer->lost && coll_wire_now_ms() > peer->lost_ms + LAST_WORDS_MS) {
                    *failed_peer = (int)transfer->peer;
                }
                continue;
            }
            ucp_request_free(transfer->request);
            transfer->request = NULL;
            transfer->done = true;
            transfer->error = status;
        }
        if (transfer->error && *failed_peer == NO_PEER) {
            *failed_peer = (int)transfer->peer;
        }
    }
    return open;
}

/* Gives up: receives are cancelled and the other ranks notice. UCX cannot end a send to a peer that
 * is gone, nor close a worker that has one; so this worker is never progressed again, which is what
 * keeps it from the buffers, and stays until the process ends. */
static void break_wire(struct coll_wire *wire, struct coll_transfer *transfers, size_t count)
{
    int ignored = NO_PEER;
    for (size_t i = 0; i < count; i++) {
        if (!transfers[i].done) {
            ucp_request_cancel(wire->link.worker, transfers[i].request);
        }
    }
    (void)collect(wire, transfers, count, &ignored);
    for (uint32_t i = 0; i < wire->ranks; i++) {
        coll_link_close_endpoint(&wire->link, wire->peers[i].watch, true);
    }
    (void)collect(wire, transfers, count, &ignored);
    wire->broken = true;
    coll_shm_cleanup();
}

leo_status coll_wire_wait(struct coll_wire *wire, struct coll_transfer *transfers, size_t count,
                          uint64_t deadline_ms, char *text, size_t text_bytes)
{
    unsigned spins = 0;
    int failed = NO_PEER;
    leo_status status = LEO_OK;
    size_t open = 0;
    if (wire->broken) {
        snprintf(text, text_bytes, "the communicator broke in an earlier operation");
        return LEO_ERR_STATE;
    }
    while ((open = collect(wire, transfers, count, &failed)) > 0) {
        if (failed != NO_PEER) {
            break;
        }
        if (atomic_load_explicit(&wire->interrupted, memory_order_relaxed)) {
            snprintf(text, text_bytes, "the communicator was destroyed or aborted");
            status = LEO_ERR_CANCELLED;
            break;
        }
        coll_link_idle(&wire->link, &spins);
        if (deadline_ms && spins >= COLL_LINK_SPINS && coll_wire_now_ms() > deadline_ms) {
            for (size_t i = 0; i < count; i++) {
                if (!transfers[i].done) {
                    snprintf(text, text_bytes, "rank %u did not answer in time", transfers[i].peer);
                    break;
                }
            }
            status = LEO_ERR_TIMEOUT;
            break;
        }
    }
    if (status == LEO_OK && failed != NO_PEER) {
        snprintf(text, text_bytes, "rank %d is gone: its process ended or its connection broke",
                 failed);
        status = LEO_ERR_IO;
    }
    if (open) {
        // The buffers go back to the caller: nothing may touch them any more.
        break_wire(wire, transfers, count);
    }
    return status;
}

// The waiting thread looks at least every COLL_LINK_SLEEP_MS; it may be closing the worker right
// now, so it is not signalled.
void coll_wire_interrupt(struct coll_wire *wire)
{
    atomic_store(&wire->interrupted, true);
}
