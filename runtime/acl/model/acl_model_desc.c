/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of loaded models: sizes, shapes, types and names of inputs and outputs. */
#include "acl_model.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

aclmdlDesc *aclmdlCreateDesc(void)
{
    aclmdlDesc *desc = leo_calloc(1, sizeof(*desc));
    if (!desc) {
        (void)acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
    }
    return desc;
}

static void empty(aclmdlDesc *desc)
{
    leo_free(desc->inputs);
    leo_free(desc->outputs);
    leo_free(desc->gears);
    leo_free(desc->gear_ios);
    *desc = (aclmdlDesc){0};
}

aclError aclmdlDestroyDesc(aclmdlDesc *modelDesc)
{
    if (!modelDesc) {
        return acl_null(__func__, "modelDesc");
    }
    empty(modelDesc);
    leo_free(modelDesc);
    return ACL_SUCCESS;
}

static struct acl_model_io *copy_ios(const struct leo_acl_model_io *from, size_t count)
{
    struct acl_model_io *ios = leo_calloc(count ? count : 1, sizeof(*ios));
    for (size_t i = 0; ios && i < count; i++) {
        snprintf(ios[i].name, sizeof(ios[i].name), "%s", from[i].name);
        ios[i].type = from[i].type;
        ios[i].dim_count = from[i].dim_count;
        ios[i].bytes = from[i].bytes;
        memcpy(ios[i].dims, from[i].dims, sizeof(ios[i].dims));
    }
    return ios;
}

// Whether there was memory for it.
static bool copy_model(aclmdlDesc *desc, const struct leo_acl_model *model)
{
    const size_t numbers = model->gear_count * model->gear_width;
    const size_t ios = model->input_count + model->output_count;
    desc->input_count = model->input_count;
    desc->output_count = model->output_count;
    desc->inputs = copy_ios(model->inputs, model->input_count);
    desc->outputs = copy_ios(model->outputs, model->output_count);
    desc->gear_kind = model->gear_kind;
    desc->gear_count = model->gear_count;
    desc->gear_width = model->gear_width;
    desc->gears = leo_calloc(numbers + 1, sizeof(*desc->gears));
    desc->gear_ios =
        copy_ios(model->gear_ios, model->gear_count ? model->gear_count * (ios - 1) : 0);
    if (desc->gears && numbers) {
        memcpy(desc->gears, model->gears, numbers * sizeof(*desc->gears));
    }
    return desc->inputs && desc->outputs && desc->gears && desc->gear_ios;
}

aclError aclmdlGetDesc(aclmdlDesc *modelDesc, uint32_t modelId)
{
    aclError error;
    if (!modelDesc) {
        return acl_null(__func__, "modelDesc");
    }
    const struct acl_model_slot slot = acl_model_take(__func__, modelId, &error);
    if (error != ACL_SUCCESS) {
        return error;
    }
    empty(modelDesc);
    const bool good = copy_model(modelDesc, slot.model);
    modelDesc->id = modelId;
    acl_model_put(modelId);
    if (!good) {
        empty(modelDesc);
        return acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
    }
    return ACL_SUCCESS;
}

size_t aclmdlGetNumInputs(aclmdlDesc *modelDesc)
{
    return modelDesc ? modelDesc->input_count : 0;
}

size_t aclmdlGetNumOutputs(aclmdlDesc *modelDesc)
{
    return modelDesc ? modelDesc->output_count : 0;
}

// Tensor `index` of a description; NULL with an error text.
static const struct acl_model_io *find(const char *func, const aclmdlDesc *desc, bool input,
                                       size_t index)
{
    const size_t count = !desc ? 0 : input ? desc->input_count : desc->output_count;
    if (index < count) {
        return input ? &desc->inputs[index] : &desc->outputs[index];
    }
    (void)acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s has no %s %zu",
                   desc ? "the description" : "NULL", input ? "input" : "output", index);
    return NULL;
}

size_t aclmdlGetInputSizeByIndex(aclmdlDesc *modelDesc, size_t index)
{
    const struct acl_model_io *io = find(__func__, modelDesc, true, index);
    return io ? io->bytes : 0;
}

size_t aclmdlGetOutputSizeByIndex(aclmdlDesc *modelDesc, size_t index)
{
    const struct acl_model_io *io = find(__func__, modelDesc, false, index);
    return io ? io->bytes : 0;
}

