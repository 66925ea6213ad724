/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <leo/alloc.h>
#include <leo/regs.h>
#include <leo/ring_math.h>
#include <leo/transport.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static uint32_t doorbell_sq(const struct leo_drv_queue *queue)
{
    return LEO_DOORBELL_BASE + queue->number * LEO_DOORBELL_STRIDE + LEO_DOORBELL_SQ_TAIL;
}

static uint32_t doorbell_cq(const struct leo_drv_queue *queue)
{
    return LEO_DOORBELL_BASE + queue->number * LEO_DOORBELL_STRIDE + LEO_DOORBELL_CQ_HEAD;
}

// Caller holds lock.
static leo_status submit_entry(struct leo_drv_queue *queue, struct leo_sqe *entry)
{
    struct leo_drv_device *device = queue->device;
    if (queue->lost || device->dead) {
        return LEO_ERR_DEAD;
    }
    if (drv_ring_is_full(&queue->ring)) {
        return LEO_ERR_FULL;
    }
    entry->cmd_id = device->next_cmd;
    drv_ring_write(&queue->ring, entry);
    // The device may read the entry as soon as the doorbell rings.
    atomic_thread_fence(memory_order_seq_cst);
    uint32_t tail = leo_ring_next(queue->ring.tail, queue->ring.depth);
    leo_status status = drv_mmio_write32(&device->mmio, doorbell_sq(queue), tail);
    if (status) {
        return status;
    }
    drv_ring_push(&queue->ring);
    device->next_cmd++;
    return LEO_OK;
}

// Findings follow each other in the ring, the first at fault_index - 1.
static void take_checks(const struct leo_drv_device *device, const struct leo_cqe *entry,
                        struct leo_drv_completion *done)
{
    unsigned count = 1;
    for (unsigned i = 0; i < count && i < LEO_DRV_CHECKS; i++) {
        struct leo_check_record *record = &done->check[i];
        memcpy(record, &device->faults[(entry->fault_index - 1 + i) % DRV_FAULT_DEPTH],
               sizeof(*record));
        if (record->cmd_id != entry->cmd_id) {
            return; // a later fault has taken its place
        }
        done->checks = i + 1;
        count = i + 1 + record->rest;
    }
}

/* isa/faults.csv. */
static bool has_check_records(uint32_t status)
{
    return status >= LEO_FAULT_HAZARD && status <= LEO_FAULT_CORE_DEADLOCK;
}

static void fill_completion(const struct leo_drv_device *device, const struct leo_cqe *entry,
                            struct leo_drv_completion *done)
{
    done->status = entry->status;
    done->start_ns = entry->start_ns;
    done->end_ns = entry->end_ns;
    done->has_record = false;
    done->checks = 0;
    if (entry->fault_index && has_check_records(entry->status)) {
        take_checks(device, entry, done);
    } else if (entry->fault_index) {
        const struct leo_fault_record *record =
            &device->faults[(entry->fault_index - 1) % DRV_FAULT_DEPTH];
        // A later fault may have taken the place in the ring.
        if (record->cmd_id == entry->cmd_id) {
            done->record = *record;
            done->has_record = true;
        }
    }
}

unsigned drv_queue_take(struct leo_drv_queue *queue)
{
    unsigned count = 0;
    struct leo_cqe entry;
    struct leo_drv_completion done;
    while (drv_ring_pop(&queue->ring, &entry)) {
        fill_completion(queue->device, &entry, &done);
        count++;
        queue->complete(queue->user, entry.cmd_id, &done);
    }
    if (queue->head_told != queue->ring.head && !queue->lost) {
        // If this fails it is reported at the next take: at most the device finds the ring full for
        // a while.
        if (!drv_mmio_write32(&queue->device->mmio, doorbell_cq(queue), queue->ring.head)) {
            queue->head_told = queue->ring.head;
        }
    }
    return count;
}

uint64_t leo_drv_device_interrupts(const struct leo_drv_device *device)
{
    return atomic_load(&device->interrupts);
}

// One turn of waiting. Interrupts another thread took in the meantime count: completions of ours
// may have come with them.
static leo_status wait_once(struct leo_drv_device *device, uint64_t seen, uint64_t timeout_ns,
                            uint64_t kernel_ns)
{
    struct leo_transport *transport = device->mmio.transport;
    leo_status status = LEO_OK;
    pthread_mutex_lock(&device->wait_lock);
    if (atomic_load(&device->interrupts) == seen) {
        status = kernel_ns != UINT64_MAX && transport->ops->irq_wait_within
                     ? transport->ops->irq_wait_within(transport, timeout_ns, kernel_ns)
                     : transport->ops->irq_wait(transport, timeout_ns);
        if (!status) {
            // Cleared before anyone looks at the rings, so that a later completion is not missed.
            status = drv_mmio_write32(&device->mmio, LEO_REG_IRQ_STATUS, 3);
            atomic_fetch_add(&device->interrupts, 1);
        }
    }
    pthread_mutex_unlock(&device->wait_lock);
    return status;
}

