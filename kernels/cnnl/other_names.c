/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the two libraries beside CNNL: what is CNNL's under other names, and what is missing. */
#include "cnnl_subjects.h"

#include <cnnl_extra.h>
#include <mlu_op.h>
#include <string.h>

cnnlStatus_t cnnlExtraSetGenCaseMode(int mode)
{
    return cnnlSetGenCaseMode(mode);
}

const char *mluOpGetErrorString(mluOpStatus_t status)
{
    return cnnlGetErrorString(status);
}

static mluOpStatus_t missing(const char *func)
{
    return cnnl_fail(CNNL_STATUS_NOT_SUPPORTED, func, "there is no such operator");
}

mluOpStatus_t mluOpCreate(mluOpHandle_t *handle)
{
    return cnnlCreate(handle);
}

mluOpStatus_t mluOpDestroy(mluOpHandle_t handle)
{
    return cnnlDestroy(handle);
}

mluOpStatus_t mluOpSetQueue(mluOpHandle_t handle, cnrtQueue_t queue)
{
    return cnnlSetQueue(handle, queue);
}

mluOpStatus_t mluOpSetGenCaseMode(int mode)
{
    return cnnlSetGenCaseMode(mode);
}

mluOpStatus_t mluOpCreateTensorDescriptor(mluOpTensorDescriptor_t *desc)
{
    return cnnlCreateTensorDescriptor(desc);
}

mluOpStatus_t mluOpDestroyTensorDescriptor(mluOpTensorDescriptor_t desc)
{
    return cnnlDestroyTensorDescriptor(desc);
}

mluOpStatus_t mluOpSetTensorDescriptor(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                       mluOpDataType_t dtype, int dimNb, const int dimSize[])
{
    return cnnlSetTensorDescriptor(desc, layout, dtype, dimNb, dimSize);
}

mluOpStatus_t mluOpSetTensorDescriptorEx_v2(mluOpTensorDescriptor_t desc,
                                            mluOpTensorLayout_t layout, mluOpDataType_t dtype,
                                            int dimNb, const int64_t dimSize[],
                                            const int64_t dimStride[])
{
    return cnnlSetTensorDescriptorEx_v2(desc, layout, dtype, dimNb, dimSize, dimStride);
}

mluOpStatus_t mluOpSetTensorDescriptorPointerMode(mluOpTensorDescriptor_t desc,
                                                  mluOpPointerMode_t mode)
{
    return cnnlSetTensorDescriptorPointerMode(desc, mode);
}

mluOpStatus_t mluOpSetTensorDescriptorOnchipDataType(mluOpTensorDescriptor_t desc,
                                                     mluOpDataType_t type)
{
    return cnnlSetTensorDescriptorOnchipDataType(desc, type);
}

mluOpStatus_t mluOpCreateFFTPlan(mluOpFFTPlan_t *plan)
{
    (void)plan;
    return missing(__func__);
}

mluOpStatus_t mluOpDestroyFFTPlan(mluOpFFTPlan_t plan)
{
    (void)plan;
    return missing(__func__);
}

mluOpStatus_t mluOpMakeFFTPlanMany(mluOpHandle_t handle, mluOpFFTPlan_t plan,
                                   mluOpTensorDescriptor_t input, mluOpTensorDescriptor_t output,
                                   int rank, const int n[], size_t *reserve_bytes,
                                   size_t *workspace_bytes)
{
    (void)handle;
    (void)plan;
    (void)input;
    (void)output;
    (void)rank;
    (void)n;
    (void)reserve_bytes;
    (void)workspace_bytes;
    return missing(__func__);
}

mluOpStatus_t mluOpSetFFTReserveArea(mluOpHandle_t handle, mluOpFFTPlan_t plan, void *reserve)
{
    (void)handle;
    (void)plan;
    (void)reserve;
    return missing(__func__);
}

mluOpStatus_t mluOpExecFFT(mluOpHandle_t handle, mluOpFFTPlan_t plan, const void *input,
                           float scale, void *workspace, void *output, int direction)
{
    (void)handle;
    (void)plan;
    (void)input;
    (void)scale;
    (void)workspace;
    (void)output;
    (void)direction;
    return missing(__func__);
}

