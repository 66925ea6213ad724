/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"
#include "null_device.h"

#include <leo/alloc.h>
#include <leo/regs.h>
#include <string.h>

static void create_reads_what_the_device_is(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(true, &transport);
    struct leo_caps caps;
    leo_drv_device_get_caps(device, &caps);
    CU_ASSERT_STRING_EQUAL(caps.soc_name, "null");
    CU_ASSERT_EQUAL(caps.arch, 1001);
    CU_ASSERT_EQUAL(caps.hbm_base, 0x100000000);
    CU_ASSERT_EQUAL(caps.ub_bytes, 262144);
    leo_drv_device_destroy(device);
    leo_drv_device_destroy(NULL);
}

static void create_refuses_a_device_it_does_not_know(void)
{
    const struct leo_drv_null_opts opts = {.size = sizeof(opts)};
    const uint32_t offsets[] = {LEO_REG_ID, LEO_REG_CAP_QUEUES, LEO_REG_CAP_QUEUE_DEPTH,
                                LEO_REG_HBM_BYTES};
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        struct leo_transport *transport;
        struct leo_drv_device *device;
        OK(leo_drv_transport_null_open(&opts, &transport));
        OK(transport->ops->reg_write(transport, offsets[i], 4, 0));
        CU_ASSERT_EQUAL(leo_drv_device_create(transport, &device), LEO_ERR_UNSUPPORTED);
        CU_ASSERT_PTR_NULL(device);
    }
}

static void create_survives_every_failing_call(void)
{
    int failures = 0;
    for (int n = 1;; n++) {
        const struct leo_drv_null_opts opts = {.size = sizeof(opts), .fail_after = n};
        struct leo_transport *transport;
        struct leo_drv_device *device;
        OK(leo_drv_transport_null_open(&opts, &transport));
        leo_status status = leo_drv_device_create(transport, &device);
        if (!status) {
            leo_drv_device_destroy(device);
            break;
        }
        CU_ASSERT_EQUAL(status, LEO_ERR_IO);
        failures++;
    }
    CU_ASSERT(failures > 25);
}

static void create_survives_every_failing_allocation(void)
{
    int failures = 0;
    for (int n = 1;; n++) {
        const struct leo_drv_null_opts opts = {.size = sizeof(opts)};
        struct leo_transport *transport;
        struct leo_drv_device *device = NULL;
        leo_alloc_fail_after(n);
        leo_status status = leo_drv_transport_null_open(&opts, &transport);
        if (!status) {
            status = leo_drv_device_create(transport, &device);
        }
        leo_alloc_fail_after(0);
        if (!status) {
            leo_drv_device_destroy(device);
            break;
        }
        CU_ASSERT_EQUAL(status, LEO_ERR_NO_MEMORY);
        failures++;
    }
    CU_ASSERT_EQUAL(failures, 6);
}

static void reset_loses_memory_and_queues_but_not_handles(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(true, &transport);
    struct seen seen = {0};
    struct leo_drv_queue *old, *queue;
    uint64_t addr, base, bytes;
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_NOP};
    OK(leo_drv_queue_create(device, 8, 0, see, &seen, &old));
    OK(leo_drv_memory_alloc(device, 100, false, &addr));
    OK(leo_drv_device_reset(device));
    CU_ASSERT_EQUAL(leo_drv_queue_submit(old, &entry, NULL), LEO_ERR_DEAD);
    CU_ASSERT_EQUAL(leo_drv_queue_poll(old, NULL), LEO_ERR_DEAD);
    CU_ASSERT_EQUAL(leo_drv_memory_find(device, addr, &base, &bytes), LEO_ERR_BAD_POINTER);
    OK(leo_drv_queue_create(device, 8, 0, see, &seen, &queue));
    OK(leo_drv_queue_submit(queue, &entry, NULL));
    OK(leo_drv_queue_wait(queue, 0));
    CU_ASSERT_EQUAL(seen.count, 1);
    leo_drv_queue_destroy(old);
    OK(leo_drv_queue_submit(queue, &entry, NULL));
    leo_drv_queue_destroy(queue);
    leo_drv_device_destroy(device);
}

