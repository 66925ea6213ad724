/* SPDX-License-Identifier: Apache-2.0 */
/* A device that is only a table of registers and rings: it does no work, but completes entries when
 * told to. */
#include <leo/alloc.h>
#include <leo/driver.h>
#include <leo/regs.h>
#include <leo/ring_math.h>
#include <leo/transport.h>
#include <pthread.h>
#include <string.h>

enum { NULL_QUEUES = 16, NULL_REGS = 0x100 };

/** The device's side of a queue. DMA addresses of this transport are host pointers. */
struct null_queue {
    struct leo_sqe *sq;
    struct leo_cqe *cq;
    uint32_t depth, sq_head, sq_tail, cq_tail, phase;
};

struct null_transport {
    struct leo_transport base;
    pthread_mutex_t lock; /**< Protects everything below. */
    uint8_t regs[NULL_REGS];
    struct null_queue queue[NULL_QUEUES];
    bool complete, no_map;
    int fail_after;
    uint64_t now_ns;
    uint64_t faults; /**< fault records written */
};

static struct null_transport *null_of(struct leo_transport *transport)
{
    return (struct null_transport *)(void *)transport;
}

// Counts a call; true if it is the one that fails.
static bool is_failing(struct null_transport *null)
{
    pthread_mutex_lock(&null->lock);
    bool fails = null->fail_after > 0 && --null->fail_after == 0;
    pthread_mutex_unlock(&null->lock);
    return fails;
}

static uint64_t get_reg(const struct null_transport *null, uint32_t offset, unsigned bytes)
{
    uint64_t value = 0;
    if (offset + bytes <= NULL_REGS) {
        memcpy(&value, null->regs + offset, bytes);
    }
    return value;
}

static void set_reg(struct null_transport *null, uint32_t offset, unsigned bytes, uint64_t value)
{
    if (offset + bytes <= NULL_REGS) {
        memcpy(null->regs + offset, &value, bytes);
    }
}

static void start_queue(struct null_queue *queue, uint64_t sq, uint64_t cq, uint32_t depth)
{
    *queue = (struct null_queue){
        .sq = (void *)(uintptr_t)sq,
        .cq = (void *)(uintptr_t)cq,
        .depth = depth,
        .phase = 1,
    };
}

// Writes a fault record for an entry and returns its number + 1.
static uint32_t write_fault(struct null_transport *null, unsigned number, uint32_t cmd_id,
                            uint16_t fault)
{
    struct leo_fault_record *ring = (void *)(uintptr_t)get_reg(null, LEO_REG_FAULT_BASE, 8);
    uint64_t depth = get_reg(null, LEO_REG_FAULT_DEPTH, 4);
    ring[null->faults % depth] = (struct leo_fault_record){
        .code = fault,
        .queue = (uint16_t)number,
        .cmd_id = cmd_id,
    };
    return (uint32_t)++null->faults;
}

static void complete_one(struct null_transport *null, unsigned number, uint16_t fault)
{
    struct null_queue *queue = &null->queue[number];
    const struct leo_sqe *entry = &queue->sq[queue->sq_head];
    if (number == 0) {
        struct leo_sqe_queue body;
        memcpy(&body, entry->body, sizeof(body));
        if (entry->opcode == LEO_SQE_OP_CREATE_QUEUE && body.queue < NULL_QUEUES) {
            start_queue(&null->queue[body.queue], body.sq_base, body.cq_base, body.depth);
        } else if (entry->opcode == LEO_SQE_OP_DELETE_QUEUE && body.queue < NULL_QUEUES) {
            null->queue[body.queue] = (struct null_queue){0};
        }
    }
    struct leo_cqe *done = &queue->cq[queue->cq_tail];
    done->cmd_id = entry->cmd_id;
    done->queue = (uint16_t)number;
    done->status = fault;
    done->fault_index = fault ? write_fault(null, number, entry->cmd_id, fault) : 0;
    done->start_ns = null->now_ns;
    done->end_ns = null->now_ns += 1000;
    __atomic_store_n(&done->phase, queue->phase, __ATOMIC_RELEASE);
    queue->sq_head = leo_ring_next(queue->sq_head, queue->depth);
    queue->phase = leo_ring_next_phase(queue->cq_tail, queue->depth, queue->phase);
    queue->cq_tail = leo_ring_next(queue->cq_tail, queue->depth);
    set_reg(null, LEO_REG_IRQ_STATUS, 4,
            get_reg(null, LEO_REG_IRQ_STATUS, 4) | LEO_BIT_IRQ_STATUS_COMPLETION |
                (fault ? LEO_BIT_IRQ_STATUS_FAULT : 0));
}

