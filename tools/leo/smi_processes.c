/* SPDX-License-Identifier: Apache-2.0 */
#include "smi_processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <leo/alloc.h>
#include <leo/status_page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool add(struct smi_uses *uses, const struct smi_use *use)
{
    struct smi_use *all = leo_realloc(uses->all, (uses->count + 1) * sizeof(*all));
    if (!all) {
        return false;
    }
    all[uses->count++] = *use;
    uses->all = all;
    return true;
}

static void read_command(int pid, char *command, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/comm", pid);
    FILE *file = fopen(path, "r");
    snprintf(command, bytes, "?");
    if (file && fgets(command, (int)bytes, file)) {
        command[strcspn(command, "\n")] = '\0';
    }
    if (file) {
        fclose(file);
    }
}

static uint64_t get(const uint64_t *value)
{
    return __atomic_load_n(value, __ATOMIC_RELAXED);
}

static bool take_page(struct smi_uses *uses, int pid, const struct leo_status_page *page)
{
    // A child that was forked shows its parent's page until it has one of its own.
    if (page->magic != LEO_STATUS_MAGIC || page->pid != pid) {
        return true;
    }
    bool good = true;
    for (int i = 0; good && i < LEO_STATUS_DEVICES; i++) {
        const struct leo_status_device *device = &page->device[i];
        if (!__atomic_load_n(&device->is_open, __ATOMIC_ACQUIRE)) {
            continue;
        }
        struct smi_use use = {.pid = pid,
                              .device = i,
                              .memory_used = get(&device->memory_used),
                              .memory_total = get(&device->memory_total),
                              .time_ns = get(&device->time_ns),
                              .cube_ns = get(&device->cube_ns),
                              .vector_ns = get(&device->vector_ns),
                              .tasks = get(&device->tasks),
                              .kernels = get(&device->kernels),
                              .link_bytes = get(&device->link_bytes)};
        read_command(pid, use.command, sizeof(use.command));
        snprintf(use.chip, sizeof(use.chip), "%.*s", LEO_STATUS_CHIP_BYTES - 1, device->chip);
        good = add(uses, &use);
    }
    return good;
}

static bool take_file(struct smi_uses *uses, int pid, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return true; // it has ended meanwhile
    }
    const struct leo_status_page *page = MAP_FAILED;
    if (lseek(fd, 0, SEEK_END) >= (off_t)sizeof(*page)) {
        page = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);
    }
    bool good = page == MAP_FAILED || take_page(uses, pid, page);
    if (page != MAP_FAILED) {
        munmap((void *)(uintptr_t)page, sizeof(*page));
    }
    close(fd);
    return good;
}

static bool take_process(struct smi_uses *uses, int pid)
{
    static const char wanted[] = "/memfd:" LEO_STATUS_NAME;
    char folder[64], path[400], target[128];
    snprintf(folder, sizeof(folder), "/proc/%d/fd", pid);
    DIR *files = opendir(folder);
    if (!files) {
        return true; // another user's, or it has ended
    }
    bool good = true;
    struct dirent *entry;
    while (good && (entry = readdir(files)) != NULL) {
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        ssize_t bytes = readlink(path, target, sizeof(target) - 1);
        if (bytes > 0 && strncmp(target, wanted, sizeof(wanted) - 1) == 0) {
            good = take_file(uses, pid, path);
        }
    }
    closedir(files);
    return good;
}

static int compare(const void *a, const void *b)
{
    const struct smi_use *x = a, *y = b;
    return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) : x->device - y->device;
}

bool smi_processes(struct smi_uses *uses)
{
    *uses = (struct smi_uses){0};
    DIR *folder = opendir("/proc");
    bool good = folder != NULL;
    struct dirent *entry;
    while (good && (entry = readdir(folder)) != NULL) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid > 0 && *end == '\0') {
            good = take_process(uses, (int)pid);
        }
    }
    if (folder) {
        closedir(folder);
    }
    if (uses->count) {
        qsort(uses->all, uses->count, sizeof(*uses->all), compare);
    }
    return good;
}

const struct smi_use *smi_find(const struct smi_uses *uses, const struct smi_use *use)
{
    return uses->count ? bsearch(use, uses->all, uses->count, sizeof(*uses->all), compare) : NULL;
}
