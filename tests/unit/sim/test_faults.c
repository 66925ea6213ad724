/* SPDX-License-Identifier: Apache-2.0 */
/* HW-CHIP-30 .. HW-CHIP-34: every fault once, with its record; the chip keeps working after each.
 */
#include "harness.h"
#include "rig.h"

#include <leo/csr.h>
#include <stdio.h>
#include <string.h>

#define IMAGE        (RIG_GM + 0x8000)
#define READ_ONLY    (RIG_GM + (1 << 20) + 4096)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct kernel_fault {
    enum leo_fault code;
    uint32_t word[4]; /**< after them: return */
    unsigned at;      /**< index of the word at fault */
    uint64_t slot;    /**< a0 */
    struct sim_expected {
        enum leo_pipe unit;
        enum leo_mem_space space;
        uint64_t addr, bytes;
    } expected;
    const char *soc;
    uint8_t kind;
};

static void check_usable(struct rig *rig, uint8_t kind)
{
    const uint32_t words[] = {rv_sd(A1, A0, 0), rv_ret()};
    rig_image(rig, IMAGE, words, COUNT(words));
    uint64_t slots[] = {RIG_GM, 0x1234567890}, value = 0;
    CU_ASSERT_EQUAL(rig_run(rig, kind, IMAGE, 1, slots, 2, NULL), 0);
    rig_read(rig, RIG_GM, &value, sizeof(value));
    CU_ASSERT_EQUAL(value, slots[1]);
}

static void check_record(const struct leo_fault_record *record, const struct kernel_fault *fault,
                         const struct leo_cqe *cqe)
{
    const struct sim_expected *expected = &fault->expected;
    bool good = record->code == fault->code && record->unit == expected->unit &&
                record->core == (fault->kind == LEO_CORE_KIND_VECTOR ? 24 : 0) &&
                record->queue == 1 && record->block == 0 && record->cmd_id == cqe->cmd_id &&
                record->pc == fault->at * 4 && record->addr == expected->addr &&
                record->bytes == expected->bytes && record->insn == fault->word[fault->at] &&
                record->space == expected->space && record->image_addr == IMAGE &&
                record->cycle > 0;
    if (!good) {
        printf("\n  %s: unit %u core %u block %u pc 0x%llx addr 0x%llx bytes %llu insn 0x%08x "
               "space %u cycle %llu\n",
               leo_fault_name((enum leo_fault)record->code), record->unit, record->core,
               record->block, (unsigned long long)record->pc, (unsigned long long)record->addr,
               (unsigned long long)record->bytes, record->insn, record->space,
               (unsigned long long)record->cycle);
        CU_FAIL("record is not as expected");
    }
}

static void run_fault(const struct kernel_fault *fault)
{
    struct rig rig;
    rig_open(&rig, fault->soc, NULL, 1);
    CU_ASSERT_EQUAL(rig_map(&rig, READ_ONLY, 4096, true), 0);
    uint32_t words[5];
    memcpy(words, fault->word, sizeof(fault->word));
    for (unsigned i = 0; i < 4; i++) {
        words[i] = words[i] ? words[i] : rv_ret();
    }
    words[4] = rv_ret();
    rig_image(&rig, IMAGE, words, COUNT(words));
    for (unsigned round = 1; round <= 2; round++) {
        struct leo_cqe cqe;
        struct leo_sqe_kernel body = rig_kernel(&rig, IMAGE, 1, &fault->slot, 1);
        body.limit_us = 100;
        unsigned status =
            rig_do(&rig, 1, LEO_SQE_OP_KERNEL, fault->kind, &body, sizeof(body), &cqe);
        if (status != fault->code) {
            printf("\n  expected %s, got %s\n", leo_fault_name(fault->code),
                   leo_fault_name((enum leo_fault)status));
        }
        CU_ASSERT_EQUAL(status, fault->code);
        CU_ASSERT_EQUAL(cqe.fault_index, round);
        check_record(&rig.faults[round - 1], fault, &cqe);
    }
    check_usable(&rig, fault->kind);
    rig_close(&rig);
}

