/* SPDX-License-Identifier: Apache-2.0 */
#include "dump.h"

#include "../context/context.h"
#include "../process/code.h"

#include <errno.h>
#include <inttypes.h>
#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct api_dump {
    struct leo_rt_stream *stream;
    struct leo_rt_device *device;
    int32_t stream_id, device_id;
    unsigned what;
    char type[128], node[136], folder[256];
    size_t count;
    struct api_dump_values values[];
};

static struct api_dump_switch *the_switch(void)
{
    return &api_process()->dump;
}

leo_status api_dump_start(const char *root, unsigned what)
{
    struct api_dump_switch *dump = the_switch();
    struct stat state;
    struct tm now;
    const time_t seconds = time(NULL);
    if (strlen(root) >= sizeof(dump->root) || stat(root, &state) != 0 || !S_ISDIR(state.st_mode)) {
        return leo_rt_fail(LEO_ERR_IO, "'%.200s' is no folder: dumps go to one that is there",
                           root);
    }
    localtime_r(&seconds, &now);
    pthread_mutex_lock(&dump->lock);
    strcpy(dump->root, root);
    strftime(dump->begun, sizeof(dump->begun), "%Y%m%d%H%M%S", &now);
    pthread_mutex_unlock(&dump->lock);
    atomic_store(&dump->what, what);
    return LEO_OK;
}

void api_dump_stop(void)
{
    atomic_store(&the_switch()->what, 0);
}

void api_dump_redirect(api_dump_fn take, void *user)
{
    struct api_dump_switch *dump = the_switch();
    pthread_mutex_lock(&dump->lock);
    dump->take = take;
    dump->user = user;
    pthread_mutex_unlock(&dump->lock);
}

bool api_dump_root(char root[API_DUMP_PATH])
{
    struct api_dump_switch *dump = the_switch();
    const bool on = atomic_load(&dump->what) != 0;
    pthread_mutex_lock(&dump->lock);
    strcpy(root, on ? dump->root : "");
    pthread_mutex_unlock(&dump->lock);
    return on;
}

/* ---- values ---- */

/** The bytes of memory that a view spans. */
struct extent {
    int64_t before, after; /**< elements before and behind the first one */
    uint64_t elements;     /**< of the view */
};

static struct extent extent_of(const struct api_dump_tensor *tensor)
{
    struct extent extent = {0, 0, 1};
    for (unsigned i = 0; i < tensor->rank; i++) {
        const int64_t far = (tensor->dim[i] - 1) * tensor->stride[i];
        extent.elements *= (uint64_t)tensor->dim[i];
        *(far < 0 ? &extent.before : &extent.after) += far;
    }
    return extent;
}

// Whether memory has the elements in the order of the view.
static bool is_dense(const struct api_dump_tensor *tensor)
{
    int64_t step = 1;
    for (unsigned i = tensor->rank; i-- > 0;) {
        if (tensor->dim[i] != 1 && tensor->stride[i] != step) {
            return false;
        }
        step *= tensor->dim[i];
    }
    return true;
}

// Element by element in the order of the view; `from` is the first one.
static void gather(const struct api_dump_tensor *tensor, const uint8_t *from, uint8_t *to,
                   uint64_t elements)
{
    int64_t index[API_DUMP_RANK] = {0}, at = 0;
    for (uint64_t i = 0; i < elements; i++) {
        memcpy(to + i * tensor->unit, from + at * (int64_t)tensor->unit, tensor->unit);
        for (unsigned d = tensor->rank; d-- > 0;) {
            at += tensor->stride[d];
            if (++index[d] < tensor->dim[d]) {
                break;
            }
            at -= tensor->stride[d] * tensor->dim[d];
            index[d] = 0;
        }
    }
}

