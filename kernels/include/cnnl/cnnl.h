/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CNNL, the operator library of Cambricon's cards, over the operators of this project: names, types
 * and order of arguments as public programs use them. docs/api/cnnl.md lists the functions,
 * docs/mlu.md says how they are used.
 *
 * Every function that computes puts its work on the handle's queue and does not wait. A combination
 * of arguments that is not there ends with CNNL_STATUS_NOT_SUPPORTED, a wrong one with
 * CNNL_STATUS_BAD_PARAM; a line on stderr names what to mend. Numbers of enumerators other than
 * those of status, layout and type are this library's own: compile against this header.
 */
#pragma once

#include <cnnl_functions.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The library's release. */
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlGetLibVersion(int *major, int *minor, int *patch);
/** The same as one number, 10000 major + 100 minor + patch. */
CNNL_FUNC_VISIBILITY size_t cnnlGetVersion(void);
/** The name of a code; lives as long as the program. */
CNNL_FUNC_VISIBILITY const char *cnnlGetErrorString(cnnlStatus_t status);

/** A handle for the calling thread's device, on the default queue. */
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlCreate(cnnlHandle_t *handle);
/** Waits for the queue if the handle has memory for temporaries, and gives it back. */
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlDestroy(cnnlHandle_t handle);
/** Later calls go to this queue, after what the handle put on the last one. NULL: the default. */
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlSetQueue(cnnlHandle_t handle, cnrtQueue_t queue);
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlGetQueue(cnnlHandle_t handle, cnrtQueue_t *queue);

CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlCreateTensorDescriptor(cnnlTensorDescriptor_t *desc);
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlDestroyTensorDescriptor(cnnlTensorDescriptor_t desc);
/** A tensor without gaps. Layouts name the order in which dimSize has the dimensions. */
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlSetTensorDescriptor(cnnlTensorDescriptor_t desc,
                                                          cnnlTensorLayout_t layout,
                                                          cnnlDataType_t dtype, int dimNb,
                                                          const int dimSize[]);
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlSetTensorDescriptor_v2(cnnlTensorDescriptor_t desc,
                                                             cnnlTensorLayout_t layout,
                                                             cnnlDataType_t dtype, int dimNb,
                                                             const int64_t dimSize[]);
/** With strides in elements; 0 repeats an element. */
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlSetTensorDescriptorEx(cnnlTensorDescriptor_t desc,
                                                            cnnlTensorLayout_t layout,
                                                            cnnlDataType_t dtype, int dimNb,
                                                            const int dimSize[],
                                                            const int dimStride[]);
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlSetTensorDescriptorEx_v2(cnnlTensorDescriptor_t desc,
                                                               cnnlTensorLayout_t layout,
                                                               cnnlDataType_t dtype, int dimNb,
                                                               const int64_t dimSize[],
                                                               const int64_t dimStride[]);
/** Pointers may be NULL; dimNb tells how many dimensions there are, CNNL_DIM_MAX at most. */
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlGetTensorDescriptor(cnnlTensorDescriptor_t desc,
                                                          cnnlTensorLayout_t *layout,
                                                          cnnlDataType_t *dtype, int *dimNb,
                                                          int dimSize[]);
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlGetTensorDescriptorEx_v2(cnnlTensorDescriptor_t desc,
                                                               cnnlTensorLayout_t *layout,
                                                               cnnlDataType_t *dtype, int *dimNb,
                                                               int64_t dimSize[],
                                                               int64_t dimStride[]);
CNNL_FUNC_VISIBILITY size_t cnnlGetTensorElementNum(cnnlTensorDescriptor_t desc);
/** CNNL_POINTER_MODE_HOST: the tensor is one number in host memory, read during the call. */
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlSetTensorDescriptorPointerMode(cnnlTensorDescriptor_t desc,
                                                                     cnnlPointerMode_t mode);
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlGetTensorDescriptorPointerMode(cnnlTensorDescriptor_t desc,
                                                                     cnnlPointerMode_t *mode);
/** The type numbers have on the way to products: here the tensor's own or a float alone. */
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlSetTensorDescriptorOnchipDataType(cnnlTensorDescriptor_t desc,
                                                                        cnnlDataType_t type);
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlGetTensorDescriptorOnchipDataType(cnnlTensorDescriptor_t desc,
                                                                        cnnlDataType_t *type);
/** Fixed point: an element q stands for q * 2^position / scale (less the offset). No function here
 * computes with such a tensor: each ends with CNNL_STATUS_NOT_SUPPORTED. */
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlSetTensorDescriptorPosition(cnnlTensorDescriptor_t desc,
                                                                  int position);
CNNL_FUNC_VISIBILITY cnnlStatus_t
cnnlSetTensorDescriptorPositionAndScale(cnnlTensorDescriptor_t desc, int position, float scale);
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlSetTensorDescriptorPositionScaleAndOffset(
    cnnlTensorDescriptor_t desc, int position, float scale, int offset);
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlResetTensorDescriptor(cnnlTensorDescriptor_t desc);
/** Bytes of an element. */
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlGetSizeOfDataType(cnnlDataType_t type, size_t *size);

#ifdef __cplusplus
}
#endif
