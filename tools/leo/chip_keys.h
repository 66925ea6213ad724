/* SPDX-License-Identifier: Apache-2.0 */
/* What each number of a chip's file changes, so that a time priced from a record can be told apart
 * from one that needs another run. docs/soc.md has the same for readers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** What a number changes; a later one asks for more than an earlier one. */
enum chip_effect {
    CHIP_EFFECT_NONE,     /**< nothing of the simulation */
    CHIP_EFFECT_TIMES,    /**< times alone: a recorded run is priced exactly */
    CHIP_EFFECT_PLANS,    /**< times, and what programs choose by it: priced, they would choose as
                             they did on the recorded chip */
    CHIP_EFFECT_UNPRICED, /**< what a record does not hold: only another run tells */
};

/** Of a number named as in the file; one that is not known is CHIP_EFFECT_UNPRICED. */
enum chip_effect chip_key_effect(const char *section, const char *key);

/** A number that two chips do not share. `old_value` or `new_value` is empty where the file leaves
 * it out. */
struct chip_difference {
    const char *section, *key, *old_value, *new_value;
    enum chip_effect effect;
};

typedef void (*chip_difference_fn)(void *user, const struct chip_difference *difference);

/** Calls `each` for all numbers that differ between the texts of two SoC files (of
 * leo_isa_soc_read). False: out of memory. */
bool chip_texts_compare(const char *old_text, const char *new_text, chip_difference_fn each,
                        void *user);
