/* SPDX-License-Identifier: Apache-2.0 */
/* Process life cycle: aclInit, aclFinalize, the runtime made on first use. */
#include "acl_internal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct acl_process the_process = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .device_lock = PTHREAD_MUTEX_INITIALIZER,
    .handles = FRONT_TABLE_INITIALIZER,
    .reports = FRONT_REPORTS_INITIALIZER,
    .map_lock = PTHREAD_MUTEX_INITIALIZER,
    .mapped = FRONT_RANGES_INITIALIZER,
    .worker_lock = PTHREAD_MUTEX_INITIALIZER,
    .log_file = {.lock = PTHREAD_MUTEX_INITIALIZER},
    .host_memory = FRONT_RANGES_INITIALIZER,
    .default_device = -1,
};

/* A forked child starts as a process that never called us: the parent's chips run in threads it
 * does not have, and its locks may be held by them. What the parent had is left as it is,
 * untouched. */
static void start_anew(void)
{
    uintptr_t run_op = atomic_load(&the_process.run_op);
    the_process = (struct acl_process){
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .device_lock = PTHREAD_MUTEX_INITIALIZER,
        .handles = FRONT_TABLE_INITIALIZER,
        .reports = FRONT_REPORTS_INITIALIZER,
        .map_lock = PTHREAD_MUTEX_INITIALIZER,
        .mapped = FRONT_RANGES_INITIALIZER,
        .worker_lock = PTHREAD_MUTEX_INITIALIZER,
        .log_file = {.lock = PTHREAD_MUTEX_INITIALIZER},
        .host_memory = FRONT_RANGES_INITIALIZER,
        .default_device = -1,
    };
    atomic_store(&the_process.run_op, run_op);
    acl_forget_context();
}

static void watch_forks(void)
{
    // If there is no memory for it a child must do without: it would fail itself.
    (void)pthread_atfork(NULL, NULL, start_anew);
}

struct acl_process *acl_process(void)
{
    return &the_process;
}

static void log_from_core(void *user, int level, const char *text)
{
    (void)user;
    acl_log(level, "leo", "%s", text);
}

// ASCEND_RT_VISIBLE_DEVICES: ascending list; reading stops at the first entry that is not one.
static void read_visible(struct acl_process *process, int count)
{
    const char *text = getenv("ASCEND_RT_VISIBLE_DEVICES");
    process->visible_count = 0;
    if (!text) {
        for (int i = 0; i < count && i < ACL_MAX_DEVICES; i++) {
            process->visible[process->visible_count++] = i;
        }
        return;
    }
    long previous = -1;
    while (*text && process->visible_count < ACL_MAX_DEVICES) {
        char *end = NULL;
        long id = strtol(text, &end, 10);
        if (end == text || id <= previous || id >= count || (*end && *end != ',')) {
            break;
        }
        process->visible[process->visible_count++] = (int)id;
        previous = id;
        text = *end ? end + 1 : end;
    }
}

aclError acl_runtime(const char *func, struct leo_rt **rt)
{
    struct acl_process *process = acl_process();
    leo_status status = LEO_OK;
    static pthread_once_t forks = PTHREAD_ONCE_INIT;
    pthread_once(&forks, watch_forks);
    pthread_mutex_lock(&process->lock);
    if (!process->rt) {
        struct leo_rt_opts opts = {.size = sizeof(opts), .log = log_from_core};
        status = leo_rt_create(&opts, &process->rt);
        if (status == LEO_OK) {
            read_visible(process, leo_rt_device_count(process->rt));
        }
    }
    *rt = process->rt;
    pthread_mutex_unlock(&process->lock);
    return acl_status(func, status);
}

static int json_depth(const json_t *node)
{
    int deepest = 0;
    const char *key;
    json_t *value;
    size_t index;
    if (json_is_object(node)) {
        // jansson's macro walks the object; it does not change it.
        json_object_foreach((json_t *)(uintptr_t)node, key, value)
        {
            int depth = json_depth(value);
            deepest = depth > deepest ? depth : deepest;
        }
    } else if (json_is_array(node)) {
        json_array_foreach(node, index, value)
        {
            int depth = json_depth(value);
            deepest = depth > deepest ? depth : deepest;
        }
    } else {
        return 0;
    }
    return deepest + 1;
}

