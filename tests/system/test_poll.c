/* SPDX-License-Identifier: Apache-2.0 */
/* HW-CHIP-49: cores that poll global memory (decision 26), on both chips. */
#include "harness.h"

#include <leo/alloc.h>
#include <leo/replay.h>
#include <leo/runtime.h>
#include <leo/soc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call) CU_ASSERT_EQUAL_FATAL(call, LEO_OK)

enum { BYTES = 64 * 1024, MAX_TAPE = 16 << 20 };

extern const unsigned char poll_1001_elf[], poll_2201_elf[];
extern const size_t poll_1001_elf_bytes, poll_2201_elf_bytes;
extern const unsigned char poll_plain_1001_elf[], poll_plain_2201_elf[];
extern const size_t poll_plain_1001_elf_bytes, poll_plain_2201_elf_bytes;
extern const unsigned char poll_calls_1001_elf[], poll_calls_2201_elf[];
extern const size_t poll_calls_1001_elf_bytes, poll_calls_2201_elf_bytes;
extern const unsigned char poll_calls_plain_1001_elf[], poll_calls_plain_2201_elf[];
extern const size_t poll_calls_plain_1001_elf_bytes, poll_calls_plain_2201_elf_bytes;
extern const unsigned char system_2201_elf[];
extern const size_t system_2201_elf_bytes;
static bool plain; // the kernels as compiled without optimisation
static bool calls; // those of poll_calls.cpp

struct rig {
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_rt_module *module;
    uint64_t flags, part, out;
    bool checked;
};

static const char *const socs[] = {"ascend910a", "ascend910b1"};
static const unsigned core_counts[] = {32, 48};

static void clear(struct rig *rig, uint64_t addr)
{
    OK(leo_rt_memset_async(rig->stream, addr, 0, BYTES));
    OK(leo_rt_stream_synchronize(rig->stream, -1));
}

static void open_rig(struct rig *rig, unsigned soc, unsigned threads, const char *check)
{
    *rig = (struct rig){.checked = check != NULL};
    const struct leo_rt_opts opts = {.size = sizeof(opts),
                                     .soc = socs[soc],
                                     .host_threads = threads,
                                     .limit_us = 20000,
                                     .check = check};
    OK(leo_rt_create(&opts, &rig->rt));
    OK(leo_rt_device_open(rig->rt, 0, &rig->device));
    OK(leo_rt_stream_create(rig->device, &rig->stream));
    const struct {
        const unsigned char *elf;
        size_t bytes;
    } files[2][2][2] = {
        {{{poll_1001_elf, poll_1001_elf_bytes}, {poll_plain_1001_elf, poll_plain_1001_elf_bytes}},
         {{poll_2201_elf, poll_2201_elf_bytes}, {poll_plain_2201_elf, poll_plain_2201_elf_bytes}}},
        {{{poll_calls_1001_elf, poll_calls_1001_elf_bytes},
          {poll_calls_plain_1001_elf, poll_calls_plain_1001_elf_bytes}},
         {{poll_calls_2201_elf, poll_calls_2201_elf_bytes},
          {poll_calls_plain_2201_elf, poll_calls_plain_2201_elf_bytes}}}};
    OK(leo_rt_module_load(rig->device, files[calls][soc][plain].elf, files[calls][soc][plain].bytes,
                          "poll", &rig->module));
    uint64_t *const buffers[] = {&rig->flags, &rig->part, &rig->out};
    for (int i = 0; i < 3; i++) {
        OK(leo_rt_memory_alloc(rig->device, BYTES, buffers[i]));
        clear(rig, *buffers[i]);
    }
}

/* Every task of a tape has the time it had when it was recorded. */
static void same_time(void *user, const struct leo_sim_replayed *task)
{
    (void)user;
    CU_ASSERT_EQUAL(task->end_ps - task->start_ps, task->recorded_ps);
}

static struct leo_sim_tape *open_tape(const char *path)
{
    uint8_t *packed = malloc(MAX_TAPE);
    struct leo_sim_tape *tape;
    FILE *file = fopen(path, "rb");
    CU_ASSERT_FATAL(packed && file);
    OK(leo_sim_tape_open(packed, fread(packed, 1, MAX_TAPE, file), &tape));
    fclose(file);
    free(packed);
    return tape;
}

