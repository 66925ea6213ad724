/* SPDX-License-Identifier: Apache-2.0 */
/* Pools with a padding for each side, sums into lists of one, weights in the format of products:
 * against plain loops on the host. */
#include "rig_named.h"
#include "rig_values.h"

#include <aclnnop/aclnn_npu_format_cast.h>
#include <aclnnop/aclnn_reduce_sum.h>
#include <aclnnop/aclnn_trans_matmul_weight.h>
#include <math.h>
#include <stdlib.h>

/* ---- pools ---- */

enum { PLANES = 6, HIGH = 7, WIDE = 9 };

struct pool {
    int64_t kernel[2], stride[2], pads[4], pad_count, ceil;
    int64_t high, wide; /* windows */
};

static double largest(const struct rig_tensor *x, const struct pool *p, int64_t plane, int64_t row,
                      int64_t column)
{
    double most = -INFINITY;
    for (int64_t i = 0; i < p->kernel[0]; i++) {
        for (int64_t j = 0; j < p->kernel[1]; j++) {
            const int64_t h = row * p->stride[0] + i - p->pads[0],
                          w = column * p->stride[1] + j - p->pads[1];
            if (h >= 0 && h < HIGH && w >= 0 && w < WIDE) {
                most = fmax(most, rig_values_at(x, (plane * HIGH + h) * WIDE + w));
            }
        }
    }
    return most;
}

static void pool(enum op_type type, const struct pool *p)
{
    const int64_t dim[] = {2, 3, HIGH, WIDE}, out_dim[] = {2, 3, p->high, p->wide};
    struct rig_tensor x = rig_values_make(type, 4, dim, RIG_PERMUTED, 3),
                      y = rig_values_make(type, 4, out_dim, RIG_DENSE, 4);
    aclIntArray *kernel = aclCreateIntArray(p->kernel, 2),
                *stride = aclCreateIntArray(p->stride, 2),
                *pads = aclCreateIntArray(p->pads, (uint64_t)p->pad_count),
                *none = aclCreateIntArray(p->pads, 0);
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("MaxPool", true, {"self", {.tensor = x.acl}},
                                  {"kernelShape", {.ints = kernel}}, {"strides", {.ints = stride}},
                                  {"pads", {.ints = pads}}, {"dilations", {.ints = none}},
                                  {"ceilMode", {.integer = p->ceil}}, {"out", {.tensor = y.acl}}),
                    0);
    rig_tensor_take(&y);
    for (int64_t i = 0; i < PLANES * p->high * p->wide; i++) {
        const int64_t plane = i / p->wide / p->high;
        CU_ASSERT_EQUAL(rig_get_d(rig_tensor_at(&y, i), type),
                        largest(&x, p, plane, i / p->wide % p->high, i % p->wide));
    }
    CU_ASSERT_NOT_EQUAL(RIG_RUN_NAMED("MaxPool", false, {"self", {.tensor = x.acl}},
                                      {"kernelShape", {.ints = kernel}},
                                      {"strides", {.ints = stride}}, {"autoPad", {.integer = 1}},
                                      {"pads", {.ints = pads}}, {"dilations", {.ints = none}},
                                      {"ceilMode", {.integer = p->ceil}},
                                      {"out", {.tensor = y.acl}}),
                        0);
    (void)aclDestroyIntArray(kernel);
    (void)aclDestroyIntArray(stride);
    (void)aclDestroyIntArray(pads);
    (void)aclDestroyIntArray(none);
    rig_tensor_free(&x);
    rig_tensor_free(&y);
}

static void pools_have_four_pads(void)
{
    const struct pool all[] = {
        {{3, 2}, {2, 2}, {1, 1, 1, 1}, 2, 0, 4, 5}, {{3, 3}, {2, 2}, {0, 1, 2, 0}, 4, 0, 4, 4},
        {{3, 3}, {2, 3}, {0, 1, 2, 0}, 4, 1, 4, 4}, {{2, 2}, {2, 2}, {0, 0, 0, 0}, 0, 1, 4, 5},
        {{3, 3}, {3, 3}, {2, 0, 0, 1}, 4, 0, 3, 3},
    };
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        pool(OP_TYPE_F32, &all[i]);
        pool(OP_TYPE_F16, &all[i]);
    }
}

