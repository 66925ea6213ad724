/* SPDX-License-Identifier: Apache-2.0 */
/* The chip through its registers and rings. */
#include "harness.h"
#include "rig.h"

#include <leo/alloc.h>
#include <leo/csr.h>
#include <leo/map.h>
#include <leo/soc.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE        (RIG_GM + 0x8000)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AICORE       LEO_CORE_KIND_AICORE

/* out[block_idx] = value + block_idx */
static void write_store_kernel(struct rig *rig)
{
    const uint32_t words[] = {
        rv_csrr(T0, LEO_CSR_BLOCK_IDX),
        rv_slli(T1, T0, 3),
        rv_add(A0, A0, T1),
        rv_add(A1, A1, T0),
        rv_sd(A1, A0, 0),
        rv_ret(),
    };
    rig_image(rig, IMAGE, words, COUNT(words));
}

/* HW-CHIP-40 */
static void kernel_runs_on_all_blocks(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    write_store_kernel(&rig);
    uint64_t slots[] = {RIG_GM, 100};
    struct leo_cqe cqe;
    CU_ASSERT_EQUAL(rig_run(&rig, AICORE, IMAGE, 100, slots, 2, &cqe), 0);
    uint64_t out[100];
    rig_read(&rig, RIG_GM, out, sizeof(out));
    for (unsigned i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(out[i], 100 + i);
    }
    rig_close(&rig);
}

/* HW-CHIP-42: ids and groups of the cores of a split chip. */
static void split_cores_know_their_place(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910b1", NULL, 2);
    const uint32_t words[] = {
        rv_csrr(T0, LEO_CSR_BLOCK_IDX),
        rv_slli(T0, T0, 5),
        rv_add(A0, A0, T0),
        rv_csrr(T0, LEO_CSR_CORE_ID),
        rv_sd(T0, A0, 0),
        rv_csrr(T0, LEO_CSR_SUB_BLOCK_IDX),
        rv_sd(T0, A0, 8),
        rv_csrr(T0, LEO_CSR_SUB_BLOCK_NUM),
        rv_sd(T0, A0, 16),
        rv_csrr(T0, LEO_CSR_ARCH),
        rv_sd(T0, A0, 24),
        rv_ret(),
    };
    rig_image(&rig, IMAGE, words, COUNT(words));
    uint64_t slot = RIG_GM, out[48][4];
    CU_ASSERT_EQUAL(rig_run(&rig, LEO_CORE_KIND_VECTOR, IMAGE, 48, &slot, 1, NULL), 0);
    rig_read(&rig, RIG_GM, out, sizeof(out));
    for (unsigned i = 0; i < 48; i++) {
        CU_ASSERT_TRUE(out[i][0] == 24 + i && out[i][1] == i % 2 && out[i][2] == 2 &&
                       out[i][3] == 2201);
    }
    CU_ASSERT_EQUAL(rig_run(&rig, LEO_CORE_KIND_CUBE, IMAGE, 24, &slot, 1, NULL), 0);
    rig_read(&rig, RIG_GM, out, sizeof(out));
    for (unsigned i = 0; i < 24; i++) {
        CU_ASSERT_TRUE(out[i][0] == i && out[i][1] == 0 && out[i][2] == 1);
    }
    rig_close(&rig);
}

/* HW-CHIP-41: registers, stack and relocated slots of an argument block. */
static void arguments_follow_the_calling_convention(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    const uint32_t words[] = {
        rv_sd(A7, A0, 0),  rv_ld(T0, SP, 0),     rv_sd(T0, A0, 8),  rv_ld(T0, A1, 0),
        rv_sd(T0, A0, 16), rv_sd(SP, SP, -1024), rv_sd(A1, A0, 24), rv_ret(),
    };
    rig_image(&rig, IMAGE, words, COUNT(words));
    uint64_t block[10] = {RIG_GM, 72, 3, 4, 5, 6, 7, 88, 99, 0x5a5a};
    struct leo_sqe_kernel body = rig_kernel(&rig, IMAGE, 1, block, 10);
    body.slots = 9;
    body.reloc = 2;
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_KERNEL, AICORE, &body, sizeof(body), NULL), 0);
    uint64_t out[4];
    rig_read(&rig, RIG_GM, out, sizeof(out));
    CU_ASSERT_EQUAL(out[0], 88);
    CU_ASSERT_EQUAL(out[1], 99);
    CU_ASSERT_EQUAL(out[2], 0x5a5a);
    CU_ASSERT_EQUAL(out[3], 0x31000000 - 80 + 72);
    // An offset may name the end of the block, as of nothing there, and nothing behind it.
    block[1] = sizeof(block);
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_KERNEL, AICORE, &body, sizeof(body), NULL), 0);
    block[1] = sizeof(block) + 1;
    struct leo_sqe_kernel beyond = rig_kernel(&rig, IMAGE, 1, block, 10);
    beyond.slots = 9;
    beyond.reloc = 2;
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_KERNEL, AICORE, &beyond, sizeof(beyond), NULL),
                    LEO_FAULT_BAD_ENTRY);
    block[1] = 72;
    // The same block from device memory.
    rig_write(&rig, RIG_GM + 4096, block, sizeof(block));
    body.args_addr = RIG_GM + 4096;
    body.args_flags = 1;
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_KERNEL, AICORE, &body, sizeof(body), NULL), 0);
    rig_close(&rig);
}

