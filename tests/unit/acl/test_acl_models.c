/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of one model on several streams, and its end while it runs. The library that runs models is
 * this test: a run copies its input to its output by way of the work area. */
#include "test_acl_common.h"

#include "harness.h"
#include <leo/acl_hook.h>
#include <string.h>

enum { BYTES = 4096 };

static const struct leo_acl_model_io io = {
    .name = "x", .type = ACL_UINT8, .dim_count = 1, .bytes = BYTES, .dims = {BYTES}};

static aclError read_model(const char *func, const void *data, size_t bytes,
                           struct leo_acl_model **model)
{
    static struct leo_acl_model told = {
        .work_bytes = BYTES, .input_count = 1, .output_count = 1, .inputs = &io, .outputs = &io};
    (void)func;
    (void)data;
    (void)bytes;
    *model = &told;
    return ACL_SUCCESS;
}

static aclError place(const char *func, struct leo_acl_model *model, void *weights)
{
    (void)func;
    (void)model;
    (void)weights;
    return ACL_SUCCESS;
}

// Input to the work area, and from there to the output: two runs at a time would mix them.
static aclError run(const char *func, struct leo_acl_model *model,
                    const struct leo_acl_model_run *run)
{
    (void)func;
    (void)model;
    uint8_t *work = run->work;
    void *const *buffers = run->buffers;
    aclrtStream stream = run->stream;
    aclError error =
        aclrtMemcpyAsync(work, BYTES, buffers[0], BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
    return error ? error
                 : aclrtMemcpyAsync(buffers[1], BYTES, work, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                    stream);
}

static void close_model(struct leo_acl_model *model)
{
    (void)model;
}

static const struct leo_acl_model_calls calls = {
    .read = read_model, .place = place, .run = run, .close = close_model};

/** A program's buffer as both sets need it. */
struct buffer {
    uint8_t *device;
    aclmdlDataset *set;
};

static struct buffer make_buffer(int value)
{
    struct buffer buffer = {.set = aclmdlCreateDataset()};
    OK(aclrtMalloc((void **)&buffer.device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(buffer.device, BYTES, value, BYTES));
    OK(aclmdlAddDatasetBuffer(buffer.set, aclCreateDataBuffer(buffer.device, BYTES)));
    return buffer;
}

static void free_buffer(struct buffer *buffer)
{
    OK(aclDestroyDataBuffer(aclmdlGetDatasetBuffer(buffer->set, 0)));
    OK(aclmdlDestroyDataset(buffer->set));
    OK(aclrtFree(buffer->device));
}

static int value_of(const struct buffer *buffer)
{
    uint8_t value = 0;
    OK(aclrtMemcpy(&value, 1, buffer->device, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    return value;
}

static uint32_t load(void)
{
    uint32_t id = 0;
    leo_acl_set_model_calls(&calls);
    OK(aclmdlLoadFromMem("model", 5, &id));
    return id;
}

/* The second stream has nothing to wait for but the first one's run. */
static void runs_follow_each_other(void)
{
    aclrtStream first, second;
    aclrtNotify gate;
    aclrtStreamStatus state;
    acl_begin_plain();
    const uint32_t id = load();
    struct buffer one = make_buffer(1), two = make_buffer(2), to_one = make_buffer(0),
                  to_two = make_buffer(0);
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateNotify(&gate, 0));
    OK(aclrtWaitAndResetNotify(gate, first, 0));
    OK(aclmdlExecuteAsync(id, one.set, to_one.set, first));
    OK(aclmdlExecuteAsync(id, two.set, to_two.set, second));
    OK(aclrtStreamQuery(second, &state));
    CU_ASSERT_EQUAL(state, ACL_STREAM_STATUS_NOT_READY);
    CU_ASSERT_EQUAL(value_of(&to_two), 0);
    OK(aclrtRecordNotify(gate, NULL));
    OK(aclrtSynchronizeStream(second));
    OK(aclrtStreamQuery(first, &state));
    CU_ASSERT_EQUAL(state, ACL_STREAM_STATUS_COMPLETE);
    CU_ASSERT_EQUAL(value_of(&to_one), 1);
    CU_ASSERT_EQUAL(value_of(&to_two), 2);
    // The same streams the other way round, and the default stream behind them.
    OK(aclmdlExecuteAsync(id, one.set, to_two.set, second));
    OK(aclmdlExecuteAsync(id, two.set, to_one.set, first));
    OK(aclmdlExecute(id, one.set, to_one.set));
    CU_ASSERT_EQUAL(value_of(&to_two), 1);
    CU_ASSERT_EQUAL(value_of(&to_one), 1);
    OK(aclrtDestroyStream(first));
    OK(aclrtDestroyStream(second));
    OK(aclmdlUnload(id)); // its streams are gone
    free_buffer(&one);
    free_buffer(&two);
    free_buffer(&to_one);
    free_buffer(&to_two);
    acl_end_plain();
}

/* The work area is freed behind the last run. */
static void unloading_waits(void)
{
    aclrtStream stream;
    aclrtStreamStatus state;
    acl_begin_plain();
    const uint32_t id = load();
    struct buffer in = make_buffer(7), out = make_buffer(0);
    OK(aclrtCreateStream(&stream));
    for (int i = 0; i < 20; i++) {
        OK(aclmdlExecuteAsync(id, in.set, out.set, stream));
    }
    OK(aclmdlUnload(id));
    OK(aclrtStreamQuery(stream, &state));
    CU_ASSERT_EQUAL(state, ACL_STREAM_STATUS_COMPLETE);
    CU_ASSERT_EQUAL(value_of(&out), 7);
    EXPECT(aclmdlUnload(id), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
    OK(aclrtDestroyStream(stream));
    free_buffer(&in);
    free_buffer(&out);
    acl_end_plain();
}

/* A captured run is one of its graph: it neither waits nor is waited for outside. */
static void runs_can_be_captured(void)
{
    aclrtStream stream;
    aclrtStreamStatus state;
    aclmdlRI graph;
    acl_begin_plain();
    const uint32_t id = load();
    struct buffer in = make_buffer(5), out = make_buffer(0);
    OK(aclrtCreateStream(&stream));
    OK(aclmdlExecute(id, in.set, out.set));
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclmdlExecuteAsync(id, in.set, out.set, stream));
    OK(aclmdlRICaptureEnd(stream, &graph));
    OK(aclrtMemset(out.device, BYTES, 0, BYTES));
    OK(aclmdlRIExecuteAsync(graph, stream));
    OK(aclrtSynchronizeStream(stream));
    CU_ASSERT_EQUAL(value_of(&out), 5);
    for (int i = 0; i < 20; i++) {
        OK(aclmdlRIExecuteAsync(graph, stream));
    }
    OK(aclmdlUnload(id)); // behind the graph's runs
    OK(aclrtStreamQuery(stream, &state));
    CU_ASSERT_EQUAL(state, ACL_STREAM_STATUS_COMPLETE);
    OK(aclmdlRIDestroy(graph));
    OK(aclrtDestroyStream(stream));
    free_buffer(&in);
    free_buffer(&out);
    acl_end_plain();
}

/* Copies into memory that is not pinned: the data are there without any other wait. */
static void pageable_copies_are_there(void)
{
    aclrtStream stream;
    aclrtStreamStatus state;
    uint8_t *device, bytes[64] = {0};
    acl_begin_plain();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc((void **)&device, sizeof(bytes), ACL_MEM_MALLOC_HUGE_FIRST));
    for (int round = 1; round <= 3; round++) {
        OK(aclrtMemsetAsync(device, sizeof(bytes), round, sizeof(bytes), stream));
        OK(aclrtMemcpyAsync(bytes, sizeof(bytes), device, sizeof(bytes), ACL_MEMCPY_DEVICE_TO_HOST,
                            stream));
        CU_ASSERT_EQUAL(bytes[63], round);
    }
    OK(aclrtStreamQuery(stream, &state));
    CU_ASSERT_EQUAL(state, ACL_STREAM_STATUS_COMPLETE);
    OK(aclrtFree(device));
    OK(aclrtDestroyStream(stream));
    acl_end_plain();
}

/* Work memory of a run by itself, and how long it is waited for. */
static void runs_take_settings(void)
{
    static const int32_t short_ms = 20;
    static const size_t small = BYTES - 1, enough = BYTES;
    aclrtStream stream;
    aclrtNotify gate;
    uint8_t *work;
    acl_begin_plain();
    const uint32_t id = load();
    struct buffer in = make_buffer(9), out = make_buffer(0);
    aclmdlExecConfigHandle *handle = aclmdlCreateExecConfigHandle();
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateNotify(&gate, 0));
    OK(aclrtMalloc((void **)&work, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(aclmdlExecuteV2(id, in.set, out.set, stream, NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclmdlExecuteV2(id, in.set, out.set, stream, handle));
    CU_ASSERT_EQUAL(value_of(&out), 9);
    OK(aclmdlSetExecConfigOpt(handle, ACL_MDL_WORK_ADDR_PTR, &work, sizeof(work)));
    OK(aclmdlSetExecConfigOpt(handle, ACL_MDL_WORK_SIZET, &small, sizeof(small)));
    EXPECT(aclmdlExecuteV2(id, in.set, out.set, stream, handle), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlSetExecConfigOpt(handle, ACL_MDL_WORK_SIZET, &small, 4), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlSetExecConfigOpt(handle, ACL_MDL_AICQOS_SIZET, &small, sizeof(small)),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclmdlSetExecConfigOpt(handle, ACL_MDL_WORK_SIZET, &enough, sizeof(enough)));
    OK(aclmdlExecuteAsyncV2(id, in.set, out.set, stream, handle));
    OK(aclrtSynchronizeStream(stream));
    struct buffer passed = {.device = work, .set = in.set};
    CU_ASSERT_EQUAL(value_of(&passed), 9); // by way of this memory
    OK(aclmdlSetExecConfigOpt(handle, ACL_MDL_STREAM_SYNC_TIMEOUT, &short_ms, sizeof(short_ms)));
    OK(aclrtWaitAndResetNotify(gate, stream, 0));
    EXPECT(aclmdlExecuteV2(id, in.set, out.set, stream, handle), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtRecordNotify(gate, NULL));
    OK(aclrtSynchronizeStream(stream));
    OK(aclmdlUnload(id));
    OK(aclmdlDestroyExecConfigHandle(handle));
    OK(aclrtFree(work));
    OK(aclrtDestroyNotify(gate));
    OK(aclrtDestroyStream(stream));
    free_buffer(&in);
    free_buffer(&out);
    acl_end_plain();
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"runs_take_settings", runs_take_settings},
        {"runs_follow_each_other", runs_follow_each_other},
        {"unloading_waits", unloading_waits},
        {"runs_can_be_captured", runs_can_be_captured},
        {"pageable_copies_are_there", pageable_copies_are_there},
    };
    return leo_test_main("acl_models", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