/* ---- sums ---- */

static void sums_go_into_a_list_of_one(void)
{
    const int64_t dim[] = {5, 7}, one[] = {1}, two[] = {2};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 2, dim, RIG_DENSE, 3),
                      y = rig_values_make(OP_TYPE_F32, 1, one, RIG_DENSE, 4),
                      wrong = rig_values_make(OP_TYPE_F32, 1, two, RIG_DENSE, 5);
    aclIntArray *none = aclCreateIntArray(dim, 0);
    double want = 0;
    for (int64_t i = 0; i < 35; i++) {
        want += rig_values_at(&x, i);
    }
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("ReduceSum", true, {"self", {.tensor = x.acl}},
                                  {"dims", {.ints = none}}, {"out", {.tensor = y.acl}}),
                    0);
    rig_tensor_take(&y);
    CU_ASSERT_EQUAL(rig_values_at(&y, 0), want);
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("ReduceSum", false, {"self", {.tensor = x.acl}},
                                  {"dims", {.ints = none}}, {"out", {.tensor = wrong.acl}}),
                    ACLNN_ERR_PARAM_INVALID);
    (void)aclDestroyIntArray(none);
    rig_tensor_free(&x);
    rig_tensor_free(&y);
    rig_tensor_free(&wrong);
}

/* ---- slopes by chance ---- */

static void slopes_in_place(int64_t training)
{
    const int64_t dim[] = {6, 9};
    const double low = 0.125, high = 0.5;
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 2, dim, RIG_PERMUTED, 3),
                      noise = rig_tensor_eighths(OP_TYPE_F32, 2, dim, RIG_DENSE, 4);
    aclScalar *lower = aclCreateScalar((void *)(uintptr_t)&low, ACL_DOUBLE),
              *upper = aclCreateScalar((void *)(uintptr_t)&high, ACL_DOUBLE);
    double old[54];
    for (int64_t i = 0; i < 54; i++) {
        old[i] = rig_values_at(&x, i);
    }
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("InplaceRReluWithNoise", true, {"self", {.tensor = x.acl}},
                                  {"noise", {.tensor = noise.acl}}, {"lower", {.scalar = lower}},
                                  {"upper", {.scalar = upper}}, {"training", {.integer = training}},
                                  {"seed", {.integer = 7}}),
                    0);
    rig_tensor_take(&x);
    rig_tensor_take(&noise);
    for (int64_t i = 0; i < 54; i++) {
        const double slope = training ? rig_values_at(&noise, i) : (low + high) / 2;
        CU_ASSERT_TRUE(slope == 1 ? old[i] > 0 : slope >= low && slope < high);
        CU_ASSERT_DOUBLE_EQUAL(rig_values_at(&x, i), old[i] > 0 ? old[i] : old[i] * slope, 1e-7);
    }
    (void)aclDestroyScalar(lower);
    (void)aclDestroyScalar(upper);
    rig_tensor_free(&x);
    rig_tensor_free(&noise);
}

static void slopes_by_chance_are_put_in_place(void)
{
    slopes_in_place(0);
    slopes_in_place(1);
}

/* ---- weights ---- */