/* HW-CHIP-41: a block's stack is zero, whatever the block before left there and in whatever order
 * it is read. */
static void stacks_begin_as_zero(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    struct {
        struct leo_image_desc desc;
        uint32_t words[24];
    } image = {.desc = {.magic = LEO_IMAGE_MAGIC,
                        .bytes = sizeof(image.words),
                        .rw_offset = sizeof(image.words),
                        .stack_bytes = 8192,
                        .text_bytes = sizeof(image.words)}};
    const uint32_t words[] = {
        rv_csrr(T0, LEO_CSR_BLOCK_IDX),
        rv_slli(T0, T0, 3),
        rv_add(A0, A0, T0),
        rv_addi(A2, SP, -2000),
        rv_addi(A3, A2, -2000),
        rv_addi(A4, A3, -2000),
        // The top, the lowest, what is in between.
        rv_ld(T0, SP, -8),
        rv_ld(T1, A4, 0),
        rv_add(T0, T0, T1),
        rv_ld(T1, A3, 0),
        rv_add(T0, T0, T1),
        rv_ld(T1, A2, 0),
        rv_add(T0, T0, T1),
        rv_sd(T0, A0, 0),
        rv_sd(A1, SP, -8),
        rv_sd(A1, A2, 0),
        rv_sd(A1, A3, 0),
        rv_sd(A1, A4, 0),
        rv_ret(),
    };
    memcpy(image.words, words, sizeof(words));
    rig_write(&rig, IMAGE, &image, sizeof(image));
    uint64_t slots[] = {RIG_GM, 1}, out[100];
    CU_ASSERT_EQUAL(rig_run(&rig, AICORE, IMAGE, 100, slots, 2, NULL), 0);
    rig_read(&rig, RIG_GM, out, sizeof(out));
    for (unsigned i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(out[i], 0);
    }
    rig_close(&rig);
}

/* HW-CHIP-23: each block has its own copy of what an image can write. */
static void writable_data_is_private_to_a_block(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    struct {
        struct leo_image_desc desc;
        uint32_t words[16];
        uint64_t data;
    } image = {.desc = {.magic = LEO_IMAGE_MAGIC,
                        .bytes = 72,
                        .rw_offset = 64,
                        .rw_bytes = 8,
                        .bss_bytes = 8,
                        .text_bytes = 64}};
    const uint32_t words[] = {
        rv_lui(T0, 0x10000), rv_ld(T1, T0, 64),  rv_addi(T1, T1, 1), rv_sd(T1, T0, 64),
        rv_ld(T2, T0, 72),   rv_add(T1, T1, T2), rv_sd(T1, T0, 72),  rv_csrr(T2, LEO_CSR_BLOCK_IDX),
        rv_slli(T2, T2, 3),  rv_add(A0, A0, T2), rv_sd(T1, A0, 0),   rv_ret(),
    };
    memcpy(image.words, words, sizeof(words));
    image.data = 41;
    rig_write(&rig, IMAGE, &image, sizeof(image));
    uint64_t slot = RIG_GM, out[100];
    CU_ASSERT_EQUAL(rig_run(&rig, AICORE, IMAGE, 100, &slot, 1, NULL), 0);
    rig_read(&rig, RIG_GM, out, sizeof(out));
    for (unsigned i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(out[i], 42);
    }
    rig_close(&rig);
}

