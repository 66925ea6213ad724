/* SPDX-License-Identifier: Apache-2.0 */
/* aclblas: products as older programs call them, on the row BlasGemm. */
#include "../frame/engine.h"
#include "objects.h"
#include "run_row.h"

#include <acl/ops/acl_cblas.h>
#include <stdio.h>

/* One operand: rows and columns as they lie in memory. */
struct operand {
    const char *name;
    const void *data;
    int rows, columns, pitch, step;
    aclDataType type;
    aclTransType trans;
};

static aclError take_operand(const char *func, const struct operand *from, struct op_tensor *to)
{
    char text[160];
    const int pitch = from->pitch == -1 ? from->columns : from->pitch;
    if (!from->data) {
        snprintf(text, sizeof(text), "%s is NULL", from->name);
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s", text);
    }
    if (from->trans != ACL_TRANS_N && from->trans != ACL_TRANS_T) {
        snprintf(text, sizeof(text), "%s: trans is %d, ACL_TRANS_N and ACL_TRANS_T are possible",
                 from->name, (int)from->trans);
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s", text);
    }
    if (from->rows <= 0 || from->columns <= 0 || from->step <= 0 || pitch < from->columns) {
        snprintf(text, sizeof(text), "%s has %d rows of %d elements, %d elements apart (step %d)",
                 from->name, from->rows, from->columns, pitch, from->step);
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s", text);
    }
    const int64_t dim[] = {from->rows, from->columns};
    *to = op_tensor_dense((uintptr_t)from->data, opapi_type(from->type), 2, dim);
    to->stride[0] = (int64_t)pitch * from->step;
    to->stride[1] = from->step;
    if (from->trans == ACL_TRANS_T) {
        static const unsigned turned[] = {1, 0};
        *to = op_tensor_permute(to, turned);
    }
    return ACL_SUCCESS;
}

static aclError multiply(const char *func, const struct operand *a, const struct operand *b,
                         const struct operand *c, const void *alpha, const void *beta,
                         aclrtStream stream)
{
    struct op_tensor tensor[3];
    if (!alpha || !beta) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func,
                            alpha ? "beta is NULL" : "alpha is NULL");
    }
    aclError error = take_operand(func, a, &tensor[0]);
    if (!error) {
        error = take_operand(func, b, &tensor[1]);
    }
    if (!error) {
        error = take_operand(func, c, &tensor[2]);
    }
    if (error) {
        return error;
    }
    const struct op_tensor first = op_tensor_dense((uintptr_t)alpha, tensor[2].type, 0, NULL),
                           second = op_tensor_dense((uintptr_t)beta, tensor[2].type, 0, NULL);
    const struct op_value args[] = {op_value_tensor(&tensor[0]), op_value_tensor(&tensor[1]),
                                    op_value_tensor(&first), op_value_tensor(&second),
                                    op_value_tensor(&tensor[2])};
    return opapi_run_row(func, op_row_find("BlasGemm"), args, stream,
                         (struct run_row_shape){NULL, NULL});
}

static aclError gemm(const char *func, aclTransType transA, aclTransType transB,
                     aclTransType transC, int m, int n, int k, const void *alpha, const void *a,
                     int lda, aclDataType type_a, const void *b, int ldb, aclDataType type_b,
                     const void *beta, void *c, int ldc, aclDataType type_c, aclrtStream stream)
{
    const bool turn_a = transA == ACL_TRANS_T, turn_b = transB == ACL_TRANS_T;
    const struct operand left = {"matrixA", a, turn_a ? k : m, turn_a ? m : k,
                                 lda,       1, type_a,         transA},
                         right = {"matrixB", b, turn_b ? n : k, turn_b ? k : n,
                                  ldb,       1, type_b,         transB},
                         out = {"matrixC", c, m, n, ldc, 1, type_c, transC};
    if (transC != ACL_TRANS_N) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "transC must be ACL_TRANS_N");
    }
    return multiply(func, &left, &right, &out, alpha, beta, stream);
}

