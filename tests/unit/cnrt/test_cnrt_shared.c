/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and notifiers of two processes, pools of memory, queues captured as topologies. */
#include "harness.h"
#include "test_cnrt_common.h"

#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 2048, BYTES = COUNT * sizeof(float), MIB = 1 << 20 };

/** What the owner tells the other process. */
struct shared {
    cnrtIpcMemHandle memory;
    cnrtIpcNotifierHandle notifier;
};

// The other process: waits for the notifier in a queue, then doubles what is there.
static int other_process(int from, int to)
{
    struct shared shared;
    cnrtQueue_t queue;
    cnrtNotifier_t notifier;
    unsigned char *memory, back[16];
    bool good = read(from, &shared, sizeof(shared)) == sizeof(shared);
    good = good && cnrtSetDevice(0) == cnrtSuccess && cnrtQueueCreate(&queue) == cnrtSuccess;
    good = good && cnrtMapMemHandle((void **)&memory, shared.memory, 0) == cnrtSuccess;
    good = good && cnrtIpcOpenNotifierHandle(&notifier, shared.notifier) == cnrtSuccess;
    good = good && cnrtQueueWaitNotifier(notifier, queue, 0) == cnrtSuccess;
    good = good &&
           cnrtMemcpyAsync(back, memory, sizeof(back), queue, cnrtMemcpyDevToHost) == cnrtSuccess;
    good = good && cnrtQueueSync(queue) == cnrtSuccess && back[15] == 3;
    good = good && cnrtMemset(memory + 5000, 9, 100) == cnrtSuccess;
    good = good && cnrtSyncDevice() == cnrtSuccess;
    good = good && cnrtUnMapMemHandle(memory) == cnrtSuccess;
    good = good && cnrtUnMapMemHandle(memory) == cnrtErrorArgsInvalid;
    return good && write(to, "x", 1) == 1 ? 0 : 1;
}

static void memory_and_notifiers_are_shared(void)
{
    int there[2], back[2], ended;
    char word, bytes[100];
    struct shared shared;
    cnrtQueue_t queue;
    cnrtNotifier_t notifier, plain;
    char *memory, *small;
    CU_ASSERT_TRUE_FATAL(pipe(there) == 0 && pipe(back) == 0);
    const pid_t child = fork();
    if (child == 0) {
        _exit(other_process(there[0], back[1]));
    }
    close(back[1]); // if the child ends, the read below does
    OK(cnrtSetDevice(0));
    OK(cnrtQueueCreate(&queue));
    OK(cnrtMalloc((void **)&memory, 5100)); // not whole pages
    OK(cnrtMalloc((void **)&small, 100));
    OK(cnrtNotifierCreateWithFlags(&notifier, CNRT_NOTIFIER_INTERPROCESS));
    OK(cnrtNotifierCreate(&plain));
    OK(cnrtAcquireMemHandle(&shared.memory, memory));
    OK(cnrtIpcGetNotifierHandle(&shared.notifier, notifier));
    EXPECT(cnrtIpcGetNotifierHandle(&shared.notifier, plain), cnrtErrorArgsInvalid);
    OK(cnrtIpcGetNotifierHandle(&shared.notifier, notifier));
    EXPECT(cnrtAcquireMemHandle(&shared.memory, memory + 4096), cnrtErrorArgsInvalid);
    EXPECT(cnrtAcquireMemHandle(&shared.memory, small), cnrtErrorArgsInvalid);
    EXPECT(cnrtAcquireMemHandle(NULL, memory), cnrtErrorArgsInvalid);
    OK(cnrtAcquireMemHandle(&shared.memory, memory));
    EXPECT(cnrtMapMemHandle((void **)&small, shared.memory, 0), cnrtErrorArgsInvalid); // its own
    OK(cnrtMemsetAsync(memory, 3, 5100, queue));
    OK(cnrtPlaceNotifier(notifier, queue));
    CU_ASSERT_EQUAL(write(there[1], &shared, sizeof(shared)), sizeof(shared));
    OK(cnrtQueueSync(queue));
    CU_ASSERT_EQUAL(read(back[0], &word, 1), 1);
    OK(cnrtMemcpy(bytes, memory + 5000, 100, cnrtMemcpyDevToHost));
    CU_ASSERT_TRUE(bytes[0] == 9 && bytes[99] == 9);
    CU_ASSERT_EQUAL(waitpid(child, &ended, 0), child);
    CU_ASSERT_EQUAL(ended, 0);
    OK(cnrtFree(memory));
    OK(cnrtNotifierDestroy(notifier));
    OK(cnrtQueueDestroy(queue));
    OK(cnrtDeviceReset());
}

