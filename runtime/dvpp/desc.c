/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of pictures, areas and settings: plain data. */
#include "desc_calls.h"

#include <leo/alloc.h>
#include <string.h>

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

MAKER(acldvppCreateBorderConfig, acldvppDestroyBorderConfig, acldvppBorderConfig)
SETTER(acldvppSetBorderConfigTop, acldvppBorderConfig, top, uint32_t)
SETTER(acldvppSetBorderConfigBottom, acldvppBorderConfig, bottom, uint32_t)
SETTER(acldvppSetBorderConfigLeft, acldvppBorderConfig, left, uint32_t)
SETTER(acldvppSetBorderConfigRight, acldvppBorderConfig, right, uint32_t)
GETTER(acldvppGetBorderConfigBorderType, acldvppBorderConfig, type, acldvppBorderType)
GETTER(acldvppGetBorderConfigTop, acldvppBorderConfig, top, uint32_t)
GETTER(acldvppGetBorderConfigBottom, acldvppBorderConfig, bottom, uint32_t)
GETTER(acldvppGetBorderConfigLeft, acldvppBorderConfig, left, uint32_t)
GETTER(acldvppGetBorderConfigRight, acldvppBorderConfig, right, uint32_t)

aclError acldvppSetBorderConfigBorderType(acldvppBorderConfig *borderConfig,
                                          acldvppBorderType borderType)
{
    if (!borderConfig || (uint32_t)borderType > BORDER_REFLECT_101) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                            "borderConfig is NULL, or borderType %d: 0 to 3 are possible",
                            (int)borderType);
    }
    borderConfig->type = borderType;
    return ACL_SUCCESS;
}

aclError acldvppSetBorderConfigValue(acldvppBorderConfig *borderConfig, uint32_t index,
                                     double value)
{
    if (!borderConfig || index > 3 || !(value >= 0 && value <= 255)) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                            "borderConfig is NULL, or value %u is %g: 0 to 3 and 0 to 255", index,
                            value);
    }
    borderConfig->values[index] = value;
    return ACL_SUCCESS;
}

double acldvppGetBorderConfigValue(const acldvppBorderConfig *borderConfig, uint32_t index)
{
    return borderConfig && index <= 3 ? borderConfig->values[index] : 0;
}

/* ---- counts and tables ---- */

MAKER(acldvppCreateHist, acldvppDestroyHist, acldvppHist)

uint32_t acldvppGetHistDims(acldvppHist *hist)
{
    return hist ? hist->dims : 0;
}

uint32_t acldvppGetHistRetCode(acldvppHist *hist)
{
    return hist ? hist->code : DVPP_FAILED;
}

aclError acldvppClearHist(acldvppHist *hist)
{
    if (!hist) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "hist is NULL");
    }
    memset(hist, 0, sizeof(*hist));
    return ACL_SUCCESS;
}

aclError acldvppGetHistData(acldvppHist *hist, uint32_t dim, uint32_t **data, uint16_t *len)
{
    if (!hist || !data || !len || dim >= hist->dims) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                            "an argument is NULL, or dim %u of %u: counted pictures have some", dim,
                            hist ? hist->dims : 0);
    }
    *data = hist->counts[dim];
    *len = DVPP_VALUES;
    return ACL_SUCCESS;
}

MAKER(acldvppCreateLutMap, acldvppDestroyLutMap, acldvppLutMap)

uint32_t acldvppGetLutMapDims(const acldvppLutMap *lutMap)
{
    return lutMap ? DVPP_TABLES : 0;
}

aclError acldvppGetLutMapData(const acldvppLutMap *lutMap, uint32_t dim, uint8_t **data,
                              uint32_t *len)
{
    if (!lutMap || !data || !len || dim >= DVPP_TABLES) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                            "an argument is NULL, or dim %u: 0 to %d are possible", dim,
                            DVPP_TABLES - 1);
    }
    // The interface fills a table that it calls const.
    *data = (uint8_t *)(uintptr_t)lutMap->tables[dim];
    *len = DVPP_VALUES;
    return ACL_SUCCESS;
}
