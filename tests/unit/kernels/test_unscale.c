/* SPDX-License-Identifier: Apache-2.0 */
/* The check of gradients for Inf and NaN: one bad value anywhere is found, and all are scaled. */
#include "rig.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t counts[] = {1, 2, 17, 63, 64, 65, 1009, 8192, 8193, 20011, 300007};
enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

/* Whether it was found. The gradients must be `scale` times what they were. */
static bool run(struct rig *rig, uint32_t count, bool half, float scale, long bad_at, float bad)
{
    struct rig_random random = {count};
    uint16_t *h = rig_random_halves(&random, count), *got_h = rig_alloc(count, 2);
    float *x = rig_random_floats(&random, count), *got = rig_alloc(count, 4), found = 0;
    if (bad_at >= 0) {
        h[bad_at] = op_ref_to_half(bad);
        x[bad_at] = bad;
    }
    struct rig_buffer grad = rig_put(rig, half ? LEO_DTYPE_F16 : LEO_DTYPE_F32, count, 0,
                                     half ? (void *)h : (void *)x),
                      flag = rig_put(rig, LEO_DTYPE_F32, 1, 0, &found),
                      by = rig_put(rig, LEO_DTYPE_F32, 1, 0, &scale);
    CU_ASSERT_EQUAL(LEO_OP(rig->context, "ForeachNonFiniteCheckAndUnscale",
                           leo_op_arg_tensors(&grad.tensor, 1), leo_op_arg_tensor(&flag.tensor),
                           leo_op_arg_tensor(&by.tensor)),
                    LEO_OK);
    rig_synchronize(rig);
    rig_take(rig, &grad, half ? (void *)got_h : (void *)got);
    rig_take(rig, &flag, &found);
    rig_take(rig, &by, NULL);
    for (uint32_t i = 0; i < count; i++) {
        const float want =
            half ? op_ref_from_half(op_ref_to_half(op_ref_from_half(h[i]) * scale)) : x[i] * scale;
        const float is = half ? op_ref_from_half(got_h[i]) : got[i];
        if (!(is == want || (isnan(is) && isnan(want)))) {
            CU_FAIL("a gradient is wrong");
            break;
        }
    }
    free(h);
    free(got_h);
    free(x);
    free(got);
    return found != 0;
}

static void unscale_finds_one_bad_value(void)
{
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (int i = 0; i < COUNTS * 2; i++) {
            const uint32_t count = counts[i / 2];
            const bool half = i & 1;
            const long places[] = {0, count / 2, (long)count - 1};
            CU_ASSERT_FALSE(run(&rig, count, half, 0.25f, -1, 0));
            CU_ASSERT_FALSE(run(&rig, count, half, 1, -1, 0));
            for (int p = 0; p < 3; p++) {
                CU_ASSERT_TRUE(run(&rig, count, half, 0.25f, places[p], INFINITY));
                CU_ASSERT_TRUE(run(&rig, count, half, 1, places[p], -INFINITY));
                CU_ASSERT_TRUE(run(&rig, count, half, 1, places[p], NAN));
                CU_ASSERT_FALSE(run(&rig, count, half, 1, places[p], 65504));
            }
        }
        rig_finish(&rig);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"unscale_finds_one_bad_value", unscale_finds_one_bad_value},
    };
    (void)setenv("LEO_CHECK", "all", 1);
    return leo_test_main("unscale", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
