/* SPDX-License-Identifier: Apache-2.0 */
/* What else stands in streams: callbacks, functions of the host, values, batches; limits and use.
 */
#include "test_acl_common.h"

#include "harness.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static aclrtBinHandle binary;

static void begin(void)
{
    setenv("LEO_DEVICES", "2", 1);
    acl_begin("ascend910b1", &binary);
}

/** A thread that runs callbacks until told to stop. */
struct reporter {
    pthread_t thread;
    atomic_bool stop;
};

static void *report(void *arg)
{
    struct reporter *reporter = arg;
    while (!atomic_load(&reporter->stop)) {
        aclError error = aclrtProcessReport(20);
        if (error == ACL_ERROR_RT_THREAD_SUBSCRIBE) {
            usleep(1000);
        }
    }
    return NULL;
}

struct seen {
    atomic_int calls;
    int32_t *pinned;
    int32_t value; /**< of *pinned when it was called */
    pthread_t by;
};

static void see(void *user)
{
    struct seen *seen = user;
    seen->value = *(volatile int32_t *)seen->pinned;
    seen->by = pthread_self();
    atomic_fetch_add(&seen->calls, 1);
}

// Between two copies to pinned memory stands a callback that looks at it.
static void look_between_copies(aclrtStream stream, int32_t *pinned, int32_t *device,
                                aclError (*put)(aclrtStream, struct seen *), struct seen *seen)
{
    *pinned = -1;
    *seen = (struct seen){.pinned = pinned};
    OK(aclrtMemcpyAsync(pinned, 4, device, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(put(stream, seen));
    OK(aclrtMemcpyAsync(pinned, 4, device + 1, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtSynchronizeStream(stream));
    CU_ASSERT_EQUAL(seen->calls, 1);
    CU_ASSERT_EQUAL(seen->value, 17);
    CU_ASSERT_EQUAL(*pinned, 18);
}

static aclError put_callback(aclrtStream stream, struct seen *seen)
{
    return aclrtLaunchCallback(see, seen, ACL_CALLBACK_BLOCK, stream);
}

static aclError put_host_function(aclrtStream stream, struct seen *seen)
{
    return aclrtLaunchHostFunc(stream, see, seen);
}

static void callbacks_run_in_order_on_their_thread(void)
{
    struct reporter reporter = {.stop = false};
    struct seen seen = {0};
    aclrtStream stream, other;
    int32_t *device, *pinned, values[2] = {17, 18};
    begin();
    EXPECT(aclrtProcessReport(10), ACL_ERROR_RT_THREAD_SUBSCRIBE);
    EXPECT(aclrtProcessReport(0), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtMalloc((void **)&device, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost((void **)&pinned, 4));
    OK(aclrtMemcpy(device, 8, values, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    pthread_create(&reporter.thread, NULL, report, &reporter);
    EXPECT(aclrtLaunchCallback(see, &seen, ACL_CALLBACK_BLOCK, stream),
           ACL_ERROR_RT_STREAM_NO_CB_REG);
    OK(aclrtSubscribeReport((uint64_t)reporter.thread, stream));
    EXPECT(aclrtSubscribeReport((uint64_t)reporter.thread, stream), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    OK(aclrtSubscribeReport((uint64_t)reporter.thread, other));
    for (int i = 0; i < 20; i++) {
        look_between_copies(stream, pinned, device, put_callback, &seen);
        CU_ASSERT_TRUE(pthread_equal(seen.by, reporter.thread));
    }
    // One that does not hold the stream up still runs.
    seen.calls = 0;
    OK(aclrtLaunchCallback(see, &seen, ACL_CALLBACK_NO_BLOCK, other));
    OK(aclrtSynchronizeStream(other));
    for (int i = 0; i < 2000 && !seen.calls; i++) {
        usleep(1000);
    }
    CU_ASSERT_EQUAL(seen.calls, 1);
    EXPECT(aclrtUnSubscribeReport(1, stream), ACL_ERROR_RT_THREAD_SUBSCRIBE);
    OK(aclrtUnSubscribeReport((uint64_t)reporter.thread, stream));
    OK(aclrtUnSubscribeReport((uint64_t)reporter.thread, other));
    atomic_store(&reporter.stop, true);
    pthread_join(reporter.thread, NULL);

    look_between_copies(stream, pinned, device, put_host_function, &seen);
    CU_ASSERT_FALSE(pthread_equal(seen.by, pthread_self()));
    OK(aclrtFreeHost(pinned));
    OK(aclrtFree(device));
    acl_end(binary);
}

// A callback nobody will run must not keep the device from being reset.
static void reset_gives_callbacks_up(void)
{
    struct seen seen = {0};
    int32_t value = 0;
    aclrtStream stream;
    seen.pinned = &value;
    begin();
    OK(aclrtCreateStream(&stream));
    OK(aclrtSubscribeReport((uint64_t)pthread_self(), stream));
    OK(aclrtLaunchCallback(see, &seen, ACL_CALLBACK_BLOCK, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    acl_end(binary);
    CU_ASSERT_EQUAL(seen.calls, 0);
}

static void thread_that_waits_runs_its_callbacks(void)
{
    struct seen seen = {0};
    int32_t value = 5;
    aclrtStream stream;
    seen.pinned = &value;
    begin();
    OK(aclrtCreateStream(&stream));
    OK(aclrtSubscribeReport((uint64_t)pthread_self(), stream));
    EXPECT(aclrtProcessReport(10), ACL_ERROR_RT_REPORT_TIMEOUT);
    OK(aclrtLaunchCallback(see, &seen, ACL_CALLBACK_BLOCK, stream));
    OK(aclrtProcessReport(5000));
    CU_ASSERT_EQUAL(seen.calls, 1);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtUnSubscribeReport((uint64_t)pthread_self(), stream));
    // Functions of the host by the same way: in this thread, not in one of the library's.
    OK(aclrtSubscribeHostFunc((uint64_t)pthread_self(), stream));
    OK(aclrtLaunchHostFunc(stream, see, &seen));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtProcessHostFunc(5000));
    CU_ASSERT_TRUE(seen.calls == 2 && pthread_equal(seen.by, pthread_self()));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtUnSubscribeHostFunc((uint64_t)pthread_self(), stream));
    OK(aclrtLaunchHostFunc(stream, see, &seen));
    OK(aclrtSynchronizeStream(stream));
    CU_ASSERT_TRUE(seen.calls == 3 && !pthread_equal(seen.by, pthread_self()));
    acl_end(binary);
}

static void streams_wait_for_values(void)
{
    aclrtStream writer, waiter;
    uint64_t *flag, host = 0;
    begin();
    OK(aclrtCreateStream(&writer));
    OK(aclrtCreateStream(&waiter));
    OK(aclrtMalloc((void **)&flag, 16, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(flag, 16, 0, 16));
    OK(aclrtValueWait(flag, 5, ACL_STREAM_WAIT_VALUE_GEQ, waiter));
    OK(aclrtValueWrite(flag + 1, 77, 0, waiter));
    EXPECT(aclrtSynchronizeStreamWithTimeout(waiter, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtValueWrite(flag, 4, 0, writer));
    OK(aclrtSynchronizeStream(writer));
    EXPECT(aclrtSynchronizeStreamWithTimeout(waiter, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtMemcpy(&host, 8, flag + 1, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT_EQUAL(host, 0);
    OK(aclrtValueWrite(flag, 0x100000005, 0, writer));
    OK(aclrtSynchronizeStreamWithTimeout(waiter, 5000));
    OK(aclrtMemcpy(&host, 8, flag + 1, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT_EQUAL(host, 77);
    // The comparisons, true at once.
    OK(aclrtValueWait(flag, 0x100000005, ACL_STREAM_WAIT_VALUE_GEQ, waiter));
    OK(aclrtValueWait(flag, 0x100000005, ACL_STREAM_WAIT_VALUE_EQ, waiter));
    OK(aclrtValueWait(flag, 4, ACL_STREAM_WAIT_VALUE_AND, waiter));
    OK(aclrtValueWait(flag, 8, ACL_STREAM_WAIT_VALUE_NOR, waiter));
    OK(aclrtSynchronizeStreamWithTimeout(waiter, 5000));
    OK(aclrtValueWait(flag, 8, ACL_STREAM_WAIT_VALUE_AND, waiter)); // never
    EXPECT(aclrtSynchronizeStreamWithTimeout(waiter, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtDestroyStreamForce(waiter));
    EXPECT(aclrtValueWait(flag, 8, 4, writer), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtValueWrite((char *)flag + 4, 8, 0, writer), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFree(flag));
    acl_end(binary);
}

static void batches_copy_all_and_tell_which_failed(void)
{
    char *device, host[3][8] = {"one", "two", "three"}, back[3][8] = {{0}};
    size_t failed = 7;
    aclrtMemcpyBatchAttr attr = {0};
    size_t index = 0;
    begin();
    OK(aclrtMalloc((void **)&device, 24, ACL_MEM_MALLOC_HUGE_FIRST));
    void *dsts[3], *srcs[3];
    size_t maxs[3] = {8, 8, 8}, sizes[3] = {8, 8, 8};
    for (int i = 0; i < 3; i++) {
        dsts[i] = device + 8 * i;
        srcs[i] = host[i];
    }
    OK(aclrtMemcpyBatch(dsts, maxs, srcs, sizes, 3, &attr, &index, 1, &failed));
    CU_ASSERT_EQUAL(failed, SIZE_MAX);
    void *backs[3] = {back[0], back[1], back[2]};
    OK(aclrtMemcpyBatchAsync(backs, maxs, dsts, sizes, 3, &attr, &index, 1, &failed, NULL));
    OK(aclrtSynchronizeStream(NULL));
    CU_ASSERT_EQUAL(memcmp(back, host, sizeof(host)), 0);
    sizes[1] = 9;
    EXPECT(aclrtMemcpyBatch(dsts, maxs, srcs, sizes, 3, &attr, &index, 1, &failed),
           ACL_ERROR_RT_PARAM_INVALID);
    CU_ASSERT_EQUAL(failed, 1);
    index = 1;
    EXPECT(aclrtMemcpyBatch(dsts, maxs, srcs, sizes, 3, &attr, &index, 1, &failed),
           ACL_ERROR_RT_PARAM_INVALID);
    CU_ASSERT_EQUAL(failed, SIZE_MAX);
    OK(aclrtFree(device));
    acl_end(binary);
}

static void registered_memory_is_pinned(void)
{
    enum { BYTES = 1 << 16 };
    unsigned char *own = aligned_alloc(4096, BYTES), *device;
    void *pointer;
    aclrtPtrAttributes attributes;
    begin();
    OK(aclrtMalloc((void **)&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtHostRegister(own, BYTES, ACL_HOST_REGISTER_MAPPED, &pointer));
    EXPECT(aclrtHostRegister(own + 4096, 4096, ACL_HOST_REGISTER_MAPPED, &pointer),
           ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(aclrtPointerGetAttributes(own + 100, &attributes));
    CU_ASSERT_EQUAL(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    memset(own, 7, BYTES);
    OK(aclrtMemcpyAsync(device, BYTES, pointer, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtMemsetAsync(own, BYTES, 9, BYTES, NULL));
    // A device pointer: copies may call it device memory.
    OK(aclrtMemcpyAsync(pointer, BYTES, device, BYTES / 2, ACL_MEMCPY_DEVICE_TO_DEVICE, NULL));
    OK(aclrtSynchronizeStream(NULL));
    CU_ASSERT_EQUAL(own[BYTES / 2 - 1], 7);
    CU_ASSERT_EQUAL(own[BYTES / 2], 9);
    EXPECT(aclrtFreeHost(own), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtHostUnregister(own));
    EXPECT(aclrtHostUnregister(own), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(aclrtPointerGetAttributes(own + 100, &attributes));
    CU_ASSERT_EQUAL(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    OK(aclrtFree(device));
    acl_end(binary);
    free(own);
}

static void limits_hold_for_thread_stream_and_device(void)
{
    aclrtStream stream;
    uint32_t all, cores;
    begin();
    OK(aclrtCreateStream(&stream));
    OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &all));
    CU_ASSERT_TRUE(all > 8);
    EXPECT(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, all + 1),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtSetDeviceResLimit(0, 2, 1), ACL_ERROR_INVALID_PARAM);
    OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 8));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &cores));
    CU_ASSERT_EQUAL(cores, 8);
    OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, 3));
    OK(aclrtUseStreamResInCurrentThread(stream));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &cores));
    CU_ASSERT_EQUAL(cores, 3);
    OK(aclrtUnuseStreamResInCurrentThread(stream));
    OK(aclrtResetStreamResLimit(stream));
    OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, &cores));
    CU_ASSERT_EQUAL(cores, 8);
    OK(aclrtResetDeviceResLimit(0));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &cores));
    CU_ASSERT_EQUAL(cores, all);
    acl_end(binary);
}

static void use_is_told_in_simulated_time(void)
{
    aclrtFuncHandle func;
    aclrtUtilizationInfo use;
    aclrtUuid first, second;
    void *memory;
    begin();
    OK(aclrtMalloc(&memory, UINT64_C(1) << 34, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtBinaryGetFunction(binary, "nothing", &func));
    memset(&use, 0x55, sizeof(use));
    use.utilizationExtend = NULL;
    for (int i = 0; i < 50; i++) {
        OK(aclrtLaunchKernelWithArgsArray(func, 20, NULL, NULL, NULL));
    }
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtGetDeviceUtilizationRate(0, &use));
    CU_ASSERT_EQUAL(use.cubeUtilization, 0);
    CU_ASSERT_TRUE(use.vectorUtilization > 0 && use.vectorUtilization <= 100);
    CU_ASSERT_TRUE(use.memoryUtilization >= 20 && use.memoryUtilization <= 30);
    OK(aclrtGetDeviceUtilizationRate(0, &use)); // nothing since
    CU_ASSERT_EQUAL(use.vectorUtilization, 0);
    OK(aclrtDeviceGetUuid(0, &first));
    OK(aclrtDeviceGetUuid(1, &second));
    CU_ASSERT_NOT_EQUAL(memcmp(&first, &second, sizeof(first)), 0);
    OK(aclrtFree(memory));
    acl_end(binary);
}

static void sleep_a_while(void *user)
{
    (void)user;
    usleep(100000);
}

// A wait with a limit lasts as long as it says: 20 s here, for what takes a tenth of a second.
static void limits_are_in_milliseconds(void)
{
    aclrtStream stream;
    begin();
    OK(aclrtCreateStream(&stream));
    OK(aclrtLaunchHostFunc(stream, sleep_a_while, NULL));
    OK(aclrtSynchronizeStreamWithTimeout(stream, 20000));
    OK(aclrtDestroyStream(stream));
    acl_end(binary);
}

enum { FILLED = 1 << 20 };

// Launches `blocks` of a kernel that counts, between two events; nothing waits.
static void count_up(aclrtStream stream, uint32_t blocks, aclrtEvent end)
{
    aclrtFuncHandle kernel;
    aclrtArgsHandle args;
    aclrtParamHandle param;
    uint32_t turns = 2000;
    OK(aclrtBinaryGetFunction(binary, "count_up", &kernel));
    OK(aclrtKernelArgsInit(kernel, &args));
    OK(aclrtKernelArgsAppend(args, &turns, sizeof(turns), &param));
    OK(aclrtKernelArgsFinalize(args));
    OK(aclrtLaunchKernelWithConfig(kernel, blocks, stream, NULL, args, NULL));
    OK(aclrtRecordEvent(end, stream));
}

// HW-CHIP-43. Microseconds: how long after the large kernel's end the small one, launched later,
// ends: negative, before it. `fill`: bytes that are filled in front of the small one, so that it
// finds the cores taken.
static float end_of_small(uint32_t large_priority, uint32_t small_priority, size_t fill)
{
    void *memory;
    aclrtStream large, small;
    aclrtEvent ends[2];
    uint64_t us[2];
    OK(aclrtCreateStreamWithConfig(&large, large_priority, 0));
    OK(aclrtCreateStreamWithConfig(&small, small_priority, 0));
    OK(aclrtCreateEvent(&ends[0]));
    OK(aclrtCreateEvent(&ends[1]));
    OK(aclrtMalloc(&memory, FILLED, ACL_MEM_MALLOC_HUGE_FIRST));
    count_up(large, 480, ends[0]);
    if (fill) {
        OK(aclrtMemsetAsync(memory, FILLED, 0, fill, small));
    }
    count_up(small, 1, ends[1]);
    OK(aclrtSynchronizeDevice());
    for (int i = 0; i < 2; i++) {
        OK(aclrtEventGetTimestamp(ends[i], &us[i]));
        OK(aclrtDestroyEvent(ends[i]));
    }
    OK(aclrtDestroyStream(large));
    OK(aclrtDestroyStream(small));
    OK(aclrtFree(memory));
    return (float)us[1] - (float)us[0];
}

static void priority_decides_who_gets_cores(void)
{
    aclrtStream stream;
    int32_t least = 0, greatest = 0;
    begin();
    OK(aclrtDeviceGetStreamPriorityRange(&least, &greatest));
    const float equal = end_of_small((uint32_t)greatest, (uint32_t)greatest, 0);
    // The small kernel need not wait for the blocks that have not begun.
    CU_ASSERT(end_of_small((uint32_t)least, (uint32_t)greatest, 0) < equal - 10);
    CU_ASSERT(end_of_small((uint32_t)least, (uint32_t)greatest, FILLED) < equal - 10);
    CU_ASSERT(end_of_small(1, 1, FILLED) > equal - 3);
    CU_ASSERT(end_of_small(1, 1, 0) > equal - 3);
    CU_ASSERT(end_of_small((uint32_t)greatest, (uint32_t)least, 0) > equal - 3);
    EXPECT(aclrtCreateStreamWithConfig(&stream, (uint32_t)least + 1, 0),
           ACL_ERROR_RT_PARAM_INVALID);
    acl_end(binary);
}

static const struct leo_test tests[] = {
    {"callbacks_run_in_order_on_their_thread", callbacks_run_in_order_on_their_thread},
    {"reset_gives_callbacks_up", reset_gives_callbacks_up},
    {"thread_that_waits_runs_its_callbacks", thread_that_waits_runs_its_callbacks},
    {"streams_wait_for_values", streams_wait_for_values},
    {"batches_copy_all_and_tell_which_failed", batches_copy_all_and_tell_which_failed},
    {"registered_memory_is_pinned", registered_memory_is_pinned},
    {"limits_hold_for_thread_stream_and_device", limits_hold_for_thread_stream_and_device},
    {"use_is_told_in_simulated_time", use_is_told_in_simulated_time},
    {"priority_decides_who_gets_cores", priority_decides_who_gets_cores},
    {"limits_are_in_milliseconds", limits_are_in_milliseconds},
};

int main(int argc, char **argv)
{
    return leo_test_main("acl_tasks", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
