/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors, scalars, arrays and lists: creation, destruction, questions. */
#include "objects.h"
#include "../frame/layout.h"

#include <inttypes.h>
#include <leo/acl_hook.h>
#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    aclDataType acl;
    enum op_type op;
} data_types[] = {
    {ACL_FLOAT, OP_TYPE_F32},  {ACL_FLOAT16, OP_TYPE_F16},   {ACL_BF16, OP_TYPE_BF16},
    {ACL_DOUBLE, OP_TYPE_F64}, {ACL_INT8, OP_TYPE_I8},       {ACL_UINT8, OP_TYPE_U8},
    {ACL_INT16, OP_TYPE_I16},  {ACL_UINT16, OP_TYPE_U16},    {ACL_INT32, OP_TYPE_I32},
    {ACL_UINT32, OP_TYPE_U32}, {ACL_INT64, OP_TYPE_I64},     {ACL_UINT64, OP_TYPE_U64},
    {ACL_BOOL, OP_TYPE_BOOL},  {ACL_COMPLEX64, OP_TYPE_C64}, {ACL_COMPLEX128, OP_TYPE_C128},
};

enum op_type opapi_type(aclDataType type)
{
    for (size_t i = 0; i < sizeof(data_types) / sizeof(data_types[0]); i++) {
        if (data_types[i].acl == type) {
            return data_types[i].op;
        }
    }
    return (enum op_type)OP_TYPES;
}

aclDataType opapi_data_type(enum op_type type)
{
    for (size_t i = 0; i < sizeof(data_types) / sizeof(data_types[0]); i++) {
        if (data_types[i].op == type) {
            return data_types[i].acl;
        }
    }
    return ACL_DT_UNDEFINED;
}

static void fail(const char *func, const char *text)
{
    leo_acl_fail(ACLNN_ERR_PARAM_INVALID, func, "%s", text);
}

static bool check_dims(const char *func, const int64_t *dims, uint64_t count, const char *what)
{
    char text[128];
    if (count > OP_RANK_MAX) {
        snprintf(text, sizeof(text), "%llu %s dimensions: at most %d are possible",
                 (unsigned long long)count, what, OP_RANK_MAX);
        fail(func, text);
        return false;
    }
    if (count > 0 && !dims) {
        snprintf(text, sizeof(text), "%s dimensions are NULL", what);
        fail(func, text);
        return false;
    }
    return true;
}

static void set_address(aclTensor *tensor, uint64_t data)
{
    const unsigned bytes =
        (unsigned)tensor->view.type < OP_TYPES ? op_type_bytes(tensor->view.type) : 1;
    tensor->data = data;
    tensor->view.addr = data ? data + (uint64_t)tensor->offset * bytes : 0;
}

// A native format prescribes the storage; where it has none, the operator tells.
static bool check_storage(const char *func, const aclTensor *tensor)
{
    struct op_tensor storage;
    char text[640];
    if (!op_format_is_native(tensor->view.format) || tensor->storage_rank == 0 ||
        (unsigned)tensor->view.type >= OP_TYPES || !op_layout_storage(&tensor->view, &storage)) {
        return true;
    }
    if (tensor->storage_rank == storage.rank &&
        memcmp(tensor->storage, storage.dim, storage.rank * sizeof(*storage.dim)) == 0) {
        return true;
    }
    snprintf(text, sizeof(text), "a tensor %s in format %s is stored as %s, not as %s",
             op_tensor_shape_text(&tensor->view).text, op_format_name(tensor->view.format),
             op_tensor_shape_text(&storage).text,
             op_shape_text(tensor->storage_rank, tensor->storage).text);
    fail(func, text);
    return false;
}

enum { NIBBLES = 8 }; // numbers of 4 bits in a word

/* A view of numbers of 4 bits as one of i32 words, where its runs are whole words; else its type
 * stays unknown to operators. */
static void pack_nibbles(aclTensor *tensor)
{
    struct op_tensor words = tensor->view;
    unsigned along = 0;
    for (unsigned i = 0; i < words.rank; i++) {
        if (words.stride[i] == 1 && words.dim[i] % NIBBLES == 0 && along == 0) {
            along = i + 1;
            words.dim[i] /= NIBBLES;
        } else if (words.stride[i] % NIBBLES == 0) {
            words.stride[i] /= NIBBLES;
        } else if (words.dim[i] != 1) {
            return;
        }
    }
    if (along && tensor->offset % NIBBLES == 0) {
        words.type = OP_TYPE_I32;
        tensor->view = words;
        tensor->offset /= NIBBLES;
        tensor->nibbles = along;
    }
}

