/* SPDX-License-Identifier: Apache-2.0 */
/* Streams over a device that completes only when told to. */
#include "null_runtime.h"

#include <leo/driver.h>
#include <leo/transport.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_QUEUE = 1, FIRST_QUEUE = 2 }; // the device's own stream comes first

static void synchronize_times_out_and_goes_on(void)
{
    struct null_runtime null;
    struct leo_rt_stream *stream;
    uint64_t addr;
    null_runtime_open(&null, false);
    OK(leo_rt_stream_create(null.device, &stream));
    OK(leo_rt_memory_alloc(null.device, 64, &addr));
    OK(leo_rt_memset_async(stream, addr, 0, 64));
    CU_ASSERT_EQUAL(leo_rt_stream_query(stream), LEO_ERR_NOT_READY);
    CU_ASSERT_EQUAL(leo_rt_stream_synchronize(stream, 0), LEO_ERR_TIMEOUT);
    CU_ASSERT_EQUAL(leo_rt_stream_synchronize(stream, -1), LEO_ERR_DEAD);
    CU_ASSERT_EQUAL(leo_drv_transport_null_complete(null.transport, FIRST_QUEUE, 1, 0), 1);
    OK(leo_rt_stream_synchronize(stream, 0));
    OK(leo_rt_stream_query(stream));
    null_runtime_close(&null);
}

static void clock_of_the_host_follows_what_it_waits_for(void)
{
    struct null_runtime null;
    struct leo_rt_stream *stream;
    struct leo_rt_event *event;
    uint64_t addr, ns;
    null_runtime_open(&null, false);
    OK(leo_rt_stream_create(null.device, &stream));
    OK(leo_rt_event_create(null.device, &event));
    OK(leo_rt_memory_alloc(null.device, 64, &addr));
    uint64_t before = leo_rt_device_host_time_ns(null.device);
    OK(leo_rt_memset_async(stream, addr, 0, 64));
    OK(leo_rt_event_record(event, stream));
    OK(leo_rt_memset_async(stream, addr, 0, 64));
    CU_ASSERT_EQUAL(leo_rt_event_query(event), LEO_ERR_NOT_READY);
    CU_ASSERT_EQUAL(leo_rt_device_host_time_ns(null.device), before);
    CU_ASSERT_EQUAL(leo_drv_transport_null_complete(null.transport, FIRST_QUEUE, 3, 0), 3);
    OK(leo_rt_event_synchronize(event, -1));
    OK(leo_rt_event_time_ns(event, &ns));
    CU_ASSERT_EQUAL(leo_rt_device_host_time_ns(null.device), ns);
    OK(leo_rt_stream_synchronize(stream, -1));
    CU_ASSERT_EQUAL(leo_rt_device_host_time_ns(null.device), ns + 1000);
    null_runtime_close(&null);
}

static void clock_of_the_host_never_goes_back(void)
{
    struct null_runtime null;
    struct leo_rt_stream *early, *late;
    uint64_t addr;
    null_runtime_open(&null, false);
    OK(leo_rt_stream_create(null.device, &early));
    OK(leo_rt_stream_create(null.device, &late));
    OK(leo_rt_memory_alloc(null.device, 64, &addr));
    OK(leo_rt_memset_async(early, addr, 0, 64));
    OK(leo_rt_memset_async(late, addr, 0, 64));
    leo_drv_transport_null_complete(null.transport, FIRST_QUEUE, 1, 0);
    leo_drv_transport_null_complete(null.transport, FIRST_QUEUE + 1, 1, 0);
    OK(leo_rt_stream_synchronize(late, -1));
    uint64_t ns = leo_rt_device_host_time_ns(null.device);
    OK(leo_rt_stream_synchronize(early, -1));
    CU_ASSERT_EQUAL(leo_rt_device_host_time_ns(null.device), ns);
    null_runtime_close(&null);
}

static void first_fault_is_reported_once(void)
{
    struct null_runtime null;
    struct leo_rt_stream *stream;
    uint64_t addr;
    null_runtime_open(&null, false);
    OK(leo_rt_stream_create(null.device, &stream));
    OK(leo_rt_memory_alloc(null.device, 64, &addr));
    for (int i = 0; i < 3; i++) {
        OK(leo_rt_memset_async(stream, addr, 0, 64));
    }
    leo_drv_transport_null_complete(null.transport, FIRST_QUEUE, 1, 0);
    leo_drv_transport_null_complete(null.transport, FIRST_QUEUE, 1, LEO_FAULT_BAD_ENTRY);
    leo_drv_transport_null_complete(null.transport, FIRST_QUEUE, 1, LEO_FAULT_WATCHDOG);
    CU_ASSERT_EQUAL(leo_rt_stream_synchronize(stream, -1), LEO_ERR_FAULT);
    CU_ASSERT_EQUAL(leo_rt_stream_last_fault(stream), LEO_FAULT_BAD_ENTRY);
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), "fill faulted"));
    OK(leo_rt_stream_synchronize(stream, -1));
    null_runtime_close(&null);
}

