/* SPDX-License-Identifier: Apache-2.0 */
/* Corners that programs fall into: events recorded again, streams that stop, many handles. */
#include "test_acl_common.h"

#include "harness.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static aclrtBinHandle binary;

static void begin(void)
{
    setenv("LEO_DEVICES", "2", 1);
    acl_begin("ascend910a", &binary);
}

static void launch(const char *name, aclrtStream stream, void **args, aclError want)
{
    aclrtFuncHandle func;
    OK(aclrtBinaryGetFunction(binary, name, &func));
    EXPECT(aclrtLaunchKernelWithArgsArray(func, 1, stream, NULL, args), want);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// The older record is reached later than the newer one: the slot must not fall.
static void event_recorded_again_hangs_nobody(void)
{
    aclrtStream a, b, c;
    aclrtEvent event;
    begin();
    OK(aclrtCreateStream(&a));
    OK(aclrtCreateStream(&b));
    OK(aclrtCreateStream(&c));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    launch("nothing", a, NULL, ACL_SUCCESS);
    OK(aclrtRecordEvent(event, a));
    OK(aclrtRecordEvent(event, b));
    OK(aclrtSynchronizeDevice());
    OK(aclrtStreamWaitEvent(c, event));
    launch("nothing", c, NULL, ACL_SUCCESS);
    OK(aclrtSynchronizeStreamWithTimeout(c, 5000));
    OK(aclrtDestroyEvent(event));
    acl_end(binary);
}

static uint64_t recorded_us(aclrtEvent event, aclrtStream stream)
{
    aclrtEventRecordedStatus status;
    uint64_t us = 0;
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtQueryEventStatus(event, &status));
    CU_ASSERT_EQUAL(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtEventGetTimestamp(event, &us));
    return us;
}

// The first record of a process, and two with nothing between them.
static void times_of_events_are_never_zero(void)
{
    aclrtEvent first, second;
    uint64_t us = 0;
    float ms = 0;
    begin();
    OK(aclrtCreateEventWithFlag(&first, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventWithFlag(&second, ACL_EVENT_TIME_LINE));
    OK(aclrtRecordEvent(first, NULL));
    OK(aclrtRecordEvent(second, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtEventGetTimestamp(first, &us));
    CU_ASSERT(us > 0);
    OK(aclrtEventElapsedTime(&ms, first, second));
    CU_ASSERT(ms > 0);
    CU_ASSERT(ms < 1e-3f);
    OK(aclrtEventElapsedTime(&ms, first, first));
    CU_ASSERT_EQUAL(ms, 0);
    OK(aclrtDestroyEvent(first));
    OK(aclrtDestroyEvent(second));
    acl_end(binary);
}

static void event_recorded_again_has_the_later_time(void)
{
    aclrtStream stream;
    aclrtEvent event;
    void *memory;
    begin();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&memory, 1 << 24, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateEvent(&event));
    uint64_t last = recorded_us(event, stream);
    for (int i = 0; i < 3; i++) {
        OK(aclrtMemsetAsync(memory, 1 << 24, i, 1 << 24, stream)); // takes microseconds
        const uint64_t us = recorded_us(event, stream);
        CU_ASSERT(us > last);
        last = us;
    }
    OK(aclrtDestroyEvent(event));
    OK(aclrtFree(memory));
    acl_end(binary);
}

// Not for a thread checker: that the program watches memory another thread writes is the point.
__attribute__((no_sanitize("thread"))) static bool watch(const volatile int32_t *flag,
                                                         int32_t value)
{
    const double limit = now_s() + 60;
    while (*flag != value && now_s() < limit) {
    }
    return *flag == value;
}

// Watches memory of the host for what copies write there, without any call; gives the time at which
// the last task of another stream, submitted after that, ended.
static uint64_t watch_flags(void)
{
    aclrtStream stream, other;
    aclrtEvent end;
    int32_t *flag;
    void *device;
    uint64_t us = 0;
    begin();
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE));
    OK(aclrtMallocHost((void **)&flag, 64));
    OK(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int32_t round = 1; round <= 2; round++) {
        *flag = 0;
        OK(aclrtMemsetAsync(device, 64, round, 64, stream));
        launch("nothing", stream, NULL, ACL_SUCCESS);
        OK(aclrtMemcpyAsync(flag, 4, device, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        launch("nothing", stream, NULL, ACL_SUCCESS);
        CU_ASSERT(watch(flag, round * 0x01010101));
        launch("nothing", other, NULL, ACL_SUCCESS);
    }
    OK(aclrtRecordEvent(end, other));
    OK(aclrtSynchronizeDevice());
    OK(aclrtEventGetTimestamp(end, &us));
    OK(aclrtDestroyEvent(end));
    acl_end(binary);
    return us;
}

static void programs_may_watch_memory(void)
{
    uint64_t first = watch_flags();
    CU_ASSERT(first > 0);
    CU_ASSERT_EQUAL(watch_flags(), first);
}

static void reset_makes_waits_ask_for_the_next_record(void)
{
    aclrtStream a, b;
    aclrtEvent event;
    aclrtEventRecordedStatus recorded;
    aclrtEventWaitStatus awaited;
    begin();
    OK(aclrtCreateStream(&a));
    OK(aclrtCreateStream(&b));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtRecordEvent(event, a));
    OK(aclrtSynchronizeStream(a));
    OK(aclrtQueryEventStatus(event, &recorded));
    CU_ASSERT_EQUAL(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtResetEvent(event, a));
    OK(aclrtQueryEventStatus(event, &recorded));
    CU_ASSERT_EQUAL(recorded, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    OK(aclrtStreamWaitEvent(b, event));
    OK(aclrtQueryEventWaitStatus(event, &awaited));
    CU_ASSERT_EQUAL(awaited, ACL_EVENT_WAIT_STATUS_NOT_READY);
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtRecordEvent(event, a));
    OK(aclrtSynchronizeStreamWithTimeout(b, 5000));
    OK(aclrtQueryEventWaitStatus(event, &awaited));
    CU_ASSERT_EQUAL(awaited, ACL_EVENT_WAIT_STATUS_COMPLETE);
    OK(aclrtDestroyEvent(event));
    acl_end(binary);
}

