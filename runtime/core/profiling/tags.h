/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a device's tasks by number, for profiles and tapes. */
#pragma once

#include <stdint.h>

struct leo_rt_device;

struct rt_tags {
    char **text; /**< tag n is at n - 1 */
    uint32_t count;
    uint32_t
        *table; /**< open addressing: number by hash of the text, 0 = empty; at most half full */
    uint32_t table_size;
};

/** Number of a text, which the device is told when it is new; 0 = no memory. Caller holds the
 * device's lock. */
uint32_t rt_tag(struct leo_rt_device *device, const char *text);
/** NULL: no such number. */
const char *rt_tag_text(const struct rt_tags *tags, uint32_t number);
void rt_tags_finish(struct rt_tags *tags);
