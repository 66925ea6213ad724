/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked: descriptions, ids, attributes, options, limits, and forms of calls that do the
 * same as others. */
#include "test_acl_common.h"

#include "harness.h"
#include <acl/acl_op.h>
#include <acl/acl_tdt_queue.h>
#include <acl/ops/acl_dvpp.h>
#include <acl/ops/acl_fv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static aclrtBinHandle binary;

static void begin(void)
{
    setenv("LEO_DEVICES", "3", 1);
    setenv("ASCEND_RT_VISIBLE_DEVICES", "1,2", 1);
    acl_begin("ascend910b1", &binary);
}

static void end(void)
{
    acl_end(binary);
    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
    setenv("LEO_DEVICES", "1", 1);
}

static void descriptions_say_what_they_were_told(void)
{
    const int64_t dims[] = {2, 3, 4}, other[] = {6, 4}, unknown[] = {-2};
    int64_t dim = 0;
    char value = 1;
    aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT16, 3, dims, ACL_FORMAT_NCHW);
    CU_ASSERT_PTR_NOT_NULL_FATAL(desc);
    CU_ASSERT_EQUAL(aclGetTensorDescType(desc), ACL_FLOAT16);
    CU_ASSERT_EQUAL(aclGetTensorDescFormat(desc), ACL_FORMAT_NCHW);
    CU_ASSERT_EQUAL(aclGetTensorDescNumDims(desc), 3);
    CU_ASSERT_EQUAL(aclGetTensorDescElementCount(desc), 24);
    CU_ASSERT_EQUAL(aclGetTensorDescSize(desc), 48);
    CU_ASSERT_EQUAL(aclGetTensorDescDim(desc, 1), 3);
    CU_ASSERT_EQUAL(aclGetTensorDescDim(desc, 3), -1);
    OK(aclGetTensorDescDimV2(desc, 2, &dim));
    CU_ASSERT_EQUAL(dim, 4);
    EXPECT(aclGetTensorDescDimV2(desc, 3, &dim), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclGetTensorDescDimV2(desc, 0, NULL), ACL_ERROR_INVALID_PARAM);
    aclSetTensorDescName(desc, "weights");
    CU_ASSERT_STRING_EQUAL(aclGetTensorDescName(desc), "weights");
    OK(aclSetTensorShape(desc, 2, other));
    OK(aclSetTensorStorageShape(desc, 2, other));
    OK(aclSetTensorOriginShape(desc, 2, other));
    EXPECT(aclSetTensorOriginShape(desc, 2, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclSetTensorShape(desc, -1, other), ACL_ERROR_INVALID_PARAM);
    OK(aclSetTensorFormat(desc, ACL_FORMAT_ND));
    OK(aclSetTensorStorageFormat(desc, ACL_FORMAT_ND));
    OK(aclSetTensorOriginFormat(desc, ACL_FORMAT_ND));
    EXPECT(aclSetTensorFormat(NULL, ACL_FORMAT_ND), ACL_ERROR_INVALID_PARAM);
    OK(aclSetTensorPlaceMent(desc, ACL_MEMTYPE_HOST));
    EXPECT(aclSetTensorPlaceMent(desc, (aclMemType)9), ACL_ERROR_INVALID_PARAM);
    OK(aclSetTensorConst(desc, &value, 1));
    EXPECT(aclSetTensorConst(desc, NULL, 1), ACL_ERROR_INVALID_PARAM);
    aclDestroyTensorDesc(desc);
    desc = aclCreateTensorDesc(ACL_INT32, 1, unknown, ACL_FORMAT_ND);
    CU_ASSERT_EQUAL(aclGetTensorDescNumDims(desc), (size_t)ACL_UNKNOWN_RANK);
    aclDestroyTensorDesc(desc);
    CU_ASSERT_EQUAL(aclGetTensorDescSize(NULL), 0);
    aclDataBuffer *buffer = aclCreateDataBuffer(&value, 1);
    OK(aclUpdateDataBuffer(buffer, &dim, sizeof(dim)));
    CU_ASSERT_PTR_EQUAL(aclGetDataBufferAddr(buffer), &dim);
    CU_ASSERT_EQUAL(aclGetDataBufferSize(buffer), sizeof(dim));
    EXPECT(aclUpdateDataBuffer(NULL, &dim, 1), ACL_ERROR_INVALID_PARAM);
    OK(aclDestroyDataBuffer(buffer));
}