void acl_model_tell_dims(const struct acl_model_io *io, aclmdlIODims *dims)
{
    memset(dims, 0, sizeof(*dims));
    snprintf(dims->name, sizeof(dims->name), "%s", io->name);
    dims->dimCount = io->dim_count;
    memcpy(dims->dims, io->dims, io->dim_count * sizeof(*io->dims));
}

static aclError get_dims(const char *func, const aclmdlDesc *desc, bool input, size_t index,
                         aclmdlIODims *dims)
{
    if (!dims) {
        return acl_null(func, "dims");
    }
    const struct acl_model_io *io = find(func, desc, input, index);
    if (!io) {
        return ACL_ERROR_INVALID_PARAM;
    }
    acl_model_tell_dims(io, dims);
    return ACL_SUCCESS;
}

aclError aclmdlGetInputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    const aclError error = get_dims(__func__, modelDesc, true, index, dims);
    // What gears tell is open.
    for (size_t i = 0; error == ACL_SUCCESS && i < modelDesc->gear_count; i++) {
        const struct acl_model_io *io = acl_model_gear_io(modelDesc, i, index);
        for (size_t d = 0; index + 1 < modelDesc->input_count && d < dims->dimCount; d++) {
            dims->dims[d] = io->dims[d] == dims->dims[d] ? dims->dims[d] : -1;
        }
    }
    return error;
}

aclError aclmdlGetOutputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    return get_dims(__func__, modelDesc, false, index, dims);
}

aclError aclmdlGetCurOutputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    const aclError error = get_dims(__func__, modelDesc, false, index, dims);
    if (error != ACL_SUCCESS || modelDesc->gear_count == 0) {
        return error;
    }
    const size_t gear = acl_model_gear(modelDesc->id);
    if (gear == 0 || gear > modelDesc->gear_count) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "no gear was set yet");
    }
    acl_model_tell_dims(acl_model_gear_io(modelDesc, gear - 1, modelDesc->input_count - 1 + index),
                        dims);
    return ACL_SUCCESS;
}

const char *aclmdlGetInputNameByIndex(const aclmdlDesc *modelDesc, size_t index)
{
    const struct acl_model_io *io = find(__func__, modelDesc, true, index);
    return io ? io->name : "";
}

const char *aclmdlGetOutputNameByIndex(const aclmdlDesc *modelDesc, size_t index)
{
    const struct acl_model_io *io = find(__func__, modelDesc, false, index);
    return io ? io->name : "";
}

static aclError get_index(const char *func, const aclmdlDesc *desc, bool input, const char *name,
                          size_t *index)
{
    if (!desc || !name || !index) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "an argument is NULL");
    }
    const struct acl_model_io *ios = input ? desc->inputs : desc->outputs;
    for (size_t i = 0; i < (input ? desc->input_count : desc->output_count); i++) {
        if (strcmp(ios[i].name, name) == 0) {
            *index = i;
            return ACL_SUCCESS;
        }
    }
    return acl_fail(ACL_ERROR_INVALID_PARAM, func, "the model has no %s '%s'",
                    input ? "input" : "output", name);
}

aclError aclmdlGetInputIndexByName(const aclmdlDesc *modelDesc, const char *name, size_t *index)
{
    return get_index(__func__, modelDesc, true, name, index);
}

aclError aclmdlGetOutputIndexByName(const aclmdlDesc *modelDesc, const char *name, size_t *index)
{
    return get_index(__func__, modelDesc, false, name, index);
}

aclDataType aclmdlGetInputDataType(const aclmdlDesc *modelDesc, size_t index)
{
    const struct acl_model_io *io = find(__func__, modelDesc, true, index);
    return io ? io->type : ACL_DT_UNDEFINED;
}

aclDataType aclmdlGetOutputDataType(const aclmdlDesc *modelDesc, size_t index)
{
    const struct acl_model_io *io = find(__func__, modelDesc, false, index);
    return io ? io->type : ACL_DT_UNDEFINED;
}

aclFormat aclmdlGetInputFormat(const aclmdlDesc *modelDesc, size_t index)
{
    const struct acl_model_io *io = find(__func__, modelDesc, true, index);
    return !io ? ACL_FORMAT_UNDEFINED : io->dim_count == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_ND;
}

aclFormat aclmdlGetOutputFormat(const aclmdlDesc *modelDesc, size_t index)
{
    const struct acl_model_io *io = find(__func__, modelDesc, false, index);
    return !io ? ACL_FORMAT_UNDEFINED : io->dim_count == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_ND;
}
