/* SPDX-License-Identifier: Apache-2.0 */
/* The event engine on made-up logs, against times worked out by hand. */
#include "harness.h"
#include "memory/l2.h"
#include "time/engine.h"

#include "config.h"
#include <leo/soc.h>
#include <math.h>
#include <string.h>

enum { CORES = 4, MEGA = 1 << 20, LINE = SIM_L2_LINE_BYTES };

#define FOREVER 1e12

static const struct sim_time_config config = {
    .cores = CORES,
    .l2_rate = 200,
    .hbm_read_rate = 50,
    .hbm_write_rate = 25,
    .read_hit_latency = 100,
    .read_miss_latency = 200,
    .write_latency = 150,
    .read_port = 100,
    .write_port = 50,
    .read_requests = 64,
    .gm_interval = 20,
    .flag_set = 1,
    .flag_wait = 2,
    .barrier = 3,
    .queue_depth = {1, 2, 4, 4, 4, 4, 4},
};

struct rig {
    struct sim_l2 l2;
    struct sim_time_pool pool;
    struct sim_time_engine *engine;
    struct sim_time_log log[CORES];
};

static void open_config(struct rig *rig, const struct sim_time_config *time)
{
    memset(rig, 0, sizeof(*rig));
    CU_ASSERT_EQUAL_FATAL(sim_l2_create(&rig->l2, 0, 64 * MEGA, MEGA, 1), LEO_OK);
    CU_ASSERT_EQUAL_FATAL(sim_time_pool_create(&rig->pool), LEO_OK);
    CU_ASSERT_EQUAL_FATAL(sim_time_engine_create(time, &rig->l2, &rig->engine), LEO_OK);
    for (unsigned i = 0; i < CORES; i++) {
        sim_time_log_init(&rig->log[i], &rig->pool);
    }
}

static void open_rig(struct rig *rig)
{
    open_config(rig, &config);
}

static void close_rig(struct rig *rig)
{
    for (unsigned i = 0; i < CORES; i++) {
        sim_time_log_finish(&rig->log[i]);
    }
    sim_time_engine_destroy(rig->engine);
    sim_time_pool_destroy(&rig->pool);
    sim_l2_destroy(&rig->l2);
}

static void push(struct sim_time_log *log, struct sim_time_record record)
{
    CU_ASSERT_FATAL(sim_time_log_reserve(log));
    sim_time_log_push(log, &record, NULL);
}

static void op(struct sim_time_log *log, enum leo_pipe pipe, double scalar, double busy,
               float overlap)
{
    push(log, (struct sim_time_record){.kind = SIM_TIME_OP,
                                       .pipe = (uint8_t)pipe,
                                       .scalar = scalar,
                                       .busy = busy,
                                       .overlap = overlap});
}

static void set(struct sim_time_log *log, enum leo_pipe src, enum leo_pipe dst, unsigned id)
{
    push(log,
         (struct sim_time_record){
             .kind = SIM_TIME_SET, .pipe = (uint8_t)src, .dst = (uint8_t)dst, .id = (uint8_t)id});
}

static void wait(struct sim_time_log *log, enum leo_pipe src, enum leo_pipe dst, unsigned id)
{
    push(log,
         (struct sim_time_record){
             .kind = SIM_TIME_WAIT, .pipe = (uint8_t)src, .dst = (uint8_t)dst, .id = (uint8_t)id});
}

static void barrier(struct sim_time_log *log, enum leo_pipe pipe)
{
    push(log, (struct sim_time_record){
                  .kind = SIM_TIME_BARRIER, .pipe = (uint8_t)pipe, .busy = config.barrier});
}

static void move_in(struct sim_time_log *log, bool write, uint64_t addr, uint64_t bytes,
                    uint32_t request)
{
    struct sim_time_record record = {.kind = SIM_TIME_OP_GM,
                                     .pipe = write ? LEO_PIPE_MTE3 : LEO_PIPE_MTE2,
                                     .access = write ? SIM_TIME_ACCESS_WRITE : 0};
    struct sim_time_gm gm = {.addr = addr,
                             .piece = (uint32_t)bytes,
                             .count = 1,
                             .bytes = bytes,
                             .request = (uint16_t)request};
    CU_ASSERT_FATAL(sim_time_log_reserve(log));
    sim_time_log_push(log, &record, &gm);
}

static void move(struct sim_time_log *log, bool write, uint64_t addr, uint64_t bytes)
{
    move_in(log, write, addr, bytes, 128);
}

static void end(struct sim_time_log *log)
{
    push(log, (struct sim_time_record){.kind = SIM_TIME_END});
    sim_time_log_publish(log);
}

