/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics of the scalar unit on memory that all cores share. */
#include "harness.h"
#include "rig.h"

#include <leo/csr.h>
#include <string.h>

#define AICORE       LEO_CORE_KIND_AICORE
#define IMAGE        (RIG_GM + 0x8000)
#define TICKETS      (RIG_GM + 0x100)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { CORES = 32, ROUNDS = 2000 };

/* amoadd.d rd, rs2, (rs1) */
static uint32_t rv_amoadd(unsigned rd, unsigned rs2, unsigned rs1)
{
    return 0x2f | rd << 7 | 3u << 12 | rs1 << 15 | rs2 << 20;
}

/* Each block adds 1 to the counter ROUNDS times and keeps the last value it saw. */
static void run(unsigned threads, uint64_t *count, uint64_t tickets[CORES])
{
    const uint32_t words[] = {
        rv_addi(T0, ZERO, 1),  rv_addi(T1, ZERO, ROUNDS),
        rv_amoadd(T2, T0, A0), rv_addi(T1, T1, -1),
        rv_bne(T1, ZERO, -8),  rv_csrr(A2, LEO_CSR_BLOCK_IDX),
        rv_slli(A2, A2, 3),    rv_add(A2, A2, A1),
        rv_sd(T2, A2, 0),      rv_ret(),
    };
    const uint64_t slots[] = {RIG_GM, TICKETS};
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, threads);
    rig_image(&rig, IMAGE, words, COUNT(words));
    CU_ASSERT_EQUAL(rig_run(&rig, AICORE, IMAGE, CORES, slots, COUNT(slots), NULL), 0);
    rig_read(&rig, RIG_GM, count, sizeof(*count));
    rig_read(&rig, TICKETS, tickets, CORES * sizeof(*tickets));
    rig_close(&rig);
}

static void no_addition_is_lost(void)
{
    uint64_t count, tickets[CORES];
    run(4, &count, tickets);
    CU_ASSERT_EQUAL(count, (uint64_t)CORES * ROUNDS);
}

static void order_does_not_depend_on_threads(void)
{
    uint64_t count, one[CORES], many[CORES];
    run(1, &count, one);
    run(4, &count, many);
    CU_ASSERT_EQUAL(memcmp(one, many, sizeof(one)), 0);
}

static const struct leo_test tests[] = {
    {"no_addition_is_lost", no_addition_is_lost},
    {"order_does_not_depend_on_threads", order_does_not_depend_on_threads},
};

int main(int argc, char **argv)
{
    return leo_test_main("atomic", tests, COUNT(tests), argc, argv);
}
