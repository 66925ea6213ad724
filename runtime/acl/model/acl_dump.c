/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps of operators' tensors: the calls and the configuration file. */
#include "../acl_internal.h"

#include <acl/acl_dump.h>
#include <jansson.h>
#include <leo/acl_hook.h>
#include <leo/alloc.h>
#include <string.h>

/* The file's number of a type; 0: it has none. */
static uint32_t file_type(int type)
{
    static const uint8_t types[] = {
        [ACL_FLOAT] = 1,      [ACL_FLOAT16] = 2,     [ACL_INT8] = 3,  [ACL_UINT8] = 4,
        [ACL_INT16] = 5,      [ACL_UINT16] = 6,      [ACL_INT32] = 7, [ACL_INT64] = 8,
        [ACL_UINT32] = 9,     [ACL_UINT64] = 10,     [ACL_BOOL] = 11, [ACL_DOUBLE] = 12,
        [ACL_STRING] = 13,    [ACL_BF16] = 27,       [ACL_INT4] = 28, [ACL_UINT1] = 29,
        [ACL_COMPLEX64] = 16, [ACL_COMPLEX128] = 17,
    };
    return type >= 0 && (size_t)type < sizeof(types) ? types[type] : 0;
}

/* Formats have the same numbers there. */
static uint32_t file_format(int format)
{
    return (uint32_t)(format < 0 ? ACL_FORMAT_ND : format);
}

/* ---- configuration ---- */

static aclError bad(const char *func, const char *key, const char *wanted)
{
    return acl_fail(ACL_ERROR_INVALID_DUMP_CONFIG, func, "dump: \"%s\" must be %s", key, wanted);
}

static aclError refuse(const char *func, const char *what)
{
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func, "dump: %s", what);
}

static const char *text_of(const json_t *dump, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(dump, key));
    return text ? text : otherwise;
}

static aclError check_scene(const char *func, const char *scene)
{
    // The brief account of a failing kernel is in the log in any case.
    const bool brief = !strcmp(scene, "lite_exception") || !strcmp(scene, "aic_err_brief_dump");
    const bool known = brief || !strcmp(scene, "aic_err_norm_dump") ||
                       !strcmp(scene, "aic_err_detail_dump") || !strcmp(scene, "watcher");
    if (!known) {
        return bad(func, "dump_scene", "a scene that is documented");
    }
    return brief ? ACL_SUCCESS
                 : refuse(func, "tensors of kernels that fail are not written: \"dump_scene\" can "
                                "be lite_exception or aic_err_brief_dump");
}

static aclError check_extras(const char *func, const json_t *dump)
{
    const char *scene = text_of(dump, "dump_scene", NULL);
    if (scene) {
        return check_scene(func, scene);
    }
    if (strcmp(text_of(dump, "dump_debug", "off"), "off") != 0) {
        return refuse(func, "operators that overflow are not written by themselves "
                            "(\"dump_debug\")");
    }
    return strcmp(text_of(dump, "dump_data", "tensor"), "tensor") == 0
               ? ACL_SUCCESS
               : refuse(func, "\"dump_data\": statistics are not written, tensors are");
}

/* [{"model_name": "net", "layer": ["node", ...]}, ...]; without a name all models, without layers
 * all nodes. */
static aclError check_list(const char *func, const json_t *list)
{
    static const char wanted[] =
        "a list of {\"model_name\": a text, \"layer\": a list of names}, both optional";
    size_t i, k;
    json_t *item, *layer;
    if (list && !json_is_array(list)) {
        return bad(func, "dump_list", wanted);
    }
    json_array_foreach(list, i, item)
    {
        json_t *name = json_object_get(item, "model_name"),
               *layers = json_object_get(item, "layer");
        bool good = json_is_object(item) && (!name || json_is_string(name)) &&
                    (!layers || json_is_array(layers));
        json_array_foreach(layers, k, layer)
        {
            good = good && json_is_string(layer);
        }
        if (!good) {
            return bad(func, "dump_list", wanted);
        }
    }
    return ACL_SUCCESS;
}

