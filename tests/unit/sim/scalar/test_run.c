/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "world.h"

#include <math.h>
#include <string.h>

enum { RET = 0x00008067, ILLEGAL = 0x0000007f, LOOP_SIZE = 9 };

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t addi(unsigned rd, unsigned rs1, int imm)
{
    return (uint32_t)imm << 20 | rs1 << 15 | rd << 7 | 0x13;
}

static uint32_t load_double(unsigned rd, unsigned rs1, int imm)
{
    return (uint32_t)imm << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x03;
}

static uint32_t store_double(unsigned rs2, unsigned rs1)
{
    return rs2 << 20 | rs1 << 15 | 3 << 12 | 0x23;
}

static void run_returns_at_end_of_kernel(void)
{
    const uint32_t words[] = {addi(10, 0, 7), RET};
    struct world w;
    world_init(&w, words, COUNT_OF(words));
    CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_RETURNED);
    CU_ASSERT_EQUAL(w.scalar.x[10], 7);
    CU_ASSERT_EQUAL(w.scalar.pc, LEO_MAP_RETURN);
    CU_ASSERT_EQUAL(w.scalar.instructions, 2);
    CU_ASSERT_DOUBLE_EQUAL(w.scalar.cycle, 2.5, 0);
    CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_RETURNED);
    world_finish(&w);
}

static void run_writes_to_x0_are_lost(void)
{
    const uint32_t words[] = {addi(0, 0, 7), addi(5, 0, 1), RET};
    struct world w;
    world_init(&w, words, COUNT_OF(words));
    CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_RETURNED);
    CU_ASSERT_EQUAL(w.scalar.x[0], 0);
    CU_ASSERT_EQUAL(w.scalar.x[5], 1);
    world_finish(&w);
}

static void run_leaving_text_is_bad_fetch(void)
{
    const uint32_t words[] = {addi(1, 0, 7)};
    const uint32_t jump[] = {RET};
    struct world w;
    world_init(&w, words, COUNT_OF(words));
    CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_FAULT);
    CU_ASSERT_EQUAL(w.scalar.fault.code, LEO_FAULT_BAD_FETCH);
    CU_ASSERT_EQUAL(w.scalar.fault.addr, WORLD_TEXT + 4);
    world_finish(&w);
    const uint64_t targets[] = {
        0, 2, WORLD_TEXT + 2, WORLD_TEXT + 4, WORLD_TEXT - 4, LEO_MAP_RETURN + 4};
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        world_init(&w, jump, COUNT_OF(jump));
        w.scalar.x[1] = targets[i];
        CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_FAULT);
        CU_ASSERT_EQUAL(w.scalar.fault.code, LEO_FAULT_BAD_FETCH);
        CU_ASSERT_EQUAL(w.scalar.fault.addr, targets[i]);
        CU_ASSERT_EQUAL(w.scalar.fault.pc, WORLD_TEXT); // the jump
        CU_ASSERT_EQUAL(w.scalar.fault.word, RET);
        CU_ASSERT_EQUAL(w.scalar.pc, targets[i]);
        world_finish(&w);
    }
}

static void run_illegal_word_faults_with_pc_and_word(void)
{
    const uint32_t words[] = {addi(5, 0, 1), ILLEGAL, RET};
    struct world w;
    world_init(&w, words, COUNT_OF(words));
    CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_FAULT);
    CU_ASSERT_EQUAL(w.scalar.fault.code, LEO_FAULT_ILLEGAL_INSTRUCTION);
    CU_ASSERT_EQUAL(w.scalar.fault.pc, WORLD_TEXT + 4);
    CU_ASSERT_EQUAL(w.scalar.fault.word, ILLEGAL);
    CU_ASSERT_EQUAL(w.scalar.pc, WORLD_TEXT + 4);
    CU_ASSERT_EQUAL(w.scalar.instructions, 1);
    world_finish(&w);
}

static void run_traps_fault_as_kernel_trap(void)
{
    const uint32_t traps[] = {0x00100073, 0xc0001073};
    for (size_t i = 0; i < COUNT_OF(traps); i++) {
        struct world w;
        world_init(&w, &traps[i], 1);
        CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_FAULT);
        CU_ASSERT_EQUAL(w.scalar.fault.code, LEO_FAULT_KERNEL_TRAP);
        world_finish(&w);
    }
}