/* Runs the blocks of all logs that have records, from 0; their ends. */
static void run_all(struct rig *rig, double *ends)
{
    unsigned running = 0;
    for (unsigned i = 0; i < CORES; i++) {
        if (rig->log[i].written) {
            sim_time_engine_begin(rig->engine, i, &rig->log[i], 0, 0, FOREVER);
            running++;
        }
    }
    while (running--) {
        unsigned core = CORES;
        CU_ASSERT_EQUAL_FATAL(sim_time_engine_run(rig->engine, INFINITY, &core), SIM_TIME_ENDED);
        ends[core] = sim_time_engine_stats(rig->engine, core)->end;
        CU_ASSERT_DOUBLE_EQUAL(ends[core], sim_time_engine_now(rig->engine), 1e-9);
    }
}

static double stalls(const struct sim_time_stats *stats, enum leo_pipe pipe)
{
    double sum = 0;
    for (int i = 0; i < SIM_TIME_STALLS; i++) {
        sum += stats->stalled[pipe][i];
    }
    return sum;
}

static void pipes_run_side_by_side(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    op(&rig.log[0], LEO_PIPE_V, 10, 100, 0);
    op(&rig.log[0], LEO_PIPE_M, 5, 60, 0);
    op(&rig.log[0], LEO_PIPE_V, 5, 100, 30);
    op(&rig.log[0], LEO_PIPE_V, 5, 100, 30);
    end(&rig.log[0]);
    run_all(&rig, ends);
    // V: 10..110, 110..210, the third hides 30 cycles behind the second.
    CU_ASSERT_DOUBLE_EQUAL(ends[0], 280, 1e-9);
    const struct sim_time_stats *stats = sim_time_engine_stats(rig.engine, 0);
    CU_ASSERT_DOUBLE_EQUAL(stats->busy[LEO_PIPE_V], 270, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(stats->busy[LEO_PIPE_M], 60, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(stats->scalar, 25, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(stalls(stats, LEO_PIPE_S), 0, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(stats->stalled[LEO_PIPE_V][LEO_STALL_SCALAR], 10, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(stalls(stats, LEO_PIPE_V), 10, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(stats->stalled[LEO_PIPE_M][LEO_STALL_SCALAR], 15, 1e-9);
    close_rig(&rig);
}

/* V takes two instructions: the third is handed over when the first starts, the fourth when the
 * second does. */
static void a_full_queue_stops_the_scalar_unit(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    for (unsigned i = 0; i < 4; i++) {
        op(&rig.log[0], LEO_PIPE_V, 1, 100, 0);
    }
    op(&rig.log[0], LEO_PIPE_M, 1, 1, 0);
    end(&rig.log[0]);
    run_all(&rig, ends);
    CU_ASSERT_DOUBLE_EQUAL(ends[0], 401, 1e-9);
    const struct sim_time_stats *stats = sim_time_engine_stats(rig.engine, 0);
    CU_ASSERT_DOUBLE_EQUAL(stats->stalled[LEO_PIPE_S][LEO_STALL_QUEUE], 101 - 4, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(stalls(stats, LEO_PIPE_S), 101 - 4, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(stats->returned, 102, 1e-9);
    close_rig(&rig);
    open_rig(&rig);
    op(&rig.log[0], LEO_PIPE_V, 1, 100, 0);
    push(&rig.log[0], (struct sim_time_record){.kind = SIM_TIME_DRAIN, .pipe = LEO_PIPE_V});
    end(&rig.log[0]);
    run_all(&rig, ends);
    CU_ASSERT_DOUBLE_EQUAL(sim_time_engine_stats(rig.engine, 0)->returned, 101, 1e-9);
    close_rig(&rig);
}

static void flags_and_barriers_order_pipes(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    struct sim_time_log *log = &rig.log[1];
    op(log, LEO_PIPE_V, 0, 100, 0);
    set(log, LEO_PIPE_V, LEO_PIPE_M, 3);  // at 101
    wait(log, LEO_PIPE_V, LEO_PIPE_M, 3); // 103
    op(log, LEO_PIPE_M, 0, 50, 0);        // 103..153
    barrier(log, LEO_PIPE_M);             // 156
    op(log, LEO_PIPE_M, 0, 10, 5);        // 156..166
    set(log, LEO_PIPE_M, LEO_PIPE_S, 0);  // 167
    wait(log, LEO_PIPE_M, LEO_PIPE_S, 0); // 169
    op(log, LEO_PIPE_V, 1, 10, 0);        // 170..180
    barrier(log, LEO_PIPE_ALL);           // 183
    set(log, LEO_PIPE_S, LEO_PIPE_V, 7);  // 184
    wait(log, LEO_PIPE_S, LEO_PIPE_V, 7); // 186
    op(log, LEO_PIPE_V, 0, 4, 0);         // 186..190
    end(log);
    run_all(&rig, ends);
    CU_ASSERT_DOUBLE_EQUAL(ends[1], 190, 1e-9);
    const struct sim_time_stats *stats = sim_time_engine_stats(rig.engine, 1);
    CU_ASSERT_DOUBLE_EQUAL(stats->stalled[LEO_PIPE_S][LEO_STALL_FLAG], 169, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(stats->stalled[LEO_PIPE_S][LEO_STALL_BARRIER], 13, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(stalls(stats, LEO_PIPE_S), 169 + 13, 1e-9);
    // M: 103 for the flag, 3 for its own barrier.
    CU_ASSERT_DOUBLE_EQUAL(stats->stalled[LEO_PIPE_M][LEO_STALL_FLAG], 103, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(stats->stalled[LEO_PIPE_M][LEO_STALL_BARRIER], 3, 1e-9);
    // V: 100..170 before the second instruction is issued, 180..186 for the flag of the scalar
    // unit.
    CU_ASSERT_DOUBLE_EQUAL(stats->stalled[LEO_PIPE_V][LEO_STALL_SCALAR], 70 + 3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(stats->stalled[LEO_PIPE_V][LEO_STALL_FLAG], 3, 1e-9);
    close_rig(&rig);
}

static void hand(struct sim_time_log *log, enum leo_pipe pipe, double busy, float overlap,
                 unsigned what, unsigned number)
{
    push(log, (struct sim_time_record){.kind = SIM_TIME_OP,
                                       .pipe = (uint8_t)pipe,
                                       .busy = busy,
                                       .overlap = overlap,
                                       .hand = (uint8_t)what,
                                       .id = (uint8_t)number,
                                       .dst = (uint8_t)number});
}

/* Unit flags: FIX follows a product from its first piece on and ends behind its last one; the next
 * product into the same place follows FIX. */
static void results_are_handed_over_piece_by_piece(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    struct sim_time_log *log = &rig.log[0];
    for (unsigned i = 0; i < 40; i++) { // more than are remembered
        const unsigned after = i ? SIM_TIME_HAND_AFTER : 0;
        // 0..100, the first piece at 60; then from FIX's first piece on, to behind its last one
        hand(log, LEO_PIPE_M, 100, 60, SIM_TIME_HAND_MAKE | after, i - 1);
        hand(log, LEO_PIPE_FIX, 150, 0, SIM_TIME_HAND_TAKE | SIM_TIME_HAND_RELEASE, i); // 60..210
    }
    end(log);
    run_all(&rig, ends);
    // M begins with FIX's first piece; FIX is the slower one and never waits again.
    CU_ASSERT_DOUBLE_EQUAL(ends[0], 60 + 40 * 150, 1e-9);
    close_rig(&rig);
    open_rig(&rig);
    log = &rig.log[0];
    hand(log, LEO_PIPE_M, 1000, 60, SIM_TIME_HAND_MAKE, 0);
    hand(log, LEO_PIPE_FIX, 150, 0, SIM_TIME_HAND_TAKE | SIM_TIME_HAND_RELEASE, 0); // 60..1000
    hand(log, LEO_PIPE_M, 100, 60, SIM_TIME_HAND_AFTER, 0); // 940..1040: the pipe is free then
    end(log);
    run_all(&rig, ends);
    CU_ASSERT_DOUBLE_EQUAL(ends[0], 1040, 1e-9);
    close_rig(&rig);
}

/* A result that is not begun yet is not followed by what FIX did before. */
static void a_result_is_not_taken_before_it_is_made(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    struct sim_time_log *log = &rig.log[0];
    move(log, false, 0, 8192); // 281.92 cycles, which are known when they have passed
    set(log, LEO_PIPE_MTE2, LEO_PIPE_M, 0);
    wait(log, LEO_PIPE_MTE2, LEO_PIPE_M, 0);
    hand(log, LEO_PIPE_M, 100, 60, SIM_TIME_HAND_MAKE, 0);
    hand(log, LEO_PIPE_FIX, 150, 0, SIM_TIME_HAND_TAKE, 0);
    end(log);
    run_all(&rig, ends);
    CU_ASSERT(ends[0] >= 281 + 60 + 150);
    close_rig(&rig);
}

/* 64 requests of 128 bytes in flight: 8192 bytes each 100 cycles from the L2, each 200 from HBM.
 * 8192 bytes that miss: one latency and the port's 81.92 cycles; HBM allows 50 bytes a cycle, more
 * than the window's 40.96. */
static void a_load_waits_for_the_latency(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    move(&rig.log[0], false, 0, 8192);
    end(&rig.log[0]);
    run_all(&rig, ends);
    CU_ASSERT_DOUBLE_EQUAL(ends[0], 200 + 81.92, 1e-6);
    sim_time_engine_reset(rig.engine);
    sim_time_log_finish(&rig.log[0]);
    move(&rig.log[0], false, 0, 8192); // now it hits
    end(&rig.log[0]);
    run_all(&rig, ends);
    CU_ASSERT_DOUBLE_EQUAL(ends[0], 100 + 81.92, 1e-6);
    close_rig(&rig);
}

/* Behind one another only bytes count: 3 x 8192 at 40.96, and the last window through the port. */
static void loads_in_a_row_hide_the_latency(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    for (unsigned i = 0; i < 3; i++) {
        move(&rig.log[0], false, i * 8192u, 8192);
    }
    end(&rig.log[0]);
    run_all(&rig, ends);
    CU_ASSERT_DOUBLE_EQUAL(ends[0], 3 * 200 + 81.92, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(sim_time_engine_stats(rig.engine, 0)->busy[LEO_PIPE_MTE2], ends[0],
                           1e-6);
    CU_ASSERT_EQUAL(sim_time_engine_stats(rig.engine, 0)->gm_read, 3 * 8192);
    close_rig(&rig);
}

/* A store goes at the port's rate and is known to have arrived a latency later; the next one does
 * not wait for that. */
static void stores_are_posted(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    move(&rig.log[0], true, 0, 5000);
    move(&rig.log[0], true, 8192, 5000);
    end(&rig.log[0]);
    run_all(&rig, ends);
    CU_ASSERT_DOUBLE_EQUAL(ends[0], 200 + 150, 1e-6);
    CU_ASSERT_EQUAL(sim_time_engine_stats(rig.engine, 0)->gm_write, 10000);
    close_rig(&rig);
}

static void small_transfers_keep_their_distance(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    move(&rig.log[0], false, 0, LINE);
    for (unsigned i = 0; i < 10; i++) {
        move(&rig.log[0], false, 0, 128);
    }
    end(&rig.log[0]);
    run_all(&rig, ends);
    // Even the 512 bytes that miss are under way for less than the interval.
    CU_ASSERT_DOUBLE_EQUAL(ends[0], 10 * 20 + 100 + 1.28, 1e-6);
    close_rig(&rig);
}

/* Four cores that miss: 12.5 bytes a cycle each, below what their windows allow. */
static void cores_share_hbm(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    for (unsigned i = 0; i < CORES; i++) {
        move(&rig.log[i], false, i * 65536u, 32768);
        end(&rig.log[i]);
    }
    run_all(&rig, ends);
    // The first answer comes after the latency, the others as HBM gives them.
    for (unsigned i = 0; i < CORES; i++) {
        CU_ASSERT_DOUBLE_EQUAL(ends[i], 200 + 32768 / 12.5, 1e-6);
    }
    close_rig(&rig);
}

/* Dirty lines that make room go to HBM first, at half of its reading rate. */
static void dirty_lines_cost_their_way_back(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    sim_l2_use(&rig.l2, 0, MEGA, true);
    move(&rig.log[0], false, 8 * MEGA, 8192);
    end(&rig.log[0]);
    run_all(&rig, ends);
    CU_ASSERT_DOUBLE_EQUAL(ends[0], 200 + 8192 * 2 / 50. + 81.92, 1e-6);
    close_rig(&rig);
}

/* HW-CHIP-55: past the L2 half of it is found there, and it holds afterwards what it held. */
static void past_the_l2_nothing_is_kept(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    sim_l2_use(&rig.l2, 0, MEGA, true);
    struct sim_time_record record = {
        .kind = SIM_TIME_OP_GM, .pipe = LEO_PIPE_MTE2, .access = SIM_TIME_ACCESS_NO_L2};
    struct sim_time_gm gm = {.addr = MEGA - 4096, // a half of it
                             .piece = 8192,
                             .count = 1,
                             .step = 8192,
                             .bytes = 8192,
                             .request = 128};
    CU_ASSERT(sim_time_log_reserve(&rig.log[0]));
    sim_time_log_push(&rig.log[0], &record, &gm);
    end(&rig.log[0]);
    run_all(&rig, ends);
    CU_ASSERT_EQUAL(rig.l2.read_bytes, 4096);
    CU_ASSERT_EQUAL(rig.l2.written_bytes, 0);
    sim_l2_use(&rig.l2, 0, MEGA, false);
    CU_ASSERT_EQUAL(rig.l2.read_bytes, 4096);
    close_rig(&rig);
}

/* A line that two cores read serves each of them half of the time. */
static void the_same_line_serves_one_at_a_time(void)
{
    struct rig rig;
    double ends[CORES];
    struct sim_time_config slow = config;
    slow.same_line_cycles = 200;
    open_config(&rig, &slow);
    for (unsigned i = 0; i < 3; i++) {
        move(&rig.log[i], false, i / 2 * 65536u, 8192);
        end(&rig.log[i]);
    }
    run_all(&rig, ends);
    CU_ASSERT_DOUBLE_EQUAL(ends[1], 2 * 200 + 81.92, 1e-6); // 64 requests each 2 x 200 cycles
    CU_ASSERT_DOUBLE_EQUAL(ends[0], ends[2], 1e-6);         // nobody was there when they began
    close_rig(&rig);
}

/* What a load of a core's own takes after one that two cores share. */
static double own_after_shared(uint32_t shared, uint32_t own)
{
    double all = 0;
    for (int loads = 2; loads > 0; loads--) {
        struct rig rig;
        double ends[CORES];
        struct sim_time_config slow = config;
        slow.same_line_cycles = 200;
        open_config(&rig, &slow);
        for (unsigned i = 0; i < 2; i++) {
            move(&rig.log[i], false, 0, shared);
            if (loads == 2) {
                move(&rig.log[i], false, (i + 1) * 65536u, own);
            }
            end(&rig.log[i]);
        }
        run_all(&rig, ends);
        all += loads == 2 ? ends[1] : -ends[1];
        close_rig(&rig);
    }
    return all;
}

/* Cores that were in step at an operand are taken to be so at its next load, not at another's. */
static void what_was_met_is_of_one_operand(void)
{
    CU_ASSERT(own_after_shared(8192, 4096) < own_after_shared(4096, 4096) - 20);
}

/* A line is fetched whole: 128 bytes of it wait for themselves alone, the rest uses HBM behind. */
static void the_rest_of_a_line_follows(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    for (unsigned i = 0; i < 3; i++) {
        struct sim_time_record record = {.kind = SIM_TIME_OP_GM, .pipe = LEO_PIPE_MTE2};
        struct sim_time_gm gm = {.addr = i * 128,
                                 .piece = 128,
                                 .count = 64,
                                 .step = 2 * LINE,
                                 .bytes = 64 * 128,
                                 .request = 128};
        CU_ASSERT(sim_time_log_reserve(&rig.log[0]));
        sim_time_log_push(&rig.log[0], &record, &gm);
    }
    end(&rig.log[0]);
    run_all(&rig, ends);
    // The first misses, at 25 bytes a cycle beside its fill; the others find their lines.
    CU_ASSERT(ends[0] < 8192 / 25. + 200 + 2 * 8192 / 81.92 + 200);
    CU_ASSERT(ends[0] > 8192 / 25. + 2 * 8192 / 81.92);
    CU_ASSERT_EQUAL(rig.l2.read_bytes, 0);
    close_rig(&rig);
}

/* Rows of several matrices in one instruction: each is a line of its own. */
static void every_matrix_is_seen(void)
{
    struct rig rig;
    double ends[CORES];
    open_rig(&rig);
    struct sim_time_record record = {.kind = SIM_TIME_OP_GM, .pipe = LEO_PIPE_MTE2};
    struct sim_time_gm gm = {.addr = 0,
                             .piece = LINE,
                             .count = 4,
                             .step = 2 * LINE,
                             .more = 2,
                             .more_step = 32 * LINE,
                             .bytes = 12 * LINE,
                             .request = 128};
    CU_ASSERT(sim_time_log_reserve(&rig.log[0]));
    sim_time_log_push(&rig.log[0], &record, &gm);
    end(&rig.log[0]);
    run_all(&rig, ends);
    CU_ASSERT_EQUAL(rig.l2.read_bytes, 12 * LINE);
    sim_l2_use(&rig.l2, 34 * LINE, LINE, false);
    CU_ASSERT_EQUAL(rig.l2.read_bytes, 12 * LINE);
    sim_l2_use(&rig.l2, 33 * LINE, LINE, false);
    CU_ASSERT_EQUAL(rig.l2.read_bytes, 13 * LINE);
    close_rig(&rig);
}

/* Nanoseconds in which one core reads 1 MB in tiles, and four cores 4 MB. */
static void stream_ns(uint32_t clock_khz, double ns[2])
{
    struct sim_config chip;
    char error[256];
    CU_ASSERT_EQUAL_FATAL(sim_config_parse(leo_isa_soc_text("ascend910b1"), "ascend910b1", &chip,
                                           error, sizeof(error)),
                          LEO_OK);
    chip.clock_khz = clock_khz;
    for (unsigned round = 0; round < 2; round++) {
        struct sim_time_config time = sim_time_config_of(&chip);
        struct rig rig;
        double ends[CORES] = {0};
        time.cores = CORES;
        time.hbm_read_rate /= 12; // four of 48 cores, and their share
        open_config(&rig, &time);
        for (unsigned i = 0; i < (round ? CORES : 1); i++) {
            for (unsigned tile = 0; tile < 64; tile++) {
                move_in(&rig.log[i], false, (i * 2 + 1) * MEGA + tile * 16384u, 16384, 256);
            }
            end(&rig.log[i]);
        }
        run_all(&rig, ends);
        ns[round] = ends[0] / (clock_khz * 1e-6);
        close_rig(&rig);
    }
}

/* Memory keeps its pace when the core's clock halves. */
static void half_the_clock_is_not_half_the_memory(void)
{
    double full[2], half[2];
    stream_ns(1850000, full);
    stream_ns(925000, half);
    for (unsigned i = 0; i < 2; i++) {
        CU_ASSERT(half[i] >= full[i] * 0.99 && half[i] < full[i] * 1.1);
    }
}

/* HW-DMA-30: rows A03 and A04 of the published measurements, with the numbers of the chip. */
static void tile_copies_hold_the_published_figures(void)
{
    struct rig rig;
    struct sim_config soc;
    double ends[CORES];
    char error[100];
    CU_ASSERT_EQUAL_FATAL(sim_config_parse(leo_isa_soc_text("ascend910b1"), "ascend910b1", &soc,
                                           error, sizeof(error)),
                          LEO_OK);
    struct sim_time_config time = sim_time_config_of(&soc);
    open_config(&rig, &time);
    move_in(&rig.log[0], false, 0, 8192, soc.gm_request_bytes);
    move_in(&rig.log[0], false, 65536, 8192, soc.gm_request_bytes);
    move_in(&rig.log[0], true, 2 * 65536, 8192, soc.gm_request_bytes);
    end(&rig.log[0]);
    run_all(&rig, ends);
    const double *busy = sim_time_engine_stats(rig.engine, 0)->busy;
    CU_ASSERT_DOUBLE_EQUAL(busy[LEO_PIPE_MTE2], 701, 7);
    CU_ASSERT_DOUBLE_EQUAL(busy[LEO_PIPE_MTE3], 295, 3);
    close_rig(&rig);
}

/* The same log in pieces of any size gives the same times. */
static double ends_in_pieces(unsigned piece)
{
    struct rig rig;
    unsigned core = CORES, ended = 0;
    double last = 0, sum = 0;
    open_rig(&rig);
    for (unsigned i = 0; i < CORES; i++) {
        sim_time_engine_begin(rig.engine, i, &rig.log[i], i * 10., 0, FOREVER);
    }
    for (unsigned at = 0; at < 400; at++) {
        for (unsigned i = 0; i < CORES; i++) {
            struct sim_time_log *log = &rig.log[i];
            uint64_t addr = (at * 7919 + i * 104729) % 4096 * 512;
            move(log, false, addr, 512 + at % 5 * 2048);
            set(log, LEO_PIPE_MTE2, LEO_PIPE_V, at % 2);
            wait(log, LEO_PIPE_MTE2, LEO_PIPE_V, at % 2);
            op(log, LEO_PIPE_V, at % 3, 50 + (at + i) % 7 * 30, 20);
            set(log, LEO_PIPE_V, LEO_PIPE_MTE3, at % 2);
            wait(log, LEO_PIPE_V, LEO_PIPE_MTE3, at % 2);
            move(log, true, addr + 8 * MEGA, 2048);
            if (at == 399) {
                end(log);
            } else if (at % piece == piece - 1) {
                sim_time_log_publish(log);
            }
        }
        while (sim_time_engine_run(rig.engine, INFINITY, &core) == SIM_TIME_ENDED && ended < 4) {
            last = sim_time_engine_stats(rig.engine, core)->end;
            sum = sum * 3 + last;
            if (++ended == CORES) {
                break;
            }
        }
    }
    CU_ASSERT_EQUAL(ended, CORES);
    CU_ASSERT(last > 10000);
    close_rig(&rig);
    return sum;
}

static void pieces_of_a_log_do_not_matter(void)
{
    double whole = ends_in_pieces(1000);
    for (unsigned piece = 1; piece < 50; piece += 6) {
        CU_ASSERT_EQUAL(ends_in_pieces(piece), whole);
    }
}

static void a_core_without_log_holds_the_others(void)
{
    struct rig rig;
    unsigned core;
    double cycle;
    open_rig(&rig);
    op(&rig.log[0], LEO_PIPE_V, 0, 500, 0);
    end(&rig.log[0]);
    push(&rig.log[1], (struct sim_time_record){.kind = SIM_TIME_MARK, .scalar = 300});
    sim_time_log_publish(&rig.log[1]);
    sim_time_engine_begin(rig.engine, 0, &rig.log[0], 0, 0, FOREVER);
    sim_time_engine_begin(rig.engine, 1, &rig.log[1], 0, 0, FOREVER);
    CU_ASSERT_EQUAL(sim_time_engine_run(rig.engine, 200, &core), SIM_TIME_REACHED);
    CU_ASSERT_DOUBLE_EQUAL(sim_time_engine_now(rig.engine), 200, 1e-9);
    CU_ASSERT_EQUAL(sim_time_engine_run(rig.engine, INFINITY, &core), SIM_TIME_STARVED);
    CU_ASSERT(sim_time_engine_wants(rig.engine, 1) && !sim_time_engine_wants(rig.engine, 0));
    CU_ASSERT(sim_time_engine_mark(rig.engine, 1, &cycle));
    CU_ASSERT_DOUBLE_EQUAL(cycle, 300, 1e-9);
    CU_ASSERT(!sim_time_engine_mark(rig.engine, 0, &cycle));
    CU_ASSERT_DOUBLE_EQUAL(sim_time_engine_now(rig.engine), 300, 1e-9);
    push(&rig.log[1], (struct sim_time_record){.kind = SIM_TIME_SCALAR, .scalar = 300});
    end(&rig.log[1]);
    CU_ASSERT_EQUAL(sim_time_engine_run(rig.engine, INFINITY, &core), SIM_TIME_ENDED);
    CU_ASSERT_EQUAL(core, 0);
    CU_ASSERT_EQUAL(sim_time_engine_run(rig.engine, INFINITY, &core), SIM_TIME_ENDED);
    CU_ASSERT_EQUAL(core, 1);
    CU_ASSERT_DOUBLE_EQUAL(sim_time_engine_now(rig.engine), 600, 1e-9);
    close_rig(&rig);
}

static void a_block_past_its_limit_ends(void)
{
    struct rig rig;
    unsigned core;
    open_rig(&rig);
    move(&rig.log[0], false, 0, MEGA); // still under way at the end
    push(&rig.log[0], (struct sim_time_record){.kind = SIM_TIME_SCALAR, .scalar = 5000});
    push(&rig.log[0], (struct sim_time_record){.kind = SIM_TIME_SCALAR, .scalar = 5000});
    sim_time_log_publish(&rig.log[0]);
    sim_time_engine_begin(rig.engine, 0, &rig.log[0], 100, 0, 7000);
    CU_ASSERT_EQUAL(sim_time_engine_run(rig.engine, INFINITY, &core), SIM_TIME_ENDED);
    CU_ASSERT(sim_time_engine_stats(rig.engine, 0)->timed_out);
    CU_ASSERT_DOUBLE_EQUAL(sim_time_engine_now(rig.engine), 7100, 1e-9);
    CU_ASSERT_EQUAL(sim_time_engine_run(rig.engine, 8000, &core), SIM_TIME_REACHED);
    // The core takes another block.
    sim_time_log_finish(&rig.log[0]);
    move(&rig.log[0], true, 0, 500);
    end(&rig.log[0]);
    sim_time_engine_begin(rig.engine, 0, &rig.log[0], 0, 0, 1000);
    CU_ASSERT_EQUAL(sim_time_engine_run(rig.engine, INFINITY, &core), SIM_TIME_ENDED);
    CU_ASSERT_DOUBLE_EQUAL(sim_time_engine_now(rig.engine), 8160, 1e-9);
    close_rig(&rig);
}

static void an_abandoned_block_leaves_nothing(void)
{
    struct rig rig;
    unsigned core;
    open_rig(&rig);
    for (unsigned i = 0; i < 3; i++) {
        move(&rig.log[i], false, i * 65536u, 32768);
        end(&rig.log[i]);
        sim_time_engine_begin(rig.engine, i, &rig.log[i], 0, 0, FOREVER);
    }
    CU_ASSERT_EQUAL(sim_time_engine_run(rig.engine, 100, &core), SIM_TIME_REACHED);
    sim_time_engine_abandon(rig.engine, 0);
    sim_time_engine_abandon(rig.engine, 2);
    CU_ASSERT_EQUAL(sim_time_engine_run(rig.engine, INFINITY, &core), SIM_TIME_ENDED);
    CU_ASSERT_EQUAL(core, 1);
    double moved = 100 * 50 / 3.;
    CU_ASSERT_DOUBLE_EQUAL(sim_time_engine_now(rig.engine), 100 + (32768 - moved) / 40.96 + 81.92,
                           1e-6);
    CU_ASSERT_EQUAL(sim_time_engine_run(rig.engine, INFINITY, &core), SIM_TIME_REACHED);
    close_rig(&rig);
}

static void cross(struct sim_time_log *log, enum sim_time_kind kind, enum leo_pipe pipe,
                  unsigned mode, unsigned flag)
{
    push(log, (struct sim_time_record){.kind = (uint8_t)kind,
                                       .pipe = (uint8_t)pipe,
                                       .dst = (uint8_t)mode,
                                       .id = (uint8_t)flag});
}

/* Begins core 0 as the cube core of vector cores 1 and 2. */
static void begin_group(struct rig *rig)
{
    for (unsigned i = 0; i < 3; i++) {
        const struct sim_time_team team = {
            .team = 1, .group = 0, .is_vector = i > 0, .kin = i ? 2 : 1, .vectors = 2};
        sim_time_engine_join(rig->engine, i, &team);
        sim_time_engine_begin(rig->engine, i, &rig->log[i], 0, 0, FOREVER);
    }
}

static void expect_end(struct rig *rig, double at)
{
    unsigned core;
    CU_ASSERT_EQUAL(sim_time_engine_run(rig->engine, INFINITY, &core), SIM_TIME_ENDED);
    CU_ASSERT_DOUBLE_EQUAL(sim_time_engine_now(rig->engine), at, 1e-9);
}

static void cores_meet_at_flags(void)
{
    struct sim_time_config with = config;
    struct rig rig;
    with.cross_core = 40;
    open_config(&rig, &with);
    begin_group(&rig);
    // The cube core's flag rises when M is done (100), 1 for the set and 40 for the way later.
    op(&rig.log[0], LEO_PIPE_M, 0, 100, 0);
    cross(&rig.log[0], SIM_TIME_POST, LEO_PIPE_M, LEO_CROSS_GROUP, 3);
    cross(&rig.log[0], SIM_TIME_PEND, LEO_PIPE_S, 0, 4);
    end(&rig.log[0]);
    for (unsigned i = 1; i < 3; i++) {
        cross(&rig.log[i], SIM_TIME_PEND, LEO_PIPE_S, 0, 3);
        op(&rig.log[i], LEO_PIPE_V, 0, 1000. * i, 0);
        cross(&rig.log[i], SIM_TIME_POST, LEO_PIPE_V, LEO_CROSS_GROUP, 4);
        // Among the vector cores: the later one counts.
        cross(&rig.log[i], SIM_TIME_POST, LEO_PIPE_V, LEO_CROSS_ALL, 5);
        cross(&rig.log[i], SIM_TIME_PEND, LEO_PIPE_S, 0, 5);
        end(&rig.log[i]);
    }
    const double first = 100 + 1 + 40 + 2;
    for (unsigned i = 0; i < 3; i++) {
        expect_end(&rig, first + 2000 + 1 + 40 + 2);
    }
    close_rig(&rig);
}

static void a_wait_for_nobody_can_be_given_up(void)
{
    for (unsigned behind = 0; behind < 2; behind++) {
        struct rig rig;
        unsigned core;
        open_rig(&rig);
        begin_group(&rig);
        op(&rig.log[0], LEO_PIPE_M, 0, 100, 0);
        cross(&rig.log[0], SIM_TIME_PEND, LEO_PIPE_S, 0, 4);
        if (behind) {
            op(&rig.log[0], LEO_PIPE_M, 0, 100, 0); // what was computed and will never happen
        }
        sim_time_log_publish(&rig.log[0]);
        for (unsigned i = 1; i < 3; i++) {
            sim_time_engine_abandon(rig.engine, i);
        }
        CU_ASSERT_EQUAL(sim_time_engine_run(rig.engine, INFINITY, &core), SIM_TIME_REACHED);
        sim_time_engine_give_up(rig.engine, 0, behind != 0);
        expect_end(&rig, 100);
        close_rig(&rig);
    }
}

static void a_flag_counts_to_fifteen(void)
{
    for (unsigned sets = 15; sets <= 16; sets++) {
        struct rig rig;
        open_rig(&rig);
        begin_group(&rig);
        for (unsigned i = 0; i < sets; i++) {
            cross(&rig.log[0], SIM_TIME_POST, LEO_PIPE_M, LEO_CROSS_GROUP, 3);
        }
        end(&rig.log[0]);
        for (unsigned i = 1; i < 3; i++) {
            push(&rig.log[i], (struct sim_time_record){.kind = SIM_TIME_SCALAR, .scalar = 5000});
            for (unsigned j = 0; j < sets; j++) {
                cross(&rig.log[i], SIM_TIME_PEND, LEO_PIPE_S, 0, 3);
            }
            end(&rig.log[i]);
        }
        expect_end(&rig, 0);
        for (unsigned i = 1; i < 3; i++) {
            unsigned core;
            CU_ASSERT_EQUAL(sim_time_engine_run(rig.engine, INFINITY, &core), SIM_TIME_ENDED);
            CU_ASSERT_EQUAL(sim_time_engine_stats(rig.engine, core)->overflow, sets == 16);
        }
        close_rig(&rig);
    }
}

static const struct leo_test tests[] = {
    {"cores_meet_at_flags", cores_meet_at_flags},
    {"a_wait_for_nobody_can_be_given_up", a_wait_for_nobody_can_be_given_up},
    {"a_flag_counts_to_fifteen", a_flag_counts_to_fifteen},
    {"pipes_run_side_by_side", pipes_run_side_by_side},
    {"a_full_queue_stops_the_scalar_unit", a_full_queue_stops_the_scalar_unit},
    {"flags_and_barriers_order_pipes", flags_and_barriers_order_pipes},
    {"a_result_is_not_taken_before_it_is_made", a_result_is_not_taken_before_it_is_made},
    {"results_are_handed_over_piece_by_piece", results_are_handed_over_piece_by_piece},
    {"a_load_waits_for_the_latency", a_load_waits_for_the_latency},
    {"loads_in_a_row_hide_the_latency", loads_in_a_row_hide_the_latency},
    {"stores_are_posted", stores_are_posted},
    {"small_transfers_keep_their_distance", small_transfers_keep_their_distance},
    {"cores_share_hbm", cores_share_hbm},
    {"dirty_lines_cost_their_way_back", dirty_lines_cost_their_way_back},
    {"past_the_l2_nothing_is_kept", past_the_l2_nothing_is_kept},
    {"the_same_line_serves_one_at_a_time", the_same_line_serves_one_at_a_time},
    {"what_was_met_is_of_one_operand", what_was_met_is_of_one_operand},
    {"the_rest_of_a_line_follows", the_rest_of_a_line_follows},
    {"every_matrix_is_seen", every_matrix_is_seen},
    {"half_the_clock_is_not_half_the_memory", half_the_clock_is_not_half_the_memory},
    {"tile_copies_hold_the_published_figures", tile_copies_hold_the_published_figures},
    {"pieces_of_a_log_do_not_matter", pieces_of_a_log_do_not_matter},
    {"a_core_without_log_holds_the_others", a_core_without_log_holds_the_others},
    {"a_block_past_its_limit_ends", a_block_past_its_limit_ends},
    {"an_abandoned_block_leaves_nothing", an_abandoned_block_leaves_nothing},
};

int main(int argc, char **argv)
{
    return leo_test_main("sim_time_engine", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
