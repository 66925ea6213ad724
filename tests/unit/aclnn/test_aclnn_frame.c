/* SPDX-License-Identifier: Apache-2.0 */
/* The two phases themselves: objects, wrong calls, executors, workspaces; Mm, Addmm and ReduceSum
 * as callers of it all. */
#include "rig.h"

#include <aclnn/aclnn_base.h>
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_addmm.h>
#include <aclnnop/aclnn_copy.h>
#include <aclnnop/aclnn_mm.h>
#include <aclnnop/aclnn_reduce_sum.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void objects_answer_what_they_were_given(void)
{
    const int64_t dims[] = {2, 3}, strides[] = {1, 2}, storage[] = {6};
    int64_t *got, offset;
    uint64_t count, size;
    aclDataType type;
    aclFormat format;
    void *addr;
    aclTensor *tensor = aclCreateTensor(dims, 2, ACL_FLOAT16, strides, 1, ACL_FORMAT_NCHW, storage,
                                        1, (void *)(uintptr_t)4096);
    CU_ASSERT_EQUAL(aclGetViewShape(tensor, &got, &count), 0);
    CU_ASSERT_TRUE(count == 2 && got[0] == 2 && got[1] == 3);
    free(got);
    CU_ASSERT_EQUAL(aclGetViewStrides(tensor, &got, &count), 0);
    CU_ASSERT_TRUE(count == 2 && got[0] == 1 && got[1] == 2);
    free(got);
    CU_ASSERT_EQUAL(aclGetStorageShape(tensor, &got, &count), 0);
    CU_ASSERT_TRUE(count == 1 && got[0] == 6);
    free(got);
    CU_ASSERT_TRUE(!aclGetViewOffset(tensor, &offset) && offset == 1);
    CU_ASSERT_TRUE(!aclGetFormat(tensor, &format) && format == ACL_FORMAT_NCHW);
    CU_ASSERT_TRUE(!aclGetDataType(tensor, &type) && type == ACL_FLOAT16);
    CU_ASSERT_TRUE(!aclGetRawTensorAddr(tensor, &addr) && (uintptr_t)addr == 4096);
    CU_ASSERT_EQUAL(aclGetViewShape(NULL, &got, &count), ACLNN_ERR_PARAM_NULLPTR);
    const aclTensor *members[] = {tensor};
    aclTensorList *list = aclCreateTensorList(members, 1);
    CU_ASSERT_TRUE(!aclGetTensorListSize(list, &size) && size == 1);
    CU_ASSERT_EQUAL(aclDestroyTensorList(list), 0); // and the tensor
    aclIntArray *ints = aclCreateIntArray(dims, 2);
    CU_ASSERT_TRUE(!aclGetIntArraySize(ints, &size) && size == 2);
    CU_ASSERT_EQUAL(aclDestroyIntArray(ints), 0);
    CU_ASSERT_EQUAL(aclDestroyScalar(NULL), 0);
    CU_ASSERT_PTR_NULL(aclCreateScalar(NULL, ACL_FLOAT));
    CU_ASSERT_PTR_NULL(aclCreateTensor(dims, 9, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, NULL));
}

/* Three tensors and a scalar for Add. */
struct add {
    struct rig_tensor a, b, out;
    aclScalar *alpha;
};

static struct add add_make(enum op_type type, int64_t rows, int64_t columns)
{
    const int64_t dim[] = {rows, columns};
    float one = 1;
    return (struct add){
        rig_tensor_make(type, 2, dim, RIG_DENSE, 1), rig_tensor_make(type, 2, dim, RIG_DENSE, 2),
        rig_tensor_make(type, 2, dim, RIG_DENSE, 3), aclCreateScalar(&one, ACL_FLOAT)};
}

static void add_free(struct add *add)
{
    rig_tensor_free(&add->a);
    rig_tensor_free(&add->b);
    rig_tensor_free(&add->out);
    aclDestroyScalar(add->alpha);
}

/* The error message names all of these. */
static bool told(const char *one, const char *two, const char *three)
{
    const char *text = aclGetRecentErrMsg();
    return text && strstr(text, one) && strstr(text, two) && strstr(text, three);
}

