/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include "shm_cleanup.h"
#include "wire.h"

#include <leo/alloc.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <ucs/config/global_opts.h>

uint64_t coll_wire_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

leo_status coll_link_open(struct coll_link *link)
{
    memset(link, 0, sizeof(*link));
    coll_shm_cleanup(); // of a group of which no process is left
    // The library reports errors itself, and signals are the program's.
    ucs_global_opts_set_value("LOG_LEVEL", "fatal");
    ucs_global_opts_set_value("HANDLE_ERRORS", "none");
    ucp_config_t *config;
    if (ucp_config_read(NULL, NULL, &config) != UCS_OK) {
        return LEO_ERR_IO;
    }
    // A rank that is killed is noticed within this time even when no rank sends to it.
    ucp_config_modify(config, "KEEPALIVE_INTERVAL", "1s");
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME,
        .features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP,
        .name = "leonardo",
    };
    ucs_status_t status = ucp_init(&params, config, &link->context);
    ucp_config_release(config);
    if (status != UCS_OK) {
        link->context = NULL;
        return LEO_ERR_IO;
    }
    // Made on one thread, used on another, never on two at once.
    const ucp_worker_params_t worker = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SERIALIZED,
    };
    if (ucp_worker_create(link->context, &worker, &link->worker) != UCS_OK) {
        ucp_cleanup(link->context);
        link->context = NULL;
        link->worker = NULL;
        return LEO_ERR_IO;
    }
    return LEO_OK;
}

void coll_link_close(struct coll_link *link)
{
    for (unsigned i = 0; i < link->kept_count; i++) {
        coll_link_close_endpoint(link, link->kept[i], true);
    }
    leo_free(link->kept);
    if (link->worker) {
        ucp_worker_destroy(link->worker);
    }
    if (link->context) {
        ucp_cleanup(link->context);
    }
    memset(link, 0, sizeof(*link));
}

void coll_link_idle(struct coll_link *link, unsigned *spins)
{
    if (ucp_worker_progress(link->worker)) {
        *spins = 0;
        return;
    }
    if (++*spins < COLL_LINK_SPINS) {
        if (*spins % 16 == 0) {
            sched_yield();
        }
        return;
    }
    int fd;
    if (ucp_worker_get_efd(link->worker, &fd) != UCS_OK) {
        sched_yield();
        return;
    }
    if (ucp_worker_arm(link->worker) == UCS_OK) {
        struct pollfd events = {.fd = fd, .events = POLLIN};
        (void)poll(&events, 1, COLL_LINK_SLEEP_MS);
    }
}

/* Closes without waiting for the peer: what is still under way is dropped. */
void coll_link_close_endpoint(struct coll_link *link, ucp_ep_h endpoint, bool force)
{
    if (!endpoint) {
        return;
    }
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags = force ? UCP_EP_CLOSE_FLAG_FORCE : 0,
    };
    ucs_status_ptr_t request = ucp_ep_close_nbx(endpoint, &param);
    if (!UCS_PTR_IS_PTR(request)) {
        return;
    }
    unsigned spins = 0;
    const uint64_t deadline = coll_wire_now_ms() + 1000;
    while (ucp_request_check_status(request) == UCS_INPROGRESS && coll_wire_now_ms() < deadline) {
        coll_link_idle(link, &spins);
    }
    ucp_request_free(request);
}
