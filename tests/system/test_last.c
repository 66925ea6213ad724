/* SPDX-License-Identifier: Apache-2.0 */
/* Cores that meet at a counter, and additions of the first generation. */
#include "harness.h"

#include <leo/runtime.h>
#include <stdio.h>

#define OK(call) CU_ASSERT_EQUAL_FATAL(call, LEO_OK)

enum { BYTES = 4096 };

extern const unsigned char last_1001_elf[], last_2201_elf[];
extern const size_t last_1001_elf_bytes, last_2201_elf_bytes;

static const char *const socs[] = {"ascend910a", "ascend910b1"};
static const unsigned core_counts[] = {32, 48};

struct rig {
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_rt_module *module;
    uint64_t count, part, sum;
};

static void open_rig(struct rig *rig, unsigned soc, unsigned threads)
{
    const struct leo_rt_opts opts = {
        .size = sizeof(opts), .soc = socs[soc], .host_threads = threads, .check = "all"};
    OK(leo_rt_create(&opts, &rig->rt));
    OK(leo_rt_device_open(rig->rt, 0, &rig->device));
    OK(leo_rt_stream_create(rig->device, &rig->stream));
    OK(leo_rt_module_load(rig->device, soc ? last_2201_elf : last_1001_elf,
                          soc ? last_2201_elf_bytes : last_1001_elf_bytes, "last", &rig->module));
    uint64_t *const buffers[] = {&rig->count, &rig->part, &rig->sum};
    for (int i = 0; i < 3; i++) {
        OK(leo_rt_memory_alloc(rig->device, BYTES, buffers[i]));
        OK(leo_rt_memset_async(rig->stream, *buffers[i], 0, BYTES));
    }
}

static void close_rig(struct rig *rig)
{
    leo_rt_module_unload(rig->module);
    leo_rt_stream_destroy(rig->stream);
    leo_rt_device_close(rig->device);
    leo_rt_destroy(rig->rt);
}

static leo_status run(struct rig *rig, const char *name, uint32_t blocks, const void *const *args,
                      unsigned count)
{
    struct leo_rt_kernel *kernel;
    OK(leo_rt_module_find(rig->module, name, &kernel));
    OK(leo_rt_launch(kernel, blocks, rig->stream, args, count, NULL));
    return leo_rt_stream_synchronize(rig->stream, -1);
}

static float read_sum(struct rig *rig)
{
    float sum = 0;
    OK(leo_rt_memcpy(rig->device, &sum, (const void *)(uintptr_t)rig->sum, sizeof(sum)));
    return sum;
}

static void the_last_core_may_read_all_parts(void)
{
    for (unsigned soc = 0; soc < 2; soc++) {
        for (unsigned threads = 1; threads < 4; threads++) {
            struct rig rig;
            const unsigned blocks = core_counts[soc] + 3;
            open_rig(&rig, soc, threads);
            const void *args[] = {&rig.count, &rig.part, &rig.sum};
            const leo_status status = run(&rig, "add_last", blocks, args, 3);
            if (status) {
                printf("\n  %s\n", leo_rt_last_error());
            }
            CU_ASSERT_EQUAL(status, LEO_OK);
            CU_ASSERT_EQUAL(read_sum(&rig), (float)(blocks * (blocks + 1) / 2));
            close_rig(&rig);
        }
    }
}

static void a_part_that_is_not_waited_for_is_told(void)
{
    for (unsigned soc = 0; soc < 2; soc++) {
        struct rig rig;
        open_rig(&rig, soc, 2);
        const void *args[] = {&rig.count, &rig.part, &rig.sum};
        CU_ASSERT_EQUAL(run(&rig, "count_early", 8, args, 3), LEO_ERR_FAULT);
        CU_ASSERT_EQUAL(leo_rt_stream_last_fault(rig.stream), LEO_FAULT_RACE);
        close_rig(&rig);
    }
}

// The second generation has other operations too: there the type alone adds nothing.
static void the_type_alone_adds_on_the_first_generation(void)
{
    for (unsigned soc = 0; soc < 2; soc++) {
        struct rig rig;
        open_rig(&rig, soc, 1);
        const void *args[] = {&rig.sum};
        OK(run(&rig, "add_ones", 1, args, 1));
        OK(run(&rig, "add_ones", 1, args, 1));
        CU_ASSERT_EQUAL(read_sum(&rig), soc ? 1.0f : 2.0f);
        close_rig(&rig);
    }
}

static const struct leo_test tests[] = {
    {"the_last_core_may_read_all_parts", the_last_core_may_read_all_parts},
    {"a_part_that_is_not_waited_for_is_told", a_part_that_is_not_waited_for_is_told},
    {"the_type_alone_adds_on_the_first_generation", the_type_alone_adds_on_the_first_generation},
};

int main(int argc, char **argv)
{
    return leo_test_main("last", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
