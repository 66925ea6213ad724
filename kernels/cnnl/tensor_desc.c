/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of tensors. */
#include "tensor_desc.h"

#include "cnnl_call.h"

#include <leo/alloc.h>
#include <string.h>

enum { MAGIC = 0x54444e43 };

static const struct {
    enum op_type type;
    unsigned char bytes; // 0: there is no such type
    bool known;          // operators have it
} types[] = {
    [CNNL_DTYPE_HALF] = {OP_TYPE_F16, 2, true},
    [CNNL_DTYPE_FLOAT] = {OP_TYPE_F32, 4, true},
    [CNNL_DTYPE_INT8] = {OP_TYPE_I8, 1, true},
    [CNNL_DTYPE_INT16] = {OP_TYPE_I16, 2, true},
    [CNNL_DTYPE_INT31] = {OP_TYPE_I32, 4, false},
    [CNNL_DTYPE_INT32] = {OP_TYPE_I32, 4, true},
    [CNNL_DTYPE_UINT8] = {OP_TYPE_U8, 1, true},
    [CNNL_DTYPE_BOOL] = {OP_TYPE_BOOL, 1, true},
    [CNNL_DTYPE_INT64] = {OP_TYPE_I64, 8, true},
    [CNNL_DTYPE_UINT32] = {OP_TYPE_U32, 4, true},
    [CNNL_DTYPE_UINT64] = {OP_TYPE_U64, 8, true},
    [CNNL_DTYPE_UINT16] = {OP_TYPE_U16, 2, true},
    [CNNL_DTYPE_DOUBLE] = {OP_TYPE_F64, 8, true},
    [CNNL_DTYPE_COMPLEX_HALF] = {OP_TYPE_C64, 4, false},
    [CNNL_DTYPE_COMPLEX_FLOAT] = {OP_TYPE_C64, 8, true},
    [CNNL_DTYPE_BFLOAT16] = {OP_TYPE_BF16, 2, true},
    [CNNL_DTYPE_COMPLEX_DOUBLE] = {OP_TYPE_C128, 16, true},
    [CNNL_DTYPE_FLOAT8_E4M3FN] = {OP_TYPE_F32, 1, false},
    [CNNL_DTYPE_FLOAT8_E5M2] = {OP_TYPE_F32, 1, false},
};

bool cnnl_type_of(cnnlDataType_t type, enum op_type *out)
{
    if ((unsigned)type >= sizeof(types) / sizeof(types[0]) || !types[type].known) {
        return false;
    }
    *out = types[type].type;
    return true;
}

size_t cnnl_type_bytes(cnnlDataType_t type)
{
    return (unsigned)type < sizeof(types) / sizeof(types[0]) ? types[type].bytes : 0;
}

bool cnnl_tensor_is_live(cnnlTensorDescriptor_t desc)
{
    return desc && desc->magic == MAGIC;
}

static cnnlStatus_t not_live(const char *func)
{
    return cnnl_fail(CNNL_STATUS_BAD_PARAM, func, "desc is no live tensor descriptor");
}

static void reset(cnnlTensorDescriptor_t desc)
{
    *desc = (struct cnnlTensorStruct){.magic = MAGIC,
                                      .layout = CNNL_LAYOUT_ARRAY,
                                      .type = CNNL_DTYPE_FLOAT,
                                      .onchip = CNNL_DTYPE_INVALID,
                                      .pointer_mode = CNNL_POINTER_MODE_DEVICE,
                                      .scale = 1};
}