static uint64_t number(cnrtMemPool_t pool, cnrtMemPoolAttr_t attr)
{
    uint64_t value = 12345;
    OK(cnrtMemPoolGetAttribute(pool, attr, &value));
    return value;
}

static void pools_give_memory_in_the_order_of_queues(void)
{
    cnrtMemPoolProps_t props = {.type = cnrtMemAllocationTypeDefault,
                                .location = {.type = cnrtMemLocationTypeDevice, .id = 0},
                                .maxSize = 4 * MIB};
    cnrtMemPool_t pool, usual, again;
    cnrtQueue_t queue;
    uint64_t threshold = MIB;
    void *a, *b;
    OK(cnrtSetDevice(0));
    OK(cnrtQueueCreate(&queue));
    OK(cnrtMemPoolCreate(&pool, &props));
    OK(cnrtMemPoolSetAttribute(pool, cnrtMemPoolAttrReleaseThreshold, &threshold));
    OK(cnrtMemAllocFromPoolAsync(&a, MIB, pool, queue));
    OK(cnrtMemsetAsync(a, 1, MIB, queue));
    CU_ASSERT_EQUAL(number(pool, cnrtMemPoolAttrUsedMemCurrent), MIB);
    OK(cnrtMemFreeAsync(a, queue));
    OK(cnrtMemAllocFromPoolAsync(&b, MIB, pool, queue));
    CU_ASSERT_PTR_EQUAL(a, b); // the queue's own
    EXPECT(cnrtMemAllocFromPoolAsync(&a, 8 * MIB, pool, queue), cnrtErrorNoMem);
    OK(cnrtMemFreeAsync(b, queue));
    EXPECT(cnrtMemFreeAsync(b, queue), cnrtErrorArgsInvalid);
    OK(cnrtQueueSync(queue));
    OK(cnrtMemPoolTrimTo(pool, 0));
    CU_ASSERT_EQUAL(number(pool, cnrtMemPoolAttrReservedMemCurrent), 0);
    CU_ASSERT_EQUAL(number(pool, cnrtMemPoolAttrUsedMemHigh), MIB);
    EXPECT(cnrtMemPoolSetAttribute(pool, cnrtMemPoolAttrReuseAllowOpportunistic, &threshold),
           cnrtErrorNotSupport);
    OK(cnrtMemPoolDestroy(pool));
    OK(cnrtDeviceGetDefaultMemPool(&usual, 0));
    OK(cnrtDeviceGetDefaultMemPool(&again, 0));
    CU_ASSERT_PTR_EQUAL(usual, again);
    OK(cnrtMemAllocAsync(&a, 4096, queue));
    CU_ASSERT_EQUAL(number(usual, cnrtMemPoolAttrUsedMemCurrent), 4096);
    OK(cnrtMemFreeAsync(a, queue));
    props.location.id = 7;
    EXPECT(cnrtMemPoolCreate(&pool, &props), cnrtErrorNotSupport);
    OK(cnrtQueueDestroy(queue));
    OK(cnrtDeviceReset());
    OK(cnrtSetDevice(0));
    OK(cnrtDeviceGetDefaultMemPool(&usual, 0)); // a new one, of the device as it is now
    OK(cnrtDeviceReset());
}

