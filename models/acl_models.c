/* SPDX-License-Identifier: Apache-2.0 */
/* Models behind AscendCL's calls: part of libopapi, which registers this when it is loaded. */
#include "aipp_run.h"
#include "model_replay.h"
#include "model_run.h"

#include <leo/acl_hook.h>
#include <leo/alloc.h>

#include <acl/error_codes/ge_error_codes.h>
#include <stdio.h>
#include <string.h>

struct loaded {
    struct leo_acl_model told; /* first: what AscendCL sees */
    struct leo_model model;
    struct leo_acl_model_io *ios;
    struct leo_acl_model_aipp *aipps;
    uint64_t *workspace; /* by gear */
    struct aipp_room aipp;
    struct model_replay replay;
    uint64_t runs;
};

static aclDataType acl_type(uint32_t dtype)
{
    static const aclDataType types[LEO_DTYPE_COUNT] = {
        [LEO_DTYPE_F16] = ACL_FLOAT16, [LEO_DTYPE_F32] = ACL_FLOAT,  [LEO_DTYPE_BF16] = ACL_BF16,
        [LEO_DTYPE_S8] = ACL_INT8,     [LEO_DTYPE_U8] = ACL_UINT8,   [LEO_DTYPE_S16] = ACL_INT16,
        [LEO_DTYPE_U16] = ACL_UINT16,  [LEO_DTYPE_S32] = ACL_INT32,  [LEO_DTYPE_U32] = ACL_UINT32,
        [LEO_DTYPE_S64] = ACL_INT64,   [LEO_DTYPE_U64] = ACL_UINT64, [LEO_DTYPE_B8] = ACL_BOOL,
    };
    const bool known = dtype < LEO_DTYPE_COUNT && (types[dtype] || dtype == LEO_DTYPE_F32);
    return known ? types[dtype] : ACL_DT_UNDEFINED;
}

static void tell_ios(struct leo_acl_model_io *to, const struct leo_model_io *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = (struct leo_acl_model_io){.name = from[i].name,
                                          .type = acl_type(from[i].dtype),
                                          .format = from[i].is_nhwc     ? ACL_FORMAT_NHWC
                                                    : from[i].rank == 4 ? ACL_FORMAT_NCHW
                                                                        : ACL_FORMAT_ND,
                                          .dim_count = from[i].rank,
                                          .bytes = leo_model_io_bytes(&from[i])};
        memcpy(to[i].dims, from[i].dim, sizeof(to[i].dims));
    }
}

static void close_model(struct leo_acl_model *model)
{
    struct loaded *loaded = (struct loaded *)model;
    model_replay_free(&loaded->replay);
    leo_model_free(&loaded->model);
    leo_free(loaded->ios);
    leo_free(loaded->aipps);
    leo_free(loaded->workspace);
    leo_free(loaded);
}

// The error of a call, with the operator it came from.
static aclError call_failed(const char *func, leo_status status, const struct leo_model *model,
                            const struct leo_model_call *call)
{
    char reason[LEO_MODEL_ERROR];
    strncpy(reason, leo_rt_last_error(), sizeof(reason) - 1);
    reason[sizeof(reason) - 1] = '\0';
    return call ? leo_acl_fail(ACL_ERROR_INTERNAL_ERROR, func,
                               "operator %s of the model, node '%s': %s", call->op,
                               call->node ? model->nodes[call->node - 1].name : "", reason)
                : leo_acl_status(func, status);
}

// Without gears the model is its only variant.
static size_t variant_count(const struct leo_model *model)
{
    return model->gear_count ? model->gear_count : 1;
}

static const struct leo_model *variant_of(const struct leo_model *model, size_t gear)
{
    return model->gear_count ? &model->variants[gear] : model;
}

// Bytes that the operators need beside the model's own tensors; makes their plans.
static aclError find_workspace(const char *func, struct loaded *loaded)
{
    struct leo_rt_stream *stream;
    struct leo_rt_device *device;
    struct leo_op_context *context;
    const struct leo_model_call *failed = NULL;
    const struct leo_model *model = NULL;
    aclError error = leo_acl_stream_get(NULL, &stream, &device);
    if (error != ACL_SUCCESS) {
        return error;
    }
    leo_status status = leo_op_context_create(device, stream, &context);
    if (status == LEO_OK) {
        for (size_t i = 0; status == LEO_OK && i < variant_count(&loaded->model); i++) {
            model = variant_of(&loaded->model, i);
            status = model_workspace(model, context, &loaded->workspace[i], &failed);
        }
        if (status == LEO_OK && loaded->model.aipp_input) {
            status = aipp_find_room(&loaded->model, context, &loaded->aipp);
        }
        leo_op_context_destroy(context);
    }
    return status == LEO_OK ? ACL_SUCCESS : call_failed(func, status, model, failed);
}

