/* SPDX-License-Identifier: Apache-2.0 */
/* A UCX worker of one communicator: opened, progressed, closed. */
#pragma once

#include <leo/status.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucp/api/ucp.h>

/* Empty turns of the progress loop before the thread sleeps on the worker's descriptor: a message
 * between two ranks that both run takes about a microsecond, a sleep and a wake-up about fifty. */
enum { COLL_LINK_SPINS = 2000, COLL_LINK_SLEEP_MS = 20 };

/** A UCX worker and its context: one a communicator, so that progress of one never runs another. */
struct coll_link {
    ucp_context_h context;
    ucp_worker_h worker;
    /** Endpoints of the bootstrap. They stay until the link closes: UCX matches later endpoints to
     * the same peer with them. */
    ucp_ep_h *kept;
    unsigned kept_count;
};

LEO_MUST_CHECK leo_status coll_link_open(struct coll_link *link);
void coll_link_close(struct coll_link *link);
/** Progresses; after some empty turns sleeps until something arrives (some milliseconds at most).
 */
void coll_link_idle(struct coll_link *link, unsigned *spins);
void coll_link_close_endpoint(struct coll_link *link, ucp_ep_h endpoint, bool force);
