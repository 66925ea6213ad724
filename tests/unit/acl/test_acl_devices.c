/* SPDX-License-Identifier: Apache-2.0 */
/* Several chips in one process: addresses, whose memory a pointer is, peers. */
#include "test_acl_common.h"

#include "harness.h"
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BYTES = 1 << 20 };

static void begin(void)
{
    setenv("LEO_SOC", "ascend910a", 1);
    setenv("LEO_DEVICES", "2", 1);
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(1));
}

static void end(void)
{
    OK(aclrtResetDevice(1));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
}

// One allocation on each device, the first ones: equal if the devices shared their addresses.
static void allocate(void *block[2])
{
    for (int device = 0; device < 2; device++) {
        OK(aclrtSetDevice(device));
        OK(aclrtMalloc(&block[device], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtResetDevice(device)); // the count only
    }
}

static void addresses_are_unique(void)
{
    void *block[2];
    aclrtPtrAttributes attributes;
    begin();
    allocate(block);
    CU_ASSERT_PTR_NOT_EQUAL(block[0], block[1]);
    for (unsigned device = 0; device < 2; device++) {
        OK(aclrtPointerGetAttributes((char *)block[device] + 5, &attributes));
        CU_ASSERT_EQUAL(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
        CU_ASSERT_EQUAL(attributes.location.id, device);
    }
    // Freed from the other device: the right block goes.
    OK(aclrtSetDevice(1));
    OK(aclrtFree(block[0]));
    EXPECT(aclrtFree(block[0]), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFree(block[1]));
    OK(aclrtResetDevice(1));
    end();
}

static void host_memory_never_lies_there(void)
{
    void *block[2];
    begin();
    allocate(block);
    void *got = NULL;
    for (int device = 0; device < 2; device++) {
        void *page = (void *)((uintptr_t)block[device] & ~(uintptr_t)4095);
        if (got) {
            munmap(got, 4096);
        }
        got = mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CU_ASSERT_PTR_NOT_EQUAL(got, MAP_FAILED);
        CU_ASSERT_PTR_NOT_EQUAL(got, page);
    }
    aclrtPtrAttributes attributes;
    int local = 0;
    OK(aclrtPointerGetAttributes(got, &attributes));
    CU_ASSERT_EQUAL(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    OK(aclrtPointerGetAttributes(&local, &attributes));
    CU_ASSERT_EQUAL(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    munmap(got, 4096);
    OK(aclrtFree(block[0]));
    OK(aclrtFree(block[1]));
    end();
}

static void fill(unsigned char *bytes, unsigned seed)
{
    for (int i = 0; i < BYTES; i++) {
        bytes[i] = (unsigned char)(i * 7 + i / 256 + (int)seed);
    }
}

static void copies_between_devices(void)
{
    void *block[2];
    aclrtStream stream;
    int32_t can = 9;
    unsigned char *out = malloc(BYTES), *back = malloc(BYTES);
    begin();
    allocate(block);
    OK(aclrtSetDevice(0));
    OK(aclrtDeviceCanAccessPeer(&can, 0, 1));
    CU_ASSERT_EQUAL(can, 1);
    OK(aclrtDeviceCanAccessPeer(&can, 1, 1));
    CU_ASSERT_EQUAL(can, 0);
    fill(out, 3);
    OK(aclrtMemcpy(block[0], BYTES, out, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(aclrtMemcpy(block[1], BYTES, block[0], BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDeviceEnablePeerAccess(1, 1), ACL_ERROR_FEATURE_UNSUPPORTED);
    EXPECT(aclrtDeviceEnablePeerAccess(0, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDeviceEnablePeerAccess(2, 0), ACL_ERROR_RT_INVALID_DEVICEID);
    OK(aclrtDeviceEnablePeerAccess(1, 0));
    OK(aclrtMemcpy(block[1], BYTES, block[0], BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE));
    // Device 1's memory while device 0 is current.
    memset(back, 0, BYTES);
    OK(aclrtMemcpy(back, BYTES, block[1], BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT_EQUAL(memcmp(back, out, BYTES), 0);

    // The other way, in a stream of device 1.
    OK(aclrtSetDevice(1));
    OK(aclrtCreateStream(&stream));
    fill(out, 11);
    OK(aclrtMemcpy(block[1], BYTES, out, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpyAsync(block[0], BYTES, block[1], BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(back, BYTES, block[0], BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    CU_ASSERT_EQUAL(memcmp(back, out, BYTES), 0);
    EXPECT(aclrtMemcpyAsync((char *)block[0] + 64, BYTES, block[1], BYTES,
                            ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
           ACL_ERROR_RT_PARAM_INVALID); // past the end of the other device's block
    OK(aclrtDestroyStream(stream));
    OK(aclrtResetDevice(1));
    OK(aclrtSetDevice(0));
    OK(aclrtDeviceDisablePeerAccess(1));
    EXPECT(aclrtMemcpy(block[1], BYTES, block[0], BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFree(block[0]));
    OK(aclrtFree(block[1]));
    OK(aclrtResetDevice(0));
    OK(aclrtResetDevice(0));
    end();
    free(out);
    free(back);
}

// A stream of device 0 cannot use pointers of device 1 in a kernel or a fill.
static void other_devices_memory_is_refused(void)
{
    void *block[2];
    begin();
    allocate(block);
    OK(aclrtSetDevice(0));
    EXPECT(aclrtMemsetAsync(block[1], BYTES, 1, BYTES, NULL), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMemset(block[0], BYTES, 1, BYTES));
    OK(aclrtFree(block[0]));
    OK(aclrtFree(block[1]));
    OK(aclrtResetDevice(0));
    end();
}

static sigjmp_buf after_signal;

static void on_signal(int number)
{
    (void)number;
    siglongjmp(after_signal, 1);
}

static void host_access_to_device_memory_ends_in_a_signal(void)
{
    void *block[2];
    begin();
    allocate(block);
    struct sigaction action = {.sa_handler = on_signal}, before;
    sigaction(SIGSEGV, &action, &before);
    volatile bool caught = false;
    if (sigsetjmp(after_signal, 1) == 0) {
        *(volatile char *)block[0] = 1;
    } else {
        caught = true;
    }
    sigaction(SIGSEGV, &before, NULL);
    CU_ASSERT_TRUE(caught);
    OK(aclrtFree(block[0]));
    OK(aclrtFree(block[1]));
    end();
}

static const struct leo_test tests[] = {
    {"addresses_are_unique", addresses_are_unique},
    {"host_memory_never_lies_there", host_memory_never_lies_there},
    {"copies_between_devices", copies_between_devices},
    {"other_devices_memory_is_refused", other_devices_memory_is_refused},
    {"host_access_to_device_memory_ends_in_a_signal",
     host_access_to_device_memory_ends_in_a_signal},
};

int main(int argc, char **argv)
{
    return leo_test_main("acl_devices", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
