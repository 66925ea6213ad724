/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of pictures that a program gives to runs of a model (dynamic AIPP). */
#include "acl_model.h"

#include <leo/alloc.h>
#include <stddef.h>
#include <string.h>

enum { MAX_PICTURES = 4096 }; // a bound for what is allocated, above every batch

struct aclmdlAIPP {
    uint64_t count;
    struct leo_aipp pictures[];
};

aclmdlAIPP *aclmdlCreateAIPP(uint64_t batchSize)
{
    if (batchSize == 0 || batchSize > MAX_PICTURES) {
        (void)acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "a batch is of 1 to %d pictures",
                       MAX_PICTURES);
        return NULL;
    }
    aclmdlAIPP *aipp = leo_calloc(1, sizeof(*aipp) + batchSize * sizeof(aipp->pictures[0]));
    if (!aipp) {
        (void)acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
        return NULL;
    }
    aipp->count = batchSize;
    for (uint64_t i = 0; i < batchSize; i++) {
        for (uint32_t k = 0; k < 4; k++) {
            aipp->pictures[i].at[LEO_AIPP_VAR_RECI + k] = 1;
        }
    }
    return aipp;
}

aclError aclmdlDestroyAIPP(const aclmdlAIPP *aippParmsSet)
{
    leo_free((void *)(uintptr_t)aippParmsSet);
    return aippParmsSet ? ACL_SUCCESS : acl_null(__func__, "aippParmsSet");
}

aclError aclmdlGetAippDataSize(uint64_t batchSize, size_t *size)
{
    if (!size || batchSize == 0 || batchSize > MAX_PICTURES) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "size is NULL or the batch %llu",
                        (unsigned long long)batchSize);
    }
    *size = batchSize * LEO_AIPP_PICTURE_BYTES;
    return ACL_SUCCESS;
}

/** Numbers that go to places from `key` on. */
struct numbers {
    uint32_t key, count;
    const double *list;
};
#define NUMBERS(first, ...)                                                                        \
    (&(const struct numbers){.key = (first),                                                       \
                             .count = sizeof((const double[]){__VA_ARGS__}) / sizeof(double),      \
                             .list = (const double[]){__VA_ARGS__}})

// Of one picture, or of all (batch: count of them).
static aclError set_pictures(const char *func, aclmdlAIPP *aipp, uint64_t first, uint64_t last,
                             const struct numbers *numbers)
{
    if (!aipp) {
        return acl_null(func, "aippParmsSet");
    }
    if (first >= aipp->count) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "batchIndex %llu, and there are %llu",
                        (unsigned long long)first, (unsigned long long)aipp->count);
    }
    for (uint64_t i = first; i <= last && i < aipp->count; i++) {
        for (uint32_t k = 0; k < numbers->count; k++) {
            aipp->pictures[i].at[numbers->key + k] = numbers->list[k];
        }
    }
    return ACL_SUCCESS;
}

static aclError set_all(const char *func, aclmdlAIPP *aipp, const struct numbers *numbers)
{
    return set_pictures(func, aipp, 0, MAX_PICTURES, numbers);
}

static aclError set_one(const char *func, aclmdlAIPP *aipp, uint64_t index,
                        const struct numbers *numbers)
{
    return set_pictures(func, aipp, index, index, numbers);
}

aclError aclmdlSetAIPPInputFormat(aclmdlAIPP *aippParmsSet, aclAippInputFormat inputFormat)
{
    if (inputFormat < ACL_YUV420SP_U8 || inputFormat > ACL_YUV400_U8) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                        "format %d: only YUV420SP, XRGB8888, RGB888 and YUV400 are served",
                        (int)inputFormat);
    }
    return set_all(__func__, aippParmsSet, NUMBERS(LEO_AIPP_FORMAT, inputFormat));
}

aclError aclmdlSetAIPPSrcImageSize(aclmdlAIPP *aippParmsSet, int32_t srcImageSizeW,
                                   int32_t srcImageSizeH)
{
    if (srcImageSizeW < 2 || srcImageSizeW > 4096 || srcImageSizeH < 1 || srcImageSizeH > 4096) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%d x %d: from 2 x 1 to 4096 x 4096",
                        srcImageSizeW, srcImageSizeH);
    }
    return set_all(__func__, aippParmsSet,
                   NUMBERS(LEO_AIPP_SOURCE_W, srcImageSizeW, srcImageSizeH));
}

