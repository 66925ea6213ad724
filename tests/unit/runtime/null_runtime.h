/* SPDX-License-Identifier: Apache-2.0 */
/* A runtime on the null transport. */
#pragma once

#include "harness.h"
#include <leo/driver.h>
#include <leo/runtime.h>

#define OK(call) CU_ASSERT_EQUAL_FATAL(call, LEO_OK)

extern const unsigned char runtime_kernels_elf[];
extern const size_t runtime_kernels_elf_bytes;

struct null_runtime {
    struct leo_drv_null_opts null;
    struct leo_transport *transport; /**< of the last device opened */
    struct leo_rt *rt;
    struct leo_rt_device *device;
};

static inline leo_status null_open(void *user, int index, struct leo_transport **transport)
{
    struct null_runtime *null = user;
    (void)index;
    leo_status status = leo_drv_transport_null_open(&null->null, transport);
    null->transport = *transport;
    return status;
}

/** Returns the status instead of checking it, for failure tests. */
static inline leo_status null_runtime_try(struct null_runtime *null)
{
    const struct leo_rt_opts opts = {.size = sizeof(opts), .open = null_open, .open_user = null};
    leo_status status = leo_rt_create(&opts, &null->rt);
    return status ? status : leo_rt_device_open(null->rt, 0, &null->device);
}

static inline void null_runtime_open(struct null_runtime *null, bool complete)
{
    *null = (struct null_runtime){.null = {.size = sizeof(null->null), .complete = complete}};
    OK(null_runtime_try(null));
}

static inline void null_runtime_close(struct null_runtime *null)
{
    leo_rt_device_close(null->device);
    leo_rt_destroy(null->rt);
}
