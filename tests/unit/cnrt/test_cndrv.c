/* SPDX-License-Identifier: Apache-2.0 */
/* CNDrv and CNDev. */
#include "harness.h"
#include "test_cnrt_common.h"

#include <cndev.h>
#include <cnpx.h>
#include <string.h>

enum { COUNT = 1024, BYTES = COUNT * sizeof(float) };

static float values[COUNT];

static void a_module_is_loaded_and_launched(void)
{
    CNdev device;
    CNcontext context, found;
    CNmodule module;
    CNkernel kernel;
    CNqueue queue;
    CNnotifier start, end;
    CNaddr a, b;
    float ms = 0;
    int count = 0, n = COUNT;
    for (int i = 0; i < COUNT; i++) {
        values[i] = (float)i;
    }
    OK(cnInit(0));
    OK(cnDeviceGetCount(&count));
    CU_ASSERT_EQUAL(count, 1);
    OK(cnDeviceGet(&device, 0));
    OK(cnSharedContextAcquire(&context, device));
    OK(cnCtxGetCurrent(&found));
    CU_ASSERT_PTR_EQUAL(found, context);
    OK(cnModuleLoadFatBinary(cnrt_test_elf(), &module));
    OK(cnModuleGetKernel(module, "add", &kernel));
    EXPECT(cnModuleGetKernel(module, "subtract", &kernel), cnrtErrorNotFound);
    OK(cnModuleGetKernel(module, "add", &kernel));
    OK(cnCreateQueue(&queue, 0));
    OK(cnCreateNotifier(&start, 0));
    OK(cnCreateNotifier(&end, 0));
    OK(cnMalloc(&a, BYTES));
    OK(cnMalloc(&b, BYTES));
    OK(cnMemcpyHtoD(a, values, BYTES));
    void *params[] = {&b, &a, &a, &n};
    OK(cnPlaceNotifier(start, queue));
    OK(cnInvokeKernel(kernel, 8, 1, 1, CN_KERNEL_CLASS_UNION2, 0, queue, params, NULL));
    OK(cnPlaceNotifier(end, queue));
    OK(cnQueueSync(queue));
    OK(cnNotifierElapsedExecTime(start, end, &ms));
    CU_ASSERT(ms > 0);
    OK(cnMemcpyDtoDAsync(a, b, BYTES, queue));
    OK(cnQueueSync(queue));
    OK(cnMemcpyDtoH(values, a, BYTES));
    CU_ASSERT_EQUAL(values[COUNT - 1], 2.0F * (COUNT - 1));
    // A kernel's handle does for cnrt.h too.
    const cnrtDim3_t dim = {4, 1, 1};
    OK(cnrtInvokeKernel(kernel, dim, cnrtFuncTypeUnion1, params, 0, queue));
    OK(cnQueueSync(queue));
    EXPECT(cnInvokeKernel(kernel, 6, 1, 1, CN_KERNEL_CLASS_UNION, 0, queue, params, NULL),
           CN_ERROR_INVALID_VALUE);
    OK(cnModuleUnload(module));
    EXPECT(cnInvokeKernel(kernel, 8, 1, 1, CN_KERNEL_CLASS_BLOCK, 0, queue, params, NULL),
           CN_ERROR_INVALID_HANDLE);
    EXPECT(cnModuleLoadFatBinary("no ELF file, but long enough for the head of one, which has 64 "
                                 "bytes in all",
                                 &module),
           CN_ERROR_INVALID_KERNEL);
    OK(cnFree(a));
    OK(cnFree(b));
    OK(cnDestroyNotifier(start));
    OK(cnDestroyNotifier(end));
    OK(cnDestroyQueue(queue));
    OK(cnSharedContextRelease(device));
}

