/* SPDX-License-Identifier: Apache-2.0 */
#include "pictures.h"

#include "outputs.h"
#include "values.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

void onnx_read_pictures(struct onnx_import *import)
{
    char error[LEO_MODEL_ERROR];
    if (!import->options->aipp) {
        return;
    }
    import->aipp = leo_calloc(1, sizeof(*import->aipp));
    if (!import->aipp) {
        onnx_fail(import, "out of host memory");
    } else if (!model_aipp_read(import->options->aipp, import->aipp, error)) {
        onnx_bad_option(import, "--insert_op_conf: %s", error);
    }
}

static bool is_for(const struct leo_aipp *aipp, const struct leo_model_io *io, uint32_t index)
{
    return *aipp->input ? strcmp(aipp->input, io->name) == 0
                        : aipp->at[LEO_AIPP_INPUT_RANK] == (double)index;
}

static struct leo_aipp *find_picture(struct onnx_import *import, uint32_t index)
{
    for (uint32_t i = 0; import->aipp && i < import->aipp->count; i++) {
        if (is_for(&import->aipp->list[i], &import->build.model.inputs[index], index)) {
            return &import->aipp->list[i];
        }
    }
    return NULL;
}

// The sizes of an input as [n, c, h, w].
static void sizes_of(const struct onnx_import *import, const struct leo_model_io *io,
                     int64_t dim[4])
{
    static const unsigned from_nhwc[] = {0, 3, 1, 2};
    for (unsigned d = 0; d < 4; d++) {
        dim[d] = io->dim[import->options->nhwc ? from_nhwc[d] : d];
    }
}

// Bytes that each run tells how to read.
static uint32_t take_dynamic(struct onnx_import *import, const struct leo_aipp *aipp,
                             uint32_t index)
{
    struct leo_model *model = &import->build.model;
    struct leo_model_io *io = &model->inputs[index];
    int64_t dim[4];
    sizes_of(import, io, dim);
    const uint32_t value = model_build_value(&import->build, import->floats, 4, dim);
    if (model->aipp_input) {
        onnx_bad_option(import, "--insert_op_conf: only one input may be dynamic");
    }
    model_build_is_given(&import->build, value);
    model->aipp_input = index + 1;
    model->aipp_value = value;
    io->dtype = LEO_DTYPE_U8;
    io->is_nhwc = 0;
    io->rank = 1;
    io->dim[0] = (int64_t)aipp->at[LEO_AIPP_MAX_BYTES];
    return value;
}

// [n, c, h, w] as the network has it: another view of the same.
static uint32_t in_order(struct onnx_import *import, uint32_t value)
{
    static const uint32_t to_nhwc[] = {0, 2, 3, 1};
    return import->options->nhwc ? onnx_made_turned(import, value, to_nhwc) : value;
}

// Settings that are compiled in stay to be reported.
static void keep_settings(struct onnx_import *import, const struct leo_aipp *aipp, uint32_t index,
                          const int64_t dim[4])
{
    struct leo_model *model = &import->build.model;
    struct leo_model_aipp *aipps =
        leo_realloc(model->aipps, (model->aipp_count + 1) * sizeof(*aipps));
    if (!aipps) {
        onnx_fail(import, "out of host memory");
        return;
    }
    model->aipps = aipps;
    aipps += model->aipp_count++;
    memset(aipps, 0, sizeof(*aipps));
    aipps->input = index + 1;
    aipps->settings = *aipp;
    memcpy(aipps->dim, dim, sizeof(aipps->dim));
}

bool onnx_take_picture(struct onnx_import *import, uint32_t index, uint32_t *value)
{
    char error[LEO_MODEL_ERROR];
    struct leo_model_io *io = &import->build.model.inputs[index];
    struct leo_aipp *aipp = find_picture(import, index);
    int64_t source[4] = {0}, dim[4];
    if (!aipp || import->build.failed) {
        return false;
    }
    if (io->rank != 4 || io->dtype != LEO_DTYPE_F32) {
        onnx_bad_option(import,
                        "--insert_op_conf: input %s is no float picture, or is in "
                        "--input_fp16_nodes",
                        io->name);
        return false;
    }
    if (aipp->at[LEO_AIPP_MODE] == LEO_AIPP_DYNAMIC) {
        *value = in_order(import, take_dynamic(import, aipp, index));
        return true;
    }
    sizes_of(import, io, dim);
    if (!model_aipp_fit(aipp, dim, source, error)) {
        onnx_bad_option(import, "--insert_op_conf: input %s: %s", io->name, error);
        return false;
    }
    io->dtype = LEO_DTYPE_U8;
    io->is_nhwc = 1;
    memcpy(io->dim, source, sizeof(source));
    keep_settings(import, aipp, index, dim);
    *value = model_build_value(&import->build, import->floats, 4, dim);
    model_aipp_build(&import->build, aipp, model_build_io(&import->build, LEO_MODEL_INPUT, index),
                     *value);
    *value = in_order(import, *value);
    return true;
}

void onnx_end_pictures(struct onnx_import *import)
{
    struct leo_model *model = &import->build.model;
    for (uint32_t i = 0; import->aipp && i < import->aipp->count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < model->input_count; k++) {
            found = found || is_for(&import->aipp->list[i], &model->inputs[k], k);
        }
        if (!found) {
            onnx_bad_option(import, "--insert_op_conf: the model has no input %s (rank %g)",
                            import->aipp->list[i].input,
                            import->aipp->list[i].at[LEO_AIPP_INPUT_RANK]);
        }
    }
    if (model->aipp_input && !import->build.failed) {
        const int64_t pictures = import->build.model.values[model->aipp_value].dim[0];
        struct leo_model_io *io = &model->inputs[model->input_count++];
        snprintf(io->name, sizeof(io->name), "%s", LEO_AIPP_INPUT);
        io->dtype = LEO_DTYPE_U8;
        io->rank = 1;
        io->dim[0] = pictures * LEO_AIPP_PICTURE_BYTES;
    }
}
