/* SPDX-License-Identifier: Apache-2.0 */
/* The checker's order and shadow against a plain judge: random programs, every pair of accesses,
 * and order as paths in a graph of starts, ends and synchronisations. */
#include "check/check.h"
#include "core/core.h"
#include "harness.h"

#include <sim_units.h>
#include <stdlib.h>
#include <string.h>

enum { UB_BYTES = 3 * 4096, STEPS = 24, NODES = 4 * STEPS + 4, PROGRAMS = 60000 };

enum kind { UNIT, SCALAR, SET, WAIT, BARRIER };

struct step {
    enum kind kind;
    enum leo_pipe pipe, dst; /* of a flag: source and destination */
    unsigned id;
    uint32_t read, read_bytes, write, write_bytes; /* bytes 0 = none */
};

struct program {
    struct step step[STEPS];
    unsigned count;
};

static uint32_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Ranges begin and end anywhere, pages included, and often on each other's bounds. */
static uint32_t random_range(uint64_t *random, uint32_t *bytes)
{
    static const uint32_t sizes[] = {2, 32, 64, 100, 256, 4096};
    uint32_t at = next(random) % (UB_BYTES / 64) * 32;
    at += next(random) % 4 ? 0 : next(random) % 32;
    *bytes = sizes[next(random) % (sizeof(sizes) / sizeof(sizes[0]))];
    return at + *bytes > UB_BYTES ? UB_BYTES - *bytes : at;
}

static void random_access(uint64_t *random, struct step *step)
{
    static const enum leo_pipe units[] = {LEO_PIPE_V, LEO_PIPE_V, LEO_PIPE_MTE2, LEO_PIPE_MTE3,
                                          LEO_PIPE_S};
    step->pipe = units[next(random) % 5];
    step->kind = step->pipe == LEO_PIPE_S ? SCALAR : UNIT;
    const bool scalar_reads = step->pipe == LEO_PIPE_S && next(random) % 2;
    if (step->pipe == LEO_PIPE_V || step->pipe == LEO_PIPE_MTE3 || scalar_reads) {
        step->read = random_range(random, &step->read_bytes);
    }
    if (step->pipe == LEO_PIPE_V || step->pipe == LEO_PIPE_MTE2 ||
        (step->pipe == LEO_PIPE_S && !scalar_reads)) {
        step->write = random_range(random, &step->write_bytes);
    }
}

/* Flags are set and waited for as the core allows it. */
static void random_program(uint64_t *random, struct program *program)
{
    static const enum leo_pipe pipes[] = {LEO_PIPE_S, LEO_PIPE_V, LEO_PIPE_MTE2, LEO_PIPE_MTE3};
    bool set[SIM_ACTORS][SIM_ACTORS][2] = {0};
    memset(program, 0, sizeof(*program));
    while (program->count < STEPS) {
        struct step *step = &program->step[program->count++];
        const unsigned what = next(random) % 8;
        if (what < 4) {
            random_access(random, step);
            continue;
        }
        if (what == 4) {
            step->kind = BARRIER;
            step->pipe = next(random) % 4 ? pipes[1 + next(random) % 3] : LEO_PIPE_ALL;
            continue;
        }
        step->pipe = pipes[next(random) % 4];
        step->dst = pipes[next(random) % 4];
        step->id = next(random) % 2;
        bool *flag = &set[step->pipe][step->dst][step->id];
        step->kind = *flag ? WAIT : SET;
        *flag = !*flag;
    }
}

/* The judge. Nodes: 4 a step: place in the program, start, end, synchronisation. */
enum { PLACE, START, END, SYNC };

struct graph {
    uint64_t path[NODES][(NODES + 63) / 64]; /* a bit a node */
};

static unsigned node(unsigned step, unsigned which)
{
    return 4 * step + which;
}

static void lead(struct graph *graph, unsigned from, unsigned to)
{
    graph->path[from][to / 64] |= UINT64_C(1) << to % 64;
}

