/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, shared cores, times; and the same of all of it on any number of host threads. */
#include "harness.h"
#include "rig.h"

#include <leo/csr.h>
#include <leo/soc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE        (RIG_GM + 0x8000)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AICORE       LEO_CORE_KIND_AICORE

/* Spins a0 + block_idx * a1 rounds of a loop of two instructions, then stores block_idx at a2 + 8 *
 * block_idx. */
static void write_spin_kernel(struct rig *rig)
{
    const uint32_t words[] = {
        rv_csrr(T0, LEO_CSR_BLOCK_IDX),
        rv_mul(T1, T0, A1),
        rv_add(A0, A0, T1),
        rv_addi(A0, A0, -1),
        rv_bne(A0, ZERO, -4),
        rv_slli(T1, T0, 3),
        rv_add(A2, A2, T1),
        rv_sd(T0, A2, 0),
        rv_ret(),
    };
    rig_image(rig, IMAGE, words, COUNT(words));
}

static uint32_t push_poll_loop(struct rig *rig, unsigned queue, uint32_t blocks, uint64_t rounds,
                               uint64_t step)
{
    uint64_t slots[] = {rounds, step, RIG_GM};
    uint8_t *args = rig->args;
    rig->args += (size_t)(rig->next_cmd % 16) * 64;
    struct leo_sqe_kernel body = rig_kernel(rig, IMAGE, blocks, slots, 3);
    rig->args = args;
    return rig_push(rig, queue, LEO_SQE_OP_KERNEL, AICORE, &body, sizeof(body));
}

static void push_event(struct rig *rig, unsigned queue, enum leo_sqe_op op, uint32_t event,
                       uint64_t sequence)
{
    struct leo_sqe_event body = {.event = event, .sequence = sequence};
    rig_push(rig, queue, op, 0, &body, sizeof(body));
}

/* HW-CHIP-60, HW-CHIP-61: dispatch, core, complete; then the gap. */
static void times_of_a_stream_add_up(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    write_spin_kernel(&rig);
    push_poll_loop(&rig, 1, 1, 1000, 0);
    push_poll_loop(&rig, 1, 1, 1000, 0);
    push_event(&rig, 1, LEO_SQE_OP_EVENT_RECORD, 0, 1);
    push_poll_loop(&rig, 1, 1, 2000, 0);
    rig_ring(&rig, 1);
    struct leo_cqe cqe[4];
    for (unsigned i = 0; i < 4; i++) {
        CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 1, &cqe[i]));
    }
    uint64_t first = cqe[0].end_ns - cqe[0].start_ns;
    // 220 before, 200 after; start 200, 1000 rounds of an add (1) and a branch (2), and some
    // instructions around.
    CU_ASSERT_TRUE(first > 420 + 200 + 3000 && first < 420 + 200 + 3000 + 40);
    CU_ASSERT_EQUAL(cqe[1].end_ns - cqe[1].start_ns, first);
    CU_ASSERT_EQUAL(cqe[1].start_ns - cqe[0].end_ns, 115);
    CU_ASSERT_EQUAL(cqe[2].start_ns, cqe[1].end_ns);
    CU_ASSERT_EQUAL(cqe[2].end_ns, cqe[1].end_ns);
    CU_ASSERT_EQUAL(cqe[3].start_ns - cqe[1].end_ns, 115);
    CU_ASSERT_EQUAL(cqe[3].end_ns - cqe[3].start_ns, first + 3000);
    // The time of day does not change how long something takes.
    push_poll_loop(&rig, 1, 1, 1000, 0);
    rig_ring(&rig, 1);
    CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 1, &cqe[0]));
    CU_ASSERT_EQUAL(cqe[0].end_ns - cqe[0].start_ns, first);
    rig_close(&rig);
}

/* HW-CHIP-62: an entry starts no earlier than the host wrote it. */
static void entry_waits_for_host_time(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    rig_push(&rig, 1, LEO_SQE_OP_NOP, 0, NULL, 0);
    rig.ring[1].sq[rig.ring[1].tail - 1].host_ns = 777777;
    rig_ring(&rig, 1);
    struct leo_cqe cqe;
    CU_ASSERT_TRUE(rig_wait(&rig, 1, &cqe));
    CU_ASSERT_EQUAL(cqe.start_ns, 777777);
    CU_ASSERT_EQUAL(leo_sim_reg_read(rig.chip, LEO_REG_SIM_TIME_NS, 8), 777777);
    rig_push(&rig, 1, LEO_SQE_OP_NOP, 0, NULL, 0);
    rig.ring[1].sq[rig.ring[1].tail - 1].host_ns = UINT64_MAX;
    rig_ring(&rig, 1);
    CU_ASSERT_TRUE(rig_wait(&rig, 1, &cqe));
    CU_ASSERT_EQUAL(cqe.status, LEO_FAULT_BAD_ENTRY);
    rig_close(&rig);
}

