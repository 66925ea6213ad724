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

enum { A, B, BIAS, OUT, SUM, X, PROB, LABELS, LOSS, GRAD };

static struct leo_op_arg t(const struct leo_op_tensor *tensor)
{
    return leo_op_arg_tensor(tensor);
}

/* A product, a sum of its columns, a softmax, its gradient, a choice of elements. */
static void run_operators(struct rig *rig, const struct leo_op_tensor *const *all)
{
    static const int64_t rows[] = {0};
    struct leo_op_context *context = rig->context;
    CU_ASSERT_EQUAL(LEO_OP(context, "FusedMatmul", t(all[A]), t(all[B]), t(all[BIAS]),
                           leo_op_arg_none(), leo_op_arg_text("relu"), leo_op_arg_number(0),
                           t(all[OUT])),
                    LEO_OK);
    CU_ASSERT_EQUAL(LEO_OP(context, "ReduceSum", t(all[OUT]), leo_op_arg_ints(rows, 1),
                           leo_op_arg_number(0), leo_op_arg_dtype(LEO_DTYPE_F32), t(all[SUM])),
                    LEO_OK);
    CU_ASSERT_EQUAL(LEO_OP(context, "LogSoftmax", t(all[X]), leo_op_arg_number(1), t(all[PROB])),
                    LEO_OK);
    CU_ASSERT_EQUAL(LEO_OP(context, "LogSoftmaxBackward", t(all[X]), t(all[PROB]),
                           leo_op_arg_number(1), t(all[GRAD])),
                    LEO_OK);
    CU_ASSERT_EQUAL(LEO_OP(context, "IndexSelect", t(all[BIAS]), leo_op_arg_number(0),
                           t(all[LABELS]), t(all[LOSS])),
                    LEO_OK);
}

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
    const uint64_t begin = leo_rt_device_host_time_ns(rig.device);
    run_operators(&rig, (const struct leo_op_tensor *[]){
                            &da.tensor, &db.tensor, &dbias.tensor, &out.tensor, &sum.tensor,
                            &dx.tensor, &prob.tensor, &dlabels.tensor, &loss.tensor, &grad.tensor});
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
    if (status == LEO_OK) {
        status = leo_rt_device_open(rt, 0, &device);
    }
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
