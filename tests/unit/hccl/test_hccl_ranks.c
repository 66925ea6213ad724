/* SPDX-License-Identifier: Apache-2.0 */
/* HCCL between processes, each with a simulated card: results, order on streams, simulated time,
 * wrong use, lost ranks. */
#include "harness.h"
#include "ranks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 3000 };

static int fill(struct rank *self, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        self->host[i] = (float)(self->rank * 10000 + i);
    }
    TRY(aclrtMemcpy(self->a, sizeof(self->host), self->host, count * sizeof(float),
                    ACL_MEMCPY_HOST_TO_DEVICE));
    return 0;
}

static int fetch(struct rank *self, const void *from, size_t count)
{
    TRY(aclrtSynchronizeStream(self->stream));
    TRY(aclrtMemcpy(self->host, sizeof(self->host), from, count * sizeof(float),
                    ACL_MEMCPY_DEVICE_TO_HOST));
    return 0;
}

static int do_collectives(struct rank *self)
{
    const uint32_t n = self->ranks;
    if (fill(self, COUNT)) {
        return 1;
    }
    // Three in a row in one stream, each on the result of the one before.
    TRY(HcclAllReduce(self->a, self->b, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, self->comm,
                      self->stream));
    TRY(HcclAllReduce(self->b, self->b, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX, self->comm,
                      self->stream));
    TRY(HcclBroadcast(self->b, COUNT, HCCL_DATA_TYPE_FP32, n - 1, self->comm, self->stream));
    if (fetch(self, self->b, COUNT)) {
        return 1;
    }
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(self->host[i] == (float)(n * (n - 1) / 2 * 10000 + n * i));
    }
    if (fill(self, COUNT)) {
        return 1;
    }
    TRY(HcclAllGather(self->a, self->b, COUNT, HCCL_DATA_TYPE_FP32, self->comm, self->stream));
    if (fetch(self, self->b, n * (size_t)COUNT)) {
        return 1;
    }
    for (size_t i = 0; i < n * (size_t)COUNT; i++) {
        CHECK(self->host[i] == (float)(i / COUNT * 10000 + i % COUNT));
    }
    TRY(HcclReduceScatter(self->b, self->a, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, self->comm,
                          self->stream));
    if (fetch(self, self->a, COUNT)) {
        return 1;
    }
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(self->host[i] == (float)(n * (self->rank * 10000 + i)));
    }
    TRY(HcclBarrier(self->comm, self->stream));
    TRY(aclrtSynchronizeStream(self->stream));
    return 0;
}

static int do_messages(struct rank *self)
{
    const uint32_t next = (self->rank + 1) % self->ranks,
                   last = (self->rank + self->ranks - 1) % self->ranks;
    if (fill(self, COUNT)) {
        return 1;
    }
    TRY(HcclGroupStart());
    TRY(HcclSend(self->a, COUNT, HCCL_DATA_TYPE_FP32, next, self->comm, self->stream));
    TRY(HcclRecv(self->b, COUNT, HCCL_DATA_TYPE_FP32, last, self->comm, self->stream));
    TRY(HcclGroupEnd());
    if (fetch(self, self->b, COUNT)) {
        return 1;
    }
    CHECK(self->host[7] == (float)(last * 10000 + 7));
    HcclSendRecvItem items[] = {
        {HCCL_SEND, self->b, COUNT, HCCL_DATA_TYPE_FP32, last},
        {HCCL_RECV, self->a, COUNT, HCCL_DATA_TYPE_FP32, next},
    };
    TRY(HcclBatchSendRecv(items, 2, self->comm, self->stream));
    if (fetch(self, self->a, COUNT)) {
        return 1;
    }
    CHECK(self->host[9] == (float)(self->rank * 10000 + 9)); // there and back
    CHECK(HcclSend(self->a, 1, HCCL_DATA_TYPE_FP32, self->rank, self->comm, self->stream) ==
          HCCL_E_PARA);
    return 0;
}

/* All ranks see the same end in simulated time, whoever came late on the host. */
static int keep_time(struct rank *self)
{
    aclrtEvent before, after;
    float ms = 0;
    TRY(aclrtCreateEvent(&before));
    TRY(aclrtCreateEvent(&after));
    usleep(self->rank * 30000);
    TRY(HcclBarrier(self->comm, self->stream));
    TRY(aclrtRecordEvent(before, self->stream));
    TRY(HcclAllReduce(self->a, self->b, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, self->comm,
                      self->stream));
    TRY(aclrtRecordEvent(after, self->stream));
    TRY(aclrtSynchronizeStream(self->stream));
    TRY(aclrtEventElapsedTime(&ms, before, after));
    // Less than half a millisecond of simulated time (a first-generation card); on the host the
    // ranks came 30 ms apart.
    CHECK(ms > 0.3F && ms < 1.0F);
    TRY(aclrtDestroyEvent(before));
    TRY(aclrtDestroyEvent(after));
    return 0;
}

