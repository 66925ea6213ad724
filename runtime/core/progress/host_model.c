/* SPDX-License-Identifier: Apache-2.0 */
/* What a task costs the simulated host before the device can see it (LEO_HOST_MODEL, docs/env.md):
 * a script that cannot give work as fast as the chip does it. Two threads as in torch_npu: the
 * script's, and one that launches what is in a queue. Off by default: launches cost no simulated
 * time. */
#include "../rt.h"

#include <errno.h>
#include <leo/alloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// The queue of torch_npu holds 4096.
enum { MAX_NS = 1000000000, MAX_DEPTH = 65536, DEFAULT_DEPTH = 4096 };

/* Which of the three costs the launching thread has: TASK_QUEUE_ENABLE as torch_npu reads it, 1 if
 * not set. 0: no thread. */
static leo_status read_queue(unsigned *level)
{
    const char *text = getenv("TASK_QUEUE_ENABLE");
    *level = 1;
    if (!text || !*text) {
        return LEO_OK;
    }
    if (strlen(text) != 1 || *text < '0' || *text > '2') {
        return rt_fail(LEO_ERR_RANGE,
                       "environment variable TASK_QUEUE_ENABLE is \"%s\": it must be 0, 1 or 2",
                       text);
    }
    *level = (unsigned)(*text - '0');
    return LEO_OK;
}

enum { SCRIPT, PREPARE, LAUNCH, DEPTH, NUMBERS };

// Numbers with commas between; false: something else, or too many.
static bool parse(const char *at, unsigned long number[NUMBERS], unsigned *count)
{
    for (*count = 0; *count < NUMBERS; at++) {
        char *end;
        errno = 0;
        if (*at < '0' || *at > '9') {
            return false;
        }
        number[*count] = strtoul(at, &end, 10);
        if (errno || number[(*count)++] > MAX_NS) {
            return false;
        }
        at = end;
        if (*at != ',') {
            return *at == '\0';
        }
    }
    return false;
}

leo_status rt_host_model_read(struct rt_host_model *model)
{
    unsigned long number[NUMBERS] = {[DEPTH] = DEFAULT_DEPTH};
    unsigned count, level;
    const char *text = getenv("LEO_HOST_MODEL");
    memset(model, 0, sizeof(*model));
    if (!text || !*text) {
        return LEO_OK;
    }
    if (!parse(text, number, &count) || count < DEPTH || number[DEPTH] == 0 ||
        number[DEPTH] > MAX_DEPTH) {
        return rt_fail(
            LEO_ERR_RANGE,
            "environment variable LEO_HOST_MODEL is \"%s\": it must be "
            "SCRIPT,PREPARE,LAUNCH[,DEPTH]: "
            "three times in nanoseconds up to %d, and how many tasks wait at most, 1 to %d",
            text, MAX_NS, MAX_DEPTH);
    }
    leo_status status = read_queue(&level);
    if (status != LEO_OK) {
        return status;
    }
    model->is_on = true;
    model->depth = level ? (uint32_t)number[DEPTH] : 0;
    model->script_ns = number[SCRIPT];
    // Level 2 moves the preparation to the launching thread.
    *(level == 2 ? &model->launch_ns : &model->script_ns) += number[PREPARE];
    model->launch_ns += number[LAUNCH];
    return LEO_OK;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

leo_status rt_host_model_start(struct leo_rt_device *device)
{
    const struct rt_host_model *model = &device->rt->host_model;
    if (!model->depth) {
        return LEO_OK;
    }
    device->launched_ns = leo_calloc(model->depth, sizeof(*device->launched_ns));
    return device->launched_ns
               ? LEO_OK
               : rt_fail(LEO_ERR_NO_MEMORY, "device %d: out of host memory", device->index);
}

uint64_t rt_host_model_launch(struct leo_rt_device *device)
{
    const struct rt_host_model *model = &device->rt->host_model;
    uint64_t now_ns = atomic_load(&device->host_ns);
    if (!model->is_on) {
        return now_ns;
    }
    now_ns += model->script_ns;
    if (!model->depth) {
        now_ns += model->launch_ns;
        rt_device_see_time(device, now_ns);
        return now_ns;
    }
    // In a full queue the script waits until the task `depth` before this one has been taken from
    // it.
    uint64_t *place = &device->launched_ns[device->launches++ % model->depth];
    now_ns = later(now_ns, *place);
    rt_device_see_time(device, now_ns);
    device->last_launch_ns = later(now_ns, device->last_launch_ns) + model->launch_ns;
    *place = device->last_launch_ns;
    return device->last_launch_ns;
}
