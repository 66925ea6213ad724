/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <CUnit/CUnit.h>
#include <leo/soc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t rig_dma(const struct rig *rig, const void *host)
{
    return RIG_HOST + (uint64_t)((const uint8_t *)host - rig->host);
}

static void write_reg(struct rig *rig, uint32_t reg, uint64_t value)
{
    leo_sim_reg_write(rig->chip, reg, value > UINT32_MAX ? 8 : 4, value);
}

void rig_open(struct rig *rig, const char *soc, const char *text, unsigned threads)
{
    memset(rig, 0, sizeof(*rig));
    char error[200];
    struct leo_sim_opts opts = {.size = sizeof(opts),
                                .soc_text = text ? text : leo_isa_soc_text(soc),
                                .soc_text_name = soc,
                                .host_threads = threads};
    CU_ASSERT_EQUAL_FATAL(leo_sim_chip_create(&opts, &rig->chip, error, sizeof(error)), LEO_OK);
    rig->host = aligned_alloc(64, RIG_HOST_BYTES);
    memset(rig->host, 0, RIG_HOST_BYTES);
    rig->ring = (struct rig_ring *)(void *)rig->host;
    rig->faults = (struct leo_fault_record *)(void *)(rig->host + 0x8000);
    rig->args = rig->host + 0x10000;
    rig->data = rig->host + 0x20000;
    CU_ASSERT_EQUAL_FATAL(leo_sim_dma_map(rig->chip, RIG_HOST, rig->host, RIG_HOST_BYTES), LEO_OK);
    for (unsigned queue = 0; queue < RIG_QUEUES; queue++) {
        rig->ring[queue].phase = 1;
    }
    write_reg(rig, LEO_REG_ADMIN_SQ_BASE, rig_dma(rig, rig->ring[0].sq));
    write_reg(rig, LEO_REG_ADMIN_CQ_BASE, rig_dma(rig, rig->ring[0].cq));
    write_reg(rig, LEO_REG_ADMIN_DEPTH, RIG_DEPTH);
    write_reg(rig, LEO_REG_FAULT_BASE, rig_dma(rig, rig->faults));
    write_reg(rig, LEO_REG_FAULT_DEPTH, RIG_FAULTS);
    write_reg(rig, LEO_REG_CONTROL, 1);
    CU_ASSERT_EQUAL_FATAL(leo_sim_reg_read(rig->chip, LEO_REG_STATUS, 4), 1);
    for (uint16_t queue = 1; queue < RIG_QUEUES; queue++) {
        struct leo_sqe_queue body = {.sq_base = rig_dma(rig, rig->ring[queue].sq),
                                     .cq_base = rig_dma(rig, rig->ring[queue].cq),
                                     .depth = RIG_DEPTH,
                                     .queue = queue};
        CU_ASSERT_EQUAL_FATAL(rig_do(rig, 0, LEO_SQE_OP_CREATE_QUEUE, 0, &body, sizeof(body), NULL),
                              0);
    }
    CU_ASSERT_EQUAL_FATAL(rig_map(rig, RIG_GM, 1 << 20, false), 0);
}

void rig_close(struct rig *rig)
{
    leo_sim_chip_destroy(rig->chip);
    free(rig->host);
}

uint32_t rig_push(struct rig *rig, unsigned queue, enum leo_sqe_op op, uint8_t kind,
                  const void *body, size_t bytes)
{
    struct rig_ring *ring = &rig->ring[queue];
    struct leo_sqe entry = {.opcode = (uint8_t)op,
                            .core_kind = kind,
                            .cmd_id = ++rig->next_cmd,
                            .host_ns = leo_sim_reg_read(rig->chip, LEO_REG_SIM_TIME_NS, 8)};
    if (bytes) {
        memcpy(entry.body, body, bytes);
    }
    ring->sq[ring->tail] = entry;
    ring->tail = (ring->tail + 1) % RIG_DEPTH;
    return entry.cmd_id;
}

void rig_ring(struct rig *rig, unsigned queue)
{
    leo_sim_reg_write(rig->chip,
                      LEO_DOORBELL_BASE + queue * LEO_DOORBELL_STRIDE + LEO_DOORBELL_SQ_TAIL, 4,
                      rig->ring[queue].tail);
}

