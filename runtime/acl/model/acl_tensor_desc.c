/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor descriptions of the operator calls by name: plain data, read by the operator library
 * (leo/acl_hook.h). */
#include "../acl_internal.h"

#include <leo/acl_hook.h>
#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

aclTensorDesc *aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t *dims,
                                   aclFormat format)
{
    const char *func = "aclCreateTensorDesc";
    if (numDims < 0 || numDims > LEO_ACL_MAX_DIMS || (numDims > 0 && !dims)) {
        acl_fail(ACL_ERROR_INVALID_PARAM, func, "%d dims, at %p: 0 to %d are possible", numDims,
                 (const void *)dims, LEO_ACL_MAX_DIMS);
        return NULL;
    }
    aclTensorDesc *desc = leo_calloc(1, sizeof(*desc));
    if (!desc) {
        acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
        return NULL;
    }
    desc->type = dataType;
    desc->format = format;
    desc->origin_format = desc->storage_format = ACL_FORMAT_UNDEFINED;
    desc->dim_count = (size_t)numDims;
    desc->storage_dim_count = LEO_ACL_NO_DIMS;
    desc->origin_dim_count = LEO_ACL_NO_DIMS;
    if (numDims) {
        memcpy(desc->dims, dims, (size_t)numDims * sizeof(*dims));
    }
    return desc;
}

void aclDestroyTensorDesc(const aclTensorDesc *desc)
{
    if (desc) {
        leo_free(desc->constant);
        leo_free((void *)(uintptr_t)desc);
    }
}

static aclError check(const char *func, const aclTensorDesc *desc)
{
    return desc ? ACL_SUCCESS : acl_fail(ACL_ERROR_INVALID_PARAM, func, "desc is NULL");
}

static aclError set_dims(const char *func, size_t *count, int64_t *out, int numDims,
                         const int64_t *dims)
{
    if (numDims < 0 || numDims > LEO_ACL_MAX_DIMS || (numDims > 0 && !dims)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "%d dims, at %p: 0 to %d are possible",
                        numDims, (const void *)dims, LEO_ACL_MAX_DIMS);
    }
    *count = (size_t)numDims;
    if (numDims) {
        memcpy(out, dims, (size_t)numDims * sizeof(*dims));
    }
    return ACL_SUCCESS;
}

aclError aclSetTensorFormat(aclTensorDesc *desc, aclFormat format)
{
    return aclSetTensorStorageFormat(desc, format);
}

aclError aclSetTensorShape(aclTensorDesc *desc, int numDims, const int64_t *dims)
{
    return aclSetTensorStorageShape(desc, numDims, dims);
}

aclError aclSetTensorStorageFormat(aclTensorDesc *desc, aclFormat format)
{
    aclError error = check("aclSetTensorFormat", desc);
    if (!error) {
        desc->storage_format = format;
    }
    return error;
}

aclError aclSetTensorStorageShape(aclTensorDesc *desc, int numDims, const int64_t *dims)
{
    const char *func = "aclSetTensorShape";
    aclError error = check(func, desc);
    return error ? error
                 : set_dims(func, &desc->storage_dim_count, desc->storage_dims, numDims, dims);
}

aclError aclSetTensorOriginFormat(aclTensorDesc *desc, aclFormat format)
{
    aclError error = check("aclSetTensorOriginFormat", desc);
    if (!error) {
        desc->origin_format = format;
    }
    return error;
}

aclError aclSetTensorOriginShape(aclTensorDesc *desc, int numDims, const int64_t *dims)
{
    const char *func = "aclSetTensorOriginShape";
    aclError error = check(func, desc);
    return error ? error
                 : set_dims(func, &desc->origin_dim_count, desc->origin_dims, numDims, dims);
}

aclDataType aclGetTensorDescType(const aclTensorDesc *desc)
{
    return desc ? desc->type : ACL_DT_UNDEFINED;
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc *desc)
{
    return desc ? desc->format : ACL_FORMAT_UNDEFINED;
}

static bool has_unknown_rank(const aclTensorDesc *desc)
{
    return desc->dim_count == 1 && desc->dims[0] == -2;
}

size_t aclGetTensorDescNumDims(const aclTensorDesc *desc)
{
    if (!desc) {
        return 0;
    }
    return has_unknown_rank(desc) ? (size_t)ACL_UNKNOWN_RANK : desc->dim_count;
}

size_t aclGetTensorDescElementCount(const aclTensorDesc *desc)
{
    size_t count = desc != NULL;
    for (size_t i = 0; desc && i < desc->dim_count; i++) {
        // A dimension that is not known yet makes the count unknown: 0.
        count *= desc->dims[i] > 0 ? (size_t)desc->dims[i] : 0;
    }
    return count;
}

size_t aclGetTensorDescSize(const aclTensorDesc *desc)
{
    return desc ? aclGetTensorDescElementCount(desc) * aclDataTypeSize(desc->type) : 0;
}

aclError aclGetTensorDescDimV2(const aclTensorDesc *desc, size_t index, int64_t *dimSize)
{
    const char *func = "aclGetTensorDescDimV2";
    aclError error = check(func, desc);
    if (error) {
        return error;
    }
    if (!dimSize || index >= desc->dim_count) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func,
                        "dimSize is NULL or index %zu is not below %zu", index, desc->dim_count);
    }
    *dimSize = desc->dims[index];
    return ACL_SUCCESS;
}

int64_t aclGetTensorDescDim(const aclTensorDesc *desc, size_t index)
{
    return desc && index < desc->dim_count ? desc->dims[index] : -1;
}

void aclSetTensorDescName(aclTensorDesc *desc, const char *name)
{
    if (desc) {
        snprintf(desc->name, sizeof(desc->name), "%s", name ? name : "");
    }
}

const char *aclGetTensorDescName(aclTensorDesc *desc)
{
    return desc ? desc->name : "";
}

aclError aclSetTensorPlaceMent(aclTensorDesc *desc, aclMemType memType)
{
    const char *func = "aclSetTensorPlaceMent";
    aclError error = check(func, desc);
    if (!error &&
        ((int)memType < ACL_MEMTYPE_DEVICE || memType > ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT)) {
        error = acl_fail(ACL_ERROR_INVALID_PARAM, func, "placement %d is unknown", (int)memType);
    }
    if (!error) {
        desc->placement = memType;
    }
    return error;
}

aclError aclSetTensorConst(aclTensorDesc *desc, void *dataBuffer, size_t length)
{
    const char *func = "aclSetTensorConst";
    aclError error = check(func, desc);
    if (error) {
        return error;
    }
    if (!dataBuffer || length == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "dataBuffer is NULL or length is 0");
    }
    void *copy = leo_alloc(length);
    if (!copy) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    memcpy(copy, dataBuffer, length);
    leo_free(desc->constant);
    desc->constant = copy;
    desc->constant_bytes = length;
    return ACL_SUCCESS;
}
