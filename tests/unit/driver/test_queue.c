/* SPDX-License-Identifier: Apache-2.0 */
#include "null_device.h"

#include <leo/regs.h>
#include <string.h>

#include <leo/alloc.h>

static const struct leo_sqe nop = {.opcode = LEO_SQE_OP_NOP};

static void submit_fails_when_the_queue_is_full(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(false, &transport);
    struct seen seen = {0};
    struct leo_drv_queue *queue;
    struct leo_sqe entry = nop;
    OK(leo_drv_queue_create(device, 8, 0, see, &seen, &queue));
    for (int i = 0; i < 7; i++) {
        OK(leo_drv_queue_submit(queue, &entry, NULL));
    }
    CU_ASSERT_EQUAL(leo_drv_queue_submit(queue, &entry, NULL), LEO_ERR_FULL);
    CU_ASSERT_EQUAL(leo_drv_transport_null_complete(transport, 1, 1, 0), 1);
    CU_ASSERT_EQUAL(leo_drv_queue_submit(queue, &entry, NULL), LEO_ERR_FULL);
    OK(leo_drv_queue_poll(queue, NULL));
    OK(leo_drv_queue_submit(queue, &entry, NULL));
    leo_drv_queue_destroy(queue);
    leo_drv_device_destroy(device);
}

static void completions_come_in_order_over_many_turns(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(false, &transport);
    struct seen seen = {0};
    struct leo_drv_queue *queue;
    OK(leo_drv_queue_create(device, 16, 0, see, &seen, &queue));
    uint32_t ids[64];
    for (unsigned turn = 0; turn < 200; turn++) {
        unsigned count = 1 + turn % 15, taken;
        seen.count = 0;
        for (unsigned i = 0; i < count; i++) {
            struct leo_sqe entry = nop;
            OK(leo_drv_queue_submit(queue, &entry, &ids[i]));
        }
        CU_ASSERT_EQUAL(leo_drv_transport_null_complete(transport, 1, 100, 0), count);
        OK(leo_drv_queue_poll(queue, &taken));
        CU_ASSERT_EQUAL(taken, count);
        for (unsigned i = 0; i < count; i++) {
            CU_ASSERT_EQUAL(seen.cmd_id[i], ids[i]);
        }
    }
    leo_drv_queue_destroy(queue);
    leo_drv_device_destroy(device);
}

static void fault_comes_with_its_record(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(false, &transport);
    struct seen seen = {0};
    struct leo_drv_queue *queue;
    struct leo_sqe entry = nop;
    uint32_t cmd_id;
    OK(leo_drv_queue_create(device, 8, 0, see, &seen, &queue));
    for (int i = 0; i < 200; i++) {
        OK(leo_drv_queue_submit(queue, &entry, &cmd_id));
        CU_ASSERT_EQUAL(leo_drv_transport_null_complete(transport, 1, 1, LEO_FAULT_WATCHDOG), 1);
        OK(leo_drv_queue_poll(queue, NULL));
        CU_ASSERT_EQUAL(seen.last.status, LEO_FAULT_WATCHDOG);
        CU_ASSERT(seen.last.has_record);
        CU_ASSERT_EQUAL(seen.last.record.cmd_id, cmd_id);
    }
    leo_drv_queue_destroy(queue);
    leo_drv_device_destroy(device);
}

static void overwritten_fault_record_is_not_taken_for_another(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(false, &transport);
    struct seen seen = {0}, first = {0};
    struct leo_drv_queue *a, *b;
    struct leo_sqe entry = nop;
    OK(leo_drv_queue_create(device, 8, 0, see, &first, &a));
    OK(leo_drv_queue_create(device, 128, 0, see, &seen, &b));
    OK(leo_drv_queue_submit(a, &entry, NULL));
    leo_drv_transport_null_complete(transport, 1, 1, LEO_FAULT_WATCHDOG);
    for (int i = 0; i < 64; i++) {
        OK(leo_drv_queue_submit(b, &entry, NULL));
    }
    CU_ASSERT_EQUAL(leo_drv_transport_null_complete(transport, 2, 64, LEO_FAULT_WATCHDOG), 64);
    OK(leo_drv_queue_poll(a, NULL));
    CU_ASSERT_EQUAL(first.last.status, LEO_FAULT_WATCHDOG);
    CU_ASSERT(!first.last.has_record);
    leo_drv_queue_destroy(b);
    leo_drv_queue_destroy(a);
    leo_drv_device_destroy(device);
}

