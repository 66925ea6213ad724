/* SPDX-License-Identifier: Apache-2.0 */
/* A driver on the null transport. */
#pragma once

#include "harness.h"
#include <leo/driver.h>
#include <leo/transport.h>

#define OK(call) CU_ASSERT_EQUAL_FATAL(call, LEO_OK)

static inline struct leo_drv_device *null_device(bool complete, struct leo_transport **transport)
{
    const struct leo_drv_null_opts opts = {.size = sizeof(opts), .complete = complete};
    struct leo_drv_device *device;
    OK(leo_drv_transport_null_open(&opts, transport));
    OK(leo_drv_device_create(*transport, &device));
    return device;
}

/** A completion callback that remembers what it was told. */
struct seen {
    unsigned count;
    uint32_t cmd_id[64];
    struct leo_drv_completion last;
};

static inline void see(void *user, uint32_t cmd_id, const struct leo_drv_completion *done)
{
    struct seen *seen = user;
    seen->cmd_id[seen->count++ % 64] = cmd_id;
    seen->last = *done;
}
