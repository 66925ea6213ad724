/* SPDX-License-Identifier: Apache-2.0 */
#include "gdb/gdb.h"
#include "profiling/code.h"
#include "rt.h"

#include <leo/alloc.h>
#include <leo/soc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy_text(const char *text)
{
    char *copy = leo_alloc(strlen(text) + 1);
    if (copy) {
        strcpy(copy, text);
    }
    return copy;
}

static leo_status read_soc_file(struct leo_rt *rt, const char *path)
{
    char why[1024];
    leo_status status = leo_isa_soc_read(path, &rt->soc_text, why, sizeof(why));
    return status ? rt_fail(status, "chip \"%s\" (LEO_SOC or the program's option): %s", path, why)
                  : LEO_OK;
}

static leo_status open_gdb(struct leo_rt *rt)
{
    const char *where = getenv("LEO_GDB");
    char error[256];
    if (!where || !*where) {
        return LEO_OK;
    }
    leo_status status = gdb_server_create(where, &rt->gdb, error, sizeof(error));
    return status ? rt_fail(status, "%s", error) : LEO_OK;
}

/* A debugger stops; who stops does not count. */
static leo_status open_code(struct leo_rt *rt)
{
    bool wanted = false;
    leo_status status = rt_env_flag("LEO_PROFILE_CODE", &wanted);
    if (!status && wanted && !rt->gdb) {
        status = rt_code_create(&rt->code);
    }
    return status;
}

static leo_status init_runtime(struct leo_rt *rt, const struct leo_rt_opts *opts)
{
    if (opts) {
        if (opts->size < offsetof(struct leo_rt_opts, open)) {
            return rt_fail(LEO_ERR_INVALID_ARG,
                           "leo_rt_opts.size is %zu: set it to sizeof(struct leo_rt_opts)",
                           opts->size);
        }
        memcpy(&rt->opts, opts, opts->size < sizeof(*opts) ? opts->size : sizeof(*opts));
    }
    leo_status status = rt_env_resolve(&rt->opts);
    if (!status) {
        status = rt_env_check(rt->opts.check, &rt->check);
    }
    if (!status) {
        status = rt_host_model_read(&rt->host_model);
    }
    if (!status) {
        rt->may_run_ahead = true;
        status = rt_env_flag("LEO_AHEAD", &rt->may_run_ahead);
    }
    if (status) {
        return status;
    }
    rt->soc_name = copy_text(rt->opts.soc);
    rt->simd = rt->opts.simd ? copy_text(rt->opts.simd) : NULL;
    rt->tape = rt->opts.tape ? copy_text(rt->opts.tape) : NULL;
    if (!rt->soc_name || (rt->opts.simd && !rt->simd) || (rt->opts.tape && !rt->tape)) {
        return rt_fail(LEO_ERR_NO_MEMORY, "out of host memory creating the runtime");
    }
    rt->opts.soc = rt->soc_name;
    rt->opts.simd = rt->simd;
    rt->opts.tape = rt->tape;
    status = open_gdb(rt);
    if (!status) {
        status = open_code(rt);
    }
    if (status) {
        return status;
    }
    status = leo_isa_soc_text(rt->soc_name) ? LEO_OK : read_soc_file(rt, rt->soc_name);
    if (!status) {
        rt_soc_read_name(rt);
    }
    return status;
}

leo_status leo_rt_create(const struct leo_rt_opts *opts, struct leo_rt **out)
{
    *out = NULL;
    struct leo_rt *rt = leo_calloc(1, sizeof(*rt));
    if (!rt) {
        return rt_fail(LEO_ERR_NO_MEMORY, "out of host memory creating the runtime");
    }
    pthread_mutex_init(&rt->lock, NULL);
    pthread_mutex_init(&rt->range_lock, NULL);
    rt->status_fd = -1;
    leo_status status = init_runtime(rt, opts);
    if (status) {
        leo_rt_destroy(rt);
        return status;
    }
    rt_status_open(rt);
    *out = rt;
    return LEO_OK;
}

static void set_range(struct leo_rt *rt, int index, struct leo_rt_device *device)
{
    struct rt_range range = {.device = device};
    if (device) {
        range.base = device->caps.hbm_base;
        range.bytes = device->caps.gm_bytes;
    }
    pthread_mutex_lock(&rt->range_lock);
    rt->range[index] = range;
    pthread_mutex_unlock(&rt->range_lock);
}

// Copies of the other devices may still be using the memory of one that is about to go.
static void wait_for_peers(struct leo_rt *rt)
{
    for (int i = 0; i < RT_DEVICES_MAX; i++) {
        struct leo_rt_device *device = rt->devices[i];
        if (device) {
            pthread_mutex_lock(&device->lock);
            leo_status status = device->progress.peer_copies ? rt_device_wait_idle(device) : LEO_OK;
            if (status) {
                rt_log(rt, 2, "device %d: not idle while another is closed", i);
            }
            pthread_mutex_unlock(&device->lock);
        }
    }
}

void leo_rt_destroy(struct leo_rt *rt)
{
    if (!rt) {
        return;
    }
    wait_for_peers(rt);
    for (int i = 0; i < RT_DEVICES_MAX; i++) {
        set_range(rt, i, NULL);
        rt_device_destroy(rt->devices[i]);
    }
    rt_code_destroy(rt->code);
    gdb_server_destroy(rt->gdb, !rt->has_failed);
    rt_status_close(rt);
    pthread_mutex_destroy(&rt->range_lock);
    pthread_mutex_destroy(&rt->lock);
    leo_free(rt->soc_text);
    leo_free(rt->soc_name);
    leo_free(rt->simd);
    leo_free(rt->tape);
    leo_free(rt);
}

int leo_rt_device_count(const struct leo_rt *rt)
{
    return rt->opts.devices;
}

leo_status leo_rt_device_open(struct leo_rt *rt, int index, struct leo_rt_device **out)
{
    *out = NULL;
    if (index < 0 || index >= rt->opts.devices) {
        return rt_fail(LEO_ERR_NO_DEVICE,
                       "there is no device %d: this process has %d (0 to %d, see LEO_DEVICES)",
                       index, rt->opts.devices, rt->opts.devices - 1);
    }
    pthread_mutex_lock(&rt->lock);
    leo_status status =
        rt->devices[index] ? LEO_OK : rt_device_create(rt, index, &rt->devices[index]);
    if (!status) {
        *out = rt->devices[index];
        set_range(rt, index, *out);
        (*out)->refs++;
    }
    pthread_mutex_unlock(&rt->lock);
    return status;
}

void leo_rt_device_close(struct leo_rt_device *device)
{
    if (!device) {
        return;
    }
    struct leo_rt *rt = device->rt;
    rt_print_drain(device); // what no call waited for is lost with the device
    pthread_mutex_lock(&rt->lock);
    if (--device->refs == 0) {
        rt->devices[device->index] = NULL;
        set_range(rt, device->index, NULL);
        wait_for_peers(rt);
        rt_device_destroy(device);
    }
    pthread_mutex_unlock(&rt->lock);
}

uint32_t leo_rt_get_limit_us(const struct leo_rt *rt)
{
    return __atomic_load_n(&rt->opts.limit_us, __ATOMIC_RELAXED);
}

void leo_rt_set_limit_us(struct leo_rt *rt, uint32_t limit_us)
{
    __atomic_store_n(&rt->opts.limit_us, limit_us, __ATOMIC_RELAXED);
}
