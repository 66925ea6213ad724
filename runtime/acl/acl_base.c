/* SPDX-License-Identifier: Apache-2.0 */
/* Data types, data buffers and half floats. */
#include "acl_internal.h"

#include <leo/alloc.h>
#include <math.h>
#include <string.h>

struct aclDataBuffer {
    void *data;
    size_t size;
};

size_t aclDataTypeSize(aclDataType dataType)
{
    switch (dataType) {
    case ACL_DT_UNDEFINED:
    case ACL_STRING:
        return 0;
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_INT4:
    case ACL_UINT1:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
        return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
        return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
        return 4;
    case ACL_COMPLEX128:
        return 16;
    default:
        return 8;
    }
}

float aclFloat16ToFloat(aclFloat16 value)
{
    int exponent = value >> 10 & 0x1f;
    float mantissa = (float)(value & 0x3ff);
    // Exponent 31 is an ordinary one here: the original knows no infinities.
    float magnitude = exponent ? ldexpf(1024.0f + mantissa, exponent - 25) : ldexpf(mantissa, -24);
    return value & 0x8000 ? -magnitude : magnitude;
}

// Rounds to nearest even by hand, in units of the result's last place.
aclFloat16 aclFloatToFloat16(float value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    float magnitude = fabsf(value);
    if (!(magnitude < 65520.0f)) { // also NaN
        return (aclFloat16)(isnan(value) ? 0x7bff : sign | 0x7bff);
    }
    if (magnitude == 0) {
        return sign;
    }
    int exponent;
    (void)frexpf(magnitude, &exponent);
    int last_place = exponent - 11 < -24 ? -24 : exponent - 11;
    double scaled = ldexp((double)magnitude, -last_place);
    double whole = floor(scaled);
    double rest = scaled - whole;
    uint32_t units = (uint32_t)whole;
    if (rest > 0.5 || (rest == 0.5 && (units & 1))) {
        units++;
    }
    // `units` carries the hidden bit into the exponent field by plain addition.
    uint32_t bits = units + (uint32_t)(last_place + 24) * 1024u;
    return (aclFloat16)(sign | (bits > 0x7bff ? 0x7bff : bits));
}

aclDataBuffer *aclCreateDataBuffer(void *data, size_t size)
{
    aclDataBuffer *buffer = leo_alloc(sizeof(*buffer));
    if (buffer) {
        buffer->data = data;
        buffer->size = size;
    }
    return buffer;
}

aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer)
{
    if (!dataBuffer) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclDestroyDataBuffer", "dataBuffer is NULL");
    }
    leo_free((void *)(uintptr_t)dataBuffer);
    return ACL_SUCCESS;
}

aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size)
{
    if (!dataBuffer) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclUpdateDataBuffer", "dataBuffer is NULL");
    }
    dataBuffer->data = data;
    dataBuffer->size = size;
    return ACL_SUCCESS;
}

void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer)
{
    return dataBuffer ? dataBuffer->data : NULL;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer)
{
    return dataBuffer ? (uint32_t)dataBuffer->size : 0;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer)
{
    return dataBuffer ? dataBuffer->size : 0;
}