/* An all-reduce in place that is captured: each replay sums up anew. */
static int replay(struct rank *self)
{
    aclmdlRI graph;
    if (fill(self, 16)) {
        return 1;
    }
    TRY(aclmdlRICaptureBegin(self->stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    TRY(HcclAllReduce(self->a, self->b, 16, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, self->comm,
                      self->stream));
    TRY(aclrtMemcpyAsync(self->a, 64, self->b, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, self->stream));
    TRY(aclmdlRICaptureEnd(self->stream, &graph));
    for (int i = 0; i < 3; i++) {
        TRY(aclmdlRIExecuteAsync(graph, self->stream));
    }
    if (fetch(self, self->a, 16)) {
        return 1;
    }
    const uint32_t n = self->ranks;
    const float sum = (float)(n * (n - 1) / 2 * 10000 + n * 3);
    CHECK(self->host[3] == sum * (float)(n * n));
    TRY(aclmdlRIDestroy(graph));
    return 0;
}

static int split_group(struct rank *self)
{
    // The even ranks, in falling order.
    uint32_t members[RANKS_MAX], count = 0, at = 0;
    for (uint32_t r = self->ranks; r-- > 0;) {
        if (r % 2 == 0) {
            at = r == self->rank ? count : at;
            members[count++] = r;
        }
    }
    HcclComm part = NULL;
    const bool in = self->rank % 2 == 0;
    TRY(HcclCreateSubCommConfig(&self->comm, count, in ? members : NULL, 1, at, NULL, &part));
    CHECK(in == (part != NULL));
    if (in) {
        uint32_t rank = 99;
        TRY(HcclGetRankId(part, &rank));
        CHECK(rank == at);
        if (fill(self, 16)) {
            return 1;
        }
        TRY(HcclAllReduce(self->a, self->a, 16, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, part,
                          self->stream));
        if (fetch(self, self->a, 16)) {
            return 1;
        }
        float wanted = 0;
        for (uint32_t i = 0; i < count; i++) {
            wanted += (float)(members[i] * 10000 + 3);
        }
        CHECK(self->host[3] == wanted);
        TRY(HcclCommDestroy(part));
    }
    return 0;
}

static int everything(struct rank *self)
{
    int code = do_collectives(self);
    if (code == 0) {
        code = do_messages(self);
    }
    if (code == 0) {
        code = keep_time(self);
    }
    if (code == 0) {
        code = replay(self);
    }
    if (code == 0) {
        code = split_group(self);
    }
    return code;
}

/* Rank 1 gives another count: every rank is told by its stream and by the communicator. */
static int disagree(struct rank *self)
{
    HcclResult state = HCCL_SUCCESS;
    const uint64_t count = self->rank == 1 ? COUNT - 1 : COUNT;
    TRY(HcclAllReduce(self->a, self->b, count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, self->comm,
                      self->stream));
    CHECK(aclrtSynchronizeStream(self->stream) != 0);
    const char *text = aclGetRecentErrMsg();
    CHECK(text && strstr(text, "2999") && strstr(text, "3000"));
    TRY(HcclGetCommAsyncError(self->comm, &state));
    CHECK(state == HCCL_E_PARA);
    return 0;
}

/* Rank 1 differs in one thing; the error names both. A group that disagreed is told at each of its
 * operations, and can go on. */
static int differ(struct rank *self)
{
    const bool odd = self->rank == 1;
    const struct {
        HcclDataType type;
        HcclReduceOp op;
        bool other_kind;
        const char *word;
    } cases[] = {
        {odd ? HCCL_DATA_TYPE_INT32 : HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, false, "f32"},
        {HCCL_DATA_TYPE_FP32, odd ? HCCL_REDUCE_MAX : HCCL_REDUCE_SUM, false, "reduction"},
        {HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, odd, "broadcast"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cases[i].other_kind) {
            TRY(HcclBroadcast(self->a, 16, cases[i].type, 0, self->comm, self->stream));
        } else {
            TRY(HcclAllReduce(self->a, self->b, 16, cases[i].type, cases[i].op, self->comm,
                              self->stream));
        }
        CHECK(aclrtSynchronizeStream(self->stream) != 0);
        const char *text = aclGetRecentErrMsg();
        CHECK(text && strstr(text, cases[i].word) && strstr(text, "rank 1"));
    }
    // The roots of a broadcast.
    TRY(HcclBroadcast(self->a, 16, HCCL_DATA_TYPE_FP32, odd ? 1 : 0, self->comm, self->stream));
    CHECK(aclrtSynchronizeStream(self->stream) != 0);
    // A message: both ends are told.
    if (self->rank < 2) {
        if (self->rank == 0) {
            TRY(HcclSend(self->a, 16, HCCL_DATA_TYPE_FP32, 1, self->comm, self->stream));
        } else {
            TRY(HcclRecv(self->b, 8, HCCL_DATA_TYPE_FP32, 0, self->comm, self->stream));
        }
        CHECK(aclrtSynchronizeStream(self->stream) != 0);
        const char *text = aclGetRecentErrMsg();
        CHECK(text && strstr(text, "16") && strstr(text, " 8 "));
    }
    TRY(HcclBarrier(self->comm, self->stream));
    TRY(aclrtSynchronizeStream(self->stream));
    return 0;
}

/* Rank 1 stays away from an operation: the others are told after HCCL_EXEC_TIMEOUT. */
static int stay_away(struct rank *self)
{
    HcclResult state = HCCL_SUCCESS;
    TRY(HcclBarrier(self->comm, self->stream));
    TRY(aclrtSynchronizeStream(self->stream));
    if (self->rank == 1) {
        sleep(3);
        return 0;
    }
    TRY(HcclAllReduce(self->a, self->b, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, self->comm,
                      self->stream));
    CHECK(aclrtSynchronizeStream(self->stream) != 0);
    const char *text = aclGetRecentErrMsg();
    CHECK(text && strstr(text, "rank 1 did not answer"));
    TRY(HcclGetCommAsyncError(self->comm, &state));
    CHECK(state == HCCL_E_TIMEOUT);
    return 0;
}

static int lose_rank_1(struct rank *self)
{
    HcclResult state = HCCL_SUCCESS;
    TRY(HcclBarrier(self->comm, self->stream)); // all have met
    TRY(aclrtSynchronizeStream(self->stream));
    if (self->rank == 1) {
        raise(SIGKILL);
    }
    TRY(HcclAllReduce(self->a, self->b, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, self->comm,
                      self->stream));
    CHECK(aclrtSynchronizeStream(self->stream) == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
    const char *text = aclGetRecentErrMsg();
    CHECK(text && strstr(text, "HcclAllReduce") && strstr(text, "rank 1 is gone: its process"));
    TRY(HcclGetCommAsyncError(self->comm, &state));
    CHECK(state == HCCL_E_REMOTE);
    return 0;
}

static void two_ranks(void)
{
    ranks_run(2, everything);
}

static void four_ranks(void)
{
    ranks_run(4, everything);
}

static void ranks_that_disagree(void)
{
    ranks_run(3, disagree);
}

static void ranks_that_differ(void)
{
    ranks_run(3, differ);
}

static void a_rank_that_stays_away(void)
{
    setenv("HCCL_EXEC_TIMEOUT", "1", 1);
    ranks_run(2, stay_away);
    unsetenv("HCCL_EXEC_TIMEOUT");
}

static void a_killed_rank(void)
{
    ranks_run_losing(3, lose_rank_1, 1);
}

/* One process, two cards. */
static void all_devices_of_a_process(void)
{
    int32_t devices[] = {0, 1};
    HcclComm comms[2];
    aclrtStream streams[2];
    void *data[2];
    float value[2] = {3, 4}, sum = 0;
    setenv("LEO_DEVICES", "2", 1);
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
    CU_ASSERT_EQUAL_FATAL(aclInit(NULL), 0);
    CU_ASSERT_EQUAL_FATAL(HcclCommInitAll(2, devices, comms), HCCL_SUCCESS);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(aclrtSetDevice(i), 0);
        CU_ASSERT_EQUAL(aclrtCreateStream(&streams[i]), 0);
        CU_ASSERT_EQUAL(aclrtMalloc(&data[i], 64, 0), 0);
        CU_ASSERT_EQUAL(aclrtMemcpy(data[i], 64, &value[i], 4, ACL_MEMCPY_HOST_TO_DEVICE), 0);
        CU_ASSERT_EQUAL(HcclAllReduce(data[i], data[i], 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                                      comms[i], streams[i]),
                        HCCL_SUCCESS);
    }
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(aclrtSetDevice(i), 0);
        CU_ASSERT_EQUAL(aclrtSynchronizeStream(streams[i]), 0);
        CU_ASSERT_EQUAL(aclrtMemcpy(&sum, 4, data[i], 4, ACL_MEMCPY_DEVICE_TO_HOST), 0);
        CU_ASSERT_EQUAL(sum, 7);
    }
    CU_ASSERT_EQUAL(HcclCommDestroy(comms[0]), HCCL_SUCCESS);
    CU_ASSERT_EQUAL(HcclCommDestroy(comms[1]), HCCL_SUCCESS);
    CU_ASSERT_EQUAL(aclFinalize(), 0);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"two_ranks", two_ranks},
        {"four_ranks", four_ranks},
        {"ranks_that_disagree", ranks_that_disagree},
        {"ranks_that_differ", ranks_that_differ},
        {"a_rank_that_stays_away", a_rank_that_stays_away},
        {"a_killed_rank", a_killed_rank},
        {"all_devices_of_a_process", all_devices_of_a_process},
    };
    return leo_test_main("hccl_ranks", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
