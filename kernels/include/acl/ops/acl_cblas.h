/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AscendCL: products of matrices and vectors, C = alpha op(A) op(B) + beta C. Matrices are
 * row-major; lda, ldb and ldc are their row lengths, -1 for no gaps. alpha and beta lie in device
 * memory and have the type of C (y).
 */
#pragma once

#include <acl/acl.h>

#ifdef __cplusplus
extern "C" {
#endif

/** NZ: stored in FRACTAL_NZ, which is not there. */
typedef enum aclTransType {
    ACL_TRANS_N = 0,
    ACL_TRANS_T = 1,
    ACL_TRANS_NZ = 2,
    ACL_TRANS_NZ_T = 3
} aclTransType;

/** Sums are in f32 either way. */
typedef enum aclComputeType {
    ACL_COMPUTE_HIGH_PRECISION = 0,
    ACL_COMPUTE_LOW_PRECISION = 1
} aclComputeType;

/** A and B of float16 with C of float16 or float, of float with C of float, of int8 with C of
 * int32; transC must be ACL_TRANS_N. */
ACL_FUNC_VISIBILITY aclError aclblasGemmEx(aclTransType transA, aclTransType transB,
                                           aclTransType transC, int m, int n, int k,
                                           const void *alpha, const void *matrixA, int lda,
                                           aclDataType dataTypeA, const void *matrixB, int ldb,
                                           aclDataType dataTypeB, const void *beta, void *matrixC,
                                           int ldc, aclDataType dataTypeC, aclComputeType type,
                                           aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclblasHgemm(aclTransType transA, aclTransType transB,
                                          aclTransType transC, int m, int n, int k,
                                          const aclFloat16 *alpha, const aclFloat16 *matrixA,
                                          int lda, const aclFloat16 *matrixB, int ldb,
                                          const aclFloat16 *beta, aclFloat16 *matrixC, int ldc,
                                          aclComputeType type, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclblasS8gemm(aclTransType transA, aclTransType transB,
                                           aclTransType transC, int m, int n, int k,
                                           const int32_t *alpha, const int8_t *matrixA, int lda,
                                           const int8_t *matrixB, int ldb, const int32_t *beta,
                                           int32_t *matrixC, int ldc, aclComputeType type,
                                           aclrtStream stream);

/** y = alpha op(A) x + beta y; A is [m, n]. incx and incy are distances of elements. */
ACL_FUNC_VISIBILITY aclError aclblasGemvEx(aclTransType transA, int m, int n, const void *alpha,
                                           const void *a, int lda, aclDataType dataTypeA,
                                           const void *x, int incx, aclDataType dataTypeX,
                                           const void *beta, void *y, int incy,
                                           aclDataType dataTypeY, aclComputeType type,
                                           aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclblasHgemv(aclTransType transA, int m, int n,
                                          const aclFloat16 *alpha, const aclFloat16 *a, int lda,
                                          const aclFloat16 *x, int incx, const aclFloat16 *beta,
                                          aclFloat16 *y, int incy, aclComputeType type,
                                          aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclblasS8gemv(aclTransType transA, int m, int n, const int32_t *alpha,
                                           const int8_t *a, int lda, const int8_t *x, int incx,
                                           const int32_t *beta, int32_t *y, int incy,
                                           aclComputeType type, aclrtStream stream);

#ifdef __cplusplus
}
#endif
