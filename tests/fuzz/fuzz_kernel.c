/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any unit instruction with any operands, in a kernel on a chip. What it may reach is its own
 * space: memory of another space before and behind must not change. The input: one byte (the chip),
 * then steps of a word and four operands.
 */
#include "fuzz.h"

#include <leo/faults.h>
#include <leo/insn.h>
#include <leo/layout.h>
#include <leo/regs.h>
#include <leo/sim.h>
#include <stdlib.h>
#include <string.h>

enum {
    HOST_BYTES = 1 << 16,
    DEPTH = 8,
    QUEUES = 3,
    STEPS = 48,
    GUARD_BYTES = 4096,
    OWN_BYTES = 1 << 17
};
#define HOST  UINT64_C(0x10000)
#define GM    UINT64_C(0x100000000)
#define OWN   (GM + GUARD_BYTES)
#define IMAGE (GM + (1 << 20))

struct ring {
    struct leo_sqe sq[DEPTH];
    struct leo_cqe cq[DEPTH];
};

struct bench {
    struct leo_sim_chip *chip;
    uint8_t *host;
    struct ring *ring;
    uint32_t tail[QUEUES];
    bool split;
};

static void push(struct bench *bench, unsigned queue, uint8_t opcode, uint8_t kind,
                 const void *body, size_t bytes)
{
    struct leo_sqe entry = {.opcode = opcode, .core_kind = kind};
    uint32_t doorbell = LEO_DOORBELL_BASE + queue * LEO_DOORBELL_STRIDE;
    memcpy(entry.body, body, bytes);
    bench->ring[queue].sq[bench->tail[queue]] = entry;
    bench->tail[queue] = (bench->tail[queue] + 1) % DEPTH;
    leo_sim_reg_write(bench->chip, doorbell + LEO_DOORBELL_SQ_TAIL, 4, bench->tail[queue]);
    leo_status status;
    do {
        status = leo_sim_chip_run(bench->chip, UINT64_C(1000000000));
        leo_sim_reg_write(bench->chip, LEO_REG_IRQ_STATUS, 4, 3);
    } while (status == LEO_OK);
    fuzz_check(status == LEO_ERR_NOT_READY, "the chip does not come to rest");
    leo_sim_reg_write(bench->chip, doorbell + LEO_DOORBELL_CQ_HEAD, 4, bench->tail[queue]);
}

static unsigned last_status(const struct bench *bench, unsigned queue)
{
    return bench->ring[queue].cq[(bench->tail[queue] + DEPTH - 1) % DEPTH].status;
}

static void map(struct bench *bench, uint64_t addr, uint64_t bytes, uint16_t space)
{
    struct leo_sqe_map body = {.addr = addr, .bytes = bytes, .space = space};
    push(bench, 0, LEO_SQE_OP_MAP, 0, &body, sizeof(body));
    fuzz_check(last_status(bench, 0) == 0, "map refused");
}

static void open_bench(struct bench *bench, const char *soc)
{
    static char text[FUZZ_SOC_BYTES];
    struct leo_sim_opts opts = {.size = sizeof(opts), .soc_text = text, .host_threads = 1};
    fuzz_soc_text(soc, text);
    fuzz_check(leo_sim_chip_create(&opts, &bench->chip, NULL, 0) == LEO_OK, "no chip");
    bench->host = aligned_alloc(64, HOST_BYTES);
    fuzz_check(bench->host != NULL, "out of memory");
    memset(bench->host, 0, HOST_BYTES);
    bench->ring = (struct ring *)(void *)bench->host;
    fuzz_check(leo_sim_dma_map(bench->chip, HOST, bench->host, HOST_BYTES) == LEO_OK, "dma map");
    leo_sim_reg_write(bench->chip, LEO_REG_ADMIN_SQ_BASE, 8, HOST);
    leo_sim_reg_write(bench->chip, LEO_REG_ADMIN_CQ_BASE, 8, HOST + sizeof(bench->ring[0].sq));
    leo_sim_reg_write(bench->chip, LEO_REG_ADMIN_DEPTH, 4, DEPTH);
    leo_sim_reg_write(bench->chip, LEO_REG_CONTROL, 4, 1);
    for (uint16_t queue = 1; queue < QUEUES; queue++) {
        uint64_t base = HOST + queue * sizeof(struct ring);
        struct leo_sqe_queue body = {.sq_base = base,
                                     .cq_base = base + sizeof(bench->ring[0].sq),
                                     .depth = DEPTH,
                                     .queue = queue,
                                     .space = queue};
        push(bench, 0, LEO_SQE_OP_CREATE_QUEUE, 0, &body, sizeof(body));
    }
    map(bench, GM, GUARD_BYTES, 2);
    map(bench, OWN, OWN_BYTES, 1);
    map(bench, OWN + OWN_BYTES, GUARD_BYTES, 2);
    map(bench, IMAGE, 1 << 14, 1);
}