static void kinds_of_events_are_told_apart(void)
{
    aclrtEvent sync_only, timeline_only, plain, extended;
    aclrtEventStatus status;
    aclrtEventRecordedStatus recorded;
    aclrtEventWaitStatus awaited;
    float ms;
    begin();
    OK(aclrtCreateEventWithFlag(&sync_only, ACL_EVENT_SYNC));
    OK(aclrtCreateEventWithFlag(&timeline_only, ACL_EVENT_TIME_LINE));
    OK(aclrtRecordEvent(sync_only, NULL));
    OK(aclrtRecordEvent(timeline_only, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(aclrtEventElapsedTime(&ms, sync_only, sync_only), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
    OK(aclrtEventElapsedTime(&ms, timeline_only, timeline_only));
    EXPECT(aclrtStreamWaitEvent(NULL, timeline_only), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtResetEvent(timeline_only, NULL), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtCreateEvent(&plain));
    EXPECT(aclrtResetEvent(plain, NULL), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtQueryEvent(plain, &status));
    OK(aclrtQueryEventWaitStatus(plain, &awaited));
    OK(aclrtCreateEventExWithFlag(&extended, ACL_EVENT_SYNC));
    EXPECT(aclrtQueryEvent(extended, &status), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtQueryEventWaitStatus(extended, &awaited), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtQueryEventStatus(extended, &recorded));
    EXPECT(aclrtCreateEventWithFlag(&sync_only, ACL_EVENT_EXTERNAL),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    acl_end(binary);
}

// The stream of the other device waits, in simulated time too.
static void stream_waits_for_an_event_of_another_device(void)
{
    aclrtStream far;
    aclrtEvent event, reached;
    uint64_t recorded_us, reached_us;
    void *memory;
    begin();
    OK(aclrtMalloc(&memory, 1 << 26, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    for (int i = 0; i < 4; i++) {
        OK(aclrtMemsetAsync(memory, 1 << 26, i, 1 << 26, NULL));
    }
    OK(aclrtRecordEvent(event, NULL));
    OK(aclrtSetDevice(1));
    OK(aclrtCreateStream(&far));
    OK(aclrtCreateEventExWithFlag(&reached, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    OK(aclrtStreamWaitEvent(far, event));
    OK(aclrtRecordEvent(reached, far));
    OK(aclrtSynchronizeStream(far));
    OK(aclrtEventGetTimestamp(reached, &reached_us));
    OK(aclrtEventGetTimestamp(event, &recorded_us));
    CU_ASSERT_TRUE(recorded_us > 0 && reached_us >= recorded_us);
    EXPECT(aclrtRecordEvent(event, far), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtResetDevice(1));
    OK(aclrtSetDevice(0));
    OK(aclrtFree(memory));
    OK(aclrtResetDevice(0));
    acl_end(binary);
}

// A task queued behind the fault, before anyone knows of it, must not run.
static void stream_stops_behind_a_fault(bool stop)
{
    aclrtStream stream;
    aclrtContext context, other;
    void *memory;
    uint32_t blocks = 2048;
    unsigned char host = 0;
    begin();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(memory, 64, 1, 64));
    if (stop) {
        OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    }
    void *args[] = {&memory, &blocks};
    launch("read_outside", stream, args, ACL_SUCCESS);
    OK(aclrtMemsetAsync(memory, 64, 7, 64, stream));
    EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICORE_EXCEPTION);
    OK(aclrtGetCurrentContext(&context));
    OK(aclrtCreateContext(&other, 0)); // its streams go on
    OK(aclrtMemcpy(&host, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtDestroyContext(other));
    OK(aclrtSetCurrentContext(context));
    CU_ASSERT_EQUAL(host, stop ? 1 : 7);
    launch("nothing", stream, NULL, stop ? ACL_ERROR_RT_TASK_ABORT_STOP : ACL_SUCCESS);
    OK(aclrtFree(memory));
    acl_end(binary);
}

static void task_behind_a_fault_does_not_start(void)
{
    stream_stops_behind_a_fault(true);
}

static void task_behind_a_fault_starts_without_the_mode(void)
{
    stream_stops_behind_a_fault(false);
}

static void forced_end_of_a_stream_does_not_wait(void)
{
    aclrtStream stream, other;
    aclrtEvent event;
    begin();
    OK(aclrtSetOpExecuteTimeOut(1000)); // simulated seconds: hours of ours
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    launch("endless", stream, NULL, ACL_SUCCESS);
    OK(aclrtRecordEvent(event, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    double start = now_s();
    OK(aclrtDestroyStreamForce(stream));
    CU_ASSERT_TRUE(now_s() - start < 5);
    OK(aclrtSynchronizeEvent(event)); // of a task that was given up
    launch("nothing", other, NULL, ACL_SUCCESS);
    OK(aclrtSynchronizeStreamWithTimeout(other, 5000));
    OK(aclrtDestroyEvent(event));
    acl_end(binary);
}

static void stream_flags_are_told_apart(void)
{
    aclrtStream stream;
    begin();
    OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    EXPECT(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtCreateStreamWithConfig(&stream, 0, 0x4000), ACL_ERROR_RT_PARAM_INVALID);
    acl_end(binary);
}

static void pinned_host_memory_is_filled_in_a_stream(void)
{
    unsigned char *pinned;
    begin();
    OK(aclrtMallocHost((void **)&pinned, 5000));
    memset(pinned, 1, 5000);
    OK(aclrtMemsetAsync(pinned + 3, 4000, 0x5a, 4000, NULL));
    OK(aclrtSynchronizeStream(NULL));
    CU_ASSERT_EQUAL(pinned[2], 1);
    CU_ASSERT_EQUAL(pinned[3], 0x5a);
    CU_ASSERT_EQUAL(pinned[4002], 0x5a);
    CU_ASSERT_EQUAL(pinned[4003], 1);
    EXPECT(aclrtMemsetAsync(pinned + 3, 5000, 2, 5000, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemset(pinned + 3, 5000, 2, 5000), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFreeHost(pinned));
    acl_end(binary);
}

// Seconds for making and ending events, pinned memory and argument handles, with others alive.
static double cost_of_handles(int count)
{
    aclrtFuncHandle func;
    aclrtArgsHandle args;
    double start = now_s();
    for (int i = 0; i < count; i++) {
        aclrtEvent event;
        void *pinned;
        if (aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC) || aclrtDestroyEvent(event) ||
            aclrtMallocHost(&pinned, 64) || aclrtFreeHost(pinned) ||
            aclrtBinaryGetFunction(binary, "nothing", &func) || aclrtKernelArgsInit(func, &args)) {
            CU_FAIL("a handle is not made");
        }
    }
    return now_s() - start;
}

static void calls_cost_the_same_with_many_handles_alive(void)
{
    enum { EVENTS = 60000, PINNED = 40000, ROUNDS = 2000 };
    aclrtEvent *event = calloc(EVENTS, sizeof(*event));
    begin();
    double few = cost_of_handles(ROUNDS);
    double start = now_s();
    for (int i = 0; i < EVENTS; i++) {
        OK(aclrtCreateEventExWithFlag(&event[i], ACL_EVENT_SYNC));
    }
    for (int i = 0; i < PINNED; i++) {
        void *pinned;
        OK(aclrtMallocHost(&pinned, 64));
    }
    double many = cost_of_handles(ROUNDS);
    for (int i = 0; i < EVENTS; i += 2) {
        OK(aclrtDestroyEvent(event[i]));
    }
    acl_end(binary); // the rest
    double all = now_s() - start;
    printf("%d rounds: %.2f us with few handles alive, %.2f us with %d; all in %.2f s\n", ROUNDS,
           few / ROUNDS * 1e6, many / ROUNDS * 1e6, EVENTS + PINNED, all);
    CU_ASSERT_TRUE(many / ROUNDS < 200e-6); // a walk over all of them took milliseconds
    CU_ASSERT_TRUE(all < 20);               // it was 70 s
    free(event);
}

// What a child does with the parent's things is an error; its own work is its own.
static int in_the_child(void *memory, aclrtStream stream)
{
    int32_t host = 3, back = 0;
    void *own;
    bool good = aclrtSynchronizeStream(stream) == ACL_ERROR_RT_CONTEXT_NULL &&
                aclrtResetDevice(0) == ACL_ERROR_RT_CONTEXT_RELEASE_ERROR &&
                aclrtFree(memory) == ACL_ERROR_RT_CONTEXT_NULL && aclInit(NULL) == ACL_SUCCESS &&
                aclrtSetDevice(0) == ACL_SUCCESS && aclrtDestroyStream(stream) != ACL_SUCCESS &&
                aclrtFree(memory) == ACL_ERROR_RT_PARAM_INVALID &&
                aclrtMalloc(&own, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS && own != memory &&
                aclrtMemcpy(own, 64, &host, 4, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS &&
                aclrtMemcpy(&back, 4, own, 4, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS &&
                back == 3 && aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS;
    return good ? 0 : 1;
}

#ifdef __SANITIZE_THREAD__
enum { CHILDREN = 0 }; // it cannot follow threads that a child starts
#else
enum { CHILDREN = 4 };
#endif

// The address sanitizer's allocator does not survive a fork while another thread is in it: the
// chip's threads come to rest first. Other builds fork with a kernel under way.
static void come_to_rest(aclrtStream stream)
{
#ifdef __SANITIZE_ADDRESS__
    OK(aclrtSynchronizeStream(stream));
    usleep(20000);
#else
    (void)stream;
#endif
}

static void forked_child_leaves_the_parent_alone(void)
{
    aclrtStream stream;
    void *memory;
    begin();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&memory, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(memory, 1 << 20, 7, 1 << 20));
    for (int i = 0; i < CHILDREN; i++) {
        launch("nothing", stream, NULL, ACL_SUCCESS); // under way while it forks
        come_to_rest(stream);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            _exit(in_the_child(memory, stream));
        }
        int how = -1;
        waitpid(child, &how, 0);
        CU_ASSERT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    OK(aclrtSynchronizeStream(stream));
    unsigned char value = 0;
    OK(aclrtMemcpy(&value, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT_EQUAL(value, 7);
    OK(aclrtFree(memory));
    acl_end(binary);
}

// Programs destroy things in static destructors: an error, never a crash or a hang.
static void calls_after_the_end_are_errors(void)
{
    aclrtStream stream;
    aclrtEvent event;
    void *memory, *pinned;
    begin();
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&pinned, 64));
    acl_end(binary);
    CU_ASSERT_NOT_EQUAL(aclrtDestroyStream(stream), ACL_SUCCESS);
    CU_ASSERT_NOT_EQUAL(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
    CU_ASSERT_NOT_EQUAL(aclrtDestroyEvent(event), ACL_SUCCESS);
    CU_ASSERT_NOT_EQUAL(aclrtFree(memory), ACL_SUCCESS);
    CU_ASSERT_NOT_EQUAL(aclrtFreeHost(pinned), ACL_SUCCESS);
    CU_ASSERT_NOT_EQUAL(aclrtSynchronizeDevice(), ACL_SUCCESS);
    CU_ASSERT_NOT_EQUAL(
        aclrtMemcpy((char *)memory + 32, 32, memory, 32, ACL_MEMCPY_DEVICE_TO_DEVICE) &&
            aclrtMemset(memory, 64, 0, 64),
        ACL_SUCCESS);
    CU_ASSERT_NOT_EQUAL(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

// A launch's own time limit holds for it alone; what is not supported is said.
static void launch_configuration_counts(void)
{
    aclrtFuncHandle func;
    aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_ABNORMAL;
    begin();
    OK(aclrtSetOpExecuteTimeOut(1000));
    OK(aclrtBinaryGetFunction(binary, "endless", &func));
    aclrtLaunchKernelAttr attr = {.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US,
                                  .value = {.timeoutUs = {.timeoutLow = 100}}};
    aclrtLaunchKernelCfg cfg = {&attr, 1};
    OK(aclrtLaunchKernelWithArgsArray(func, 1, NULL, &cfg, NULL));
    EXPECT(aclrtSynchronizeStreamWithTimeout(NULL, 20000), ACL_ERROR_RT_AICORE_TIMEOUT);
    attr = (aclrtLaunchKernelAttr){.id = ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET,
                                   .value = {.blockDimOffset = 1}};
    EXPECT(aclrtLaunchKernelWithArgsArray(func, 1, NULL, &cfg, NULL),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    attr.id = (aclrtLaunchKernelAttrId)77;
    EXPECT(aclrtLaunchKernelWithArgsArray(func, 1, NULL, &cfg, NULL), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtQueryDeviceStatus(0, &status));
    CU_ASSERT_EQUAL(status, ACL_RT_DEVICE_STATUS_NORMAL);
    acl_end(binary);
}

static void expect_overflow(void *device, uint32_t want)
{
    uint32_t status[16];
    memset(status, 0xff, sizeof(status));
    OK(aclrtMemcpy(device, sizeof(status), status, sizeof(status), ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtGetOverflowStatus(device, sizeof(status), NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtMemcpy(status, sizeof(status), device, sizeof(status), ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT_EQUAL(status[0], want);
    CU_ASSERT_EQUAL(status[1], 0);
    CU_ASSERT_EQUAL(status[15], 0);
}

static uint32_t mode_of_kernel(void *device, aclrtStream stream)
{
    uint32_t mode = 77;
    launch("tell_mode", stream, (void *[]){&device}, ACL_SUCCESS);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(&mode, sizeof(mode), device, sizeof(mode), ACL_MEMCPY_DEVICE_TO_HOST));
    return mode;
}

static void overflow_status_of(const char *soc, aclrtFloatOverflowMode own)
{
    aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
    aclrtStream later;
    void *device;
    acl_begin(soc, &binary);
    OK(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtGetDeviceSatMode(&mode));
    CU_ASSERT_EQUAL(mode, own);
    EXPECT(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_UNDEF), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN),
           own == ACL_RT_OVERFLOW_MODE_INFNAN ? ACL_SUCCESS : ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    expect_overflow(device, 0);
    CU_ASSERT_EQUAL(mode_of_kernel(device, NULL), own == ACL_RT_OVERFLOW_MODE_SATURATION);
    expect_overflow(device, 1);
    expect_overflow(device, 1);
    OK(aclrtResetOverflowStatus(NULL));
    expect_overflow(device, 0);
    // The mode is that of streams made later.
    OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION));
    OK(aclrtCreateStream(&later));
    CU_ASSERT_EQUAL(mode_of_kernel(device, NULL), own == ACL_RT_OVERFLOW_MODE_SATURATION);
    CU_ASSERT_EQUAL(mode_of_kernel(device, later), 1);
    OK(aclrtGetDeviceSatMode(&mode));
    CU_ASSERT_EQUAL(mode, ACL_RT_OVERFLOW_MODE_SATURATION);
    // The same under older names.
    OK(aclrtGetFloatOverflowStatus(device, 64, NULL));
    OK(aclrtResetFloatOverflowStatus(NULL));
    OK(aclrtNpuGetFloatOverFlowStatus(device, 64, 0, NULL));
    EXPECT(aclrtNpuGetFloatOverFlowStatus(device, 64, 9, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtGetOverflowStatus(device, 32, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtGetOverflowStatus(NULL, 64, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtNpuClearFloatOverFlowStatus(9, NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtDestroyStream(later));
    OK(aclrtFree(device));
    acl_end(binary);
}

static void overflow_status_is_read_and_cleared(void)
{
    overflow_status_of("ascend910a", ACL_RT_OVERFLOW_MODE_SATURATION);
}

static void overflow_mode_is_set_for_later_streams(void)
{
    overflow_status_of("ascend910b1", ACL_RT_OVERFLOW_MODE_INFNAN);
}

static float time_of(aclError error, aclrtEvent begin, aclrtEvent end, aclrtStream stream)
{
    float ms = 0;
    OK(error);
    OK(aclrtRecordEvent(end, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtEventElapsedTime(&ms, begin, end));
    return ms;
}

/* A fill writes, a copy reads too. */
static void fill_takes_half_of_a_copy(void)
{
    enum { BYTES = 32 << 20 };
    aclrtStream stream;
    aclrtEvent begin, end;
    char *memory;
    acl_begin_plain();
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEvent(&begin));
    OK(aclrtCreateEvent(&end));
    OK(aclrtMalloc((void **)&memory, 2 * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtRecordEvent(begin, stream));
    const float fill =
        time_of(aclrtMemsetAsync(memory, BYTES, 1, BYTES, stream), begin, end, stream);
    OK(aclrtRecordEvent(begin, stream));
    const float copy = time_of(
        aclrtMemcpyAsync(memory + BYTES, BYTES, memory, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
        begin, end, stream);
    CU_ASSERT_TRUE(fill > 0.45f * copy && fill < 0.55f * copy);
    OK(aclrtFree(memory));
    OK(aclrtDestroyEvent(begin));
    OK(aclrtDestroyEvent(end));
    OK(aclrtDestroyStream(stream));
    acl_end_plain();
}

static const struct leo_test tests[] = {
    {"fill_takes_half_of_a_copy", fill_takes_half_of_a_copy},
    {"launch_configuration_counts", launch_configuration_counts},
    {"overflow_status_is_read_and_cleared", overflow_status_is_read_and_cleared},
    {"overflow_mode_is_set_for_later_streams", overflow_mode_is_set_for_later_streams},
    {"forked_child_leaves_the_parent_alone", forked_child_leaves_the_parent_alone},
    {"calls_after_the_end_are_errors", calls_after_the_end_are_errors},
    {"event_recorded_again_hangs_nobody", event_recorded_again_hangs_nobody},
    {"times_of_events_are_never_zero", times_of_events_are_never_zero},
    {"event_recorded_again_has_the_later_time", event_recorded_again_has_the_later_time},
    {"programs_may_watch_memory", programs_may_watch_memory},
    {"reset_makes_waits_ask_for_the_next_record", reset_makes_waits_ask_for_the_next_record},
    {"kinds_of_events_are_told_apart", kinds_of_events_are_told_apart},
    {"stream_waits_for_an_event_of_another_device", stream_waits_for_an_event_of_another_device},
    {"task_behind_a_fault_does_not_start", task_behind_a_fault_does_not_start},
    {"task_behind_a_fault_starts_without_the_mode", task_behind_a_fault_starts_without_the_mode},
    {"forced_end_of_a_stream_does_not_wait", forced_end_of_a_stream_does_not_wait},
    {"stream_flags_are_told_apart", stream_flags_are_told_apart},
    {"pinned_host_memory_is_filled_in_a_stream", pinned_host_memory_is_filled_in_a_stream},
    {"calls_cost_the_same_with_many_handles_alive", calls_cost_the_same_with_many_handles_alive},
};

int main(int argc, char **argv)
{
    return leo_test_main("acl_corners", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
