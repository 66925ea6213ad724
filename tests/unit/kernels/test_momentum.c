/* SPDX-License-Identifier: Apache-2.0 */
/* Momentum against its reference, bit for bit. */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t counts[] = {1,  2,   7,   8,    9,    15,   16,    17,    31,
                                  33, 127, 129, 1009, 4096, 8193, 20011, 300007};
enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

/* Runs a case on both generations over all counts. */
static void for_all(void (*run)(struct rig *rig, uint32_t count))
{
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (int i = 0; i < COUNTS; i++) {
            run(&rig, counts[i]);
        }
        rig_finish(&rig);
    }
}

static void expect_same(const struct rig *rig, const char *what, const void *a, const void *b,
                        uint32_t count, size_t size)
{
    const long bad = rig_compare(a, b, count, size);
    if (bad >= 0) {
        fprintf(stderr, "%s, arch %u, %u elements: differs at %ld\n", what, rig->arch, count, bad);
    }
    CU_ASSERT_EQUAL(bad, -1);
}

static void run_momentum(struct rig *rig, uint32_t count)
{
    struct rig_random random = {count};
    const float scale = 1.0f / 1024, rate = 0.05f, momentum = 0.9f;
    for (int half = 0; half < 2; half++) {
        float *w = rig_random_floats(&random, count), *v = rig_random_floats(&random, count);
        float *g = rig_random_floats(&random, count), *got = rig_alloc(count, 4);
        uint16_t *hg = rig_random_halves(&random, count);
        struct rig_buffer bw = rig_put(rig, LEO_DTYPE_F32, count, 0, w),
                          bv = rig_put(rig, LEO_DTYPE_F32, count, 0, v);
        struct rig_buffer bg = rig_put(rig, half ? LEO_DTYPE_F16 : LEO_DTYPE_F32, count, 0,
                                       half ? (void *)hg : (void *)g);
        for (int step = 0; step < 2; step++) {
            CU_ASSERT_EQUAL(LEO_OP(rig->context, "Momentum", leo_op_arg_tensor(&bw.tensor),
                                   leo_op_arg_tensor(&bv.tensor), leo_op_arg_tensor(&bg.tensor),
                                   leo_op_arg_number((double)scale),
                                   leo_op_arg_number((double)rate),
                                   leo_op_arg_number((double)momentum)),
                            LEO_OK);
            for (uint32_t i = 0; i < count; i++) {
                op_ref_momentum(&w[i], &v[i], half ? op_ref_from_half(hg[i]) : g[i], scale, rate,
                                momentum);
            }
        }
        rig_synchronize(rig);
        rig_take(rig, &bw, got);
        expect_same(rig, "momentum weight", w, got, count, 4);
        rig_take(rig, &bv, got);
        expect_same(rig, "momentum velocity", v, got, count, 4);
        rig_take(rig, &bg, NULL);
        free(w);
        free(v);
        free(g);
        free(got);
        free(hg);
    }
}

static void momentum_equals_reference(void)
{
    for_all(run_momentum);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"momentum_equals_reference", momentum_equals_reference},
    };
    return leo_test_main("momentum", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