/* HW-CHIP-43: blocks of two tasks share the cores; block b of a task goes out in order. */
static void streams_share_the_cores(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 2);
    write_spin_kernel(&rig);
    push_poll_loop(&rig, 1, 16, 10000, 0);
    push_poll_loop(&rig, 2, 16, 10000, 0);
    push_poll_loop(&rig, 3, 16, 10000, 0);
    for (unsigned queue = 1; queue < 4; queue++) {
        rig_ring(&rig, queue);
    }
    struct leo_cqe cqe[4];
    for (unsigned queue = 1; queue < 4; queue++) {
        CU_ASSERT_TRUE_FATAL(rig_wait(&rig, queue, &cqe[queue]));
    }
    // Two run side by side; the third, later by the gap after its copy, needs cores that become
    // free.
    CU_ASSERT_EQUAL(cqe[2].start_ns, cqe[3].start_ns);
    CU_ASSERT_TRUE(cqe[1].start_ns > cqe[2].start_ns + 30000 && cqe[1].start_ns < cqe[2].end_ns);
    CU_ASSERT_TRUE(cqe[3].end_ns < cqe[2].start_ns + 32000);
    rig_close(&rig);
}

/* HW-CHIP-63: an older record that is reached later does not take the newer one back. */
static void late_records_take_nothing_back(void)
{
    struct rig rig;
    struct leo_cqe done;
    rig_open(&rig, "ascend910a", NULL, 1);
    push_event(&rig, 1, LEO_SQE_OP_EVENT_RECORD, 70, 5);
    rig_ring(&rig, 1);
    CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 1, &done));
    push_event(&rig, 2, LEO_SQE_OP_EVENT_RECORD, 70, 3);
    rig_ring(&rig, 2);
    CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 2, &done));
    push_event(&rig, 3, LEO_SQE_OP_EVENT_WAIT, 70, 5);
    rig_ring(&rig, 3);
    CU_ASSERT_TRUE(rig_wait(&rig, 3, &done));
    rig_close(&rig);
}

/* HW-CHIP-63: events order streams. */
static void events_order_streams(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    write_spin_kernel(&rig);
    push_event(&rig, 2, LEO_SQE_OP_EVENT_WAIT, 70, 5);
    push_poll_loop(&rig, 2, 1, 100, 0);
    rig_ring(&rig, 2);
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, UINT64_MAX), LEO_ERR_NOT_READY);
    push_event(&rig, 1, LEO_SQE_OP_EVENT_RECORD, 70, 4);
    push_poll_loop(&rig, 1, 1, 5000, 0);
    push_event(&rig, 1, LEO_SQE_OP_EVENT_RECORD, 70, 5);
    rig_ring(&rig, 1);
    struct leo_cqe record, wait, kernel;
    for (unsigned i = 0; i < 3; i++) {
        CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 1, &record));
    }
    CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 2, &wait));
    CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 2, &kernel));
    CU_ASSERT_TRUE(record.end_ns > 15000);
    CU_ASSERT_EQUAL(wait.end_ns, record.end_ns);
    CU_ASSERT_TRUE(kernel.start_ns >= record.end_ns);
    rig_close(&rig);
}

/* HW-CHIP-64: waits that nobody ends make the chip idle, not hang. */
static void deadlock_is_idle(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    push_event(&rig, 1, LEO_SQE_OP_EVENT_WAIT, 1, 1);
    push_event(&rig, 2, LEO_SQE_OP_EVENT_WAIT, 2, 1);
    push_event(&rig, 1, LEO_SQE_OP_EVENT_RECORD, 2, 1);
    push_event(&rig, 2, LEO_SQE_OP_EVENT_RECORD, 1, 1);
    rig_ring(&rig, 1);
    rig_ring(&rig, 2);
    leo_sim_reg_write(rig.chip, LEO_REG_IRQ_STATUS, 4, 3);
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, UINT64_MAX), LEO_ERR_NOT_READY);
    CU_ASSERT_EQUAL(rig_do(&rig, 3, LEO_SQE_OP_NOP, 0, NULL, 0, NULL), 0);
    rig_close(&rig);
}

