/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator costs the simulated host before the device can see it (LEO_HOST_MODEL,
 * docs/env.md): a script that cannot give work as fast as the chip does it. Two threads as in
 * torch_npu: the script's, and one that launches what is in a queue. On for the frameworks of
 * host_framework.c, else off: launches cost no simulated time. */
#include "../rt.h"

#include <errno.h>
#include <leo/alloc.h>
#include <leo/host_model.h>
#include <stdbool.h>
#include <stdio.h>
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

// A program that has asked so often for the same thing does nothing else: it waits.
enum { MAX_ASKS = 100 };

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

// The numbers and whose they are; false: the text is none that is allowed. `*on`: there is a model.
static bool choose(const char *text, unsigned long number[NUMBERS], const char **name,
                   const char **origin, bool *on)
{
    unsigned count;
    const struct rt_framework *framework =
        text && *text ? rt_framework_named(text) : rt_framework_loaded();
    *on = framework || (text && *text && strcmp(text, "off") != 0);
    if (!*on) {
        return true;
    }
    if (framework) {
        number[SCRIPT] = framework->script_ns;
        number[PREPARE] = framework->prepare_ns;
        number[LAUNCH] = framework->launch_ns;
        *name = framework->name;
        *origin = framework->origin;
        return true;
    }
    *name = "LEO_HOST_MODEL";
    *origin = "as given";
    return parse(text, number, &count) && count >= DEPTH && number[DEPTH] > 0 &&
           number[DEPTH] <= MAX_DEPTH;
}

leo_status rt_host_model_read(struct rt_host_model *model)
{
    unsigned long number[NUMBERS] = {[DEPTH] = DEFAULT_DEPTH};
    unsigned level;
    bool is_on;
    const char *name, *origin, *text = getenv("LEO_HOST_MODEL");
    memset(model, 0, sizeof(*model));
    snprintf(model->text, sizeof(model->text), "none: launches cost the host nothing");
    if (!choose(text, number, &name, &origin, &is_on)) {
        return rt_fail(
            LEO_ERR_RANGE,
            "environment variable LEO_HOST_MODEL is \"%s\": it must be off, torch_npu, mindspore, "
            "torch_mlu or SCRIPT,PREPARE,LAUNCH[,DEPTH]: "
            "three times in nanoseconds up to %d, and how many tasks wait at most, 1 to %d",
            text, MAX_NS, MAX_DEPTH);
    }
    leo_status status = is_on ? read_queue(&level) : LEO_OK;
    if (status != LEO_OK || !is_on) {
        return status;
    }
    model->is_on = true;
    model->depth = level ? (uint32_t)number[DEPTH] : 0;
    model->script_ns = number[SCRIPT];
    // Level 2 moves the preparation to the launching thread.
    *(level == 2 ? &model->launch_ns : &model->script_ns) += number[PREPARE];
    model->launch_ns += number[LAUNCH];
    snprintf(model->text, sizeof(model->text),
             "%s: an operator costs the script %.1f us (%s), a task the launching %.1f us", name,
             (double)model->script_ns / 1e3, origin, (double)model->launch_ns / 1e3);
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
    device->progress.launched_ns = leo_calloc(model->depth, sizeof(*device->progress.launched_ns));
    return device->progress.launched_ns
               ? LEO_OK
               : rt_fail(LEO_ERR_NO_MEMORY, "device %d: out of host memory", device->index);
}

uint64_t rt_host_model_launch(struct leo_rt_device *device, bool is_operator)
{
    const struct rt_host_model *model = &device->rt->host_model;
    uint64_t now_ns = atomic_load(&device->progress.host_ns);
    if (!model->is_on) {
        return now_ns;
    }
    now_ns += is_operator ? model->script_ns : 0;
    if (!model->depth) {
        now_ns += model->launch_ns;
        rt_device_see_time(device, now_ns);
        return now_ns;
    }
    // In a full queue the script waits until the task `depth` before this one has been taken from
    // it.
    uint64_t *place = &device->progress.launched_ns[device->progress.launches++ % model->depth];
    now_ns = later(now_ns, *place);
    rt_device_see_time(device, now_ns);
    device->progress.last_launch_ns =
        later(now_ns, device->progress.last_launch_ns) + model->launch_ns;
    *place = device->progress.last_launch_ns;
    return device->progress.last_launch_ns;
}

bool rt_host_model_sees(const struct leo_rt_device *device, uint64_t end_ns, unsigned asks)
{
    return !device->rt->host_model.is_on || end_ns <= atomic_load(&device->progress.host_ns) ||
           asks >= MAX_ASKS;
}

const char *leo_rt_device_host_model(const struct leo_rt_device *device)
{
    return device->rt->host_model.text;
}
