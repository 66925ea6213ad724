/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the whole stack, simulator included, fails once between creation and a
 * finished kernel. */
#include "fixture.h"

#include <leo/alloc.h>
#include <string.h>
#include <unistd.h>

static leo_status run_all(const char *soc)
{
    const struct leo_rt_opts opts = {.size = sizeof(opts), .soc = soc, .host_threads = 2};
    struct leo_rt *rt = NULL;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_rt_module *module;
    struct leo_rt_kernel *kernel;
    uint64_t out = 0;
    int64_t x = 5, value = 1;
    int32_t spins = 0;
    size_t bytes;
    const unsigned char *elf = fixture_elf(soc, &bytes);
    leo_status status = leo_rt_create(&opts, &rt);
    if (status == LEO_OK) {
        status = leo_rt_device_open(rt, 0, &device);
    }
    if (status == LEO_OK) {
        status = leo_rt_stream_create(device, &stream);
    }
    if (status == LEO_OK) {
        status = leo_rt_module_load(device, elf, bytes, "system", &module);
    }
    if (status == LEO_OK) {
        status = leo_rt_module_find(module, "step", &kernel);
    }
    if (status == LEO_OK) {
        status = leo_rt_memory_alloc(device, 4096, &out);
    }
    if (status == LEO_OK) {
        status = leo_rt_memcpy(device, (void *)(uintptr_t)out, &value, sizeof(value));
    }
    const void *args[] = {&out, &x, &spins};
    if (status == LEO_OK) {
        status = leo_rt_launch(kernel, 3, stream, args, 3, NULL);
    }
    if (status == LEO_OK) {
        status = leo_rt_stream_synchronize(stream, -1);
    }
    if (status == LEO_OK) {
        status = leo_rt_memcpy(device, &value, (const void *)(uintptr_t)out, sizeof(value));
    }
    leo_rt_destroy(rt);
    CU_ASSERT(status != LEO_OK || value != 1);
    return status;
}

static void every_allocation_of_the_stack_can_fail(void)
{
    for (int soc = 0; soc < 2; soc++) {
        int n = 1, seen = 0, pending;
        do {
            leo_alloc_fail_after(n);
            leo_status status = run_all(fixture_socs[soc]);
            pending = leo_alloc_fail_pending();
            leo_alloc_fail_after(0);
            if (status) {
                seen++;
                CU_ASSERT(strlen(leo_rt_last_error()) > 10);
            }
            // The chip's many alike ones (a core each) are sampled.
            n += n < 200 ? 1 : 7;
        } while (!pending && n < 3000);
        CU_ASSERT(seen > 20);
        CU_ASSERT(pending > 0);
        CU_ASSERT_EQUAL(run_all(fixture_socs[soc]), LEO_OK);
    }
}

/** Two streams whose values are computed while the program pauses (decision 27). */
struct pair {
    struct fixture f;
    struct leo_rt_stream *stream[2];
    uint64_t out[2];
};

static void pair_open(struct pair *pair, const char *soc)
{
    const int64_t one = 1;
    fixture_open(&pair->f, soc);
    pair->stream[0] = pair->f.stream;
    OK(leo_rt_stream_create(pair->f.device, &pair->stream[1]));
    for (int i = 0; i < 2; i++) {
        OK(leo_rt_memory_alloc(pair->f.device, 4096, &pair->out[i]));
        OK(leo_rt_memcpy(pair->f.device, (void *)(uintptr_t)pair->out[i], &one, sizeof(one)));
    }
}

static void pair_submit(struct pair *pair)
{
    struct leo_rt_kernel *kernel = fixture_kernel(&pair->f, "step");
    for (int i = 0; i < 2; i++) {
        int64_t x = 5;
        int32_t spins = 100;
        const void *args[] = {&pair->out[i], &x, &spins};
        OK(leo_rt_launch(kernel, 1, pair->stream[i], args, 3, NULL));
        OK(leo_rt_launch(kernel, 1, pair->stream[i], args, 3, NULL));
        // Not to the host: a pause then counts as a wait, in which nothing is early.
        OK(leo_rt_memcpy_async(pair->stream[i], (void *)(uintptr_t)(pair->out[i] + 2048),
                               (const void *)(uintptr_t)pair->out[i], sizeof(int64_t)));
    }
}

// The n-th allocation of what is computed early fails: the rest is done in time. Allocations that
// were still to be made before it.
static int lead_without_memory(const char *soc, int n)
{
    enum { TURNS = 100, TURN_US = 1000 };
    struct pair pair = {0};
    pair_open(&pair, soc);
    pair_submit(&pair);
    leo_alloc_fail_after(n);
    for (int i = 0; i < TURNS && leo_alloc_fail_pending(); i++) {
        usleep(TURN_US);
    }
    const int pending = leo_alloc_fail_pending();
    leo_alloc_fail_after(0);
    for (int i = 0; i < 2; i++) {
        int64_t got = 0;
        OK(leo_rt_stream_synchronize(pair.stream[i], -1));
        OK(leo_rt_memcpy(pair.f.device, &got, (const void *)(uintptr_t)(pair.out[i] + 2048),
                         sizeof(got)));
        CU_ASSERT_EQUAL(got, (1 * 3 + 5) * 3 + 5);
    }
    fixture_close(&pair.f);
    return pending;
}

static void values_that_lead_do_without_memory(void)
{
    enum { TRIES = 5, MAX_COUNT = 200 }; // a loaded machine may not get to it in one pause
    int n = 1;
    for (int tries = 0; tries < TRIES && n < MAX_COUNT;) {
        const bool failed = lead_without_memory(fixture_socs[1], n) == 0;
        n += failed;
        tries = failed ? 0 : tries + 1;
    }
    CU_ASSERT(n > 1 && n < MAX_COUNT);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"every_allocation_of_the_stack_can_fail", every_allocation_of_the_stack_can_fail},
        {"values_that_lead_do_without_memory", values_that_lead_do_without_memory},
    };
    return leo_test_main("failures", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