static void replay(const char *path)
{
    struct leo_sim_tape *tape = open_tape(path);
    struct leo_sim_replay_opts opts = {.size = sizeof(opts), .tape = tape, .each = same_time};
    struct leo_sim_replay_result result;
    char error[256] = "";
    opts.soc_text = leo_sim_tape_soc_text(tape);
    const leo_status status = leo_sim_replay(&opts, &result, error, sizeof(error));
    if (status != LEO_OK) {
        printf("\n    %s\n", error);
    }
    CU_ASSERT_EQUAL(status, LEO_OK);
    CU_ASSERT(result.tasks > 0 && result.ps == result.recorded_ps);
    leo_sim_tape_close(tape);
}

static void close_rig(struct rig *rig)
{
    leo_rt_module_unload(rig->module);
    leo_rt_stream_destroy(rig->stream);
    leo_rt_device_close(rig->device);
    leo_rt_destroy(rig->rt);
    const char *tape = getenv("LEO_TAPE");
    if (tape) {
        replay(tape);
    }
}

static leo_status run(struct rig *rig, const char *name, uint32_t blocks, const void *const *args,
                      unsigned count)
{
    struct leo_rt_kernel *kernel;
    OK(leo_rt_module_find(rig->module, name, &kernel));
    OK(leo_rt_launch(kernel, blocks, rig->stream, args, count, NULL));
    leo_status status = leo_rt_stream_synchronize(rig->stream, -1);
    if (status && status != LEO_ERR_FAULT) {
        printf("\n  %s: %s\n", name, leo_rt_last_error());
    }
    return status;
}

static void expect_good(struct rig *rig, const char *name, uint32_t blocks, const void *const *args,
                        unsigned count)
{
    leo_status status = run(rig, name, blocks, args, count);
    if (status) {
        printf("\n  %s: %s\n", name, leo_rt_last_error());
    }
    CU_ASSERT_EQUAL_FATAL(status, LEO_OK);
}

static void read_out(struct rig *rig, void *to, size_t bytes)
{
    OK(leo_rt_memcpy(rig->device, to, (const void *)(uintptr_t)rig->out, bytes));
}

/* Nanoseconds of the last kernel of a profile with this tag. */
static uint64_t tagged_ns(struct rig *rig, const char *tag)
{
    struct leo_rt_profile_task tasks[16];
    size_t count = 0;
    uint64_t ns = 0;
    OK(leo_rt_profile_tasks(rig->device, tasks, 16, &count, NULL));
    for (size_t i = 0; i < count; i++) {
        if (tasks[i].record.opcode == LEO_SQE_OP_KERNEL &&
            (!tag || strcmp(tasks[i].tag, tag) == 0)) {
            ns = tasks[i].record.end_ns - tasks[i].record.start_ns;
        }
    }
    return ns;
}

static uint64_t kernel_ns(struct rig *rig)
{
    return tagged_ns(rig, NULL);
}

static void blocks_meet_and_take_the_same_time(void)
{
    static const unsigned threads[] = {1, 2, 5};
    for (unsigned soc = 0; soc < 2; soc++) {
        for (int checked = 0; checked < 2; checked++) {
            uint64_t first = 0;
            for (unsigned i = 0; i < 3; i++) {
                struct rig rig;
                int32_t rounds = 3;
                float sum[48 * 8];
                unsigned cores = core_counts[soc];
                open_rig(&rig, soc, threads[i], checked ? "all" : NULL);
                OK(leo_rt_profile_start(rig.device, 16, 0));
                const void *args[] = {&rig.flags, &rig.part, &rig.out, &rounds};
                expect_good(&rig, "meet", cores, args, 4);
                read_out(&rig, sum, sizeof(sum));
                for (unsigned block = 0; block < cores; block++) {
                    CU_ASSERT_EQUAL(sum[block * 8], (float)(rounds * cores * (cores + 1) / 2));
                }
                const uint64_t ns = kernel_ns(&rig);
                first = i ? first : ns;
                CU_ASSERT_EQUAL(ns, first);
                close_rig(&rig);
            }
        }
    }
}