aclError aclmdlSetAIPPRbuvSwapSwitch(aclmdlAIPP *aippParmsSet, int8_t rbuvSwapSwitch)
{
    return set_all(__func__, aippParmsSet, NUMBERS(LEO_AIPP_SWAP_RB, rbuvSwapSwitch != 0));
}

aclError aclmdlSetAIPPAxSwapSwitch(aclmdlAIPP *aippParmsSet, int8_t axSwapSwitch)
{
    return set_all(__func__, aippParmsSet, NUMBERS(LEO_AIPP_SWAP_AX, axSwapSwitch != 0));
}

aclError aclmdlSetAIPPCscParams(aclmdlAIPP *aippParmsSet, int8_t cscSwitch, int16_t cscMatrixR0C0,
                                int16_t cscMatrixR0C1, int16_t cscMatrixR0C2, int16_t cscMatrixR1C0,
                                int16_t cscMatrixR1C1, int16_t cscMatrixR1C2, int16_t cscMatrixR2C0,
                                int16_t cscMatrixR2C1, int16_t cscMatrixR2C2,
                                uint8_t cscOutputBiasR0, uint8_t cscOutputBiasR1,
                                uint8_t cscOutputBiasR2, uint8_t cscInputBiasR0,
                                uint8_t cscInputBiasR1, uint8_t cscInputBiasR2)
{
    const aclError error = set_all(__func__, aippParmsSet, NUMBERS(LEO_AIPP_CSC, cscSwitch != 0));
    return error != ACL_SUCCESS
               ? error
               : set_all(__func__, aippParmsSet,
                         NUMBERS(LEO_AIPP_MATRIX, cscMatrixR0C0, cscMatrixR0C1, cscMatrixR0C2,
                                 cscMatrixR1C0, cscMatrixR1C1, cscMatrixR1C2, cscMatrixR2C0,
                                 cscMatrixR2C1, cscMatrixR2C2, cscOutputBiasR0, cscOutputBiasR1,
                                 cscOutputBiasR2, cscInputBiasR0, cscInputBiasR1, cscInputBiasR2));
}

aclError aclmdlSetAIPPScfParams(aclmdlAIPP *aippParmsSet, int8_t scfSwitch, int32_t scfInputSizeW,
                                int32_t scfInputSizeH, int32_t scfOutputSizeW,
                                int32_t scfOutputSizeH, uint64_t batchIndex)
{
    (void)scfInputSizeW;
    (void)scfInputSizeH;
    (void)scfOutputSizeW;
    (void)scfOutputSizeH;
    return scfSwitch ? acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                                "pictures are not resized here")
                     : set_one(__func__, aippParmsSet, batchIndex, NUMBERS(LEO_AIPP_UNSERVED, 0));
}

aclError aclmdlSetAIPPCropParams(aclmdlAIPP *aippParmsSet, int8_t cropSwitch, int32_t cropStartPosW,
                                 int32_t cropStartPosH, int32_t cropSizeW, int32_t cropSizeH,
                                 uint64_t batchIndex)
{
    if (cropStartPosW < 0 || cropStartPosH < 0 || cropSizeW < 0 || cropSizeH < 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "a negative position or size");
    }
    return set_one(__func__, aippParmsSet, batchIndex,
                   NUMBERS(LEO_AIPP_CROP, cropSwitch != 0, cropStartPosW, cropStartPosH, cropSizeW,
                           cropSizeH));
}

aclError aclmdlSetAIPPPaddingParams(aclmdlAIPP *aippParmsSet, int8_t paddingSwitch,
                                    int32_t paddingSizeTop, int32_t paddingSizeBottom,
                                    int32_t paddingSizeLeft, int32_t paddingSizeRight,
                                    uint64_t batchIndex)
{
    const int32_t sizes[] = {paddingSizeTop, paddingSizeBottom, paddingSizeLeft, paddingSizeRight};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i] < 0 || sizes[i] > 32) {
            return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "a border of %d: from 0 to 32",
                            sizes[i]);
        }
    }
    return set_one(__func__, aippParmsSet, batchIndex,
                   NUMBERS(LEO_AIPP_PADDING, paddingSwitch != 0, paddingSizeLeft, paddingSizeRight,
                           paddingSizeTop, paddingSizeBottom));
}