static uint64_t work_bytes(const struct loaded *loaded)
{
    uint64_t most = 0;
    for (size_t i = 0; i < variant_count(&loaded->model); i++) {
        const uint64_t bytes = variant_of(&loaded->model, i)->work_bytes + loaded->workspace[i];
        most = bytes > most ? bytes : most;
    }
    return most;
}

// Inputs, outputs, and with gears those of each.
static void tell_model(struct loaded *loaded)
{
    static const enum leo_acl_gears kinds[LEO_MODEL_GEAR_KINDS] = {
        [LEO_MODEL_BATCHES] = LEO_ACL_BATCHES,
        [LEO_MODEL_IMAGES] = LEO_ACL_IMAGES,
        [LEO_MODEL_DIMS] = LEO_ACL_DIMS,
    };
    const struct leo_model *model = &loaded->model;
    struct leo_acl_model_io *ios = loaded->ios,
                            *next = ios + model->input_count + model->output_count;
    loaded->told = (struct leo_acl_model){
        .work_bytes = work_bytes(loaded) + loaded->aipp.work + loaded->aipp.workspace,
        .weight_bytes = model->weight_bytes,
        .input_count = model->input_count,
        .output_count = model->output_count,
        .inputs = ios,
        .outputs = ios + model->input_count,
        .gear_kind = kinds[model->gear_kind],
        .gear_count = model->gear_count,
        .gear_width = model->gear_width,
        .gears = model->gears,
        .gear_ios = next,
        .aipp_input = model->aipp_input,
        .aipps = loaded->aipps,
        .aipp_count = model->aipp_count,
    };
    for (uint32_t i = 0; i < model->aipp_count; i++) {
        loaded->aipps[i] = (struct leo_acl_model_aipp){.input = model->aipps[i].input - 1,
                                                       .settings = &model->aipps[i].settings};
        memcpy(loaded->aipps[i].dim, model->aipps[i].dim, sizeof(loaded->aipps[i].dim));
    }
    tell_ios(ios, model->inputs, model->input_count);
    tell_ios(ios + model->input_count, model->outputs, model->output_count);
    for (size_t i = 0; i < model->gear_count; i++) {
        const struct leo_model *variant = &model->variants[i];
        tell_ios(next, variant->inputs, variant->input_count);
        tell_ios(next + variant->input_count, variant->outputs, variant->output_count);
        next += variant->input_count + variant->output_count;
    }
}

static aclError prepare(const char *func, struct loaded *loaded)
{
    const struct leo_model *model = &loaded->model;
    const size_t ios = (size_t)model->input_count + model->output_count;
    loaded->ios = leo_calloc(ios * (1 + model->gear_count) + 1, sizeof(*loaded->ios));
    loaded->aipps = leo_calloc(model->aipp_count + 1, sizeof(*loaded->aipps));
    loaded->workspace = leo_calloc(variant_count(model), sizeof(*loaded->workspace));
    const aclError error = loaded->ios && loaded->aipps && loaded->workspace
                               ? find_workspace(func, loaded)
                               : leo_acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    if (error == ACL_SUCCESS) {
        tell_model(loaded);
    }
    return error;
}