static uint64_t time_raw(unsigned soc, unsigned threads, int32_t work, bool checked)
{
    struct rig rig;
    float out[4 * 8];
    open_rig(&rig, soc, threads, checked ? "all" : NULL);
    OK(leo_rt_profile_start(rig.device, 16, 0));
    const void *args[] = {&rig.flags, &rig.part, &rig.out, &work};
    expect_good(&rig, "raw", 4, args, 4);
    read_out(&rig, out, sizeof(out));
    for (int i = 1; i < 4; i++) {
        CU_ASSERT_EQUAL(out[i * 8], 42);
    }
    const uint64_t ns = kernel_ns(&rig);
    close_rig(&rig);
    return ns;
}

/* What the poller needs beyond the other core's work does not depend on how long that is. */
static void a_poll_ends_with_the_store(void)
{
    for (unsigned soc = 0; soc < 2; soc++) {
        const uint64_t none = time_raw(soc, 1, 10000, false);
        const uint64_t some = time_raw(soc, 1, 20000, false);
        const uint64_t more = time_raw(soc, 2, 30000, false);
        printf("(%llu %llu %llu ns) ", (unsigned long long)none, (unsigned long long)some,
               (unsigned long long)more);
        CU_ASSERT(some > none + 10000 && more - some >= some - none - 2 &&
                  more - some <= some - none + 2);
        CU_ASSERT_EQUAL(time_raw(soc, 2, 20000, true), some);
        CU_ASSERT_EQUAL(time_raw(soc, 3, 20000, false), some);
    }
}

static void flags_in_ub_and_counters_work(void)
{
    for (unsigned soc = 0; soc < 2; soc++) {
        for (int checked = 0; checked < 2; checked++) {
            struct rig rig;
            const unsigned cores = core_counts[soc];
            float value[48 * 8];
            int32_t nobody = -1;
            open_rig(&rig, soc, 2, checked ? "all" : NULL);
            const void *args[] = {&rig.flags, &rig.out, &nobody};
            expect_good(&rig, "chain", cores, args, 3);
            read_out(&rig, value, sizeof(value));
            for (unsigned i = 0; i < cores; i++) {
                CU_ASSERT_EQUAL(value[i * 8], (float)(i + 1));
            }
            clear(&rig, rig.flags);
            const uint64_t seen = rig.flags + 64 * 1024 / 2;
            const void *counted[] = {&rig.flags, &seen, &rig.part, &rig.out};
            expect_good(&rig, "counted", cores, counted, 4);
            read_out(&rig, value, sizeof(value));
            for (unsigned i = 0; i < cores; i++) {
                CU_ASSERT_EQUAL(value[i * 8], (float)(2 * cores));
            }
            close_rig(&rig);
        }
    }
}

static void two_blocks_take_turns(void)
{
    for (unsigned soc = 0; soc < 2; soc++) {
        uint64_t first = 0;
        for (unsigned threads = 1; threads <= 3; threads++) {
            struct rig rig;
            int32_t rounds = 100;
            uint32_t out[32];
            open_rig(&rig, soc, threads, "all");
            OK(leo_rt_profile_start(rig.device, 16, 0));
            const void *args[] = {&rig.flags, &rig.out, &rounds};
            expect_good(&rig, "turns", 2, args, 3);
            read_out(&rig, out, sizeof(out));
            CU_ASSERT(out[0] == 100 && out[16] == 100);
            const uint64_t ns = kernel_ns(&rig);
            first = threads == 1 ? ns : first;
            CU_ASSERT_EQUAL(ns, first);
            // Two hand-overs a round, each a write and a read of global memory.
            CU_ASSERT(ns > 100 * 2 * 100 && ns < 100 * 2 * 1500);
            close_rig(&rig);
        }
    }
}

