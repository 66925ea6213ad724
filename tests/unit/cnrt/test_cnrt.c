/* SPDX-License-Identifier: Apache-2.0 */
/* CNRT, present generation: what programs do with it, and what it answers to wrong use. */
#include "harness.h"
#include "test_cnrt_common.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 32768, BYTES = COUNT * sizeof(float) };

static float left[COUNT], right[COUNT], sum[COUNT];

static void fill(void)
{
    for (int i = 0; i < COUNT; i++) {
        left[i] = (float)i;
        right[i] = 0.5F * (float)i;
        sum[i] = 0;
    }
}

static void expect_sums(const float *got)
{
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        wrong += got[i] != 1.5F * (float)i;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

// The order of calls of a program that measures one kernel.
static void a_program_adds_vectors_and_measures(void)
{
    cnrtQueue_t queue;
    cnrtNotifier_t start, end;
    void *a, *b, *c;
    float us = 0, ms = 0;
    unsigned int count = 0;
    fill();
    OK(cnrtGetDeviceCount(&count));
    CU_ASSERT_EQUAL(count, 1);
    OK(cnrtSetDevice(0));
    OK(cnrtNotifierCreate(&start));
    OK(cnrtNotifierCreate(&end));
    OK(cnrtQueueCreate(&queue));
    OK(cnrtMalloc(&a, BYTES));
    OK(cnrtMalloc(&b, BYTES));
    OK(cnrtMalloc(&c, BYTES));
    OK(cnrtMemcpy(a, left, BYTES, cnrtMemcpyHostToDev));
    OK(cnrtMemcpy(b, right, BYTES, CNRT_MEM_TRANS_DIR_HOST2DEV));
    OK(cnrtMemset(c, 0, BYTES));
    OK(cnrtPlaceNotifier(start, queue));
    int n = COUNT;
    void *args[] = {&c, &a, &b, &n};
    const cnrtDim3_t dim = {4, 8, 1};
    OK(cnrtInvokeKernel(kernel_of(add_stub), dim, cnrtFuncTypeUnion1, args, 0, queue));
    OK(cnrtPlaceNotifier(end, queue));
    OK(cnrtQueueSync(queue));
    OK(cnrtMemcpy(sum, c, BYTES, cnrtMemcpyDevToHost));
    expect_sums(sum);
    OK(cnrtNotifierDuration(start, end, &us));
    OK(cnrtNotifierElapsedTime(start, end, &ms));
    CU_ASSERT(us > 1 && us < 10000);
    CU_ASSERT_DOUBLE_EQUAL((double)ms * 1000, (double)us, 0.01);
    EXPECT(cnrtNotifierDuration(end, start, &us), cnrtErrorArgsInvalid);
    OK(cnrtFree(a));
    OK(cnrtFree(b));
    OK(cnrtFree(c));
    OK(cnrtFree(NULL));
    EXPECT(cnrtFree(c), cnrtErrorArgsInvalid);
    OK(cnrtNotifierDestroy(start));
    OK(cnrtNotifierDestroy(end));
    OK(cnrtQueueDestroy(queue));
    EXPECT(cnrtQueueDestroy(queue), cnrtErrorInvalidResourceHandle);
    EXPECT(cnrtNotifierDestroy(end), cnrtErrorInvalidResourceHandle);
}

// Copies wait for no queue: what a queue still has to do is not seen.
static void queues_keep_order_and_notifiers_join_them(void)
{
    cnrtQueue_t one, other;
    cnrtNotifier_t done;
    void *pinned, *a, *c;
    fill();
    OK(cnrtHostMalloc(&pinned, BYTES));
    memcpy(pinned, left, BYTES);
    OK(cnrtQueueCreate(&one));
    OK(cnrtQueueCreateWithPriority(&other, 0, 3));
    int priority = 0;
    OK(cnrtQueueGetPriority(other, &priority));
    CU_ASSERT_EQUAL(priority, 3);
    OK(cnrtNotifierCreateWithFlags(&done,
                                   CNRT_NOTIFIER_SYNC_WAIT | CNRT_NOTIFIER_DISABLE_TIMING_ALL));
    OK(cnrtWaitNotifier(done)); // never placed
    OK(cnrtQueryNotifier(done));
    OK(cnrtMalloc(&a, BYTES));
    OK(cnrtMalloc(&c, BYTES));
    OK(cnrtMemcpyAsync(a, pinned, BYTES, one, cnrtMemcpyHostToDev));
    int n = COUNT;
    void *args[] = {&a, &a, &a, &n};
    const cnrtDim3_t dim = {16, 1, 1};
    OK(cnrtInvokeKernel(kernel_of(add_stub), dim, cnrtFuncTypeBlock, args, 0, one)); // 2 x
    OK(cnrtPlaceNotifier(done, one));
    OK(cnrtQueueWaitNotifier(done, other, 0));
    OK(cnrtMemcpyAsync(c, a, BYTES, other, cnrtMemcpyDevToDev));
    OK(cnrtMemcpyAsync_V2(pinned, c, BYTES, other, cnrtMemcpyDevToHost));
    EXPECT(cnrtQueueQuery(other), cnrtErrorNotReady);
    OK(cnrtQueueSync(other));
    OK(cnrtQueueQuery(one));
    OK(cnrtQueryNotifier(done));
    CU_ASSERT_EQUAL(((float *)pinned)[COUNT - 1], 2.0F * (COUNT - 1));
    EXPECT(cnrtMemcpyAsync(pinned, left, BYTES, one, cnrtMemcpyHostToHost), cnrtErrorNotSupport);
    OK(cnrtMemcpy(pinned, left, BYTES, cnrtMemcpyHostToHost));
    CU_ASSERT_EQUAL(memcmp(pinned, left, BYTES), 0);
    OK(cnrtFreeHost(pinned));
    EXPECT(cnrtFreeHost(pinned), cnrtErrorArgsInvalid);
    OK(cnrtFree(a));
    OK(cnrtFree(c));
    OK(cnrtQueueDestroy(one));
    OK(cnrtQueueDestroy(other));
    OK(cnrtNotifierDestroy(done));
}

static void note(void *arg)
{
    *(int *)arg += 1;
}

static void *use_own_queue(void *arg)
{
    int calls = 0;
    OK(cnrtInvokeHostFunc(NULL, note, &calls));
    OK(cnrtQueueSync(cnrtQueuePerThread));
    CU_ASSERT_EQUAL(calls, 1);
    *(int *)arg = calls;
    return NULL;
}

// Each thread has a queue of its own, which ends with it: more threads than the device has queues.
static void threads_have_queues_of_their_own(void)
{
    enum { THREADS = 2500 };
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        int done = 0;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, use_own_queue, &done), 0);
        pthread_join(thread, NULL);
        CU_ASSERT_EQUAL_FATAL(done, 1);
    }
    OK(cnrtQueueSync(NULL));
    OK(cnrtQueueSync(cnrtQueueLegacy));
    OK(cnrtSyncDevice());
}

