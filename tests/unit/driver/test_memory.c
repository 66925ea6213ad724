/* SPDX-License-Identifier: Apache-2.0 */
#include "null_device.h"

#include <leo/alloc.h>
#include <leo/soc.h>

static void allocations_are_found_by_any_of_their_addresses(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(true, &transport);
    uint64_t addr, base, bytes;
    OK(leo_drv_memory_alloc(device, 1000, false, &addr));
    OK(leo_drv_memory_find(device, addr + 999, &base, &bytes));
    CU_ASSERT_EQUAL(base, addr);
    CU_ASSERT_EQUAL(bytes, 1000);
    CU_ASSERT_EQUAL(leo_drv_memory_find(device, addr + 1000, &base, &bytes), LEO_ERR_BAD_POINTER);
    CU_ASSERT_EQUAL(leo_drv_memory_find(device, 0, &base, &bytes), LEO_ERR_BAD_POINTER);
    leo_drv_device_destroy(device);
}

static void nearest_allocation_is_on_either_side(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(true, &transport);
    uint64_t a, gone, b, base, bytes;
    CU_ASSERT_EQUAL(leo_drv_memory_nearest(device, 0x100000000, &base, &bytes), LEO_ERR_NOT_FOUND);
    OK(leo_drv_memory_alloc(device, 1000, false, &a));
    OK(leo_drv_memory_alloc(device, 10000, false, &gone));
    OK(leo_drv_memory_alloc(device, 2000, false, &b));
    OK(leo_drv_memory_free(device, gone));
    const struct {
        uint64_t addr, base;
    } cases[] = {{0, a}, {a, a}, {a + 1001, a}, {b - 8, b}, {b + 1999, b}, {UINT64_MAX, b}};
    for (int i = 0; i < 6; i++) {
        OK(leo_drv_memory_nearest(device, cases[i].addr, &base, &bytes));
        CU_ASSERT_EQUAL(base, cases[i].base);
    }
    leo_drv_device_destroy(device);
}

static void free_wants_the_first_address_once(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(true, &transport);
    uint64_t addr, left, total;
    OK(leo_drv_memory_alloc(device, 1000, false, &addr));
    CU_ASSERT_EQUAL(leo_drv_memory_free(device, addr + 512), LEO_ERR_BAD_POINTER);
    OK(leo_drv_memory_free(device, addr));
    CU_ASSERT_EQUAL(leo_drv_memory_free(device, addr), LEO_ERR_BAD_POINTER);
    leo_drv_memory_info(device, &left, &total);
    CU_ASSERT_EQUAL(left, total);
    leo_drv_device_destroy(device);
}

static void failing_calls_leave_memory_as_it_was(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(true, &transport);
    uint64_t addr, base, bytes, left, total;
    OK(leo_drv_memory_alloc(device, 1000, false, &base));
    leo_drv_transport_null_fail_after(transport, 1);
    CU_ASSERT_EQUAL(leo_drv_memory_alloc(device, 1000, false, &addr), LEO_ERR_IO);
    leo_drv_transport_null_fail_after(transport, 1);
    CU_ASSERT_EQUAL(leo_drv_memory_free(device, base), LEO_ERR_IO);
    OK(leo_drv_memory_find(device, base, &base, &bytes));
    for (int n = 1; n <= 1; n++) {
        leo_alloc_fail_after(n);
        CU_ASSERT_EQUAL(leo_drv_memory_alloc(device, 1000, false, &addr), LEO_ERR_NO_MEMORY);
        leo_alloc_fail_after(0);
    }
    OK(leo_drv_memory_free(device, base));
    leo_drv_memory_info(device, &left, &total);
    CU_ASSERT_EQUAL(left, total);
    leo_drv_device_destroy(device);
}

static void profile_starts_once_and_survives_failures(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(true, &transport);
    const struct leo_task_record *tasks;
    const struct leo_trace_record *traces;
    uint64_t task_count, trace_count;
    CU_ASSERT_EQUAL(leo_drv_profile_get(device, &tasks, &task_count, &traces, &trace_count),
                    LEO_ERR_STATE);
    CU_ASSERT_EQUAL(leo_drv_profile_start(device, 0, 0), LEO_ERR_INVALID_ARG);
    for (int n = 1; n <= 2; n++) {
        leo_drv_transport_null_fail_after(transport, n);
        CU_ASSERT_EQUAL(leo_drv_profile_start(device, 4, 4), LEO_ERR_IO);
        leo_drv_transport_null_fail_after(transport, 0);
    }
    OK(leo_drv_profile_start(device, 4, 4));
    CU_ASSERT_EQUAL(leo_drv_profile_start(device, 4, 4), LEO_ERR_STATE);
    OK(leo_drv_profile_get(device, &tasks, &task_count, &traces, &trace_count));
    CU_ASSERT_EQUAL(task_count + trace_count, 0);
    leo_drv_transport_null_fail_after(transport, 1);
    CU_ASSERT_EQUAL(leo_drv_profile_stop(device), LEO_ERR_IO);
    OK(leo_drv_profile_get(device, &tasks, &task_count, &traces, &trace_count));
    OK(leo_drv_profile_stop(device));
    OK(leo_drv_profile_stop(device));
    OK(leo_drv_profile_start(device, 4, 0));
    leo_drv_device_destroy(device);
}

// An overrun of one range of host memory reaches no other.
static void ranges_of_host_memory_lie_apart(void)
{
    enum { BYTES = 8192, GUARD = 4096 };
    struct leo_transport *transport;
    char error[256];
    const struct leo_drv_sim_opts opts = {.size = sizeof(opts),
                                          .soc_text = leo_isa_soc_text("ascend910a"),
                                          .soc_text_name = "ascend910a",
                                          .host_threads = 1};
    struct leo_drv_device *device;
    void *host[2];
    uint64_t addr[2];
    OK(leo_drv_transport_sim_open(&opts, &transport, error, sizeof(error)));
    OK(leo_drv_device_create(transport, &device));
    for (int i = 0; i < 2; i++) {
        OK(leo_drv_dma_alloc(device, BYTES, &host[i], &addr[i]));
    }
    CU_ASSERT(addr[1] >= addr[0] + BYTES + GUARD);
    for (int i = 0; i < 2; i++) {
        leo_drv_dma_free(device, host[i], addr[i]);
    }
    leo_drv_device_destroy(device);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"allocations_are_found_by_any_of_their_addresses",
         allocations_are_found_by_any_of_their_addresses},
        {"nearest_allocation_is_on_either_side", nearest_allocation_is_on_either_side},
        {"free_wants_the_first_address_once", free_wants_the_first_address_once},
        {"failing_calls_leave_memory_as_it_was", failing_calls_leave_memory_as_it_was},
        {"ranges_of_host_memory_lie_apart", ranges_of_host_memory_lie_apart},
        {"profile_starts_once_and_survives_failures", profile_starts_once_and_survives_failures},
    };
    return leo_test_main("memory", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
