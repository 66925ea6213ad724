/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors in another format, and how they are stored there. */
#pragma once

#include <aclnnop/aclnn_npu_format_cast_entries.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How srcTensor is stored in dstFormat: the storage shape, for which the caller makes dstTensor.
 * `*dstShape` (`*dstShapeSize` numbers) is the caller's, who frees it (memory of malloc; delete[]
 * of C++ gives it back too). `additionalDtype` is the type that blocks are made for: -1 or that of
 * srcTensor. `actualFormat` is dstFormat. Formats whose blocks have a size of their own
 * (FRACTAL_NZ_C0_16 and the like) are not on these chips.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(
    const aclTensor *srcTensor, const int dstFormat, const int additionalDtype, int64_t **dstShape,
    uint64_t *dstShapeSize, int *actualFormat);

#ifdef __cplusplus
}
#endif