static void attributes_are_taken_in_every_kind(void)
{
    const uint8_t flags[] = {1, 0};
    const int64_t numbers[] = {1, -2, 3}, *const lists[] = {numbers, numbers};
    const int sizes[] = {2, 3};
    const float reals[] = {0.5F, 2};
    const aclDataType types[] = {ACL_FLOAT, ACL_INT8};
    const char *texts[] = {"one", "two"};
    aclopAttr *attr = aclopCreateAttr();
    CU_ASSERT_PTR_NOT_NULL_FATAL(attr);
    OK(aclopSetAttrBool(attr, "flag", 1));
    OK(aclopSetAttrInt(attr, "number", 7));
    OK(aclopSetAttrInt(attr, "number", 8)); // again: the new one
    OK(aclopSetAttrFloat(attr, "real", 1.5F));
    OK(aclopSetAttrString(attr, "text", "value"));
    OK(aclopSetAttrDataType(attr, "type", ACL_FLOAT16));
    OK(aclopSetAttrListBool(attr, "flags", 2, flags));
    OK(aclopSetAttrListInt(attr, "numbers", 3, numbers));
    OK(aclopSetAttrListFloat(attr, "reals", 2, reals));
    OK(aclopSetAttrListDataType(attr, "types", 2, types));
    OK(aclopSetAttrListString(attr, "texts", 2, texts));
    OK(aclopSetAttrListListInt(attr, "lists", 2, sizes, lists));
    EXPECT(aclopSetAttrInt(NULL, "number", 1), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclopSetAttrInt(attr, NULL, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclopSetAttrListInt(attr, "numbers", 3, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclopSetAttrString(attr, "text", NULL), ACL_ERROR_INVALID_PARAM);
    aclopDestroyAttr(attr);
}

/* Visible are 1 and 2 of three. */
static void ids_of_devices(void)
{
    int32_t id = -1;
    begin();
    OK(aclrtGetLogicDevIdByUserDevId(1, &id));
    CU_ASSERT_EQUAL(id, 2);
    OK(aclrtGetUserDevIdByLogicDevId(2, &id));
    CU_ASSERT_EQUAL(id, 1);
    OK(aclrtGetLogicDevIdByPhyDevId(2, &id));
    CU_ASSERT_EQUAL(id, 2);
    OK(aclrtGetPhyDevIdByLogicDevId(1, &id));
    CU_ASSERT_EQUAL(id, 1);
    OK(aclrtGetUserDevIdByPhyDevId(1, &id));
    CU_ASSERT_EQUAL(id, 0);
    OK(aclrtGetPhyDevIdByUserDevId(0, &id));
    CU_ASSERT_EQUAL(id, 1);
    CU_ASSERT_NOT_EQUAL(aclrtGetUserDevIdByLogicDevId(0, &id), 0); // not visible
    CU_ASSERT_NOT_EQUAL(aclrtGetLogicDevIdByUserDevId(2, &id), 0); // there is none
    CU_ASSERT_NOT_EQUAL(aclrtGetLogicDevIdByUserDevId(0, NULL), 0);
    OK(aclrtDeviceGetBareTgid(&id));
    CU_ASSERT_EQUAL(id, (int32_t)getpid());
    end();
}

static void state_of_devices_and_contexts(void)
{
    uint32_t flags = 9;
    int32_t active = -1, status = -1;
    aclrtStream stream = NULL;
    aclrtErrorInfo error;
    aclrtMemUceInfo uce[2];
    size_t count = 5;
    int64_t option = 0;
    begin();
    OK(aclrtGetPrimaryCtxState(0, &flags, &active));
    CU_ASSERT_EQUAL(active, 1);
    OK(aclrtGetPrimaryCtxState(1, &flags, &active));
    CU_ASSERT_EQUAL(active, 0);
    OK(aclrtCtxGetCurrentDefaultStream(&stream));
    CU_ASSERT_PTR_NOT_NULL(stream);
    OK(aclrtSynchronizeStream(stream));
    EXPECT(aclrtCtxGetCurrentDefaultStream(NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtDevicePeerAccessStatus(0, 1, &status));
    CU_ASSERT_EQUAL(status, 0);
    memset(&error, 1, sizeof(error));
    OK(aclrtGetErrorVerbose(0, &error));
    CU_ASSERT_EQUAL(error.errorType, ACL_RT_NO_ERROR);
    EXPECT(aclrtRepairError(0, &error), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtGetMemUceInfo(0, uce, 2, &count));
    CU_ASSERT_EQUAL(count, 0);
    EXPECT(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &option),
           ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &option));
    CU_ASSERT_EQUAL(option, 1);
    OK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    option = 0;
    OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &option));
    CU_ASSERT_EQUAL(option, 1);
    OK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0));
    end();
}