static bool leads(const struct graph *graph, unsigned from, unsigned to)
{
    return graph->path[from][to / 64] >> to % 64 & 1;
}

static bool has_pipe(const struct step *step, enum leo_pipe pipe)
{
    return step->kind == UNIT && step->pipe == pipe;
}

static void add_edges(struct graph *graph, const struct program *program, unsigned k)
{
    const struct step *step = &program->step[k];
    lead(graph, node(k, PLACE), node(k + 1, PLACE));
    if (step->kind == UNIT || step->kind == SCALAR) {
        lead(graph, node(k, PLACE), node(k, START));
        lead(graph, node(k, START), node(k, END));
        // A load is over before the scalar unit goes on; a store need not be.
        if (step->kind == SCALAR && step->write_bytes == 0) {
            lead(graph, node(k, END), node(k + 1, PLACE));
        }
        return;
    }
    const unsigned sync = node(k, SYNC);
    const bool all = step->kind == BARRIER && step->pipe == LEO_PIPE_ALL;
    const enum leo_pipe after = step->kind == WAIT ? step->dst : step->pipe;
    lead(graph, node(k, PLACE), sync);
    if (all || (step->kind == WAIT && step->dst == LEO_PIPE_S)) {
        lead(graph, sync, node(k + 1, PLACE));
    }
    for (unsigned i = 0; i < k; i++) {
        const struct step *before = &program->step[i];
        const bool of_pipe =
            has_pipe(before, step->pipe) || (before->kind == SCALAR && step->pipe == LEO_PIPE_S);
        if (step->kind != WAIT && (before->kind == UNIT || before->kind == SCALAR) &&
            (all || of_pipe)) {
            lead(graph, node(i, END), sync); // complete before the flag or barrier
        }
        if (step->kind == SET && before->kind == WAIT && before->dst == step->pipe) {
            lead(graph, node(i, SYNC), sync); // a pipe takes waits and sets in order
        }
    }
    for (unsigned i = k + 1; i < program->count && step->kind != SET; i++) {
        if (has_pipe(&program->step[i], after)) {
            lead(graph, sync, node(i, START));
        }
    }
    for (unsigned i = k + 1; i < program->count && step->kind == SET; i++) {
        const struct step *wait = &program->step[i];
        if (wait->kind == WAIT && wait->pipe == step->pipe && wait->dst == step->dst &&
            wait->id == step->id) {
            lead(graph, sync, node(i, SYNC));
            break;
        }
    }
}

static void close_paths(struct graph *graph, unsigned nodes)
{
    for (unsigned via = 0; via < nodes; via++) {
        for (unsigned from = 0; from < nodes; from++) {
            for (unsigned word = 0; leads(graph, from, via) && word < (nodes + 63) / 64; word++) {
                graph->path[from][word] |= graph->path[via][word];
            }
        }
    }
}

static bool overlap(uint32_t a, uint32_t a_bytes, uint32_t b, uint32_t b_bytes)
{
    return a_bytes && b_bytes && a < b + b_bytes && b < a + a_bytes;
}

static bool conflict(const struct step *a, const struct step *b)
{
    return overlap(a->write, a->write_bytes, b->read, b->read_bytes) ||
           overlap(a->write, a->write_bytes, b->write, b->write_bytes) ||
           overlap(a->read, a->read_bytes, b->write, b->write_bytes);
}

/* The first access that conflicts with one before it that is not over; -1 = none. */
static int judge(const struct program *program)
{
    static struct graph graph;
    memset(&graph, 0, sizeof(graph));
    for (unsigned k = 0; k < program->count; k++) {
        add_edges(&graph, program, k);
    }
    close_paths(&graph, 4 * program->count + 4);
    for (unsigned j = 0; j < program->count; j++) {
        for (unsigned i = 0; i < j; i++) {
            const struct step *a = &program->step[i], *b = &program->step[j];
            if (a->kind <= SCALAR && b->kind <= SCALAR && conflict(a, b) &&
                !(a->kind == SCALAR && b->kind == SCALAR) &&
                !leads(&graph, node(i, END), node(j, START))) {
                return (int)j;
            }
        }
    }
    return -1;
}