aclError aclmdlSetAIPPDtcPixelMean(aclmdlAIPP *aippParmsSet, int16_t dtcPixelMeanChn0,
                                   int16_t dtcPixelMeanChn1, int16_t dtcPixelMeanChn2,
                                   int16_t dtcPixelMeanChn3, uint64_t batchIndex)
{
    return set_one(__func__, aippParmsSet, batchIndex,
                   NUMBERS(LEO_AIPP_MEAN, dtcPixelMeanChn0, dtcPixelMeanChn1, dtcPixelMeanChn2,
                           dtcPixelMeanChn3));
}

aclError aclmdlSetAIPPDtcPixelMin(aclmdlAIPP *aippParmsSet, float dtcPixelMinChn0,
                                  float dtcPixelMinChn1, float dtcPixelMinChn2,
                                  float dtcPixelMinChn3, uint64_t batchIndex)
{
    return set_one(
        __func__, aippParmsSet, batchIndex,
        NUMBERS(LEO_AIPP_MIN, dtcPixelMinChn0, dtcPixelMinChn1, dtcPixelMinChn2, dtcPixelMinChn3));
}

aclError aclmdlSetAIPPPixelVarReci(aclmdlAIPP *aippParmsSet, float dtcPixelVarReciChn0,
                                   float dtcPixelVarReciChn1, float dtcPixelVarReciChn2,
                                   float dtcPixelVarReciChn3, uint64_t batchIndex)
{
    return set_one(__func__, aippParmsSet, batchIndex,
                   NUMBERS(LEO_AIPP_VAR_RECI, dtcPixelVarReciChn0, dtcPixelVarReciChn1,
                           dtcPixelVarReciChn2, dtcPixelVarReciChn3));
}

// `wanted`: the input that the program must name, from 0 on; the settings are the set's then.
static aclError set_input(const char *func, uint32_t id, aclmdlDataset *dataset, size_t index,
                          bool by_picture, const aclmdlAIPP *aipp)
{
    aclError error;
    if (!dataset || !aipp) {
        return acl_null(func, dataset ? "aippParmsSet" : "dataset");
    }
    const struct acl_model_slot slot = acl_model_take(func, id, &error);
    if (error != ACL_SUCCESS) {
        return error;
    }
    const size_t picture = slot.model->aipp_input,
                 wanted = by_picture ? picture - 1 : slot.model->input_count - 1;
    if (!picture || index != wanted) {
        error = picture
                    ? acl_fail(ACL_ERROR_INVALID_PARAM, func, "input %zu; it is input %zu", index,
                               wanted)
                    : acl_fail(ACL_ERROR_INVALID_PARAM, func, "model %u has no dynamic AIPP", id);
    } else if (!acl_dataset_set_aipp(dataset, aipp->pictures, aipp->count)) {
        error = acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    acl_model_put(id);
    return error;
}

aclError aclmdlSetInputAIPP(uint32_t modelId, aclmdlDataset *dataset, size_t index,
                            const aclmdlAIPP *aippParmsSet)
{
    return set_input(__func__, modelId, dataset, index, false, aippParmsSet);
}

aclError aclmdlSetAIPPByInputIndex(uint32_t modelId, aclmdlDataset *dataset, size_t index,
                                   const aclmdlAIPP *aippParmsSet)
{
    return set_input(__func__, modelId, dataset, index, true, aippParmsSet);
}

static const struct leo_acl_model_aipp *find_static(const struct leo_acl_model *model, size_t index)
{
    for (size_t i = 0; i < model->aipp_count; i++) {
        if (model->aipps[i].input == index) {
            return &model->aipps[i];
        }
    }
    return NULL;
}

aclError aclmdlGetAippType(uint32_t modelId, size_t index, aclmdlInputAippType *type,
                           size_t *dynamicAttachedDataIndex)
{
    aclError error;
    if (!type || !dynamicAttachedDataIndex) {
        return acl_null(__func__, type ? "dynamicAttachedDataIndex" : "type");
    }
    const struct acl_model_slot slot = acl_model_take(__func__, modelId, &error);
    if (error != ACL_SUCCESS) {
        return error;
    }
    const struct leo_acl_model *model = slot.model;
    const size_t last = model->input_count - 1;
    const bool is_dynamic = model->aipp_input && index == model->aipp_input - 1;
    *dynamicAttachedDataIndex = is_dynamic ? last : ACL_INVALID_NODE_INDEX;
    *type = is_dynamic                           ? ACL_DATA_WITH_DYNAMIC_AIPP
            : model->aipp_input && index == last ? ACL_DYNAMIC_AIPP_NODE
            : find_static(model, index)          ? ACL_DATA_WITH_STATIC_AIPP
                                                 : ACL_DATA_WITHOUT_AIPP;
    if (index >= model->input_count) {
        error = acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "the model has no input %zu", index);
    }
    acl_model_put(modelId);
    return error;
}

