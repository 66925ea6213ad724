/* SPDX-License-Identifier: Apache-2.0 */
/* How much a time is worth that was priced from a record. */
#pragma once

#include "chip_keys.h"

struct replay_mark {
    enum chip_effect effect; /**< of the numbers that differ, the one that asks for most */
    char keys[512];          /**< those that make it an estimate, as "a.b, c.d"; cut with ".." */
};

/** Compares the recorded chip with the one that was priced. False: out of memory. */
bool replay_mark_compare(const char *recorded_text, const char *priced_text,
                         struct replay_mark *mark);
/** "exact" or "estimate". */
const char *replay_mark_text(const struct replay_mark *mark);
