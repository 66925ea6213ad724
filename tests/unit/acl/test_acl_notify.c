/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies, data sets, and the callback that is told of failures. */
#include "test_acl_common.h"

#include "harness.h"
#include <string.h>

static aclrtBinHandle binary;

static void begin(void)
{
    acl_begin("ascend910b1", &binary);
}

/* A copy behind a wait sees what was written before the record on the other stream. */
static void a_wait_takes_the_mark(void)
{
    aclrtNotify notify, other;
    aclrtStream giver, taker;
    int32_t *device, value = 0;
    uint32_t id = 99, other_id = 99;
    aclrtStreamStatus state;
    begin();
    OK(aclrtCreateStream(&giver));
    OK(aclrtCreateStream(&taker));
    OK(aclrtMalloc((void **)&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(device, 4096, 0, 4096));
    OK(aclrtCreateNotify(&notify, 0));
    OK(aclrtCreateNotify(&other, 0));
    OK(aclrtGetNotifyId(notify, &id));
    OK(aclrtGetNotifyId(other, &other_id));
    CU_ASSERT_NOT_EQUAL(id, other_id);
    for (int round = 1; round <= 3; round++) {
        OK(aclrtWaitAndResetNotify(notify, taker, 0));
        OK(aclrtMemcpyAsync(device + 1, 4, device, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, taker));
        OK(aclrtStreamQuery(taker, &state));
        CU_ASSERT_EQUAL(state, ACL_STREAM_STATUS_NOT_READY); // the mark is gone after each round
        OK(aclrtMemsetAsync(device, 4, round, 4, giver));
        OK(aclrtRecordNotify(notify, giver));
        OK(aclrtSynchronizeStream(taker));
        OK(aclrtMemcpy(&value, 4, device + 1, 4, ACL_MEMCPY_DEVICE_TO_HOST));
        CU_ASSERT_EQUAL(value, round * 0x01010101);
        OK(aclrtSynchronizeStream(giver));
    }
    // A record before the wait is kept; a reset takes it away.
    OK(aclrtRecordNotify(notify, giver));
    OK(aclrtSynchronizeStream(giver));
    OK(aclrtWaitAndResetNotify(notify, taker, 0));
    OK(aclrtSynchronizeStream(taker));
    OK(aclrtRecordNotify(other, giver));
    OK(aclrtSynchronizeStream(giver));
    OK(aclrtNotifyBatchReset(&other, 1));
    OK(aclrtWaitAndResetNotify(other, taker, 0));
    OK(aclrtStreamQuery(taker, &state));
    CU_ASSERT_EQUAL(state, ACL_STREAM_STATUS_NOT_READY);
    OK(aclrtRecordNotify(other, giver));
    OK(aclrtSynchronizeStream(taker));
    OK(aclrtDestroyNotify(notify)); // the other one ends with the device
    EXPECT(aclrtDestroyNotify(notify), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclrtRecordNotify(notify, giver), ACL_ERROR_RT_INVALID_HANDLE);
    OK(aclrtFree(device));
    acl_end(binary);
}

static void wrong_use_is_told(void)
{
    aclrtNotify notify;
    begin();
    EXPECT(aclrtCreateNotify(NULL, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtCreateNotify(&notify, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtDestroyNotify(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtRecordNotify(NULL, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtWaitAndResetNotify(NULL, NULL, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtNotifyBatchReset(NULL, 1), ACL_ERROR_INVALID_PARAM);
    OK(aclrtCreateNotify(&notify, 0));
    EXPECT(aclrtGetNotifyId(notify, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtNotifyBatchReset(&notify, 0), ACL_ERROR_INVALID_PARAM);
    OK(aclrtDestroyNotify(notify));
    acl_end(binary);
}

static void data_sets_keep_what_they_are_given(void)
{
    char data[3];
    aclDataBuffer *buffers[3];
    aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT, 0, NULL, ACL_FORMAT_ND);
    aclmdlDataset *dataset = aclmdlCreateDataset();
    CU_ASSERT_PTR_NOT_NULL_FATAL(dataset);
    CU_ASSERT_EQUAL(aclmdlGetDatasetNumBuffers(dataset), 0);
    for (size_t i = 0; i < 3; i++) {
        buffers[i] = aclCreateDataBuffer(&data[i], i + 1);
        OK(aclmdlAddDatasetBuffer(dataset, buffers[i]));
    }
    CU_ASSERT_EQUAL(aclmdlGetDatasetNumBuffers(dataset), 3);
    CU_ASSERT_PTR_EQUAL(aclmdlGetDatasetBuffer(dataset, 2), buffers[2]);
    CU_ASSERT_PTR_NULL(aclmdlGetDatasetBuffer(dataset, 3));
    OK(aclmdlSetDatasetTensorDesc(dataset, desc, 1));
    CU_ASSERT_PTR_EQUAL(aclmdlGetDatasetTensorDesc(dataset, 1), desc);
    CU_ASSERT_PTR_NULL(aclmdlGetDatasetTensorDesc(dataset, 0));
    EXPECT(aclmdlSetDatasetTensorDesc(dataset, desc, 3), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlAddDatasetBuffer(dataset, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlAddDatasetBuffer(NULL, buffers[0]), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlDestroyDataset(NULL), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(aclmdlGetDatasetNumBuffers(NULL), 0);
    OK(aclmdlDestroyDataset(dataset));
    for (size_t i = 0; i < 3; i++) {
        OK(aclDestroyDataBuffer(buffers[i])); // they are not the set's
    }
    aclDestroyTensorDesc(desc);
}

static struct {
    int calls;
    uint32_t task, stream, device, error;
} told;

static void note(aclrtExceptionInfo *info)
{
    told.calls++;
    told.task = aclrtGetTaskIdFromExceptionInfo(info);
    told.stream = aclrtGetStreamIdFromExceptionInfo(info);
    told.device = aclrtGetDeviceIdFromExceptionInfo(info);
    told.error = aclrtGetErrorCodeFromExceptionInfo(info);
    CU_ASSERT_NOT_EQUAL(aclrtGetThreadIdFromExceptionInfo(info), 0);
}

static void launch(const char *name, aclrtStream stream)
{
    aclrtFuncHandle function;
    aclrtArgsHandle args;
    OK(aclrtBinaryGetFunction(binary, name, &function));
    OK(aclrtKernelArgsInit(function, &args));
    OK(aclrtKernelArgsFinalize(args));
    OK(aclrtLaunchKernelWithConfig(function, 1, stream, NULL, args, NULL));
}

static void a_callback_is_told_of_a_fault(void)
{
    aclrtStream stream;
    int32_t id = -1;
    begin();
    OK(aclrtCreateStream(&stream));
    OK(aclrtStreamGetId(stream, &id));
    OK(aclrtSetExceptionInfoCallback(note));
    memset(&told, 0, sizeof(told));
    launch("nothing", stream);
    OK(aclrtSynchronizeStream(stream));
    CU_ASSERT_EQUAL(told.calls, 0);
    launch("give_up", stream);
    launch("nothing", stream);
    EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION);
    CU_ASSERT_EQUAL(told.calls, 1);
    CU_ASSERT_EQUAL(told.task, 2);
    CU_ASSERT_EQUAL(told.stream, (uint32_t)id);
    CU_ASSERT_EQUAL(told.device, 0);
    CU_ASSERT_EQUAL(told.error, ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION);
    OK(aclrtSetExceptionInfoCallback(NULL));
    launch("give_up", stream);
    EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION);
    CU_ASSERT_EQUAL(told.calls, 1);
    CU_ASSERT_EQUAL(aclrtGetTaskIdFromExceptionInfo(NULL), UINT32_MAX);
    acl_end(binary);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"a_wait_takes_the_mark", a_wait_takes_the_mark},
        {"wrong_use_is_told", wrong_use_is_told},
        {"data_sets_keep_what_they_are_given", data_sets_keep_what_they_are_given},
        {"a_callback_is_told_of_a_fault", a_callback_is_told_of_a_fault},
    };
    return leo_test_main("acl_notify", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
