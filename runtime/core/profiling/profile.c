/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include <leo/alloc.h>
#include <string.h>

const char *rt_profile_tag_text(const struct leo_rt_device *device,
                                const struct leo_task_record *record)
{
    const char *tag = rt_tag_text(&device->tags, record->tag);
    if (record->opcode == LEO_SQE_OP_KERNEL && tag) {
        return tag;
    }
    switch (record->opcode) {
    case LEO_SQE_OP_KERNEL:
        return "kernel";
    case LEO_SQE_OP_COPY:
        return "copy";
    case LEO_SQE_OP_FILL:
        return "fill";
    case LEO_SQE_OP_EVENT_RECORD:
        return "event record";
    case LEO_SQE_OP_EVENT_WAIT:
        return "event wait";
    case LEO_SQE_OP_VALUE_WAIT:
        return "value wait";
    default:
        return "task";
    }
}

void rt_profile_destroy(struct leo_rt_device *device)
{
    struct rt_profile *profile = device->profile;
    if (profile) {
        while (profile->unloaded) {
            struct leo_rt_module *module = profile->unloaded;
            profile->unloaded = module->next;
            profile->free_module(module);
        }
        leo_free(profile->marks);
        leo_free(profile->links);
        leo_free(profile->launches);
        leo_free(profile);
        device->profile = NULL;
    }
}

leo_status leo_rt_profile_start(struct leo_rt_device *device, uint32_t tasks, uint32_t traces)
{
    if (tasks == 0) {
        return rt_fail(LEO_ERR_INVALID_ARG, "a profile needs room for at least 1 task");
    }
    pthread_mutex_lock(&device->lock);
    leo_status status = LEO_OK;
    struct rt_profile *profile = NULL;
    if (device->profile) {
        status = rt_fail(LEO_ERR_STATE, "device %d is being profiled already: stop that first",
                         device->index);
    } else if (!(profile = leo_calloc(1, sizeof(*profile)))) {
        status = rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for a profile");
    } else {
        profile->tasks = tasks;
        profile->traces = traces;
        status = leo_drv_profile_start(device->drv, tasks, traces);
        if (status) {
            leo_free(profile);
            rt_fail(status, "cannot profile device %d: %s", device->index, leo_status_text(status));
        } else {
            device->profile = profile;
        }
    }
    pthread_mutex_unlock(&device->lock);
    if (!status) {
        rt_profile_memory(device); // where the log of memory starts from
    }
    return status;
}

leo_status leo_rt_profile_stop(struct leo_rt_device *device)
{
    pthread_mutex_lock(&device->lock);
    leo_status status = leo_drv_profile_stop(device->drv);
    if (status) {
        rt_fail(status, "cannot stop the profile of device %d: %s", device->index,
                leo_status_text(status));
    } else {
        rt_profile_destroy(device);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

leo_status rt_profile_read(struct leo_rt_device *device, struct rt_profile_records *records)
{
    if (!device->profile) {
        return rt_fail(LEO_ERR_STATE, "device %d is not being profiled: start a profile first",
                       device->index);
    }
    uint64_t tasks, traces;
    leo_status status =
        leo_drv_profile_get(device->drv, &records->tasks, &tasks, &records->traces, &traces);
    if (status) {
        return rt_fail(status, "cannot read the profile of device %d: %s", device->index,
                       leo_status_text(status));
    }
    const struct rt_profile *profile = device->profile;
    records->task_count = tasks < profile->tasks ? tasks : profile->tasks;
    records->trace_count = traces < profile->traces ? traces : profile->traces;
    records->tasks_lost = tasks - records->task_count;
    records->traces_lost = traces - records->trace_count;
    return LEO_OK;
}

leo_status leo_rt_profile_tasks(struct leo_rt_device *device, struct leo_rt_profile_task *tasks,
                                size_t capacity, size_t *count, uint64_t *lost)
{
    *count = 0;
    struct rt_profile_records records;
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_profile_read(device, &records);
    if (!status) {
        *count = records.task_count;
        if (lost) {
            *lost = records.tasks_lost;
        }
        for (size_t i = 0; i < records.task_count && i < capacity; i++) {
            tasks[i].record = records.tasks[i];
            tasks[i].tag = rt_profile_tag_text(device, &records.tasks[i]);
        }
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

leo_status leo_rt_profile_traces(struct leo_rt_device *device, struct leo_trace_record *traces,
                                 size_t capacity, size_t *count, uint64_t *lost)
{
    *count = 0;
    struct rt_profile_records records;
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_profile_read(device, &records);
    if (!status) {
        *count = records.trace_count;
        if (lost) {
            *lost = records.traces_lost;
        }
        size_t some = records.trace_count < capacity ? records.trace_count : capacity;
        if (some) {
            memcpy(traces, records.traces, some * sizeof(*traces));
        }
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}
