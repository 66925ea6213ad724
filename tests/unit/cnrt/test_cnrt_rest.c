/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of CNRT, CNDrv and CNDev that the other files do not come by: copies of every kind,
 * questions, names. */
#include "harness.h"
#include "test_cnrt_common.h"

#include <cndev.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 256, BYTES = COUNT * sizeof(float), ROWS = 8, WIDTH = 40, PITCH = 64 };

static float values[COUNT], back[COUNT];

static void fill_values(void)
{
    for (int i = 0; i < COUNT; i++) {
        values[i] = (float)(3 * i);
        back[i] = 0;
    }
}

static void copies_of_every_kind(void)
{
    cnrtQueue_t queue;
    void *a, *b, *constant, *other;
    char host[ROWS * PITCH], rows[ROWS * WIDTH];
    fill_values();
    OK(cnrtSetDevice(0));
    OK(cnrtQueueCreate(&queue));
    OK(cnrtMalloc(&a, BYTES));
    OK(cnrtMalloc(&b, BYTES));
    OK(cnrtMallocConstant(&constant, BYTES));
    OK(cnrtMemcpyAsync_V3(a, values, BYTES, queue, cnrtMemcpyHostToDev));
    OK(cnrtMemcpyAsync_V3(constant, a, BYTES, queue, cnrtMemcpyDevToDev));
    OK(cnrtMemcpyAsync_V3(back, constant, BYTES, queue, cnrtMemcpyDevToHost));
    OK(cnrtQueueSync(queue));
    CU_ASSERT_EQUAL(memcmp(back, values, BYTES), 0);
    OK(cnrtMemsetAsync(b, 0x11, BYTES, queue));
    OK(cnrtQueueSync(queue));
    OK(cnrtMemcpy(back, b, BYTES, cnrtMemcpyDevToHost));
    CU_ASSERT_EQUAL(((unsigned char *)back)[BYTES - 1], 0x11);
    for (int i = 0; i < ROWS * WIDTH; i++) {
        rows[i] = (char)i;
    }
    memset(host, 0, sizeof(host));
    OK(cnrtMemset(b, 0, BYTES));
    OK(cnrtMemcpy2D(b, PITCH, rows, WIDTH, WIDTH, ROWS, cnrtMemcpyHostToDev));
    OK(cnrtMemcpy2D(host, PITCH, b, PITCH, PITCH, ROWS, cnrtMemcpyDevToHost));
    for (int i = 0; i < ROWS; i++) {
        CU_ASSERT_EQUAL(memcmp(host + i * PITCH, rows + i * WIDTH, WIDTH), 0);
        CU_ASSERT_EQUAL(host[i * PITCH + WIDTH], 0);
    }
    OK(cnrtSetDevice(1));
    OK(cnrtMalloc(&other, BYTES));
    OK(cnrtMemcpyPeer(other, 1, a, 0, BYTES));
    OK(cnrtMemcpy(back, other, BYTES, cnrtMemcpyDevToHost));
    CU_ASSERT_EQUAL(memcmp(back, values, BYTES), 0);
    OK(cnrtFree(other));
    OK(cnrtSetDevice(0));
    OK(cnrtFree(a));
    OK(cnrtFree(b));
    OK(cnrtFree(constant));
    OK(cnrtQueueDestroy(queue));
}

static void questions_are_answered(void)
{
    cnrtQueue_t queue;
    cnrtNotifier_t notifier;
    int least = -1, greatest = -1, major = 0, minor = 0, patch = -1, device = -1, priority = -1;
    OK(cnrtSetDevice(1));
    OK(cnrtGetDevice(&device));
    CU_ASSERT_EQUAL(device, 1);
    OK(cnrtSetDevice(0));
    OK(cnrtDriverGetVersion(&major, &minor, &patch));
    CU_ASSERT(major > 0 && minor >= 0 && patch >= 0);
    OK(cnrtDeviceGetQueuePriorityRange(&least, &greatest));
    CU_ASSERT(least > greatest);
    OK(cnrtQueueCreateWithPriority(&queue, 0, least));
    OK(cnrtQueueGetPriority(queue, &priority));
    CU_ASSERT_EQUAL(priority, least);
    EXPECT(cnrtQueueCreateWithPriority(&queue, 0, least + 1), cnrtErrorArgsInvalid);
    OK(cnrtNotifierCreate(&notifier));
    OK(cnrtPlaceNotifierWithFlags(notifier, queue, 0));
    OK(cnrtQueueSync(queue));
    OK(cnrtQueryNotifier(notifier));
    OK(cnrtNotifierDestroy(notifier));
    OK(cnrtQueueDestroy(queue));
    cnrtCheck(cnrtSuccess, "nothing", __FILE__, __LINE__); // else it ends the process
}