/* HW-CHIP-65: copies take latency and bandwidth, one after the other on an engine. */
static void copies_take_the_link(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    struct leo_sqe_copy body = {
        .dst = RIG_GM, .src = rig_dma(&rig, rig.data), .width = 128000, .height = 1, .flags = 2};
    rig_push(&rig, 1, LEO_SQE_OP_COPY, 0, &body, sizeof(body));
    rig_push(&rig, 2, LEO_SQE_OP_COPY, 0, &body, sizeof(body));
    rig_ring(&rig, 1);
    rig_ring(&rig, 2);
    struct leo_cqe first, second;
    CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 1, &first));
    CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 2, &second));
    CU_ASSERT_EQUAL(first.end_ns - first.start_ns, 5000 + 10000);
    CU_ASSERT_EQUAL(second.end_ns - first.end_ns, 10000);
    // The other direction has an engine of its own.
    struct leo_sqe_copy out = body;
    out.dst = body.src;
    out.src = body.dst;
    out.flags = 1;
    rig_push(&rig, 1, LEO_SQE_OP_COPY, 0, &body, sizeof(body));
    rig_push(&rig, 2, LEO_SQE_OP_COPY, 0, &out, sizeof(out));
    rig_ring(&rig, 1);
    rig_ring(&rig, 2);
    CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 1, &first));
    CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 2, &second));
    CU_ASSERT_EQUAL(first.end_ns - first.start_ns, 5000 + 10000);
    CU_ASSERT_EQUAL(second.end_ns - second.start_ns, 5000 + 10000);
    rig_close(&rig);
}

/* HW-CHIP-44: a fault of one stream leaves the others alone. */
static void fault_stays_in_its_stream(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 2);
    write_spin_kernel(&rig);
    const uint32_t words[] = {rv_sys(LEO_INSN_TRAP, 0, 0)};
    rig_image(&rig, IMAGE + 0x1000, words, 1);
    push_poll_loop(&rig, 1, 8, 3000, 10);
    struct leo_sqe_kernel body = rig_kernel(&rig, IMAGE + 0x1000, 4, NULL, 0);
    rig_push(&rig, 2, LEO_SQE_OP_KERNEL, AICORE, &body, sizeof(body));
    push_poll_loop(&rig, 2, 8, 100, 0);
    rig_ring(&rig, 1);
    rig_ring(&rig, 2);
    struct leo_cqe good, bad, next;
    CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 2, &bad));
    CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 2, &next));
    CU_ASSERT_TRUE_FATAL(rig_wait(&rig, 1, &good));
    CU_ASSERT_EQUAL(bad.status, LEO_FAULT_KERNEL_TRAP);
    CU_ASSERT_EQUAL(next.status, 0);
    CU_ASSERT_EQUAL(good.status, 0);
    rig_close(&rig);
}

/* HW-CHIP-15: a deleted queue gives its cores back. */
static void deleted_queue_stops_its_kernel(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 2);
    write_spin_kernel(&rig);
    push_poll_loop(&rig, 2, 100, 1000000000, 0);
    rig_ring(&rig, 2);
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, 1000000), LEO_ERR_TIMEOUT);
    struct leo_sqe_queue queue = {.queue = 2};
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_DELETE_QUEUE, 0, &queue, sizeof(queue), NULL), 0);
    uint64_t slots[] = {10, 0, RIG_GM};
    CU_ASSERT_EQUAL(rig_run(&rig, AICORE, IMAGE, 64, slots, 3, NULL), 0);
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, UINT64_MAX), LEO_ERR_NOT_READY);
    rig_close(&rig);
}

/* A chip that is taken away while it runs leaves nothing behind (the leak checker looks). */
static void destroying_a_running_chip_is_clean(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 2);
    write_spin_kernel(&rig);
    push_poll_loop(&rig, 2, 100, 1000000000, 0);
    push_event(&rig, 3, LEO_SQE_OP_EVENT_WAIT, 1, 1);
    rig_ring(&rig, 2);
    rig_ring(&rig, 3);
    CU_ASSERT_EQUAL(leo_sim_chip_run(rig.chip, 1000000), LEO_ERR_TIMEOUT);
    rig_close(&rig);
}

