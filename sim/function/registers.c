/* SPDX-License-Identifier: Apache-2.0 */
#include "../config.h"
#include "../host/host_pool.h"
#include "../memory/hbm.h"
#include "../tape/record.h"
#include "function.h"

#include <leo/alloc.h>
#include <leo/ring_math.h>
#include <string.h>

leo_status sim_function_init(struct sim_function *function)
{
    leo_status status = sim_dma_init(&function->dma);
    uint32_t queues = function->config->queues;
    function->ring = leo_calloc(queues, sizeof(*function->ring));
    function->sq_tail = leo_calloc(queues, sizeof(*function->sq_tail));
    function->cq_head = leo_calloc(queues, sizeof(*function->cq_head));
    if (status || !function->ring || !function->sq_tail || !function->cq_head) {
        return LEO_ERR_NO_MEMORY;
    }
    return LEO_OK;
}

void sim_function_finish(struct sim_function *function)
{
    if (function->dma.lock) {
        sim_dma_finish(&function->dma);
    }
    leo_free(function->ring);
    leo_free(function->sq_tail);
    leo_free(function->cq_head);
}

static void enable(struct sim_function *function)
{
    uint32_t depth = atomic_load(&function->admin_depth);
    struct sim_ring ring = {
        .sq_base = atomic_load(&function->admin_sq_base),
        .cq_base = atomic_load(&function->admin_cq_base),
        .depth = depth,
        .phase = 1,
    };
    if (!leo_ring_is_depth(depth) || depth > function->config->queue_depth ||
        ring.cq_base % sizeof(uint64_t) ||
        !sim_dma_is_mapped(&function->dma, ring.sq_base,
                           (uint64_t)depth * sizeof(struct leo_sqe)) ||
        !sim_dma_is_mapped(&function->dma, ring.cq_base,
                           (uint64_t)depth * sizeof(struct leo_cqe))) {
        sim_function_die(function);
        return;
    }
    function->ring[0] = ring;
    atomic_store(&function->sq_tail[0], 0);
    atomic_store(&function->cq_head[0], 0);
    atomic_store(&function->status, LEO_BIT_STATUS_READY);
}

void sim_function_control(struct sim_function *function)
{
    uint32_t control = atomic_load(&function->control);
    uint32_t status = atomic_load(&function->status);
    if (control & LEO_BIT_CONTROL_RESET) {
        function->reset(function->chip);
        atomic_store(&function->control, 0);
    } else if (control & LEO_BIT_CONTROL_ENABLE && !status) {
        enable(function);
    } else if (!(control & LEO_BIT_CONTROL_ENABLE) && status) {
        function->ring[0].depth = 0;
        atomic_store(&function->status, 0);
    }
}

void sim_function_die(struct sim_function *function)
{
    function->ring[0].depth = 0;
    atomic_store(&function->status, LEO_BIT_STATUS_DEAD);
}

bool sim_function_has_irq(const struct sim_function *function)
{
    return (atomic_load(&function->irq_status) & ~atomic_load(&function->irq_mask)) != 0;
}

void sim_function_raise(struct sim_function *function, uint32_t bits)
{
    atomic_fetch_or(&function->irq_status, bits);
}

static const struct leo_reg_info *find_reg(uint32_t offset)
{
    const struct leo_reg_info *info;
    for (size_t i = 0; (info = leo_reg_info(i)) != NULL; i++) {
        if (offset >= info->offset && offset - info->offset < info->width_bits / 8) {
            return info;
        }
    }
    return NULL;
}

static uint64_t read_whole(struct sim_function *function, uint32_t reg)
{
    const struct sim_config *config = function->config;
    switch (reg) {
    case LEO_REG_ID:
        return LEO_REG_ID_RESET;
    case LEO_REG_ARCH:
        return config->arch;
    case LEO_REG_CAP_CUBE_CORES:
        return config->cube_cores;
    case LEO_REG_CAP_VEC_CORES:
        return config->vector_cores;
    case LEO_REG_CAP_QUEUES:
        return config->queues;
    case LEO_REG_CAP_QUEUE_DEPTH:
        return config->queue_depth;
    case LEO_REG_HBM_BASE:
        return function->hbm->base;
    case LEO_REG_HBM_BYTES:
        return config->hbm_bytes;
    case LEO_REG_GM_BYTES:
        return function->hbm->bytes;
    case LEO_REG_CLOCK_KHZ:
        return config->clock_khz;
    case LEO_REG_CONTROL:
        return atomic_load(&function->control);
    case LEO_REG_STATUS:
        return atomic_load(&function->status);
    case LEO_REG_IRQ_STATUS:
        return atomic_load(&function->irq_status);
    case LEO_REG_IRQ_MASK:
        return atomic_load(&function->irq_mask);
    case LEO_REG_ADMIN_SQ_BASE:
        return atomic_load(&function->admin_sq_base);
    case LEO_REG_ADMIN_CQ_BASE:
        return atomic_load(&function->admin_cq_base);
    case LEO_REG_ADMIN_DEPTH:
        return atomic_load(&function->admin_depth);
    case LEO_REG_FAULT_BASE:
        return atomic_load(&function->fault_base);
    case LEO_REG_FAULT_DEPTH:
        return atomic_load(&function->fault_depth);
    case LEO_REG_SIM_TIME_NS:
        return atomic_load(&function->sim_time_ns);
    case LEO_REG_VEC_UB_BYTES:
        return config->ub_bytes;
    case LEO_REG_L1_BYTES:
        return config->l1_bytes;
    case LEO_REG_L0A_BYTES:
        return config->l0a_bytes;
    case LEO_REG_L0B_BYTES:
        return config->l0b_bytes;
    case LEO_REG_L0C_BYTES:
        return config->l0c_bytes;
    case LEO_REG_L2_BYTES:
        return config->l2_bytes;
    default:
        return 0;
    }
}

