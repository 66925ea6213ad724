/* SPDX-License-Identifier: Apache-2.0 */
/* AscendCL used wrongly: each mistake gives its documented code and a text, and everything works on
 * afterwards. */
#include "test_acl_common.h"

#include "harness.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The newest error text must hold each of the words.
static void says(const char *first, const char *second)
{
    const char *text = aclGetRecentErrMsg();
    bool good = text && strstr(text, first) && strstr(text, second);
    if (!good) {
        fprintf(stderr, "text lacks '%s' or '%s': %s\n", first, second, text ? text : "(none)");
    }
    CU_ASSERT(good);
}

void device_errors(void)
{
    aclrtBinHandle binary;
    void *memory = NULL;
    EXPECT(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    says("aclrtSetDevice", "context");
    acl_begin("ascend910a", &binary);
    EXPECT(aclrtSetDevice(7), ACL_ERROR_RT_INVALID_DEVICEID);
    says("device 7", "0 to 0");
    EXPECT(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(aclrtGetDeviceCount(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(0), ACL_ERROR_RT_PARAM_INVALID);
    acl_end(binary);
    EXPECT(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    (void)aclFinalize();
}

void memory_errors(void)
{
    aclrtBinHandle binary;
    void *memory;
    char host[64] = {0};
    size_t free_before, free_after, total;
    acl_begin("ascend910a", &binary);
    OK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
    EXPECT(aclrtMalloc(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    void *same = memory;
    EXPECT(aclrtMalloc(&same, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMalloc(&same, (size_t)1 << 45, ACL_MEM_MALLOC_HUGE_FIRST),
           ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT(aclrtMalloc(&same, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    CU_ASSERT_PTR_EQUAL(same, memory); // a failed call changes nothing
    EXPECT(aclrtFree(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtFree(host), ACL_ERROR_RT_PARAM_INVALID);
    says("aclrtFree", "already freed");
    EXPECT(aclrtFree((char *)memory + 64), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtFreeHost(host), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemcpy(memory, 4096, host, 8192, ACL_MEMCPY_HOST_TO_DEVICE),
           ACL_ERROR_RT_PARAM_INVALID);
    // The size is within destMax but past the allocation's end.
    EXPECT(aclrtMemcpy((char *)memory + 4160, 4096, host, 64, ACL_MEMCPY_HOST_TO_DEVICE),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemcpy((char *)memory + 4096, 4096, host, 64, ACL_MEMCPY_HOST_TO_DEVICE),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemcpy(NULL, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpy(memory, 64, host, 64, (aclrtMemcpyKind)99), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpyAsync(host, 64, host + 1, 8, ACL_MEMCPY_HOST_TO_HOST, NULL),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtMemset(host, 64, 0, 64), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemcpy2d(memory, 4, host, 8, 8, 2, ACL_MEMCPY_HOST_TO_DEVICE),
           ACL_ERROR_INVALID_PARAM);
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
    CU_ASSERT_EQUAL(free_before, free_after);
    OK(aclrtMemset(memory, 4096, 0, 4096));
    OK(aclrtFree(memory));
    EXPECT(aclrtFree(memory), ACL_ERROR_RT_PARAM_INVALID);
    acl_end(binary);
}

void binary_errors(void)
{
    aclrtBinHandle binary, bad;
    aclrtFuncHandle func;
    size_t bytes, other_bytes;
    acl_begin("ascend910a", &binary);
    const void *elf = acl_test_elf("ascend910a", &bytes);
    EXPECT(aclrtBinaryLoadFromFile("/nonexistent/kernel.o", NULL, &bad), ACL_ERROR_RT_FILE_OPEN);
    says("/nonexistent/kernel.o", "");
    EXPECT(aclrtBinaryLoadFromData(elf, 40, NULL, &bad), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtBinaryLoadFromData("not an ELF at all", 17, NULL, &bad),
           ACL_ERROR_RT_PARAM_INVALID);
    unsigned char *copy = malloc(bytes);
    memcpy(copy, elf, bytes);
    copy[18] = 62; // e_machine: x86-64
    EXPECT(aclrtBinaryLoadFromData(copy, bytes, NULL, &bad), ACL_ERROR_RT_SOC_VERSION);
    free(copy);
    const void *other = acl_test_elf("ascend910b1", &other_bytes);
    EXPECT(aclrtBinaryLoadFromData(other, other_bytes, NULL, &bad), ACL_ERROR_RT_SOC_VERSION);
    EXPECT(aclrtBinaryGetFunction(binary, "fill_rump", &func), ACL_ERROR_RT_KERNEL_LOOKUP);
    says("fill_rump", "fill_ramp");
    EXPECT(aclrtBinaryGetFunction(&bytes, "fill_ramp", &func), ACL_ERROR_RT_INVALID_HANDLE);
    OK(aclrtBinaryGetFunction(binary, "fill_ramp", &func));
    acl_end(binary);
}

void launch_errors(void)
{
    aclrtBinHandle binary;
    aclrtFuncHandle func;
    aclrtArgsHandle args;
    aclrtParamHandle param;
    int32_t wrong = 0;
    uint64_t pointer = 0;
    acl_begin("ascend910a", &binary);
    OK(aclrtBinaryGetFunction(binary, "fill_ramp", &func));
    OK(aclrtKernelArgsInit(func, &args));
    EXPECT(aclrtKernelArgsAppend(args, &wrong, sizeof(wrong), &param), ACL_ERROR_RT_PARAM_INVALID);
    says("argument 1", "8 bytes");
    OK(aclrtKernelArgsAppend(args, &pointer, sizeof(pointer), &param));
    EXPECT(aclrtKernelArgsAppendPlaceHolder(args, &param), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtKernelArgsFinalize(args), ACL_ERROR_RT_PARAM_INVALID);
    says("4 arguments", "1 were");
    EXPECT(aclrtLaunchKernelWithConfig(func, 1, NULL, NULL, args, NULL),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtLaunchKernelWithConfig(func, 0, NULL, NULL, args, NULL),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtLaunchKernelWithConfig(&wrong, 1, NULL, NULL, args, NULL),
           ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclrtSynchronizeStream(&wrong), ACL_ERROR_RT_STREAM_CONTEXT);
    OK(aclrtBinaryGetFunction(binary, "take_struct", &func));
    uint64_t *block = calloc(2, sizeof(*block));
    EXPECT(aclrtLaunchKernelWithHostArgs(func, 1, NULL, NULL, block, 2 * sizeof(*block), NULL, 0),
           ACL_ERROR_RT_PARAM_INVALID);
    says("take_struct", "32 bytes");
    free(block);
    acl_end(binary);
}

static void run_after(aclrtBinHandle binary)
{
    aclrtFuncHandle func;
    OK(aclrtBinaryGetFunction(binary, "nothing", &func));
    OK(aclrtLaunchKernelWithArgsArray(func, 4, NULL, NULL, NULL));
    OK(aclrtSynchronizeStream(NULL));
}

static void kernel_faults(const char *soc, aclError exception, aclError timeout, aclError trapped)
{
    aclrtBinHandle binary;
    aclrtFuncHandle func;
    void *memory;
    uint32_t blocks = 16;
    acl_begin(soc, &binary);
    OK(aclrtMalloc(&memory, 128, ACL_MEM_MALLOC_HUGE_FIRST));
    void *args[] = {&memory, &blocks};

    OK(aclrtBinaryGetFunction(binary, "read_outside", &func));
    OK(aclrtLaunchKernelWithArgsArray(func, 1, NULL, NULL, args));
    EXPECT(aclrtSynchronizeStream(NULL), exception);
    says("read_outside", "acl_kernels.c:");
    run_after(binary);

    OK(aclrtBinaryGetFunction(binary, "misaligned", &func));
    OK(aclrtLaunchKernelWithArgsArray(func, 1, NULL, NULL, args));
    EXPECT(aclrtSynchronizeStream(NULL), exception);
    says("misaligned", "align");
    run_after(binary);

    OK(aclrtBinaryGetFunction(binary, "give_up", &func));
    OK(aclrtLaunchKernelWithArgsArray(func, 1, NULL, NULL, NULL));
    EXPECT(aclrtSynchronizeStream(NULL), trapped);
    run_after(binary);

    OK(aclrtSetOpExecuteTimeOutWithMs(1));
    OK(aclrtBinaryGetFunction(binary, "endless", &func));
    OK(aclrtLaunchKernelWithArgsArray(func, 1, NULL, NULL, NULL));
    EXPECT(aclrtSynchronizeDevice(), timeout);
    says("endless", "limit");
    run_after(binary);

    OK(aclrtFree(memory));
    acl_end(binary);
}

void kernel_faults_910a(void)
{
    kernel_faults("ascend910a", ACL_ERROR_RT_AICORE_EXCEPTION, ACL_ERROR_RT_AICORE_TIMEOUT,
                  ACL_ERROR_RT_AICORE_TRAP_EXCEPTION);
}

void kernel_faults_910b1(void)
{
    kernel_faults("ascend910b1", ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
                  ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION);
}

// Of any kind, in any stream of the context; nothing of it happens.
static void no_new_work(aclrtBinHandle binary)
{
    const aclError stopped = ACL_ERROR_RT_TASK_ABORT_STOP;
    aclrtStream other;
    aclrtEvent event;
    void *memory;
    uint32_t words[16] = {0};
    (void)binary;
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtMalloc(&memory, sizeof(words), ACL_MEM_MALLOC_HUGE_FIRST));
    aclrtStream streams[] = {NULL, other};
    for (int i = 0; i < 2; i++) {
        EXPECT(aclrtMemsetAsync(memory, sizeof(words), 5, sizeof(words), streams[i]), stopped);
        EXPECT(aclrtMemcpyAsync(memory, sizeof(words), words, sizeof(words),
                                ACL_MEMCPY_HOST_TO_DEVICE, streams[i]),
               stopped);
        EXPECT(
            aclrtMemcpy2dAsync(memory, 16, words, 16, 16, 2, ACL_MEMCPY_HOST_TO_DEVICE, streams[i]),
            stopped);
        EXPECT(aclrtRecordEvent(event, streams[i]), stopped);
        EXPECT(aclrtStreamWaitEvent(streams[i], event), stopped);
        EXPECT(aclrtResetOverflowStatus(streams[i]), stopped);
    }
    EXPECT(aclrtMemset(memory, sizeof(words), 5, sizeof(words)), stopped);
    EXPECT(aclrtMemcpy(words, sizeof(words), memory, sizeof(words), ACL_MEMCPY_DEVICE_TO_HOST),
           stopped);
    says("aclrtMemcpy", "take no new work");
    OK(aclrtFree(memory));
    OK(aclrtDestroyEvent(event));
    EXPECT(aclrtSynchronizeStream(other), ACL_SUCCESS);
    OK(aclrtDestroyStream(other));
}

void stop_on_failure(void)
{
    aclrtBinHandle binary;
    aclrtFuncHandle func;
    acl_begin("ascend910a", &binary);
    OK(aclrtSetStreamFailureMode(NULL, ACL_STOP_ON_FAILURE));
    EXPECT(aclrtSetStreamFailureMode(NULL, ACL_CONTINUE_ON_FAILURE), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtBinaryGetFunction(binary, "give_up", &func));
    OK(aclrtLaunchKernelWithArgsArray(func, 1, NULL, NULL, NULL));
    EXPECT(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_AICORE_TRAP_EXCEPTION);
    EXPECT(aclrtLaunchKernelWithArgsArray(func, 1, NULL, NULL, NULL), ACL_ERROR_RT_TASK_ABORT_STOP);
    no_new_work(binary);
    // Programs that copy results back ask the stream each time: it must not say that all went well.
    EXPECT(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_TASK_ABORT_STOP);
    says("give_up", "stopped");
    EXPECT(aclrtSynchronizeDevice(), ACL_ERROR_RT_TASK_ABORT_STOP);
    acl_end(binary);
}