cnnlStatus_t cnnlCreateTensorDescriptor(cnnlTensorDescriptor_t *desc)
{
    if (!desc) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, __func__, "desc is NULL");
    }
    *desc = leo_calloc(1, sizeof(**desc));
    if (!*desc) {
        return cnnl_fail(CNNL_STATUS_ALLOC_FAILED, __func__, "out of host memory");
    }
    reset(*desc);
    return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t cnnlDestroyTensorDescriptor(cnnlTensorDescriptor_t desc)
{
    if (!cnnl_tensor_is_live(desc)) {
        return not_live(__func__);
    }
    desc->magic = 0;
    leo_free(desc);
    return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t cnnlResetTensorDescriptor(cnnlTensorDescriptor_t desc)
{
    if (!cnnl_tensor_is_live(desc)) {
        return not_live(__func__);
    }
    reset(desc);
    return CNNL_STATUS_SUCCESS;
}

// strides NULL: without gaps.
static cnnlStatus_t set(const char *func, cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout,
                        cnnlDataType_t type, int rank, const int64_t *dim, const int64_t *strides)
{
    int64_t step = 1;
    if (!cnnl_tensor_is_live(desc)) {
        return not_live(func);
    }
    if (rank < 0 || rank > CNNL_DIM_MAX || (rank && !dim)) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, func, "%d dimensions%s, 0 to %d are possible", rank,
                         dim ? "" : " without sizes", CNNL_DIM_MAX);
    }
    if (!cnnl_type_bytes(type)) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, func, "there is no type %d", (int)type);
    }
    for (int i = rank; i-- > 0;) {
        if (dim[i] < 0 || (strides && strides[i] < 0)) {
            return cnnl_fail(CNNL_STATUS_BAD_PARAM, func, "dimension %d is %lld, its stride %lld",
                             i, (long long)dim[i], strides ? (long long)strides[i] : 0);
        }
        desc->dim[i] = dim[i];
        desc->stride[i] = strides ? strides[i] : step;
        if (__builtin_mul_overflow(step, dim[i] ? dim[i] : 1, &step)) {
            return cnnl_fail(CNNL_STATUS_BAD_PARAM, func, "more than 2^63 elements");
        }
    }
    desc->layout = layout;
    desc->type = type;
    desc->rank = (unsigned)rank;
    return CNNL_STATUS_SUCCESS;
}

static const int64_t *longs(int count, const int *items, int64_t *out)
{
    for (int i = 0; items && i < count && i < CNNL_DIM_MAX; i++) {
        out[i] = items[i];
    }
    return items ? out : NULL;
}

cnnlStatus_t cnnlSetTensorDescriptor(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout,
                                     cnnlDataType_t dtype, int dimNb, const int dimSize[])
{
    int64_t dim[CNNL_DIM_MAX] = {0};
    return set(__func__, desc, layout, dtype, dimNb, longs(dimNb, dimSize, dim), NULL);
}

cnnlStatus_t cnnlSetTensorDescriptor_v2(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout,
                                        cnnlDataType_t dtype, int dimNb, const int64_t dimSize[])
{
    return set(__func__, desc, layout, dtype, dimNb, dimSize, NULL);
}

cnnlStatus_t cnnlSetTensorDescriptorEx(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout,
                                       cnnlDataType_t dtype, int dimNb, const int dimSize[],
                                       const int dimStride[])
{
    int64_t dim[CNNL_DIM_MAX] = {0}, stride[CNNL_DIM_MAX] = {0};
    return set(__func__, desc, layout, dtype, dimNb, longs(dimNb, dimSize, dim),
               longs(dimNb, dimStride, stride));
}

cnnlStatus_t cnnlSetTensorDescriptorEx_v2(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout,
                                          cnnlDataType_t dtype, int dimNb, const int64_t dimSize[],
                                          const int64_t dimStride[])
{
    return set(__func__, desc, layout, dtype, dimNb, dimSize, dimStride);
}