// As many as the device says it has left, and not one more.
static void as_many_streams_as_are_left(void)
{
    enum { MAX_COUNT = 4096 };
    static aclrtStream streams[MAX_COUNT];
    uint32_t left = 0, none = 1;
    aclrtStream more;
    begin();
    OK(aclrtGetStreamAvailableNum(&left));
    CU_ASSERT_FATAL(left > 8 && left <= MAX_COUNT);
    for (uint32_t i = 0; i < left; i++) {
        OK(aclrtCreateStream(&streams[i]));
    }
    OK(aclrtGetStreamAvailableNum(&none));
    CU_ASSERT_EQUAL(none, 0);
    CU_ASSERT_NOT_EQUAL(aclrtCreateStream(&more), ACL_SUCCESS);
    OK(aclrtDestroyStream(streams[left / 2]));
    OK(aclrtCreateStream(&streams[left / 2]));
    for (uint32_t i = 0; i < left; i++) {
        OK(aclrtDestroyStream(streams[i]));
    }
    end();
}

static void the_device_has_no_aicpu(void)
{
    int64_t cores = -1;
    begin();
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICPU_CORE_NUM, &cores));
    CU_ASSERT_EQUAL(cores, 0);
    end();
}

static void streams_say_how_they_were_made(void)
{
    aclrtStream stream;
    uint32_t value = 99, left = 0, fewer = 0;
    int32_t least = -1, greatest = -1;
    aclrtStreamAttrValue attribute = {0};
    aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
    begin();
    OK(aclrtDeviceGetStreamPriorityRange(&least, &greatest));
    CU_ASSERT(least >= greatest);
    OK(aclrtGetStreamAvailableNum(&left));
    OK(aclrtCreateStreamWithConfig(&stream, 1, ACL_STREAM_FAST_LAUNCH));
    OK(aclrtGetStreamAvailableNum(&fewer));
    CU_ASSERT_EQUAL(fewer, left - 1);
    OK(aclrtStreamGetPriority(stream, &value));
    CU_ASSERT_EQUAL(value, 1);
    OK(aclrtStreamGetFlags(stream, &value));
    CU_ASSERT_EQUAL(value, ACL_STREAM_FAST_LAUNCH);
    OK(aclrtSetStreamOverflowSwitch(stream, 1));
    OK(aclrtGetStreamOverflowSwitch(stream, &value));
    CU_ASSERT_EQUAL(value, 1);
    OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &attribute));
    CU_ASSERT_EQUAL(attribute.overflowSwitch, 1);
    attribute.userCustomTag = 1234;
    OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &attribute));
    memset(&attribute, 0, sizeof(attribute));
    OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &attribute));
    CU_ASSERT_EQUAL(attribute.userCustomTag, 1234);
    EXPECT(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &attribute),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtGetDeviceSatMode(&mode));
    CU_ASSERT_EQUAL(mode, ACL_RT_OVERFLOW_MODE_INFNAN);
    OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
    OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION));
    OK(aclrtGetDeviceSatMode(&mode));
    CU_ASSERT_EQUAL(mode, ACL_RT_OVERFLOW_MODE_SATURATION);
    OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
    OK(aclrtDestroyStream(stream));
    end();
}

