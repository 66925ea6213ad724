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
        ios[i].format = from[i].format;
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

static aclError take_desc(const char *func, const struct leo_acl_model *model, void *user)
{
    aclmdlDesc *desc = user;
    empty(desc);
    if (!copy_model(desc, model)) {
        empty(desc);
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    return ACL_SUCCESS;
}

aclError aclmdlGetDesc(aclmdlDesc *modelDesc, uint32_t modelId)
{
    aclError error;
    if (!modelDesc) {
        return acl_null(__func__, "modelDesc");
    }
    const struct acl_model_slot slot = acl_model_take(__func__, modelId, &error);
    if (error == ACL_SUCCESS) {
        error = take_desc(__func__, slot.model, modelDesc);
        modelDesc->id = modelId;
        acl_model_put(modelId);
    }
    return error;
}

aclError aclmdlGetDescFromFile(aclmdlDesc *modelDesc, const char *modelPath)
{
    const struct acl_model_source source = {.path = modelPath};
    return modelDesc && modelPath ? acl_model_peek(__func__, &source, take_desc, modelDesc)
                                  : acl_null(__func__, modelDesc ? "modelPath" : "modelDesc");
}

aclError aclmdlGetDescFromMem(aclmdlDesc *modelDesc, const void *model, size_t modelSize)
{
    const struct acl_model_source source = {.data = model, .bytes = modelSize};
    return modelDesc && model && modelSize
               ? acl_model_peek(__func__, &source, take_desc, modelDesc)
               : acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "an argument is NULL or a size is 0");
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

// Of gear 0, which stands for all in a dimension that is open.
static bool is_open(const aclmdlDesc *desc, size_t index, size_t d)
{
    bool same = true;
    for (size_t i = 1; index + 1 < desc->input_count && i < desc->gear_count; i++) {
        same = same && acl_model_gear_io(desc, i, index)->dims[d] ==
                           acl_model_gear_io(desc, 0, index)->dims[d];
    }
    return !same;
}

aclError aclmdlGetInputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    const aclError error = get_dims(__func__, modelDesc, true, index, dims);
    for (size_t d = 0; error == ACL_SUCCESS && d < dims->dimCount; d++) {
        dims->dims[d] = is_open(modelDesc, index, d) ? -1 : dims->dims[d];
    }
    return error;
}

// With settings for pictures too an input is described as it is given: the two calls say the same
// here.
aclError aclmdlGetInputDimsV2(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    return aclmdlGetInputDims(modelDesc, index, dims);
}

aclError aclmdlGetInputDimsRange(const aclmdlDesc *modelDesc, size_t index,
                                 aclmdlIODimsRange *dimsRange)
{
    const struct acl_model_io *io = find(__func__, modelDesc, true, index);
    if (!io || !dimsRange) {
        return io ? acl_null(__func__, "dimsRange") : ACL_ERROR_INVALID_PARAM;
    }
    *dimsRange = (aclmdlIODimsRange){.rangeCount = io->dim_count};
    for (size_t d = 0; d < io->dim_count; d++) {
        int64_t *range = dimsRange->range[d];
        range[0] = range[1] = io->dims[d];
        for (size_t i = 0; index + 1 < modelDesc->input_count && i < modelDesc->gear_count; i++) {
            const int64_t size = acl_model_gear_io(modelDesc, i, index)->dims[d];
            range[0] = size < range[0] ? size : range[0];
            range[1] = size > range[1] ? size : range[1];
        }
    }
    return ACL_SUCCESS;
}

// Names are kept whole.
const char *aclmdlGetTensorRealName(const aclmdlDesc *modelDesc, const char *name)
{
    size_t index;
    if (modelDesc && name && get_index(__func__, modelDesc, true, name, &index) == ACL_SUCCESS) {
        return modelDesc->inputs[index].name;
    }
    return modelDesc && name && get_index(__func__, modelDesc, false, name, &index) == ACL_SUCCESS
               ? modelDesc->outputs[index].name
               : NULL;
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
    return io ? io->format : ACL_FORMAT_UNDEFINED;
}

aclFormat aclmdlGetOutputFormat(const aclmdlDesc *modelDesc, size_t index)
{
    const struct acl_model_io *io = find(__func__, modelDesc, false, index);
    return io ? io->format : ACL_FORMAT_UNDEFINED;
}