static void tell_settings(const double *at, aclAippInfo *info)
{
    int32_t *const integers[] = {&info->srcImageSizeW,   &info->srcImageSizeH,
                                 &info->loadStartPosW,   &info->loadStartPosH,
                                 &info->cropSizeW,       &info->cropSizeH,
                                 &info->leftPaddingSize, &info->rightPaddingSize,
                                 &info->topPaddingSize,  &info->bottomPaddingSize};
    static const uint32_t keys[] = {
        LEO_AIPP_SOURCE_W, LEO_AIPP_SOURCE_H, LEO_AIPP_CROP_X, LEO_AIPP_CROP_Y, LEO_AIPP_CROP_W,
        LEO_AIPP_CROP_H,   LEO_AIPP_LEFT,     LEO_AIPP_RIGHT,  LEO_AIPP_TOP,    LEO_AIPP_BOTTOM};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        *integers[i] = (int32_t)at[keys[i]];
    }
    // Lists follow each other in both.
    for (uint32_t k = 0; k < LEO_AIPP_MIN - LEO_AIPP_MATRIX; k++) {
        (&info->matrixR0C0)[k] = (int32_t)at[LEO_AIPP_MATRIX + k];
    }
    for (uint32_t k = 0; k < LEO_AIPP_MAX_BYTES - LEO_AIPP_MIN; k++) {
        (&info->minChn0)[k] = (float)at[LEO_AIPP_MIN + k];
    }
    info->inputFormat = (aclAippInputFormat)at[LEO_AIPP_FORMAT];
    info->cropSwitch = at[LEO_AIPP_CROP] != 0;
    info->paddingSwitch = at[LEO_AIPP_PADDING] != 0;
    info->cscSwitch = at[LEO_AIPP_CSC] != 0;
    info->rbuvSwapSwitch = at[LEO_AIPP_SWAP_RB] != 0;
    info->axSwapSwitch = at[LEO_AIPP_SWAP_AX] != 0;
}

_Static_assert(offsetof(aclAippInfo, minChn0) - offsetof(aclAippInfo, matrixR0C0) ==
                   sizeof(int32_t) * (LEO_AIPP_MIN - LEO_AIPP_MATRIX),
               "the integers of both follow each other");

static void tell_shape(const struct leo_acl_model_io *io, const struct leo_acl_model_aipp *aipp,
                       aclAippDims *dims)
{
    dims->srcDims.dimCount = io->dim_count;
    memcpy(dims->srcDims.dims, io->dims, io->dim_count * sizeof(*io->dims));
    dims->srcSize = io->bytes;
    dims->aippOutdims.dimCount = 4;
    dims->aippOutSize = 2; // halves
    for (uint32_t d = 0; d < 4; d++) {
        dims->aippOutdims.dims[d] = aipp->dim[d];
        dims->aippOutSize *= (size_t)aipp->dim[d];
    }
}

aclError aclmdlGetFirstAippInfo(uint32_t modelId, size_t index, aclAippInfo *aippInfo)
{
    aclError error;
    if (!aippInfo) {
        return acl_null(__func__, "aippInfo");
    }
    const struct acl_model_slot slot = acl_model_take(__func__, modelId, &error);
    if (error != ACL_SUCCESS) {
        return error;
    }
    const struct leo_acl_model_aipp *aipp = find_static(slot.model, index);
    *aippInfo = (aclAippInfo){
        .srcFormat = ACL_FORMAT_NCHW, .srcDatatype = ACL_FLOAT, .srcDimNum = 4, .shapeCount = 1};
    if (aipp) {
        tell_settings(aipp->settings->at, aippInfo);
        tell_shape(&slot.model->inputs[index], aipp, aippInfo->outDims);
    } else {
        error =
            acl_fail(ACL_ERROR_NOT_STATIC_AIPP, __func__,
                     "input %zu of model %u has no settings that were compiled in", index, modelId);
    }
    acl_model_put(modelId);
    return error;
}