static aclError gemv(const char *func, aclTransType transA, int m, int n, const void *alpha,
                     const void *a, int lda, aclDataType type_a, const void *x, int incx,
                     aclDataType type_x, const void *beta, void *y, int incy, aclDataType type_y,
                     aclrtStream stream)
{
    const bool turned = transA == ACL_TRANS_T;
    const struct operand left = {"a", a, m, n, lda, 1, type_a, transA},
                         right = {"x", x, turned ? m : n, 1, -1, incx, type_x, ACL_TRANS_N},
                         out = {"y", y, turned ? n : m, 1, -1, incy, type_y, ACL_TRANS_N};
    return multiply(func, &left, &right, &out, alpha, beta, stream);
}

aclError aclblasGemmEx(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                       int k, const void *alpha, const void *matrixA, int lda,
                       aclDataType dataTypeA, const void *matrixB, int ldb, aclDataType dataTypeB,
                       const void *beta, void *matrixC, int ldc, aclDataType dataTypeC,
                       aclComputeType type, aclrtStream stream)
{
    (void)type;
    return gemm("aclblasGemmEx", transA, transB, transC, m, n, k, alpha, matrixA, lda, dataTypeA,
                matrixB, ldb, dataTypeB, beta, matrixC, ldc, dataTypeC, stream);
}

aclError aclblasHgemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                      int k, const aclFloat16 *alpha, const aclFloat16 *matrixA, int lda,
                      const aclFloat16 *matrixB, int ldb, const aclFloat16 *beta,
                      aclFloat16 *matrixC, int ldc, aclComputeType type, aclrtStream stream)
{
    (void)type;
    return gemm("aclblasHgemm", transA, transB, transC, m, n, k, alpha, matrixA, lda, ACL_FLOAT16,
                matrixB, ldb, ACL_FLOAT16, beta, matrixC, ldc, ACL_FLOAT16, stream);
}

aclError aclblasS8gemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                       int k, const int32_t *alpha, const int8_t *matrixA, int lda,
                       const int8_t *matrixB, int ldb, const int32_t *beta, int32_t *matrixC,
                       int ldc, aclComputeType type, aclrtStream stream)
{
    (void)type;
    return gemm("aclblasS8gemm", transA, transB, transC, m, n, k, alpha, matrixA, lda, ACL_INT8,
                matrixB, ldb, ACL_INT8, beta, matrixC, ldc, ACL_INT32, stream);
}

aclError aclblasGemvEx(aclTransType transA, int m, int n, const void *alpha, const void *a, int lda,
                       aclDataType dataTypeA, const void *x, int incx, aclDataType dataTypeX,
                       const void *beta, void *y, int incy, aclDataType dataTypeY,
                       aclComputeType type, aclrtStream stream)
{
    (void)type;
    return gemv("aclblasGemvEx", transA, m, n, alpha, a, lda, dataTypeA, x, incx, dataTypeX, beta,
                y, incy, dataTypeY, stream);
}

aclError aclblasHgemv(aclTransType transA, int m, int n, const aclFloat16 *alpha,
                      const aclFloat16 *a, int lda, const aclFloat16 *x, int incx,
                      const aclFloat16 *beta, aclFloat16 *y, int incy, aclComputeType type,
                      aclrtStream stream)
{
    (void)type;
    return gemv("aclblasHgemv", transA, m, n, alpha, a, lda, ACL_FLOAT16, x, incx, ACL_FLOAT16,
                beta, y, incy, ACL_FLOAT16, stream);
}

aclError aclblasS8gemv(aclTransType transA, int m, int n, const int32_t *alpha, const int8_t *a,
                       int lda, const int8_t *x, int incx, const int32_t *beta, int32_t *y,
                       int incy, aclComputeType type, aclrtStream stream)
{
    (void)type;
    return gemv("aclblasS8gemv", transA, m, n, alpha, a, lda, ACL_INT8, x, incx, ACL_INT8, beta, y,
                incy, ACL_INT32, stream);
}
