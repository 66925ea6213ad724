/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open operator library's names, in libmluops.so, which is libcnnl.so: handles, descriptors and
 * types are CNNL's. Of its operators the overlap of turned boxes is there; the others (Fourier
 * transforms, points in boxes, voxels) end with MLUOP_STATUS_NOT_SUPPORTED and a line on stderr.
 */
#pragma once

#include <cnnl.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef cnnlHandle_t mluOpHandle_t;
typedef cnnlStatus_t mluOpStatus_t;
typedef cnnlDataType_t mluOpDataType_t;
typedef cnnlTensorLayout_t mluOpTensorLayout_t;
typedef cnnlPointerMode_t mluOpPointerMode_t;
typedef cnnlTensorStruct mluOpTensorStruct;
typedef cnnlTensorDescriptor_t mluOpTensorDescriptor_t;
typedef struct mluOpFFTStruct *mluOpFFTPlan_t;

#define MLUOP_STATUS_SUCCESS         CNNL_STATUS_SUCCESS
#define MLUOP_STATUS_NOT_INITIALIZED CNNL_STATUS_NOT_INITIALIZED
#define MLUOP_STATUS_ALLOC_FAILED    CNNL_STATUS_ALLOC_FAILED
#define MLUOP_STATUS_BAD_PARAM       CNNL_STATUS_BAD_PARAM
#define MLUOP_STATUS_NOT_SUPPORTED   CNNL_STATUS_NOT_SUPPORTED

#define MLUOP_DTYPE_INVALID       CNNL_DTYPE_INVALID
#define MLUOP_DTYPE_HALF          CNNL_DTYPE_HALF
#define MLUOP_DTYPE_FLOAT         CNNL_DTYPE_FLOAT
#define MLUOP_DTYPE_DOUBLE        CNNL_DTYPE_DOUBLE
#define MLUOP_DTYPE_BFLOAT16      CNNL_DTYPE_BFLOAT16
#define MLUOP_DTYPE_INT8          CNNL_DTYPE_INT8
#define MLUOP_DTYPE_INT16         CNNL_DTYPE_INT16
#define MLUOP_DTYPE_INT32         CNNL_DTYPE_INT32
#define MLUOP_DTYPE_INT64         CNNL_DTYPE_INT64
#define MLUOP_DTYPE_UINT8         CNNL_DTYPE_UINT8
#define MLUOP_DTYPE_BOOL          CNNL_DTYPE_BOOL
#define MLUOP_DTYPE_COMPLEX_HALF  CNNL_DTYPE_COMPLEX_HALF
#define MLUOP_DTYPE_COMPLEX_FLOAT CNNL_DTYPE_COMPLEX_FLOAT

#define MLUOP_LAYOUT_ARRAY      CNNL_LAYOUT_ARRAY
#define MLUOP_LAYOUT_NCHW       CNNL_LAYOUT_NCHW
#define MLUOP_LAYOUT_NHWC       CNNL_LAYOUT_NHWC
#define MLUOP_LAYOUT_HWCN       CNNL_LAYOUT_HWCN
#define MLUOP_LAYOUT_NDHWC      CNNL_LAYOUT_NDHWC
#define MLUOP_LAYOUT_NLC        CNNL_LAYOUT_NLC
#define MLUOP_POINTER_MODE_HOST CNNL_POINTER_MODE_HOST

CNNL_FUNC_VISIBILITY const char *mluOpGetErrorString(mluOpStatus_t status);
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpCreate(mluOpHandle_t *handle);
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpDestroy(mluOpHandle_t handle);
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpSetQueue(mluOpHandle_t handle, cnrtQueue_t queue);
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpSetGenCaseMode(int mode);

CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpCreateTensorDescriptor(mluOpTensorDescriptor_t *desc);
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpDestroyTensorDescriptor(mluOpTensorDescriptor_t desc);
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpSetTensorDescriptor(mluOpTensorDescriptor_t desc,
                                                            mluOpTensorLayout_t layout,
                                                            mluOpDataType_t dtype, int dimNb,
                                                            const int dimSize[]);
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpSetTensorDescriptorEx_v2(mluOpTensorDescriptor_t desc,
                                                                 mluOpTensorLayout_t layout,
                                                                 mluOpDataType_t dtype, int dimNb,
                                                                 const int64_t dimSize[],
                                                                 const int64_t dimStride[]);
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpSetTensorDescriptorPointerMode(mluOpTensorDescriptor_t desc,
                                                                       mluOpPointerMode_t mode);
CNNL_FUNC_VISIBILITY mluOpStatus_t
mluOpSetTensorDescriptorOnchipDataType(mluOpTensorDescriptor_t desc, mluOpDataType_t type);

/** Common area of each box of a with each of b, by that of both; boxes are centre, width, height
 * and angle in radians. mode 0 and not aligned alone. */
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpBoxIouRotated(mluOpHandle_t handle, int mode, bool aligned,
                                                      mluOpTensorDescriptor_t a_desc, const void *a,
                                                      mluOpTensorDescriptor_t b_desc, const void *b,
                                                      mluOpTensorDescriptor_t iou_desc, void *iou);

/** Not supported, as all below. */
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpCreateFFTPlan(mluOpFFTPlan_t *plan);
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpDestroyFFTPlan(mluOpFFTPlan_t plan);
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpMakeFFTPlanMany(mluOpHandle_t handle, mluOpFFTPlan_t plan,
                                                        mluOpTensorDescriptor_t input,
                                                        mluOpTensorDescriptor_t output, int rank,
                                                        const int n[], size_t *reserve_bytes,
                                                        size_t *workspace_bytes);
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpSetFFTReserveArea(mluOpHandle_t handle, mluOpFFTPlan_t plan,
                                                          void *reserve);
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpExecFFT(mluOpHandle_t handle, mluOpFFTPlan_t plan,
                                                const void *input, float scale, void *workspace,
                                                void *output, int direction);
CNNL_FUNC_VISIBILITY mluOpStatus_t
mluOpPointsInBoxes(mluOpHandle_t handle, mluOpTensorDescriptor_t points_desc, const void *points,
                   mluOpTensorDescriptor_t boxes_desc, const void *boxes,
                   mluOpTensorDescriptor_t indices_desc, void *indices);
CNNL_FUNC_VISIBILITY mluOpStatus_t mluOpVoxelPoolingForward(
    mluOpHandle_t handle, int batch, int points, int channels, int voxels_x, int voxels_y,
    int voxels_z, mluOpTensorDescriptor_t geometry_desc, const void *geometry,
    mluOpTensorDescriptor_t input_desc, const void *input, mluOpTensorDescriptor_t output_desc,
    void *output, mluOpTensorDescriptor_t place_desc, void *place);

#ifdef __cplusplus
}
#endif