/* HW-CHIP-24: text that is written again is decoded again. */
static void rewritten_image_runs_anew(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    uint64_t slot = RIG_GM, out;
    for (int value = 1; value < 5; value++) {
        const uint32_t words[] = {rv_addi(T0, ZERO, value), rv_sd(T0, A0, 0), rv_ret()};
        rig_image(&rig, IMAGE, words, COUNT(words));
        CU_ASSERT_EQUAL(rig_run(&rig, AICORE, IMAGE, 1, &slot, 1, NULL), 0);
        rig_read(&rig, RIG_GM, &out, sizeof(out));
        CU_ASSERT_EQUAL(out, value);
    }
    // The same in a mapping of its own that kernels cannot write: only the copy can have shown it.
    const uint64_t apart = RIG_GM + (1 << 20) + 4096;
    CU_ASSERT_EQUAL(rig_map(&rig, apart, 4096, true), 0);
    for (int value = 1; value < 5; value++) {
        const uint32_t words[] = {rv_addi(T0, ZERO, value), rv_sd(T0, A0, 0), rv_ret()};
        rig_image(&rig, apart, words, COUNT(words));
        CU_ASSERT_EQUAL(rig_run(&rig, AICORE, apart, 1, &slot, 1, NULL), 0);
        rig_read(&rig, RIG_GM, &out, sizeof(out));
        CU_ASSERT_EQUAL(out, value);
    }
    // A kernel that patches the text of the image, itself included: the next launch sees it.
    const uint32_t patch[] = {rv_ld(T0, A0, 0), rv_store(2, A1, A2, 64), rv_addi(T1, ZERO, 7),
                              rv_sd(T1, A0, 0), rv_ret()};
    rig_image(&rig, IMAGE, patch, COUNT(patch));
    uint64_t slots[] = {RIG_GM, rv_ret(), IMAGE};
    CU_ASSERT_EQUAL(rig_run(&rig, AICORE, IMAGE, 1, slots, 3, NULL), 0);
    uint64_t zero = 0;
    rig_write(&rig, RIG_GM, &zero, sizeof(zero));
    CU_ASSERT_EQUAL(rig_run(&rig, AICORE, IMAGE, 1, slots, 3, NULL), 0);
    rig_read(&rig, RIG_GM, &out, sizeof(out));
    CU_ASSERT_EQUAL(out, 0);
    rig_close(&rig);
}

/* HW-CHIP-11, HW-CHIP-12: indices and phases over many passes. */
static void rings_wrap(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    for (unsigned round = 0; round < 100; round++) {
        uint32_t first = 0;
        unsigned count = round % (RIG_DEPTH - 1) + 1;
        for (unsigned i = 0; i < count; i++) {
            uint32_t id = rig_push(&rig, 2, LEO_SQE_OP_NOP, 0, NULL, 0);
            first = i ? first : id;
        }
        rig_ring(&rig, 2);
        for (unsigned i = 0; i < count; i++) {
            struct leo_cqe cqe;
            CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 2, &cqe));
            CU_ASSERT_EQUAL(cqe.cmd_id, first + i);
            CU_ASSERT_EQUAL(cqe.queue, 2);
            CU_ASSERT_EQUAL(cqe.status, 0);
        }
        CU_ASSERT_FALSE(rig_pop(&rig, 2, NULL));
    }
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, UINT64_MAX), LEO_ERR_NOT_READY);
    rig_close(&rig);
}

/* HW-CHIP-13: the chip never overwrites a completion that was not taken. */
static void full_completion_ring_holds_the_stream(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    for (unsigned i = 0; i < RIG_DEPTH - 1; i++) {
        rig_push(&rig, 2, LEO_SQE_OP_NOP, 0, NULL, 0);
    }
    rig_ring(&rig, 2);
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, UINT64_MAX), LEO_OK);
    // All are written but none taken: the next must wait.
    uint32_t last = rig_push(&rig, 2, LEO_SQE_OP_NOP, 0, NULL, 0);
    rig_ring(&rig, 2);
    leo_sim_reg_write(rig.chip, LEO_REG_IRQ_STATUS, 4, 3);
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, UINT64_MAX), LEO_ERR_NOT_READY);
    struct leo_cqe cqe;
    for (unsigned i = 0; i < RIG_DEPTH - 1; i++) {
        CU_ASSERT_TRUE(rig_pop(&rig, 2, &cqe));
    }
    CU_ASSERT_TRUE(rig_wait(&rig, 2, &cqe));
    CU_ASSERT_EQUAL(cqe.cmd_id, last);
    rig_close(&rig);
}