/* How long before its end block 0 of a kernel raised what block 1 saw. */
static void expect_seen_early(struct rig *rig, const char *name, unsigned soc)
{
    const uint32_t tick_ns = soc == 0 ? 1 : 20;
    int32_t work = 20000;
    uint32_t out[32];
    const void *args[] = {&rig->flags, &rig->out, &work};
    expect_good(rig, name, 2, args, 3);
    read_out(rig, out, sizeof(out));
    CU_ASSERT(out[16] != 0);
    CU_ASSERT((out[0] - out[16]) * tick_ns > 10000); // what came later is not waited for
    CU_ASSERT((out[0] - out[16]) * tick_ns < 10000000);
}

static void a_poll_sees_its_own_words(void)
{
    for (unsigned soc = 0; soc < 2; soc++) {
        struct rig rig;
        const uint32_t seven = 7;
        open_rig(&rig, soc, 2, NULL);
        expect_seen_early(&rig, "beside", soc);
        OK(leo_rt_memcpy(rig.device, (void *)(uintptr_t)rig.flags, &seven, sizeof(seven)));
        expect_seen_early(&rig, "seen_at", soc);
        close_rig(&rig);
    }
}

/* A core that is parked looks at all it read. */
static void any_of_its_words_ends_a_wait(void)
{
    for (unsigned soc = 0; soc < 2; soc++) {
        struct rig rig;
        const uint32_t seven = 7;
        uint32_t out;
        open_rig(&rig, soc, 2, "all");
        OK(leo_rt_memcpy(rig.device, (void *)(uintptr_t)rig.flags, &seven, sizeof(seven)));
        const void *args[] = {&rig.flags, &rig.out};
        expect_good(&rig, "relay", 8, args, 2);
        read_out(&rig, &out, sizeof(out));
        CU_ASSERT_EQUAL(out, 7);
        close_rig(&rig);
    }
}

static void locks_keep_others_out(void)
{
    for (unsigned soc = 0; soc < 2; soc++) {
        struct rig rig;
        uint32_t sum;
        const unsigned cores = core_counts[soc];
        open_rig(&rig, soc, 2, NULL);
        const void *args[] = {&rig.flags, &rig.out};
        expect_good(&rig, "locked", cores, args, 2);
        read_out(&rig, &sum, sizeof(sum));
        CU_ASSERT_EQUAL(sum, cores * (cores + 1) / 2);
        close_rig(&rig);
    }
}

static void a_loop_that_counts_gives_up(void)
{
    for (unsigned soc = 0; soc < 2; soc++) {
        struct rig rig;
        uint32_t turns[16];
        int32_t most = 500;
        open_rig(&rig, soc, 2, NULL);
        const void *args[] = {&rig.flags, &rig.out, &most};
        expect_good(&rig, "bounded", 1, args, 3);
        read_out(&rig, turns, sizeof(turns));
        CU_ASSERT_EQUAL(turns[0], 500);
        close_rig(&rig);
    }
}

/* Where a kernel of two blocks takes turns meanwhile. */
static void begin_turns(struct rig *rig, struct leo_rt_stream **stream)
{
    struct leo_rt_kernel *kernel;
    uint64_t flags;
    int32_t rounds = 300;
    OK(leo_rt_memory_alloc(rig->device, BYTES, &flags));
    clear(rig, flags);
    OK(leo_rt_stream_create(rig->device, stream));
    OK(leo_rt_module_find(rig->module, "turns", &kernel));
    const void *args[] = {&flags, &rig->part, &rounds};
    OK(leo_rt_launch(kernel, 2, *stream, args, 3, NULL));
}

/* What else the chip does while a copy raises the flag. */
enum others { NONE, BEGIN, RUN };

