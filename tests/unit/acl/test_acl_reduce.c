/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions by the copy engine against plain loops, access to memory of other devices, and the
 * chip's numbers as text. */
#include "test_acl_common.h"

#include "harness.h"
#include <acl/acl_platform.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000 };

static aclrtBinHandle binary;

static void *device_copy(const void *bytes, size_t count)
{
    void *memory;
    OK(aclrtMalloc(&memory, count + 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(memory, count, bytes, count, ACL_MEMCPY_HOST_TO_DEVICE));
    return memory;
}

static double get(const void *values, aclDataType type, int i)
{
    switch (type) {
    case ACL_FLOAT:
        return ((const float *)values)[i];
    case ACL_FLOAT16:
        return aclFloat16ToFloat(((const uint16_t *)values)[i]);
    case ACL_INT8:
        return ((const int8_t *)values)[i];
    case ACL_INT16:
        return ((const int16_t *)values)[i];
    case ACL_INT32:
        return ((const int32_t *)values)[i];
    default: {
        const uint32_t bits = (uint32_t)((const uint16_t *)values)[i] << 16;
        float value;
        memcpy(&value, &bits, sizeof(value));
        return value;
    }
    }
}

static void put(void *values, aclDataType type, int i, int value)
{
    switch (type) {
    case ACL_FLOAT:
        ((float *)values)[i] = (float)value;
        break;
    case ACL_FLOAT16:
        ((uint16_t *)values)[i] = aclFloatToFloat16((float)value);
        break;
    case ACL_INT8:
        ((int8_t *)values)[i] = (int8_t)value;
        break;
    case ACL_INT16:
        ((int16_t *)values)[i] = (int16_t)value;
        break;
    case ACL_INT32:
        ((int32_t *)values)[i] = value;
        break;
    default: {
        const float real = (float)value;
        uint32_t bits;
        memcpy(&bits, &real, sizeof(bits));
        ((uint16_t *)values)[i] = (uint16_t)(bits >> 16); // small whole numbers: exact
    }
    }
}

static void reduce(aclDataType type, aclrtReduceKind kind, size_t offset)
{
    const size_t bytes = COUNT * aclDataTypeSize(type);
    unsigned char a[COUNT * 4], b[COUNT * 4], out[COUNT * 4 + 64];
    for (int i = 0; i < COUNT; i++) {
        put(a, type, i, i % 50 - 25);
        put(b, type, i, 20 - i * 7 % 41);
    }
    unsigned char *dst = device_copy(a, bytes), *src = device_copy(b, bytes);
    OK(aclrtMemcpy(dst + offset, bytes, a, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtReduceAsync(dst + offset, src, bytes, kind, type, NULL, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtMemcpy(out, bytes, dst + offset, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        const double x = get(a, type, i), y = get(b, type, i);
        const double want = kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM   ? x + y
                            : kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX ? (x > y ? x : y)
                                                                       : (x < y ? x : y);
        wrong += get(out, type, i) != want;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    OK(aclrtFree(dst));
    OK(aclrtFree(src));
}

static void memory_is_reduced_in_every_type(void)
{
    static const aclDataType types[] = {ACL_FLOAT, ACL_FLOAT16, ACL_INT8,
                                        ACL_INT16, ACL_INT32,   ACL_BF16};
    acl_begin("ascend910b1", &binary);
    for (int kind = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM; kind <= ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN;
         kind++) {
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
            reduce(types[i], (aclrtReduceKind)kind, 0);
            reduce(types[i], (aclrtReduceKind)kind, 3); // any alignment
        }
    }
    acl_end(binary);
}

static void reductions_stand_in_streams_and_graphs(void)
{
    float ones[COUNT], out[COUNT];
    aclrtStream stream;
    aclmdlRI graph;
    acl_begin("ascend910b1", &binary);
    for (int i = 0; i < COUNT; i++) {
        ones[i] = 1;
    }
    float *dst = device_copy(ones, sizeof(ones)), *src = device_copy(ones, sizeof(ones));
    OK(aclrtCreateStream(&stream));
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    OK(aclrtReduceAsync(dst, src, sizeof(ones), ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, stream,
                        NULL));
    OK(aclrtReduceAsync(src, dst, sizeof(ones), ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, stream,
                        NULL));
    OK(aclmdlRICaptureEnd(stream, &graph));
    for (int i = 0; i < 3; i++) {
        OK(aclmdlRIExecuteAsync(graph, stream)); // 1 1, 2 3, 5 8, 13 21
    }
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(out, sizeof(out), src, sizeof(out), ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT_EQUAL(out[0], 21);
    CU_ASSERT_EQUAL(out[COUNT - 1], 21);
    OK(aclmdlRIDestroy(graph));
    acl_end(binary);
}

static void wrong_reductions_are_refused(void)
{
    const aclrtReduceKind sum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
    float host[16] = {0}, *a, *b;
    acl_begin("ascend910a", &binary);
    OK(aclrtMalloc((void **)&a, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    b = a + 64;
    EXPECT(aclrtReduceAsync(NULL, b, 64, sum, ACL_FLOAT, NULL, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtReduceAsync(a, b, 63, sum, ACL_FLOAT, NULL, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtReduceAsync(a, a + 4, 64, sum, ACL_FLOAT, NULL, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtReduceAsync(a, host, 64, sum, ACL_FLOAT, NULL, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtReduceAsync(a, b, 64, sum, ACL_FLOAT, NULL, a), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtReduceAsync(a, b, 64, (aclrtReduceKind)9, ACL_FLOAT, NULL, NULL),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtReduceAsync(a, b, 64, ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL, ACL_FLOAT, NULL, NULL),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtReduceAsync(a, b, 64, sum, ACL_DOUBLE, NULL, NULL),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtReduceAsync(a, b, 64, sum, ACL_BF16, NULL, NULL),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT); // not on this generation
    OK(aclrtReduceAsync(a, b, 0, sum, ACL_FLOAT, NULL, NULL));
    acl_end(binary);
}

static void access_is_given_to_devices(void)
{
    aclrtMemAccessDesc desc = {.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE,
                               .location = {.id = 1, .type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtMemLocation here = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE};
    uint64_t flag = 9;
    void *memory, *other;
    setenv("LEO_DEVICES", "2", 1);
    acl_begin("ascend910b1", &binary);
    OK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemGetAccess(memory, &here, &flag));
    CU_ASSERT_EQUAL(flag, ACL_RT_MEM_ACCESS_FLAGS_READWRITE);
    OK(aclrtMemGetAccess(memory, &desc.location, &flag));
    CU_ASSERT_EQUAL(flag, ACL_RT_MEM_ACCESS_FLAGS_NONE);
    OK(aclrtMemSetAccess(memory, 4096, &desc, 1));
    OK(aclrtMemGetAccess(memory, &desc.location, &flag));
    CU_ASSERT_EQUAL(flag, ACL_RT_MEM_ACCESS_FLAGS_READWRITE);
    OK(aclrtSetDevice(1));
    OK(aclrtMalloc(&other, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(other, 4096, memory, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE)); // it may now
    OK(aclrtResetDevice(1));
    OK(aclrtSetDevice(0));
    EXPECT(aclrtMemSetAccess(memory, 8192, &desc, 1), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemSetAccess(NULL, 4096, &desc, 1), ACL_ERROR_INVALID_PARAM);
    desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
    EXPECT(aclrtMemSetAccess(memory, 4096, &desc, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtMemGetAccess(&flag, &here, &flag), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFree(memory));
    OK(aclrtResetDevice(0));
    acl_end(binary);
}

static void the_chip_tells_its_numbers(void)
{
    static const struct {
        aclplatformDevInfo info;
        const char *text;
    } known[] = {
        {ACL_PLATFORM_AICORE_CNT, "24"},         {ACL_PLATFORM_VECTOR_CORE_CNT, "48"},
        {ACL_PLATFORM_AICORE_UB_SIZE, "196608"}, {ACL_PLATFORM_CUBE_FREQ, "1850"},
        {ACL_PLATFORM_NPU_ARCH, "2201"},         {ACL_PLATFORM_MEMORY_SIZE, "68719476736"},
    };
    char text[64];
    acl_begin("ascend910b1", &binary);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        OK(aclplatformGetDeviceInfo(known[i].info, text, sizeof(text)));
        CU_ASSERT_STRING_EQUAL(text, known[i].text);
    }
    OK(aclplatformGetDeviceInfo(ACL_PLATFORM_SOC_VERSION, text, sizeof(text)));
    CU_ASSERT_STRING_EQUAL(text, aclrtGetSocName());
    EXPECT(aclplatformGetDeviceInfo(ACL_PLATFORM_L2_SIZE, text, 9), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclplatformGetDeviceInfo((aclplatformDevInfo)17, text, 64), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclplatformGetDeviceInfo(ACL_PLATFORM_MEMORY_TYPE, text, 64),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    acl_end(binary);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"memory_is_reduced_in_every_type", memory_is_reduced_in_every_type},
        {"reductions_stand_in_streams_and_graphs", reductions_stand_in_streams_and_graphs},
        {"wrong_reductions_are_refused", wrong_reductions_are_refused},
        {"access_is_given_to_devices", access_is_given_to_devices},
        {"the_chip_tells_its_numbers", the_chip_tells_its_numbers},
    };
    return leo_test_main("acl_reduce", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
