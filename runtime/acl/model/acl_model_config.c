/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and runs of models whose settings are given one by one. */
#include "acl_model.h"

#include <acl/acl_rt.h>
#include <leo/alloc.h>
#include <stddef.h>
#include <string.h>

struct aclmdlConfigHandle {
    uint32_t set; /**< bit (1 << aclmdlConfigAttr) */
    size_t load_type;
    char *path; /**< owned */
    struct acl_model_source source;
};

struct aclmdlExecConfigHandle {
    int32_t stream_ms, event_ms;
    void *work;
    size_t work_bytes;
};

/** A setting: what its value is, and where it goes (SIZE_MAX: it changes nothing here). */
struct setting {
    const char *name; /**< NULL: there is no such number */
    size_t bytes, place;
};

#define NOWHERE           SIZE_MAX
#define REFUSED           (SIZE_MAX - 1)
#define CONFIG_AT(member) offsetof(struct aclmdlConfigHandle, member)
#define EXEC_AT(member)   offsetof(struct aclmdlExecConfigHandle, member)

/* Queues between processes, and memory for the parts of the vendor's models, are not there. A
 * priority orders models on cores that are fewer than they ask for: runs are in order here. Weights
 * always lie in the file, and memory of inputs and outputs is never part of the work area. */
static const struct setting loads[] = {
    [ACL_MDL_PRIORITY_INT32] = {"ACL_MDL_PRIORITY_INT32", 4, NOWHERE},
    [ACL_MDL_LOAD_TYPE_SIZET] = {"ACL_MDL_LOAD_TYPE_SIZET", 8, CONFIG_AT(load_type)},
    [ACL_MDL_PATH_PTR] = {"ACL_MDL_PATH_PTR", 8, CONFIG_AT(source.path)},
    [ACL_MDL_MEM_ADDR_PTR] = {"ACL_MDL_MEM_ADDR_PTR", 8, CONFIG_AT(source.data)},
    [ACL_MDL_MEM_SIZET] = {"ACL_MDL_MEM_SIZET", 8, CONFIG_AT(source.bytes)},
    [ACL_MDL_WEIGHT_ADDR_PTR] = {"ACL_MDL_WEIGHT_ADDR_PTR", 8, CONFIG_AT(source.weights)},
    [ACL_MDL_WEIGHT_SIZET] = {"ACL_MDL_WEIGHT_SIZET", 8, CONFIG_AT(source.weight_bytes)},
    [ACL_MDL_WORKSPACE_ADDR_PTR] = {"ACL_MDL_WORKSPACE_ADDR_PTR", 8, CONFIG_AT(source.work)},
    [ACL_MDL_WORKSPACE_SIZET] = {"ACL_MDL_WORKSPACE_SIZET", 8, CONFIG_AT(source.work_bytes)},
    [ACL_MDL_INPUTQ_NUM_SIZET] = {"ACL_MDL_INPUTQ_NUM_SIZET", 8, REFUSED},
    [ACL_MDL_INPUTQ_ADDR_PTR] = {"ACL_MDL_INPUTQ_ADDR_PTR", 8, REFUSED},
    [ACL_MDL_OUTPUTQ_NUM_SIZET] = {"ACL_MDL_OUTPUTQ_NUM_SIZET", 8, REFUSED},
    [ACL_MDL_OUTPUTQ_ADDR_PTR] = {"ACL_MDL_OUTPUTQ_ADDR_PTR", 8, REFUSED},
    [ACL_MDL_WORKSPACE_MEM_OPTIMIZE] = {"ACL_MDL_WORKSPACE_MEM_OPTIMIZE", 8, NOWHERE},
    [ACL_MDL_WEIGHT_PATH_PTR] = {"ACL_MDL_WEIGHT_PATH_PTR", 8, NOWHERE},
    [ACL_MDL_MEM_MALLOC_POLICY_SIZET] = {"ACL_MDL_MEM_MALLOC_POLICY_SIZET", 8, NOWHERE},
};

static const struct setting runs[] = {
    [ACL_MDL_STREAM_SYNC_TIMEOUT] = {"ACL_MDL_STREAM_SYNC_TIMEOUT", 4, EXEC_AT(stream_ms)},
    [ACL_MDL_EVENT_SYNC_TIMEOUT] = {"ACL_MDL_EVENT_SYNC_TIMEOUT", 4, EXEC_AT(event_ms)},
    [ACL_MDL_WORK_ADDR_PTR] = {"ACL_MDL_WORK_ADDR_PTR", 8, EXEC_AT(work)},
    [ACL_MDL_WORK_SIZET] = {"ACL_MDL_WORK_SIZET", 8, EXEC_AT(work_bytes)},
    [ACL_MDL_EXEC_PRIORITY_INT32] = {"ACL_MDL_EXEC_PRIORITY_INT32", 4, NOWHERE},
};

static aclError set(const char *func, void *handle, const struct setting *setting, int attr,
                    const void *value, size_t bytes)
{
    if (!handle || !value) {
        return acl_null(func, handle ? "attrValue" : "handle");
    }
    if (!setting || !setting->name || setting->place == REFUSED) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func, "attribute %d (%s) is not served",
                        attr, setting && setting->name ? setting->name : "of the vendor's own");
    }
    if (bytes != setting->bytes) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s has values of %zu bytes, not %zu",
                        setting->name, setting->bytes, bytes);
    }
    if (setting->place != NOWHERE) {
        memcpy((char *)handle + setting->place, value, bytes);
    }
    return ACL_SUCCESS;
}

static const struct setting *setting_at(const struct setting *table, size_t count, int attr)
{
    return attr >= 0 && (size_t)attr < count ? &table[attr] : NULL;
}