static aclError read_config(const char *path, int *default_device)
{
    json_error_t error;
    if (access(path, R_OK) != 0) {
        return acl_fail(
            ACL_ERROR_INVALID_FILE, "aclInit",
            "cannot read the configuration file '%s': pass NULL or the path of a JSON file", path);
    }
    json_t *root = json_load_file(path, 0, &error);
    if (!root) {
        return acl_fail(ACL_ERROR_PARSE_FILE, "aclInit", "%s:%d: %s", path, error.line, error.text);
    }
    aclError result = ACL_SUCCESS;
    if (!json_is_object(root) || json_depth(root) > 10) {
        result = acl_fail(ACL_ERROR_PARSE_FILE, "aclInit",
                          "%s: expected an object nested at most 10 deep", path);
    } else {
        const json_t *id =
            json_object_get(json_object_get(root, "defaultDevice"), "default_device");
        if (json_is_string(id)) {
            *default_device = atoi(json_string_value(id));
        } else if (json_is_integer(id)) {
            *default_device = (int)json_integer_value(id);
        }
    }
    json_decref(root);
    return result;
}

aclError aclInit(const char *configPath)
{
    struct acl_process *process = acl_process();
    int default_device = -1;
    if (configPath && *configPath) {
        aclError error = read_config(configPath, &default_device);
        if (error) {
            return error;
        }
    }
    pthread_mutex_lock(&process->lock);
    bool repeat = process->references > 0;
    process->references++;
    process->finalized = false;
    if (!repeat) {
        process->default_device = default_device;
    }
    pthread_mutex_unlock(&process->lock);
    if (repeat) {
        return acl_fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit",
                        "already initialized: call aclInit once a process, or aclFinalize first");
    }
    struct leo_rt *rt;
    aclError error = acl_runtime("aclInit", &rt);
    if (error) {
        pthread_mutex_lock(&process->lock);
        process->references = 0;
        pthread_mutex_unlock(&process->lock);
    }
    return error;
}

// Frees the runtime once no device is open; devices still open keep it until they are reset. Caller
// holds both locks.
static void drop_runtime(struct acl_process *process)
{
    bool open = false;
    for (int i = 0; i < ACL_MAX_DEVICES; i++) {
        open = open || process->device[i].references > 0;
    }
    if (!open) {
        leo_rt_destroy(process->rt);
        process->rt = NULL;
    }
}

void acl_runtime_end(void)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    if (process->finalized) {
        drop_runtime(process);
    }
    pthread_mutex_unlock(&process->lock);
}

aclError aclFinalize(void)
{
    struct acl_process *process = acl_process();
    acl_prof_finalize();
    pthread_mutex_lock(&process->device_lock);
    pthread_mutex_lock(&process->lock);
    bool again = process->finalized;
    process->references = 0;
    process->finalized = true;
    if (!again) {
        drop_runtime(process);
    }
    pthread_mutex_unlock(&process->lock);
    pthread_mutex_unlock(&process->device_lock);
    if (again) {
        return acl_fail(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize", "already finalized");
    }
    return ACL_SUCCESS;
}

aclError aclFinalizeReference(uint64_t *refCount)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->device_lock);
    pthread_mutex_lock(&process->lock);
    bool none = process->references == 0;
    if (!none && --process->references == 0) {
        process->finalized = true;
        drop_runtime(process);
    }
    uint64_t left = process->references;
    pthread_mutex_unlock(&process->lock);
    pthread_mutex_unlock(&process->device_lock);
    if (refCount) {
        *refCount = left;
    }
    if (none) {
        return acl_fail(ACL_ERROR_REPEAT_FINALIZE, "aclFinalizeReference", "no reference is left");
    }
    return ACL_SUCCESS;
}