/* HW-CHIP-25: plain and two-dimensional copies and fills. */
static void copies_move_rows(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    uint8_t *host = rig.data + 4096;
    for (unsigned i = 0; i < 256; i++) {
        host[i] = (uint8_t)i;
    }
    struct leo_sqe_copy body = {.dst = RIG_GM, .src = 0xa1b2c3d4, .width = 1024, .height = 1};
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_FILL, 0, &body, sizeof(body), NULL), 0);
    body = (struct leo_sqe_copy){.dst = RIG_GM,
                                 .src = rig_dma(&rig, host),
                                 .width = 5,
                                 .height = 3,
                                 .flags = 2,
                                 .dst_pitch = 10,
                                 .src_pitch = 100};
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_COPY, 0, &body, sizeof(body), NULL), 0);
    body = (struct leo_sqe_copy){.dst = RIG_GM + 3, .src = RIG_GM, .width = 40, .height = 1};
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_COPY, 0, &body, sizeof(body), NULL), 0);
    uint8_t expected[64], out[64];
    for (unsigned i = 0; i < 64; i++) {
        expected[i] = (uint8_t)(UINT32_C(0xa1b2c3d4) >> i % 4 * 8);
    }
    for (unsigned row = 0; row < 3; row++) {
        memcpy(expected + row * 10, host + row * 100, 5);
    }
    memmove(expected + 3, expected, 40);
    rig_read(&rig, RIG_GM, out, sizeof(out));
    CU_ASSERT_EQUAL(memcmp(out, expected, sizeof(out)), 0);
    rig_close(&rig);
}

/* HW-CHIP-22: memory that changes hands reads zero, and other spaces do not reach it. */
static void spaces_are_apart(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    const uint64_t addr = RIG_GM + (1 << 21);
    struct leo_sqe_map map = {.addr = addr, .bytes = 100001, .space = 1};
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_MAP, 0, &map, sizeof(map), NULL), 0);
    struct leo_sqe_copy copy = {.dst = addr, .src = 0x11111111, .width = 8, .height = 1};
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_FILL, 0, &copy, sizeof(copy), NULL),
                    LEO_FAULT_GM_OUT_OF_RANGE);
    struct leo_sqe_queue queue = {.queue = 3};
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_DELETE_QUEUE, 0, &queue, sizeof(queue), NULL), 0);
    queue = (struct leo_sqe_queue){.sq_base = rig_dma(&rig, rig.ring[3].sq),
                                   .cq_base = rig_dma(&rig, rig.ring[3].cq),
                                   .depth = RIG_DEPTH,
                                   .queue = 3,
                                   .space = 1};
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_CREATE_QUEUE, 0, &queue, sizeof(queue), NULL), 0);
    copy.width = 100001;
    CU_ASSERT_EQUAL(rig_do(&rig, 3, LEO_SQE_OP_FILL, 0, &copy, sizeof(copy), NULL), 0);
    CU_ASSERT_EQUAL(rig_map(&rig, addr + 100000, 10, false), LEO_FAULT_BAD_ENTRY);
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_RESET_SPACE, 0, &map, sizeof(map), NULL), 0);
    CU_ASSERT_EQUAL(rig_do(&rig, 3, LEO_SQE_OP_FILL, 0, &copy, sizeof(copy), NULL),
                    LEO_FAULT_GM_OUT_OF_RANGE);
    CU_ASSERT_EQUAL(rig_map(&rig, addr, 100001, false), 0);
    uint8_t out[64];
    rig_read(&rig, addr + 100001 - 64, out, sizeof(out));
    for (unsigned i = 0; i < sizeof(out); i++) {
        CU_ASSERT_EQUAL(out[i], 0);
    }
    rig_close(&rig);
}

/* HW-CHIP-72 */
static void on_chip_buffers_can_be_read(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    uint8_t *out = rig.data;
    memset(out, 0xff, 64);
    struct leo_sqe_local body = {
        .dst = rig_dma(&rig, out), .offset = 32, .bytes = 32, .space = LEO_MEM_SPACE_UB};
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_READ_LOCAL, 0, &body, sizeof(body), NULL), 0);
    for (unsigned i = 0; i < 64; i++) {
        CU_ASSERT_EQUAL(out[i], i < 32 ? 0 : 0xff);
    }
    const struct leo_sqe_local good = body;
    body.core = 1000;
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_READ_LOCAL, 0, &body, sizeof(body), NULL),
                    LEO_FAULT_BAD_ENTRY);
    body = good;
    body.space = LEO_MEM_SPACE_GM;
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_READ_LOCAL, 0, &body, sizeof(body), NULL),
                    LEO_FAULT_BAD_ENTRY);
    body.space = LEO_MEM_SPACE_PRIVATE;
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_READ_LOCAL, 0, &body, sizeof(body), NULL),
                    LEO_FAULT_BAD_ENTRY);
    body = good;
    body.offset = UINT64_MAX - 15;
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_READ_LOCAL, 0, &body, sizeof(body), NULL),
                    LEO_FAULT_LOCAL_OUT_OF_RANGE);
    body = good;
    body.bytes = UINT64_MAX;
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_READ_LOCAL, 0, &body, sizeof(body), NULL),
                    LEO_FAULT_LOCAL_OUT_OF_RANGE);
    body = good;
    body.dst = 0;
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_READ_LOCAL, 0, &body, sizeof(body), NULL),
                    LEO_FAULT_DMA_OUT_OF_RANGE);
    // A queue of a process is no place for it.
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_READ_LOCAL, 0, &good, sizeof(good), NULL),
                    LEO_FAULT_BAD_ENTRY);
    rig_close(&rig);
}