static aclError read_model(const char *func, const void *data, size_t bytes,
                           struct leo_acl_model **out)
{
    char text[LEO_MODEL_ERROR];
    struct loaded *loaded = leo_calloc(1, sizeof(*loaded));
    *out = NULL;
    if (!loaded) {
        return leo_acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    leo_status status = leo_model_read(data, bytes, &loaded->model, text);
    if (status != LEO_OK) {
        leo_free(loaded);
        return leo_acl_fail(status == LEO_ERR_NO_MEMORY
                                ? ACL_ERROR_BAD_ALLOC
                                : ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED,
                            func, "%s", text);
    }
    const aclError error = prepare(func, loaded);
    if (error != ACL_SUCCESS) {
        close_model(&loaded->told);
        return error;
    }
    *out = &loaded->told;
    return ACL_SUCCESS;
}

static aclError place_weights(const char *func, struct leo_acl_model *model, void *weights)
{
    const struct loaded *loaded = (const struct loaded *)model;
    (void)func;
    return loaded->model.weight_bytes
               ? aclrtMemcpy(weights, loaded->model.weight_bytes, loaded->model.weights,
                             loaded->model.weight_bytes, ACL_MEMCPY_HOST_TO_DEVICE)
               : ACL_SUCCESS;
}

/** A run to be launched. */
struct launch {
    const char *func;
    const struct loaded *loaded;
    size_t gear;
    const uint64_t *inputs, *outputs;
    uint64_t weights, work;
    const char *folder; /**< of the dump of this run; NULL: none */
};

static aclError launch_calls(void *argument, aclrtStream handle)
{
    const struct launch *launch = argument;
    const struct leo_model *model = variant_of(&launch->loaded->model, launch->gear);
    struct leo_rt_stream *stream;
    struct leo_rt_device *device;
    struct leo_op_context *context;
    const struct leo_model_call *failed = NULL;
    aclError error = leo_acl_stream_get(handle, &stream, &device);
    if (error != ACL_SUCCESS) {
        return error;
    }
    leo_status status = leo_op_context_create(device, stream, &context);
    if (status == LEO_OK) {
        leo_op_context_lend(context, launch->work + model->work_bytes,
                            launch->loaded->workspace[launch->gear]);
        struct leo_op_watch watch = {
            .device = device, .stream = handle, .dump.folder = launch->folder};
        struct model_run run = {.model = model,
                                .inputs = launch->inputs,
                                .outputs = launch->outputs,
                                .weights = launch->weights,
                                .work = launch->work,
                                .dumped = launch->folder ? launch->loaded->model.name : NULL};
        if (launch->folder || leo_rt_profile_is_on(device)) {
            run.watch = &watch;
            leo_op_watch_begin(context, &watch);
        }
        status = model_run(&run, context, &failed);
        leo_op_context_destroy(context);
    }
    return status == LEO_OK ? ACL_SUCCESS : call_failed(launch->func, status, model, failed);
}

// The pictures of this run become what the model's calls read.
static aclError launch_pictures(const char *func, const struct loaded *loaded,
                                const struct leo_acl_model_run *run)
{
    char text[LEO_MODEL_ERROR];
    struct leo_rt_stream *stream;
    struct leo_rt_device *device;
    struct leo_op_context *context;
    const uint64_t work = (uint64_t)(uintptr_t)run->work;
    aclError error = leo_acl_stream_get(run->stream, &stream, &device);
    if (error != ACL_SUCCESS) {
        return error;
    }
    leo_status status = leo_op_context_create(device, stream, &context);
    if (status != LEO_OK) {
        return leo_acl_status(func, status);
    }
    status = aipp_run(&loaded->model, context, run->aipp, (uint32_t)run->aipp_count,
                      (uint64_t)(uintptr_t)run->buffers[loaded->model.aipp_input - 1], work,
                      &loaded->aipp, work + work_bytes(loaded), text);
    leo_op_context_destroy(context);
    return status == LEO_OK ? ACL_SUCCESS
                            : leo_acl_fail(status == LEO_ERR_INVALID_ARG ? ACL_ERROR_INVALID_PARAM
                                                                         : ACL_ERROR_INTERNAL_ERROR,
                                           func, "pictures of the model: %s", text);
}

// A run whose nodes are written: it is launched call by call.
static aclError run_dumped(struct launch *launch, const struct leo_acl_model_run *run)
{
    char folder[LEO_MODEL_NAME + 48];
    snprintf(folder, sizeof(folder), "%s/%u/%llu", launch->loaded->model.name, run->id,
             (unsigned long long)launch->loaded->runs);
    // A name is one folder's, whatever it is.
    for (char *at = folder; at < folder + strlen(launch->loaded->model.name); at++) {
        *at = strchr("/\\. ", *at) ? '_' : *at;
    }
    launch->folder = folder;
    return launch_calls(launch, run->stream);
}

static aclError run_model(const char *func, struct leo_acl_model *model,
                          const struct leo_acl_model_run *run)
{
    struct loaded *loaded = (struct loaded *)model;
    const uint64_t *buffers = (const uint64_t *)run->buffers;
    struct launch launch = {.func = func,
                            .loaded = loaded,
                            .gear = run->gear,
                            .inputs = buffers,
                            .outputs = buffers + model->input_count,
                            .weights = (uint64_t)(uintptr_t)run->weights,
                            .work = (uint64_t)(uintptr_t)run->work};
    struct model_places places = {.buffers = buffers,
                                  .count = model->input_count + model->output_count,
                                  .gear = run->gear,
                                  .weights = launch.weights,
                                  .work = launch.work};
    aclError error = leo_acl_device_get(&places.device);
    if (error == ACL_SUCCESS && loaded->model.aipp_input) {
        error = launch_pictures(func, loaded, run);
    }
    if (error != ACL_SUCCESS) {
        return error;
    }
    places.profiled = leo_rt_profile_is_on(places.device);
    error = leo_acl_dump_model_is_on(loaded->model.name, NULL)
                ? run_dumped(&launch, run)
                : model_replay_run(&loaded->replay, &places, run->stream, launch_calls, &launch);
    loaded->runs++;
    return error;
}

static const struct leo_acl_model_calls calls = {
    .read = read_model, .place = place_weights, .run = run_model, .close = close_model};

__attribute__((constructor)) static void register_models(void)
{
    leo_acl_set_model_calls(&calls);
}
