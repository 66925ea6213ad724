/* SPDX-License-Identifier: Apache-2.0 */
#include "aipp_run.h"

#include "aipp.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

/* The bytes are the input and the model's value is the output of the conversion. */
static void begin(struct model_build *build, const struct leo_model *model)
{
    const struct leo_model_value *value = &model->values[model->aipp_value];
    memset(build, 0, sizeof(*build));
    build->model.inputs = leo_calloc(1, sizeof(*build->model.inputs));
    build->model.outputs = leo_calloc(1, sizeof(*build->model.outputs));
    if (!build->model.inputs || !build->model.outputs) {
        model_build_fail(build, "out of host memory");
        return;
    }
    build->model.input_count = 1;
    build->model.output_count = 1;
    build->model.inputs[0] = model->inputs[model->aipp_input - 1];
    build->model.outputs[0].dtype = value->dtype;
    build->model.outputs[0].rank = value->rank;
    memcpy(build->model.outputs[0].dim, value->dim, sizeof(value->dim));
}

static void dense_strides(const int64_t dim[4], int64_t stride[4])
{
    stride[3] = 1;
    for (uint32_t d = 3; d-- > 0;) {
        stride[d] = stride[d + 1] * dim[d + 1];
    }
}

// Picture `index` from where the ones before it end, which moves behind it.
static void add_picture(struct model_build *build, const struct leo_aipp *settings, uint32_t index,
                        int64_t *start)
{
    struct leo_aipp aipp = *settings;
    const struct leo_model_io *out = &build->model.outputs[0];
    const int64_t dim[4] = {1, out->dim[1], out->dim[2], out->dim[3]};
    int64_t source[4], from[4], to[4];
    char error[LEO_MODEL_ERROR];
    if (aipp.at[LEO_AIPP_FORMAT] == 0) {
        model_build_fail(build, "the pictures' format was not set");
        return;
    }
    if (!model_aipp_fit(&aipp, dim, source, error)) {
        model_build_fail(build, "picture %u: %s", index, error);
        return;
    }
    const int64_t bytes = source[1] * source[2] * source[3];
    if (*start + bytes > build->model.inputs[0].dim[0]) {
        model_build_fail(build, "%u pictures have more bytes than max_src_image_size, %lld",
                         index + 1, (long long)build->model.inputs[0].dim[0]);
        return;
    }
    dense_strides(source, from);
    dense_strides(dim, to);
    model_aipp_build(
        build, &aipp,
        model_build_view(build, model_build_io(build, LEO_MODEL_INPUT, 0), 4, source, from, *start),
        model_build_view(build, model_build_io(build, LEO_MODEL_OUTPUT, 0), 4, dim, to,
                         index * to[0]));
    *start += bytes;
}

static leo_status room_for(const struct leo_model *model, struct leo_op_context *context,
                           const struct leo_aipp *settings, struct aipp_room *room)
{
    const struct leo_model_call *failed;
    struct model_build build;
    uint64_t workspace = 0;
    int64_t start = 0;
    begin(&build, model);
    add_picture(&build, settings, 0, &start);
    model_build_finish(&build);
    // What does not fit this model is no run of it.
    leo_status status = LEO_OK;
    if (!build.failed) {
        status = model_workspace(&build.model, context, &workspace, &failed);
        room->work = build.model.work_bytes > room->work ? build.model.work_bytes : room->work;
        room->workspace = workspace > room->workspace ? workspace : room->workspace;
    }
    model_build_free(&build);
    return status;
}

leo_status aipp_find_room(const struct leo_model *model, struct leo_op_context *context,
                          struct aipp_room *room)
{
    const struct leo_model_value *value = &model->values[model->aipp_value];
    leo_status status = LEO_OK;
    *room = (struct aipp_room){0};
    for (uint32_t format = 1; format < LEO_AIPP_FORMATS && status == LEO_OK; format++) {
        for (uint32_t csc = 0; csc < 2 && status == LEO_OK; csc++) {
            // Every step that settings may ask for, on pictures that are not cut.
            struct leo_aipp most = {.at = {[LEO_AIPP_FORMAT] = format,
                                           [LEO_AIPP_CSC] = csc,
                                           [LEO_AIPP_SOURCE_W] = (double)value->dim[3],
                                           [LEO_AIPP_SOURCE_H] = (double)value->dim[2]}};
            for (uint32_t k = LEO_AIPP_MATRIX; k < LEO_AIPP_MAX_BYTES; k++) {
                most.at[k] = 2;
            }
            status = room_for(model, context, &most, room);
        }
    }
    return status;
}

leo_status aipp_run(const struct leo_model *model, struct leo_op_context *context,
                    const struct leo_aipp *pictures, uint32_t count, uint64_t input, uint64_t work,
                    const struct aipp_room *room, uint64_t place, char error[LEO_MODEL_ERROR])
{
    const struct leo_model_value *value = &model->values[model->aipp_value];
    const uint64_t output = work + value->offset;
    const struct leo_model_call *failed;
    struct model_build build;
    int64_t start = 0;
    begin(&build, model);
    if (count != value->dim[0]) {
        model_build_fail(&build, "settings for %u pictures, the model takes %lld", count,
                         (long long)value->dim[0]);
    }
    for (uint32_t i = 0; i < count && !build.failed; i++) {
        add_picture(&build, &pictures[i], i, &start);
    }
    model_build_finish(&build);
    if (!build.failed && build.model.work_bytes > room->work) {
        model_build_fail(&build, "the conversion needs more memory than was reserved");
    }
    leo_status status = LEO_ERR_INVALID_ARG;
    if (build.failed) {
        snprintf(error, LEO_MODEL_ERROR, "%s", build.error);
    } else {
        leo_op_context_lend(context, place + room->work, room->workspace);
        const struct model_run run = {
            .model = &build.model, .inputs = &input, .outputs = &output, .work = place};
        status = model_run(&run, context, &failed);
        snprintf(error, LEO_MODEL_ERROR, "%s", status == LEO_OK ? "" : leo_rt_last_error());
    }
    model_build_free(&build);
    return status;
}
