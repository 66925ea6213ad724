/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, runs and unloads models (.om) that this toolkit's atc made. Any thread; a model that runs
 * is not unloaded. */
#include "acl_model.h"

#include <acl/acl_rt.h>
#include <acl/error_codes/ge_error_codes.h>
#include <dlfcn.h>
#include <errno.h>
#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

void leo_acl_set_model_calls(const struct leo_acl_model_calls *calls)
{
    atomic_store(&acl_process()->model_calls, (uintptr_t)calls);
}

// The library of operators runs them; it lies beside this one and registers itself.
const struct leo_acl_model_calls *acl_model_calls(const char *func)
{
    uintptr_t calls = atomic_load(&acl_process()->model_calls);
    if (!calls && dlopen("libopapi.so", RTLD_NOW)) {
        calls = atomic_load(&acl_process()->model_calls);
    }
    if (!calls) {
        (void)acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func,
                       "libopapi.so, which runs models, was not found beside libascendcl.so");
    }
    return (const struct leo_acl_model_calls *)calls;
}

struct acl_model_slot acl_model_take(const char *func, uint32_t id, aclError *error)
{
    struct acl_process *process = acl_process();
    struct acl_model_slot slot = {0};
    pthread_mutex_lock(&process->lock);
    if (id > 0 && id <= process->model_count && process->models[id - 1].model) {
        process->models[id - 1].running++;
        slot = process->models[id - 1];
    }
    pthread_mutex_unlock(&process->lock);
    *error = slot.model
                 ? ACL_SUCCESS
                 : acl_fail(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, func, "no model %u is loaded", id);
    return slot;
}

void acl_model_put(uint32_t id)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    process->models[id - 1].running--;
    pthread_mutex_unlock(&process->lock);
}

size_t acl_model_gear(uint32_t id)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    const size_t gear = id > 0 && id <= process->model_count ? process->models[id - 1].gear : 0;
    pthread_mutex_unlock(&process->lock);
    return gear;
}

void acl_model_set_gear(uint32_t id, size_t gear)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    process->models[id - 1].gear = gear;
    pthread_mutex_unlock(&process->lock);
}

// A number for the model: a free place, or one more.
static aclError add_slot(const char *func, const struct acl_model_slot *slot, uint32_t *id)
{
    struct acl_process *process = acl_process();
    uint32_t at = 0;
    pthread_mutex_lock(&process->lock);
    while (at < process->model_count && process->models[at].model) {
        at++;
    }
    if (at == process->model_count) {
        struct acl_model_slot *models =
            leo_realloc(process->models, (at + 1) * sizeof(*process->models));
        if (!models) {
            pthread_mutex_unlock(&process->lock);
            return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
        }
        process->models = models;
        process->model_count++;
    }
    process->models[at] = *slot;
    pthread_mutex_unlock(&process->lock);
    *id = at + 1;
    return ACL_SUCCESS;
}

static aclError take_area(const char *func, const char *what, void *given, size_t given_bytes,
                          size_t needed, void **area, bool *owns)
{
    *area = given;
    *owns = !given;
    if (given) {
        return given_bytes >= needed ? ACL_SUCCESS
                                     : acl_fail(ACL_ERROR_INVALID_PARAM, func,
                                                "the %s memory has %zu bytes, the model needs %zu",
                                                what, given_bytes, needed);
    }
    return needed ? aclrtMalloc(area, needed, ACL_MEM_MALLOC_HUGE_FIRST) : ACL_SUCCESS;
}

static void free_slot(const struct leo_acl_model_calls *calls, struct acl_model_slot *slot)
{
    acl_model_order_destroy(slot->order); // behind the last run
    if (slot->owns_work && slot->work) {
        (void)aclrtFree(slot->work);
    }
    if (slot->owns_weights && slot->weights) {
        (void)aclrtFree(slot->weights);
    }
    calls->close(slot->model);
}

static aclError load(const char *func, const void *data, size_t bytes,
                     const struct acl_model_source *areas, uint32_t *id)
{
    const struct leo_acl_model_calls *calls = acl_model_calls(func);
    struct acl_model_slot slot = {0};
    aclError error =
        calls ? calls->read(func, data, bytes, &slot.model) : ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    if (error != ACL_SUCCESS) {
        return error;
    }
    error = take_area(func, "work", areas->work, areas->work_bytes, slot.model->work_bytes,
                      &slot.work, &slot.owns_work);
    if (error == ACL_SUCCESS) {
        error = take_area(func, "weight", areas->weights, areas->weight_bytes,
                          slot.model->weight_bytes, &slot.weights, &slot.owns_weights);
    }
    error = error == ACL_SUCCESS ? calls->place(func, slot.model, slot.weights) : error;
    error = error == ACL_SUCCESS ? acl_model_order_create(func, &slot.order) : error;
    error = error == ACL_SUCCESS ? add_slot(func, &slot, id) : error;
    if (error != ACL_SUCCESS) {
        free_slot(calls, &slot);
    }
    return error;
}