/* Lines that a copy brought hit; those of a fill too. */
static void copies_and_fills_go_through_the_l2(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    struct leo_task_record *tasks = (struct leo_task_record *)(void *)(rig.host + 0x40000);
    struct leo_sqe_profile body = {.task_base = rig_dma(&rig, tasks), .task_depth = 8};
    const struct leo_cfg_burst cfg = {.n_burst = 1, .len_burst = 32};
    const uint32_t words[] = {rv_r4(LEO_INSN_COPY_GM_TO_UBUF, ZERO, A0, ZERO, A1), rv_ret()};
    rig_image(&rig, IMAGE, words, COUNT(words));
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_SET_PROFILE, 0, &body, sizeof(body), NULL), 0);
    const uint64_t cold = RIG_GM, copied = RIG_GM + 0x1000, filled = RIG_GM + 0x2000;
    const struct leo_sqe_copy copy = {.dst = copied,
                                      .src = rig_dma(&rig, rig.host + 0x30000),
                                      .width = 1024,
                                      .height = 1,
                                      .flags = 2};
    const struct leo_sqe_copy fill = {.dst = filled, .width = 512, .height = 1};
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_COPY, 0, &copy, sizeof(copy), NULL), 0);
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_FILL, 0, &fill, sizeof(fill), NULL), 0);
    const uint64_t from[] = {cold, copied, filled}, hits[] = {0, 1024, 512};
    for (unsigned i = 0; i < COUNT(from); i++) {
        uint64_t slots[] = {from[i], leo_cfg_burst_pack(&cfg)};
        const struct leo_sqe_kernel kernel = rig_kernel(&rig, IMAGE, 1, slots, 2);
        CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_KERNEL, AICORE, &kernel, sizeof(kernel), NULL),
                        0);
        CU_ASSERT_EQUAL(tasks[2 + i].gm_read, 1024);
        CU_ASSERT_EQUAL(tasks[2 + i].l2_hits, hits[i]);
    }
    rig_close(&rig);
}

/* HW-CHIP-70, HW-CHIP-71 */
static void profile_rings_fill_and_do_not_wrap(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 2);
    struct leo_task_record *tasks = (struct leo_task_record *)(void *)(rig.host + 0x40000);
    struct leo_trace_record *traces = (struct leo_trace_record *)(void *)(rig.host + 0x50000);
    uint64_t *counts = (uint64_t *)(void *)(rig.host + 0x60000);
    struct leo_sqe_profile body = {.task_base = rig_dma(&rig, tasks),
                                   .task_depth = 2,
                                   .trace_base = rig_dma(&rig, traces),
                                   .trace_depth = 8,
                                   .counts = rig_dma(&rig, counts)};
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_SET_PROFILE, 0, &body, sizeof(body), NULL), 0);
    struct leo_cfg_burst cfg = {.n_burst = 1, .len_burst = 4};
    const uint32_t words[] = {
        rv_r4(LEO_INSN_COPY_GM_TO_UBUF, ZERO, A0, ZERO, A1),
        rv_flag(LEO_INSN_SET_FLAG, LEO_PIPE_MTE2, LEO_PIPE_MTE3, 1),
        rv_flag(LEO_INSN_WAIT_FLAG, LEO_PIPE_MTE2, LEO_PIPE_MTE3, 1),
        rv_r4(LEO_INSN_COPY_UBUF_TO_GM, A0, ZERO, ZERO, A1),
        rv_ret(),
    };
    rig_image(&rig, IMAGE, words, COUNT(words));
    uint64_t slots[] = {RIG_GM, leo_cfg_burst_pack(&cfg)};
    struct leo_cqe cqe;
    struct leo_sqe_kernel kernel = rig_kernel(&rig, IMAGE, 3, slots, 2);
    kernel.tag = 0x7a67;
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_KERNEL, AICORE, &kernel, sizeof(kernel), &cqe), 0);
    CU_ASSERT_EQUAL(counts[0], 2);
    CU_ASSERT_EQUAL(counts[1], 9); // a core: load, store, one bar of the scalar unit
    CU_ASSERT_EQUAL(tasks[0].opcode, LEO_SQE_OP_COPY);
    const struct leo_task_record *task = &tasks[1];
    CU_ASSERT_EQUAL(task->cmd_id, cqe.cmd_id);
    CU_ASSERT_EQUAL(task->tag, 0x7a67);
    CU_ASSERT_EQUAL(task->queue, 1);
    CU_ASSERT_EQUAL(task->block_num, 3);
    CU_ASSERT_EQUAL(task->cores, 3);
    CU_ASSERT_EQUAL(task->start_ns, cqe.start_ns);
    CU_ASSERT_EQUAL(task->end_ns, cqe.end_ns);
    CU_ASSERT_EQUAL(task->gm_read, 3 * 128);
    CU_ASSERT_EQUAL(task->gm_write, 3 * 128);
    // All three read one line: the first brings it.
    CU_ASSERT_EQUAL(task->l2_hits, 2 * 128);
    CU_ASSERT_EQUAL(task->hbm_read, 512);
    const uint64_t *mte3 = &task->stall[LEO_PIPE_MTE3 * (LEO_STALL_MEMORY + 1)];
    CU_ASSERT_TRUE(mte3[LEO_STALL_FLAG] > 3 * 100 && mte3[LEO_STALL_BARRIER] == 0);
    CU_ASSERT_TRUE(task->busy[LEO_PIPE_MTE2] > 3 * 175 && task->busy[LEO_PIPE_MTE2] < 3 * 250);
    CU_ASSERT_TRUE(task->core_cycles > task->busy[LEO_PIPE_MTE2] + task->busy[LEO_PIPE_MTE3]);
    CU_ASSERT_EQUAL(traces[0].insn, LEO_INSN_COPY_GM_TO_UBUF);
    CU_ASSERT_EQUAL(traces[0].core, 0);
    CU_ASSERT_EQUAL(traces[0].pipe, LEO_PIPE_MTE2);
    CU_ASSERT_EQUAL(traces[0].cmd_id, cqe.cmd_id);
    CU_ASSERT_EQUAL(traces[0].bytes, 128);
    CU_ASSERT_EQUAL(traces[1].pc, 12);
    CU_ASSERT_EQUAL(traces[1].pipe, LEO_PIPE_MTE3);
    CU_ASSERT_EQUAL(traces[0].gm, LEO_GM_READ);
    CU_ASSERT_EQUAL(traces[1].gm, LEO_GM_WRITE);
    CU_ASSERT_EQUAL(traces[0].missed, 128);
    CU_ASSERT_EQUAL(traces[1].why, LEO_STALL_FLAG);
    CU_ASSERT_EQUAL(traces[1].from, LEO_PIPE_MTE2);
    CU_ASSERT_TRUE(traces[1].wait_ps > 100000);
    CU_ASSERT_TRUE(traces[1].start_ns >= traces[0].start_ns + traces[0].dur_ps / 1000);
    CU_ASSERT_EQUAL(traces[2].core, 0);
    CU_ASSERT_EQUAL(traces[2].pipe, LEO_PIPE_S);
    CU_ASSERT_EQUAL(traces[2].insn, LEO_INSN_COUNT);
    CU_ASSERT_EQUAL(traces[2].pc, 12);
    CU_ASSERT_EQUAL(traces[2].gm, LEO_GM_NONE);
    CU_ASSERT_TRUE(traces[2].start_ns < traces[0].start_ns && traces[2].dur_ps > 0);
    CU_ASSERT_EQUAL(traces[7].core, 2);
    CU_ASSERT_EQUAL(traces[8].dur_ps, 0);
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_KERNEL, AICORE, &kernel, sizeof(kernel), &cqe), 0);
    CU_ASSERT_EQUAL(counts[0], 3);
    CU_ASSERT_EQUAL(counts[1], 18);
    CU_ASSERT_EQUAL(tasks[2].cmd_id, 0);
    body = (struct leo_sqe_profile){0};
    CU_ASSERT_EQUAL(rig_do(&rig, 0, LEO_SQE_OP_SET_PROFILE, 0, &body, sizeof(body), NULL), 0);
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_KERNEL, AICORE, &kernel, sizeof(kernel), &cqe), 0);
    CU_ASSERT_EQUAL(counts[0], 3);
    rig_close(&rig);
}