static bool no_foot(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    (void)core;
    (void)op;
    (void)foot;
    return true;
}

static void issue(struct sim_check *check, struct sim_core *core, const struct step *step,
                  uint64_t pc)
{
    const struct sim_insn row = {.foot = no_foot, .pipe = (uint8_t)step->pipe};
    struct sim_footprint foot;
    sim_footprint_begin(&foot);
    struct sim_op op = {.row = &row, .foot = &foot, .pc = LEO_MAP_IMAGE + pc};
    if (step->read_bytes) {
        sim_footprint_add(&foot, SIM_OPERAND_B, LEO_MEM_SPACE_UB, SIM_TOUCH_READ, step->read,
                          step->read_bytes)
            ->host = core->local[LEO_MEM_SPACE_UB].data + step->read;
    }
    if (step->write_bytes) {
        sim_footprint_add(&foot, SIM_OPERAND_A, LEO_MEM_SPACE_UB, SIM_TOUCH_WRITE, step->write,
                          step->write_bytes)
            ->host = core->local[LEO_MEM_SPACE_UB].data + step->write;
    }
    sim_check_unit(check, core, &op);
}

static int check_program(struct sim_check *check, struct sim_core *core,
                         const struct program *program)
{
    sim_check_begin(check, 0, UINT64_C(0x100000000));
    for (unsigned k = 0; k < program->count; k++) {
        const struct step *step = &program->step[k];
        const uint64_t pc = 4 * (k + 1);
        switch (step->kind) {
        case UNIT:
            issue(check, core, step, pc);
            break;
        case SCALAR:
            sim_check_scalar(check, LEO_MEM_SPACE_UB, step->read_bytes ? step->read : step->write,
                             step->read_bytes ? step->read_bytes : step->write_bytes,
                             step->read_bytes ? SIM_TOUCH_READ : SIM_TOUCH_WRITE, pc);
            break;
        case SET:
            sim_check_flag_set(check, step->pipe, step->dst, step->id, pc);
            break;
        case WAIT:
            sim_check_flag_wait(check, step->pipe, step->dst, step->id);
            break;
        case BARRIER:
            sim_check_barrier(check, step->pipe);
            break;
        }
    }
    return check->findings.count ? (int)check->findings.list[0].pc / 4 - 1 : -1;
}

static void random_programs_are_judged_alike(void)
{
    struct sim_check check;
    struct sim_core *core = calloc(1, sizeof(*core));
    uint64_t random = 20240611;
    unsigned clean = 0, wrong = 0;
    CU_ASSERT_FATAL(core != NULL);
    core->local[LEO_MEM_SPACE_UB] = (struct sim_local){malloc(UB_BYTES), UB_BYTES};
    sim_check_init(&check, SIM_CHECK_HAZARD, 2201, 0, 1);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct program program;
        random_program(&random, &program);
        program.count = 4 + next(&random) % (STEPS - 3);
        const int expected = judge(&program), got = check_program(&check, core, &program);
        clean += expected < 0;
        wrong += got != expected;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(clean > PROGRAMS / 20 && clean < PROGRAMS * 19 / 20);
    sim_check_finish(&check);
    free(core->local[LEO_MEM_SPACE_UB].data);
    free(core);
}

static void set_number(void *context, uint64_t addr, struct sim_shadow_entry *entry)
{
    (void)addr;
    entry->write = *(const uint32_t *)context;
}

struct copy {
    uint32_t *bytes;
    uint64_t at;
};

static void copy_number(void *context, uint64_t addr, struct sim_shadow_entry *entry)
{
    struct copy *copy = context;
    CU_ASSERT_EQUAL(addr, copy->at);
    for (uint32_t i = entry->begin; i < entry->end; i++) {
        copy->bytes[copy->at++] = entry->write;
    }
}