// The bytes of a file; leo_free.
static aclError read_file(const char *func, const char *path, uint8_t **data, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
    }
    *data = NULL;
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0) {
        if (file) {
            (void)fclose(file);
        }
        return acl_fail(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID, func, "cannot read '%s'", path);
    }
    *bytes = (size_t)size;
    *data = leo_calloc(*bytes ? *bytes : 1, 1);
    const bool good = *data && fread(*data, 1, *bytes, file) == *bytes;
    (void)fclose(file);
    if (!good) {
        leo_free(*data);
        return acl_fail(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID, func, "cannot read '%s'", path);
    }
    return ACL_SUCCESS;
}

/** What is done with a model's bytes. */
typedef aclError (*bytes_fn)(const char *func, const void *data, size_t bytes, void *user);

static aclError with_bytes(const char *func, const struct acl_model_source *source, bytes_fn fn,
                           void *user)
{
    uint8_t *data;
    size_t bytes;
    if (source->data) {
        return fn(func, source->data, source->bytes, user);
    }
    aclError error = read_file(func, source->path, &data, &bytes);
    if (error == ACL_SUCCESS) {
        error = fn(func, data, bytes, user);
        leo_free(data);
    }
    return error;
}

/** A load: from where, and the number it gets. */
struct loading {
    const struct acl_model_source *source;
    uint32_t *id;
};

static aclError load_bytes(const char *func, const void *data, size_t bytes, void *user)
{
    const struct loading *loading = user;
    return load(func, data, bytes, loading->source, loading->id);
}

aclError acl_model_load(const char *func, const struct acl_model_source *source, uint32_t *id)
{
    if (!id || (!source->path && (!source->data || !source->bytes))) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "an argument is NULL or a size is 0");
    }
    struct loading loading = {source, id};
    return with_bytes(func, source, load_bytes, &loading);
}

aclError aclmdlLoadFromFile(const char *modelPath, uint32_t *modelId)
{
    const struct acl_model_source source = {.path = modelPath};
    return acl_model_load(__func__, &source, modelId);
}

aclError aclmdlLoadFromFileWithMem(const char *modelPath, uint32_t *modelId, void *workPtr,
                                   size_t workSize, void *weightPtr, size_t weightSize)
{
    const struct acl_model_source source = {.path = modelPath,
                                            .work = workPtr,
                                            .work_bytes = workSize,
                                            .weights = weightPtr,
                                            .weight_bytes = weightSize};
    return acl_model_load(__func__, &source, modelId);
}

aclError aclmdlLoadFromMem(const void *model, size_t modelSize, uint32_t *modelId)
{
    const struct acl_model_source source = {.data = model, .bytes = modelSize};
    return acl_model_load(__func__, &source, modelId);
}

aclError aclmdlLoadFromMemWithMem(const void *model, size_t modelSize, uint32_t *modelId,
                                  void *workPtr, size_t workSize, void *weightPtr,
                                  size_t weightSize)
{
    const struct acl_model_source source = {.data = model,
                                            .bytes = modelSize,
                                            .work = workPtr,
                                            .work_bytes = workSize,
                                            .weights = weightPtr,
                                            .weight_bytes = weightSize};
    return acl_model_load(__func__, &source, modelId);
}

/** A look at a model that is not loaded. */
struct peeking {
    aclError (*take)(const char *func, const struct leo_acl_model *model, void *user);
    void *user;
};

static aclError peek_bytes(const char *func, const void *data, size_t bytes, void *user)
{
    const struct peeking *peeking = user;
    const struct leo_acl_model_calls *calls = acl_model_calls(func);
    struct leo_acl_model *model;
    aclError error =
        calls ? calls->read(func, data, bytes, &model) : ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    if (error == ACL_SUCCESS) {
        error = peeking->take(func, model, peeking->user);
        calls->close(model);
    }
    return error;
}

aclError acl_model_peek(const char *func, const struct acl_model_source *source,
                        aclError (*take)(const char *func, const struct leo_acl_model *model,
                                         void *user),
                        void *user)
{
    struct peeking peeking = {take, user};
    return with_bytes(func, source, peek_bytes, &peeking);
}

static aclError take_sizes(const char *func, const struct leo_acl_model *model, void *user)
{
    size_t *const *sizes = user;
    (void)func;
    *sizes[0] = model->work_bytes;
    *sizes[1] = model->weight_bytes;
    return ACL_SUCCESS;
}

aclError aclmdlQuerySize(const char *fileName, size_t *workSize, size_t *weightSize)
{
    size_t *sizes[] = {workSize, weightSize};
    const struct acl_model_source source = {.path = fileName};
    return fileName && workSize && weightSize
               ? acl_model_peek(__func__, &source, take_sizes, sizes)
               : acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "an argument is NULL");
}

