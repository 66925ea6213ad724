/* SPDX-License-Identifier: Apache-2.0 */
/* LEO_CHECK=poison: what nobody wrote reads as NaN. */
#include "harness.h"

#include <leo/runtime.h>
#include <math.h>
#include <string.h>

#define OK(call) CU_ASSERT_EQUAL_FATAL(call, LEO_OK)

enum { FLOATS = 256 };

extern const unsigned char poison_1001_elf[], poison_2201_elf[];
extern const size_t poison_1001_elf_bytes, poison_2201_elf_bytes;

/* Runs `uses` twice: a block before must not lend its values to the next. */
static void run_uses(bool second, const char *check, float *out)
{
    const struct leo_rt_opts opts = {
        .size = sizeof(opts), .soc = second ? "ascend910b1" : "ascend910a", .check = check};
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_rt_module *module;
    struct leo_rt_kernel *kernel;
    uint64_t fresh, to;
    OK(leo_rt_create(&opts, &rt));
    OK(leo_rt_device_open(rt, 0, &device));
    OK(leo_rt_stream_create(device, &stream));
    OK(leo_rt_module_load(device, second ? poison_2201_elf : poison_1001_elf,
                          second ? poison_2201_elf_bytes : poison_1001_elf_bytes, "poison",
                          &module));
    OK(leo_rt_module_find(module, "uses", &kernel));
    OK(leo_rt_memory_alloc(device, FLOATS * 4, &fresh));
    OK(leo_rt_memory_alloc(device, FLOATS * 4, &to));
    const void *args[] = {&fresh, &to};
    for (int i = 0; i < 2; i++) {
        OK(leo_rt_launch(kernel, 1, stream, args, 2, NULL));
        OK(leo_rt_stream_synchronize(stream, -1));
    }
    OK(leo_rt_memcpy(device, out, (const void *)(uintptr_t)to, FLOATS * 4));
    leo_rt_module_unload(module);
    leo_rt_stream_destroy(stream);
    leo_rt_device_close(device);
    leo_rt_destroy(rt);
}

static void what_nobody_wrote_is_nan(void)
{
    for (int second = 0; second < 2; second++) {
        float out[FLOATS], plain[FLOATS];
        run_uses(second != 0, "poison", out);
        run_uses(second != 0, "none", plain);
        uint32_t bits;
        memcpy(&bits, &out[128], sizeof(bits));
        CU_ASSERT_EQUAL(out[0], 1.0f);
        // The first generation saturates: its vector unit makes 0 of NaN.
        CU_ASSERT(second ? isnan(out[64]) : out[64] == 0);
        CU_ASSERT_EQUAL(bits, 0xffffffffu);
        CU_ASSERT(isnan(out[200])); // never written
        CU_ASSERT(!isnan(plain[64]) && plain[128] == 0 && plain[200] == 0);
    }
}

static const struct leo_test tests[] = {
    {"what_nobody_wrote_is_nan", what_nobody_wrote_is_nan},
};

int main(int argc, char **argv)
{
    return leo_test_main("poison", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
