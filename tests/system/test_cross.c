/* SPDX-License-Identifier: Apache-2.0 */
/* Cores that work together on a split chip: flags between cores, launches of groups. */
#include "harness.h"

#include <leo/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) CU_ASSERT_EQUAL_FATAL(call, LEO_OK)

enum { M = 64, K = 32, N = 48, OUT_WORDS = 4096 };

extern const unsigned char cross_elf[];
extern const size_t cross_elf_bytes;

struct rig {
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_rt_module *module;
    uint64_t out, more;
};

static void open_rig(struct rig *rig, unsigned threads)
{
    const struct leo_rt_opts opts = {
        .size = sizeof(opts), .soc = "ascend910b1", .host_threads = threads, .limit_us = 2000};
    OK(leo_rt_create(&opts, &rig->rt));
    OK(leo_rt_device_open(rig->rt, 0, &rig->device));
    OK(leo_rt_stream_create(rig->device, &rig->stream));
    OK(leo_rt_module_load(rig->device, cross_elf, cross_elf_bytes, "cross", &rig->module));
    OK(leo_rt_memory_alloc(rig->device, OUT_WORDS * 8, &rig->out));
    OK(leo_rt_memory_alloc(rig->device, OUT_WORDS * 8, &rig->more));
}

static void close_rig(struct rig *rig)
{
    leo_rt_module_unload(rig->module);
    leo_rt_stream_destroy(rig->stream);
    leo_rt_device_close(rig->device);
    leo_rt_destroy(rig->rt);
}

static void start(struct rig *rig, struct leo_rt_stream *stream, const char *name, uint32_t blocks,
                  const void *const *args, unsigned count)
{
    struct leo_rt_kernel *kernel;
    OK(leo_rt_module_find(rig->module, name, &kernel));
    OK(leo_rt_launch(kernel, blocks, stream, args, count, NULL));
}

static leo_status run(struct rig *rig, const char *name, uint32_t blocks, const void *const *args,
                      unsigned count)
{
    start(rig, rig->stream, name, blocks, args, count);
    leo_status status = leo_rt_stream_synchronize(rig->stream, -1);
    if (status && status != LEO_ERR_FAULT) {
        printf("\n  %s: %s\n", name, leo_rt_last_error());
    }
    return status;
}

static void read_back(struct rig *rig, uint64_t from, void *to, size_t bytes)
{
    OK(leo_rt_memcpy(rig->device, to, (const void *)(uintptr_t)from, bytes));
}

static void expect_text(const char *part)
{
    bool found = strstr(leo_rt_last_error(), part) != NULL;
    if (!found) {
        printf("\n    wanted \"%s\" in: %s\n", part, leo_rt_last_error());
    }
    CU_ASSERT(found);
}

/* A launch that must work after a fault. */
static void check_alive(struct rig *rig)
{
    int64_t out[3 * 8];
    int32_t rounds = 3;
    OK(leo_rt_stream_synchronize(rig->stream, -1));
    const void *args[] = {&rig->out, &rounds};
    OK(run(rig, "turns", 1, args, 2));
    read_back(rig, rig->out, out, sizeof(out));
    CU_ASSERT_EQUAL(out[0], 3);
}

/* HW-CHIP-46 */
static void blocks_see_what_all_wrote(void)
{
    const unsigned counts[] = {1, 7, 48};
    for (unsigned i = 0; i < 3; i++) {
        struct rig rig;
        float sum[48 * 8];
        open_rig(&rig, 1 + i);
        const void *args[] = {&rig.more, &rig.out};
        OK(run(&rig, "sum_all", counts[i], args, 2));
        read_back(&rig, rig.out, sum, sizeof(sum));
        for (unsigned block = 0; block < counts[i]; block++) {
            CU_ASSERT_EQUAL(sum[block * 8], (float)(counts[i] * (counts[i] + 1) / 2));
        }
        close_rig(&rig);
    }
}

/* The bits of a small whole number in f16. */
static uint16_t half_of(int value)
{
    static const uint16_t bits[] = {0,      0x3c00, 0x4000, 0x4200, 0x4400,
                                    0x4500, 0x4600, 0x4700, 0x4800};
    return (uint16_t)(bits[abs(value)] | (value < 0 ? 0x8000 : 0));
}

static int a_at(int i)
{
    return i * 7 % 17 - 8;
}

static int b_at(int i)
{
    return i * 5 % 13 - 6;
}