/** Runs one load (or store) of x5 at the address in x6. */
static enum leo_fault access_memory(struct world *w, uint32_t word, uint64_t addr)
{
    const uint32_t words[] = {word, RET};
    world_init(w, words, COUNT_OF(words));
    for (unsigned i = 0; i < WORLD_BYTES; i++) {
        w->memory[i] = (uint8_t)i;
    }
    w->scalar.x[5] = 0x1122334455667788;
    w->scalar.x[6] = addr;
    enum sim_scalar_stop stop = sim_scalar_run(&w->scalar, HUGE_VAL);
    CU_ASSERT_EQUAL(stop, w->scalar.fault.code ? SIM_SCALAR_FAULT : SIM_SCALAR_RETURNED);
    world_finish(w);
    return w->scalar.fault.code;
}

static void load_checks_bounds_of_regions(void)
{
    struct world w;
    const uint32_t load = load_double(5, 6, 0);
    CU_ASSERT_EQUAL(access_memory(&w, load, WORLD_MEMORY), LEO_FAULT_NONE);
    CU_ASSERT_EQUAL(w.scalar.x[5], 0x0706050403020100);
    CU_ASSERT_DOUBLE_EQUAL(w.scalar.cycle, 3 + 1.5, 0);
    CU_ASSERT_EQUAL(access_memory(&w, load, WORLD_MEMORY + WORLD_BYTES - 8), LEO_FAULT_NONE);
    const uint64_t bad[] = {WORLD_MEMORY + WORLD_BYTES - 7,
                            WORLD_MEMORY + WORLD_BYTES,
                            WORLD_MEMORY - 1,
                            0,
                            UINT64_MAX,
                            UINT64_MAX - 7};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        CU_ASSERT_EQUAL(access_memory(&w, load, bad[i]), LEO_FAULT_GM_OUT_OF_RANGE);
        CU_ASSERT_EQUAL(w.scalar.fault.addr, bad[i]);
        CU_ASSERT_EQUAL(w.scalar.fault.pc, WORLD_TEXT);
        CU_ASSERT_EQUAL(w.scalar.fault.word, load);
        CU_ASSERT_EQUAL(w.scalar.x[5], 0x1122334455667788);
    }
}

static void store_respects_access_and_bounds(void)
{
    struct world w;
    const uint32_t store = store_double(5, 6);
    CU_ASSERT_EQUAL(access_memory(&w, store, WORLD_MEMORY + 16), LEO_FAULT_NONE);
    CU_ASSERT_EQUAL(w.memory[16], 0x88);
    CU_ASSERT_EQUAL(w.memory[23], 0x11);
    CU_ASSERT_EQUAL(w.memory[24], 24);
    CU_ASSERT_EQUAL(access_memory(&w, store, WORLD_CONST), LEO_FAULT_GM_READ_ONLY);
    CU_ASSERT_EQUAL(w.memory[0], 0);
    CU_ASSERT_EQUAL(access_memory(&w, store, WORLD_MEMORY + WORLD_BYTES - 4),
                    LEO_FAULT_GM_OUT_OF_RANGE);
    CU_ASSERT_EQUAL(w.memory[WORLD_BYTES - 1], 255);
}

static void misaligned_access_faults_where_the_region_says_so(void)
{
    struct world w;
    const uint32_t amoadd = 0x2f | 3 << 12 | 6 << 15 | 5 << 20 | 5 << 7;
    CU_ASSERT_EQUAL(access_memory(&w, load_double(5, 6, 0), WORLD_ALIGNED + 4),
                    LEO_FAULT_MISALIGNED_SCALAR);
    CU_ASSERT_EQUAL(w.scalar.fault.addr, WORLD_ALIGNED + 4);
    CU_ASSERT_EQUAL(w.scalar.fault.bytes, 8);
    CU_ASSERT_EQUAL(access_memory(&w, store_double(5, 6), WORLD_ALIGNED + 1),
                    LEO_FAULT_MISALIGNED_SCALAR);
    CU_ASSERT_EQUAL(access_memory(&w, load_double(5, 6, 0), WORLD_ALIGNED + 8), LEO_FAULT_NONE);
    CU_ASSERT_EQUAL(access_memory(&w, load_double(5, 6, 0), WORLD_MEMORY + 3), LEO_FAULT_NONE);
    CU_ASSERT_EQUAL(access_memory(&w, amoadd, WORLD_MEMORY + 4),
                    LEO_FAULT_MISALIGNED_SCALAR); // atomics: always
    CU_ASSERT_EQUAL(access_memory(&w, amoadd, WORLD_MEMORY + 8), LEO_FAULT_NONE);
    CU_ASSERT_EQUAL(access_memory(&w, amoadd, WORLD_CONST + 8), LEO_FAULT_GM_READ_ONLY);
}