static void contexts_are_made_and_ended(void)
{
    CNcontext own;
    CNdev device = 7;
    CNqueue queue;
    int tasks = 0;
    OK(cnCtxCreate(&own, 0, 0));
    OK(cnCtxGetDevice(&device));
    CU_ASSERT_EQUAL(device, 0);
    OK(cnGetCtxMaxParallelUnionTasks(own, CN_KERNEL_CLASS_UNION2, &tasks));
    CU_ASSERT_EQUAL(tasks, 4); // of 8 clusters
    OK(cnCreateQueueWithPriority(&queue, 0, 0));
    CNcontext of_queue = NULL;
    OK(cnQueueGetContext(queue, &of_queue));
    CU_ASSERT_PTR_EQUAL(of_queue, own);
    EXPECT(cnQueueGetContext(queue, NULL), CN_ERROR_INVALID_VALUE);
    OK(cnCtxSync());
    OK(cnCtxDestroy(own));
    EXPECT(cnCtxSetCurrent(own), cnrtErrorNoCnrtContext);
    EXPECT(cnQueueSync(queue), CN_ERROR_INVALID_HANDLE);
    EXPECT(cnCtxCreate(&own, 0, 5), CN_ERROR_INVALID_DEVICE);
    const char *text = NULL;
    OK(cnGetErrorString(CN_ERROR_INVALID_DEVICE, &text));
    CU_ASSERT_PTR_NOT_NULL(text);
}

// What libraries of operators ask before they choose how a kernel is cut.
static void a_context_tells_its_clusters(void)
{
    CNcontext context;
    CNctxConfigParam param = {0};
    char uuid[40] = "";
    OK(cnSharedContextAcquire(&context, 0));
    OK(cnGetCtxConfigParam(context, CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM, &param));
    CU_ASSERT_EQUAL(param.visibleClusterNumber, 8);
    EXPECT(cnSetCtxConfigParam(context, CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM, &param),
           CN_ERROR_INVALID_VALUE);
    OK(cnGetCtxConfigParam(context, CN_CTX_CONFIG_UNION_LIMIT, &param));
    CU_ASSERT_EQUAL(param.unionLimit, CN_KERNEL_CLASS_UNION8);
    OK(cnSetCtxConfigParam(context, CN_CTX_CONFIG_UNION_LIMIT, &param));
    param.unionLimit = CN_KERNEL_CLASS_UNION;
    EXPECT(cnSetCtxConfigParam(context, CN_CTX_CONFIG_UNION_LIMIT, &param), CN_ERROR_NOT_SUPPORTED);
    OK(cnGetCtxConfigParam(context, CN_CTX_CONFIG_VISIBLE_CLUSTER, &param));
    CU_ASSERT_EQUAL(param.visibleCluster, 0xff);
    param.visibleCluster = 1;
    EXPECT(cnSetCtxConfigParam(context, CN_CTX_CONFIG_VISIBLE_CLUSTER, &param),
           CN_ERROR_NOT_SUPPORTED);
    EXPECT(cnGetCtxConfigParam(context, (CNctxConfigParamType)9, &param), CN_ERROR_INVALID_VALUE);
    EXPECT(cnGetCtxConfigParam(context, CN_CTX_CONFIG_UNION_LIMIT, NULL), CN_ERROR_INVALID_VALUE);
    OK(cnDeviceGetUuidStr(uuid, sizeof(uuid), 0));
    CU_ASSERT_EQUAL(strlen(uuid), 36);
    EXPECT(cnDeviceGetUuidStr(uuid, 35, 0), CN_ERROR_INVALID_VALUE);
    EXPECT(cnDeviceGetUuidStr(uuid, sizeof(uuid), 9), CN_ERROR_INVALID_DEVICE);
    OK(cnSharedContextRelease(0));
}

