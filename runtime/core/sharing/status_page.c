/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE // memfd_create
#include "../rt.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void rt_status_open(struct leo_rt *rt)
{
    const size_t bytes = sizeof(*rt->status);
    rt->status_fd = memfd_create(LEO_STATUS_NAME, MFD_CLOEXEC);
    void *memory = MAP_FAILED;
    if (rt->status_fd >= 0 && ftruncate(rt->status_fd, (off_t)bytes) == 0) {
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rt->status_fd, 0);
    }
    if (memory == MAP_FAILED) {
        // Nobody sees this process; nothing else is lost.
        rt_log(rt, 2, "leo smi will not show this process: the system gives no shared memory");
        return;
    }
    rt->status = memory;
    rt->status->pid = (int32_t)getpid();
    rt->status->magic = LEO_STATUS_MAGIC;
}

void rt_status_close(struct leo_rt *rt)
{
    if (rt->status) {
        munmap(rt->status, sizeof(*rt->status));
    }
    if (rt->status_fd >= 0) {
        close(rt->status_fd);
    }
}

static struct leo_status_device *own(const struct leo_rt_device *device)
{
    return device->rt->status && device->index < LEO_STATUS_DEVICES
               ? &device->rt->status->device[device->index]
               : NULL;
}

static void put(uint64_t *place, uint64_t value)
{
    __atomic_store_n(place, value, __ATOMIC_RELAXED);
}

static void add(uint64_t *place, uint64_t value)
{
    __atomic_fetch_add(place, value, __ATOMIC_RELAXED);
}

void rt_status_device_opened(const struct leo_rt_device *device)
{
    struct leo_status_device *status = own(device);
    if (status) {
        memset(status, 0, sizeof(*status));
        snprintf(status->chip, sizeof(status->chip), "%s", device->caps.soc_name);
        rt_status_memory(device);
        __atomic_store_n(&status->is_open, 1, __ATOMIC_RELEASE);
    }
}

void rt_status_device_closed(const struct leo_rt_device *device)
{
    struct leo_status_device *status = own(device);
    if (status) {
        __atomic_store_n(&status->is_open, 0, __ATOMIC_RELEASE);
    }
}

void rt_status_memory(const struct leo_rt_device *device)
{
    struct leo_status_device *status = own(device);
    uint64_t left = 0, total = 0;
    if (status) {
        leo_drv_memory_info(device->drv, &left, &total);
        put(&status->memory_used, total - left);
        put(&status->memory_total, total);
    }
}

void rt_status_task(const struct leo_rt_device *device, const struct rt_task *task,
                    const struct leo_drv_completion *done)
{
    struct leo_status_device *status = own(device);
    if (!status) {
        return;
    }
    const uint64_t ns = done->end_ns - done->start_ns;
    put(&status->time_ns, device->progress.newest_end_ns);
    add(&status->tasks, 1);
    if (task->kernel) {
        add(&status->kernels, 1);
        add(task->kernel->kind == LEO_CORE_KIND_VECTOR ? &status->vector_ns : &status->cube_ns, ns);
    }
}

void leo_rt_device_count_link(struct leo_rt_device *device, uint64_t bytes)
{
    struct leo_status_device *status = own(device);
    if (status) {
        add(&status->link_bytes, bytes);
    }
}
