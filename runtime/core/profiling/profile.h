/* SPDX-License-Identifier: Apache-2.0 */
/* A profile under way: the records the device has written. */
#pragma once

#include "../rt.h"

/** The kernel of a command, while its module is loaded or kept. */
struct rt_profile_launch {
    uint32_t cmd_id;
    const struct leo_rt_kernel *kernel;
};

struct rt_profile {
    uint32_t tasks, traces;            /**< room in the driver's rings */
    struct leo_rt_profile_mark *marks; /**< what the host did, in its order */
    size_t mark_count, mark_capacity;
    struct rt_profile_launch *launches; /**< of kernels, by rising command */
    size_t launch_count, launch_capacity;
    struct leo_rt_profile_link *links;
    size_t link_count, link_capacity;
    struct leo_rt_module *unloaded; /**< kept for the lines of their code */
    void (*free_module)(struct leo_rt_module *module);
};

/** Records that are there (not those lost); valid until the profile stops. */
struct rt_profile_records {
    const struct leo_task_record *tasks;
    const struct leo_trace_record *traces;
    size_t task_count, trace_count;
    uint64_t tasks_lost, traces_lost;
};
/** Caller holds the device's lock. */
LEO_MUST_CHECK leo_status rt_profile_read(struct leo_rt_device *device,
                                          struct rt_profile_records *records);
/** The kernel that a command launched; NULL: it launched none, or its module is gone. */
const struct leo_rt_kernel *rt_profile_kernel(const struct rt_profile *profile, uint32_t cmd_id);
