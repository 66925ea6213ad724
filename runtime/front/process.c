/* SPDX-License-Identifier: Apache-2.0 */
/* Life of the process: initialised, forked, finalised; the runtime made on first use; handles. */
#include "process.h"

#include "code.h"
#include "context.h"

#include <stdlib.h>
#include <string.h>

// A process that never called us. @stubs: what was registered before main, if anything was.
#define NEW_PROCESS(stub_tree, device)                                                             \
    .lock = PTHREAD_MUTEX_INITIALIZER, .device_lock = PTHREAD_MUTEX_INITIALIZER,                   \
    .handles = FRONT_TABLE_INITIALIZER, .reports = FRONT_REPORTS_INITIALIZER,                      \
    .map_lock = PTHREAD_MUTEX_INITIALIZER, .mapped = FRONT_RANGES_INITIALIZER,                     \
    .pool_blocks = FRONT_RANGES_INITIALIZER, .ipc_lock = PTHREAD_MUTEX_INITIALIZER,                \
    .worker_lock = PTHREAD_MUTEX_INITIALIZER, .host_memory = FRONT_RANGES_INITIALIZER,             \
    .stubs = {.lock = PTHREAD_MUTEX_INITIALIZER, .tree = stub_tree},                               \
    .dump = {.lock = PTHREAD_MUTEX_INITIALIZER}, .default_device = device

static struct front_process the_process = {NEW_PROCESS(NULL, FRONT_DEFAULT_NONE)};

/* A forked child starts as a process that never called us: the parent's chips run in threads it
 * does not have, and its locks may be held by them. What the parent had is left as it is,
 * untouched. */
static void start_anew(void)
{
    // Registered before main, and never again.
    void *stubs = the_process.stubs.tree;
    the_process = (struct front_process){
        NEW_PROCESS(stubs, front_face.default_device),
        .child = true,
    };
    front_context_forget();
    if (front_face.forked) {
        front_face.forked();
    }
}

static void prepare(void)
{
    the_process.default_device = front_face.default_device;
    // If there is no memory for it a child must do without: it would fail itself.
    (void)pthread_atfork(NULL, NULL, start_anew);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

struct front_process *front_process(void)
{
    pthread_once(&once, prepare);
    return &the_process;
}

// An ascending list; reading stops at the first entry that is not one.
static void read_visible(struct front_process *process, int count)
{
    const char *text = getenv(front_face.visible);
    process->visible_count = 0;
    if (!text) {
        for (int i = 0; i < count && i < FRONT_DEVICES; i++) {
            process->visible[process->visible_count++] = i;
        }
        return;
    }
    long previous = -1;
    while (*text && process->visible_count < FRONT_DEVICES) {
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

leo_status front_runtime(struct leo_rt **rt)
{
    struct front_process *process = front_process();
    leo_status status = LEO_OK;
    pthread_mutex_lock(&process->lock);
    if (!process->rt) {
        const char *soc = getenv("LEO_SOC");
        struct leo_rt_opts opts = {
            .size = sizeof(opts),
            .soc = soc && *soc ? NULL : front_face.default_soc,
            .log = front_face.log,
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

leo_status front_initialize(int default_device)
{
    struct front_process *process = front_process();
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
        return leo_rt_fail(FRONT_REPEATED, "already initialized: once a process is enough, or "
                                           "finalize first");
    }
    leo_status status = front_runtime(&rt);
    if (status != LEO_OK) {
        pthread_mutex_lock(&process->lock);
        process->references = 0;
        pthread_mutex_unlock(&process->lock);
    }
    return status;
}

// Frees the runtime once no device is open; devices still open keep it until they are reset. Caller
// holds both locks.
static void drop_runtime(struct front_process *process)
{
    bool open = false;
    for (int i = 0; i < FRONT_DEVICES; i++) {
        open = open || process->device[i].references > 0;
    }
    if (!open) {
        leo_rt_destroy(process->rt);
        process->rt = NULL;
    }
}

void front_runtime_end(void)
{
    struct front_process *process = front_process();
    pthread_mutex_lock(&process->lock);
    if (process->finalized) {
        drop_runtime(process);
    }
    pthread_mutex_unlock(&process->lock);
}

leo_status front_finalize(bool all, uint64_t *left)
{
    struct front_process *process = front_process();
    if (all && front_face.finalizing) {
        front_face.finalizing();
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
                : leo_rt_fail(FRONT_FINALIZED, all ? "already finalized" : "no reference is left");
}

bool front_is_initialized(void)
{
    struct front_process *process = front_process();
    pthread_mutex_lock(&process->lock);
    bool initialized = process->references > 0;
    pthread_mutex_unlock(&process->lock);
    return initialized;
}

void *front_make(size_t bytes)
{
    void *made = front_handle_alloc(&front_process()->handles, bytes);
    if (!made) {
        leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    return made;
}

void front_publish(void *object, unsigned kind, struct front_family *family)
{
    front_handle_add(&front_process()->handles, object, kind, family);
}

void *front_find(const void *ptr, unsigned kind)
{
    return front_handle_find(&the_process.handles, ptr, kind);
}

void front_unpin(void *object)
{
    front_handle_unpin(&the_process.handles, object);
}

void front_unpin_variable(void *variable)
{
    struct front_handle *handle;
    memcpy(&handle, variable, sizeof(handle));
    if (handle) {
        front_unpin(handle);
    }
}

bool front_claim(void *object)
{
    return front_handle_claim(&the_process.handles, object);
}

void *front_take(struct front_family *family)
{
    return front_family_take(&the_process.handles, family);
}

void front_free(void *object)
{
    front_handle_free(&the_process.handles, object);
}