static void queues_are_captured_and_repeated(void)
{
    static float values[COUNT], back[COUNT];
    const cnrtDim3_t dim = {4, 1, 1};
    int count = COUNT;
    cnrtQueue_t queue, second;
    cnrtTaskTopo_t topo;
    cnrtTaskTopoEntity_t entity;
    cnrtQueueCaptureStatus_t status;
    cnrtQueueCaptureMode_t mode = cnrtQueueCaptureModeRelaxed;
    uint64_t id = 0;
    size_t nodes = 0;
    void *sum, *one;
    for (int i = 0; i < COUNT; i++) {
        values[i] = 1;
    }
    OK(cnrtSetDevice(0));
    OK(cnrtQueueCreate(&queue));
    OK(cnrtQueueCreate(&second));
    OK(cnrtMalloc(&sum, BYTES));
    OK(cnrtMalloc(&one, BYTES));
    OK(cnrtMemcpy(one, values, BYTES, cnrtMemcpyHostToDev));
    OK(cnrtMemset(sum, 0, BYTES));
    OK(cnrtQueueIsCapturing(queue, &status));
    CU_ASSERT_EQUAL(status, cnrtQueueCaptureStatusNone);
    OK(cnrtQueueBeginCapture(queue, cnrtQueueCaptureModeGlobal));
    EXPECT(cnrtQueueBeginCapture(queue, cnrtQueueCaptureModeGlobal), cnrtErrorOpsNotPermitted);
    OK(cnrtQueueGetCaptureInfo(queue, &status, &id, &topo, NULL, NULL));
    CU_ASSERT_TRUE(status == cnrtQueueCaptureStatusActive && id != 0);
    EXPECT(cnrtQueueGetCaptureInfo(queue, &status, &id, &topo, NULL, &nodes), cnrtErrorNotSupport);
    void *args[] = {&sum, &sum, &one, &count};
    OK(cnrtInvokeKernel(kernel_of(add_stub), dim, cnrtFuncTypeUnion1, args, 0, queue));
    OK(cnrtInvokeKernel(kernel_of(add_stub), dim, cnrtFuncTypeUnion1, args, 0, queue));
    OK(cnrtQueueEndCapture(queue, &topo));
    EXPECT(cnrtQueueEndCapture(queue, &topo), cnrtErrorIllegalState);
    OK(cnrtQueueBeginCapture(queue, cnrtQueueCaptureModeRelaxed));
    OK(cnrtInvokeKernel(kernel_of(add_stub), dim, cnrtFuncTypeUnion1, args, 0, queue));
    OK(cnrtInvokeKernel(kernel_of(add_stub), dim, cnrtFuncTypeUnion1, args, 0, queue));
    OK(cnrtQueueEndCapture(queue, &topo));
    OK(cnrtTaskTopoGetNodes(topo, NULL, &nodes));
    CU_ASSERT_EQUAL(nodes, 2);
    OK(cnrtTaskTopoInstantiate(&entity, topo, NULL, NULL, 0));
    OK(cnrtTaskTopoDestroy(topo)); // the entity stays
    OK(cnrtTaskTopoEntityInvoke(entity, queue));
    OK(cnrtQueueSync(queue));
    OK(cnrtTaskTopoEntityInvoke(entity, second));
    OK(cnrtTaskTopoEntityInvoke(entity, second));
    OK(cnrtQueueSync(second));
    OK(cnrtMemcpy(back, sum, BYTES, cnrtMemcpyDevToHost));
    CU_ASSERT_TRUE(back[0] == 6 && back[COUNT - 1] == 6); // what was captured did not run itself
    OK(cnrtTaskTopoEntityDestroy(entity));
    EXPECT(cnrtTaskTopoEntityInvoke(entity, queue), cnrtErrorInvalidResourceHandle);
    OK(cnrtThreadExchangeQueueCaptureMode(&mode));
    CU_ASSERT_EQUAL(mode, cnrtQueueCaptureModeGlobal);
    OK(cnrtThreadExchangeQueueCaptureMode(&mode));
    OK(cnrtDeviceReset());
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"memory_and_notifiers_are_shared", memory_and_notifiers_are_shared},
        {"pools_give_memory_in_the_order_of_queues", pools_give_memory_in_the_order_of_queues},
        {"queues_are_captured_and_repeated", queues_are_captured_and_repeated},
    };
    cnrt_register();
    return leo_test_main("cnrt_shared", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