uint64_t sim_function_read(struct sim_function *function, uint32_t offset, unsigned bytes)
{
    const struct leo_reg_info *info = find_reg(offset);
    if (!info || offset % 4 || (bytes != 4 && bytes != 8)) {
        return 0;
    }
    uint64_t value = 0;
    uint32_t shift = (offset - info->offset) * 8;
    if (info->offset == LEO_REG_SOC_NAME) {
        uint32_t at = offset - info->offset;
        uint32_t left = (uint32_t)sizeof(function->config->name) - at;
        memcpy(&value, function->config->name + at, left < bytes ? left : bytes);
        return value;
    }
    value = read_whole(function, info->offset) >> shift;
    return bytes == 4 ? (uint32_t)value : value;
}

/* Replaces the half of a 64-bit register, or all of it. */
static void store_part(_Atomic uint64_t *reg, uint32_t byte, unsigned bytes, uint64_t value)
{
    if (bytes == 8) {
        atomic_store(reg, value);
        return;
    }
    uint64_t mask = UINT64_C(0xffffffff) << byte * 8;
    atomic_store(reg, (atomic_load(reg) & ~mask) | (value << byte * 8 & mask));
}

static void write_control(struct sim_function *function, uint32_t value)
{
    atomic_store(&function->control, value & (LEO_BIT_CONTROL_ENABLE | LEO_BIT_CONTROL_RESET));
    // If another thread runs the chip, that one does it at its next boundary.
    if (sim_host_lock_try(function->run_lock)) {
        sim_function_control(function);
        sim_host_lock_give(function->run_lock);
    }
}

static void write_doorbell(struct sim_function *function, uint32_t offset, uint32_t value)
{
    uint32_t queue = (offset - LEO_DOORBELL_BASE) / LEO_DOORBELL_STRIDE;
    uint32_t member = (offset - LEO_DOORBELL_BASE) % LEO_DOORBELL_STRIDE;
    if (queue >= function->config->queues) {
        return;
    }
    if (member == LEO_DOORBELL_SQ_TAIL) {
        if (function->tape) {
            sim_tape_rung(function->tape, queue);
        }
        atomic_store(&function->sq_tail[queue], value);
    } else if (member == LEO_DOORBELL_CQ_HEAD) {
        atomic_store(&function->cq_head[queue], value);
    }
    atomic_fetch_or(&function->rung[queue / 64], UINT64_C(1) << queue % 64);
    atomic_store(&function->any_rung, true);
}

void sim_function_write(struct sim_function *function, uint32_t offset, unsigned bytes,
                        uint64_t value)
{
    if (offset % 4 || (bytes != 4 && bytes != 8)) {
        return;
    }
    if (offset >= LEO_DOORBELL_BASE &&
        offset < LEO_DOORBELL_BASE + LEO_DOORBELL_STRIDE * LEO_DOORBELL_COUNT) {
        write_doorbell(function, offset, (uint32_t)value);
        return;
    }
    const struct leo_reg_info *info = find_reg(offset);
    uint32_t byte = info ? offset - info->offset : 0;
    switch (info ? info->offset : UINT32_MAX) {
    case LEO_REG_CONTROL:
        write_control(function, (uint32_t)value);
        break;
    case LEO_REG_IRQ_STATUS:
        atomic_fetch_and(&function->irq_status, ~(uint32_t)value);
        break;
    case LEO_REG_IRQ_MASK:
        atomic_store(&function->irq_mask, (uint32_t)value);
        break;
    case LEO_REG_ADMIN_SQ_BASE:
        store_part(&function->admin_sq_base, byte, bytes, value);
        break;
    case LEO_REG_ADMIN_CQ_BASE:
        store_part(&function->admin_cq_base, byte, bytes, value);
        break;
    case LEO_REG_ADMIN_DEPTH:
        atomic_store(&function->admin_depth, (uint32_t)value);
        break;
    case LEO_REG_FAULT_BASE:
        store_part(&function->fault_base, byte, bytes, value);
        break;
    case LEO_REG_FAULT_DEPTH:
        atomic_store(&function->fault_depth, (uint32_t)value);
        break;
    default:
        break;
    }
}