static leo_status take_values(struct leo_rt_device *device, struct api_dump_values *values)
{
    const struct api_dump_tensor *tensor = &values->tensor;
    const struct extent extent = extent_of(tensor);
    const uint64_t bytes = extent.elements * tensor->unit;
    const uint64_t span = (uint64_t)(extent.after - extent.before + 1) * tensor->unit;
    const uint64_t low = tensor->addr + (uint64_t)(extent.before * (int64_t)tensor->unit);
    values->bytes = leo_alloc(bytes + 1); // an empty tensor is dumped too
    values->count = bytes;
    uint8_t *whole = values->bytes && bytes && !is_dense(tensor) ? leo_alloc(span) : values->bytes;
    leo_status status = whole ? LEO_OK : leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    if (status == LEO_OK && bytes && tensor->on_host) {
        memcpy(whole, (const void *)low, span);
    } else if (status == LEO_OK && bytes) {
        status = leo_rt_memcpy(device, whole, (const void *)low, span);
    }
    if (status == LEO_OK && whole != values->bytes) {
        gather(tensor, whole - extent.before * (int64_t)tensor->unit, values->bytes,
               extent.elements);
    }
    if (whole != values->bytes) {
        leo_free(whole);
    }
    return status;
}

// A fault of the stream stays the program's to be reported.
static void wait_for(struct leo_rt_stream *stream)
{
    while (leo_rt_stream_query(stream) == LEO_ERR_NOT_READY) {
    }
}

static leo_status take_all(struct api_dump *dump, bool outputs)
{
    leo_status status = LEO_OK;
    wait_for(dump->stream);
    for (size_t i = 0; i < dump->count && status == LEO_OK; i++) {
        if (dump->values[i].tensor.is_output == outputs) {
            status = take_values(dump->device, &dump->values[i]);
        }
    }
    return status;
}

/* ---- files ---- */

