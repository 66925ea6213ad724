/* SPDX-License-Identifier: Apache-2.0 */
/* The chip works ahead of the program's waits; no simulated time shows it. */
#include "test_acl_common.h"

#include "harness.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    STREAMS = 3,
    STEPS = 24,
    PROGRAMS = 24,
    BYTES = 4096,
    PATIENCE_US = 120000000,
    WORK_US = 20000
};

extern const unsigned char acl_poll_kernels_elf[];
extern const size_t acl_poll_kernels_elf_bytes;

static aclrtBinHandle binary;

/** One run of a program that a seed describes. */
struct run {
    unsigned random; /**< state of what the program does: the same in both runs */
    unsigned streams;
    aclrtStream stream[STREAMS]; /**< the first is the default one */
    aclrtFuncHandle kernel;
    bool copies_out; /**< asynchronously, to the host */
    void *device, *pinned;
    uint64_t times[STEPS];
};

static unsigned next(struct run *run, unsigned below)
{
    run->random = run->random * 1103515245u + 12345u;
    return run->random / 65536 % below;
}

// How long the host takes for something is not the program's to say.
static void dawdle(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_nsec / 1000 % 4 == 0) {
        usleep((unsigned)(now.tv_nsec / 1000 % 3000));
    }
}

// Processor time of the threads other than this one. The two clocks are read one after the other:
// a later time may be some microseconds smaller.
static int64_t others_us(void)
{
    struct timespec all, own;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
    return (int64_t)((all.tv_sec - own.tv_sec) * 1000000 + (all.tv_nsec - own.tv_nsec) / 1000);
}

// Until the other threads have computed what they can, as far as that shows.
static void pause_for_values(void)
{
    enum { TURN_US = 20000, MAX_TURNS = 25 };
    const int64_t begin = others_us();
    int64_t before = begin, now = begin;
    for (int turn = 0; turn < MAX_TURNS && (now == begin || now != before); turn++) {
        before = now;
        usleep(TURN_US);
        now = others_us();
    }
}

static void launch(struct run *run, aclrtStream stream)
{
    aclrtArgsHandle args;
    aclrtParamHandle param;
    uint32_t turns = 20 + next(run, 400), blocks = 1 + next(run, 60);
    OK(aclrtKernelArgsInit(run->kernel, &args));
    OK(aclrtKernelArgsAppend(args, &turns, sizeof(turns), &param));
    OK(aclrtKernelArgsFinalize(args));
    OK(aclrtLaunchKernelWithConfig(run->kernel, blocks, stream, NULL, args, NULL));
}

static void poll_stream(aclrtStream stream)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    while (status == ACL_STREAM_STATUS_NOT_READY) {
        OK(aclrtStreamQuery(stream, &status));
    }
}

