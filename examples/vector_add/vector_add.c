/* SPDX-License-Identifier: Apache-2.0 */
/* An ACL program: loads vector_add_kernel.elf, adds two vectors on the device, checks, prints the
 * simulated time. usage: vector_add KERNEL.elf */
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT  65536u
#define BLOCKS 8u

static void must(aclError error, const char *what)
{
    if (error != ACL_SUCCESS) {
        const char *text = aclGetRecentErrMsg();
        fprintf(stderr, "%s failed with %d: %s\n", what, error, text ? text : "");
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static aclFloat16 a[COUNT], b[COUNT], c[COUNT];
    size_t bytes = sizeof(a);
    uint32_t count = COUNT;
    void *dev_a, *dev_b, *dev_c;
    aclrtStream stream;
    aclrtBinHandle binary;
    aclrtFuncHandle kernel;
    aclrtEvent start, end;
    float ms = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: %s vector_add_kernel.elf\n", argv[0]);
        return 2;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        a[i] = aclFloatToFloat16((float)(i % 1000));
        b[i] = aclFloatToFloat16(0.5f);
    }
    must(aclInit(NULL), "aclInit");
    must(aclrtSetDevice(0), "aclrtSetDevice");
    must(aclrtCreateStream(&stream), "aclrtCreateStream");
    must(aclrtMalloc(&dev_a, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    must(aclrtMalloc(&dev_b, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    must(aclrtMalloc(&dev_c, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    must(aclrtMemcpy(dev_a, bytes, a, bytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    must(aclrtMemcpy(dev_b, bytes, b, bytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    must(aclrtBinaryLoadFromFile(argv[1], NULL, &binary), "aclrtBinaryLoadFromFile");
    must(aclrtBinaryGetFunction(binary, "vector_add", &kernel), "aclrtBinaryGetFunction");
    must(aclrtCreateEvent(&start), "aclrtCreateEvent");
    must(aclrtCreateEvent(&end), "aclrtCreateEvent");

    void *args[] = {&dev_a, &dev_b, &dev_c, &count};
    must(aclrtRecordEvent(start, stream), "aclrtRecordEvent");
    must(aclrtLaunchKernelWithArgsArray(kernel, BLOCKS, stream, NULL, args),
         "aclrtLaunchKernelWithArgsArray");
    must(aclrtRecordEvent(end, stream), "aclrtRecordEvent");
    must(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    must(aclrtEventElapsedTime(&ms, start, end), "aclrtEventElapsedTime");
    must(aclrtMemcpy(c, bytes, dev_c, bytes, ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");

    for (uint32_t i = 0; i < COUNT; i++) {
        float want = (float)(i % 1000) + 0.5f;
        if (aclFloat16ToFloat(c[i]) != want) {
            fprintf(stderr, "element %u is %g, expected %g\n", i, aclFloat16ToFloat(c[i]), want);
            return 1;
        }
    }
    printf("%s: added %u halves on %u cores in %.2f us of simulated time: correct\n",
           aclrtGetSocName(), COUNT, BLOCKS, ms * 1000);
    must(aclrtDestroyEvent(start), "aclrtDestroyEvent");
    must(aclrtDestroyEvent(end), "aclrtDestroyEvent");
    must(aclrtBinaryUnLoad(binary), "aclrtBinaryUnLoad");
    must(aclrtFree(dev_a), "aclrtFree");
    must(aclrtFree(dev_b), "aclrtFree");
    must(aclrtFree(dev_c), "aclrtFree");
    must(aclrtDestroyStream(stream), "aclrtDestroyStream");
    must(aclrtResetDevice(0), "aclrtResetDevice");
    must(aclFinalize(), "aclFinalize");
    return 0;
}