// Takes over the list; NULL: no models.
static void set_models(json_t *list)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    json_decref(process->dump_models);
    process->dump_models = json_incref(list);
    pthread_mutex_unlock(&process->lock);
}

static bool is_named(const json_t *names, const char *name)
{
    size_t i;
    json_t *one;
    bool found = json_array_size(names) == 0;
    json_array_foreach(names, i, one)
    {
        found = found || strcmp(json_string_value(one), name) == 0;
    }
    return found;
}

static bool is_listed(const json_t *list, const char *model, const char *node)
{
    size_t i;
    json_t *item;
    bool found = false;
    json_array_foreach(list, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "model_name"));
        found = found || ((!name || strcmp(name, model) == 0) &&
                          (!node || is_named(json_object_get(item, "layer"), node)));
    }
    return found;
}

bool leo_acl_dump_model_is_on(const char *model, const char *node)
{
    struct acl_process *process = acl_process();
    if (!(atomic_load(&api_process()->dump.what) & API_DUMP_MODELS)) {
        return false;
    }
    pthread_mutex_lock(&process->lock);
    const bool on = is_listed(process->dump_models, model, node);
    pthread_mutex_unlock(&process->lock);
    return on;
}

static aclError start(const char *func, json_t *dump)
{
    aclError error = check_extras(func, dump);
    if (error) {
        return error;
    }
    const char *mode = text_of(dump, "dump_mode", "output");
    const char *operators = text_of(dump, "dump_op_switch", "off");
    const char *path = text_of(dump, "dump_path", NULL);
    const unsigned what = !strcmp(mode, "input")    ? API_DUMP_INPUTS
                          : !strcmp(mode, "output") ? API_DUMP_OUTPUTS
                          : !strcmp(mode, "all")    ? API_DUMP_INPUTS | API_DUMP_OUTPUTS
                                                    : 0;
    if (!what) {
        return bad(func, "dump_mode", "input, output or all");
    }
    if (strcmp(operators, "on") != 0 && strcmp(operators, "off") != 0) {
        return bad(func, "dump_op_switch", "on or off");
    }
    const bool has_models = json_array_size(json_object_get(dump, "dump_list")) > 0;
    const unsigned of = (strcmp(operators, "on") == 0 ? API_DUMP_OPERATORS : 0u) |
                        (has_models ? API_DUMP_MODELS : 0u);
    aclError list = check_list(func, json_object_get(dump, "dump_list"));
    if (list || !of) {
        return list;
    }
    if (!path || !*path) {
        return bad(func, "dump_path", "a folder");
    }
    set_models(has_models ? json_object_get(dump, "dump_list") : NULL);
    leo_status status = api_dump_start(path, what | of);
    return status == LEO_OK ? ACL_SUCCESS : bad(func, "dump_path", "a folder that is there");
}

aclError acl_dump_configure(const char *func, const char *path, bool wanted)
{
    json_error_t text;
    json_t *root = json_load_file(path, 0, &text);
    json_t *dump = json_object_get(root, "dump");
    aclError error = ACL_SUCCESS;
    if (!root) {
        error =
            acl_fail(ACL_ERROR_INVALID_DUMP_CONFIG, func, "%s:%d: %s", path, text.line, text.text);
    } else if (dump || wanted) {
        error = json_is_object(dump)
                    ? start(func, dump)
                    : acl_fail(ACL_ERROR_INVALID_DUMP_CONFIG, func, "%s: no object \"dump\"", path);
    }
    json_decref(root);
    return error;
}

/* ---- the switch ---- */

static aclError check_initialized(const char *func)
{
    return api_is_initialized()
               ? ACL_SUCCESS
               : acl_fail(ACL_ERROR_UNINITIALIZE, func, "call aclInit before a dump is set up");
}

