/* SPDX-License-Identifier: Apache-2.0 */
/* A copy between host and device or within the device. */
#include "accuracy.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"h2d", "d2h", "d2d", NULL};

static leo_status copy(struct accuracy_chip *chip, void *dst, const void *src, size_t bytes,
                       struct leo_task_record *record)
{
    struct leo_rt_profile_task task;
    size_t tasks = 0;
    uint64_t lost;
    leo_status status = leo_rt_profile_start(chip->device, 4, 0);
    if (status != LEO_OK) {
        return status;
    }
    status = leo_rt_memcpy_async(chip->stream, dst, src, bytes);
    leo_status end = leo_rt_stream_synchronize(chip->stream, -1);
    status = leo_status_first(status, end);
    if (status == LEO_OK) {
        status = leo_rt_profile_tasks(chip->device, &task, 1, &tasks, &lost);
    }
    (void)leo_rt_profile_stop(chip->device);
    if (status == LEO_OK && tasks == 0) {
        return LEO_ERR_NOT_FOUND;
    }
    *record = task.record;
    return status;
}

leo_status accuracy_run_copy(struct accuracy_chip *chip, struct accuracy_params *params,
                             struct accuracy_result *result)
{
    uint64_t addr[2] = {0};
    const char *kind = accuracy_params_word(params, "kind", kinds);
    const size_t bytes = accuracy_params_number(params, "bytes", 1, 1, UINT64_C(1) << 32);
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    void *host = calloc(1, bytes);
    leo_status status = host ? LEO_OK : LEO_ERR_NO_MEMORY;
    for (int i = 0; i < 2 && status == LEO_OK; i++) {
        status = leo_rt_memory_alloc(chip->device, bytes, &addr[i]);
    }
    if (status == LEO_OK) {
        void *dst = strcmp(kind, "d2h") == 0 ? host : (void *)(uintptr_t)addr[0];
        const void *src = strcmp(kind, "h2d") == 0 ? host : (void *)(uintptr_t)addr[1];
        status = copy(chip, dst, src, bytes, &result->record);
    }
    for (int i = 0; i < 2; i++) {
        if (addr[i]) {
            (void)leo_rt_memory_free(chip->device, addr[i]);
        }
    }
    free(host);
    return status;
}