static void cards_are_listed(void)
{
    cndevCardInfo_t cards = {.version = CNDEV_VERSION_5};
    cndevCardName_t name = {.version = CNDEV_VERSION_5};
    cndevDDRInfo_t memory = {.version = CNDEV_VERSION_5};
    cndevDeviceMaxPerformance_t performance = {.version = CNDEV_VERSION_5};
    cndevFrequencyInfo_t clocks = {.version = CNDEV_VERSION_5};
    cndevCardClusterCount_t clusters = {.version = CNDEV_VERSION_5};
    cndevCardCoreCount_t cores = {.version = 4};
    EXPECT(cndevGetDeviceCount(&cards), CNDEV_ERROR_UNINITIALIZED);
    OK(cndevInit(0));
    OK(cndevGetDeviceCount(&cards));
    CU_ASSERT_EQUAL(cards.number, 1);
    OK(cndevGetCardName(&name, 0));
    CU_ASSERT_EQUAL(name.id, MLU370);
    CU_ASSERT_STRING_EQUAL(cndevGetCardNameStringByDevId(0), "MLU370");
    CU_ASSERT_PTR_NULL(cndevGetCardNameStringByDevId(3));
    OK(cndevGetDDRInfo(&memory, 0));
    CU_ASSERT(memory.dataWidth == 384 && memory.bandWidth == 307 && memory.bandWidthDecimal == 20);
    OK(cndevGetDeviceMaxPerformance(&performance, 0));
    CU_ASSERT_EQUAL(performance.fp32Vector, 256); // 128 sums a cycle of a core
    OK(cndevGetFrequencyInfo(&clocks, 0));
    CU_ASSERT_EQUAL(clocks.boardFreq, 1000);
    OK(cndevGetClusterCount(&clusters, 0));
    CU_ASSERT_EQUAL(clusters.count, 8);
    EXPECT(cndevGetCoreCount(&cores, 0), CNDEV_ERROR_UNSUPPORTED_API_VERSION);
    cores.version = CNDEV_VERSION_5;
    EXPECT(cndevGetCoreCount(&cores, 4), CNDEV_ERROR_INVALID_DEVICE_ID);
    OK(cndevGetCoreCount(&cores, 0));
    CU_ASSERT_EQUAL(cores.count, 32);
    (void)cndevGetLastError();
    CU_ASSERT_EQUAL(cndevGetCoreCount(&cores, 4), CNDEV_ERROR_INVALID_DEVICE_ID);
    CU_ASSERT_EQUAL(cndevGetLastError(), CNDEV_ERROR_INVALID_DEVICE_ID);
    CU_ASSERT_EQUAL(cndevGetLastError(), CNDEV_SUCCESS);
    OK(cndevRelease());
}

static void a_card_is_found_by_its_uuid(void)
{
    char uuid[40];
    cndevDevice_t card = 7;
    unsigned long long linear = 0;
    int mapped = 7;
    OK(cnDeviceGetUuidStr(uuid, sizeof(uuid), 0));
    OK(cndevInit(0));
    OK(cndevGetDeviceHandleByUUID(uuid, &card));
    CU_ASSERT_EQUAL(card, 0);
    uuid[0] = 'z';
    EXPECT(cndevGetDeviceHandleByUUID(uuid, &card), CNDEV_ERROR_INVALID_DEVICE_ID);
    OK(cndevDeviceGetConfigs(&linear, CNDEV_DEVICE_CONFIGS_LINEAR_MEM, card));
    CU_ASSERT_EQUAL(linear, 1);
    OK(cndevRelease());
    OK(cnDeviceGetAttribute(&mapped, CN_DEVICE_ATTRIBUTE_LINEAR_MAPPING_SUPPORTED, 0));
    CU_ASSERT_EQUAL(mapped, 0);
}

static void what_tools_ask_for_is_answered(void)
{
    void *range = &range;
    EXPECT(cnrtProfilerStart(), cnrtErrorNotSupport);
    EXPECT(cnrtTaskTopoDebugDotPrint(NULL, "x.dot", 0), cnrtErrorNotSupport);
    CU_ASSERT(cnpxRangePush("step") == -1 && cnpxRangePop() == -1); // as without a tool
    CU_ASSERT(cnpxRangeStart("step", &range) == -1 && range == NULL);
}

