/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the two libraries beside CNNL: what is CNNL's under other names, and what is missing. */
#include "cnnl_call.h"

#include <cnnl_extra.h>
#include <mlu_op.h>

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

mluOpStatus_t mluOpBoxIouRotated(mluOpHandle_t handle, int mode, bool aligned,
                                 mluOpTensorDescriptor_t a_desc, const void *a,
                                 mluOpTensorDescriptor_t b_desc, const void *b,
                                 mluOpTensorDescriptor_t iou_desc, void *iou)
{
    (void)handle;
    (void)mode;
    (void)aligned;
    (void)a_desc;
    (void)a;
    (void)b_desc;
    (void)b;
    (void)iou_desc;
    (void)iou;
    return missing(__func__);
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