/* HW-CHIP-82 without a checker: nothing is known; ranges outside the memory are refused. */
static void unwritten_memory_is_not_known_unasked(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    struct leo_unwritten *found = (struct leo_unwritten *)rig.data;
    memset(found, 0xff, sizeof(*found));
    struct leo_sqe_unwritten body = {.dst = rig_dma(&rig, found), .addr = LEO_MAP_GM, .bytes = 64};
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_READ_UNWRITTEN, 0, &body, sizeof(body), NULL), 0);
    CU_ASSERT_EQUAL(found->known, 0);
    CU_ASSERT_EQUAL(found->bytes, 0);
    const struct leo_sqe_unwritten good = body;
    body.addr = LEO_MAP_GM - 1;
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_READ_UNWRITTEN, 0, &body, sizeof(body), NULL),
                    LEO_FAULT_BAD_ENTRY);
    body = good;
    body.bytes = UINT64_MAX;
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_READ_UNWRITTEN, 0, &body, sizeof(body), NULL),
                    LEO_FAULT_BAD_ENTRY);
    body = good;
    body.dst = 1;
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_READ_UNWRITTEN, 0, &body, sizeof(body), NULL),
                    LEO_FAULT_DMA_OUT_OF_RANGE);
    rig_close(&rig);
}

/* HW-CHIP-03, HW-CHIP-04 */
static void registers_say_what_the_chip_is(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910b1", NULL, 1);
    struct leo_sim_chip *chip = rig.chip;
    CU_ASSERT_EQUAL(leo_sim_reg_read(chip, LEO_REG_ID, 4), LEO_REG_ID_RESET);
    CU_ASSERT_EQUAL(leo_sim_reg_read(chip, LEO_REG_ARCH, 4), 2201);
    CU_ASSERT_EQUAL(leo_sim_reg_read(chip, LEO_REG_CAP_CUBE_CORES, 4), 24);
    CU_ASSERT_EQUAL(leo_sim_reg_read(chip, LEO_REG_CAP_VEC_CORES, 4), 48);
    CU_ASSERT_EQUAL(leo_sim_reg_read(chip, LEO_REG_HBM_BYTES, 8), UINT64_C(64) << 30);
    CU_ASSERT_EQUAL(leo_sim_reg_read(chip, LEO_REG_HBM_BYTES, 4), 0);
    CU_ASSERT_EQUAL(leo_sim_reg_read(chip, LEO_REG_HBM_BYTES + 4, 4), 16);
    CU_ASSERT_EQUAL(leo_sim_reg_read(chip, 0xfffc, 4), 0);
    CU_ASSERT_EQUAL(leo_sim_reg_read(chip, LEO_REG_ARCH, 2), 0);
    char name[33] = {0};
    for (uint32_t i = 0; i < 32; i += 4) {
        uint64_t part = leo_sim_reg_read(chip, LEO_REG_SOC_NAME + i, 4);
        memcpy(name + i, &part, 4);
    }
    CU_ASSERT_STRING_EQUAL(name, "ascend910b1");
    leo_sim_reg_write(chip, LEO_REG_FAULT_BASE, 8, UINT64_C(0x1122334455667788));
    leo_sim_reg_write(chip, LEO_REG_FAULT_BASE + 4, 4, 0xaabbccdd);
    CU_ASSERT_EQUAL(leo_sim_reg_read(chip, LEO_REG_FAULT_BASE, 8), UINT64_C(0xaabbccdd55667788));
    leo_sim_reg_write(chip, LEO_REG_ARCH, 4, 7);
    CU_ASSERT_EQUAL(leo_sim_reg_read(chip, LEO_REG_ARCH, 4), 2201);
    rig_close(&rig);
}