// Stands in for a device that goes on while it is waited for: entries of the copy queue end with
// these codes.
static struct {
    struct null_runtime *null;
    uint16_t fault[2];
    unsigned count; /**< 0: it stands still */
} while_waiting;

static leo_status complete_while_waiting(struct leo_transport *transport, uint64_t timeout_ns)
{
    (void)timeout_ns;
    for (unsigned i = 0; i < while_waiting.count; i++) {
        leo_drv_transport_null_complete(transport, COPY_QUEUE, 1, while_waiting.fault[i]);
    }
    return while_waiting.count ? LEO_OK : LEO_ERR_NOT_READY;
}

// A first copy is given up by its caller; then a second is waited for, and both end.
static leo_status copy_after_a_copy(uint16_t first_fault, uint16_t second_fault)
{
    struct null_runtime null;
    uint64_t addr;
    char data[64] = {0};
    null_runtime_open(&null, false);
    struct leo_transport_ops ops = *null.transport->ops;
    ops.irq_wait = complete_while_waiting;
    null.transport->ops = &ops;
    OK(leo_rt_memory_alloc(null.device, sizeof(data), &addr));
    while_waiting.count = 0;
    CU_ASSERT_EQUAL(leo_rt_memcpy(null.device, (void *)(uintptr_t)addr, data, sizeof(data)),
                    LEO_ERR_DEAD);
    while_waiting.fault[0] = first_fault;
    while_waiting.fault[1] = second_fault;
    while_waiting.count = 2;
    leo_status status = leo_rt_memcpy(null.device, (void *)(uintptr_t)addr, data, sizeof(data));
    null_runtime_close(&null);
    return status;
}

static void a_copy_answers_for_itself_alone(void)
{
    CU_ASSERT_EQUAL(copy_after_a_copy(0, 0), LEO_OK);
    CU_ASSERT_EQUAL(copy_after_a_copy(0, LEO_FAULT_DMA_OUT_OF_RANGE), LEO_ERR_FAULT);
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), "copy faulted"));
    CU_ASSERT_EQUAL(copy_after_a_copy(LEO_FAULT_DMA_OUT_OF_RANGE, 0), LEO_OK);
    CU_ASSERT_EQUAL(copy_after_a_copy(LEO_FAULT_WATCHDOG, LEO_FAULT_DMA_OUT_OF_RANGE),
                    LEO_ERR_FAULT);
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), leo_fault_text(LEO_FAULT_DMA_OUT_OF_RANGE)));
}

static void destroyed_event_slot_is_used_again_safely(void)
{
    struct null_runtime null;
    struct leo_rt_stream *stream;
    struct leo_rt_event *first, *second;
    null_runtime_open(&null, false);
    OK(leo_rt_stream_create(null.device, &stream));
    OK(leo_rt_event_create(null.device, &first));
    OK(leo_rt_event_record(first, stream));
    leo_rt_event_destroy(first);
    // The record of the first event is still under way when the second takes its place.
    OK(leo_rt_event_create(null.device, &second));
    OK(leo_rt_event_query(second));
    OK(leo_rt_event_record(second, stream));
    leo_drv_transport_null_complete(null.transport, FIRST_QUEUE, 1, 0);
    CU_ASSERT_EQUAL(leo_rt_event_query(second), LEO_ERR_NOT_READY);
    leo_drv_transport_null_complete(null.transport, FIRST_QUEUE, 1, 0);
    OK(leo_rt_event_query(second));
    null_runtime_close(&null);
}

static void event_recorded_twice_counts_the_later_record(void)
{
    struct null_runtime null;
    struct leo_rt_stream *slow, *fast;
    struct leo_rt_event *event;
    uint64_t ns;
    null_runtime_open(&null, false);
    OK(leo_rt_stream_create(null.device, &slow));
    OK(leo_rt_stream_create(null.device, &fast));
    OK(leo_rt_event_create(null.device, &event));
    OK(leo_rt_event_record(event, slow));
    OK(leo_rt_event_record(event, fast));
    leo_drv_transport_null_complete(null.transport, FIRST_QUEUE + 1, 1, 0);
    OK(leo_rt_event_time_ns(event, &ns));
    // The earlier record comes in last and must not take the event back.
    leo_drv_transport_null_complete(null.transport, FIRST_QUEUE, 1, 0);
    OK(leo_rt_device_synchronize(null.device));
    uint64_t again;
    OK(leo_rt_event_time_ns(event, &again));
    CU_ASSERT_EQUAL(again, ns);
    null_runtime_close(&null);
}

