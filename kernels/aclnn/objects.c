/* SPDX-License-Identifier: Apache-2.0 */
/* Scalars, arrays and lists: creation, destruction, questions. */
#include "objects.h"

#include <leo/acl_hook.h>
#include <leo/alloc.h>
#include <string.h>

void opapi_refuse(const char *func, const char *text)
{
    leo_acl_fail(ACLNN_ERR_PARAM_INVALID, func, "%s", text);
}

__extension__ typedef _Float16 half_float;

static float half_value(uint16_t bits)
{
    half_float value;
    memcpy(&value, &bits, sizeof(value));
    return (float)value;
}

static float bfloat_value(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof(value));
    return value;
}

static int64_t integer_of(double real)
{
    return real != real     ? 0
           : real >= 0x1p63 ? INT64_MAX
           : real < -0x1p63 ? INT64_MIN
                            : (int64_t)real;
}

static bool read_scalar(const void *value, enum op_type type, struct op_scalar *scalar)
{
    union {
        float f32;
        double f64[2];
        float c64[2];
        uint16_t u16;
        int16_t i16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        int8_t i8;
        uint8_t u8;
    } u = {.f64 = {0}};
    if ((unsigned)type >= OP_TYPES) {
        return false;
    }
    memcpy(&u, value, op_type_bytes(type));
    *scalar = (struct op_scalar){.type = type};
    switch (type) {
    case OP_TYPE_F32:
        scalar->real = u.f32;
        break;
    case OP_TYPE_F16:
        scalar->real = half_value(u.u16);
        break;
    case OP_TYPE_BF16:
        scalar->real = bfloat_value(u.u16);
        break;
    case OP_TYPE_F64:
        scalar->real = u.f64[0];
        break;
    case OP_TYPE_C64:
        scalar->real = u.c64[0];
        scalar->imag = u.c64[1];
        break;
    case OP_TYPE_C128:
        scalar->real = u.f64[0];
        scalar->imag = u.f64[1];
        break;
    case OP_TYPE_I8:
        scalar->integer = u.i8;
        break;
    case OP_TYPE_U8:
        scalar->integer = u.u8;
        break;
    case OP_TYPE_BOOL:
        scalar->integer = u.u8 != 0;
        break;
    case OP_TYPE_I16:
        scalar->integer = u.i16;
        break;
    case OP_TYPE_U16:
        scalar->integer = u.u16;
        break;
    case OP_TYPE_I32:
        scalar->integer = u.i32;
        break;
    case OP_TYPE_U32:
        scalar->integer = u.u32;
        break;
    case OP_TYPE_I64:
        scalar->integer = u.i64;
        break;
    case OP_TYPE_U64:
        scalar->integer = (int64_t)u.u64;
        break;
    }
    if (op_type_is_float(type) || op_type_is_complex(type)) {
        scalar->integer = integer_of(scalar->real);
    } else {
        scalar->real = (double)scalar->integer;
    }
    return true;
}

aclScalar *aclCreateScalar(void *value, aclDataType dataType)
{
    struct op_scalar read;
    if (!value || !read_scalar(value, opapi_type(dataType), &read)) {
        opapi_refuse("aclCreateScalar",
                     value ? "a scalar cannot have this data type" : "value is NULL");
        return NULL;
    }
    aclScalar *scalar = leo_calloc(1, sizeof(*scalar));
    if (!scalar) {
        opapi_refuse("aclCreateScalar", "out of host memory");
        return NULL;
    }
    *scalar = (aclScalar){read, dataType};
    return scalar;
}

// An array object of `head` bytes followed by a copy of the items; NULL with a text.
static void *make_array(const char *func, size_t head, const void *items, uint64_t size,
                        size_t unit)
{
    if (size > 0 && !items) {
        opapi_refuse(func, "value is NULL");
        return NULL;
    }
    char *array = size < SIZE_MAX / 2 / unit ? leo_calloc(1, head + (size_t)size * unit) : NULL;
    if (!array) {
        opapi_refuse(func, "out of host memory");
        return NULL;
    }
    if (size > 0) {
        memcpy(array + head, items, (size_t)size * unit);
    }
    return array;
}

aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size)
{
    aclIntArray *array =
        make_array("aclCreateIntArray", sizeof(*array), value, size, sizeof(*value));
    if (array) {
        array->value = (struct op_ints){array->items, size};
    }
    return array;
}

aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size)
{
    aclFloatArray *array =
        make_array("aclCreateFloatArray", sizeof(*array), value, size, sizeof(*value));
    if (array) {
        array->value = (struct op_floats){array->items, size};
    }
    return array;
}

aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size)
{
    aclBoolArray *array =
        make_array("aclCreateBoolArray", sizeof(*array), value, size, sizeof(*value));
    if (array) {
        array->value = (struct op_bools){array->items, size};
    }
    return array;
}

aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size)
{
    aclTensorList *list =
        make_array("aclCreateTensorList", sizeof(*list), value, size, sizeof(*value));
    if (list) {
        list->value = (struct op_tensor_list){(const struct op_tensor *const *)list->items, size};
    }
    return list;
}

aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size)
{
    aclScalarList *list =
        make_array("aclCreateScalarList", sizeof(*list), value, size, sizeof(*value));
    if (list) {
        list->value = (struct op_scalar_list){(const struct op_scalar *const *)list->items, size};
    }
    return list;
}

aclnnStatus opapi_release(const void *object)
{
    leo_free((void *)(uintptr_t)object);
    return ACLNN_SUCCESS;
}

aclnnStatus aclDestroyScalar(const aclScalar *scalar)
{
    return opapi_release(scalar);
}

aclnnStatus aclDestroyIntArray(const aclIntArray *array)
{
    return opapi_release(array);
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray *array)
{
    return opapi_release(array);
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray *array)
{
    return opapi_release(array);
}

aclnnStatus aclDestroyTensorList(const aclTensorList *array)
{
    for (uint64_t i = 0; array && i < array->value.count; i++) {
        opapi_release(array->items[i]);
    }
    return opapi_release(array);
}

aclnnStatus aclDestroyScalarList(const aclScalarList *array)
{
    for (uint64_t i = 0; array && i < array->value.count; i++) {
        opapi_release(array->items[i]);
    }
    return opapi_release(array);
}

aclnnStatus opapi_check_question(const char *func, const void *object, const void *answer)
{
    return object && answer
               ? ACLNN_SUCCESS
               : leo_acl_fail(ACLNN_ERR_PARAM_NULLPTR, func, "%s",
                              object ? "the place of the answer is NULL" : "the object is NULL");
}

static aclnnStatus give_size(const char *func, const void *object, const uint64_t *count,
                             uint64_t *size)
{
    aclnnStatus status = opapi_check_question(func, object, size);
    if (!status) {
        *size = *count;
    }
    return status;
}

aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size)
{
    return give_size("aclGetIntArraySize", array, array ? &array->value.count : NULL, size);
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size)
{
    return give_size("aclGetFloatArraySize", array, array ? &array->value.count : NULL, size);
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size)
{
    return give_size("aclGetBoolArraySize", array, array ? &array->value.count : NULL, size);
}

aclnnStatus aclGetTensorListSize(const aclTensorList *tensorList, uint64_t *size)
{
    return give_size("aclGetTensorListSize", tensorList,
                     tensorList ? &tensorList->value.count : NULL, size);
}

aclnnStatus aclGetScalarListSize(const aclScalarList *scalarList, uint64_t *size)
{
    return give_size("aclGetScalarListSize", scalarList,
                     scalarList ? &scalarList->value.count : NULL, size);
}