static void the_card_tells_of_itself(void)
{
    cnrtDeviceProp_t prop;
    int value = 0, major = 0, minor = 0, patch = 0;
    char bus[32];
    OK(cnrtGetDeviceProperties(&prop, 0));
    CU_ASSERT_STRING_EQUAL(prop.name, "MLU370");
    CU_ASSERT_EQUAL(prop.clusterCount, 8);
    CU_ASSERT_EQUAL(prop.McorePerCluster, 4);
    CU_ASSERT_EQUAL(prop.NramSizePerMcore, 768 << 10);
    CU_ASSERT_EQUAL(prop.WramSizePerMcore, 1 << 20);
    CU_ASSERT_EQUAL(prop.totalMem, 24 << 10);
    CU_ASSERT_EQUAL(prop.computeCapabilityMajor, 3);
    OK(cnrtDeviceGetAttribute(&value, cnrtAttrISAVersion, 0));
    CU_ASSERT_EQUAL(value, 372);
    EXPECT(cnrtDeviceGetAttribute(&value, (cnrtDeviceAttr_t)0x999, 0), cnrtErrorNoAttribute);
    EXPECT(cnrtDeviceGetAttribute(&value, cnrtAttrIsaVersion, 7), cnrtErrorDeviceInvalid);
    OK(cnrtDeviceGetPCIBusId(bus, sizeof(bus), 0));
    value = 9;
    OK(cnrtDeviceGetByPCIBusId(&value, bus));
    CU_ASSERT_EQUAL(value, 0);
    OK(cnrtGetLibVersion(&major, &minor, &patch));
    CU_ASSERT_EQUAL(major * 10000 + minor * 100 + patch, CNRT_VERSION);
    size_t before = 0, total = 0, less = 0;
    void *block;
    OK(cnrtMemGetInfo(&before, &total));
    CU_ASSERT_EQUAL(total, (size_t)24 << 30);
    OK(cnrtMalloc(&block, 1 << 20));
    OK(cnrtMemGetInfo(&less, &total));
    CU_ASSERT(before - less >= 1 << 20);
    cnrtPointerAttributes_t where;
    OK(cnrtPointerGetAttributes(&where, (char *)block + 64));
    CU_ASSERT_EQUAL(where.type, cnrtMemTypeDevice);
    CU_ASSERT_PTR_EQUAL(where.deviceBasePointer, block);
    OK(cnrtPointerGetAttributes(&where, &value));
    CU_ASSERT_EQUAL(where.type, cnrtMemTypeUnregistered);
    OK(cnrtFree(block));
    EXPECT(cnrtMalloc(&block, (size_t)25 << 30), cnrtErrorNoMem);
}

