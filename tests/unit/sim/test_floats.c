/* SPDX-License-Identifier: Apache-2.0 */
/* HW-CHIP-51: how the calling program has set up floating point changes neither bits nor times. */
#include "harness.h"
#include "rig.h"

#include <fenv.h>
#include <leo/csr.h>
#include <string.h>

#define IMAGE        (RIG_GM + 0x8000)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TINY_BITS    5u /* of a number that is not normal */

enum { BLOCKS = 32, LANES = 8 };

struct outcome {
    float sum[BLOCKS][LANES];
    uint64_t ns;
};

/* Flushes numbers that are not normal to zero, as -ffast-math does to a whole program. */
static void flush_to_zero(void)
{
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
}

/* out[block] = a + b, 32 bytes of f32. */
static void run(unsigned threads, struct outcome *outcome)
{
    const uint32_t words[] = {
        rv_csrr(T0, LEO_CSR_BLOCK_IDX),
        rv_slli(T0, T0, 5),
        rv_add(A0, A0, T0),
        rv_addi(T1, ZERO, 64),
        rv_r4(LEO_INSN_COPY_GM_TO_UBUF, ZERO, A1, ZERO, A2),
        rv_addi(T2, ZERO, 32),
        rv_csrw(LEO_CSR_VMASK0, A4),
        rv_csrw(LEO_CSR_VMASK1, ZERO),
        rv_r4(LEO_INSN_VADD, T1, ZERO, T2, A3),
        rv_r4(LEO_INSN_COPY_UBUF_TO_GM, A0, T1, ZERO, A5),
        rv_ret(),
    };
    const struct leo_cfg_burst in = {.n_burst = 1, .len_burst = 2},
                               out = {.n_burst = 1, .len_burst = 1};
    const struct leo_cfg_vec3 add = {.repeat = 1,
                                     .dst_blk = 1,
                                     .src0_blk = 1,
                                     .src1_blk = 1,
                                     .dst_rep = 8,
                                     .src0_rep = 8,
                                     .src1_rep = 8,
                                     .dtype = LEO_DTYPE_F32};
    const uint64_t slots[] = {RIG_GM + 0x1000,         RIG_GM, leo_cfg_burst_pack(&in),
                              leo_cfg_vec3_pack(&add), 0xff,   leo_cfg_burst_pack(&out)};
    const uint32_t tiny = TINY_BITS;
    float values[2][LANES] = {{1}};
    values[1][0] = 0x1.8p-24f; // rounds up to nearest, and not towards zero
    memcpy(&values[0][1], &tiny, sizeof(tiny));
    memcpy(&values[1][1], &tiny, sizeof(tiny));
    struct rig rig;
    struct leo_cqe cqe = {0};
    rig_open(&rig, "ascend910a", NULL, threads);
    rig_image(&rig, IMAGE, words, COUNT(words));
    rig_write(&rig, RIG_GM, values, sizeof(values));
    CU_ASSERT_EQUAL(rig_run(&rig, LEO_CORE_KIND_AICORE, IMAGE, BLOCKS, slots, COUNT(slots), &cqe),
                    0);
    rig_read(&rig, RIG_GM + 0x1000, outcome->sum, sizeof(outcome->sum));
    outcome->ns = cqe.end_ns - cqe.start_ns;
    rig_close(&rig);
}

static void check(const struct outcome *outcome)
{
    struct outcome good = {0};
    run(1, &good);
    uint32_t bits;
    memcpy(&bits, &good.sum[0][1], sizeof(bits));
    CU_ASSERT_EQUAL(good.sum[0][0], 1 + 0x1p-23f);
    CU_ASSERT_EQUAL(bits, 2 * TINY_BITS);
    CU_ASSERT_EQUAL(memcmp(outcome->sum, good.sum, sizeof(good.sum)), 0);
    CU_ASSERT_EQUAL(outcome->ns, good.ns);
}

static void rounding_of_the_caller_is_his_own(void)
{
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct outcome outcome = {0};
        CU_ASSERT_EQUAL_FATAL(fesetround(FE_TOWARDZERO), 0);
        run(threads, &outcome);
        CU_ASSERT_EQUAL(fegetround(), FE_TOWARDZERO);
        CU_ASSERT_EQUAL_FATAL(fesetround(FE_TONEAREST), 0);
        check(&outcome);
    }
}

static void flushing_of_the_caller_is_his_own(void)
{
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct outcome outcome = {0};
        fenv_t before;
        CU_ASSERT_EQUAL_FATAL(fegetenv(&before), 0);
        flush_to_zero();
        run(threads, &outcome);
        CU_ASSERT_EQUAL_FATAL(fesetenv(&before), 0);
        check(&outcome);
    }
}

static const struct leo_test tests[] = {
    {"rounding_of_the_caller_is_his_own", rounding_of_the_caller_is_his_own},
    {"flushing_of_the_caller_is_his_own", flushing_of_the_caller_is_his_own},
};

int main(int argc, char **argv)
{
    return leo_test_main("floats", tests, COUNT(tests), argc, argv);
}