static void write_control(struct null_transport *null, uint32_t value)
{
    if (value & LEO_BIT_CONTROL_RESET) {
        memset(null->queue, 0, sizeof(null->queue));
        set_reg(null, LEO_REG_STATUS, 4, 0);
        set_reg(null, LEO_REG_IRQ_STATUS, 4, 0);
    } else if (value & LEO_BIT_CONTROL_ENABLE) {
        start_queue(&null->queue[0], get_reg(null, LEO_REG_ADMIN_SQ_BASE, 8),
                    get_reg(null, LEO_REG_ADMIN_CQ_BASE, 8),
                    (uint32_t)get_reg(null, LEO_REG_ADMIN_DEPTH, 4));
        set_reg(null, LEO_REG_STATUS, 4, 1);
    }
    set_reg(null, LEO_REG_CONTROL, 4, value & LEO_BIT_CONTROL_ENABLE);
}

static void ring_doorbell(struct null_transport *null, unsigned number, uint32_t tail)
{
    struct null_queue *queue = &null->queue[number];
    if (queue->sq) {
        queue->sq_tail = tail;
        while ((null->complete || number == 0) && queue->sq_head != queue->sq_tail) {
            complete_one(null, number, 0);
        }
    }
}

static void null_close(struct leo_transport *transport)
{
    pthread_mutex_destroy(&null_of(transport)->lock);
    leo_free(transport);
}

static leo_status null_reg_read(struct leo_transport *transport, uint32_t offset, unsigned bytes,
                                uint64_t *value)
{
    struct null_transport *null = null_of(transport);
    if (is_failing(null)) {
        return LEO_ERR_IO;
    }
    pthread_mutex_lock(&null->lock);
    *value = offset == LEO_REG_SIM_TIME_NS ? null->now_ns : get_reg(null, offset, bytes);
    pthread_mutex_unlock(&null->lock);
    return LEO_OK;
}

static leo_status null_reg_write(struct leo_transport *transport, uint32_t offset, unsigned bytes,
                                 uint64_t value)
{
    struct null_transport *null = null_of(transport);
    if (is_failing(null)) {
        return LEO_ERR_IO;
    }
    pthread_mutex_lock(&null->lock);
    uint32_t doorbell = (offset - LEO_DOORBELL_BASE) / LEO_DOORBELL_STRIDE;
    if (offset >= LEO_DOORBELL_BASE && doorbell < NULL_QUEUES) {
        if (offset % LEO_DOORBELL_STRIDE == 0) {
            ring_doorbell(null, doorbell, (uint32_t)value);
        }
    } else if (offset == LEO_REG_CONTROL) {
        write_control(null, (uint32_t)value);
    } else if (offset == LEO_REG_IRQ_STATUS) {
        set_reg(null, offset, 4, get_reg(null, offset, 4) & ~value);
    } else {
        set_reg(null, offset, bytes, value);
    }
    pthread_mutex_unlock(&null->lock);
    return LEO_OK;
}

static leo_status null_dma_alloc(struct leo_transport *transport, size_t bytes, void **host_ptr,
                                 uint64_t *dma_addr)
{
    *host_ptr = NULL;
    if (is_failing(null_of(transport))) {
        return LEO_ERR_IO;
    }
    void *memory = leo_calloc(1, bytes);
    if (!memory) {
        return LEO_ERR_NO_MEMORY;
    }
    *host_ptr = memory;
    *dma_addr = (uintptr_t)memory;
    return LEO_OK;
}

static void null_dma_free(struct leo_transport *transport, void *host_ptr, uint64_t dma_addr)
{
    (void)transport;
    (void)dma_addr;
    leo_free(host_ptr);
}

