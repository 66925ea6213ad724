/* SPDX-License-Identifier: Apache-2.0 */
#include "../gdb/gdb.h"
#include "image.h"

#include <errno.h>
#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MODULE_FILE_MAX = 256 << 20 };

// Before any of its kernels can run.
static void look_for_polls(struct leo_rt_module *module)
{
    struct leo_rt_device *device = module->device;
    const struct leo_image_desc *desc = &module->image->desc;
    pthread_mutex_lock(&device->lock);
    if (!device->progress.is_watched &&
        leo_drv_image_polls(device->drv, desc, module->image->flat + sizeof(*desc))) {
        rt_log(device->rt, 1, "%s: some of its code waits for memory in a loop", module->name);
        rt_run_ahead_watch(device);
    }
    pthread_mutex_unlock(&device->lock);
}

static leo_status load_image(struct leo_rt_module *module)
{
    struct leo_rt_device *device = module->device;
    struct rt_image *image = module->image;
    uint64_t bytes = sizeof(image->desc) + image->desc.bytes;
    look_for_polls(module);
    leo_status status = leo_drv_memory_alloc(device->drv, bytes, true, &module->image_addr);
    if (status) {
        return rt_fail(status, "%s: no device memory for its %llu bytes: %s", module->name,
                       (unsigned long long)bytes, leo_status_text(status));
    }
    status = leo_rt_memcpy(device, (void *)(uintptr_t)module->image_addr, image->flat, bytes);
    if (!status) {
        leo_free(image->flat);
        image->flat = NULL;
    }
    return status;
}

// Undoes everything but the list.
static void free_module(struct leo_rt_module *module)
{
    if (module->image_addr) {
        leo_status status = leo_drv_memory_free(module->device->drv, module->image_addr);
        if (status) {
            rt_log(module->device->rt, 2, "%s: its device memory is not freed: %s", module->name,
                   leo_status_text(status));
        }
    }
    rt_print_release(module);
    rt_image_destroy(module->image);
    leo_free(module->name);
    leo_free(module);
}

/* Of a program's modules one is debugged: the one with the kernel that LEO_GDB_KERNEL names, else
 * the first that is no library's. */
static void offer_to_gdb(const struct leo_rt_module *module, const void *elf, size_t bytes)
{
    struct gdb_server *gdb = module->device->rt->gdb;
    const char *kernel = getenv("LEO_GDB_KERNEL");
    GElf_Sym symbol;
    const bool is_named = kernel && *kernel;
    const bool in_memory = strcmp(module->name, "memory") == 0; // module_handle.c
    if (gdb && (is_named ? rt_image_find(module->image, kernel, &symbol)
                         : in_memory || access(module->name, R_OK) == 0)) {
        gdb_server_offer(gdb, module->name, elf, bytes, module->image_addr);
    }
}

leo_status leo_rt_module_load(struct leo_rt_device *device, const void *elf, size_t bytes,
                              const char *name, struct leo_rt_module **out)
{
    *out = NULL;
    name = name ? name : "kernel file";
    struct leo_rt_module *module = leo_calloc(1, sizeof(*module));
    if (!module) {
        return rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory", name);
    }
    module->device = device;
    module->name = leo_alloc(strlen(name) + 1);
    leo_status status = LEO_OK;
    if (!module->name) {
        status = rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory", name);
    } else {
        strcpy(module->name, name);
        status = rt_image_create(elf, bytes, module->name, &device->caps, &module->image);
    }
    if (!status) {
        status = rt_print_prepare(module);
    }
    if (!status) {
        status = load_image(module);
    }
    if (status) {
        free_module(module);
        return status;
    }
    offer_to_gdb(module, elf, bytes);
    for (unsigned i = 0; i < module->image->kernel_count; i++) {
        module->image->kernels[i].module = module;
    }
    pthread_mutex_lock(&device->lock);
    module->next = device->modules;
    device->modules = module;
    pthread_mutex_unlock(&device->lock);
    rt_log(device->rt, 1, "%s: %u kernels loaded at 0x%llx", module->name,
           module->image->kernel_count, (unsigned long long)module->image_addr);
    *out = module;
    return LEO_OK;
}

static leo_status read_file(const char *path, char **out, size_t *out_bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return rt_fail(LEO_ERR_IO, "cannot open kernel file %s: %s", path, strerror(errno));
    }
    leo_status status = LEO_ERR_IO;
    long bytes = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
    char *data = NULL;
    if (bytes < 0 || bytes > MODULE_FILE_MAX || fseek(file, 0, SEEK_SET)) {
        rt_fail(status, "cannot read kernel file %s: it is no file of reasonable size", path);
    } else if (!(data = leo_alloc((size_t)bytes))) {
        status = rt_fail(LEO_ERR_NO_MEMORY, "out of host memory reading %s", path);
    } else if (fread(data, 1, (size_t)bytes, file) != (size_t)bytes) {
        rt_fail(status, "cannot read kernel file %s: %s", path, strerror(errno));
        leo_free(data);
    } else {
        *out = data;
        *out_bytes = (size_t)bytes;
        status = LEO_OK;
    }
    fclose(file);
    return status;
}