/* 30 blocks on 24 groups: some groups take two. */
static void cube_and_vector_cores_share_a_block(void)
{
    enum { BLOCKS = 30 };
    struct rig rig;
    uint16_t *a = calloc(BLOCKS * M * K, sizeof(*a)), *b = calloc(K * N, sizeof(*b));
    float *c = calloc(BLOCKS * M * N, sizeof(*c));
    uint64_t dev[4];
    open_rig(&rig, 2);
    for (int i = 0; i < BLOCKS * M * K; i++) {
        a[i] = half_of(a_at(i));
    }
    for (int i = 0; i < K * N; i++) {
        b[i] = half_of(b_at(i));
    }
    const size_t bytes[] = {BLOCKS * M * K * 2, K * N * 2, BLOCKS * M * N * 4, BLOCKS * M * N * 4};
    for (int i = 0; i < 4; i++) {
        OK(leo_rt_memory_alloc(rig.device, bytes[i], &dev[i]));
    }
    OK(leo_rt_memcpy(rig.device, (void *)(uintptr_t)dev[0], a, bytes[0]));
    OK(leo_rt_memcpy(rig.device, (void *)(uintptr_t)dev[1], b, bytes[1]));
    const void *args[] = {&dev[0], &dev[1], &dev[2], &dev[3]};
    OK(run(&rig, "fused", BLOCKS, args, 4));
    read_back(&rig, dev[3], c, bytes[3]);
    unsigned wrong = 0;
    for (int i = 0; i < BLOCKS * M; i++) {
        for (int j = 0; j < N; j++) {
            int sum = 0;
            for (int k = 0; k < K; k++) {
                sum += a_at(i * K + k) * b_at(k * N + j);
            }
            wrong += c[i * N + j] != (float)((sum > 0 ? sum : 0) + 1);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    close_rig(&rig);
    free(a);
    free(b);
    free(c);
}

static uint64_t time_turns(unsigned threads, int64_t *out)
{
    struct rig rig;
    int32_t rounds = 200;
    uint64_t ns = 0;
    open_rig(&rig, threads);
    const void *args[] = {&rig.out, &rounds};
    OK(leo_rt_profile_start(rig.device, 16, 0));
    OK(run(&rig, "turns", 24, args, 2));
    struct leo_rt_profile_task tasks[16];
    size_t count = 0;
    OK(leo_rt_profile_tasks(rig.device, tasks, 16, &count, NULL));
    for (size_t i = 0; i < count; i++) {
        if (tasks[i].record.opcode == LEO_SQE_OP_KERNEL) {
            ns = tasks[i].record.end_ns - tasks[i].record.start_ns;
            CU_ASSERT_EQUAL(tasks[i].record.cores, 72);
        }
    }
    read_back(&rig, rig.out, out, 24 * 3 * 8 * sizeof(*out));
    close_rig(&rig);
    return ns;
}

static void turns_take_the_same_time_on_any_threads(void)
{
    int64_t out[24 * 3 * 8];
    const uint64_t one = time_turns(1, out);
    for (int i = 0; i < 24 * 3; i++) {
        CU_ASSERT_EQUAL(out[i * 8], 200);
        CU_ASSERT_EQUAL(out[i * 8 + 1], i % 3 ? 2 : 1);
        CU_ASSERT_EQUAL(out[i * 8 + 2], 2);
    }
    // Three hand-overs of 140 ns a round.
    CU_ASSERT(one > 200 * 3 * 140 && one < 200 * 3 * 160);
    CU_ASSERT_EQUAL(time_turns(2, out), one);
    CU_ASSERT_EQUAL(time_turns(5, out), one);
}

/* HW-CHIP-45 */
static void a_group_may_have_one_vector_core(void)
{
    struct rig rig;
    int64_t out[24 * 2 * 8];
    open_rig(&rig, 2);
    const void *args[] = {&rig.out};
    OK(run(&rig, "pair", 24, args, 1));
    read_back(&rig, rig.out, out, sizeof(out));
    for (int i = 0; i < 24; i++) {
        CU_ASSERT_EQUAL(out[i * 16], i);
        CU_ASSERT_EQUAL(out[i * 16 + 8], 24 + 2 * i);
    }
    close_rig(&rig);
}

/* HW-CHIP-48 */
static void waiting_for_ever_is_told(void)
{
    struct rig rig;
    open_rig(&rig, 2);
    const void *args[] = {&rig.out};
    CU_ASSERT_EQUAL(run(&rig, "late", 2, args, 1), LEO_ERR_FAULT);
    CU_ASSERT_EQUAL(leo_rt_stream_last_fault(rig.stream), LEO_FAULT_CORE_DEADLOCK);
    expect_text("kernel late: deadlock: 4 cores wait");
    expect_text("block 1 (cube core 1): wait_flag_dev at cross_kernels.c:");
    expect_text(
        "flag 3 of its vector cores; vector core 27 (block 1) has not set it before its end");
    expect_text("flag 4 of its cube core; cube core 0 (block 0) has not set it, waiting itself at "
                "cross_kernels.c:");
    check_alive(&rig);
    // More blocks than cores can never meet.
    const void *two[] = {&rig.more, &rig.out};
    CU_ASSERT_EQUAL(run(&rig, "sum_all", 49, two, 2), LEO_ERR_FAULT);
    expect_text("deadlock: 48 cores wait");
    expect_text("flag 5 of all vector cores; block 48 has not set it: it has not started, all "
                "cores are taken");
    check_alive(&rig);
    close_rig(&rig);
}

/* What nobody waits for would still be there for the next launch. */
static void flags_left_are_told(void)
{
    static const struct {
        int32_t mode;
        const char *text;
    } cases[] = {{1, "flag 7 of its cube core was raised 1 time more than it was waited for"},
                 {0, "flag 8 of all vector cores was raised 1 time more than"}};
    CU_ASSERT_FATAL(setenv("LEO_CHECK", "hazard", 1) == 0);
    for (int i = 0; i < 2; i++) {
        struct rig rig;
        open_rig(&rig, 2);
        const void *args[] = {&rig.out, &cases[i].mode};
        CU_ASSERT_EQUAL(run(&rig, "left", 2, args, 2), LEO_ERR_FAULT);
        expect_text("flag_left: block 0");
        expect_text("at cross_kernels.c:");
        expect_text(cases[i].text);
        check_alive(&rig);
        close_rig(&rig);
    }
    unsetenv("LEO_CHECK");
}

/* HW-CHIP-47, HW-CHIP-48 */
static void another_fault_comes_first(void)
{
    struct rig rig;
    open_rig(&rig, 2);
    const void *args[] = {&rig.out};
    CU_ASSERT_EQUAL(run(&rig, "trapped", 10, args, 1), LEO_ERR_FAULT);
    CU_ASSERT_EQUAL(leo_rt_stream_last_fault(rig.stream), LEO_FAULT_KERNEL_TRAP);
    check_alive(&rig);
    CU_ASSERT_EQUAL(run(&rig, "lonely", 2, args, 1), LEO_ERR_FAULT);
    CU_ASSERT_EQUAL(leo_rt_stream_last_fault(rig.stream), LEO_FAULT_ILLEGAL_CONFIG);
    check_alive(&rig);
    close_rig(&rig);
}

static void a_counter_holds_fifteen(void)
{
    struct rig rig;
    int32_t times = 15;
    open_rig(&rig, 2);
    const void *args[] = {&rig.out, &times};
    OK(run(&rig, "flood", 3, args, 2));
    times = 16;
    CU_ASSERT_EQUAL(run(&rig, "flood", 3, args, 2), LEO_ERR_FAULT);
    CU_ASSERT_EQUAL(leo_rt_stream_last_fault(rig.stream), LEO_FAULT_CROSS_OVERFLOW);
    check_alive(&rig);
    close_rig(&rig);
}

/* Groups and single cores from two streams at a time. */
static void groups_share_the_chip(void)
{
    enum { LAUNCHES = 10 };
    struct rig rig;
    struct leo_rt_stream *other;
    int32_t rounds = 5, spins = 300;
    int64_t out[60 * 3 * 8], more[100 * 8];
    open_rig(&rig, 2);
    OK(leo_rt_stream_create(rig.device, &other));
    const void *turns[] = {&rig.out, &rounds}, *spin[] = {&rig.more, &spins};
    for (int i = 0; i < LAUNCHES; i++) {
        start(&rig, other, "spin", 100, spin, 2);
        start(&rig, rig.stream, "turns", 1 + (uint32_t)i * 2, turns, 2);
    }
    OK(leo_rt_stream_synchronize(rig.stream, -1));
    OK(leo_rt_stream_synchronize(other, -1));
    read_back(&rig, rig.out, out, sizeof(out));
    read_back(&rig, rig.more, more, sizeof(more));
    for (int i = 0; i < 19 * 3; i++) {
        CU_ASSERT_EQUAL(out[i * 8], 5);
    }
    for (int i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(more[i * 8], 300);
    }
    leo_rt_stream_destroy(other);
    close_rig(&rig);
}

static const struct leo_test tests[] = {
    {"blocks_see_what_all_wrote", blocks_see_what_all_wrote},
    {"cube_and_vector_cores_share_a_block", cube_and_vector_cores_share_a_block},
    {"turns_take_the_same_time_on_any_threads", turns_take_the_same_time_on_any_threads},
    {"a_group_may_have_one_vector_core", a_group_may_have_one_vector_core},
    {"waiting_for_ever_is_told", waiting_for_ever_is_told},
    {"flags_left_are_told", flags_left_are_told},
    {"another_fault_comes_first", another_fault_comes_first},
    {"a_counter_holds_fifteen", a_counter_holds_fifteen},
    {"groups_share_the_chip", groups_share_the_chip},
};

int main(int argc, char **argv)
{
    return leo_test_main("cross", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
