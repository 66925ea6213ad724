/* SPDX-License-Identifier: Apache-2.0 */
/* AscendCL used rightly: life cycle, streams, events, memory, every form of launch, on both chips.
 */
#include "test_acl_common.h"

#include "harness.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct step {
    int32_t x, y;
};

static void check_ramp(const int32_t *out, int blocks, int base, int step, int add)
{
    for (int i = 0; i < blocks * 64; i++) {
        int want = base + i % 64 * step + add + i % 8 * 100;
        if (out[i] != want) {
            CU_ASSERT_EQUAL(out[i], want);
            return;
        }
    }
    CU_PASS("ramp");
}

// Every launch form must hand over the same arguments, a negative int8 and a struct by value among
// them.
static void launch_forms(const char *soc)
{
    aclrtBinHandle binary;
    aclrtFuncHandle func;
    aclrtStream stream;
    void *out, *offsets, *block;
    int32_t host[192];
    int32_t host_offsets[8] = {0, 100, 200, 300, 400, 500, 600, 700};
    int8_t base = -5;
    struct step step = {3, 7};

    acl_begin(soc, &binary);
    OK(aclrtCreateStream(&stream));
    OK(aclrtBinaryGetFunction(binary, "fill_ramp", &func));
    OK(aclrtMalloc(&out, sizeof(host), ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&offsets, sizeof(host_offsets), ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMemcpy(offsets, sizeof(host_offsets), host_offsets, sizeof(host_offsets),
                   ACL_MEMCPY_HOST_TO_DEVICE));

    void *args[] = {&out, &base, &step, &offsets};
    OK(aclrtLaunchKernelWithArgsArray(func, 3, stream, NULL, args));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(host, sizeof(host), out, sizeof(host), ACL_MEMCPY_DEVICE_TO_HOST));
    check_ramp(host, 3, -5, 3, 7);

    aclrtArgsHandle handle;
    aclrtParamHandle base_param, offsets_param, ignored;
    void *buffer;
    OK(aclrtKernelArgsInit(func, &handle));
    OK(aclrtKernelArgsAppend(handle, &out, sizeof(out), &ignored));
    OK(aclrtKernelArgsAppend(handle, &base, sizeof(base), &base_param));
    OK(aclrtKernelArgsAppend(handle, &step, sizeof(step), &ignored));
    OK(aclrtKernelArgsAppendPlaceHolder(handle, &offsets_param));
    OK(aclrtKernelArgsGetPlaceHolderBuffer(handle, offsets_param, sizeof(host_offsets), &buffer));
    memcpy(buffer, host_offsets, sizeof(host_offsets));
    int8_t other = 9;
    OK(aclrtKernelArgsParaUpdate(handle, base_param, &other, sizeof(other)));
    EXPECT(aclrtLaunchKernelWithConfig(func, 2, stream, NULL, handle, NULL),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtKernelArgsFinalize(handle));
    OK(aclrtLaunchKernelWithConfig(func, 2, stream, NULL, handle, NULL));
    OK(aclrtLaunchKernelWithConfig(func, 2, stream, NULL, handle,
                                   NULL)); // a handle serves many launches
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(host, sizeof(host), out, sizeof(host), ACL_MEMCPY_DEVICE_TO_HOST));
    check_ramp(host, 2, 9, 3, 7);

    // A device block of 8-byte slots, small values extended by the caller as the kernel's ABI asks.
    int64_t slots[4] = {(int64_t)(uintptr_t)out, 1, 0, (int64_t)(uintptr_t)offsets};
    struct step small = {2, 1};
    memcpy(&slots[2], &small, sizeof(small));
    OK(aclrtMalloc(&block, sizeof(slots), ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(block, sizeof(slots), slots, sizeof(slots), ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtLaunchKernel(func, 1, block, sizeof(slots), stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(host, 256, out, 256, ACL_MEMCPY_DEVICE_TO_HOST));
    check_ramp(host, 1, 1, 2, 1);

    // A host block with the offsets behind the slots.
    int64_t with_data[8] = {slots[0], 4, slots[2], 0};
    memcpy(&with_data[4], host_offsets, sizeof(host_offsets));
    aclrtPlaceHolderInfo place = {24, 32};
    OK(aclrtLaunchKernelWithHostArgs(func, 1, stream, NULL, with_data, sizeof(with_data), &place,
                                     1));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(host, 256, out, 256, ACL_MEMCPY_DEVICE_TO_HOST));
    check_ramp(host, 1, 4, 2, 1);

    OK(aclrtFree(block));
    OK(aclrtFree(out));
    OK(aclrtFree(offsets));
    OK(aclrtDestroyStream(stream));
    acl_end(binary);
}

static void launch_forms_agree_on_910a(void)
{
    launch_forms("ascend910a");
}

static void launch_forms_agree_on_910b1(void)
{
    launch_forms("ascend910b1");
}

static void init_and_finalize_count(void)
{
    uint64_t left = 99;
    setenv("LEO_SOC", "ascend910a", 1);
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
    OK(aclInit(NULL));
    EXPECT(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    OK(aclFinalizeReference(&left));
    CU_ASSERT_EQUAL(left, 1);
    OK(aclFinalizeReference(&left));
    CU_ASSERT_EQUAL(left, 0);
    EXPECT(aclFinalizeReference(&left), ACL_ERROR_REPEAT_FINALIZE);
    OK(aclInit(NULL));
    OK(aclFinalize());
    EXPECT(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

static void reset_after_finalize_ends_the_runtime(void)
{
    setenv("LEO_SOC", "ascend910a", 1);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclFinalize());
    OK(aclrtResetDevice(0));
    // What is made next looks at the environment anew.
    setenv("LEO_SOC", "ascend910b1", 1);
    OK(aclInit(NULL));
    CU_ASSERT_STRING_EQUAL(aclrtGetSocName(), "Ascend910B1");
    OK(aclFinalize());
}

static void config_file_is_read(void)
{
    char path[] = "/tmp/leo-acl-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    fprintf(file, "{}");
    fclose(file);
    OK(aclInit(path));
    OK(aclFinalize());
    file = fopen(path, "w");
    fprintf(file, "{ no json");
    fclose(file);
    EXPECT(aclInit(path), ACL_ERROR_PARSE_FILE);
    static const char *const bad[] = {"\"-1\"", "0", "\"\"", "\"20k\"", "[1]", "1.5"};
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        file = fopen(path, "w");
        fprintf(file, "{\"max_opqueue_num\": %s}", bad[i]);
        fclose(file);
        EXPECT(aclInit(path), ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG);
    }
    file = fopen(path, "w");
    fprintf(file, "{\"max_opqueue_num\": \"20000\"}");
    fclose(file);
    OK(aclInit(path));
    OK(aclFinalize());
    remove(path);
    EXPECT(aclInit(path), ACL_ERROR_INVALID_FILE);
}

static void device_info_tells_the_chip(void)
{
    aclrtBinHandle binary;
    int64_t value = 0;
    uint32_t count = 0;
    int32_t device = -1;
    aclrtRunMode mode;
    acl_begin("ascend910b1", &binary);
    CU_ASSERT_STRING_EQUAL(aclrtGetSocName(), "Ascend910B1");
    OK(aclrtGetDeviceCount(&count));
    CU_ASSERT_EQUAL(count, 1);
    OK(aclrtGetDevice(&device));
    CU_ASSERT_EQUAL(device, 0);
    OK(aclrtGetRunMode(&mode));
    CU_ASSERT_EQUAL(mode, ACL_HOST);
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, &value));
    CU_ASSERT_EQUAL(value, 24);
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &value));
    CU_ASSERT_EQUAL(value, 48);
    OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &value));
    CU_ASSERT_EQUAL(value, 201326592);
    acl_end(binary);
}

