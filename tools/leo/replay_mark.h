/* SPDX-License-Identifier: Apache-2.0 */
/* How much a time is worth that was priced from a record. */
#pragma once

#include "chip_keys.h"
#include <stdint.h>

struct replay_mark {
    enum chip_effect effect; /**< of the numbers that differ, the one that asks for most */
    uint64_t looks;          /**< tasks that read values which a record without values lacks */
    bool prices_links;       /**< [link] is priced from what the record says of other cards .. */
    bool links;              /**< .. and differs */
    char keys[512];          /**< those that make it an estimate, as "a.b, c.d"; cut with ".." */
};

/** Compares the recorded chip with the one that was priced; `looks` is left 0. False: out of
 * memory. */
bool replay_mark_compare(const char *recorded_text, const char *priced_text, bool prices_links,
                         struct replay_mark *mark);
/** "exact" or "estimate". */
const char *replay_mark_text(const struct replay_mark *mark);
