/* SPDX-License-Identifier: Apache-2.0 */
/* Capture: what is kept, what a replay does, and what cannot be captured. */
#include "test_acl_common.h"

#include "harness.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct step {
    int32_t x, y;
};

static aclrtBinHandle binary;
static aclrtFuncHandle func;
static aclrtStream stream, side;
static int32_t *out, *offsets, *copy, *pinned;

static void begin(void)
{
    acl_begin("ascend910b1", &binary);
    OK(aclrtBinaryGetFunction(binary, "fill_ramp", &func));
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&side));
    OK(aclrtMalloc((void **)&out, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&copy, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&offsets, 32, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost((void **)&pinned, 32));
    OK(aclrtMemset(offsets, 32, 0, 32));
    memset(pinned, 0, 32);
}

static void launch_ramp_to(aclrtStream where, int32_t *to, int8_t base)
{
    struct step step = {1, 0};
    void *args[] = {&to, &base, &step, &offsets};
    OK(aclrtLaunchKernelWithArgsArray(func, 1, where, NULL, args));
}

static void launch_ramp(aclrtStream where, int8_t base)
{
    launch_ramp_to(where, out, base);
}

static int32_t read_word(const int32_t *from)
{
    int32_t word = -1;
    OK(aclrtMemcpy(&word, 4, from, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    return word;
}

// Offsets come from pinned memory at each replay; the ramp is copied by a stream that joined.
static void capture_and_replay(void)
{
    aclrtEvent forked, joined;
    aclmdlRI model, other;
    aclmdlRICaptureStatus status;
    uint32_t id = 99;
    begin();
    OK(aclrtCreateEventExWithFlag(&forked, ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&joined, ACL_EVENT_SYNC));
    OK(aclmdlRICaptureGetInfo(stream, &status, &model));
    CU_ASSERT_EQUAL(status, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    EXPECT(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
           ACL_ERROR_RT_STREAM_CAPTURED);
    OK(aclmdlRICaptureGetInfo(stream, &status, &model));
    CU_ASSERT_EQUAL(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    OK(aclrtMemcpyAsync(offsets, 32, pinned, 32, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    launch_ramp(stream, 10);
    OK(aclrtRecordEvent(forked, stream));
    OK(aclrtStreamWaitEvent(side, forked));
    OK(aclrtMemcpyAsync(copy, 256, out, 256, ACL_MEMCPY_DEVICE_TO_DEVICE, side));
    OK(aclrtRecordEvent(joined, side));
    OK(aclrtStreamWaitEvent(stream, joined));
    OK(aclmdlRICaptureEnd(stream, &other));
    CU_ASSERT_PTR_EQUAL(other, model);
    OK(aclmdlRIGetId(model, &id));
    OK(aclrtSynchronizeDevice());
    CU_ASSERT_EQUAL(read_word(copy + 3), 0); // nothing was done yet
    for (int i = 0; i < 5; i++) {
        pinned[3] = 100 * i;
        OK(aclmdlRIExecuteAsync(model, i % 2 ? side : stream));
        OK(aclrtSynchronizeStream(i % 2 ? side : stream));
        CU_ASSERT_EQUAL(read_word(copy + 3), 13 + 100 * i);
    }
    pinned[3] = 7;
    OK(aclmdlRIExecute(model, 5000));
    CU_ASSERT_EQUAL(read_word(out + 3), 20);
    // The stream works on as any other.
    launch_ramp(stream, 1);
    OK(aclrtSynchronizeStream(stream));
    CU_ASSERT_EQUAL(read_word(out + 3), 11);
    OK(aclmdlRIDestroy(model));
    EXPECT(aclmdlRIExecuteAsync(model, stream), ACL_ERROR_RT_INVALID_HANDLE);
    acl_end(binary);
}

static void group_of_tasks_is_replaced(void)
{
    aclmdlRI model;
    aclrtTaskGrp group;
    begin();
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    launch_ramp_to(stream, copy, 90); // each keeps its own arguments
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    EXPECT(aclmdlRICaptureTaskGrpBegin(stream), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    launch_ramp(stream, 10);
    OK(aclmdlRICaptureTaskGrpEnd(stream, &group));
    OK(aclmdlRICaptureEnd(stream, &model));
    OK(aclmdlRIExecute(model, 5000));
    CU_ASSERT_EQUAL(read_word(out + 3), 13);
    OK(aclmdlRICaptureTaskUpdateBegin(side, group));
    launch_ramp(side, 50);
    OK(aclmdlRICaptureTaskUpdateEnd(side));
    CU_ASSERT_EQUAL(read_word(out + 3), 13);
    OK(aclmdlRIExecute(model, 5000));
    CU_ASSERT_EQUAL(read_word(out + 3), 53);
    CU_ASSERT_EQUAL(read_word(copy + 3), 93);
    EXPECT(aclmdlRICaptureTaskUpdateEnd(side), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    // Another number of tasks does not fit.
    OK(aclmdlRICaptureTaskUpdateBegin(side, group));
    EXPECT(aclmdlRICaptureTaskUpdateEnd(side), ACL_ERROR_RT_MODEL_UPDATE_FAILED);
    EXPECT(aclmdlRIExecute(model, 5000), ACL_ERROR_RT_MODEL_EXECUTE);
    OK(aclmdlRIDestroy(model));
    acl_end(binary);
}

static void see_word(void *user)
{
    int32_t *words = user;
    words[1 + words[0]++] = pinned[0];
}

static void *run_callbacks(void *user)
{
    atomic_bool *go_on = user;
    while (atomic_load(go_on)) {
        (void)aclrtProcessReport(10);
    }
    return NULL;
}

// Host functions and callbacks run at each replay, in their place.
static void host_functions_are_captured(void)
{
    aclmdlRI model;
    int32_t by_function[8] = {0}, by_callback[8] = {0};
    atomic_bool go_on = true;
    pthread_t thread;
    begin();
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, run_callbacks, &go_on), 0);
    OK(aclrtSubscribeReport((uint64_t)thread, stream));
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    launch_ramp(stream, 5);
    OK(aclrtMemcpyAsync(pinned, 4, out + 3, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtLaunchHostFunc(stream, see_word, by_function));
    OK(aclrtLaunchCallback(see_word, by_callback, ACL_CALLBACK_BLOCK, stream));
    launch_ramp(stream, 7);
    OK(aclmdlRICaptureEnd(stream, &model));
    CU_ASSERT_EQUAL(by_function[0], 0);
    for (int32_t i = 1; i <= 3; i++) {
        pinned[0] = -1;
        OK(aclmdlRIExecuteAsync(model, stream));
        OK(aclrtSynchronizeStream(stream));
        CU_ASSERT_EQUAL(by_function[0], i);
        CU_ASSERT_EQUAL(by_callback[0], i);
        CU_ASSERT_EQUAL(by_function[i], 8); // base 5, step 1, the fourth word
        CU_ASSERT_EQUAL(by_callback[i], 8);
        CU_ASSERT_EQUAL(read_word(out + 3), 10);
    }
    // Its thread is gone while a graph still has both: the function needs none, the callback is
    // given up.
    OK(aclrtUnSubscribeReport((uint64_t)thread, stream));
    OK(aclmdlRIExecuteAsync(model, stream));
    OK(aclrtSynchronizeStream(stream));
    CU_ASSERT_EQUAL(by_function[0], 4);
    CU_ASSERT_EQUAL(by_callback[0], 3);
    OK(aclmdlRIDestroy(model));
    atomic_store(&go_on, false);
    pthread_join(thread, NULL);
    acl_end(binary);
}

static void what_cannot_be_captured_is_said(void)
{
    aclmdlRI model;
    aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    aclmdlRICaptureStatus status;
    aclrtEvent event;
    int32_t pageable = 0;
    begin();
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    EXPECT(aclmdlRICaptureBegin(NULL, 0), ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT);
    EXPECT(aclmdlRICaptureEnd(stream, &model), ACL_ERROR_RT_STREAM_NOT_CAPTURED);

    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    EXPECT(aclrtMemcpy(&pageable, 4, out, 4, ACL_MEMCPY_DEVICE_TO_HOST),
           ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    EXPECT(aclrtMemset(out, 4, 0, 4), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    OK(aclmdlRICaptureThreadExchangeMode(&mode));
    CU_ASSERT_EQUAL(mode, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    OK(aclrtMemset(out, 4, 0, 4)); // the thread knows what it does
    OK(aclmdlRICaptureThreadExchangeMode(&mode));
    EXPECT(aclrtMemcpyAsync(out, 4, &pageable, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclmdlRICaptureGetInfo(stream, &status, &model));
    CU_ASSERT_EQUAL(status, ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    EXPECT(aclmdlRICaptureEnd(stream, &model), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    CU_ASSERT_PTR_NULL(model);

    // A wait that is refused leaves the capture as it is.
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CAPTURED);
    OK(aclmdlRICaptureGetInfo(stream, &status, &model));
    CU_ASSERT_EQUAL(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    OK(aclmdlRICaptureEnd(stream, &model));
    OK(aclmdlRIDestroy(model));

    // A stream that forked and did not come back.
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtStreamWaitEvent(side, event));
    launch_ramp(side, 1);
    EXPECT(aclmdlRICaptureEnd(side, &model), ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
    EXPECT(aclmdlRICaptureEnd(stream, &model), ACL_ERROR_RT_STREAM_UNJOINED);

    // All of them work on.
    launch_ramp(side, 1);
    OK(aclrtSynchronizeDevice());
    CU_ASSERT_EQUAL(read_word(out + 3), 4);

    // One that is destroyed, or reset, in the middle.
    OK(aclmdlRICaptureBegin(side, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    launch_ramp(side, 1);
    OK(aclrtDestroyStream(side));
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    launch_ramp(stream, 1);
    acl_end(binary);
}

static const struct leo_test tests[] = {
    {"capture_and_replay", capture_and_replay},
    {"group_of_tasks_is_replaced", group_of_tasks_is_replaced},
    {"host_functions_are_captured", host_functions_are_captured},
    {"what_cannot_be_captured_is_said", what_cannot_be_captured_is_said},
};

int main(int argc, char **argv)
{
    return leo_test_main("acl_capture", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