/* Nanoseconds of a kernel that polls the first word of what a copy of the host stores. */
static uint64_t time_late(unsigned soc, enum others what)
{
    struct rig rig;
    struct leo_rt_kernel *kernel;
    struct leo_rt_stream *others = NULL;
    static uint32_t sevens[1 << 20];
    uint64_t other; // block 0 is not there to write: only the host changes it
    int32_t work = 0;
    float out[2 * 8];
    open_rig(&rig, soc, 2, NULL);
    for (size_t i = 0; i < sizeof(sevens) / sizeof(sevens[0]); i++) {
        sevens[i] = 7;
    }
    OK(leo_rt_memory_alloc(rig.device, sizeof(sevens), &other));
    clear(&rig, other);
    OK(leo_rt_profile_start(rig.device, 16, 0));
    OK(leo_rt_module_find(rig.module, "raw_late", &kernel));
    const void *args[] = {&other, &rig.part, &rig.out, &work};
    if (what != NONE) {
        begin_turns(&rig, &others);
    }
    OK(leo_rt_launch(kernel, 2, rig.stream, args, 4, "late"));
    if (what == RUN) {
        OK(leo_rt_memcpy(rig.device, out, (const void *)(uintptr_t)rig.out, sizeof(out)));
    }
    OK(leo_rt_memcpy(rig.device, (void *)(uintptr_t)other, sevens, sizeof(sevens)));
    OK(leo_rt_stream_synchronize(rig.stream, -1));
    const uint64_t ns = tagged_ns(&rig, "late");
    read_out(&rig, out, sizeof(out));
    CU_ASSERT_EQUAL(out[8], 1);
    if (what != NONE) {
        OK(leo_rt_stream_synchronize(others, -1));
        leo_rt_stream_destroy(others);
    }
    close_rig(&rig);
    return ns;
}

/* A copy of the host, from another stream, ends the poll: the word is there at the copy's end, also
 * if the chip looks at it before because other cores have something to do. */
static void the_host_may_raise_a_flag(void)
{
    for (unsigned soc = 0; soc < 2; soc++) {
        for (enum others what = NONE; what <= RUN; what++) {
            const uint64_t ns = time_late(soc, what);
            printf("(%llu ns) ", (unsigned long long)ns);
            CU_ASSERT(ns > 150000);
        }
    }
}

static void expect_text(const char *part)
{
    bool found = strstr(leo_rt_last_error(), part) != NULL;
    if (!found) {
        printf("\n    wanted \"%s\" in: %s\n", part, leo_rt_last_error());
    }
    CU_ASSERT(found);
}

static void a_deadlock_is_told(void)
{
    for (unsigned soc = 0; soc < 2; soc++) {
        struct rig rig;
        int32_t skip = 2, work = 0;
        open_rig(&rig, soc, 2, NULL);
        const void *args[] = {&rig.flags, &rig.out, &skip};
        CU_ASSERT_EQUAL(run(&rig, "chain", 8, args, 3), LEO_ERR_FAULT);
        CU_ASSERT_EQUAL(leo_rt_stream_last_fault(rig.stream), LEO_FAULT_CORE_DEADLOCK);
        expect_text("kernel chain: deadlock: 5 cores wait");
        expect_text("block 3 (");
        expect_text("polls at poll_kernels.c:");
        expect_text("argument 0 (flag)");
        expect_text("nobody changes it any more");
        const void *raw[] = {&rig.flags, &rig.part, &rig.out, &work};
        OK(leo_rt_stream_synchronize(rig.stream, -1));
        expect_good(&rig, "raw", 4, raw, 4);
        close_rig(&rig);
    }
}

/* The checker: without the word, or with the pipe's work not waited for, data is not ordered. */
static void what_is_missing_is_told(void)
{
    for (unsigned soc = 0; soc < 2; soc++) {
        struct rig rig;
        int32_t work = 100;
        open_rig(&rig, soc, 2, "all");
        const void *args[] = {&rig.flags, &rig.part, &rig.out, &work};
        CU_ASSERT_EQUAL(run(&rig, "early", 2, args, 4), LEO_ERR_FAULT);
        CU_ASSERT_EQUAL(leo_rt_stream_last_fault(rig.stream), LEO_FAULT_RACE);
        clear(&rig, rig.flags);
        CU_ASSERT_EQUAL(run(&rig, "unpolled", 2, args, 4), LEO_ERR_FAULT);
        CU_ASSERT_EQUAL(leo_rt_stream_last_fault(rig.stream), LEO_FAULT_RACE);
        clear(&rig, rig.flags);
        // On the second generation the word must leave the data cache.
        leo_status status = run(&rig, "unclean", 2, args, 4);
        CU_ASSERT_EQUAL(status, soc ? LEO_ERR_FAULT : LEO_OK);
        if (soc) {
            expect_text("dcci");
        }
        close_rig(&rig);
    }
}