static void wrong_use_is_answered(void)
{
    cnrtQueue_t queue;
    void *block;
    float us;
    cnrtNotifier_t none;
    int n = 8;
    OK(cnrtQueueCreate(&queue));
    OK(cnrtMalloc(&block, 4096));
    EXPECT(cnrtSetDevice(1), cnrtErrorDeviceInvalid);
    EXPECT(cnrtMemcpy(left, right, 64, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
    EXPECT(cnrtMemcpy(block, right, 64, (cnrtMemTransDir_t)17), cnrtErrorArgsInvalid);
    EXPECT(cnrtMemcpy(block, right, 8192, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
    void *args[] = {&block, &block, &block, &n};
    const cnrtDim3_t three = {3, 1, 1}, zero = {0, 1, 1};
    EXPECT(cnrtInvokeKernel(kernel_of(add_stub), three, cnrtFuncTypeUnion1, args, 0, queue),
           cnrtErrorArgsInvalid);
    EXPECT(cnrtInvokeKernel(kernel_of(add_stub), zero, cnrtFuncTypeBlock, args, 0, queue),
           cnrtErrorArgsInvalid);
    EXPECT(cnrtInvokeKernel(&n, three, cnrtFuncTypeBlock, args, 0, queue),
           cnrtErrorInvalidResourceHandle);
    EXPECT(cnrtNotifierCreateWithFlags(&none, 1u << 20), cnrtErrorArgsInvalid);
    OK(cnrtNotifierCreateWithFlags(&none, CNRT_NOTIFIER_DISABLE_TIMING_ALL));
    EXPECT(cnrtNotifierDuration(none, none, &us), cnrtErrorArgsInvalid);
    OK(cnrtNotifierDestroy(none));
    CU_ASSERT_EQUAL(cnrtPeekAtLastError(), cnrtErrorArgsInvalid);
    CU_ASSERT_EQUAL(cnrtGetLastError(), cnrtErrorArgsInvalid);
    CU_ASSERT_EQUAL(cnrtGetLastError(), cnrtSuccess);
    CU_ASSERT_STRING_EQUAL(cnrtGetErrorName(cnrtErrorNoMem), "cnrtErrorNoMem");
    CU_ASSERT_STRING_EQUAL(cnrtGetErrorStr((cnrtRet_t)4711), "unknown error");
    OK(cnrtFree(block));
    OK(cnrtQueueDestroy(queue));
}

// The place of a handle is used again as late as can be.
static void stale_handles_stay_stale(void)
{
    cnrtNotifier_t one, other, made;
    OK(cnrtNotifierCreate(&one));
    OK(cnrtNotifierCreate(&other));
    OK(cnrtNotifierDestroy(one));
    OK(cnrtNotifierDestroy(other));
    OK(cnrtNotifierCreate(&made));
    EXPECT(cnrtQueryNotifier(other), cnrtErrorInvalidResourceHandle);
    EXPECT(cnrtQueryNotifier((cnrtNotifier_t)(void *)((char *)(void *)made + 8)),
           cnrtErrorInvalidResourceHandle);
    OK(cnrtNotifierDestroy(made));
}

// A kernel that fails is reported by the queue that has it, and the queue works on.
static void failed_kernels_are_told_by_their_queue(void)
{
    cnrtQueue_t queue, other;
    void *block, *far = (void *)(uintptr_t)64;
    const cnrtDim3_t one = {1, 1, 1};
    int n = 8;
    OK(cnrtQueueCreate(&queue));
    OK(cnrtQueueCreate(&other));
    OK(cnrtMalloc(&block, 4096));
    OK(cnrtMemset(block, 0, 4096));
    OK(cnrtInvokeKernel(kernel_of(trapped_stub), one, cnrtFuncTypeBlock, NULL, 0, queue));
    OK(cnrtQueueSync(other));
    EXPECT(cnrtQueueSync(queue), cnrtErrorKernelUserTrap);
    void *wrong[] = {&far};
    OK(cnrtInvokeKernel(kernel_of(outside_stub), one, cnrtFuncTypeBlock, wrong, 0, queue));
    EXPECT(cnrtQueueSync(queue), cnrtErrorKernelTrap);
    void *args[] = {&block, &block, &block, &n};
    OK(cnrtInvokeKernel(kernel_of(add_stub), one, cnrtFuncTypeBlock, args, 0, queue));
    OK(cnrtQueueSync(queue));
    OK(cnrtFree(block));
    OK(cnrtQueueDestroy(queue));
    OK(cnrtQueueDestroy(other));
}

// After a reset the program goes on: its kernels are loaded again.
static void the_device_is_reset_and_used_again(void)
{
    void *block;
    float host[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int round = 0; round < 3; round++) {
        int n = 8;
        const cnrtDim3_t one = {1, 1, 1};
        OK(cnrtMalloc(&block, sizeof(host)));
        OK(cnrtMemcpy(block, host, sizeof(host), cnrtMemcpyHostToDev));
        void *args[] = {&block, &block, &block, &n};
        OK(cnrtInvokeKernel(kernel_of(add_stub), one, cnrtFuncTypeBlock, args, 0, NULL));
        OK(cnrtQueueSync(NULL));
        OK(cnrtMemcpy(host, block, sizeof(host), cnrtMemcpyDevToHost));
        OK(cnrtDeviceReset());
        CU_ASSERT_EQUAL(host[7], 16.0F * (float)(1 << round));
    }
}

static volatile int last_stub;
static void other_stub(void)
{
    last_stub = 1;
}

// The file of the kernels with `add` under another name: a kernel of one is none of the other.
static unsigned char *copy_with_another_name(void)
{
    static const char name[] = "add";
    const size_t bytes = cnrt_test_elf_bytes();
    unsigned char *copy = malloc(bytes);
    memcpy(copy, cnrt_test_elf(), bytes);
    const size_t length = sizeof(name) - 1;
    for (size_t i = 1; i + length < bytes; i++) { // as a word: in the note and among the symbols
        if (memcmp(copy + i, name, length) == 0 && !isgraph(copy[i - 1]) &&
            !isgraph(copy[i + length])) {
            copy[i] = 'o';
        }
    }
    return copy;
}

static void launch_sum(void (*stub)(void), void *block)
{
    int n = 8;
    const cnrtDim3_t one = {1, 1, 1};
    void *args[] = {&block, &block, &block, &n};
    OK(cnrtInvokeKernel(kernel_of(stub), one, cnrtFuncTypeBlock, args, 0, NULL));
}

static uintptr_t take_handle(void)
{
    cnrtNotifier_t made;
    OK(cnrtNotifierCreate(&made));
    return (uintptr_t)(void *)made;
}

// Until no place is left that was ever taken: this one is new, and so are those that follow.
static void take_old_places(void)
{
    enum { MANY = 1024 }; // than all tests before have taken
    static uintptr_t top;
    if (top == 0) {
        for (int i = 0; i < MANY; i++) {
            const uintptr_t at = take_handle();
            top = at > top ? at : top;
        }
    }
    uintptr_t at;
    do {
        at = take_handle();
    } while (at <= top);
    top = at + 4 * (at - top); // with those that are taken next
}

// What is loaded goes with its device. The place that was free longest is taken next: in some
// round the handle of the other file gets that of the first one, which must be loaded again.
static void a_file_is_loaded_again_whatever_took_its_place(void)
{
    enum { ROUNDS = 4 };
    unsigned char *file = copy_with_another_name();
    void **image = __bangRegisterFatBinary(file);
    __bangRegisterFunction(image, kernel_of(other_stub), NULL, "odd", -1, NULL, NULL, NULL, NULL,
                           NULL);
    for (int round = 0; round < ROUNDS; round++) {
        void *block;
        float host[8] = {0, 0, 0, 0, 0, 0, 0, 1};
        OK(cnrtMalloc(&block, sizeof(host)));
        take_old_places();
        launch_sum(add_stub, block); // takes new places for the file and the kernel
        OK(cnrtQueueSync(NULL));
        OK(cnrtDeviceReset()); // these are free before those of the notifiers
        OK(cnrtMalloc(&block, sizeof(host)));
        OK(cnrtMemcpy(block, host, sizeof(host), cnrtMemcpyHostToDev));
        for (int i = 0; i < round; i++) {
            take_handle();
        }
        launch_sum(other_stub, block);
        launch_sum(add_stub, block);
        OK(cnrtQueueSync(NULL));
        OK(cnrtMemcpy(host, block, sizeof(host), cnrtMemcpyDevToHost));
        CU_ASSERT_EQUAL(host[7], 4);
        OK(cnrtDeviceReset());
    }
    __bangUnregisterFatBinary(image);
    free(file);
}

static void the_host_converts(void)
{
    // Value, its half: exact, ties to even, the smallest, the largest, beyond.
    static const struct {
        float value;
        uint16_t half;
    } halves[] = {{1, 0x3c00},
                  {-2, 0xc000},
                  {65504, 0x7bff},
                  {65519, 0x7bff},
                  {65520, 0x7c00},
                  {0x1p-24F, 0x0001},
                  {0x1p-25F, 0},
                  {0x1.8p-25F, 1},
                  {1 + 0x1p-11F, 0x3c00},
                  {1 + 0x1.8p-10F, 0x3c02},
                  {0x1p-14F, 0x0400},
                  {0x1.ffcp-15F, 0x0400}};
    uint16_t half = 0;
    float back = 0;
    for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
        OK(cnrtConvertFloatToHalf(&half, halves[i].value));
        CU_ASSERT_EQUAL(half, halves[i].half);
    }
    // There and back: every half that is a number.
    int wrong = 0;
    for (unsigned bits = 0; bits < 65536; bits++) {
        cnrtConvertHalfToFloat(&back, (uint16_t)bits);
        cnrtConvertFloatToHalf(&half, back);
        wrong += !isnan(back) && half != bits;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    cnrtQuantizedParam_t param;
    float values[4] = {1, -1, 0.3F, 1000}, again[4];
    int8_t small[4];
    OK(cnrtCreateQuantizedParam(&param, -5, 1, 0)); // steps of 1/32
    OK(cnrtCastDataType(values, cnrtFloat32, small, cnrtInt8, 4, param));
    CU_ASSERT(small[0] == 32 && small[1] == -32 && small[2] == 10 && small[3] == 127);
    OK(cnrtCastDataType(small, cnrtInt8, again, cnrtFloat32, 4, param));
    CU_ASSERT(again[0] == 1 && again[2] == 0.3125F);
    OK(cnrtDestroyQuantizedParam(param));
    EXPECT(cnrtCreateQuantizedParam(&param, 0, 0, 0), cnrtErrorArgsInvalid);
    CU_ASSERT_EQUAL(cnrtDataTypeSize(CNRT_FLOAT16), 2);
}

static const struct leo_test tests[] = {
    {"a_program_adds_vectors_and_measures", a_program_adds_vectors_and_measures},
    {"queues_keep_order_and_notifiers_join_them", queues_keep_order_and_notifiers_join_them},
    {"threads_have_queues_of_their_own", threads_have_queues_of_their_own},
    {"the_card_tells_of_itself", the_card_tells_of_itself},
    {"wrong_use_is_answered", wrong_use_is_answered},
    {"stale_handles_stay_stale", stale_handles_stay_stale},
    {"failed_kernels_are_told_by_their_queue", failed_kernels_are_told_by_their_queue},
    {"the_device_is_reset_and_used_again", the_device_is_reset_and_used_again},
    {"a_file_is_loaded_again_whatever_took_its_place",
     a_file_is_loaded_again_whatever_took_its_place},
    {"the_host_converts", the_host_converts},
};

int main(int argc, char **argv)
{
    cnrt_register();
    return leo_test_main("cnrt", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