static void wrong_arguments_are_told_and_nothing_is_written(void)
{
    struct add add = add_make(OP_TYPE_F32, 4, 5);
    const int64_t dim[] = {4, 6};
    struct rig_tensor wide = rig_tensor_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 4);
    struct rig_tensor narrow = rig_tensor_make(OP_TYPE_U32, 2, dim, RIG_DENSE, 4);
    uint64_t bytes;
    aclOpExecutor *executor;
    CU_ASSERT_EQUAL(
        aclnnAddGetWorkspaceSize(NULL, add.b.acl, add.alpha, add.out.acl, &bytes, &executor),
        161001);
    CU_ASSERT_TRUE(told("Add", "self", "NULL"));
    CU_ASSERT_EQUAL(
        aclnnAddGetWorkspaceSize(add.a.acl, add.b.acl, NULL, add.out.acl, &bytes, &executor),
        161001);
    CU_ASSERT_EQUAL(
        aclnnAddGetWorkspaceSize(add.a.acl, add.b.acl, add.alpha, add.out.acl, NULL, &executor),
        161001);
    CU_ASSERT_EQUAL(
        aclnnAddGetWorkspaceSize(add.a.acl, wide.acl, add.alpha, add.out.acl, &bytes, &executor),
        161002);
    CU_ASSERT_TRUE(told("other", "[4, 6]", "[4, 5]"));
    CU_ASSERT_EQUAL(
        aclnnAddGetWorkspaceSize(add.a.acl, add.b.acl, add.alpha, wide.acl, &bytes, &executor),
        161002);
    CU_ASSERT_TRUE(told("out", "[4, 6]", "[4, 5]"));
    CU_ASSERT_EQUAL(
        aclnnAddGetWorkspaceSize(add.a.acl, narrow.acl, add.alpha, add.out.acl, &bytes, &executor),
        161002);
    CU_ASSERT_TRUE(told("other", "u32", "f32"));
    CU_ASSERT_EQUAL(
        aclnnMmGetWorkspaceSize(add.a.acl, add.b.acl, add.out.acl, 0, &bytes, &executor), 161002);
    rig_tensor_free(&wide);
    rig_tensor_free(&narrow);
    add_free(&add);
}

static void an_executor_runs_once_unless_it_is_repeatable(void)
{
    struct add add = add_make(OP_TYPE_F32, 4, 5);
    uint64_t bytes;
    aclOpExecutor *executor;
    CU_ASSERT_EQUAL_FATAL(
        aclnnAddGetWorkspaceSize(add.a.acl, add.b.acl, add.alpha, add.out.acl, &bytes, &executor),
        0);
    CU_ASSERT_EQUAL(aclnnMm(NULL, bytes, executor, rig_stream()), 161002); // another operator's
    CU_ASSERT_EQUAL(aclnnAdd(NULL, bytes, executor, rig_stream()), 0);
    CU_ASSERT_EQUAL(aclnnAdd(NULL, bytes, executor, rig_stream()), 161002);
    CU_ASSERT_EQUAL(aclnnAdd(NULL, 0, NULL, rig_stream()), 161001);
    CU_ASSERT_EQUAL_FATAL(
        aclnnAddGetWorkspaceSize(add.a.acl, add.b.acl, add.alpha, add.out.acl, &bytes, &executor),
        0);
    CU_ASSERT_EQUAL(aclSetAclOpExecutorRepeatable(executor), 0);
    CU_ASSERT_EQUAL(aclnnAdd(NULL, bytes, executor, rig_stream()), 0);
    // Again, from the other input, into the same place.
    void *address;
    CU_ASSERT_EQUAL(aclGetRawTensorAddr(add.b.acl, &address), 0);
    CU_ASSERT_EQUAL(aclSetInputTensorAddr(executor, 0, add.a.acl, address), 0);
    CU_ASSERT_EQUAL(aclSetInputTensorAddr(executor, 2, add.a.acl, address), 161002);
    CU_ASSERT_EQUAL(aclnnAdd(NULL, bytes, executor, rig_stream()), 0);
    CU_ASSERT_EQUAL(aclDestroyAclOpExecutor(executor), 0);
    CU_ASSERT_EQUAL(aclDestroyAclOpExecutor(NULL), 561103);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    rig_tensor_take(&add.out);
    for (int64_t i = 0; i < 20; i++) {
        const float b = rig_get_f(rig_tensor_at(&add.b, i), OP_TYPE_F32);
        const float got = rig_get_f(rig_tensor_at(&add.out, i), OP_TYPE_F32);
        CU_ASSERT_TRUE(got == b + b || b != b);
    }
    add_free(&add);
}