static void events_order_streams_and_measure(void)
{
    aclrtBinHandle binary;
    aclrtStream first, second;
    aclrtEvent start, end;
    aclrtEventRecordedStatus status;
    float ms = -1;
    void *memory;
    unsigned char host[4096];
    acl_begin("ascend910a", &binary);
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateEvent(&start));
    OK(aclrtCreateEvent(&end));
    EXPECT(aclrtEventElapsedTime(&ms, start, end), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
    OK(aclrtMalloc(&memory, sizeof(host), ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtRecordEvent(start, first));
    OK(aclrtMemsetAsync(memory, sizeof(host), 0x11, sizeof(host), first));
    OK(aclrtRecordEvent(end, first));
    OK(aclrtStreamWaitEvent(second, end));
    OK(aclrtMemsetAsync(memory, sizeof(host), 0x22, sizeof(host) / 2, second));
    OK(aclrtMemcpyAsync(host, sizeof(host), memory, sizeof(host), ACL_MEMCPY_DEVICE_TO_HOST,
                        second));
    OK(aclrtSynchronizeStream(second));
    CU_ASSERT_EQUAL(host[0], 0x22);
    CU_ASSERT_EQUAL(host[2047], 0x22);
    CU_ASSERT_EQUAL(host[2048], 0x11);
    CU_ASSERT_EQUAL(host[4095], 0x11);
    OK(aclrtSynchronizeEvent(end));
    OK(aclrtQueryEventStatus(end, &status));
    CU_ASSERT_EQUAL(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtEventElapsedTime(&ms, start, end));
    CU_ASSERT(ms > 0 && ms < 1);
    EXPECT(aclrtEventElapsedTime(&ms, end, start), ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL);
    OK(aclrtDestroyEvent(start));
    OK(aclrtDestroyEvent(end));
    OK(aclrtDestroyStream(first));
    OK(aclrtDestroyStream(second));
    OK(aclrtSynchronizeDevice());
    OK(aclrtFree(memory));
    acl_end(binary);
}

static void copies_of_all_directions(void)
{
    aclrtBinHandle binary;
    void *dev, *other;
    unsigned char *pinned;
    unsigned char image[6 * 10], back[6 * 10];
    acl_begin("ascend910a", &binary);
    OK(aclrtMalloc(&dev, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&other, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost((void **)&pinned, 4096));
    for (int i = 0; i < 4096; i++) {
        pinned[i] = (unsigned char)(i * 7);
    }
    OK(aclrtMemcpyAsync(dev, 4096, pinned, 4096, ACL_MEMCPY_HOST_TO_DEVICE, NULL));
    OK(aclrtMemcpyAsync(other, 4096, dev, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, NULL));
    OK(aclrtSynchronizeStream(NULL));
    memset(pinned, 0, 4096);
    OK(aclrtMemcpy(pinned, 4096, other, 4096, ACL_MEMCPY_DEFAULT));
    CU_ASSERT_EQUAL(pinned[1], 7);
    CU_ASSERT_EQUAL(pinned[4095], (unsigned char)(4095 * 7));
    // A 6 x 8 picture inside rows of 10 bytes goes to a dense one and back.
    for (int i = 0; i < 60; i++) {
        image[i] = (unsigned char)i;
    }
    memset(back, 0xee, sizeof(back));
    OK(aclrtMemcpy2d(dev, 8, image, 10, 8, 6, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy2d(back, 10, dev, 8, 8, 6, ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT_EQUAL(back[7], 7);
    CU_ASSERT_EQUAL(back[8], 0xee);
    CU_ASSERT_EQUAL(back[57], 57);
    CU_ASSERT_EQUAL(back[58], 0xee);
    OK(aclrtMemcpy(NULL, 0, NULL, 0, ACL_MEMCPY_DEFAULT));
    OK(aclrtMemcpy(dev, 4096, dev, 16, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtFreeHost(pinned));
    OK(aclrtFree(dev));
    OK(aclrtFree(other));
    acl_end(binary);
}

static void memory_info_counts(void)
{
    aclrtBinHandle binary;
    size_t before, after, total;
    void *dev;
    acl_begin("ascend910a", &binary);
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
    CU_ASSERT_EQUAL(total, (size_t)32 << 30);
    OK(aclrtMalloc(&dev, (size_t)1 << 30, ACL_MEM_MALLOC_HUGE_FIRST));
    CU_ASSERT_EQUAL((uintptr_t)dev % 64, 0);
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
    CU_ASSERT(before - after >= (size_t)1 << 30);
    OK(aclrtFree(dev));
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
    CU_ASSERT_EQUAL(before, after);
    OK(aclrtGetMemInfo(ACL_DDR_MEM, &after, &total));
    acl_end(binary);
}

static void contexts_are_per_thread_and_own_streams(void)
{
    aclrtBinHandle binary;
    aclrtContext primary, made;
    aclrtStream stream;
    acl_begin("ascend910a", &binary);
    OK(aclrtGetCurrentContext(&primary));
    OK(aclrtCreateContext(&made, 0));
    OK(aclrtCreateStream(&stream));
    OK(aclrtSetCurrentContext(primary));
    EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CONTEXT);
    OK(aclrtSetCurrentContext(made));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtDestroyContext(made)); // ends its stream too
    EXPECT(aclrtSetCurrentContext(made), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtDestroyContext(primary), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtSetCurrentContext(primary));
    acl_end(binary);
}

static void half_floats_follow_the_original(void)
{
    CU_ASSERT_EQUAL(aclFloat16ToFloat(0x3c00), 1.0f);
    CU_ASSERT_EQUAL(aclFloat16ToFloat(0x0001), ldexpf(1, -24));
    CU_ASSERT_EQUAL(aclFloat16ToFloat(0x7c00), 65536.0f);
    CU_ASSERT_EQUAL(aclFloat16ToFloat(0xfc00), -65536.0f);
    CU_ASSERT_EQUAL(aclFloat16ToFloat(0x7e00), 98304.0f);
    CU_ASSERT_EQUAL(aclFloatToFloat16(INFINITY), 0x7bff);
    CU_ASSERT_EQUAL(aclFloatToFloat16(NAN), 0x7bff);
    CU_ASSERT_EQUAL(aclFloatToFloat16(-INFINITY), 0xfbff);
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        CU_ASSERT_EQUAL_FATAL(aclFloatToFloat16(aclFloat16ToFloat((aclFloat16)bits)), bits);
    }
    CU_ASSERT_EQUAL(aclFloatToFloat16(1.0f + ldexpf(1, -11)), 0x3c00); // halfway, to even
    CU_ASSERT_EQUAL(aclFloatToFloat16(1.0f + 3 * ldexpf(1, -11)), 0x3c02);
}

static void data_buffers_describe(void)
{
    int x = 0;
    aclDataBuffer *buffer = aclCreateDataBuffer(&x, sizeof(x));
    CU_ASSERT_PTR_EQUAL(aclGetDataBufferAddr(buffer), &x);
    CU_ASSERT_EQUAL(aclGetDataBufferSizeV2(buffer), sizeof(x));
    OK(aclDestroyDataBuffer(buffer));
    EXPECT(aclDestroyDataBuffer(NULL), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(aclDataTypeSize(ACL_FLOAT16), 2);
    CU_ASSERT_EQUAL(aclDataTypeSize(ACL_COMPLEX128), 16);
}

static void last_error_is_kept_and_cleared(void)
{
    EXPECT(aclrtGetRunMode(NULL), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    const char *text = aclGetRecentErrMsg();
    CU_ASSERT(text && strstr(text, "aclrtGetRunMode"));
    CU_ASSERT_PTR_NULL(aclGetRecentErrMsg());
}

static const struct leo_test tests[] = {
    {"init_and_finalize_count", init_and_finalize_count},
    {"reset_after_finalize_ends_the_runtime", reset_after_finalize_ends_the_runtime},
    {"config_file_is_read", config_file_is_read},
    {"device_info_tells_the_chip", device_info_tells_the_chip},
    {"launch_forms_agree_on_910a", launch_forms_agree_on_910a},
    {"launch_forms_agree_on_910b1", launch_forms_agree_on_910b1},
    {"events_order_streams_and_measure", events_order_streams_and_measure},
    {"copies_of_all_directions", copies_of_all_directions},
    {"memory_info_counts", memory_info_counts},
    {"contexts_are_per_thread_and_own_streams", contexts_are_per_thread_and_own_streams},
    {"half_floats_follow_the_original", half_floats_follow_the_original},
    {"data_buffers_describe", data_buffers_describe},
    {"last_error_is_kept_and_cleared", last_error_is_kept_and_cleared},
    {"device_errors", device_errors},
    {"memory_errors", memory_errors},
    {"binary_errors", binary_errors},
    {"launch_errors", launch_errors},
    {"kernel_faults_910a", kernel_faults_910a},
    {"kernel_faults_910b1", kernel_faults_910b1},
    {"stop_on_failure", stop_on_failure},
};

int main(int argc, char **argv)
{
    return leo_test_main("acl", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
