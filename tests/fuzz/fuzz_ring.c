/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue entries and register writes of a client that means no good. The input is a list of steps;
 * whatever they say, the chip must neither crash nor reach memory it was not given, and must still
 * answer registers.
 */
#include "fuzz.h"

#include <leo/isa_enums.h>
#include <leo/layout.h>
#include <leo/regs.h>
#include <leo/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOST_BYTES = 1 << 16, DEPTH = 8, QUEUES = 3, STEP_BYTES = 66 };
#define HOST UINT64_C(0x10000)
#define GM   UINT64_C(0x100000000)

struct ring {
    struct leo_sqe sq[DEPTH];
    struct leo_cqe cq[DEPTH];
};

struct bench {
    struct leo_sim_chip *chip;
    uint8_t *host;
    struct ring *ring;
    uint32_t tail[QUEUES];
};

static void ring_doorbell(struct bench *bench, unsigned queue, uint32_t tail)
{
    leo_sim_reg_write(bench->chip,
                      LEO_DOORBELL_BASE + queue * LEO_DOORBELL_STRIDE + LEO_DOORBELL_SQ_TAIL, 4,
                      tail);
    leo_sim_reg_write(bench->chip,
                      LEO_DOORBELL_BASE + queue * LEO_DOORBELL_STRIDE + LEO_DOORBELL_CQ_HEAD, 4,
                      tail);
}

static void push(struct bench *bench, unsigned queue, const struct leo_sqe *entry)
{
    bench->ring[queue].sq[bench->tail[queue]] = *entry;
    bench->tail[queue] = (bench->tail[queue] + 1) % DEPTH;
    ring_doorbell(bench, queue, bench->tail[queue]);
}

static void run(struct bench *bench)
{
    for (unsigned i = 0; i < 20; i++) {
        leo_sim_reg_write(bench->chip, LEO_REG_IRQ_STATUS, 4, 3);
        if (leo_sim_chip_run(bench->chip, 5000000) != LEO_OK) {
            return;
        }
    }
}

static void set_up(struct bench *bench)
{
    char error[200];
    char *text = malloc(FUZZ_SOC_BYTES);
    fuzz_check(text != NULL, "out of memory");
    fuzz_soc_text("ascend910a", text);
    struct leo_sim_opts opts = {.size = sizeof(opts), .soc_text = text, .host_threads = 1};
    if (leo_sim_chip_create(&opts, &bench->chip, error, sizeof(error)) != LEO_OK) {
        fprintf(stderr, "%s\n", error);
        abort();
    }
    free(text);
    bench->host = aligned_alloc(64, HOST_BYTES);
    memset(bench->host, 0, HOST_BYTES);
    bench->ring = (struct ring *)(void *)bench->host;
    (void)leo_sim_dma_map(bench->chip, HOST, bench->host, HOST_BYTES);
    leo_sim_reg_write(bench->chip, LEO_REG_ADMIN_SQ_BASE, 8, HOST);
    leo_sim_reg_write(bench->chip, LEO_REG_ADMIN_CQ_BASE, 8, HOST + sizeof(bench->ring[0].sq));
    leo_sim_reg_write(bench->chip, LEO_REG_ADMIN_DEPTH, 4, DEPTH);
    leo_sim_reg_write(bench->chip, LEO_REG_FAULT_BASE, 8, HOST + 0x8000);
    leo_sim_reg_write(bench->chip, LEO_REG_FAULT_DEPTH, 4, 16);
    leo_sim_reg_write(bench->chip, LEO_REG_CONTROL, 4, 1);
    for (uint16_t queue = 1; queue < QUEUES; queue++) {
        struct leo_sqe_queue body = {.sq_base = HOST + queue * sizeof(struct ring),
                                     .cq_base = HOST + queue * sizeof(struct ring) +
                                                sizeof(bench->ring[0].sq),
                                     .depth = DEPTH,
                                     .queue = queue};
        struct leo_sqe entry = {.opcode = LEO_SQE_OP_CREATE_QUEUE};
        memcpy(entry.body, &body, sizeof(body));
        push(bench, 0, &entry);
    }
    struct leo_sqe_map map = {.addr = GM, .bytes = 1 << 20};
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_MAP};
    memcpy(entry.body, &map, sizeof(map));
    push(bench, 0, &entry);
    run(bench);
}