static void an_input_that_overlaps_the_output_is_read_first(void)
{
    // x[1:] = x[:-1] must shift, not smear; the copy goes through the workspace.
    const int64_t all[] = {1000}, part[] = {999}, one[] = {1};
    struct rig_tensor x = rig_tensor_make(OP_TYPE_I32, 1, all, RIG_DENSE, 1);
    void *data;
    uint64_t bytes;
    aclOpExecutor *executor;
    for (int32_t i = 0; i < 1000; i++) {
        memcpy(x.host + i * 4, &i, 4);
    }
    rig_tensor_put(&x);
    CU_ASSERT_EQUAL(aclGetRawTensorAddr(x.acl, &data), 0);
    aclTensor *from = aclCreateTensor(part, 1, ACL_INT32, one, 0, ACL_FORMAT_ND, all, 1, data);
    aclTensor *to = aclCreateTensor(part, 1, ACL_INT32, one, 1, ACL_FORMAT_ND, all, 1, data);
    CU_ASSERT_EQUAL_FATAL(aclnnInplaceCopyGetWorkspaceSize(to, from, &bytes, &executor), 0);
    CU_ASSERT_TRUE(bytes >= 999 * 4);
    void *workspace = NULL;
    CU_ASSERT_EQUAL(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CU_ASSERT_EQUAL(aclnnInplaceCopy(NULL, bytes, executor, rig_stream()), 161001);
    CU_ASSERT_EQUAL(aclnnInplaceCopy(workspace, bytes - 1, executor, rig_stream()), 161002);
    CU_ASSERT_EQUAL(aclnnInplaceCopy(workspace, bytes, executor, rig_stream()), 0);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    rig_tensor_take(&x);
    for (int64_t i = 1; i < 1000; i++) {
        CU_ASSERT_EQUAL(rig_get_i(rig_tensor_at(&x, i), OP_TYPE_I32), i - 1);
    }
    aclDestroyTensor(from);
    aclDestroyTensor(to);
    aclrtFree(workspace);
    rig_tensor_free(&x);
}

/* What a thread does: its own tensors and stream, many calls. */
static void *add_many_times(void *result)
{
    aclrtStream stream;
    bool good = !aclrtSetDevice(0) && !aclrtCreateStream(&stream);
    for (int64_t round = 0; good && round < 50; round++) {
        const int64_t dim[] = {round % 7 + 1, 33};
        struct rig_tensor a = rig_tensor_make(OP_TYPE_I32, 2, dim, RIG_DENSE, 1);
        struct rig_tensor out = rig_tensor_make(OP_TYPE_I32, 2, dim, RIG_DENSE, 2);
        int64_t two = 2;
        aclScalar *alpha = aclCreateScalar(&two, ACL_INT64);
        uint64_t bytes;
        aclOpExecutor *executor;
        good = !aclnnAddGetWorkspaceSize(a.acl, a.acl, alpha, out.acl, &bytes, &executor) &&
               !aclnnAdd(NULL, bytes, executor, stream) && !aclrtSynchronizeStream(stream);
        rig_tensor_take(&out);
        for (int64_t i = 0; good && i < dim[0] * 33; i++) {
            const int64_t x = rig_get_i(rig_tensor_at(&a, i), OP_TYPE_I32);
            good = (int32_t)rig_get_i(rig_tensor_at(&out, i), OP_TYPE_I32) == (int32_t)(x + 2 * x);
        }
        rig_tensor_free(&a);
        rig_tensor_free(&out);
        aclDestroyScalar(alpha);
    }
    *(bool *)result = good && !aclrtDestroyStream(stream);
    return NULL;
}

static void threads_share_plans(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    bool good[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, add_many_times, &good[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CU_ASSERT_TRUE(good[i]);
    }
}

/* Phase 2 on another thread than phase 1, as an adapter with a queue does. */
struct handed {
    aclOpExecutor *executor;
    aclrtContext context;
    aclnnStatus code;
};

static void *run_phase2(void *argument)
{
    struct handed *handed = argument;
    handed->code = aclrtSetCurrentContext(handed->context);
    handed->code = handed->code ? handed->code : aclnnAdd(NULL, 0, handed->executor, rig_stream());
    return NULL;
}

static void phase2_may_run_on_another_thread(void)
{
    struct add add = add_make(OP_TYPE_F32, 4, 5);
    struct handed handed = {.code = -1};
    pthread_t thread;
    uint64_t bytes;
    CU_ASSERT_EQUAL(aclrtGetCurrentContext(&handed.context), 0);
    CU_ASSERT_EQUAL_FATAL(aclnnAddGetWorkspaceSize(add.a.acl, add.b.acl, add.alpha, add.out.acl,
                                                   &bytes, &handed.executor),
                          0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, run_phase2, &handed), 0);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(handed.code, 0);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    add_free(&add);
}

/* A device that is reset ends its plans; the next use makes them anew. */
static void a_reset_device_starts_anew(void)
{
    for (int round = 0; round < 2; round++) {
        an_executor_runs_once_unless_it_is_repeatable();
        rig_reset();
    }
}

static void small_integers(struct rig_tensor *tensor)
{
    const int64_t elements = (int64_t)tensor->storage_bytes / rig_type_bytes(tensor->type);
    for (int64_t i = 0; i < elements; i++) {
        rig_put_f(tensor->host + i * rig_type_bytes(tensor->type), tensor->type,
                  (float)(i * 7 % 11 - 5));
    }
    rig_tensor_put(tensor);
}

static void addmm_adds_a_broadcast_bias(void)
{
    const int64_t a_dim[] = {17, 33}, b_dim[] = {33, 5}, out_dim[] = {17, 5}, bias_dim[] = {5};
    struct rig_tensor a = rig_tensor_make(OP_TYPE_F32, 2, a_dim, RIG_DENSE, 1);
    struct rig_tensor b = rig_tensor_make(OP_TYPE_F32, 2, b_dim, RIG_PERMUTED, 2);
    struct rig_tensor bias = rig_tensor_make(OP_TYPE_F32, 1, bias_dim, RIG_DENSE, 3);
    struct rig_tensor out = rig_tensor_make(OP_TYPE_F32, 2, out_dim, RIG_SLICED, 4);
    int64_t two = 2, one = 1;
    small_integers(&a);
    small_integers(&b);
    small_integers(&bias);
    union op_test_arg args[] = {{.tensor = bias.acl},
                                {.tensor = a.acl},
                                {.tensor = b.acl},
                                {.scalar = aclCreateScalar(&two, ACL_INT64)},
                                {.scalar = aclCreateScalar(&one, ACL_INT64)},
                                {.tensor = out.acl},
                                {.integer = 0}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Addmm"), args, true), 0);
    rig_tensor_take(&out);
    for (int64_t i = 0; i < 17 * 5; i++) {
        float want = 2 * rig_get_f(rig_tensor_at(&bias, i % 5), OP_TYPE_F32);
        for (int64_t k = 0; k < 33; k++) {
            want += rig_get_f(rig_tensor_at(&a, i / 5 * 33 + k), OP_TYPE_F32) *
                    rig_get_f(rig_tensor_at(&b, k * 5 + i % 5), OP_TYPE_F32);
        }
        CU_ASSERT_EQUAL(rig_get_f(rig_tensor_at(&out, i), OP_TYPE_F32), want);
    }
    aclDestroyScalar(args[3].scalar);
    aclDestroyScalar(args[4].scalar);
    rig_tensor_free(&a);
    rig_tensor_free(&b);
    rig_tensor_free(&bias);
    rig_tensor_free(&out);
}

static void reduce_sum_takes_any_dimensions(void)
{
    const int64_t dim[] = {3, 37, 5}, out_dim[] = {3, 1, 5}, middle[] = {-2};
    struct rig_tensor x = rig_tensor_make(OP_TYPE_F16, 3, dim, RIG_PERMUTED, 1);
    struct rig_tensor out = rig_tensor_make(OP_TYPE_F32, 3, out_dim, RIG_DENSE, 2);
    small_integers(&x);
    union op_test_arg args[] = {{.tensor = x.acl},
                                {.ints = aclCreateIntArray(middle, 1)},
                                {.integer = 1},
                                {.type = ACL_FLOAT},
                                {.tensor = out.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("ReduceSum"), args, true), 0);
    rig_tensor_take(&out);
    for (int64_t i = 0; i < 15; i++) {
        float want = 0;
        for (int64_t k = 0; k < 37; k++) {
            want += rig_get_f(rig_tensor_at(&x, i / 5 * 185 + k * 5 + i % 5), OP_TYPE_F16);
        }
        CU_ASSERT_EQUAL(rig_get_f(rig_tensor_at(&out, i), OP_TYPE_F32), want);
    }
    aclDestroyIntArray(args[1].ints);
    rig_tensor_free(&x);
    rig_tensor_free(&out);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"objects_answer_what_they_were_given", objects_answer_what_they_were_given},
        {"wrong_arguments_are_told_and_nothing_is_written",
         wrong_arguments_are_told_and_nothing_is_written},
        {"an_executor_runs_once_unless_it_is_repeatable",
         an_executor_runs_once_unless_it_is_repeatable},
        {"an_input_that_overlaps_the_output_is_read_first",
         an_input_that_overlaps_the_output_is_read_first},
        {"threads_share_plans", threads_share_plans},
        {"phase2_may_run_on_another_thread", phase2_may_run_on_another_thread},
        {"a_reset_device_starts_anew", a_reset_device_starts_anew},
        {"addmm_adds_a_broadcast_bias", addmm_adds_a_broadcast_bias},
        {"reduce_sum_takes_any_dimensions", reduce_sum_takes_any_dimensions},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_frame", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
