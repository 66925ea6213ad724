/* SPDX-License-Identifier: Apache-2.0 */
/* Products of f32 that stay f32 (cubeMathType 0) on the chip whose cube has none: against sums in
 * double, within the bound that matmul/matmul_vector_device.c states, for operands of any layout
 * and rows of very different sizes. */
#include "rig.h"

#include <math.h>
#include <stdlib.h>

struct shape {
    int64_t batch, m, k, n;
    bool turn_a, turn_b; /* stored the other way round */
    float beta;          /* of a matrix that is added; 0: none */
};

/* Rows (columns, if `turn`) differ by factors of up to 2^40. */
static float *make(struct rig_random *random, const int64_t *dim, bool spread)
{
    float *x = rig_random_floats(random, (size_t)(dim[0] * dim[1] * dim[2]));
    for (int64_t i = 0; spread && i < dim[0] * dim[1] * dim[2]; i++) {
        x[i] = ldexpf(x[i], (int)(i / dim[2] % 5 * 10 - 20));
    }
    return x;
}

static struct leo_op_tensor view(const struct rig_buffer *buffer, int64_t batch, int64_t rows,
                                 int64_t columns, bool turn)
{
    const int64_t dim[] = {batch, rows, columns};
    struct leo_op_tensor tensor = leo_op_tensor(buffer->tensor.addr, LEO_DTYPE_F32, 3, dim);
    if (turn) {
        tensor.stride[1] = 1;
        tensor.stride[2] = rows;
    }
    return tensor;
}

