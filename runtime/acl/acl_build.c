/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE // dladdr
/* Which build this library is, and whether others in the process are of the same (LEO_BUILD,
 * cmake/build_id.cmake). */
#include "acl_internal.h"

#include <dlfcn.h>
#include <leo/acl_hook.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char own_build[] = "leonardo=" LEO_BUILD;

static const char *path_of(const void *inside)
{
    Dl_info info;
    return dladdr(inside, &info) && info.dli_fname ? info.dli_fname : "?";
}

aclError leo_acl_check_build(const char *build, const void *inside)
{
    const char *own = strchr(own_build, '=') + 1;
    if (strcmp(build, own) == 0) {
        return ACL_SUCCESS;
    }
    return acl_fail(ACL_ERROR_RT_INTERNAL_ERROR, "leo_acl_check_build",
                    "two versions of Leonardo in one process: %s is of build %s, %s of build %s; "
                    "take both from one "
                    "toolkit (LD_LIBRARY_PATH, and the Python package in torch_npu.libs: pip "
                    "uninstall leonardo)",
                    path_of(own_build), own, path_of(inside), build);
}

// The toolkit the environment names may be another than the one this library comes from: what is
// loaded decides, but its commands (msprof, leo) are then of another version.
void acl_check_home(void)
{
    const char *home = getenv("ASCEND_HOME_PATH");
    char path[PATH_MAX], line[128];
    if (!home ||
        snprintf(path, sizeof(path), "%s/ascend_toolkit_install.info", home) >= (int)sizeof(path)) {
        return;
    }
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "leonardo=", strlen("leonardo=")) == 0 && strcmp(line, own_build) != 0) {
            fprintf(stderr,
                    "leonardo: two versions: this process runs %s (%s), but ASCEND_HOME_PATH is %s "
                    "(%s). Unset it, or remove "
                    "the Python package (pip uninstall leonardo)\n",
                    path_of(own_build), own_build, home, line);
        }
    }
    if (file) {
        fclose(file);
    }
}
