/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation and every transport call fails once; each failure has a text, leaks nothing, and
 * can be retried. */
#include "null_runtime.h"

#include <leo/alloc.h>
#include <leo/driver.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_BYTES = 200000 };

struct work {
    struct null_runtime null;
    struct leo_rt_stream *stream;
    struct leo_rt_event *event;
    struct leo_rt_module *module;
    uint64_t addr;
    void *pinned;
    char *host;
};

static leo_status launch_step(struct work *work)
{
    int64_t x = 1;
    int32_t spins = 0;
    struct leo_rt_kernel *kernel;
    const void *args[] = {&work->addr, &x, &spins};
    leo_status status = leo_rt_module_find(work->module, "step", &kernel);
    return status ? status : leo_rt_launch(kernel, 4, work->stream, args, 3, "tag");
}

static leo_status step_open(struct work *work)
{
    return null_runtime_try(&work->null);
}

static leo_status step_stream(struct work *work)
{
    return leo_rt_stream_create(work->null.device, &work->stream);
}

static leo_status step_event(struct work *work)
{
    return leo_rt_event_create(work->null.device, &work->event);
}

static leo_status step_memory(struct work *work)
{
    return leo_rt_memory_alloc(work->null.device, COPY_BYTES, &work->addr);
}

static leo_status step_pinned(struct work *work)
{
    return leo_rt_host_alloc(work->null.device, 4096, &work->pinned);
}

static leo_status step_module(struct work *work)
{
    return leo_rt_module_load(work->null.device, runtime_kernels_elf, runtime_kernels_elf_bytes,
                              "kernels", &work->module);
}

static leo_status step_profile(struct work *work)
{
    return leo_rt_profile_start(work->null.device, 16, 16);
}

static leo_status step_copy(struct work *work)
{
    return leo_rt_memcpy(work->null.device, (void *)(uintptr_t)work->addr, work->host, COPY_BYTES);
}

static leo_status step_copy_async(struct work *work)
{
    return leo_rt_memcpy_async(work->stream, (void *)(uintptr_t)work->addr, work->host, 10000);
}

static leo_status step_copy_back(struct work *work)
{
    return leo_rt_memcpy_async(work->stream, work->host, (void *)(uintptr_t)work->addr, COPY_BYTES);
}

static leo_status step_record(struct work *work)
{
    return leo_rt_event_record(work->event, work->stream);
}

static leo_status step_wait(struct work *work)
{
    return leo_rt_event_wait(work->event, work->stream);
}

static leo_status step_synchronize(struct work *work)
{
    return leo_rt_stream_synchronize(work->stream, -1);
}

static leo_status step_profile_stop(struct work *work)
{
    return leo_rt_profile_stop(work->null.device);
}

static leo_status step_free(struct work *work)
{
    return leo_rt_memory_free(work->null.device, work->addr);
}

static leo_status (*const steps[])(struct work *) = {
    step_open,    step_stream,      step_event,        step_memory,     step_pinned,    step_module,
    step_profile, step_copy,        launch_step,       step_copy_async, step_copy_back, step_record,
    step_wait,    step_synchronize, step_profile_stop, step_free,
};
enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

static void reopen(struct work *work)
{
    // A runtime that was made without its device is thrown away before the retry.
    leo_rt_destroy(work->null.rt);
    work->null.rt = NULL;
}

// Runs everything; the failure strikes somewhere. Returns whether it was seen; every step is
// retried once.
static bool run(bool fail_alloc, int n)
{
    struct work work = {.null = {.null = {.size = sizeof(work.null.null), .complete = true}}};
    bool failed = false;
    work.host = calloc(1, COPY_BYTES);
    if (fail_alloc) {
        leo_alloc_fail_after(n);
    } else {
        work.null.null.fail_after = n;
    }
    for (int i = 0; i < STEPS; i++) {
        leo_status status = steps[i](&work);
        if (status) {
            failed = true;
            CU_ASSERT_EQUAL(status, fail_alloc ? LEO_ERR_NO_MEMORY : LEO_ERR_IO);
            CU_ASSERT(strlen(leo_rt_last_error()) > 10);
            work.null.null.fail_after = 0;
            if (i == 0) {
                reopen(&work);
            }
            CU_ASSERT_EQUAL_FATAL(steps[i](&work), LEO_OK);
        }
    }
    leo_alloc_fail_after(0);
    leo_drv_transport_null_fail_after(work.null.transport, 0);
    OK(leo_rt_host_free(work.null.device, work.pinned));
    leo_rt_module_unload(work.module);
    leo_rt_event_destroy(work.event);
    leo_rt_stream_destroy(work.stream);
    null_runtime_close(&work.null);
    free(work.host);
    return failed;
}

static void every_allocation_can_fail(void)
{
    int seen = 0;
    for (int n = 1; n <= 150; n++) {
        seen += run(true, n);
    }
    CU_ASSERT(seen > 40);
}

static void every_transport_call_can_fail(void)
{
    int seen = 0;
    for (int n = 1; n <= 150; n++) {
        seen += run(false, n);
    }
    CU_ASSERT(seen > 50);
}

static void launches_allocate_nothing(void)
{
    struct work work = {.null = {.null = {.size = sizeof(work.null.null), .complete = true}}};
    OK(step_open(&work));
    OK(step_stream(&work));
    OK(step_memory(&work));
    OK(step_module(&work));
    leo_alloc_fail_after(1);
    for (int i = 0; i < 5000; i++) {
        OK(launch_step(&work));
    }
    OK(step_synchronize(&work));
    CU_ASSERT_EQUAL(leo_alloc_fail_pending(), 1);
    leo_alloc_fail_after(0);
    null_runtime_close(&work.null);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"every_allocation_can_fail", every_allocation_can_fail},
        {"every_transport_call_can_fail", every_transport_call_can_fail},
        {"launches_allocate_nothing", launches_allocate_nothing},
    };
    return leo_test_main("failures", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