static void wait_says_when_nothing_can_come(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(false, &transport);
    struct seen seen = {0};
    struct leo_drv_queue *queue;
    struct leo_sqe entry = nop;
    OK(leo_drv_queue_create(device, 8, 0, see, &seen, &queue));
    leo_status status = leo_drv_queue_wait(queue, 0); // the interrupt of create_queue
    CU_ASSERT(status == LEO_OK || status == LEO_ERR_NOT_READY);
    OK(leo_drv_queue_submit(queue, &entry, NULL));
    CU_ASSERT_EQUAL(leo_drv_queue_wait(queue, 0), LEO_ERR_NOT_READY);
    leo_drv_transport_null_complete(transport, 1, 1, 0);
    OK(leo_drv_queue_wait(queue, 0));
    CU_ASSERT_EQUAL(seen.count, 1);
    leo_drv_queue_destroy(queue);
    leo_drv_device_destroy(device);
}

static void queue_numbers_are_used_again(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(true, &transport);
    struct seen seen = {0};
    struct leo_drv_queue *queues[16];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 15; i++) {
            OK(leo_drv_queue_create(device, 8, 0, see, &seen, &queues[i]));
        }
        CU_ASSERT_EQUAL(leo_drv_queue_create(device, 8, 0, see, &seen, &queues[15]), LEO_ERR_FULL);
        CU_ASSERT_PTR_NULL(queues[15]);
        for (int i = 0; i < 15; i++) {
            leo_drv_queue_destroy(queues[i]);
        }
    }
    CU_ASSERT_EQUAL(leo_drv_queue_create(device, 12, 0, see, &seen, &queues[0]),
                    LEO_ERR_INVALID_ARG);
    CU_ASSERT_EQUAL(leo_drv_queue_create(device, 2048, 0, see, &seen, &queues[0]),
                    LEO_ERR_INVALID_ARG);
    CU_ASSERT_EQUAL(leo_drv_queue_create(device, 8, 0, NULL, &seen, &queues[0]),
                    LEO_ERR_INVALID_ARG);
    leo_drv_device_destroy(device);
}

// Create, submit, wait, destroy; the n-th transport call or allocation fails.
static leo_status use_queue(struct leo_drv_device *device, struct seen *seen)
{
    struct leo_drv_queue *queue;
    struct leo_sqe entry = nop;
    leo_status status = leo_drv_queue_create(device, 8, 0, see, seen, &queue);
    if (status) {
        return status;
    }
    for (int i = 0; !status && i < 10; i++) {
        unsigned before = seen->count;
        status = leo_drv_queue_submit(queue, &entry, NULL);
        if (status) {
            // Nothing of it may reach the device: the next submission is the next completion.
            CU_ASSERT_EQUAL(leo_drv_queue_submit(queue, &entry, NULL), LEO_OK);
        }
        CU_ASSERT_EQUAL(leo_drv_queue_poll(queue, NULL), LEO_OK);
        CU_ASSERT_EQUAL(seen->count, before + 1);
        CU_ASSERT_EQUAL(seen->cmd_id[before % 64], entry.cmd_id);
    }
    leo_drv_queue_destroy(queue);
    return status;
}

static void queue_survives_every_failing_call(void)
{
    int failures = 0;
    for (int n = 1; n < 60; n++) {
        struct leo_transport *transport;
        struct leo_drv_device *device = null_device(true, &transport);
        struct seen seen = {0};
        leo_drv_transport_null_fail_after(transport, n);
        failures += use_queue(device, &seen) != LEO_OK;
        leo_drv_transport_null_fail_after(transport, 0);
        CU_ASSERT_EQUAL(use_queue(device, &seen), LEO_OK);
        leo_drv_device_destroy(device);
    }
    CU_ASSERT(failures >= 10);
}

static void queue_survives_every_failing_allocation(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(true, &transport);
    struct seen seen = {0};
    for (int n = 1; n <= 2; n++) {
        leo_alloc_fail_after(n);
        CU_ASSERT_EQUAL(use_queue(device, &seen), LEO_ERR_NO_MEMORY);
        leo_alloc_fail_after(0);
    }
    // A submission allocates nothing.
    leo_alloc_fail_after(3);
    CU_ASSERT_EQUAL(use_queue(device, &seen), LEO_OK);
    CU_ASSERT_EQUAL(leo_alloc_fail_pending(), 1);
    leo_alloc_fail_after(0);
    leo_drv_device_destroy(device);
}

/** A device that does not answer: doorbells of the admin queue are lost, waits end as they were
 * set. */
static struct {
    const struct leo_transport_ops *real;
    struct leo_transport_ops ops;
    bool loses;
    leo_status answer;
    uint64_t waited_ns;
    unsigned heads; /**< completions' heads it was told */
} stuck;

