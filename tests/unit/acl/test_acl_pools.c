/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools, fills by words, batch copies, registered functions, and models that cannot be
 * loaded. */
#include "test_acl_common.h"

#include "harness.h"
#include <acl/acl_rt_memory_soma.h>
#include <acl/error_codes/ge_error_codes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static const aclrtMemPoolProps props = {.location = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE},
                                        .maxSize = 8 * MIB};

static uint64_t number(aclrtMemPool pool, aclrtMemPoolAttr attr)
{
    uint64_t value = 12345;
    OK(aclrtMemPoolGetAttr(pool, attr, &value));
    return value;
}

static void blocks_come_back_in_the_streams_order(void)
{
    aclrtMemPool pool;
    aclrtStream stream, other;
    void *block, *again, *second, *third;
    uint64_t threshold = 16 * MIB;
    acl_begin_plain();
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtMemPoolCreate(&pool, &props));
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
    CU_ASSERT_EQUAL(number(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD), threshold);
    OK(aclrtMemPoolMallocAsync(&block, MIB, pool, stream));
    CU_ASSERT_EQUAL(number(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), MIB);
    OK(aclrtMemsetAsync(block, MIB, 5, MIB, stream));
    OK(aclrtMemPoolFreeAsync(block, stream));
    CU_ASSERT_EQUAL(number(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), 0);
    CU_ASSERT_EQUAL(number(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), MIB);
    // The same stream has it at once, another one when the first got there.
    OK(aclrtMemPoolMallocAsync(&again, MIB, pool, stream));
    CU_ASSERT_PTR_EQUAL(again, block);
    OK(aclrtMemPoolFreeAsync(again, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemPoolMallocAsync(&second, MIB, pool, other));
    CU_ASSERT_PTR_EQUAL(second, block);
    // A block is not taken for one of half its size.
    OK(aclrtMemPoolMallocAsync(&third, 4096, pool, other));
    CU_ASSERT_PTR_NOT_EQUAL(third, block);
    CU_ASSERT_EQUAL(number(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), MIB + 4096);
    EXPECT(aclrtMemPoolMallocAsync(&again, 8 * MIB, pool, other), ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT(aclrtMemPoolDestroy(pool), ACL_ERROR_RT_PARAM_INVALID); // in use
    OK(aclrtMemPoolFreeAsync(second, other));
    OK(aclrtMemPoolFreeAsync(third, other));
    EXPECT(aclrtMemPoolFreeAsync(third, other), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtSynchronizeStream(other));
    OK(aclrtMemPoolTrimTo(pool, 0));
    CU_ASSERT_EQUAL(number(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 0);
    OK(aclrtMemPoolMallocAsync(&again, 8 * MIB, pool, other)); // the room is there again
    OK(aclrtMemPoolFreeAsync(again, other));
    threshold = 0;
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &threshold));
    CU_ASSERT_EQUAL(number(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), 0);
    OK(aclrtMemPoolDestroy(pool));
    EXPECT(aclrtMemPoolDestroy(pool), ACL_ERROR_INVALID_PARAM);
    acl_end_plain();
}

