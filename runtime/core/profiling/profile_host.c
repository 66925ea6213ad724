/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of a profile: when tasks were submitted, calls of the program, memory in use. */
#include "profile.h"

#include <leo/alloc.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t leo_rt_profile_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

// A log entry that finds no memory is left out: a profile with a gap is better than a failed
// launch.
static struct leo_rt_profile_mark *add_mark(struct rt_profile *profile)
{
    if (profile->mark_count == profile->mark_capacity) {
        size_t capacity = profile->mark_capacity ? profile->mark_capacity * 2 : 1024;
        struct leo_rt_profile_mark *marks = leo_realloc(profile->marks, capacity * sizeof(*marks));
        if (!marks) {
            return NULL;
        }
        profile->marks = marks;
        profile->mark_capacity = capacity;
    }
    struct leo_rt_profile_mark *mark = &profile->marks[profile->mark_count++];
    *mark =
        (struct leo_rt_profile_mark){.thread = thread_id(), .begin_ns = leo_rt_profile_clock_ns()};
    return mark;
}

static void add_launch(struct rt_profile *profile, uint32_t cmd_id,
                       const struct leo_rt_kernel *kernel)
{
    if (profile->launch_count == profile->launch_capacity) {
        size_t capacity = profile->launch_capacity ? profile->launch_capacity * 2 : 256;
        struct rt_profile_launch *launches =
            leo_realloc(profile->launches, capacity * sizeof(*launches));
        if (!launches) {
            return;
        }
        profile->launches = launches;
        profile->launch_capacity = capacity;
    }
    profile->launches[profile->launch_count++] = (struct rt_profile_launch){cmd_id, kernel};
}

const struct leo_rt_kernel *rt_profile_kernel(const struct rt_profile *profile, uint32_t cmd_id)
{
    size_t low = 0, high = profile->launch_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (profile->launches[middle].cmd_id < cmd_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < profile->launch_count && profile->launches[low].cmd_id == cmd_id
               ? profile->launches[low].kernel
               : NULL;
}

bool rt_profile_keep(struct leo_rt_module *module, void (*free_module)(struct leo_rt_module *))
{
    struct rt_profile *profile = module->device->profile;
    const bool keeps = profile && module->device->rt->code;
    if (keeps) {
        profile->free_module = free_module;
        module->next = profile->unloaded;
        profile->unloaded = module;
    }
    return keeps;
}

void rt_profile_forget(struct leo_rt_device *device, const struct leo_rt_module *module)
{
    struct rt_profile *profile = device->profile;
    for (size_t i = 0; profile && i < profile->launch_count; i++) {
        const struct leo_rt_kernel *kernel = profile->launches[i].kernel;
        profile->launches[i].kernel = kernel && kernel->module == module ? NULL : kernel;
    }
}

void rt_profile_submitted(struct leo_rt_device *device, uint32_t cmd_id,
                          const struct leo_rt_kernel *kernel)
{
    if (device->profile && device->profile->traces && kernel) {
        add_launch(device->profile, cmd_id, kernel);
    }
    struct leo_rt_profile_mark *mark = device->profile ? add_mark(device->profile) : NULL;
    if (mark) {
        mark->kind = LEO_RT_PROFILE_LAUNCH;
        mark->value = cmd_id;
    }
}

void rt_profile_memory(struct leo_rt_device *device)
{
    if (!leo_rt_profile_is_on(device)) {
        return;
    }
    uint64_t left, total;
    pthread_mutex_lock(&device->lock);
    leo_drv_memory_info(device->drv, &left, &total);
    struct leo_rt_profile_mark *mark = device->profile ? add_mark(device->profile) : NULL;
    if (mark) {
        mark->kind = LEO_RT_PROFILE_MEMORY;
        mark->value = total - left;
    }
    pthread_mutex_unlock(&device->lock);
}

bool leo_rt_profile_is_on(const struct leo_rt_device *device)
{
    return __atomic_load_n(&device->profile, __ATOMIC_RELAXED) != NULL;
}

void leo_rt_profile_call(struct leo_rt_device *device, enum leo_rt_profile_kind kind,
                         const char *name, uint64_t begin_ns)
{
    pthread_mutex_lock(&device->lock);
    uint32_t tag = device->profile ? rt_tag(device, name) : 0;
    struct leo_rt_profile_mark *mark = tag ? add_mark(device->profile) : NULL;
    if (mark) {
        mark->kind = kind;
        mark->name = rt_tag_text(&device->tags, tag);
        mark->end_ns = mark->begin_ns;
        mark->begin_ns = begin_ns;
    }
    pthread_mutex_unlock(&device->lock);
}

void leo_rt_profile_link(struct leo_rt_device *device, const struct leo_rt_profile_link *link)
{
    pthread_mutex_lock(&device->lock);
    struct rt_profile *profile = device->profile;
    const uint32_t name = profile ? rt_tag(device, link->name) : 0,
                   group = profile ? rt_tag(device, link->group) : 0;
    if (name && group && profile->link_count == profile->link_capacity) {
        const size_t capacity = profile->link_capacity ? profile->link_capacity * 2 : 256;
        struct leo_rt_profile_link *links = leo_realloc(profile->links, capacity * sizeof(*links));
        profile->links = links ? links : profile->links;
        profile->link_capacity = links ? capacity : profile->link_capacity;
    }
    if (name && group && profile->link_count < profile->link_capacity) {
        struct leo_rt_profile_link *to = &profile->links[profile->link_count++];
        *to = *link;
        to->name = rt_tag_text(&device->tags, name);
        to->group = rt_tag_text(&device->tags, group);
    }
    pthread_mutex_unlock(&device->lock);
}

static leo_status no_profile(const struct leo_rt_device *device)
{
    return rt_fail(LEO_ERR_STATE, "device %d is not being profiled: start a profile first",
                   device->index);
}

leo_status leo_rt_profile_links(struct leo_rt_device *device,
                                const struct leo_rt_profile_link **links, size_t *count)
{
    pthread_mutex_lock(&device->lock);
    leo_status status = device->profile ? LEO_OK : no_profile(device);
    if (status == LEO_OK) {
        *links = device->profile->links;
        *count = device->profile->link_count;
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

leo_status leo_rt_profile_marks(struct leo_rt_device *device,
                                const struct leo_rt_profile_mark **marks, size_t *count)
{
    leo_status status = LEO_OK;
    pthread_mutex_lock(&device->lock);
    if (device->profile) {
        *marks = device->profile->marks;
        *count = device->profile->mark_count;
    } else {
        status = no_profile(device);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}