static void regions_are_found_once_until_forgotten(void)
{
    const uint32_t words[] = {load_double(5, 6, 0), load_double(5, 7, 0), load_double(5, 6, 8),
                              load_double(5, 7, 8), RET};
    struct world w;
    world_init(&w, words, COUNT_OF(words));
    w.scalar.x[6] = WORLD_MEMORY;
    w.scalar.x[7] = WORLD_CONST;
    CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_RETURNED);
    CU_ASSERT_EQUAL(w.finds, 2);
    sim_scalar_forget(&w.scalar);
    w.scalar.pc = WORLD_TEXT;
    CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_RETURNED);
    CU_ASSERT_EQUAL(w.finds, 4);
    world_finish(&w);
}

static void cached_regions_keep_their_bounds_and_access(void)
{
    const uint32_t over_end[] = {load_double(5, 6, 0), load_double(5, 6, 4), RET};
    const uint32_t before[] = {load_double(5, 6, 0), load_double(5, 6, -WORLD_BYTES / 2), RET};
    const uint32_t write[] = {load_double(5, 6, 0), store_double(5, 6), RET};
    const struct {
        const uint32_t *words;
        uint64_t addr;
        enum leo_fault fault;
    } cases[] = {
        {over_end, WORLD_MEMORY + WORLD_BYTES - 8, LEO_FAULT_GM_OUT_OF_RANGE},
        {before, WORLD_MEMORY + 8, LEO_FAULT_GM_OUT_OF_RANGE},
        {write, WORLD_CONST, LEO_FAULT_GM_READ_ONLY},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct world w;
        world_init(&w, cases[i].words, 3);
        w.scalar.x[6] = cases[i].addr;
        CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_FAULT);
        CU_ASSERT_EQUAL(w.scalar.fault.code, cases[i].fault);
        CU_ASSERT_EQUAL(w.scalar.fault.pc, WORLD_TEXT + 4);
        world_finish(&w);
    }
}

/** A loop of all cost classes: 50 rounds of load, mul, div, float, store, branch. */
static const uint32_t loop_words[LOOP_SIZE] = {
    0x00033283, // ld x5, 0(x6)
    0x02728433, // mul x8, x5, x7
    0x0274c4b3, // div x9, x9, x7
    0x003100d3, // fadd.s f1, f2, f3, rne
    0x1821f253, // fdiv.s f4, f3, f2, dyn
    0x00833023, // sd x8, 0(x6)
    0xfff50513, // addi x10, x10, -1
    0xfe0512e3, // bnez x10, -28
    RET,
};

static void init_loop(struct world *w)
{
    world_init(w, loop_words, LOOP_SIZE);
    w->scalar.x[6] = WORLD_MEMORY;
    w->scalar.x[7] = 3;
    w->scalar.x[9] = 1000000;
    w->scalar.x[10] = 50;
    w->scalar.f[2] = 0xffffffff40490fdb;
    w->scalar.f[3] = 0xffffffff3f800001;
    memset(w->memory, 7, 8);
}

static void stop_and_resume_gives_the_same_as_one_run(void)
{
    struct world whole, parts;
    init_loop(&whole);
    CU_ASSERT_EQUAL(sim_scalar_run(&whole.scalar, HUGE_VAL), SIM_SCALAR_RETURNED);
    CU_ASSERT(whole.scalar.instructions > 200);
    for (double quantum = 0.5; quantum < 3000; quantum *= 1.7) {
        init_loop(&parts);
        double until = 0;
        unsigned stops = 0;
        while (sim_scalar_run(&parts.scalar, until) == SIM_SCALAR_TIME) {
            CU_ASSERT(parts.scalar.cycle >= until);
            until += quantum;
            stops++;
        }
        CU_ASSERT(stops > 0);
        CU_ASSERT_EQUAL(memcmp(whole.scalar.x, parts.scalar.x, sizeof(whole.scalar.x)), 0);
        CU_ASSERT_EQUAL(memcmp(whole.scalar.f, parts.scalar.f, sizeof(whole.scalar.f)), 0);
        CU_ASSERT_EQUAL(memcmp(&whole.scalar.cycle, &parts.scalar.cycle, sizeof(double)), 0);
        CU_ASSERT_EQUAL(whole.scalar.fcsr, parts.scalar.fcsr);
        CU_ASSERT_EQUAL(whole.scalar.instructions, parts.scalar.instructions);
        CU_ASSERT_EQUAL(memcmp(whole.memory, parts.memory, WORLD_BYTES), 0);
        world_finish(&parts);
    }
    world_finish(&whole);
}