cnnlStatus_t cnnlGetTensorDescriptorEx_v2(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t *layout,
                                          cnnlDataType_t *dtype, int *dimNb, int64_t dimSize[],
                                          int64_t dimStride[])
{
    if (!cnnl_tensor_is_live(desc)) {
        return not_live(__func__);
    }
    for (unsigned i = 0; i < desc->rank; i++) {
        if (dimSize) {
            dimSize[i] = desc->dim[i];
        }
        if (dimStride) {
            dimStride[i] = desc->stride[i];
        }
    }
    if (layout) {
        *layout = desc->layout;
    }
    if (dtype) {
        *dtype = desc->type;
    }
    if (dimNb) {
        *dimNb = (int)desc->rank;
    }
    return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t cnnlGetTensorDescriptor(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t *layout,
                                     cnnlDataType_t *dtype, int *dimNb, int dimSize[])
{
    int64_t dim[CNNL_DIM_MAX];
    int rank = 0;
    cnnlStatus_t status = cnnlGetTensorDescriptorEx_v2(desc, layout, dtype, &rank, dim, NULL);
    for (int i = 0; dimSize && i < rank; i++) {
        if (dim[i] > INT32_MAX) {
            return cnnl_fail(CNNL_STATUS_BAD_PARAM, __func__, "dimension %d does not fit an int",
                             i);
        }
        dimSize[i] = (int)dim[i];
    }
    if (dimNb) {
        *dimNb = rank;
    }
    return status;
}

size_t cnnlGetTensorElementNum(cnnlTensorDescriptor_t desc)
{
    size_t count = 1;
    if (!cnnl_tensor_is_live(desc)) {
        (void)not_live(__func__);
        return 0;
    }
    for (unsigned i = 0; i < desc->rank; i++) {
        count *= (size_t)desc->dim[i];
    }
    return count;
}

cnnlStatus_t cnnlSetTensorDescriptorPointerMode(cnnlTensorDescriptor_t desc, cnnlPointerMode_t mode)
{
    if (!cnnl_tensor_is_live(desc)) {
        return not_live(__func__);
    }
    if (mode != CNNL_POINTER_MODE_HOST && mode != CNNL_POINTER_MODE_DEVICE) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, __func__, "mode is %d", (int)mode);
    }
    desc->pointer_mode = mode;
    return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t cnnlGetTensorDescriptorPointerMode(cnnlTensorDescriptor_t desc,
                                                cnnlPointerMode_t *mode)
{
    if (!cnnl_tensor_is_live(desc) || !mode) {
        return not_live(__func__);
    }
    *mode = desc->pointer_mode;
    return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t cnnlSetTensorDescriptorOnchipDataType(cnnlTensorDescriptor_t desc, cnnlDataType_t type)
{
    if (!cnnl_tensor_is_live(desc)) {
        return not_live(__func__);
    }
    if (type != CNNL_DTYPE_INVALID && !cnnl_type_bytes(type)) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, __func__, "there is no type %d", (int)type);
    }
    desc->onchip = type;
    return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t cnnlGetTensorDescriptorOnchipDataType(cnnlTensorDescriptor_t desc,
                                                   cnnlDataType_t *type)
{
    if (!cnnl_tensor_is_live(desc) || !type) {
        return not_live(__func__);
    }
    *type = desc->onchip;
    return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t cnnlSetTensorDescriptorPosition(cnnlTensorDescriptor_t desc, int position)
{
    return cnnlSetTensorDescriptorPositionScaleAndOffset(desc, position, 1, 0);
}

cnnlStatus_t cnnlSetTensorDescriptorPositionAndScale(cnnlTensorDescriptor_t desc, int position,
                                                     float scale)
{
    return cnnlSetTensorDescriptorPositionScaleAndOffset(desc, position, scale, 0);
}

cnnlStatus_t cnnlSetTensorDescriptorPositionScaleAndOffset(cnnlTensorDescriptor_t desc,
                                                           int position, float scale, int offset)
{
    if (!cnnl_tensor_is_live(desc)) {
        return not_live(__func__);
    }
    if (!(scale > 0) || position < -128 || position > 127) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, __func__,
                         "position is %d and scale %g: -128 to 127 and above 0 are possible",
                         position, (double)scale);
    }
    desc->quantized = true;
    desc->position = position;
    desc->scale = scale;
    desc->offset = offset;
    return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t cnnlGetSizeOfDataType(cnnlDataType_t type, size_t *size)
{
    if (!size || !cnnl_type_bytes(type)) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, __func__,
                         size ? "there is no type %d" : "size is NULL, type is %d", (int)type);
    }
    *size = cnnl_type_bytes(type);
    return CNNL_STATUS_SUCCESS;
}