/* HW-CHIP-05 */
static void interrupts_can_be_masked(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    leo_sim_reg_write(rig.chip, LEO_REG_IRQ_STATUS, 4, 3);
    leo_sim_reg_write(rig.chip, LEO_REG_IRQ_MASK, 4, 1);
    rig_push(&rig, 1, LEO_SQE_OP_NOP, 0, NULL, 0);
    rig_ring(&rig, 1);
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, UINT64_MAX), LEO_ERR_NOT_READY);
    CU_ASSERT_EQUAL(leo_sim_reg_read(rig.chip, LEO_REG_IRQ_STATUS, 4), 1);
    leo_sim_reg_write(rig.chip, LEO_REG_IRQ_MASK, 4, 0);
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, UINT64_MAX), LEO_OK);
    // A bit that is written clears itself alone: a fault raises both.
    const struct leo_sqe_copy copy = {.dst = 64, .src = 64, .width = 64, .height = 1};
    rig_push(&rig, 1, LEO_SQE_OP_COPY, 0, &copy, sizeof(copy));
    leo_sim_reg_write(rig.chip, LEO_REG_IRQ_MASK, 4, 3);
    rig_ring(&rig, 1);
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, UINT64_MAX), LEO_ERR_NOT_READY);
    CU_ASSERT_EQUAL(leo_sim_reg_read(rig.chip, LEO_REG_IRQ_STATUS, 4), 3);
    leo_sim_reg_write(rig.chip, LEO_REG_IRQ_STATUS, 4, 1);
    CU_ASSERT_EQUAL(leo_sim_reg_read(rig.chip, LEO_REG_IRQ_STATUS, 4), 2);
    leo_sim_reg_write(rig.chip, LEO_REG_IRQ_STATUS, 4, 2);
    CU_ASSERT_EQUAL(leo_sim_reg_read(rig.chip, LEO_REG_IRQ_STATUS, 4), 0);
    rig_close(&rig);
}

/* HW-CHIP-06, HW-CHIP-07 */
static void reset_takes_everything_back(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 2);
    write_store_kernel(&rig);
    const uint32_t hang[] = {rv_hang()};
    rig_image(&rig, IMAGE + 0x1000, hang, 1);
    struct leo_sqe_kernel body = rig_kernel(&rig, IMAGE + 0x1000, 40, NULL, 0);
    rig_push(&rig, 1, LEO_SQE_OP_KERNEL, AICORE, &body, sizeof(body));
    rig_ring(&rig, 1);
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, 2000000), LEO_ERR_TIMEOUT);
    uint64_t time_ns = leo_sim_reg_read(rig.chip, LEO_REG_SIM_TIME_NS, 8);
    memset(leo_sim_window(rig.chip, RIG_GM, 4096), 0x5a, 4096);
    leo_sim_reg_write(rig.chip, LEO_REG_CONTROL, 4, 2);
    CU_ASSERT_EQUAL(leo_sim_reg_read(rig.chip, LEO_REG_CONTROL, 4), 0);
    CU_ASSERT_EQUAL(leo_sim_reg_read(rig.chip, LEO_REG_STATUS, 4), 0);
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, UINT64_MAX), LEO_ERR_NOT_READY);
    CU_ASSERT_EQUAL(leo_sim_reg_read(rig.chip, LEO_REG_SIM_TIME_NS, 8), time_ns);
    // Enabling without a ring kills the function until the next reset.
    leo_sim_reg_write(rig.chip, LEO_REG_CONTROL, 4, 1);
    CU_ASSERT_EQUAL(leo_sim_reg_read(rig.chip, LEO_REG_STATUS, 4), 2);
    leo_sim_reg_write(rig.chip, LEO_REG_CONTROL, 4, 2);
    // A new start with the same memory.
    memset(rig.host, 0, 0x8000);
    for (unsigned queue = 0; queue < RIG_QUEUES; queue++) {
        rig.ring[queue] = (struct rig_ring){.phase = 1};
    }
    leo_sim_reg_write(rig.chip, LEO_REG_ADMIN_SQ_BASE, 8, rig_dma(&rig, rig.ring[0].sq));
    leo_sim_reg_write(rig.chip, LEO_REG_ADMIN_CQ_BASE, 8, rig_dma(&rig, rig.ring[0].cq));
    leo_sim_reg_write(rig.chip, LEO_REG_ADMIN_DEPTH, 4, RIG_DEPTH);
    leo_sim_reg_write(rig.chip, LEO_REG_CONTROL, 4, 1);
    CU_ASSERT_EQUAL(leo_sim_reg_read(rig.chip, LEO_REG_STATUS, 4), 1);
    struct leo_sqe_queue queue = {.sq_base = rig_dma(&rig, rig.ring[1].sq),
                                  .cq_base = rig_dma(&rig, rig.ring[1].cq),
                                  .depth = RIG_DEPTH,
                                  .queue = 1};
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_CREATE_QUEUE, 0, &queue, sizeof(queue), NULL), 0);
    CU_ASSERT_EQUAL(rig_map(&rig, RIG_GM, 1 << 20, false), 0);
    const uint8_t *bytes = leo_sim_window(rig.chip, RIG_GM, 4096);
    CU_ASSERT(bytes[0] == 0 && bytes[4095] == 0); // nobody sees what was there before
    write_store_kernel(&rig);
    uint64_t slots[] = {RIG_GM, 5}, out;
    CU_ASSERT_EQUAL(rig_run(&rig, AICORE, IMAGE, 40, slots, 2, NULL), 0);
    rig_read(&rig, RIG_GM + 39 * 8, &out, sizeof(out));
    CU_ASSERT_EQUAL(out, 44);
    rig_close(&rig);
}