/* The shadow against an array with a number for each byte. */
static void shadow_remembers_every_byte(void)
{
    struct sim_shadow shadow = {0};
    uint32_t *bytes = calloc(UB_BYTES, sizeof(*bytes)), *got = calloc(UB_BYTES, sizeof(*got));
    uint64_t random = 5;
    CU_ASSERT_FATAL(bytes != NULL && got != NULL);
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t size, at = random_range(&random, &size), number = 1 + next(&random) % 5;
        sim_shadow_visit(&shadow, at, size, set_number, &number);
        for (uint32_t k = at; k < at + size; k++) {
            bytes[k] = number;
        }
        if (i % 100 == 0) {
            struct copy copy = {got, 0};
            sim_shadow_visit(&shadow, 0, UB_BYTES, copy_number, &copy);
            CU_ASSERT_EQUAL(copy.at, UB_BYTES);
            CU_ASSERT(memcmp(bytes, got, UB_BYTES * sizeof(*bytes)) == 0);
        }
    }
    sim_shadow_clear(&shadow);
    memset(bytes, 0, UB_BYTES * sizeof(*bytes));
    struct copy copy = {got, 0};
    sim_shadow_visit(&shadow, 0, UB_BYTES, copy_number, &copy);
    CU_ASSERT(memcmp(bytes, got, UB_BYTES * sizeof(*bytes)) == 0);
    sim_shadow_finish(&shadow);
    free(bytes);
    free(got);
}

static void a_pair_of_places_is_told_once(void)
{
    struct sim_findings findings = {0};
    struct sim_finding finding = {
        .code = LEO_FAULT_RACE, .unit = 1, .other_unit = 2, .pc = 16, .addr = 64, .bytes = 32};
    sim_findings_add(&findings, &finding);
    finding.addr = 96; // goes on where the first ended
    sim_findings_add(&findings, &finding);
    CU_ASSERT_EQUAL(findings.count, 1);
    CU_ASSERT_EQUAL(findings.list[0].bytes, 64);
    finding.addr = 4096;
    sim_findings_add(&findings, &finding);
    CU_ASSERT_EQUAL(findings.count, 1);
    finding.pc = 20;
    sim_findings_add(&findings, &finding);
    finding.other_unit = 3;
    sim_findings_add(&findings, &finding);
    CU_ASSERT_EQUAL(findings.count, 3);
}

// Whether an access of `bytes` at `addr` is found to leave an array of 70 bytes at 4096.
static bool leaves_array(uint64_t addr, uint64_t low, uint64_t bytes)
{
    const struct leo_image_array array = {.addr = 4096, .bytes = 70};
    static const struct sim_insn row = {.pipe = LEO_PIPE_V};
    struct sim_footprint foot = {.count = 1};
    const struct sim_op op = {.row = &row, .foot = &foot};
    struct sim_check check;
    foot.span[0] = (struct sim_span){.space = LEO_MEM_SPACE_UB,
                                     .touch = SIM_TOUCH_WRITE,
                                     .addr = addr,
                                     .low = low,
                                     .extent = bytes};
    sim_check_init(&check, 0, 2201, 0, 1);
    check.array = &array;
    check.arrays = 1;
    sim_check_arrays(&check, &op);
    const bool found = check.findings.count != 0;
    sim_check_finish(&check);
    return found;
}

static void arrays_end_with_their_last_block(void)
{
    CU_ASSERT_FALSE(leaves_array(4096, 4096, 96)); // 70 bytes take three blocks
    CU_ASSERT_TRUE(leaves_array(4096, 4096, 97));
    CU_ASSERT_TRUE(leaves_array(4096, 4095, 8));
    CU_ASSERT_FALSE(leaves_array(4160, 4160, 32));
    CU_ASSERT_TRUE(leaves_array(4160, 4160, 33));
    CU_ASSERT_FALSE(leaves_array(4166, 4166, 1000)); // begins in none
    CU_ASSERT_FALSE(leaves_array(4095, 4095, 1000));
}