// The view as it was told.
static struct op_tensor view_of(const aclTensor *tensor)
{
    struct op_tensor view = tensor ? tensor->view : (struct op_tensor){.rank = 0};
    for (unsigned i = 0; tensor && tensor->nibbles && i < view.rank; i++) {
        if (i + 1 == tensor->nibbles) {
            view.dim[i] *= NIBBLES;
        } else {
            view.stride[i] *= NIBBLES;
        }
    }
    return view;
}

static bool fill_tensor(const char *func, aclTensor *tensor, const int64_t *dims, uint64_t rank,
                        aclDataType type, const int64_t *stride, int64_t offset, aclFormat format,
                        const int64_t *storage, uint64_t storage_rank, void *data)
{
    if (!check_dims(func, dims, rank, "view") ||
        !check_dims(func, storage, storage_rank, "storage")) {
        return false;
    }
    *tensor =
        (aclTensor){.data_type = type, .offset = offset, .storage_rank = (unsigned)storage_rank};
    tensor->view = op_tensor_dense(0, opapi_type(type), (unsigned)rank, dims);
    tensor->view.format = format;
    if (stride) {
        memcpy(tensor->view.stride, stride, rank * sizeof(*stride));
    }
    if (storage_rank > 0) {
        memcpy(tensor->storage, storage, storage_rank * sizeof(*storage));
    }
    if (type == ACL_INT4) {
        pack_nibbles(tensor);
    }
    set_address(tensor, (uintptr_t)data);
    return check_storage(func, tensor);
}

aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t *stride, int64_t offset, aclFormat format,
                           const int64_t *storageDims, uint64_t storageDimsNum, void *tensorData)
{
    aclTensor *tensor = leo_calloc(1, sizeof(*tensor));
    if (!tensor) {
        fail("aclCreateTensor", "out of host memory");
        return NULL;
    }
    if (!fill_tensor("aclCreateTensor", tensor, viewDims, viewDimsNum, dataType, stride, offset,
                     format, storageDims, storageDimsNum, tensorData)) {
        leo_free(tensor);
        return NULL;
    }
    return tensor;
}

aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t *stride, int64_t offset,
                          aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum,
                          void *tensorDataAddr)
{
    if (!tensor) {
        return leo_acl_fail(ACLNN_ERR_PARAM_NULLPTR, "aclInitTensor", "tensor is NULL");
    }
    return fill_tensor("aclInitTensor", tensor, viewDims, viewDimsNum, dataType, stride, offset,
                       format, storageDims, storageDimsNum, tensorDataAddr)
               ? ACLNN_SUCCESS
               : ACLNN_ERR_PARAM_INVALID;
}

// Elements of a storage; INT64_MAX: more than can be counted, or none are told. One number for a
// view of more dimensions is no storage either: programs give the view's own reach then, without
// the offset, and a card does not read it.
static int64_t storage_count(const aclTensor *tensor)
{
    int64_t count = 1;
    for (unsigned i = 0; i < tensor->storage_rank; i++) {
        if (__builtin_mul_overflow(count, tensor->storage[i], &count)) {
            return INT64_MAX;
        }
    }
    const bool told = tensor->storage_rank > 1 || tensor->storage_rank == tensor->view.rank;
    return told ? count : INT64_MAX;
}