/* a0 memory, a1 copy of 64 KiB, a2 rounds, a3 where the scalar unit's time after issuing goes, 8
 * bytes a block. */
static void write_load_kernel(struct rig *rig)
{
    const uint32_t words[] = {
        rv_r4(LEO_INSN_COPY_GM_TO_UBUF, ZERO, A0, ZERO, A1),
        rv_addi(A2, A2, -1),
        rv_bne(A2, ZERO, -8),
        rv_csrr(T0, LEO_CSR_SYS_CNT),
        rv_csrr(T1, LEO_CSR_BLOCK_IDX),
        rv_slli(T1, T1, 3),
        rv_add(A3, A3, T1),
        rv_sd(T0, A3, 0),
        rv_ret(),
    };
    rig_image(rig, IMAGE, words, COUNT(words));
}

static double run_loads(struct rig *rig, uint32_t blocks, uint64_t rounds, uint64_t *issued_ns)
{
    struct leo_cfg_burst cfg = {.n_burst = 1, .len_burst = 2048};
    uint64_t slots[] = {RIG_GM + 0x10000, leo_cfg_burst_pack(&cfg), rounds, RIG_GM};
    struct leo_cqe cqe;
    CU_ASSERT_EQUAL(rig_run(rig, AICORE, IMAGE, blocks, slots, 4, &cqe), 0);
    rig_read(rig, RIG_GM, issued_ns, sizeof(*issued_ns));
    *issued_ns -= cqe.start_ns;
    return (double)(cqe.end_ns - cqe.start_ns) - 420 - 200;
}