static void fill(struct bench *bench, uint64_t addr, uint64_t bytes, uint32_t pattern,
                 unsigned queue)
{
    struct leo_sqe_copy body = {.dst = addr, .src = pattern, .width = bytes, .height = 1};
    push(bench, queue, LEO_SQE_OP_FILL, 0, &body, sizeof(body));
    fuzz_check(last_status(bench, queue) == 0, "fill refused");
}

static void check_guard(struct bench *bench, uint64_t addr)
{
    uint8_t *data = bench->host + 0x8000;
    struct leo_sqe_copy body = {
        .dst = HOST + 0x8000, .src = addr, .width = GUARD_BYTES, .height = 1, .flags = 1};
    push(bench, 2, LEO_SQE_OP_COPY, 0, &body, sizeof(body));
    for (size_t i = 0; i < GUARD_BYTES; i++) {
        fuzz_check(data[i] == 0x5a, "memory of another space changed");
    }
}

/* An operand near something that means something; `shape` says what. */
static uint64_t shape_operand(uint8_t shape, uint64_t value)
{
    switch (shape % 8) {
    case 0:
        return value;
    case 1:
    case 2: // a bare offset
        return (value & 0xfff) * 32;
    case 3:
        return OWN + (value & 0xfff) * 32;
    case 4: // a window
        return 0x20000000 + ((value & 7) << 24) + (value >> 8 & 0xff) * 32;
    case 5: // small fields
        return value & UINT64_C(0x0103070701030703);
    case 6:
        return value & UINT64_C(0x0f08080808080801);
    default:
        return OWN + OWN_BYTES - (value & 0xff);
    }
}

static uint32_t shape_word(uint32_t word)
{
    const struct leo_insn_info *info = leo_insn_info((enum leo_insn)(word >> 16 & 0xff));
    if (!info) {
        return word;
    }
    // The operands are in a0..a3; fields that belong to the pattern stay as they are.
    uint32_t regs = 10u << 7 | 11u << 15 | 12u << 20 | 13u << 27;
    if (info->form == LEO_INSN_FORM_I) {
        regs = (word & 0xfff) << 20 | 10u << 7 | 11u << 15;
    } else if (word & 0x8000) {
        regs = (regs & 0xff0fffff) | (word & 15) << 20; // a sub-operation
    }
    return info->match | (regs & ~info->mask);
}

/* The image: each step loads a0..a3 from the arguments and issues its word. Returns how many
 * argument slots. */
