/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of pictures, areas and settings: plain data. */
#include "dvpp_internal.h"

#include <leo/alloc.h>

#define SETTER(name, type, field, value_type)                                                      \
    aclError name(type *desc, value_type value)                                                    \
    {                                                                                              \
        if (!desc) {                                                                               \
            return leo_acl_fail(ACL_ERROR_INVALID_PARAM, #name, "the description is NULL");        \
        }                                                                                          \
        desc->field = value;                                                                       \
        return ACL_SUCCESS;                                                                        \
    }
#define GETTER(name, type, field, value_type)                                                      \
    value_type name(const type *desc)                                                              \
    {                                                                                              \
        return desc ? (value_type)desc->field : (value_type)0;                                     \
    }
#define MAKER(make, destroy, type)                                                                 \
    type *make(void)                                                                               \
    {                                                                                              \
        type *desc = leo_calloc(1, sizeof(*desc));                                                 \
        if (!desc) {                                                                               \
            leo_acl_fail(ACL_ERROR_BAD_ALLOC, #make, "out of host memory");                        \
        }                                                                                          \
        return desc;                                                                               \
    }                                                                                              \
    aclError destroy(type *desc)                                                                   \
    {                                                                                              \
        if (!desc) {                                                                               \
            return leo_acl_fail(ACL_ERROR_INVALID_PARAM, #destroy, "the description is NULL");     \
        }                                                                                          \
        leo_free(desc);                                                                            \
        return ACL_SUCCESS;                                                                        \
    }

MAKER(acldvppCreatePicDesc, acldvppDestroyPicDesc, acldvppPicDesc)
SETTER(acldvppSetPicDescData, acldvppPicDesc, data, void *)
SETTER(acldvppSetPicDescSize, acldvppPicDesc, size, uint32_t)
SETTER(acldvppSetPicDescFormat, acldvppPicDesc, format, acldvppPixelFormat)
SETTER(acldvppSetPicDescWidth, acldvppPicDesc, width, uint32_t)
SETTER(acldvppSetPicDescHeight, acldvppPicDesc, height, uint32_t)
SETTER(acldvppSetPicDescWidthStride, acldvppPicDesc, row_bytes, uint32_t)
SETTER(acldvppSetPicDescHeightStride, acldvppPicDesc, rows, uint32_t)
SETTER(acldvppSetPicDescRetCode, acldvppPicDesc, code, uint32_t)
GETTER(acldvppGetPicDescData, acldvppPicDesc, data, void *)
GETTER(acldvppGetPicDescSize, acldvppPicDesc, size, uint32_t)
GETTER(acldvppGetPicDescFormat, acldvppPicDesc, format, acldvppPixelFormat)
GETTER(acldvppGetPicDescWidth, acldvppPicDesc, width, uint32_t)
GETTER(acldvppGetPicDescHeight, acldvppPicDesc, height, uint32_t)
GETTER(acldvppGetPicDescWidthStride, acldvppPicDesc, row_bytes, uint32_t)
GETTER(acldvppGetPicDescHeightStride, acldvppPicDesc, rows, uint32_t)
GETTER(acldvppGetPicDescRetCode, acldvppPicDesc, code, uint32_t)

acldvppBatchPicDesc *acldvppCreateBatchPicDesc(uint32_t batchSize)
{
    acldvppBatchPicDesc *batch = NULL;
    if (batchSize) {
        batch = leo_calloc(1, sizeof(*batch) + batchSize * sizeof(batch->pics[0]));
    }
    if (!batch) {
        leo_acl_fail(batchSize ? ACL_ERROR_BAD_ALLOC : ACL_ERROR_INVALID_PARAM, __func__,
                     "no batch of %u pictures", batchSize);
        return NULL;
    }
    batch->count = batchSize;
    return batch;
}

acldvppPicDesc *acldvppGetPicDesc(acldvppBatchPicDesc *batchPicDesc, uint32_t index)
{
    return batchPicDesc && index < batchPicDesc->count ? &batchPicDesc->pics[index] : NULL;
}

aclError acldvppDestroyBatchPicDesc(acldvppBatchPicDesc *batchPicDesc)
{
    if (!batchPicDesc) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "the batch is NULL");
    }
    leo_free(batchPicDesc);
    return ACL_SUCCESS;
}

aclError acldvppSetRoiConfig(acldvppRoiConfig *config, uint32_t left, uint32_t right, uint32_t top,
                             uint32_t bottom)
{
    if (!config) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "the area is NULL");
    }
    *config = (acldvppRoiConfig){left, right, top, bottom};
    return ACL_SUCCESS;
}

acldvppRoiConfig *acldvppCreateRoiConfig(uint32_t left, uint32_t right, uint32_t top,
                                         uint32_t bottom)
{
    acldvppRoiConfig *config = leo_calloc(1, sizeof(*config));
    if (!config) {
        leo_acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
        return NULL;
    }
    *config = (acldvppRoiConfig){left, right, top, bottom};
    return config;
}

aclError acldvppDestroyRoiConfig(acldvppRoiConfig *roiConfig)
{
    if (!roiConfig) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "the area is NULL");
    }
    leo_free(roiConfig);
    return ACL_SUCCESS;
}

SETTER(acldvppSetRoiConfigLeft, acldvppRoiConfig, left, uint32_t)
SETTER(acldvppSetRoiConfigRight, acldvppRoiConfig, right, uint32_t)
SETTER(acldvppSetRoiConfigTop, acldvppRoiConfig, top, uint32_t)
SETTER(acldvppSetRoiConfigBottom, acldvppRoiConfig, bottom, uint32_t)

MAKER(acldvppCreateResizeConfig, acldvppDestroyResizeConfig, acldvppResizeConfig)
GETTER(acldvppGetResizeConfigInterpolation, acldvppResizeConfig, interpolation, uint32_t)

aclError acldvppSetResizeConfigInterpolation(acldvppResizeConfig *resizeConfig,
                                             uint32_t interpolation)
{
    if (!resizeConfig || interpolation > 2) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                            "resizeConfig is NULL, or interpolation %u: 0 and 1 are bilinear, 2 is "
                            "nearest",
                            interpolation);
    }
    resizeConfig->interpolation = interpolation;
    return ACL_SUCCESS;
}

MAKER(acldvppCreateJpegeConfig, acldvppDestroyJpegeConfig, acldvppJpegeConfig)
GETTER(acldvppGetJpegeConfigLevel, acldvppJpegeConfig, level, uint32_t)

aclError acldvppSetJpegeConfigLevel(acldvppJpegeConfig *jpegeConfig, uint32_t level)
{
    if (!jpegeConfig || level > 100) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                            "jpegeConfig is NULL, or level %u: 0 to 100 are possible", level);
    }
    jpegeConfig->level = level;
    return ACL_SUCCESS;
}