aclError aclmdlQuerySizeFromMem(const void *model, size_t modelSize, size_t *workSize,
                                size_t *weightSize)
{
    size_t *sizes[] = {workSize, weightSize};
    const struct acl_model_source source = {.data = model, .bytes = modelSize};
    return model && modelSize && workSize && weightSize
               ? acl_model_peek(__func__, &source, take_sizes, sizes)
               : acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "an argument is NULL or a size is 0");
}

aclError aclmdlUnload(uint32_t modelId)
{
    struct acl_process *process = acl_process();
    struct acl_model_slot slot = {0};
    bool running = false;
    pthread_mutex_lock(&process->lock);
    if (modelId > 0 && modelId <= process->model_count && process->models[modelId - 1].model) {
        running = process->models[modelId - 1].running > 0;
        slot = process->models[modelId - 1];
        if (!running) {
            process->models[modelId - 1] = (struct acl_model_slot){0};
        }
    }
    pthread_mutex_unlock(&process->lock);
    if (!slot.model || running) {
        return acl_fail(
            slot.model ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, __func__,
            slot.model ? "model %u runs in another thread" : "no model %u is loaded", modelId);
    }
    const struct leo_acl_model_calls *calls = acl_model_calls(__func__);
    if (calls) {
        free_slot(calls, &slot);
    }
    return ACL_SUCCESS;
}

// Addresses of a data set's buffers, each of which must be as large as the model's tensor.
static aclError take_buffers(const char *func, const char *what, const aclmdlDataset *set,
                             const struct leo_acl_model_io *ios, size_t count, void **addresses)
{
    if (aclmdlGetDatasetNumBuffers(set) != count) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "the model has %zu %ss, the set %zu buffers",
                        count, what, aclmdlGetDatasetNumBuffers(set));
    }
    for (size_t i = 0; i < count; i++) {
        const aclDataBuffer *buffer = aclmdlGetDatasetBuffer(set, i);
        addresses[i] = aclGetDataBufferAddr(buffer);
        if (!addresses[i] || aclGetDataBufferSizeV2(buffer) < ios[i].bytes) {
            return acl_fail(ACL_ERROR_INVALID_PARAM, func,
                            "%s %zu (%s) needs a buffer of %zu bytes, the set's has %zu%s", what, i,
                            ios[i].name, ios[i].bytes, aclGetDataBufferSizeV2(buffer),
                            addresses[i] ? "" : " and no address");
        }
    }
    return ACL_SUCCESS;
}

static aclError run_slot(const char *func, const struct acl_model_slot *slot, uint32_t id,
                         const aclmdlDataset *input, const aclmdlDataset *output,
                         aclrtStream stream)
{
    const struct leo_acl_model *model = slot->model;
    const size_t gear = acl_dataset_gear(input);
    if (model->gear_count ? gear == 0 || gear > model->gear_count : gear != 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func,
                        model->gear_count ? "the data set of the inputs was given no gear of this "
                                            "model (aclmdlSetDynamicBatchSize ...)"
                                          : "a gear was set, and the model has none");
    }
    size_t pictures;
    if (model->aipp_input && !acl_dataset_aipp(input, &pictures)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func,
                        "the data set of the inputs was given no settings (aclmdlSetInputAIPP)");
    }
    void **buffers = leo_calloc(model->input_count + model->output_count + 1, sizeof(*buffers));
    if (!buffers) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    void **outputs = buffers + model->input_count;
    aclError error = take_buffers(func, "input", input, model->inputs, model->input_count, buffers);
    if (error == ACL_SUCCESS) {
        error = take_buffers(func, "output", output, model->outputs, model->output_count, outputs);
    }
    error = error == ACL_SUCCESS ? acl_model_order_begin(slot->order, stream) : error;
    if (error == ACL_SUCCESS) {
        struct leo_acl_model_run run = {.stream = stream,
                                        .id = id,
                                        .gear = gear ? gear - 1 : 0,
                                        .work = slot->work,
                                        .weights = slot->weights,
                                        .buffers = buffers};
        run.aipp = acl_dataset_aipp(input, &run.aipp_count);
        error = acl_model_calls(func)->run(func, slot->model, &run);
        const aclError ended = acl_model_order_end(slot->order, stream);
        error = error == ACL_SUCCESS ? ended : error;
    }
    leo_free(buffers);
    return error;
}

aclError acl_model_execute(const char *func, uint32_t id, const aclmdlDataset *input,
                           const aclmdlDataset *output, aclrtStream stream, void *work)
{
    aclError error;
    if (!input || !output) {
        return acl_null(func, input ? "output" : "input");
    }
    struct acl_model_slot slot = acl_model_take(func, id, &error);
    if (error == ACL_SUCCESS) {
        slot.work = work ? work : slot.work;
        error = run_slot(func, &slot, id, input, output, stream);
        acl_model_put(id);
    }
    return error;
}

aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output)
{
    const aclError error = acl_model_execute(__func__, modelId, input, output, NULL, NULL);
    return error == ACL_SUCCESS ? aclrtSynchronizeStream(NULL) : error;
}

aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output,
                            aclrtStream stream)
{
    return acl_model_execute(__func__, modelId, input, output, stream, NULL);
}
