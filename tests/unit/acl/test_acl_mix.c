/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a cube core and two vector cores, launched by AscendCL in each way it has. */
#include "test_acl_common.h"

#include "harness.h"

enum { BLOCKS = 24, LINE = 16, BYTES = BLOCKS * 3 * LINE * 4 };

static void expect_sums(void *sum)
{
    static int32_t host[BLOCKS * 3 * LINE];
    OK(aclrtMemcpy(host, BYTES, sum, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int block = 0; block < BLOCKS; block++) {
        CU_ASSERT_EQUAL(host[block * LINE], 103 + block);
    }
    OK(aclrtMemset(sum, BYTES, 0, BYTES));
}

static void blocks_of_three_cores_are_launched(void)
{
    aclrtBinHandle binary;
    aclrtFuncHandle func;
    aclrtStream stream;
    aclrtArgsHandle handle;
    aclrtParamHandle ignored;
    void *lines, *sum, *block;
    acl_begin("ascend910b1", &binary);
    OK(aclrtCreateStream(&stream));
    OK(aclrtBinaryGetFunction(binary, "paired", &func));
    OK(aclrtMalloc(&lines, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&sum, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(sum, BYTES, 0, BYTES));

    OK(aclrtKernelArgsInit(func, &handle));
    OK(aclrtKernelArgsAppend(handle, &lines, sizeof(lines), &ignored));
    OK(aclrtKernelArgsAppend(handle, &sum, sizeof(sum), &ignored));
    OK(aclrtKernelArgsFinalize(handle));
    OK(aclrtLaunchKernelWithConfig(func, BLOCKS, stream, NULL, handle, NULL));
    OK(aclrtSynchronizeStream(stream));
    expect_sums(sum);

    int64_t slots[2] = {(int64_t)(uintptr_t)lines, (int64_t)(uintptr_t)sum};
    OK(aclrtMalloc(&block, sizeof(slots), ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(block, sizeof(slots), slots, sizeof(slots), ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtLaunchKernel(func, BLOCKS, block, sizeof(slots), stream));
    OK(aclrtSynchronizeStream(stream));
    expect_sums(sum);

    OK(aclrtLaunchKernelWithHostArgs(func, BLOCKS, stream, NULL, slots, sizeof(slots), NULL, 0));
    OK(aclrtSynchronizeStream(stream));
    expect_sums(sum);

    OK(aclrtFree(block));
    OK(aclrtFree(sum));
    OK(aclrtFree(lines));
    OK(aclrtDestroyStream(stream));
    acl_end(binary);
}

static const struct leo_test tests[] = {
    {"blocks_of_three_cores_are_launched", blocks_of_three_cores_are_launched},
};

int main(int argc, char **argv)
{
    return leo_test_main("acl/mix", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