static void other_streams_wait_for_a_block(void)
{
    aclrtMemPool pool;
    aclrtStream stuck, other;
    uint64_t *flag, threshold = 16 * MIB;
    void *block, *second, *small;
    acl_begin_plain();
    OK(aclrtMalloc((void **)&flag, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(flag, 64, 0, 64));
    OK(aclrtCreateStream(&stuck));
    OK(aclrtCreateStream(&other));
    OK(aclrtMemPoolCreate(&pool, &props));
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(aclrtMemPoolMallocAsync(&block, MIB, pool, stuck));
    OK(aclrtValueWait(flag, 1, ACL_STREAM_WAIT_VALUE_EQ, stuck));
    OK(aclrtMemPoolFreeAsync(block, stuck)); // given back behind the wait
    OK(aclrtMemPoolMallocAsync(&second, MIB, pool, other));
    CU_ASSERT_PTR_NOT_EQUAL(second, block);
    OK(aclrtValueWrite(flag, 1, 0, other));
    OK(aclrtSynchronizeStream(stuck));
    OK(aclrtMemPoolMallocAsync(&small, 4096, pool, other));
    OK(aclrtMemPoolFreeAsync(small,
                             other)); // looks over the free ones: below the threshold they stay
    CU_ASSERT_EQUAL(number(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 2 * MIB + 4096);
    threshold = MIB + 8192;
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(aclrtSynchronizeStream(other));
    OK(aclrtMemPoolFreeAsync(second, other));
    CU_ASSERT(number(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) <= MIB + 8192);
    OK(aclrtMemPoolDestroy(pool));
    acl_end_plain();
}

static void wrong_use_of_pools_is_told(void)
{
    aclrtMemPool pool;
    aclrtMemPoolProps wrong = props;
    uint64_t value = 1;
    void *block;
    acl_begin_plain();
    EXPECT(aclrtMemPoolCreate(NULL, &props), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemPoolCreate(&pool, NULL), ACL_ERROR_INVALID_PARAM);
    wrong.location.id = 5;
    EXPECT(aclrtMemPoolCreate(&pool, &wrong), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMemPoolCreate(&pool, &props));
    EXPECT(aclrtMemPoolMallocAsync(NULL, 1, pool, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemPoolMallocAsync(&block, 0, pool, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemPoolMallocAsync(&block, 1, NULL, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemPoolFreeAsync(NULL, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemPoolFreeAsync(&value, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &value),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &value),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, NULL),
           ACL_ERROR_INVALID_PARAM);
    // What is handed out when the device ends goes with it, and the pool too.
    OK(aclrtMemPoolMallocAsync(&block, MIB, pool, NULL));
    acl_end_plain();
    acl_begin_plain();
    EXPECT(aclrtMemPoolFreeAsync(block, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemPoolTrimTo(pool, 0), ACL_ERROR_INVALID_PARAM);
    acl_end_plain();
}

static void words_are_filled(void)
{
    enum { COUNT = 100003 };
    uint32_t *device, *host = malloc((COUNT + 1) * 4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(host);
    acl_begin_plain();
    OK(aclrtMalloc((void **)&device, (COUNT + 1) * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(device, (COUNT + 1) * 4, 0, (COUNT + 1) * 4));
    OK(aclrtMemsetD32(device, COUNT * 4, 0xdeadbeef, COUNT));
    OK(aclrtMemsetD32Async(device + 1, 40, 7, 10, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtMemcpy(host, (COUNT + 1) * 4, device, (COUNT + 1) * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i <= COUNT; i++) {
        CU_ASSERT_EQUAL_FATAL(host[i], i == COUNT ? 0 : i >= 1 && i <= 10 ? 7 : 0xdeadbeef);
    }
    EXPECT(aclrtMemsetD32(NULL, 8, 0, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemsetD32((char *)device + 2, 8, 0, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemsetD32(device, 8, 0, 3), ACL_ERROR_INVALID_PARAM);
    OK(aclrtMemsetD32(device, 0, 0, 0));
    void *base;
    size_t bytes;
    OK(aclrtMemGetAddressRange(device + 5, &base, &bytes));
    CU_ASSERT(base == device && bytes >= (COUNT + 1) * 4);
    EXPECT(aclrtMemGetAddressRange(host, &base, &bytes), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMemFlush(device, 64));
    OK(aclrtMemInvalidate(device, 64));
    EXPECT(aclrtMemFlush(device, bytes + 1), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemInvalidate(NULL, 1), ACL_ERROR_INVALID_PARAM);
    void *dsts[2] = {device, device + 4}, *srcs[2] = {device + 1, device + 20};
    size_t sizes[2] = {4, 8}, rooms[2] = {4, 8}, index = 0;
    aclrtMemcpyBatchAttr attr = {.dstLoc = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE},
                                 .srcLoc = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    OK(aclrtMemcpyBatchV2(dsts, rooms, srcs, sizes, 2, &attr, &index, 1));
    OK(aclrtMemcpyBatchAsyncV2(dsts, rooms, srcs, sizes, 2, &attr, &index, 1, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtMemcpy(host, 24, device, 24, ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT(host[0] == 7 && host[4] == 0xdeadbeef && host[5] == 0xdeadbeef);
    EXPECT(aclrtMemcpyBatchV2(dsts, rooms, srcs, sizes, 0, &attr, &index, 1),
           ACL_ERROR_INVALID_PARAM);
    OK(aclrtFree(device));
    acl_end_plain();
    free(host);
}

static struct {
    int starts, ends;
    aclError answer;
    char text[64];
} life;

static aclError started(const char *config, size_t length, void *user)
{
    life.starts++;
    CU_ASSERT_PTR_EQUAL(user, &life);
    CU_ASSERT_EQUAL(config ? strlen(config) : 0, length);
    return life.answer;
}

static aclError ended(void *user)
{
    life.ends++;
    CU_ASSERT_PTR_EQUAL(user, &life);
    return ACL_SUCCESS;
}

static void functions_are_called_at_start_and_end(void)
{
    memset(&life, 0, sizeof(life));
    OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, started, &life));
    OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, ended, &life));
    CU_ASSERT_EQUAL(life.starts, 0);
    OK(aclInit(NULL));
    CU_ASSERT_EQUAL(life.starts, 1);
    OK(aclInitCallbackRegister(ACL_REG_TYPE_ACL_DVPP, started, &life)); // late: at once
    CU_ASSERT_EQUAL(life.starts, 2);
    OK(aclFinalize());
    CU_ASSERT_EQUAL(life.ends, 1);
    life.answer = 77;
    EXPECT(aclInit(NULL), 77);
    OK(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, started));
    OK(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, started));
    OK(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, ended));
    EXPECT(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, started), ACL_ERROR_INTERNAL_ERROR);
    EXPECT(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, ended), ACL_ERROR_INTERNAL_ERROR);
    EXPECT(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, NULL, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclFinalize());
    CU_ASSERT_EQUAL(life.ends, 1);
}

static int faults[2];

static void count_fault(aclrtExceptionInfo *info)
{
    faults[0] += aclrtGetErrorCodeFromExceptionInfo(info) != 0;
}

static void count_fault_too(aclrtExceptionInfo *info)
{
    faults[1] += aclrtGetDeviceIdFromExceptionInfo(info) == 0;
}

static void every_registered_function_is_told_of_a_fault(void)
{
    aclrtBinHandle binary;
    aclrtFuncHandle function;
    aclrtArgsHandle args;
    acl_begin("ascend910b1", &binary);
    OK(aclrtExceptionInfoCallbackRegister(count_fault));
    OK(aclrtExceptionInfoCallbackRegister(count_fault_too));
    EXPECT(aclrtExceptionInfoCallbackRegister(count_fault), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtExceptionInfoCallbackRegister(NULL), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtBinaryGetFunction(binary, "give_up", &function));
    for (int round = 1; round <= 2; round++) {
        OK(aclrtKernelArgsInit(function, &args));
        OK(aclrtKernelArgsFinalize(args));
        OK(aclrtLaunchKernelWithConfig(function, 1, NULL, NULL, args, NULL));
        EXPECT(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION);
        CU_ASSERT_EQUAL(faults[0], 1);
        CU_ASSERT_EQUAL(faults[1], round);
        if (round == 1) {
            OK(aclrtExceptionInfoCallbackUnregister(count_fault));
        }
    }
    OK(aclrtExceptionInfoCallbackUnregister(count_fault_too));
    EXPECT(aclrtExceptionInfoCallbackUnregister(count_fault_too), ACL_ERROR_RT_PARAM_INVALID);
    acl_end(binary);
}

static void models_need_the_library_of_operators(void)
{
    uint32_t id = 0;
    size_t bytes[2];
    char data[4] = "om";
    aclmdlIODims dims;
    aclmdlDataset *set = aclmdlCreateDataset();
    aclmdlDesc *desc = aclmdlCreateDesc();
    acl_begin_plain();
    CU_ASSERT_PTR_NOT_NULL(desc);
    EXPECT(aclmdlLoadFromFile("/no/such/model.om", &id), ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID);
    EXPECT(aclmdlLoadFromFile("/proc/self/exe", &id), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CU_ASSERT_PTR_NOT_NULL(strstr(aclGetRecentErrMsg(), "libopapi.so")); // which runs models
    EXPECT(aclmdlLoadFromFile(NULL, &id), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlLoadFromFileWithMem("/proc/self/exe", &id, NULL, 0, NULL, 0),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclmdlLoadFromMem(data, sizeof(data), &id), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclmdlLoadFromMem(data, 0, &id), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlLoadFromMemWithMem(data, sizeof(data), &id, NULL, 0, NULL, 0),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclmdlQuerySize("/proc/self/exe", &bytes[0], &bytes[1]),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclmdlQuerySizeFromMem(data, sizeof(data), &bytes[0], &bytes[1]),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclmdlGetDesc(desc, id), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
    EXPECT(aclmdlExecute(1, set, set), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
    EXPECT(aclmdlExecute(1, NULL, set), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlExecuteAsync(1, set, set, NULL), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
    EXPECT(aclmdlUnload(1), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
    CU_ASSERT_EQUAL(aclmdlGetNumInputs(desc) + aclmdlGetNumOutputs(desc), 0);
    CU_ASSERT_EQUAL(aclmdlGetInputSizeByIndex(desc, 0) + aclmdlGetOutputSizeByIndex(desc, 0), 0);
    EXPECT(aclmdlGetInputDims(desc, 0, &dims), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlGetOutputDims(desc, 0, &dims), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlGetCurOutputDims(desc, 0, &dims), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_STRING_EQUAL(aclmdlGetInputNameByIndex(desc, 0), "");
    CU_ASSERT_STRING_EQUAL(aclmdlGetOutputNameByIndex(desc, 0), "");
    EXPECT(aclmdlGetInputIndexByName(desc, "x", &bytes[0]), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlGetOutputIndexByName(desc, "y", &bytes[0]), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(aclmdlGetInputDataType(desc, 0), ACL_DT_UNDEFINED);
    CU_ASSERT_EQUAL(aclmdlGetOutputDataType(desc, 0), ACL_DT_UNDEFINED);
    CU_ASSERT_EQUAL(aclmdlGetInputFormat(desc, 0), ACL_FORMAT_UNDEFINED);
    CU_ASSERT_EQUAL(aclmdlGetOutputFormat(desc, 0), ACL_FORMAT_UNDEFINED);
    OK(aclmdlDestroyDesc(desc));
    EXPECT(aclmdlDestroyDesc(NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclmdlDestroyDataset(set));
    acl_end_plain();
}

static void a_dump_is_set_up_in_order(void)
{
    EXPECT(aclmdlInitDump(), ACL_ERROR_UNINITIALIZE);
    acl_begin_plain();
    EXPECT(aclmdlSetDump("/proc/self/exe"), ACL_ERROR_DUMP_NOT_RUN);
    EXPECT(aclmdlFinalizeDump(), ACL_ERROR_DUMP_NOT_RUN);
    OK(aclmdlInitDump());
    EXPECT(aclmdlInitDump(), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT(aclmdlSetDump("/no/such/file"), ACL_ERROR_INVALID_DUMP_CONFIG);
    EXPECT(aclmdlSetDump("/proc/self/exe"), ACL_ERROR_INVALID_DUMP_CONFIG);
    EXPECT(aclmdlSetDump(NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclmdlFinalizeDump());
    EXPECT(aclmdlFinalizeDump(), ACL_ERROR_DUMP_NOT_RUN);
    acl_end_plain();
}

static void versions_agree(void)
{
    aclCANNPackageVersion cann, driver;
    char text[ACL_PKG_VERSION_MAX_SIZE], name[] = "runtime", no_name[] = "driver";
    int32_t number = 0;
    OK(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &cann));
    OK(aclsysGetCANNVersion(ACL_PKG_NAME_DRIVER, &driver));
    CU_ASSERT_STRING_NOT_EQUAL(cann.version, driver.version);
    OK(aclsysGetVersionStr(name, text));
    CU_ASSERT_STRING_EQUAL(text, cann.version);
    OK(aclsysGetVersionStr(no_name, text));
    CU_ASSERT_STRING_EQUAL(text, driver.version);
    OK(aclsysGetVersionNum(name, &number));
    CU_ASSERT_EQUAL(number, atoi(cann.majorVersion) * 10000000 + atoi(cann.minorVersion) * 100000 +
                                atoi(cann.releaseVersion) * 1000);
    EXPECT(aclsysGetCANNVersion((aclCANNPackageName)99, &cann), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclsysGetVersionNum(name, NULL), ACL_ERROR_INVALID_PARAM);
}

static void chips_say_what_they_can(void)
{
    int32_t can = -1;
    uint64_t links = 0;
    setenv("LEO_DEVICES", "2", 1);
    setenv("LEO_SOC", "ascend910b1", 1);
    acl_begin_plain();
    OK(aclrtCheckArchCompatibility("Ascend910B3", &can));
    CU_ASSERT_EQUAL(can, 1);
    OK(aclrtCheckArchCompatibility("Ascend910A", &can));
    CU_ASSERT_EQUAL(can, 0);
    OK(aclrtCheckArchCompatibility("Ascend310P3", &can));
    CU_ASSERT_EQUAL(can, 0);
    EXPECT(aclrtCheckArchCompatibility(NULL, &can), ACL_ERROR_INVALID_PARAM);
    OK(aclrtGetDevicesTopo(0, 1, &links));
    CU_ASSERT_EQUAL(links, ACL_RT_DEVS_TOPOLOGY_HCCS);
    CU_ASSERT_NOT_EQUAL(aclrtGetDevicesTopo(0, 2, &links), ACL_SUCCESS);
    EXPECT(aclrtGetDevicesTopo(1, 1, &links), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtGetDevicesTopo(0, 1, NULL), ACL_ERROR_INVALID_PARAM);
    can = -1;
    OK(aclrtGetDeviceCapability(1, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &can));
    CU_ASSERT_EQUAL(can, 0);
    EXPECT(aclrtGetDeviceCapability(0, (aclrtDevFeatureType)77, &can), ACL_ERROR_RT_PARAM_INVALID);
    CU_ASSERT_NOT_EQUAL(aclrtGetDeviceCapability(5, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &can),
                        ACL_SUCCESS);
    acl_end_plain();
    unsetenv("LEO_DEVICES");
    unsetenv("LEO_SOC");
}

static void a_graph_is_written_as_text(void)
{
    char path[] = "/tmp/leo_graph_XXXXXX", line[4096] = "";
    aclrtStream stream;
    aclmdlRI graph;
    void *device;
    acl_begin_plain();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtMemsetAsync(device, 64, 0, 64, stream));
    OK(aclmdlRICaptureEnd(stream, &graph));
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    OK(aclmdlRIDebugJsonPrint(graph, path, 0));
    CU_ASSERT(read(fd, line, sizeof(line) - 1) > 10);
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "fill"));
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "\"dur\": 1")); // torch_npu reads these as trace events
    EXPECT(aclmdlRIDebugJsonPrint(graph, NULL, 0), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_NOT_EQUAL(aclmdlRIDebugJsonPrint(graph, "/no/such/folder/x", 0), ACL_SUCCESS);
    CU_ASSERT_NOT_EQUAL(aclmdlRIDebugPrint(NULL), ACL_SUCCESS);
    OK(aclmdlRIDebugPrint(graph));
    OK(aclmdlRIDestroy(graph));
    close(fd);
    unlink(path);
    acl_end_plain();
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"blocks_come_back_in_the_streams_order", blocks_come_back_in_the_streams_order},
        {"other_streams_wait_for_a_block", other_streams_wait_for_a_block},
        {"wrong_use_of_pools_is_told", wrong_use_of_pools_is_told},
        {"words_are_filled", words_are_filled},
        {"functions_are_called_at_start_and_end", functions_are_called_at_start_and_end},
        {"every_registered_function_is_told_of_a_fault",
         every_registered_function_is_told_of_a_fault},
        {"models_need_the_library_of_operators", models_need_the_library_of_operators},
        {"a_dump_is_set_up_in_order", a_dump_is_set_up_in_order},
        {"versions_agree", versions_agree},
        {"chips_say_what_they_can", chips_say_what_they_can},
        {"a_graph_is_written_as_text", a_graph_is_written_as_text},
    };
    return leo_test_main("acl_pools", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