static unsigned write_image(struct fuzz_reader *reader, uint8_t *image, uint64_t *slots)
{
    struct leo_image_desc *desc = (struct leo_image_desc *)(void *)image;
    uint32_t *word = (uint32_t *)(void *)(image + sizeof(*desc));
    unsigned count = 0;
    *word++ = 0x310002b7; // lui t0, 0x31000
    while (reader->left && count < STEPS * 4) {
        uint32_t insn = shape_word(fuzz_take32(reader));
        uint8_t shape[4];
        fuzz_take(reader, shape, sizeof(shape));
        for (unsigned i = 0; i < 4; i++) {
            slots[count] = shape_operand(shape[i], fuzz_take64(reader));
            uint32_t offset = (uint32_t)-(8 * (int32_t)(STEPS * 4 - count)) & 0xfff;
            *word++ = offset << 20 | 5u << 15 | 3u << 12 | (10 + i) << 7 | 3; // ld aN, offset(t0)
            count++;
        }
        *word++ = insn;
    }
    *word++ = 0x00008067; // ret
    uint64_t bytes = (uint64_t)((uint8_t *)word - image) - sizeof(*desc);
    *desc = (struct leo_image_desc){.magic = LEO_IMAGE_MAGIC,
                                    .bytes = bytes,
                                    .rw_offset = bytes,
                                    .stack_bytes = 256,
                                    .text_bytes = bytes};
    return count;
}

static void run_kernel(struct bench *bench, struct fuzz_reader *reader, uint8_t kind)
{
    uint8_t *image = bench->host + 0x4000;
    uint64_t *slots = (uint64_t *)(void *)(bench->host + 0xc000);
    write_image(reader, image, slots);
    struct leo_sqe_copy copy = {
        .dst = IMAGE, .src = HOST + 0x4000, .width = 0x2000, .height = 1, .flags = 2};
    push(bench, 1, LEO_SQE_OP_COPY, 0, &copy, sizeof(copy));
    fuzz_check(last_status(bench, 1) == 0, "copy refused");
    struct leo_sqe_kernel kernel = {.image_addr = IMAGE,
                                    .args_addr = HOST + 0xc000,
                                    .block_num = 2,
                                    .args_bytes = STEPS * 4 * 8};
    push(bench, 1, LEO_SQE_OP_KERNEL, kind, &kernel, sizeof(kernel));
    fuzz_check(last_status(bench, 1) != LEO_FAULT_BAD_IMAGE &&
                   last_status(bench, 1) != LEO_FAULT_BAD_ENTRY,
               "launch refused");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fuzz_reader reader = {data, bytes};
    struct bench bench = {0};
    uint8_t choice = fuzz_take8(&reader);
    bench.split = choice & 1;
    open_bench(&bench, bench.split ? "ascend910b1" : "ascend910a");
    fill(&bench, GM, GUARD_BYTES, 0x5a5a5a5a, 2);
    fill(&bench, OWN + OWN_BYTES, GUARD_BYTES, 0x5a5a5a5a, 2);
    fill(&bench, OWN, OWN_BYTES, choice & 4 ? 0x3f803c00 : 0x7fc07e01, 1);
    uint8_t kind = bench.split ? (choice & 2 ? LEO_CORE_KIND_CUBE : LEO_CORE_KIND_VECTOR)
                               : LEO_CORE_KIND_AICORE;
    run_kernel(&bench, &reader, kind);
    check_guard(&bench, GM);
    check_guard(&bench, OWN + OWN_BYTES);
    leo_sim_chip_destroy(bench.chip);
    free(bench.host);
    return 0;
}

/* Seed n: instruction n + 1 a few times with operands of several shapes, on either chip and both
 * kinds. */
size_t fuzz_seed(unsigned index, uint8_t *data)
{
    if (index >= 4 * (LEO_INSN_COUNT - 1)) {
        return 0;
    }
    size_t bytes = 0;
    uint64_t value = 0x0123456789abcdef + index;
    data[bytes++] = (uint8_t)(index % 4 | (index / 7 % 2) << 2);
    for (unsigned step = 0; step < 6; step++) {
        uint32_t word = (index / 4 + 1) << 16 | step * 0x421;
        memcpy(data + bytes, &word, sizeof(word));
        for (unsigned i = 0; i < 4; i++) {
            data[bytes + 4 + i] = (uint8_t)(i == 3 ? 5 + step % 2 : 1 + (step + i) % 4);
            value = value * 6364136223846793005u + 1442695040888963407u;
            memcpy(data + bytes + 8 + 8 * i, &value, sizeof(value));
        }
        bytes += 40;
    }
    return bytes;
}
