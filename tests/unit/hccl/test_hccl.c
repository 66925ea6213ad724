/* SPDX-License-Identifier: Apache-2.0 */
/* HCCL with one rank: life cycle, operations as copies, wrong use. */
#include "harness.h"
#include <acl/acl.h>
#include <hccl/hccl.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000 };

struct world {
    HcclComm comm;
    aclrtStream stream;
    void *a, *b;
    float host[COUNT];
};

static void world_begin(struct world *world)
{
    HcclRootInfo root;
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
    CU_ASSERT_EQUAL_FATAL(aclInit(NULL), 0);
    CU_ASSERT_EQUAL_FATAL(aclrtSetDevice(0), 0);
    CU_ASSERT_EQUAL_FATAL(aclrtCreateStream(&world->stream), 0);
    CU_ASSERT_EQUAL_FATAL(HcclGetRootInfo(&root), HCCL_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(HcclCommInitRootInfo(1, &root, 0, &world->comm), HCCL_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(aclrtMalloc(&world->a, sizeof(world->host), 0), 0);
    CU_ASSERT_EQUAL_FATAL(aclrtMalloc(&world->b, sizeof(world->host), 0), 0);
    for (int i = 0; i < COUNT; i++) {
        world->host[i] = (float)i;
    }
    CU_ASSERT_EQUAL(aclrtMemcpy(world->a, sizeof(world->host), world->host, sizeof(world->host),
                                ACL_MEMCPY_HOST_TO_DEVICE),
                    0);
    CU_ASSERT_EQUAL(aclrtMemset(world->b, sizeof(world->host), 0xff, sizeof(world->host)), 0);
}

static void world_end(struct world *world)
{
    CU_ASSERT_EQUAL(HcclCommDestroy(world->comm), HCCL_SUCCESS);
    aclrtFree(world->a);
    aclrtFree(world->b);
    aclrtDestroyStream(world->stream);
    aclrtResetDevice(0);
    aclFinalize();
}

static void expect_b_equals_a(struct world *world, int elements)
{
    float got[COUNT];
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(world->stream), 0);
    CU_ASSERT_EQUAL(aclrtMemcpy(got, sizeof(got), world->b, sizeof(got), ACL_MEMCPY_DEVICE_TO_HOST),
                    0);
    CU_ASSERT_EQUAL(memcmp(got, world->host, (size_t)elements * sizeof(float)), 0);
    // Nothing is written behind the count.
    for (int i = elements; i < COUNT; i++) {
        uint32_t bits;
        memcpy(&bits, &got[i], 4);
        CU_ASSERT_EQUAL(bits, 0xffffffffu);
    }
}

static void one_rank_all_reduce_is_a_copy(void)
{
    struct world w;
    world_begin(&w);
    CU_ASSERT_EQUAL(
        HcclAllReduce(w.a, w.b, 900, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, w.comm, w.stream),
        HCCL_SUCCESS);
    expect_b_equals_a(&w, 900);
    CU_ASSERT_EQUAL(
        HcclAllReduce(w.b, w.b, 900, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX, w.comm, w.stream),
        HCCL_SUCCESS);
    expect_b_equals_a(&w, 900);
    world_end(&w);
}

static void one_rank_gather_scatter_and_all_to_all_copy(void)
{
    struct world w;
    world_begin(&w);
    const uint64_t count = 7, from = 0, to = 0;
    CU_ASSERT_EQUAL(HcclAllGather(w.a, w.b, 3, HCCL_DATA_TYPE_FP32, w.comm, w.stream),
                    HCCL_SUCCESS);
    expect_b_equals_a(&w, 3);
    CU_ASSERT_EQUAL(
        HcclReduceScatter(w.a, w.b, 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, w.comm, w.stream),
        HCCL_SUCCESS);
    expect_b_equals_a(&w, 4);
    CU_ASSERT_EQUAL(HcclScatter(w.a, w.b, 5, HCCL_DATA_TYPE_FP32, 0, w.comm, w.stream),
                    HCCL_SUCCESS);
    expect_b_equals_a(&w, 5);
    CU_ASSERT_EQUAL(
        HcclAlltoAll(w.a, 6, HCCL_DATA_TYPE_FP32, w.b, 6, HCCL_DATA_TYPE_FP32, w.comm, w.stream),
        HCCL_SUCCESS);
    expect_b_equals_a(&w, 6);
    CU_ASSERT_EQUAL(HcclAlltoAllV(w.a, &count, &from, HCCL_DATA_TYPE_FP32, w.b, &count, &to,
                                  HCCL_DATA_TYPE_FP32, w.comm, w.stream),
                    HCCL_SUCCESS);
    expect_b_equals_a(&w, 7);
    CU_ASSERT_EQUAL(HcclBroadcast(w.b, 7, HCCL_DATA_TYPE_FP32, 0, w.comm, w.stream), HCCL_SUCCESS);
    CU_ASSERT_EQUAL(HcclBarrier(w.comm, w.stream), HCCL_SUCCESS);
    expect_b_equals_a(&w, 7);
    world_end(&w);
}

static void wrong_use_is_refused(void)
{
    struct world w;
    HcclRootInfo root, foreign = {{0}};
    HcclComm comm;
    world_begin(&w);
    CU_ASSERT_EQUAL(HcclGetRootInfo(NULL), HCCL_E_PTR);
    CU_ASSERT_EQUAL(HcclGetRootInfo(&root), HCCL_SUCCESS);
    CU_ASSERT_EQUAL(HcclCommInitRootInfo(1, &foreign, 0, &comm), HCCL_E_PARA);
    CU_ASSERT_EQUAL(HcclCommInitRootInfo(1, &root, 1, &comm), HCCL_E_PARA);
    CU_ASSERT_EQUAL(HcclCommInitRootInfo(0, &root, 0, &comm), HCCL_E_PARA);
    CU_ASSERT_EQUAL(
        HcclAllReduce(w.a, NULL, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, w.comm, w.stream),
        HCCL_E_PTR);
    CU_ASSERT_EQUAL(HcclAllReduce(w.a, w.b, 1, (HcclDataType)99, HCCL_REDUCE_SUM, w.comm, w.stream),
                    HCCL_E_NOT_SUPPORT);
    CU_ASSERT_EQUAL(HcclCommSetMemoryRange(w.comm, w.a, 1, 1, 0), HCCL_E_NOT_SUPPORT);
    CU_ASSERT_EQUAL(HcclCommUnsetMemoryRange(w.comm, w.a), HCCL_E_NOT_SUPPORT);
    CU_ASSERT_EQUAL(HcclCommActivateCommMemory(w.comm, w.a, 1, 0, NULL, 0), HCCL_E_NOT_SUPPORT);
    CU_ASSERT_EQUAL(HcclCommDeactivateCommMemory(w.comm, w.a), HCCL_E_NOT_SUPPORT);
    CU_ASSERT_EQUAL(HcclCommWorkingDevNicSet(w.comm, NULL, NULL, 0), HCCL_E_NOT_SUPPORT);
    CU_ASSERT_EQUAL(HcclCommResume(w.comm), HCCL_E_NOT_SUPPORT);
    CU_ASSERT_EQUAL(
        HcclAllReduce(w.a, w.b, 1, HCCL_DATA_TYPE_FP32, (HcclReduceOp)9, w.comm, w.stream),
        HCCL_E_NOT_SUPPORT);
    CU_ASSERT_EQUAL(
        HcclAllReduce(w.a, w.b, UINT64_MAX, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, w.comm, w.stream),
        HCCL_E_PARA);
    // More than the buffers hold is an error of the copy, not a write behind it.
    CU_ASSERT_EQUAL(
        HcclAllReduce(w.a, w.b, 1ull << 40, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, w.comm, w.stream),
        HCCL_E_RUNTIME);
    const uint64_t some = 8, none = 0, before = UINT64_MAX - 1; // two elements before the buffer
    CU_ASSERT_EQUAL(HcclAlltoAllV(w.a, &some, &before, HCCL_DATA_TYPE_FP32, w.b, &some, &none,
                                  HCCL_DATA_TYPE_FP32, w.comm, w.stream),
                    HCCL_E_PARA);
    CU_ASSERT_EQUAL(HcclAlltoAllV(w.a, &some, &before, HCCL_DATA_TYPE_INT8, w.b, &some, &none,
                                  HCCL_DATA_TYPE_INT8, w.comm, w.stream),
                    HCCL_E_PARA);
    CU_ASSERT_EQUAL(HcclBroadcast(w.b, 1, HCCL_DATA_TYPE_FP32, 1, w.comm, w.stream), HCCL_E_PARA);
    CU_ASSERT_EQUAL(HcclSend(w.a, 1, HCCL_DATA_TYPE_FP32, 0, w.comm, w.stream), HCCL_E_PARA);
    CU_ASSERT_EQUAL(HcclCommDestroy(&w), HCCL_E_PTR);
    world_end(&w);
    CU_ASSERT_EQUAL(HcclCommDestroy(w.comm), HCCL_E_PTR);
}

static void communicators_tell_name_rank_and_size(void)
{
    HcclRootInfo root;
    HcclCommConfig config;
    HcclComm comm = NULL;
    char name[HCCL_COMM_NAME_MAX_LENGTH] = "";
    uint32_t number = 9;
    HcclResult error = HCCL_E_PARA;
    CU_ASSERT_EQUAL(sizeof(HcclCommConfig), 2240);
    CU_ASSERT_EQUAL(sizeof(HcclSendRecvItem), 32);
    HcclCommConfigInit(&config);
    strcpy(config.hcclCommName, "group_name_0");
    CU_ASSERT_EQUAL(HcclGetRootInfo(&root), HCCL_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(HcclCommInitRootInfoConfig(1, &root, 0, &config, &comm), HCCL_SUCCESS);
    CU_ASSERT_EQUAL(HcclGetCommName(comm, name), HCCL_SUCCESS);
    CU_ASSERT_STRING_EQUAL(name, "group_name_0");
    CU_ASSERT_EQUAL(HcclGetRankId(comm, &number), HCCL_SUCCESS);
    CU_ASSERT_EQUAL(number, 0);
    CU_ASSERT_EQUAL(HcclGetRankSize(comm, &number), HCCL_SUCCESS);
    CU_ASSERT_EQUAL(number, 1);
    CU_ASSERT_EQUAL(HcclGetCommAsyncError(comm, &error), HCCL_SUCCESS);
    CU_ASSERT_EQUAL(error, HCCL_SUCCESS);
    CU_ASSERT_EQUAL(HcclCommDestroy(comm), HCCL_SUCCESS);
}

static void settings_are_kept_and_checked(void)
{
    HcclConfigValue value = {.value = 1}, got = {.value = -1};
    CU_ASSERT_EQUAL(HcclSetConfig(HCCL_DETERMINISTIC, value), HCCL_SUCCESS);
    CU_ASSERT_EQUAL(HcclGetConfig(HCCL_DETERMINISTIC, &got), HCCL_SUCCESS);
    CU_ASSERT_EQUAL(got.value, 1);
    value.value = 3;
    CU_ASSERT_EQUAL(HcclSetConfig(HCCL_DETERMINISTIC, value), HCCL_E_PARA);
    CU_ASSERT_EQUAL(HcclSetConfig((HcclConfig)7, got), HCCL_E_PARA);
    CU_ASSERT_EQUAL(HcclGetConfig(HCCL_DETERMINISTIC, NULL), HCCL_E_PTR);
    CU_ASSERT_STRING_EQUAL(HcclGetErrorString(HCCL_E_OOM), "out of memory");
    CU_ASSERT_STRING_EQUAL(HcclGetErrorString((HcclResult)1000), "unknown result");
}

static const struct leo_test tests[] = {
    {"one_rank_all_reduce_is_a_copy", one_rank_all_reduce_is_a_copy},
    {"one_rank_gather_scatter_and_all_to_all_copy", one_rank_gather_scatter_and_all_to_all_copy},
    {"wrong_use_is_refused", wrong_use_is_refused},
    {"communicators_tell_name_rank_and_size", communicators_tell_name_rank_and_size},
    {"settings_are_kept_and_checked", settings_are_kept_and_checked},
};

int main(int argc, char **argv)
{
    return leo_test_main("hccl", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
