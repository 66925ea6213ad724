/* SPDX-License-Identifier: Apache-2.0 */
/* Profile rings: memory the device writes task and trace records to. */
#include "device.h"

#include <string.h>

enum { COUNTS_BYTES = 64 }; // two u64 and padding, before the records

static size_t profile_bytes(uint32_t tasks, uint32_t traces)
{
    return COUNTS_BYTES + (size_t)tasks * sizeof(struct leo_task_record) +
           (size_t)traces * sizeof(struct leo_trace_record);
}

static leo_status admin_profile_command(struct leo_drv_device *device,
                                        const struct drv_profile *profile)
{
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_SET_PROFILE};
    struct leo_sqe_profile body = {0};
    if (profile->memory) {
        uint64_t tasks_addr = profile->memory_addr + COUNTS_BYTES;
        body.counts = profile->memory_addr;
        body.task_base = tasks_addr;
        body.task_depth = profile->tasks;
        if (profile->traces) {
            body.trace_base = tasks_addr + profile->tasks * sizeof(struct leo_task_record);
            body.trace_depth = profile->traces;
        }
    }
    memcpy(entry.body, &body, sizeof(body));
    return drv_admin_run(device, &entry);
}

void drv_profile_drop(struct leo_drv_device *device)
{
    if (device->profile.memory) {
        leo_drv_dma_free(device, device->profile.memory, device->profile.memory_addr);
        device->profile = (struct drv_profile){0};
    }
}

leo_status leo_drv_profile_start(struct leo_drv_device *device, uint32_t tasks, uint32_t traces)
{
    if (tasks == 0) {
        return LEO_ERR_INVALID_ARG;
    }
    struct drv_profile profile = {.tasks = tasks, .traces = traces};
    pthread_mutex_lock(&device->admin_lock);
    leo_status status = device->profile.memory ? LEO_ERR_STATE : LEO_OK;
    if (!status) {
        status = leo_drv_dma_alloc(device, profile_bytes(tasks, traces), &profile.memory,
                                   &profile.memory_addr);
    }
    if (!status) {
        status = admin_profile_command(device, &profile);
        if (status) {
            leo_drv_dma_free(device, profile.memory, profile.memory_addr);
        } else {
            device->profile = profile;
        }
    }
    pthread_mutex_unlock(&device->admin_lock);
    return status;
}

leo_status leo_drv_profile_stop(struct leo_drv_device *device)
{
    pthread_mutex_lock(&device->admin_lock);
    leo_status status = LEO_OK;
    if (device->profile.memory) {
        status = admin_profile_command(device, &(struct drv_profile){0});
        if (!status) {
            drv_profile_drop(device);
        }
    }
    pthread_mutex_unlock(&device->admin_lock);
    return status;
}

leo_status leo_drv_profile_get(struct leo_drv_device *device, const struct leo_task_record **tasks,
                               uint64_t *task_count, const struct leo_trace_record **traces,
                               uint64_t *trace_count)
{
    pthread_mutex_lock(&device->admin_lock);
    const struct drv_profile *profile = &device->profile;
    leo_status status = profile->memory ? LEO_OK : LEO_ERR_STATE;
    if (!status) {
        const uint64_t *counts = profile->memory;
        const char *records = (const char *)profile->memory + COUNTS_BYTES;
        *tasks = (const void *)records;
        *task_count = __atomic_load_n(&counts[0], __ATOMIC_ACQUIRE);
        *traces = (const void *)(records + profile->tasks * sizeof(struct leo_task_record));
        *trace_count = __atomic_load_n(&counts[1], __ATOMIC_ACQUIRE);
    }
    pthread_mutex_unlock(&device->admin_lock);
    return status;
}