/* Loops that keep their variables on the stack. */
static void without_optimisation_it_is_the_same(void)
{
    plain = true;
    a_poll_ends_with_the_store();
    flags_in_ub_and_counters_work();
    two_blocks_take_turns();
    locks_keep_others_out();
    a_loop_that_counts_gives_up();
    a_deadlock_is_told();
    plain = false;
}

enum { CALLS = 7 };
static const char *const call_names[CALLS] = {"by_function", "by_method",  "by_copy",   "by_result",
                                              "by_counter",  "by_virtual", "by_pointer"};

/* All of them on one rig: to load the file takes longer than to run it. */
static void time_calls(unsigned soc, unsigned threads, int32_t work, bool checked, uint64_t *ns)
{
    struct rig rig;
    uint32_t out[4 * 16];
    open_rig(&rig, soc, threads, checked ? "all" : NULL);
    OK(leo_rt_profile_start(rig.device, 16, 0));
    for (unsigned call = 0; call < CALLS; call++) {
        const void *args[] = {&rig.flags, &rig.part, &rig.out, &work};
        clear(&rig, rig.flags);
        expect_good(&rig, call_names[call], 4, args, 4);
        read_out(&rig, out, sizeof(out));
        const bool counts = strcmp(call_names[call], "by_counter") == 0;
        for (int i = 1; i < 4; i++) {
            CU_ASSERT_EQUAL(out[i * 16], 42);
            CU_ASSERT(out[i * 16 + 1] == 0 || counts);
        }
        ns[call] = kernel_ns(&rig);
    }
    close_rig(&rig);
}

/* They end with the store: what they need beyond block 0's work does not depend on how long that
 * is. */
static void expect_waits(unsigned soc)
{
    uint64_t none[CALLS], some[CALLS], more[CALLS], checked[CALLS];
    time_calls(soc, 1, 2000, false, none);
    time_calls(soc, 2, 4000, false, some);
    time_calls(soc, 3, 6000, false, more);
    time_calls(soc, 1, 4000, true, checked);
    for (unsigned i = 0; i < CALLS; i++) {
        const uint64_t first = some[i] - none[i], second = more[i] - some[i];
        const bool steady = second >= first - 2 && second <= first + 2;
        if (!steady || checked[i] != some[i]) {
            printf("\n  %s on %s: %llu, %llu, %llu ns, checked %llu\n", call_names[i], socs[soc],
                   (unsigned long long)none[i], (unsigned long long)some[i],
                   (unsigned long long)more[i], (unsigned long long)checked[i]);
        }
        CU_ASSERT(steady && some[i] > none[i] + 4000);
        CU_ASSERT_EQUAL(checked[i], some[i]);
    }
}

static void expect_a_deadlock(const char *name, const char *called, unsigned soc)
{
    struct rig rig;
    open_rig(&rig, soc, 2, NULL);
    const void *args[] = {&rig.flags};
    CU_ASSERT_EQUAL(run(&rig, name, 3, args, 1), LEO_ERR_FAULT);
    CU_ASSERT_EQUAL(leo_rt_stream_last_fault(rig.stream), LEO_FAULT_CORE_DEADLOCK);
    expect_text("deadlock: 3 cores wait");
    expect_text("polls at poll_calls.cpp:");
    expect_text(called);
    expect_text("argument 0 (flag)");
    close_rig(&rig);
}

/* Calls of the loop belong to it. */
static void loops_may_call(void)
{
    calls = true;
    for (unsigned soc = 0; soc < 2; soc++) {
        for (int level = 0; level < 2; level++) {
            plain = level == 1;
            expect_waits(soc);
            expect_a_deadlock("by_nobody", " in peek, called at poll_calls.cpp:", soc);
            expect_a_deadlock("by_no_door", " in look, called at poll_calls.cpp:", soc);
        }
    }
    calls = plain = false;
}