// Whether the scalar unit is found outside of two arrays: 70 bytes at 4096, then 64.
static bool scalar_leaves_arrays(uint64_t offset, uint64_t bytes)
{
    const struct leo_image_array arrays[] = {
        {.addr = LEO_MAP_WINDOWS + 4096, .bytes = 70},
        {.addr = LEO_MAP_WINDOWS + 4192, .bytes = 64},
    };
    struct sim_check check;
    sim_check_init(&check, SIM_CHECK_BOUNDS, 2201, 0, 1);
    check.array = arrays;
    check.arrays = 2;
    sim_check_scalar(&check, LEO_MEM_SPACE_UB, offset, bytes, SIM_TOUCH_WRITE, 64);
    const bool found = check.findings.count != 0;
    CU_ASSERT_TRUE(!found || (check.findings.list[0].code == LEO_FAULT_ARRAY_BOUNDS &&
                              check.findings.list[0].unit == LEO_PIPE_S));
    sim_check_finish(&check);
    return found;
}

static void scalars_do_not_touch_what_is_left_of_a_block(void)
{
    CU_ASSERT_FALSE(scalar_leaves_arrays(4096, 8));
    CU_ASSERT_FALSE(scalar_leaves_arrays(4096 + 68, 2));
    CU_ASSERT_TRUE(scalar_leaves_arrays(4096 + 68, 4)); // half of it is outside
    CU_ASSERT_TRUE(scalar_leaves_arrays(4096 + 70, 1));
    CU_ASSERT_TRUE(scalar_leaves_arrays(4192 - 1, 1));
    CU_ASSERT_FALSE(scalar_leaves_arrays(4192, 8)); // the second may have been meant
    CU_ASSERT_TRUE(scalar_leaves_arrays(4192 + 60, 8));
    CU_ASSERT_FALSE(scalar_leaves_arrays(4192 + 64, 8)); // a bare offset
    CU_ASSERT_FALSE(scalar_leaves_arrays(4096 - 8, 8));
}

/* [P] four events between two pipes in the first generation, eight in the second. */
static enum leo_fault set_event(uint32_t arch, unsigned event)
{
    const struct sim_config config = {.arch = arch};
    struct sim_time_pool pool;
    struct sim_core core = {.config = &config};
    const struct sim_op op = {.imm = (uint64_t)LEO_PIPE_V | (uint64_t)LEO_PIPE_MTE3 << 4 |
                                     (uint64_t)event << 8};
    CU_ASSERT_EQUAL_FATAL(sim_time_pool_create(&pool), LEO_OK);
    sim_time_log_init(&core.log, &pool);
    CU_ASSERT_TRUE(sim_time_log_reserve(&core.log));
    (void)sim_core_flag_set(&core, &op);
    sim_time_log_finish(&core.log);
    sim_time_pool_destroy(&pool);
    return core.scalar.fault.code;
}

static void generations_have_as_many_events_as_published(void)
{
    CU_ASSERT_EQUAL(set_event(1001, 3), LEO_FAULT_NONE);
    CU_ASSERT_EQUAL(set_event(1001, 4), LEO_FAULT_BAD_EVENT);
    CU_ASSERT_EQUAL(set_event(2201, 7), LEO_FAULT_NONE);
    CU_ASSERT_EQUAL(set_event(2201, 8), LEO_FAULT_BAD_EVENT);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"a_pair_of_places_is_told_once", a_pair_of_places_is_told_once},
        {"arrays_end_with_their_last_block", arrays_end_with_their_last_block},
        {"scalars_do_not_touch_what_is_left_of_a_block",
         scalars_do_not_touch_what_is_left_of_a_block},
        {"generations_have_as_many_events_as_published",
         generations_have_as_many_events_as_published},
        {"random_programs_are_judged_alike", random_programs_are_judged_alike},
        {"shadow_remembers_every_byte", shadow_remembers_every_byte},
    };
    return leo_test_main("check", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