static void kernel_faults_are_recorded(void)
{
    const char *const a = "ascend910a";
    const char *const b = "ascend910b1";
    const uint8_t coupled = LEO_CORE_KIND_AICORE;
    const uint8_t vector = LEO_CORE_KIND_VECTOR;
    const uint8_t cube = LEO_CORE_KIND_CUBE;
    const uint64_t end = RIG_GM + (1 << 20);
    const enum leo_mem_space priv = LEO_MEM_SPACE_PRIVATE;
    const struct kernel_fault faults[] = {
        {LEO_FAULT_ILLEGAL_INSTRUCTION, {rv_addi(T0, T0, 1), 0xffffffff}, 1, 0, {0}, a, coupled},
        // Instructions of the other generation, and of the other kind of core.
        {LEO_FAULT_ILLEGAL_INSTRUCTION,
         {rv_r4(LEO_INSN_COPY_MATRIX_CC_TO_GM, A0, A0, A0, A0)},
         0,
         0,
         {LEO_PIPE_S, priv, 0, 0},
         a,
         coupled},
        {LEO_FAULT_ILLEGAL_INSTRUCTION,
         {rv_r4(LEO_INSN_MMAD, A0, A0, A0, A0)},
         0,
         0,
         {LEO_PIPE_S, priv, 0, 0},
         b,
         vector},
        {LEO_FAULT_ILLEGAL_INSTRUCTION,
         {rv_r4(LEO_INSN_VADD, A0, A0, A0, A0)},
         0,
         0,
         {LEO_PIPE_S, priv, 0, 0},
         b,
         cube},
        {LEO_FAULT_ILLEGAL_INSTRUCTION,
         {rv_r4(LEO_INSN_COPY_GM_TO_UBUF, A0, A0, A0, A0)},
         0,
         0,
         {LEO_PIPE_S, priv, 0, 0},
         b,
         cube},
        {LEO_FAULT_ILLEGAL_INSTRUCTION,
         {0x73 /* ecall */},
         0,
         0,
         {LEO_PIPE_S, priv, 0, 0},
         a,
         coupled},
        {LEO_FAULT_ILLEGAL_CONFIG,
         {rv_csrw(LEO_CSR_CTRL, A0)},
         0,
         0x10,
         {LEO_PIPE_S, priv, LEO_CSR_CTRL, 8},
         a,
         coupled},
        {LEO_FAULT_ILLEGAL_CONFIG,
         {rv_sys(LEO_INSN_PIPE_BARRIER, 0, LEO_PIPE_S)},
         0,
         0,
         {LEO_PIPE_S, priv, LEO_PIPE_S, 0},
         a,
         coupled},
        {LEO_FAULT_ILLEGAL_CONFIG,
         {rv_flag(LEO_INSN_SET_FLAG, LEO_PIPE_M, LEO_PIPE_FIX, 1)},
         0,
         0,
         {LEO_PIPE_S, priv, 0x162, 0},
         a,
         coupled},
        {LEO_FAULT_GM_OUT_OF_RANGE,
         {rv_sd(A0, A0, 0)},
         0,
         end,
         {LEO_PIPE_S, LEO_MEM_SPACE_GM, end, 8},
         a,
         coupled},
        {LEO_FAULT_GM_OUT_OF_RANGE,
         {rv_ld(A1, A0, -8)},
         0,
         RIG_GM,
         {LEO_PIPE_S, LEO_MEM_SPACE_GM, RIG_GM - 8, 8},
         a,
         coupled},
        {LEO_FAULT_GM_READ_ONLY,
         {rv_ld(A1, A0, 0), rv_sd(A0, A0, 8)},
         1,
         READ_ONLY,
         {LEO_PIPE_S, LEO_MEM_SPACE_GM, READ_ONLY + 8, 8},
         a,
         coupled},
        {LEO_FAULT_GM_READ_ONLY,
         {rv_sd(A0, A0, 0)},
         0,
         0x10000000,
         {LEO_PIPE_S, LEO_MEM_SPACE_GM, 0x10000000, 8},
         a,
         coupled},
        {LEO_FAULT_LOCAL_OUT_OF_RANGE,
         {rv_sd(A0, A0, 0)},
         0,
         262144,
         {LEO_PIPE_S, LEO_MEM_SPACE_UB, 262144, 8},
         a,
         coupled},
        {LEO_FAULT_LOCAL_OUT_OF_RANGE,
         {rv_sd(A0, A0, 0)},
         0,
         0x20000000 + 262144,
         {LEO_PIPE_S, LEO_MEM_SPACE_UB, 0x20000000 + 262144, 8},
         a,
         coupled},
        {LEO_FAULT_LOCAL_OUT_OF_RANGE,
         {rv_ld(A1, A0, 0)},
         0,
         0x22000000,
         {LEO_PIPE_S, LEO_MEM_SPACE_L0A, 0x22000000, 8},
         a,
         coupled},
        {LEO_FAULT_LOCAL_OUT_OF_RANGE,
         {rv_sd(A0, A0, 0)},
         0,
         0,
         {LEO_PIPE_S, LEO_MEM_SPACE_UB, 0, 8},
         b,
         cube},
        {LEO_FAULT_MISALIGNED_LOCAL,
         {rv_sys(LEO_INSN_SET_CMPMASK, A0, 0)},
         0,
         8,
         {LEO_PIPE_S, LEO_MEM_SPACE_UB, 8, 16},
         a,
         coupled},
        {LEO_FAULT_MISALIGNED_SCALAR,
         {rv_ld(A1, A0, 4)},
         0,
         64,
         {LEO_PIPE_S, LEO_MEM_SPACE_GM, 68, 8},
         a,
         coupled},
        {LEO_FAULT_FLAG_NEVER_SET,
         {rv_flag(LEO_INSN_WAIT_FLAG, LEO_PIPE_MTE2, LEO_PIPE_V, 3)},
         0,
         0,
         {LEO_PIPE_S, priv, 0x314, 3},
         a,
         coupled},
        {LEO_FAULT_FLAG_SET_TWICE,
         {rv_flag(LEO_INSN_SET_FLAG, LEO_PIPE_V, LEO_PIPE_V, 0),
          rv_flag(LEO_INSN_SET_FLAG, LEO_PIPE_V, LEO_PIPE_V, 0)},
         1,
         0,
         {LEO_PIPE_S, priv, 0x11, 0},
         a,
         coupled},
        {LEO_FAULT_KERNEL_TRAP,
         {rv_addi(A0, A0, 1), rv_sys(LEO_INSN_TRAP, A0, 0)},
         1,
         41,
         {LEO_PIPE_S, priv, 42, 0},
         a,
         coupled},
        {LEO_FAULT_BAD_CSR, {rv_csrr(T0, 0x7c0)}, 0, 0, {LEO_PIPE_S, priv, 0x7c0, 8}, a, coupled},
        {LEO_FAULT_BAD_CSR,
         {rv_csrw(LEO_CSR_BLOCK_IDX, A0)},
         0,
         0,
         {LEO_PIPE_S, priv, LEO_CSR_BLOCK_IDX, 8},
         a,
         coupled},
        {LEO_FAULT_STACK_OVERFLOW,
         {rv_sd(A0, SP, -1032)},
         0,
         0,
         {LEO_PIPE_S, priv, 0x31000000 - 16 - 1032, 8},
         a,
         coupled},
    };
    for (size_t i = 0; i < COUNT(faults); i++) {
        run_fault(&faults[i]);
    }
}