// What a compiler makes of kernel<<<dim, type, queue>>>(...).
static void a_call_s_configuration_is_kept(void)
{
    cnrtQueue_t queue, kept;
    cnrtDim3_t dim = {4, 2, 1}, got;
    cnrtFunctionType_t type;
    OK(cnrtQueueCreate(&queue));
    OK(__bangPushCallConfiguration(dim, cnrtFuncTypeUnion1, queue));
    OK(__bangPopCallConfiguration(&got, &type, &kept));
    CU_ASSERT(got.x == 4 && got.y == 2 && got.z == 1);
    CU_ASSERT_EQUAL(type, cnrtFuncTypeUnion1);
    CU_ASSERT_PTR_EQUAL(kept, queue);
    CU_ASSERT_NOT_EQUAL(__bangPopCallConfiguration(&got, &type, &kept), cnrtSuccess);
    void **handle = __bangRegisterFatBinary((void *)(uintptr_t)cnrt_test_elf());
    CU_ASSERT_PTR_NOT_NULL(handle);
    __bangUnregisterFatBinary(handle);
    OK(cnrtQueueDestroy(queue));
}

static void the_driver_s_calls_answer_too(void)
{
    CNdev device;
    CNcontext context;
    CNqueue queue;
    CNnotifier start, end;
    CNmodule module;
    CNaddr a, constant;
    void *host;
    size_t bytes = 0;
    char name[64] = "", path[] = "/tmp/leo_cnrt_XXXXXX";
    const char *text = NULL;
    int value = 0, major = 0, minor = -1, patch = -1;
    float ms = -1;
    fill_values();
    OK(cnInit(0));
    OK(cnGetLibVersion(&major, &minor, &patch));
    CU_ASSERT(major > 0 && minor >= 0 && patch >= 0);
    OK(cnGetDriverVersion(&major, &minor, &patch));
    CU_ASSERT(major > 0);
    OK(cnGetErrorName(CN_ERROR_INVALID_VALUE, &text));
    CU_ASSERT_PTR_NOT_NULL(text);
    CU_ASSERT_STRING_EQUAL(cndevGetErrorString((cndevRet_t)0), cndevGetErrorString((cndevRet_t)0));
    CU_ASSERT(strlen(cndevGetErrorString((cndevRet_t)5)) > 0);
    OK(cnDeviceGet(&device, 0));
    OK(cnDeviceGetName(name, sizeof(name), device));
    CU_ASSERT_PTR_NOT_NULL(strstr(name, "MLU370"));
    OK(cnDeviceGetAttribute(&value, (CNdevice_attribute)cnrtAttrMcorePerCluster, device));
    CU_ASSERT_EQUAL(value, 4);
    OK(cnDeviceTotalMem(&bytes, device));
    CU_ASSERT(bytes >= (size_t)1 << 30);
    OK(cnSharedContextAcquire(&context, device));
    OK(cnCreateQueue(&queue, 0));
    OK(cnCreateNotifier(&start, 0));
    OK(cnCreateNotifier(&end, 0));
    OK(cnMalloc(&a, BYTES));
    OK(cnMallocConstant(&constant, BYTES));
    OK(cnMallocHost(&host, BYTES));
    OK(cnPlaceNotifier(start, queue));
    OK(cnMemcpyHtoD(a, values, BYTES));
    OK(cnMemcpyDtoD(constant, a, BYTES));
    OK(cnMemcpyDtoH(host, constant, BYTES));
    CU_ASSERT_EQUAL(memcmp(host, values, BYTES), 0);
    OK(cnMemcpyDtoDAsync(a, constant, BYTES, queue));
    OK(cnPlaceNotifier(end, queue));
    OK(cnQueueWaitNotifier(end, queue, 0));
    OK(cnWaitNotifier(end));
    OK(cnQueryNotifier(end));
    OK(cnQueueSync(queue));
    OK(cnQueryQueue(queue));
    OK(cnNotifierElapsedTime(start, end, &ms));
    CU_ASSERT(ms > 0);
    int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    CU_ASSERT(write(file, cnrt_test_elf(), cnrt_test_elf_bytes()) ==
              (ssize_t)cnrt_test_elf_bytes());
    close(file);
    OK(cnModuleLoad(path, &module));
    unlink(path);
    OK(cnModuleUnload(module));
    EXPECT(cnModuleLoad("/nowhere/kernel.elf", &module), CN_ERROR_OPERATING_SYSTEM);
    OK(cnFreeHost(host));
    OK(cnFree(a));
    OK(cnFree(constant));
    OK(cnDestroyNotifier(start));
    OK(cnDestroyNotifier(end));
    OK(cnDestroyQueue(queue));
}

static const struct leo_test tests[] = {
    {"copies_of_every_kind", copies_of_every_kind},
    {"questions_are_answered", questions_are_answered},
    {"a_call_s_configuration_is_kept", a_call_s_configuration_is_kept},
    {"the_driver_s_calls_answer_too", the_driver_s_calls_answer_too},
};

int main(int argc, char **argv)
{
    setenv("LEO_DEVICES", "2", 1);
    return leo_test_main("cnrt_rest", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
