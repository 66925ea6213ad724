/* SPDX-License-Identifier: Apache-2.0 */
/* The same bits and the same simulated time with any number of host threads and any host
 * arithmetic. */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 300, N = 270, K = 600, ROWS = 100, CLASSES = 77 };

struct result {
    float product[M * N], prob[ROWS * CLASSES], loss[ROWS], sum[N];
    uint16_t grad[ROWS * CLASSES];
    uint64_t ns;
};

static void run(const char *soc, unsigned threads, const char *simd, struct result *result)
{
    struct rig rig;
    struct rig_random random = {77};
    rig_init(&rig, soc, threads, simd);
    uint16_t *a = rig_random_halves(&random, M * K), *b = rig_random_halves(&random, K * N);
    float *x = rig_random_floats(&random, ROWS * CLASSES), *bias = rig_random_floats(&random, N);
    int32_t labels[ROWS];
    for (int i = 0; i < ROWS; i++) {
        labels[i] = (int32_t)(rig_random_next(&random) % CLASSES);
    }
    struct rig_buffer da = rig_put(&rig, LEO_DTYPE_F16, M, K, a),
                      db = rig_put(&rig, LEO_DTYPE_F16, K, N, b);
    struct rig_buffer dbias = rig_put(&rig, LEO_DTYPE_F32, N, 0, bias),
                      dx = rig_put(&rig, LEO_DTYPE_F32, ROWS, CLASSES, x);
    struct rig_buffer dlabels = rig_put(&rig, LEO_DTYPE_S32, ROWS, 0, labels);
    struct rig_buffer out = rig_put(&rig, LEO_DTYPE_F32, M, N, NULL),
                      sum = rig_put(&rig, LEO_DTYPE_F32, N, 0, NULL);
    struct rig_buffer prob = rig_put(&rig, LEO_DTYPE_F32, ROWS, CLASSES, NULL),
                      loss = rig_put(&rig, LEO_DTYPE_F32, ROWS, 0, NULL);
    struct rig_buffer grad = rig_put(&rig, LEO_DTYPE_F16, ROWS, CLASSES, NULL);
    const struct leo_op_matmul_opts opts = {.relu = true, .bias = &dbias.tensor};
    const uint64_t begin = leo_rt_device_host_time_ns(rig.device);
    CU_ASSERT_EQUAL(
        leo_op_matmul(rig.context, rig.stream, &da.tensor, &db.tensor, &opts, &out.tensor), LEO_OK);
    CU_ASSERT_EQUAL(leo_op_column_sum(rig.context, rig.stream, &out.tensor, &sum.tensor), LEO_OK);
    CU_ASSERT_EQUAL(leo_op_softmax_xent(rig.context, rig.stream, &dx.tensor, &dlabels.tensor,
                                        &loss.tensor, &prob.tensor),
                    LEO_OK);
    CU_ASSERT_EQUAL(leo_op_softmax_xent_grad(rig.context, rig.stream, &prob.tensor, &dlabels.tensor,
                                             8, &grad.tensor),
                    LEO_OK);
    rig_synchronize(&rig);
    result->ns = leo_rt_device_host_time_ns(rig.device) - begin;
    rig_take(&rig, &out, result->product);
    rig_take(&rig, &sum, result->sum);
    rig_take(&rig, &prob, result->prob);
    rig_take(&rig, &loss, result->loss);
    rig_take(&rig, &grad, result->grad);
    rig_take(&rig, &da, NULL);
    rig_take(&rig, &db, NULL);
    rig_take(&rig, &dbias, NULL);
    rig_take(&rig, &dx, NULL);
    rig_take(&rig, &dlabels, NULL);
    rig_finish(&rig);
    free(a);
    free(b);
    free(x);
    free(bias);
}

/* Whether this host can run a path. */
static bool can_run(const char *simd)
{
    const struct leo_rt_opts opts = {.size = sizeof(opts), .soc = rig_socs[0], .simd = simd};
    struct leo_rt *rt = NULL;
    struct leo_rt_device *device = NULL;
    leo_status status = leo_rt_create(&opts, &rt);
    status = status != LEO_OK ? status : leo_rt_device_open(rt, 0, &device);
    leo_rt_device_close(device);
    leo_rt_destroy(rt);
    return status == LEO_OK;
}

static void operators_give_the_same_bits_on_every_host(void)
{
    static const struct {
        unsigned threads;
        const char *simd;
    } ways[] = {{2, "generic"}, {1, "avx2"}, {2, "avx2"}, {1, "avx512"}, {2, "avx512"}};
    static struct result first, other;
    unsigned compared = 0;
    for (int soc = 0; soc < 2; soc++) {
        memset(&first, 0, sizeof(first));
        run(rig_socs[soc], 1, "generic", &first);
        for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            if (!can_run(ways[i].simd)) {
                continue;
            }
            memset(&other, 0, sizeof(other));
            run(rig_socs[soc], ways[i].threads, ways[i].simd, &other);
            CU_ASSERT_EQUAL(memcmp(&first, &other, sizeof(first)), 0);
            compared++;
        }
    }
    CU_ASSERT_TRUE(compared >= 2);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"operators_give_the_same_bits_on_every_host", operators_give_the_same_bits_on_every_host},
    };
    return leo_test_main("same_bits", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