/* HW-CHIP-14: a ring whose memory goes away stops; the others do not notice. */
static void lost_ring_memory_breaks_one_queue(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    uint8_t *memory = aligned_alloc(64, 4096);
    memset(memory, 0, 4096);
    CU_ASSERT_EQUAL(leo_sim_dma_map(rig.chip, 0x900000, memory, 4096), LEO_OK);
    CU_ASSERT_EQUAL(leo_sim_dma_map(rig.chip, 0x900fff, memory, 10), LEO_ERR_EXISTS);
    struct leo_sqe_queue queue = {.sq_base = 0x900000, .cq_base = 0x900400, .depth = 8, .queue = 9};
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_CREATE_QUEUE, 0, &queue, sizeof(queue), NULL), 0);
    leo_sim_dma_unmap(rig.chip, 0x900000);
    free(memory);
    leo_sim_reg_write(rig.chip, LEO_DOORBELL_BASE + 9 * LEO_DOORBELL_STRIDE, 4, 3);
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, UINT64_MAX), LEO_OK);
    CU_ASSERT_EQUAL(leo_sim_reg_read(rig.chip, LEO_REG_IRQ_STATUS, 4), 2);
    CU_ASSERT_EQUAL(rig.faults[0].code, LEO_FAULT_DMA_OUT_OF_RANGE);
    CU_ASSERT_EQUAL(rig.faults[0].queue, 9);
    CU_ASSERT_EQUAL(rig.faults[0].addr, 0x900000);
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_NOP, 0, NULL, 0, NULL), 0);
    rig_close(&rig);
}

/* HW-CHIP-02: device memory costs what is touched. */
static void chip_costs_what_is_touched(void)
{
    long before = rig_resident_kib();
    struct rig rig;
    rig_open(&rig, "ascend910b1", NULL, 1);
    // 64 GiB of device memory and 72 cores; the rig's own memory is in it.
    CU_ASSERT_TRUE(rig_resident_kib() - before < 64 << 10);
    rig_close(&rig);
}

static void creation_survives_failing_allocations(void)
{
    struct leo_sim_opts opts = {
        .size = sizeof(opts), .soc_text = leo_isa_soc_text("ascend910a"), .host_threads = 2};
    struct leo_sim_chip *chip;
    char error[100];
    int n = 1;
    for (;; n++) {
        leo_alloc_fail_after(n);
        leo_status status = leo_sim_chip_create(&opts, &chip, error, sizeof(error));
        if (leo_alloc_fail_pending()) {
            leo_alloc_fail_after(0);
            CU_ASSERT_EQUAL(status, LEO_OK);
            leo_sim_chip_destroy(chip);
            break;
        }
        CU_ASSERT_EQUAL(status, LEO_ERR_NO_MEMORY);
        CU_ASSERT_PTR_NULL(chip);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "out of host memory"));
    }
    CU_ASSERT_TRUE(n > 10);
    opts.simd = "mmx";
    CU_ASSERT_NOT_EQUAL(leo_sim_chip_create(&opts, &chip, error, sizeof(error)), LEO_OK);
    opts.size = 3;
    CU_ASSERT_EQUAL(leo_sim_chip_create(&opts, &chip, NULL, 0), LEO_ERR_INVALID_ARG);
}

static unsigned run_image(struct rig *rig, const struct leo_image_desc *desc)
{
    rig_write(rig, IMAGE, desc, sizeof(*desc));
    return rig_run(rig, AICORE, IMAGE, 1, NULL, 0, NULL);
}

