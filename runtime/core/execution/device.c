/* SPDX-License-Identifier: Apache-2.0 */
#include "../gdb/gdb.h"
#include "../profiling/code.h"
#include "../rt.h"

#include <leo/alloc.h>
#include <leo/soc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A folder takes a file of each process: those of one job share their environment.
static void name_tape(const struct leo_rt *rt, int index, char *tape, size_t bytes)
{
    struct stat at;
    const char *path = rt->opts.tape ? rt->opts.tape : "";
    const bool folder = stat(path, &at) == 0 && S_ISDIR(at.st_mode);
    int used = folder ? snprintf(tape, bytes, "%s/%d.tape", path, (int)getpid())
                      : snprintf(tape, bytes, "%s", path);
    if (index && used >= 0 && (size_t)used < bytes) {
        snprintf(tape + used, bytes - (size_t)used, ".%d", index);
    }
}

static leo_status open_transport(struct leo_rt *rt, int index, struct leo_transport **transport)
{
    if (rt->opts.open) {
        leo_status status = rt->opts.open(rt->opts.open_user, index, transport);
        return status ? rt_fail(status, "device %d: cannot open its transport: %s", index,
                                leo_status_text(status))
                      : LEO_OK;
    }
    char error[512], tape[4096];
    name_tape(rt, index, tape, sizeof(tape));
    const struct leo_drv_sim_opts opts = {
        .size = sizeof(opts),
        .soc_text = rt->soc_text ? rt->soc_text : leo_isa_soc_text(rt->soc_name),
        .soc_text_name = rt->soc_name,
        .host_threads = rt->opts.host_threads,
        .simd = rt->opts.simd,
        .index = (unsigned)index,
        .check = rt->check,
        .tape = rt->opts.tape ? tape : NULL,
        .no_values = rt->opts.no_values,
        .debugger = rt->code                ? rt_code_counter(rt->code)
                    : rt->gdb && index == 0 ? gdb_server_debugger(rt->gdb)
                                            : NULL,
    };
    leo_status status = leo_drv_transport_sim_open(&opts, transport, error, sizeof(error));
    return status ? rt_fail(status, "device %d: cannot make a simulated chip from %s: %s", index,
                            rt->soc_name, error[0] ? error : leo_status_text(status))
                  : LEO_OK;
}

leo_status rt_device_create(struct leo_rt *rt, int index, struct leo_rt_device **out)
{
    struct leo_rt_device *device = leo_calloc(1, sizeof(*device));
    if (!device) {
        return rt_fail(LEO_ERR_NO_MEMORY, "device %d: out of host memory", index);
    }
    device->rt = rt;
    device->index = index;
    device->progress.stalled_calls = UINT64_MAX;
    // What a custom transport does depends on when calls come.
    device->progress.is_shared =
        rt->opts.open || rt->gdb || rt->code || rt->opts.tape || !rt->may_run_ahead;
    device->progress.may_run_ahead = !device->progress.is_shared;
    device->progress.run_ahead_calls = UINT64_MAX;
    pthread_mutex_init(&device->lock, NULL);
    pthread_cond_init(&device->progress.host_changed, NULL);
    pthread_cond_init(&device->progress.run_ahead_changed, NULL);
    pthread_mutex_init(&device->print_lock, NULL);
    struct leo_transport *transport;
    leo_status status = rt_host_model_start(device);
    if (!status) {
        status = open_transport(rt, index, &transport);
    }
    if (!status) {
        status = leo_drv_device_create(transport, &device->drv);
        if (status) {
            rt_fail(status, "device %d does not start: %s", index, leo_status_text(status));
        }
    }
    if (!status) {
        leo_drv_device_get_caps(device->drv, &device->caps);
        pthread_mutex_lock(&device->lock);
        const struct leo_rt_stream_opts opts = {0};
        status = rt_stream_create(device, &opts, &device->copy_stream);
        pthread_mutex_unlock(&device->lock);
    }
    if (status) {
        rt_device_destroy(device);
        return status;
    }
    if (device->caps.gm_bytes < LEO_DRV_GM_BYTES && !rt->opts.open) {
        rt_log(
            rt, 2,
            "device %d: the process may use little address space (ulimit -v): the device has %llu "
            "bytes of memory, in %llu bytes of addresses",
            index, (unsigned long long)device->caps.hbm_bytes,
            (unsigned long long)device->caps.gm_bytes);
    }
    rt_log(rt, 1, "device %d: %s, %u + %u cores; host model: %s", index, device->caps.soc_name,
           device->caps.cube_cores, device->caps.vector_cores, rt->host_model.text);
    rt_status_device_opened(device);
    *out = device;
    return LEO_OK;
}