// Cores poll memory that only a task of the host can change: another thread may submit it.
static void nap(uint64_t ns)
{
    const struct timespec time = {.tv_nsec = (long)ns};
    (void)nanosleep(&time, NULL);
}

leo_status leo_drv_device_wait(struct leo_drv_device *device, uint64_t seen, uint64_t timeout_ns)
{
    return leo_drv_device_wait_within(device, seen, timeout_ns, UINT64_MAX);
}

leo_status leo_drv_device_wait_within(struct leo_drv_device *device, uint64_t seen,
                                      uint64_t timeout_ns, uint64_t kernel_ns)
{
    enum { PATIENCE_TURNS = 10 };
    leo_status status;
    unsigned turns = 0;
    do {
        // In turns, so that a thread behind a long kernel does not keep the others out.
        uint64_t turn_ns = timeout_ns < DRV_WAIT_TURN_NS ? timeout_ns : DRV_WAIT_TURN_NS;
        const bool last = timeout_ns == UINT64_MAX && turns >= PATIENCE_TURNS;
        status = wait_once(device, seen, last ? UINT64_MAX : turn_ns, kernel_ns);
        timeout_ns -= timeout_ns == UINT64_MAX ? 0 : turn_ns;
        turns = status == LEO_ERR_BUSY ? turns + 1 : 0;
        if (status == LEO_ERR_BUSY && turn_ns) {
            nap(turn_ns);
        }
    } while ((status == LEO_ERR_TIMEOUT || status == LEO_ERR_BUSY) && timeout_ns);
    return status;
}

leo_status leo_drv_device_run_ahead(struct leo_drv_device *device, uint64_t timeout_ns)
{
    struct leo_transport *transport = device->mmio.transport;
    return transport->ops->run_ahead ? transport->ops->run_ahead(transport, timeout_ns)
                                     : LEO_ERR_UNSUPPORTED;
}

bool leo_drv_image_polls(struct leo_drv_device *device, const struct leo_image_desc *desc,
                         const void *image)
{
    struct leo_transport *transport = device->mmio.transport;
    return transport->ops->image_polls && transport->ops->image_polls(transport, desc, image);
}

void leo_drv_device_watch(struct leo_drv_device *device)
{
    struct leo_transport *transport = device->mmio.transport;
    if (transport->ops->watch) {
        transport->ops->watch(transport);
    }
}

void drv_admin_complete(void *user, uint32_t cmd_id, const struct leo_drv_completion *done)
{
    struct leo_drv_device *device = user;
    if (cmd_id == device->admin_cmd) {
        device->admin_done = *done;
        device->admin_is_done = true;
    }
}