aclmdlConfigHandle *aclmdlCreateConfigHandle(void)
{
    aclmdlConfigHandle *handle = leo_calloc(1, sizeof(*handle));
    if (!handle) {
        (void)acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
    }
    return handle;
}

aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle *handle)
{
    if (!handle) {
        return acl_null(__func__, "handle");
    }
    leo_free(handle->path);
    leo_free(handle);
    return ACL_SUCCESS;
}

// The program may forget the text of a path.
static aclError keep_path(const char *func, aclmdlConfigHandle *handle)
{
    const char *path = handle->source.path;
    char *copy = path ? leo_alloc(strlen(path) + 1) : NULL;
    handle->source.path = NULL;
    leo_free(handle->path);
    handle->path = copy;
    if (!copy) {
        return path ? acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory")
                    : acl_null(func, "the path");
    }
    handle->source.path = strcpy(copy, path);
    return ACL_SUCCESS;
}

aclError aclmdlSetConfigOpt(aclmdlConfigHandle *handle, aclmdlConfigAttr attr,
                            const void *attrValue, size_t valueSize)
{
    const struct setting *setting = setting_at(loads, sizeof(loads) / sizeof(loads[0]), (int)attr);
    aclError error = set(__func__, handle, setting, (int)attr, attrValue, valueSize);
    if (error == ACL_SUCCESS && attr == ACL_MDL_PATH_PTR) {
        error = keep_path(__func__, handle);
    }
    if (error == ACL_SUCCESS) {
        handle->set |= 1u << attr;
    }
    return error;
}

aclError aclmdlLoadWithConfig(const aclmdlConfigHandle *handle, uint32_t *modelId)
{
    static const uint32_t file = 1u << ACL_MDL_PATH_PTR,
                          memory = 1u << ACL_MDL_MEM_ADDR_PTR | 1u << ACL_MDL_MEM_SIZET;
    static const struct {
        uint32_t needed;
        bool from_file, takes_areas;
    } types[] = {
        [ACL_MDL_LOAD_FROM_FILE] = {file, true, false},
        [ACL_MDL_LOAD_FROM_FILE_WITH_MEM] = {file, true, true},
        [ACL_MDL_LOAD_FROM_MEM] = {memory, false, false},
        [ACL_MDL_LOAD_FROM_MEM_WITH_MEM] = {memory, false, true},
    };
    if (!handle || !modelId) {
        return acl_null(__func__, handle ? "modelId" : "handle");
    }
    const size_t type = handle->load_type;
    if (type == 0 || type >= sizeof(types) / sizeof(types[0])) {
        return acl_fail(type ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_ERROR_INVALID_PARAM, __func__,
                        "load type %zu%s", type,
                        type ? ": models are not loaded with queues"
                             : ": set ACL_MDL_LOAD_TYPE_SIZET first");
    }
    if ((handle->set & types[type].needed) != types[type].needed) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "load type %zu needs %s", type,
                        types[type].from_file ? "ACL_MDL_PATH_PTR"
                                              : "ACL_MDL_MEM_ADDR_PTR and ACL_MDL_MEM_SIZET");
    }
    struct acl_model_source source = handle->source;
    if (types[type].from_file) {
        source.data = NULL;
    }
    if (!types[type].takes_areas) {
        source.work = source.weights = NULL;
    }
    return acl_model_load(__func__, &source, modelId);
}

aclmdlExecConfigHandle *aclmdlCreateExecConfigHandle(void)
{
    aclmdlExecConfigHandle *handle = leo_calloc(1, sizeof(*handle));
    if (!handle) {
        (void)acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
        return NULL;
    }
    handle->stream_ms = handle->event_ms = -1;
    return handle;
}

aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle *handle)
{
    leo_free((void *)(uintptr_t)handle);
    return handle ? ACL_SUCCESS : acl_null(__func__, "handle");
}

aclError aclmdlSetExecConfigOpt(aclmdlExecConfigHandle *handle, aclmdlExecConfigAttr attr,
                                const void *attrValue, size_t valueSize)
{
    const struct setting *setting = setting_at(runs, sizeof(runs) / sizeof(runs[0]), (int)attr);
    return set(__func__, handle, setting, (int)attr, attrValue, valueSize);
}

static aclError execute(const char *func, uint32_t id, const aclmdlDataset *input,
                        const aclmdlDataset *output, aclrtStream stream,
                        const aclmdlExecConfigHandle *handle)
{
    aclError error;
    if (!handle) {
        return acl_null(func, "handle");
    }
    const struct acl_model_slot slot = acl_model_take(func, id, &error);
    if (error != ACL_SUCCESS) {
        return error;
    }
    const size_t needed = slot.model->work_bytes;
    acl_model_put(id);
    if (handle->work && handle->work_bytes < needed) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func,
                        "ACL_MDL_WORK_SIZET is %zu, the model needs %zu bytes", handle->work_bytes,
                        needed);
    }
    return acl_model_execute(func, id, input, output, stream, handle->work);
}

aclError aclmdlExecuteV2(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output,
                         aclrtStream stream, const aclmdlExecConfigHandle *handle)
{
    const aclError error = execute(__func__, modelId, input, output, stream, handle);
    return error == ACL_SUCCESS ? aclrtSynchronizeStreamWithTimeout(stream, handle->stream_ms)
                                : error;
}

aclError aclmdlExecuteAsyncV2(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output,
                              aclrtStream stream, const aclmdlExecConfigHandle *handle)
{
    return execute(__func__, modelId, input, output, stream, handle);
}