/* One core alone, from L2: 128 requests of 128 bytes in flight for 180 ns. */
static const double alone_rate = 128 * 128 / 180.0;

/* HW-CHIP-53: the scalar unit runs ahead by the depth of the queue, no further. */
static void queue_depth_holds_the_scalar_unit(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    write_load_kernel(&rig);
    uint64_t issued;
    double alone = 65536 / alone_rate;
    double all = run_loads(&rig, 1, 32, &issued);
    CU_ASSERT_TRUE(all > 32 * alone && all < 32 * alone + 400);
    CU_ASSERT_TRUE(issued < 220 + 200 + 32 * 10);
    all = run_loads(&rig, 1, 40, &issued);
    CU_ASSERT_TRUE(all > 40 * alone && all < 40 * alone + 400);
    CU_ASSERT_TRUE((double)issued > 220 + 200 + 7 * alone &&
                   (double)issued < 220 + 200 + 9 * alone);
    rig_close(&rig);
}

/* The built-in file where cores that read the same do not wait for each other; without L2 if asked.
 */
static char *independent_cores(bool has_l2)
{
    char *text = strdup(leo_isa_soc_text("ascend910a"));
    char *line = strstr(text, "gm_same_line_ns = ");
    char *l2 = strstr(text, "l2_bytes = 33554432");
    CU_ASSERT_FATAL(line && l2);
    memcpy(line, "gm_same_line_ns = 0   ", 22);
    if (!has_l2) {
        memcpy(l2, "l2_bytes = 0       ", 19);
    }
    return text;
}

/* HW-CHIP-52, HW-CHIP-54: one core has its requests, all together the L2, or HBM if they do not fit
 * the L2. */
static void bandwidth_is_shared(void)
{
    struct rig rig;
    char *text = independent_cores(true);
    rig_open(&rig, "ascend910a", text, 2);
    free(text);
    write_load_kernel(&rig);
    uint64_t issued;
    double bytes = 200 * 65536.0;
    double one = run_loads(&rig, 1, 200, &issued);
    CU_ASSERT_TRUE(one > bytes / alone_rate && one < bytes / alone_rate * 1.02);
    double all = run_loads(&rig, 32, 200, &issued);
    CU_ASSERT_TRUE(all > 32 * bytes / 1940 * 0.97 && all < 32 * bytes / 1940 * 1.06);
    rig_close(&rig);
    // Without L2 the same comes from HBM.
    text = independent_cores(false);
    rig_open(&rig, "ascend910a", text, 2);
    write_load_kernel(&rig);
    all = run_loads(&rig, 32, 200, &issued);
    CU_ASSERT_TRUE(all > 32 * bytes / 985 * 0.97 && all < 32 * bytes / 985 * 1.06);
    rig_close(&rig);
    free(text);
}

/* HW-CHIP-52: what ran before has no part in it once the cores are idle (what the L2 holds has). */
static void bandwidth_does_not_remember(void)
{
    char *text = independent_cores(false);
    struct rig rig;
    rig_open(&rig, "ascend910a", text, 2);
    write_load_kernel(&rig);
    uint64_t issued;
    double few = run_loads(&rig, 12, 2, &issued);
    double all = run_loads(&rig, 32, 20, &issued);
    for (unsigned i = 0; i < 2; i++) {
        CU_ASSERT_DOUBLE_EQUAL(run_loads(&rig, 12, 2, &issued), few, 2);
        CU_ASSERT_DOUBLE_EQUAL(run_loads(&rig, 32, 20, &issued), all, 2);
    }
    rig_close(&rig);
    free(text);
}

struct outcome {
    struct leo_cqe cqe[3][2];
    uint8_t memory[32768];
};

