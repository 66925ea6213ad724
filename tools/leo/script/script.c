/* SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void script_find(const char *folder, const char *name, char *path, size_t bytes)
{
    char exe[PATH_MAX];
    const ssize_t got = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    if (got > 0) {
        exe[got] = '\0';
        *strrchr(exe, '/') = '\0';
        snprintf(path, bytes, "%s/../share/leo/%s/%s", exe, folder, name);
    }
    if (got <= 0 || access(path, R_OK) != 0) {
        snprintf(path, bytes, "%s/share/leo/%s/%s", LEO_BUILD_TOOLKIT, folder, name);
    }
}