static void sizes_are_whole_fractals(void)
{
    const int64_t dim[] = {510, 270}, batch[] = {3, 510, 270}, bad[] = {510, 0};
    aclIntArray *shape = aclCreateIntArray(dim, 2), *three = aclCreateIntArray(batch, 3),
                *none = aclCreateIntArray(bad, 2);
    uint64_t size = 7;
    CU_ASSERT_EQUAL(aclnnCalculateMatmulWeightSize(shape, &size), 0);
    CU_ASSERT_EQUAL(size, 512 * 272);
    CU_ASSERT_EQUAL(aclnnCalculateMatmulWeightSizeV2(shape, ACL_BF16, &size), 0);
    CU_ASSERT_EQUAL(size, 512 * 272);
    CU_ASSERT_EQUAL(aclnnCalculateMatmulWeightSizeV2(shape, ACL_INT8, &size), 0);
    CU_ASSERT_EQUAL(size, 512 * 288);
    CU_ASSERT_EQUAL(aclnnCalculateMatmulWeightSizeV2(three, ACL_FLOAT16, &size), 0);
    CU_ASSERT_EQUAL(size, 3 * 512 * 272);
    CU_ASSERT_EQUAL(aclnnCalculateMatmulWeightSize(three, &size), ACLNN_ERR_PARAM_INVALID);
    CU_ASSERT_EQUAL(aclnnCalculateMatmulWeightSize(none, &size), ACLNN_ERR_PARAM_INVALID);
    CU_ASSERT_EQUAL(aclnnCalculateMatmulWeightSizeV2(shape, ACL_FLOAT, &size),
                    ACLNN_ERR_PARAM_INVALID);
    CU_ASSERT_EQUAL(aclnnCalculateMatmulWeightSizeV2(NULL, ACL_FLOAT16, &size),
                    ACLNN_ERR_PARAM_NULLPTR);
    CU_ASSERT_EQUAL(aclnnCalculateMatmulWeightSizeV2(shape, ACL_FLOAT16, NULL),
                    ACLNN_ERR_PARAM_NULLPTR);
    CU_ASSERT_EQUAL(size, 3 * 512 * 272);
    (void)aclDestroyIntArray(shape);
    (void)aclDestroyIntArray(three);
    (void)aclDestroyIntArray(none);
}

static aclnnStatus store(aclTensor *weight)
{
    aclOpExecutor *executor;
    uint64_t bytes = 0;
    void *workspace = NULL;
    aclnnStatus code = aclnnTransMatmulWeightGetWorkspaceSize(weight, &bytes, &executor);
    if (code || (bytes && aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST))) {
        return code ? code : ACLNN_ERR_RUNTIME_ERROR;
    }
    code = aclnnTransMatmulWeight(workspace, bytes, executor, rig_stream());
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    CU_ASSERT_EQUAL(aclrtFree(workspace), 0);
    return code;
}

enum { M = 5, K = 48, N = 32 };

/* The product with a weight [N, K] that is seen as [K, N], as clients of language models call it.
 */
static void weights_are_stored_in_place(void)
{
    const int64_t x_dim[] = {M, K}, w_dim[] = {N, K}, turned[] = {K, N}, stride[] = {1, K},
                  y_dim[] = {M, N}, stored[] = {K / 16, N / 16, 16, 16};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F16, 2, x_dim, RIG_DENSE, 3),
                      w = rig_tensor_eighths(OP_TYPE_F16, 2, w_dim, RIG_DENSE, 4),
                      y = rig_values_make(OP_TYPE_F16, 2, y_dim, RIG_DENSE, 5);
    int64_t *dim, rank = 0;
    uint64_t count = 0;
    aclFormat format;
    if (rig_chip() == 0) {
        CU_ASSERT_EQUAL(store(w.acl), ACLNN_ERR_PARAM_INVALID);
        CU_ASSERT_EQUAL(aclGetFormat(w.acl, &format), 0);
        CU_ASSERT_EQUAL(format, ACL_FORMAT_ND);
    } else {
        double kept[N * K];
        for (int64_t i = 0; i < N * K; i++) {
            kept[i] = rig_values_at(&w, i);
        }
        CU_ASSERT_EQUAL(store(w.acl), 0);
        CU_ASSERT_EQUAL(aclGetFormat(w.acl, &format), 0);
        CU_ASSERT_EQUAL(format, ACL_FORMAT_FRACTAL_NZ);
        CU_ASSERT_EQUAL(aclGetStorageShape(w.acl, &dim, &count), 0);
        CU_ASSERT_EQUAL_FATAL(count, 4);
        for (rank = 0; rank < 4; rank++) {
            CU_ASSERT_EQUAL(dim[rank], stored[rank]);
        }
        free(dim);
        CU_ASSERT_EQUAL(store(w.acl), ACLNN_ERR_PARAM_INVALID); // it is stored already
        rig_tensor_take(&w);
        for (int64_t i = 0; i < N * K; i++) {
            const int64_t n = i / K, k = i % K, place = ((k / 16 * N + n) * 16) + k % 16;
            CU_ASSERT_EQUAL(rig_values_at(&w, place), kept[i]);
        }
        aclTensor *seen = aclCreateTensor(turned, 2, ACL_FLOAT16, stride, 0, ACL_FORMAT_FRACTAL_NZ,
                                          stored, 4, (void *)(uintptr_t)(w.base + RIG_GUARD));
        CU_ASSERT_PTR_NOT_NULL_FATAL(seen);
        CU_ASSERT_EQUAL(RIG_RUN_NAMED("Mm", true, {"self", {.tensor = x.acl}},
                                      {"mat2", {.tensor = seen}}, {"out", {.tensor = y.acl}}),
                        0);
        rig_tensor_take(&y);
        for (int64_t i = 0; i < M * N; i++) {
            double want = 0;
            for (int64_t k = 0; k < K; k++) {
                want += rig_values_at(&x, i / N * K + k) * kept[i % N * K + k];
            }
            CU_ASSERT_DOUBLE_EQUAL(rig_values_at(&y, i), want, 1e-3 * (1 + fabs(want)));
        }
        (void)aclDestroyTensor(seen);
    }
    rig_tensor_free(&x);
    rig_tensor_free(&w);
    rig_tensor_free(&y);
}

