/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that waits for the host holds up nothing else (decision 27). */
#include "test_acl_common.h"

#include "harness.h"
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 4096 };

extern const unsigned char acl_spin_kernels_elf[];
extern const size_t acl_spin_kernels_elf_bytes;

/** What raises the word that the kernel waits for. */
enum raiser { A_COPY, ANOTHER_STREAM, RAISERS };

static const char *const kernels[] = {"count_looks", "store_looks"};

static void launch(aclrtBinHandle binary, const char *name, void *word)
{
    aclrtFuncHandle kernel;
    aclrtArgsHandle args;
    aclrtParamHandle param;
    OK(aclrtBinaryGetFunction(binary, name, &kernel));
    OK(aclrtKernelArgsInit(kernel, &args));
    OK(aclrtKernelArgsAppend(args, &word, sizeof(word), &param));
    OK(aclrtKernelArgsFinalize(args));
    OK(aclrtLaunchKernelWithConfig(kernel, 1, NULL, NULL, args, NULL));
}

static void raise_word(enum raiser raiser, void *word)
{
    const int32_t one = 1;
    aclrtStream stream;
    if (raiser == A_COPY) {
        OK(aclrtMemcpy(word, BYTES, &one, sizeof(one), ACL_MEMCPY_HOST_TO_DEVICE));
        return;
    }
    OK(aclrtCreateStream(&stream));
    OK(aclrtMemsetAsync(word, BYTES, 1, 1, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtDestroyStream(stream));
}

/** Microseconds at which the kernel ended. */
static uint64_t run_spin(const char *name, enum raiser raiser, unsigned pause_us)
{
    aclrtBinHandle binary;
    aclrtEvent end;
    void *word;
    uint64_t us = 0;
    acl_begin_plain();
    OK(aclrtBinaryLoadFromData(acl_spin_kernels_elf, acl_spin_kernels_elf_bytes, NULL, &binary));
    OK(aclrtMalloc(&word, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(word, BYTES, 0, BYTES));
    OK(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE));
    launch(binary, name, word);
    OK(aclrtRecordEvent(end, NULL));
    usleep(pause_us); // in which the chip works ahead
    raise_word(raiser, word);
    OK(aclrtSynchronizeDevice());
    OK(aclrtEventGetTimestamp(end, &us));
    OK(aclrtDestroyEvent(end));
    OK(aclrtFree(word));
    OK(aclrtBinaryUnLoad(binary));
    acl_end_plain();
    return us;
}

// However far the chip has got when the host stores.
static void a_kernel_that_waits_for_the_host_gets_its_word(void)
{
    setenv("LEO_SOC", "ascend910b1", 1);
    setenv("LEO_KERNEL_LIMIT_US", "20000", 1); // then it ends with a fault
    for (unsigned i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        for (enum raiser raiser = A_COPY; raiser < RAISERS; raiser++) {
            const uint64_t us = run_spin(kernels[i], raiser, 0);
            CU_ASSERT_EQUAL(run_spin(kernels[i], raiser, 30000), us);
            CU_ASSERT_EQUAL(run_spin(kernels[i], raiser, 400000), us);
        }
    }
}

static const struct leo_test tests[] = {
    {"a_kernel_that_waits_for_the_host_gets_its_word",
     a_kernel_that_waits_for_the_host_gets_its_word},
};

int main(int argc, char **argv)
{
    return leo_test_main("acl_host_waits", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