leo_status opapi_check_view(const struct op_row *row, const struct op_param *param,
                            const struct op_tensor *view)
{
    const aclTensor *tensor = (const aclTensor *)(const void *)view;
    const char *const op = row->name, *const name = param->name,
                      *packed = op_row_attr(row, "nibbles");
    if (tensor->nibbles && (!packed || strcmp(packed, name) != 0)) {
        return leo_rt_fail(LEO_ERR_DTYPE, "%s: %s has 4 bits an element, which it does not take",
                           op, name);
    }
    const bool rows = !op_format_is_native(view->format) && !tensor->nibbles;
    int64_t last = tensor->offset, room = rows ? storage_count(tensor) : INT64_MAX;
    for (unsigned i = 0; i < view->rank; i++) {
        int64_t by;
        if (view->dim[i] == 0) {
            return LEO_OK;
        }
        if (__builtin_mul_overflow(view->dim[i] - 1, view->stride[i], &by) ||
            __builtin_add_overflow(last, by, &last)) {
            last = INT64_MAX;
            break;
        }
    }
    return tensor->offset >= 0 && last < room
               ? LEO_OK
               : leo_rt_fail(LEO_ERR_SHAPE,
                             "%s: %s of shape %s from element %" PRId64
                             " on is not within its storage of shape %s",
                             op, name, op_tensor_shape_text(view).text, tensor->offset,
                             op_shape_text(tensor->storage_rank, tensor->storage).text);
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
        fail("aclCreateScalar", value ? "a scalar cannot have this data type" : "value is NULL");
        return NULL;
    }
    aclScalar *scalar = leo_calloc(1, sizeof(*scalar));
    if (!scalar) {
        fail("aclCreateScalar", "out of host memory");
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
        fail(func, "value is NULL");
        return NULL;
    }
    char *array = size < SIZE_MAX / 2 / unit ? leo_calloc(1, head + (size_t)size * unit) : NULL;
    if (!array) {
        fail(func, "out of host memory");
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

// The interface takes const pointers to what it frees.
static aclnnStatus release(const void *object)
{
    leo_free((void *)(uintptr_t)object);
    return ACLNN_SUCCESS;
}

aclnnStatus aclDestroyTensor(const aclTensor *tensor)
{
    return release(tensor);
}

aclnnStatus aclDestroyScalar(const aclScalar *scalar)
{
    return release(scalar);
}

aclnnStatus aclDestroyIntArray(const aclIntArray *array)
{
    return release(array);
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray *array)
{
    return release(array);
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray *array)
{
    return release(array);
}

aclnnStatus aclDestroyTensorList(const aclTensorList *array)
{
    for (uint64_t i = 0; array && i < array->value.count; i++) {
        release(array->items[i]);
    }
    return release(array);
}

aclnnStatus aclDestroyScalarList(const aclScalarList *array)
{
    for (uint64_t i = 0; array && i < array->value.count; i++) {
        release(array->items[i]);
    }
    return release(array);
}

static aclnnStatus check_question(const char *func, const void *object, const void *answer)
{
    return object && answer
               ? ACLNN_SUCCESS
               : leo_acl_fail(ACLNN_ERR_PARAM_NULLPTR, func, "%s",
                              object ? "the place of the answer is NULL" : "the object is NULL");
}

// A copy of the numbers for the caller to free. malloc and not leo_alloc: it is not ours
// afterwards.
static aclnnStatus give_numbers(const char *func, const void *object, const int64_t *numbers,
                                unsigned count, int64_t **out, uint64_t *out_count)
{
    aclnnStatus status = check_question(func, object, out && out_count ? out : NULL);
    if (status) {
        return status;
    }
    int64_t *copy = malloc((count ? count : 1) * sizeof(*copy));
    if (!copy) {
        return leo_acl_fail(ACLNN_ERR_INNER, func, "out of host memory");
    }
    memcpy(copy, numbers, count * sizeof(*copy));
    *out = copy;
    *out_count = count;
    return ACLNN_SUCCESS;
}

aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims, uint64_t *viewDimsNum)
{
    const struct op_tensor view = view_of(tensor);
    return give_numbers("aclGetViewShape", tensor, view.dim, view.rank, viewDims, viewDimsNum);
}

aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims,
                               uint64_t *storageDimsNum)
{
    return give_numbers("aclGetStorageShape", tensor, tensor ? tensor->storage : NULL,
                        tensor ? tensor->storage_rank : 0, storageDims, storageDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue, uint64_t *stridesNum)
{
    const struct op_tensor view = view_of(tensor);
    return give_numbers("aclGetViewStrides", tensor, view.stride, view.rank, stridesValue,
                        stridesNum);
}

aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset)
{
    aclnnStatus status = check_question("aclGetViewOffset", tensor, offset);
    if (!status) {
        *offset = tensor->offset * (tensor->nibbles ? NIBBLES : 1);
    }
    return status;
}

aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format)
{
    aclnnStatus status = check_question("aclGetFormat", tensor, format);
    if (!status) {
        *format = (aclFormat)tensor->view.format;
    }
    return status;
}

aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType)
{
    aclnnStatus status = check_question("aclGetDataType", tensor, dataType);
    if (!status) {
        *dataType = tensor->data_type;
    }
    return status;
}

static aclnnStatus give_size(const char *func, const void *object, const uint64_t *count,
                             uint64_t *size)
{
    aclnnStatus status = check_question(func, object, size);
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

aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr)
{
    aclnnStatus status = check_question("aclSetRawTensorAddr", tensor, tensor);
    if (!status) {
        set_address(tensor, (uintptr_t)addr);
    }
    return status;
}

aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr)
{
    aclnnStatus status = check_question("aclGetRawTensorAddr", tensor, addr);
    if (!status) {
        *addr = (void *)(uintptr_t)tensor->data;
    }
    return status;
}
