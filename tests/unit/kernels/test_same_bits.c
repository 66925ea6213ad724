/* SPDX-License-Identifier: Apache-2.0 */
/* The same bits and the same simulated time with any number of host threads and any host
 * arithmetic. */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 300, N = 270, K = 600, ROWS = 100, CLASSES = 77 };
enum { IMAGES = 2, CHANNELS = 16, SIDE = 32, FILTER = 3, INNER = SIDE - FILTER + 1 };
enum { PIXELS = IMAGES * CHANNELS * INNER * INNER };

struct result {
    float product[M * N], prob[ROWS * CLASSES], loss[ROWS], sum[N];
    float normal[ROWS * CLASSES], mean[ROWS], rstd[ROWS];
    uint16_t grad[ROWS * CLASSES], maps[PIXELS];
    uint64_t ns;
};

enum { A, B, BIAS, OUT, SUM, X, PROB, LABELS, LOSS, GRAD, NORMAL, MEAN, RSTD, MAPS };

static struct leo_op_arg t(const struct leo_op_tensor *tensor)
{
    return leo_op_arg_tensor(tensor);
}

/* Maps and filters are the first elements of the operands of the product. */
static void run_convolution(struct rig *rig, const struct leo_op_tensor *const *all)
{
    static const int64_t input_dim[] = {IMAGES, CHANNELS, SIDE, SIDE},
                         filter_dim[] = {CHANNELS, CHANNELS, FILTER, FILTER},
                         output_dim[] = {IMAGES, CHANNELS, INNER, INNER};
    static const int64_t ones[] = {1, 1}, zeros[] = {0, 0};
    const struct leo_op_tensor input = leo_op_tensor(all[A]->addr, LEO_DTYPE_F16, 4, input_dim),
                               filter = leo_op_tensor(all[B]->addr, LEO_DTYPE_F16, 4, filter_dim),
                               maps = leo_op_tensor(all[MAPS]->addr, LEO_DTYPE_F16, 4, output_dim);
    CU_ASSERT_EQUAL(LEO_OP(rig->context, "Convolution", t(&input), t(&filter), leo_op_arg_none(),
                           leo_op_arg_ints(ones, 2), leo_op_arg_ints(zeros, 2),
                           leo_op_arg_ints(ones, 2), leo_op_arg_number(0),
                           leo_op_arg_ints(zeros, 2), leo_op_arg_number(1), t(&maps),
                           leo_op_arg_number(0)),
                    LEO_OK);
}

/* A product, a sum of its columns, a softmax, its gradient, a choice of elements, a norm, a
 * convolution. */
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
    static const int64_t row[] = {CLASSES};
    CU_ASSERT_EQUAL(LEO_OP(context, "LayerNorm", t(all[X]), leo_op_arg_ints(row, 1),
                           leo_op_arg_none(), leo_op_arg_none(), leo_op_arg_number(1e-5),
                           t(all[NORMAL]), t(all[MEAN]), t(all[RSTD])),
                    LEO_OK);
    run_convolution(rig, all);
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
    struct rig_buffer normal = rig_put(&rig, LEO_DTYPE_F32, ROWS, CLASSES, NULL),
                      mean = rig_put(&rig, LEO_DTYPE_F32, ROWS, 1, NULL),
                      rstd = rig_put(&rig, LEO_DTYPE_F32, ROWS, 1, NULL),
                      maps = rig_put(&rig, LEO_DTYPE_F16, PIXELS, 0, NULL);
    const uint64_t begin = leo_rt_device_host_time_ns(rig.device);
    run_operators(&rig, (const struct leo_op_tensor *[]){
                            &da.tensor, &db.tensor, &dbias.tensor, &out.tensor, &sum.tensor,
                            &dx.tensor, &prob.tensor, &dlabels.tensor, &loss.tensor, &grad.tensor,
                            &normal.tensor, &mean.tensor, &rstd.tensor, &maps.tensor});
    rig_synchronize(&rig);
    result->ns = leo_rt_device_host_time_ns(rig.device) - begin;
    rig_take(&rig, &out, result->product);
    rig_take(&rig, &sum, result->sum);
    rig_take(&rig, &prob, result->prob);
    rig_take(&rig, &loss, result->loss);
    rig_take(&rig, &grad, result->grad);
    rig_take(&rig, &normal, result->normal);
    rig_take(&rig, &mean, result->mean);
    rig_take(&rig, &rstd, result->rstd);
    rig_take(&rig, &maps, result->maps);
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

/* FNV-1a: what builds of other compilers are compared by (make same). */
static uint64_t digest_of(const void *data, size_t bytes)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++) {
        digest = (digest ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    }
    return digest;
}

static void operators_give_the_same_bits_on_every_host(void)
{
    static const struct {
        unsigned threads;
        const char *simd;
    } ways[] = {{2, "generic"}, {1, "avx2"}, {2, "avx2"}, {1, "avx512"}, {2, "avx512"}, {16, NULL}};
    static struct result first, other;
    unsigned compared = 0;
    for (int soc = 0; soc < 2; soc++) {
        memset(&first, 0, sizeof(first));
        run(rig_socs[soc], 1, "generic", &first);
        printf("\n    %s: digest %016llx", rig_socs[soc],
               (unsigned long long)digest_of(&first, sizeof(first)));
        for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            if (ways[i].simd && !can_run(ways[i].simd)) {
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