/* Uneven blocks that move memory and add to shared sums, on three streams. */
static void run_mix(unsigned threads, struct outcome *outcome)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, threads);
    write_spin_kernel(&rig);
    struct leo_cfg_burst cfg = {.n_burst = 8, .len_burst = 64};
    // a0 memory, a1 copy of 16 KiB, a2 rounds, a3 sum of 32 bytes, a4 ctrl for adding
    const uint32_t words[] = {
        rv_csrr(T0, LEO_CSR_BLOCK_IDX),
        rv_add(A2, A2, T0),
        rv_r4(LEO_INSN_COPY_GM_TO_UBUF, ZERO, A0, ZERO, A1),
        rv_flag(LEO_INSN_SET_FLAG, LEO_PIPE_MTE2, LEO_PIPE_S, 0),
        rv_flag(LEO_INSN_WAIT_FLAG, LEO_PIPE_MTE2, LEO_PIPE_S, 0),
        rv_addi(A2, A2, -1),
        rv_bne(A2, ZERO, -16),
        rv_csrw(LEO_CSR_CTRL, A4),
        rv_r4(LEO_INSN_COPY_UBUF_TO_GM, A3, ZERO, ZERO, A5),
        rv_ret(),
    };
    rig_image(&rig, IMAGE + 0x1000, words, COUNT(words));
    float values[8192];
    for (unsigned i = 0; i < 8192; i++) {
        values[i] = 1.0f / (float)(i + 3);
    }
    rig_write(&rig, RIG_GM + 0x20000, values, sizeof(values));
    struct leo_cfg_burst one = {.n_burst = 1, .len_burst = 512};
    uint64_t slots[] = {RIG_GM + 0x20000,        leo_cfg_burst_pack(&cfg), 3, RIG_GM + 0x1000, 2,
                        leo_cfg_burst_pack(&one)};
    rig.args += 0x400;
    struct leo_sqe_kernel body = rig_kernel(&rig, IMAGE + 0x1000, 75, slots, 6);
    rig.args -= 0x400;
    rig_push(&rig, 1, LEO_SQE_OP_KERNEL, AICORE, &body, sizeof(body));
    push_poll_loop(&rig, 2, 50, 700, 31);
    push_poll_loop(&rig, 3, 9, 9000, 500);
    push_poll_loop(&rig, 1, 64, 800, 3);
    rig_push(&rig, 2, LEO_SQE_OP_KERNEL, AICORE, &body, sizeof(body));
    push_poll_loop(&rig, 3, 7, 90, 50);
    for (unsigned queue = 1; queue < 4; queue++) {
        rig_ring(&rig, queue);
    }
    for (unsigned queue = 1; queue < 4; queue++) {
        for (unsigned i = 0; i < 2; i++) {
            CU_ASSERT_TRUE_FATAL(rig_wait(&rig, queue, &outcome->cqe[queue - 1][i]));
            CU_ASSERT_EQUAL(outcome->cqe[queue - 1][i].status, 0);
        }
    }
    rig_read(&rig, RIG_GM, outcome->memory, sizeof(outcome->memory));
    rig_close(&rig);
}

/* HW-CHIP-51: one thread or many, the same bits and the same times. */
static void threads_change_nothing(void)
{
    struct outcome *one = calloc(1, sizeof(*one));
    struct outcome *many = calloc(1, sizeof(*many));
    run_mix(1, one);
    CU_ASSERT_TRUE(one->cqe[0][0].end_ns > 4000);
    for (unsigned threads = 2; threads <= 5; threads++) {
        for (unsigned round = 0; round < 3; round++) {
            run_mix(threads, many);
            CU_ASSERT_EQUAL(memcmp(one->cqe, many->cqe, sizeof(one->cqe)), 0);
            CU_ASSERT_EQUAL(memcmp(one->memory, many->memory, sizeof(one->memory)), 0);
        }
    }
    free(one);
    free(many);
}

static unsigned launch(struct rig *rig, uint8_t kind, uint8_t flags, uint64_t raise, uint64_t *ctrl)
{
    const uint64_t slots[] = {RIG_GM, raise};
    struct leo_sqe_kernel body = rig_kernel(rig, IMAGE, 1, slots, 2);
    struct leo_cqe cqe;
    rig_push(rig, 1, LEO_SQE_OP_KERNEL, kind, &body, sizeof(body));
    rig->ring[1].sq[(rig->ring[1].tail - 1) % RIG_DEPTH].flags = flags;
    rig_ring(rig, 1);
    CU_ASSERT_TRUE_FATAL(rig_wait(rig, 1, &cqe));
    rig_read(rig, RIG_GM, ctrl, sizeof(*ctrl));
    return cqe.status;
}

static uint32_t read_status(struct rig *rig, uint32_t clear)
{
    const struct leo_sqe_overflow body = {
        .dst = RIG_GM + 64, .bytes = 8, .value = 77, .clear = clear};
    uint32_t got[2] = {1, 1};
    CU_ASSERT_EQUAL(rig_do(rig, 1, LEO_SQE_OP_OVERFLOW, 0, &body, sizeof(body), NULL), 0);
    rig_read(rig, RIG_GM + 64, got, sizeof(got));
    CU_ASSERT_EQUAL(got[1], 0);
    return got[0];
}

