/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cnnl.h>

struct cnnlTensorStruct {
    uint32_t magic;
    cnnlTensorLayout_t layout;
    cnnlDataType_t type, onchip;
    cnnlPointerMode_t pointer_mode;
    unsigned rank;
    int64_t dim[CNNL_DIM_MAX], stride[CNNL_DIM_MAX];
    bool quantized;
    int position, offset;
    float scale;
};

bool cnnl_tensor_is_live(cnnlTensorDescriptor_t desc);
