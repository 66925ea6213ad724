/* SPDX-License-Identifier: Apache-2.0 */
/* Channels of data: order, limit, stop, and the types InitData and GetNext that read them,
 * OutfeedEnqueueOp and OutfeedEnqueueOpV2 that write them. */
#include "test_acl_common.h"

#include <acl/acl_op_compiler.h>
#include <acl/acl_tdt.h>

#include "harness.h"
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/** Sends one int32 vector of three and one float. */
static aclError send_pair(acltdtChannelHandle *channel, int32_t first, float second, int timeout)
{
    int32_t values[3] = {first, first + 1, first + 2};
    const int64_t dims[1] = {3};
    acltdtDataItem *items[2] = {
        acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 1, ACL_INT32, values, sizeof(values)),
        acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, NULL, 0, ACL_FLOAT, &second, sizeof(second)),
    };
    acltdtDataset *set = acltdtCreateDataset();
    for (int i = 0; i < 2; i++) {
        OK(acltdtAddDataItem(set, items[i]));
    }
    aclError error = acltdtSendTensor(channel, set, timeout);
    memset(values, 0xff, sizeof(values)); // the channel has a copy
    for (int i = 0; i < 2; i++) {
        OK(acltdtDestroyDataItem(acltdtGetDataItem(set, (size_t)i)));
    }
    OK(acltdtDestroyDataset(set));
    return error;
}

static aclError send_end(acltdtChannelHandle *channel)
{
    acltdtDataset *set = acltdtCreateDataset();
    acltdtDataItem *item =
        acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, NULL, 0, ACL_BOOL, NULL, 0);
    OK(acltdtAddDataItem(set, item));
    aclError error = acltdtSendTensor(channel, set, -1);
    OK(acltdtDestroyDataset(set));
    OK(acltdtDestroyDataItem(item));
    return error;
}

static void expect_pair(acltdtChannelHandle *channel, int32_t first, float second)
{
    acltdtDataset *set = acltdtCreateDataset();
    int64_t dims[2] = {0, 0};
    size_t slices = 0, slice = 9;
    OK(acltdtReceiveTensor(channel, set, 0));
    CU_ASSERT_STRING_EQUAL(acltdtGetDatasetName(set), "pairs");
    CU_ASSERT_EQUAL_FATAL(acltdtGetDatasetSize(set), 2);
    acltdtDataItem *vector = acltdtGetDataItem(set, 0), *one = acltdtGetDataItem(set, 1);
    CU_ASSERT_PTR_NULL(acltdtGetDataItem(set, 2));
    CU_ASSERT_EQUAL(acltdtGetTensorTypeFromItem(vector), ACL_TENSOR_DATA_TENSOR);
    CU_ASSERT_EQUAL(acltdtGetDataTypeFromItem(vector), ACL_INT32);
    CU_ASSERT_EQUAL(acltdtGetDimNumFromItem(vector), 1);
    OK(acltdtGetDimsFromItem(vector, dims, 2));
    CU_ASSERT_EQUAL(dims[0], 3);
    EXPECT(acltdtGetDimsFromItem(vector, dims, 0), ACL_ERROR_INVALID_PARAM);
    OK(acltdtGetSliceInfoFromItem(vector, &slices, &slice));
    CU_ASSERT_TRUE(slices == 1 && slice == 0);
    CU_ASSERT_EQUAL_FATAL(acltdtGetDataSizeFromItem(vector), 12);
    CU_ASSERT_EQUAL(((const int32_t *)acltdtGetDataAddrFromItem(vector))[2], first + 2);
    CU_ASSERT_EQUAL(*(const float *)acltdtGetDataAddrFromItem(one), second);
    EXPECT(acltdtDestroyDataItem(one), ACL_ERROR_INVALID_PARAM); // the set's
    EXPECT(acltdtAddDataItem(set, one), ACL_ERROR_INVALID_PARAM);
    EXPECT(acltdtReceiveTensor(channel, set, 0), ACL_ERROR_INVALID_PARAM); // not empty
    OK(acltdtDestroyDataset(set));
}

