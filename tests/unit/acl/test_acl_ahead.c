/* SPDX-License-Identifier: Apache-2.0 */
/* The chip works ahead of the program's waits; no simulated time shows it. */
#include "test_acl_common.h"

#include "harness.h"
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS = 3, STEPS = 24, PROGRAMS = 24, BYTES = 4096, PATIENCE_US = 120000000 };

static aclrtBinHandle binary;

/** One run of a program that a seed describes. */
struct run {
    unsigned random; /**< state of what the program does: the same in both runs */
    unsigned streams;
    aclrtStream stream[STREAMS]; /**< the first is the default one */
    aclrtFuncHandle kernel;
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

static const struct leo_test tests[] = {
    {"times_are_the_program_s_alone", times_are_the_program_s_alone},
    {"the_chip_works_while_the_host_does_something_else",
     the_chip_works_while_the_host_does_something_else},
};

int main(int argc, char **argv)
{
    return leo_test_main("acl_ahead", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