static void run_charges_each_class(void)
{
    struct world w;
    init_loop(&w);
    w.scalar.x[10] = 1;
    CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_RETURNED);
    // load 3, mul 2, div 20, float 4, float div 15, store 2, alu 1, branch 1.5, return 1.5
    CU_ASSERT_DOUBLE_EQUAL(w.scalar.cycle, 50, 0);
    world_finish(&w);
}

static void time_stop_executes_nothing(void)
{
    const uint32_t words[] = {addi(5, 0, 1), RET};
    struct world w;
    world_init(&w, words, COUNT_OF(words));
    CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, 0), SIM_SCALAR_TIME);
    CU_ASSERT_EQUAL(w.scalar.instructions, 0);
    CU_ASSERT_EQUAL(w.scalar.pc, WORLD_TEXT);
    world_finish(&w);
}

/** The loop looks at time after jumps and once in a while in a long run; it stops in between all
 * the same. */
static void time_stops_at_the_exact_instruction(void)
{
    enum { LONG = 700 };
    static uint32_t words[LONG + 1];
    for (int i = 0; i < LONG; i++) {
        words[i] = i % 7 == 3 ? load_double(5, 6 + (unsigned)i % 2, 0) : addi(7, 7, 0);
    }
    words[LONG] = RET;
    for (double until = 0.25; until < 990; until += 3.5) {
        struct world w;
        world_init(&w, words, LONG + 1);
        w.scalar.x[6] = WORLD_MEMORY;
        w.scalar.x[7] = WORLD_ALIGNED;
        CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, until), SIM_SCALAR_TIME);
        CU_ASSERT(w.scalar.cycle >= until);
        CU_ASSERT_EQUAL(w.scalar.pc, WORLD_TEXT + 4 * w.scalar.instructions);
        double cycle = 0;
        uint64_t count = 0;
        while (cycle < until) { // a load of x6 costs 3, of x7 5
            cycle += count % 7 != 3 ? 1 : count % 2 ? 5 : 3;
            count++;
        }
        CU_ASSERT_EQUAL(w.scalar.instructions, count);
        CU_ASSERT_DOUBLE_EQUAL(w.scalar.cycle, cycle, 0);
        world_finish(&w);
    }
}

static void jumps_out_of_the_text_fault_when_taken(void)
{
    const uint32_t jal = 0x8000006f | 5 << 7, beq = 0x80000063 | 6 << 15; // j, beq x6, x0
    for (int taken = 0; taken < 3; taken++) {
        const uint32_t words[] = {addi(9, 0, 1), taken == 2 ? jal : beq, RET};
        struct world w;
        world_init(&w, words, COUNT_OF(words));
        w.scalar.x[6] = taken == 0;
        enum sim_scalar_stop stop = sim_scalar_run(&w.scalar, HUGE_VAL);
        CU_ASSERT_EQUAL(stop, taken ? SIM_SCALAR_FAULT : SIM_SCALAR_RETURNED);
        CU_ASSERT_EQUAL(w.scalar.instructions, taken ? 2 : 3);
        CU_ASSERT_DOUBLE_EQUAL(w.scalar.cycle, taken ? 2.5 : 4, 0);
        if (taken) {
            CU_ASSERT_EQUAL(w.scalar.fault.code, LEO_FAULT_BAD_FETCH);
            CU_ASSERT_EQUAL(w.scalar.fault.addr, WORLD_TEXT + 4 - (taken == 2 ? 1048576u : 4096u));
            CU_ASSERT_EQUAL(w.scalar.x[5], taken == 2 ? WORLD_TEXT + 8 : 0);
        }
        world_finish(&w);
    }
}

