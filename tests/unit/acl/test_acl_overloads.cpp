// SPDX-License-Identifier: Apache-2.0
// The C++ overloads of acl_rt_api.h do what the C calls do.
#include <acl/acl.h>
#include <acl/acl_rt_api.h>

#include <cstdio>
#include <cstring>
#include <vector>

static int failures;

static void expect(bool good, const char *what, int line)
{
    if (!good) {
        std::printf("line %d: %s\n", line, what);
        failures++;
    }
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)
#define OK(call)          expect((call) == ACL_SUCCESS, #call, __LINE__)

int main()
{
    constexpr size_t COUNT = 1000, BYTES = COUNT * sizeof(float);
    std::vector<float> values(COUNT), back(COUNT);
    float *device = nullptr, *other = nullptr, *pinned = nullptr, *reached = nullptr;
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    aclrtPtrAttributes attributes = {};
    uint32_t priority = 0;
    uint64_t actual = 0;
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = static_cast<float>(i);
    }
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream, 3, ACL_STREAM_FAST_LAUNCH));
    OK(aclrtStreamGetPriority(stream, &priority));
    EXPECT(priority == 3);
    OK(aclrtCreateEvent(&event, ACL_EVENT_SYNC));
    OK(aclrtMalloc(&device, BYTES));
    OK(aclrtMalloc(&other, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMallocHost(&pinned, BYTES));
    OK(aclrtMemcpy(device, BYTES, values.data(), BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpyAsync(other, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtStreamWaitEvent(stream, event, 0));
    OK(aclrtMemcpyAsync(pinned, BYTES, other, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtSynchronizeEvent(event, 10000));
    OK(aclrtSynchronizeStream(stream, 10000));
    OK(aclrtSynchronizeDevice(10000));
    EXPECT(std::memcmp(pinned, values.data(), BYTES) == 0);
    OK(aclrtMemcpy2d(other, 80, values.data(), 40, 40, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(back.data(), BYTES, other, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(back[20] == values[10] && back[10] == values[10]);
    OK(aclrtPointerGetAttributes(device, &attributes));
    EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE);
    OK(aclrtHostRegister(values.data(), BYTES, ACL_HOST_REGISTER_MAPPED, &reached));
    OK(aclrtHostUnregister(values.data()));
    OK(aclrtSetOpExecuteTimeOut(2000000, &actual));
    EXPECT(actual >= 2000000);
    EXPECT(aclrtSynchronizeStream(stream, -7) != ACL_SUCCESS);
    OK(aclrtFree(device));
    OK(aclrtFree(other));
    OK(aclrtFreeHost(pinned));
    OK(aclrtDestroyEvent(event));
    OK(aclrtDestroyStream(stream));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return failures != 0;
}