void rt_device_destroy(struct leo_rt_device *device)
{
    if (!device) {
        return;
    }
    rt_run_ahead_thread_finish(device);
    rt_status_device_closed(device);
    if (device->attached) {
        device->destroy_attached(device->attached);
    }
    pthread_mutex_lock(&device->lock);
    while (device->streams) {
        rt_stream_destroy(device->streams);
    }
    while (device->graphs) {
        rt_graph_destroy(device->graphs);
    }
    while (device->modules) {
        rt_module_destroy(device->modules);
    }
    while (device->events) {
        struct leo_rt_event *event = device->events;
        device->events = event->next;
        leo_free(event);
    }
    rt_profile_destroy(device);
    rt_tags_finish(&device->tags);
    rt_staging_finish(device);
    rt_pinned_finish(device);
    pthread_mutex_unlock(&device->lock);
    leo_free(device->slots);
    leo_free(device->progress.launched_ns);
    leo_drv_device_destroy(device->drv);
    pthread_cond_destroy(&device->progress.host_changed);
    pthread_cond_destroy(&device->progress.run_ahead_changed);
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->print_lock);
    leo_free(device);
}

leo_status leo_rt_device_attach(struct leo_rt_device *device,
                                leo_status (*make)(struct leo_rt_device *device, void **object),
                                void (*destroy)(void *object), void **object)
{
    leo_status status = LEO_OK;
    pthread_mutex_lock(&device->lock);
    if (!device->attached) {
        status = make(device, &device->attached);
        device->destroy_attached = destroy;
    }
    *object = device->attached;
    pthread_mutex_unlock(&device->lock);
    return status;
}

void leo_rt_device_get_caps(const struct leo_rt_device *device, struct leo_caps *caps)
{
    *caps = device->caps;
}

void leo_rt_device_take_use(struct leo_rt_device *device, struct leo_rt_use *use)
{
    pthread_mutex_lock(&device->lock);
    *use = device->use;
    use->span_ns = device->progress.newest_end_ns - device->use_from_ns;
    device->use = (struct leo_rt_use){0};
    device->use_from_ns = device->progress.newest_end_ns;
    pthread_mutex_unlock(&device->lock);
}

int leo_rt_device_index(const struct leo_rt_device *device)
{
    return device->index;
}

struct leo_drv_device *leo_rt_device_driver(struct leo_rt_device *device)
{
    return device->drv;
}

uint64_t leo_rt_device_host_time_ns(const struct leo_rt_device *device)
{
    return atomic_load(&device->progress.host_ns);
}

leo_status rt_device_wait_idle(struct leo_rt_device *device)
{
    // Streams come and go while we wait: no pointer to one may be kept.
    leo_status status = rt_device_wait_tasks(device);
    for (struct leo_rt_stream *stream = device->streams; !status && stream; stream = stream->next) {
        rt_device_see_time(device, stream->end_ns);
        rt_run_ahead_seen(stream, stream->submitted);
    }
    return status;
}

leo_status leo_rt_device_synchronize(struct leo_rt_device *device)
{
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_device_wait_idle(device);
    if (!status) {
        pthread_mutex_unlock(&device->lock);
        rt_print_drain(device);
        pthread_mutex_lock(&device->lock);
    }
    for (struct leo_rt_stream *stream = device->streams; !status && stream; stream = stream->next) {
        rt_device_see_time(device, stream->end_ns);
        status = rt_stream_take_fault(stream);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}