static void gm_dma_fault_names_pipe(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    struct leo_cfg_burst cfg = {.n_burst = 1, .len_burst = 1};
    const uint32_t words[] = {rv_r4(LEO_INSN_COPY_GM_TO_UBUF, ZERO, A0, ZERO, A1), rv_ret()};
    rig_image(&rig, IMAGE, words, COUNT(words));
    uint64_t slots[] = {RIG_GM + (1 << 20) - 31, leo_cfg_burst_pack(&cfg)};
    struct leo_cqe cqe;
    CU_ASSERT_EQUAL(rig_run(&rig, LEO_CORE_KIND_AICORE, IMAGE, 1, slots, 2, &cqe),
                    LEO_FAULT_GM_OUT_OF_RANGE);
    CU_ASSERT_EQUAL(rig.faults[0].unit, LEO_PIPE_MTE2);
    CU_ASSERT_EQUAL(rig.faults[0].addr, slots[0]);
    CU_ASSERT_EQUAL(rig.faults[0].bytes, 32);
    slots[0]--;
    CU_ASSERT_EQUAL(rig_run(&rig, LEO_CORE_KIND_AICORE, IMAGE, 1, slots, 2, &cqe), 0);
    // Stores: not to read-only mappings, nor to the shared part of the image.
    CU_ASSERT_EQUAL(rig_map(&rig, READ_ONLY, 4096, true), 0);
    const uint32_t store[] = {rv_r4(LEO_INSN_COPY_UBUF_TO_GM, A0, ZERO, ZERO, A1), rv_ret()};
    rig_image(&rig, IMAGE, store, COUNT(store));
    const uint64_t targets[] = {READ_ONLY + 32, 0x10000000};
    for (unsigned i = 0; i < COUNT(targets); i++) {
        slots[0] = targets[i];
        slots[1] = leo_cfg_burst_pack(&cfg);
        // The image is two words: only its first bytes are there to be refused.
        enum leo_fault expected = i == 0 ? LEO_FAULT_GM_READ_ONLY : LEO_FAULT_GM_OUT_OF_RANGE;
        CU_ASSERT_EQUAL(rig_run(&rig, LEO_CORE_KIND_AICORE, IMAGE, 1, slots, 2, &cqe), expected);
        CU_ASSERT_EQUAL(rig.faults[i + 1].unit, LEO_PIPE_MTE3);
        CU_ASSERT_EQUAL(rig.faults[i + 1].addr, targets[i]);
    }
    rig_close(&rig);
}