static leo_status null_dma_map(struct leo_transport *transport, void *host_ptr, size_t bytes,
                               uint64_t *dma_addr)
{
    (void)bytes;
    if (is_failing(null_of(transport))) {
        return LEO_ERR_IO;
    }
    if (null_of(transport)->no_map) {
        return LEO_ERR_UNSUPPORTED;
    }
    *dma_addr = (uintptr_t)host_ptr;
    return LEO_OK;
}

static void null_dma_unmap(struct leo_transport *transport, uint64_t dma_addr)
{
    (void)transport;
    (void)dma_addr;
}

static leo_status null_irq_wait(struct leo_transport *transport, uint64_t timeout_ns)
{
    struct null_transport *null = null_of(transport);
    (void)timeout_ns;
    if (is_failing(null)) {
        return LEO_ERR_IO;
    }
    pthread_mutex_lock(&null->lock);
    uint64_t pending = get_reg(null, LEO_REG_IRQ_STATUS, 4) & ~get_reg(null, LEO_REG_IRQ_MASK, 4);
    pthread_mutex_unlock(&null->lock);
    return pending ? LEO_OK : LEO_ERR_NOT_READY;
}

static const struct leo_transport_ops null_transport_ops = {
    .name = "null",
    .close = null_close,
    .reg_read = null_reg_read,
    .reg_write = null_reg_write,
    .dma_alloc = null_dma_alloc,
    .dma_free = null_dma_free,
    .dma_map = null_dma_map,
    .dma_unmap = null_dma_unmap,
    .irq_wait = null_irq_wait,
};

static void fill_registers(struct null_transport *null)
{
    const struct {
        uint32_t offset;
        uint64_t value;
    } regs[] = {
        {LEO_REG_ID, 0x4c454f01},        {LEO_REG_ARCH, 1001},
        {LEO_REG_CAP_CUBE_CORES, 2},     {LEO_REG_CAP_QUEUES, NULL_QUEUES},
        {LEO_REG_CAP_QUEUE_DEPTH, 1024}, {LEO_REG_HBM_BASE, 0x100000000},
        {LEO_REG_HBM_BYTES, 0x40000000}, {LEO_REG_CLOCK_KHZ, 1000000},
        {LEO_REG_VEC_UB_BYTES, 262144},  {LEO_REG_L1_BYTES, 1048576},
        {LEO_REG_L0A_BYTES, 65536},      {LEO_REG_L0B_BYTES, 65536},
        {LEO_REG_L0C_BYTES, 262144},     {LEO_REG_L2_BYTES, 33554432},
        {LEO_REG_GM_BYTES, 0x40000000},
    };
    for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
        set_reg(null, regs[i].offset, regs[i].value >> 32 ? 8 : 4, regs[i].value);
    }
    memcpy(null->regs + LEO_REG_SOC_NAME, "null", 5);
}

leo_status leo_drv_transport_null_open(const struct leo_drv_null_opts *opts,
                                       struct leo_transport **transport)
{
    *transport = NULL;
    struct null_transport *null = leo_calloc(1, sizeof(*null));
    if (!null) {
        return LEO_ERR_NO_MEMORY;
    }
    null->base.ops = &null_transport_ops;
    null->fail_after = opts->fail_after;
    null->complete = opts->complete;
    null->no_map = opts->no_map;
    pthread_mutex_init(&null->lock, NULL);
    fill_registers(null);
    *transport = &null->base;
    return LEO_OK;
}

void leo_drv_transport_null_fail_after(struct leo_transport *transport, int calls)
{
    struct null_transport *null = null_of(transport);
    pthread_mutex_lock(&null->lock);
    null->fail_after = calls;
    pthread_mutex_unlock(&null->lock);
}

unsigned leo_drv_transport_null_complete(struct leo_transport *transport, unsigned queue,
                                         unsigned count, uint16_t fault)
{
    struct null_transport *null = null_of(transport);
    unsigned done = 0;
    pthread_mutex_lock(&null->lock);
    if (queue < NULL_QUEUES && null->queue[queue].sq) {
        struct null_queue *from = &null->queue[queue];
        for (; done < count && from->sq_head != from->sq_tail; done++) {
            complete_one(null, queue, fault);
        }
    }
    pthread_mutex_unlock(&null->lock);
    return done;
}