static void events_in_every_form(void)
{
    aclrtEvent event, other;
    aclrtStream stream;
    aclrtEventStatus status;
    uint32_t id = 0, other_id = 0, left = 0, fewer = 0;
    begin();
    OK(aclrtCreateStream(&stream));
    OK(aclrtGetEventAvailNum(&left));
    OK(aclrtCreateEvent(&event));
    OK(aclrtCreateEvent(&other));
    OK(aclrtGetEventAvailNum(&fewer));
    CU_ASSERT_EQUAL(fewer, left - 2);
    OK(aclrtGetEventId(event, &id));
    OK(aclrtGetEventId(other, &other_id));
    CU_ASSERT_NOT_EQUAL(id, other_id);
    OK(aclrtRecordEventWithFlag(event, stream, 0));
    EXPECT(aclrtRecordEventWithFlag(event, stream, 8), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtStreamWaitEventWithTimeout(stream, event, 0));
    EXPECT(aclrtStreamWaitEventWithTimeout(stream, event, 5), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtStreamWaitEventWithFlag(stream, event, 0, 0));
    OK(aclrtSynchronizeEventWithTimeout(event, 10000));
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 0), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtQueryEvent(event, &status));
    CU_ASSERT_EQUAL(status, ACL_EVENT_STATUS_COMPLETE);
    OK(aclrtQueryEvent(other, &status));
    CU_ASSERT_EQUAL(status, ACL_EVENT_STATUS_NOT_READY);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtDestroyEvent(event));
    OK(aclrtDestroyEvent(other));
    end();
}