leo_status drv_admin_run(struct leo_drv_device *device, struct leo_sqe *entry)
{
    pthread_mutex_lock(&device->lock);
    leo_status status = submit_entry(&device->admin, entry);
    device->admin_cmd = entry->cmd_id;
    device->admin_is_done = false;
    while (!status) {
        uint64_t seen = leo_drv_device_interrupts(device);
        drv_queue_take(&device->admin);
        if (device->admin_is_done) {
            break;
        }
        pthread_mutex_unlock(&device->lock);
        leo_status wait = leo_drv_device_wait(device, seen, UINT64_MAX);
        pthread_mutex_lock(&device->lock);
        drv_queue_take(&device->admin);
        if (wait && wait != LEO_ERR_TIMEOUT && !device->admin_is_done) {
            // The device may still act on the command: nothing about it is certain any more.
            device->dead = true;
            status = wait == LEO_ERR_NOT_READY ? LEO_ERR_DEAD : wait;
        }
    }
    if (!status && device->admin_done.status) {
        status = LEO_ERR_IO;
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

static leo_status admin_queue_command(struct leo_drv_queue *queue, enum leo_sqe_op op)
{
    struct leo_sqe entry = {.opcode = (uint8_t)op};
    struct leo_sqe_queue body = {
        .sq_base = queue->memory_addr,
        .cq_base = queue->memory_addr + queue->ring.depth * sizeof(struct leo_sqe),
        .depth = queue->ring.depth,
        .queue = queue->number,
        .space = DRV_SPACE,
        .priority = queue->priority,
    };
    memcpy(entry.body, &body, sizeof(body));
    return drv_admin_run(queue->device, &entry);
}

// Takes a free queue number; 0 if there is none.
static uint16_t take_number(struct leo_drv_device *device)
{
    uint16_t number = 0;
    pthread_mutex_lock(&device->lock);
    for (uint32_t i = 1; i < device->caps.queues && !number; i++) {
        if (!device->queue_used[i]) {
            device->queue_used[i] = 1;
            number = (uint16_t)i;
        }
    }
    pthread_mutex_unlock(&device->lock);
    return number;
}

static void give_number(struct leo_drv_device *device, uint16_t number)
{
    pthread_mutex_lock(&device->lock);
    device->queue_used[number] = 0;
    pthread_mutex_unlock(&device->lock);
}

uint32_t leo_drv_device_queues(struct leo_drv_device *device)
{
    uint32_t used = 0;
    pthread_mutex_lock(&device->lock);
    for (uint32_t i = 0; i < device->caps.queues; i++) {
        used += device->queue_used[i];
    }
    pthread_mutex_unlock(&device->lock);
    return used;
}

leo_status leo_drv_queue_create(struct leo_drv_device *device, uint32_t depth, uint8_t priority,
                                leo_drv_complete_fn complete, void *user,
                                struct leo_drv_queue **out)
{
    *out = NULL;
    if (!leo_ring_is_depth(depth) || depth > device->caps.queue_depth || !complete ||
        priority > LEO_DRV_PRIORITY_LEAST) {
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status = LEO_ERR_NO_MEMORY;
    struct leo_drv_queue *queue = leo_calloc(1, sizeof(*queue));
    if (!queue) {
        return status;
    }
    queue->device = device;
    queue->priority = priority;
    queue->complete = complete;
    queue->user = user;
    pthread_mutex_lock(&device->admin_lock);
    queue->number = take_number(device);
    if (!queue->number) {
        status = LEO_ERR_FULL;
        goto free_queue;
    }
    status = leo_drv_dma_alloc(device, drv_ring_bytes(depth), &queue->memory, &queue->memory_addr);
    if (status) {
        goto give_number;
    }
    drv_ring_init(&queue->ring, queue->memory, depth);
    status = admin_queue_command(queue, LEO_SQE_OP_CREATE_QUEUE);
    if (status) {
        goto free_memory;
    }
    pthread_mutex_lock(&device->lock);
    queue->next = device->queues;
    device->queues = queue;
    pthread_mutex_unlock(&device->lock);
    pthread_mutex_unlock(&device->admin_lock);
    *out = queue;
    return LEO_OK;

free_memory:
    leo_drv_dma_free(device, queue->memory, queue->memory_addr);
give_number:
    give_number(device, queue->number);
free_queue:
    pthread_mutex_unlock(&device->admin_lock);
    leo_free(queue);
    return status;
}

void leo_drv_queue_destroy(struct leo_drv_queue *queue)
{
    if (!queue) {
        return;
    }
    struct leo_drv_device *device = queue->device;
    pthread_mutex_lock(&device->admin_lock);
    pthread_mutex_lock(&device->lock);
    bool lost = queue->lost;
    for (struct leo_drv_queue **at = &device->queues; *at; at = &(*at)->next) {
        if (*at == queue) {
            *at = queue->next;
            break;
        }
    }
    pthread_mutex_unlock(&device->lock);
    // A queue the device would not delete keeps its number, so that no other queue gets its
    // doorbell.
    if (!lost && !admin_queue_command(queue, LEO_SQE_OP_DELETE_QUEUE)) {
        give_number(device, queue->number);
    }
    pthread_mutex_unlock(&device->admin_lock);
    leo_drv_dma_free(device, queue->memory, queue->memory_addr);
    leo_free(queue);
}

leo_status leo_drv_queue_submit(struct leo_drv_queue *queue, struct leo_sqe *entry,
                                uint32_t *cmd_id)
{
    pthread_mutex_lock(&queue->device->lock);
    leo_status status = submit_entry(queue, entry);
    pthread_mutex_unlock(&queue->device->lock);
    if (!status && cmd_id) {
        *cmd_id = entry->cmd_id;
    }
    return status;
}

leo_status leo_drv_queue_poll(struct leo_drv_queue *queue, unsigned *count)
{
    pthread_mutex_lock(&queue->device->lock);
    unsigned taken = drv_queue_take(queue);
    leo_status status = queue->lost || queue->device->dead ? LEO_ERR_DEAD : LEO_OK;
    pthread_mutex_unlock(&queue->device->lock);
    if (count) {
        *count = taken;
    }
    return taken ? LEO_OK : status;
}

leo_status leo_drv_queue_wait(struct leo_drv_queue *queue, uint64_t timeout_ns)
{
    unsigned taken;
    uint64_t seen = leo_drv_device_interrupts(queue->device);
    leo_status status = leo_drv_queue_poll(queue, &taken);
    if (status || taken) {
        return status;
    }
    leo_status wait = leo_drv_device_wait(queue->device, seen, timeout_ns);
    status = leo_drv_queue_poll(queue, &taken);
    return taken ? LEO_OK : wait ? wait : status;
}