static void custom_forms_carry_their_operands(void)
{
    const uint32_t r4 =
        leo_insn_info(LEO_INSN_VADD)->match | 10 << 7 | 11 << 15 | 12 << 20 | 13u << 27;
    const uint32_t u4 =
        leo_insn_info(LEO_INSN_VCONV)->match | 10 << 7 | 11 << 15 | 5 << 20 | 13u << 27;
    const uint32_t i = leo_insn_info(LEO_INSN_SET_FLAG)->match | 11 << 15 | 0x734u << 20;
    const uint32_t words[] = {r4, u4, i, RET};
    struct world w;
    world_init(&w, words, COUNT_OF(words));
    for (unsigned n = 2; n < 32; n++) {
        w.scalar.x[n] = n * UINT64_C(0x100000001);
    }
    CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_RETURNED);
    CU_ASSERT_EQUAL_FATAL(w.op_count, 3);
    CU_ASSERT_DOUBLE_EQUAL(w.scalar.cycle, 31.5, 0); // the environment's 3 x 10, and the return
    const struct sim_op *op = w.ops;
    CU_ASSERT_EQUAL(op->insn, LEO_INSN_VADD);
    CU_ASSERT_EQUAL(op->a, w.scalar.x[10]);
    CU_ASSERT_EQUAL(op->b, w.scalar.x[11]);
    CU_ASSERT_EQUAL(op->c, w.scalar.x[12]);
    CU_ASSERT_EQUAL(op->d, w.scalar.x[13]);
    CU_ASSERT_EQUAL(op->pc, WORLD_TEXT);
    CU_ASSERT_EQUAL(op->word, r4);
    op++;
    CU_ASSERT_EQUAL(op->insn, LEO_INSN_VCONV);
    CU_ASSERT_EQUAL(op->sub, 5);
    CU_ASSERT_EQUAL(op->a, w.scalar.x[10]);
    CU_ASSERT_EQUAL(op->b, w.scalar.x[11]);
    CU_ASSERT_EQUAL(op->c, 0);
    CU_ASSERT_EQUAL(op->d, w.scalar.x[13]);
    op++;
    CU_ASSERT_EQUAL(op->insn, LEO_INSN_SET_FLAG);
    CU_ASSERT_EQUAL(op->imm, 0x734);
    CU_ASSERT_EQUAL(op->b, w.scalar.x[11]);
    CU_ASSERT_EQUAL(op->c, 0);
    CU_ASSERT_EQUAL(op->d, 0);
    CU_ASSERT_EQUAL(op->pc, WORLD_TEXT + 8);
    world_finish(&w);
}

static void blocked_instruction_is_tried_again(void)
{
    const uint32_t words[] = {
        addi(11, 0, 9), leo_insn_info(LEO_INSN_PIPE_BARRIER)->match | 11 << 15 | 1u << 20, RET};
    struct world w;
    world_init(&w, words, COUNT_OF(words));
    w.block = 2;
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_BLOCKED);
        CU_ASSERT_EQUAL(w.scalar.pc, WORLD_TEXT + 4);
        CU_ASSERT_EQUAL(w.scalar.instructions, 1);
        CU_ASSERT_DOUBLE_EQUAL(w.scalar.cycle, 2 + i, 0); // the environment moved time
    }
    CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_RETURNED);
    CU_ASSERT_EQUAL(w.op_count, 1);
    CU_ASSERT_EQUAL(w.ops[0].b, 9);
    CU_ASSERT_EQUAL(w.scalar.instructions, 3);
    world_finish(&w);
}

static void csr_access_reaches_the_environment(void)
{
    const uint32_t words[] = {
        0x800312f3, // csrrw x5, 0x800, x6
        0x8000f473, // csrrci x8, 0x800, 1
        0x800024f3, // csrrs x9, 0x800, x0
        0x900024f3, // csrrs x9, 0x900, x0
    };
    struct world w;
    world_init(&w, words, COUNT_OF(words));
    w.csr_value = 5;
    w.scalar.x[6] = 0xff;
    CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_FAULT);
    CU_ASSERT_EQUAL(w.scalar.x[5], 5);
    CU_ASSERT_EQUAL(w.scalar.x[8], 0xff);
    CU_ASSERT_EQUAL(w.scalar.x[9], 0xfe);
    CU_ASSERT_EQUAL(w.scalar.fault.code, LEO_FAULT_BAD_CSR);
    CU_ASSERT_EQUAL(w.scalar.fault.pc, WORLD_TEXT + 12);
    world_finish(&w);
}

