/* SPDX-License-Identifier: Apache-2.0 */
#include "shm_cleanup.h"

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

enum { MAX_COUNT = 16, NAME_BYTES = 64, PATH_BYTES = 300 };

struct leftovers {
    char name[MAX_COUNT][NAME_BYTES];
    bool held[MAX_COUNT];
    int count;
};

// Files of this user; others could not be removed.
static void collect(struct leftovers *leftovers)
{
    DIR *place = opendir(PLACE);
    const struct dirent *entry;
    struct stat state;
    while (place && leftovers->count < MAX_COUNT && (entry = readdir(place)) != NULL) {
        const size_t length = strlen(entry->d_name);
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 && length < NAME_BYTES &&
            fstatat(dirfd(place), entry->d_name, &state, AT_SYMLINK_NOFOLLOW) == 0 &&
            state.st_uid == geteuid()) {
            memcpy(leftovers->name[leftovers->count++], entry->d_name, length + 1);
        }
    }
    if (place) {
        closedir(place);
    }
}

static void mark_held(struct leftovers *leftovers, const char *text)
{
    const char *name = strstr(text, PREFIX);
    for (int i = 0; name && i < leftovers->count; i++) {
        const size_t length = strlen(leftovers->name[i]);
        leftovers->held[i] = leftovers->held[i] || strncmp(name, leftovers->name[i], length) == 0;
    }
}

static void look_at_descriptors(struct leftovers *leftovers, const char *pid)
{
    char path[PATH_BYTES], target[PATH_BYTES];
    snprintf(path, sizeof(path), "/proc/%s/fd", pid);
    DIR *descriptors = opendir(path);
    const struct dirent *entry;
    while (descriptors && (entry = readdir(descriptors)) != NULL) {
        ssize_t length = readlinkat(dirfd(descriptors), entry->d_name, target, sizeof(target) - 1);
        if (length > 0) {
            target[length] = '\0';
            mark_held(leftovers, target);
        }
    }
    if (descriptors) {
        closedir(descriptors);
    }
}

static void look_at_mappings(struct leftovers *leftovers, const char *pid)
{
    char path[PATH_BYTES];
    char *line = NULL;
    size_t bytes = 0;
    snprintf(path, sizeof(path), "/proc/%s/maps", pid);
    FILE *mappings = fopen(path, "r");
    while (mappings && getline(&line, &bytes, mappings) > 0) {
        mark_held(leftovers, line);
    }
    free(line);
    if (mappings) {
        fclose(mappings);
    }
}

void coll_shm_cleanup(void)
{
    struct leftovers leftovers = {.count = 0};
    collect(&leftovers);
    if (leftovers.count == 0) {
        return;
    }
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    if (!processes) {
        return;
    }
    while ((entry = readdir(processes)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            look_at_descriptors(&leftovers, entry->d_name);
            look_at_mappings(&leftovers, entry->d_name);
        }
    }
    closedir(processes);
    for (int i = 0; i < leftovers.count; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof(path), PLACE "/%s", leftovers.name[i]);
        if (!leftovers.held[i]) {
            (void)unlink(path);
        }
    }
}
