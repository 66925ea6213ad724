/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory: ranges reserved ahead of memory, as growing allocators use them. */
#include "test_acl_common.h"

#include "harness.h"
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 20 << 20, CHUNKS = 4 };

static aclrtBinHandle binary;
static const aclrtPhysicalMemProp prop = {
    .memAttr = ACL_HBM_MEM_HUGE,
    .location = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE},
};

static size_t free_bytes(void)
{
    size_t left = 0, total = 0;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    return left;
}

// One tensor lies over several chunks: copies, fills and kernels must take them for one.
static void neighbours_are_one_block(void)
{
    aclrtDrvMemHandle chunk[CHUNKS];
    aclrtFuncHandle func;
    char *base;
    unsigned char *host = malloc(2 * CHUNK);
    acl_begin("ascend910a", &binary);
    size_t before = free_bytes();
    OK(aclrtReserveMemAddress((void **)&base, UINT64_C(36) << 30, 0, NULL, 1)); // more than it has
    CU_ASSERT_EQUAL(free_bytes(), before);
    EXPECT(aclrtMemset(base, 4096, 1, 4096), ACL_ERROR_RT_PARAM_INVALID);
    for (int i = 0; i < CHUNKS; i++) {
        int at = i == 1 ? 2 : i == 2 ? 1 : i; // not in order
        OK(aclrtMallocPhysical(&chunk[at], CHUNK, &prop, 0));
        OK(aclrtMapMem(base + (size_t)at * CHUNK, CHUNK, 0, chunk[at], 0));
    }
    CU_ASSERT_EQUAL(free_bytes(), before - (size_t)CHUNKS * CHUNK);
    for (size_t i = 0; i < 2 * CHUNK; i++) {
        host[i] = (unsigned char)(i * 3 + i / 4096);
    }
    char *middle = base + CHUNK / 2 + 32;
    OK(aclrtMemcpy(middle, 2 * CHUNK, host, 2 * CHUNK, ACL_MEMCPY_HOST_TO_DEVICE));
    memset(host, 0, 2 * CHUNK);
    OK(aclrtMemcpy(host, 2 * CHUNK, middle, 2 * CHUNK, ACL_MEMCPY_DEVICE_TO_HOST));
    int wrong = 0;
    for (size_t i = 0; i < 2 * CHUNK; i++) {
        wrong += host[i] != (unsigned char)(i * 3 + i / 4096);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    // A kernel over a seam: 64 words from 32 before it.
    struct {
        int32_t x, y;
    } step = {1, 5};
    void *out = base + CHUNK - 128, *offsets = base + 3 * CHUNK;
    int8_t first = 2;
    int32_t words[64];
    void *args[] = {&out, &first, &step, &offsets};
    OK(aclrtMemset(offsets, 32, 0, 32));
    OK(aclrtBinaryGetFunction(binary, "fill_ramp", &func));
    OK(aclrtLaunchKernelWithArgsArray(func, 1, NULL, NULL, args));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtMemcpy(words, sizeof(words), out, sizeof(words), ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT_EQUAL(words[0], 7);
    CU_ASSERT_EQUAL(words[63], 70);
    // A hole in the middle: what goes over it is refused.
    EXPECT(aclrtFreePhysical(chunk[1]), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtUnmapMem(base + CHUNK));
    EXPECT(aclrtUnmapMem(base + CHUNK), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFreePhysical(chunk[1]));
    EXPECT(aclrtMemset(middle, CHUNK, 1, CHUNK), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtLaunchKernelWithArgsArray(func, 1, NULL, NULL, args));
    EXPECT(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT(aclrtReleaseMemAddress(base), ACL_ERROR_RT_PARAM_INVALID);
    for (int i = 0; i < CHUNKS; i++) {
        if (i != 1) {
            OK(aclrtUnmapMem(base + (size_t)i * CHUNK));
            OK(aclrtFreePhysical(chunk[i]));
        }
    }
    CU_ASSERT_EQUAL(free_bytes(), before);
    OK(aclrtReleaseMemAddress(base));
    EXPECT(aclrtReleaseMemAddress(base), ACL_ERROR_RT_PARAM_INVALID);
    acl_end(binary);
    free(host);
}

// As a vector grows: the same memory at another address, with what it held.
static void contents_move_with_the_memory(void)
{
    aclrtDrvMemHandle one, two;
    char *small, *large, byte = 0;
    acl_begin("ascend910a", &binary);
    OK(aclrtReserveMemAddress((void **)&small, CHUNK, 0, NULL, 0));
    OK(aclrtReserveMemAddress((void **)&large, 2 * CHUNK, 0, NULL, 0));
    OK(aclrtMallocPhysical(&one, CHUNK, &prop, 0));
    OK(aclrtMallocPhysical(&two, CHUNK, &prop, 0));
    OK(aclrtMapMem(small, CHUNK, 0, one, 0));
    EXPECT(aclrtMapMem(large, CHUNK, 0, one, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtMemset(small, CHUNK, 11, CHUNK));
    OK(aclrtUnmapMem(small));
    OK(aclrtMapMem(large + CHUNK, CHUNK, 0, one, 0));
    OK(aclrtMemcpy(&byte, 1, large + 2 * CHUNK - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT_EQUAL(byte, 11);
    EXPECT(aclrtMemcpy(&byte, 1, small, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
    // Another takes its place meanwhile.
    OK(aclrtUnmapMem(large + CHUNK));
    OK(aclrtMapMem(large + CHUNK, CHUNK, 0, two, 0));
    OK(aclrtMemcpy(&byte, 1, large + CHUNK, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT_EQUAL(byte, 0);
    OK(aclrtMapMem(small, CHUNK, 0, one, 0));
    OK(aclrtMemcpy(&byte, 1, small, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT_EQUAL(byte, 11);
    EXPECT(aclrtMapMem(large, CHUNK / 2, 0, two, 0), ACL_ERROR_RT_PARAM_INVALID);
    acl_end(binary); // with everything still there
}

static void memory_is_limited_to_what_the_chip_has(void)
{
    aclrtDrvMemHandle all, more;
    void *block;
    acl_begin("ascend910a", &binary);
    size_t whole = free_bytes() / (2 << 20) * (2 << 20);
    OK(aclrtMallocPhysical(&all, whole, &prop, 0));
    EXPECT(aclrtMallocPhysical(&more, 2 << 20, &prop, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT(aclrtMalloc(&block, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    OK(aclrtFreePhysical(all));
    EXPECT(aclrtFreePhysical(all), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMalloc(&block, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(block));
    EXPECT(aclrtMallocPhysical(&more, 4096, &prop, 0), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtReserveMemAddress(&block, 512, 0, NULL, 1)); // rounded up
    OK(aclrtReleaseMemAddress(block));
    EXPECT(aclrtReserveMemAddress(&block, 4096, 64, NULL, 0), ACL_ERROR_RT_PARAM_INVALID);
    acl_end(binary);
}

static const struct leo_test tests[] = {
    {"neighbours_are_one_block", neighbours_are_one_block},
    {"contents_move_with_the_memory", contents_move_with_the_memory},
    {"memory_is_limited_to_what_the_chip_has", memory_is_limited_to_what_the_chip_has},
};

int main(int argc, char **argv)
{
    return leo_test_main("acl_virtual", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