aclError aclmdlInitDump(void)
{
    aclError error = check_initialized("aclmdlInitDump");
    if (!error && atomic_exchange(&acl_process()->dump_is_on, true)) {
        error = acl_fail(ACL_ERROR_REPEAT_INITIALIZE, "aclmdlInitDump",
                         "called already: call aclmdlFinalizeDump first");
    }
    return error;
}

static aclError check_on(const char *func)
{
    aclError error = check_initialized(func);
    if (!error && !atomic_load(&acl_process()->dump_is_on)) {
        error = acl_fail(ACL_ERROR_DUMP_NOT_RUN, func, "call aclmdlInitDump first");
    }
    return error;
}

aclError aclmdlSetDump(const char *dumpCfgPath)
{
    const char *func = "aclmdlSetDump";
    if (!dumpCfgPath) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "dumpCfgPath is NULL");
    }
    aclError error = check_on(func);
    return error ? error : acl_dump_configure(func, dumpCfgPath, true);
}

aclError aclmdlFinalizeDump(void)
{
    aclError error = check_on("aclmdlFinalizeDump");
    if (!error) {
        api_dump_stop();
        set_models(NULL);
        atomic_store(&acl_process()->dump_is_on, false);
    }
    return error;
}

/* ---- pieces for the program ---- */

typedef int32_t (*piece_fn)(const acldumpChunk *, int32_t);

static int give_piece(void *user, const char *path, const void *bytes, uint32_t count,
                      int64_t offset, bool last)
{
    acldumpChunk *chunk = leo_calloc(1, sizeof(*chunk) + count);
    if (!chunk) {
        return -1;
    }
    strncpy(chunk->fileName, path, sizeof(chunk->fileName) - 1);
    chunk->bufLen = count;
    chunk->isLastChunk = last;
    chunk->offset = offset;
    chunk->flag = (int32_t)atomic_load(&acl_process()->dump_flag);
    if (count) {
        memcpy(chunk->dataBuf, bytes, count);
    }
    const int32_t result = ((piece_fn)(uintptr_t)user)(chunk, (int32_t)(sizeof(*chunk) + count));
    leo_free(chunk);
    return result;
}

aclError acldumpRegCallback(int32_t (*const messageCallback)(const acldumpChunk *, int32_t),
                            int32_t flag)
{
    if (!messageCallback) {
        return acl_null(__func__, "messageCallback");
    }
    atomic_store(&acl_process()->dump_flag, flag);
    api_dump_redirect(give_piece, (void *)(uintptr_t)messageCallback);
    return ACL_SUCCESS;
}

void acldumpUnregCallback(void)
{
    api_dump_redirect(NULL, NULL);
}

const char *acldumpGetPath(acldumpType dumpType)
{
    char *path = acl_process()->dump_path;
    return dumpType == DATA_DUMP && api_dump_root(path) ? path : NULL;
}

/* ---- tensors that a program saves ---- */

aclError acldumpGetExceptionInfoPath(char *path, size_t maxLen)
{
    return path ? acl_result(__func__, api_dump_place(path, maxLen)) : acl_null(__func__, "path");
}

static bool read_tensor(const acldumpTensorInfo *info, struct api_dump_tensor *tensor)
{
    const uint32_t type = file_type(info->dataType);
    if (!type || info->shapeNum > ACL_DUMP_MAX_SHAPE_NUM || !info->tensorAddr ||
        info->placement >= ACL_DUMP_PLACEMENT_END) {
        return false;
    }
    *tensor = (struct api_dump_tensor){
        .addr = info->addrType == ACL_DUMP_ADDR_PTR_PTR ? (uint64_t)*info->tensorAddr
                                                        : (uintptr_t)info->tensorAddr,
        .on_host = info->placement == ACL_DUMP_PLACEMENT_HOST,
        .is_output = info->type == ACL_DUMP_TENSOR_OUTPUT,
        .type = type,
        .format = file_format(info->format),
        .unit = (uint32_t)aclDataTypeSize((aclDataType)info->dataType),
        .rank = info->shapeNum,
    };
    uint64_t elements = 1;
    for (unsigned i = info->shapeNum; i-- > 0;) {
        tensor->dim[i] = (int64_t)info->shape[i];
        tensor->stride[i] = (int64_t)elements;
        elements *= info->shape[i];
    }
    return elements * tensor->unit <= info->tensorSize;
}

