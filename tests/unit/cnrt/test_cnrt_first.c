/* SPDX-License-Identifier: Apache-2.0 */
/* CNRT's first generation: device handles, parameter buffers, kernels prepared before they run. */
#include "harness.h"
#include "test_cnrt_common.h"

enum { COUNT = 1024, BYTES = COUNT * sizeof(float) };

static float values[COUNT];

// Puts a pointer in, by value.
static void add_pointer(cnrtKernelParamsBuffer_t params, void *ptr)
{
    OK(cnrtKernelParamsBufferAddParam(params, &ptr, sizeof(ptr)));
}

static void make_params(cnrtKernelParamsBuffer_t *params, void *out, void *in)
{
    int count = COUNT;
    OK(cnrtGetKernelParamsBuffer(params));
    add_pointer(*params, out);
    add_pointer(*params, in);
    add_pointer(*params, in);
    OK(cnrtKernelParamsBufferAddParam(*params, &count, sizeof(count)));
}

// One test of a sample of that time, from init to destroy; samples repeat all of it.
static void run_sample(void)
{
    cnrtDev_t device;
    cnrtQueue_t queue;
    cnrtNotifier_t start, end;
    cnrtKernelParamsBuffer_t params, copy;
    cnrtKernelInitParam_t prepared;
    void *in, *out;
    float us = 0;
    const cnrtDim3_t dim = {4, 1, 1};
    OK(cnrtInit(0));
    OK(cnrtGetDeviceHandle(&device, 0));
    OK(cnrtSetCurrentDevice(device));
    OK(cnrtSetCurrentChannel(CNRT_CHANNEL_TYPE_0));
    OK(cnrtCreateQueue(&queue));
    OK(cnrtCreateNotifier(&start));
    OK(cnrtCreateNotifier(&end));
    OK(cnrtMalloc(&in, BYTES));
    OK(cnrtMalloc(&out, BYTES));
    OK(cnrtMemcpy(in, values, BYTES, CNRT_MEM_TRANS_DIR_HOST2DEV));
    OK(cnrtCreateKernelInitParam(&prepared));
    OK(cnrtInitKernelMemory(kernel_of(add_stub), prepared));
    make_params(&params, out, in);
    OK(cnrtCopyKernelParamsBuffer(&copy, params));
    OK(cnrtPlaceNotifier(start, queue));
    OK(cnrtInvokeKernel_V3(kernel_of(add_stub), prepared, dim, params, CNRT_FUNC_TYPE_UNION1, queue,
                           NULL));
    OK(cnrtPlaceNotifier(end, queue));
    OK(cnrtSyncQueue(queue));
    OK(cnrtNotifierDuration(start, end, &us));
    CU_ASSERT(us > 0);
    OK(cnrtMemcpy(values, out, BYTES, CNRT_MEM_TRANS_DIR_DEV2HOST));
    OK(cnrtInvokeKernel_V2(kernel_of(add_stub), dim, copy, CNRT_FUNC_TYPE_BLOCK, queue));
    OK(cnrtSyncQueue(queue));
    OK(cnrtQueryQueue(queue));
    OK(cnrtDestroyKernelParamsBuffer(params));
    OK(cnrtDestroyKernelParamsBuffer(copy));
    EXPECT(cnrtDestroyKernelParamsBuffer(copy), cnrtErrorInvalidResourceHandle);
    OK(cnrtDestroyKernelInitParamAndMemory(prepared));
    OK(cnrtFree(in));
    OK(cnrtFree(out));
    OK(cnrtDestroyNotifier(&start));
    OK(cnrtDestroyNotifier(&end));
    OK(cnrtDestroyQueue(queue));
    cnrtDestroy();
}

static void samples_repeat_everything(void)
{
    for (int i = 0; i < COUNT; i++) {
        values[i] = (float)i;
    }
    for (int i = 0; i < 3; i++) {
        run_sample();
    }
    CU_ASSERT_EQUAL(values[3], 24);
    CU_ASSERT_EQUAL(values[COUNT - 1], 8.0F * (COUNT - 1));
}

static void wrong_parameters_are_refused(void)
{
    cnrtKernelParamsBuffer_t params;
    cnrtQueue_t queue;
    const cnrtDim3_t dim = {1, 1, 1};
    void *block;
    OK(cnrtInit(0));
    OK(cnrtCreateQueue(&queue));
    OK(cnrtMalloc(&block, BYTES));
    make_params(&params, block, block);
    add_pointer(params, block); // one too many
    EXPECT(cnrtInvokeKernel_V2(kernel_of(add_stub), dim, params, CNRT_FUNC_TYPE_BLOCK, queue),
           cnrtErrorArgsInvalid);
    OK(cnrtDestroyKernelParamsBuffer(params));
    OK(cnrtGetKernelParamsBuffer(&params));
    for (int i = 0; i < 4; i++) {
        add_pointer(params, block); // the fourth is an int
    }
    EXPECT(cnrtInvokeKernel_V2(kernel_of(add_stub), dim, params, CNRT_FUNC_TYPE_BLOCK, queue),
           cnrtErrorArgsInvalid);
    EXPECT(cnrtKernelParamsBufferAddParam(params, NULL, 8), cnrtErrorArgsInvalid);
    OK(cnrtDestroyKernelParamsBuffer(params));
    EXPECT(cnrtInit(1), cnrtErrorArgsInvalid);
    EXPECT(cnrtSetCurrentDevice(UINT64_MAX), cnrtErrorDeviceInvalid);
    EXPECT(cnrtSetCurrentChannel((cnrtChannelType_t)4), cnrtErrorArgsInvalid);
    OK(cnrtFree(block));
    OK(cnrtDestroyQueue(queue));
    cnrtDestroy();
}

static void the_card_has_a_name_and_cores(void)
{
    cnrtDeviceInfo_t info;
    OK(cnrtGetDeviceInfo(&info, 0));
    CU_ASSERT_STRING_EQUAL(info.device_name, "MLU370");
    CU_ASSERT_EQUAL(info.core_num, 32);
    void *host;
    OK(cnrtMallocHost(&host, 4096, CNRT_MALLOC_HOST_TYPE_LOCKED));
    OK(cnrtFreeHost(host));
}

static const struct leo_test tests[] = {
    {"samples_repeat_everything", samples_repeat_everything},
    {"wrong_parameters_are_refused", wrong_parameters_are_refused},
    {"the_card_has_a_name_and_cores", the_card_has_a_name_and_cores},
};

int main(int argc, char **argv)
{
    cnrt_register();
    return leo_test_main("cnrt_first", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