/* Memory of its rows alone is too little for a weight that does not fill fractals. */
static void weights_need_room(void)
{
    const int64_t dim[] = {17, 20}, f32[] = {16, 16};
    struct rig_tensor w = rig_tensor_eighths(OP_TYPE_F16, 2, dim, RIG_DENSE, 4),
                      wide = rig_tensor_eighths(OP_TYPE_F32, 2, f32, RIG_DENSE, 4);
    CU_ASSERT_EQUAL(store(w.acl), ACLNN_ERR_PARAM_INVALID);
    CU_ASSERT_EQUAL(store(wide.acl), ACLNN_ERR_PARAM_INVALID);
    CU_ASSERT_EQUAL(store(NULL), rig_chip() ? ACLNN_ERR_PARAM_NULLPTR : ACLNN_ERR_PARAM_INVALID);
    rig_tensor_free(&w);
    rig_tensor_free(&wide);
}

/* What a tensor is made of in another format is reported before it is cast. */
static void storage_is_told(void)
{
    static const struct {
        int format, count;
        int64_t dim[5];
    } want[] = {{ACL_FORMAT_FRACTAL_NZ, 5, {3, 2, 2, 16, 16}},
                {ACL_FORMAT_ND, 3, {3, 20, 17}},
                {ACL_FORMAT_FRACTAL_Z, 0, {0}}};
    const int64_t dim[] = {3, 20, 17};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F16, 3, dim, RIG_DENSE, 3);
    for (unsigned i = 0; i < 3; i++) {
        int64_t *shape = NULL;
        uint64_t count = 0;
        int format = -1;
        const aclnnStatus code = aclnnNpuFormatCastCalculateSizeAndFormat(x.acl, want[i].format, -1,
                                                                          &shape, &count, &format);
        CU_ASSERT_EQUAL(code, want[i].count ? 0 : ACLNN_ERR_PARAM_INVALID);
        CU_ASSERT_EQUAL_FATAL(count, (uint64_t)want[i].count);
        CU_ASSERT_TRUE(code || format == want[i].format);
        for (uint64_t d = 0; d < count; d++) {
            CU_ASSERT_EQUAL(shape[d], want[i].dim[d]);
        }
        free(shape);
        CU_ASSERT_EQUAL(aclnnNpuFormatCastCalculateSizeAndFormat(x.acl, want[i].format, ACL_FLOAT,
                                                                 &shape, &count, &format),
                        ACLNN_ERR_PARAM_INVALID);
    }
    CU_ASSERT_EQUAL(
        aclnnNpuFormatCastCalculateSizeAndFormat(x.acl, ACL_FORMAT_ND, -1, NULL, NULL, NULL),
        ACLNN_ERR_PARAM_NULLPTR);
    rig_tensor_free(&x);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"pools_have_four_pads", pools_have_four_pads},
        {"sums_go_into_a_list_of_one", sums_go_into_a_list_of_one},
        {"slopes_by_chance_are_put_in_place", slopes_by_chance_are_put_in_place},
        {"sizes_are_whole_fractals", sizes_are_whole_fractals},
        {"weights_are_stored_in_place", weights_are_stored_in_place},
        {"weights_need_room", weights_need_room},
        {"storage_is_told", storage_is_told},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_client_calls", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
