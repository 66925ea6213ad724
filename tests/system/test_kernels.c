/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 64 * 40 };

static void *ptr_of(uint64_t addr)
{
    return (void *)(uintptr_t)addr;
}

static void add_on(const char *soc)
{
    struct fixture f;
    fixture_open(&f, soc);
    float *host = malloc(3 * COUNT * sizeof(float));
    uint64_t dev;
    for (int i = 0; i < COUNT; i++) {
        host[i] = (float)i;
        host[COUNT + i] = (float)(3 * i + 1);
    }
    OK(leo_rt_memory_alloc(f.device, 3 * COUNT * sizeof(float), &dev));
    OK(leo_rt_memcpy(f.device, ptr_of(dev), host, 2 * COUNT * sizeof(float)));
    uint64_t a = dev, b = dev + COUNT * 4, c = dev + 2 * COUNT * 4;
    const void *args[] = {&a, &b, &c};
    OK(fixture_launch(&f, "add", COUNT / 64, args, 3));
    OK(leo_rt_memcpy(f.device, host + 2 * COUNT, ptr_of(c), COUNT * sizeof(float)));
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        wrong += host[2 * COUNT + i] != (float)(4 * i + 1);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(leo_rt_device_host_time_ns(f.device) > 0);
    OK(leo_rt_memory_free(f.device, dev));
    free(host);
    fixture_close(&f);
}

static void kernel_adds_vectors_on_910a(void)
{
    add_on(fixture_socs[0]);
}

static void kernel_adds_vectors_on_910b1(void)
{
    add_on(fixture_socs[1]);
}

static void launch_passes_every_argument_kind(void)
{
    for (int soc = 0; soc < 2; soc++) {
        struct fixture f;
        fixture_open(&f, fixture_socs[soc]);
        int8_t a = -5;
        uint8_t b = 251, t = 1;
        int16_t c = -300;
        uint16_t d = 65000, z = 0x3e00; // 1.5
        int32_t e = -70000;
        uint32_t u = 4000000000u;
        int64_t g = -5000000000ll;
        uint64_t h = 1ull << 63;
        float x = 2.25f;
        double y = -7.75;
        const void *args[] = {&f.out, &a, &b, &c, &d, &e, &u, &g, &h, &x, &y, &z, &t};
        OK(fixture_launch(&f, "arguments", 1, args, 13));
        int64_t got[12];
        const int64_t want[12] = {-5,        251, -300, 65000, -70000, 4000000000ll, -5000000000ll,
                                  INT64_MIN, 9,   -31,  6,     1};
        fixture_read(&f, got, 12);
        for (int i = 0; i < 12; i++) {
            CU_ASSERT_EQUAL(got[i], want[i]);
        }
        fixture_close(&f);
    }
}

static void launch_passes_structs_of_every_size(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[1]);
    const struct {
        int16_t a, b;
        float c;
    } s = {-3, 4, 5.0f};
    const struct {
        uint64_t a;
        float b;
        int32_t c;
    } p = {1ull << 40, 6.0f, -7};
    const struct {
        int32_t a[9];
        double b;
    } q = {{100, 0, 0, 0, 0, 0, 0, 0, 11}, 12.0};
    int32_t last = -13;
    const void *args[] = {&f.out, &s, &p, &q, &last};
    OK(fixture_launch(&f, "structs", 1, args, 5));
    int64_t got[9];
    const int64_t want[9] = {-3, 4, 5, 1ll << 40, 6, -7, 111, 12, -13};
    fixture_read(&f, got, 9);
    for (int i = 0; i < 9; i++) {
        CU_ASSERT_EQUAL(got[i], want[i]);
    }
    fixture_close(&f);
}

static void aligned_structs_are_where_the_compiler_reads_them(void)
{
    enum { WORDS = 13 };
    struct fixture f;
    fixture_open(&f, fixture_socs[1]);
    _Alignas(16) int64_t words[WORDS + 1];
    int64_t got[WORDS];
    for (int i = 0; i < WORDS; i++) {
        words[i] = 100 + i;
    }
    const void *args[] = {&f.out,    &words[0], &words[2], &words[3],  &words[4], &words[5],
                          &words[6], &words[8], &words[9], &words[10], &words[12]};
    OK(fixture_launch(&f, "aligned_structs", 1, args, 11));
    fixture_read(&f, got, WORDS);
    for (int i = 0; i < WORDS; i++) {
        CU_ASSERT_EQUAL(got[i], words[i]);
    }
    fixture_close(&f);
}

static void every_block_has_its_own_globals(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    const void *args[] = {&f.out};
    for (int round = 0; round < 2; round++) {
        OK(fixture_launch(&f, "globals", 100, args, 1));
        int64_t got[100];
        fixture_read(&f, got, 100);
        for (int i = 0; i < 100; i++) {
            CU_ASSERT_EQUAL(got[i], 1041 + (i & 1));
        }
    }
    fixture_close(&f);
}