/* HW-CHIP-73, HW-CHIP-74. */
static void overflow_status_sticks(void)
{
    for (unsigned split = 0; split < 2; split++) {
        struct rig rig;
        rig_open(&rig, split ? "ascend910b1" : "ascend910a", NULL, 1);
        // Stores ctrl at a0 and writes a1 to CSR overflow.
        const uint32_t words[] = {rv_csrr(T0, LEO_CSR_CTRL), rv_sd(T0, A0, 0),
                                  rv_csrw(LEO_CSR_OVERFLOW, A1), rv_ret()};
        const struct leo_cfg_ctrl on = {.saturate = 1}, own = {.saturate = !split};
        const uint8_t kind = split ? LEO_CORE_KIND_VECTOR : AICORE;
        uint64_t ctrl;
        rig_image(&rig, IMAGE, words, COUNT(words));
        CU_ASSERT_EQUAL(launch(&rig, kind, LEO_FLOAT_MODE_OWN << 1, 0, &ctrl), 0);
        CU_ASSERT_EQUAL(ctrl, leo_cfg_ctrl_pack(&own));
        CU_ASSERT_EQUAL(launch(&rig, kind, LEO_FLOAT_MODE_INFINITE << 1, 0, &ctrl), 0);
        CU_ASSERT_EQUAL(ctrl, 0);
        CU_ASSERT_EQUAL(read_status(&rig, 0), 0);
        CU_ASSERT_EQUAL(launch(&rig, kind, LEO_FLOAT_MODE_SATURATE << 1, 1, &ctrl), 0);
        CU_ASSERT_EQUAL(ctrl, leo_cfg_ctrl_pack(&on));
        CU_ASSERT_EQUAL(launch(&rig, kind, 0, 0, &ctrl), 0); // one without does not clear it
        CU_ASSERT_EQUAL(read_status(&rig, 0), 77);
        CU_ASSERT_EQUAL(read_status(&rig, 1), 77);
        CU_ASSERT_EQUAL(read_status(&rig, 0), 0);
        CU_ASSERT_EQUAL(launch(&rig, kind, LEO_FLOAT_MODE_COUNT << 1, 0, &ctrl),
                        LEO_FAULT_BAD_ENTRY);
        rig_close(&rig);
    }
}

static void overflow_entries_are_checked(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    const struct leo_sqe_overflow bad[] = {{.dst = RIG_GM, .bytes = 6},
                                           {.dst = RIG_GM, .bytes = 68},
                                           {.dst = RIG_GM, .bytes = 0},
                                           {.dst = 0, .bytes = 4},
                                           {.clear = 2},
                                           {.clear = 1, .reserved0 = {1}}};
    for (unsigned i = 0; i < COUNT(bad); i++) {
        CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_OVERFLOW, 0, &bad[i], sizeof(bad[i]), NULL),
                        LEO_FAULT_BAD_ENTRY);
    }
    const struct leo_sqe_overflow outside = {.dst = RIG_GM + (1 << 20) - 4, .bytes = 8};
    CU_ASSERT_EQUAL(rig_do(&rig, 1, LEO_SQE_OP_OVERFLOW, 0, &outside, sizeof(outside), NULL),
                    LEO_FAULT_GM_OUT_OF_RANGE);
    rig_close(&rig);
}

static const struct leo_test tests[] = {
    {"times_of_a_stream_add_up", times_of_a_stream_add_up},
    {"entry_waits_for_host_time", entry_waits_for_host_time},
    {"streams_share_the_cores", streams_share_the_cores},
    {"events_order_streams", events_order_streams},
    {"late_records_take_nothing_back", late_records_take_nothing_back},
    {"deadlock_is_idle", deadlock_is_idle},
    {"copies_take_the_link", copies_take_the_link},
    {"fault_stays_in_its_stream", fault_stays_in_its_stream},
    {"deleted_queue_stops_its_kernel", deleted_queue_stops_its_kernel},
    {"queue_depth_holds_the_scalar_unit", queue_depth_holds_the_scalar_unit},
    {"bandwidth_is_shared", bandwidth_is_shared},
    {"bandwidth_does_not_remember", bandwidth_does_not_remember},
    {"destroying_a_running_chip_is_clean", destroying_a_running_chip_is_clean},
    {"copies_and_fills_go_through_the_l2", copies_and_fills_go_through_the_l2},
    {"profile_rings_fill_and_do_not_wrap", profile_rings_fill_and_do_not_wrap},
    {"overflow_status_sticks", overflow_status_sticks},
    {"overflow_entries_are_checked", overflow_entries_are_checked},
    {"threads_change_nothing", threads_change_nothing},
};

int main(int argc, char **argv)
{
    return leo_test_main("scheduler", tests, COUNT(tests), argc, argv);
}
