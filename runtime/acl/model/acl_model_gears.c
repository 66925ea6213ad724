/* SPDX-License-Identifier: Apache-2.0 */
/* Gears: which of the sizes that a model was compiled for a run has. */
#include "acl_model.h"

#include <acl/acl_rt.h>
#include <string.h>

const struct acl_model_io *acl_model_gear_io(const aclmdlDesc *desc, size_t gear, size_t index)
{
    return &desc->gear_ios[gear * (desc->input_count - 1 + desc->output_count) + index];
}

// The gear with these numbers, from 1 on; 0: there is none.
static size_t find_gear(const struct leo_acl_model *model, const int64_t *row)
{
    for (size_t i = 0; i < model->gear_count; i++) {
        if (memcmp(model->gears + i * model->gear_width, row, model->gear_width * sizeof(*row)) ==
            0) {
            return i + 1;
        }
    }
    return 0;
}

/* The gear whose inputs have these dimensions, one input's behind the other's; 0: there is none. */
static size_t find_dims(const struct leo_acl_model *model, const aclmdlIODims *dims)
{
    const size_t inputs = model->input_count - 1, ios = inputs + model->output_count;
    for (size_t gear = 0; gear < model->gear_count; gear++) {
        size_t at = 0;
        bool same = true;
        for (size_t i = 0; same && i < inputs; i++) {
            const struct leo_acl_model_io *io = &model->gear_ios[gear * ios + i];
            same = at + io->dim_count <= dims->dimCount && dims->dimCount <= ACL_MAX_DIM_CNT &&
                   memcmp(&dims->dims[at], io->dims, io->dim_count * sizeof(*io->dims)) == 0;
            at += io->dim_count;
        }
        if (same && at == dims->dimCount) {
            return gear + 1;
        }
    }
    return 0;
}

/* The set's buffer of the last input gets the gear's numbers. */
static aclError put_gear(const char *func, const struct leo_acl_model *model, size_t gear,
                         aclmdlDataset *dataset, size_t index)
{
    const size_t bytes = model->gear_width * sizeof(*model->gears);
    const aclDataBuffer *buffer = aclmdlGetDatasetBuffer(dataset, index);
    void *to = buffer ? aclGetDataBufferAddr(buffer) : NULL;
    if (index + 1 != model->input_count || !to || aclGetDataBufferSizeV2(buffer) < bytes) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func,
                        "input %zu must be the one that aclmdlGetInputIndexByName gives for "
                        "ACL_DYNAMIC_TENSOR_NAME, with a buffer of %zu bytes in the set",
                        index, bytes);
    }
    return aclrtMemcpy(to, bytes, model->gears + (gear - 1) * model->gear_width, bytes,
                       ACL_MEMCPY_HOST_TO_DEVICE);
}

/** What a program asks for: numbers of a kind, or (LEO_ACL_DIMS) whole shapes. */
struct asked {
    enum leo_acl_gears kind;
    int64_t row[2];
    const aclmdlIODims *dims;
};

static aclError set_gear(const char *func, uint32_t id, aclmdlDataset *dataset, size_t index,
                         const struct asked *asked)
{
    aclError error;
    if (!dataset) {
        return acl_null(func, "dataset");
    }
    const struct acl_model_slot slot = acl_model_take(func, id, &error);
    if (error != ACL_SUCCESS) {
        return error;
    }
    const bool is_kind = slot.model->gear_kind == asked->kind;
    const size_t gear = !is_kind      ? 0
                        : asked->dims ? find_dims(slot.model, asked->dims)
                                      : find_gear(slot.model, asked->row);
    if (gear) {
        error = put_gear(func, slot.model, gear, dataset, index);
    } else {
        error = acl_fail(ACL_ERROR_INVALID_PARAM, func, "model %u has no such gear%s", id,
                         is_kind ? "" : "s: they are of another kind, or there are none");
    }
    if (error == ACL_SUCCESS) {
        acl_dataset_set_gear(dataset, gear);
        acl_model_set_gear(id, gear);
    }
    acl_model_put(id);
    return error;
}

aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset *dataset, size_t index,
                                   uint64_t batchSize)
{
    const struct asked asked = {.kind = LEO_ACL_BATCHES, .row = {(int64_t)batchSize}};
    return set_gear(__func__, modelId, dataset, index, &asked);
}

aclError aclmdlSetDynamicHWSize(uint32_t modelId, aclmdlDataset *dataset, size_t index,
                                uint64_t height, uint64_t width)
{
    const struct asked asked = {.kind = LEO_ACL_IMAGES, .row = {(int64_t)height, (int64_t)width}};
    return set_gear(__func__, modelId, dataset, index, &asked);
}

aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset *dataset, size_t index,
                                   const aclmdlIODims *dims)
{
    const struct asked asked = {.kind = LEO_ACL_DIMS, .dims = dims};
    return dims ? set_gear(__func__, modelId, dataset, index, &asked) : acl_null(__func__, "dims");
}

aclError aclmdlGetDynamicBatch(const aclmdlDesc *modelDesc, aclmdlBatch *batch)
{
    if (!modelDesc || !batch) {
        return acl_null(__func__, modelDesc ? "batch" : "modelDesc");
    }
    *batch = (aclmdlBatch){0};
    for (size_t i = 0; modelDesc->gear_kind == LEO_ACL_BATCHES && i < modelDesc->gear_count; i++) {
        batch->batch[batch->batchCount++] = (uint64_t)modelDesc->gears[i];
    }
    return ACL_SUCCESS;
}

aclError aclmdlGetDynamicHW(const aclmdlDesc *modelDesc, size_t index, aclmdlHW *hw)
{
    (void)index; // reserved by the vendor
    if (!modelDesc || !hw) {
        return acl_null(__func__, modelDesc ? "hw" : "modelDesc");
    }
    *hw = (aclmdlHW){0};
    for (size_t i = 0; modelDesc->gear_kind == LEO_ACL_IMAGES && i < modelDesc->gear_count; i++) {
        hw->hw[hw->hwCount][0] = (uint64_t)modelDesc->gears[2 * i];
        hw->hw[hw->hwCount++][1] = (uint64_t)modelDesc->gears[2 * i + 1];
    }
    return ACL_SUCCESS;
}

aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc *modelDesc, size_t index,
                                        size_t *gearCount)
{
    (void)index; // reserved by the vendor
    if (!modelDesc || !gearCount) {
        return acl_null(__func__, modelDesc ? "gearCount" : "modelDesc");
    }
    *gearCount = modelDesc->gear_kind == LEO_ACL_DIMS ? modelDesc->gear_count : 0;
    return ACL_SUCCESS;
}

aclError aclmdlGetInputDynamicDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims,
                                   size_t gearCount)
{
    size_t count = 0;
    const aclError error = aclmdlGetInputDynamicGearCount(modelDesc, index, &count);
    if (error != ACL_SUCCESS || !dims || gearCount < count) {
        return error != ACL_SUCCESS
                   ? error
                   : acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "room for %zu of %zu gears",
                              dims ? gearCount : 0, count);
    }
    for (size_t gear = 0; gear < count; gear++) {
        aclmdlIODims *to = &dims[gear];
        memset(to, 0, sizeof(*to));
        for (size_t i = 0; i + 1 < modelDesc->input_count; i++) {
            const struct acl_model_io *io = acl_model_gear_io(modelDesc, gear, i);
            for (size_t d = 0; d < io->dim_count && to->dimCount < ACL_MAX_DIM_CNT; d++) {
                to->dims[to->dimCount++] = io->dims[d];
            }
        }
    }
    return ACL_SUCCESS;
}