leo_status leo_rt_module_load_file(struct leo_rt_device *device, const char *path,
                                   struct leo_rt_module **out)
{
    *out = NULL;
    char *data = NULL;
    size_t bytes = 0;
    leo_status status = read_file(path, &data, &bytes);
    if (!status) {
        status = leo_rt_module_load(device, data, bytes, path, out);
        leo_free(data);
    }
    return status;
}

void rt_module_destroy(struct leo_rt_module *module)
{
    struct leo_rt_device *device = module->device;
    for (struct leo_rt_module **at = &device->modules; *at; at = &(*at)->next) {
        if (*at == module) {
            *at = module->next;
            break;
        }
    }
    if (!rt_profile_keep(module, free_module)) {
        rt_profile_forget(device, module);
        free_module(module);
    }
}

static bool has_no_tasks(const void *arg)
{
    const struct leo_rt_module *module = arg;
    return module->tasks == 0;
}

static leo_status wait_for_tasks(struct leo_rt_module *module)
{
    return rt_device_wait(module->device, has_no_tasks, module, -1, "the module's kernels");
}

void leo_rt_module_unload(struct leo_rt_module *module)
{
    if (!module) {
        return;
    }
    struct leo_rt_device *device = module->device;
    pthread_mutex_lock(&device->lock);
    // Its kernels may be under way; their faults still want names and lines.
    leo_status status = wait_for_tasks(module);
    pthread_mutex_unlock(&device->lock);
    if (!status) {
        rt_print_drain(device);
    }
    pthread_mutex_lock(&device->print_lock);
    pthread_mutex_lock(&device->lock);
    if (!status && module->captured) {
        status = LEO_ERR_STATE; // a graph launches its kernels
    }
    if (!status) {
        status = wait_for_tasks(module); // what another thread launched meanwhile
    }
    if (status) {
        // A task may still run its code: it stays until the device is closed.
        rt_log(device->rt, 2, "%s: not unloaded, %s", module->name,
               module->captured ? "a graph uses it" : "the device's tasks do not end");
    } else {
        rt_module_destroy(module);
    }
    pthread_mutex_unlock(&device->lock);
    pthread_mutex_unlock(&device->print_lock);
}

leo_status leo_rt_module_find(struct leo_rt_module *module, const char *kernel,
                              struct leo_rt_kernel **out)
{
    struct rt_image *image = module->image;
    *out = NULL;
    for (unsigned i = 0; i < image->kernel_count; i++) {
        if (strcmp(image->kernels[i].name, kernel) == 0) {
            *out = &image->kernels[i];
            return LEO_OK;
        }
    }
    return rt_fail(LEO_ERR_NOT_FOUND, "%s has no kernel %s (it has %u, the first is %s)",
                   module->name, kernel, image->kernel_count, image->kernels[0].name);
}

unsigned leo_rt_module_kernel_count(const struct leo_rt_module *module)
{
    return module->image->kernel_count;
}

struct leo_rt_kernel *leo_rt_module_kernel(struct leo_rt_module *module, unsigned index)
{
    return index < module->image->kernel_count ? &module->image->kernels[index] : NULL;
}

uint64_t leo_rt_module_addr(const struct leo_rt_module *module)
{
    return module->image_addr;
}

uint64_t leo_rt_kernel_addr(const struct leo_rt_kernel *kernel)
{
    return kernel->module->image_addr + sizeof(struct leo_image_desc) + kernel->entry;
}

const char *leo_rt_module_name(const struct leo_rt_module *module)
{
    return module->name;
}

bool leo_rt_module_line(struct leo_rt_module *module, uint64_t pc, char *file, size_t file_bytes,
                        int *line)
{
    pthread_mutex_lock(&module->device->lock);
    bool found = rt_image_line(module->image, pc, file, file_bytes, line);
    pthread_mutex_unlock(&module->device->lock);
    return found;
}

bool leo_rt_module_symbol(struct leo_rt_module *module, const char *name, uint64_t *addr,
                          uint64_t *bytes)
{
    GElf_Sym symbol;
    pthread_mutex_lock(&module->device->lock);
    bool found = rt_image_find(module->image, name, &symbol);
    pthread_mutex_unlock(&module->device->lock);
    *addr = found ? symbol.st_value + LEO_MAP_IMAGE : 0;
    *bytes = found ? symbol.st_size : 0;
    return found;
}
