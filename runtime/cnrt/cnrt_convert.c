/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion on the host. */
#include "../api_common/dump/convert.h"

#include "cnrt_internal.h"

/** Types by their numbers. */
static const struct {
    cnrtDataType_t type;
    enum api_number number;
} numbers[] = {
    {cnrtFloat16, API_NUMBER_F16}, {cnrtFloat32, API_NUMBER_F32}, {cnrtFloat64, API_NUMBER_F64},
    {cnrtInt8, API_NUMBER_I8},     {cnrtInt16, API_NUMBER_I16},   {cnrtInt32, API_NUMBER_I32},
    {cnrtInt64, API_NUMBER_I64},   {cnrtUInt8, API_NUMBER_U8},    {cnrtUInt16, API_NUMBER_U16},
    {cnrtUInt32, API_NUMBER_U32},
};

static int find(cnrtDataType_t type)
{
    int i = (int)(sizeof(numbers) / sizeof(numbers[0])) - 1;
    while (i >= 0 && numbers[i].type != type) {
        i--;
    }
    return i;
}

struct cnrtQuantizedParam {
    struct api_quantum quantum;
};

cnrtRet_t cnrtCreateQuantizedParam(cnrtQuantizedParam_t *param, int pos, float scale, int offset)
{
    if (!param || !(scale > 0)) {
        return cnrt_fail(cnrtErrorArgsInvalid, __func__, "param is NULL or scale is not above 0");
    }
    *param = malloc(sizeof(**param));
    if (!*param) {
        return cnrt_fail(cnrtErrorSysNoMem, __func__, "out of host memory");
    }
    (*param)->quantum = (struct api_quantum){.position = pos, .offset = offset, .scale = scale};
    return cnrtSuccess;
}

cnrtRet_t cnrtDestroyQuantizedParam(cnrtQuantizedParam_t param)
{
    free(param);
    return cnrtSuccess;
}

cnrtRet_t cnrtCastDataType(void *src, cnrtDataType_t srcType, void *dst, cnrtDataType_t dstType,
                           int count, cnrtQuantizedParam_t param)
{
    int from = find(srcType), to = find(dstType);
    if (!src || !dst || count < 0 || from < 0 || to < 0) {
        return cnrt_fail(cnrtErrorArgsInvalid, __func__,
                         "a pointer is NULL, the count below 0, or a type unknown");
    }
    api_convert(src, numbers[from].number, dst, numbers[to].number, (size_t)count,
                param ? &param->quantum : NULL);
    return cnrtSuccess;
}

cnrtRet_t cnrtConvertFloatToHalf(uint16_t *half, float value)
{
    if (!half) {
        return cnrt_fail(cnrtErrorArgsInvalid, __func__, "half is NULL");
    }
    *half = api_half_from_float(value);
    return cnrtSuccess;
}

cnrtRet_t cnrtConvertHalfToFloat(float *value, uint16_t half)
{
    if (!value) {
        return cnrt_fail(cnrtErrorArgsInvalid, __func__, "value is NULL");
    }
    *value = api_half_to_float(half);
    return cnrtSuccess;
}

int cnrtDataTypeSize(cnrtDataType_t type)
{
    int i = find(type);
    return i >= 0 ? (int)api_number_bytes(numbers[i].number) : 0;
}