static int write_piece(void *user, const char *path, const void *bytes, uint32_t count,
                       int64_t offset, bool last)
{
    FILE **file = user;
    if (offset == 0) {
        *file = fopen(path, "wb");
    }
    bool good = *file && (count == 0 || fwrite(bytes, 1, count, *file) == count);
    if (*file && (last || !good)) {
        good = fclose(*file) == 0 && good;
        *file = NULL;
    }
    return good ? 0 : -1;
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static bool make_folder(const char *path)
{
    return mkdir(path, 0750) == 0 || errno == EEXIST;
}

// Every folder of a path behind its first `at` letters.
static bool make_folders(char *path, size_t at)
{
    bool good = true;
    for (; good && at <= strlen(path); at++) {
        const char kept = path[at];
        if (kept == '/' || kept == '\0') {
            path[at] = '\0';
            good = make_folder(path);
            path[at] = kept;
            if (kept == '\0') {
                break;
            }
        }
    }
    return good;
}

// <root>/<when>/<device>/[<folder>/]<type>.<node>.<number>.<stream>.<time>; caller holds the lock.
static leo_status write_call(struct api_dump_switch *state, const struct api_dump *dump)
{
    char path[API_DUMP_PATH + 512];
    FILE *file = NULL;
    const uint64_t time_us = now_us();
    const int at = snprintf(path, sizeof(path), "%s/%s/%d%s%s", state->root, state->begun,
                            (int)dump->device_id, *dump->folder ? "/" : "", dump->folder);
    if (!state->take && !make_folders(path, strlen(state->root) + 1)) {
        return leo_rt_fail(LEO_ERR_IO, "%s: %s", path, strerror(errno));
    }
    snprintf(path + at, sizeof(path) - (size_t)at, "/%s.%s.%" PRIu64 ".%d.%" PRIu64, dump->type,
             dump->node, ++state->files, (int)dump->stream_id, time_us);
    return api_dump_encode(dump->node, time_us, dump->values, dump->count, path,
                           state->take ? state->take : write_piece,
                           state->take ? state->user : &file);
}

/* ---- calls ---- */

// Letters of names that are none of a file's become others, as the vendor's tools expect them.
static void take_name(char *to, size_t room, const char *name)
{
    snprintf(to, room, "%s", name);
    for (char *at = to; *at; at++) {
        *at = strchr("/\\. ", *at) ? '_' : *at;
    }
}

leo_status api_dump_begin(const struct api_dump_name *name, const void *handle,
                          const struct api_dump_tensor *tensors, size_t count,
                          struct api_dump **out)
{
    API_PINNED struct api_stream *stream = NULL;
    const unsigned what = atomic_load(&the_switch()->what);
    *out = NULL;
    leo_status status = what ? api_stream_get(handle, &stream) : LEO_OK;
    if (!what || status != LEO_OK || leo_rt_stream_graph(stream->rt)) {
        return status;
    }
    struct api_dump *dump = leo_calloc(1, sizeof(*dump) + count * sizeof(dump->values[0]));
    if (!dump) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    dump->stream = stream->rt;
    dump->device = stream->context->rt;
    dump->stream_id = stream->id;
    dump->device_id = stream->context->device;
    dump->what = what;
    take_name(dump->type, sizeof(dump->type), name->type);
    take_name(dump->node, sizeof(dump->node), name->node ? name->node : name->type);
    snprintf(dump->folder, sizeof(dump->folder), "%s", name->folder ? name->folder : "");
    dump->count = count;
    for (size_t i = 0; i < count; i++) {
        dump->values[i].tensor = tensors[i];
    }
    status = what & API_DUMP_INPUTS ? take_all(dump, false) : LEO_OK;
    if (status != LEO_OK) {
        api_dump_drop(dump);
        return status;
    }
    *out = dump;
    return LEO_OK;
}

void api_dump_drop(struct api_dump *dump)
{
    for (size_t i = 0; dump && i < dump->count; i++) {
        leo_free(dump->values[i].bytes);
    }
    leo_free(dump);
}

leo_status api_dump_end(struct api_dump *dump)
{
    struct api_dump_switch *state = the_switch();
    if (!dump) {
        return LEO_OK;
    }
    leo_status status = dump->what & API_DUMP_OUTPUTS ? take_all(dump, true) : LEO_OK;
    if (status == LEO_OK) {
        pthread_mutex_lock(&state->lock);
        status = write_call(state, dump);
        pthread_mutex_unlock(&state->lock);
    }
    api_dump_drop(dump);
    return status;
}

leo_status api_dump_place(char *path, size_t room)
{
    static const char *const places[] = {"NPU_COLLECT_PATH", "ASCEND_DUMP_PATH",
                                         "ASCEND_WORK_PATH"};
    const char *place = NULL;
    int32_t device = 0;
    leo_status status = api_device_current(&device);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !(place && *place); i++) {
        place = getenv(places[i]);
    }
    char full[API_DUMP_PATH];
    int length = snprintf(full, sizeof(full), "%s/extra-info/data-dump/%d",
                          place && *place ? place : ".", (int)device);
    if (status == LEO_OK &&
        (length < 0 || (size_t)length >= sizeof(full) || room <= (size_t)length)) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG, "there is room for %zu bytes of a path of %d",
                             room, length + 1);
    }
    if (status == LEO_OK && !make_folders(full, 1)) {
        status = leo_rt_fail(LEO_ERR_IO, "%s: %s", full, strerror(errno));
    }
    if (status == LEO_OK) {
        memcpy(path, full, (size_t)length + 1);
    }
    return status;
}

leo_status api_dump_write(const char *path, const char *name, const struct api_dump_tensor *tensors,
                          size_t count)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    struct api_dump_values *values =
        status == LEO_OK ? leo_calloc(count + 1, sizeof(*values)) : NULL;
    FILE *file = NULL;
    if (!values) {
        return status != LEO_OK ? status : leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    for (size_t i = 0; i < count && status == LEO_OK; i++) {
        values[i].tensor = tensors[i];
        status = take_values(context->rt, &values[i]);
    }
    if (status == LEO_OK) {
        status = api_dump_encode(name, now_us(), values, count, path, write_piece, &file);
    }
    for (size_t i = 0; i < count; i++) {
        leo_free(values[i].bytes);
    }
    leo_free(values);
    return status;
}
