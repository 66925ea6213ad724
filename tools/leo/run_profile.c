/* SPDX-License-Identifier: Apache-2.0 */
#include "run_profile.h"

#include <prof.h>
#include <string.h>

static bool tell(bool good, const char *error)
{
    if (!good) {
        fprintf(stderr, "leo run: --profile: %s\n", error);
    }
    return good;
}

bool run_profile_begin(const char *path, char *folder)
{
    char error[512];
    if (strlen(path) > RUN_PROFILE_BYTES - 128) {
        return tell(false, "the folder's name is too long");
    }
    prof_name_folder(folder, RUN_PROFILE_BYTES, path, 1);
    return tell(prof_write_start(folder, error, sizeof(error)), error);
}

bool run_profile_end(const char *folder, struct leo_rt_device *device)
{
    static const struct aclprofConfig config = {.metrics = ACL_AICORE_PIPE_UTILIZATION};
    const struct prof_device profiled = {.number = 0, .rt = device};
    char error[512];
    return tell(prof_write_result(folder, &profiled, 1, &config, error, sizeof(error)), error);
}
