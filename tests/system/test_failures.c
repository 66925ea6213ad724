/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the whole stack, simulator included, fails once between creation and a
 * finished kernel. */
#include "fixture.h"

#include <leo/alloc.h>
#include <string.h>

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

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"every_allocation_of_the_stack_can_fail", every_allocation_of_the_stack_can_fail},
    };
    return leo_test_main("failures", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
