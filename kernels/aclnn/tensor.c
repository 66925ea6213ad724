/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors: creation, destruction, questions. */
#include "../frame/layout.h"
#include "objects.h"

#include <inttypes.h>
#include <leo/acl_hook.h>
#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool check_dims(const char *func, const int64_t *dims, uint64_t count, const char *what)
{
    char text[128];
    if (count > OP_RANK_MAX) {
        snprintf(text, sizeof(text), "%llu %s dimensions: at most %d are possible",
                 (unsigned long long)count, what, OP_RANK_MAX);
        opapi_refuse(func, text);
        return false;
    }
    if (count > 0 && !dims) {
        snprintf(text, sizeof(text), "%s dimensions are NULL", what);
        opapi_refuse(func, text);
        return false;
    }
    return true;
}

uint64_t opapi_address(const aclTensor *tensor, uint64_t data)
{
    const bool known = (unsigned)tensor->view.type < OP_TYPES;
    const uint64_t bytes = known ? op_type_bytes(tensor->view.type) : 1;
    // What is outside of a storage wraps; the view is checked where a call is planned.
    const uint64_t offset = tensor->data_type == ACL_INT4 ? (uint64_t)(tensor->offset / 2)
                                                          : (uint64_t)tensor->offset * bytes;
    return data ? data + offset : 0;
}

static void set_address(aclTensor *tensor, uint64_t data)
{
    tensor->data = data;
    tensor->view.addr = tensor->words.addr = opapi_address(tensor, data);
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
    opapi_refuse(func, text);
    return false;
}

/* Views may have the blocks of a native matrix as dimensions, [.., n / c0, k / 16, 16, c0]: then
 * they mean the matrix [.., k, n]. */
static void view_of_blocks(aclTensor *tensor)
{
    enum { BLOCK = 4, ROWS = 16 };
    struct op_tensor *view = &tensor->view;
    const unsigned first = view->rank - BLOCK;
    if (view->format != OP_FORMAT_FRACTAL_NZ || view->rank < BLOCK ||
        view->rank != tensor->storage_rank || (unsigned)view->type >= OP_TYPES ||
        memcmp(view->dim, tensor->storage, view->rank * sizeof(*view->dim)) != 0 ||
        view->dim[first + 2] != ROWS || view->dim[first + 3] != op_layout_c0_of(view)) {
        return;
    }
    int64_t dim[OP_RANK_MAX];
    memcpy(dim, view->dim, sizeof(dim));
    dim[first] = view->dim[first + 1] * ROWS;
    dim[first + 1] = view->dim[first] * view->dim[first + 3];
    const struct op_tensor matrix = op_tensor_dense(0, view->type, view->rank - 2, dim);
    *view = matrix;
    view->format = OP_FORMAT_FRACTAL_NZ;
}

enum { NIBBLES = 8 }; // numbers of 4 bits in a word

/* The view of numbers of 4 bits as one of i32 words; of rank 0 where its runs are not whole words,
 * and in native formats, whose storage has another order. */
static struct op_tensor word_view(const aclTensor *tensor)
{
    const struct op_tensor none = {.rank = 0};
    struct op_tensor words = tensor->view;
    bool along = false;
    for (unsigned i = 0; i < words.rank; i++) {
        if (words.stride[i] == 1 && words.dim[i] % NIBBLES == 0 && !along) {
            along = true;
            words.dim[i] /= NIBBLES;
        } else if (words.stride[i] % NIBBLES == 0) {
            words.stride[i] /= NIBBLES;
        } else if (words.dim[i] != 1) {
            return none;
        }
    }
    words.type = OP_TYPE_I32;
    return along && tensor->offset % NIBBLES == 0 && !op_format_is_native(words.format) ? words
                                                                                        : none;
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
    view_of_blocks(tensor);
    if (type == ACL_INT4) {
        tensor->words = word_view(tensor);
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
        opapi_refuse("aclCreateTensor", "out of host memory");
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

// Elements of a storage; INT64_MAX: more than can be counted, or none are given. One number for a
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

leo_status opapi_check_view(const char *op, const char *name, const struct op_tensor *view)
{
    const aclTensor *tensor = (const aclTensor *)(const void *)view;
    const bool rows = !op_format_is_native(view->format) && tensor->data_type != ACL_INT4;
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

aclnnStatus aclDestroyTensor(const aclTensor *tensor)
{
    return opapi_release(tensor);
}

// A copy of the numbers for the caller to free. malloc and not leo_alloc: it is not ours
// afterwards.
static aclnnStatus give_numbers(const char *func, const void *object, const int64_t *numbers,
                                unsigned count, int64_t **out, uint64_t *out_count)
{
    aclnnStatus status = opapi_check_question(func, object, out && out_count ? out : NULL);
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
    return give_numbers("aclGetViewShape", tensor, tensor ? tensor->view.dim : NULL,
                        tensor ? tensor->view.rank : 0, viewDims, viewDimsNum);
}

aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims,
                               uint64_t *storageDimsNum)
{
    return give_numbers("aclGetStorageShape", tensor, tensor ? tensor->storage : NULL,
                        tensor ? tensor->storage_rank : 0, storageDims, storageDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue, uint64_t *stridesNum)
{
    return give_numbers("aclGetViewStrides", tensor, tensor ? tensor->view.stride : NULL,
                        tensor ? tensor->view.rank : 0, stridesValue, stridesNum);
}

aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset)
{
    aclnnStatus status = opapi_check_question("aclGetViewOffset", tensor, offset);
    if (!status) {
        *offset = tensor->offset;
    }
    return status;
}

aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format)
{
    aclnnStatus status = opapi_check_question("aclGetFormat", tensor, format);
    if (!status) {
        *format = (aclFormat)tensor->view.format;
    }
    return status;
}

aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType)
{
    aclnnStatus status = opapi_check_question("aclGetDataType", tensor, dataType);
    if (!status) {
        *dataType = tensor->data_type;
    }
    return status;
}

aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr)
{
    aclnnStatus status = opapi_check_question("aclSetRawTensorAddr", tensor, tensor);
    if (!status) {
        set_address(tensor, (uintptr_t)addr);
    }
    return status;
}

aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr)
{
    aclnnStatus status = opapi_check_question("aclGetRawTensorAddr", tensor, addr);
    if (!status) {
        *addr = (void *)(uintptr_t)tensor->data;
    }
    return status;
}