// Descriptors whose parts do not lie within the image, or within each other.
static void images_with_parts_outside_are_refused(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    write_store_kernel(&rig);
    struct leo_image_desc good, bad;
    rig_read(&rig, IMAGE, &good, sizeof(good));
    bad = good;
    bad.rw_offset = 4; // the text reaches into the data
    bad.rw_bytes = bad.bytes - 4;
    CU_ASSERT_EQUAL(run_image(&rig, &bad), LEO_FAULT_BAD_IMAGE);
    bad = good;
    bad.rw_bytes = 4; // of an image that ends with its text
    CU_ASSERT_EQUAL(run_image(&rig, &bad), LEO_FAULT_BAD_IMAGE);
    bad = good;
    bad.stack_bytes = 8;
    CU_ASSERT_EQUAL(run_image(&rig, &bad), LEO_FAULT_BAD_IMAGE);
    rig_close(&rig);
}

static void wrong_entries_are_refused(void)
{
    struct rig rig;
    struct leo_cqe cqe;
    rig_open(&rig, "ascend910a", NULL, 1);
    const struct leo_sqe_queue queue = {.sq_base = rig_dma(&rig, rig.ring[1].sq),
                                        .cq_base = rig_dma(&rig, rig.ring[1].cq),
                                        .depth = RIG_DEPTH,
                                        .queue = 1};
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_CREATE_QUEUE, 0, &queue, sizeof(queue), NULL),
                    LEO_FAULT_BAD_ENTRY); // it exists
    // The last bytes of host memory, and one more.
    struct leo_sqe_copy copy = {.dst = RIG_GM,
                                .src = rig_dma(&rig, rig.host) + RIG_HOST_BYTES - 64,
                                .width = 64,
                                .height = 1,
                                .flags = 2};
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_COPY, 0, &copy, sizeof(copy), NULL), 0);
    copy.width = 65;
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_COPY, 0, &copy, sizeof(copy), NULL),
                    LEO_FAULT_DMA_OUT_OF_RANGE);
    // Bits of the flags that mean nothing.
    rig_push(&rig, 1, LEO_SQE_OP_NOP, 0, NULL, 0);
    rig.ring[1].sq[(rig.ring[1].tail + RIG_DEPTH - 1) % RIG_DEPTH].flags = 0x80;
    rig_ring(&rig, 1);
    CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 1, &cqe));
    CU_ASSERT_EQUAL(cqe.status, LEO_FAULT_BAD_ENTRY);
    const struct leo_sqe_value value = {.addr = RIG_GM + 4};
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_VALUE_WAIT, 0, &value, sizeof(value), NULL),
                    LEO_FAULT_BAD_ENTRY);
    rig_close(&rig);
}

// What is waited for is the record of this number, not a later one.
static void events_are_reached_at_their_number(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    const struct leo_sqe_event event = {.event = 3, .sequence = 1};
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_EVENT_RECORD, 0, &event, sizeof(event), NULL), 0);
    CU_ASSERT_EQUAL(rig_do(&rig, 2, LEO_SQE_OP_EVENT_WAIT, 0, &event, sizeof(event), NULL), 0);
    rig_close(&rig);
}

static const struct leo_test tests[] = {
    {"unwritten_memory_is_not_known_unasked", unwritten_memory_is_not_known_unasked},
    {"images_with_parts_outside_are_refused", images_with_parts_outside_are_refused},
    {"wrong_entries_are_refused", wrong_entries_are_refused},
    {"events_are_reached_at_their_number", events_are_reached_at_their_number},
    {"kernel_runs_on_all_blocks", kernel_runs_on_all_blocks},
    {"split_cores_know_their_place", split_cores_know_their_place},
    {"arguments_follow_the_calling_convention", arguments_follow_the_calling_convention},
    {"stacks_begin_as_zero", stacks_begin_as_zero},
    {"writable_data_is_private_to_a_block", writable_data_is_private_to_a_block},
    {"rewritten_image_runs_anew", rewritten_image_runs_anew},
    {"rings_wrap", rings_wrap},
    {"full_completion_ring_holds_the_stream", full_completion_ring_holds_the_stream},
    {"copies_move_rows", copies_move_rows},
    {"spaces_are_apart", spaces_are_apart},
    {"on_chip_buffers_can_be_read", on_chip_buffers_can_be_read},
    {"registers_say_what_the_chip_is", registers_say_what_the_chip_is},
    {"interrupts_can_be_masked", interrupts_can_be_masked},
    {"reset_takes_everything_back", reset_takes_everything_back},
    {"lost_ring_memory_breaks_one_queue", lost_ring_memory_breaks_one_queue},
    {"chip_costs_what_is_touched", chip_costs_what_is_touched},
    {"creation_survives_failing_allocations", creation_survives_failing_allocations},
};

int main(int argc, char **argv)
{
    return leo_test_main("chip", tests, COUNT(tests), argc, argv);
}