/* Puts an image of input words where a wild launch finds one. */
static void write_image(struct bench *bench, const uint8_t *words, size_t bytes)
{
    struct leo_image_desc desc = {.magic = LEO_IMAGE_MAGIC,
                                  .bytes = bytes,
                                  .rw_offset = bytes,
                                  .stack_bytes = 256,
                                  .text_bytes = bytes};
    memcpy(bench->host + 0x9000, &desc, sizeof(desc));
    memcpy(bench->host + 0x9000 + sizeof(desc), words, bytes);
    struct leo_sqe_copy body = {
        .dst = GM, .src = HOST + 0x9000, .width = sizeof(desc) + bytes, .height = 1, .flags = 2};
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_COPY};
    memcpy(entry.body, &body, sizeof(body));
    push(bench, 1, &entry);
    struct leo_sqe_kernel kernel = {.image_addr = GM, .block_num = 3, .limit_us = 10};
    entry = (struct leo_sqe){.opcode = LEO_SQE_OP_KERNEL, .core_kind = LEO_CORE_KIND_AICORE};
    memcpy(entry.body, &kernel, sizeof(kernel));
    push(bench, 1, &entry);
}

static void take_step(struct bench *bench, const uint8_t *step)
{
    unsigned queue = step[1] % QUEUES;
    struct leo_sqe entry;
    uint32_t offset;
    uint64_t value;
    switch (step[0] % 6) {
    case 0:
    case 1:
    case 2:
        memcpy(&entry, step + 2, sizeof(entry));
        // Mostly near something sensible, or every entry dies at the first check.
        entry.flags = step[0] & 64 ? entry.flags : 0;
        entry.reserved0 = 0;
        entry.host_ns = step[0] & 128 ? entry.host_ns : 0;
        entry.opcode = step[0] & 32 ? entry.opcode : entry.opcode % 24;
        push(bench, queue, &entry);
        break;
    case 3:
        memcpy(&offset, step + 2, sizeof(offset));
        memcpy(&value, step + 8, sizeof(value));
        offset = offset % 0x100 & ~3u;
        // Another reset or a lost ring base would only end the play early.
        if (offset != LEO_REG_CONTROL || step[1] < 16) {
            leo_sim_reg_write(bench->chip, offset, 4, value);
        }
        (void)leo_sim_reg_read(bench->chip, offset, 8);
        break;
    case 4:
        ring_doorbell(bench, step[1], step[2]);
        break;
    case 5:
        write_image(bench, step + 2, 64);
        break;
    }
    run(bench);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct bench bench = {0};
    set_up(&bench);
    for (size_t at = 0; at + STEP_BYTES <= bytes && at < 64 * STEP_BYTES; at += STEP_BYTES) {
        take_step(&bench, data + at);
    }
    if (leo_sim_reg_read(bench.chip, LEO_REG_ID, 4) != LEO_REG_ID_RESET) {
        abort();
    }
    leo_sim_chip_destroy(bench.chip);
    free(bench.host);
    return 0;
}

/* Seed n: n + 1 steps; zeros are as likely as all else together, for fields must be small to mean
 * something. */
size_t fuzz_seed(unsigned index, uint8_t *data)
{
    uint64_t state = index + 1;
    if (index >= 40) {
        return 0;
    }
    for (size_t i = 0; i < STEP_BYTES * (index + 1); i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint8_t byte = (uint8_t)(state >> 56);
        data[i] = state >> 40 & 3 && i % STEP_BYTES >= 3 ? 0 : byte;
    }
    return STEP_BYTES * (index + 1);
}
