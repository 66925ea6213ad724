/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of products in the format that the matrix unit takes as it lies (FRACTAL_NZ). */
#pragma once

#include <aclnn/acl_meta.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Elements (not bytes) of memory that a weight of this shape needs as FRACTAL_NZ: its last two
 * dimensions are rounded up to whole fractals. `tensorShape` has 2 numbers, none of them 0; the
 * type is f16 or bf16.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray *tensorShape,
                                                               uint64_t *weightTensorSize);
/** The same for 2 to 6 dimensions of f16, bf16 or i8. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray *tensorShape,
                                                                 aclDataType dataType,
                                                                 uint64_t *weightTensorSize);

/**
 * Stores a weight (f16, bf16 or i8; 2 to 6 dimensions, dense) as FRACTAL_NZ in its own memory,
 * which must have aclnnCalculateMatmulWeightSizeV2 elements. From the first phase on the tensor
 * says so: products take it as mat2. Not on the 910A.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnTransMatmulWeightGetWorkspaceSize(aclTensor *mmWeightRef,
                                                                       uint64_t *workspaceSize,
                                                                       aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnTransMatmulWeight(void *workspace, uint64_t workspaceSize,
                                                       aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif
