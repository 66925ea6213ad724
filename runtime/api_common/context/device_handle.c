/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: counted opening, the end of everything on them, capabilities. */
#include "../memory/ipc_list.h"
#include "../process/code.h"
#include "../stream/work.h"
#include "context.h"

#include <leo/driver.h>

leo_status api_device_index(int32_t id, int *index)
{
    struct leo_rt *rt;
    struct api_process *process = api_process();
    leo_status status = api_runtime(&rt);
    if (status != LEO_OK) {
        return status;
    }
    if (process->visible_count == 0) {
        return leo_rt_fail(LEO_ERR_NO_DEVICE,
                           "no device %d: %s names no device that exists, so there is none", id,
                           api_face.visible);
    }
    if (id < 0 || id >= process->visible_count) {
        return leo_rt_fail(LEO_ERR_NO_DEVICE,
                           "no device %d: ids go from 0 to %d (%s and LEO_DEVICES say how many "
                           "there are)",
                           id, process->visible_count - 1, api_face.visible);
    }
    *index = process->visible[id];
    return LEO_OK;
}

int32_t api_device_id(const struct leo_rt_device *device)
{
    const struct api_process *process = api_process();
    int32_t id = process->visible_count - 1;
    while (id >= 0 && process->visible[id] != leo_rt_device_index(device)) {
        id--;
    }
    return id;
}

// Caller holds the device lock.
static leo_status open_slot(struct api_process *process, int32_t id)
{
    int index;
    leo_status status = api_device_index(id, &index);
    struct api_device *slot = &process->device[status == LEO_OK ? id : 0];
    if (status != LEO_OK || slot->primary) {
        return status;
    }
    struct leo_rt_device *rt;
    status = leo_rt_device_open(process->rt, index, &rt);
    if (status != LEO_OK) {
        return status;
    }
    slot->rt = rt;
    status = api_context_make(id, true, &slot->primary);
    if (status != LEO_OK) {
        slot->rt = NULL;
        slot->primary = NULL;
        leo_rt_device_close(rt);
    }
    return status;
}

leo_status api_device_set(int32_t id)
{
    struct api_process *process = api_process();
    bool first = false;
    pthread_mutex_lock(&process->device_lock);
    leo_status status = open_slot(process, id);
    if (status == LEO_OK) {
        first = ++process->device[id].references == 1;
        api_context_enter(process->device[id].primary);
    }
    pthread_mutex_unlock(&process->device_lock);
    if (first && api_face.device_opened) {
        api_face.device_opened(id);
    }
    return status;
}

static void close_slot(struct api_device *slot)
{
    // Contexts first: without one nothing new is made. Their streams wait for the callbacks in
    // them.
    struct api_family *families[] = {&slot->contexts, &slot->events, &slot->notifies, &slot->graphs,
                                     &slot->pools};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        api_family_end(families[i]);
    }
    atomic_store(&slot->default_pool, NULL);
    api_work_device_end(slot);
    api_family_end(&slot->physical);
    api_ipc_end(slot);
    api_family_end(&slot->host_memory);
    atomic_store(&api_process()->float_mode[leo_rt_device_index(slot->rt)], LEO_FLOAT_MODE_OWN);
    leo_rt_device_close(slot->rt);
    slot->rt = NULL;
    slot->primary = NULL;
    slot->references = 0;
}

// Caller holds the device lock.
static leo_status drop_device(struct api_process *process, int32_t id, bool force)
{
    int index;
    leo_status status = api_device_index(id, &index);
    if (status != LEO_OK) {
        return status;
    }
    struct api_device *slot = &process->device[id];
    if (slot->references == 0) {
        return leo_rt_fail(API_NOT_SET, "device %d was not set, or was already reset", id);
    }
    slot->references = force ? 0 : slot->references - 1;
    if (slot->references == 0) {
        close_slot(slot);
        api_runtime_end();
    }
    return LEO_OK;
}

leo_status api_device_reset(int32_t id, bool force)
{
    struct api_process *process = api_process();
    pthread_mutex_lock(&process->device_lock);
    leo_status status = drop_device(process, id, force);
    pthread_mutex_unlock(&process->device_lock);
    return status;
}

leo_status api_device_count(uint32_t *count)
{
    struct leo_rt *rt;
    leo_status status = api_runtime(&rt);
    if (status != LEO_OK) {
        return status;
    }
    *count = (uint32_t)api_process()->visible_count;
    return *count ? LEO_OK
                  : leo_rt_fail(API_NONE_VISIBLE, "no device is visible: see %s", api_face.visible);
}

// Opens a device for the moment of a question. Caller holds the device lock.
static leo_status open_for_question(int64_t id, struct leo_rt_device **device)
{
    int index;
    leo_status status = id < INT32_MIN || id > INT32_MAX
                            ? leo_rt_fail(LEO_ERR_NO_DEVICE, "no device %lld", (long long)id)
                            : api_device_index((int32_t)id, &index);
    return status != LEO_OK ? status : leo_rt_device_open(api_process()->rt, index, device);
}

leo_status api_device_caps(int64_t id, struct leo_caps *caps)
{
    pthread_mutex_t *lock = &api_process()->device_lock;
    struct leo_rt_device *device;
    pthread_mutex_lock(lock);
    leo_status status = open_for_question(id, &device);
    if (status == LEO_OK) {
        leo_rt_device_get_caps(device, caps);
        leo_rt_device_close(device);
    }
    pthread_mutex_unlock(lock);
    return status;
}

leo_status api_device_told_as(int64_t id, char name[LEO_RT_NAME_BYTES])
{
    pthread_mutex_t *lock = &api_process()->device_lock;
    struct leo_rt_device *device;
    pthread_mutex_lock(lock);
    leo_status status = open_for_question(id, &device);
    if (status == LEO_OK) {
        leo_rt_device_told_as(device, name);
        leo_rt_device_close(device);
    }
    pthread_mutex_unlock(lock);
    return status;
}

leo_status api_device_number(int64_t id, const char *section, const char *key, double *value)
{
    pthread_mutex_t *lock = &api_process()->device_lock;
    struct leo_rt_device *device;
    pthread_mutex_lock(lock);
    leo_status status = open_for_question(id, &device);
    if (status == LEO_OK) {
        status = leo_rt_soc_number(device, section, key, value);
        leo_rt_device_close(device);
    }
    pthread_mutex_unlock(lock);
    return status;
}

leo_status api_device_is_set(int32_t id, bool *is_set)
{
    struct api_process *process = api_process();
    if (id < 0 || id >= API_DEVICES) {
        return leo_rt_fail(LEO_ERR_NO_DEVICE, "no device %d", id);
    }
    pthread_mutex_lock(&process->device_lock);
    *is_set = process->device[id].primary != NULL;
    pthread_mutex_unlock(&process->device_lock);
    return LEO_OK;
}

leo_status api_device_is_dead(int32_t id, bool *is_dead)
{
    struct api_process *process = api_process();
    int index;
    leo_status status = api_device_index(id, &index);
    if (status == LEO_OK) {
        pthread_mutex_lock(&process->device_lock);
        struct leo_rt_device *rt = process->device[id].rt;
        *is_dead = rt && leo_drv_device_is_dead(leo_rt_device_driver(rt));
        pthread_mutex_unlock(&process->device_lock);
    }
    return status;
}

leo_status api_device_use(int32_t id, struct leo_rt_use *use, uint64_t *free_bytes,
                          uint64_t *total_bytes)
{
    struct api_process *process = api_process();
    int index;
    *use = (struct leo_rt_use){0};
    *free_bytes = *total_bytes = 0;
    leo_status status = api_device_index(id, &index);
    if (status == LEO_OK) {
        pthread_mutex_lock(&process->device_lock);
        struct leo_rt_device *rt = process->device[id].rt;
        if (rt) {
            leo_rt_device_take_use(rt, use);
            status = leo_rt_memory_info(rt, free_bytes, total_bytes);
        }
        pthread_mutex_unlock(&process->device_lock);
    }
    return status;
}

leo_status api_device_hold(uint32_t id, struct leo_rt_device **device)
{
    struct api_process *process = api_process();
    pthread_mutex_lock(&process->device_lock);
    bool set =
        process->rt && id < (uint32_t)process->visible_count && process->device[id].references > 0;
    leo_status status = set ? leo_rt_device_open(process->rt, process->visible[id], device)
                            : leo_rt_fail(API_NOT_SET, "device %u is not in use: call %s before",
                                          id, api_face.set_device);
    pthread_mutex_unlock(&process->device_lock);
    return status;
}

leo_status api_device_user_id(int32_t index, int32_t *id)
{
    struct leo_rt *rt;
    const struct api_process *process = api_process();
    leo_status status = api_runtime(&rt);
    for (int32_t i = 0; status == LEO_OK && i < process->visible_count; i++) {
        if (process->visible[i] == index) {
            *id = i;
            return LEO_OK;
        }
    }
    return status != LEO_OK
               ? status
               : leo_rt_fail(LEO_ERR_NO_DEVICE, "device %d is not visible here", index);
}

leo_status api_device_exists(int32_t index)
{
    struct leo_rt *rt;
    leo_status status = api_runtime(&rt);
    if (status == LEO_OK && (index < 0 || index >= leo_rt_device_count(rt))) {
        status = leo_rt_fail(LEO_ERR_NO_DEVICE, "no device %d: there are %d", index,
                             leo_rt_device_count(rt));
    }
    return status;
}

leo_status api_limit_set(uint64_t us)
{
    struct leo_rt *rt;
    pthread_mutex_t *lock = &api_process()->device_lock;
    if (us == 0 || us > UINT32_MAX) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "the timeout must lie between 1 ms and %u s",
                           UINT32_MAX / 1000000);
    }
    pthread_mutex_lock(lock);
    leo_status status = api_runtime(&rt);
    if (status == LEO_OK) {
        leo_rt_set_limit_us(rt, (uint32_t)us);
    }
    pthread_mutex_unlock(lock);
    return status;
}

leo_status api_limit_get(uint32_t *us)
{
    struct leo_rt *rt;
    leo_status status = api_runtime(&rt);
    if (status == LEO_OK) {
        *us = leo_rt_get_limit_us(rt);
    }
    return status;
}
