/* SPDX-License-Identifier: Apache-2.0 */
/* Life of the process: initialised, forked, finalised; the runtime made on first use; handles. */
#include "process.h"

#include "code.h"

#include <stdlib.h>
#include <string.h>

// A process that never called us. @stubs: what was registered before main, if anything was.
#define NEW_PROCESS(stub_tree, device)                                                             \
    .lock = PTHREAD_MUTEX_INITIALIZER, .device_lock = PTHREAD_MUTEX_INITIALIZER,                   \
    .handles = API_TABLE_INITIALIZER, .reports = API_REPORTS_INITIALIZER,                          \
    .map_lock = PTHREAD_MUTEX_INITIALIZER, .mapped = API_RANGES_INITIALIZER,                       \
    .pool_blocks = API_RANGES_INITIALIZER, .ipc_lock = PTHREAD_MUTEX_INITIALIZER,                  \
    .worker_lock = PTHREAD_MUTEX_INITIALIZER, .host_memory = API_RANGES_INITIALIZER,               \
    .stubs = {.lock = PTHREAD_MUTEX_INITIALIZER, .tree = stub_tree},                               \
    .dump = {.lock = PTHREAD_MUTEX_INITIALIZER}, .default_device = device

static struct api_process the_process = {NEW_PROCESS(NULL, API_DEFAULT_NONE)};

/* A forked child starts as a process that never called us: the parent's chips run in threads it
 * does not have, and its locks may be held by them. What the parent had is left as it is,
 * untouched. */
static void start_anew(void)
{
    // Registered before main, and never again.
    void *stubs = the_process.stubs.tree;
    the_process = (struct api_process){
        NEW_PROCESS(stubs, api_face.default_device),
        .child = true,
    };
    if (api_face.forked) {
        api_face.forked();
    }
}

static void prepare(void)
{
    the_process.default_device = api_face.default_device;
    // If there is no memory for it a child must do without: it would fail itself.
    (void)pthread_atfork(NULL, NULL, start_anew);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

struct api_process *api_process(void)
{
    pthread_once(&once, prepare);
    return &the_process;
}

// An ascending list; reading stops at the first entry that is not one.
static void read_visible(struct api_process *process, int count)
{
    const char *text = getenv(api_face.visible);
    process->visible_count = 0;
    if (!text) {
        for (int i = 0; i < count && i < API_DEVICES; i++) {
            process->visible[process->visible_count++] = i;
        }
        return;
    }
    long previous = -1;
    while (*text && process->visible_count < API_DEVICES) {
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

leo_status api_runtime(struct leo_rt **rt)
{
    struct api_process *process = api_process();
    leo_status status = LEO_OK;
    pthread_mutex_lock(&process->lock);
    if (!process->rt) {
        const char *soc = getenv("LEO_SOC");
        struct leo_rt_opts opts = {
            .size = sizeof(opts),
            .soc = soc && *soc ? NULL : api_face.default_soc,
            .log = api_face.log,
        };
        status = leo_rt_create(&opts, &process->rt);
        if (status == LEO_OK) {
            read_visible(process, leo_rt_device_count(process->rt));
        }
    }
    *rt = process->rt;
    pthread_mutex_unlock(&process->lock);
    return status;
}

leo_status api_initialize(int default_device)
{
    struct api_process *process = api_process();
    struct leo_rt *rt;
    pthread_mutex_lock(&process->lock);
    bool repeat = process->references > 0;
    process->references++;
    process->finalized = false;
    if (!repeat) {
        process->default_device = default_device;
    }
    pthread_mutex_unlock(&process->lock);
    if (repeat) {
        return leo_rt_fail(API_REPEATED, "already initialized: once a process is enough, or "
                                         "finalize first");
    }
    leo_status status = api_runtime(&rt);
    if (status != LEO_OK) {
        pthread_mutex_lock(&process->lock);
        process->references = 0;
        pthread_mutex_unlock(&process->lock);
    }
    return status;
}

// Frees the runtime once no device is open; devices still open keep it until they are reset. Caller
// holds both locks.
static void drop_runtime(struct api_process *process)
{
    bool open = false;
    for (int i = 0; i < API_DEVICES; i++) {
        open = open || process->device[i].references > 0;
    }
    if (!open) {
        leo_rt_destroy(process->rt);
        process->rt = NULL;
    }
}

void api_runtime_end(void)
{
    struct api_process *process = api_process();
    pthread_mutex_lock(&process->lock);
    if (process->finalized) {
        drop_runtime(process);
    }
    pthread_mutex_unlock(&process->lock);
}

leo_status api_finalize(bool all, uint64_t *left)
{
    struct api_process *process = api_process();
    if (all && api_face.finalizing) {
        api_face.finalizing();
    }
    pthread_mutex_lock(&process->device_lock);
    pthread_mutex_lock(&process->lock);
    bool good = all ? !process->finalized : process->references > 0;
    if (good) {
        process->references = all ? 0 : process->references - 1;
        if (process->references == 0) {
            process->finalized = true;
            drop_runtime(process);
        }
    }
    if (left) {
        *left = process->references;
    }
    pthread_mutex_unlock(&process->lock);
    pthread_mutex_unlock(&process->device_lock);
    return good ? LEO_OK
                : leo_rt_fail(API_FINALIZED, all ? "already finalized" : "no reference is left");
}

bool api_is_initialized(void)
{
    struct api_process *process = api_process();
    pthread_mutex_lock(&process->lock);
    bool initialized = process->references > 0;
    pthread_mutex_unlock(&process->lock);
    return initialized;
}

void *api_make(size_t bytes)
{
    void *made = api_handle_alloc(&api_process()->handles, bytes);
    if (!made) {
        leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    return made;
}

void api_publish(void *object, unsigned kind, struct api_family *family, void (*end)(void *object))
{
    ((struct api_handle *)object)->end = end;
    api_handle_add(&api_process()->handles, object, kind, family);
}

void *api_find(const void *ptr, unsigned kind)
{
    return api_handle_find(&the_process.handles, ptr, kind);
}

void api_unpin(void *object)
{
    api_handle_unpin(&the_process.handles, object);
}

void api_unpin_variable(void *variable)
{
    struct api_handle *handle;
    memcpy(&handle, variable, sizeof(handle));
    if (handle) {
        api_unpin(handle);
    }
}

bool api_claim(void *object)
{
    return api_handle_claim(&the_process.handles, object);
}

void *api_take(struct api_family *family)
{
    return api_family_take(&the_process.handles, family);
}

void api_family_end(struct api_family *family)
{
    struct api_handle *handle;
    while ((handle = api_take(family)) != NULL) {
        handle->end(handle);
    }
}

void api_free(void *object)
{
    api_handle_free(&the_process.handles, object);
}