/* What the others saw has the same time when it is priced from a tape. */
static void tapes_take_the_same_time(void)
{
    char path[] = "/tmp/leo_poll_tape_XXXXXX";
    const int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0 && setenv("LEO_TAPE", path, 1) == 0);
    close(file);
    blocks_meet_and_take_the_same_time();
    a_poll_ends_with_the_store();
    flags_in_ub_and_counters_work();
    two_blocks_take_turns();
    a_poll_sees_its_own_words();
    any_of_its_words_ends_a_wait();
    locks_keep_others_out();
    the_host_may_raise_a_flag();
    unsetenv("LEO_TAPE");
    unlink(path);
}

/* Tasks that read what was not computed when a kernel that polls passes `part` on to the host. */
static uint64_t looks_of_pass_on(bool is_computed)
{
    char path[] = "/tmp/leo_poll_tape_XXXXXX";
    const int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    close(file);
    struct rig rig = {0};
    struct leo_rt_module *plain_module;
    struct leo_rt_kernel *add;
    float out[2 * 8];
    const struct leo_rt_opts opts = {
        .size = sizeof(opts), .soc = socs[1], .tape = path, .no_values = true};
    OK(leo_rt_create(&opts, &rig.rt));
    OK(leo_rt_device_open(rig.rt, 0, &rig.device));
    OK(leo_rt_stream_create(rig.device, &rig.stream));
    OK(leo_rt_module_load(rig.device, system_2201_elf, system_2201_elf_bytes, "system",
                          &plain_module));
    uint64_t *const buffers[] = {&rig.flags, &rig.part, &rig.out};
    for (int i = 0; i < 3; i++) {
        OK(leo_rt_memory_alloc(rig.device, BYTES, buffers[i]));
        clear(&rig, *buffers[i]);
    }
    if (!is_computed) {
        const void *args[] = {&rig.flags, &rig.flags, &rig.part};
        OK(leo_rt_module_find(plain_module, "add", &add));
        OK(leo_rt_launch(add, 1, rig.stream, args, 3, NULL));
        OK(leo_rt_stream_synchronize(rig.stream, -1));
    }
    OK(leo_rt_module_load(rig.device, poll_2201_elf, poll_2201_elf_bytes, "poll", &rig.module));
    const void *args[] = {&rig.flags, &rig.part, &rig.out};
    expect_good(&rig, "pass_on", 2, args, 3);
    read_out(&rig, out, sizeof(out));
    leo_rt_module_unload(plain_module);
    close_rig(&rig);
    struct leo_sim_tape *tape = open_tape(path);
    const uint64_t looks = leo_sim_tape_looks(tape);
    leo_sim_tape_close(tape);
    unlink(path);
    return looks;
}

/* Kernels that poll compute, also from what was not computed: what they make of it was not. */
static void what_was_not_computed_stays_so(void)
{
    CU_ASSERT_EQUAL(looks_of_pass_on(true), 0);
    CU_ASSERT_EQUAL(looks_of_pass_on(false), 1);
}

static const struct leo_test tests[] = {
    {"blocks_meet_and_take_the_same_time", blocks_meet_and_take_the_same_time},
    {"a_poll_ends_with_the_store", a_poll_ends_with_the_store},
    {"flags_in_ub_and_counters_work", flags_in_ub_and_counters_work},
    {"two_blocks_take_turns", two_blocks_take_turns},
    {"a_poll_sees_its_own_words", a_poll_sees_its_own_words},
    {"any_of_its_words_ends_a_wait", any_of_its_words_ends_a_wait},
    {"locks_keep_others_out", locks_keep_others_out},
    {"a_loop_that_counts_gives_up", a_loop_that_counts_gives_up},
    {"the_host_may_raise_a_flag", the_host_may_raise_a_flag},
    {"a_deadlock_is_told", a_deadlock_is_told},
    {"what_is_missing_is_told", what_is_missing_is_told},
    {"without_optimisation_it_is_the_same", without_optimisation_it_is_the_same},
    {"loops_may_call", loops_may_call},
    {"tapes_take_the_same_time", tapes_take_the_same_time},
    {"what_was_not_computed_stays_so", what_was_not_computed_stays_so},
};

int main(int argc, char **argv)
{
    return leo_test_main("poll", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