static void bad_fetch_names_the_jump_and_its_target(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    const uint32_t words[] = {rv_jr(A0)};
    rig_image(&rig, IMAGE, words, COUNT(words));
    uint64_t slot = 0x10004000;
    CU_ASSERT_EQUAL(rig_run(&rig, LEO_CORE_KIND_AICORE, IMAGE, 1, &slot, 1, NULL),
                    LEO_FAULT_BAD_FETCH);
    CU_ASSERT_EQUAL(rig.faults[0].pc, 0);
    CU_ASSERT_EQUAL(rig.faults[0].addr, slot);
    // Falling off the end of the text is a bad fetch too.
    const uint32_t no_return[] = {rv_addi(A0, A0, 0)};
    rig_image(&rig, IMAGE, no_return, COUNT(no_return));
    CU_ASSERT_EQUAL(rig_run(&rig, LEO_CORE_KIND_AICORE, IMAGE, 1, &slot, 1, NULL),
                    LEO_FAULT_BAD_FETCH);
    CU_ASSERT_EQUAL(rig.faults[1].pc, 0);
    CU_ASSERT_EQUAL(rig.faults[1].addr, 0x10000004);
    check_usable(&rig, LEO_CORE_KIND_AICORE);
    rig_close(&rig);
}

static void watchdog_stops_a_hanging_block(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 2);
    const uint32_t words[] = {rv_csrr(T0, LEO_CSR_BLOCK_IDX), rv_addi(T0, T0, -1),
                              rv_bne(T0, ZERO, 8), rv_hang(), rv_ret()};
    rig_image(&rig, IMAGE, words, COUNT(words));
    struct leo_sqe_kernel body = rig_kernel(&rig, IMAGE, 3, NULL, 0);
    body.limit_us = 50;
    struct leo_cqe cqe;
    CU_ASSERT_EQUAL(
        rig_do(&rig, 1, LEO_SQE_OP_KERNEL, LEO_CORE_KIND_AICORE, &body, sizeof(body), &cqe),
        LEO_FAULT_WATCHDOG);
    CU_ASSERT_EQUAL(rig.faults[0].block, 1);
    CU_ASSERT_EQUAL(rig.faults[0].pc, 12);
    CU_ASSERT_TRUE(rig.faults[0].cycle >= 50000 && rig.faults[0].cycle < 50100);
    CU_ASSERT_TRUE(cqe.end_ns - cqe.start_ns > 50000 && cqe.end_ns - cqe.start_ns < 51000);
    check_usable(&rig, LEO_CORE_KIND_AICORE);
    rig_close(&rig);
}

static void lowest_block_wins_and_the_rest_is_dropped(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 2);
    // Blocks from 5 on trap; each block before counts itself in GM.
    const uint32_t words[] = {rv_csrr(T0, LEO_CSR_BLOCK_IDX),
                              rv_slli(T1, T0, 3),
                              rv_add(T1, T1, A0),
                              rv_addi(T2, ZERO, 1),
                              rv_sd(T2, T1, 0),
                              rv_i(0x13, 2, T0, T0, 5),
                              rv_bne(T0, ZERO, 8),
                              rv_sys(LEO_INSN_TRAP, 0, 0),
                              rv_ret()};
    rig_image(&rig, IMAGE, words, COUNT(words));
    uint64_t slot = RIG_GM, ran[200];
    struct leo_cqe cqe;
    CU_ASSERT_EQUAL(rig_run(&rig, LEO_CORE_KIND_AICORE, IMAGE, 200, &slot, 1, &cqe),
                    LEO_FAULT_KERNEL_TRAP);
    CU_ASSERT_EQUAL(rig.faults[0].block, 5);
    CU_ASSERT_EQUAL(rig.faults[0].core, 5);
    CU_ASSERT_EQUAL(cqe.fault_index, 1);
    rig_read(&rig, RIG_GM, ran, sizeof(ran));
    CU_ASSERT_EQUAL(ran[4], 1);
    CU_ASSERT_EQUAL(ran[31], 1);
    CU_ASSERT_EQUAL(ran[199], 0);
    CU_ASSERT_EQUAL(rig.faults[1].code, 0);
    check_usable(&rig, LEO_CORE_KIND_AICORE);
    rig_close(&rig);
}