static void reset_survives_every_failing_call(void)
{
    for (int n = 1;; n++) {
        struct leo_transport *transport;
        struct leo_drv_device *device = null_device(true, &transport);
        uint64_t addr;
        leo_drv_transport_null_fail_after(transport, n);
        leo_status status = leo_drv_device_reset(device);
        leo_drv_transport_null_fail_after(transport, 0);
        if (status) {
            CU_ASSERT_EQUAL(leo_drv_memory_alloc(device, 100, false, &addr), LEO_ERR_DEAD);
            OK(leo_drv_device_reset(device));
        }
        OK(leo_drv_memory_alloc(device, 100, false, &addr));
        leo_drv_device_destroy(device);
        if (!status) {
            CU_ASSERT(n > 5);
            break;
        }
    }
}

static void an_interrupt_another_thread_took_ends_a_wait(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(false, &transport);
    struct seen seen = {0};
    struct leo_drv_queue *queue;
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_NOP};
    OK(leo_drv_queue_create(device, 8, 0, see, &seen, &queue));
    uint64_t before = leo_drv_device_interrupts(device);
    OK(leo_drv_queue_submit(queue, &entry, NULL));
    leo_drv_transport_null_complete(transport, 1, 1, 0);
    OK(leo_drv_device_wait(device, before, 0)); // as the other thread
    OK(leo_drv_device_wait(device, before, 0)); // not lost for us
    CU_ASSERT_EQUAL(leo_drv_device_wait(device, leo_drv_device_interrupts(device), 0),
                    LEO_ERR_NOT_READY);
    leo_drv_queue_destroy(queue);
    leo_drv_device_destroy(device);
}

struct trace {
    unsigned reads, writes;
};

static void count_access(void *user, bool write, uint32_t offset, uint64_t value, leo_status status)
{
    struct trace *trace = user;
    (void)offset;
    (void)value;
    (void)status;
    trace->writes += write;
    trace->reads += !write;
}

static void a_submission_costs_three_register_writes_and_no_read(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(false, &transport);
    struct seen seen = {0};
    struct trace trace = {0};
    struct leo_drv_queue *queue;
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_NOP};
    OK(leo_drv_queue_create(device, 8, 0, see, &seen, &queue));
    device->mmio.trace = count_access;
    device->mmio.trace_user = &trace;
    OK(leo_drv_queue_submit(queue, &entry, NULL));
    CU_ASSERT_EQUAL(leo_drv_transport_null_complete(transport, 1, 1, 0), 1);
    OK(leo_drv_device_wait(device, leo_drv_device_interrupts(device), 0));
    OK(leo_drv_queue_poll(queue, NULL));
    CU_ASSERT_EQUAL(seen.count, 1);
    CU_ASSERT_EQUAL(trace.reads, 0);
    CU_ASSERT_EQUAL(trace.writes, 3);
    device->mmio.trace = NULL;
    leo_drv_queue_destroy(queue);
    leo_drv_device_destroy(device);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"create_reads_what_the_device_is", create_reads_what_the_device_is},
        {"create_refuses_a_device_it_does_not_know", create_refuses_a_device_it_does_not_know},
        {"create_survives_every_failing_call", create_survives_every_failing_call},
        {"create_survives_every_failing_allocation", create_survives_every_failing_allocation},
        {"reset_loses_memory_and_queues_but_not_handles",
         reset_loses_memory_and_queues_but_not_handles},
        {"reset_survives_every_failing_call", reset_survives_every_failing_call},
        {"an_interrupt_another_thread_took_ends_a_wait",
         an_interrupt_another_thread_took_ends_a_wait},
        {"a_submission_costs_three_register_writes_and_no_read",
         a_submission_costs_three_register_writes_and_no_read},
    };
    return leo_test_main("device", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