static void step(struct run *run, aclrtEvent event)
{
    aclrtStream stream = run->stream[next(run, run->streams)];
    switch (next(run, 8)) {
    case 0:
        OK(aclrtMemcpyAsync(run->device, BYTES, run->pinned, BYTES, ACL_MEMCPY_HOST_TO_DEVICE,
                            stream));
        break;
    case 1:
        // Not to the host: a pause of 100 ms then counts as a wait (decision 3), and a loaded
        // machine makes such pauses.
        OK(aclrtMemcpyAsync(run->device, BYTES / 2, (char *)run->device + BYTES / 2, BYTES / 2,
                            ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
        break;
    case 2:
        OK(aclrtMemcpy(run->pinned, BYTES, run->device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
        break;
    case 3:
        OK(aclrtSynchronizeStream(stream));
        break;
    case 4:
        poll_stream(stream);
        break;
    default:
        launch(run, stream);
        break;
    }
    dawdle();
    OK(aclrtRecordEvent(event, stream));
    if (next(run, 4) == 0) {
        OK(aclrtSynchronizeEvent(event));
    }
}

static void run_program(unsigned seed, const char *ahead, struct run *run)
{
    aclrtEvent event[STEPS];
    setenv("LEO_AHEAD", ahead, 1);
    acl_begin("ascend910b1", &binary);
    *run = (struct run){.random = seed, .streams = 1 + seed % STREAMS};
    for (unsigned i = 1; i < run->streams; i++) {
        OK(aclrtCreateStream(&run->stream[i]));
    }
    OK(aclrtBinaryGetFunction(binary, "count_up", &run->kernel));
    OK(aclrtMalloc(&run->device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&run->pinned, BYTES));
    for (int i = 0; i < STEPS; i++) {
        OK(aclrtCreateEvent(&event[i]));
        step(run, event[i]);
    }
    OK(aclrtSynchronizeDevice());
    for (int i = 0; i < STEPS; i++) {
        OK(aclrtEventGetTimestamp(event[i], &run->times[i]));
        OK(aclrtDestroyEvent(event[i]));
    }
    OK(aclrtFree(run->device));
    OK(aclrtFreeHost(run->pinned));
    acl_end(binary);
}

// Where the chip may have worked ahead, a run must not depend on how long the host took. With
// work in one stream at a time the times are also those of a chip that only works in waits.
static void times_are_the_program_s_alone(void)
{
    static struct run one, other, waiting;
    for (unsigned seed = 0; seed < PROGRAMS; seed++) {
        run_program(seed, "1", &one);
        run_program(seed, "1", &other);
        run_program(seed, "0", &waiting);
        for (int i = 0; i < STEPS; i++) {
            CU_ASSERT_EQUAL(one.times[i], other.times[i]);
        }
        for (int i = 0; i < STEPS && one.streams == STREAMS; i++) {
            CU_ASSERT_EQUAL(one.times[i], waiting.times[i]); // two were made: only waits
        }
    }
}

static void the_chip_works_while_the_host_does_something_else(void)
{
    struct run run = {.random = 1};
    aclrtUtilizationInfo use = {0};
    unsigned us = 0;
    setenv("LEO_AHEAD", "1", 1);
    acl_begin("ascend910b1", &binary);
    OK(aclrtBinaryGetFunction(binary, "count_up", &run.kernel));
    OK(aclrtGetDeviceUtilizationRate(0, &use));
    launch(&run, NULL);
    // The question neither waits nor moves the chip: it tells of what has ended.
    while (use.vectorUtilization == 0 && us < PATIENCE_US) {
        usleep(1000);
        us += 1000;
        OK(aclrtGetDeviceUtilizationRate(0, &use));
    }
    CU_ASSERT(use.vectorUtilization > 0);
    OK(aclrtSynchronizeDevice());
    acl_end(binary);
}

/* ---- several streams: values lead, time does not ---- */

enum { LINES = 40, LINE_BYTES = 32, MEMORY = (LINES + 1) * LINE_BYTES, TASKS = 30 };

/** What a program with three streams leaves behind. */
struct result {
    uint64_t times[TASKS];
    uint8_t memory[STREAMS][MEMORY], pinned[STREAMS][MEMORY];
};

static void launch_telling(struct run *run, aclrtStream stream, void *lines, uint32_t tells)
{
    aclrtArgsHandle args;
    aclrtParamHandle param;
    uint32_t turns = 100 + next(run, 3000);
    OK(aclrtKernelArgsInit(run->kernel, &args));
    OK(aclrtKernelArgsAppend(args, &lines, sizeof(lines), &param));
    OK(aclrtKernelArgsAppend(args, &turns, sizeof(turns), &param));
    OK(aclrtKernelArgsAppend(args, &tells, sizeof(tells), &param));
    OK(aclrtKernelArgsFinalize(args));
    OK(aclrtLaunchKernelWithConfig(run->kernel, LINES, stream, NULL, args, NULL));
}

static void launch_lines(struct run *run, aclrtStream stream, void *lines)
{
    launch_telling(run, stream, lines, run->copies_out ? 0 : next(run, 4));
}

static void submit(struct run *run, unsigned at, void **lines, void **pinned)
{
    aclrtStream stream = run->stream[at];
    const unsigned other = next(run, STREAMS);
    switch (next(run, 9)) {
    case 0:
        if (run->copies_out) {
            OK(aclrtMemcpyAsync(pinned[at], MEMORY, lines[at], MEMORY, ACL_MEMCPY_DEVICE_TO_HOST,
                                stream));
        }
        break;
    case 1: // what the copy before it has brought there
        OK(aclrtMemcpyAsync(lines[at], MEMORY, pinned[at], MEMORY, ACL_MEMCPY_HOST_TO_DEVICE,
                            stream));
        break;
    case 2:
        OK(aclrtMemsetAsync(lines[at], MEMORY, (int)next(run, 3), MEMORY / 2, stream));
        break;
    case 3: { // its memory is that of the other stream up to here
        aclrtEvent event;
        OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
        OK(aclrtRecordEvent(event, run->stream[other]));
        OK(aclrtStreamWaitEvent(stream, event));
        OK(aclrtMemcpyAsync(lines[at], MEMORY, lines[other], MEMORY, ACL_MEMCPY_DEVICE_TO_DEVICE,
                            stream));
        OK(aclrtRecordEvent(event, stream));
        OK(aclrtStreamWaitEvent(run->stream[other], event));
        OK(aclrtDestroyEvent(event));
        break;
    }
    default:
        launch_lines(run, stream, lines[at]);
        break;
    }
}

static void run_streams(unsigned seed, const char *ahead, struct result *result)
{
    struct run run = {.random = seed, .streams = STREAMS, .copies_out = seed % 4 < 2};
    aclrtEvent event[TASKS];
    void *lines[STREAMS], *pinned[STREAMS];
    setenv("LEO_AHEAD", ahead, 1);
    acl_begin(seed % 2 ? "ascend910a" : "ascend910b1", &binary);
    OK(aclrtBinaryGetFunction(binary, "step_lines", &run.kernel));
    for (unsigned i = 0; i < STREAMS; i++) {
        OK(aclrtCreateStream(&run.stream[i]));
        OK(aclrtMalloc(&lines[i], MEMORY, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMallocHost(&pinned[i], MEMORY));
        OK(aclrtMemset(lines[i], MEMORY, 0, MEMORY));
        memset(pinned[i], 0, MEMORY);
    }
    for (int i = 0; i < TASKS; i++) {
        const unsigned at = next(&run, STREAMS);
        OK(aclrtCreateEventWithFlag(&event[i], ACL_EVENT_TIME_LINE));
        submit(&run, at, lines, pinned);
        OK(aclrtRecordEvent(event[i], run.stream[at]));
        if (next(&run, 5) == 0 && *ahead == '1') {
            usleep(4000);
        }
        if (next(&run, 10) == 0) {
            OK(aclrtSynchronizeStream(run.stream[at]));
        }
    }
    OK(aclrtSynchronizeDevice());
    for (unsigned i = 0; i < STREAMS; i++) {
        OK(aclrtMemcpy(result->memory[i], MEMORY, lines[i], MEMORY, ACL_MEMCPY_DEVICE_TO_HOST));
        memcpy(result->pinned[i], pinned[i], MEMORY);
        OK(aclrtFree(lines[i]));
        OK(aclrtFreeHost(pinned[i]));
    }
    for (int i = 0; i < TASKS; i++) {
        OK(aclrtEventGetTimestamp(event[i], &result->times[i]));
        OK(aclrtDestroyEvent(event[i]));
    }
    acl_end(binary);
}

static void values_that_lead_leave_times_and_bits_alone(void)
{
    static struct result ahead, waiting;
    for (unsigned seed = 1; seed <= PROGRAMS; seed++) {
        run_streams(seed, "1", &ahead);
        run_streams(seed, "0", &waiting);
        if (seed % 4 >= 2) { // else a pause of 100 ms counts as a wait (decision 3)
            CU_ASSERT_EQUAL(memcmp(ahead.times, waiting.times, sizeof(ahead.times)), 0);
        }
        CU_ASSERT_EQUAL(memcmp(ahead.memory, waiting.memory, sizeof(ahead.memory)), 0);
        CU_ASSERT_EQUAL(memcmp(ahead.pinned, waiting.pinned, sizeof(ahead.pinned)), 0);
    }
}

// What the blocks of a kernel add up in one place, the later ones before the first.
static void run_additions(const char *ahead, uint8_t *memory)
{
    struct run run = {.random = 9};
    aclrtStream stream, other;
    void *lines;
    setenv("LEO_AHEAD", ahead, 1);
    acl_begin("ascend910b1", &binary);
    OK(aclrtBinaryGetFunction(binary, "step_lines", &run.kernel));
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtMalloc(&lines, MEMORY, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(lines, MEMORY, 0, MEMORY));
    launch_telling(&run, stream, lines, 2);
    if (*ahead == '1') {
        pause_for_values();
    }
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(memory, MEMORY, lines, MEMORY, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtFree(lines));
    acl_end(binary);
}

static void additions_wait_for_their_time(void)
{
    static uint8_t ahead[MEMORY], waiting[MEMORY];
    run_additions("1", ahead);
    run_additions("0", waiting);
    CU_ASSERT_EQUAL(memcmp(ahead, waiting, MEMORY), 0);
}

// Records of one event in two streams, and one whose slot another event would have.
static void a_wait_is_for_the_record_it_was_made_for(void)
{
    struct run run = {.random = 3, .copies_out = true};
    aclrtStream busy, waiting, idle;
    aclrtEvent event, other;
    void *lines, *copy;
    static int32_t got[MEMORY / 4];
    setenv("LEO_AHEAD", "0", 1);
    acl_begin("ascend910b1", &binary);
    OK(aclrtBinaryGetFunction(binary, "step_lines", &run.kernel));
    OK(aclrtCreateStream(&busy));
    OK(aclrtCreateStream(&waiting));
    OK(aclrtCreateStream(&idle));
    OK(aclrtMalloc(&lines, MEMORY, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&copy, MEMORY, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int gone = 0; gone < 2; gone++) {
        aclrtEventWaitStatus status;
        OK(aclrtMemset(lines, MEMORY, 0, MEMORY));
        OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
        launch_lines(&run, busy, lines);
        OK(aclrtRecordEvent(event, busy));
        OK(aclrtStreamWaitEvent(waiting, event));
        OK(aclrtMemcpyAsync(copy, MEMORY, lines, MEMORY, ACL_MEMCPY_DEVICE_TO_DEVICE, waiting));
        if (gone) {
            OK(aclrtDestroyEvent(event));
            OK(aclrtCreateEventWithFlag(&other, ACL_EVENT_SYNC));
        }
        OK(aclrtRecordEvent(gone ? other : event, idle));
        OK(aclrtSynchronizeStream(idle));
        OK(aclrtQueryEventWaitStatus(gone ? other : event, &status));
        CU_ASSERT_EQUAL(status == ACL_EVENT_WAIT_STATUS_COMPLETE, gone);
        OK(aclrtSynchronizeStream(waiting));
        OK(aclrtMemcpy(got, MEMORY, copy, MEMORY, ACL_MEMCPY_DEVICE_TO_HOST));
        CU_ASSERT_EQUAL(got[0], 1);
        CU_ASSERT_EQUAL(got[(LINES - 1) * LINE_BYTES / 4], 1);
        OK(aclrtDestroyEvent(gone ? other : event));
    }
    OK(aclrtFree(lines));
    OK(aclrtFree(copy));
    acl_end(binary);
}

/** What a program gets to know of a kernel that faults. */
struct told {
    aclError code, after;
    char text[256];
    uint8_t memory[MEMORY];
};

static void launch_outside(aclrtStream stream, void *lines)
{
    aclrtFuncHandle outside;
    aclrtArgsHandle args;
    aclrtParamHandle param;
    void *past = (char *)lines + (1 << 30);
    uint32_t blocks = 4;
    OK(aclrtBinaryGetFunction(binary, "read_outside", &outside));
    OK(aclrtKernelArgsInit(outside, &args));
    OK(aclrtKernelArgsAppend(args, &past, sizeof(past), &param));
    OK(aclrtKernelArgsAppend(args, &blocks, sizeof(blocks), &param));
    OK(aclrtKernelArgsFinalize(args));
    OK(aclrtLaunchKernelWithConfig(outside, 3, stream, NULL, args, NULL));
}

static void run_fault(const char *ahead, struct told *told)
{
    struct run run = {.random = 5};
    aclrtStream stream, other;
    void *lines;
    setenv("LEO_AHEAD", ahead, 1);
    acl_begin("ascend910b1", &binary);
    OK(aclrtBinaryGetFunction(binary, "step_lines", &run.kernel));
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtMalloc(&lines, MEMORY, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(lines, MEMORY, 0, MEMORY));
    launch_lines(&run, stream, lines);
    launch_outside(stream, lines);
    launch_lines(&run, stream, lines);
    if (*ahead == '1') {
        pause_for_values();
    }
    OK(aclrtSynchronizeStream(other));
    told->code = aclrtSynchronizeStream(stream);
    const char *text = aclGetRecentErrMsg();
    text = text ? strstr(text, "aclrtSynchronizeStream") : NULL; // process and hour stand before it
    snprintf(told->text, sizeof(told->text), "%s", text ? text : "");
    told->after = aclrtSynchronizeStream(stream);
    OK(aclrtMemcpy(told->memory, MEMORY, lines, MEMORY, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtFree(lines));
    acl_end(binary);
}

static void a_fault_before_its_time_is_told_in_time(void)
{
    static struct told ahead, waiting;
    run_fault("1", &ahead);
    run_fault("0", &waiting);
    CU_ASSERT(waiting.code != ACL_SUCCESS);
    CU_ASSERT_EQUAL(ahead.code, waiting.code);
    CU_ASSERT_EQUAL(ahead.after, waiting.after);
    CU_ASSERT_STRING_EQUAL(ahead.text, waiting.text);
    CU_ASSERT_EQUAL(memcmp(ahead.memory, waiting.memory, MEMORY), 0);
}

static void several_streams_work_while_the_host_does_something_else(void)
{
    struct run run = {.random = 1};
    aclrtStream stream[2];
    unsigned us = 0;
    setenv("LEO_AHEAD", "1", 1);
    acl_begin("ascend910b1", &binary);
    OK(aclrtBinaryGetFunction(binary, "count_up", &run.kernel));
    OK(aclrtCreateStream(&stream[0]));
    OK(aclrtCreateStream(&stream[1]));
    OK(aclrtSynchronizeDevice());
    const int64_t begin = others_us();
    for (int i = 0; i < 300; i++) {
        launch(&run, stream[i % 2]);
    }
    while (others_us() - begin < WORK_US && us < PATIENCE_US) {
        usleep(1000);
        us += 1000;
    }
    CU_ASSERT(others_us() - begin >= WORK_US);
    OK(aclrtSynchronizeDevice());
    acl_end(binary);
}

/* ---- one stream: the chip itself goes on, whatever its kernels do ---- */

enum { POLLED_BLOCKS = 4, WORDS = POLLED_BLOCKS * 16, LAUNCHES = 300, PART_US = 2000 };

static void launch_two(aclrtFuncHandle kernel, uint32_t blocks, aclrtStream stream, uint64_t first,
                       uint64_t second)
{
    aclrtArgsHandle args;
    aclrtParamHandle param;
    uint32_t turns = (uint32_t)second;
    const bool polls = blocks == POLLED_BLOCKS;
    OK(aclrtKernelArgsInit(kernel, &args));
    OK(aclrtKernelArgsAppend(args, &first, sizeof(first), &param));
    OK(aclrtKernelArgsAppend(args, polls ? (void *)&turns : (void *)&second,
                             polls ? sizeof(turns) : sizeof(second), &param));
    OK(aclrtKernelArgsFinalize(args));
    OK(aclrtLaunchKernelWithConfig(kernel, blocks, stream, NULL, args, NULL));
}

// Kernels that poll, and kernels of both kinds of cores: part of them is done in the pause, and
// no time shows how long it was.
static uint64_t run_one_stream(const char *ahead, int32_t *words)
{
    aclrtBinHandle polling;
    aclrtFuncHandle polls, pairs;
    aclrtEvent end;
    void *memory, *lines;
    uint64_t us = 0;
    int64_t spent = 0;
    setenv("LEO_AHEAD", ahead, 1);
    acl_begin("ascend910b1", &binary);
    OK(aclrtBinaryLoadFromData(acl_poll_kernels_elf, acl_poll_kernels_elf_bytes, NULL, &polling));
    OK(aclrtBinaryGetFunction(polling, "handed_on", &polls));
    OK(aclrtBinaryGetFunction(binary, "paired", &pairs));
    OK(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE));
    OK(aclrtMalloc(&memory, WORDS * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&lines, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(memory, WORDS * 4, 0, WORDS * 4));
    OK(aclrtMemset(lines, 4096, 0, 4096));
    for (int i = 0; i < LAUNCHES; i++) {
        launch_two(polls, POLLED_BLOCKS, NULL, (uintptr_t)memory, 500);
        launch_two(pairs, 2, NULL, (uintptr_t)lines, (uintptr_t)lines + 2048);
    }
    OK(aclrtRecordEvent(end, NULL));
    const int64_t begin = others_us();
    for (unsigned slept = 0; *ahead == '1' && spent < PART_US && slept < PATIENCE_US;
         slept += 1000) {
        usleep(1000);
        spent = others_us() - begin;
    }
    CU_ASSERT(*ahead == '0' || spent >= PART_US);
    OK(aclrtSynchronizeDevice());
    OK(aclrtEventGetTimestamp(end, &us));
    OK(aclrtMemcpy(words, WORDS * 4, memory, WORDS * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtDestroyEvent(end));
    OK(aclrtFree(memory));
    OK(aclrtFree(lines));
    acl_end(binary);
    return us;
}

static void one_stream_goes_on_with_polls_and_both_kinds_of_cores(void)
{
    int32_t ahead[WORDS], waiting[WORDS];
    const uint64_t us = run_one_stream("1", ahead);
    CU_ASSERT_EQUAL(run_one_stream("0", waiting), us);
    CU_ASSERT_EQUAL(memcmp(ahead, waiting, sizeof(ahead)), 0);
    CU_ASSERT_EQUAL(ahead[0], LAUNCHES);
    CU_ASSERT_EQUAL(ahead[WORDS - 16], LAUNCHES);
}

/* ---- tasks that look for what tasks of other streams store ---- */

enum watcher { A_KERNEL, A_KERNEL_BEHIND_ANOTHER, A_VALUE, WATCHERS };

/** When the store's kernel and what waits for it ended. */
struct seen {
    uint64_t stored, seen;
};

// With numbers behind the word if there are any.
static void launch_word(aclrtFuncHandle kernel, aclrtStream stream, void *word, uint32_t turns)
{
    aclrtArgsHandle args;
    aclrtParamHandle param;
    uint32_t tells = 0;
    OK(aclrtKernelArgsInit(kernel, &args));
    OK(aclrtKernelArgsAppend(args, &word, sizeof(word), &param));
    if (turns) {
        OK(aclrtKernelArgsAppend(args, &turns, sizeof(turns), &param));
        OK(aclrtKernelArgsAppend(args, &tells, sizeof(tells), &param));
    }
    OK(aclrtKernelArgsFinalize(args));
    OK(aclrtLaunchKernelWithConfig(kernel, 1, stream, NULL, args, NULL));
}

static void submit_watcher(enum watcher watcher, aclrtBinHandle polling, struct run *run,
                           aclrtStream stream, void *word)
{
    aclrtFuncHandle waits;
    if (watcher == A_VALUE) {
        OK(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, stream));
        return;
    }
    if (watcher == A_KERNEL_BEHIND_ANOTHER) {
        launch(run, stream);
    }
    OK(aclrtBinaryGetFunction(polling, "wait_for", &waits));
    launch_word(waits, stream, word, 0);
}

static struct seen run_watcher(enum watcher watcher, const char *ahead, bool pauses)
{
    struct run run = {.random = 1};
    aclrtBinHandle polling;
    aclrtFuncHandle stores;
    aclrtStream from, to;
    aclrtEvent stored, seen;
    struct seen times = {0};
    void *word;
    setenv("LEO_AHEAD", ahead, 1);
    acl_begin("ascend910b1", &binary);
    OK(aclrtBinaryLoadFromData(acl_poll_kernels_elf, acl_poll_kernels_elf_bytes, NULL, &polling));
    OK(aclrtBinaryGetFunction(binary, "step_lines", &stores));
    OK(aclrtBinaryGetFunction(binary, "count_up", &run.kernel));
    OK(aclrtCreateStream(&from));
    OK(aclrtCreateStream(&to));
    OK(aclrtCreateEventWithFlag(&stored, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventWithFlag(&seen, ACL_EVENT_TIME_LINE));
    OK(aclrtMalloc(&word, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(word, 4096, 0, 4096));
    launch_word(stores, from, word, 20000); // of a file that does not poll
    OK(aclrtRecordEvent(stored, from));
    if (pauses) { // in which the store's value may be computed
        pause_for_values();
    }
    submit_watcher(watcher, polling, &run, to, word);
    OK(aclrtRecordEvent(seen, to));
    OK(aclrtSynchronizeDevice());
    OK(aclrtEventGetTimestamp(stored, &times.stored));
    OK(aclrtEventGetTimestamp(seen, &times.seen));
    OK(aclrtDestroyEvent(stored));
    OK(aclrtDestroyEvent(seen));
    OK(aclrtFree(word));
    acl_end(binary);
    return times;
}

// However long the pause, and whatever runs ahead of time: no store is seen before it is there.
static void stores_are_seen_at_their_time(void)
{
    for (enum watcher watcher = A_KERNEL; watcher < WATCHERS; watcher++) {
        const struct seen waiting = run_watcher(watcher, "0", false),
                          ahead = run_watcher(watcher, "1", false),
                          paused = run_watcher(watcher, "1", true);
        CU_ASSERT(waiting.stored > 50 && waiting.seen + 1 >= waiting.stored); // microseconds
        CU_ASSERT(ahead.stored == waiting.stored && ahead.seen == waiting.seen);
        CU_ASSERT(paused.stored == waiting.stored && paused.seen == waiting.seen);
    }
}

static const struct leo_test tests[] = {
    {"times_are_the_program_s_alone", times_are_the_program_s_alone},
    {"the_chip_works_while_the_host_does_something_else",
     the_chip_works_while_the_host_does_something_else},
    {"one_stream_goes_on_with_polls_and_both_kinds_of_cores",
     one_stream_goes_on_with_polls_and_both_kinds_of_cores},
    {"values_that_lead_leave_times_and_bits_alone", values_that_lead_leave_times_and_bits_alone},
    {"stores_are_seen_at_their_time", stores_are_seen_at_their_time},
    {"additions_wait_for_their_time", additions_wait_for_their_time},
    {"a_wait_is_for_the_record_it_was_made_for", a_wait_is_for_the_record_it_was_made_for},
    {"a_fault_before_its_time_is_told_in_time", a_fault_before_its_time_is_told_in_time},
    {"several_streams_work_while_the_host_does_something_else",
     several_streams_work_while_the_host_does_something_else},
};

int main(int argc, char **argv)
{
    return leo_test_main("acl_run_ahead", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
