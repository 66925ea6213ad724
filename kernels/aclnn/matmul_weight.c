/* SPDX-License-Identifier: Apache-2.0 */
/* Weights stored as FRACTAL_NZ in their own memory: the call changes what the tensor says of it. */
#include "phase.h"

#include "../frame/layout.h"

#include <aclnnop/aclnn_trans_matmul_weight.h>
#include <inttypes.h>
#include <leo/acl_hook.h>
#include <stdio.h>
#include <string.h>

static bool is_weight(enum op_type type)
{
    return type == OP_TYPE_F16 || type == OP_TYPE_BF16 || type == OP_TYPE_I8;
}

// Elements of the storage of a tensor as FRACTAL_NZ; 0: it has no such format.
static uint64_t count_stored(enum op_type type, uint64_t rank, const int64_t *dim)
{
    struct op_tensor storage, weight;
    if (!is_weight(type) || rank < 2 || rank > 6) {
        return 0;
    }
    weight = op_tensor_dense(0, type, (unsigned)rank, dim);
    weight.format = OP_FORMAT_FRACTAL_NZ;
    for (uint64_t i = 0; i < rank; i++) {
        if (dim[i] < 1 || dim[i] > INT32_MAX) {
            return 0;
        }
    }
    return op_layout_storage(&weight, &storage) ? (uint64_t)op_tensor_count(&storage) : 0;
}

static aclnnStatus calculate(const char *func, const aclIntArray *shape, uint64_t most,
                             aclDataType type, uint64_t *size)
{
    if (!shape || !size) {
        return leo_acl_fail(ACLNN_ERR_PARAM_NULLPTR, func, "%s is NULL",
                            shape ? "weightTensorSize" : "tensorShape");
    }
    const uint64_t count =
        shape->value.count <= most
            ? count_stored(opapi_type(type), shape->value.count, shape->value.items)
            : 0;
    if (count == 0) {
        return leo_acl_fail(ACLNN_ERR_PARAM_INVALID, func,
                            "tensorShape must have 2 to %" PRIu64
                            " positive numbers, and the type (%d) must be f16, bf16 or i8",
                            most, (int)type);
    }
    *size = count;
    return ACLNN_SUCCESS;
}

aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray *tensorShape,
                                           uint64_t *weightTensorSize)
{
    return calculate("aclnnCalculateMatmulWeightSize", tensorShape, 2, ACL_FLOAT16,
                     weightTensorSize);
}

aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray *tensorShape, aclDataType dataType,
                                             uint64_t *weightTensorSize)
{
    return calculate("aclnnCalculateMatmulWeightSizeV2", tensorShape, 6, dataType,
                     weightTensorSize);
}

static uint64_t count_told(const aclTensor *tensor)
{
    uint64_t count = 1;
    for (unsigned i = 0; i < tensor->storage_rank; i++) {
        count *= (uint64_t)tensor->storage[i];
    }
    return tensor->storage_rank ? count : UINT64_MAX;
}

static aclnnStatus check_room(const aclTensor *weight)
{
    const uint64_t need = count_stored(weight->view.type, weight->view.rank, weight->view.dim),
                   room = count_told(weight);
    if (need == 0 || !op_tensor_is_dense(&weight->view) || weight->offset != 0 || room < need) {
        return leo_acl_fail(ACLNN_ERR_PARAM_INVALID, "aclnnTransMatmulWeightGetWorkspaceSize",
                            "mmWeightRef has shape %s and type %s in a storage of %" PRIu64
                            " elements: it must be whole, of 2 to 6 dimensions, f16, bf16 or i8, "
                            "and FRACTAL_NZ needs %" PRIu64 " elements",
                            op_tensor_shape_text(&weight->view).text,
                            op_type_name(weight->view.type), room, need);
    }
    return ACLNN_SUCCESS;
}

static void say_stored(aclTensor *weight)
{
    struct op_tensor storage;
    weight->view.format = OP_FORMAT_FRACTAL_NZ;
    if (op_layout_storage(&weight->view, &storage)) {
        weight->storage_rank = storage.rank;
        memcpy(weight->storage, storage.dim, storage.rank * sizeof(*storage.dim));
    }
}

aclnnStatus aclnnTransMatmulWeightGetWorkspaceSize(aclTensor *mmWeightRef, uint64_t *workspaceSize,
                                                   aclOpExecutor **executor)
{
    const struct op_value args[] = {op_value_tensor(mmWeightRef ? &mmWeightRef->view : NULL)};
    const bool is_rows = mmWeightRef && op_format_is_rows(mmWeightRef->view.format);
    if (mmWeightRef && !is_rows) {
        return leo_acl_fail(ACLNN_ERR_PARAM_INVALID, "aclnnTransMatmulWeightGetWorkspaceSize",
                            "mmWeightRef has format %s already, it must be rows (ND)",
                            op_format_name(mmWeightRef->view.format));
    }
    aclnnStatus code = is_rows && is_weight(mmWeightRef->view.type) ? check_room(mmWeightRef) : 0;
    if (code == ACLNN_SUCCESS) {
        code = opapi_phase1(op_row_find("TransMatmulWeight"), args, workspaceSize, executor);
    }
    if (code == ACLNN_SUCCESS) {
        say_stored(mmWeightRef);
    }
    return code;
}

aclnnStatus aclnnTransMatmulWeight(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                                   aclrtStream stream)
{
    return opapi_phase2(op_row_find("TransMatmulWeight"), workspace, workspaceSize, executor,
                        stream);
}