static void launch_carries_data_along(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    enum { LAUNCHES = 200 };
    int32_t data[1000], count = 1000;
    int64_t sum[LAUNCHES];
    uint64_t out, at;
    for (int i = 0; i < 1000; i++) {
        data[i] = i;
    }
    struct leo_rt_kernel *kernel = fixture_kernel(&f, "sum_data");
    const void *args[] = {&at, NULL, &count};
    const struct leo_rt_arg_data with = {.index = 1, .data = data, .bytes = sizeof(data)};
    OK(leo_rt_memory_alloc(f.device, sizeof(sum), &out));
    // Many more than the argument ring holds: none may be written over before it was read.
    for (int i = 0; i < LAUNCHES; i++) {
        data[0] = i;
        at = out + (uint64_t)i * sizeof(sum[0]);
        OK(leo_rt_launch_with_data(kernel, 1, f.stream, args, 3, &with, 1, NULL));
    }
    OK(leo_rt_stream_synchronize(f.stream, -1));
    OK(leo_rt_memcpy(f.device, sum, ptr_of(out), sizeof(sum)));
    for (int i = 0; i < LAUNCHES; i++) {
        CU_ASSERT_EQUAL(sum[i], 499500 + i);
    }
    fixture_close(&f);
}

static void packed_launch_takes_blocks_from_host_and_device(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    struct leo_rt_kernel *kernel = fixture_kernel(&f, "step");
    uint64_t block[3] = {f.out, 2, 0}, on_device;
    OK(leo_rt_memory_alloc(f.device, sizeof(block), &on_device));
    OK(leo_rt_memcpy(f.device, ptr_of(on_device), block, sizeof(block)));
    OK(leo_rt_memset_async(f.stream, f.out, 0, 8));
    OK(leo_rt_launch_packed(kernel, 1, f.stream, block, sizeof(block), false, NULL));
    OK(leo_rt_launch_packed(kernel, 1, f.stream, ptr_of(on_device), sizeof(block), true, NULL));
    OK(leo_rt_stream_synchronize(f.stream, -1));
    int64_t value;
    fixture_read(&f, &value, 1);
    CU_ASSERT_EQUAL(value, 8);
    OK(leo_rt_memory_free(f.device, on_device));
    fixture_close(&f);
}

// A slot of a large structure holds the offset of its copy, all of which must be in the block.
static void structures_of_a_block_are_in_it(void)
{
    enum { SLOTS = 6, BIG = 48, BYTES = SLOTS * 8 + BIG };
    struct fixture f;
    fixture_open(&f, fixture_socs[1]);
    struct leo_rt_kernel *kernel = fixture_kernel(&f, "structs");
    uint64_t block[BYTES / 8] = {f.out, 0, 0, 0, SLOTS * 8, 7};
    int32_t word = 31;
    int64_t got[9];
    memcpy((char *)block + SLOTS * 8, &word, sizeof(word));
    OK(leo_rt_launch_packed(kernel, 1, f.stream, block, BYTES, false, NULL));
    OK(leo_rt_stream_synchronize(f.stream, -1));
    fixture_read(&f, got, 9);
    CU_ASSERT(got[6] == 31 && got[8] == 7);
    const uint64_t wrong[] = {SLOTS * 8 + 1, SLOTS * 8 + 8, BYTES, BYTES + 8, UINT64_MAX - 8};
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        block[4] = wrong[i];
        CU_ASSERT_EQUAL(leo_rt_launch_packed(kernel, 1, f.stream, block, BYTES, false, NULL),
                        LEO_ERR_RANGE);
    }
    fixture_close(&f);
}

static void launch_refuses_wrong_arguments(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    struct leo_rt_kernel *kernel = fixture_kernel(&f, "step");
    const void *args[3] = {&f.out, &f.out, &f.out};
    uint64_t block[3] = {0};
    CU_ASSERT_EQUAL(leo_rt_launch(kernel, 0, f.stream, args, 3, NULL), LEO_ERR_RANGE);
    CU_ASSERT_EQUAL(leo_rt_launch(kernel, 65536, f.stream, args, 3, NULL), LEO_ERR_RANGE);
    CU_ASSERT_EQUAL(leo_rt_launch(kernel, 1, f.stream, args, 2, NULL), LEO_ERR_INVALID_ARG);
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), "takes 3 arguments, 2 were given"));
    args[1] = NULL;
    CU_ASSERT_EQUAL(leo_rt_launch(kernel, 1, f.stream, args, 3, NULL), LEO_ERR_INVALID_ARG);
    CU_ASSERT_EQUAL(leo_rt_launch_packed(kernel, 1, f.stream, block, 16, false, NULL),
                    LEO_ERR_INVALID_ARG);
    CU_ASSERT_EQUAL(leo_rt_launch_packed(kernel, 1, f.stream, block, 24, true, NULL),
                    LEO_ERR_BAD_POINTER);
    fixture_check_alive(&f);
    fixture_close(&f);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"kernel_adds_vectors_on_910a", kernel_adds_vectors_on_910a},
        {"kernel_adds_vectors_on_910b1", kernel_adds_vectors_on_910b1},
        {"launch_passes_every_argument_kind", launch_passes_every_argument_kind},
        {"launch_passes_structs_of_every_size", launch_passes_structs_of_every_size},
        {"aligned_structs_are_where_the_compiler_reads_them",
         aligned_structs_are_where_the_compiler_reads_them},
        {"every_block_has_its_own_globals", every_block_has_its_own_globals},
        {"launch_carries_data_along", launch_carries_data_along},
        {"packed_launch_takes_blocks_from_host_and_device",
         packed_launch_takes_blocks_from_host_and_device},
        {"structures_of_a_block_are_in_it", structures_of_a_block_are_in_it},
        {"launch_refuses_wrong_arguments", launch_refuses_wrong_arguments},
    };
    return leo_test_main("kernels", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