static void the_shared_context_tells_whether_it_is_used(void)
{
    unsigned flags = 7;
    int state = 7;
    CNcontext context;
    OK(cnSharedContextAcquire(&context, 0));
    OK(cnSharedContextGetState(0, &flags, &state));
    CU_ASSERT(flags == 0 && state == CN_CONTEXT_STATE_ACTIVE);
    // Others acquired it too: each gives it back.
    for (int i = 0; i < 8 && state == CN_CONTEXT_STATE_ACTIVE; i++) {
        OK(cnSharedContextRelease(0));
        OK(cnSharedContextGetState(0, &flags, &state));
    }
    CU_ASSERT_EQUAL(state, CN_CONTEXT_STATE_INACTIVE);
    EXPECT(cnSharedContextGetState(0, NULL, &state), CN_ERROR_INVALID_VALUE);
}

static void addresses_and_memory_come_apart(void)
{
    CNmemGenericAllocationHandle memory;
    CNmemAllocationProp prop = {.location = {CN_MEM_LOCATION_TYPE_DEVICE, 0}};
    CNmemAccessDesc access = {prop.location, CN_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CNaddr addr;
    size_t granule;
    int is_linear = 7;
    float back[4];
    OK(cnrtSetDevice(0));
    OK(cnMemGetAllocationGranularity(&granule, &prop, CN_MEM_ALLOC_GRANULARITY_MINIMUM));
    OK(cnMemAddressReserve(&addr, 2 * granule, 0, 0, 0));
    OK(cnMemCreate(&memory, granule, &prop, 0));
    OK(cnMemMap(addr + granule, granule, 0, memory, 0));
    OK(cnMemSetAccess(addr + granule, granule, &access, 1));
    access.accessFlags = CN_MEM_ACCESS_FLAGS_PROT_READONLY;
    EXPECT(cnMemSetAccess(addr + granule, granule, &access, 1), CN_ERROR_NOT_SUPPORTED);
    EXPECT(cnMemMap(addr, granule, 64, memory, 0), CN_ERROR_INVALID_VALUE);
    OK(cnMemcpyHtoD(addr + granule, values, sizeof(back)));
    OK(cnMemcpyDtoH(back, addr + granule, sizeof(back)));
    CU_ASSERT_EQUAL(memcmp(back, values, sizeof(back)), 0);
    OK(cnGetMemAttribute(&is_linear, CN_MEM_ATTRIBUTE_ISLINEAR, addr + granule));
    CU_ASSERT_EQUAL(is_linear, 0);
    EXPECT(cnGetMemAttribute(&is_linear, CN_MEM_ATTRIBUTE_ISLINEAR, (uintptr_t)back),
           CN_ERROR_INVALID_VALUE);
    OK(cnMemUnmap(addr + granule, granule));
    OK(cnMemRelease(memory));
    OK(cnMemAddressFree(addr, 2 * granule));
    prop.requestedHandleTypes = (CNmemAllocationHandleType)1;
    EXPECT(cnMemCreate(&memory, granule, &prop, 0), CN_ERROR_NOT_SUPPORTED);
}

static const struct leo_test tests[] = {
    {"a_module_is_loaded_and_launched", a_module_is_loaded_and_launched},
    {"contexts_are_made_and_ended", contexts_are_made_and_ended},
    {"a_context_tells_its_clusters", a_context_tells_its_clusters},
    {"cards_are_listed", cards_are_listed},
    {"a_card_is_found_by_its_uuid", a_card_is_found_by_its_uuid},
    {"what_tools_ask_for_is_answered", what_tools_ask_for_is_answered},
    {"the_shared_context_tells_whether_it_is_used", the_shared_context_tells_whether_it_is_used},
    {"addresses_and_memory_come_apart", addresses_and_memory_come_apart},
};

int main(int argc, char **argv)
{
    return leo_test_main("cndrv", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