static void sets_come_in_order_up_to_the_limit(void)
{
    acltdtDataset *set = acltdtCreateDataset();
    size_t waiting = 9;
    acl_begin_plain();
    acltdtChannelHandle *channel = acltdtCreateChannelWithCapacity(0, "pairs", 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(channel);
    CU_ASSERT_PTR_NULL(acltdtCreateChannel(0, "pairs")); // the name is taken
    EXPECT(acltdtReceiveTensor(channel, set, 0), ACL_ERROR_RT_QUEUE_EMPTY);
    EXPECT(acltdtReceiveTensor(channel, set, 20), ACL_ERROR_RT_QUEUE_EMPTY);
    for (int round = 0; round < 3; round++) { // around the ring
        OK(send_pair(channel, round * 10, 0.5F, -1));
        OK(send_pair(channel, round * 10 + 1, 1.5F, 0));
        EXPECT(send_pair(channel, 7, 7, 0), ACL_ERROR_RT_QUEUE_FULL);
        EXPECT(send_pair(channel, 7, 7, 20), ACL_ERROR_RT_QUEUE_FULL);
        OK(acltdtQueryChannelSize(channel, &waiting));
        CU_ASSERT_EQUAL(waiting, 2);
        expect_pair(channel, round * 10, 0.5F);
        expect_pair(channel, round * 10 + 1, 1.5F);
    }
    OK(send_pair(channel, 1, 1, 0));
    OK(acltdtCleanChannel(channel));
    OK(acltdtQueryChannelSize(channel, &waiting));
    CU_ASSERT_EQUAL(waiting, 0);
    OK(send_pair(channel, 3, 3, 0));
    OK(acltdtStopChannel(channel));
    EXPECT(send_pair(channel, 1, 1, -1), ACL_ERROR_FAILURE);
    expect_pair(channel, 3, 3); // what was in it can still be taken
    EXPECT(acltdtReceiveTensor(channel, set, -1), ACL_ERROR_FAILURE);
    OK(acltdtDestroyChannel(channel));
    OK(acltdtDestroyDataset(set));
    acl_end_plain();
}

static void wrong_use_is_told(void)
{
    acl_begin_plain();
    int64_t dims[1] = {1};
    size_t size;
    CU_ASSERT_PTR_NULL(acltdtCreateChannel(0, NULL));
    CU_ASSERT_PTR_NULL(acltdtCreateChannel(0, ""));
    CU_ASSERT_PTR_NULL(acltdtCreateChannel(999, "far"));
    CU_ASSERT_PTR_NULL(acltdtCreateChannelWithCapacity(0, "small", 1));
    CU_ASSERT_PTR_NULL(acltdtCreateChannelWithCapacity(0, "big", 8193));
    CU_ASSERT_PTR_NULL(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, NULL, 1, ACL_INT8, dims, 1));
    CU_ASSERT_PTR_NULL(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 1, ACL_INT8, NULL, 1));
    EXPECT(acltdtDestroyDataItem(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(acltdtDestroyDataset(NULL), ACL_ERROR_INVALID_PARAM);
    acltdtChannelHandle *channel = acltdtCreateChannel(0, "gone");
    CU_ASSERT_PTR_NOT_NULL_FATAL(channel);
    OK(acltdtDestroyChannel(channel));
    EXPECT(acltdtDestroyChannel(channel), ACL_ERROR_INVALID_PARAM);
    EXPECT(acltdtStopChannel(channel), ACL_ERROR_INVALID_PARAM);
    EXPECT(acltdtCleanChannel(channel), ACL_ERROR_INVALID_PARAM);
    EXPECT(acltdtQueryChannelSize(channel, &size), ACL_ERROR_INVALID_PARAM);
    EXPECT(send_pair(channel, 1, 1, 0), ACL_ERROR_INVALID_PARAM);
    acl_end_plain();
}

enum { STEPS = 40 };

static void *send_all(void *arg)
{
    for (int i = 0; i < STEPS; i++) {
        OK(send_pair(arg, i, (float)i, -1));
    }
    return NULL;
}

/** A call of type InitData or GetNext with the outputs that send_pair fills. */
static aclError call(const char *type, const char *channel, void *vector, int64_t elements,
                     void *one, aclrtStream stream)
{
    const int64_t dims[1] = {elements};
    aclTensorDesc *descs[2] = {aclCreateTensorDesc(ACL_INT32, 1, dims, ACL_FORMAT_ND),
                               aclCreateTensorDesc(ACL_FLOAT, 0, NULL, ACL_FORMAT_ND)};
    aclDataBuffer *buffers[2] = {aclCreateDataBuffer(vector, 4 * (size_t)elements),
                                 aclCreateDataBuffer(one, 4)};
    aclopAttr *attr = aclopCreateAttr();
    if (channel) {
        OK(aclopSetAttrString(attr, "channel_name", channel));
    }
    const int outputs = strcmp(type, "GetNext") == 0 ? 2 : 0;
    aclError error =
        aclopCompileAndExecute(type, 0, NULL, NULL, outputs, (const aclTensorDesc *const *)descs,
                               buffers, attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, stream);
    aclopDestroyAttr(attr);
    for (int i = 0; i < 2; i++) {
        aclDestroyTensorDesc(descs[i]);
        OK(aclDestroyDataBuffer(buffers[i]));
    }
    return error;
}

/* Forty sets through a channel with room for two: the sender waits for the stream, the stream for
 * the sender, and each step's copy sees the step's set. */
static void a_stream_takes_one_set_a_step(void)
{
    int32_t *vector, (*vectors)[3];
    float *one, *ones;
    aclrtStream stream;
    pthread_t sender;
    acl_begin_plain();
    acltdtChannelHandle *channel = acltdtCreateChannelWithCapacity(0, "steps", 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(channel);
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc((void **)&vector, 512, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&one, 512, ACL_MEM_MALLOC_HUGE_FIRST));
    // Pinned: a copy into other memory would wait for a set that is not sent yet.
    OK(aclrtMallocHost((void **)&vectors, STEPS * sizeof(*vectors)));
    OK(aclrtMallocHost((void **)&ones, STEPS * sizeof(*ones)));
    OK(call("InitData", "steps", vector, 3, one, stream));
    for (int i = 0; i < STEPS; i++) {
        OK(call("GetNext", "steps", vector, 3, one, stream));
        OK(aclrtMemcpyAsync(vectors[i], 12, vector, 12, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        OK(aclrtMemcpyAsync(&ones[i], 4, one, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        if (i == 3) { // the first sets are asked for before they are sent
            CU_ASSERT_EQUAL_FATAL(pthread_create(&sender, NULL, send_all, channel), 0);
        }
    }
    OK(aclrtSynchronizeStream(stream));
    pthread_join(sender, NULL);
    for (int i = 0; i < STEPS; i++) {
        CU_ASSERT_EQUAL(vectors[i][0], i);
        CU_ASSERT_EQUAL(vectors[i][2], i + 2);
        CU_ASSERT_EQUAL(ones[i], (float)i);
    }
    OK(acltdtStopChannel(channel));
    OK(acltdtDestroyChannel(channel));
    OK(aclrtFree(vector));
    OK(aclrtFree(one));
    OK(aclrtFreeHost(vectors));
    OK(aclrtFreeHost(ones));
    OK(aclrtDestroyStream(stream));
    acl_end_plain();
}

/* InitData and GetNext come before the channel: the stream waits for it. */
static void a_channel_may_be_made_late(void)
{
    int32_t *vector, got[3];
    aclrtStream stream;
    aclrtStreamStatus state;
    acl_begin_plain();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc((void **)&vector, 512, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(call("InitData", "late", vector, 3, vector, stream));
    OK(call("GetNext", "late", vector, 3, vector + 64, stream));
    usleep(20000);
    OK(aclrtStreamQuery(stream, &state));
    CU_ASSERT_EQUAL(state, ACL_STREAM_STATUS_NOT_READY);
    acltdtChannelHandle *channel = acltdtCreateChannel(0, "late");
    CU_ASSERT_PTR_NOT_NULL_FATAL(channel);
    OK(send_pair(channel, 5, 5, -1));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(got, sizeof(got), vector, sizeof(got), ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT_EQUAL(got[1], 6);
    OK(acltdtDestroyChannel(channel));
    EXPECT(call("GetNext", "late", vector, 3, vector + 64, stream), ACL_ERROR_INVALID_PARAM);
    OK(aclrtFree(vector));
    OK(aclrtDestroyStream(stream));
    acl_end_plain();
}

static void expect_failed_wait(aclrtStream stream, const char *text)
{
    CU_ASSERT_NOT_EQUAL(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    const char *said = aclGetRecentErrMsg();
    CU_ASSERT_PTR_NOT_NULL_FATAL(said);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, text));
}

static void a_set_that_does_not_fit_is_told(void)
{
    int32_t *vector;
    aclrtStream stream;
    acl_begin_plain();
    acltdtChannelHandle *channel = acltdtCreateChannel(0, "steps");
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc((void **)&vector, 512, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(call("GetNext", NULL, vector, 3, vector, stream), ACL_ERROR_INVALID_PARAM);
    EXPECT(call("GetNext", "other", vector, 3, vector, stream), ACL_ERROR_INVALID_PARAM);
    EXPECT(call("InitData", NULL, vector, 3, vector, stream), ACL_ERROR_INVALID_PARAM);
    OK(send_pair(channel, 1, 1, -1));
    OK(call("GetNext", "steps", vector, 4, vector + 64, stream));
    expect_failed_wait(stream, "tensor 0 has type 3 and 12 bytes");
    OK(send_end(channel));
    OK(call("GetNext", "steps", vector, 3, vector + 64, stream));
    expect_failed_wait(stream, "the data have ended");
    OK(call("GetNext", "steps", vector, 3, vector + 64, stream));
    usleep(20000); // it waits, and the stop ends that
    OK(acltdtStopChannel(channel));
    expect_failed_wait(stream, "it is stopped");
    OK(acltdtDestroyChannel(channel));
    OK(aclrtFree(vector));
    OK(aclrtDestroyStream(stream));
    acl_end_plain();
}

/** A text as tensors hold it. */
struct text {
    uint64_t start, length;
    char text[16];
};

/** Sends a vector of three and two texts, of which the second names the set. */
static aclError enqueue(const char *type, const char *channel, int32_t *vector, struct text *texts,
                        aclrtStream stream)
{
    const int64_t dims[1] = {3};
    aclTensorDesc *descs[3] = {aclCreateTensorDesc(ACL_INT32, 1, dims, ACL_FORMAT_ND),
                               aclCreateTensorDesc(ACL_STRING, 0, NULL, ACL_FORMAT_ND),
                               aclCreateTensorDesc(ACL_STRING, 0, NULL, ACL_FORMAT_ND)};
    aclDataBuffer *buffers[3] = {aclCreateDataBuffer(vector, 12),
                                 aclCreateDataBuffer(&texts[0], sizeof(texts[0])),
                                 aclCreateDataBuffer(&texts[1], sizeof(texts[1]))};
    aclopAttr *attr = aclopCreateAttr();
    aclSetTensorDescName(descs[0], "x0");
    aclSetTensorDescName(descs[1], "x1");
    aclSetTensorDescName(descs[2], "tensor_name");
    OK(aclopSetAttrString(attr, "channel_name", channel));
    const int inputs = strcmp(type, "OutfeedEnqueueOpV2") == 0 ? 3 : 1;
    aclError error = aclopCompileAndExecute(type, inputs, (const aclTensorDesc *const *)descs,
                                            (const aclDataBuffer *const *)buffers, 0, NULL, NULL,
                                            attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, stream);
    aclopDestroyAttr(attr);
    for (int i = 0; i < 3; i++) {
        aclDestroyTensorDesc(descs[i]);
        OK(aclDestroyDataBuffer(buffers[i]));
    }
    return error;
}

static void expect_set(acltdtChannelHandle *channel, const char *name, size_t count, int32_t first)
{
    acltdtDataset *set = acltdtCreateDataset();
    OK(acltdtReceiveTensor(channel, set, 10000));
    CU_ASSERT_STRING_EQUAL(acltdtGetDatasetName(set), name);
    CU_ASSERT_EQUAL_FATAL(acltdtGetDatasetSize(set), count);
    acltdtDataItem *item = acltdtGetDataItem(set, 0);
    CU_ASSERT_EQUAL(acltdtGetDataTypeFromItem(item), ACL_INT32);
    CU_ASSERT_EQUAL(acltdtGetDimNumFromItem(item), 1);
    CU_ASSERT_EQUAL(((const int32_t *)acltdtGetDataAddrFromItem(item))[2], first + 2);
    if (count == 2) {
        item = acltdtGetDataItem(set, 1);
        CU_ASSERT_EQUAL(acltdtGetDataSizeFromItem(item), 4);
        CU_ASSERT_EQUAL(memcmp(acltdtGetDataAddrFromItem(item), "y is", 4), 0);
    }
    OK(acltdtDestroyDataset(set));
}

/* Each call's values are those of its place in the stream; a full channel makes the stream wait. */
static void a_stream_sends_what_it_has(void)
{
    const struct text sent[2] = {{16, 4, "y is"}, {16, 5, "print"}};
    int32_t *vector, *values;
    struct text *texts;
    aclrtStream stream;
    acl_begin_plain();
    acltdtChannelHandle *channel = acltdtCreateChannelWithCapacity(0, "log", 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(channel);
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc((void **)&vector, 512, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&texts, 512, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost((void **)&values, 12 * sizeof(*values)));
    OK(aclrtMemcpy(texts, sizeof(sent), sent, sizeof(sent), ACL_MEMCPY_HOST_TO_DEVICE));
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) {
            values[3 * i + k] = 10 * i + k;
        }
        OK(aclrtMemcpyAsync(vector, 12, values + 3 * i, 12, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        OK(enqueue(i < 3 ? "OutfeedEnqueueOpV2" : "OutfeedEnqueueOp", "log", vector, texts,
                   stream));
    }
    for (int i = 0; i < 4; i++) {
        expect_set(channel, i < 3 ? "print" : "log", i < 3 ? 2 : 1, 10 * i);
    }
    OK(aclrtSynchronizeStream(stream));
    EXPECT(enqueue("OutfeedEnqueueOp", "other", vector, texts, stream), ACL_ERROR_INVALID_PARAM);
    EXPECT(enqueue("OutfeedEnqueueOp", "log", NULL, texts, stream), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_PTR_NOT_NULL(strstr(aclGetRecentErrMsg(), "input 0 has 12 bytes, and no address"));
    const struct text broken = {16, 1000, "y is"};
    OK(aclrtMemcpy(texts, sizeof(broken), &broken, sizeof(broken), ACL_MEMCPY_HOST_TO_DEVICE));
    OK(enqueue("OutfeedEnqueueOpV2", "log", vector, texts, stream));
    expect_failed_wait(stream, "a text tensor does not hold");
    OK(acltdtStopChannel(channel));
    OK(enqueue("OutfeedEnqueueOp", "log", vector, texts, stream));
    expect_failed_wait(stream, "OutfeedEnqueueOp of channel log: it is stopped");
    OK(acltdtDestroyChannel(channel));
    OK(aclrtFree(vector));
    OK(aclrtFree(texts));
    OK(aclrtFreeHost(values));
    OK(aclrtDestroyStream(stream));
    acl_end_plain();
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"sets_come_in_order_up_to_the_limit", sets_come_in_order_up_to_the_limit},
        {"wrong_use_is_told", wrong_use_is_told},
        {"a_stream_takes_one_set_a_step", a_stream_takes_one_set_a_step},
        {"a_channel_may_be_made_late", a_channel_may_be_made_late},
        {"a_set_that_does_not_fit_is_told", a_set_that_does_not_fit_is_told},
        {"a_stream_sends_what_it_has", a_stream_sends_what_it_has},
    };
    return leo_test_main("acl_channels", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