bool rig_pop(struct rig *rig, unsigned queue, struct leo_cqe *cqe)
{
    struct rig_ring *ring = &rig->ring[queue];
    if (__atomic_load_n(&ring->cq[ring->head].phase, __ATOMIC_ACQUIRE) != ring->phase) {
        return false;
    }
    if (cqe) {
        *cqe = ring->cq[ring->head];
    }
    ring->head = (ring->head + 1) % RIG_DEPTH;
    ring->phase += ring->head == 0;
    leo_sim_reg_write(rig->chip,
                      LEO_DOORBELL_BASE + queue * LEO_DOORBELL_STRIDE + LEO_DOORBELL_CQ_HEAD, 4,
                      ring->head);
    return true;
}

bool rig_wait(struct rig *rig, unsigned queue, struct leo_cqe *cqe)
{
    while (!rig_pop(rig, queue, cqe)) {
        if (leo_sim_chip_run(rig->chip, UINT64_MAX) != LEO_OK) {
            return rig_pop(rig, queue, cqe);
        }
        leo_sim_reg_write(rig->chip, LEO_REG_IRQ_STATUS, 4, 3);
    }
    return true;
}

unsigned rig_do(struct rig *rig, unsigned queue, enum leo_sqe_op op, uint8_t kind, const void *body,
                size_t bytes, struct leo_cqe *cqe)
{
    struct leo_cqe ignored = {0};
    cqe = cqe ? cqe : &ignored;
    uint32_t cmd_id = rig_push(rig, queue, op, kind, body, bytes);
    rig_ring(rig, queue);
    CU_ASSERT_TRUE_FATAL(rig_wait(rig, queue, cqe));
    CU_ASSERT_EQUAL(cqe->cmd_id, cmd_id);
    return cqe->status;
}

unsigned rig_map(struct rig *rig, uint64_t addr, uint64_t bytes, bool read_only)
{
    struct leo_sqe_map body = {.addr = addr, .bytes = bytes, .read_only = read_only};
    return rig_do(rig, 0, LEO_SQE_OP_MAP, 0, &body, sizeof(body), NULL);
}

void rig_write(struct rig *rig, uint64_t addr, const void *data, size_t bytes)
{
    memcpy(rig->data, data, bytes);
    struct leo_sqe_copy body = {
        .dst = addr, .src = rig_dma(rig, rig->data), .width = bytes, .height = 1, .flags = 2};
    CU_ASSERT_EQUAL(rig_do(rig, 1, LEO_SQE_OP_COPY, 0, &body, sizeof(body), NULL), 0);
}

void rig_read(struct rig *rig, uint64_t addr, void *data, size_t bytes)
{
    struct leo_sqe_copy body = {
        .dst = rig_dma(rig, rig->data), .src = addr, .width = bytes, .height = 1, .flags = 1};
    CU_ASSERT_EQUAL(rig_do(rig, 1, LEO_SQE_OP_COPY, 0, &body, sizeof(body), NULL), 0);
    memcpy(data, rig->data, bytes);
}

void rig_image(struct rig *rig, uint64_t addr, const uint32_t *words, size_t count)
{
    struct {
        struct leo_image_desc desc;
        uint32_t words[256];
    } image = {.desc = {.magic = LEO_IMAGE_MAGIC,
                        .bytes = count * 4,
                        .rw_offset = count * 4,
                        .stack_bytes = 1024,
                        .text_bytes = count * 4}};
    memcpy(image.words, words, count * 4);
    rig_write(rig, addr, &image, sizeof(image.desc) + count * 4);
}

struct leo_sqe_kernel rig_kernel(struct rig *rig, uint64_t addr, uint32_t blocks,
                                 const uint64_t *slots, unsigned count)
{
    if (count) {
        memcpy(rig->args, slots, count * sizeof(*slots));
    }
    return (struct leo_sqe_kernel){.image_addr = addr,
                                   .args_addr = rig_dma(rig, rig->args),
                                   .block_num = blocks,
                                   .args_bytes = count * 8,
                                   .slots = (uint16_t)count};
}

unsigned rig_run(struct rig *rig, uint8_t kind, uint64_t addr, uint32_t blocks,
                 const uint64_t *slots, unsigned count, struct leo_cqe *cqe)
{
    struct leo_sqe_kernel body = rig_kernel(rig, addr, blocks, slots, count);
    return rig_do(rig, 1, LEO_SQE_OP_KERNEL, kind, &body, sizeof(body), cqe);
}

long rig_resident_kib(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%ld %ld", &pages, &resident) != 2) {
            resident = 0;
        }
        fclose(file);
    }
    return resident * 4;
}