static void expect_entry_fault(struct rig *rig, unsigned queue, unsigned op, uint8_t kind,
                               const void *body, size_t bytes, enum leo_fault fault, uint64_t addr)
{
    struct leo_cqe cqe;
    unsigned status = rig_do(rig, queue, (enum leo_sqe_op)op, kind, body, bytes, &cqe);
    if (status != fault) {
        printf("\n  entry %u: expected %s, got %s\n", op, leo_fault_name(fault),
               leo_fault_name((enum leo_fault)status));
    }
    CU_ASSERT_EQUAL(status, fault);
    CU_ASSERT_NOT_EQUAL_FATAL(cqe.fault_index, 0);
    const struct leo_fault_record *record = &rig->faults[(cqe.fault_index - 1) % RIG_FAULTS];
    CU_ASSERT_EQUAL(record->code, fault);
    CU_ASSERT_EQUAL(record->queue, queue);
    CU_ASSERT_EQUAL(record->core, 0xffff);
    CU_ASSERT_EQUAL(record->block, UINT32_MAX);
    CU_ASSERT_EQUAL(record->cmd_id, cqe.cmd_id);
    CU_ASSERT_EQUAL(record->addr, addr);
}

static void bad_entries_are_refused(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    const enum leo_fault bad = LEO_FAULT_BAD_ENTRY;
    const uint8_t kind = LEO_CORE_KIND_AICORE;
    expect_entry_fault(&rig, 1, 99, 0, NULL, 0, bad, 0);
    expect_entry_fault(&rig, 0, 99, 0, NULL, 0, bad, 0);
    expect_entry_fault(&rig, 1, LEO_SQE_OP_MAP, 0, NULL, 0, bad, 0);
    expect_entry_fault(&rig, 0, LEO_SQE_OP_KERNEL, kind, NULL, 0, bad, 0);
    const uint32_t words[] = {rv_ret()};
    rig_image(&rig, IMAGE, words, 1);
    uint64_t slot = 0;
    struct leo_sqe_kernel good = rig_kernel(&rig, IMAGE, 1, &slot, 1);
    struct leo_sqe_kernel body = good;
    expect_entry_fault(&rig, 1, LEO_SQE_OP_KERNEL, LEO_CORE_KIND_VECTOR, &body, sizeof(body), bad,
                       0);
    body.block_num = 0;
    expect_entry_fault(&rig, 1, LEO_SQE_OP_KERNEL, kind, &body, sizeof(body), bad, 0);
    body.block_num = 65536;
    expect_entry_fault(&rig, 1, LEO_SQE_OP_KERNEL, kind, &body, sizeof(body), bad, 0);
    body = good;
    body.slots = 2;
    expect_entry_fault(&rig, 1, LEO_SQE_OP_KERNEL, kind, &body, sizeof(body), bad, 0);
    body = good;
    body.reloc = 2;
    expect_entry_fault(&rig, 1, LEO_SQE_OP_KERNEL, kind, &body, sizeof(body), bad, 0);
    body = good;
    body.args_addr = 0x99;
    expect_entry_fault(&rig, 1, LEO_SQE_OP_KERNEL, kind, &body, sizeof(body),
                       LEO_FAULT_DMA_OUT_OF_RANGE, 0x99);
    body.args_flags = 1;
    expect_entry_fault(&rig, 1, LEO_SQE_OP_KERNEL, kind, &body, sizeof(body),
                       LEO_FAULT_GM_OUT_OF_RANGE, 0x99);
    body = good;
    body.image_addr += 64;
    expect_entry_fault(&rig, 1, LEO_SQE_OP_KERNEL, kind, &body, sizeof(body), LEO_FAULT_BAD_IMAGE,
                       IMAGE + 64);
    body.image_addr = RIG_GM + (1 << 20);
    expect_entry_fault(&rig, 1, LEO_SQE_OP_KERNEL, kind, &body, sizeof(body), LEO_FAULT_BAD_IMAGE,
                       body.image_addr);
    body = good;
    body.entry = 4;
    expect_entry_fault(&rig, 1, LEO_SQE_OP_KERNEL, kind, &body, sizeof(body), LEO_FAULT_BAD_IMAGE,
                       4);
    struct leo_sqe_copy copy = {
        .dst = RIG_GM, .src = RIG_HOST + RIG_HOST_BYTES - 3, .width = 4, .height = 1, .flags = 2};
    expect_entry_fault(&rig, 1, LEO_SQE_OP_COPY, 0, &copy, sizeof(copy), LEO_FAULT_DMA_OUT_OF_RANGE,
                       copy.src);
    copy.src--;
    copy.dst = RIG_GM + (1 << 20) - 3;
    expect_entry_fault(&rig, 1, LEO_SQE_OP_COPY, 0, &copy, sizeof(copy), LEO_FAULT_GM_OUT_OF_RANGE,
                       copy.dst);
    copy.flags = 3;
    expect_entry_fault(&rig, 1, LEO_SQE_OP_COPY, 0, &copy, sizeof(copy), bad, 0);
    copy.flags = 4;
    expect_entry_fault(&rig, 1, LEO_SQE_OP_COPY, 0, &copy, sizeof(copy), bad, 0);
    struct leo_sqe_event event = {.event = 65536, .sequence = 1};
    expect_entry_fault(&rig, 1, LEO_SQE_OP_EVENT_RECORD, 0, &event, sizeof(event), bad, 0);
    struct leo_sqe_map map = {.addr = RIG_GM + 100, .bytes = 1};
    expect_entry_fault(&rig, 0, LEO_SQE_OP_MAP, 0, &map, sizeof(map), bad, 0);
    map.addr = RIG_GM - 1;
    expect_entry_fault(&rig, 0, LEO_SQE_OP_MAP, 0, &map, sizeof(map), bad, 0);
    map = (struct leo_sqe_map){.addr = RIG_GM + (UINT64_C(32) << 30) - 1, .bytes = 2};
    expect_entry_fault(&rig, 0, LEO_SQE_OP_MAP, 0, &map, sizeof(map), bad, 0);
    map = (struct leo_sqe_map){.addr = RIG_GM + 1};
    expect_entry_fault(&rig, 0, LEO_SQE_OP_UNMAP, 0, &map, sizeof(map), bad, 0);
    struct leo_sqe_queue queue = {.queue = 1, .depth = 8, .sq_base = RIG_HOST, .cq_base = RIG_HOST};
    expect_entry_fault(&rig, 0, LEO_SQE_OP_CREATE_QUEUE, 0, &queue, sizeof(queue), bad, 0);
    queue.queue = 3000;
    expect_entry_fault(&rig, 0, LEO_SQE_OP_CREATE_QUEUE, 0, &queue, sizeof(queue), bad, 0);
    queue.queue = 5;
    queue.depth = 7;
    expect_entry_fault(&rig, 0, LEO_SQE_OP_CREATE_QUEUE, 0, &queue, sizeof(queue), bad, 0);
    queue.depth = 8;
    queue.sq_base = 0;
    expect_entry_fault(&rig, 0, LEO_SQE_OP_CREATE_QUEUE, 0, &queue, sizeof(queue),
                       LEO_FAULT_DMA_OUT_OF_RANGE, 0);
    check_usable(&rig, kind);
    rig_close(&rig);
}

static const struct leo_test tests[] = {
    {"kernel_faults_are_recorded", kernel_faults_are_recorded},
    {"gm_dma_fault_names_pipe", gm_dma_fault_names_pipe},
    {"bad_fetch_names_the_jump_and_its_target", bad_fetch_names_the_jump_and_its_target},
    {"watchdog_stops_a_hanging_block", watchdog_stops_a_hanging_block},
    {"lowest_block_wins_and_the_rest_is_dropped", lowest_block_wins_and_the_rest_is_dropped},
    {"bad_entries_are_refused", bad_entries_are_refused},
};

int main(int argc, char **argv)
{
    return leo_test_main("faults", tests, COUNT(tests), argc, argv);
}