// Boxes [count, 5] with angles in radians as operators take them: [1, 5, count], in degrees.
static const struct op_tensor *turned_boxes(struct cnnl_call *call, const struct op_tensor *boxes)
{
    enum { NUMBERS = 5, ANGLE = 4 };
    const struct op_tensor *made = cnnl_temp_like(call, OP_TYPE_F32, boxes);
    struct op_tensor *angle = cnnl_view(call, made), *turned = cnnl_view(call, made);
    if (!angle || !turned || boxes->rank != 2 || boxes->dim[1] != NUMBERS) {
        cnnl_bad(call, "boxes have shape %s, it must be [count, 5]",
                 op_tensor_shape_text(boxes).text);
        return NULL;
    }
    cnnl_copy(call, made, boxes);
    angle->dim[1] = 1;
    angle->addr += ANGLE * sizeof(float);
    const struct op_value degrees[] = {
        op_value_tensor(angle), op_value_scalar(cnnl_real(call, 180 / 3.14159265358979323846)),
        op_value_tensor(angle)};
    cnnl_run(call, "Muls", degrees);
    const int64_t dim[] = {1, NUMBERS, boxes->dim[0]}, stride[] = {0, 1, NUMBERS};
    turned->rank = 3;
    memcpy(turned->dim, dim, sizeof(dim));
    memcpy(turned->stride, stride, sizeof(stride));
    return turned;
}

mluOpStatus_t mluOpBoxIouRotated(mluOpHandle_t handle, int mode, bool aligned,
                                 mluOpTensorDescriptor_t a_desc, const void *a,
                                 mluOpTensorDescriptor_t b_desc, const void *b,
                                 mluOpTensorDescriptor_t iou_desc, void *iou)
{
    struct cnnl_call frame, *call = &frame;
    cnnl_begin(call, handle, __func__);
    const struct op_tensor *first = cnnl_in(call, "a", a_desc, a),
                           *second = cnnl_in(call, "b", b_desc, b),
                           *y = cnnl_out(call, "iou", iou_desc, iou);
    if (mode || aligned) {
        cnnl_refuse(call, "areas by that of the first box alone, or boxes pair by pair");
    }
    if (call->status != CNNL_STATUS_SUCCESS) {
        return cnnl_end(call);
    }
    const int64_t dim[] = {1, first->dim[0], second->dim[0]};
    const struct op_value args[] = {op_value_tensor(turned_boxes(call, first)),
                                    op_value_tensor(turned_boxes(call, second)),
                                    op_value_tensor(cnnl_shaped(call, "iou", y, 3, dim))};
    cnnl_run(call, "AclTurnedRatio", args);
    return cnnl_end(call);
}

mluOpStatus_t mluOpPointsInBoxes(mluOpHandle_t handle, mluOpTensorDescriptor_t points_desc,
                                 const void *points, mluOpTensorDescriptor_t boxes_desc,
                                 const void *boxes, mluOpTensorDescriptor_t indices_desc,
                                 void *indices)
{
    (void)handle;
    (void)points_desc;
    (void)points;
    (void)boxes_desc;
    (void)boxes;
    (void)indices_desc;
    (void)indices;
    return missing(__func__);
}

mluOpStatus_t mluOpVoxelPoolingForward(mluOpHandle_t handle, int batch, int points, int channels,
                                       int voxels_x, int voxels_y, int voxels_z,
                                       mluOpTensorDescriptor_t geometry_desc, const void *geometry,
                                       mluOpTensorDescriptor_t input_desc, const void *input,
                                       mluOpTensorDescriptor_t output_desc, void *output,
                                       mluOpTensorDescriptor_t place_desc, void *place)
{
    (void)handle;
    (void)batch;
    (void)points;
    (void)channels;
    (void)voxels_x;
    (void)voxels_y;
    (void)voxels_z;
    (void)geometry_desc;
    (void)geometry;
    (void)input_desc;
    (void)input;
    (void)output_desc;
    (void)output;
    (void)place_desc;
    (void)place;
    return missing(__func__);
}
