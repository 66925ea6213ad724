/* SPDX-License-Identifier: Apache-2.0 */
/* How a tensor is stored in another format. */
#include "../frame/layout.h"
#include "objects.h"

#include <aclnnop/aclnn_npu_format_cast.h>
#include <leo/acl_hook.h>
#include <stdlib.h>
#include <string.h>

static const char func[] = "aclnnNpuFormatCastCalculateSizeAndFormat";

static bool take_storage(const aclTensor *tensor, int format, struct op_tensor *storage)
{
    struct op_tensor seen =
        op_tensor_dense(0, tensor->view.type, tensor->view.rank, tensor->view.dim);
    seen.format = format;
    return (unsigned)seen.type < OP_TYPES && op_layout_storage(&seen, storage);
}

aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor *srcTensor,
                                                     const int dstFormat, const int additionalDtype,
                                                     int64_t **dstShape, uint64_t *dstShapeSize,
                                                     int *actualFormat)
{
    struct op_tensor storage;
    if (!srcTensor || !dstShape || !dstShapeSize || !actualFormat) {
        return leo_acl_fail(ACLNN_ERR_PARAM_NULLPTR, func, "%s is NULL",
                            !srcTensor      ? "srcTensor"
                            : !dstShape     ? "dstShape"
                            : !dstShapeSize ? "dstShapeSize"
                                            : "actualFormat");
    }
    if (additionalDtype != -1 && additionalDtype != (int)srcTensor->data_type) {
        return leo_acl_fail(ACLNN_ERR_PARAM_INVALID, func,
                            "additionalDtype is %d, srcTensor has type %d: blocks for another type "
                            "are not on these chips",
                            additionalDtype, (int)srcTensor->data_type);
    }
    if ((!op_format_is_rows(dstFormat) && !op_format_is_native(dstFormat)) ||
        !take_storage(srcTensor, dstFormat, &storage)) {
        return leo_acl_fail(ACLNN_ERR_PARAM_INVALID, func,
                            "srcTensor of shape %s and type %s has no format %d",
                            op_tensor_shape_text(&srcTensor->view).text,
                            op_type_name(srcTensor->view.type), dstFormat);
    }
    int64_t *shape = malloc((storage.rank ? storage.rank : 1) * sizeof(*shape));
    if (!shape) {
        return leo_acl_fail(ACLNN_ERR_INNER, func, "out of host memory");
    }
    memcpy(shape, storage.dim, storage.rank * sizeof(*shape));
    *dstShape = shape;
    *dstShapeSize = storage.rank;
    *actualFormat = dstFormat;
    return ACLNN_SUCCESS;
}