aclError acldumpSaveExceptionInfo(const char *fileName, const char *userTag,
                                  const acldumpTensorInfo *tensors, size_t tensorCount)
{
    char path[ACL_DUMP_MAX_FILE_PATH_LENGTH];
    if (!fileName || !*fileName || strchr(fileName, '/') || (!tensors && tensorCount)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                        "fileName must be a name without folders, and tensors not NULL");
    }
    struct api_dump_tensor *read = leo_calloc(tensorCount + 1, sizeof(*read));
    aclError error = read ? ACL_SUCCESS : acl_result(__func__, LEO_ERR_NO_MEMORY);
    for (size_t i = 0; i < tensorCount && !error; i++) {
        if (!read_tensor(&tensors[i], &read[i])) {
            error = acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                             "tensor %zu: type %d, %u dimensions, address %p, %zu bytes: no such "
                             "tensor",
                             i, (int)tensors[i].dataType, tensors[i].shapeNum,
                             (void *)tensors[i].tensorAddr, tensors[i].tensorSize);
        }
    }
    if (!error) {
        error = acldumpGetExceptionInfoPath(path, sizeof(path));
    }
    if (!error && strlen(path) + strlen(fileName) + 2 > sizeof(path)) {
        error = acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "the name of the file is too long");
    }
    if (!error) {
        strcat(strcat(path, "/"), fileName);
        error = acl_result(__func__,
                           api_dump_write(path, userTag ? userTag : fileName, read, tensorCount));
    }
    leo_free(read);
    return error;
}

/* ---- for libraries of operators ---- */

bool leo_acl_dump_is_on(void)
{
    return (atomic_load(&api_process()->dump.what) & API_DUMP_OPERATORS) != 0;
}

aclError leo_acl_dump_begin(const struct leo_acl_dump_name *name, aclrtStream stream,
                            const struct leo_acl_dumped *tensors, size_t count, void **dump)
{
    struct api_dump_tensor *read = leo_calloc(count + 1, sizeof(*read));
    const struct api_dump_name called = {name->type, name->node, name->folder};
    if (!read) {
        return acl_result(name->type, LEO_ERR_NO_MEMORY);
    }
    for (size_t i = 0; i < count; i++) {
        read[i] = (struct api_dump_tensor){
            .addr = tensors[i].addr,
            .is_output = tensors[i].is_output,
            .type = file_type(tensors[i].type),
            .format = file_format(tensors[i].format),
            .unit = (uint32_t)aclDataTypeSize(tensors[i].type),
            .rank = tensors[i].rank,
        };
        memcpy(read[i].dim, tensors[i].dim, tensors[i].rank * sizeof(int64_t));
        memcpy(read[i].stride, tensors[i].stride, tensors[i].rank * sizeof(int64_t));
    }
    leo_status status =
        api_dump_begin(&called, stream, read, count, (struct api_dump **)(void *)dump);
    leo_free(read);
    return acl_result(name->type, status);
}

aclError leo_acl_dump_end(const char *type, void *dump, bool failed)
{
    if (failed) {
        api_dump_drop(dump);
        return ACL_SUCCESS;
    }
    return acl_result(type, api_dump_end(dump));
}

/* ---- input of an operator compiler ---- */

aclError aclopStartDumpArgs(uint32_t dumpType, const char *path)
{
    (void)dumpType;
    (void)path;
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                    "there is no operator compiler that would be fed with them");
}

aclError aclopStopDumpArgs(uint32_t dumpType)
{
    (void)dumpType;
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__, "it never starts");
}