static void check(struct rig *rig, const struct shape *s)
{
    struct rig_random random = {(uint64_t)(s->m * 31 + s->k * 7 + s->n)};
    const int64_t a_dim[] = {s->batch, s->m, s->k}, b_dim[] = {s->batch, s->k, s->n},
                  o_dim[] = {s->batch, s->m, s->n};
    float *a = make(&random, a_dim, true), *b = make(&random, b_dim, false),
          *self = make(&random, o_dim, false),
          *out = rig_alloc((size_t)(s->batch * s->m * s->n), 4);
    struct rig_buffer ab = rig_put(rig, LEO_DTYPE_F32, (uint32_t)(s->batch * s->m * s->k), 0, a),
                      bb = rig_put(rig, LEO_DTYPE_F32, (uint32_t)(s->batch * s->k * s->n), 0, b),
                      sb = rig_put(rig, LEO_DTYPE_F32, (uint32_t)(s->batch * s->m * s->n), 0, self),
                      ob = rig_put(rig, LEO_DTYPE_F32, (uint32_t)(s->batch * s->m * s->n), 0, NULL);
    const struct leo_op_tensor at = view(&ab, s->batch, s->m, s->k, s->turn_a),
                               bt = view(&bb, s->batch, s->k, s->n, s->turn_b),
                               st = view(&sb, s->batch, s->m, s->n, false),
                               ot = view(&ob, s->batch, s->m, s->n, false);
    const leo_status status =
        s->beta != 0
            ? LEO_OP(rig->context, "Baddbmm", leo_op_arg_tensor(&st), leo_op_arg_tensor(&at),
                     leo_op_arg_tensor(&bt), leo_op_arg_number((double)s->beta),
                     leo_op_arg_number(2), leo_op_arg_tensor(&ot), leo_op_arg_number(0))
            : LEO_OP(rig->context, "BatchMatMul", leo_op_arg_tensor(&at), leo_op_arg_tensor(&bt),
                     leo_op_arg_tensor(&ot), leo_op_arg_number(0));
    CU_ASSERT_EQUAL(status, LEO_OK);
    rig_synchronize(rig);
    rig_take(rig, &ab, NULL);
    rig_take(rig, &bb, NULL);
    rig_take(rig, &sb, NULL);
    rig_take(rig, &ob, out);
    const double roundings = 18 + (double)(s->k / 32);
    long wrong = 0;
    for (int64_t i = 0; i < s->batch * s->m * s->n; i++) {
        const int64_t z = i / (s->m * s->n), row = i / s->n % s->m, column = i % s->n;
        double sum = 0, size = 0;
        for (int64_t k = 0; k < s->k; k++) {
            const double
                x = (double)a[z * s->m * s->k + (s->turn_a ? k * s->m + row : row * s->k + k)],
                y = (double)
                    b[z * s->k * s->n + (s->turn_b ? column * s->k + k : k * s->n + column)];
            sum += x * y;
            size += fabs(x * y);
        }
        double bound = roundings * 0x1p-24 * size;
        if (s->beta != 0) { // times alpha, the term that is added, and their roundings
            sum = 2 * sum + (double)(s->beta * self[i]);
            bound = 2 * bound + 0x1p-23 * (2 * size + fabs((double)(s->beta * self[i])));
        }
        if (!(fabs((double)out[i] - sum) <= bound) && wrong++ == 0) {
            fprintf(stderr, "%ldx%ldx%ld: element %ld is %.9g, expected %.9g +- %.3g\n", (long)s->m,
                    (long)s->k, (long)s->n, (long)i, (double)out[i], sum, bound);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    free(a);
    free(b);
    free(self);
    free(out);
}

static void products_of_f32_keep_to_their_bound(void)
{
    static const struct shape shapes[] = {
        {1, 1, 1, 1, false, false, 0},      {1, 16, 32, 64, false, false, 0},
        {1, 17, 33, 65, false, false, 0},   {1, 40, 70, 600, false, false, 0.5f},
        {1, 100, 47, 8, false, false, 0},   {1, 300, 64, 1, false, false, 0},
        {1, 65, 40, 24, true, false, 0},    {1, 20, 100, 96, false, true, 0},
        {3, 5, 9, 33, true, true, 1},       {37, 8, 16, 8, false, false, 0},
        {1, 33, 1000, 40, false, false, 0}, {2, 64, 31, 1030, false, false, 0},
    };
    struct rig rig;
    rig_init(&rig, "ascend910a", 0, NULL);
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        check(&rig, &shapes[i]);
    }
    rig_finish(&rig);
}

/* One NaN, one infinity and one overflow reach the elements they belong to and no others. */
static void products_of_f32_keep_what_is_not_finite(void)
{
    enum { M = 20, K = 40, N = 72 };
    struct rig rig;
    struct rig_random random = {9};
    const int64_t a_dim[] = {1, M, K}, b_dim[] = {1, K, N};
    float *a = make(&random, a_dim, false), *b = make(&random, b_dim, false), out[M * N];
    a[3 * K + 7] = NAN;
    a[5 * K + 39] = INFINITY;
    for (int k = 0; k < K; k++) {
        a[9 * K + k] = 0x1p127f;
    }
    for (int i = 0; i < K * N; i++) {
        b[i] = 1 + fabsf(b[i]);
    }
    rig_init(&rig, "ascend910a", 0, NULL);
    struct rig_buffer ab = rig_put(&rig, LEO_DTYPE_F32, M, K, a),
                      bb = rig_put(&rig, LEO_DTYPE_F32, K, N, b),
                      ob = rig_put(&rig, LEO_DTYPE_F32, M, N, NULL);
    CU_ASSERT_EQUAL(LEO_OP(rig.context, "Mm", leo_op_arg_tensor(&ab.tensor),
                           leo_op_arg_tensor(&bb.tensor), leo_op_arg_tensor(&ob.tensor),
                           leo_op_arg_number(0)),
                    LEO_OK);
    rig_synchronize(&rig);
    rig_take(&rig, &ab, NULL);
    rig_take(&rig, &bb, NULL);
    rig_take(&rig, &ob, out);
    for (int i = 0; i < M * N; i++) {
        const int row = i / N;
        CU_ASSERT_TRUE(row == 3               ? isnan(out[i])
                       : row == 5 || row == 9 ? isinf(out[i]) && out[i] > 0
                                              : isfinite(out[i]));
    }
    free(a);
    free(b);
    rig_finish(&rig);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"products_of_f32_keep_to_their_bound", products_of_f32_keep_to_their_bound},
        {"products_of_f32_keep_what_is_not_finite", products_of_f32_keep_what_is_not_finite},
    };
    (void)setenv("LEO_CHECK", "all", 1);
    return leo_test_main("matmul_f32", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