static leo_status stuck_write(struct leo_transport *transport, uint32_t offset, unsigned bytes,
                              uint64_t value)
{
    stuck.heads += offset >= LEO_DOORBELL_BASE &&
                   (offset - LEO_DOORBELL_BASE) % LEO_DOORBELL_STRIDE == LEO_DOORBELL_CQ_HEAD;
    return stuck.loses && offset == LEO_DOORBELL_BASE + LEO_DOORBELL_SQ_TAIL
               ? LEO_OK
               : stuck.real->reg_write(transport, offset, bytes, value);
}

static leo_status stuck_wait(struct leo_transport *transport, uint64_t timeout_ns)
{
    stuck.waited_ns += timeout_ns;
    return stuck.answer ? stuck.answer : stuck.real->irq_wait(transport, timeout_ns);
}

static struct leo_drv_device *stuck_device(void)
{
    struct leo_transport *transport;
    struct leo_drv_device *device = null_device(true, &transport);
    memset(&stuck, 0, sizeof(stuck));
    stuck.real = transport->ops;
    stuck.ops = *transport->ops;
    stuck.ops.reg_write = stuck_write;
    stuck.ops.irq_wait = stuck_wait;
    transport->ops = &stuck.ops;
    return device;
}

// Whether it was done or not nobody knows: nothing may be built on it.
static void a_lost_admin_command_ends_the_device(void)
{
    struct leo_drv_device *device = stuck_device();
    uint64_t addr;
    stuck.loses = true;
    stuck.answer = LEO_ERR_IO;
    CU_ASSERT_EQUAL(leo_drv_memory_alloc(device, 4096, false, &addr), LEO_ERR_IO);
    CU_ASSERT_TRUE(leo_drv_device_is_dead(device));
    leo_drv_device_destroy(device);
}

// Its doorbell may still be the device's: no other queue gets the number.
static void a_queue_the_device_keeps_keeps_its_number(void)
{
    struct leo_drv_device *device = stuck_device();
    struct leo_drv_queue *queue;
    struct seen seen = {0};
    OK(leo_drv_queue_create(device, 16, 0, see, &seen, &queue));
    uint32_t used = leo_drv_device_queues(device);
    stuck.loses = true;
    stuck.answer = LEO_ERR_IO;
    leo_drv_queue_destroy(queue);
    CU_ASSERT_EQUAL(leo_drv_device_queues(device), used);
    leo_drv_device_destroy(device);
}

static void a_wait_lasts_as_long_as_it_says(void)
{
    enum { TIMEOUT_NS = 95000000 };
    struct leo_drv_device *device = stuck_device();
    stuck.answer = LEO_ERR_TIMEOUT;
    CU_ASSERT_EQUAL(leo_drv_device_wait(device, leo_drv_device_interrupts(device), TIMEOUT_NS),
                    LEO_ERR_TIMEOUT);
    CU_ASSERT_EQUAL(stuck.waited_ns, TIMEOUT_NS);
    leo_drv_device_destroy(device);
}

// The device is told once what was taken, not at every look.
static void the_device_is_told_once_what_was_taken(void)
{
    struct leo_drv_device *device = stuck_device();
    struct leo_drv_queue *queue;
    struct seen seen = {0};
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_NOP};
    OK(leo_drv_queue_create(device, 16, 0, see, &seen, &queue));
    OK(leo_drv_queue_submit(queue, &entry, NULL));
    stuck.heads = 0;
    for (int i = 0; i < 3; i++) {
        OK(leo_drv_queue_poll(queue, NULL));
    }
    CU_ASSERT_EQUAL(seen.count, 1);
    CU_ASSERT_EQUAL(stuck.heads, 1);
    leo_drv_queue_destroy(queue);
    leo_drv_device_destroy(device);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"a_lost_admin_command_ends_the_device", a_lost_admin_command_ends_the_device},
        {"a_queue_the_device_keeps_keeps_its_number", a_queue_the_device_keeps_keeps_its_number},
        {"a_wait_lasts_as_long_as_it_says", a_wait_lasts_as_long_as_it_says},
        {"the_device_is_told_once_what_was_taken", the_device_is_told_once_what_was_taken},
        {"submit_fails_when_the_queue_is_full", submit_fails_when_the_queue_is_full},
        {"completions_come_in_order_over_many_turns", completions_come_in_order_over_many_turns},
        {"fault_comes_with_its_record", fault_comes_with_its_record},
        {"overwritten_fault_record_is_not_taken_for_another",
         overwritten_fault_record_is_not_taken_for_another},
        {"wait_says_when_nothing_can_come", wait_says_when_nothing_can_come},
        {"queue_numbers_are_used_again", queue_numbers_are_used_again},
        {"queue_survives_every_failing_call", queue_survives_every_failing_call},
        {"queue_survives_every_failing_allocation", queue_survives_every_failing_allocation},
    };
    return leo_test_main("queue", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
