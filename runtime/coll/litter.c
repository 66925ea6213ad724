/* SPDX-License-Identifier: Apache-2.0 */
#include "litter.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLACE  "/dev/shm"
#define PREFIX "ucx_shm_posix_"

enum { MOST = 16, NAME_BYTES = 64, PATH_BYTES = 300 };

struct litter {
    char name[MOST][NAME_BYTES];
    bool held[MOST];
    int count;
};

// Files of this user; others could not be removed.
static void collect(struct litter *litter)
{
    DIR *place = opendir(PLACE);
    const struct dirent *entry;
    struct stat state;
    while (place && litter->count < MOST && (entry = readdir(place)) != NULL) {
        const size_t length = strlen(entry->d_name);
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 && length < NAME_BYTES &&
            fstatat(dirfd(place), entry->d_name, &state, AT_SYMLINK_NOFOLLOW) == 0 &&
            state.st_uid == geteuid()) {
            memcpy(litter->name[litter->count++], entry->d_name, length + 1);
        }
    }
    if (place) {
        closedir(place);
    }
}

static void mark_held(struct litter *litter, const char *text)
{
    const char *name = strstr(text, PREFIX);
    for (int i = 0; name && i < litter->count; i++) {
        const size_t length = strlen(litter->name[i]);
        litter->held[i] = litter->held[i] || strncmp(name, litter->name[i], length) == 0;
    }
}

static void look_at_descriptors(struct litter *litter, const char *pid)
{
    char path[PATH_BYTES], target[PATH_BYTES];
    snprintf(path, sizeof(path), "/proc/%s/fd", pid);
    DIR *descriptors = opendir(path);
    const struct dirent *entry;
    while (descriptors && (entry = readdir(descriptors)) != NULL) {
        ssize_t length = readlinkat(dirfd(descriptors), entry->d_name, target, sizeof(target) - 1);
        if (length > 0) {
            target[length] = '\0';
            mark_held(litter, target);
        }
    }
    if (descriptors) {
        closedir(descriptors);
    }
}

static void look_at_mappings(struct litter *litter, const char *pid)
{
    char path[PATH_BYTES];
    char *line = NULL;
    size_t bytes = 0;
    snprintf(path, sizeof(path), "/proc/%s/maps", pid);
    FILE *mappings = fopen(path, "r");
    while (mappings && getline(&line, &bytes, mappings) > 0) {
        mark_held(litter, line);
    }
    free(line);
    if (mappings) {
        fclose(mappings);
    }
}

void coll_litter_sweep(void)
{
    struct litter litter = {.count = 0};
    collect(&litter);
    if (litter.count == 0) {
        return;
    }
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    if (!processes) {
        return;
    }
    while ((entry = readdir(processes)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            look_at_descriptors(&litter, entry->d_name);
            look_at_mappings(&litter, entry->d_name);
        }
    }
    closedir(processes);
    for (int i = 0; i < litter.count; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof(path), PLACE "/%s", litter.name[i]);
        if (!litter.held[i]) {
            (void)unlink(path);
        }
    }
}