static void ecall_without_system_is_illegal(void)
{
    const uint32_t words[] = {0x00000073};
    struct world w;
    world_init(&w, words, 1);
    CU_ASSERT_EQUAL(sim_scalar_run(&w.scalar, HUGE_VAL), SIM_SCALAR_FAULT);
    CU_ASSERT_EQUAL(w.scalar.fault.code, LEO_FAULT_ILLEGAL_INSTRUCTION);
    world_finish(&w);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void random_words_never_crash(void)
{
    enum { WORDS = 64, ROUNDS = 20000 };
    uint64_t seed = 0x9e3779b97f4a7c15;
    uint64_t executed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t words[WORDS];
        for (int i = 0; i < WORDS; i++) {
            words[i] = (uint32_t)next_random(&seed) | 3; // most are of a known opcode then
            if (i % 2) {
                words[i] =
                    (words[i] & ~0x7fu) |
                    "\x03\x13\x17\x1b\x23\x33\x37\x3b\x53\x43\x63\x6f\x07\x27\x2f\x2b"[words[i] >>
                                                                                       28];
            }
        }
        struct world w;
        world_init(&w, words, WORDS);
        const uint64_t anchors[] = {WORLD_MEMORY + 2048, WORLD_ALIGNED + 2048, WORLD_CONST,
                                    WORLD_TEXT};
        for (unsigned i = 1; i < 32; i++) {
            w.scalar.x[i] = i % 3 ? anchors[next_random(&seed) % 4] : next_random(&seed);
            w.scalar.f[i] = next_random(&seed) | (i % 2 ? UINT64_MAX << 32 : 0);
        }
        for (int i = 0; i < WORDS; i++) { // on over what faults
            enum sim_scalar_stop stop = sim_scalar_run(&w.scalar, w.scalar.cycle + 200);
            w.scalar.pc =
                stop == SIM_SCALAR_TIME ? w.scalar.pc : WORLD_TEXT + next_random(&seed) % WORDS * 4;
            w.scalar.fault = (struct sim_fault){0};
        }
        executed += w.scalar.instructions;
        world_finish(&w);
    }
    CU_ASSERT(executed > ROUNDS * 10);
}

static const struct leo_test tests[] = {
    {"run_returns_at_end_of_kernel", run_returns_at_end_of_kernel},
    {"run_writes_to_x0_are_lost", run_writes_to_x0_are_lost},
    {"run_leaving_text_is_bad_fetch", run_leaving_text_is_bad_fetch},
    {"run_illegal_word_faults_with_pc_and_word", run_illegal_word_faults_with_pc_and_word},
    {"run_traps_fault_as_kernel_trap", run_traps_fault_as_kernel_trap},
    {"load_checks_bounds_of_regions", load_checks_bounds_of_regions},
    {"store_respects_access_and_bounds", store_respects_access_and_bounds},
    {"misaligned_access_faults_where_the_region_says_so",
     misaligned_access_faults_where_the_region_says_so},
    {"regions_are_found_once_until_forgotten", regions_are_found_once_until_forgotten},
    {"cached_regions_keep_their_bounds_and_access", cached_regions_keep_their_bounds_and_access},
    {"stop_and_resume_gives_the_same_as_one_run", stop_and_resume_gives_the_same_as_one_run},
    {"run_charges_each_class", run_charges_each_class},
    {"time_stop_executes_nothing", time_stop_executes_nothing},
    {"time_stops_at_the_exact_instruction", time_stops_at_the_exact_instruction},
    {"jumps_out_of_the_text_fault_when_taken", jumps_out_of_the_text_fault_when_taken},
    {"custom_forms_carry_their_operands", custom_forms_carry_their_operands},
    {"blocked_instruction_is_tried_again", blocked_instruction_is_tried_again},
    {"csr_access_reaches_the_environment", csr_access_reaches_the_environment},
    {"ecall_without_system_is_illegal", ecall_without_system_is_illegal},
    {"random_words_never_crash", random_words_never_crash},
};

int main(int argc, char **argv)
{
    return leo_test_main("scalar run", tests, COUNT_OF(tests), argc, argv);
}