static void memory_in_every_form(void)
{
    void *device[4], *host[2], *pointer = NULL;
    int32_t rows[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[4] = {0};
    size_t granule = 0;
    aclrtPhysicalMemProp prop = {.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtDrvMemHandle memory;
    static char own[8192] __attribute__((aligned(4096)));
    begin();
    OK(aclrtMallocAlign32(&device[0], 100, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMallocCached(&device[1], 100, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocWithCfg(&device[2], 100, ACL_MEM_MALLOC_HUGE_FIRST, NULL));
    OK(aclrtMalloc(&device[3], 100, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHostWithCfg(&host[0], 64, NULL));
    OK(aclrtMallocHost(&host[1], 64));
    // Two columns of a picture of four.
    OK(aclrtMemcpy2dAsync(device[0], 8, rows, 16, 8, 2, ACL_MEMCPY_HOST_TO_DEVICE, NULL));
    OK(aclrtMemcpyAsyncWithCondition(device[1], 100, device[0], 16, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                     NULL));
    OK(aclrtMemcpyAsyncWithCondition(back, 16, device[1], 16, ACL_MEMCPY_DEVICE_TO_HOST, NULL));
    OK(aclrtSynchronizeStream(NULL));
    CU_ASSERT(back[0] == 1 && back[1] == 2 && back[2] == 5 && back[3] == 6);
    OK(aclrtCmoAsync(device[0], 100, ACL_RT_CMO_TYPE_PREFETCH, NULL));
    OK(aclrtFreeWithDevSync(device[0]));
    OK(aclrtFree(device[1]));
    OK(aclrtFree(device[2]));
    OK(aclrtFree(device[3]));
    OK(aclrtFreeHostWithDevSync(host[0]));
    OK(aclrtFreeHost(host[1]));
    CU_ASSERT_NOT_EQUAL(aclrtFreeWithDevSync(device[0]), 0);
    OK(aclrtHostRegisterV2(own, sizeof(own), ACL_HOST_REGISTER_MAPPED));
    OK(aclrtHostGetDevicePointer(own, &pointer, 0));
    CU_ASSERT_PTR_NOT_NULL(pointer);
    OK(aclrtHostUnregister(own));
    CU_ASSERT_NOT_EQUAL(aclrtHostGetDevicePointer(own, &pointer, 0), 0);
    OK(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granule));
    CU_ASSERT(granule >= 4096 && (granule & (granule - 1)) == 0);
    OK(aclrtMallocPhysical(&memory, granule, &prop, 0));
    OK(aclrtFreePhysical(memory));
    end();
}

static void kernels_and_limits(void)
{
    size_t bytes = 0;
    const void *elf = acl_test_elf("ascend910b1", &bytes);
    aclrtBinHandle loaded;
    aclrtFuncHandle function;
    char name[64] = "";
    void *cube = &bytes, *vector = NULL;
    uint64_t actual = 0, step = 0;
    uint32_t ms = 0;
    begin();
    aclrtBinary made = aclrtCreateBinary(elf, bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    OK(aclrtBinaryLoad(made, &loaded));
    OK(aclrtBinaryGetFunction(loaded, "nothing", &function));
    OK(aclrtGetFunctionName(function, sizeof(name), name));
    CU_ASSERT_STRING_EQUAL(name, "nothing");
    OK(aclrtGetFunctionAddr(function, &cube, &vector));
    CU_ASSERT_PTR_NULL(cube); // a kernel for vector cores
    CU_ASSERT_PTR_NOT_NULL(vector);
    OK(aclrtLaunchKernelV2(function, 1, NULL, 0, NULL, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtBinaryUnLoad(loaded));
    OK(aclrtDestroyBinary(made));
    OK(aclrtGetOpTimeOutInterval(&step));
    CU_ASSERT(step > 0);
    OK(aclrtSetOpExecuteTimeOutV2(5000, &actual));
    CU_ASSERT(actual >= 5000 && actual < 5000 + step);
    OK(aclrtGetOpExecuteTimeout(&ms));
    CU_ASSERT_EQUAL(ms, (actual + 999) / 1000);
    OK(aclrtSetOpWaitTimeout(0));
    end();
}

static void what_the_library_can(void)
{
    const aclCannAttr *list = NULL;
    size_t count = 0;
    int32_t value = -1;
    char option[64] = "";
    begin();
    OK(aclGetCannAttributeList(&list, &count));
    for (size_t i = 0; i < count; i++) {
        value = -1;
        OK(aclGetCannAttribute(list[i], &value));
        CU_ASSERT(value == 0 || value == 1);
    }
    EXPECT(aclGetCannAttributeList(NULL, &count), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclGetCannAttribute((aclCannAttr)99, &value), ACL_ERROR_INVALID_PARAM);
    OK(aclSetCompileopt(ACL_PRECISION_MODE, "allow_fp32_to_fp16"));
    CU_ASSERT_EQUAL(aclGetCompileoptSize(ACL_PRECISION_MODE), strlen("allow_fp32_to_fp16") + 1);
    OK(aclGetCompileopt(ACL_PRECISION_MODE, option, sizeof(option)));
    CU_ASSERT_STRING_EQUAL(option, "allow_fp32_to_fp16");
    CU_ASSERT_NOT_EQUAL(aclGetCompileopt(ACL_PRECISION_MODE, option, 3), 0);
    OK(aclrtSetTsDevice(ACL_TS_ID_AICORE));
    aclAppLog(ACL_INFO, __func__, __FILE__, __LINE__, "%d", 1);
    OK(aclrtResetDeviceForce(0));
    OK(aclrtSetDevice(0));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
    setenv("LEO_DEVICES", "1", 1);
}

// runtime/acl/absent.txt: a program links, and is told why nothing happens.
static void functions_with_nothing_behind_them_say_so(void)
{
    aclmdlBundleQueryInfo *query = aclmdlBundleCreateQueryInfo();
    CU_ASSERT_PTR_NULL(query);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(aclGetRecentErrMsg(), "aclmdlBundleCreateQueryInfo: error 207000"));
    EXPECT(aclmdlBundleDestroyQueryInfo(query), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclmdlBundleUnload(1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtCreateLabel(NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CU_ASSERT_PTR_NOT_NULL(strstr(aclGetRecentErrMsg(), "has nothing like it"));
    CU_ASSERT_PTR_NULL(acltdtCreateQueueAttr());
    EXPECT(acltdtDestroyQueue(1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclfvRelease(), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CU_ASSERT_PTR_NULL(aclvencCreateChannelDesc());
    CU_ASSERT_EQUAL(aclvencGetChannelDescPicWidth(NULL), 0);
    EXPECT(aclvencSetChannelDescCallback(NULL, NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"descriptions_say_what_they_were_told", descriptions_say_what_they_were_told},
        {"attributes_are_taken_in_every_kind", attributes_are_taken_in_every_kind},
        {"functions_with_nothing_behind_them_say_so", functions_with_nothing_behind_them_say_so},
        {"ids_of_devices", ids_of_devices},
        {"state_of_devices_and_contexts", state_of_devices_and_contexts},
        {"as_many_streams_as_are_left", as_many_streams_as_are_left},
        {"the_device_has_no_aicpu", the_device_has_no_aicpu},
        {"streams_say_how_they_were_made", streams_say_how_they_were_made},
        {"events_in_every_form", events_in_every_form},
        {"memory_in_every_form", memory_in_every_form},
        {"kernels_and_limits", kernels_and_limits},
        {"what_the_library_can", what_the_library_can},
    };
    return leo_test_main("acl_info", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