static void device_that_never_finishes_is_destroyed_without_leaks(void)
{
    struct null_runtime null;
    struct leo_rt_stream *stream;
    struct leo_rt_module *module;
    uint64_t addr;
    char host[100];
    null_runtime_open(&null, false);
    // The image goes through the device's own stream, which must complete for this.
    CU_ASSERT_EQUAL(leo_rt_module_load(null.device, runtime_kernels_elf, runtime_kernels_elf_bytes,
                                       "kernels", &module),
                    LEO_ERR_DEAD);
    CU_ASSERT_PTR_NULL(module);
    OK(leo_rt_stream_create(null.device, &stream));
    OK(leo_rt_memory_alloc(null.device, 100, &addr));
    memset(host, 0, sizeof(host));
    OK(leo_rt_memcpy_async(stream, (void *)(uintptr_t)addr, host, sizeof(host)));
    OK(leo_rt_memcpy_async(stream, host, (void *)(uintptr_t)addr, sizeof(host)));
    null_runtime_close(&null);
}

static void transport_without_mappings_copies_through_staging(void)
{
    struct null_runtime null = {
        .null = {.size = sizeof(null.null), .complete = true, .no_map = true}};
    struct leo_rt_stream *stream;
    uint64_t addr;
    size_t bytes = 1 << 20;
    char *host = malloc(bytes);
    memset(host, 0, bytes);
    OK(null_runtime_try(&null));
    OK(leo_rt_stream_create(null.device, &stream));
    OK(leo_rt_memory_alloc(null.device, bytes, &addr));
    OK(leo_rt_memcpy(null.device, (void *)(uintptr_t)addr, host, bytes));
    OK(leo_rt_memcpy(null.device, host, (void *)(uintptr_t)addr, bytes));
    OK(leo_rt_memcpy_async(stream, host, (void *)(uintptr_t)addr, bytes));
    OK(leo_rt_stream_query(stream));
    null_runtime_close(&null);
    free(host);
}

/** Memory that both sides can use, as a transport gives it. */
static struct {
    const struct leo_transport_ops *real;
    size_t bytes;
} given;

static leo_status count_alloc(struct leo_transport *transport, size_t bytes, void **ptr,
                              uint64_t *addr)
{
    given.bytes += bytes;
    return given.real->dma_alloc(transport, bytes, ptr, addr);
}

enum { MIB = 1 << 20 }; // each piece has so much

static void count_free(struct leo_transport *transport, void *ptr, uint64_t addr)
{
    given.bytes -= MIB;
    given.real->dma_free(transport, ptr, addr);
}

// What many copies at one time needed is not kept for ever.
static void staging_memory_is_given_back(void)
{
    enum { COPIES = 100, MAX_KEPT = 64 * MIB };
    struct null_runtime null = {.null = {.size = sizeof(null.null), .no_map = true}};
    struct leo_rt_stream *stream;
    uint64_t addr;
    char *host = calloc(1, MIB);
    OK(null_runtime_try(&null));
    OK(leo_rt_stream_create(null.device, &stream));
    OK(leo_rt_memory_alloc(null.device, MIB, &addr));
    struct leo_transport_ops ops = *null.transport->ops;
    given.real = null.transport->ops;
    given.bytes = 0;
    ops.dma_alloc = count_alloc;
    ops.dma_free = count_free;
    null.transport->ops = &ops;
    for (int i = 0; i < COPIES; i++) {
        OK(leo_rt_memcpy_async(stream, (void *)(uintptr_t)addr, host, MIB));
    }
    CU_ASSERT_EQUAL(given.bytes, (size_t)COPIES * MIB);
    leo_drv_transport_null_complete(null.transport, FIRST_QUEUE, COPIES, 0);
    OK(leo_rt_stream_query(stream));
    CU_ASSERT_EQUAL(given.bytes, MAX_KEPT);
    null.transport->ops = given.real;
    null_runtime_close(&null);
    free(host);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"synchronize_times_out_and_goes_on", synchronize_times_out_and_goes_on},
        {"clock_of_the_host_follows_what_it_waits_for",
         clock_of_the_host_follows_what_it_waits_for},
        {"clock_of_the_host_never_goes_back", clock_of_the_host_never_goes_back},
        {"first_fault_is_reported_once", first_fault_is_reported_once},
        {"a_copy_answers_for_itself_alone", a_copy_answers_for_itself_alone},
        {"destroyed_event_slot_is_used_again_safely", destroyed_event_slot_is_used_again_safely},
        {"event_recorded_twice_counts_the_later_record",
         event_recorded_twice_counts_the_later_record},
        {"device_that_never_finishes_is_destroyed_without_leaks",
         device_that_never_finishes_is_destroyed_without_leaks},
        {"transport_without_mappings_copies_through_staging",
         transport_without_mappings_copies_through_staging},
        {"staging_memory_is_given_back", staging_memory_is_given_back},
    };
    return leo_test_main("streams", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
